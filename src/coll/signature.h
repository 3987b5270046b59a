// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a communicator must agree on when they make a collective call. Each call is
// announced with its mark, so that a mismatch can be told instead of hanging.
#ifndef SHOAL_COLL_SIGNATURE_H
#define SHOAL_COLL_SIGNATURE_H

#include "coll/coll.h"
#include "coll/mark.h"

shoal_arena_mark shoal_signature_make(const shoal_coll_args *, enum shoal_mark_form);

// Announces a collective call to the other ranks, before anything is done for it.
void shoal_signature_announce(shoal_comm *, const shoal_arena_mark *);

// Compares the call announced last with what others have announced for the same call so far; a
// different one is a recorded failure that names both. Of two ranks that disagree the later one is
// sure to find out.
int shoal_signature_check(shoal_comm *, const shoal_arena_mark *);
// The same for an earlier call, by its number; what is no longer on record counts as equal.
int shoal_signature_check_call(shoal_comm *, uint64_t call, const shoal_arena_mark *);
// The same for a rank that has the others' messages, and with them what they announced before.
int shoal_signature_compare(shoal_comm *, const shoal_arena_mark *);

// The same for a rank that has taken all that it gets in messages. Their tag says which call they
// belong to, and who the root is they show: there is only more to compare if all ranks must agree
// on a number of bytes. What others announce is slow to read while they write it.
int shoal_signature_compare_taken(shoal_comm *, const shoal_arena_mark *);

// The same for the last calls made, as far as they are still to be seen: finds what needed no
// waiting, such as two roots of one broadcast. Now and then, and at the end.
int shoal_signature_review(shoal_comm *);
// The same in a non-blocking call that waits for nobody, once many have been made.
int shoal_signature_review_later(shoal_comm *);

#endif
