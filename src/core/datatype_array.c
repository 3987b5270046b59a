// SPDX-License-Identifier: BSD-3-Clause
// Subarrays and distributed arrays. Both are built dimension by dimension, from the fastest to
// the slowest, of hidden datatypes that repeat the one below at that dimension's stride; the
// outermost carries the recipe and the bounds of the whole array.
#include <assert.h>
#include <stdlib.h>

#include "core/datatype_make.h"
#include "core/recipe.h"
#include "plat/error.h"

static int check_order(int order)
{
    if (order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN) return 0;
    return shoal_fail(SHOAL_E_ARG, "order is %d, neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", order);
}

static int check_ndims(int ndims)
{
    if (ndims > 0) return 0;
    return shoal_fail(SHOAL_E_ARG, "ndims is %d, an array has at least one dimension", ndims);
}

// The dimension that is the k-th from the fastest.
static int dimension(int ndims, int order, int k)
{
    return order == MPI_ORDER_C ? ndims - 1 - k : k;
}

// A datatype that no handle names; its layout holds what it is made of.
static int hidden(shoal_layout *l, shoal_datatype **out)
{
    l->holds = true;
    int rc = shoal_datatype_build(l, NULL, out);
    if (rc == 0) (*out)->handles = 0;
    return rc;
}

// A hidden datatype: n children at a stride, from a displacement on.
static int repeat(int64_t n, int64_t stride, int64_t disp, shoal_datatype *child,
                  shoal_datatype **out)
{
    shoal_layout *l = shoal_layout_new(1);
    if (!l) return SHOAL_E_NO_MEM;
    l->count = n;
    l->stride = stride;
    l->part[0] = (shoal_part){.disp = disp, .length = 1, .child = child};
    return hidden(l, out);
}

// The visible end of an array: its recipe, and the bounds of the whole array.
static int finish(shoal_recipe *r, shoal_datatype *inside, int64_t extent, shoal_datatype **out)
{
    shoal_layout *l = shoal_layout_new(1);
    if (!l) {
        shoal_recipe_free(r);
        return SHOAL_E_NO_MEM;
    }
    l->holds = true;
    l->part[0] = (shoal_part){.disp = 0, .length = 1, .child = inside};
    int rc = shoal_datatype_build(l, r, out);
    if (rc == 0) shoal_datatype_mark(*out, 0, extent);
    return rc;
}

// *stride *= size, the step from one index of a dimension to the next of the dimension above.
static int next_stride(int64_t *stride, int64_t size)
{
    if (!__builtin_mul_overflow(*stride, size, stride)) return 0;
    return shoal_fail(SHOAL_E_COUNT, "the whole array is beyond 2^63 - 1 bytes");
}

static int check_subarray(int ndims, const int64_t *sizes, const int64_t *subsizes,
                          const int64_t *starts)
{
    for (int i = 0; i < ndims; i++) {
        long long size = sizes[i], sub = subsizes[i], start = starts[i];
        if (size < 1) {
            return shoal_fail(SHOAL_E_ARG, "array_of_sizes[%d] is %lld, not positive", i, size);
        }
        if (sub < 1 || sub > size) {
            return shoal_fail(SHOAL_E_ARG,
                              "array_of_subsizes[%d] is %lld, the array's size is "
                              "%lld",
                              i, sub, size);
        }
        if (start < 0 || start > size - sub) {
            return shoal_fail(SHOAL_E_ARG,
                              "array_of_starts[%d] is %lld; a part of %lld in %lld "
                              "starts at 0 to %lld",
                              i, start, sub, size, size - sub);
        }
    }
    return 0;
}

