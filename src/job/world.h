// SPDX-License-Identifier: BSD-3-Clause
// The world: one nameless shared memory segment for the job, made by mpiexec (or by the first rank
// when there is no mpiexec of ours) and mapped by every rank and by mpiexec.
//
//   0            header        geometry, job state, how many ranks are awake
//   berth_off    berths        nranks x SHOAL_BERTH_BYTES: bell, life, blackboard of each rank
//   hint_off     hints         nranks rows: row r, word s counts what s has sent to r
//   ring_off     rings         nranks x nranks rings; ring (r, s) carries s -> r
//   arena_off    arena         the collectives of MPI_COMM_WORLD
//   depot_off    depots        nranks x depot_bytes: each rank's payloads on their way to others
//   ferry_off    ferries       nranks x nranks, or none: payloads of a pair that go back and forth
//   heap_off     heaps         nranks x heap_bytes; a rank allocates only in its own
//
// The file is sparse: a page exists when it is first touched. Everything is an offset. What a rank
// reads here was written by another process that may have died half way: check it before use.
#ifndef SHOAL_JOB_WORLD_H
#define SHOAL_JOB_WORLD_H

#include <assert.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "plat/plat.h"

#define SHOAL_WORLD_MAGIC  0x31302d6c616f6853u // "Shoal-01"
#define SHOAL_WORLD_LAYOUT 10u
#define SHOAL_MAX_RANKS    4096
#define SHOAL_BERTH_BYTES  2048
#define SHOAL_BOARD_SLOTS  8

// The environment by which mpiexec hands the world to a rank: "<memfd>,<eventfd>,<rank>". The
// eventfd wakes mpiexec's watch; see shoal_world_notify().
#define SHOAL_WORLD_ENV "SHOAL_WORLD"

enum shoal_life {
    SHOAL_LIFE_EMPTY = 0,     // the process has not called MPI_Init (yet)
    SHOAL_LIFE_INIT = 1,      // between MPI_Init and MPI_Finalize
    SHOAL_LIFE_FINALIZED = 2, // has returned from MPI_Finalize
    SHOAL_LIFE_DEAD = 3,      // written by mpiexec: the process is gone
};

enum shoal_job_state {
    SHOAL_JOB_RUNNING = 0,
    SHOAL_JOB_ENDING = 1, // mpiexec is ending the job: ranks do not report each other
};

// What one sleeping thread waits for. `seq` is odd while the owner writes (a seqlock): a reader
// copies the slot and believes it only if seq was the same even number before and after.
typedef struct shoal_board_slot {
    _Atomic uint32_t seq;
    _Atomic int32_t tid; // the sleeping thread; 0: slot not in use
    char call[40];       // "MPI_Recv"
    char comm[40];       // the communicator's name, or "" when it has none
    uint64_t context;    // the communicator's context id
    int32_t peer;        // rank in that communicator, MPI_ANY_SOURCE or MPI_PROC_NULL
    int32_t peer_world;  // the same as a rank of the job, -1: any or unknown
    int32_t tag;         // MPI_ANY_TAG possible
    int16_t is_send;     // waits for a receiver rather than for a sender
    int16_t collective;  // a collective call: `peer` is a rank that has not come yet
    uint32_t requests;   // how many requests the call waits for (1 for blocking calls)
    int64_t bytes;       // size of the buffer or message
    int64_t since_ns;    // when the wait began (CLOCK_MONOTONIC)
    uint64_t site[2];    // reserved for the call site
} shoal_board_slot;

typedef struct shoal_berth {
    // Read by every sender after each message, written by the owner when it sleeps or wakes.
    alignas(SHOAL_APART) _Atomic uint32_t asleep; // 1: ring the bell after publishing
    _Atomic uint32_t bell;                        // futex word; bumped to wake the owner
    _Atomic uint32_t off_core;  // 1: the owner has given its core away, to others or to sleep
    _Atomic int32_t core;       // where it ran when it last did so
    _Atomic uint32_t mate;      // the rank that it talks to and to nobody else, plus 1; or 0
    _Atomic int64_t turn_began; // when its turn in a crowd began, about
    // Not about the owner: berth n has the rank that last got its turn, in a crowd, on core n.
    alignas(SHOAL_APART) _Atomic uint32_t turn;
    // Written by the owner at start and end.
    alignas(SHOAL_APART) _Atomic uint32_t life; // enum shoal_life
    _Atomic int32_t pid;                        // the process that took the berth, 0: none yet
    _Atomic int32_t thread_level;               // what MPI_Init_thread granted (0, 1024, ...)
    _Atomic uint32_t sleepers;                  // threads asleep in MPI
    _Atomic uint32_t slept_bell;                // value of `bell` on which the last sleeper sleeps
    _Atomic uint32_t outside;                   // waits for the outside world: no proof of deadlock
    _Atomic uint32_t fetches; // 1: takes messages of medium length through the kernel
    _Atomic uint64_t probe;   // a known value others read to test process_vm_readv
    alignas(SHOAL_APART) shoal_board_slot board[SHOAL_BOARD_SLOTS];
} shoal_berth;
static_assert(sizeof(shoal_berth) <= SHOAL_BERTH_BYTES, "a berth must fit its place");
static_assert(sizeof(shoal_board_slot) <= 192, "eight slots must fit a berth");

