// SPDX-License-Identifier: BSD-3-Clause
// The choice of algorithms: the only place with thresholds. Every rank must choose alike, so
// choices rest on what all ranks know: the kind, the number of ranks, sizes that the standard makes
// equal, the operation. Measured with more ranks than cores, where rounds cost more than bytes.
//
// SHOAL_COLL="allgather:bruck,bcast:scatter" overrules the choice, for tests and for measuring; the
// names are those in the calls of chosen() below. Any value keeps collectives out of the arena. It
// must be the same on all ranks.
#include "coll/select.h"

#include <stdlib.h>
#include <string.h>

#include "coll/algorithms.h"
#include "coll/direct.h"
#include "coll/fast.h"
#include "coll/shm_later.h"
#include "coll/shm_sync.h"
#include "coll/shm_uneven.h"
#include "coll/signature.h"
#include "plat/error.h"
#include "plat/turn.h"

#define KIB 1024

// Broadcast: from here on, spreading the work of sending pays for the additional rounds.
#define BCAST_SCATTER_BYTES (2048 * KIB)
#define BCAST_SCATTER_RANKS 8
// Gather and scatter: a tree when the root would have to handle many small messages.
#define TREE_BYTES KIB
// Allgather: bytes of all blocks, and the longest block for which twice as much is given in each
// round.
#define ALLGATHER_DIRECT_RANKS   16
#define ALLGATHER_DOUBLING_RANKS 8
#define ALLGATHER_DOUBLING_BYTES (512 * KIB)
#define ALLGATHER_DOUBLING_BLOCK (128 * KIB)
#define ALLGATHER_BRUCK_BYTES    (64 * KIB)
// Alltoall: bytes of a block; partners at once.
#define ALLTOALL_BRUCK_BYTES 256
#define ALLTOALL_BRUCK_RANKS 32
#define ALLTOALL_WINDOW      32
// Reductions: bytes of the vector from which on ranks share the work of computing.
#define REDUCE_SHARE_BYTES    (1024 * KIB)
#define REDUCE_SHARE_RANKS    8
#define ALLREDUCE_SHARE_BYTES (64 * KIB)
#define ALLREDUCE_SHARE_RANKS 3
// ... and from which on a rank takes what the others have of its piece one after the other,
#define ALLREDUCE_NARROW_BYTES (2048 * KIB)
// ... and a power of two of ranks do so by halves, in blocks that stay in the caches.
#define ALLREDUCE_HALVING_BYTES (64 * KIB)
#define ALLREDUCE_PAIR_BYTES    (16 * KIB)
#define ALLREDUCE_BLOCK_BYTES   (2048 * KIB)
// Reduce_scatter: bytes of a rank's piece from which on not all pieces are kept at once, but so
// many; few ranks have room for all, unless they are very long.
#define REDUCE_SCATTER_WINDOW_BYTES     (32 * KIB)
#define REDUCE_SCATTER_WINDOW_BYTES_FEW (8 * KIB)
#define REDUCE_SCATTER_WINDOW           2
#define REDUCE_SCATTER_FEW_RANKS        8
#define REDUCE_SCATTER_NARROW_BYTES     (1024 * KIB)
// Prefixes: bytes of the vector from which on it goes from rank to rank, in such pieces.
#define SCAN_CHAIN_BYTES (16 * KIB)
#define SCAN_CHAIN_RANKS 8
#define SCAN_PIECE_BYTES (256 * KIB)

