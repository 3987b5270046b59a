// SPDX-License-Identifier: BSD-3-Clause
// Alltoallv and alltoallw, blocking, where they do not go through the pool (shm_uneven.h): short
// blocks leave at once, and what comes in a moment is taken straight from the ring. What is left
// becomes a schedule, with the messages and the tag of the one in alltoall.c. Between two ranks
// there is at most one message each way, so it does not matter who of them sends how.
#include "coll/direct.h"
#include "coll/own_block.h"
#include "coll/schedule.h"
#include "coll/select.h"
#include "coll/shm_blocks.h"
#include "coll/signature.h"

#define AT_ONCE 8192 // bytes: longer ones are better written when the receives are known

typedef struct exchange {
    const shoal_coll_args *args;
    int tag;
    int sent, taken; // so many partners are done with, above and below this rank
    shoal_own_block own;
} exchange;

static int partner(const exchange *x, int k)
{
    return shoal_rank_above(x->args->comm->rank, k, x->args->comm->size);
}

static shoal_block to_send(const exchange *x, int k, int *rank_out)
{
    *rank_out = partner(x, k);
    return shoal_block_to_send(x->args, *rank_out);
}

static shoal_block to_recv(const exchange *x, int k, int *rank_out)
{
    *rank_out = partner(x, x->args->comm->size - k);
    return shoal_block_to_recv(x->args, *rank_out);
}

// Nothing is sent between two ranks that have nothing for each other; both know it.
static void send_short(exchange *x)
{
    for (int k = 1; k < x->args->comm->size; k++) {
        int to;
        shoal_block b = to_send(x, k, &to);
        int64_t bytes = shoal_block_bytes(&b);
        if (bytes > AT_ONCE || (bytes > 0 && !shoal_direct_send(x->args, &b, to, x->tag))) return;
        x->sent = k;
    }
}

static void take_near(exchange *x)
{
    for (int k = 1; k < x->args->comm->size; k++) {
        int from;
        shoal_block b = to_recv(x, k, &from);
        if (shoal_block_bytes(&b) > 0 && !shoal_direct_recv(x->args, &b, from, x->tag)) return;
        x->taken = k;
    }
}

static int finish(exchange *x)
{
    const shoal_coll_args *a = x->args;
    shoal_schedule *s = shoal_schedule_new(a->comm, a->call, a->root, true);
    if (!s) return SHOAL_E_NO_MEM;
    shoal_coll_keep_types(s, a);
    for (int k = 1; k < a->comm->size; k++) {
        int to, from;
        shoal_block out = to_send(x, k, &to), in = to_recv(x, k, &from);
        if (k > x->taken && shoal_block_bytes(&in) > 0)
            shoal_schedule_recv(s, in.buf, in.count, in.type, from);
        if (k > x->sent && shoal_block_bytes(&out) > 0)
            shoal_schedule_send(s, out.buf, out.count, out.type, to);
    }
    // Both by turns is better only if it takes very long.
    if (!x->own.flood) shoal_own_block_copy(&x->own);
    return shoal_schedule_run_beside(s, shoal_own_block_copy_piece, &x->own);
}

bool shoal_direct_exchange(const shoal_coll_args *a, const shoal_arena_mark *mark, int *rc_out)
{
    if (a->sendbuf == MPI_IN_PLACE) return false;
    int me = a->comm->rank, last = a->comm->size - 1;
    exchange x = {.args = a, .tag = shoal_schedule_tag(a->comm, true)};
    x.own = shoal_own_block_of(a->comm, shoal_block_to_send(a, me), shoal_block_to_recv(a, me));
    if (!shoal_own_block_fits(&x.own)) return false; // which the schedule reports
    send_short(&x);
    if (x.sent == last) {
        if (!x.own.flood) shoal_own_block_copy(&x.own);
        take_near(&x);
    }
    if (x.taken == last) {
        while (shoal_own_block_copy_piece(&x.own)) continue;
        shoal_schedule_skip_tag(a->comm, true);
        *rc_out = shoal_signature_compare_taken(a->comm, mark);
        return true;
    }
    *rc_out = shoal_signature_check(a->comm, mark);
    if (*rc_out == 0) *rc_out = finish(&x);
    return true;
}
