// SPDX-License-Identifier: BSD-3-Clause
// Collectives between the two groups of an inter-communicator. Data crosses over between the two
// ranks 0 where one copy is enough, and straight between all pairs where each rank has its own;
// before and after that the ordinary algorithms run on the communicator of the local group.
#include "coll/algorithms.h"

#define LEADER 0

static bool is_leader(const shoal_comm *c)
{
    return c->rank == LEADER;
}

// The leaders send each other `out` and receive `in`.
static void leaders_swap(shoal_schedule *s, const shoal_comm *c, const void *out, int64_t out_count,
                         void *in, int64_t in_count, shoal_datatype *t)
{
    if (!is_leader(c)) return;
    shoal_schedule_recv(s, in, in_count, t, LEADER);
    shoal_schedule_send(s, out, out_count, t, LEADER);
    shoal_schedule_wait(s);
}

static void barrier(shoal_schedule *s, shoal_comm *c)
{
    shoal_datatype *byte = shoal_datatype_of(SHOAL_B_BYTE);
    shoal_schedule_on(s, c->local);
    shoal_reduce_binomial(s, NULL, NULL, 0, byte, LEADER, true);
    shoal_schedule_on(s, c);
    leaders_swap(s, c, NULL, 0, NULL, 0, byte);
    shoal_schedule_on(s, c->local);
    shoal_bcast_binomial(s, NULL, 0, byte, LEADER);
}

static void bcast(shoal_schedule *s, const shoal_coll_args *a)
{
    if (a->root == MPI_ROOT) {
        shoal_schedule_send(s, a->recvbuf, a->recvcount, a->recvtype, LEADER);
        return;
    }
    if (is_leader(a->comm)) {
        shoal_schedule_recv(s, a->recvbuf, a->recvcount, a->recvtype, a->root);
        shoal_schedule_wait(s);
    }
    shoal_schedule_on(s, a->comm->local);
    shoal_bcast_binomial(s, a->recvbuf, a->recvcount, a->recvtype, LEADER);
}

static void gather(shoal_schedule *s, const shoal_coll_args *a)
{
    if (a->root != MPI_ROOT) {
        shoal_schedule_send(s, a->sendbuf, a->sendcount, a->sendtype, a->root);
        return;
    }
    for (int i = 0; i < a->comm->remote_size; i++) {
        shoal_block b = shoal_block_to_recv(a, i);
        shoal_schedule_recv(s, b.buf, b.count, b.type, i);
    }
}

static void scatter(shoal_schedule *s, const shoal_coll_args *a)
{
    if (a->root != MPI_ROOT) {
        shoal_schedule_recv(s, a->recvbuf, a->recvcount, a->recvtype, a->root);
        return;
    }
    for (int i = 0; i < a->comm->remote_size; i++) {
        shoal_block b = shoal_block_to_send(a, i);
        shoal_schedule_send(s, b.buf, b.count, b.type, i);
    }
}

static void allgather(shoal_schedule *s, const shoal_coll_args *a)
{
    for (int i = 0; i < a->comm->remote_size; i++) {
        shoal_block b = shoal_block_to_recv(a, i);
        shoal_schedule_recv(s, b.buf, b.count, b.type, i);
    }
    for (int i = 0; i < a->comm->remote_size; i++)
        shoal_schedule_send(s, a->sendbuf, a->sendcount, a->sendtype, i);
}

static void alltoall(shoal_schedule *s, const shoal_coll_args *a)
{
    for (int i = 0; i < a->comm->remote_size; i++) {
        shoal_block b = shoal_block_to_recv(a, i);
        shoal_schedule_recv(s, b.buf, b.count, b.type, i);
    }
    for (int i = 0; i < a->comm->remote_size; i++) {
        shoal_block b = shoal_block_to_send(a, i);
        shoal_schedule_send(s, b.buf, b.count, b.type, i);
    }
}

