// SPDX-License-Identifier: BSD-3-Clause
// The shared-memory transport: opening the rings, polling, bells.
#include "net/shm/shm.h"

#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "plat/error.h"
#include "plat/turn.h"

shoal_shm shoal_the_shm;

#define EAGER_BUDGET_ALL (256u << 20)
#define EAGER_BUDGET_MIN (1u << 20)
#define EAGER_BUDGET_MAX (32u << 20)
#define ANSWERS          8  // packets from a peer that make it one that talks to us
#define LOOK_EVERY       16 // packets by way of the depot between two looks at a peer's distance
#define FAR_NS           65 // a line that takes longer comes from a core that shares no cache with us
#define DISTANCE         4    // looks that it takes to be sure
#define CORES_APART      16   // ... of all ranks, that must be outweighed when cores are moved
#define CLOCK_READS      20   // ... at the clock, to know what a look at it costs
#define LOOKS_AT_FILLED  1000 // before a sender that has promised more is given the core
#define FILLED_CROWDED   50   // ... when it may well be waiting for ours
#define POLL_BUDGET      64   // packets taken from one ring before another gets its turn

static void open_peer(shoal_shm *s, uint32_t i)
{
    shoal_world *w = s->world;
    shoal_peer *p = &s->peers[i];
    uint64_t bytes = w->header->ring_bytes;
    shoal_ring_open_out(&p->out, shoal_world_ring(w, i, s->rank), bytes);
    shoal_ring_open_in(&p->in, shoal_world_ring(w, s->rank, i), bytes);
    p->hint = &shoal_world_hints(w, i)[s->rank];
    p->berth = shoal_world_berth(w, i);
    if (w->header->ferry_bytes > 0 && i != s->rank)
        shoal_ferries_open(&p->ferries, shoal_world_ferry(w, s->rank, i),
                           shoal_world_ferry(w, i, s->rank), w->header->ferry_bytes);
}

// What it costs to read the clock twice: little, or more than what is to be measured.
static int64_t clock_cost(void)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < CLOCK_READS; i++) {
        int64_t began = shoal_now_ns(), took = shoal_now_ns() - began;
        if (took < least) least = took;
    }
    return least;
}

int shoal_shm_init(shoal_world *w)
{
    shoal_shm *s = &shoal_the_shm;
    *s = (shoal_shm){.world = w, .rank = (uint32_t)w->rank, .count = w->nranks};
    s->peers = calloc(s->count, sizeof *s->peers);
    s->seen = calloc(s->count, sizeof *s->seen);
    s->queued = calloc(s->count, sizeof *s->queued);
    if (!s->peers || !s->seen || !s->queued) {
        shoal_shm_fini();
        return shoal_fail(SHOAL_E_NO_MEM, "no memory for %u peers", s->count);
    }
    // A process that cannot take part in membarriers must not be relied on to pass them.
    s->fenced = w->header->fenced || !shoal_membarrier_register();
    s->hints = shoal_world_hints(w, s->rank);
    s->berth = shoal_world_berth(w, s->rank);
    atomic_store_explicit(&s->berth->core, shoal_this_core(), memory_order_relaxed);
    s->clock_ns = clock_cost();
    s->fetches = shoal_cma_is_quick(w);
    atomic_store_explicit(&s->berth->fetches, s->fetches, memory_order_relaxed);
    s->far_matters = shoal_memory_is_nearer();
    s->eager_budget = EAGER_BUDGET_ALL / s->count;
    if (s->eager_budget < EAGER_BUDGET_MIN) s->eager_budget = EAGER_BUDGET_MIN;
    if (s->eager_budget > EAGER_BUDGET_MAX) s->eager_budget = EAGER_BUDGET_MAX;
    for (uint32_t i = 0; i < s->count; i++) open_peer(s, i);
    int rc = shoal_depot_open(&s->depot, shoal_world_depot(w, s->rank), w->header->depot_bytes);
    if (rc) shoal_shm_fini();
    return rc;
}

