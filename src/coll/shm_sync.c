// SPDX-License-Identifier: BSD-3-Clause
// See shm_sync.h. Waiting goes through the engine's one loop, so that messages keep moving and a
// rank without a core sleeps; whoever changes what a sleeper waits for rings its bell.
#include "coll/shm_sync.h"

#include <assert.h>
#include <string.h>

#include "coll/signature.h"
#include "net/shm/shm.h"
#include "plat/turn.h"
#include "progress/progress.h"
#include "progress/turns.h"

#define PAST_CACHES  2048 // it is not worth it for less
#define FIRST_LOOKS  64   // at the slots alone, when there is a core for each rank
#define MOMENT_BYTES 8192 // waits for one rank in such a call may be over in a moment
#define MOST_TO_CORE 4    // ranks, if it is to matter who has a core

typedef struct slot_wait {
    shoal_comm *comm;
    uint64_t epoch;
    const shoal_arena_mark *mark;
    int next, end;  // ranks still to be seen
    bool single;    // there never was more than one
    bool is_long;   // what it does takes more than a moment
    uint32_t where; // that each must have been in the pool
    uint32_t shown; // blocks that each must have shown, or 0
    int strange;    // a rank that does something else in this epoch, or -1
    int clash;      // failure: a rank does something else in some other way
    bool counted;   // among those who may be asleep
} slot_wait;

static uint64_t part_of(const shoal_arena *a)
{
    return a->closed % SHOAL_POOL_PARTS;
}

static uint32_t where(const shoal_arena *a)
{
    return a->crowded ? (uint32_t)(a->filled / SHOAL_APART * SHOAL_POOL_PARTS + part_of(a))
                      : a->swapped;
}

static int next_rank(const shoal_arena *a)
{
    return a->rank + 1 < a->n ? a->rank + 1 : 0;
}

// The neighbour stands for all: with two ranks it is all.
static uint32_t neighbour(const shoal_arena *a)
{
    return a->peers[next_rank(a)];
}

// How many blocks have been shown: the payload of a slot is free when data lies in the pool.
static _Atomic uint32_t *shown_in(const shoal_slot *s)
{
    return (_Atomic uint32_t *)(uintptr_t)s->payload;
}

// Will what is not there never come? Who is about to sleep, or has slept, looks also whether ranks
// have parted: who tells it wakes only those who sleep by then.
static SHOAL_HOT bool in_vain(const slot_wait *w)
{
    return __builtin_expect(w->counted, 0) && (w->clash || shoal_arena_has_parted(w->comm->arena));
}

static SHOAL_HOT bool slots_there(void *what)
{
    slot_wait *w = what;
    const shoal_arena *a = w->comm->arena;
    for (; w->next < w->end; w->next++) {
        if (w->next == a->rank) continue;
        const shoal_slot *s = shoal_slot_of(a, w->next, w->epoch);
        // Pairs with the release in shoal_slot_publish(): mark and payload are visible.
        if (atomic_load_explicit(&s->flag, memory_order_acquire) < w->epoch) return in_vain(w);
        if (!shoal_mark_same(&s->mark, w->mark) || s->where != w->where) {
            w->strange = w->next;
            return true;
        }
        // Pairs with the release in shoal_slot_show().
        if (w->shown > 0 && atomic_load_explicit(shown_in(s), memory_order_acquire) < w->shown)
            return in_vain(w);
    }
    return true;
}

static _Atomic uint32_t *sleepers(const shoal_arena *a)
{
    return &shoal_arena_notes(a, 0)->sleepers;
}

void shoal_arena_count_sleeper(const shoal_arena *a, int by)
{
    atomic_fetch_add_explicit(sleepers(a), (uint32_t)by, memory_order_seq_cst);
}

void shoal_arena_part(shoal_arena *a)
{
    a->told = true;
    atomic_store_explicit(&shoal_arena_notes(a, 0)->parted, 1, memory_order_seq_cst);
    shoal_arena_wake(a); // some may sleep for what will never come
}

