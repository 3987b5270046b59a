// SPDX-License-Identifier: BSD-3-Clause
// The edges of a distributed graph: any rank may name any edge; each rank learns those that begin
// or end at it.
#ifndef SHOAL_COLL_COMM_EDGES_H
#define SHOAL_COLL_COMM_EDGES_H

#include "core/comm.h"

typedef struct shoal_edge {
    int from, to, weight;
} shoal_edge;

// This rank's edges: first those that end here, then those that begin here, each in the order of
// the ranks that named them. To be freed.
typedef struct shoal_edges {
    int indegree, outdegree;
    int *sources, *source_weights;
    int *targets, *target_weights;
    int *memory;
} shoal_edges;

// Collective over an intra-communicator; `n` edges of this rank's naming, checked.
int shoal_edges_exchange(shoal_comm *, int n, const shoal_edge edges[], shoal_edges *out);
void shoal_edges_free(shoal_edges *);

#endif