// Ways without messages, for blocking calls.
static shoal_coll_fast_fn *const fast[SHOAL_COLL_KINDS] = {
    [SHOAL_COLL_BARRIER] = shoal_fast_barrier,
    [SHOAL_COLL_BCAST] = shoal_fast_bcast,
    [SHOAL_COLL_GATHER] = shoal_fast_gather,
    [SHOAL_COLL_SCATTER] = shoal_fast_scatter,
    [SHOAL_COLL_ALLGATHER] = shoal_fast_allgather,
    [SHOAL_COLL_ALLGATHERV] = shoal_fast_allgatherv,
    [SHOAL_COLL_ALLTOALL] = shoal_fast_alltoall,
    [SHOAL_COLL_REDUCE] = shoal_fast_reduce,
    [SHOAL_COLL_ALLREDUCE] = shoal_fast_allreduce,
    [SHOAL_COLL_REDUCE_SCATTER] = shoal_fast_reduce_scatter,
    [SHOAL_COLL_REDUCE_SCATTER_BLOCK] = shoal_fast_reduce_scatter,
    [SHOAL_COLL_SCAN] = shoal_fast_scan,
    [SHOAL_COLL_EXSCAN] = shoal_fast_scan,
};

// SHOAL_COLL, or NULL.
static const char *wishes(void)
{
    static const char *value;
    static bool asked;
    if (!asked) value = getenv("SHOAL_COLL");
    asked = true;
    return value;
}

// Whether to use the algorithm: as SHOAL_COLL says if it speaks of the collective, else
// `otherwise`.
static bool chosen(const char *collective, const char *algorithm, bool otherwise)
{
    for (const char *w = wishes(); w && *w; w += strcspn(w, ",")) {
        w += *w == ',';
        size_t n = strlen(collective);
        if (strncmp(w, collective, n) != 0 || w[n] != ':') continue;
        w += n + 1;
        n = strcspn(w, ",");
        return n == strlen(algorithm) && strncmp(w, algorithm, n) == 0;
    }
    return otherwise;
}

static const void *input(const shoal_coll_args *a)
{
    return a->sendbuf == MPI_IN_PLACE ? a->recvbuf : a->sendbuf;
}

static void build_bcast(shoal_schedule *s, const shoal_coll_args *a, int ranks)
{
    int64_t bytes = a->recvcount * a->recvtype->size;
    if (bytes == 0 || ranks == 1) return;
    if (chosen("bcast", "scatter", bytes >= BCAST_SCATTER_BYTES && ranks >= BCAST_SCATTER_RANKS))
        shoal_bcast_scatter_allgather(s, a->recvbuf, a->recvcount, a->recvtype, a->root);
    else
        shoal_bcast_binomial(s, a->recvbuf, a->recvcount, a->recvtype, a->root);
}

static void build_gather(shoal_schedule *s, const shoal_coll_args *a, int ranks)
{
    bool is_root = a->comm->rank == a->root;
    int64_t block = is_root ? a->recvcount * a->recvtype->size : a->sendcount * a->sendtype->size;
    if (chosen("gather", "binomial", block <= TREE_BYTES && ranks >= SHOAL_TREE_RANKS))
        shoal_gather_binomial(s, a);
    else
        shoal_gather_linear(s, a);
}

static void build_scatter(shoal_schedule *s, const shoal_coll_args *a, int ranks)
{
    bool is_root = a->comm->rank == a->root;
    int64_t block = is_root ? a->sendcount * a->sendtype->size : a->recvcount * a->recvtype->size;
    if (chosen("scatter", "binomial", block <= TREE_BYTES && ranks >= SHOAL_TREE_RANKS))
        shoal_scatter_binomial(s, a);
    else
        shoal_scatter_linear(s, a);
}

static bool is_power_of_two(int ranks)
{
    return (ranks & (ranks - 1)) == 0;
}

static void build_allgather(shoal_schedule *s, const shoal_coll_args *a, int ranks)
{
    int64_t total = 0;
    for (int i = 0; i < ranks; i++) {
        shoal_block b = shoal_block_to_recv(a, i);
        total += shoal_block_bytes(&b);
    }
    bool even = a->kind == SHOAL_COLL_ALLGATHER;
    if (total == 0) return;
    bool medium = ranks >= ALLGATHER_DOUBLING_RANKS && total >= ALLGATHER_DOUBLING_BYTES &&
                  total <= ranks * (int64_t)ALLGATHER_DOUBLING_BLOCK;
    if (even && is_power_of_two(ranks) && chosen("allgather", "doubling", medium))
        shoal_allgather_doubling(s, a);
    else if (chosen("allgather", "direct", ranks <= ALLGATHER_DIRECT_RANKS))
        shoal_allgather_direct(s, a);
    else if (even && chosen("allgather", "bruck", total <= ALLGATHER_BRUCK_BYTES))
        shoal_allgather_bruck(s, a);
    else
        shoal_allgather_ring(s, a);
}

