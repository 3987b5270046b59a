// SPDX-License-Identifier: BSD-3-Clause
// The constructors of one dimension. Each checks its arguments, writes its recipe and its layout,
// and leaves size and bounds to shoal_datatype_build().
//
// Bounds follow the standard's definition: where a component carries bounds set by resizing, only
// such components count; otherwise the data's own bounds, padded to the strictest alignment.
#include "core/datatype_make.h"

#include <assert.h>
#include <stdlib.h>

#include "core/program.h"
#include "core/recipe.h"
#include "plat/error.h"

// Wide enough for every product of two 64-bit numbers; the results are checked at the end.
typedef __int128 wide;

typedef struct span {
    wide low, high;
    bool any;
} span;

static int too_large(const char *what)
{
    return shoal_fail(SHOAL_E_COUNT, "the datatype's %s is beyond 2^63 - 1 bytes", what);
}

static bool fits(wide value)
{
    return value >= INT64_MIN && value <= INT64_MAX;
}

shoal_layout *shoal_layout_new(int64_t parts)
{
    size_t bytes = 0;
    bool overflow = __builtin_mul_overflow((size_t)parts, sizeof(shoal_part), &bytes) ||
                    __builtin_add_overflow(bytes, sizeof(shoal_layout), &bytes);
    shoal_layout *l = overflow ? NULL : malloc(bytes);
    if (!l) {
        shoal_fail(SHOAL_E_NO_MEM, "no memory for a datatype of %lld parts", (long long)parts);
        return NULL;
    }
    *l = (shoal_layout){.count = 1, .parts = parts};
    return l;
}

// Takes [low, high) into a span, also where it repeats n times at a stride.
static void widen(span *s, wide low, wide high, int64_t n, int64_t stride)
{
    wide far = (wide)(n - 1) * stride;
    if (far < 0)
        low += far;
    else
        high += far;
    if (!s->any || low < s->low) s->low = low;
    if (!s->any || high > s->high) s->high = high;
    s->any = true;
}

// Sums and spans of a layout's parts, before their repetition.
typedef struct measure {
    wide size, basics, external;
    span data, plain, marked;
    int64_t align;
    uint32_t depth;
    uint8_t basic;
    bool mixed;
} measure;

static void measure_part(measure *m, const shoal_part *p)
{
    const shoal_datatype *c = p->child;
    if (c->depth > m->depth) m->depth = c->depth;
    if (p->length == 0) return;
    m->size += (wide)p->length * c->size;
    m->basics += (wide)p->length * c->basics;
    m->external += (wide)p->length * c->external;
    wide at = p->disp;
    if (c->size > 0) {
        wide low = at + c->true_lb;
        widen(&m->data, low, low + c->true_extent, p->length, c->extent);
        if (c->align > m->align) m->align = c->align;
        if (m->basic == SHOAL_B_NONE) m->basic = c->basic;
        if (m->basic != c->basic || c->basic == SHOAL_B_NONE) m->mixed = true;
    }
    wide low = at + c->lb;
    if (c->marked)
        widen(&m->marked, low, low + c->extent, p->length, c->extent);
    else if (c->size > 0)
        widen(&m->plain, low, low + c->extent, p->length, c->extent);
}

