// SPDX-License-Identifier: BSD-3-Clause
// Graph topologies: known whole to every rank (MPI_Graph_), or each rank's own edges
// (MPI_Dist_graph_).
#include <stdlib.h>

#include "api/api.h"
#include "api/topo_args.h"
#include "coll/comm_edges.h"
#include "coll/comm_hints.h"

static int make_graph(shoal_comm *c, int nnodes, const int indx[], const int edges[],
                      MPI_Comm *comm_graph)
{
    shoal_comm *n = NULL;
    shoal_topo *t = NULL;
    int rc = shoal_topo_make(c, nnodes, &n);
    if (rc == 0 && n) rc = shoal_topo_new_graph(nnodes, indx, edges, n->rank, &t);
    if (rc == 0)
        *comm_graph = shoal_topo_give(n, t);
    else if (n)
        shoal_comm_drop(n);
    return rc;
}

int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[],
                      int reorder, MPI_Comm *comm_graph)
{
    shoal_comm *c = NULL;
    (void)reorder;
    int rc = shoal_enter("MPI_Graph_create");
    if (rc == 0) rc = shoal_arg_intracomm(comm_old, &c);
    if (rc == 0) rc = shoal_graph_check(nnodes, indx, edges, c->size);
    if (rc == 0) rc = shoal_arg_pointer(comm_graph, "comm_graph");
    if (rc == 0) rc = make_graph(c, nnodes, indx, edges, comm_graph);
    return shoal_leave_comm(rc, c);
}

int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Graph_map");
    if (rc == 0) rc = shoal_arg_intracomm(comm, &c);
    if (rc == 0) rc = shoal_graph_check(nnodes, indx, edges, c->size);
    if (rc == 0) rc = shoal_arg_pointer(newrank, "newrank");
    if (rc == 0) *newrank = c->rank < nnodes ? c->rank : MPI_UNDEFINED;
    return shoal_leave_comm(rc, c);
}

int PMPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Graphdims_get");
    if (rc == 0) rc = shoal_arg_topo(comm, MPI_GRAPH, &c);
    if (rc == 0) rc = shoal_arg_pointer(nnodes, "nnodes");
    if (rc == 0) rc = shoal_arg_pointer(nedges, "nedges");
    if (rc == 0) {
        *nnodes = c->topo->nnodes;
        *nedges = c->topo->nedges;
    }
    return shoal_leave_comm(rc, c);
}

// As much of an array as fits.
static void give(int room, int n, const int *from, int *to)
{
    for (int i = 0; i < n && i < room; i++) to[i] = from[i];
}

int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[])
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Graph_get");
    if (rc == 0) rc = shoal_arg_topo(comm, MPI_GRAPH, &c);
    if (rc == 0) rc = shoal_arg_room(maxindex, c->topo->nnodes, indx, "index");
    if (rc == 0) rc = shoal_arg_room(maxedges, c->topo->nedges, edges, "edges");
    if (rc == 0) {
        give(maxindex, c->topo->nnodes, c->topo->index, indx);
        give(maxedges, c->topo->nedges, c->topo->edges, edges);
    }
    return shoal_leave_comm(rc, c);
}

// The neighbours of any rank of a graph.
static const int *neighbors_of(const shoal_topo *t, int rank, int *n_out)
{
    int first = rank > 0 ? t->index[rank - 1] : 0;
    *n_out = t->index[rank] - first;
    return t->edges + first;
}

int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Graph_neighbors_count");
    if (rc == 0) rc = shoal_arg_topo(comm, MPI_GRAPH, &c);
    if (rc == 0) rc = shoal_arg_topo_rank(rank, c);
    if (rc == 0) rc = shoal_arg_pointer(nneighbors, "nneighbors");
    if (rc == 0) neighbors_of(c->topo, rank, nneighbors);
    return shoal_leave_comm(rc, c);
}

int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
{
    shoal_comm *c = NULL;
    int n = 0;
    const int *list = NULL;
    int rc = shoal_enter("MPI_Graph_neighbors");
    if (rc == 0) rc = shoal_arg_topo(comm, MPI_GRAPH, &c);
    if (rc == 0) rc = shoal_arg_topo_rank(rank, c);
    if (rc == 0) list = neighbors_of(c->topo, rank, &n);
    if (rc == 0) rc = shoal_arg_room(maxneighbors, n, neighbors, "neighbors");
    if (rc == 0) give(maxneighbors, n, list, neighbors);
    return shoal_leave_comm(rc, c);
}

