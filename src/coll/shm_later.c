// SPDX-License-Identifier: BSD-3-Clause
// See shm_later.h. A call goes through three states, as far as each rank is concerned:
//
//     begun --(its slot and room are free)--> shown --(those it needs have shown theirs)--> done
//
// The slot of an epoch is free when everybody is through with the epoch that had it before. Slots
// are given back half of them at a time, so that this is rarely asked for. Calls that are not done
// are in a list of their arena, in the order of epochs, and the engine polls these lists.
//
// A slot tells which call it is for and what all calls before that were: calls of other kinds have
// no epoch, so ranks that do not make the same calls may come to one with different calls.
#include "coll/shm_later.h"

#include <stdlib.h>
#include <string.h>

#include "coll/shm_later_chain.h"
#include "coll/shm_sync.h"
#include "coll/signature.h"
#include "core/errhandler.h"
#include "net/shm/shm.h"
#include "plat/error.h"
#include "progress/progress.h"
#include "progress/turns.h"

// What is longer goes by messages.
#define PAIR_REDUCES 2048 // bytes that one of two ranks shows
#define SINGLE_MOST  8192 // ... or that go to one rank each
// Longer sums of a crowd go from rank to rank, of which all want all, and prefixes. Others do if
// they have no room: each rank combines only what it wants.
#define NOT_CHAINED (32 << 10)

typedef shoal_later later;

static shoal_arena *busy; // arenas that have open calls

// Up to which epoch everybody has to be through, before the slot of this one is free.
static uint64_t needed(uint64_t epoch)
{
    uint64_t half = (epoch - 1) / SHOAL_LATER_HALF;
    return half < 2 ? 0 : (half - 1) * SHOAL_LATER_HALF;
}

// A rank that is not, or -1.
static int who_is_behind(const shoal_arena *a, uint64_t need)
{
    for (int r = 0; r < a->n; r++) {
        // Pairs with the release in be_through(): what was shown has been read.
        uint64_t through =
            atomic_load_explicit(&shoal_arena_notes(a, r)->later_through, memory_order_acquire);
        if (through < need) return r;
    }
    return -1;
}

static bool are_through(shoal_arena *a, uint64_t need)
{
    if (a->later_free >= need) return true;
    if (who_is_behind(a, need) >= 0) return false;
    a->later_free = need;
    return true;
}

// Is everybody through with what was in the slots of this half before?
static bool slot_is_free(shoal_arena *a, const later *x)
{
    return are_through(a, needed(x->epoch));
}

// And, if it is a long sum, with the one that had its room before?
static bool may_show(shoal_arena *a, const later *x)
{
    return slot_is_free(a, x) && are_through(a, x->chain.after);
}

// The epoch of the last long sum begun, or 0.
static uint64_t last_chain(const shoal_arena *a)
{
    return a->later_chains > 0 ? a->later_chain_at[(a->later_chains - 1) % SHOAL_LATER_CHAINS] : 0;
}

// This rank needs nothing more of the epoch. They may end in any order, but none is shown more than
// two halves ahead. Slots are given back half by half, rooms of long sums at once.
static void be_through(shoal_arena *a, uint64_t epoch)
{
    uint64_t before = a->later_through;
    assert(epoch - before <= 2 * SHOAL_LATER_HALF);
    a->later_beyond |= (uint64_t)1 << (epoch - before - 1);
    for (; a->later_beyond & 1; a->later_beyond >>= 1) a->later_through++;
    bool half = before / SHOAL_LATER_HALF != a->later_through / SHOAL_LATER_HALF;
    if (a->later_through == before || (!half && before >= last_chain(a))) return;
    atomic_store_explicit(&shoal_arena_notes(a, a->rank)->later_through, a->later_through,
                          memory_order_release);
    shoal_arena_wake_waiting(a);
}

