// SPDX-License-Identifier: BSD-3-Clause
// Blocks of equal size in a user's buffer, one after the other: what gather, scatter, allgather and
// alltoall show and take in the arena.
#ifndef SHOAL_COLL_SHM_BLOCKS_H
#define SHOAL_COLL_SHM_BLOCKS_H

#include "core/datatype.h"
#include "net/shm/shm.h"
#include "plat/plat.h"

// Not copied twice if there is a better way.
static inline bool shoal_is_long_block(int64_t bytes)
{
    return bytes >= (shoal_shm_quick_kernel() ? 32 << 10 : 256 << 10);
}
#define SHOAL_VERY_LONG_BLOCK (8 << 20)

// A block for each rank, or one.
typedef struct shoal_blocks {
    char *buf;
    int64_t count;
    const shoal_datatype *type;
} shoal_blocks;

static inline char *shoal_blocks_at(const shoal_blocks *b, int i)
{
    return b->buf + i * b->count * b->type->extent;
}

// Where byte `at` of block i lies, if blocks have no holes.
static inline char *shoal_blocks_byte(const shoal_blocks *b, int i, int64_t at)
{
    return shoal_blocks_at(b, i) + b->type->true_lb + at;
}

// At packed position `at` of block i.
static inline shoal_cursor shoal_blocks_cursor(const shoal_blocks *b, int i, int64_t at)
{
    shoal_cursor c;
    shoal_cursor_init(&c, b->type, b->count, shoal_blocks_at(b, i));
    if (at) shoal_cursor_seek(&c, at);
    return c;
}

// Unpacks `bytes` of block i from packed position `at`; past the caches if all that is moved is
// more than they hold.
static inline void shoal_blocks_take(const shoal_blocks *b, int i, int64_t at, const char *from,
                                     int64_t bytes, bool flood)
{
    if (bytes == 0) return;
    if (b->type->dense) {
        char *to = shoal_blocks_byte(b, i, at);
        if (flood)
            shoal_copy_past_caches(to, from, (size_t)bytes);
        else
            shoal_copy(to, from, (size_t)bytes);
        if (flood) shoal_settle_copies();
        return;
    }
    shoal_cursor c = shoal_blocks_cursor(b, i, at);
    shoal_cursor_unpack(&c, from, bytes);
}

// Block i of one to block k of another: what a rank has for itself. A very long one will not stay
// in the caches beside the others.
static inline void shoal_blocks_copy(const shoal_blocks *from, int i, const shoal_blocks *to, int k)
{
    int64_t bytes = from->count * from->type->size;
    if (bytes >= SHOAL_VERY_LONG_BLOCK && bytes == to->count * to->type->size &&
        from->type->dense && to->type->dense) {
        shoal_copy_past_caches(shoal_blocks_byte(to, k, 0), shoal_blocks_byte(from, i, 0),
                               (size_t)bytes);
        shoal_settle_copies();
        return;
    }
    shoal_datatype_copy(shoal_blocks_at(from, i), from->count, from->type, shoal_blocks_at(to, k),
                        to->count, to->type);
}

// The rank that is k places above another.
static inline int shoal_rank_above(int rank, int k, int size)
{
    return rank + k < size ? rank + k : rank + k - size;
}

#endif
