// SPDX-License-Identifier: BSD-3-Clause
// The arena of an intra-communicator: shared memory in which its blocking collectives work.
// Little data of non-blocking calls goes by slots of its own (shm_later.h).
//
//     | board: slots, those of one epoch side by side | notes of each rank | slots and room for
//     calls that wait later | room for data |
//
// What belongs to a rank it alone writes and everybody reads. With a core for each rank, memory
// that another core has in its cache is slow to write (see net/shm/depot.h). So each rank has a
// place of its own, used round and round, over more than a core's cache:
//
//     place r: | small data | data of an epoch | windows | ring of pieces | rooms to swap |
//
// With more ranks than cores, who reads next is as likely on the same core, and a rank that gets a
// core after others finds nothing in its TLB: all that an epoch needs lies together, in a pool of
// several parts. One is filled from its beginning until it is full, has served enough epochs, or
// everybody has waited for everybody; then it is closed and the next is taken. All ranks do so in
// the same epoch, but only in the last case do they wait for each other there: else each says how
// many parts it has closed, and a part is taken again when all have closed the one that came after
// it. So nobody waits for who is less than a part behind, and what is shown may be read, and
// changed, until the next part that was used is closed too: in particular after one epoch more in
// which everybody waits for everybody.
//
// A collective that uses the arena has an epoch, the same number on all ranks. A slot's flag is set
// to the epoch when the slot is filled; flags only grow, so nothing is ever reset.
//
// When may a rank overwrite what it wrote in epoch u? When all ranks are known to be past u: after
// an epoch s > u in which everybody waited for everybody, or after which all are known to have
// closed a part (`synced`). All ranks see the same sequence of epochs, so all know `synced` without
// asking.
#ifndef SHOAL_COLL_ARENA_H
#define SHOAL_COLL_ARENA_H

#include <assert.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#include "core/comm.h"
#include "core/ways.h"
#include "plat/plat.h"

// Epochs that a rank may be ahead of the slowest: with a core for each it is not far behind; with
// more ranks than cores, waiting for everybody costs a turn of each.
#define SHOAL_SLOTS_ROOMY  16u
#define SHOAL_SLOTS        32u
#define SHOAL_SLOT_PAYLOAD 96u        // data that travels beside the flag
#define SHOAL_PLACE        (8u << 20) // one rank's share of the arena
#define SHOAL_NOTES        4096u      // ... of which its notes

#define SHOAL_UNIT  (16u << 10) // windows are so many of these
#define SHOAL_UNITS 128u

// The pool has so many parts, each for so many epochs at most.
#define SHOAL_POOL_PARTS  3u
#define SHOAL_PART_EPOCHS 11u
#define SHOAL_CLOSINGS    4u // that are remembered, a power of two
static_assert(2 * (SHOAL_PART_EPOCHS + 1) < SHOAL_SLOTS, "the slots of two parts are in use");

// Calls that are on record. In a crowd ranks compare what was up to two parts ago, when others may
// be two parts ahead.
#define SHOAL_RECORD 64u
static_assert(4 * (SHOAL_PART_EPOCHS + 1) < SHOAL_RECORD, "they are still on record");

// Non-blocking calls (shm_later.c) have epochs, slots and room of their own, since who starts one
// must not wait for room. They are used round and round, one half after the other.
#define SHOAL_LATER_SLOTS 16u
#define SHOAL_LATER_HALF  (SHOAL_LATER_SLOTS / 2)
// Long sums that go from rank to rank (shm_later_chain.c) have other room, of which there is less,
// so that it stays in the caches.
#define SHOAL_LATER_CHAINS 3u
// Of a rank in an epoch: with a core for each it is not worth it for more.
#define SHOAL_LATER_ROOMY   8192u
#define SHOAL_LATER_CROWDED (64u << 10)

// What a rank does in an epoch; compared between ranks.
typedef struct shoal_arena_mark {
    uint64_t what;  // kind of collective, root, operation, element kind
    uint64_t bytes; // of one rank's contribution, or of the result
} shoal_arena_mark;

