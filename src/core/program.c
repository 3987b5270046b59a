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
    return p->length == 1 && s->kind == SHOAL_STEP_EVEN && s->count == 1;
}

// The step of a body in which packed byte `at` lies.
static uint32_t step_at(const shoal_program *p, uint32_t first, uint32_t length, int64_t at)
{
    uint32_t low = first, high = first + length;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (p->step[middle].start <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// A step of blocks as a run.
static shoal_run run_of(const runner *r, const shoal_step *s, int64_t base)
{
    shoal_run run = {.offset = base + s->offset,
                     .bytes = s->bytes,
                     .count = s->count,
                     .stride = s->stride,
                     .outer = 1,
                     .mixed = s->kind == SHOAL_STEP_MIXED,
                     .basic = s->basic};
    if (s->kind != SHOAL_STEP_EVEN) run.list = r->program->list + s->list;
    return run;
}

// Blocks first to first + n - 1 of a step of equal blocks.
static void hand_out(const runner *r, const shoal_step *s, int64_t base, int64_t first, int64_t n)
{
    shoal_run run = run_of(r, s, base);
    run.count = n;
    if (run.list)
        run.list += first;
    else
        run.offset += first * s->stride;
    r->fn(r->context, &run);
}

// Bytes of one block.
static void hand_out_piece(const runner *r, const shoal_step *s, int64_t at, int64_t bytes)
{
    shoal_run run = {.offset = at, .bytes = bytes, .count = 1, .outer = 1, .basic = s->basic};
    r->fn(r->context, &run);
}

static int64_t block_at(const runner *r, const shoal_step *s, int64_t base, int64_t index)
{
    bool listed = s->kind == SHOAL_STEP_LISTED;
    return base + s->offset + (listed ? r->program->list[s->list + index] : index * s->stride);
}

// Packed bytes [from, to) of a step of equal blocks.
static void run_blocks(const runner *r, const shoal_step *s, int64_t base, int64_t from, int64_t to)
{
    int64_t first = from / s->bytes, cut = from % s->bytes;
    if (cut > 0) {
        int64_t end = to - first * s->bytes;
        if (end > s->bytes) end = s->bytes;
        hand_out_piece(r, s, block_at(r, s, base, first) + cut, end - cut);
        first++;
    }
    int64_t last = to / s->bytes, rest = to % s->bytes;
    if (last > first) hand_out(r, s, base, first, last - first);
    if (last >= first && rest > 0) hand_out_piece(r, s, block_at(r, s, base, last), rest);
}

// Packed bytes [from, to) of a step of mixed blocks: they are few.
static void run_mixed(const runner *r, const shoal_step *s, int64_t base, int64_t from, int64_t to)
{
    const int64_t *entry = r->program->list + s->list;
    for (int64_t i = 0, at = 0; i < s->count && at < to; i++, entry += 2) {
        int64_t begin = from > at ? from - at : 0;
        int64_t end = to - at < entry[1] ? to - at : entry[1];
        if (begin < end) hand_out_piece(r, s, base + s->offset + entry[0] + begin, end - begin);
        at += entry[1];
    }
}

static void run_body(const runner *r, uint32_t first, uint32_t length, int64_t base, int64_t from,
                     int64_t to);

// Whole repetitions. When the body is a single step of blocks, one run says it all.
static void repeat_whole(const runner *r, const shoal_step *s, int64_t base, int64_t n)
{
    const shoal_step *inner = &r->program->step[s->body];
    if (s->length == 1 && inner->kind != SHOAL_STEP_REPEAT) {
        shoal_run run = run_of(r, inner, base);
        run.outer = n;
        run.outer_stride = s->stride;
        r->fn(r->context, &run);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        run_body(r, s->body, s->length, base + i * s->stride, 0, s->bytes);
    }
}

// Packed bytes [from, to) of a repetition whose first one starts at `base`.
static void run_repeat(const runner *r, const shoal_step *s, int64_t base, int64_t from, int64_t to)
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
        if (end > s->total) end = s->total;
        if (s->kind == SHOAL_STEP_REPEAT) {
            run_repeat(r, s, base + s->offset, begin, end);
        } else if (begin == 0 && end == s->total) {
            shoal_run run = run_of(r, s, base);
            r->fn(r->context, &run);
        } else if (s->kind == SHOAL_STEP_MIXED) {
            run_mixed(r, s, base, begin, end);
        } else {
            run_blocks(r, s, base, begin, end);
        }
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
                      .kind = SHOAL_STEP_REPEAT,
                      .body = p->root,
                      .length = p->length};
    const shoal_step *only = &p->step[p->root];
    bool even = p->length == 1 && only->kind == SHOAL_STEP_EVEN;
    if (even && only->count == 1) {
        // One block for each element: the elements themselves are the evenly spaced blocks.
        all.kind = SHOAL_STEP_EVEN;
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
