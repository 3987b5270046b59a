// SPDX-License-Identifier: BSD-3-Clause
// Topology objects: one block of memory each, shared by counting references.
#include "topo/topo.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "plat/error.h"

static shoal_topo *new_topo(int kind, size_t ints)
{
    shoal_topo *t = calloc(1, sizeof *t + ints * sizeof t->ints[0]);
    if (!t) {
        shoal_fail(SHOAL_E_NO_MEM, "no memory for a topology of %zu numbers", ints);
        return NULL;
    }
    t->refs = 1;
    t->kind = kind;
    return t;
}

// Copies an array into the block, and moves on.
static int *put(int **at, const int *from, int n)
{
    int *to = *at;
    if (from && n > 0) memcpy(to, from, (size_t)n * sizeof *to);
    *at += n;
    return to;
}

int shoal_topo_new_cart(int ndims, const int dims[], const int periods[], int rank,
                        shoal_topo **out)
{
    shoal_topo *t = new_topo(MPI_CART, 5 * (size_t)ndims);
    if (!t) return SHOAL_E_NO_MEM;
    int *at = t->ints;
    t->ndims = ndims;
    t->dims = put(&at, dims, ndims);
    t->periods = put(&at, periods, ndims);
    for (int i = 0; i < ndims; i++) t->periods[i] = t->periods[i] != 0;
    t->coords = put(&at, NULL, ndims);
    shoal_cart_coords(t, rank, t->coords);
    t->indegree = t->outdegree = 2 * ndims;
    t->sources = t->targets = at;
    for (int i = 0; i < ndims; i++) shoal_cart_shift(t, i, 1, &at[2 * i], &at[2 * i + 1]);
    *out = t;
    return 0;
}

int shoal_topo_new_graph(int nnodes, const int index[], const int edges[], int rank,
                         shoal_topo **out)
{
    int nedges = nnodes > 0 ? index[nnodes - 1] : 0;
    shoal_topo *t = new_topo(MPI_GRAPH, (size_t)nnodes + (size_t)nedges);
    if (!t) return SHOAL_E_NO_MEM;
    int *at = t->ints;
    t->nnodes = nnodes;
    t->nedges = nedges;
    t->index = put(&at, index, nnodes);
    t->edges = put(&at, edges, nedges);
    int first = rank > 0 ? t->index[rank - 1] : 0;
    t->indegree = t->outdegree = t->index[rank] - first;
    t->sources = t->targets = t->edges + first;
    *out = t;
    return 0;
}

int shoal_topo_new_dist_graph(int indegree, const int sources[], const int source_weights[],
                              int outdegree, const int targets[], const int target_weights[],
                              bool weighted, shoal_topo **out)
{
    shoal_topo *t = new_topo(MPI_DIST_GRAPH, 2 * ((size_t)indegree + (size_t)outdegree));
    if (!t) return SHOAL_E_NO_MEM;
    int *at = t->ints;
    t->indegree = indegree;
    t->outdegree = outdegree;
    t->weighted = weighted;
    t->sources = put(&at, sources, indegree);
    t->targets = put(&at, targets, outdegree);
    t->source_weights = put(&at, source_weights, indegree);
    t->target_weights = put(&at, target_weights, outdegree);
    *out = t;
    return 0;
}

void shoal_topo_drop(shoal_topo *t)
{
    assert(t->refs > 0);
    if (--t->refs == 0) free(t);
}

static void forget_comm(shoal_comm *c)
{
    if (c->topo) shoal_topo_drop(c->topo);
    c->topo = NULL;
}

void shoal_topo_attach(shoal_comm *c, shoal_topo *t)
{
    assert(!c->topo);
    shoal_comm_on_gone(forget_comm);
    c->topo = t;
}

void shoal_topo_share(shoal_comm *c, const shoal_comm *from)
{
    if (!from->topo) return;
    from->topo->refs++;
    shoal_topo_attach(c, from->topo);
}

int shoal_topo_neighbors(const shoal_comm *c, int *nin, const int **in, int *nout, const int **out)
{
    const shoal_topo *t = c->topo;
    if (!t)
        return shoal_fail(SHOAL_E_TOPOLOGY,
                          "%s has no topology: neighbourhoods need a communicator of "
                          "MPI_Cart_create, MPI_Graph_create or MPI_Dist_graph_create",
                          shoal_comm_label(c));
    *nin = t->indegree;
    *in = t->sources;
    *nout = t->outdegree;
    *out = t->targets;
    return 0;
}

int shoal_graph_check(int nnodes, const int index[], const int edges[], int comm_size)
{
    if (nnodes < 0) return shoal_fail(SHOAL_E_ARG, "nnodes is %d", nnodes);
    if (nnodes > comm_size)
        return shoal_fail(SHOAL_E_ARG, "the graph has %d nodes, the communicator %d ranks", nnodes,
                          comm_size);
    if (nnodes > 0 && !index) return shoal_fail(SHOAL_E_ARG, "index is a null pointer");
    for (int i = 0; i < nnodes; i++)
        if (index[i] < (i > 0 ? index[i - 1] : 0))
            return shoal_fail(SHOAL_E_ARG,
                              "index[%d]=%d is less than %d: it counts the edges of nodes 0 .. %d",
                              i, index[i], i > 0 ? index[i - 1] : 0, i);
    int nedges = nnodes > 0 ? index[nnodes - 1] : 0;
    if (nedges > 0 && !edges) return shoal_fail(SHOAL_E_ARG, "edges is a null pointer");
    for (int i = 0; i < nedges; i++)
        if (edges[i] < 0 || edges[i] >= nnodes)
            return shoal_fail(SHOAL_E_ARG, "edges[%d]=%d is not a node of the graph, which has %d",
                              i, edges[i], nnodes);
    return 0;
}
