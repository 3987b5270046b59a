// SPDX-License-Identifier: BSD-3-Clause
// Moves data between a typed buffer and packed bytes, in pieces of any size, and between two
// typed buffers. The inner loops are written once and compiled for each usual block size; a block
// of an odd size is moved as two overlapping halves, a large one by memcpy.
#include <assert.h>
#include <string.h>

#include "core/datatype.h"
#include "core/datatype_masked.h"
#include "core/program.h"
#include "plat/plat.h"

#define INLINE static inline __attribute__((always_inline))

#define PIECE 8192 // stays in the first-level cache

typedef struct mover {
    char *buf;      // the typed side
    char *packed;   // the next packed byte
    size_t between; // packed bytes of other blocks that lie between two of an even run
} mover;

// Moves n bytes; when n is not a constant, `half` is, and half <= n <= 2 * half.
INLINE void move_block(char *to, const char *from, size_t n, size_t half)
{
    if (half == 0) {
        memcpy(to, from, n);
    } else {
        char head[64], tail[64];
        memcpy(head, from, half);
        memcpy(tail, from + n - half, half);
        memcpy(to, head, half);
        memcpy(to + n - half, tail, half);
    }
}

// Blocks that each lie on lines of their own are asked for this many blocks ahead: the hardware
// follows long strides only half-heartedly. Not so far that it takes many pages.
#define AHEAD       64
#define AHEAD_LEAST 16
#define AHEAD_BYTES 16384
static int64_t blocks_ahead(int64_t stride)
{
    int64_t ahead = AHEAD_BYTES / (stride < 0 ? -stride : stride);
    return ahead > AHEAD ? AHEAD : ahead < AHEAD_LEAST ? AHEAD_LEAST : ahead;
}

INLINE void move_listed(mover *m, const shoal_run *r, size_t n, size_t half, bool packing)
{
    char *packed = m->packed;
    for (int64_t k = 0; k < r->outer; k++) {
        char *typed = m->buf + r->offset + k * r->outer_stride;
        for (int64_t i = 0; i < r->count; i++, packed += n) {
            if (packing)
                move_block(packed, typed + r->list[i], n, half);
            else
                move_block(typed + r->list[i], packed, n, half);
        }
    }
    m->packed = packed;
}

INLINE void move_even(mover *m, const shoal_run *r, size_t n, size_t half, bool packing)
{
    const int64_t stride = r->stride;
    const size_t step = n + m->between;
    const bool apart = stride >= 64 || stride <= -64;
    const int64_t ahead = apart ? blocks_ahead(stride) : 0;
    const bool far = apart && r->count > ahead;
    char *packed = m->packed;
    for (int64_t k = 0; k < r->outer; k++) {
        char *at = m->buf + r->offset + k * r->outer_stride;
        const bool two_lines = n <= 64 && stride % 64 == 0 && (uintptr_t)at % 64 + n > 64;
        int64_t i = 0;
        // Addresses behind the last block may be asked for too; nothing comes of it.
        for (; far && i < r->count; i++, packed += step, at += stride) {
            uintptr_t next = (uintptr_t)at + (uintptr_t)(ahead * stride);
            __builtin_prefetch((void *)next);
            if (two_lines) __builtin_prefetch((void *)(next + n - 1));
            if (packing)
                move_block(packed, at, n, half);
            else
                move_block(at, packed, n, half);
        }
        for (; i < r->count; i++, packed += step, at += stride) {
            if (packing)
                move_block(packed, at, n, half);
            else
                move_block(at, packed, n, half);
        }
    }
    m->packed = packed;
}

INLINE void move_run(mover *m, const shoal_run *r, size_t n, size_t half, bool packing)
{
    if (r->list)
        move_listed(m, r, n, half, packing);
    else
        move_even(m, r, n, half, packing);
}

// One block of any size.
INLINE void move_sized(char *to, const char *from, size_t n)
{
    if (n > 64)
        shoal_copy(to, from, n);
    else if (n >= 32)
        move_block(to, from, n, 32);
    else if (n >= 16)
        move_block(to, from, n, 16);
    else if (n >= 8)
        move_block(to, from, n, 8);
    else if (n >= 4)
        move_block(to, from, n, 4);
    else if (n > 1)
        move_block(to, from, n, 2);
    else
        *to = *from;
}

