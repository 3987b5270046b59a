// SPDX-License-Identifier: BSD-3-Clause
// Which of two ways is taken when one is faster, when that changes, when the first times after a
// change are slow, when single times are far too long, and when many pieces begin at once. The
// clock is the test's own.
#include "core/ways.h"

#include "plat/test.h"

#define MIB (1 << 20)

typedef struct world {
    int64_t ns[2];     // a piece of work
    int64_t first;     // how many times as long the first ten after a change take
    int every;         // so often
    int64_t disturbed; // ... it takes so many times as long
    int window;        // copies: so many begin at once, kernel: one after the other
    int64_t program;   // ns that the program needs after each window
    int64_t outside;   // ns more that it needs for each piece that came by the kernel
} world;

static int64_t now;

// Does `times` pieces of work the way that is proposed; how often that was the kernel's.
static int take(shoal_ways *w, int times, world x)
{
    int kernel = 0, last = shoal_ways_next(w), same = 10, begun = 0;
    int64_t pending = 0;
    for (int i = 1; i <= times; i++) {
        shoal_ways_begin(w, now);
        int way = shoal_ways_next(w);
        same = way == last ? same + 1 : 0;
        last = way;
        kernel += way == SHOAL_WAY_KERNEL;
        shoal_ways_went(w, way, MIB, now);
        int64_t ns = x.ns[way];
        if (x.first && same < 10) ns *= x.first;
        if (x.every && i % x.every == 0) ns *= x.disturbed;
        if (x.window && way == SHOAL_WAY_COPIES)
            pending += ns;
        else
            now += ns;
        if (way == SHOAL_WAY_KERNEL) pending += x.outside;
        if (x.window && ++begun < x.window) continue;
        now += pending + x.program;
        pending = 0;
        begun = 0;
    }
    return kernel;
}

static const world slow = {.ns = {300000, 60000}}, fast = {.ns = {23000, 60000}};

static void test_the_faster_is_taken(void)
{
    shoal_ways w = {0};
    CHECK(shoal_ways_next(&w) == SHOAL_WAY_KERNEL);
    CHECK(take(&w, 130, slow) <= 66);
    CHECK(take(&w, 80, slow) == 0);
    CHECK(take(&w, 40000, slow) <= 1000); // ever more rarely
    shoal_ways v = {0};
    CHECK(take(&v, 40000, fast) >= 39000);
}

// Where the kernel is known to be quick it is taken for some time before copies are tried, and they
// have to be faster.
static void test_a_quick_kernel(void)
{
    world like = {.ns = {61000, 60000}}, slower = {.ns = {90000, 60000}};
    shoal_ways w = {.patience = SHOAL_WAYS_PATIENCE}, v = {.patience = SHOAL_WAYS_PATIENCE},
               u = {0};
    CHECK(take(&w, 500, like) == 500);
    CHECK(take(&w, 500, like) >= 430);
    CHECK(take(&v, 500, slower) == 500);
    take(&v, 140, slower);
    CHECK(take(&v, 80, slower) == 0);
    take(&u, 130, like);
    CHECK(take(&u, 80, like) == 0);
}

// The second batch of a trial is disturbed, the first that counts: the faster way is taken all the
// same.
static void test_a_disturbed_trial(void)
{
    for (int quick = 0; quick < 2; quick++) {
        shoal_ways w = {.patience = quick ? SHOAL_WAYS_PATIENCE : 0};
        world x = {.ns = {60000, 30000}};
        while (shoal_ways_next(&w) == SHOAL_WAY_KERNEL) take(&w, 1, x);
        take(&w, 15, x);
        x.every = 1;
        x.disturbed = 4;
        take(&w, 16, x);
        x.every = 0;
        take(&w, 64, x);
        CHECK(take(&w, 64, x) == 0);
    }
}

// While the program goes over from one thing to another a way looks very slow. That is soon looked
// into again.
static void test_a_moment_of_change(void)
{
    world x = {.ns = {12000, 22000}}, change = {.ns = {4000000, 22000}};
    shoal_ways w = {0};
    CHECK(take(&w, 300, x) >= 200);
    take(&w, 16 * 3, change);
    CHECK(shoal_ways_next(&w) == SHOAL_WAY_COPIES);
    CHECK(take(&w, 400, x) >= 150);
    CHECK(take(&w, 400, x) >= 330);
}

// What is far slower costs little to try.
static void test_bad_trials_are_short(void)
{
    world x = {.ns = {20000, 60000}};
    shoal_ways w = {.patience = SHOAL_WAYS_PATIENCE};
    CHECK(take(&w, 16 * 36, x) == 16 * 36);
    CHECK(take(&w, 16 * 100, x) >= 16 * 97);
}

// Who follows takes the way it is told, whatever it has found out. When it goes on by itself, what
// it was told in the middle of a trial is not taken for the way that was tried.
static void test_following(void)
{
    world x = {.ns = {25000, 17000}};
    shoal_ways w = {.patience = 8};
    take(&w, 16 * 2 + 5, x); // of the kernel's first trial
    for (int i = 0; i < 100; i++) {
        uint8_t told = i / 40 % 2 ? SHOAL_WAY_KERNEL : SHOAL_WAY_COPIES;
        shoal_ways_follow(&w, told, now);
        CHECK(shoal_ways_next(&w) == told);
        shoal_ways_went(&w, told, MIB, now);
        now += x.ns[told];
    }
    CHECK(!w.known[0] && !w.known[1]);
    take(&w, 16 * 20, x);
    CHECK(w.known[SHOAL_WAY_COPIES] && w.cost[SHOAL_WAY_COPIES] < 17001.0f / MIB);
    CHECK(take(&w, 16 * 20, x) <= 16 * 5);
}

