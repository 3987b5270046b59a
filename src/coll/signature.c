// SPDX-License-Identifier: BSD-3-Clause
// Marks of collective calls from their arguments.
#include "coll/signature.h"

#include "coll/shm_sync.h"
#include "plat/turn.h"

#define HISTORY_FACTOR 0x9e3779b97f4a7c15u

static int64_t bytes_of(int64_t count, const shoal_datatype *t)
{
    return t ? count * t->size : 0;
}

// Of parts that have different lengths, which all ranks give alike.
static int64_t total_bytes(const shoal_coll_args *a)
{
    int64_t count = 0;
    for (int i = 0; i < a->comm->size; i++) count += a->recvcounts[i];
    return bytes_of(count, a->recvtype);
}

// The bytes on which all ranks must agree: of a vector, of all blocks, or of one rank's. On an
// inter-communicator the two groups may differ, and in other v and w forms every two ranks: then 0.
static int64_t agreed_bytes(const shoal_coll_args *a)
{
    bool is_root = a->comm->rank == a->root;
    if (a->comm->inter) return 0;
    switch (a->kind) {
    case SHOAL_COLL_BCAST:
    case SHOAL_COLL_ALLGATHER:
    case SHOAL_COLL_ALLTOALL:
    case SHOAL_COLL_REDUCE:
    case SHOAL_COLL_ALLREDUCE:
    case SHOAL_COLL_REDUCE_SCATTER_BLOCK:
    case SHOAL_COLL_SCAN:
    case SHOAL_COLL_EXSCAN: return bytes_of(a->recvcount, a->recvtype);
    case SHOAL_COLL_ALLGATHERV:
    case SHOAL_COLL_REDUCE_SCATTER: return total_bytes(a);
    case SHOAL_COLL_GATHER:
        return is_root ? bytes_of(a->recvcount, a->recvtype) : bytes_of(a->sendcount, a->sendtype);
    case SHOAL_COLL_SCATTER:
        return is_root ? bytes_of(a->sendcount, a->sendtype) : bytes_of(a->recvcount, a->recvtype);
    default: return 0;
    }
}

SHOAL_HOT shoal_arena_mark shoal_signature_make(const shoal_coll_args *a, enum shoal_mark_form form)
{
    const shoal_datatype *t = a->op ? a->recvtype : NULL;
    shoal_arena_mark mark =
        shoal_mark_make(a->kind, a->root >= 0 ? a->root : -1, a->op, t, agreed_bytes(a));
    shoal_mark_set_form(&mark, form);
    bool exchange = a->kind == SHOAL_COLL_ALLTOALLV || a->kind == SHOAL_COLL_ALLTOALLW;
    if (exchange && a->sendbuf == MPI_IN_PLACE) shoal_mark_set_in_place(&mark);
    return mark;
}

// Blocking calls match only each other, and so are counted apart.
static unsigned row_of(const shoal_arena_mark *mark)
{
    return shoal_mark_form(mark) != SHOAL_FORM_BLOCKING;
}

SHOAL_HOT void shoal_signature_announce(shoal_comm *c, const shoal_arena_mark *mark)
{
    shoal_arena *a = c->arena;
    if (!a) return;
    unsigned row = row_of(mark);
    uint64_t call = ++a->calls[row];
    a->history[row] = (a->history[row] + mark->what) * HISTORY_FACTOR ^ mark->bytes;
    if (row == 0) a->call_kind = shoal_mark_kind(mark);
    shoal_announced *mine =
        &shoal_arena_notes(a, a->rank)->announced[row][call & (a->record[row] - 1)];
    // A slow reader of the call that was announced here before must not take the new mark for its:
    // the number goes first.
    atomic_store_explicit(&mine->call, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    mine->mark = *mark;
    // Pairs with the acquire in compare().
    atomic_store_explicit(&mine->call, call, memory_order_release);
}

// Compares one call with what others have announced under its number.
static int compare(shoal_comm *c, uint64_t call, const shoal_arena_mark *mark)
{
    const shoal_arena *a = c->arena;
    unsigned row = row_of(mark);
    for (int r = 0; r < a->n; r++) {
        const shoal_announced *theirs =
            &shoal_arena_notes(a, r)->announced[row][call & (a->record[row] - 1)];
        if (atomic_load_explicit(&theirs->call, memory_order_acquire) != call) continue;
        shoal_arena_mark seen = theirs->mark;
        // A rank that is a whole round ahead may be writing there now: then it has long passed this
        // call.
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&theirs->call, memory_order_relaxed) != call) continue;
        if (shoal_mark_same(&seen, mark)) continue;
        shoal_arena_part(c->arena);
        return shoal_mark_mismatch(c, mark, r, &seen);
    }
    return 0;
}

int shoal_signature_compare(shoal_comm *c, const shoal_arena_mark *mark)
{
    return c->arena ? compare(c, c->arena->calls[row_of(mark)], mark) : 0;
}

int shoal_signature_compare_taken(shoal_comm *c, const shoal_arena_mark *mark)
{
    return mark->bytes > 0 ? shoal_signature_compare(c, mark) : 0;
}

int shoal_signature_check_call(shoal_comm *c, uint64_t call, const shoal_arena_mark *mark)
{
    // Two ranks announce and then look; one of them must see the other.
    atomic_thread_fence(memory_order_seq_cst);
    return compare(c, call, mark);
}

int shoal_signature_check(shoal_comm *c, const shoal_arena_mark *mark)
{
    return c->arena ? shoal_signature_check_call(c, c->arena->calls[row_of(mark)], mark) : 0;
}

static int review_row(shoal_comm *c, unsigned row)
{
    shoal_arena *a = c->arena;
    const shoal_announced *mine = shoal_arena_notes(a, a->rank)->announced[row];
    uint64_t last = a->calls[row], record = a->record[row];
    uint64_t first = last >= record ? last - record + 1 : 1;
    if (first <= a->reviewed[row]) first = a->reviewed[row] + 1;
    a->reviewed[row] = last;
    for (uint64_t call = first; call <= last; call++) {
        int rc = compare(c, call, &mine[call & (record - 1)].mark);
        if (rc) return rc;
    }
    return 0;
}

int shoal_signature_review(shoal_comm *c)
{
    shoal_arena *a = c->arena;
    if (!a || a->told) return 0;
    int rc = review_row(c, 0);
    return rc ? rc : review_row(c, 1);
}

int shoal_signature_review_later(shoal_comm *c)
{
    const shoal_arena *a = c->arena;
    bool soon = a->calls[1] - a->reviewed[1] < SHOAL_RECORD / 2;
    return soon ? 0 : shoal_signature_review(c);
}