SHOAL_HOT int shoal_arena_parted(shoal_comm *c)
{
    if (__builtin_expect(!shoal_arena_has_parted(c->arena), 1)) return 0;
    int rc = shoal_signature_review(c); // while it can be told which calls they were
    c->arena->told = true;
    return rc ? rc
              : shoal_fail(SHOAL_E_OTHER,
                           "the ranks of %s do not make the same collective call: they have "
                           "parted before, and collective calls are no longer possible there",
                           shoal_comm_label(c));
}

// Before sleeping, also look whether those who have not come here have gone elsewhere.
static void describe(void *what, shoal_wait_note *note)
{
    slot_wait *w = what;
    // Before the last look at the slots: who fills one looks at the count afterwards.
    if (!w->counted) shoal_arena_count_sleeper(w->comm->arena, 1);
    w->counted = true;
    w->clash = shoal_signature_check(w->comm, w->mark);
    note->comm = shoal_comm_label(w->comm);
    note->context = w->comm->context;
    note->peer = w->next;
    note->peer_world = (int)w->comm->peers[w->next];
    note->tag = MPI_ANY_TAG;
    note->bytes = (int64_t)w->mark->bytes;
    note->collective = true;
}

// Stands between publishing and looking who sleeps.
static void fence(void)
{
    if (shoal_the_shm.fenced)
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst);
}

void shoal_arena_wake(const shoal_arena *a)
{
    fence();
    for (int r = 0; r < a->n; r++)
        if (r != a->rank && __builtin_expect(shoal_shm_asleep(a->peers[r]), 0))
            shoal_shm_ring_bell(shoal_the_shm.peers[a->peers[r]].berth);
}

// The same after filling a slot: only who waits for slots needs to wake.
SHOAL_HOT void shoal_arena_wake_waiting(const shoal_arena *a)
{
    fence();
    if (__builtin_expect(atomic_load_explicit(sleepers(a), memory_order_relaxed) > 0, 0))
        shoal_arena_wake(a);
}

// With a core for each rank the others are mostly here at about the same time: for so long nothing
// else is looked at.
static bool soon_there(slot_wait *w)
{
    for (int looks = w->comm->arena->crowded ? 1 : FIRST_LOOKS; looks > 0; looks--)
        if (slots_there(w)) return true;
    return false;
}

// Have all closed so many parts?
static bool parts_closed(void *what)
{
    slot_wait *w = what;
    const shoal_arena *a = w->comm->arena;
    for (; w->next < w->end; w->next++)
        // Pairs with the release in close_part(): what the rank had to read has been read.
        if (atomic_load_explicit(&shoal_arena_notes(a, w->next)->closed, memory_order_acquire) <
            w->epoch)
            return in_vain(w);
    return true;
}

// Whom to name as the awaited one: with a core for each rank the progress engine then sees at once
// when that one has none. In a crowd it is as likely another who must run first.
static int awaited(const shoal_arena *a, int rank)
{
    return a->crowded ? -1 : (int)a->peers[rank];
}

// In a crowd: names to the progress engine for whom it is to keep our core for a moment, if that
// one has one, as things stand now. It is somebody who waits for this very core, if there is such a
// one: then it had better be given away. Otherwise those who have a core may come in a moment, and
// we go on in this turn; so a turn is good for two calls.
static void name_awaited(const slot_wait *w)
{
    const shoal_arena *a = w->comm->arena;
    uint32_t named = a->peers[w->next];
    bool has_core = false;
    int here = shoal_this_core();
    for (int i = w->next; i < w->end; i++) {
        const shoal_slot *s = shoal_slot_of(a, i, w->epoch);
        if (i == a->rank || atomic_load_explicit(&s->flag, memory_order_relaxed) >= w->epoch)
            continue;
        uint32_t peer = a->peers[i];
        if (shoal_shm_core_of(peer) == here) {
            named = peer;
            break;
        }
        if (has_core || !shoal_shm_on_core(peer)) continue;
        has_core = true;
        named = peer;
    }
    shoal_the_shm.hot = named;
}

static bool slots_there_or_named(void *what)
{
    if (slots_there(what)) return true;
    name_awaited(what);
    return false;
}

