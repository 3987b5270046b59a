// SPDX-License-Identifier: BSD-3-Clause
// Error classes, codes with texts of their own, and codes added by the user.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/errhandler.h"
#include "plat/error.h"
#include "plat/test.h"

static void predefined(void)
{
    char text[MPI_MAX_ERROR_STRING];
    for (int class = 0; class <= MPI_ERR_ABI; class ++) {
        CHECK(shoal_errcode_known(class) && shoal_errcode_class(class) == class);
        shoal_errcode_text(class, text);
        CHECK(strncmp(text, "MPI_", 4) == 0 && strchr(text, ':') != NULL);
    }
    for (int class = MPI_T_ERR_CANNOT_INIT; class <= MPI_T_ERR_PVAR_NO_ATOMIC; class ++) {
        CHECK(shoal_errcode_known(class) && shoal_errcode_class(class) == class);
        shoal_errcode_text(class, text);
        CHECK(strncmp(text, "MPI_T_ERR_", 10) == 0);
    }
    shoal_errcode_text(MPI_ERR_RANK, text);
    CHECK(strncmp(text, "MPI_ERR_RANK: ", 14) == 0);
    const int strange[] = {-1, MPI_ERR_ABI + 1, 1000, MPI_ERR_LASTCODE + 1, 1 << 30, -2147483647};
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        CHECK(!shoal_errcode_known(strange[i]));
        CHECK(shoal_errcode_class(strange[i]) == MPI_ERR_UNKNOWN);
        shoal_errcode_text(strange[i], text);
        CHECK(text[0] != '\0');
    }
}

static void made(void)
{
    char text[MPI_MAX_ERROR_STRING], want[64];
    CHECK(shoal_errcode_make(0, "text") == 0);
    CHECK(shoal_errcode_make(SHOAL_E_TAG, "") == MPI_ERR_TAG);
    CHECK(shoal_errcode_make(SHOAL_E_TAG, NULL) == MPI_ERR_TAG);
    CHECK(shoal_errcode_make(77, "positive codes pass") == 77);
    int old = shoal_errcode_make(SHOAL_E_TAG, "tag -5 is negative");
    CHECK(old > MPI_ERR_LASTCODE && shoal_errcode_class(old) == MPI_ERR_TAG);
    CHECK(shoal_errcode_known(old));
    shoal_errcode_text(old, text);
    CHECK(strcmp(text, "MPI_ERR_TAG: tag -5 is negative") == 0);
    int codes[4096];
    for (int i = 0; i < 4096; i++) {
        snprintf(want, sizeof want, "rank %d is outside", i);
        codes[i] = shoal_errcode_make(SHOAL_E_RANK, want);
    }
    for (int i = 0; i < 4096; i++) {
        snprintf(want, sizeof want, "MPI_ERR_RANK: rank %d is outside", i);
        shoal_errcode_text(codes[i], text);
        CHECK(strcmp(text, want) == 0);
    }
    // 4,096 failures later only the class is left.
    shoal_errcode_text(old, text);
    CHECK(strstr(text, "-5") == NULL && strncmp(text, "MPI_ERR_TAG: ", 13) == 0);
    CHECK(shoal_errcode_class(old) == MPI_ERR_TAG);
    char *huge = malloc(2000);
    memset(huge, 'x', 1999);
    huge[1999] = '\0';
    shoal_errcode_text(shoal_errcode_make(SHOAL_E_ARG, huge), text);
    CHECK(strlen(text) == MPI_MAX_ERROR_STRING - 1);
    free(huge);
}

static void added(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int class = 0, code = 0, other = 0;
    CHECK(*shoal_errcode_last_used() == MPI_ERR_LASTCODE);
    CHECK(shoal_errcode_add_class(&class) == 0 && class == MPI_ERR_LASTCODE + 1);
    CHECK(*shoal_errcode_last_used() == class && shoal_errcode_class(class) == class);
    shoal_errcode_text(class, text);
    CHECK(text[0] == '\0');
    CHECK(shoal_errcode_add_code(class, &code) == 0 && shoal_errcode_class(code) == class);
    CHECK(shoal_errcode_add_code(MPI_ERR_IO, &other) == 0);
    CHECK(shoal_errcode_class(other) == MPI_ERR_IO && *shoal_errcode_last_used() == other);
    CHECK(shoal_errcode_add_code(code, &other) == SHOAL_E_ARG);
    CHECK(shoal_errcode_add_code(MPI_SUCCESS, &other) == SHOAL_E_ARG);
    CHECK(shoal_errcode_add_code(-3, &other) == SHOAL_E_ARG);
    CHECK(shoal_errcode_add_string(code, "out of cheese") == 0);
    shoal_errcode_text(code, text);
    CHECK(strcmp(text, "out of cheese") == 0);
    CHECK(shoal_errcode_add_string(code, "cheese again") == 0);
    CHECK(shoal_errcode_add_string(MPI_ERR_TAG, "no") == SHOAL_E_ARG);
    CHECK(shoal_errcode_remove_class(class) == SHOAL_E_ARG);
    CHECK(shoal_errcode_remove_code(code) == SHOAL_E_ARG);
    CHECK(shoal_errcode_remove_string(code) == 0);
    CHECK(shoal_errcode_remove_string(code) == SHOAL_E_ARG);
    CHECK(shoal_errcode_remove_code(class) == SHOAL_E_ARG);
    CHECK(shoal_errcode_remove_code(code) == 0 && shoal_errcode_remove_code(code) == SHOAL_E_ARG);
    CHECK(shoal_errcode_remove_class(class) == 0);
    CHECK(shoal_errcode_remove_class(class) == SHOAL_E_ARG);
    CHECK(*shoal_errcode_last_used() == other);
    CHECK(shoal_errcode_remove_code(other) == 0);
    CHECK(*shoal_errcode_last_used() == MPI_ERR_LASTCODE);
    CHECK(shoal_errcode_remove_class(0) == SHOAL_E_ARG);
    CHECK(shoal_errcode_remove_code(0) == SHOAL_E_ARG);
    CHECK(shoal_errcode_remove_string(0) == SHOAL_E_ARG);
}

static void *maker(void *arg)
{
    char text[MPI_MAX_ERROR_STRING];
    for (int i = 0; i < 20000; i++) {
        int code = shoal_errcode_make(SHOAL_E_COUNT, "many threads");
        shoal_errcode_text(code, text);
        // Where other threads made 4,096 codes in between, the general text is right.
        bool mine = strcmp(text, "MPI_ERR_COUNT: many threads") == 0;
        if (!mine && strcmp(text, *(const char **)arg) != 0) return NULL;
    }
    return arg;
}

static void threads(void)
{
    pthread_t t[4];
    char text[MPI_MAX_ERROR_STRING];
    const char *general = text;
    shoal_errcode_text(MPI_ERR_COUNT, text);
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, maker, &general);
    for (int i = 0; i < 4; i++) {
        void *right = NULL;
        pthread_join(t[i], &right);
        CHECK(right != NULL);
    }
}

int main(void)
{
    predefined();
    made();
    added();
    threads();
    return SHOAL_TEST_RESULT();
}
