// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives whose messages need no schedule: see coll/direct.c.
#ifndef SHOAL_COLL_DIRECT_H
#define SHOAL_COLL_DIRECT_H

#include "coll/coll.h"

// Does the call, which has been announced with this mark, if it is one that this way knows and its
// messages allow it; *rc_out is the result then. False: nothing has happened.
bool shoal_direct_run(const shoal_coll_args *, const shoal_arena_mark *, int *rc_out);

#endif