// What a rank shows lies beside its flag if it is little. With a core for each rank the others keep
// out of the way of those who read.
static char *room_of(const later *x, int rank)
{
    const shoal_arena *a = x->comm->arena;
    if (x->shown_bytes <= (int64_t)SHOAL_SLOT_PAYLOAD)
        return shoal_later_slot(a, rank, x->epoch)->payload;
    int64_t step = (x->shown_bytes + SHOAL_APART - 1) / SHOAL_APART * SHOAL_APART;
    return shoal_later_room(a, x->epoch) + rank * (a->crowded ? step : (int64_t)a->later_data);
}

// Packs what this rank has for the others: a block, or all of a row.
static void fill(const later *x)
{
    char *to = room_of(x, x->comm->rank);
    bool row = x->kind == SHOAL_COLL_SCATTER || x->kind == SHOAL_COLL_ALLTOALL;
    int64_t part = row ? x->bytes : x->shown_bytes;
    for (int i = 0; i < (row ? x->comm->size : 1) && part > 0; i++, to += part) {
        shoal_cursor c = shoal_blocks_cursor(&x->in, i, 0);
        shoal_cursor_pack(&c, to, part);
    }
}

static bool is_same(const later *x, const shoal_slot *s)
{
    return shoal_mark_same(&s->mark, &x->mark) && s->where == (uint32_t)x->call_number &&
           s->far == (uint16_t)(x->history >> 48);
}

bool shoal_later_sees(later *x, int rank)
{
    const shoal_slot *s = shoal_later_slot(x->comm->arena, rank, x->epoch);
    // Pairs with the release in show(): what belongs to the slot is visible.
    if (atomic_load_explicit(&s->flag, memory_order_acquire) < x->epoch) return false;
    if (is_same(x, s)) return true;
    x->strange = rank;
    return false;
}

static bool all_there(later *x)
{
    for (; x->next < x->end; x->next++)
        if (x->next != x->comm->rank && !shoal_later_sees(x, x->next)) return x->strange >= 0;
    return true;
}

static bool is_chain(const later *x)
{
    return x->chain.length > 0;
}

// Rings the bells of those who may be asleep for what this rank has just shown. In a crowd one who
// waits for all is woken by whoever sees that all are there: the last two to show see each other.
static void ring(later *x)
{
    const shoal_arena *a = x->comm->arena;
    bool for_root = x->root >= 0 && a->rank != x->root && !is_chain(x);
    bool for_all = x->first == 0 && x->end == a->n && !is_chain(x);
    if (for_root) {
        shoal_arena_wake_rank(a, x->root);
        return;
    }
    if (a->crowded && for_all) {
        atomic_thread_fence(memory_order_seq_cst);
        if (!all_there(x)) return;
    }
    shoal_arena_wake_waiting(a);
}

static bool show(later *x)
{
    shoal_arena *a = x->comm->arena;
    if (!may_show(a, x)) return false;
    x->shown = true;
    if (is_chain(x))
        shoal_later_chain_begin(x);
    else if (x->shows || x->fills)
        fill(x);
    if (!x->shows && !is_chain(x)) return true;
    shoal_slot *s = shoal_later_slot(a, a->rank, x->epoch);
    s->mark = x->mark;
    s->where = (uint32_t)x->call_number;
    s->far = (uint16_t)(x->history >> 48);
    // Pairs with the acquire in all_there().
    atomic_store_explicit(&s->flag, x->epoch, memory_order_release);
    ring(x);
    return true;
}

static void take_blocks(const later *x)
{
    bool one = x->kind == SHOAL_COLL_BCAST || x->kind == SHOAL_COLL_SCATTER;
    for (int i = x->first; i < x->end && x->bytes > 0; i++)
        if (i != x->comm->rank)
            shoal_blocks_take(&x->out, one ? 0 : i, 0, room_of(x, i) + x->at, x->bytes, false);
}

// In the order of ranks. The own part comes from the user's buffer if it can: a line that others
// have just read is slow.
static void combine(const later *x)
{
    char *out = shoal_blocks_byte(&x->out, 0, 0);
    for (int i = x->first; i < x->end; i++) {
        bool own = i == x->comm->rank && !x->fills;
        const char *from = (own ? shoal_blocks_byte(&x->in, 0, 0) : room_of(x, i)) + x->at;
        if (i == x->first)
            shoal_copy(out, from, (size_t)x->bytes);
        else
            x->kernel(from, out, x->bytes / x->unit);
    }
}

