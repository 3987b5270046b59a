// SPDX-License-Identifier: BSD-3-Clause
// Which of two ways is taken when one is faster, when that changes, when the first times after a
// change are slow, and when single times are far too long.
#include "core/ways.h"

#include "plat/test.h"

#define MIB (1 << 20)

typedef struct kernel_and_copies {
    int64_t ns[2];
    int64_t first;        // how many times longer the first two after a change take
    int every;            // so often
    int64_t disturbed;    // ... it takes so many times as long
} world;

// Takes the way that is proposed `times` times; how often that was the kernel's.
static int take(shoal_ways *w, int times, world x)
{
    int kernel = 0, last = shoal_ways_next(w), same = 2;
    for (int i = 1; i <= times; i++) {
        int way = shoal_ways_next(w);
        same = way == last ? same + 1 : 0;
        last = way;
        kernel += way == SHOAL_WAY_KERNEL;
        int64_t ns = x.ns[way];
        if (x.first && same < 2) ns *= x.first;
        if (x.every && i % x.every == 0) ns *= x.disturbed;
        shoal_ways_note(w, way, MIB, ns);
    }
    return kernel;
}

static const world slow = {.ns = {300000, 60000}}, fast = {.ns = {23000, 60000}};

static void test_the_faster_is_taken(void)
{
    shoal_ways w = {0};
    CHECK(shoal_ways_next(&w) == SHOAL_WAY_KERNEL);
    CHECK(take(&w, 8, slow) == 4);
    CHECK(take(&w, 32, slow) == 0);
    CHECK(take(&w, 10000, slow) <= 60); // ever more rarely
    shoal_ways v = {0};
    CHECK(take(&v, 10000, fast) >= 9900);
}

static void test_changes_are_found_out(void)
{
    shoal_ways w = {0};
    take(&w, 10000, slow);
    take(&w, 2000, fast);
    CHECK(take(&w, 1000, fast) >= 950);
    take(&w, 100, slow);
    CHECK(take(&w, 1000, slow) <= 30);
}

static void test_slow_beginnings_and_disturbances(void)
{
    world x = fast;
    x.first = 20;
    shoal_ways w = {0};
    take(&w, 100, x);
    CHECK(take(&w, 1000, x) >= 900);
    x.every = 10;
    x.disturbed = 100;
    CHECK(take(&w, 1000, x) >= 800);
}

static void test_odd_times(void)
{
    shoal_ways w = {0};
    shoal_ways_note(&w, SHOAL_WAY_KERNEL, 0, 5);
    shoal_ways_note(&w, SHOAL_WAY_KERNEL, MIB, -1);
    shoal_ways_note(&w, SHOAL_WAY_COPIES, MIB, 5); // not asked for
    CHECK(w.tries == 0 && w.cost[0] == 0 && w.cost[1] == 0);
    for (int i = 0; i < 4; i++) shoal_ways_note(&w, SHOAL_WAY_KERNEL, MIB, 0);
    CHECK(w.cost[SHOAL_WAY_KERNEL] == 1 && shoal_ways_next(&w) == SHOAL_WAY_COPIES);
    for (int i = 0; i < 9; i++) shoal_ways_note(&w, shoal_ways_next(&w), 1, INT64_MAX);
    CHECK(shoal_ways_next(&w) == SHOAL_WAY_KERNEL);
}

int main(void)
{
    test_the_faster_is_taken();
    test_changes_are_found_out();
    test_slow_beginnings_and_disturbances();
    test_odd_times();
    return SHOAL_TEST_RESULT();
}
