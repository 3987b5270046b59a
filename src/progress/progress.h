// SPDX-License-Identifier: BSD-3-Clause
// Making progress, and waiting for it. The one loop of the engine.
#ifndef SHOAL_PROGRESS_PROGRESS_H
#define SHOAL_PROGRESS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "watch/board.h"

// Polls the transports and advances schedules once. Returns how much happened.
int shoal_progress_poll(void);

// The same without one peer: the caller takes its messages himself.
int shoal_progress_poll_others(uint32_t peer);

// More to be polled: collectives' schedules register here. Called with the engine lock held.
typedef int shoal_poll_fn(void);
void shoal_progress_add(shoal_poll_fn *);

// For what is polled for and comes without a bell being rung, unless its writer has been told to
// ring: called before a sleep is announced, and once more after that. True: there is something to
// poll. One function at most.
typedef bool shoal_before_sleep_fn(void);
void shoal_progress_set_before_sleep(shoal_before_sleep_fn *);

// Is the thing waited for there?
typedef bool shoal_done_fn(void *what);
// Says what is waited for; called before sleeping.
typedef void shoal_describe_fn(void *what, shoal_wait_note *note_out);

// Makes progress until done(what): spins, then yields, then sleeps. Holds the engine lock on entry
// and on return, not while it sleeps. `hot` is the peer whose message is awaited, or -1.
void shoal_progress_wait(shoal_done_fn *done, void *what, shoal_describe_fn *describe, int hot);

// The same for many things at once; open(what) says how many of them are not done.
typedef int64_t shoal_open_fn(void *what);
void shoal_progress_wait_many(shoal_done_fn *done, void *what, shoal_describe_fn *describe,
                              shoal_open_fn *open);

// More ranks are awake than there are cores.
bool shoal_progress_crowded(void);

// A turn is the time between getting a core and giving it away. While crowded it would end with
// every wait; but two ranks that happen to have a core both can talk without any switch between
// processes, which costs ten times a message. So a wait may look on for as long as the peer has a
// core, though not for ever in one turn: this says whether it may begin to.
bool shoal_progress_turn_goes_on(void);

// Something was completed: wakes threads of this process that sleep for it.
extern uint32_t shoal_progress_sleepers; // threads of this process asleep in MPI
void shoal_progress_wake_sleepers(void);
static inline void shoal_progress_completed(void)
{
    if (__builtin_expect(shoal_progress_sleepers > 0, 0)) shoal_progress_wake_sleepers();
}

#endif