static void remember(later *x, int rc)
{
    if (rc && !x->error) x->error = shoal_errcode_make(rc, shoal_fail_text());
}

// A rank does something else here, or did before: then everybody has to know.
static int tell_strange(const later *x)
{
    const shoal_slot *s = shoal_later_slot(x->comm->arena, x->strange, x->epoch);
    int rc = shoal_signature_review(x->comm); // while it can be told which calls they were
    shoal_arena_part(x->comm->arena);
    if (rc) return rc;
    if (!shoal_mark_same(&s->mark, &x->mark))
        return shoal_mark_mismatch(x->comm, &x->mark, x->strange, &s->mark);
    return shoal_fail(SHOAL_E_OTHER,
                      "the ranks of %s do not make the same collective call: rank %d and rank %d "
                      "have made different non-blocking ones before",
                      shoal_comm_label(x->comm), x->comm->rank, x->strange);
}

// Returns true when it is over.
static bool advance(later *x)
{
    if (!(x->shown || show(x))) return x->in_vain;
    if (!(is_chain(x) ? shoal_later_chain_move(x) : all_there(x))) return x->in_vain;
    if (x->strange >= 0)
        remember(x, tell_strange(x));
    else if (is_chain(x))
        return true;
    else if (x->kernel)
        combine(x);
    else
        take_blocks(x);
    return true;
}

static void finish(later *x)
{
    // If it was in vain there will be no more calls.
    if (!x->in_vain) be_through(x->comm->arena, x->epoch);
    shoal_req *r = x->req;
    r->error = r->status.MPI_ERROR = x->error;
    shoal_req_complete(r); // `x` may be gone now, and its communicator
}

static void count_sleeper(shoal_arena *a, bool sleeps)
{
    if (a->later_counted == sleeps) return;
    a->later_counted = sleeps;
    shoal_arena_count_sleeper(a, sleeps ? 1 : -1);
}

static void append(shoal_arena *a, later *x)
{
    if (!a->later_open) {
        a->later_next = busy;
        busy = a;
        a->later_open = x;
    } else {
        a->later_last->after = x;
    }
    a->later_last = x;
}

// Takes those that are over out of the list; returns them.
static later *take_finished(shoal_arena *a)
{
    later *first = NULL, **end = &first, *kept = NULL;
    for (later **at = &a->later_open, *x; (x = *at);) {
        if (advance(x)) {
            *at = x->after;
            x->after = NULL;
            *end = x;
            end = &x->after;
            continue;
        }
        kept = x;
        if (!x->shown && !slot_is_free(a, x)) return first; // nor has any after it
        at = &x->after;
    }
    a->later_last = kept;
    return first;
}

static int poll_open(void)
{
    int moved = 0;
    bool sleeps = shoal_progress_sleepers > 0; // another thread
    for (shoal_arena **link = &busy, *a; (a = *link);) {
        later *done = take_finished(a);
        if (!a->later_open || !sleeps) count_sleeper(a, false);
        // With its last call the arena may go.
        if (a->later_open)
            link = &a->later_next;
        else
            *link = a->later_next;
        for (later *x; (x = done); moved++) {
            done = x->after;
            finish(x);
        }
    }
    return moved;
}

// Has it no chance, since the ranks do not make the same calls?
static bool is_in_vain(later *x, bool parted)
{
    int rc = 0;
    if (!x->compared) rc = shoal_signature_check_call(x->comm, x->call_number, &x->mark);
    x->compared = true;
    if (!rc && !parted) return false;
    remember(x, rc ? rc : shoal_arena_parted(x->comm));
    return true;
}

static bool can_move(later *x)
{
    return is_chain(x) ? shoal_later_chain_can_move(x) : all_there(x);
}