// In a crowd: is it worth looking for who is missing? What is long takes a single one more than a
// moment to make; and with many ranks to a core there is nearly always somebody who waits for it.
static bool names_awaited(const slot_wait *w)
{
    const shoal_arena *a = w->comm->arena;
    return w->single ? w->mark->bytes <= MOMENT_BYTES && !w->is_long
                     : (uint32_t)a->n <= MOST_TO_CORE * (a->cores ? a->cores : 1);
}

// Waits for what is not there yet.
static SHOAL_HOT void await(slot_wait *w, shoal_done_fn *there)
{
    bool crowded = w->comm->arena->crowded;
    int hot = awaited(w->comm->arena, w->next);
    if (crowded) shoal_turns_call(w->is_long ? UINT64_MAX : w->mark->bytes);
    if (crowded && there == slots_there && names_awaited(w)) {
        name_awaited(w);
        hot = (int)shoal_the_shm.hot;
        there = slots_there_or_named;
    }
    shoal_progress_wait(there, w, describe, hot);
    if (w->counted) shoal_arena_count_sleeper(w->comm->arena, -1);
    // Some have not come, and nobody does something else here: it was in vain.
    if (w->next < w->end && w->strange < 0 && w->clash == 0) w->clash = shoal_arena_parted(w->comm);
}

static SHOAL_HOT int wait_for(slot_wait *w)
{
    if (!soon_there(w)) await(w, slots_there);
    if (w->clash == 0 && w->strange < 0) return 0;
    if (w->clash) return w->clash;
    // Calls before this one that needed no waiting may be where the ranks parted.
    int rc = shoal_signature_review(w->comm);
    if (rc) return rc;
    shoal_arena_part(w->comm->arena);
    const shoal_slot *s = shoal_slot_of(w->comm->arena, w->strange, w->epoch);
    // Before everybody knows of a mismatch, data of calls that match may lie elsewhere.
    if (shoal_mark_same(&s->mark, w->mark))
        return shoal_fail(
            SHOAL_E_OTHER,
            "the ranks of %s have made different collective calls before: rank %d and "
            "rank %d can no longer exchange data there",
            shoal_comm_label(w->comm), w->comm->rank, w->strange);
    return shoal_mark_mismatch(w->comm, w->mark, w->strange, &s->mark);
}

SHOAL_HOT void shoal_slot_publish(shoal_arena *a, uint64_t epoch, const shoal_arena_mark *mark,
                                  bool wake)
{
    shoal_slot *s = shoal_arena_slot(a, a->rank, epoch);
    s->mark = *mark;
    s->where = where(a);
    memcpy(s->wants, a->wants, sizeof s->wants);
    if (a->crowded && mark->bytes >= PAST_CACHES) {
        s->far = a->away;
        atomic_store_explicit(&shoal_arena_notes(a, a->rank)->unread, epoch, memory_order_relaxed);
    }
    atomic_store_explicit(&s->flag, epoch, memory_order_release);
    if (wake) shoal_arena_wake_waiting(a);
}

void shoal_arena_wake_rank(const shoal_arena *a, int rank)
{
    fence();
    if (__builtin_expect(shoal_shm_asleep(a->peers[rank]), 0))
        shoal_shm_ring_bell(shoal_the_shm.peers[a->peers[rank]].berth);
}

void shoal_slot_publish_to(shoal_arena *a, uint64_t epoch, const shoal_arena_mark *mark, int reader)
{
    shoal_slot_publish(a, epoch, mark, false);
    shoal_arena_wake_rank(a, reader);
}

// For one rank, as things stand now.
static slot_wait wait_of(shoal_comm *c, int rank, uint64_t epoch, const shoal_arena_mark *mark)
{
    return (slot_wait){.comm = c,
                       .epoch = epoch,
                       .mark = mark,
                       .next = rank,
                       .end = rank + 1,
                       .single = true,
                       .where = where(c->arena),
                       .strange = -1};
}

SHOAL_HOT int shoal_slot_wait(shoal_comm *c, int rank, uint64_t epoch, const shoal_arena_mark *mark)
{
    slot_wait w = wait_of(c, rank, epoch, mark);
    return wait_for(&w);
}

