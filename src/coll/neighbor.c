// SPDX-License-Identifier: BSD-3-Clause
// Neighbourhood collectives: along the edges of the communicator's topology, all at once. Where two
// ranks are connected by several edges, messages match in the order of their steps: edges in the
// order they were given; in a Cartesian topology what goes down is received from above, which
// matters when a dimension has one or two ranks.
#include "coll/algorithms.h"

// The incoming edge that is the k-th to be received from.
static int incoming(const shoal_neighbors *n, int k)
{
    return n->cartesian ? k ^ 1 : k;
}

static void receive_all(shoal_schedule *s, const shoal_coll_args *a)
{
    const shoal_neighbors *n = &a->neighbors;
    for (int k = 0; k < n->in_count; k++) {
        int edge = incoming(n, k);
        if (n->in[edge] == MPI_PROC_NULL) continue;
        shoal_block b = shoal_block_to_recv(a, edge);
        shoal_schedule_recv(s, b.buf, b.count, b.type, n->in[edge]);
    }
}

void shoal_neighbor_allgather(shoal_schedule *s, const shoal_coll_args *a)
{
    const shoal_neighbors *n = &a->neighbors;
    receive_all(s, a);
    for (int k = 0; k < n->out_count; k++)
        if (n->out[k] != MPI_PROC_NULL)
            shoal_schedule_send(s, a->sendbuf, a->sendcount, a->sendtype, n->out[k]);
}

void shoal_neighbor_alltoall(shoal_schedule *s, const shoal_coll_args *a)
{
    const shoal_neighbors *n = &a->neighbors;
    receive_all(s, a);
    for (int k = 0; k < n->out_count; k++) {
        if (n->out[k] == MPI_PROC_NULL) continue;
        shoal_block b = shoal_block_to_send(a, k);
        shoal_schedule_send(s, b.buf, b.count, b.type, n->out[k]);
    }
}
