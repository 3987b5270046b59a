// SPDX-License-Identifier: BSD-3-Clause
// See shm_sync.h. Waiting goes through the engine's one loop, so that messages keep moving and a
// rank without a core sleeps; whoever changes what a sleeper waits for rings its bell.
#include "coll/shm_sync.h"

#include <string.h>

#include "coll/signature.h"
#include "net/shm/shm.h"
#include "progress/progress.h"

#define PAST_CACHES 2048 // it is not worth it for less

typedef struct slot_wait {
    shoal_comm *comm;
    uint64_t epoch;
    const shoal_arena_mark *mark;
    int next, end; // ranks still to be seen
    int strange;   // a rank that does something else in this epoch, or -1
    int clash;     // failure: a rank does something else in some other way
} slot_wait;

static bool slots_there(void *what)
{
    slot_wait *w = what;
    const shoal_arena *a = w->comm->arena;
    if (__builtin_expect(w->clash, 0)) return true;
    for (; w->next < w->end; w->next++) {
        if (w->next == a->rank) continue;
        const shoal_slot *s = shoal_slot_of(a, w->next, w->epoch);
        // Pairs with the release in shoal_slot_publish(): mark and payload are visible.
        if (atomic_load_explicit(&s->flag, memory_order_acquire) < w->epoch) return false;
        if (!shoal_mark_same(&s->mark, w->mark)) {
            w->strange = w->next;
            return true;
        }
    }
    return true;
}

// Before sleeping, also look whether those who have not come here have gone elsewhere.
static void describe(void *what, shoal_wait_note *note)
{
    slot_wait *w = what;
    w->clash = shoal_signature_check(w->comm, w->mark);
    note->comm = shoal_comm_label(w->comm);
    note->context = w->comm->context;
    note->peer = w->next;
    note->peer_world = (int)w->comm->peers[w->next];
    note->tag = MPI_ANY_TAG;
    note->bytes = (int64_t)w->mark->bytes;
    note->collective = true;
}

void shoal_arena_wake(const shoal_arena *a)
{
    if (shoal_the_shm.fenced)
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst);
    for (int r = 0; r < a->n; r++)
        if (r != a->rank && __builtin_expect(shoal_shm_asleep(a->peers[r]), 0))
            shoal_shm_ring_bell(shoal_the_shm.peers[a->peers[r]].berth);
}

static int wait_for(slot_wait *w)
{
    if (!slots_there(w)) shoal_progress_wait(slots_there, w, describe, -1);
    if (w->clash == 0 && w->strange < 0) return 0;
    // Those who sleep must see the failure too: nobody will come and wake them in this epoch.
    shoal_arena_wake(w->comm->arena);
    if (w->clash) return w->clash;
    // Calls before this one that needed no waiting may be where the ranks parted.
    int rc = shoal_signature_review(w->comm);
    if (rc) return rc;
    w->comm->arena->told = true;
    const shoal_slot *s = shoal_slot_of(w->comm->arena, w->strange, w->epoch);
    return shoal_mark_mismatch(w->comm, w->mark, w->strange, &s->mark);
}

void shoal_slot_publish(shoal_arena *a, uint64_t epoch, const shoal_arena_mark *mark, bool wake)
{
    shoal_slot *s = &shoal_arena_place(a, a->rank)->slots[epoch % SHOAL_SLOTS];
    s->mark = *mark;
    atomic_store_explicit(&s->flag, epoch, memory_order_release);
    if (wake) shoal_arena_wake(a);
}

static void wake(const shoal_arena *a, int rank)
{
    if (shoal_the_shm.fenced)
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(shoal_shm_asleep(a->peers[rank]), 0))
        shoal_shm_ring_bell(shoal_the_shm.peers[a->peers[rank]].berth);
}

void shoal_slot_publish_to(shoal_arena *a, uint64_t epoch, const shoal_arena_mark *mark, int reader)
{
    shoal_slot_publish(a, epoch, mark, false);
    wake(a, reader);
}

int shoal_slot_wait(shoal_comm *c, int rank, uint64_t epoch, const shoal_arena_mark *mark)
{
    slot_wait w = {
        .comm = c, .epoch = epoch, .mark = mark, .next = rank, .end = rank + 1, .strange = -1};
    return wait_for(&w);
}

// The neighbour stands for all: with two ranks it is all.
static uint32_t neighbour(const shoal_arena *a)
{
    return a->peers[(a->rank + 1) % a->n];
}

// The announcement of a call is a line that a rank writes once, and that nobody has read yet when
// all have come.
static void measure_distance(shoal_arena *a)
{
    if (a->measured == a->calls[0]) return;
    a->measured = a->calls[0];
    const shoal_place *p = shoal_arena_place(a, (a->rank + 1) % a->n);
    int64_t began = shoal_now_ns();
    (void)atomic_load_explicit(&p->announced[0][a->calls[0] % SHOAL_SLOTS].call,
                               memory_order_acquire);
    shoal_shm_note_distance(neighbour(a), shoal_now_ns() - began);
}