int shoal_slot_wait_long(shoal_comm *c, int rank, uint64_t epoch, const shoal_arena_mark *mark)
{
    slot_wait w = wait_of(c, rank, epoch, mark);
    w.is_long = true;
    return wait_for(&w);
}

int shoal_slot_wait_late(shoal_comm *c, int rank, const shoal_room *room,
                         const shoal_arena_mark *mark)
{
    assert(c->arena->crowded);
    slot_wait w = wait_of(c, rank, room->epoch, mark);
    w.where = room->where;
    return wait_for(&w);
}

void shoal_slot_show(shoal_arena *a, uint64_t epoch, const shoal_arena_mark *mark, uint32_t shown)
{
    shoal_arena_settle(a);
    atomic_store_explicit(shown_in(shoal_arena_slot(a, a->rank, epoch)), shown,
                          memory_order_release);
    if (shown == 1)
        shoal_slot_publish(a, epoch, mark, true);
    else
        shoal_arena_wake_waiting(a);
}

int shoal_slot_wait_shown(shoal_comm *c, int rank, uint64_t epoch, const shoal_arena_mark *mark,
                          uint32_t shown)
{
    slot_wait w = wait_of(c, rank, epoch, mark);
    w.shown = shown;
    return wait_for(&w);
}

// Takes the time to read a line that nobody has read since it was written. With a core for each it
// is the announcement of a call; in a crowd too much happens between its being written and read.
static void measure_distance(shoal_arena *a)
{
    if (a->measured == a->calls[0]) return;
    a->measured = a->calls[0];
    const shoal_notes *p = shoal_arena_notes(a, next_rank(a));
    const _Atomic uint64_t *line =
        a->crowded ? &p->unread : &p->announced[0][a->calls[0] & (a->record[0] - 1)].call;
    // The time for finding the page does not count.
    if (a->crowded) (void)atomic_load_explicit(&p->left, memory_order_acquire);
    int64_t began = shoal_now_ns();
    (void)atomic_load_explicit(line, memory_order_acquire);
    a->away = shoal_shm_note_distance(neighbour(a), shoal_now_ns() - began);
}

// A length as a byte, in steps of an eighth of a power of two: the least of them that is not less.
// 0 is none.
#define STEPS   8
#define LONGEST (1 << 28)
static uint32_t length_of(uint8_t code)
{
    unsigned k = (code - 1u) / STEPS, step = (code - 1u) % STEPS;
    return (STEPS + step) << k; // at most 2 * LONGEST
}

static uint8_t code_of(int64_t bytes)
{
    if (bytes <= STEPS) return 1;
    if (bytes > LONGEST) bytes = LONGEST;
    unsigned k = 60u - (unsigned)__builtin_clzll((unsigned long long)bytes - 1);
    unsigned steps = (unsigned)((bytes + ((int64_t)1 << k) - 1) >> k);
    return (uint8_t)(k * STEPS + steps - STEPS + 1);
}

void shoal_room_want(shoal_arena *a, enum shoal_want which, int64_t bytes)
{
    if (a->wants[which] > 0 && length_of(a->wants[which]) >= bytes) return;
    a->wants[which] = code_of(bytes);
}

// What all have met, if any has met such calls at all.
static void hear_wants(shoal_arena *a, const uint8_t most[])
{
    for (int i = 0; i < SHOAL_WANTS; i++)
        if (most[i] > 0) a->wanted[i] = length_of(most[i]);
}

static void note_wants(uint8_t most[], const uint8_t wants[])
{
    for (int i = 0; i < SHOAL_WANTS; i++)
        if (wants[i] > most[i]) most[i] = wants[i];
}

static void close_part(shoal_arena *a)
{
    a->closed_at[++a->closed % SHOAL_CLOSINGS] = a->epoch;
    a->filled = 0;
    a->part_from = a->epoch;
}

// Everybody has begun this epoch, and so has read what was in the part before the one that is
// closed now, if any.
static void close_together(shoal_arena *a)
{
    a->part_from = a->epoch;
    if (a->filled == 0) return;
    uint8_t most[SHOAL_WANTS] = {0};
    for (int r = 0; r < a->n; r++) note_wants(most, shoal_arena_slot(a, r, a->synced)->wants);
    hear_wants(a, most);
    memset(a->wants, 0, sizeof a->wants);
    close_part(a);
    a->closed_together = a->closed;
}

