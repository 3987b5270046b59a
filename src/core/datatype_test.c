// SPDX-License-Identifier: BSD-3-Clause
// Every constructor against a naive model: a type map written out entry by entry, with bounds by
// the standard's definition. Random nests of constructors are packed and unpacked in pieces cut
// at random, and compared byte by byte with what the model says.
#include "core/datatype.h"

#include <stdlib.h>
#include <string.h>

#include "core/datatype_make.h"
#include "core/program.h"
#include "plat/error.h"
#include "plat/test.h"

#define ENTRIES 8000

typedef struct model {
    int n;
    int64_t at[ENTRIES];
    uint8_t basic[ENTRIES];
    int64_t lb, ub;
    bool marked;
    int64_t align;
} model;

static uint64_t seed = 88172645463325252u;

static int64_t pick(int64_t low, int64_t high)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return low + (int64_t)(seed % (uint64_t)(high - low + 1));
}

static int64_t model_extent(const model *m)
{
    return m->ub - m->lb;
}

// Puts `from` at a displacement behind what `to` has; bounds by definition: marks outrank data.
static void model_add(model *to, const model *from, int64_t disp)
{
    if (from->n == 0 && !from->marked) return;
    bool first = to->n == 0 && !to->marked;
    for (int i = 0; i < from->n; i++) {
        if (to->n == ENTRIES) abort();
        to->at[to->n] = from->at[i] + disp;
        to->basic[to->n++] = from->basic[i];
    }
    if (from->align > to->align) to->align = from->align;
    int64_t lb = from->lb + disp, ub = from->ub + disp;
    if (first || (from->marked && !to->marked)) {
        to->lb = lb;
        to->ub = ub;
    } else if (from->marked == to->marked) {
        if (lb < to->lb) to->lb = lb;
        if (ub > to->ub) to->ub = ub;
    }
    to->marked = to->marked || from->marked;
}

static void model_block(model *to, const model *from, int64_t disp, int64_t length)
{
    for (int64_t i = 0; i < length; i++) model_add(to, from, disp + i * model_extent(from));
}

static void model_pad(model *m)
{
    if (m->marked || m->align == 0) return;
    while ((m->ub - m->lb) % m->align != 0) m->ub++;
}

static int64_t model_size(const model *m)
{
    int64_t size = 0;
    for (int i = 0; i < m->n; i++) size += shoal_basics[m->basic[i]].size;
    return size;
}

static void model_true(const model *m, int64_t *lb, int64_t *extent)
{
    int64_t low = 0, high = 0;
    for (int i = 0; i < m->n; i++) {
        int64_t end = m->at[i] + shoal_basics[m->basic[i]].size;
        if (i == 0 || m->at[i] < low) low = m->at[i];
        if (i == 0 || end > high) high = end;
    }
    *lb = low;
    *extent = high - low;
}

static model *model_new(void)
{
    model *m = calloc(1, sizeof *m);
    if (!m) abort();
    return m;
}

typedef struct made {
    shoal_datatype *type;
    model *model;
} made;

static void unmake(made m)
{
    m.type->handles = 0;
    shoal_datatype_drop(m.type);
    free(m.model);
}

static made make_basic(enum shoal_basic basic)
{
    made m = {shoal_datatype_of(basic), model_new()};
    *m.model = (model){.n = 1, .ub = shoal_basics[basic].size, .align = shoal_basics[basic].align};
    m.model->basic[0] = (uint8_t)basic;
    return m;
}

static made make_random_basic(void)
{
    static const uint8_t some[] = {SHOAL_B_CHAR,   SHOAL_B_SHORT,      SHOAL_B_INT,
                                   SHOAL_B_DOUBLE, SHOAL_B_LONG,       SHOAL_B_C_DOUBLE_COMPLEX,
                                   SHOAL_B_FLOAT,  SHOAL_B_LONG_DOUBLE};
    return make_basic(some[pick(0, (int64_t)sizeof some - 1)]);
}

