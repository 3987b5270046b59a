// SPDX-License-Identifier: BSD-3-Clause
// Info objects: order, replacement, limits, and what the environment tells.
#include <stdlib.h>
#include <string.h>

#include "core/info.h"
#include "plat/error.h"
#include "plat/test.h"

static void pairs(void)
{
    shoal_info *info = shoal_info_new();
    char key[24], value[24];
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "key%d", i);
        snprintf(value, sizeof value, "value%d", i);
        CHECK(shoal_info_set(info, key, value) == 0);
    }
    CHECK(info->count == 100 && strcmp(info->pairs[42].key, "key42") == 0);
    CHECK(shoal_info_set(info, "key42", "") == 0 && info->count == 100);
    CHECK(strcmp(shoal_info_find(info, "key42"), "") == 0);
    CHECK(shoal_info_find(info, "key") == NULL);
    CHECK(shoal_info_delete(info, "key0") == 0);
    CHECK(shoal_info_delete(info, "key0") == SHOAL_E_INFO_NOKEY);
    CHECK(shoal_info_delete(info, "key99") == 0 && info->count == 98);
    CHECK(strcmp(info->pairs[0].key, "key1") == 0 && strcmp(info->pairs[97].key, "key98") == 0);
    shoal_info *dup = shoal_info_dup(info);
    CHECK(dup->count == 98 && dup->handle != info->handle);
    for (int i = 0; i < 98; i++) {
        CHECK(strcmp(dup->pairs[i].key, info->pairs[i].key) == 0);
        CHECK(strcmp(dup->pairs[i].value, info->pairs[i].value) == 0);
    }
    MPI_Info dead = dup->handle;
    CHECK(shoal_info_get(dead) == dup);
    shoal_info_free(dup);
    CHECK(shoal_info_get(dead) == NULL && shoal_info_get(MPI_INFO_NULL) == NULL);
    shoal_info_free(info);
    CHECK(shoal_object_live(SHOAL_KIND_INFO) == 0);
}

static void limits(void)
{
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    memset(key, 'k', sizeof key);
    memset(value, 'v', sizeof value);
    key[MPI_MAX_INFO_KEY] = '\0';
    value[MPI_MAX_INFO_VAL] = '\0';
    shoal_info *info = shoal_info_new();
    CHECK(shoal_info_set(info, "", "x") == SHOAL_E_INFO_KEY);
    CHECK(shoal_info_set(info, key, "x") == SHOAL_E_INFO_KEY);
    CHECK(shoal_info_set(info, key + 1, value) == SHOAL_E_INFO_VALUE);
    CHECK(info->count == 0);
    CHECK(shoal_info_set(info, key + 1, value + 1) == 0);
    CHECK(strlen(shoal_info_find(info, key + 1)) == MPI_MAX_INFO_VAL - 1);
    CHECK(shoal_info_delete(info, key) == SHOAL_E_INFO_KEY);
    shoal_info_free(info);
}

static void environment(void)
{
    shoal_info *env = shoal_info_get(MPI_INFO_ENV);
    CHECK(env && env->fixed && env == shoal_info_get(MPI_INFO_ENV));
    CHECK(strstr(shoal_info_find(env, "command"), "info_test") != NULL);
    CHECK(shoal_info_find(env, "argv") == NULL);
    CHECK(shoal_info_find(env, "wdir")[0] == '/');
    CHECK(shoal_info_find(env, "host") && shoal_info_find(env, "arch"));
    setenv("PMI_SIZE", "12", 1);
    char *argv[] = {"prog", "-a", "two words", NULL};
    shoal_info *made = shoal_info_new_env(3, argv);
    CHECK(strcmp(shoal_info_find(made, "command"), "prog") == 0);
    CHECK(strcmp(shoal_info_find(made, "argv"), "-a two words") == 0);
    CHECK(strcmp(shoal_info_find(made, "maxprocs"), "12") == 0);
    shoal_info_free(made);
    char big[5000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    char *many[] = {big, big, NULL};
    made = shoal_info_new_env(2, many);
    CHECK(strlen(shoal_info_find(made, "command")) == MPI_MAX_INFO_VAL - 1);
    shoal_info_free(made);
}

int main(void)
{
    pairs();
    limits();
    environment();
    return SHOAL_TEST_RESULT();
}