int shoal_slot_wait_all(shoal_comm *c, uint64_t epoch, const shoal_arena_mark *mark, bool sync)
{
    slot_wait w = {.comm = c, .epoch = epoch, .mark = mark, .end = c->size, .strange = -1};
    int rc = wait_for(&w);
    if (rc) return rc;
    if (mark->bytes >= PAST_CACHES) measure_distance(c->arena);
    if (sync) {
        c->arena->synced = epoch;
        // Whoever sees that all are there wakes those who slept before it could be seen.
        shoal_arena_wake(c->arena);
    }
    return 0;
}

int shoal_epoch_sync(shoal_comm *c, const shoal_arena_mark *mark)
{
    shoal_arena *a = c->arena;
    uint64_t e = ++a->epoch;
    shoal_slot_publish(a, e, mark, false);
    return shoal_slot_wait_all(c, e, mark, true);
}

int shoal_window_open(shoal_comm *c, const shoal_arena_mark *mark, int64_t bytes, shoal_window *out)
{
    shoal_arena *a = c->arena;
    uint32_t count = (uint32_t)((bytes + SHOAL_UNIT - 1) / SHOAL_UNIT);
    if (a->next_unit + count > SHOAL_UNITS) a->next_unit = 0;
    *out = (shoal_window){.unit = a->next_unit, .count = count};
    a->next_unit += count;
    // Everybody has begun the epoch `synced`, and so is done with all that was read before it.
    for (uint32_t k = 0; k < count; k++)
        if (a->used[out->unit + k] >= a->synced) return shoal_epoch_sync(c, mark);
    return 0;
}

int shoal_window_show(shoal_comm *c, const shoal_arena_mark *mark, shoal_window w)
{
    shoal_arena *a = c->arena;
    shoal_arena_settle(a);
    int rc = shoal_epoch_sync(c, mark);
    for (uint32_t k = 0; k < w.count; k++) a->used[w.unit + k] = a->epoch;
    return rc;
}

void shoal_arena_copy(const shoal_arena *a, char *to, const char *from, int64_t bytes)
{
    if (bytes >= PAST_CACHES && shoal_shm_far(neighbour(a)))
        shoal_copy_past_caches(to, from, (size_t)bytes);
    else
        memcpy(to, from, (size_t)bytes);
}

void shoal_arena_settle(const shoal_arena *a)
{
    if (shoal_shm_far(neighbour(a))) shoal_settle_copies();
}

int shoal_epoch_begin(shoal_comm *c, const shoal_arena_mark *mark, uint64_t *epoch_out)
{
    shoal_arena *a = c->arena;
    // The slot of the coming epoch was last used SHOAL_SLOTS epochs ago; one epoch of the eight is
    // kept for the synchronisation itself.
    if (a->epoch + 1 >= a->synced + SHOAL_SLOTS - 1) {
        int rc = shoal_epoch_sync(c, mark);
        if (rc == 0) rc = shoal_signature_review(c);
        if (rc) return rc;
    }
    *epoch_out = ++a->epoch;
    return 0;
}

typedef struct pieces_wait {
    shoal_comm *comm;
    uint64_t pieces;
    int next, end; // ranks still to be seen
} pieces_wait;

static bool pieces_taken(void *what)
{
    pieces_wait *w = what;
    const shoal_arena *a = w->comm->arena;
    for (; w->next < w->end; w->next++) {
        if (w->next == a->rank) continue;
        // Pairs with the release in shoal_pieces_take(): the piece has been read.
        if (atomic_load_explicit(&shoal_arena_place(a, w->next)->taken, memory_order_acquire) <
            w->pieces)
            return false;
    }
    return true;
}

static void describe_pieces(void *what, shoal_wait_note *note)
{
    const pieces_wait *w = what;
    note->comm = shoal_comm_label(w->comm);
    note->context = w->comm->context;
    note->peer = w->next;
    note->peer_world = (int)w->comm->peers[w->next];
    note->is_send = true;
    note->collective = true;
}

static int wait_for_pieces(pieces_wait *w)
{
    if (!pieces_taken(w)) shoal_progress_wait(pieces_taken, w, describe_pieces, -1);
    return 0;
}

int shoal_pieces_wait(shoal_comm *c, uint64_t pieces)
{
    return wait_for_pieces(&(pieces_wait){.comm = c, .pieces = pieces, .end = c->size});
}

int shoal_piece_wait(shoal_comm *c, int rank, uint64_t pieces)
{
    return wait_for_pieces(
        &(pieces_wait){.comm = c, .pieces = pieces, .next = rank, .end = rank + 1});
}

void shoal_pieces_take(shoal_arena *a, uint64_t pieces, int root)
{
    atomic_store_explicit(&shoal_arena_place(a, a->rank)->taken, pieces, memory_order_release);
    wake(a, root);
}
