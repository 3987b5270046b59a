// SPDX-License-Identifier: BSD-3-Clause
// The arena of an intra-communicator: shared memory in which its blocking collectives work. Each
// rank has a place of its own, which it alone writes and everybody reads:
//
//     place r:  | control: slots, progress | data of an epoch | windows | ring of pieces |
//
// Memory that another core has in its cache is slow to write (see net/shm/depot.h). So all of these
// are used round and round, over more than a core's own cache if the ranks are few.
//
// A collective that uses the arena has an epoch, the same number on all ranks. A slot's flag is set
// to the epoch when the slot is filled; flags only grow, so nothing is ever reset.
//
// When may a rank overwrite what it wrote in epoch u? When all ranks are known to be past u: after
// an epoch s > u in which everybody waited for everybody (`synced`). All ranks see the same
// sequence of epochs, so all know `synced` without asking.
#ifndef SHOAL_COLL_ARENA_H
#define SHOAL_COLL_ARENA_H

#include <assert.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#include "core/comm.h"
#include "plat/plat.h"

#define SHOAL_SLOTS        8u          // epochs that a rank may be ahead of the slowest
#define SHOAL_SLOT_PAYLOAD 96u         // data that travels beside the flag
#define SHOAL_PLACE        (8u << 20)  // one rank's place
#define SHOAL_CONTROL      4096u       // ... of which control
#define SHOAL_SLOT_DATA    (32u << 10) // the most data that belongs to an epoch

#define SHOAL_UNIT  (16u << 10) // windows are so many of these
#define SHOAL_UNITS 128u

// What a rank does in an epoch; compared between ranks.
typedef struct shoal_arena_mark {
    uint64_t what;  // kind of collective, root, operation, element kind
    uint64_t bytes; // of one rank's contribution, or of the result
} shoal_arena_mark;

typedef struct shoal_slot {
    alignas(SHOAL_APART) _Atomic uint64_t flag;
    shoal_arena_mark mark;
    alignas(16) char payload[SHOAL_SLOT_PAYLOAD];
} shoal_slot;

// A collective call that a rank has made, whichever way it is done: for comparing with the others'
// calls.
typedef struct shoal_announced {
    _Atomic uint64_t call; // its number on the communicator, written last
    shoal_arena_mark mark;
} shoal_announced;

typedef struct shoal_place {
    shoal_slot slots[SHOAL_SLOTS];
    alignas(SHOAL_APART) shoal_announced announced[2][SHOAL_SLOTS]; // blocking calls, all others
    alignas(SHOAL_APART) _Atomic uint64_t taken; // pieces that this rank has taken from a root
    _Atomic uint32_t left;                       // this rank has left the communicator
} shoal_place;
static_assert(sizeof(shoal_place) <= SHOAL_CONTROL, "control must fit");

struct shoal_arena {
    char *base;
    uint64_t offset; // in the world
    bool owned;      // reserved by this rank, which gives it back
    bool told;       // a mismatch of calls has been reported: once is enough
    int n, rank;
    const uint32_t *peers;
    uint64_t calls[2];          // collective calls made on the communicator: blocking, all others
    uint64_t epoch;             // the last one begun
    uint64_t synced;            // the last one in which everybody waited for everybody
    uint64_t pieces;            // pieces sent through the ring by pipelines, ever
    uint64_t measured;          // the call in which the distance to the others was measured last
    uint32_t next_unit;         // of the next window
    uint32_t window_units;      // a window has at most
    uint64_t used[SHOAL_UNITS]; // the epoch in which each was last read
    uint32_t laps[2];           // places for data of an epoch: of middle size, large
    struct shoal_arena *next;   // in the list of those to be given back
};

// For the leader of a new communicator: memory for its arena; 0 when there is none, and then the
// communicator goes without. The number travels to the members.
uint64_t shoal_arena_reserve(int nranks);
// Every member: takes the arena into use (0: does nothing).
int shoal_arena_attach(shoal_comm *, uint64_t arena);
// MPI_COMM_WORLD's own, which needs no leader.
int shoal_arena_attach_world(void);
void shoal_arena_detach(shoal_comm *);

