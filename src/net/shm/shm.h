// SPDX-License-Identifier: BSD-3-Clause
// The transport between ranks of one host: a ring for each direction of each pair in the world's
// segment, a row of counters that says who has sent, and a bell for those who sleep.
#ifndef SHOAL_NET_SHM_SHM_H
#define SHOAL_NET_SHM_SHM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "job/world.h"
#include "net/shm/ferry.h"
#include "net/shm/ring.h"

typedef struct shoal_peer {
    shoal_ring_out out;
    shoal_away away;        // where the payload under way lies; length 0: in the ring
    bool past;              // it is written past the caches
    shoal_ferries ferries;  // that we share
    uint32_t parcels;       // in our depot that it has not taken yet, as last seen
    bool retry;             // no room, and nobody will tell us of any: there is another way
    int32_t distance;       // above 0: it shares no cache with us
    uint32_t looks;         // at its distance
    uint32_t sent;          // packets published to it
    uint32_t taken;         // packets taken from it
    _Atomic uint32_t *hint; // our word in its row
    shoal_berth *berth;
    shoal_ring_in in;
    uint64_t eager_sent;     // bytes of eager messages sent to it
    uint64_t eager_released; // ... that have found their receive, as last read
    uint64_t released;       // bytes of its eager messages that have found their receive here
    struct shoal_waiting *queue_first, *queue_last; // p2p's packets that wait for room, in order
    struct shoal_waiting *bulk_first, *bulk_last;   // ... and large messages that move in pieces
    bool queued;                                    // it is in the list of peers with a queue
    bool meeting[SHOAL_MEETINGS]; // large messages of its that come by meetings (p2p/meet.h),
    uint16_t last_meeting;        // ... the number of the last of them
    uint32_t declined;            // large ones to it for which no meeting is hoped for
} shoal_peer;

typedef struct shoal_shm {
    shoal_world *world;
    uint32_t rank, count;
    bool fenced;
    shoal_peer *peers;
    _Atomic uint32_t *hints; // our row: who has sent how much
    uint32_t *seen;          // how much of it we have taken, in the same order
    shoal_berth *berth;
    uint64_t eager_budget; // eager bytes that one peer may have unmatched here
    uint32_t hot;          // peer to look at first
    uint32_t streak;       // messages sent since the last blocking receive
    int64_t clock_ns;      // what reading the clock costs
    bool fetches;     // messages of medium length may best be copied by the kernel, which is quick
    bool far_matters; // to cores that share no cache one had better write past the caches
    shoal_depot depot;
    uint32_t *queued; // peers with a queue
    uint32_t queued_count;
} shoal_shm;

extern shoal_shm shoal_the_shm;

// What stands between publishing and looking at `asleep`; a test takes it away to see that it is
// missed.
#ifndef SHOAL_FENCE
#define SHOAL_FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif

int shoal_shm_init(shoal_world *);
void shoal_shm_fini(void);

// Delivers what has arrived and flushes what waits for room; returns how many packets moved.
int shoal_shm_poll(void);

// The same, but of all rings it looks only at the one that spoke last: the counters stay with those
// who write them.
int shoal_shm_poll_hot(void);

// The same as shoal_shm_poll() for all rings but one.
int shoal_shm_poll_others(uint32_t peer);

// The header at the head of a peer's ring, or NULL; *word_out is its first word, read once. A
// packet that cannot be ends the rank.
void shoal_shm_broken(uint32_t peer, uint32_t word) __attribute__((noreturn, cold));
static inline shoal_header *shoal_shm_head(uint32_t peer, uint32_t *word_out)
{
    shoal_ring_in *in = &shoal_the_shm.peers[peer].in;
    shoal_header *h = shoal_ring_peek(in, word_out);
    if (h && __builtin_expect(!shoal_ring_sane(in, *word_out), 0))
        shoal_shm_broken(peer, *word_out);
    return h;
}
// Steps over it: `in_ring` bytes of payload. Not for payloads in a depot.
void shoal_shm_wake_producer(shoal_peer *);
static inline void shoal_shm_pass(uint32_t peer, uint32_t in_ring)
{
    shoal_peer *p = &shoal_the_shm.peers[peer];
    shoal_the_shm.seen[peer]++;
    if (shoal_ring_skip(&p->in, in_ring)) shoal_shm_wake_producer(p);
}

// The packet at the head of a peer's ring, still in it; false if there is none. A packet that
// cannot be ends the rank.
bool shoal_shm_peek(uint32_t peer, shoal_packet *out);
// Steps over the packet that was peeked at.
void shoal_shm_step(const shoal_packet *);

// True if a poll would find something: the last look before sleeping.
bool shoal_shm_pending(void);

// Asks for a bell when the rings that we wait for have room. Before sleeping.
void shoal_shm_want_room(void);

void shoal_shm_ring_bell(shoal_berth *);

// Tells p2p that a peer has packets waiting for room, or no longer.
void shoal_shm_queue_peer(uint32_t peer);

// Is the peer asleep in MPI (or not running yet)?
static inline bool shoal_shm_asleep(uint32_t peer)
{
    return atomic_load_explicit(&shoal_the_shm.peers[peer].berth->asleep, memory_order_relaxed);
}

// The core that the peer was on when it last looked, or -1.
static inline int shoal_shm_core_of(uint32_t peer)
{
    return atomic_load_explicit(&shoal_the_shm.peers[peer].berth->core, memory_order_relaxed);
}

// Has the peer a core at this moment, as far as it knows?
static inline bool shoal_shm_on_core(uint32_t peer)
{
    return !atomic_load_explicit(&shoal_the_shm.peers[peer].berth->off_core, memory_order_relaxed);
}

