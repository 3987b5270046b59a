// SPDX-License-Identifier: BSD-3-Clause
// A collective call with its arguments resolved and checked, in one form for all of them; and the
// two ways to make one happen. What a collective does not have stays zero.
#ifndef SHOAL_COLL_COLL_H
#define SHOAL_COLL_COLL_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "coll/mark.h"
#include "core/comm.h"
#include "core/datatype.h"
#include "core/op.h"
#include "core/request.h"

// Whom a rank exchanges data with in a neighbourhood collective.
typedef struct shoal_neighbors {
    int in_count, out_count;
    const int *in, *out;
    bool cartesian;   // in and out come in pairs, down and up in each dimension
    bool same_to_all; // one block goes to all: the allgather forms
} shoal_neighbors;

typedef struct shoal_coll_args {
    enum shoal_coll_kind kind;
    const char *call; // "MPI_Bcast"
    shoal_comm *comm;
    int root;            // rank, MPI_ROOT, MPI_PROC_NULL, or SHOAL_NO_ROOT
    const void *sendbuf; // MPI_IN_PLACE possible; bcast has its buffer in recvbuf
    int64_t sendcount;   // of one block; reductions: of the vector (in recvcount, recvtype as well)
    shoal_datatype *sendtype;
    void *recvbuf;
    int64_t recvcount;
    shoal_datatype *recvtype;
    // The v and w forms; NULL where blocks lie one after the other. Read only during the call.
    const MPI_Count *sendcounts, *recvcounts;
    const MPI_Aint *senddispls, *recvdispls;
    shoal_datatype *const *sendtypes, *const *recvtypes; // then displacements are in bytes
    shoal_op *op;
    shoal_neighbors neighbors;
} shoal_coll_args;

#define SHOAL_NO_ROOT (-100)

// One block of a buffer.
typedef struct shoal_block {
    char *buf;
    int64_t count;
    shoal_datatype *type;
} shoal_block;

// The i-th block of the send and of the receive buffer, for collectives that have several there.
shoal_block shoal_block_to_send(const shoal_coll_args *, int i);
shoal_block shoal_block_to_recv(const shoal_coll_args *, int i);
static inline int64_t shoal_block_bytes(const shoal_block *b)
{
    return b->count * b->type->size;
}

// A recorded failure if what a rank has for itself is longer than where it goes.
int shoal_check_own(int64_t bytes, int64_t room);

// Where element `count` of a typed buffer lies.
static inline char *shoal_element(const void *buf, int64_t count, const shoal_datatype *t)
{
    return (char *)((uintptr_t)buf + (uintptr_t)(count * t->extent));
}

// Does it, now. 0, a recorded failure, or the MPI code (> 0) of a message that failed.
int shoal_coll_run(const shoal_coll_args *);

// Makes a request that does it: begun, or to be started if persistent. Nothing of the arguments but
// the data buffers is needed after the return.
int shoal_coll_request(const shoal_coll_args *, bool persistent, shoal_req **out);

#endif
