// SPDX-License-Identifier: BSD-3-Clause
// Virtual topologies: a grid, a graph that every rank knows whole, or a graph of which each rank
// knows its own edges. A topology never changes; a communicator and its duplicates share one.
#ifndef SHOAL_TOPO_TOPO_H
#define SHOAL_TOPO_TOPO_H

#include <mpi.h>
#include <stdbool.h>

#include "core/comm.h"

struct shoal_topo {
    int refs;
    int kind; // MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH
    // MPI_CART: row-major, the last dimension runs fastest.
    int ndims;
    int *dims, *periods;
    int *coords; // of this rank
    // MPI_GRAPH: edges[index[r - 1]] .. edges[index[r] - 1] are the neighbours of rank r.
    int nnodes, nedges;
    int *index, *edges;
    // This rank's neighbours in the order of neighbourhood collectives; MPI_PROC_NULL beyond the
    // border of a grid. Grids and graphs have the same ones for both directions.
    int indegree, outdegree;
    int *sources, *targets;
    bool weighted; // MPI_DIST_GRAPH
    int *source_weights, *target_weights;
    int ints[]; // all the arrays above
};

// New topologies with one reference; arguments have been checked. `rank` is this process's in the
// communicator to be. SHOAL_E_NO_MEM, or 0.
int shoal_topo_new_cart(int ndims, const int dims[], const int periods[], int rank,
                        shoal_topo **out);
int shoal_topo_new_graph(int nnodes, const int index[], const int edges[], int rank,
                         shoal_topo **out);
// Weights may be NULL when it is not weighted, or when there are none.
int shoal_topo_new_dist_graph(int indegree, const int sources[], const int source_weights[],
                              int outdegree, const int targets[], const int target_weights[],
                              bool weighted, shoal_topo **out);
void shoal_topo_drop(shoal_topo *);

// Gives a communicator its topology (the caller's reference); or the one that another has, if any.
void shoal_topo_attach(shoal_comm *, shoal_topo *);
void shoal_topo_share(shoal_comm *, const shoal_comm *from);

// The neighbours for neighbourhood collectives; SHOAL_E_TOPOLOGY when the communicator has no
// topology. The arrays live as long as the communicator.
int shoal_topo_neighbors(const shoal_comm *, int *nin, const int **in, int *nout, const int **out);

// Checks of constructor arguments: a text with values, and SHOAL_E_DIMS, _ARG or _TOPOLOGY. The
// number of ranks that the grid has is told.
int shoal_cart_check(int ndims, const int dims[], int comm_size, int *size_out);
int shoal_graph_check(int nnodes, const int index[], const int edges[], int comm_size);

// Coordinates and ranks of a grid. A coordinate outside is wrapped in a periodic dimension,
// otherwise SHOAL_E_ARG.
void shoal_cart_coords(const shoal_topo *, int rank, int coords[]);
int shoal_cart_rank(const shoal_topo *, const int coords[], int *rank_out);
// The ranks at a distance along a dimension, MPI_PROC_NULL beyond the border.
void shoal_cart_shift(const shoal_topo *, int direction, int disp, int *source_out, int *dest_out);
// The ranks of the sub-grid that this rank is in: those with the same coordinates in all dimensions
// that do not remain; in the order of the sub-grid. Returns how many.
int shoal_cart_sub_ranks(const shoal_topo *, const int remain[], int ranks_out[]);

// Fills the zeros of dims so that the product is nnodes and the numbers are as near to each other
// as its divisors allow, the largest first.
int shoal_dims_create(int nnodes, int ndims, int dims[]);

#endif
