// SPDX-License-Identifier: BSD-3-Clause
// Which of two ways is taken when one is faster, when that changes, when the first times after a
// change are slow, and when single times are far too long.
#include "core/ways.h"

#include "plat/test.h"

#define MIB (1 << 20)

typedef struct world {
    int64_t ns[2];
    int64_t first;     // how many times as long the first two after a change take
    int every;         // so often
    int64_t disturbed; // ... it takes so many times as long
    int run;           // copies: so many calls take no time, then one has to wait for all of them
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
        if (x.run && way == SHOAL_WAY_COPIES) ns = i % x.run == 0 ? x.run * ns : 0;
        shoal_ways_note(w, way, MIB, ns);
    }
    return kernel;
}

static const world slow = {.ns = {300000, 60000}}, fast = {.ns = {23000, 60000}};

static void test_the_faster_is_taken(void)
{
    shoal_ways w = {0};
    CHECK(shoal_ways_next(&w) == SHOAL_WAY_KERNEL);
    CHECK(take(&w, 20, slow) == 10);
    CHECK(take(&w, 64, slow) == 0);
    CHECK(take(&w, 20000, slow) <= 160); // ever more rarely
    shoal_ways v = {0};
    CHECK(take(&v, 20000, fast) >= 19800);
}

static void test_changes_are_found_out(void)
{
    shoal_ways w = {0};
    take(&w, 20000, slow);
    take(&w, 3000, fast);
    CHECK(take(&w, 1000, fast) >= 960);
    take(&w, 100, slow);
    CHECK(take(&w, 1000, slow) <= 60);
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

static void test_who_runs_ahead_waits_in_the_end(void)
{
    world x = fast;
    x.run = 4;
    shoal_ways w = {0};
    take(&w, 100, x);
    CHECK(take(&w, 1000, x) >= 900);
}

static void test_what_takes_long_is_tried_less(void)
{
    shoal_ways w = {0};
    CHECK(take(&w, 4, (world){.ns = {30000000, 20000000}}) == 2);
    CHECK(take(&w, 60, (world){.ns = {30000000, 20000000}}) == 0);
}

static void test_odd_times(void)
{
    shoal_ways w = {0};
    shoal_ways_note(&w, SHOAL_WAY_KERNEL, 0, 5);
    shoal_ways_note(&w, SHOAL_WAY_KERNEL, MIB, -1);
    shoal_ways_note(&w, SHOAL_WAY_COPIES, MIB, 5); // not asked for
    CHECK(w.tries == 0 && !w.known[0] && !w.known[1]);
    for (int i = 0; i < 10; i++) shoal_ways_note(&w, SHOAL_WAY_KERNEL, MIB, 0);
    CHECK(w.known[SHOAL_WAY_KERNEL] && shoal_ways_next(&w) == SHOAL_WAY_COPIES);
    for (int i = 0; i < 2; i++) shoal_ways_note(&w, SHOAL_WAY_COPIES, 1, INT64_MAX);
    CHECK(shoal_ways_next(&w) == SHOAL_WAY_KERNEL);
}

int main(void)
{
    test_the_faster_is_taken();
    test_changes_are_found_out();
    test_slow_beginnings_and_disturbances();
    test_who_runs_ahead_waits_in_the_end();
    test_what_takes_long_is_tried_less();
    test_odd_times();
    return SHOAL_TEST_RESULT();
}