// Ranks of the communicator.
static int arg_ranks(const shoal_comm *c, int n, const int *ranks, const char *name)
{
    if (n < 0) return shoal_fail(SHOAL_E_ARG, "the number of %s is %d", name, n);
    int rc = n > 0 ? shoal_arg_pointer(ranks, name) : 0;
    for (int i = 0; rc == 0 && i < n; i++)
        if (ranks[i] < 0 || ranks[i] >= c->size)
            rc = shoal_fail(SHOAL_E_RANK, "%s[%d]=%d is outside %s, which has %d ranks", name, i,
                            ranks[i], shoal_comm_label(c), c->size);
    return rc;
}

// Weights are there when they must be, and not negative.
static int arg_weights(int n, const int *weights, const char *name)
{
    if (n == 0 || weights == MPI_UNWEIGHTED) return 0;
    if (!weights || weights == MPI_WEIGHTS_EMPTY)
        return shoal_fail(SHOAL_E_ARG, "%s is %s, for %d edges", name,
                          weights ? "MPI_WEIGHTS_EMPTY" : "a null pointer", n);
    for (int i = 0; i < n; i++)
        if (weights[i] < 0) return shoal_fail(SHOAL_E_ARG, "%s[%d] is %d", name, i, weights[i]);
    return 0;
}

// A communicator like the old one; takes over the topology.
static int make_dist(shoal_comm *c, shoal_topo *t, const shoal_info *hints,
                     MPI_Comm *comm_dist_graph)
{
    shoal_comm *n = NULL;
    int rc = shoal_comm_create(c, c->group, &n);
    if (rc == 0) rc = shoal_hints_set(n, hints);
    if (rc == 0) {
        *comm_dist_graph = shoal_topo_give(n, t);
        return 0;
    }
    if (n) shoal_comm_drop(n);
    shoal_topo_drop(t);
    return rc;
}

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                    const int sourceweights[], int outdegree,
                                    const int destinations[], const int destweights[],
                                    MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)
{
    shoal_comm *c = NULL;
    shoal_info *hints = NULL;
    shoal_topo *t = NULL;
    (void)reorder;
    int rc = shoal_enter("MPI_Dist_graph_create_adjacent");
    if (rc == 0) rc = shoal_arg_intracomm(comm_old, &c);
    if (rc == 0) rc = shoal_arg_info_or_null(info, &hints);
    if (rc == 0) rc = arg_ranks(c, indegree, sources, "sources");
    if (rc == 0) rc = arg_weights(indegree, sourceweights, "sourceweights");
    if (rc == 0) rc = arg_ranks(c, outdegree, destinations, "destinations");
    if (rc == 0) rc = arg_weights(outdegree, destweights, "destweights");
    // A side without edges says nothing about weights.
    bool light = sourceweights == MPI_UNWEIGHTED, light_out = destweights == MPI_UNWEIGHTED;
    if (rc == 0 && indegree > 0 && outdegree > 0 && light != light_out)
        rc = shoal_fail(SHOAL_E_ARG, "only one of sourceweights and destweights is MPI_UNWEIGHTED");
    bool weighted = indegree > 0 ? !light : outdegree > 0 ? !light_out : !light && !light_out;
    if (rc == 0) rc = shoal_arg_pointer(comm_dist_graph, "comm_dist_graph");
    if (rc == 0)
        rc =
            shoal_topo_new_dist_graph(indegree, sources, weighted ? sourceweights : NULL, outdegree,
                                      destinations, weighted ? destweights : NULL, weighted, &t);
    if (rc == 0) rc = make_dist(c, t, hints, comm_dist_graph);
    return shoal_leave_comm(rc, c);
}

// How many edges `n` sources name; each source and destination is checked.
static int count_edges(const shoal_comm *c, int n, const int sources[], const int degrees[],
                       const int destinations[], const int weights[], int *count_out)
{
    int64_t count = 0;
    int rc = n > 0 ? shoal_arg_pointer(degrees, "degrees") : 0;
    if (rc == 0) rc = arg_ranks(c, n, sources, "sources");
    for (int i = 0; rc == 0 && i < n; i++) {
        if (degrees[i] < 0) rc = shoal_fail(SHOAL_E_ARG, "degrees[%d] is %d", i, degrees[i]);
        count += degrees[i];
    }
    if (rc == 0 && count > INT32_MAX)
        rc = shoal_fail(SHOAL_E_ARG, "the degrees add up to %lld edges", (long long)count);
    if (rc == 0) rc = arg_ranks(c, (int)count, destinations, "destinations");
    if (rc == 0) rc = arg_weights((int)count, weights, "weights");
    if (rc == 0) *count_out = (int)count;
    return rc;
}