int shoal_datatype_subarray(int ndims, const int64_t *sizes, const int64_t *subsizes,
                            const int64_t *starts, int order, shoal_datatype *old, bool large,
                            shoal_datatype **out)
{
    int rc = check_ndims(ndims);
    if (rc == 0) rc = check_order(order);
    if (rc == 0) rc = check_subarray(ndims, sizes, subsizes, starts);
    if (rc != 0) return rc;
    shoal_datatype *inside = old;
    shoal_datatype_hold(inside);
    int64_t stride = old->extent;
    for (int k = 0; k < ndims && rc == 0; k++) {
        int d = dimension(ndims, order, k);
        int64_t disp = 0;
        shoal_datatype *line = NULL;
        if (__builtin_mul_overflow(starts[d], stride, &disp)) {
            rc = shoal_fail(SHOAL_E_COUNT, "array_of_starts[%d] is beyond 2^63 - 1 bytes", d);
        }
        if (rc == 0) rc = repeat(subsizes[d], stride, disp, inside, &line);
        if (rc == 0) {
            shoal_datatype_drop(inside);
            inside = line;
            rc = next_stride(&stride, sizes[d]);
        }
    }
    shoal_recipe_sizes lists = {.integers = 2, .counts = 3 * (int64_t)ndims, .types = 1};
    shoal_recipe *r = rc == 0 ? shoal_recipe_new(MPI_COMBINER_SUBARRAY, large, lists) : NULL;
    if (rc == 0 && !r) rc = SHOAL_E_NO_MEM;
    if (rc == 0) {
        shoal_recipe_put_integers(r, 1, &ndims);
        shoal_recipe_put_counts(r, ndims, sizes);
        shoal_recipe_put_counts(r, ndims, subsizes);
        shoal_recipe_put_counts(r, ndims, starts);
        shoal_recipe_put_integers(r, 1, &order);
        shoal_recipe_put_type(r, old);
        rc = finish(r, inside, stride, out);
    }
    shoal_datatype_drop(inside);
    return rc;
}

// What one process has of a dimension: `whole` blocks of `length` indices, `step` apart from
// `start` on, and a last shorter block of `rest`.
typedef struct share {
    int64_t start, length, step, whole, rest;
} share;

static int check_dimension(const shoal_darray *a, int d)
{
    long long gsize = a->gsizes[d], darg = a->dargs[d], psize = a->psizes[d];
    if (gsize < 1) {
        return shoal_fail(SHOAL_E_ARG, "array_of_gsizes[%d] is %lld, not positive", d, gsize);
    }
    if (psize < 1) {
        return shoal_fail(SHOAL_E_ARG, "array_of_psizes[%d] is %lld, not positive", d, psize);
    }
    switch (a->distribs[d]) {
    case MPI_DISTRIBUTE_NONE:
        if (psize == 1) return 0;
        return shoal_fail(SHOAL_E_ARG,
                          "array_of_psizes[%d] is %lld where nothing is distributed, "
                          "and must be 1",
                          d, psize);
    case MPI_DISTRIBUTE_BLOCK:
        if (darg == MPI_DISTRIBUTE_DFLT_DARG || (darg > 0 && darg >= (gsize - 1) / psize + 1)) {
            return 0;
        }
        return shoal_fail(SHOAL_E_ARG,
                          "array_of_dargs[%d] is %lld: %lld blocks of that size do "
                          "not hold %lld",
                          d, darg, psize, gsize);
    case MPI_DISTRIBUTE_CYCLIC:
        if (darg == MPI_DISTRIBUTE_DFLT_DARG || darg > 0) return 0;
        return shoal_fail(SHOAL_E_ARG, "array_of_dargs[%d] is %lld, not positive", d, darg);
    default:
        return shoal_fail(SHOAL_E_ARG, "array_of_distribs[%d] is %d, not a distribution", d,
                          a->distribs[d]);
    }
}

static int check_darray(const shoal_darray *a)
{
    int rc = check_ndims(a->ndims);
    if (rc == 0) rc = check_order(a->order);
    if (rc == 0 && (a->size < 1 || a->rank < 0 || a->rank >= a->size)) {
        rc = shoal_fail(SHOAL_E_ARG, "rank %d is outside the %d processes of the array", a->rank,
                        a->size);
    }
    int64_t processes = 1;
    for (int d = 0; d < a->ndims && rc == 0; d++) {
        rc = check_dimension(a, d);
        if (processes <= a->size) processes *= a->psizes[d];
    }
    if (rc == 0 && processes != a->size) {
        rc = shoal_fail(SHOAL_E_ARG,
                        "array_of_psizes is a grid of another size than the %d "
                        "processes given",
                        a->size);
    }
    return rc;
}