void shoal_shm_fini(void)
{
    shoal_shm *s = &shoal_the_shm;
    free(s->peers);
    free(s->seen);
    free(s->queued);
    shoal_depot_close(&s->depot);
    *s = (shoal_shm){0};
}

// The producer of this ring may sleep for the room that we have just made.
void shoal_shm_wake_producer(shoal_peer *p)
{
    if (shoal_the_shm.fenced)
        SHOAL_FENCE();
    else
        atomic_signal_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&p->in.ring->waits, memory_order_relaxed)) return;
    atomic_store_explicit(&p->in.ring->waits, 0, memory_order_relaxed);
    shoal_shm_ring_bell(p->berth);
}

// A payload in the sender's depot or in a ferry: where, and how long, is what the packet carries.
static void find_away(shoal_packet *p)
{
    const shoal_world *w = shoal_the_shm.world;
    shoal_away away;
    memcpy(&away, p->data, sizeof away);
    // The next packet is probably there by the time this one has been copied.
    __builtin_prefetch(p->data - sizeof(shoal_header) + shoal_packet_room(p->in_ring));
    char *depot = shoal_world_depot(w, p->peer);
    bool sane = p->length == sizeof away;
    if (away.ferry)
        p->parcel = shoal_ferry_find(&shoal_the_shm.peers[p->peer].ferries, &away);
    else if (shoal_away_sane(&away, w->header->depot_bytes))
        p->parcel = (shoal_parcel *)(void *)(depot + away.offset);
    if (!sane || !p->parcel)
        shoal_panic("rank %u has left a broken packet in shared memory (payload at %u, %u bytes)",
                    p->peer, away.offset, away.length);
    p->data = p->parcel->data;
    p->number = away.number;
    p->length = away.length;
    p->whole = away.whole != 0;
    p->gaps = away.gaps != 0;
    p->past = away.past != 0;
    p->ferry = away.ferry;
}

void shoal_shm_broken(uint32_t peer, uint32_t word)
{
    shoal_panic("rank %u has left a broken packet in shared memory (header %#x)", peer, word);
}

static void see(uint32_t peer, const shoal_header *h, uint32_t word, shoal_packet *out)
{
    *out = (shoal_packet){.peer = peer,
                          .kind = word & 15,
                          .in_ring = word >> 5,
                          .length = word >> 5,
                          .src = h->src,
                          .context = shoal_header_context(h),
                          .tag = h->tag,
                          .id = h->id,
                          .data = (const char *)(h + 1)};
    if (__builtin_expect(word & SHOAL_PKT_AWAY, 0)) find_away(out);
}

bool shoal_shm_peek(uint32_t peer, shoal_packet *out)
{
    uint32_t word;
    const shoal_header *h = shoal_shm_head(peer, &word);
    if (h) see(peer, h, word, out);
    return h != NULL;
}

// In a crowd, where ranks best wait depends on how far it is from core to core, whichever rank is
// where. A peer on our own core says nothing of it.
static void note_cores(uint32_t peer, bool far)
{
    if (shoal_shm_core_of(peer) == shoal_this_core()) return;
    _Atomic int32_t *apart = &shoal_the_shm.world->header->apart;
    int32_t old = atomic_load_explicit(apart, memory_order_relaxed);
    if (far ? old < CORES_APART : old > -CORES_APART)
        atomic_fetch_add_explicit(apart, far ? 1 : -1, memory_order_relaxed);
}

bool shoal_shm_note_distance(uint32_t peer, int64_t ns)
{
    shoal_peer *p = &shoal_the_shm.peers[peer];
    bool far = shoal_the_shm.far_matters && ns - shoal_the_shm.clock_ns > FAR_NS;
    p->distance += far ? 1 : -1;
    if (p->distance > DISTANCE) p->distance = DISTANCE;
    if (p->distance < -DISTANCE) p->distance = -DISTANCE;
    if (shoal_the_shm.far_matters && shoal_shm_crowded()) note_cores(peer, far);
    return far;
}

