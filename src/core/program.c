// SPDX-License-Identifier: BSD-3-Clause
// Runs programs: finds the packed range that is asked for and hands out runs of blocks.
#include "core/program.h"

#include <assert.h>
#include <stdlib.h>

typedef struct runner {
    const shoal_program *program;
    shoal_run_fn *fn;
    void *context;
} runner;

void shoal_program_free(shoal_program *p)
{
    if (!p) return;
    free(p->step);
    free(p->list);
    free(p);
}

bool shoal_program_is_block(const shoal_program *p)
{
    const shoal_step *s = &p->step[p->root];
    return p->length == 1 && s->length == 0 && s->count == 1;
}

// The step of a body in which packed byte `at` lies.
static uint32_t step_at(const shoal_program *p, uint32_t first, uint32_t length, int64_t at)
{
    uint32_t low = first, high = first + length;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (p->step[middle].start <= at) low = middle;
        else high = middle;
    }
    return low;
}

static void hand_out(const runner *r, const shoal_step *s, int64_t base, int64_t first, int64_t n)
{
    shoal_run run = {.offset = base + s->offset,
                     .bytes = s->bytes,
                     .count = n,
                     .stride = s->stride,
                     .outer = 1,
                     .basic = s->basic};
    if (s->list >= 0) run.list = r->program->list + s->list + first;
    else run.offset += first * s->stride;
    r->fn(r->context, &run);
}

// Part of one block.
static void hand_out_piece(const runner *r, const shoal_step *s, int64_t base, int64_t index,
                           int64_t from, int64_t to)
{
    int64_t at = s->list >= 0 ? r->program->list[s->list + index] : index * s->stride;
    shoal_run run = {.offset = base + s->offset + at + from,
                     .bytes = to - from,
                     .count = 1,
                     .outer = 1,
                     .basic = s->basic};
    r->fn(r->context, &run);
}

// Packed bytes [from, to) of a step of blocks.
static void run_blocks(const runner *r, const shoal_step *s, int64_t base, int64_t from,
                       int64_t to)
{
    int64_t first = from / s->bytes, cut = from % s->bytes;
    if (cut > 0) {
        int64_t end = to - first * s->bytes;
        hand_out_piece(r, s, base, first, cut, end < s->bytes ? end : s->bytes);
        first++;
    }
    int64_t last = to / s->bytes;
    if (last > first) hand_out(r, s, base, first, last - first);
    if (last >= first && to % s->bytes > 0) hand_out_piece(r, s, base, last, 0, to % s->bytes);
}

static void run_body(const runner *r, uint32_t first, uint32_t length, int64_t base, int64_t from,
                     int64_t to);

// Whole repetitions. When the body is a single step of blocks, one run says it all.
static void repeat_whole(const runner *r, const shoal_step *s, int64_t base, int64_t n)
{
    const shoal_step *inner = &r->program->step[s->body];
    if (s->length == 1 && inner->length == 0) {
        shoal_run run = {.offset = base + inner->offset,
                         .bytes = inner->bytes,
                         .count = inner->count,
                         .stride = inner->stride,
                         .outer = n,
                         .outer_stride = s->stride,
                         .basic = inner->basic};
        if (inner->list >= 0) run.list = r->program->list + inner->list;
        r->fn(r->context, &run);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        run_body(r, s->body, s->length, base + i * s->stride, 0, s->bytes);
    }
}

// Packed bytes [from, to) of a repetition whose first one starts at `base`.
static void run_repeat(const runner *r, const shoal_step *s, int64_t base, int64_t from,
                       int64_t to)
{
    int64_t first = from / s->bytes, cut = from % s->bytes;
    if (cut > 0) {
        int64_t end = to - first * s->bytes;
        run_body(r, s->body, s->length, base + first * s->stride, cut,
                 end < s->bytes ? end : s->bytes);
        first++;
    }
    int64_t last = to / s->bytes;
    if (last > first) repeat_whole(r, s, base + first * s->stride, last - first);
    if (last >= first && to % s->bytes > 0) {
        run_body(r, s->body, s->length, base + last * s->stride, 0, to % s->bytes);
    }
}

// Packed bytes [from, to) of a body.
static void run_body(const runner *r, uint32_t first, uint32_t length, int64_t base, int64_t from,
                     int64_t to)
{
    uint32_t i = from > 0 ? step_at(r->program, first, length, from) : first;
    for (; i < first + length; i++) {
        const shoal_step *s = &r->program->step[i];
        if (s->start >= to) return;
        int64_t begin = from > s->start ? from - s->start : 0;
        int64_t end = to - s->start;
        if (end > s->bytes * s->count) end = s->bytes * s->count;
        if (s->length == 0) run_blocks(r, s, base, begin, end);
        else run_repeat(r, s, base + s->offset, begin, end);
    }
}

void shoal_program_run(const shoal_program *p, int64_t count, int64_t extent, int64_t from,
                       int64_t to, shoal_run_fn *fn, void *context)
{
    assert(from >= 0 && to <= p->size * count);
    if (from >= to) return;
    runner r = {.program = p, .fn = fn, .context = context};
    shoal_step all = {.bytes = p->size,
                      .count = count,
                      .stride = extent,
                      .list = -1,
                      .body = p->root,
                      .length = p->length};
    const shoal_step *only = &p->step[p->root];
    bool even = p->length == 1 && only->length == 0 && only->list < 0;
    if (even && only->count == 1) {
        // One block for each element: the elements themselves are the evenly spaced blocks.
        all.length = 0;
        all.offset = only->offset;
        all.basic = only->basic;
        run_blocks(&r, &all, 0, from, to);
    } else if (even && extent == only->count * only->stride) {
        // The spacing goes on across elements.
        all = *only;
        all.count *= count;
        run_blocks(&r, &all, 0, from, to);
    } else {
        run_repeat(&r, &all, 0, from, to);
    }
}
