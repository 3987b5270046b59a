// SPDX-License-Identifier: BSD-3-Clause
// The shared-memory transport: opening the rings, polling, bells.
#include "net/shm/shm.h"

#include <limits.h>
#include <stdlib.h>

#include "plat/error.h"

shoal_shm shoal_the_shm;

#define EAGER_BUDGET_ALL (256u << 20)
#define EAGER_BUDGET_MIN (1u << 20)
#define EAGER_BUDGET_MAX (32u << 20)
#define POLL_BUDGET      64 // packets taken from one ring before another gets its turn

static void open_peer(shoal_shm *s, uint32_t i)
{
    shoal_world *w = s->world;
    shoal_peer *p = &s->peers[i];
    uint64_t bytes = w->header->ring_bytes;
    shoal_ring_open_out(&p->out, shoal_world_ring(w, i, s->rank), bytes);
    shoal_ring_open_in(&p->in, shoal_world_ring(w, s->rank, i), bytes);
    p->hint = &shoal_world_hints(w, i)[s->rank];
    p->berth = shoal_world_berth(w, i);
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
    s->eager_budget = EAGER_BUDGET_ALL / s->count;
    if (s->eager_budget < EAGER_BUDGET_MIN) s->eager_budget = EAGER_BUDGET_MIN;
    if (s->eager_budget > EAGER_BUDGET_MAX) s->eager_budget = EAGER_BUDGET_MAX;
    for (uint32_t i = 0; i < s->count; i++) open_peer(s, i);
    return 0;
}

void shoal_shm_fini(void)
{
    shoal_shm *s = &shoal_the_shm;
    free(s->peers);
    free(s->seen);
    free(s->queued);
    *s = (shoal_shm){0};
}

// The producer of this ring may sleep for the room that we have just made.
static void wake_producer(shoal_peer *p)
{
    if (shoal_the_shm.fenced)
        SHOAL_FENCE();
    else
        atomic_signal_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&p->in.ring->waits, memory_order_relaxed)) return;
    atomic_store_explicit(&p->in.ring->waits, 0, memory_order_relaxed);
    shoal_shm_ring_bell(p->berth);
}

bool shoal_shm_peek(uint32_t i, shoal_packet *out)
{
    shoal_ring_in *in = &shoal_the_shm.peers[i].in;
    shoal_header *h = shoal_ring_peek(in);
    if (!h) return false;
    uint32_t word = atomic_load_explicit(&h->word, memory_order_relaxed);
    if (__builtin_expect(!shoal_ring_sane(in, word), 0))
        shoal_panic("rank %u has left a broken packet in shared memory (header %#x)", i, word);
    *out = (shoal_packet){.peer = i,
                          .kind = word & 31,
                          .length = word >> 5,
                          .src = h->src,
                          .context = (uint64_t)h->context_high << 32 | h->context_low,
                          .tag = h->tag,
                          .id = h->id,
                          .data = (const char *)(h + 1)};
    return true;
}

void shoal_shm_step(uint32_t i, uint32_t length)
{
    shoal_peer *p = &shoal_the_shm.peers[i];
    shoal_the_shm.seen[i]++;
    if (shoal_ring_skip(&p->in, length)) wake_producer(p);
}

static int take_from(uint32_t i)
{
    shoal_packet packet;
    int taken = 0;
    for (; taken < POLL_BUDGET && shoal_shm_peek(i, &packet); taken++) {
        shoal_net_deliver(&packet);
        shoal_shm_step(i, packet.length);
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

int shoal_shm_poll(void)
{
    shoal_shm *s = &shoal_the_shm;
    int moved = take_from(s->hot);
    for (uint32_t i = 0; i < s->count; i++) {
        // Pairs with the release in shoal_shm_publish(): the packet is visible before its count.
        uint32_t hint = atomic_load_explicit(&s->hints[i], memory_order_acquire);
        if (__builtin_expect(hint == s->seen[i], 1)) continue;
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
        shoal_ring_out *o = &s->peers[s->queued[k]].out;
        if (atomic_load_explicit(&o->ring->head, memory_order_acquire) != o->head) return true;
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
