// SPDX-License-Identifier: BSD-3-Clause
// The ways without messages that select.c knows: see coll/fast.c.
#ifndef SHOAL_COLL_FAST_H
#define SHOAL_COLL_FAST_H

#include "coll/select.h"

shoal_coll_fast_fn shoal_fast_barrier, shoal_fast_bcast, shoal_fast_reduce, shoal_fast_allreduce,
    shoal_fast_allgather, shoal_fast_allgatherv, shoal_fast_alltoall, shoal_fast_gather,
    shoal_fast_scatter, shoal_fast_scan, shoal_fast_reduce_scatter;

// For a communicator with one rank: coll/alone.c.
shoal_coll_fast_fn shoal_fast_alone;

#endif