// Size and bounds of `t` from its layout.
static int take_measure(shoal_datatype *t)
{
    const shoal_layout *l = t->layout;
    measure m = {0};
    for (int64_t i = 0; i < l->parts; i++) {
        measure_part(&m, &l->part[i]);
        if (!fits(m.size)) return too_large("size");
    }
    if (m.depth >= SHOAL_DATATYPE_DEPTH) {
        return shoal_fail(SHOAL_E_TYPE, "datatypes can be built on each other %d deep",
                          SHOAL_DATATYPE_DEPTH);
    }
    t->depth = m.depth + 1;
    t->align = m.align;
    if (l->count == 0) return 0;
    wide size = m.size * l->count, external = m.external * l->count;
    if (!fits(size) || !fits(external)) return too_large("size");
    t->size = (int64_t)size;
    t->basics = (int64_t)(m.basics * l->count);
    t->external = (int64_t)external;
    t->basic = m.mixed ? SHOAL_B_NONE : m.basic;
    t->marked = m.marked.any;
    span *bounds = m.marked.any ? &m.marked : &m.plain;
    if (m.data.any) widen(&m.data, m.data.low, m.data.high, l->count, l->stride);
    if (bounds->any) widen(bounds, bounds->low, bounds->high, l->count, l->stride);
    if (!m.marked.any && m.align > 0) {
        wide over = (bounds->high - bounds->low) % m.align;
        if (over != 0) bounds->high += m.align - over;
    }
    wide extent = bounds->high - bounds->low, true_extent = m.data.high - m.data.low;
    if (!fits(bounds->low) || !fits(bounds->high) || !fits(extent)) return too_large("extent");
    if (!fits(m.data.low) || !fits(m.data.high) || !fits(true_extent)) {
        return too_large("true extent");
    }
    t->lb = (int64_t)bounds->low;
    t->extent = (int64_t)extent;
    t->true_lb = (int64_t)m.data.low;
    t->true_extent = (int64_t)true_extent;
    return 0;
}

int shoal_datatype_build(shoal_layout *layout, shoal_recipe *recipe, shoal_datatype **out)
{
    shoal_datatype *t = shoal_object_new(SHOAL_KIND_DATATYPE);
    if (!t) {
        free(layout);
        shoal_recipe_free(recipe);
        return SHOAL_E_NO_MEM;
    }
    t->handle = shoal_object_handle(t);
    t->layout = layout;
    t->recipe = recipe;
    if (layout->holds) {
        for (int64_t i = 0; i < layout->parts; i++) shoal_datatype_hold(layout->part[i].child);
    }
    t->handles = 1;
    int rc = take_measure(t);
    if (rc != 0) {
        shoal_datatype_drop(t);
        return rc;
    }
    *out = t;
    return 0;
}

void shoal_datatype_mark(shoal_datatype *t, int64_t lb, int64_t extent)
{
    t->marked = true;
    t->lb = lb;
    t->extent = extent;
}

static int not_negative(int code, int64_t value, const char *what)
{
    if (value >= 0) return 0;
    return shoal_fail(code, "%s is %lld, and may not be negative", what, (long long)value);
}

static int check_count(int64_t count)
{
    return not_negative(SHOAL_E_COUNT, count, "count");
}

static int check_length(int64_t length)
{
    return not_negative(SHOAL_E_ARG, length, "blocklength");
}

static int none_negative(int64_t n, const int64_t *values, const char *what)
{
    for (int64_t i = 0; i < n; i++) {
        if (values[i] < 0) {
            return shoal_fail(SHOAL_E_ARG, "%s[%lld] is %lld, and may not be negative", what,
                              (long long)i, (long long)values[i]);
        }
    }
    return 0;
}

// Recipe and layout of one child type, or neither.
static int begin(int combiner, bool large, shoal_recipe_sizes sizes, int64_t parts,
                 shoal_recipe **recipe_out, shoal_layout **layout_out)
{
    shoal_layout *l = shoal_layout_new(parts);
    if (!l) return SHOAL_E_NO_MEM;
    shoal_recipe *r = shoal_recipe_new(combiner, large, sizes);
    if (!r) {
        free(l);
        return SHOAL_E_NO_MEM;
    }
    *recipe_out = r;
    *layout_out = l;
    return 0;
}

int shoal_datatype_contiguous(int64_t count, shoal_datatype *old, bool large, shoal_datatype **out)
{
    shoal_recipe *r;
    shoal_layout *l;
    int rc = check_count(count);
    if (rc == 0) {
        rc = begin(MPI_COMBINER_CONTIGUOUS, large, (shoal_recipe_sizes){.counts = 1, .types = 1}, 1,
                   &r, &l);
    }
    if (rc != 0) return rc;
    shoal_recipe_put_counts(r, 1, &count);
    shoal_recipe_put_type(r, old);
    l->part[0] = (shoal_part){.disp = 0, .length = count, .child = old};
    return shoal_datatype_build(l, r, out);
}

