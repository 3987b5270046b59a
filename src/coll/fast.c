// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives of communicators with an arena: from the common form of arguments to
// shm_coll.h. Whether the arena serves a call depends only on what all ranks know.
#include "coll/fast.h"

#include "coll/arena.h"
#include "coll/mark.h"
#include "coll/shm_blocks.h"
#include "coll/shm_coll.h"
#include "coll/shm_straight.h"
#include "coll/shm_sync.h"
#include "coll/shm_uneven.h"
#include "plat/turn.h"

static bool has_arena(const shoal_coll_args *a)
{
    return a->comm->arena != NULL;
}

// With a core for each rank a long message has this over the arena: both sides copy it at the same
// time.
#define MESSAGE_BYTES 2048
static int64_t block_bytes(const shoal_coll_args *a, bool sends)
{
    return sends ? a->sendcount * a->sendtype->size : a->recvcount * a->recvtype->size;
}

static bool goes_by_message(int64_t bytes)
{
    return bytes >= MESSAGE_BYTES;
}

SHOAL_HOT bool shoal_fast_barrier(const shoal_coll_args *a, int *rc_out)
{
    if (!has_arena(a)) return false;
    *rc_out = shoal_shm_barrier(a->comm);
    return true;
}

bool shoal_fast_bcast(const shoal_coll_args *a, int *rc_out)
{
    if (!has_arena(a) || (a->comm->size == 2 && goes_by_message(block_bytes(a, false))))
        return false;
    *rc_out = shoal_shm_bcast(a->comm, a->recvbuf, a->recvcount, a->recvtype, a->root);
    return true;
}

static const void *contribution(const shoal_coll_args *a)
{
    return a->sendbuf == MPI_IN_PLACE ? a->recvbuf : a->sendbuf;
}

// The arena reduces with the kernels of predefined operations; others need their elements whole.
static bool has_kernel(const shoal_coll_args *a)
{
    int64_t unit;
    return has_arena(a) && shoal_op_kernel(a->op, a->recvtype, &unit) != NULL;
}

bool shoal_fast_reduce(const shoal_coll_args *a, int *rc_out)
{
    if (!has_kernel(a)) return false;
    *rc_out = shoal_shm_reduce(a->comm, contribution(a), a->recvbuf, a->recvcount, a->recvtype,
                               a->op, a->root);
    return true;
}

// Two ranks with a core each send each other what is longer than a slot's data: the one writes
// while the other adds up what it has. Only where the kernel is not quick: else they fetch it. And
// only if nobody can tell the order of the operands, which is not the same then.
#define DEALT_MESSAGE  (32 << 10)  // bytes of sums of which each rank gets a piece
#define PREFIX_LEAST   (16 << 10)  // of a prefix that is a message:
#define PREFIX_MESSAGE (64 << 10)  // ... a longer one is faster in pieces
#define HALVES_LEAST   (512 << 10) // halves of sums that lie on huge pages,
#define HALVES_MOST    (8 << 20)   // ... and stay in the caches
static bool sends_sums(const shoal_coll_args *a)
{
    return a->comm->size == 2 && !a->comm->arena->crowded && !shoal_shm_quick_kernel() &&
           !shoal_op_shows_order(a->op);
}

static bool on_huge_pages(const void *buf, const shoal_datatype *t, int64_t bytes)
{
    return shoal_on_huge_pages((const char *)buf + t->true_lb, (size_t)bytes);
}

// A long sum by halves that the kernel moves from both ends: if both ranks have it on huge pages,
// and that has been faster.
static int agree_on_halves(const shoal_coll_args *a, int64_t bytes, bool *halves_out)
{
    shoal_comm *c = a->comm;
    shoal_arena_mark mark = shoal_mark_make(SHOAL_COLL_ALLREDUCE, -1, a->op, a->recvtype, bytes);
    bool can = shoal_straight_wanted(c->arena, SHOAL_COLL_ALLREDUCE, bytes) &&
               shoal_cma_works(c->peers[1 - c->rank]) &&
               on_huge_pages(contribution(a), a->recvtype, bytes) &&
               on_huge_pages(a->recvbuf, a->recvtype, bytes);
    shoal_room room;
    uint64_t least = 0;
    int rc = shoal_word_say(c, &mark, can, &room, &least);
    *halves_out = rc == 0 && least > 0;
    if (rc == 0) shoal_straight_went(c->arena, *halves_out);
    return rc;
}

bool shoal_fast_allreduce(const shoal_coll_args *a, int *rc_out)
{
    if (!has_kernel(a)) return false;
    int64_t bytes = block_bytes(a, false);
    bool halves = false;
    *rc_out = 0;
    if (sends_sums(a) && bytes >= HALVES_LEAST && bytes < HALVES_MOST)
        *rc_out = agree_on_halves(a, bytes, &halves);
    if (*rc_out || halves) return !halves;
    *rc_out =
        shoal_shm_allreduce(a->comm, contribution(a), a->recvbuf, a->recvcount, a->recvtype, a->op);
    return true;
}

