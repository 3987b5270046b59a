// SPDX-License-Identifier: BSD-3-Clause
// See shm_swap.h.
#include "coll/shm_swap.h"

int shoal_swap_begin(shoal_comm *c, const shoal_arena_mark *mark, int64_t bytes, shoal_room *out)
{
    shoal_arena *a = c->arena;
    if (!shoal_swap_serves(a) || bytes <= (int64_t)SHOAL_DATA_SMALL)
        return shoal_room_begin(c, mark, bytes, false, out);
    int rc = shoal_room_begin(c, mark, 0, false, out);
    if (rc) return rc;
    uint32_t k = a->swaps++;
    out->at = a->room + SHOAL_SWAP_FROM + (uint64_t)(k % 2) * SHOAL_SWAP_STEP;
    out->step = SHOAL_PLACE_STEP;
    out->swaps = true;
    if (k / 2 % 2 == 1) { // rank 0 in the place of rank 1, and the other way round
        out->at += SHOAL_PLACE_STEP;
        out->step = -out->step;
    }
    return 0;
}