// Blocks that are listed with their lengths. Returns the end of the packed ones.
static char *move_uneven(char *typed, char *packed, const shoal_run *r, bool packing)
{
    const int64_t *entry = r->list;
    for (int64_t i = 0; i < r->count; i++, entry += 2) {
        size_t n = (size_t)entry[1];
        char *at = typed + entry[0];
        if (packing)
            move_sized(packed, at, n);
        else
            move_sized(at, packed, n);
        packed += n;
    }
    return packed;
}

// Mixed blocks, a few and not often repeated.
static void move_mixed(mover *m, const shoal_run *r, bool packing)
{
    for (int64_t k = 0; k < r->outer; k++) {
        char *typed = m->buf + r->offset + k * r->outer_stride;
        char *end = shoal_masked_move(typed, m->packed, r->list, r->count, packing);
        m->packed = end ? end : move_uneven(typed, m->packed, r, packing);
    }
}

INLINE void move_equal(mover *m, const shoal_run *r, bool packing)
{
    size_t n = (size_t)r->bytes;
    switch (n) {
    case 1: move_run(m, r, 1, 0, packing); return;
    case 2: move_run(m, r, 2, 0, packing); return;
    case 4: move_run(m, r, 4, 0, packing); return;
    case 8: move_run(m, r, 8, 0, packing); return;
    case 12: move_run(m, r, 12, 0, packing); return;
    case 16: move_run(m, r, 16, 0, packing); return;
    case 24: move_run(m, r, 24, 0, packing); return;
    case 32: move_run(m, r, 32, 0, packing); return;
    case 64: move_run(m, r, 64, 0, packing); return;
    default: break;
    }
    if (n == 3)
        move_run(m, r, 3, 0, packing);
    else if (n < 8)
        move_run(m, r, n, 4, packing);
    else if (n < 16)
        move_run(m, r, n, 8, packing);
    else if (n < 32)
        move_run(m, r, n, 16, packing);
    else if (n < 64)
        move_run(m, r, n, 32, packing);
    else
        move_run(m, r, n, 0, packing);
}

static void pack_equal(mover *m, const shoal_run *r)
{
    move_equal(m, r, true);
}

static void unpack_equal(mover *m, const shoal_run *r)
{
    move_equal(m, r, false);
}

// A few blocks, often repeated, as in an array of structs: block i of every repetition is an even
// run on both sides, with the other blocks between. Done in tiles that stay in the first-level
// cache.
#define TILE_BYTES 8192

static void move_fields(mover *m, const shoal_run *r, void (*equal)(mover *, const shoal_run *))
{
    int64_t whole = r->mixed ? r->bytes : r->bytes * r->count;
    int64_t tile = TILE_BYTES / whole;
    for (int64_t first = 0; first < r->outer; first += tile) {
        int64_t n = r->outer - first < tile ? r->outer - first : tile;
        char *packed = m->packed;
        for (int64_t i = 0; i < r->count; i++) {
            int64_t offset = r->mixed ? r->list[2 * i] : i * r->stride;
            shoal_run field = {.offset = r->offset + first * r->outer_stride + offset,
                               .bytes = r->mixed ? r->list[2 * i + 1] : r->bytes,
                               .count = n,
                               .stride = r->outer_stride,
                               .outer = 1};
            mover part = {
                .buf = m->buf, .packed = packed, .between = (size_t)(whole - field.bytes)};
            equal(&part, &field);
            packed += field.bytes;
        }
        m->packed += n * whole;
    }
}

static bool are_fields(const shoal_run *r)
{
    if (r->outer < 16) return false;
    if (r->mixed) return r->bytes <= TILE_BYTES / 16;
    return !r->list && r->count > 1 && r->count <= 4 && r->bytes <= 64;
}