// Both vectors; `stride` in bytes for the layout, as given for the recipe.
static int vector(int combiner, const int64_t given[3], int64_t stride, shoal_datatype *old,
                  bool large, shoal_datatype **out)
{
    shoal_recipe *r;
    shoal_layout *l;
    bool h = combiner == MPI_COMBINER_HVECTOR;
    shoal_recipe_sizes sizes = {.counts = h ? 2 : 3, .addresses = h ? 1 : 0, .types = 1};
    int rc = check_count(given[0]);
    if (rc == 0) rc = check_length(given[1]);
    if (rc == 0) rc = begin(combiner, large, sizes, 1, &r, &l);
    if (rc != 0) return rc;
    shoal_recipe_put_counts(r, h ? 2 : 3, given);
    if (h) shoal_recipe_put_addresses(r, 1, &given[2]);
    shoal_recipe_put_type(r, old);
    l->count = given[0];
    l->stride = stride;
    l->part[0] = (shoal_part){.disp = 0, .length = given[1], .child = old};
    return shoal_datatype_build(l, r, out);
}

int shoal_datatype_vector(int64_t count, int64_t length, int64_t stride, shoal_datatype *old,
                          bool large, shoal_datatype **out)
{
    int64_t bytes = 0;
    // A stride that nothing uses may be anything.
    if (__builtin_mul_overflow(stride, old->extent, &bytes) && count > 1 && length > 0) {
        return too_large("stride");
    }
    return vector(MPI_COMBINER_VECTOR, (int64_t[]){count, length, stride}, bytes, old, large, out);
}

int shoal_datatype_hvector(int64_t count, int64_t length, int64_t stride, shoal_datatype *old,
                           bool large, shoal_datatype **out)
{
    return vector(MPI_COMBINER_HVECTOR, (int64_t[]){count, length, stride}, stride, old, large,
                  out);
}

// The arguments of the four indexed forms: one length for all when `lengths` is NULL.
typedef struct index_list {
    int combiner;
    int64_t count;
    const int64_t *lengths;
    int64_t length;
    const int64_t *disps;
    bool in_bytes;
} index_list;

static int check_index(const index_list *x)
{
    int rc = check_count(x->count);
    if (rc == 0 && x->lengths) rc = none_negative(x->count, x->lengths, "array_of_blocklengths");
    if (rc == 0 && !x->lengths) rc = check_length(x->length);
    return rc;
}

static int indexed(const index_list *x, shoal_datatype *old, bool large, shoal_datatype **out)
{
    shoal_recipe *r;
    shoal_layout *l;
    int rc = check_index(x);
    if (rc != 0) return rc;
    int64_t counts = x->lengths ? 1 + x->count : 2;
    shoal_recipe_sizes sizes = {.counts = counts + (x->in_bytes ? 0 : x->count),
                                .addresses = x->in_bytes ? x->count : 0,
                                .types = 1};
    rc = begin(x->combiner, large, sizes, x->count, &r, &l);
    if (rc != 0) return rc;
    shoal_recipe_put_counts(r, 1, &x->count);
    if (x->lengths)
        shoal_recipe_put_counts(r, x->count, x->lengths);
    else
        shoal_recipe_put_counts(r, 1, &x->length);
    if (x->in_bytes)
        shoal_recipe_put_addresses(r, x->count, x->disps);
    else
        shoal_recipe_put_counts(r, x->count, x->disps);
    shoal_recipe_put_type(r, old);
    for (int64_t i = 0; i < x->count; i++) {
        int64_t length = x->lengths ? x->lengths[i] : x->length;
        int64_t disp = 0;
        bool overflow = __builtin_mul_overflow(x->disps[i], x->in_bytes ? 1 : old->extent, &disp);
        if (overflow && length > 0) rc = too_large("displacement");
        l->part[i] = (shoal_part){.disp = disp, .length = length, .child = old};
    }
    if (rc == 0) return shoal_datatype_build(l, r, out);
    free(l);
    shoal_recipe_free(r);
    return rc;
}

int shoal_datatype_indexed(int64_t count, const int64_t *lengths, const int64_t *disps,
                           shoal_datatype *old, bool large, shoal_datatype **out)
{
    index_list x = {
        .combiner = MPI_COMBINER_INDEXED, .count = count, .lengths = lengths, .disps = disps};
    return indexed(&x, old, large, out);
}

