// SPDX-License-Identifier: BSD-3-Clause
// Compiles layouts into programs. A datatype becomes a draft, a small list of steps, from the
// drafts of its children; adjacent blocks are merged on the way, evenly spaced ones recognised.
// Each datatype is compiled once, however often it occurs: a draft that would have to be copied
// too often is placed in the program and referred to.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/datatype_make.h"
#include "core/program.h"
#include "plat/error.h"

// A draft of up to so many steps is copied into its parent, where its blocks may merge with
// their neighbours; a longer one is referred to.
#define COPY_STEPS 8u

// So many blocks are looked at together; the finished steps of a long list take less memory than
// its blocks.
#define GATHER_STEPS 4096u

// Evenly spaced blocks in the middle of scattered ones are worth a step of their own from here.
#define EVEN_BLOCKS 8u

typedef struct draft {
    const shoal_datatype *type;
    shoal_step *step;
    uint32_t steps, room;
    uint32_t settled; // steps that gather_blocks() is done with
    uint32_t placed;  // where in the program, UINT32_MAX while it is not
} draft;

typedef struct compiler {
    shoal_program *program;
    uint32_t step_room;
    int64_t lists, list_room;
    draft *drafts; // of the datatypes met so far; shoal_datatype.place is the index
    uint32_t count, room;
    bool typed;
    bool no_memory;
} compiler;

// Makes room for `more` entries behind `used`; false and `no_memory` when there is none.
static bool grow(compiler *c, void **array, size_t entry, uint64_t used, uint64_t more,
                 uint64_t *room)
{
    if (used + more <= *room) return true;
    uint64_t want = *room * 2 > used + more ? *room * 2 : used + more;
    void *larger = want <= UINT32_MAX ? realloc(*array, (size_t)want * entry) : NULL;
    if (!larger) {
        c->no_memory = true;
        return false;
    }
    *array = larger;
    *room = want;
    return true;
}

static bool draft_room(compiler *c, draft *d, uint32_t more)
{
    uint64_t room = d->room;
    void *array = d->step;
    bool ok = grow(c, &array, sizeof *d->step, d->steps, more, &room);
    d->step = array;
    d->room = (uint32_t)room;
    return ok;
}

static bool is_block(const shoal_step *s)
{
    return s->kind == SHOAL_STEP_EVEN && s->count == 1;
}

// Adds a step at the end of a draft, merged with the last one if the two are one run.
static void add(compiler *c, draft *d, shoal_step s)
{
    shoal_step *last = d->steps > d->settled ? &d->step[d->steps - 1] : NULL;
    if (last && s.kind == SHOAL_STEP_EVEN && last->kind == SHOAL_STEP_EVEN &&
        last->basic == s.basic) {
        if (is_block(last) && is_block(&s) && last->offset + last->bytes == s.offset) {
            last->bytes += s.bytes;
            return;
        }
        bool even = last->count > 1 && last->bytes == s.bytes &&
                    s.offset == last->offset + last->count * last->stride;
        if (even && (s.count == 1 || s.stride == last->stride)) {
            last->count += s.count;
            return;
        }
    }
    if (draft_room(c, d, 1)) d->step[d->steps++] = s;
}

// Gives the steps of a body their place in packed order.
static void number(shoal_step *step, uint32_t steps)
{
    int64_t at = 0;
    for (uint32_t i = 0; i < steps; i++) {
        bool mixed = step[i].kind == SHOAL_STEP_MIXED;
        step[i].start = at;
        step[i].total = mixed ? step[i].bytes : step[i].bytes * step[i].count;
        at += step[i].total;
    }
}