// How long does it take to read a line that the peer has just written? Cores are moved about, by
// the kernel and by the hosts of virtual machines, so it is measured again and again.
void shoal_shm_measure_distance(uint32_t peer)
{
    shoal_peer *p = &shoal_the_shm.peers[peer];
    if (++p->looks % LOOK_EVERY != 0) return;
    int64_t began = shoal_now_ns();
    (void)atomic_load_explicit(&p->out.ring->head, memory_order_acquire);
    shoal_shm_note_distance(peer, shoal_now_ns() - began);
}

char *shoal_shm_reserve_away(uint32_t peer, uint32_t payload)
{
    shoal_shm *s = &shoal_the_shm;
    shoal_peer *p = &s->peers[peer];
    p->away.length = 0;
    p->retry = false;
    char *note = shoal_ring_reserve(&p->out, sizeof(shoal_away));
    if (!note) return NULL;
    bool talks = s->seen[peer] >= ANSWERS; // else the first message of every pair touches its ferry
    shoal_parcel *parcel = talks ? shoal_ferry_take(&p->ferries, payload, &p->away) : NULL;
    p->past = !parcel && shoal_shm_far(peer);
    if (!parcel) {
        parcel = shoal_depot_take(&s->depot, peer, payload, &p->away);
        if (parcel) shoal_shm_measure_distance(peer);
    }
    if (parcel) {
        memcpy(note, &p->away, sizeof p->away);
        return parcel->data;
    }
    // Full. If some of it is this peer's, it will tell us when it takes it; else the ring is the
    // way. What is too long for the ring goes in smaller parts, or stays with us for now: the
    // caller has asked shoal_shm_takes_long(), but the peer may have taken its last parcel since.
    p->away.length = 0;
    if (p->parcels > 0) return NULL;
    p->retry = payload > shoal_ring_max_payload(&p->out);
    return p->retry ? NULL : shoal_ring_reserve(&p->out, payload);
}

bool shoal_shm_takes_long(uint32_t peer, uint32_t payload)
{
    shoal_peer *p = &shoal_the_shm.peers[peer];
    return shoal_depot_fits(&shoal_the_shm.depot, peer, payload) || p->parcels > 0 ||
           payload <= shoal_ring_max_payload(&p->out);
}

bool shoal_shm_send_long(uint32_t peer, uint32_t kind, const shoal_header *h, const shoal_long *l)
{
    shoal_peer *p = &shoal_the_shm.peers[peer];
    uint32_t length = l->front_bytes + l->bytes;
    assert(length > SHOAL_CHUNK && l->front_bytes <= SHOAL_CHUNK && l->step % SHOAL_CHUNK == 0);
    char *to = shoal_shm_reserve_away(peer, length);
    if (!to) return false;
    bool away = p->away.length > 0, early = away && l->early, past = p->past;
    bool gaps = away && !past && !p->away.ferry && l->gaps;
    if (away) {
        shoal_away *note = (shoal_away *)(void *)(p->out.ring->data + p->out.place + sizeof *h);
        note->whole = !early;
        note->gaps = gaps;
        note->past = past;
    }
    shoal_parcel *parcel =
        early ? (shoal_parcel *)(void *)(to - offsetof(shoal_parcel, data)) : NULL;
    if (early) {
        atomic_store_explicit(&parcel->filled, 0, memory_order_relaxed);
        shoal_shm_publish(peer, kind, length, h);
    }
    uint32_t front = l->front_bytes;
    if (front && past)
        shoal_copy_past_caches(to, l->front, front);
    else if (front)
        shoal_copy(to, l->front, front);
    for (uint32_t done = 0; done < length; front = 0) {
        uint32_t part = length - done < SHOAL_CHUNK ? length - done : SHOAL_CHUNK;
        l->fill(l->source, peer, to + (gaps ? shoal_chunk_at(done) : done) + front, part - front);
        done += part;
        if (!early || (done % l->step != 0 && done != length)) continue;
        if (past) shoal_settle_copies();
        // Pairs with the acquire in shoal_packet_part().
        atomic_store_explicit(&parcel->filled, done, memory_order_release);
    }
    if (!early) shoal_shm_publish(peer, kind, length, h);
    return true;
}