static made make_pair(void)
{
    made m = make_basic(SHOAL_B_SHORT), index = make_basic(SHOAL_B_INT);
    m.type = shoal_datatype_of(SHOAL_B_SHORT_INT);
    model_add(m.model, index.model, 4);
    model_pad(m.model);
    free(index.model);
    return m;
}

static made make_vector(made old, bool bytes)
{
    int64_t count = pick(0, 4), length = pick(0, 3), stride = pick(-3, 6);
    if (bytes) stride *= pick(1, 9);
    made m = {.model = model_new()};
    int64_t step = bytes ? stride : stride * model_extent(old.model);
    for (int64_t i = 0; i < count; i++) model_block(m.model, old.model, i * step, length);
    int rc = bytes ? shoal_datatype_hvector(count, length, stride, old.type, false, &m.type)
                   : shoal_datatype_vector(count, length, stride, old.type, true, &m.type);
    CHECK(rc == 0);
    return m;
}

static made make_contiguous(made old)
{
    int64_t count = pick(0, 5);
    made m = {.model = model_new()};
    model_block(m.model, old.model, 0, count);
    CHECK(shoal_datatype_contiguous(count, old.type, false, &m.type) == 0);
    return m;
}

static made make_indexed(made old, bool bytes, bool block)
{
    int64_t lengths[40], disps[40], length = pick(0, 2), step = 3, at = 0;
    int64_t count = pick(0, pick(0, 7) == 0 ? 40 : 6);
    bool even = pick(0, 1); // in stretches
    made m = {.model = model_new()};
    int64_t unit = bytes ? 1 : model_extent(old.model);
    for (int64_t i = 0; i < count; i++) {
        lengths[i] = block ? length : pick(0, 3);
        disps[i] = bytes ? pick(-40, 90) : pick(-4, 9);
        if (pick(0, 9) == 0) step = pick(-5, 9);
        at += step;
        if (even) disps[i] = at;
        model_block(m.model, old.model, disps[i] * unit, lengths[i]);
    }
    int rc;
    if (block && bytes) {
        rc = shoal_datatype_hindexed_block(count, length, disps, old.type, true, &m.type);
    } else if (block) {
        rc = shoal_datatype_indexed_block(count, length, disps, old.type, false, &m.type);
    } else if (bytes) {
        rc = shoal_datatype_hindexed(count, lengths, disps, old.type, false, &m.type);
    } else {
        rc = shoal_datatype_indexed(count, lengths, disps, old.type, true, &m.type);
    }
    CHECK(rc == 0);
    return m;
}

static made make_struct(made a, made b)
{
    int64_t lengths[4], disps[4], count = pick(0, 4);
    shoal_datatype *types[4];
    made m = {.model = model_new()};
    int64_t at = pick(-8, 8);
    for (int64_t i = 0; i < count; i++) {
        const made *one = pick(0, 1) ? &a : &b;
        lengths[i] = pick(0, 2);
        disps[i] = at;
        types[i] = one->type;
        model_block(m.model, one->model, disps[i], lengths[i]);
        // Often without a hole, so that blocks merge.
        at += lengths[i] * model_extent(one->model) + (pick(0, 2) == 0 ? pick(0, 16) : 0);
    }
    CHECK(shoal_datatype_struct(count, lengths, disps, types, true, &m.type) == 0);
    return m;
}

static made make_resized(made old)
{
    int64_t lb = pick(-8, 8), extent = pick(-4, 60);
    made m = {.model = model_new()};
    *m.model = *old.model;
    m.model->marked = true;
    m.model->lb = lb;
    m.model->ub = lb + extent;
    CHECK(shoal_datatype_resized(old.type, lb, extent, false, &m.type) == 0);
    return m;
}

static made make_dup(made old)
{
    made m = {.model = model_new()};
    *m.model = *old.model;
    CHECK(shoal_datatype_dup(old.type, &m.type) == 0);
    return m;
}