// Puts a draft into the program, once, to be repeated from there.
static void place(compiler *c, draft *d)
{
    if (d->placed != UINT32_MAX || c->no_memory) return;
    shoal_program *p = c->program;
    uint64_t room = c->step_room;
    void *array = p->step;
    bool ok = grow(c, &array, sizeof *p->step, p->steps, d->steps, &room);
    p->step = array;
    c->step_room = (uint32_t)room;
    if (!ok) return;
    number(d->step, d->steps);
    memcpy(p->step + p->steps, d->step, d->steps * sizeof *d->step);
    d->placed = p->steps;
    p->steps += d->steps;
}

// Whether n repetitions of a single step are again a single step of the same kind.
static bool fold(shoal_step *s, int64_t n, int64_t stride)
{
    if (s->kind == SHOAL_STEP_LISTED || s->kind == SHOAL_STEP_MIXED) return false;
    if (is_block(s)) {
        if (stride == s->bytes) {
            s->bytes *= n;
        } else {
            s->count = n;
            s->stride = stride;
        }
        return true;
    }
    if (s->count == 1) {
        s->count = n;
        s->stride = stride;
        return true;
    }
    if (stride != s->count * s->stride) return false;
    s->count *= n;
    return true;
}

// Adds n repetitions of `from` (packed `size` bytes) to `to`.
static void add_repeated(compiler *c, draft *to, draft *from, int64_t offset, int64_t n,
                         int64_t stride, int64_t size)
{
    if (n == 0 || from->steps == 0 || c->no_memory) return;
    if (n > 1 && from->steps == 1) {
        shoal_step s = from->step[0];
        if (fold(&s, n, stride)) {
            s.offset += offset;
            add(c, to, s);
            return;
        }
    }
    if (n == 1 && from->steps <= COPY_STEPS) {
        for (uint32_t i = 0; i < from->steps; i++) {
            shoal_step s = from->step[i];
            s.offset += offset;
            add(c, to, s);
        }
        return;
    }
    place(c, from);
    add(c, to,
        (shoal_step){.offset = offset,
                     .bytes = size,
                     .count = n,
                     .stride = stride,
                     .kind = SHOAL_STEP_REPEAT,
                     .body = from->placed,
                     .length = from->steps});
}

// How many blocks follow each other from step i on.
static uint32_t blocks_from(const draft *d, uint32_t i, uint32_t end)
{
    uint32_t n = 0;
    while (i + n < end && is_block(&d->step[i + n])) n++;
    return n;
}

// How many of these n blocks are of one size, and how many of such are evenly spaced.
static uint32_t same_size(const shoal_step *s, uint32_t n)
{
    uint32_t k = 1;
    while (k < n && s[k].bytes == s[0].bytes && s[k].basic == s[0].basic) k++;
    return k;
}

static uint32_t evenly(const shoal_step *s, uint32_t n)
{
    uint32_t k = 1;
    while (k < n && (k == 1 || s[k].offset - s[k - 1].offset == s[1].offset - s[0].offset)) k++;
    return k;
}

// How many of n blocks of one size come before the next long even stretch.
static uint32_t scattered(const shoal_step *s, uint32_t n)
{
    uint32_t k = 0;
    while (k < n) {
        uint32_t even = evenly(s + k, n - k);
        if (even >= EVEN_BLOCKS) break;
        // The last block of this stretch may be the first of the next.
        k += even > 1 && k + even < n ? even - 1 : even;
    }
    return k;
}

static bool list_room(compiler *c, uint32_t more)
{
    uint64_t room = (uint64_t)c->list_room;
    void *array = c->program->list;
    bool ok = grow(c, &array, sizeof *c->program->list, (uint64_t)c->lists, more, &room);
    c->program->list = array;
    c->list_room = (int64_t)room;
    return ok;
}

// One listed step of n blocks of one size.
static shoal_step listed(compiler *c, const shoal_step *s, uint32_t n)
{
    shoal_step out = s[0];
    if (n == 1 || !list_room(c, n)) return out;
    out.kind = SHOAL_STEP_LISTED;
    out.count = n;
    out.list = c->lists;
    for (uint32_t k = 0; k < n; k++) c->program->list[c->lists++] = s[k].offset - out.offset;
    return out;
}