SHOAL_HOT int shoal_slot_wait_all(shoal_comm *c, uint64_t epoch, const shoal_arena_mark *mark,
                                  bool sync)
{
    slot_wait w = {.comm = c,
                   .epoch = epoch,
                   .mark = mark,
                   .end = c->size,
                   .where = where(c->arena),
                   .strange = -1};
    int rc = wait_for(&w);
    if (rc) return rc;
    if (mark->bytes >= PAST_CACHES) measure_distance(c->arena);
    if (sync) {
        c->arena->synced = epoch;
        if (c->arena->crowded && mark->bytes >= PAST_CACHES) shoal_arena_hear_far(c->arena, epoch);
        close_together(c->arena);
        // Whoever sees that all are there wakes those who slept before it could be seen.
        shoal_arena_wake_waiting(c->arena);
    }
    return 0;
}

SHOAL_HOT int shoal_epoch_sync(shoal_comm *c, const shoal_arena_mark *mark)
{
    shoal_arena *a = c->arena;
    uint64_t e = ++a->epoch;
    shoal_slot_publish(a, e, mark, false);
    return shoal_slot_wait_all(c, e, mark, true);
}

int shoal_word_say(shoal_comm *c, const shoal_arena_mark *mark, uint64_t word, shoal_room *room,
                   uint64_t *least)
{
    int rc = shoal_room_begin(c, mark, sizeof word, false, room);
    if (rc) return rc;
    *(uint64_t *)(void *)shoal_room_of(room, c->rank) = word;
    rc = shoal_room_show(c, mark, room);
    *least = word;
    for (int i = 0; rc == 0 && i < c->size; i++)
        if (shoal_word_of(room, i) < *least) *least = shoal_word_of(room, i);
    return rc;
}

bool shoal_arena_others_are_far(const shoal_arena *a)
{
    return !a->crowded && shoal_shm_far(neighbour(a));
}

void shoal_arena_copy(const shoal_arena *a, char *to, const char *from, int64_t bytes)
{
    if (bytes >= PAST_CACHES && shoal_arena_others_are_far(a))
        shoal_copy_past_caches(to, from, (size_t)bytes);
    else
        shoal_copy(to, from, (size_t)bytes);
}

void shoal_arena_settle(const shoal_arena *a)
{
    if (shoal_arena_others_are_far(a)) shoal_settle_copies();
}

// The ranks have not made the same calls. Which one it was the announcements say, unless it was
// long ago.
static int tell_difference(shoal_comm *c)
{
    shoal_arena *a = c->arena;
    int rc = shoal_signature_review(c);
    if (rc) return rc;
    shoal_arena_part(a);
    return shoal_fail(
        SHOAL_E_OTHER,
        "the ranks of %s do not make the same collective call: one before the last %u "
        "was another on some rank",
        shoal_comm_label(c), a->record[0]);
}

// Waits for everybody and compares the calls since the last time: what they were is told by one
// number beside the flag, and only if two differ are the announcements looked at.
static int catch_up(shoal_comm *c, const shoal_arena_mark *mark)
{
    shoal_arena *a = c->arena;
    uint64_t e = a->epoch + 1, theirs;
    memcpy(shoal_arena_slot(a, a->rank, e)->payload, &a->history[0], sizeof a->history[0]);
    int rc = shoal_epoch_sync(c, mark);
    for (int r = 0; rc == 0 && r < a->n; r++) {
        memcpy(&theirs, shoal_arena_slot(a, r, e)->payload, sizeof theirs);
        if (theirs != a->history[0]) return tell_difference(c);
    }
    return rc;
}

// The slot of the coming epoch was last used a->slots epochs ago; one of them is kept for the
// synchronisation itself.
static bool out_of_slots(const shoal_arena *a)
{
    return a->epoch + 1 >= a->synced + a->slots - 1;
}

