// SPDX-License-Identifier: BSD-3-Clause
// See shm_straight.h.
#include "coll/shm_straight.h"

#include "plat/plat.h"

#define SHORTEST ((int64_t)64 << 10)

static shoal_ways *ways_of(shoal_arena *a, enum shoal_coll_kind kind, int64_t bytes)
{
    static const uint8_t place[SHOAL_COLL_KINDS] = {[SHOAL_COLL_ALLTOALL] = 1,
                                                    [SHOAL_COLL_GATHER] = 2,
                                                    [SHOAL_COLL_SCATTER] = 3,
                                                    [SHOAL_COLL_REDUCE_SCATTER] = 4,
                                                    [SHOAL_COLL_REDUCE_SCATTER_BLOCK] = 4};
    unsigned k = 0;
    while (k + 1 < SHOAL_STRAIGHT_LENGTHS && bytes >= SHORTEST << k) k++;
    return &a->straight.ways[place[kind]][k];
}

bool shoal_straight_wanted(shoal_arena *a, enum shoal_coll_kind kind, int64_t bytes)
{
    shoal_straight *s = &a->straight;
    int64_t now = shoal_now_ns();
    if (s->last) shoal_ways_note(s->last, s->way, s->bytes, now - s->began);
    s->last = ways_of(a, kind, bytes);
    s->began = now;
    s->bytes = bytes;
    s->way = SHOAL_WAY_COPIES;
    return shoal_ways_next(s->last) == SHOAL_WAY_KERNEL;
}

void shoal_straight_was(shoal_arena *a, bool straight)
{
    a->straight.way = straight ? SHOAL_WAY_KERNEL : SHOAL_WAY_COPIES;
}
