// SPDX-License-Identifier: BSD-3-Clause
// Long non-blocking sums and prefixes with more ranks than cores: as in shm_chain.h the sum of a
// piece, a link, goes from rank to rank, and each adds its own to it; but nobody waits: a rank does
// what it can whenever the engine looks. There are a few places for links, used round and round, in
// one of a few rooms. A rank says in its slot how many links it has added to, and
// how many it has taken the sum of.
#ifndef SHOAL_COLL_SHM_LATER_CHAIN_H
#define SHOAL_COLL_SHM_LATER_CHAIN_H

#include "coll/shm_later_call.h"

// Does the sum of vectors of so many bytes go so? Then plans it; all ranks see that alike.
bool shoal_later_chain_plan(shoal_later *, int64_t bytes);
// Does this rank wait for another at all?
bool shoal_later_chain_waits(const shoal_later *);
// When its epoch is known.
void shoal_later_chain_take_room(shoal_later *);
// Before the slot is published for the first time.
void shoal_later_chain_begin(const shoal_later *);
// Does what can be done; true when nothing is left to do, or a rank has been found strange.
bool shoal_later_chain_move(shoal_later *);
// Is there something to do?
bool shoal_later_chain_can_move(shoal_later *);
// The rank that this one waits for.
int shoal_later_chain_missing(shoal_later *);

#endif
