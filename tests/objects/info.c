// SPDX-License-Identifier: BSD-3-Clause
// Info objects through MPI, before MPI_Init, while it runs and after MPI_Finalize.
// RANKS: 1
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/plat/test.h"

static int class_of(int code)
{
    int class = -1;
    CHECK(MPI_Error_class(code, &class) == MPI_SUCCESS);
    return class;
}

static void everyday(void)
{
    MPI_Info info, dup;
    int n = -1, flag = -1, len;
    char key[MPI_MAX_INFO_KEY], value[64];
    CHECK(MPI_Info_create(&info) == MPI_SUCCESS && info != MPI_INFO_NULL);
    CHECK(MPI_Info_set(info, "one", "1") == MPI_SUCCESS);
    CHECK(MPI_Info_set(info, "two", "22") == MPI_SUCCESS);
    CHECK(MPI_Info_set(info, "three", "333") == MPI_SUCCESS);
    CHECK(MPI_Info_get_nkeys(info, &n) == MPI_SUCCESS && n == 3);
    CHECK(MPI_Info_get_nthkey(info, 2, key) == MPI_SUCCESS && strcmp(key, "three") == 0);

    // Asks for the length, then for a part, then for all.
    len = 0;
    CHECK(MPI_Info_get_string(info, "three", &len, NULL, &flag) == MPI_SUCCESS);
    CHECK(flag == 1 && len == 4);
    len = 3;
    memset(value, '#', sizeof value);
    CHECK(MPI_Info_get_string(info, "three", &len, value, &flag) == MPI_SUCCESS);
    CHECK(flag == 1 && len == 4 && strcmp(value, "33") == 0 && value[3] == '#');
    len = sizeof value;
    CHECK(MPI_Info_get_string(info, "three", &len, value, &flag) == MPI_SUCCESS);
    CHECK(flag == 1 && len == 4 && strcmp(value, "333") == 0);
    len = 7;
    CHECK(MPI_Info_get_string(info, "four", &len, value, &flag) == MPI_SUCCESS);
    CHECK(flag == 0 && len == 7);

    CHECK(MPI_Info_get(info, "three", 2, value, &flag) == MPI_SUCCESS);
    CHECK(flag == 1 && strcmp(value, "33") == 0);
    CHECK(MPI_Info_get_valuelen(info, "three", &len, &flag) == MPI_SUCCESS);
    CHECK(flag == 1 && len == 3);
    CHECK(MPI_Info_get_valuelen(info, "none", &len, &flag) == MPI_SUCCESS && flag == 0);

    CHECK(MPI_Info_dup(info, &dup) == MPI_SUCCESS && dup != info);
    CHECK(MPI_Info_delete(info, "one") == MPI_SUCCESS);
    CHECK(MPI_Info_get_nkeys(info, &n) == MPI_SUCCESS && n == 2);
    CHECK(MPI_Info_get_nkeys(dup, &n) == MPI_SUCCESS && n == 3);
    CHECK(MPI_Info_free(&dup) == MPI_SUCCESS && dup == MPI_INFO_NULL);
    CHECK(MPI_Info_free(&info) == MPI_SUCCESS && info == MPI_INFO_NULL);
}

static void environment(void)
{
    MPI_Info env;
    char value[MPI_MAX_INFO_VAL];
    int flag = 0, len = sizeof value;
    CHECK(MPI_Info_get_string(MPI_INFO_ENV, "command", &len, value, &flag) == MPI_SUCCESS);
    CHECK(flag == 1 && strstr(value, "info") != NULL);
    char *argv[] = {"./prog", "x", NULL};
    CHECK(MPI_Info_create_env(2, argv, &env) == MPI_SUCCESS);
    len = sizeof value;
    CHECK(MPI_Info_get_string(env, "argv", &len, value, &flag) == MPI_SUCCESS);
    CHECK(flag == 1 && strcmp(value, "x") == 0);
    CHECK(MPI_Info_free(&env) == MPI_SUCCESS);
    CHECK(MPI_Info_create_env(0, NULL, &env) == MPI_SUCCESS && MPI_Info_free(&env) == MPI_SUCCESS);
}

static void mistakes(void)
{
    MPI_Info info, copy;
    int n = 0, flag = 0;
    char key[MPI_MAX_INFO_KEY], *text = calloc(1, 2000);
    memset(text, 'a', 1999);
    CHECK(MPI_Info_create(&info) == MPI_SUCCESS);
    copy = info;
    CHECK(class_of(MPI_Info_set(info, "", "v")) == MPI_ERR_INFO_KEY);
    CHECK(class_of(MPI_Info_set(info, text, "v")) == MPI_ERR_INFO_KEY);
    CHECK(class_of(MPI_Info_set(info, NULL, "v")) == MPI_ERR_INFO_KEY);
    CHECK(class_of(MPI_Info_set(info, "k", text)) == MPI_ERR_INFO_VALUE);
    CHECK(class_of(MPI_Info_set(info, "k", NULL)) == MPI_ERR_INFO_VALUE);
    CHECK(class_of(MPI_Info_delete(info, "k")) == MPI_ERR_INFO_NOKEY);
    CHECK(class_of(MPI_Info_get_nthkey(info, 0, key)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Info_get_nkeys(info, NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Info_get(info, "k", -1, text, &flag)) != MPI_SUCCESS);
    CHECK(class_of(MPI_Info_get_nkeys(MPI_INFO_NULL, &n)) == MPI_ERR_INFO);
    CHECK(class_of(MPI_Info_dup(MPI_INFO_NULL, &copy)) == MPI_ERR_INFO);
    CHECK(class_of(MPI_Info_set(MPI_INFO_ENV, "k", "v")) == MPI_ERR_INFO);
    MPI_Info env = MPI_INFO_ENV;
    CHECK(class_of(MPI_Info_free(&env)) == MPI_ERR_INFO && env == MPI_INFO_ENV);
    CHECK(MPI_Info_free(&info) == MPI_SUCCESS);
    CHECK(class_of(MPI_Info_free(&info)) == MPI_ERR_INFO);
    CHECK(class_of(MPI_Info_get_nkeys(copy, &n)) == MPI_ERR_INFO);
    CHECK(class_of(MPI_Info_free(&copy)) == MPI_ERR_INFO);
    free(text);
}

int main(void)
{
    MPI_Info early;
    char value[8];
    int flag = 0, len = sizeof value;
    everyday();
    environment();
    CHECK(MPI_Info_create(&early) == MPI_SUCCESS && MPI_Info_set(early, "k", "v") == MPI_SUCCESS);
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    everyday();
    environment();
    mistakes();
    CHECK(MPI_Info_get_string(early, "k", &len, value, &flag) == MPI_SUCCESS && flag == 1);
    MPI_Finalize();
    everyday();
    CHECK(MPI_Info_free(&early) == MPI_SUCCESS);
    return SHOAL_TEST_RESULT();
}