// Compares the calls up to a closing that all have made, and hears what was wanted in them.
static int hear_closing(shoal_comm *c, uint64_t k)
{
    shoal_arena *a = c->arena;
    uint64_t mine = shoal_arena_notes(a, a->rank)->closing[k % SHOAL_CLOSINGS].history;
    uint8_t most[SHOAL_WANTS] = {0};
    for (int r = 0; r < a->n; r++) {
        const shoal_closing *theirs = &shoal_arena_notes(a, r)->closing[k % SHOAL_CLOSINGS];
        if (theirs->history != mine) return tell_difference(c);
        note_wants(most, theirs->wants);
    }
    hear_wants(a, most);
    return 0;
}

// From now on this rank reads nothing in the part before the one that it closes.
static void close_alone(shoal_arena *a)
{
    close_part(a);
    shoal_notes *mine = shoal_arena_notes(a, a->rank);
    shoal_closing *said = &mine->closing[a->closed % SHOAL_CLOSINGS];
    *said = (shoal_closing){.history = a->history[0], .far = a->away};
    memcpy(said->wants, a->wants, sizeof a->wants);
    memset(a->wants, 0, sizeof a->wants);
    atomic_store_explicit(&mine->unread, a->closed, memory_order_relaxed);
    // Pairs with the acquire in parts_closed().
    atomic_store_explicit(&mine->closed, a->closed, memory_order_release);
    shoal_arena_wake_waiting(a);
}

// Closes the part in use, and waits for those who have not closed the one before.
static int next_part(shoal_comm *c, const shoal_arena_mark *mark)
{
    shoal_arena *a = c->arena;
    close_alone(a);
    uint64_t k = a->closed - 1;
    if (k == a->closed_together) return 0;
    slot_wait w = {.comm = c, .epoch = k, .mark = mark, .end = a->n, .strange = -1};
    if (!parts_closed(&w)) await(&w, parts_closed);
    if (w.clash) return w.clash;
    if (a->closed_at[k % SHOAL_CLOSINGS] > a->synced) a->synced = a->closed_at[k % SHOAL_CLOSINGS];
    if (mark->bytes >= PAST_CACHES) {
        measure_distance(a);
        shoal_arena_hear_closing(a, k);
    }
    return hear_closing(c, k);
}

// Before an epoch that needs `bytes` of the pool.
static int make_room(shoal_comm *c, const shoal_arena_mark *mark, uint64_t bytes)
{
    shoal_arena *a = c->arena;
    bool full = a->filled > 0 && a->filled + bytes > SHOAL_POOL_PART;
    bool served = a->epoch - a->part_from >= SHOAL_PART_EPOCHS;
    return full || served ? next_part(c, mark) : 0;
}

static int take_from_pool(shoal_comm *c, const shoal_arena_mark *mark, int64_t bytes, bool alone,
                          shoal_room *out)
{
    shoal_arena *a = c->arena;
    uint64_t step = ((uint64_t)bytes + SHOAL_APART - 1) / SHOAL_APART * SHOAL_APART;
    uint64_t all = alone ? step : step * (unsigned)a->n;
    assert(all <= (unsigned)a->n * (uint64_t)SHOAL_POOL_STEP);
    int rc = make_room(c, mark, all);
    if (rc) return rc;
    *out = (shoal_room){.at = a->room + part_of(a) * (unsigned)a->n * SHOAL_POOL_STEP + a->filled,
                        .step = alone ? 0 : (int64_t)step,
                        .epoch = ++a->epoch};
    a->filled += all;
    out->where = where(a);
    return 0;
}

// Everybody has begun the epoch `synced`, and so is done with all that was read before it.
static bool is_free(const shoal_arena *a, uint32_t unit, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        if (a->used[unit + k] >= a->synced) return false;
    return true;
}

static int take_window(shoal_comm *c, const shoal_arena_mark *mark, int64_t bytes, shoal_room *out)
{
    shoal_arena *a = c->arena;
    uint32_t count = (uint32_t)((bytes + SHOAL_UNIT - 1) / SHOAL_UNIT);
    uint32_t unit = a->next_unit + count > SHOAL_UNITS ? 0 : a->next_unit;
    if (out_of_slots(a) || !is_free(a, unit, count)) {
        int rc = catch_up(c, mark);
        if (rc) return rc;
    }
    a->next_unit = unit + count;
    *out = (shoal_room){.at = a->room + SHOAL_WINDOWS_FROM + (uint64_t)unit * SHOAL_UNIT,
                        .step = SHOAL_PLACE_STEP,
                        .epoch = ++a->epoch};
    for (uint32_t k = 0; k < count; k++) a->used[unit + k] = a->epoch;
    return 0;
}