typedef struct shoal_world_header {
    uint64_t magic;
    uint32_t layout;
    uint32_t nranks;
    uint64_t total_bytes;
    uint64_t berth_off, hint_off, hint_row_bytes;
    uint64_t ring_off, ring_bytes; // ring_bytes: one ring, its control lines included
    uint64_t arena_off, arena_bytes;
    uint64_t depot_off, depot_bytes; // depot_bytes: one rank's
    uint64_t ferry_off, ferry_bytes; // ferry_bytes: one ferry, 0: there are none
    uint64_t heap_off, heap_bytes;   // heap_bytes: one rank's
    uint32_t cores;                  // usable cores when the job began
    uint32_t fenced;       // 1: senders fence before they look at `asleep`; 0: sleepers membarrier
    uint32_t quick_kernel; // 1: messages of medium length, too, may best be copied by the kernel
    // Ranks not asleep in MPI. Guides spinning, and tells the last one to fall asleep to call the
    // watch.
    alignas(SHOAL_APART) _Atomic int32_t awake;
    alignas(SHOAL_APART) _Atomic uint32_t state; // enum shoal_job_state
    // What ranks on different cores have found of late, where that matters: below 0 that these
    // cores share a cache, above 0 that they do not.
    alignas(SHOAL_APART) _Atomic int32_t apart;
} shoal_world_header;

// A world as one process sees it.
typedef struct shoal_world {
    shoal_world_header *header;
    char *base;
    uint64_t bytes;
    uint32_t nranks;
    int rank;      // this process; -1 in mpiexec
    int notify_fd; // eventfd of the watch, or -1
} shoal_world;

// Makes the segment for `nranks` ranks and initialises header and berths. Sizes follow from the
// rank count and the limits in force. Returns its descriptor (close-on-exec) or a negative
// SHOAL_E_*; *out is mapped, with rank -1.
int shoal_world_create(uint32_t nranks, shoal_world *out);

// Maps a segment that another process made and checks its header. `fd` stays the caller's.
// SHOAL_E_ARG: it is no such segment, or what it says of this rank is of another process.
int shoal_world_attach(int fd, int rank, shoal_world *out);

// Unmaps.
void shoal_world_detach(shoal_world *);

// Wakes mpiexec's watch, if there is one.
void shoal_world_notify(const shoal_world *);

static inline shoal_berth *shoal_world_berth(const shoal_world *w, uint32_t rank)
{
    return (shoal_berth *)(void *)(w->base + w->header->berth_off +
                                   (uint64_t)rank * SHOAL_BERTH_BYTES);
}

// Row of counters "messages sent to `rank`", one word for each sender.
static inline _Atomic uint32_t *shoal_world_hints(const shoal_world *w, uint32_t rank)
{
    return (_Atomic uint32_t *)(void *)(w->base + w->header->hint_off +
                                        (uint64_t)rank * w->header->hint_row_bytes);
}

// The ring that carries messages from `from` to `to`.
static inline void *shoal_world_ring(const shoal_world *w, uint32_t to, uint32_t from)
{
    uint64_t index = (uint64_t)to * w->nranks + from;
    return w->base + w->header->ring_off + index * w->header->ring_bytes;
}

static inline char *shoal_world_depot(const shoal_world *w, uint32_t rank)
{
    return w->base + w->header->depot_off + (uint64_t)rank * w->header->depot_bytes;
}

// The ferry that lies with `from` at first, for what goes between it and `to`.
static inline char *shoal_world_ferry(const shoal_world *w, uint32_t from, uint32_t to)
{
    uint64_t index = (uint64_t)from * w->nranks + to;
    return w->base + w->header->ferry_off + index * w->header->ferry_bytes;
}

static inline char *shoal_world_heap(const shoal_world *w, uint32_t rank)
{
    return w->base + w->header->heap_off + (uint64_t)rank * w->header->heap_bytes;
}

// Rings the bell of a rank, asleep or not: for the launcher and for news that is not a message.
void shoal_world_ring_bell(const shoal_world *, uint32_t rank);

#endif
