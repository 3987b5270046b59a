// SPDX-License-Identifier: BSD-3-Clause
// See shm_straight.h.
#include "coll/shm_straight.h"

#include <assert.h>

#include "net/shm/shm.h"

#define SHORTEST ((int64_t)64 << 10)
// From the last of the lengths on even a quick kernel may be slower than copies.
#define VERY_LONG (SHORTEST << (SHOAL_STRAIGHT_LENGTHS - 2))

static shoal_ways *ways_of(shoal_arena *a, enum shoal_coll_kind kind, int64_t bytes)
{
    static const uint8_t place[SHOAL_COLL_KINDS] = {
        [SHOAL_COLL_ALLGATHER] = 0,      [SHOAL_COLL_ALLTOALL] = 1,
        [SHOAL_COLL_GATHER] = 2,         [SHOAL_COLL_SCATTER] = 3,
        [SHOAL_COLL_REDUCE_SCATTER] = 4, [SHOAL_COLL_REDUCE] = 5,
        [SHOAL_COLL_ALLREDUCE] = 6,      [SHOAL_COLL_SCAN] = 7};
    assert(kind == SHOAL_COLL_ALLGATHER || place[kind] > 0);
    unsigned k = 0;
    while (k + 1 < SHOAL_STRAIGHT_LENGTHS && bytes >= SHORTEST << k) k++;
    return &a->straight.ways[place[kind]][k];
}

bool shoal_straight_wanted(shoal_arena *a, enum shoal_coll_kind kind, int64_t bytes)
{
    shoal_straight *s = &a->straight;
    if (a->rank != 0) return true;
    s->now = ways_of(a, kind, bytes);
    if (shoal_shm_quick_kernel() && bytes < VERY_LONG) s->now->patience = SHOAL_WAYS_PATIENCE;
    s->bytes = bytes;
    s->began = shoal_now_ns();
    shoal_ways_begin(s->now, s->began);
    return shoal_ways_next(s->now) == SHOAL_WAY_KERNEL;
}

void shoal_straight_went(shoal_arena *a, bool straight)
{
    shoal_straight *s = &a->straight;
    if (a->rank != 0) return;
    shoal_ways_went(s->now, straight ? SHOAL_WAY_KERNEL : SHOAL_WAY_COPIES, s->bytes, s->began);
}
