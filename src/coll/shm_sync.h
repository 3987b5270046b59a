// SPDX-License-Identifier: BSD-3-Clause
// Epochs in the arena: beginning one, filling the own slot, waiting for others' slots.
#ifndef SHOAL_COLL_SHM_SYNC_H
#define SHOAL_COLL_SHM_SYNC_H

#include "coll/arena.h"

// Begins the next epoch and returns it. Waits for everybody first when slots would run out.
int shoal_epoch_begin(shoal_comm *, const shoal_arena_mark *, uint64_t *epoch_out);

// Publishes the own slot of an epoch, with all that was written before. `wake` when others may
// sleep for it (in an epoch that all wait for, those who leave do the waking).
void shoal_slot_publish(shoal_arena *, uint64_t epoch, const shoal_arena_mark *, bool wake);
// The same for one reader, who is woken if asleep.
void shoal_slot_publish_to(shoal_arena *, uint64_t epoch, const shoal_arena_mark *, int reader);

// The slot of another rank; after waiting for it.
static inline const shoal_slot *shoal_slot_of(const shoal_arena *a, int rank, uint64_t epoch)
{
    return &shoal_arena_place(a, rank)->slots[epoch % SHOAL_SLOTS];
}

// Waits until a rank has published in the epoch. A mark that differs from ours is an error that
// names both.
int shoal_slot_wait(shoal_comm *, int rank, uint64_t epoch, const shoal_arena_mark *);
// The same for all other ranks. With `sync` all ranks do so in this epoch, and it becomes the last
// synced one.
int shoal_slot_wait_all(shoal_comm *, uint64_t epoch, const shoal_arena_mark *, bool sync);

// Rings the bells of members that sleep.
void shoal_arena_wake(const shoal_arena *);

// One epoch in which everybody waits for everybody. What uses the ring of pieces begins with one,
// and so knows that nobody reads there any more.
int shoal_epoch_sync(shoal_comm *, const shoal_arena_mark *);

// The next window, the same on all ranks: waits for everybody if one might still read it.
int shoal_window_open(shoal_comm *, const shoal_arena_mark *, int64_t bytes, shoal_window *out);
// Everybody's window has been written: waits for everybody. It may be read until the next epoch.
int shoal_window_show(shoal_comm *, const shoal_arena_mark *, shoal_window);
// Copies into the own place, past the caches if the others share none with us.
void shoal_arena_copy(const shoal_arena *, char *to, const char *from, int64_t bytes);
// Has to stand between such copies and the publication.
void shoal_arena_settle(const shoal_arena *);

// Waits until every other rank has taken `pieces` pieces, and the other side of it.
int shoal_pieces_wait(shoal_comm *, uint64_t pieces);
int shoal_piece_wait(shoal_comm *, int rank, uint64_t pieces); // for one rank
void shoal_pieces_take(shoal_arena *, uint64_t pieces, int root);

#endif
