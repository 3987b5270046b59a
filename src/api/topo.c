// SPDX-License-Identifier: BSD-3-Clause
// Topologies of all kinds: which it is, its neighbours for the int twins; and grids.
#include "topo/topo.h"

#include <stdlib.h>

#include "api/api.h"
#include "api/topo_args.h"
#include "api/twin.h"

int shoal_twin_indegree(MPI_Comm comm)
{
    const shoal_comm *c = shoal_comm_get(comm);
    return c && c->topo ? c->topo->indegree : 0;
}

int shoal_twin_outdegree(MPI_Comm comm)
{
    const shoal_comm *c = shoal_comm_get(comm);
    return c && c->topo ? c->topo->outdegree : 0;
}

int shoal_arg_topo(MPI_Comm comm, int kind, shoal_comm **c_out)
{
    static const char *const made_by[] = {"MPI_Cart_create", "MPI_Graph_create",
                                          "MPI_Dist_graph_create"};
    shoal_comm *c = NULL;
    int rc = shoal_arg_comm(comm, &c);
    if (rc) return rc;
    *c_out = c; // also when it is the wrong kind: its error handler is the one to call
    if (c->topo && c->topo->kind == kind) return 0;
    return shoal_fail(SHOAL_E_TOPOLOGY, "%s was not made by %s", shoal_comm_label(c),
                      made_by[kind == MPI_CART    ? 0
                              : kind == MPI_GRAPH ? 1
                                                  : 2]);
}

int shoal_arg_topo_rank(int rank, const shoal_comm *c)
{
    if (rank >= 0 && rank < c->size) return 0;
    return shoal_fail(SHOAL_E_RANK, "rank %d is outside %s, which has %d rank%s", rank,
                      shoal_comm_label(c), c->size, c->size == 1 ? "" : "s");
}

int shoal_arg_room(int room, int needed, const void *array, const char *name)
{
    if (room < 0) return shoal_fail(SHOAL_E_ARG, "the room for %s is %d", name, room);
    return room > 0 && needed > 0 ? shoal_arg_pointer(array, name) : 0;
}

int shoal_topo_make(shoal_comm *c, int size, shoal_comm **out)
{
    int range[1][3] = {{0, size - 1, 1}};
    shoal_group *g = NULL;
    int rc = shoal_group_range_incl(c->group, size > 0 ? 1 : 0, range, &g);
    if (rc) return rc;
    rc = shoal_comm_create(c, g, out);
    shoal_group_drop(g);
    return rc;
}

int PMPI_Topo_test(MPI_Comm comm, int *status)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Topo_test");
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = shoal_arg_pointer(status, "status");
    if (rc == 0) *status = c->topo ? c->topo->kind : MPI_UNDEFINED;
    return shoal_leave_comm(rc, c);
}

int PMPI_Dims_create(int nnodes, int ndims, int dims[])
{
    int rc = shoal_enter("MPI_Dims_create");
    if (rc == 0) rc = shoal_dims_create(nnodes, ndims, dims);
    return shoal_leave(rc);
}

// A grid over a new communicator; ranks beyond it get MPI_COMM_NULL.
static int make_cart(shoal_comm *c, int ndims, const int dims[], const int periods[], int size,
                     MPI_Comm *comm_cart)
{
    shoal_comm *n = NULL;
    shoal_topo *t = NULL;
    int rc = shoal_topo_make(c, size, &n);
    if (rc == 0 && n) rc = shoal_topo_new_cart(ndims, dims, periods, n->rank, &t);
    if (rc == 0)
        *comm_cart = shoal_topo_give(n, t);
    else if (n)
        shoal_comm_drop(n);
    return rc;
}

int PMPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[],
                     int reorder, MPI_Comm *comm_cart)
{
    shoal_comm *c = NULL;
    int size = 0;
    (void)reorder; // every rank is as near to every other
    int rc = shoal_enter("MPI_Cart_create");
    if (rc == 0) rc = shoal_arg_intracomm(comm_old, &c);
    if (rc == 0) rc = shoal_cart_check(ndims, dims, c->size, &size);
    if (rc == 0 && ndims > 0) rc = shoal_arg_pointer(periods, "periods");
    if (rc == 0) rc = shoal_arg_pointer(comm_cart, "comm_cart");
    if (rc == 0) rc = make_cart(c, ndims, dims, periods, size, comm_cart);
    return shoal_leave_comm(rc, c);
}

int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)
{
    shoal_comm *c = NULL;
    int size = 0;
    (void)periods;
    int rc = shoal_enter("MPI_Cart_map");
    if (rc == 0) rc = shoal_arg_intracomm(comm, &c);
    if (rc == 0) rc = shoal_cart_check(ndims, dims, c->size, &size);
    if (rc == 0) rc = shoal_arg_pointer(newrank, "newrank");
    if (rc == 0) *newrank = c->rank < size ? c->rank : MPI_UNDEFINED;
    return shoal_leave_comm(rc, c);
}

