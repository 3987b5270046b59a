// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a communicator must agree on when they make a collective call. Each call is
// announced with its mark, so that a mismatch can be told instead of hanging.
#ifndef SHOAL_COLL_SIGNATURE_H
#define SHOAL_COLL_SIGNATURE_H

#include "coll/coll.h"

shoal_arena_mark shoal_signature_make(const shoal_coll_args *);

// Announces a collective before its first message. A mismatch is a recorded failure. _end follows when the
// call has done its part: all of a blocking one, the start of the others.
int shoal_signature_begin(shoal_comm *, const shoal_arena_mark *);
void shoal_signature_end(shoal_comm *, const shoal_arena_mark *);

#endif
