// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives in the arena of an intra-communicator (comm->arena is not NULL). Arguments
// have been checked; sizes are equal on all ranks, as the standard demands. All ranks come to the
// same function with the same bytes; datatypes may differ from rank to rank.
#ifndef SHOAL_COLL_SHM_COLL_H
#define SHOAL_COLL_SHM_COLL_H

#include "coll/shm_blocks.h"
#include "core/comm.h"
#include "core/datatype.h"
#include "core/op.h"

int shoal_shm_barrier(shoal_comm *);
int shoal_shm_bcast(shoal_comm *, void *buf, int64_t count, shoal_datatype *, int root);

// For predefined operations on dense datatypes (shoal_op_kernel() is not NULL). `in` is the
// contribution, and may be the same memory as `out`.
int shoal_shm_reduce(shoal_comm *, const void *in, void *out, int64_t count, shoal_datatype *,
                     shoal_op *, int root);
int shoal_shm_allreduce(shoal_comm *, const void *in, void *out, int64_t count, shoal_datatype *,
                        shoal_op *);

// The same for prefixes, and for vectors that are dealt out in pieces of `counts` elements, or
// `count` each if that is NULL.
int shoal_shm_scan(shoal_comm *, const void *in, void *out, int64_t count, shoal_datatype *,
                   shoal_op *, bool exclusive);
int shoal_shm_reduce_scatter(shoal_comm *, const void *in, void *out, const MPI_Count *counts,
                             int64_t count, shoal_datatype *, shoal_op *);

// Blocks of equal bytes. MPI_IN_PLACE where the standard allows it.
int shoal_shm_allgather(shoal_comm *, const void *in, int64_t in_count, shoal_datatype *in_type,
                        void *out, int64_t out_count, shoal_datatype *out_type);
// Blocks of any length, of which `out` has one for each rank: all know the longest and the total.
int shoal_shm_allgatherv(shoal_comm *, const void *in, int64_t in_count, shoal_datatype *in_type,
                         const shoal_blocks *out, int64_t longest, int64_t total);
// `pool`: if blocks do not go straight from buffer to buffer, they shall go through the pool; else
// nothing is done.
int shoal_shm_gather(shoal_comm *, const void *in, int64_t in_count, shoal_datatype *in_type,
                     void *out, int64_t out_count, shoal_datatype *out_type, int root, bool pool,
                     bool *done);
int shoal_shm_scatter(shoal_comm *, const void *in, int64_t in_count, shoal_datatype *in_type,
                      void *out, int64_t out_count, shoal_datatype *out_type, int root, bool pool,
                      bool *done);
int shoal_shm_alltoall(shoal_comm *, const void *in, int64_t in_count, shoal_datatype *in_type,
                       void *out, int64_t out_count, shoal_datatype *out_type);

#endif
