// SPDX-License-Identifier: BSD-3-Clause
// Blocking gatherv, scatterv, alltoallv and alltoallw of a crowd in the arena, and alltoall of
// blocks of medium length: see shm_uneven.c.
#ifndef SHOAL_COLL_SHM_UNEVEN_H
#define SHOAL_COLL_SHM_UNEVEN_H

#include "coll/coll.h"

// Is it such a call, with an arena and more ranks than cores? (Not if it is an alltoallv or
// alltoallw in place.) All ranks think the same.
bool shoal_uneven_applies(const shoal_coll_args *);

// Does such a call, which has been announced with this mark: 0, a recorded failure, or the MPI code
// of a message.
int shoal_uneven_run(const shoal_coll_args *, const shoal_arena_mark *);

#endif
