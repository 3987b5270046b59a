// SPDX-License-Identifier: BSD-3-Clause
// Grids: coordinates and ranks, shifts, sub-grids, and how to factor a number of ranks into
// dimensions.
#include <stdint.h>

#include "plat/error.h"
#include "topo/topo.h"

int shoal_cart_check(int ndims, const int dims[], int comm_size, int *size_out)
{
    int64_t size = 1;
    if (ndims < 0) return shoal_fail(SHOAL_E_DIMS, "ndims is %d", ndims);
    if (ndims > 0 && !dims) return shoal_fail(SHOAL_E_ARG, "dims is a null pointer");
    for (int i = 0; i < ndims; i++) {
        if (dims[i] <= 0) return shoal_fail(SHOAL_E_DIMS, "dims[%d] is %d", i, dims[i]);
        size *= dims[i];
        if (size > comm_size)
            return shoal_fail(
                SHOAL_E_DIMS,
                "the grid has more than the %d ranks of the communicator (dims[%d]=%d)", comm_size,
                i, dims[i]);
    }
    *size_out = (int)size;
    return 0;
}

void shoal_cart_coords(const shoal_topo *t, int rank, int coords[])
{
    for (int i = t->ndims - 1; i >= 0; i--) {
        coords[i] = rank % t->dims[i];
        rank /= t->dims[i];
    }
}

// Into 0 .. n-1, also from below.
static int wrap(int64_t x, int n)
{
    int64_t r = x % n;
    return (int)(r < 0 ? r + n : r);
}

int shoal_cart_rank(const shoal_topo *t, const int coords[], int *rank_out)
{
    int rank = 0;
    for (int i = 0; i < t->ndims; i++) {
        int x = coords[i];
        if (t->periods[i])
            x = wrap(x, t->dims[i]);
        else if (x < 0 || x >= t->dims[i])
            return shoal_fail(
                SHOAL_E_ARG, "coords[%d]=%d is outside 0 .. %d of a dimension that is not periodic",
                i, coords[i], t->dims[i] - 1);
        rank = rank * t->dims[i] + x;
    }
    *rank_out = rank;
    return 0;
}

// The rank whose coordinate in one dimension is `x`, the others being this rank's.
static int moved(const shoal_topo *t, int direction, int64_t x)
{
    if (t->periods[direction])
        x = wrap(x, t->dims[direction]);
    else if (x < 0 || x >= t->dims[direction])
        return MPI_PROC_NULL;
    int rank = 0;
    for (int i = 0; i < t->ndims; i++)
        rank = rank * t->dims[i] + (i == direction ? (int)x : t->coords[i]);
    return rank;
}

void shoal_cart_shift(const shoal_topo *t, int direction, int disp, int *source_out, int *dest_out)
{
    int64_t x = t->coords[direction];
    *source_out = moved(t, direction, x - disp);
    *dest_out = moved(t, direction, x + disp);
}

int shoal_cart_sub_ranks(const shoal_topo *t, const int remain[], int ranks_out[])
{
    int n = 1;
    for (int i = 0; i < t->ndims; i++) n *= remain[i] ? t->dims[i] : 1;
    for (int k = 0; k < n; k++) {
        // Digits of k are the coordinates that remain, the last one fastest.
        int rest = k, rank = 0, stride = 1;
        for (int i = t->ndims - 1; i >= 0; i--) {
            int x = t->coords[i];
            if (remain[i]) {
                x = rest % t->dims[i];
                rest /= t->dims[i];
            }
            rank += x * stride;
            stride *= t->dims[i];
        }
        ranks_out[k] = rank;
    }
    return n;
}

static int largest_prime(int n)
{
    int largest = 1;
    for (int p = 2; (int64_t)p * p <= n; p++)
        while (n % p == 0) {
            largest = p;
            n /= p;
        }
    return n > largest ? n : largest;
}

static bool power_reaches(int base, int exponent, int n)
{
    int64_t power = 1;
    for (int i = 0; i < exponent; i++) {
        power *= base;
        if (power >= n) return true;
    }
    return power >= n;
}

// Writes n as a product of `count` factors none above `limit`, in falling order, such that the
// first is as small as can be, then the second, and so on. False when there is no such product.
static bool factor(int n, int count, int limit, int factors[])
{
    if (count == 0) return n == 1;
    int prime = largest_prime(n);
    if (prime > limit || !power_reaches(limit, count, n)) return false;
    if (n == 1) {
        for (int i = 0; i < count; i++) factors[i] = 1;
        return true;
    }
    if (count == 1) {
        factors[0] = n;
        return n <= limit;
    }
    // The divisors in rising order: those up to the square root, then their partners. The first
    // factor cannot be smaller than the largest prime, nor than the root of n.
    int root = 1;
    while ((int64_t)(root + 1) * (root + 1) <= n) root++;
    for (int step = 1; step <= 2 * root; step++) {
        int small = step <= root ? step : 2 * root + 1 - step;
        if (n % small != 0) continue;
        int d = step <= root ? small : n / small;
        if (d < prime || d > limit || !power_reaches(d, count, n)) continue;
        factors[0] = d;
        if (factor(n / d, count - 1, d, factors + 1)) return true;
    }
    return false;
}

int shoal_dims_create(int nnodes, int ndims, int dims[])
{
    int64_t fixed = 1;
    int free_dims = 0;
    if (nnodes <= 0) return shoal_fail(SHOAL_E_ARG, "nnodes is %d", nnodes);
    if (ndims < 0) return shoal_fail(SHOAL_E_DIMS, "ndims is %d", ndims);
    if (ndims > 0 && !dims) return shoal_fail(SHOAL_E_ARG, "dims is a null pointer");
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 0) return shoal_fail(SHOAL_E_DIMS, "dims[%d] is %d", i, dims[i]);
        if (dims[i] == 0)
            free_dims++;
        else if (fixed <= nnodes)
            fixed *= dims[i];
    }
    if (ndims == 0) return 0;
    if (nnodes % fixed != 0 || (free_dims == 0 && fixed != nnodes))
        return shoal_fail(
            SHOAL_E_DIMS,
            "%d ranks cannot be arranged in the given dimensions, whose product is %s%lld", nnodes,
            fixed > nnodes ? "at least " : "", (long long)fixed);
    // More factors above 1 than this do not fit into an int.
    int factors[32], used = free_dims < 31 ? free_dims : 31;
    int rest = (int)(nnodes / fixed);
    if (free_dims > 0) factor(rest, used, rest, factors);
    for (int i = 0, k = 0; i < ndims; i++) {
        if (dims[i] != 0) continue;
        dims[i] = k < used ? factors[k] : 1;
        k++;
    }
    return 0;
}