// Calls whose blocks differ in length, so that a rank knows only some of them.
enum shoal_want { SHOAL_WANT_GATHER, SHOAL_WANT_SCATTER, SHOAL_WANTS };

typedef struct shoal_slot {
    alignas(SHOAL_APART) _Atomic uint64_t flag;
    shoal_arena_mark mark;
    uint32_t where; // in the pool: part and how much of it is filled, the same on all ranks
    uint16_t far;   // with much data in the pool: was the neighbour far at the rank's last look?
    uint8_t wants[SHOAL_WANTS]; // in a crowd: see shoal_arena
    alignas(16) char payload[SHOAL_SLOT_PAYLOAD];
} shoal_slot;

// A collective call that a rank has made, whichever way it is done: for comparing with the others'
// calls.
typedef struct shoal_announced {
    _Atomic uint64_t call; // its number on the communicator, written last
    shoal_arena_mark mark;
} shoal_announced;

// What a rank says when it closes a part by itself.
typedef struct shoal_closing {
    uint64_t history;           // see shoal_arena
    bool far;                   // see shoal_slot
    uint8_t wants[SHOAL_WANTS]; // see shoal_arena
} shoal_closing;

typedef struct shoal_notes {
    alignas(SHOAL_APART) shoal_announced announced[2][SHOAL_RECORD]; // blocking calls, all others
    alignas(SHOAL_APART) _Atomic uint64_t taken; // pieces that this rank has taken from a root
    _Atomic uint32_t left;                       // this rank has left the communicator
    // Written with much data in the pool; only the neighbour reads it, and takes the time.
    alignas(SHOAL_APART) _Atomic uint64_t unread;
    // Parts of the pool, when it closed the last by itself.
    alignas(SHOAL_APART) _Atomic uint64_t closed;
    shoal_closing closing[SHOAL_CLOSINGS];
    // In the notes of rank 0: how many ranks may be asleep for something in the arena.
    alignas(SHOAL_APART) _Atomic uint32_t sleepers;
    // Likewise: a rank has been told that the ranks have not made the same calls. What they write
    // from then on may belong to different calls, so there are no more of them.
    _Atomic uint32_t parted;
    // Non-blocking calls up to this one this rank is through with, told half by half, and at
    // once while others may wait for the room of a long sum.
    alignas(SHOAL_APART) _Atomic uint64_t later_through;
} shoal_notes;
static_assert(sizeof(shoal_slot) == SHOAL_APART, "two lines");
static_assert(sizeof(shoal_notes) <= SHOAL_NOTES, "notes must fit");

// Rooms in which two ranks change places (shm_swap.h), of one length.
#define SHOAL_SWAPS 6u
typedef struct shoal_swaps {
    uint32_t used; // so often
    bool refused;  // the last that was to use them was longer than ...
    int64_t last;  // ... the one before, of so many bytes
} shoal_swaps;

// How long blocks have gone, by kind of call and length (shm_straight.h).
#define SHOAL_STRAIGHT_KINDS   8u
#define SHOAL_STRAIGHT_LENGTHS 9u
typedef struct shoal_straight {
    shoal_ways ways[SHOAL_STRAIGHT_KINDS][SHOAL_STRAIGHT_LENGTHS];
    shoal_ways *now; // of the call under way
    int64_t began, bytes;
} shoal_straight;