static void pack_run(void *context, const shoal_run *r)
{
    if (are_fields(r))
        move_fields(context, r, pack_equal);
    else if (r->mixed)
        move_mixed(context, r, true);
    else
        pack_equal(context, r);
}

static void unpack_run(void *context, const shoal_run *r)
{
    if (are_fields(r))
        move_fields(context, r, unpack_equal);
    else if (r->mixed)
        move_mixed(context, r, false);
    else
        unpack_equal(context, r);
}

void shoal_cursor_init(shoal_cursor *c, const shoal_datatype *t, int64_t count, const void *buf)
{
    assert(t->committed && count >= 0);
    *c = (shoal_cursor){
        .type = t, .buf = (char *)(uintptr_t)buf, .count = count, .total = t->size * count};
}

void shoal_cursor_seek(shoal_cursor *c, int64_t position)
{
    assert(position >= 0 && position <= c->total);
    c->position = position;
}

// Advances the cursor by `bytes`, or by what is left.
static int64_t take(shoal_cursor *c, int64_t bytes)
{
    int64_t left = c->total - c->position;
    if (bytes > left) bytes = left;
    if (bytes < 0) bytes = 0;
    c->position += bytes;
    return bytes;
}

int64_t shoal_cursor_pack(shoal_cursor *c, void *out, int64_t bytes)
{
    const shoal_datatype *t = c->type;
    int64_t from = c->position, n = take(c, bytes);
    if (n == 0) return 0;
    if (t->dense) {
        shoal_copy(out, c->buf + t->true_lb + from, (size_t)n);
        return n;
    }
    mover m = {.buf = c->buf, .packed = out};
    shoal_program_run(t->program, c->count, t->extent, from, from + n, pack_run, &m);
    return n;
}

// Small blocks cannot be stored past the caches: they are put together in the nearest one first.
int64_t shoal_cursor_pack_past_caches(shoal_cursor *c, void *out, int64_t bytes)
{
    char piece[PIECE], *to = out;
    int64_t n, all = 0;
    for (; bytes > 0; bytes -= n, all += n) {
        n = shoal_cursor_pack(c, piece, bytes < PIECE ? bytes : PIECE);
        if (n == 0) break;
        shoal_copy_past_caches(to + all, piece, (size_t)n);
    }
    return all;
}

int64_t shoal_cursor_unpack(shoal_cursor *c, const void *in, int64_t bytes)
{
    const shoal_datatype *t = c->type;
    int64_t from = c->position, n = take(c, bytes);
    if (n == 0) return 0;
    if (t->dense) {
        shoal_copy(c->buf + t->true_lb + from, in, (size_t)n);
        return n;
    }
    mover m = {.buf = c->buf, .packed = (char *)(uintptr_t)in};
    shoal_program_run(t->program, c->count, t->extent, from, from + n, unpack_run, &m);
    return n;
}

int64_t shoal_datatype_copy(const void *from, int64_t from_count, const shoal_datatype *from_type,
                            void *to, int64_t to_count, const shoal_datatype *to_type)
{
    shoal_cursor in, out;
    shoal_cursor_init(&in, from_type, from_count, from);
    shoal_cursor_init(&out, to_type, to_count, to);
    int64_t bytes = in.total < out.total ? in.total : out.total;
    if (bytes == 0) return 0;
    if (to_type->dense && from_type->dense) {
        // The two may be the same buffer: a collective's own share.
        shoal_move(out.buf + to_type->true_lb, in.buf + from_type->true_lb, (size_t)bytes);
    } else if (to_type->dense) {
        shoal_cursor_pack(&in, out.buf + to_type->true_lb, bytes);
    } else if (from_type->dense) {
        shoal_cursor_unpack(&out, in.buf + from_type->true_lb, bytes);
    } else {
        char piece[PIECE];
        for (int64_t done = 0; done < bytes;) {
            int64_t left = bytes - done;
            int64_t n = left < (int64_t)sizeof piece ? left : (int64_t)sizeof piece;
            n = shoal_cursor_pack(&in, piece, n);
            shoal_cursor_unpack(&out, piece, n);
            done += n;
        }
    }
    return bytes;
}
