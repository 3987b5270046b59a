// SPDX-License-Identifier: BSD-3-Clause
// How the entry points of collectives are written. Each collective has one function that fills in a
// shoal_coll_args; its blocking, non-blocking and persistent entry points call it with their form:
//
//     static int bcast(const shoal_coll_form *f, void *buffer, ..., MPI_Comm comm)
//     {
//         shoal_coll_args a = {.kind = SHOAL_COLL_BCAST, .root = root};
//         int rc = shoal_coll_enter(f, comm, &a);
//         if (rc == 0) rc = shoal_coll_arg_root(&a);
//         ...
//         return shoal_coll_leave(rc, f, &a);
//     }
#ifndef SHOAL_API_COLL_ARGS_H
#define SHOAL_API_COLL_ARGS_H

#include "api/api.h"
#include "coll/coll.h"

typedef struct shoal_coll_form {
    const char *call;
    bool blocking, persistent;
    MPI_Info info;
    MPI_Request *request;
} shoal_coll_form;

// Handed on by address: a struct that is copied just after it has been written is slow to read.
#define SHOAL_BLOCKING(name)   (&(const shoal_coll_form){.call = (name), .blocking = true})
#define SHOAL_STARTED(name, r) (&(const shoal_coll_form){.call = (name), .request = (r)})
#define SHOAL_PERSISTENT(name, i, r)                                                               \
    (&(const shoal_coll_form){.call = (name), .persistent = true, .info = (i), .request = (r)})

// Enters the call and resolves the communicator.
int shoal_coll_enter(const shoal_coll_form *, MPI_Comm, shoal_coll_args *);
// Does the collective if rc is 0, and leaves.
int shoal_coll_leave(int rc, const shoal_coll_form *, shoal_coll_args *);

// The root is a rank; on an inter-communicator one of the remote group, MPI_ROOT or MPI_PROC_NULL.
int shoal_coll_arg_root(const shoal_coll_args *);
// Which side of a rooted collective this rank is on; on an intra-communicator the root is on both.
bool shoal_coll_is_root(const shoal_coll_args *);
bool shoal_coll_is_leaf(const shoal_coll_args *);

// Fills in and checks the data. One block to send or receive, or `blocks` of the same size.
int shoal_coll_arg_send(shoal_coll_args *, const void *buf, MPI_Count count, MPI_Datatype,
                        int blocks);
int shoal_coll_arg_recv(shoal_coll_args *, void *buf, MPI_Count count, MPI_Datatype, int blocks);
// Blocks of their own sizes at displacements in elements.
int shoal_coll_arg_sends(shoal_coll_args *, const void *buf, const MPI_Count counts[],
                         const MPI_Aint displs[], MPI_Datatype, int blocks);
int shoal_coll_arg_recvs(shoal_coll_args *, void *buf, const MPI_Count counts[],
                         const MPI_Aint displs[], MPI_Datatype, int blocks);
// The same with types of their own, at displacements in bytes.
int shoal_coll_arg_sends_w(shoal_coll_args *, const void *buf, const MPI_Count counts[],
                           const MPI_Aint displs[], const MPI_Datatype types[], int blocks);
int shoal_coll_arg_recvs_w(shoal_coll_args *, void *buf, const MPI_Count counts[],
                           const MPI_Aint displs[], const MPI_Datatype types[], int blocks);

// MPI_IN_PLACE as the named buffer: taken over where it is allowed.
int shoal_coll_arg_in_place(shoal_coll_args *, bool allowed, const char *argument);

// One block is sent to everybody from whom one is received: what a rank sends must be as long as
// what it receives. Not on an inter-communicator, where the groups may differ.
int shoal_coll_arg_even(const shoal_coll_args *);

// Block `i` to be received must not lie where block `k` to be sent lies (-1: there is one block).
int shoal_coll_arg_apart(const shoal_coll_args *, int k, int i);

#endif