struct shoal_arena {
    char *base, *later, *room;
    bool owned; // reserved by this rank, which gives it back
    bool told;  // a mismatch of calls has been reported: once is enough
    uint32_t cores;
    bool crowded; // more ranks than these
    int n, rank;
    uint32_t slots, record[2];     // slots in use, calls on record of both rows: powers of two
    uint32_t next_slot, next_rank; // how far it is to the same rank's next slot, the next rank's
    const uint32_t *peers;
    uint64_t calls[2];          // collective calls made on the communicator: blocking, all others
    uint8_t call_kind;          // of the last blocking call
    uint64_t history[2];        // made of all of these: the same on all ranks
    uint64_t epoch;             // the last one begun
    uint64_t synced;            // the last one in which everybody waited for everybody
    uint64_t reviewed[2];       // the last of these that have been compared with the others'
    uint64_t pieces;            // pieces sent through the ring by pipelines, ever
    int pipe_place, pipe_from;  // shm_pipe.c: where the last one lies, and who filled it
    uint64_t pipe_at, pipe_end; // ... its pieces in that place
    int64_t pipe_bytes;         // ... all of them
    uint64_t measured;          // the call in which the distance to the others was measured last
    uint64_t closed, filled;    // of the pool: parts closed so far, and how full the next one is
    uint64_t part_from;         // the epoch before the first that the part counts as its own
    uint64_t closed_together;   // the last part that was closed because everybody had waited
    uint64_t closed_at[SHOAL_CLOSINGS]; // the last epoch before each closing
    bool away;                          // the neighbour was far at the last look
    // The longest block that this rank has met since the ranks last told each other, as a code
    // (shm_sync.c); and the longest that any had met then, in bytes, the same on all.
    uint8_t wants[SHOAL_WANTS];
    uint32_t wanted[SHOAL_WANTS];
    int far; // how much speaks for cores that share no cache
    shoal_straight straight;
    bool own_first;                              // in the last exchange: shm_exchange.c
    uint32_t later_data;                         // room of a rank in an epoch of shm_later.c
    struct shoal_later *later_open, *later_last; // calls that are not done
    bool later_counted;                          // among those who may sleep
    struct shoal_arena *later_next;              // in the list of those with such calls
    // shm_later.c: calls begun; all that this rank is through with, up to one, and, a bit for each,
    // which of those after it; all that everybody is through with, as far as is known.
    uint64_t later_begun, later_through, later_beyond, later_free;
    uint64_t later_chains;                       // long sums begun,
    uint64_t later_chain_at[SHOAL_LATER_CHAINS]; // ... and the epochs of the last ones
    shoal_swaps swaps[SHOAL_SWAPS];
    uint32_t swapped;           // all uses of them
    uint32_t next_unit;         // of the next window
    uint64_t used[SHOAL_UNITS]; // the epoch in which each was last read
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

// In a crowd: do the ranks have cores that share no cache? All think the same. Few can tell, since
// many a neighbour runs on the same core, and one may be mistaken: so they are believed when
// several have said so of late.
static inline bool shoal_arena_far(const shoal_arena *a)
{
    return a->far > 4 * a->n;
}
// All have waited for all, with much data: hears what each says about it. Or all have closed a
// part.
void shoal_arena_hear_far(shoal_arena *, uint64_t epoch);
void shoal_arena_hear_closing(shoal_arena *, uint64_t closing);

static inline shoal_slot *shoal_arena_slot(const shoal_arena *a, int rank, uint64_t epoch)
{
    uint64_t k = epoch & (a->slots - 1);
    return (shoal_slot *)(void *)a->base + k * a->next_slot + (unsigned)rank * a->next_rank;
}

static inline shoal_notes *shoal_arena_notes(const shoal_arena *a, int rank)
{
    return (shoal_notes *)(void *)(a->base + (uint64_t)a->n * SHOAL_SLOTS * sizeof(shoal_slot) +
                                   (uint64_t)rank * SHOAL_NOTES);
}

// Has some rank been told that the ranks have not made the same calls?
static inline bool shoal_arena_has_parted(const shoal_arena *a)
{
    // Pairs with the store in shoal_arena_part(): what calls before that have sent is visible.
    return atomic_load_explicit(&shoal_arena_notes(a, 0)->parted, memory_order_acquire);
}

// A rank's share of what has to be zero at first; and what it leaves of its place.
#define SHOAL_CONTROL                                                                              \
    (((SHOAL_SLOTS + SHOAL_LATER_SLOTS) * (uint32_t)sizeof(shoal_slot) + SHOAL_NOTES + 4095) /     \
     4096 * 4096)
#define SHOAL_LATER_ROOMS      (SHOAL_LATER_SLOTS + SHOAL_LATER_CHAINS)
#define SHOAL_ROOM(later_data) (SHOAL_PLACE - SHOAL_CONTROL - SHOAL_LATER_ROOMS * (later_data))

// The slot of a non-blocking call, and its room for what all ranks show.
static inline shoal_slot *shoal_later_slot(const shoal_arena *a, int rank, uint64_t epoch)
{
    uint64_t k = epoch % SHOAL_LATER_SLOTS * (unsigned)a->n + (unsigned)rank;
    return (shoal_slot *)(void *)(a->later -
                                  (uint64_t)a->n * SHOAL_LATER_SLOTS * sizeof(shoal_slot)) +
           k;
}
static inline char *shoal_later_room(const shoal_arena *a, uint64_t epoch)
{
    return a->later + epoch % SHOAL_LATER_SLOTS * (unsigned)a->n * a->later_data;
}
// Room for a long sum, of which the arena has begun so many before.
static inline char *shoal_later_chain_room(const shoal_arena *a, uint64_t chains)
{
    uint64_t k = SHOAL_LATER_SLOTS + chains % SHOAL_LATER_CHAINS;
    return a->later + k * (unsigned)a->n * a->later_data;
}

// With few parts the pool stays in the caches; what is shown without everybody waiting should be no
// more than the nearest caches hold.
#define SHOAL_POOL_STEP                                                                            \
    (SHOAL_ROOM(SHOAL_LATER_CROWDED) / SHOAL_POOL_PARTS / 4096 * 4096) // of a rank
#define SHOAL_POOL_MOST  (2 << 20)  // that all ranks show at one time ...
#define SHOAL_POOL_LEAST (64 << 10) // ... but each at least so much, and a line for each rank
#define SHOAL_POOL_ALONE (1 << 20)  // that one rank shows if it alone does
#define SHOAL_POOL_PART  (1u << 20) // a part is full, unless one epoch needs more
static_assert(SHOAL_POOL_ALONE <= 2 * SHOAL_POOL_STEP, "two ranks are the fewest in a crowd");

// A rank's place: data of an epoch of up to SHOAL_DATA bytes, which may be overwritten when the
// slot may, so there are never fewer places than slots; then windows for more.
#define SHOAL_DATA         8192u
#define SHOAL_DATA_SMALL   2048u // these fit both caches
#define SHOAL_DATA_GAP     4096u // keeps the reader's prefetcher out of the next
#define SHOAL_DATA_STEP    (SHOAL_DATA + SHOAL_DATA_GAP)
#define SHOAL_DATA_LAPS    256u
#define SHOAL_DATA_FROM    (SHOAL_SLOTS_ROOMY * SHOAL_DATA_SMALL)
#define SHOAL_WINDOWS_FROM (SHOAL_DATA_FROM + SHOAL_DATA_LAPS * SHOAL_DATA_STEP)
#define SHOAL_WINDOW       (128u << 10) // a window is at most
#define SHOAL_PLACE_STEP   SHOAL_ROOM(SHOAL_LATER_ROOMY)

// A rank's ring of pieces.
#define SHOAL_PIECE       (32u << 10)
#define SHOAL_PIECE_STEP  (SHOAL_PIECE + SHOAL_DATA_GAP)
#define SHOAL_PIECES      48u
#define SHOAL_PIECES_FROM (SHOAL_WINDOWS_FROM + SHOAL_UNITS * SHOAL_UNIT)
static_assert(SHOAL_PIECES_FROM + SHOAL_PIECES * SHOAL_PIECE_STEP <= SHOAL_PLACE_STEP,
              "all must fit");
static inline char *shoal_arena_piece(const shoal_arena *a, int rank, uint64_t number)
{
    return a->room + (uint64_t)rank * SHOAL_PLACE_STEP + SHOAL_PIECES_FROM +
           number % SHOAL_PIECES * SHOAL_PIECE_STEP;
}

#endif
