// SPDX-License-Identifier: BSD-3-Clause
// Grids of one to five dimensions: coordinates, shifts, sub-grids, duplicates, mistakes.
// RANKS: 1 2 3 4 8
#include "check.h"

#define MOST 5

static void coordinates(MPI_Comm cart, int ndims, const int dims[], const int periods[])
{
    int n = 0, got[MOST], wrap[MOST], coords[MOST], other[MOST], who = -1, count = 0;
    CHECK(kind_of(cart) == MPI_CART);
    CHECK(MPI_Cartdim_get(cart, &n) == 0 && n == ndims);
    CHECK(MPI_Cart_get(cart, ndims, got, wrap, coords) == 0);
    CHECK(same(got, dims, ndims) && same(wrap, periods, ndims));
    CHECK(MPI_Cart_rank(cart, coords, &who) == 0 && who == rank);
    CHECK(MPI_Comm_size(cart, &count) == 0);
    for (int r = 0; r < count; r++) {
        // Row-major order.
        int expected = 0;
        CHECK(MPI_Cart_coords(cart, r, ndims, other) == 0);
        for (int i = 0; i < ndims; i++) expected = expected * dims[i] + other[i];
        CHECK(expected == r);
        CHECK(MPI_Cart_rank(cart, other, &who) == 0 && who == r);
    }
    for (int i = 0; i < ndims; i++) {
        memcpy(other, coords, sizeof other);
        other[i] = -1;
        int code = MPI_Cart_rank(cart, other, &who);
        if (!periods[i]) {
            CHECK(class_of(code) == MPI_ERR_ARG);
            continue;
        }
        CHECK(code == 0);
        other[i] = dims[i] - 1;
        int last = -1;
        CHECK(MPI_Cart_rank(cart, other, &last) == 0 && last == who);
    }
}

static void shifts(MPI_Comm cart, int ndims, const int dims[], const int periods[])
{
    int coords[MOST], from[MOST], to[MOST];
    CHECK(MPI_Cart_coords(cart, rank, ndims, coords) == 0);
    for (int i = 0; i < ndims; i++)
        for (int by = -3; by <= 3; by++) {
            int source = -9, dest = -9, x = coords[i] + by, got = -1;
            CHECK(MPI_Cart_shift(cart, i, by, &source, &dest) == 0);
            if (!periods[i] && (x < 0 || x >= dims[i])) {
                CHECK(dest == MPI_PROC_NULL);
            } else {
                CHECK(MPI_Cart_coords(cart, dest, ndims, to) == 0);
                CHECK(to[i] == ((x % dims[i]) + dims[i]) % dims[i]);
            }
            if (source != MPI_PROC_NULL) CHECK(MPI_Cart_coords(cart, source, ndims, from) == 0);
            // What goes round comes from where it should.
            CHECK(MPI_Sendrecv(&rank, 1, MPI_INT, dest, 0, &got, 1, MPI_INT, source, 0, cart,
                               MPI_STATUS_IGNORE) == 0);
            CHECK(got == (source == MPI_PROC_NULL ? -1 : source));
        }
}

static void subs(MPI_Comm cart, int ndims, const int dims[])
{
    int coords[MOST];
    CHECK(MPI_Cart_coords(cart, rank, ndims, coords) == 0);
    for (int mask = 0; mask < 1 << ndims; mask++) {
        int remain[MOST], kept[MOST], n = 0, count = 1, got = -1, subcoords[MOST], wrap[MOST],
                                      subdims[MOST];
        MPI_Comm sub;
        for (int i = 0; i < ndims; i++) {
            remain[i] = mask >> i & 1;
            if (remain[i]) kept[n++] = i;
            if (remain[i]) count *= dims[i];
        }
        CHECK(MPI_Cart_sub(cart, remain, &sub) == 0);
        CHECK(MPI_Comm_size(sub, &got) == 0 && got == count);
        CHECK(MPI_Cartdim_get(sub, &got) == 0 && got == n);
        CHECK(MPI_Cart_get(sub, n, subdims, wrap, subcoords) == 0);
        for (int i = 0; i < n; i++)
            CHECK(subdims[i] == dims[kept[i]] && subcoords[i] == coords[kept[i]]);
        CHECK(MPI_Comm_free(&sub) == 0);
    }
}

