// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives whose messages need no schedule: see coll/direct.c.
#ifndef SHOAL_COLL_DIRECT_H
#define SHOAL_COLL_DIRECT_H

#include "coll/coll.h"
#include "p2p/p2p.h"

// Does the call, which has been announced with this mark, if it is one that this way knows and its
// messages allow it; *rc_out is the result then. False: nothing has happened.
bool shoal_direct_run(const shoal_coll_args *, const shoal_arena_mark *, int *rc_out);

// The part of it that does alltoallv and alltoallw: see coll/direct_exchange.c.
bool shoal_direct_exchange(const shoal_coll_args *, const shoal_arena_mark *, int *rc_out);

// One block of the call as a message.
shoal_message_args shoal_direct_message(const shoal_coll_args *, const shoal_block *, int rank,
                                        int tag);

// The same, if it can be sent at once, or comes in a moment; false:
// nothing has happened.
bool shoal_direct_send(const shoal_coll_args *, const shoal_block *, int to, int tag);
bool shoal_direct_recv(const shoal_coll_args *, const shoal_block *, int from, int tag);

#endif