int PMPI_Cartdim_get(MPI_Comm comm, int *ndims)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Cartdim_get");
    if (rc == 0) rc = shoal_arg_topo(comm, MPI_CART, &c);
    if (rc == 0) rc = shoal_arg_pointer(ndims, "ndims");
    if (rc == 0) *ndims = c->topo->ndims;
    return shoal_leave_comm(rc, c);
}

int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Cart_get");
    if (rc == 0) rc = shoal_arg_topo(comm, MPI_CART, &c);
    int ndims = rc == 0 ? c->topo->ndims : 0;
    if (rc == 0) rc = shoal_arg_room(maxdims, ndims, dims, "dims");
    if (rc == 0) rc = shoal_arg_room(maxdims, ndims, periods, "periods");
    if (rc == 0) rc = shoal_arg_room(maxdims, ndims, coords, "coords");
    for (int i = 0; rc == 0 && i < ndims && i < maxdims; i++) {
        dims[i] = c->topo->dims[i];
        periods[i] = c->topo->periods[i];
        coords[i] = c->topo->coords[i];
    }
    return shoal_leave_comm(rc, c);
}

int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Cart_rank");
    if (rc == 0) rc = shoal_arg_topo(comm, MPI_CART, &c);
    if (rc == 0 && c->topo->ndims > 0) rc = shoal_arg_pointer(coords, "coords");
    if (rc == 0) rc = shoal_arg_pointer(rank, "rank");
    if (rc == 0) rc = shoal_cart_rank(c->topo, coords, rank);
    return shoal_leave_comm(rc, c);
}

int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Cart_coords");
    if (rc == 0) rc = shoal_arg_topo(comm, MPI_CART, &c);
    if (rc == 0) rc = shoal_arg_topo_rank(rank, c);
    if (rc == 0) rc = shoal_arg_room(maxdims, c->topo->ndims, coords, "coords");
    if (rc == 0 && maxdims < c->topo->ndims)
        rc = shoal_fail(SHOAL_E_ARG, "maxdims is %d, the grid has %d dimensions", maxdims,
                        c->topo->ndims);
    if (rc == 0) shoal_cart_coords(c->topo, rank, coords);
    return shoal_leave_comm(rc, c);
}

int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Cart_shift");
    if (rc == 0) rc = shoal_arg_topo(comm, MPI_CART, &c);
    if (rc == 0 && (direction < 0 || direction >= c->topo->ndims))
        rc = shoal_fail(SHOAL_E_ARG, "direction %d: the grid has %d dimensions, numbered from 0",
                        direction, c->topo->ndims);
    if (rc == 0) rc = shoal_arg_pointer(rank_source, "rank_source");
    if (rc == 0) rc = shoal_arg_pointer(rank_dest, "rank_dest");
    if (rc == 0) shoal_cart_shift(c->topo, direction, disp, rank_source, rank_dest);
    return shoal_leave_comm(rc, c);
}

// The sub-grid that this rank is in. Every rank finds the members by itself.
static int make_sub(shoal_comm *c, const int remain[], MPI_Comm *newcomm)
{
    const shoal_topo *t = c->topo;
    shoal_group *g = NULL;
    shoal_comm *n = NULL;
    shoal_topo *sub = NULL;
    int kept = 0;
    int *memory = malloc(((size_t)c->size + 2 * (size_t)t->ndims) * sizeof *memory);
    if (!memory) return shoal_fail(SHOAL_E_NO_MEM, "no memory for a grid of %d ranks", c->size);
    int *dims = memory + c->size, *periods = dims + t->ndims;
    for (int i = 0; i < t->ndims; i++) {
        if (!remain[i]) continue;
        dims[kept] = t->dims[i];
        periods[kept++] = t->periods[i];
    }
    int rc = shoal_group_incl(c->group, shoal_cart_sub_ranks(t, remain, memory), memory, &g);
    if (rc == 0) rc = shoal_comm_create(c, g, &n);
    if (rc == 0) rc = shoal_topo_new_cart(kept, dims, periods, n->rank, &sub);
    if (rc == 0)
        *newcomm = shoal_topo_give(n, sub);
    else if (n)
        shoal_comm_drop(n);
    if (g) shoal_group_drop(g);
    free(memory);
    return rc;
}

int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Cart_sub");
    if (rc == 0) rc = shoal_arg_topo(comm, MPI_CART, &c);
    if (rc == 0 && c->topo->ndims > 0) rc = shoal_arg_pointer(remain_dims, "remain_dims");
    if (rc == 0) rc = shoal_arg_pointer(newcomm, "newcomm");
    if (rc == 0) rc = make_sub(c, remain_dims, newcomm);
    return shoal_leave_comm(rc, c);
}

#include "weak_topo.h"
