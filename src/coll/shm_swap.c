// SPDX-License-Identifier: BSD-3-Clause
// See shm_swap.h.
#include "coll/shm_swap.h"

// The class of rooms for so many bytes, and where they begin in a place.
static uint32_t class_of(int64_t bytes, uint64_t *from_out)
{
    uint32_t i = 0;
    uint64_t room = 2 * SHOAL_DATA_SMALL;
    *from_out = SHOAL_SWAP_FROM;
    for (; (uint64_t)bytes > room; i++, room *= 2) *from_out += 2 * (room + SHOAL_DATA_GAP);
    return i;
}

// Is all that will be written in the caches of who writes it? All ranks see the same lengths.
static bool is_warm(shoal_swaps *s, int64_t bytes)
{
    bool warm = bytes <= s->last || s->last == 0 || s->refused;
    s->refused = !warm;
    return warm;
}

int shoal_swap_begin(shoal_comm *c, const shoal_arena_mark *mark, int64_t bytes, shoal_room *out)
{
    shoal_arena *a = c->arena;
    if (!shoal_swap_serves(a) || bytes <= (int64_t)SHOAL_DATA_SMALL)
        return shoal_room_begin(c, mark, bytes, false, out);
    uint64_t from;
    uint32_t class = class_of(bytes, &from);
    shoal_swaps *s = &a->swaps[class];
    if (!is_warm(s, bytes)) return shoal_room_begin(c, mark, bytes, false, out);
    int rc = shoal_room_begin(c, mark, 0, false, out);
    if (rc) return rc;
    s->last = bytes;
    a->swapped++;
    uint32_t k = s->used++;
    out->at = a->room + from;
    if (k % 2 == 1) out->at += ((uint64_t)2 * SHOAL_DATA_SMALL << class) + SHOAL_DATA_GAP;
    out->step = SHOAL_PLACE_STEP;
    out->swaps = true;
    if (k / 2 % 2 == 1) { // rank 0 in the place of rank 1, and the other way round
        out->at += SHOAL_PLACE_STEP;
        out->step = -out->step;
    }
    return 0;
}