// One mixed step of n blocks.
static shoal_step mixed(compiler *c, const shoal_step *s, uint32_t n)
{
    shoal_step out = s[0];
    if (n == 1 || !list_room(c, 2 * n)) return out;
    out.kind = SHOAL_STEP_MIXED;
    out.count = n;
    out.bytes = 0;
    out.list = c->lists;
    for (uint32_t k = 0; k < n; k++) {
        c->program->list[c->lists++] = s[k].offset - out.offset;
        c->program->list[c->lists++] = s[k].bytes;
        out.bytes += s[k].bytes;
    }
    return out;
}

// What to make of the first of n blocks, and of how many of them. `alone`: the n blocks are a
// whole stretch between other steps.
static shoal_step gather(compiler *c, const shoal_step *s, uint32_t n, bool alone, uint32_t *taken)
{
    uint32_t same = same_size(s, n), even = evenly(s, same);
    if (even >= EVEN_BLOCKS || even == n || (c->typed && even == same)) {
        shoal_step out = s[0];
        out.count = even;
        out.stride = even > 1 ? s[1].offset - s[0].offset : 0;
        *taken = even;
        return out;
    }
    if (same >= EVEN_BLOCKS || c->typed || (alone && same == n)) {
        *taken = scattered(s, same);
        return listed(c, s, *taken);
    }
    uint32_t k = 0;
    while (k < n && k < SHOAL_MIXED) {
        same = same_size(s + k, n - k);
        if (same >= EVEN_BLOCKS) break;
        k += same;
    }
    *taken = k < SHOAL_MIXED ? k : SHOAL_MIXED;
    return mixed(c, s, *taken);
}

// Whether an even step goes on where the last one ends; if so the last one has grown.
static bool joined(shoal_step *last, const shoal_step *s)
{
    bool even = last->kind == SHOAL_STEP_EVEN && s->kind == SHOAL_STEP_EVEN && last->count > 1 &&
                last->bytes == s->bytes && last->basic == s->basic &&
                s->offset == last->offset + last->count * last->stride &&
                (s->count == 1 || s->stride == last->stride);
    if (even) last->count += s->count;
    return even;
}

// Second look at a list of parts, up to the last step but `open`: blocks in a row become one step,
// evenly spaced, listed or mixed. Done after the adjacent ones have been merged, or it would take
// them apart.
static void gather_blocks(compiler *c, draft *d, uint32_t open)
{
    uint32_t out = d->settled, end = d->steps - open;
    bool alone = out == 0;
    for (uint32_t i = d->settled; i < end && !c->no_memory;) {
        uint32_t n = blocks_from(d, i, end), taken = 1;
        shoal_step s = n > 0 ? gather(c, &d->step[i], n, alone, &taken) : d->step[i];
        alone = n == 0;
        i += taken;
        if (out > 0 && joined(&d->step[out - 1], &s)) continue;
        d->step[out++] = s;
    }
    d->settled = out;
    for (uint32_t i = end; i < d->steps; i++) d->step[out++] = d->step[i];
    d->steps = out;
}

static draft *draft_of(compiler *c, shoal_datatype *t);

// Whether the parts are many small blocks of one size of which some, but the fewer, are adjacent.
// Merging these would trade a list that runs without a branch for blocks of unforeseeable sizes.
static bool better_listed(const shoal_layout *layout)
{
    const shoal_part *p = layout->part;
    int64_t bytes = layout->parts >= EVEN_BLOCKS ? p[0].length * p[0].child->size : 0;
    if (bytes == 0 || bytes > 64 || layout->parts > UINT32_MAX) return false;
    int64_t adjacent = 0;
    for (int64_t i = 1; i < layout->parts; i++) {
        if (p[i].child != p[0].child || p[i].length != p[0].length) return false;
        if (p[i].disp == p[i - 1].disp + bytes) adjacent++;
    }
    return adjacent > 0 && adjacent < layout->parts / 2;
}

