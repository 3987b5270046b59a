// SPDX-License-Identifier: BSD-3-Clause
// Room for what two ranks with a core each show each other at the same time. They change places
// every time the room is used again: a rank writes where it has read last, into lines that its own
// cache holds (see net/shm/ferry.h). Two rooms in turn are enough, because both ranks wait for each
// other whenever one is used. There are two for each length, up to twice as long: what a shorter
// use leaves out is not in the right cache. Where lengths differ within that, a longer one after a
// shorter takes other room, unless it is the second in a row.
#ifndef SHOAL_COLL_SHM_SWAP_H
#define SHOAL_COLL_SHM_SWAP_H

#include "coll/shm_sync.h"

#define SHOAL_SWAP_MOST SHOAL_WINDOW
#define SHOAL_SWAP_FROM (SHOAL_PIECES_FROM + SHOAL_PIECES * SHOAL_PIECE_STEP)
// Rooms of class i hold 2 * SHOAL_DATA_SMALL << i.
static_assert(2 * SHOAL_DATA_SMALL << (SHOAL_SWAPS - 1) == SHOAL_SWAP_MOST, "the last class");
static_assert(SHOAL_SWAP_FROM + 2 * (2 * SHOAL_SWAP_MOST + SHOAL_SWAPS * SHOAL_DATA_GAP) <=
                  SHOAL_PLACE_STEP,
              "all must fit");

static inline bool shoal_swap_serves(const shoal_arena *a)
{
    return a->n == 2 && !a->crowded;
}

// As shoal_room_begin(), for an epoch in which all show and all wait for all: room of this kind if
// it serves, and else of any.
int shoal_swap_begin(shoal_comm *, const shoal_arena_mark *, int64_t bytes, shoal_room *out);

// Copies into the own part of a room of either kind.
static inline void shoal_room_fill(const shoal_arena *a, const shoal_room *room, char *to,
                                   const char *from, int64_t bytes)
{
    if (room->swaps)
        shoal_copy(to, from, (size_t)bytes);
    else
        shoal_arena_copy(a, to, from, bytes);
}

#endif