bool shoal_fast_scan(const shoal_coll_args *a, int *rc_out)
{
    if (!has_kernel(a)) return false;
    int64_t bytes = block_bytes(a, false);
    bool message = bytes >= PREFIX_LEAST && bytes <= PREFIX_MESSAGE;
    if (sends_sums(a) && a->kind == SHOAL_COLL_SCAN && message) return false;
    *rc_out = shoal_shm_scan(a->comm, contribution(a), a->recvbuf, a->recvcount, a->recvtype, a->op,
                             a->kind == SHOAL_COLL_EXSCAN);
    return true;
}

bool shoal_fast_reduce_scatter(const shoal_coll_args *a, int *rc_out)
{
    if (!has_kernel(a)) return false;
    if (sends_sums(a)) {
        int64_t count = a->recvcounts ? a->recvcounts[0] + a->recvcounts[1] : 2 * a->recvcount;
        if (count * a->recvtype->size >= DEALT_MESSAGE) return false;
    }
    *rc_out = shoal_shm_reduce_scatter(a->comm, contribution(a), a->recvbuf, a->recvcounts,
                                       a->recvcount, a->recvtype, a->op);
    return true;
}

bool shoal_fast_allgather(const shoal_coll_args *a, int *rc_out)
{
    if (!has_arena(a)) return false;
    *rc_out = shoal_shm_allgather(a->comm, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf,
                                  a->recvcount, a->recvtype);
    return true;
}

// Python objects are gathered so. Few: there has to be a list of them. If one is much longer than
// most, all would wait for all as often as it has pieces.
#define ONE_LONG    4 // times the mean
#define BLOCKS_MOST 64
bool shoal_fast_allgatherv(const shoal_coll_args *a, int *rc_out)
{
    shoal_blocks blocks[BLOCKS_MOST];
    int64_t longest = 0, total = 0;
    if (!has_arena(a) || a->comm->size > BLOCKS_MOST) return false;
    for (int i = 0; i < a->comm->size; i++) {
        shoal_block b = shoal_block_to_recv(a, i);
        int64_t bytes = shoal_block_bytes(&b);
        blocks[i] = (shoal_blocks){b.buf, b.count, b.type};
        if (bytes > longest) longest = bytes;
        total += bytes;
    }
    if (longest == 0 ||
        (longest > (int64_t)SHOAL_DATA && longest > ONE_LONG * total / a->comm->size))
        return false;
    *rc_out = shoal_shm_allgatherv(a->comm, a->sendbuf, a->sendcount, a->sendtype, blocks, longest,
                                   total);
    return true;
}

bool shoal_fast_alltoall(const shoal_coll_args *a, int *rc_out)
{
    if (!has_arena(a) || shoal_uneven_applies(a)) return false;
    *rc_out = shoal_shm_alltoall(a->comm, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf,
                                 a->recvcount, a->recvtype);
    return true;
}

// With more ranks than cores a root finds all blocks at once in the pool; each message would have
// to be waited for by itself.
bool shoal_fast_gather(const shoal_coll_args *a, int *rc_out)
{
    if (!has_arena(a)) return false;
    int64_t bytes = block_bytes(a, a->comm->rank != a->root);
    bool pool = a->comm->arena->crowded || !goes_by_message(bytes), done;
    if (!pool && !shoal_is_long_block(bytes)) return false;
    *rc_out = shoal_shm_gather(a->comm, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf,
                               a->recvcount, a->recvtype, a->root, pool, &done);
    return *rc_out != 0 || done;
}

// So too with a row of blocks, unless it is so long that it would not stay in the caches: then each
// rank fetches its own.
#define LONG_ROW (12 << 20)
bool shoal_fast_scatter(const shoal_coll_args *a, int *rc_out)
{
    if (!has_arena(a)) return false;
    int64_t most = a->comm->arena->crowded ? LONG_ROW / a->comm->size : MESSAGE_BYTES;
    int64_t bytes = block_bytes(a, a->comm->rank == a->root);
    bool pool = bytes < most, done;
    if (!pool && !shoal_is_long_block(bytes)) return false;
    // Where the kernel is quick it does not pay that all wait for all, to agree on what can be
    // fetched.
    if (a->comm->arena->crowded && shoal_shm_quick_kernel() && shoal_is_long_block(bytes))
        return false;
    *rc_out = shoal_shm_scatter(a->comm, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf,
                                a->recvcount, a->recvtype, a->root, pool, &done);
    return *rc_out != 0 || done;
}
