// SPDX-License-Identifier: BSD-3-Clause
// Turns in a crowd: which core a rank waits on, and after whom it has its turn there.
//
// A rank that waits yields, and the kernel gives the ranks of one core their turns in a cycle: in
// an order that it does not change, but that is due to chance, as it is due to chance how many
// ranks each core has. Much of what ranks do goes from rank to rank: rings, scans, calls with one
// root after the other. If rank 4 has its turn after rank 2 and rank 5 after rank 3, one cycle
// takes it past all of them; in the worst order it takes one cycle for each rank. And a barrier
// takes as long as the fullest core. So ranks are dealt out to the cores like cards, and those of
// one core have their turns in the order of their ranks.
//
// Two that talk only to each other are an exception: they are fast when both have a core at the
// same time, or, if messages are very long, when these stay in the caches of one. So one of the two
// waits for the other when it has its turn, until the turns of all pairs come at the same time.
// Others are collective calls with many ranks to a core, unless they move much, and messages of
// some pages that each gets from one and gives to another: the first ranks are on the first core
// then, and so on. So turn follows turn, and what goes from a rank to the next mostly stays in the
// caches of one core.
//
// Each rank sees to this for itself, while it waits and others wait for its core. It is not bound
// to a core: what the kernel does for other reasons is undone rarely, and less often each time.
#ifndef SHOAL_PROGRESS_TURNS_H
#define SHOAL_PROGRESS_TURNS_H

#include <stdbool.h>
#include <stdint.h>

// This rank is about to wait for a message of so many bytes, from a peer or to it.
void shoal_turns_talk(uint32_t peer, int64_t bytes);

// How much of a turn such a message takes.
uint32_t shoal_turns_weight(void);

// Shall this rank keep its core for the peer that it waits for, which has none just now, since the
// two should have their turns at the same time? `began`: when it last got the core; 0, not known,
// becomes now.
bool shoal_turns_hold(uint32_t peer, int64_t *began);

// It is about to wait for messages of anybody.
void shoal_turns_talk_to_many(void);

// It is about to wait in a collective call of so many bytes.
void shoal_turns_call(uint64_t bytes);

// Gives the core to others of a crowd until the next turn. `now` may be some yields old.
void shoal_turns_yield(int64_t now);

#endif
