// SPDX-License-Identifier: BSD-3-Clause
// Epochs in the arena: beginning one, filling the own slot, waiting for others' slots.
#ifndef SHOAL_COLL_SHM_SYNC_H
#define SHOAL_COLL_SHM_SYNC_H

#include <string.h>

#include "coll/arena.h"

// Room for what ranks show in an epoch: that of rank r lies at at + r * step. It may be read until
// everybody has waited for everybody once more; with more ranks than cores, until that has happened
// in an epoch with room of its own (arena.h).
typedef struct shoal_room {
    char *at;
    int64_t step;
    uint64_t epoch;
    uint32_t where; // in the pool, see shoal_slot
    bool swaps;     // shm_swap.h
} shoal_room;
static inline char *shoal_room_of(const shoal_room *r, int rank)
{
    return r->at + rank * r->step;
}

// Begins the next epoch, with room for `bytes` of each rank (`alone`: of one rank). Waits for
// everybody first when slots or room would run out.
int shoal_room_begin(shoal_comm *, const shoal_arena_mark *, int64_t bytes, bool alone,
                     shoal_room *out);
// The most bytes for which there can be room.
int64_t shoal_room_most(const shoal_arena *, bool alone);
// With more ranks than cores: notes how long a block is in calls whose blocks differ, and how long
// the longest was that any rank has noted some calls ago; in this all agree.
void shoal_room_want(shoal_arena *, enum shoal_want, int64_t bytes);
static inline int64_t shoal_room_wanted(const shoal_arena *a, enum shoal_want which)
{
    return a->wanted[which];
}
// The own part has been written: waits for everybody's.
int shoal_room_show(shoal_comm *, const shoal_arena_mark *, const shoal_room *);

// Publishes the own slot of an epoch, with all that was written before. `wake` when others may
// sleep for it (in an epoch that all wait for, those who leave do the waking).
void shoal_slot_publish(shoal_arena *, uint64_t epoch, const shoal_arena_mark *, bool wake);
// The same for one reader, who is woken if asleep.
void shoal_slot_publish_to(shoal_arena *, uint64_t epoch, const shoal_arena_mark *, int reader);

// The slot of another rank; after waiting for it.
static inline const shoal_slot *shoal_slot_of(const shoal_arena *a, int rank, uint64_t epoch)
{
    return shoal_arena_slot(a, rank, epoch);
}

// Waits until a rank has published in the epoch. A mark that differs from ours is an error that
// names both.
int shoal_slot_wait(shoal_comm *, int rank, uint64_t epoch, const shoal_arena_mark *);
// The same if long messages come as well: then it is not over in a moment.
int shoal_slot_wait_long(shoal_comm *, int rank, uint64_t epoch, const shoal_arena_mark *);
// The same in a crowd when epochs have begun since. There was room in the pool for this one, and
// not so much for those since that it may be gone; nor were they so many that its slot may be.
int shoal_slot_wait_late(shoal_comm *, int rank, const shoal_room *, const shoal_arena_mark *);
// The same for all other ranks. With `sync` all ranks do so in this epoch, and it becomes the last
// synced one.
int shoal_slot_wait_all(shoal_comm *, uint64_t epoch, const shoal_arena_mark *, bool sync);

// For data in the pool: the rank shows block after block, and says how many there are so far; the
// first time this publishes its slot. Others wait for the one they need.
void shoal_slot_show(shoal_arena *, uint64_t epoch, const shoal_arena_mark *, uint32_t shown);
int shoal_slot_wait_shown(shoal_comm *, int rank, uint64_t epoch, const shoal_arena_mark *,
                          uint32_t shown);

// Rings the bells of members that sleep; the second only if some may, which they count themselves
// for before they sleep, and until they have what they wait for.
void shoal_arena_wake(const shoal_arena *);
void shoal_arena_wake_waiting(const shoal_arena *);
void shoal_arena_count_sleeper(const shoal_arena *, int by);
// The same if only one waits.
void shoal_arena_wake_rank(const shoal_arena *, int rank);

// The ranks have not made the same calls, and this one is about to say so: everybody is to know.
void shoal_arena_part(shoal_arena *);
// A recorded failure once somebody has said so; 0 before.
int shoal_arena_parted(shoal_comm *);

// One epoch in which everybody waits for everybody. What uses the ring of pieces begins after one,
// and so knows that nobody reads there any more.
int shoal_epoch_sync(shoal_comm *, const shoal_arena_mark *);

// Everybody says a word and hears the others'; *least is the least of all.
int shoal_word_say(shoal_comm *, const shoal_arena_mark *, uint64_t word, shoal_room *,
                   uint64_t *least);
static inline uint64_t shoal_word_of(const shoal_room *r, int rank)
{
    return *(const uint64_t *)(const void *)shoal_room_of(r, rank);
}

// Do all ranks together receive more than the caches hold, if each receives so much? Then it is
// written past them.
#define SHOAL_FLOOD (24 << 20)
static inline bool shoal_is_flood(const shoal_comm *c, int64_t bytes)
{
    return bytes >= SHOAL_FLOOD / c->size;
}

// Takes what others have shown: past the caches if it is so much, and then shoal_settle_copies()
// has to follow.
static inline void shoal_arena_take(char *to, const char *from, int64_t bytes, bool flood)
{
    if (flood)
        shoal_copy_past_caches(to, from, (size_t)bytes);
    else
        shoal_copy(to, from, (size_t)bytes);
}

// With a core for each rank: do the others' cores share no cache with ours, as far as this rank
// knows? Then data is written past the caches, and comes from memory. In a crowd many of those who
// read it have our core, and what goes from rank to rank is in its caches.
bool shoal_arena_others_are_far(const shoal_arena *);

// Copies into the own place, past the caches if the others share none with us.
void shoal_arena_copy(const shoal_arena *, char *to, const char *from, int64_t bytes);
// Has to stand between such copies and the publication.
void shoal_arena_settle(const shoal_arena *);

// Where slice i of n begins: whole lines, so that no two ranks write the same line, and whole
// units.
#define SHOAL_LINE 64
static inline int64_t shoal_slice_from(int i, int n, int64_t bytes, int64_t unit)
{
    int64_t lines = (bytes + SHOAL_LINE - 1) / SHOAL_LINE;
    int64_t from = lines * i / n * SHOAL_LINE / unit * unit;
    return from < bytes ? from : bytes;
}

// Waits until every other rank has taken `pieces` pieces, and the other side of it.
int shoal_pieces_wait(shoal_comm *, uint64_t pieces);
int shoal_piece_wait(shoal_comm *, int rank, uint64_t pieces); // for one rank
void shoal_pieces_take(shoal_arena *, uint64_t pieces, int root);

#endif