static void build_alltoall(shoal_schedule *s, const shoal_coll_args *a, int ranks)
{
    bool even = a->kind == SHOAL_COLL_ALLTOALL;
    int64_t block = even ? a->recvcount * a->recvtype->size : 0;
    if (even && block == 0) return;
    if (even &&
        chosen("alltoall", "bruck", block <= ALLTOALL_BRUCK_BYTES && ranks >= ALLTOALL_BRUCK_RANKS))
        shoal_alltoall_bruck(s, a);
    else
        shoal_alltoall_pairwise(s, a, ALLTOALL_WINDOW);
}

// How many elements take so many bytes: one at least.
static int64_t elements_of(int64_t bytes, const shoal_datatype *t)
{
    return bytes > t->size ? bytes / t->size : 1;
}

// A user's function may be handed a vector in pieces, but many expect to see it whole.
static bool may_cut(const shoal_coll_args *a)
{
    return a->op->predefined;
}

static void build_reduce(shoal_schedule *s, const shoal_coll_args *a, int ranks)
{
    int64_t count = a->recvcount, bytes = count * a->recvtype->size;
    bool commutes = a->op->commutative;
    if (bytes == 0) return;
    bool share = bytes >= REDUCE_SHARE_BYTES && ranks >= REDUCE_SHARE_RANKS && count >= ranks;
    if (chosen("reduce", "scatter", share && may_cut(a)))
        shoal_reduce_scatter_gather(s, input(a), a->recvbuf, count, a->recvtype, a->root, commutes);
    else
        shoal_reduce_binomial(s, input(a), a->recvbuf, count, a->recvtype, a->root, commutes);
}

// Can the ranks halve what they have until each has its piece, and is it long enough for that?
static bool can_halve(const shoal_coll_args *a, int ranks)
{
    return ranks > 1 && is_power_of_two(ranks) && a->op->commutative;
}

static bool halving_suits(int ranks, int64_t bytes)
{
    return bytes >= (ranks == 2 ? ALLREDUCE_PAIR_BYTES : ALLREDUCE_HALVING_BYTES);
}

static void build_allreduce(shoal_schedule *s, const shoal_coll_args *a, int ranks)
{
    shoal_datatype *t = a->recvtype;
    int64_t count = a->recvcount, bytes = count * t->size;
    if (bytes == 0) return;
    bool share = bytes >= ALLREDUCE_SHARE_BYTES && ranks >= ALLREDUCE_SHARE_RANKS && count >= ranks;
    bool halve = halving_suits(ranks, bytes);
    if (can_halve(a, ranks) && chosen("allreduce", "halving", halve && may_cut(a)))
        shoal_allreduce_halving(s, input(a), a->recvbuf, count, t,
                                elements_of(ALLREDUCE_BLOCK_BYTES, t));
    else if (chosen("allreduce", "scatter", share && may_cut(a)))
        shoal_allreduce_scatter_allgather(s, input(a), a->recvbuf, count, t, a->op->commutative,
                                          bytes < ALLREDUCE_NARROW_BYTES ? ranks : 1);
    else
        shoal_allreduce_doubling(s, input(a), a->recvbuf, count, t);
}