// Who shows something is to ring our bell from now on; and ranks may be waiting for each other in
// different calls.
static bool before_sleep(void)
{
    bool found = false;
    for (shoal_arena *a = busy; a; a = a->later_next) {
        count_sleeper(a, true);
        bool parted = shoal_arena_has_parted(a);
        for (later *x = a->later_open; x; x = x->after) {
            if (x->shown ? can_move(x) : may_show(a, x)) return true;
            found |= x->in_vain = x->in_vain || is_in_vain(x, parted);
            parted = parted || x->in_vain;
        }
    }
    return found;
}

void shoal_later_forget(shoal_arena *a)
{
    shoal_arena **link = &busy;
    while (*link && *link != a) link = &(*link)->later_next;
    if (!*link) return;
    *link = a->later_next;
    a->later_open = NULL;
    count_sleeper(a, false);
}

// Whose part is missing: of those it takes, or in giving back the slot.
static int missing(later *x)
{
    const shoal_arena *a = x->comm->arena;
    // This rank itself may be behind with a call that was begun earlier: then it waits for that.
    if (!x->shown && a->later_open && a->later_open != x) return missing(a->later_open);
    if (!x->shown) {
        int behind = who_is_behind(a, needed(x->epoch));
        return behind >= 0 ? behind : who_is_behind(a, x->chain.after);
    }
    if (is_chain(x)) return shoal_later_chain_missing(x);
    int next = x->next == a->rank ? x->next + 1 : x->next;
    return next < x->end ? next : -1;
}

static void describe(void *what, shoal_wait_note *note)
{
    later *x = what;
    int rank = missing(x);
    note->call = x->call;
    note->comm = shoal_comm_label(x->comm);
    note->context = x->comm->context;
    note->peer = rank >= 0 ? rank : MPI_ANY_SOURCE;
    note->peer_world = rank >= 0 ? (int)x->comm->peers[rank] : -1;
    note->tag = MPI_ANY_TAG;
    note->bytes = (int64_t)x->mark.bytes;
    note->collective = true;
}

static void dispose(shoal_req *r)
{
    later *x = r->extra;
    for (int i = 0; i < 2; i++)
        if (x->held[i]) shoal_datatype_drop(x->held[i]);
    free(x);
}

static void hold(later *x, shoal_datatype *t, int i)
{
    if (!t || t->predefined) return;
    shoal_datatype_hold(t);
    x->held[i] = t;
}

// Needs memory; 0 or a recorded failure.
static int make_request(const later *planned, shoal_req **out)
{
    shoal_req *r = shoal_req_new(SHOAL_REQ_COLLECTIVE, planned->comm);
    later *x = malloc(sizeof *x);
    if (!r || !x) {
        if (r) shoal_req_drop(r);
        free(x);
        return shoal_fail(SHOAL_E_NO_MEM, "no memory for a collective");
    }
    *x = *planned;
    x->req = r;
    r->extra = x;
    r->dispose = dispose;
    r->describe = describe;
    r->rank = x->root >= 0 ? x->root : MPI_ANY_SOURCE;
    if (x->root >= 0) r->peer = x->comm->peers[x->root];
    r->tag = MPI_ANY_TAG;
    shoal_status_empty(&r->status);
    *out = r;
    return 0;
}

static void start(later *x)
{
    static bool polled;
    if (!polled) {
        shoal_progress_add(poll_open);
        shoal_progress_set_before_sleep(before_sleep);
    }
    polled = true;
    shoal_req_hold(x->req); // the engine's, until it is done
    shoal_req_step(x->req, SHOAL_RQ_POSTED);
    if (advance(x)) {
        finish(x);
        return;
    }
    // A chain moves more than the call may say of itself.
    if (x->comm->arena->crowded)
        shoal_turns_call(is_chain(x) ? (uint64_t)x->chain.length : x->mark.bytes);
    append(x->comm->arena, x);
    // A thread that sleeps already has not said that it waits for this, too.
    if (shoal_progress_sleepers > 0) shoal_progress_wake_sleepers();
}