static inline shoal_place *shoal_arena_place(const shoal_arena *a, int rank)
{
    return (shoal_place *)(void *)(a->base + (uint64_t)rank * SHOAL_PLACE);
}

// Where a rank's data of an epoch lies, if it is at most SHOAL_SLOT_DATA bytes. It may be
// overwritten when the slot may, so there are never fewer places than slots.
#define SHOAL_DATA_SMALL  2048u // these fit both caches
#define SHOAL_DATA_MIDDLE 8192u
#define SHOAL_DATA_GAP    4096u // keeps the reader's prefetcher out of the next
#define SHOAL_LAPS_MIDDLE 256u
#define SHOAL_LAPS_LARGE  32u
#define SHOAL_MIDDLE_FROM (SHOAL_CONTROL + SHOAL_SLOTS * SHOAL_DATA_SMALL)
#define SHOAL_MIDDLE_STEP (SHOAL_DATA_MIDDLE + SHOAL_DATA_GAP)
#define SHOAL_LARGE_FROM  (SHOAL_MIDDLE_FROM + SHOAL_LAPS_MIDDLE * SHOAL_MIDDLE_STEP)
#define SHOAL_LARGE_STEP  (SHOAL_SLOT_DATA + SHOAL_DATA_GAP)
static inline char *shoal_arena_data(const shoal_arena *a, int rank, uint64_t epoch, int64_t bytes)
{
    char *place = a->base + (uint64_t)rank * SHOAL_PLACE;
    if (bytes <= (int64_t)SHOAL_SLOT_PAYLOAD)
        return ((shoal_place *)(void *)place)->slots[epoch % SHOAL_SLOTS].payload;
    if (bytes <= (int64_t)SHOAL_DATA_SMALL)
        return place + SHOAL_CONTROL + epoch % SHOAL_SLOTS * SHOAL_DATA_SMALL;
    if (bytes <= (int64_t)SHOAL_DATA_MIDDLE)
        return place + SHOAL_MIDDLE_FROM + epoch % a->laps[0] * SHOAL_MIDDLE_STEP;
    return place + SHOAL_LARGE_FROM + epoch % a->laps[1] * SHOAL_LARGE_STEP;
}

// A window: what a rank shows the others at one time of large data. See shoal_window_open().
#define SHOAL_WINDOWS_FROM (SHOAL_LARGE_FROM + SHOAL_LAPS_LARGE * SHOAL_LARGE_STEP)
typedef struct shoal_window {
    uint32_t unit, count;
} shoal_window;
static inline int64_t shoal_arena_window_bytes(const shoal_arena *a)
{
    return (int64_t)a->window_units * SHOAL_UNIT;
}
static inline char *shoal_arena_window(const shoal_arena *a, int rank, shoal_window w)
{
    return a->base + (uint64_t)rank * SHOAL_PLACE + SHOAL_WINDOWS_FROM +
           (uint64_t)w.unit * SHOAL_UNIT;
}

// A rank's ring of pieces.
#define SHOAL_PIECE       (32u << 10)
#define SHOAL_PIECE_STEP  (SHOAL_PIECE + SHOAL_DATA_GAP)
#define SHOAL_PIECES_FROM (SHOAL_WINDOWS_FROM + SHOAL_UNITS * SHOAL_UNIT)
#define SHOAL_PIECES      ((SHOAL_PLACE - SHOAL_PIECES_FROM) / SHOAL_PIECE_STEP)
static_assert(SHOAL_PIECES >= 16, "the ring must have room for some pieces");
static inline char *shoal_arena_piece(const shoal_arena *a, int rank, uint64_t number)
{
    return a->base + (uint64_t)rank * SHOAL_PLACE + SHOAL_PIECES_FROM +
           number % SHOAL_PIECES * SHOAL_PIECE_STEP;
}

#endif