static void build_reduce_scatter(shoal_schedule *s, const shoal_coll_args *a, int ranks)
{
    shoal_datatype *t = a->recvtype;
    shoal_pieces p = {.counts = a->recvcounts, .even = a->recvcount, .total = a->recvcount * ranks};
    int64_t before, last = shoal_piece(&p, ranks - 1, &before),
                    bytes = (before + last) * t->size / ranks;
    bool commutes = a->op->commutative, few = ranks <= REDUCE_SCATTER_FEW_RANKS;
    int64_t least = few ? REDUCE_SCATTER_WINDOW_BYTES_FEW : REDUCE_SCATTER_WINDOW_BYTES;
    int window = bytes >= REDUCE_SCATTER_NARROW_BYTES ? 1 : few ? ranks : REDUCE_SCATTER_WINDOW;
    if (commutes && chosen("reduce_scatter", "windowed", bytes >= least))
        shoal_reduce_scatter_windowed(s, input(a), a->recvbuf, &p, t, window);
    else
        shoal_reduce_scatter_ordered(s, input(a), a->recvbuf, &p, t);
}

// With many ranks and a core for each, a short chain would leave most of them without work.
static bool chain_suits(const shoal_coll_args *a, int ranks, int64_t bytes)
{
    bool crowded = a->comm->arena && a->comm->arena->crowded;
    return bytes >= SCAN_CHAIN_BYTES &&
           (crowded || ranks <= SCAN_CHAIN_RANKS || bytes >= ranks * (int64_t)SCAN_PIECE_BYTES);
}

static void build_scan(shoal_schedule *s, const shoal_coll_args *a, int ranks)
{
    shoal_datatype *t = a->recvtype;
    int64_t count = a->recvcount, bytes = count * t->size;
    bool exclusive = a->kind == SHOAL_COLL_EXSCAN;
    if (bytes == 0) return;
    if (chosen("scan", "chain", chain_suits(a, ranks, bytes) && may_cut(a)))
        shoal_scan_chain(s, input(a), a->recvbuf, count, t, exclusive, a->op->commutative,
                         elements_of(SCAN_PIECE_BYTES, t));
    else
        shoal_scan_doubling(s, input(a), a->recvbuf, count, t, exclusive);
}

static void build_intra(shoal_schedule *s, const shoal_coll_args *a)
{
    int ranks = a->comm->size;
    switch (a->kind) {
    case SHOAL_COLL_BARRIER: shoal_barrier_dissemination(s); break;
    case SHOAL_COLL_BCAST: build_bcast(s, a, ranks); break;
    case SHOAL_COLL_GATHER: build_gather(s, a, ranks); break;
    case SHOAL_COLL_GATHERV: shoal_gather_linear(s, a); break;
    case SHOAL_COLL_SCATTER: build_scatter(s, a, ranks); break;
    case SHOAL_COLL_SCATTERV: shoal_scatter_linear(s, a); break;
    case SHOAL_COLL_ALLGATHER:
    case SHOAL_COLL_ALLGATHERV: build_allgather(s, a, ranks); break;
    case SHOAL_COLL_ALLTOALL:
    case SHOAL_COLL_ALLTOALLV:
    case SHOAL_COLL_ALLTOALLW: build_alltoall(s, a, ranks); break;
    case SHOAL_COLL_REDUCE: build_reduce(s, a, ranks); break;
    case SHOAL_COLL_ALLREDUCE: build_allreduce(s, a, ranks); break;
    case SHOAL_COLL_REDUCE_SCATTER:
    case SHOAL_COLL_REDUCE_SCATTER_BLOCK: build_reduce_scatter(s, a, ranks); break;
    case SHOAL_COLL_SCAN:
    case SHOAL_COLL_EXSCAN: build_scan(s, a, ranks); break;
    case SHOAL_COLL_NEIGHBOR:
        if (a->neighbors.same_to_all)
            shoal_neighbor_allgather(s, a);
        else
            shoal_neighbor_alltoall(s, a);
        break;
    default: break;
    }
}

void shoal_coll_build(shoal_schedule *s, const shoal_coll_args *a)
{
    if (a->comm->inter)
        shoal_inter_build(s, a);
    else
        build_intra(s, a);
}

