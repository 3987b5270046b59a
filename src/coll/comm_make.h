// SPDX-License-Identifier: BSD-3-Clause
// Making communicators out of others and out of groups. Each function is collective over those that
// the standard says, runs under the engine lock and blocks unless it says otherwise. New
// communicators have one reference, the user's; NULL stands for MPI_COMM_NULL. Arguments that only
// concern one rank have been checked; what needs the groups (a group that is not a subset) is
// checked here.
#ifndef SHOAL_COLL_COMM_MAKE_H
#define SHOAL_COLL_COMM_MAKE_H

#include "coll/agree.h"
#include "core/request.h"

// Gives a new intra-communicator what its members have agreed on. Every new one passes through
// here, the one inside an inter-communicator too.
int shoal_comm_finish(shoal_comm *, uint64_t context, uint64_t arena);

// A communicator of the circle's members. It inherits the error handler and the session of
// `parent` (may be NULL). For an inter-communicator `bridge` leads to the other group's leader.
int shoal_comm_make(const shoal_circle *, const shoal_bridge *, const shoal_comm *parent,
                    shoal_group *group, shoal_group *remote, shoal_comm **out);

// Takes over the error handler and the session of another communicator.
void shoal_comm_inherit(shoal_comm *, const shoal_comm *parent);

// Duplicates without blocking; attributes are copied now, by their callbacks. The new communicator
// may be used when the request is done. When a callback fails its code is in *user_error_out and
// the other ranks are not kept waiting.
int shoal_comm_idup(shoal_comm *, shoal_comm **out, shoal_req **req_out, int *user_error_out);

int shoal_comm_create(shoal_comm *, shoal_group *, shoal_comm **out);
int shoal_comm_create_group(shoal_comm *, shoal_group *, int tag, shoal_comm **out);
int shoal_comm_create_from_group(shoal_group *, const char *stringtag, shoal_comm **out);

// `color` may be MPI_UNDEFINED. Ranks are ordered by key, and by old rank where keys are equal.
int shoal_comm_split(shoal_comm *, int color, int key, shoal_comm **out);

// Inter-communicators. `peer` is read by the leader alone.
int shoal_intercomm_create(shoal_comm *local, int leader, shoal_comm *peer, int remote_leader,
                           int tag, shoal_comm **out);
int shoal_intercomm_create_from_groups(shoal_group *local, int leader, shoal_group *remote,
                                       int remote_leader, const char *stringtag, shoal_comm **out);
int shoal_intercomm_merge(shoal_comm *, bool high, shoal_comm **out);

// Split and create of an inter-communicator; the functions above come here.
int shoal_intercomm_split(shoal_comm *, int color, int key, shoal_comm **out);
int shoal_intercomm_create_sub(shoal_comm *, shoal_group *, shoal_comm **out);

// One rank's wish in a split, and the places of a table of them that have the color, in key order.
typedef struct shoal_wish {
    int color, key;
} shoal_wish;
int shoal_wish_members(const shoal_wish *table, int n, int color, int *ranks_out);

// A subset of a communicator's local group as ranks; SHOAL_E_GROUP when a member is not in it.
int shoal_comm_subset(const shoal_comm *, const shoal_group *, int *ranks_out);

// A communicator over a group that needs no parent: its context comes from the words, so all who
// say the same words about the same group can talk at once. For making others only.
int shoal_comm_vessel(shoal_group *, const char *words, shoal_circle *circle_out);

#endif