int shoal_datatype_hindexed(int64_t count, const int64_t *lengths, const int64_t *disps,
                            shoal_datatype *old, bool large, shoal_datatype **out)
{
    index_list x = {.combiner = MPI_COMBINER_HINDEXED,
                    .count = count,
                    .lengths = lengths,
                    .disps = disps,
                    .in_bytes = true};
    return indexed(&x, old, large, out);
}

int shoal_datatype_indexed_block(int64_t count, int64_t length, const int64_t *disps,
                                 shoal_datatype *old, bool large, shoal_datatype **out)
{
    index_list x = {
        .combiner = MPI_COMBINER_INDEXED_BLOCK, .count = count, .length = length, .disps = disps};
    return indexed(&x, old, large, out);
}

int shoal_datatype_hindexed_block(int64_t count, int64_t length, const int64_t *disps,
                                  shoal_datatype *old, bool large, shoal_datatype **out)
{
    index_list x = {.combiner = MPI_COMBINER_HINDEXED_BLOCK,
                    .count = count,
                    .length = length,
                    .disps = disps,
                    .in_bytes = true};
    return indexed(&x, old, large, out);
}

int shoal_datatype_struct(int64_t count, const int64_t *lengths, const int64_t *disps,
                          shoal_datatype *const *types, bool large, shoal_datatype **out)
{
    shoal_recipe *r;
    shoal_layout *l;
    shoal_recipe_sizes sizes = {.counts = 1 + count, .addresses = count, .types = count};
    int rc = check_count(count);
    if (rc == 0) rc = none_negative(count, lengths, "array_of_blocklengths");
    if (rc == 0) rc = begin(MPI_COMBINER_STRUCT, large, sizes, count, &r, &l);
    if (rc != 0) return rc;
    shoal_recipe_put_counts(r, 1, &count);
    shoal_recipe_put_counts(r, count, lengths);
    shoal_recipe_put_addresses(r, count, disps);
    for (int64_t i = 0; i < count; i++) {
        shoal_recipe_put_type(r, types[i]);
        l->part[i] = (shoal_part){.disp = disps[i], .length = lengths[i], .child = types[i]};
    }
    return shoal_datatype_build(l, r, out);
}

// A copy of `old` in one part.
static int same(int combiner, bool large, shoal_recipe_sizes sizes, shoal_datatype *old,
                shoal_recipe **recipe_out, shoal_datatype **out)
{
    shoal_recipe *r;
    shoal_layout *l;
    int rc = begin(combiner, large, sizes, 1, &r, &l);
    if (rc != 0) return rc;
    shoal_recipe_put_type(r, old);
    l->part[0] = (shoal_part){.disp = 0, .length = 1, .child = old};
    *recipe_out = r;
    return shoal_datatype_build(l, r, out);
}

int shoal_datatype_resized(shoal_datatype *old, int64_t lb, int64_t extent, bool large,
                           shoal_datatype **out)
{
    shoal_recipe *r;
    int64_t ub;
    if (__builtin_add_overflow(lb, extent, &ub)) return too_large("upper bound");
    shoal_datatype *t = NULL;
    int rc = same(MPI_COMBINER_RESIZED, large, (shoal_recipe_sizes){.addresses = 2, .types = 1},
                  old, &r, &t);
    if (rc != 0) return rc;
    shoal_recipe_put_addresses(r, 2, (int64_t[]){lb, extent});
    shoal_datatype_mark(t, lb, extent);
    *out = t;
    return 0;
}

int shoal_datatype_dup(shoal_datatype *old, shoal_datatype **out)
{
    shoal_recipe *r;
    shoal_datatype *t = NULL;
    int rc = same(MPI_COMBINER_DUP, false, (shoal_recipe_sizes){.types = 1}, old, &r, &t);
    if (rc != 0) return rc;
    // The bounds as they are, padded by nobody.
    t->marked = old->marked;
    t->lb = old->lb;
    t->extent = old->extent;
    rc = old->committed ? shoal_datatype_commit(t) : 0;
    if (rc != 0)
        shoal_datatype_drop(t);
    else
        *out = t;
    return rc;
}