// Lists the edges, tells everybody, and makes a topology of those that concern this rank.
static int exchange_edges(shoal_comm *c, int n, const int sources[], const int degrees[], int count,
                          const int destinations[], const int weights[], shoal_topo **out)
{
    bool weighted = weights != MPI_UNWEIGHTED;
    shoal_edge *named = malloc((size_t)count * sizeof *named + 1);
    if (!named) return shoal_fail(SHOAL_E_NO_MEM, "no memory for %d edges", count);
    for (int i = 0, k = 0; i < n; i++)
        for (int j = 0; j < degrees[i]; j++, k++)
            named[k] = (shoal_edge){
                .from = sources[i], .to = destinations[k], .weight = weighted ? weights[k] : 1};
    shoal_edges mine;
    int rc = shoal_edges_exchange(c, count, named, &mine);
    free(named);
    if (rc) return rc;
    rc = shoal_topo_new_dist_graph(mine.indegree, mine.sources, mine.source_weights, mine.outdegree,
                                   mine.targets, mine.target_weights, weighted, out);
    shoal_edges_free(&mine);
    return rc;
}

int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                           const int destinations[], const int weights[], MPI_Info info,
                           int reorder, MPI_Comm *comm_dist_graph)
{
    shoal_comm *c = NULL;
    shoal_info *hints = NULL;
    shoal_topo *t = NULL;
    int count = 0;
    (void)reorder;
    int rc = shoal_enter("MPI_Dist_graph_create");
    if (rc == 0) rc = shoal_arg_intracomm(comm_old, &c);
    if (rc == 0) rc = shoal_arg_info_or_null(info, &hints);
    if (rc == 0) rc = count_edges(c, n, sources, degrees, destinations, weights, &count);
    if (rc == 0) rc = shoal_arg_pointer(comm_dist_graph, "comm_dist_graph");
    if (rc == 0) rc = exchange_edges(c, n, sources, degrees, count, destinations, weights, &t);
    if (rc == 0) rc = make_dist(c, t, hints, comm_dist_graph);
    return shoal_leave_comm(rc, c);
}

int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Dist_graph_neighbors_count");
    if (rc == 0) rc = shoal_arg_topo(comm, MPI_DIST_GRAPH, &c);
    if (rc == 0) rc = shoal_arg_pointer(indegree, "indegree");
    if (rc == 0) rc = shoal_arg_pointer(outdegree, "outdegree");
    if (rc == 0) rc = shoal_arg_pointer(weighted, "weighted");
    if (rc == 0) {
        *indegree = c->topo->indegree;
        *outdegree = c->topo->outdegree;
        *weighted = c->topo->weighted;
    }
    return shoal_leave_comm(rc, c);
}

// One side's ranks and, where the graph has weights and the user wants them, weights.
static int give_side(int room, int n, const int *ranks, int *to, const int *weights,
                     int *weights_to, const char *name)
{
    int rc = shoal_arg_room(room, n, to, name);
    if (rc) return rc;
    give(room, n, ranks, to);
    if (weights && weights_to && weights_to != MPI_UNWEIGHTED && weights_to != MPI_WEIGHTS_EMPTY)
        give(room, n, weights, weights_to);
    return 0;
}

int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[],
                              int maxoutdegree, int destinations[], int destweights[])
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Dist_graph_neighbors");
    if (rc == 0) rc = shoal_arg_topo(comm, MPI_DIST_GRAPH, &c);
    if (rc == 0) {
        const shoal_topo *t = c->topo;
        rc = give_side(maxindegree, t->indegree, t->sources, sources,
                       t->weighted ? t->source_weights : NULL, sourceweights, "sources");
        if (rc == 0)
            rc = give_side(maxoutdegree, t->outdegree, t->targets, destinations,
                           t->weighted ? t->target_weights : NULL, destweights, "destinations");
    }
    return shoal_leave_comm(rc, c);
}

#include "weak_topo_graph.h"
