// SPDX-License-Identifier: BSD-3-Clause
// A group: an ordered set of peers. A peer is a process known to this one, by its index in the
// job's peer table (the ranks of MPI_COMM_WORLD are peers 0 .. n-1 in that order).
#ifndef SHOAL_CORE_GROUP_H
#define SHOAL_CORE_GROUP_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/object.h"

struct shoal_session;

typedef struct shoal_group {
    shoal_object object;
    MPI_Group handle; // MPI_GROUP_EMPTY or the ticket
    int size;
    int rank;         // of this process, or MPI_UNDEFINED
    uint32_t *peers;  // rank -> peer
    void *session;    // shoal_session * the group was made from (held), or NULL
    uint32_t handles; // how many of the references are the user's
    bool identity;    // rank and peer are the same number
    uint32_t low;     // peer -> rank, made when first needed: ranks[peer - low], -1: not a member
    uint32_t span;
    int *ranks;
} shoal_group;

// The peer that this process is; set before the first group is made.
extern uint32_t shoal_self_peer;

// The group behind a handle that the user has not freed, MPI_GROUP_EMPTY included; NULL otherwise.
shoal_group *shoal_group_get(MPI_Group);
int shoal_group_init(void);

// A group of `size` distinct peers (copied). One reference, the caller's; NULL after shoal_fail().
// No peers give the one empty group.
shoal_group *shoal_group_new(int size, const uint32_t *peers);

// Remembers the session that a group comes from, and keeps that session's object.
void shoal_group_set_session(shoal_group *, struct shoal_session *);

static inline void shoal_group_hold(shoal_group *g)
{
    g->object.refs++;
}
void shoal_group_drop(shoal_group *);

// Turns the caller's reference into a handle of the user's: for a new group as it is, for one
// that an object keeps (MPI_Comm_group) after shoal_group_hold(). MPI_Group_free takes it back.
MPI_Group shoal_group_give(shoal_group *);
void shoal_group_take_back(shoal_group *);

// The rank of a peer in the group, or MPI_UNDEFINED. Constant time, except for the first question
// to a large group.
int shoal_group_rank_of(const shoal_group *, uint32_t peer);

// MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
int shoal_group_compare(const shoal_group *, const shoal_group *);

// New groups out of old ones, with one reference, the caller's. Arguments are checked: a rank
// outside or named twice is SHOAL_E_RANK, a bad range SHOAL_E_ARG.
int shoal_group_incl(const shoal_group *, int n, const int ranks[], shoal_group **out);
int shoal_group_excl(const shoal_group *, int n, const int ranks[], shoal_group **out);
int shoal_group_range_incl(const shoal_group *, int n, int ranges[][3], shoal_group **out);
int shoal_group_range_excl(const shoal_group *, int n, int ranges[][3], shoal_group **out);
int shoal_group_union(const shoal_group *, const shoal_group *, shoal_group **out);
int shoal_group_intersection(const shoal_group *, const shoal_group *, shoal_group **out);
int shoal_group_difference(const shoal_group *, const shoal_group *, shoal_group **out);

#endif