// The local group's vectors, combined, at its leader.
static char *combine_locally(shoal_schedule *s, const shoal_coll_args *a, int64_t count)
{
    char *sum = is_leader(a->comm) ? shoal_schedule_scratch(s, count, a->recvtype) : NULL;
    shoal_schedule_on(s, a->comm->local);
    shoal_reduce_binomial(s, a->sendbuf, sum, count, a->recvtype, LEADER, a->op->commutative);
    shoal_schedule_wait(s);
    shoal_schedule_on(s, a->comm);
    return sum;
}

static void reduce(shoal_schedule *s, const shoal_coll_args *a)
{
    if (a->root == MPI_ROOT) {
        shoal_schedule_recv(s, a->recvbuf, a->recvcount, a->recvtype, LEADER);
        return;
    }
    char *sum = combine_locally(s, a, a->recvcount);
    if (is_leader(a->comm)) shoal_schedule_send(s, sum, a->recvcount, a->recvtype, a->root);
}

static void allreduce(shoal_schedule *s, const shoal_coll_args *a)
{
    char *sum = combine_locally(s, a, a->recvcount);
    leaders_swap(s, a->comm, sum, a->recvcount, a->recvbuf, a->recvcount, a->recvtype);
    shoal_schedule_on(s, a->comm->local);
    shoal_bcast_binomial(s, a->recvbuf, a->recvcount, a->recvtype, LEADER);
}

// The other group's sum comes to the leader, who deals it out.
static void reduce_scatter(shoal_schedule *s, const shoal_coll_args *a)
{
    shoal_comm *c = a->comm;
    shoal_datatype *t = a->recvtype;
    shoal_pieces p = {
        .counts = a->recvcounts, .even = a->recvcount, .total = a->recvcount * c->size};
    int64_t before, last = shoal_piece(&p, c->size - 1, &before), total = before + last;
    char *sum = combine_locally(s, a, total);
    char *theirs = is_leader(c) ? shoal_schedule_scratch(s, total, t) : NULL;
    leaders_swap(s, c, sum, total, theirs, total, t);
    shoal_schedule_on(s, c->local);
    int64_t mine = shoal_piece(&p, c->rank, &before);
    if (!is_leader(c)) {
        shoal_schedule_recv(s, a->recvbuf, mine, t, LEADER);
        return;
    }
    for (int i = 0; i < c->size; i++) {
        int64_t n = shoal_piece(&p, i, &before);
        const char *piece = shoal_element(theirs, before, t);
        if (i == c->rank)
            shoal_schedule_copy(s, piece, n, t, a->recvbuf, n, t);
        else
            shoal_schedule_send(s, piece, n, t, i);
    }
}

void shoal_inter_build(shoal_schedule *s, const shoal_coll_args *a)
{
    if (a->root == MPI_PROC_NULL) return; // in the root's group, but not the root
    switch (a->kind) {
    case SHOAL_COLL_BARRIER: barrier(s, a->comm); break;
    case SHOAL_COLL_BCAST: bcast(s, a); break;
    case SHOAL_COLL_GATHER:
    case SHOAL_COLL_GATHERV: gather(s, a); break;
    case SHOAL_COLL_SCATTER:
    case SHOAL_COLL_SCATTERV: scatter(s, a); break;
    case SHOAL_COLL_ALLGATHER:
    case SHOAL_COLL_ALLGATHERV: allgather(s, a); break;
    case SHOAL_COLL_ALLTOALL:
    case SHOAL_COLL_ALLTOALLV:
    case SHOAL_COLL_ALLTOALLW: alltoall(s, a); break;
    case SHOAL_COLL_REDUCE: reduce(s, a); break;
    case SHOAL_COLL_ALLREDUCE: allreduce(s, a); break;
    case SHOAL_COLL_REDUCE_SCATTER:
    case SHOAL_COLL_REDUCE_SCATTER_BLOCK: reduce_scatter(s, a); break;
    default:
        break; // the others are not defined on inter-communicators; the entry points refuse them
    }
}