// The bounds of a whole array of `elements` old ones.
static void model_whole(model *m, const model *old, int64_t elements)
{
    m->marked = true;
    m->lb = 0;
    m->ub = elements * model_extent(old);
}

static made make_subarray(made old)
{
    int ndims = (int)pick(1, 3), order = pick(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    int64_t sizes[3] = {1, 1, 1}, subsizes[3] = {1, 1, 1}, starts[3] = {0, 0, 0}, total = 1;
    for (int i = 0; i < ndims; i++) {
        sizes[i] = pick(1, 5);
        subsizes[i] = pick(1, sizes[i]);
        starts[i] = pick(0, sizes[i] - subsizes[i]);
        total *= sizes[i];
    }
    made m = {.model = model_new()};
    // Index vectors in the order of memory: x is the fastest of the three.
    int fast[3] = {0, 1, 2};
    if (order == MPI_ORDER_C) {
        for (int i = 0; i < ndims; i++) fast[i] = ndims - 1 - i;
    }
    for (int64_t z = 0; z < subsizes[fast[2]]; z++) {
        for (int64_t y = 0; y < subsizes[fast[1]]; y++) {
            for (int64_t x = 0; x < subsizes[fast[0]]; x++) {
                int64_t index = starts[fast[2]] + z;
                index = index * sizes[fast[1]] + starts[fast[1]] + y;
                index = index * sizes[fast[0]] + starts[fast[0]] + x;
                model_add(m.model, old.model, index * model_extent(old.model));
            }
        }
    }
    model_whole(m.model, old.model, total);
    CHECK(shoal_datatype_subarray(ndims, sizes, subsizes, starts, order, old.type, true, &m.type) ==
          0);
    return m;
}

// Whether process `coordinate` owns index i of a dimension.
static bool owns(int distrib, int darg, int64_t gsize, int psize, int coordinate, int64_t i)
{
    if (distrib == MPI_DISTRIBUTE_NONE) return true;
    if (distrib == MPI_DISTRIBUTE_BLOCK) {
        int64_t length = darg == MPI_DISTRIBUTE_DFLT_DARG ? (gsize + psize - 1) / psize : darg;
        return i / length == coordinate;
    }
    int64_t length = darg == MPI_DISTRIBUTE_DFLT_DARG ? 1 : darg;
    return i / length % psize == coordinate;
}

static void random_dimension(int64_t *gsize, int *distrib, int *darg, int *psize)
{
    static const int distributions[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK,
                                        MPI_DISTRIBUTE_CYCLIC};
    *gsize = pick(1, 7);
    *distrib = distributions[pick(0, 2)];
    *psize = *distrib == MPI_DISTRIBUTE_NONE ? 1 : (int)pick(1, 4);
    *darg = MPI_DISTRIBUTE_DFLT_DARG;
    if (pick(0, 1) == 0) return;
    if (*distrib == MPI_DISTRIBUTE_CYCLIC) *darg = (int)pick(1, 4);
    int64_t least = (*gsize + *psize - 1) / *psize;
    if (*distrib == MPI_DISTRIBUTE_BLOCK) *darg = (int)(least + pick(0, 3));
}

static made make_darray(made old)
{
    int64_t gsizes[2];
    int distribs[2], dargs[2], psizes[2];
    for (int i = 0; i < 2; i++) random_dimension(&gsizes[i], &distribs[i], &dargs[i], &psizes[i]);
    shoal_darray a = {.size = psizes[0] * psizes[1],
                      .ndims = 2,
                      .order = pick(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                      .gsizes = gsizes,
                      .distribs = distribs,
                      .dargs = dargs,
                      .psizes = psizes};
    a.rank = (int)pick(0, a.size - 1);
    int coordinates[2] = {a.rank / psizes[1], a.rank % psizes[1]};
    made m = {.model = model_new()};
    int slow = a.order == MPI_ORDER_C ? 0 : 1, fast = 1 - slow;
    for (int64_t y = 0; y < gsizes[slow]; y++) {
        if (!owns(distribs[slow], dargs[slow], gsizes[slow], psizes[slow], coordinates[slow], y)) {
            continue;
        }
        for (int64_t x = 0; x < gsizes[fast]; x++) {
            if (!owns(distribs[fast], dargs[fast], gsizes[fast], psizes[fast], coordinates[fast],
                      x)) {
                continue;
            }
            model_add(m.model, old.model, (y * gsizes[fast] + x) * model_extent(old.model));
        }
    }
    model_whole(m.model, old.model, gsizes[0] * gsizes[1]);
    CHECK(shoal_datatype_darray(&a, old.type, false, &m.type) == 0);
    return m;
}

// One constructor over random old types of lower depth.
static made make_random(int depth)
{
    if (depth == 0) return pick(0, 9) == 0 ? make_pair() : make_random_basic();
    made a = make_random(depth - 1), m;
    if (a.model->n > 60) return a;
    switch (pick(0, 12)) {
    case 0: m = make_contiguous(a); break;
    case 1: m = make_vector(a, false); break;
    case 2: m = make_vector(a, true); break;
    case 3: m = make_indexed(a, false, false); break;
    case 4: m = make_indexed(a, true, false); break;
    case 5: m = make_indexed(a, false, true); break;
    case 6: m = make_indexed(a, true, true); break;
    case 7: m = make_resized(a); break;
    case 8: m = make_dup(a); break;
    case 9: m = make_subarray(a); break;
    case 10: m = make_darray(a); break;
    default: {
        made b = make_random(depth - 1);
        m = make_struct(a, b.model->n > 600 ? a : b);
        unmake(b);
    }
    }
    unmake(a);
    model_pad(m.model);
    return m;
}

static void check_facts(const made *m)
{
    int64_t true_lb, true_extent;
    model_true(m->model, &true_lb, &true_extent);
    CHECK(m->type->size == model_size(m->model));
    CHECK(m->type->lb == m->model->lb);
    CHECK(m->type->extent == model_extent(m->model));
    CHECK(m->type->true_lb == true_lb);
    CHECK(m->type->true_extent == true_extent);
    CHECK(m->type->basics == m->model->n);
}

// A buffer that holds `count` elements, with the place where element 0 starts.
typedef struct area {
    char *memory, *origin;
    size_t bytes;
} area;

static area area_for(const made *m, int64_t count)
{
    int64_t low, extent;
    model_true(m->model, &low, &extent);
    int64_t high = low + extent, far = (count - 1) * model_extent(m->model);
    if (far < 0)
        low += far;
    else
        high += far;
    area a = {.bytes = (size_t)(high - low)};
    a.memory = malloc(a.bytes + 1);
    if (!a.memory) abort();
    a.origin = a.memory - low;
    for (size_t i = 0; i < a.bytes; i++) a.memory[i] = (char)pick(0, 255);
    return a;
}

// What packing has to give, by the model; and unpacking, the other way.
static void model_move(const made *m, int64_t count, char *origin, char *packed, bool packing)
{
    for (int64_t k = 0; k < count; k++) {
        for (int i = 0; i < m->model->n; i++) {
            char *at = origin + k * model_extent(m->model) + m->model->at[i];
            size_t size = (size_t)shoal_basics[m->model->basic[i]].size;
            memcpy(packing ? packed : at, packing ? at : packed, size);
            packed += size;
        }
    }
}

// Whether some byte belongs to two elements of the type map: such data cannot be received.
static bool overlaps(const made *m, int64_t count, const area *a)
{
    bool twice = false;
    char *seen = calloc(a->bytes + 1, 1);
    for (int64_t k = 0; k < count; k++) {
        for (int i = 0; i < m->model->n; i++) {
            int64_t at = a->origin - a->memory + k * model_extent(m->model) + m->model->at[i];
            for (int b = 0; b < shoal_basics[m->model->basic[i]].size; b++) {
                if (seen[at + b]++) twice = true;
            }
        }
    }
    free(seen);
    return twice;
}

static void check_moves(const made *m)
{
    int64_t count = pick(0, pick(0, 3) == 0 ? 40 : 4), total = count * m->type->size;
    area a = area_for(m, count);
    char *want = malloc((size_t)total + 1), *got = malloc((size_t)total + 1);
    model_move(m, count, a.origin, want, true);
    shoal_cursor c;
    shoal_cursor_init(&c, m->type, count, a.origin);
    CHECK(c.total == total);
    int64_t done = 0;
    while (done < total) {
        int64_t some = pick(1, 1 + total / pick(1, 5));
        int64_t n = some % 3 == 0 ? shoal_cursor_pack_past_caches(&c, got + done, some)
                                  : shoal_cursor_pack(&c, got + done, some);
        CHECK(n > 0);
        done += n;
    }
    CHECK(done == total && memcmp(want, got, (size_t)total) == 0);
    CHECK(shoal_cursor_pack(&c, got, 10) == 0 && shoal_cursor_pack_past_caches(&c, got, 10) == 0);
    if (total > 0) { // any part by seeking
        int64_t from = pick(0, total - 1), n = pick(1, total - from);
        shoal_cursor_seek(&c, from);
        CHECK(shoal_cursor_pack(&c, got, n) == n && memcmp(want + from, got, (size_t)n) == 0);
    }
    // Unpack other bytes, in pieces, into a copy of the area.
    area b = {.memory = malloc(a.bytes + 1), .bytes = a.bytes};
    memcpy(b.memory, a.memory, a.bytes);
    b.origin = b.memory + (a.origin - a.memory);
    for (int64_t i = 0; i < total; i++) want[i] = (char)pick(0, 255);
    model_move(m, count, a.origin, want, false);
    shoal_cursor_init(&c, m->type, count, b.origin);
    for (done = 0; done < total;) {
        done += shoal_cursor_unpack(&c, want + done, pick(1, 1 + total / pick(1, 5)));
    }
    CHECK(overlaps(m, count, &b) || memcmp(a.memory, b.memory, a.bytes) == 0);
    free(b.memory);
    free(a.memory);
    free(want);
    free(got);
}

static void check_elements(const made *m)
{
    if (m->model->n == 0) return;
    int64_t bytes = 0, cut = pick(0, m->model->n), got = -1;
    for (int i = 0; i < cut; i++) bytes += shoal_basics[m->model->basic[i]].size;
    int64_t whole = pick(0, 3);
    CHECK(shoal_datatype_elements(m->type, whole * m->type->size + bytes, &got) == 0);
    CHECK(got == whole * m->model->n + cut);
    CHECK(shoal_datatype_element_bytes(m->type, got, &got) == 0);
    CHECK(got == whole * m->type->size + bytes);
    if (cut < m->model->n && shoal_basics[m->model->basic[cut]].size > 1) {
        CHECK(shoal_datatype_elements(m->type, bytes + 1, &got) == 0 && got == MPI_UNDEFINED);
    }
}

static void check_copy(const made *from, const made *to)
{
    int64_t n = pick(0, 5), k = pick(0, 5);
    area a = area_for(from, n), b = area_for(to, k), b2 = {.bytes = b.bytes};
    b2.memory = malloc(b.bytes + 1);
    memcpy(b2.memory, b.memory, b.bytes);
    int64_t bytes = n * from->type->size;
    if (k * to->type->size < bytes) bytes = k * to->type->size;
    CHECK(shoal_datatype_copy(a.origin, n, from->type, b.origin, k, to->type) == bytes);
    char *packed = malloc((size_t)bytes + 1);
    shoal_cursor c;
    shoal_cursor_init(&c, from->type, n, a.origin);
    shoal_cursor_pack(&c, packed, bytes);
    shoal_cursor_init(&c, to->type, k, b2.memory + (b.origin - b.memory));
    shoal_cursor_unpack(&c, packed, bytes);
    CHECK(overlaps(to, k, &b) || memcmp(b.memory, b2.memory, b.bytes) == 0);
    free(packed);
    free(a.memory);
    free(b.memory);
    free(b2.memory);
}

static void test_random(int rounds)
{
    uint32_t before = shoal_object_live(SHOAL_KIND_DATATYPE);
    for (int i = 0; i < rounds; i++) {
        made m = make_random((int)pick(0, 4)), other = make_random((int)pick(0, 2));
        check_facts(&m);
        CHECK(shoal_datatype_commit(m.type) == 0 && shoal_datatype_commit(other.type) == 0);
        check_moves(&m);
        check_elements(&m);
        check_copy(&m, &other);
        unmake(m);
        unmake(other);
    }
    CHECK(shoal_object_live(SHOAL_KIND_DATATYPE) == before);
}

static void test_predefined(void)
{
    CHECK(shoal_datatype_get(MPI_INT)->size == 4);
    CHECK(shoal_datatype_get(MPI_LONG_LONG_INT) == shoal_datatype_get(MPI_LONG_LONG));
    CHECK(shoal_datatype_get(MPI_DATATYPE_NULL) == NULL);
    CHECK(shoal_datatype_get((MPI_Datatype)0) == NULL);
    CHECK(shoal_datatype_get((MPI_Datatype)0x2fe) == NULL);
    CHECK(shoal_datatype_get(MPI_DOUBLE_INT)->size == 12);
    CHECK(shoal_datatype_get(MPI_DOUBLE_INT)->extent == 16);
    CHECK(!shoal_datatype_get(MPI_DOUBLE_INT)->dense);
    CHECK(shoal_datatype_get(MPI_SHORT_INT)->size == 6);
    CHECK(shoal_datatype_get(MPI_LONG_DOUBLE_INT)->extent == 32);
    CHECK(shoal_datatype_get(MPI_2INT)->dense);
    // The sizes that the handles of fixed-size types carry.
    for (uintptr_t h = 0x240; h < 0x300; h++) {
        if (h >= 0x280 && h < 0x2c0) continue;
        shoal_datatype *t = shoal_datatype_get((MPI_Datatype)h);
        if (t) CHECK(t->size == (int64_t)1 << (h >> 3 & 7));
    }
}

static void test_dense(void)
{
    shoal_datatype *ints = shoal_datatype_get(MPI_INT), *t = NULL;
    CHECK(shoal_datatype_contiguous(10, ints, false, &t) == 0);
    CHECK(shoal_datatype_commit(t) == 0 && t->dense && !t->program);
    shoal_datatype_drop(t);
    CHECK(shoal_datatype_vector(4, 2, 2, ints, false, &t) == 0);
    CHECK(shoal_datatype_commit(t) == 0 && t->dense);
    shoal_datatype_drop(t);
    // All bytes are there, but in another order.
    CHECK(shoal_datatype_indexed_block(2, 1, (int64_t[]){1, 0}, ints, false, &t) == 0);
    CHECK(shoal_datatype_commit(t) == 0 && !t->dense);
    shoal_datatype_drop(t);
    CHECK(shoal_datatype_resized(ints, 0, 8, false, &t) == 0);
    CHECK(shoal_datatype_commit(t) == 0 && !t->dense);
    shoal_datatype_drop(t);
    CHECK(shoal_datatype_contiguous(0, ints, false, &t) == 0);
    CHECK(shoal_datatype_commit(t) == 0 && t->dense && t->size == 0);
    shoal_datatype_drop(t);
}

static void test_refused(void)
{
    shoal_datatype *ints = shoal_datatype_get(MPI_INT), *t = NULL, *big = NULL;
    int64_t huge = INT64_MAX / 2;
    CHECK(shoal_datatype_contiguous(-1, ints, false, &t) == SHOAL_E_COUNT);
    CHECK(shoal_datatype_vector(1, -2, 1, ints, false, &t) == SHOAL_E_ARG);
    CHECK(shoal_datatype_indexed(1, (int64_t[]){-1}, (int64_t[]){0}, ints, false, &t) ==
          SHOAL_E_ARG);
    CHECK(shoal_datatype_contiguous(huge, ints, true, &t) == SHOAL_E_COUNT);
    CHECK(shoal_datatype_vector(2, 1, huge, ints, true, &t) == SHOAL_E_COUNT);
    CHECK(shoal_datatype_hvector(3, 1, huge, ints, true, &t) == SHOAL_E_COUNT);
    CHECK(shoal_datatype_indexed(1, (int64_t[]){1}, &huge, ints, true, &t) == SHOAL_E_COUNT);
    CHECK(shoal_datatype_hindexed(2, (int64_t[]){1, 1}, (int64_t[]){INT64_MIN, INT64_MAX - 8}, ints,
                                  true, &t) == SHOAL_E_COUNT);
    CHECK(shoal_datatype_resized(ints, huge, INT64_MAX, true, &t) == SHOAL_E_COUNT);
    CHECK(shoal_datatype_contiguous(huge / 4, ints, true, &big) == 0);
    CHECK(big->size == huge / 4 * 4);
    CHECK(shoal_datatype_contiguous(5, big, true, &t) == SHOAL_E_COUNT);
    int64_t bytes;
    CHECK(shoal_datatype_bytes(big, 5, &bytes) == SHOAL_E_COUNT);
    shoal_datatype_drop(big);
    int64_t sizes[] = {4, 4}, sub[] = {2, 5}, starts[] = {0, 0}, late[] = {3, 0}, two[] = {2, 2};
    CHECK(shoal_datatype_subarray(2, sizes, sub, starts, MPI_ORDER_C, ints, false, &t) ==
          SHOAL_E_ARG);
    CHECK(shoal_datatype_subarray(2, sizes, two, late, MPI_ORDER_C, ints, false, &t) ==
          SHOAL_E_ARG);
    CHECK(shoal_datatype_subarray(2, sizes, two, starts, 99, ints, false, &t) == SHOAL_E_ARG);
    CHECK(shoal_datatype_subarray(0, sizes, two, starts, MPI_ORDER_C, ints, false, &t) ==
          SHOAL_E_ARG);
    CHECK(t == NULL);
}

// A long chain of datatypes ends in an error, not in a crash, and is taken down again.
static void test_depth(void)
{
    uint32_t before = shoal_object_live(SHOAL_KIND_DATATYPE);
    shoal_datatype *t = shoal_datatype_get(MPI_INT), *next = NULL;
    shoal_datatype *chars = shoal_datatype_get(MPI_CHAR);
    int rc = 0, built = 0;
    for (; rc == 0 && built < 2 * SHOAL_DATATYPE_DEPTH; built++) {
        rc = built % 2 ? shoal_datatype_resized(t, 0, built + 4, false, &next)
                       : shoal_datatype_struct(2, (int64_t[]){1, 1}, (int64_t[]){0, 3 * built + 4},
                                               (shoal_datatype *[]){t, chars}, false, &next);
        if (rc != 0) break;
        shoal_datatype_drop(t);
        t = next;
    }
    CHECK(rc == SHOAL_E_TYPE && built == SHOAL_DATATYPE_DEPTH);
    CHECK(shoal_datatype_commit(t) == 0);
    shoal_datatype_drop(t);
    CHECK(shoal_object_live(SHOAL_KIND_DATATYPE) == before);
}

// Lists longer than the compiler looks at in one go: even, scattered and of mixed lengths.
static void test_long_lists(void)
{
    enum { PARTS = 20000 };
    static int64_t lengths[PARTS], disps[PARTS];
    static int memory[PARTS * 8], packed[PARTS * 4], want[PARTS * 4];
    for (int i = 0; i < PARTS * 8; i++) memory[i] = i;
    for (int kind = 0; kind < 5; kind++) {
        int64_t total = 0;
        for (int64_t i = 0; i < PARTS; i++) {
            // Kind 0 is even throughout, 1 in stretches, 2 scattered, 3 mixed, 4 all adjacent.
            disps[i] = 8 * i + (kind == 1 ? i / 3000 % 2 * (i & 1) : kind == 2 ? pick(0, 4) : 0);
            lengths[i] = kind == 3 ? pick(1, 4) : kind == 4 ? 8 : 1;
            if (kind == 4 && i >= PARTS / 2) lengths[i] = 0;
            for (int64_t k = 0; k < lengths[i]; k++) want[total++] = (int)(disps[i] + k);
        }
        shoal_datatype *t = NULL;
        CHECK(shoal_datatype_indexed(PARTS, lengths, disps, shoal_datatype_get(MPI_INT), false,
                                     &t) == 0);
        CHECK(shoal_datatype_commit(t) == 0 && t->size == 4 * total);
        CHECK(kind != 0 || t->program->steps == 1);
        CHECK(kind != 1 || t->program->steps < 30);
        shoal_cursor c;
        shoal_cursor_init(&c, t, 1, memory);
        memset(packed, 0, sizeof packed);
        for (int64_t done = 0; done < t->size;) {
            done += shoal_cursor_pack_past_caches(&c, (char *)packed + done, pick(1, 30000));
        }
        CHECK(memcmp(packed, want, (size_t)t->size) == 0);
        shoal_datatype_drop(t);
    }
}

static void test_f90(void)
{
    shoal_datatype *t = NULL, *again = NULL;
    CHECK(shoal_datatype_f90(MPI_COMBINER_F90_REAL, 15, 300, &t) == 0 && t->size == 8);
    CHECK(shoal_datatype_f90(MPI_COMBINER_F90_REAL, 15, 300, &again) == 0 && t == again);
    CHECK(shoal_datatype_f90(MPI_COMBINER_F90_REAL, 6, MPI_UNDEFINED, &t) == 0 && t->size == 4);
    CHECK(shoal_datatype_f90(MPI_COMBINER_F90_COMPLEX, 7, 30, &t) == 0 && t->size == 16);
    CHECK(shoal_datatype_f90(MPI_COMBINER_F90_INTEGER, MPI_UNDEFINED, 9, &t) == 0 && t->size == 4);
    CHECK(shoal_datatype_f90(MPI_COMBINER_F90_INTEGER, MPI_UNDEFINED, 10, &t) == 0 && t->size == 8);
    CHECK(shoal_datatype_f90(MPI_COMBINER_F90_INTEGER, MPI_UNDEFINED, 99, &t) == SHOAL_E_ARG);
    CHECK(shoal_datatype_f90(MPI_COMBINER_F90_REAL, 99, 3, &t) == SHOAL_E_ARG);
    CHECK(shoal_datatype_match_size(MPI_TYPECLASS_REAL, 8, &t) == 0 && t->handle == MPI_REAL8);
    CHECK(shoal_datatype_match_size(MPI_TYPECLASS_REAL, 3, &t) == SHOAL_E_ARG);
    CHECK(shoal_datatype_match_size(5, 8, &t) == SHOAL_E_ARG);
}

int main(void)
{
    CHECK(shoal_datatype_init() == 0);
    test_predefined();
    test_dense();
    test_refused();
    test_depth();
    test_f90();
    test_long_lists();
    test_random(20000);
    shoal_datatype_fini();
    return SHOAL_TEST_RESULT();
}
