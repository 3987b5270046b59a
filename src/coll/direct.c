// SPDX-License-Identifier: BSD-3-Clause
// Gather and scatter, and the broadcast between two ranks, blocking, without a schedule: what can
// be sent is sent at once, what comes in a moment is taken straight from the ring. Only what is
// left then becomes a schedule. Messages and tags are those of the schedules of gather.c and
// bcast.c, so each rank decides for itself.
//
// A rank that receives has the announcement of the sender's call by the time it has the message,
// and compares the two; a rank that only sends looks later (shoal_signature_review()).
#include "coll/direct.h"

#include <string.h>

#include "coll/algorithms.h"
#include "coll/select.h"
#include "coll/shm_blocks.h"
#include "coll/shm_sync.h"
#include "coll/signature.h"
#include "p2p/p2p.h"
#include "plat/error.h"

#define OWN_PIECE (128 << 10) // of the root's own block, between two looks at what has come

static shoal_message_args message(const shoal_coll_args *a, shoal_block b, int rank, int tag)
{
    return (shoal_message_args){.buf = b.buf,
                                .count = b.count,
                                .type = b.type,
                                .rank = rank,
                                .tag = tag,
                                .comm = a->comm,
                                .use = SHOAL_USE_COLL};
}

static bool send_at_once(const shoal_coll_args *a, shoal_block b, int to, int tag)
{
    shoal_message_args m = message(a, b, to, tag);
    return shoal_send_eager(&m, a->comm->peers[to], shoal_block_bytes(&b));
}

static bool recv_at_once(const shoal_coll_args *a, shoal_block b, int from, int tag)
{
    shoal_message_args m = message(a, b, from, tag);
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

// What the root has for itself.
typedef struct own {
    shoal_block from, to;
    int64_t done, bytes;
    bool flood;
} own;

// False if it does not fit, which the schedule reports.
static bool find_own(const shoal_coll_args *a, own *o)
{
    shoal_block mine = single(a), there = block_of(a, a->root);
    *o = gathers(a) ? (own){.from = mine, .to = there} : (own){.from = there, .to = mine};
    if (mine.buf == MPI_IN_PLACE) return true;
    o->bytes = shoal_block_bytes(&o->from);
    o->flood = shoal_is_flood(a->comm, o->bytes);
    return o->bytes <= shoal_block_bytes(&o->to);
}

static void copy_own(own *o)
{
    const shoal_block *from = &o->from, *to = &o->to;
    if (o->done < o->bytes)
        shoal_datatype_copy(from->buf, from->count, from->type, to->buf, to->count, to->type);
    o->done = o->bytes;
}

// A piece of it, if it is long; returns true if some of it is left.
static bool copy_piece(void *what)
{
    own *o = what;
    const shoal_block *from = &o->from, *to = &o->to;
    if (o->bytes <= OWN_PIECE || !from->type->dense || !to->type->dense) copy_own(o);
    if (o->done == o->bytes) return false;
    int64_t left = o->bytes - o->done, part = left < OWN_PIECE ? left : OWN_PIECE;
    char *d = to->buf + to->type->true_lb + o->done;
    const char *f = from->buf + from->type->true_lb + o->done;
    if (o->flood)
        shoal_copy_past_caches(d, f, (size_t)part);
    else
        shoal_move(d, f, (size_t)part);
    o->done += part;
    if (o->done < o->bytes) return true;
    if (o->flood) shoal_settle_copies();
    return false;
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
        if (!(gathers(a) ? recv_at_once(a, b, i, tag) : send_at_once(a, b, i, tag))) break;
    }
    return k;
}

// The rest of the root's messages, waited for.
static int finish(const shoal_coll_args *a, int first, own *o)
{
    shoal_schedule *s = shoal_schedule_new(a->comm, a->call, a->root, true);
    if (!s) return SHOAL_E_NO_MEM;
    shoal_schedule_keep_type(s, a->sendtype);
    shoal_schedule_keep_type(s, a->recvtype);
    for (int k = first; k < a->comm->size; k++) {
        int i = shoal_rank_above(a->root, k, a->comm->size);
        shoal_block b = block_of(a, i);
        if (gathers(a))
            shoal_schedule_recv(s, b.buf, b.count, b.type, i);
        else
            shoal_schedule_send(s, b.buf, b.count, b.type, i);
    }
    return shoal_schedule_run_beside(s, copy_piece, o);
}

static int run_root(const shoal_coll_args *a, const shoal_arena_mark *mark, int tag, own *o)
{
    // What others wait for goes first; what they send comes meanwhile. Only if it takes very long
    // is it better to do both by turns.
    if (gathers(a) && !o->flood) copy_own(o);
    int first = move_blocks(a, tag);
    if (first < a->comm->size) {
        int rc = shoal_signature_check(a->comm, mark);
        return rc ? rc : finish(a, first, o);
    }
    while (copy_piece(o)) continue;
    shoal_schedule_skip_tag(a->comm, true);
    return gathers(a) ? shoal_signature_compare(a->comm, mark) : 0;
}

// The one block of a call goes to that rank, or comes from it; false: not at once.
static bool move_single(const shoal_coll_args *a, const shoal_arena_mark *mark, bool sends,
                        int other, int *rc_out)
{
    int tag = shoal_schedule_tag(a->comm, true);
    if (!(sends ? send_at_once : recv_at_once)(a, single(a), other, tag)) return false;
    shoal_schedule_skip_tag(a->comm, true);
    *rc_out = sends ? 0 : shoal_signature_compare(a->comm, mark);
    return true;
}

bool shoal_direct_run(const shoal_coll_args *a, const shoal_arena_mark *mark, int *rc_out)
{
    bool scatters = a->kind == SHOAL_COLL_SCATTERV || a->kind == SHOAL_COLL_SCATTER;
    if (a->comm->inter || a->comm->size >= SHOAL_TREE_RANKS) return false;
    if (a->kind == SHOAL_COLL_BCAST && a->comm->size == 2 && a->recvcount * a->recvtype->size > 0)
        return move_single(a, mark, is_root(a), 1 - a->comm->rank, rc_out);
    if (!gathers(a) && !scatters) return false;
    if (!is_root(a)) return move_single(a, mark, gathers(a), a->root, rc_out);
    own o;
    if (!find_own(a, &o)) return false;
    *rc_out = run_root(a, mark, shoal_schedule_tag(a->comm, true), &o);
    return true;
}