// The sender owes us the bytes up to `end`. It may have no core, or have died on the way; then
// mpiexec ends the job, unless it was told to go on.
static void give_sender_the_core(const shoal_packet *p, uint32_t end)
{
    const shoal_world_header *h = shoal_the_shm.world->header;
    const shoal_berth *b = shoal_the_shm.peers[p->peer].berth;
    if (atomic_load_explicit(&b->life, memory_order_acquire) == SHOAL_LIFE_DEAD &&
        atomic_load_explicit(&p->parcel->filled, memory_order_acquire) < end &&
        atomic_load_explicit(&h->state, memory_order_relaxed) != SHOAL_JOB_ENDING)
        shoal_panic("rank %u died while it sent %u bytes", p->peer, p->length);
    shoal_yield();
}

// Waits for the payload up to `end`.
static void wait_for_filled(const shoal_packet *p, uint32_t end)
{
    // The sender is writing now; but it may have lost its core.
    for (unsigned looks = 1; !p->whole; looks++) {
        if (atomic_load_explicit(&p->parcel->filled, memory_order_acquire) >= end) break;
        shoal_relax();
        if (looks >= LOOKS_AT_FILLED || (looks % FILLED_CROWDED == 0 && shoal_shm_crowded())) {
            give_sender_the_core(p, end);
            looks = 0;
        }
    }
}

const char *shoal_packet_part(const shoal_packet *p, uint32_t offset, uint32_t *bytes_out)
{
    if (!p->parcel || p->length <= SHOAL_CHUNK) {
        *bytes_out = p->length - offset;
        return p->data + offset;
    }
    uint32_t end = (offset / SHOAL_CHUNK + 1) * SHOAL_CHUNK;
    if (end > p->length) end = p->length;
    wait_for_filled(p, end);
    *bytes_out = end - offset;
    return p->data + (p->gaps ? shoal_chunk_at(offset) : offset);
}

void shoal_packet_copy_long(const shoal_packet *p, uint32_t offset, void *to, uint32_t bytes,
                            bool past_caches)
{
    char *d = to;
    while (bytes > 0) {
        uint32_t part;
        const char *from = shoal_packet_part(p, offset, &part);
        if (part > bytes) part = bytes;
        if (past_caches)
            shoal_copy_past_caches(d, from, part);
        else
            shoal_copy(d, from, part);
        d += part;
        offset += part;
        bytes -= part;
    }
    // Another thread may be told that the message is here.
    if (past_caches) shoal_settle_copies();
}

void shoal_packet_copy(const shoal_packet *p, uint32_t offset, void *to, uint32_t bytes)
{
    shoal_packet_copy_long(p, offset, to, bytes, false);
}

void shoal_shm_step(const shoal_packet *packet)
{
    shoal_peer *p = &shoal_the_shm.peers[packet->peer];
    shoal_the_shm.seen[packet->peer]++;
    bool room = shoal_ring_skip(&p->in, packet->in_ring);
    if (packet->parcel && packet->kind == SHOAL_PKT_EAGER)
        shoal_ferry_see(&p->ferries, packet->length);
    if (packet->ferry) {
        // Who did not want all of it still has to see the sender out of it.
        wait_for_filled(packet, packet->length);
        shoal_ferry_keep(&p->ferries, packet->ferry, packet->length);
    } else if (packet->parcel) {
        void *depot = shoal_world_depot(shoal_the_shm.world, packet->peer);
        // Pairs with the acquire in depot.c: we have read it.
        atomic_store_explicit(shoal_parcel_taken(depot, packet->number), packet->number,
                              memory_order_release);
        room = true;
        // The line by which the producer measures how far we are must be of late.
        if (packet->number % (LOOK_EVERY / 2) == 0) shoal_ring_publish_head(&p->in);
    }
    if (room) shoal_shm_wake_producer(p);
}

