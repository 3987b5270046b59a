// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a crowd hear about how far their cores are from each other: all the same, and
// for as long.
#include "coll/arena.h"

#include <stdlib.h>
#include <string.h>

#include "plat/test.h"

enum { RANKS = 6 };
static shoal_arena views[RANKS];

static void make_views(char *memory)
{
    for (int r = 0; r < RANKS; r++)
        views[r] = (shoal_arena){.base = memory,
                                 .crowded = true,
                                 .n = RANKS,
                                 .rank = r,
                                 .slots = SHOAL_SLOTS,
                                 .next_slot = RANKS,
                                 .next_rank = 1};
}

// Everybody hears epoch e, in which `votes` ranks from `who` on say that they are far.
static void hear(uint64_t e, int who, int votes)
{
    for (int r = 0; r < RANKS; r++)
        shoal_arena_slot(&views[r], r, e)->far = (r - who + RANKS) % RANKS < votes;
    for (int r = 0; r < RANKS; r++) shoal_arena_hear_far(&views[r], e);
}

// The same when everybody has closed a part.
static void hear_closing(uint64_t k, int who)
{
    for (int r = 0; r < RANKS; r++)
        shoal_arena_notes(&views[r], r)->closing[k % SHOAL_CLOSINGS].far = r == who;
    for (int r = 0; r < RANKS; r++) shoal_arena_hear_closing(&views[r], k);
}

static int believers(void)
{
    int n = 0;
    for (int r = 0; r < RANKS; r++) n += shoal_arena_far(&views[r]);
    return n;
}

int main(void)
{
    size_t bytes = RANKS * SHOAL_CONTROL;
    char *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!memory) return 1;
    memset(memory, 0, bytes);
    make_views(memory);
    uint64_t e = 1;
    hear(e++, 0, 0);
    CHECK(believers() == 0);
    for (int who = 0; who < RANKS; who++) {
        // One may be mistaken, now and then.
        for (int k = 0; k < 100; k++) {
            hear(e++, who, k % 10 == 0);
            CHECK(believers() == 0);
        }
        // One that goes on saying so is right.
        for (int k = 0; k < 10; k++) hear(e++, who, 1);
        CHECK(believers() == RANKS);
        hear(e++, who, RANKS);
        CHECK(believers() == RANKS);
        for (int k = 0; k < 16; k++) hear(e++, who, 0);
        CHECK(believers() == 0);
        hear(e++, who, RANKS);
        CHECK(believers() == RANKS);
        for (int k = 0; k < 16; k++) hear(e++, who, 0);
    }
    for (uint64_t k = 0; k < 3 * SHOAL_CLOSINGS; k++) hear_closing(k, (int)(k % RANKS));
    CHECK(believers() == RANKS);
    for (uint64_t k = 0; k < 16; k++) hear_closing(k, -1);
    CHECK(believers() == 0);
    free(memory);
    return shoal_test_failures != 0;
}
