// SPDX-License-Identifier: BSD-3-Clause
// Factoring: known results, and for every number up to 2,000 that nothing better exists.
#include <stdlib.h>

#include "plat/error.h"
#include "plat/plat.h"
#include "plat/test.h"
#include "topo/topo.h"

static bool gives(int nnodes, int ndims, const int expected[])
{
    int dims[8] = {0};
    if (shoal_dims_create(nnodes, ndims, dims) != 0) return false;
    for (int i = 0; i < ndims; i++)
        if (dims[i] != expected[i]) return false;
    return true;
}

// The smallest largest factor that a product of three can have.
static int best_of_three(int n)
{
    int best = n;
    for (int a = 1; a <= n; a++)
        for (int b = 1; n % a == 0 && b <= n / a; b++) {
            if (n / a % b != 0) continue;
            int c = n / a / b, largest = a > b ? a : b;
            if (c > largest) largest = c;
            if (largest < best) best = largest;
        }
    return best;
}

static void known(void)
{
    CHECK(gives(1, 3, (int[]){1, 1, 1}));
    CHECK(gives(6, 2, (int[]){3, 2}));
    CHECK(gives(7, 3, (int[]){7, 1, 1}));
    CHECK(gives(24, 3, (int[]){4, 3, 2}));
    CHECK(gives(16, 3, (int[]){4, 2, 2}));
    CHECK(gives(36, 3, (int[]){4, 3, 3}));
    CHECK(gives(1024, 2, (int[]){32, 32}));
    CHECK(gives(2147483647, 2, (int[]){2147483647, 1}));
    CHECK(gives(1 << 30, 5, (int[]){64, 64, 64, 64, 64}));
    CHECK(gives(46337 * 46327, 2, (int[]){46337, 46327}));
    CHECK(gives(2 * 1073741789, 3, (int[]){1073741789, 2, 1}));
    int some[4] = {0, 3, 0, 1};
    CHECK(shoal_dims_create(36, 4, some) == 0 && some[0] == 4 && some[1] == 3 && some[2] == 3 &&
          some[3] == 1);
    int many[64] = {0};
    CHECK(shoal_dims_create(12, 64, many) == 0 && many[0] == 3 && many[1] == 2 && many[2] == 2 &&
          many[3] == 1);
    CHECK(shoal_dims_create(5, 0, NULL) == 0);
}

static void refused(void)
{
    int odd[2] = {5, 0}, negative[2] = {-1, 0}, full[2] = {2, 2},
        huge[3] = {2147483647, 2147483647, 0};
    CHECK(shoal_dims_create(6, 2, odd) == SHOAL_E_DIMS);
    CHECK(shoal_dims_create(6, 2, negative) == SHOAL_E_DIMS);
    CHECK(shoal_dims_create(6, 2, full) == SHOAL_E_DIMS);
    CHECK(shoal_dims_create(4, 2, full) == 0);
    CHECK(shoal_dims_create(4, 3, huge) == SHOAL_E_DIMS);
    CHECK(shoal_dims_create(0, 2, odd) == SHOAL_E_ARG);
    CHECK(shoal_dims_create(4, 2, NULL) == SHOAL_E_ARG);
}

static void all(void)
{
    for (int n = 1; n <= 2000; n++) {
        int dims[3] = {0};
        CHECK(shoal_dims_create(n, 3, dims) == 0 && dims[0] * dims[1] * dims[2] == n);
        CHECK(dims[0] >= dims[1] && dims[1] >= dims[2] && dims[0] == best_of_three(n));
    }
}

static void quick(void)
{
    // Numbers with many divisors, into many dimensions.
    int64_t began = shoal_now_ns();
    for (int k = 1; k <= 12; k++) {
        int dims[12] = {0};
        CHECK(shoal_dims_create(2095133040, k, dims) == 0);
        int64_t product = 1;
        for (int i = 0; i < k; i++) product *= dims[i];
        CHECK(product == 2095133040);
    }
    CHECK(shoal_now_ns() - began < 20000000000);
}

int main(void)
{
    known();
    refused();
    all();
    quick();
    return SHOAL_TEST_RESULT();
}