// One rank shows, and the others take.
static void take_from_root(const shoal_coll_args *a, later *x)
{
    x->shows = a->comm->rank == a->root;
    x->first = a->root;
    x->end = x->shows ? a->root : a->root + 1;
}

// The others show, and one rank takes.
static void take_at_root(const shoal_coll_args *a, later *x)
{
    x->shows = a->comm->rank != a->root;
    x->end = x->shows ? 0 : a->comm->size;
}

// Each takes its piece of what all have for all: the next of equal pieces, or `counts` says.
static void take_piece(const shoal_coll_args *a, later *x)
{
    int n = a->comm->size, me = a->comm->rank;
    int64_t before = 0, count = 0, unit = a->recvtype->size;
    for (int i = 0; i < n; i++) {
        if (i == me) before = count;
        count += a->recvcounts ? a->recvcounts[i] : a->recvcount;
    }
    if (a->recvcounts) x->bytes = a->recvcounts[me] * unit;
    x->in.count = count;
    x->shown_bytes = count * unit;
    x->at = before * unit;
}

// A row of blocks is shown, one for each rank.
static void take_column(const shoal_coll_args *a, later *x)
{
    x->at = a->comm->rank * x->bytes;
    x->shown_bytes = a->comm->size * x->bytes;
}

// Does the sum go from rank to rank? Then plans which bytes of it this one wants.
static void plan_chain(const shoal_coll_args *a, later *x)
{
    shoal_later_chain *h = &x->chain;
    int64_t least = SHOAL_LATER_CROWDED;
    switch (a->kind) {
    case SHOAL_COLL_REDUCE: h->to = a->comm->rank == a->root ? x->shown_bytes : 0; break;
    case SHOAL_COLL_REDUCE_SCATTER:
    case SHOAL_COLL_REDUCE_SCATTER_BLOCK:
        h->from = x->at;
        h->to = x->at + x->bytes;
        break;
    case SHOAL_COLL_ALLREDUCE:
        h->to = x->shown_bytes;
        h->flood = shoal_is_flood(a->comm, x->shown_bytes);
        least = NOT_CHAINED;
        break;
    default: least = NOT_CHAINED; // prefixes are taken on the way
    }
    if (x->shown_bytes <= least || !shoal_later_chain_plan(x, x->shown_bytes)) return;
    h->in = shoal_blocks_byte(&x->in, 0, 0);
    h->out = x->out.buf ? shoal_blocks_byte(&x->out, 0, 0) : NULL;
}

// False if there is no kernel for the operation on this type.
static bool plan_reduction(const shoal_coll_args *a, later *x)
{
    x->kernel = shoal_op_kernel(a->op, a->recvtype, &x->unit);
    x->in = (shoal_blocks){x->in.buf, a->recvcount, a->recvtype};
    if (x->in.buf == MPI_IN_PLACE) {
        x->in.buf = x->out.buf;
        x->fills = true;
    }
    switch (a->kind) {
    case SHOAL_COLL_REDUCE: take_at_root(a, x); break;
    case SHOAL_COLL_SCAN: x->end = a->comm->rank + 1; break;
    case SHOAL_COLL_EXSCAN: x->end = a->comm->rank; break;
    case SHOAL_COLL_REDUCE_SCATTER:
    case SHOAL_COLL_REDUCE_SCATTER_BLOCK: take_piece(a, x); break;
    default: break;
    }
    if (x->kernel) plan_chain(a, x);
    return x->kernel != NULL;
}

// False if it is a call of another kind.
static bool plan_blocks(const shoal_coll_args *a, later *x)
{
    bool is_root = a->comm->rank == a->root;
    switch (a->kind) {
    case SHOAL_COLL_BARRIER: break;
    case SHOAL_COLL_BCAST:
        x->in = x->out;
        take_from_root(a, x);
        break;
    case SHOAL_COLL_SCATTER:
        if (is_root) x->bytes = x->in.count * x->in.type->size;
        take_column(a, x);
        take_from_root(a, x);
        break;
    case SHOAL_COLL_GATHER:
        if (!is_root) x->bytes = x->in.count * x->in.type->size;
        take_at_root(a, x);
        break;
    case SHOAL_COLL_ALLGATHER:
        if (x->in.buf == MPI_IN_PLACE)
            x->in =
                (shoal_blocks){shoal_blocks_at(&x->out, a->comm->rank), x->out.count, x->out.type};
        break;
    case SHOAL_COLL_ALLTOALL:
        if (x->in.buf == MPI_IN_PLACE) x->in = x->out;
        take_column(a, x);
        break;
    default: return false;
    }
    if (!x->shown_bytes) x->shown_bytes = x->bytes;
    return true;
}