int shoal_room_begin(shoal_comm *c, const shoal_arena_mark *mark, int64_t bytes, bool alone,
                     shoal_room *out)
{
    shoal_arena *a = c->arena;
    bool beside = bytes <= (int64_t)SHOAL_SLOT_PAYLOAD;
    if (!beside && a->crowded) return take_from_pool(c, mark, bytes, alone, out);
    if (!beside && bytes > (int64_t)SHOAL_DATA) return take_window(c, mark, bytes, out);
    int rc = a->crowded ? make_room(c, mark, 0) : out_of_slots(a) ? catch_up(c, mark) : 0;
    if (rc) return rc;
    uint64_t e = ++a->epoch;
    *out = (shoal_room){.at = a->room, .step = SHOAL_PLACE_STEP, .epoch = e, .where = where(a)};
    if (beside) {
        out->at = shoal_arena_slot(a, 0, e)->payload;
        out->step = (int64_t)(sizeof(shoal_slot) * a->next_rank);
    } else if (bytes <= (int64_t)SHOAL_DATA_SMALL) {
        out->at += (e & (SHOAL_SLOTS_ROOMY - 1)) * SHOAL_DATA_SMALL;
    } else {
        out->at += SHOAL_DATA_FROM + e % SHOAL_DATA_LAPS * SHOAL_DATA_STEP;
    }
    return 0;
}

int64_t shoal_room_most(const shoal_arena *a, bool alone)
{
    if (!a->crowded) return SHOAL_WINDOW;
    if (alone) return SHOAL_POOL_ALONE;
    int64_t each = SHOAL_POOL_MOST / a->n / SHOAL_APART * SHOAL_APART;
    if (each > (int64_t)SHOAL_POOL_STEP) each = SHOAL_POOL_STEP;
    int64_t least = a->n > SHOAL_POOL_LEAST / SHOAL_LINE ? a->n * SHOAL_LINE : SHOAL_POOL_LEAST;
    return each > least ? each : least;
}

int shoal_room_show(shoal_comm *c, const shoal_arena_mark *mark, const shoal_room *room)
{
    shoal_arena_settle(c->arena);
    shoal_slot_publish(c->arena, room->epoch, mark, false);
    return shoal_slot_wait_all(c, room->epoch, mark, true);
}

typedef struct pieces_wait {
    shoal_comm *comm;
    uint64_t pieces;
    int next, end; // ranks still to be seen
    bool sleeps;   // or is about to
} pieces_wait;

static bool pieces_taken(void *what)
{
    pieces_wait *w = what;
    const shoal_arena *a = w->comm->arena;
    for (; w->next < w->end; w->next++) {
        if (w->next == a->rank) continue;
        // Pairs with the release in shoal_pieces_take(): the piece has been read.
        if (atomic_load_explicit(&shoal_arena_notes(a, w->next)->taken, memory_order_acquire) <
            w->pieces)
            return w->sleeps && shoal_arena_has_parted(a);
    }
    return true;
}

static void describe_pieces(void *what, shoal_wait_note *note)
{
    pieces_wait *w = what;
    w->sleeps = true;
    note->comm = shoal_comm_label(w->comm);
    note->context = w->comm->context;
    note->peer = w->next;
    note->peer_world = (int)w->comm->peers[w->next];
    note->is_send = true;
    note->collective = true;
}

static int wait_for_pieces(pieces_wait *w)
{
    if (!pieces_taken(w))
        shoal_progress_wait(pieces_taken, w, describe_pieces, awaited(w->comm->arena, w->next));
    // Only if some have not been taken, and never will be.
    return w->next < w->end ? shoal_arena_parted(w->comm) : 0;
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
    atomic_store_explicit(&shoal_arena_notes(a, a->rank)->taken, pieces, memory_order_release);
    shoal_arena_wake_rank(a, root);
}