static share share_of(const shoal_darray *a, int d, int64_t coordinate)
{
    int64_t gsize = a->gsizes[d], psize = a->psizes[d], darg = a->dargs[d];
    int64_t length = gsize;
    if (a->distribs[d] == MPI_DISTRIBUTE_BLOCK) {
        length = darg == MPI_DISTRIBUTE_DFLT_DARG ? (gsize - 1) / psize + 1 : darg;
    } else if (a->distribs[d] == MPI_DISTRIBUTE_CYCLIC) {
        length = darg == MPI_DISTRIBUTE_DFLT_DARG ? 1 : darg;
    }
    share s = {.start = coordinate * length, .length = length, .step = length * psize};
    int64_t left = gsize - s.start;
    if (left <= 0) return (share){0};
    s.whole = left / s.step;
    int64_t last = left % s.step;
    if (last >= length)
        s.whole++;
    else
        s.rest = last;
    // What is not used must not overflow either.
    if (s.whole == 0) s.length = 0;
    if (s.whole == 0 || (s.whole == 1 && s.rest == 0)) s.step = 0;
    return s;
}

// One dimension of a darray over `inside`, whose indices are `stride` bytes apart.
static int share_type(const share *s, int64_t stride, shoal_datatype *inside, shoal_datatype **out)
{
    shoal_datatype *block = NULL, *blocks = NULL, *rest = NULL;
    shoal_layout *l = NULL;
    int rc = repeat(s->length, stride, 0, inside, &block);
    if (rc == 0) rc = repeat(s->whole, s->step * stride, s->start * stride, block, &blocks);
    int64_t end = (s->start + s->whole * s->step) * stride;
    if (rc == 0) rc = repeat(s->rest, stride, end, inside, &rest);
    if (rc == 0 && !(l = shoal_layout_new(2))) rc = SHOAL_E_NO_MEM;
    if (rc == 0) {
        l->part[0] = (shoal_part){.disp = 0, .length = 1, .child = blocks};
        l->part[1] = (shoal_part){.disp = 0, .length = 1, .child = rest};
        rc = hidden(l, out);
    }
    if (block) shoal_datatype_drop(block);
    if (blocks) shoal_datatype_drop(blocks);
    if (rest) shoal_datatype_drop(rest);
    return rc;
}

static shoal_recipe *darray_recipe(const shoal_darray *a, shoal_datatype *old, bool large)
{
    shoal_recipe_sizes lists = {
        .integers = 3 * (int64_t)a->ndims + 4, .counts = a->ndims, .types = 1};
    shoal_recipe *r = shoal_recipe_new(MPI_COMBINER_DARRAY, large, lists);
    if (!r) return NULL;
    shoal_recipe_put_integers(r, 3, (int[]){a->size, a->rank, a->ndims});
    shoal_recipe_put_counts(r, a->ndims, a->gsizes);
    shoal_recipe_put_integers(r, a->ndims, a->distribs);
    shoal_recipe_put_integers(r, a->ndims, a->dargs);
    shoal_recipe_put_integers(r, a->ndims, a->psizes);
    shoal_recipe_put_integers(r, 1, &a->order);
    shoal_recipe_put_type(r, old);
    return r;
}

// The process's place along dimension d: the grid is in row-major order, whatever the array's.
static int coordinate_of(const shoal_darray *a, int d)
{
    int below = 1;
    for (int i = d + 1; i < a->ndims; i++) below *= a->psizes[i];
    return a->rank / below % a->psizes[d];
}

int shoal_datatype_darray(const shoal_darray *a, shoal_datatype *old, bool large,
                          shoal_datatype **out)
{
    int rc = check_darray(a);
    if (rc != 0) return rc;
    // That the whole array can be addressed is known first: all products below are within it.
    int64_t whole = old->extent;
    for (int d = 0; d < a->ndims && rc == 0; d++) rc = next_stride(&whole, a->gsizes[d]);
    if (rc != 0) return rc;
    shoal_datatype *inside = old;
    shoal_datatype_hold(inside);
    int64_t stride = old->extent;
    for (int k = 0; k < a->ndims && rc == 0; k++) {
        int d = dimension(a->ndims, a->order, k);
        share s = share_of(a, d, coordinate_of(a, d));
        shoal_datatype *line = NULL;
        rc = share_type(&s, stride, inside, &line);
        if (rc != 0) break;
        shoal_datatype_drop(inside);
        inside = line;
        stride *= a->gsizes[d];
    }
    shoal_recipe *r = rc == 0 ? darray_recipe(a, old, large) : NULL;
    if (rc == 0 && !r) rc = SHOAL_E_NO_MEM;
    if (rc == 0) rc = finish(r, inside, stride, out);
    shoal_datatype_drop(inside);
    return rc;
}
