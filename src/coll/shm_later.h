// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collectives of little data, and sums of a crowd of any length, without messages: who
// starts one shows what it has in its slot of the call's epoch, and takes what the others show when
// they have done so, whenever the engine looks. Nobody waits in the call itself.
#ifndef SHOAL_COLL_SHM_LATER_H
#define SHOAL_COLL_SHM_LATER_H

#include "coll/coll.h"

// Begins it if it is one of these, which all ranks see alike; false if not. *out is set unless
// *rc_out tells of a recorded failure.
bool shoal_later_start(const shoal_coll_args *, const shoal_arena_mark *, shoal_req **out,
                       int *rc_out);

// The communicator is gone, though maybe with calls that were never waited for.
void shoal_later_forget(shoal_arena *);

#endif
