// SPDX-License-Identifier: BSD-3-Clause
// What the entry points of topologies share.
#ifndef SHOAL_API_TOPO_ARGS_H
#define SHOAL_API_TOPO_ARGS_H

#include "api/api.h"
#include "coll/comm_make.h"
#include "topo/topo.h"

// A communicator with a topology of the kind; *c_out is set as soon as the communicator exists.
int shoal_arg_topo(MPI_Comm, int kind, shoal_comm **c_out);
// A rank of the communicator itself.
int shoal_arg_topo_rank(int rank, const shoal_comm *);
// An array with room for some of what is needed.
int shoal_arg_room(int room, int needed, const void *array, const char *name);

// A communicator of the first `size` ranks, NULL on the others. Collective.
int shoal_topo_make(shoal_comm *, int size, shoal_comm **out);

// Puts both together for the user; NULL is MPI_COMM_NULL.
static inline MPI_Comm shoal_topo_give(shoal_comm *c, shoal_topo *t)
{
    if (!c) return MPI_COMM_NULL;
    shoal_topo_attach(c, t);
    return c->handle;
}

#endif