static void grids(void)
{
    for (int ndims = 1; ndims <= MOST; ndims++)
        for (int way = 0; way < 3; way++) {
            int dims[MOST] = {0}, periods[MOST] = {0}, mapped = -1;
            MPI_Comm cart, copy;
            CHECK(MPI_Dims_create(size, ndims, dims) == 0);
            for (int i = 0; i < ndims; i++) periods[i] = way == 2 ? i % 2 : way;
            CHECK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 1, &cart) == 0);
            CHECK(MPI_Cart_map(MPI_COMM_WORLD, ndims, dims, periods, &mapped) == 0 &&
                  mapped == rank);
            coordinates(cart, ndims, dims, periods);
            shifts(cart, ndims, dims, periods);
            subs(cart, ndims, dims);
            CHECK(MPI_Comm_dup(cart, &copy) == 0 && MPI_Comm_free(&cart) == 0);
            coordinates(copy, ndims, dims, periods);
            CHECK(MPI_Comm_free(&copy) == 0);
        }
}

// Fewer places than ranks, and none.
static void small(void)
{
    MPI_Comm cart = MPI_COMM_SELF;
    int one[2] = {1, 1}, no[2] = {0, 0}, n = -1, mapped = -1;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, one, no, 0, &cart) == 0 &&
          (cart == MPI_COMM_NULL) == (rank > 0));
    CHECK(MPI_Cart_map(MPI_COMM_WORLD, 2, one, no, &mapped) == 0 &&
          mapped == (rank == 0 ? 0 : MPI_UNDEFINED));
    if (cart != MPI_COMM_NULL) CHECK(MPI_Comm_free(&cart) == 0);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &cart) == 0 &&
          (cart == MPI_COMM_NULL) == (rank > 0));
    if (cart != MPI_COMM_NULL) {
        CHECK(MPI_Cartdim_get(cart, &n) == 0 && n == 0);
        CHECK(MPI_Cart_rank(cart, NULL, &n) == 0 && n == 0);
        CHECK(MPI_Cart_coords(cart, 0, 0, NULL) == 0 &&
              MPI_Cart_get(cart, 0, NULL, NULL, NULL) == 0);
        CHECK(MPI_Comm_free(&cart) == 0);
    }
}

static void mistakes(void)
{
    MPI_Comm cart;
    int dims[2] = {size + 1, 1}, none[2] = {0, 0}, huge[2] = {2147483647, 2147483647}, a, b;
    CHECK(class_of(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, none, 0, &cart)) == MPI_ERR_DIMS);
    CHECK(class_of(MPI_Cart_create(MPI_COMM_WORLD, 2, none, none, 0, &cart)) == MPI_ERR_DIMS);
    CHECK(class_of(MPI_Cart_create(MPI_COMM_WORLD, 2, huge, none, 0, &cart)) == MPI_ERR_DIMS);
    CHECK(class_of(MPI_Cart_create(MPI_COMM_WORLD, -1, dims, none, 0, &cart)) == MPI_ERR_DIMS);
    CHECK(class_of(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, NULL, 0, &cart)) != 0);
    CHECK(class_of(MPI_Cartdim_get(MPI_COMM_WORLD, &a)) == MPI_ERR_TOPOLOGY);
    CHECK(class_of(MPI_Graphdims_get(MPI_COMM_WORLD, &a, &b)) == MPI_ERR_TOPOLOGY);
    CHECK(kind_of(MPI_COMM_WORLD) == MPI_UNDEFINED);
    dims[0] = size;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, none, 0, &cart) == 0);
    CHECK(class_of(MPI_Cart_shift(cart, 2, 1, &a, &b)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Cart_shift(cart, -1, 1, &a, &b)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Cart_coords(cart, size, 2, dims)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Cart_coords(cart, 0, 1, dims)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Graph_neighbors_count(cart, 0, &a)) == MPI_ERR_TOPOLOGY);
    CHECK(MPI_Comm_free(&cart) == 0);
}

int main(void)
{
    begin();
    grids();
    small();
    mistakes();
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
