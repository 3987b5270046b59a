// SPDX-License-Identifier: BSD-3-Clause
// See shm_chain.h.
#include "coll/shm_chain.h"

#include <string.h>

#include "progress/turns.h"

#define LINK   (128 << 10) // so much goes at a time,
#define BEHIND 7           // ... and is taken so many later
static_assert(BEHIND < SHOAL_POOL_PART / LINK, "it is still in the part before");
static_assert(2 * (SHOAL_PART_EPOCHS + 1) + BEHIND < SHOAL_SLOTS,
              "its slot is not in use again, by those who are two parts ahead");

// One piece on its way through the ranks.
typedef struct link {
    shoal_room room;
    int64_t at, bytes;
} link;

// Each core needs a piece to work on, and no more of them are under way than are taken later.
bool shoal_chain_serves(const shoal_arena *a, int64_t bytes)
{
    uint32_t pieces = a->cores > 2 ? a->cores : 2;
    return a->crowded && pieces <= BEHIND + 1 && bytes >= (int64_t)pieces * LINK;
}

// Adds the own vector to what the ranks below have made of theirs.
static int add_own(const shoal_chain *x, const link *l)
{
    shoal_comm *c = x->comm;
    char *sum = l->room.at;
    int rc = c->rank > 0 ? shoal_slot_wait(c, c->rank - 1, l->room.epoch, x->mark) : 0;
    if (rc) return rc;
    if (c->rank == 0)
        shoal_copy(sum, x->in + l->at, (size_t)l->bytes);
    else
        x->kernel(x->in + l->at, sum, l->bytes / x->unit);
    shoal_slot_publish(c->arena, l->room.epoch, x->mark, true);
    return 0;
}

// Takes what the last rank has made of it, as far as that is wanted.
static int take_sum(const shoal_chain *x, const link *l)
{
    shoal_comm *c = x->comm;
    int64_t from = l->at > x->from ? l->at : x->from,
            to = l->at + l->bytes < x->to ? l->at + l->bytes : x->to;
    if (from >= to) return 0;
    int rc = c->rank + 1 < c->size ? shoal_slot_wait_late(c, c->size - 1, &l->room, x->mark) : 0;
    if (rc) return rc;
    shoal_arena_take(x->out + (from - x->from), l->room.at + (from - l->at), to - from, x->flood);
    return 0;
}

int shoal_chain_run(const shoal_chain *x)
{
    int64_t most = LINK / x->unit * x->unit;
    link links[BEHIND + 1];
    int64_t count = (x->bytes + most - 1) / most;
    int rc = 0;
    shoal_turns_call((uint64_t)x->bytes); // which is more than the call may say of itself
    for (int64_t k = 0; rc == 0 && k < count + BEHIND; k++) {
        link *l = &links[k % (BEHIND + 1)];
        if (k < count) {
            l->at = k * most;
            l->bytes = x->bytes - l->at < most ? x->bytes - l->at : most;
            rc = shoal_room_begin(x->comm, x->mark, l->bytes, true, &l->room);
            if (rc == 0) rc = add_own(x, l);
        }
        if (rc == 0 && k >= BEHIND) rc = take_sum(x, &links[(k - BEHIND) % (BEHIND + 1)]);
    }
    if (x->flood) shoal_settle_copies();
    return rc;
}
