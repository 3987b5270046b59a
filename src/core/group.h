// SPDX-License-Identifier: BSD-3-Clause
// A group: an ordered set of peers. A peer is a process known to this one, by its index in the
// job's peer table (the ranks of MPI_COMM_WORLD are peers 0 .. n-1 in that order).
#ifndef SHOAL_CORE_GROUP_H
#define SHOAL_CORE_GROUP_H

#include <mpi.h>
#include <stdint.h>

#include "core/object.h"

typedef struct shoal_group {
    shoal_object object;
    MPI_Group handle;  // MPI_GROUP_EMPTY or the ticket
    int size;
    int rank;          // of this process, or MPI_UNDEFINED
    uint32_t *peers;   // rank -> peer
    void *session;     // shoal_session * the group was made from, or NULL
} shoal_group;

shoal_group *shoal_group_get(MPI_Group);
int shoal_group_init(void);

// A group of `size` peers (copied). One reference, the caller's; NULL after shoal_fail().
shoal_group *shoal_group_new(int size, const uint32_t *peers);
static inline void shoal_group_hold(shoal_group *g)
{
    g->object.refs++;
}
void shoal_group_drop(shoal_group *);

// The rank of a peer in the group, or MPI_UNDEFINED.
int shoal_group_rank_of(const shoal_group *, uint32_t peer);

// MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
int shoal_group_compare(const shoal_group *, const shoal_group *);

#endif