// When there is no doubt which is faster, the other is not tried soon.
static void test_no_doubt(void)
{
    world x = {.ns = {25000, 17000}};
    shoal_ways w = {.patience = 8};
    take(&w, 16 * 17, x);
    CHECK(take(&w, 16 * 100, x) <= 16 * 5);
}

static void test_changes_are_found_out(void)
{
    shoal_ways w = {0};
    take(&w, 40000, slow);
    take(&w, 5000, fast);
    CHECK(take(&w, 1000, fast) >= 900);
    take(&w, 200, slow);
    CHECK(take(&w, 1000, slow) <= 150);
}

static void test_slow_beginnings_and_disturbances(void)
{
    world x = fast;
    x.first = 20;
    shoal_ways w = {0};
    take(&w, 200, x);
    CHECK(take(&w, 5000, x) >= 4500);
    x.every = 100;
    x.disturbed = 100;
    CHECK(take(&w, 5000, x) >= 4000);
}

// Copies begin all at once and end later, while each fetched piece is there before the next begins;
// the program computes for much longer after each window.
static void test_windows(void)
{
    for (int window = 2; window <= 16; window *= 2) {
        world x = {.ns = {60000, 30000}, .window = window, .program = 300000};
        shoal_ways w = {0}, v = {0};
        take(&w, 1000, x);
        CHECK(take(&w, 2000, x) <= 500);
        x.ns[SHOAL_WAY_KERNEL] = 10000;
        take(&v, 1000, x);
        CHECK(take(&v, 2000, x) >= 1500);
    }
}

// The kernel is quicker, but then the program has to fetch its data from other caches.
static void test_what_the_program_feels(void)
{
    world x = {.ns = {12000, 15000}, .outside = 80000, .window = 1};
    shoal_ways w = {0};
    take(&w, 200, x);
    CHECK(take(&w, 5000, x) <= 800);
}

static void test_who_computes_has_copies(void)
{
    world x = {.ns = {60000, 60000}, .window = 1, .program = 10000000};
    shoal_ways w = {0};
    take(&w, 10, x);
    CHECK(take(&w, 5000, x) <= 300);
}

// A program that has computed between messages, and so had copies, does so no more.
static void test_the_program_changes(void)
{
    world x = {.ns = {23000, 60000}, .window = 1, .program = 2000000}, then = fast;
    shoal_ways w = {0};
    take(&w, 20000, x);
    CHECK(shoal_ways_next(&w) == SHOAL_WAY_COPIES);
    take(&w, 250, then);
    CHECK(take(&w, 200, then) >= 200 - 64); // copies are tried once more
}

// Times of before a pause say nothing of those after it: copies are not judged by them.
static void test_a_pause(void)
{
    world x = {.ns = {60000, 60000}, .window = 1, .program = 400000};
    shoal_ways w = {.patience = SHOAL_WAYS_PATIENCE};
    CHECK(take(&w, 300, x) == 300);
    now += 100000000;
    CHECK(take(&w, 500, fast) == 500);
    CHECK(take(&w, 500, fast) >= 500 - 64);
}

// Nothing is regular: the other way is tried all the same.
static void test_ups_and_downs(void)
{
    shoal_ways w = {.known = {true, true}, .cost = {2, 1}, .then = 1, .way = SHOAL_WAY_COPIES};
    w.pause = SHOAL_WAYS_PAUSE_MOST;
    int batches = 0;
    while (!w.trial && batches < 10000)
        shoal_ways_note(&w, SHOAL_WAY_COPIES, 1000, batches++ % 2 ? 4200 : 650);
    CHECK(w.trial && batches > (int)SHOAL_WAYS_PAUSE_MOST);
}

static void test_what_takes_long_is_tried_less(void)
{
    world x = {.ns = {30000000, 20000000}};
    shoal_ways w = {0};
    CHECK(take(&w, 5, x) == 2);
    CHECK(take(&w, 8, x) <= 2);
}

static void test_odd_times(void)
{
    shoal_ways w = {0};
    shoal_ways_note(&w, SHOAL_WAY_KERNEL, 0, 5);
    shoal_ways_note(&w, SHOAL_WAY_KERNEL, MIB, -1);
    shoal_ways_note(&w, SHOAL_WAY_COPIES, MIB, 5); // not asked for
    CHECK(w.tries == 0 && !w.known[0] && !w.known[1]);
    for (int i = 0; i < 4; i++) shoal_ways_note(&w, SHOAL_WAY_KERNEL, MIB, 0);
    CHECK(w.known[SHOAL_WAY_KERNEL] && shoal_ways_next(&w) == SHOAL_WAY_COPIES);
    for (int i = 0; i < 2; i++) shoal_ways_note(&w, SHOAL_WAY_COPIES, 1, INT64_MAX);
    CHECK(shoal_ways_next(&w) == SHOAL_WAY_KERNEL);
}

int main(void)
{
    test_the_faster_is_taken();
    test_a_quick_kernel();
    test_a_disturbed_trial();
    test_a_moment_of_change();
    test_bad_trials_are_short();
    test_no_doubt();
    test_following();
    test_changes_are_found_out();
    test_slow_beginnings_and_disturbances();
    test_windows();
    test_what_the_program_feels();
    test_who_computes_has_copies();
    test_the_program_changes();
    test_a_pause();
    test_ups_and_downs();
    test_what_takes_long_is_tried_less();
    test_odd_times();
    return SHOAL_TEST_RESULT();
}