void shoal_coll_keep_types(shoal_schedule *s, const shoal_coll_args *a)
{
    shoal_schedule_keep_type(s, a->sendtype);
    shoal_schedule_keep_type(s, a->recvtype);
    bool near = a->kind == SHOAL_COLL_NEIGHBOR;
    int sends = near ? a->neighbors.out_count : a->comm->remote_size;
    int recvs = near ? a->neighbors.in_count : a->comm->remote_size;
    for (int i = 0; a->sendtypes && i < sends; i++) shoal_schedule_keep_type(s, a->sendtypes[i]);
    for (int i = 0; a->recvtypes && i < recvs; i++) shoal_schedule_keep_type(s, a->recvtypes[i]);
}

// A schedule for the call that keeps what the steps point to.
static shoal_schedule *prepare(const shoal_coll_args *a, bool blocking)
{
    shoal_schedule *s = shoal_schedule_new(a->comm, a->call, a->root, blocking);
    if (!s) return NULL;
    shoal_coll_keep_types(s, a);
    shoal_schedule_set_op(s, a->op);
    shoal_coll_build(s, a);
    return s;
}

SHOAL_HOT int shoal_coll_run(const shoal_coll_args *a)
{
    int rc = 0;
    bool alone = a->comm->size == 1 && !a->comm->inter;
    if (alone && !wishes() && shoal_fast_alone(a, &rc)) return rc;
    shoal_arena_mark mark = shoal_signature_make(a, SHOAL_FORM_BLOCKING);
    shoal_signature_announce(a->comm, &mark);
    if (a->comm->arena) rc = shoal_arena_parted(a->comm);
    if (rc) return rc;
    if (fast[a->kind] && !a->comm->inter && !wishes() && fast[a->kind](a, &rc)) return rc;
    if (!wishes() && shoal_uneven_applies(a)) return shoal_uneven_run(a, &mark);
    if (!wishes() && shoal_direct_run(a, &mark, &rc)) return rc;
    rc = shoal_signature_check(a->comm, &mark);
    if (rc) return rc;
    shoal_schedule *s = prepare(a, true);
    return s ? shoal_schedule_run(s) : SHOAL_E_NO_MEM;
}

int shoal_coll_request(const shoal_coll_args *a, bool persistent, shoal_req **out)
{
    shoal_arena_mark mark =
        shoal_signature_make(a, persistent ? SHOAL_FORM_PERSISTENT : SHOAL_FORM_NONBLOCKING);
    shoal_signature_announce(a->comm, &mark);
    int rc = a->comm->arena ? shoal_arena_parted(a->comm) : 0;
    if (rc) return rc;
    if (!persistent && !wishes() && shoal_later_start(a, &mark, out, &rc)) return rc;
    rc = shoal_signature_check(a->comm, &mark);
    if (rc) return rc;
    shoal_schedule *s = prepare(a, false);
    return s ? shoal_schedule_request(s, persistent, out) : SHOAL_E_NO_MEM;
}

shoal_block shoal_block_to_send(const shoal_coll_args *a, int i)
{
    shoal_datatype *t = a->sendtypes ? a->sendtypes[i] : a->sendtype;
    int64_t count = a->sendcounts ? a->sendcounts[i] : a->sendcount;
    int64_t offset = a->sendtypes    ? a->senddispls[i]
                     : a->senddispls ? a->senddispls[i] * t->extent
                                     : i * count * t->extent;
    return (shoal_block){(char *)((uintptr_t)a->sendbuf + (uintptr_t)offset), count, t};
}

shoal_block shoal_block_to_recv(const shoal_coll_args *a, int i)
{
    shoal_datatype *t = a->recvtypes ? a->recvtypes[i] : a->recvtype;
    int64_t count = a->recvcounts ? a->recvcounts[i] : a->recvcount;
    int64_t offset = a->recvtypes    ? a->recvdispls[i]
                     : a->recvdispls ? a->recvdispls[i] * t->extent
                                     : i * count * t->extent;
    return (shoal_block){(char *)((uintptr_t)a->recvbuf + (uintptr_t)offset), count, t};
}