// Who has something for one rank alone, or of it, sends what is long as fast: a message is there
// for its receiver as soon as it is made. Likewise two ranks with a core each.
static int64_t most_shown(const later *x)
{
    const shoal_arena *a = x->comm->arena;
    bool pair = a->n == 2 && !a->crowded;
    bool single = x->kind == SHOAL_COLL_GATHER || x->kind == SHOAL_COLL_SCATTER;
    if (pair && x->root >= 0) return x->kernel ? PAIR_REDUCES : SHOAL_SLOT_PAYLOAD;
    return single ? SINGLE_MOST : a->later_data;
}

// What each rank shows and takes, from what all know; false if the call is not for this file.
static bool plan(const shoal_coll_args *a, later *x)
{
    const shoal_comm *c = a->comm;
    *x = (later){.comm = a->comm,
                 .call = a->call,
                 .kind = a->kind,
                 .root = a->root,
                 .in = {(char *)(uintptr_t)a->sendbuf, a->sendcount, a->sendtype},
                 .out = {a->recvbuf, a->recvcount, a->recvtype},
                 .shows = true,
                 .end = c->size,
                 .strange = -1};
    if (!c->arena || c->inter) return false;
    if (a->recvtype) x->bytes = x->shown_bytes = a->recvcount * a->recvtype->size;
    if (!(a->op ? plan_reduction(a, x) : plan_blocks(a, x))) return false;
    x->next = x->first;
    return is_chain(x) || x->shown_bytes <= most_shown(x);
}

// What a rank has for itself.
static int copy_own(const shoal_coll_args *a, const later *x)
{
    int me = a->comm->rank;
    bool root = a->comm->rank == a->root, row = false, column = true;
    switch (a->kind) {
    case SHOAL_COLL_SCATTER: row = root, column = false; break;
    case SHOAL_COLL_ALLTOALL: row = true; break;
    case SHOAL_COLL_ALLGATHER: root = true; break;
    case SHOAL_COLL_GATHER: break;
    default: return 0;
    }
    if (!(root || row) || a->sendbuf == MPI_IN_PLACE || a->recvbuf == MPI_IN_PLACE) return 0;
    int64_t bytes = x->in.count * x->in.type->size, room = x->out.count * x->out.type->size;
    if (bytes > 0 && room > 0) shoal_blocks_copy(&x->in, row ? me : 0, &x->out, column ? me : 0);
    return shoal_check_own(bytes, room);
}

bool shoal_later_start(const shoal_coll_args *a, const shoal_arena_mark *mark, shoal_req **out,
                       int *rc_out)
{
    later planned;
    if (!plan(a, &planned)) return false;
    // Who waits for nobody does not see what others do instead, unless it looks now and then.
    bool waits =
        is_chain(&planned) ? shoal_later_chain_waits(&planned) : planned.first < planned.end;
    *rc_out = waits ? 0 : shoal_signature_review_later(a->comm);
    if (*rc_out == 0) *rc_out = make_request(&planned, out);
    if (*rc_out) return true;
    shoal_arena *arena = a->comm->arena;
    later *x = (*out)->extra;
    x->mark = *mark;
    x->epoch = ++arena->later_begun;
    if (is_chain(x)) shoal_later_chain_take_room(x);
    x->call_number = arena->calls[1];
    x->history = arena->history[1];
    hold(x, a->sendtype, 0);
    hold(x, a->recvtype, 1);
    remember(x, copy_own(a, x));
    start(x);
    return true;
}
