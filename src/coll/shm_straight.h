// SPDX-License-Identifier: BSD-3-Clause
// Long blocks of a collective can go straight from buffer to buffer, through the kernel, or be
// copied twice through shared memory. Rank 0 finds out which has been faster, what the program does
// between the calls included (core/ways.h): a call takes all ranks about as long, and if each had
// its own opinion those that happen to be wrong would decide.
#ifndef SHOAL_COLL_SHM_STRAIGHT_H
#define SHOAL_COLL_SHM_STRAIGHT_H

#include "coll/arena.h"
#include "coll/mark.h"

// At the beginning of a call that has the choice: does this rank agree?
bool shoal_straight_wanted(shoal_arena *, enum shoal_coll_kind, int64_t bytes);
// And how it was tried: `straight` also if that did not work out in the end.
void shoal_straight_went(shoal_arena *, bool straight);

#endif