// The parts as one listed step; false if a part is more than a block.
static bool compile_listed(compiler *c, draft *d, const shoal_layout *layout)
{
    draft *child = draft_of(c, layout->part[0].child);
    draft one = {.placed = UINT32_MAX};
    if (!child) return false;
    add_repeated(c, &one, child, 0, layout->part[0].length, layout->part[0].child->extent, 0);
    bool block = one.steps == 1 && is_block(&one.step[0]);
    if (block && list_room(c, (uint32_t)layout->parts)) {
        shoal_step s = one.step[0];
        s.offset += layout->part[0].disp;
        s.kind = SHOAL_STEP_LISTED;
        s.count = layout->parts;
        s.list = c->lists;
        for (int64_t i = 0; i < layout->parts; i++) {
            c->program->list[c->lists++] = layout->part[i].disp - layout->part[0].disp;
        }
        add(c, d, s);
    }
    free(one.step);
    return block;
}

// The parts of a layout, one after the other, then their repetition.
static void compile_layout(compiler *c, draft *d, const shoal_layout *layout)
{
    draft parts = {.placed = UINT32_MAX};
    int64_t size = 0;
    if (layout->count == 1 && better_listed(layout) && compile_listed(c, d, layout)) return;
    for (int64_t i = 0; i < layout->parts && !c->no_memory; i++) {
        const shoal_part *p = &layout->part[i];
        if (p->length == 0 || p->child->size == 0) continue;
        draft *child = draft_of(c, p->child);
        if (!child) break;
        add_repeated(c, &parts, child, p->disp, p->length, p->child->extent, p->child->size);
        size += p->length * p->child->size;
        if (parts.steps - parts.settled > GATHER_STEPS) gather_blocks(c, &parts, 1);
    }
    gather_blocks(c, &parts, 0);
    if (layout->count == 1) {
        free(d->step);
        d->step = parts.step;
        d->steps = parts.steps;
        d->room = parts.room;
        return;
    }
    add_repeated(c, d, &parts, 0, layout->count, layout->stride, size);
    free(parts.step);
}

// The draft of a datatype, compiled on the first call. Valid until the next call.
static draft *draft_of(compiler *c, shoal_datatype *t)
{
    if (t->place < c->count && c->drafts[t->place].type == t) return &c->drafts[t->place];
    draft d = {.type = t, .placed = UINT32_MAX};
    if (!t->layout) {
        add(c, &d,
            (shoal_step){
                .bytes = t->size, .count = 1, .basic = c->typed ? t->basic : SHOAL_B_NONE});
    } else {
        compile_layout(c, &d, t->layout);
    }
    uint64_t room = c->room;
    void *array = c->drafts;
    bool ok = grow(c, &array, sizeof d, c->count, 1, &room);
    c->drafts = array;
    c->room = (uint32_t)room;
    if (!ok) {
        free(d.step);
        return NULL;
    }
    t->place = c->count;
    c->drafts[c->count++] = d;
    return &c->drafts[t->place];
}

int shoal_program_compile(shoal_datatype *t, bool typed, shoal_program **out)
{
    assert(t->size > 0);
    compiler c = {.program = calloc(1, sizeof(shoal_program)), .typed = typed};
    c.no_memory = !c.program;
    draft *d = c.no_memory ? NULL : draft_of(&c, t);
    if (d) place(&c, d);
    if (!c.no_memory) {
        c.program->size = t->size;
        c.program->root = d->placed;
        c.program->length = d->steps;
    }
    for (uint32_t i = 0; i < c.count; i++) free(c.drafts[i].step);
    free(c.drafts);
    if (!c.no_memory) {
        *out = c.program;
        return 0;
    }
    shoal_program_free(c.program);
    return shoal_fail(SHOAL_E_NO_MEM, "no memory to compile %s of %lld bytes",
                      shoal_datatype_label(t), (long long)t->size);
}
