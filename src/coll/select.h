// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm runs when, and ways that need no schedule.
#ifndef SHOAL_COLL_SELECT_H
#define SHOAL_COLL_SELECT_H

#include "coll/coll.h"
#include "coll/schedule.h"

// Appends the steps of a collective by the algorithm that suits its size.
void shoal_coll_build(shoal_schedule *, const shoal_coll_args *);

// Holds the datatypes of the call for as long as the schedule lives.
void shoal_coll_keep_types(shoal_schedule *, const shoal_coll_args *);

// A way of doing a blocking collective on an intra-communicator at once, without messages. It must
// decide from what all ranks know whether it applies: false leaves everything to the schedule.
// Otherwise *rc_out is the result.
typedef bool shoal_coll_fast_fn(const shoal_coll_args *, int *rc_out);

// From so many ranks on small blocks are gathered and scattered by a tree.
#define SHOAL_TREE_RANKS 32

#endif