// Is the kernel quick? All ranks think the same, even one that does not use it.
static inline bool shoal_shm_quick_kernel(void)
{
    return shoal_the_shm.world->header->quick_kernel;
}

// Does the peer fetch messages of medium length, when it has found nothing else to do?
static inline bool shoal_shm_fetches(uint32_t peer)
{
    return atomic_load_explicit(&shoal_the_shm.peers[peer].berth->fetches, memory_order_relaxed);
}

// Are more ranks awake than there are cores?
static inline bool shoal_shm_crowded(void)
{
    const shoal_world_header *h = shoal_the_shm.world->header;
    return atomic_load_explicit(&h->awake, memory_order_relaxed) > (int32_t)h->cores;
}

// Begins a packet: where its payload goes, or NULL when there is no room now.
char *shoal_shm_reserve_away(uint32_t peer, uint32_t payload);
static inline char *shoal_shm_reserve(uint32_t peer, uint32_t payload)
{
    if (payload >= SHOAL_AWAY) return shoal_shm_reserve_away(peer, payload);
    shoal_the_shm.peers[peer].past = false;
    return shoal_ring_reserve(&shoal_the_shm.peers[peer].out, payload);
}

// Finds out now and then how far away the peer is.
void shoal_shm_measure_distance(uint32_t peer);
// Notes how long it took to read a line that the peer had just written. Was that long?
bool shoal_shm_note_distance(uint32_t peer, int64_t ns);

// Does this peer share no cache with us?
static inline bool shoal_shm_far(uint32_t peer)
{
    return shoal_the_shm.peers[peer].distance > 0;
}

// Copies to a place that was reserved for a payload.
static inline void shoal_shm_fill(uint32_t peer, char *to, const char *from, uint32_t bytes)
{
    if (bytes >= SHOAL_AWAY_MIN && shoal_the_shm.peers[peer].past)
        shoal_copy_past_caches(to, from, bytes);
    else
        shoal_copy(to, from, bytes);
}

// Publishes a packet in the ring and wakes the peer if it sleeps.
static inline void shoal_shm_announce(shoal_peer *p, uint32_t kind, uint32_t payload,
                                      const shoal_header *h)
{
    shoal_ring_publish(&p->out, kind, payload, h);
    atomic_store_explicit(p->hint, ++p->sent, memory_order_release);
    // The sleeper sets `asleep` and then looks for packets; we publish and then look at `asleep`.
    // One of the two must see the other: either both fence, or the sleeper makes us (membarrier).
    if (shoal_the_shm.fenced)
        SHOAL_FENCE();
    else
        atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&p->berth->asleep, memory_order_relaxed), 0))
        shoal_shm_ring_bell(p->berth);
}

// Publishes what was reserved, wherever, and wakes the peer if it sleeps.
static inline void shoal_shm_publish(uint32_t peer, uint32_t kind, uint32_t payload,
                                     const shoal_header *h)
{
    shoal_peer *p = &shoal_the_shm.peers[peer];
    // Also what is long and lies in the ring was written past the caches.
    if (p->past) shoal_settle_copies();
    if (payload >= SHOAL_AWAY_MIN && p->away.length > 0) {
        p->away.length = 0;
        kind |= SHOAL_PKT_AWAY;
        payload = sizeof(shoal_away);
    }
    shoal_shm_announce(p, kind, payload, h);
}

// A payload of more than SHOAL_CHUNK bytes, in one call: `front` (its first bytes, at most a
// chunk), then `bytes` that `fill` writes, from the first to the last, in parts. With `early` the
// peer can copy the first part while we write the last. False when there is no room now.
typedef void shoal_fill_fn(void *source, uint32_t peer, char *to, uint32_t bytes);
typedef struct shoal_long {
    const void *front;
    uint32_t front_bytes, bytes;
    shoal_fill_fn *fill;
    void *source;
    bool early;
    bool gaps;     // leave some between chunks: good for a single one, bad for a stream
    uint32_t step; // how often the peer is told: after so many bytes, a multiple of SHOAL_CHUNK
} shoal_long;
bool shoal_shm_send_long(uint32_t peer, uint32_t kind, const shoal_header *, const shoal_long *);
// Is there room for it, or will the peer make some?
bool shoal_shm_takes_long(uint32_t peer, uint32_t payload);
// The longest payload that needs nobody but the peer to make room for it: there is the ring.
static inline uint32_t shoal_shm_sure_payload(uint32_t peer)
{
    return shoal_ring_max_payload(&shoal_the_shm.peers[peer].out);
}

// The shared heap: memory that every rank of the job can read by plain loads.
void *shoal_heap_alloc(size_t bytes, size_t align);
bool shoal_heap_free(void *); // false: not a block of this heap
// 1 + offset in the world if the memory lies in a shared heap, else 0.
uint64_t shoal_heap_offset(const void *, uint64_t bytes);
// The address of such an offset, or NULL if it is not inside a heap.
const char *shoal_heap_at(uint64_t one_plus_offset, uint64_t bytes);
void shoal_heap_fini(void);

// Is the kernel quick enough for messages of medium length, and is this rank to use it?
bool shoal_cma_is_quick(const shoal_world *);
// Reading another rank's memory: whether the kernel lets us, found out by trying, once.
bool shoal_cma_works(uint32_t peer);
// Copies; false if the kernel refused or the peer is gone (nothing or a part has been written).
bool shoal_cma_read(uint32_t peer, void *to, uint64_t from, uint64_t bytes);
bool shoal_cma_write(uint32_t peer, uint64_t to, const void *from, uint64_t bytes);

#endif