static SHOAL_HOT int take_from(uint32_t i)
{
    shoal_packet packet;
    shoal_header *h;
    uint32_t word;
    int taken = 0;
    for (; taken < POLL_BUDGET && (h = shoal_shm_head(i, &word)); taken++) {
        if (__builtin_expect((word & 31) == SHOAL_PKT_EAGER, 1)) {
            shoal_net_deliver_small(i, h, word >> 5);
            shoal_shm_pass(i, word >> 5);
        } else {
            see(i, h, word, &packet);
            shoal_net_deliver(&packet);
            shoal_shm_step(&packet);
        }
    }
    return taken;
}

static int flush_queues(shoal_shm *s)
{
    int pushed = 0;
    for (uint32_t k = 0; k < s->queued_count;) {
        uint32_t i = s->queued[k];
        pushed += shoal_net_flush(i);
        if (s->peers[i].queue_first || s->peers[i].bulk_first) {
            k++;
        } else {
            s->peers[i].queued = false;
            s->queued[k] = s->queued[--s->queued_count];
        }
    }
    return pushed;
}

SHOAL_HOT int shoal_shm_poll_hot(void)
{
    shoal_shm *s = &shoal_the_shm;
    int moved = take_from(s->hot);
    if (__builtin_expect(s->queued_count > 0, 0)) moved += flush_queues(s);
    return moved;
}

SHOAL_HOT int shoal_shm_poll(void)
{
    int moved = take_from(shoal_the_shm.hot);
    return moved + shoal_shm_poll_others(UINT32_MAX);
}

SHOAL_HOT int shoal_shm_poll_others(uint32_t peer)
{
    shoal_shm *s = &shoal_the_shm;
    int moved = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        // Pairs with the release in shoal_shm_announce(): the packet is visible before its count.
        uint32_t hint = atomic_load_explicit(&s->hints[i], memory_order_acquire);
        if (__builtin_expect(hint == s->seen[i], 1) || i == peer) continue;
        int taken = take_from(i);
        if (taken > 0) s->hot = i;
        moved += taken;
    }
    if (__builtin_expect(s->queued_count > 0, 0)) moved += flush_queues(s);
    return moved;
}

void shoal_shm_queue_peer(uint32_t peer)
{
    shoal_shm *s = &shoal_the_shm;
    if (s->peers[peer].queued) return;
    s->peers[peer].queued = true;
    s->queued[s->queued_count++] = peer;
}

bool shoal_shm_pending(void)
{
    shoal_shm *s = &shoal_the_shm;
    for (uint32_t i = 0; i < s->count; i++)
        if (atomic_load_explicit(&s->hints[i], memory_order_acquire) != s->seen[i]) return true;
    for (uint32_t k = 0; k < s->queued_count; k++) {
        shoal_peer *p = &s->peers[s->queued[k]];
        if (atomic_load_explicit(&p->out.ring->head, memory_order_acquire) != p->out.head)
            return true;
        if (p->retry) return true;
        if (p->parcels > 0 && shoal_depot_moved(&s->depot, s->queued[k])) return true;
    }
    return false;
}

void shoal_shm_want_room(void)
{
    shoal_shm *s = &shoal_the_shm;
    for (uint32_t k = 0; k < s->queued_count; k++)
        atomic_store_explicit(&s->peers[s->queued[k]].out.ring->waits, 1, memory_order_relaxed);
}

// Whoever turns `asleep` off does the waking and counts the sleeper as awake again; so a ring of
// many senders costs one system call, and `awake` is never too low while a wake-up is under way.
void shoal_shm_ring_bell(shoal_berth *b)
{
    if (atomic_exchange_explicit(&b->asleep, 0, memory_order_seq_cst) == 0) return;
    atomic_fetch_add_explicit(&shoal_the_shm.world->header->awake, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&b->bell, 1, memory_order_seq_cst);
    shoal_futex_wake(&b->bell, INT_MAX);
}
