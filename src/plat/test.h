// SPDX-License-Identifier: BSD-3-Clause
// All that a unit test needs: CHECK(condition) prints the place and the condition and makes the
// test fail; return SHOAL_TEST_RESULT() from main.
#ifndef SHOAL_PLAT_TEST_H
#define SHOAL_PLAT_TEST_H

#include <stdio.h>

static int shoal_test_failures;
static int shoal_test_checks;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        shoal_test_checks++;                                                                       \
        if (!(condition)) {                                                                        \
            shoal_test_failures++;                                                                 \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                \
        }                                                                                          \
    } while (0)

#define SHOAL_TEST_RESULT()                                                                        \
    (printf("%d checks, %d failed\n", shoal_test_checks, shoal_test_failures),                     \
     shoal_test_failures != 0)

#endif
