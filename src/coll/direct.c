// SPDX-License-Identifier: BSD-3-Clause
// Gather and scatter, and the broadcast between two ranks, blocking, without a schedule: what can
// be sent is sent at once, what comes in a moment is taken straight from the ring. Only what is
// left then becomes a schedule. Messages and tags are those of the schedules of gather.c and
// bcast.c, so each rank decides for itself.
//
// A rank that receives knows from the message's tag which call the sender has made, and where it
// has to know more, it has the announcement of that call, too, by the time it has the message, and
// compares the two; a rank that only sends looks later (shoal_signature_review()).
#include "coll/direct.h"

#include "coll/own_block.h"
#include "coll/select.h"
#include "coll/shm_blocks.h"
#include "coll/signature.h"

shoal_message_args shoal_direct_message(const shoal_coll_args *a, const shoal_block *b, int rank,
                                        int tag)
{
    return (shoal_message_args){.buf = b->buf,
                                .count = b->count,
                                .type = b->type,
                                .rank = rank,
                                .tag = tag,
                                .comm = a->comm,
                                .use = SHOAL_USE_COLL};
}

bool shoal_direct_send(const shoal_coll_args *a, const shoal_block *b, int to, int tag)
{
    shoal_message_args m = shoal_direct_message(a, b, to, tag);
    return shoal_send_eager(&m, a->comm->peers[to], shoal_block_bytes(b));
}

bool shoal_direct_recv(const shoal_coll_args *a, const shoal_block *b, int from, int tag)
{
    shoal_message_args m = shoal_direct_message(a, b, from, tag);
    return shoal_p2p_recv_at_once(&m, NULL);
}

static bool gathers(const shoal_coll_args *a)
{
    return a->kind == SHOAL_COLL_GATHERV || a->kind == SHOAL_COLL_GATHER;
}

static bool is_root(const shoal_coll_args *a)
{
    return a->comm->rank == a->root;
}

// The one block of a rank that is not the root.
static shoal_block single(const shoal_coll_args *a)
{
    if (gathers(a)) return (shoal_block){(char *)(uintptr_t)a->sendbuf, a->sendcount, a->sendtype};
    return (shoal_block){a->recvbuf, a->recvcount, a->recvtype};
}

// The root's block of rank i.
static shoal_block block_of(const shoal_coll_args *a, int i)
{
    return gathers(a) ? shoal_block_to_recv(a, i) : shoal_block_to_send(a, i);
}

static shoal_own_block own_of(const shoal_coll_args *a)
{
    shoal_block mine = single(a), there = block_of(a, a->root);
    return gathers(a) ? shoal_own_block_of(a->comm, mine, there)
                      : shoal_own_block_of(a->comm, there, mine);
}

// As many of the root's messages as go at once; returns the first place above the root whose
// message is left. If the root changes from call to call, those just below it come last, and those
// just above are waited for next.
static int move_blocks(const shoal_coll_args *a, int tag)
{
    int k = 1;
    for (; k < a->comm->size; k++) {
        int i = shoal_rank_above(a->root, k, a->comm->size);
        shoal_block b = block_of(a, i);
        if (!(gathers(a) ? shoal_direct_recv : shoal_direct_send)(a, &b, i, tag)) break;
    }
    return k;
}

// The rest of the root's messages, waited for.
static int finish(const shoal_coll_args *a, int first, shoal_own_block *o)
{
    shoal_schedule *s = shoal_schedule_new(a->comm, a->call, a->root, true);
    if (!s) return SHOAL_E_NO_MEM;
    shoal_coll_keep_types(s, a);
    for (int k = first; k < a->comm->size; k++) {
        int i = shoal_rank_above(a->root, k, a->comm->size);
        shoal_block b = block_of(a, i);
        if (gathers(a))
            shoal_schedule_recv(s, b.buf, b.count, b.type, i);
        else
            shoal_schedule_send(s, b.buf, b.count, b.type, i);
    }
    return shoal_schedule_run_beside(s, shoal_own_block_copy_piece, o);
}

static int run_root(const shoal_coll_args *a, const shoal_arena_mark *mark, int tag,
                    shoal_own_block *o)
{
    // What others wait for goes first; what they send comes meanwhile. Only if it takes very long
    // is it better to do both by turns.
    if (gathers(a) && !o->flood) shoal_own_block_copy(o);
    int first = move_blocks(a, tag);
    if (first < a->comm->size) {
        int rc = shoal_signature_check(a->comm, mark);
        return rc ? rc : finish(a, first, o);
    }
    while (shoal_own_block_copy_piece(o)) continue;
    shoal_schedule_skip_tag(a->comm, true);
    return gathers(a) ? shoal_signature_compare_taken(a->comm, mark) : 0;
}

// The one block of a call goes to that rank, or comes from it; false: not at once.
static bool move_single(const shoal_coll_args *a, const shoal_arena_mark *mark, bool sends,
                        int other, int *rc_out)
{
    int tag = shoal_schedule_tag(a->comm, true);
    shoal_block b = single(a);
    if (!(sends ? shoal_direct_send : shoal_direct_recv)(a, &b, other, tag)) return false;
    shoal_schedule_skip_tag(a->comm, true);
    *rc_out = sends ? 0 : shoal_signature_compare_taken(a->comm, mark);
    return true;
}

bool shoal_direct_run(const shoal_coll_args *a, const shoal_arena_mark *mark, int *rc_out)
{
    bool scatters = a->kind == SHOAL_COLL_SCATTERV || a->kind == SHOAL_COLL_SCATTER;
    if (a->comm->inter || a->comm->size >= SHOAL_TREE_RANKS) return false;
    if (a->kind == SHOAL_COLL_ALLTOALLV || a->kind == SHOAL_COLL_ALLTOALLW)
        return shoal_direct_exchange(a, mark, rc_out);
    if (a->kind == SHOAL_COLL_BCAST && a->comm->size == 2 && a->recvcount * a->recvtype->size > 0)
        return move_single(a, mark, is_root(a), 1 - a->comm->rank, rc_out);
    if (!gathers(a) && !scatters) return false;
    if (!is_root(a)) return move_single(a, mark, gathers(a), a->root, rc_out);
    shoal_own_block o = own_of(a);
    if (!shoal_own_block_fits(&o)) return false; // which the schedule reports
    *rc_out = run_root(a, mark, shoal_schedule_tag(a->comm, true), &o);
    return true;
}
