// SPDX-License-Identifier: BSD-3-Clause
// Waiting: with more ranks awake than cores a wait gives its core away at once, looks on while the
// peer has a core too, and ends its turn all the same after a while. With few awake, two ranks that
// share a core part. A world of two ranks of which only one is real; yields are watched.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/net_nobody.h"
#include "plat/plat.h"
#include "plat/test.h"
#include "plat/turn.h"
#include "progress/turns.h"

#define HERE 3 // the core that this rank runs on

static int64_t later; // by how much the clock has been put on
static bool stopped;  // otherwise it goes on meanwhile

static int test_yield(void);
static bool test_change_core(bool (*taken)(int core));

// The waiting under test, compiled in so that the yields can be watched.
#define shoal_yield()            test_yield()
#define shoal_turns_yield(now)   test_yield()
#define shoal_this_core()        HERE
#define shoal_now_ns()           (later + (stopped ? 1 : shoal_now_ns()))
#define shoal_quick_ns()         (later + (stopped ? 1 : shoal_quick_ns()))
#define shoal_change_core(taken) test_change_core(taken)
#include "net/shm/shm.c"
#include "progress/wait.c"
#undef shoal_yield

static shoal_world world;
static int looks, answer_at; // looks at the awaited thing, and the one that finds it there
static int yields, looks_before_yield;
static int64_t yield_ns; // how long others have the core
static bool off_core_in_yield;
static int moves;

static bool test_change_core(bool (*taken)(int core))
{
    CHECK(taken(HERE) && !taken(HERE + 1));
    moves++;
    return true;
}

static int test_yield(void)
{
    if (yields++ == 0) looks_before_yield = looks;
    off_core_in_yield = !shoal_shm_on_core(shoal_the_shm.rank);
    later += yield_ns;
    return 0;
}

static bool there(void *what)
{
    (void)what;
    return ++looks >= answer_at;
}

static int64_t one_open(void *what)
{
    (void)what;
    return 1;
}

static void describe(void *what, shoal_wait_note *note)
{
    (void)what;
    note->call = "test";
}

static void wait_until(int look, int hot)
{
    looks = yields = looks_before_yield = 0;
    answer_at = look;
    shoal_progress_wait(there, NULL, describe, hot);
}

static void peer_has_core(bool has)
{
    atomic_store(&shoal_the_shm.peers[1].berth->off_core, !has);
}

static void test_peer_without_core(void)
{
    peer_has_core(false);
    wait_until(3, 1);
    CHECK(yields == 2 && looks_before_yield == 1);
    CHECK(off_core_in_yield && shoal_shm_on_core(0));
}

// A peer that has a core, at the beginning of a turn.
static void begin_turn(void)
{
    peer_has_core(false);
    wait_until(2, 1);
    peer_has_core(true);
}

static void test_peer_with_core(void)
{
    begin_turn();
    wait_until(LOOKS_FIRST, 1);
    CHECK(yields == 0);
    wait_until(LOOKS_FIRST + 3, 1);
    CHECK(yields == 1 && looks_before_yield == LOOKS_FIRST + 1);
    for (int k = 0; k < 2; k++) wait_until(3, 1);
    wait_until(LOOKS_CROWDED + 3, 1); // the peer has had time to come
    CHECK(yields == 1 && looks_before_yield == LOOKS_CROWDED + 1);
}

// A peer that computes has a core all the time: it is not looked for for long in every turn.
static void test_peer_computes(void)
{
    int long_looks = 0;
    for (int k = 0; k < 4 * LOOKS_AGAIN; k++) {
        begin_turn();
        wait_until(LOOKS_FIRST + 3, 1);
        long_looks += looks_before_yield > LOOKS_CROWDED + 1;
    }
    CHECK(long_looks > 0 && long_looks <= LOOKS_AGAIN / 2);
    in_vain = 0;
}

// Others' turns are long: that is no reason to sleep, unless they take very long. A wait that does
// sleep looks once more before.
static void test_long_turns(void)
{
    peer_has_core(false);
    stopped = true;
    yield_ns = YIELD_CROWDED_NS - 10000;
    wait_until(20, 1);
    CHECK(yields == 19);
    yield_ns = YIELD_MOST_NS / 4;
    wait_until(4 + 2, 1); // the last look is before it would sleep
    CHECK(yields == 4);
    yield_ns = 0;
    stopped = false;
}

// A wait that names nobody, in a collective say, is not for the peer that spoke last; a wait for
// many messages is.
static void test_nobody_named(void)
{
    peer_has_core(true);
    wait_until(3, -1);
    CHECK(yields == 2);
    looks = yields = 0;
    shoal_progress_wait_many(there, NULL, describe, one_open);
    CHECK(yields == 0);
}

static void test_turn_ends(void)
{
    begin_turn();
    for (int k = 0; k < TURN; k++) {
        wait_until(3, 1);
        CHECK(yields == 0);
    }
    wait_until(3, 1);
    CHECK(yields == 1 && looks_before_yield == 1);
}

static void test_roomy(void)
{
    atomic_store(&world.header->awake, 1);
    peer_has_core(true);
    wait_until(40, 1);
    CHECK(yields == 0);
    // It may be our own core that it waits for.
    peer_has_core(false);
    wait_until(3, 1);
    CHECK(yields == 2 && looks_before_yield == 1);
    looks = yields = looks_before_yield = 0;
    shoal_progress_wait_many(there, NULL, describe, one_open);
    CHECK(yields == 2 && looks_before_yield == 1);
}

static int moves_in(int look, int hot)
{
    moves = 0;
    wait_until(look, hot);
    return moves;
}

// Only the later of the two moves, if there is a core for everybody, and not too often.
static void test_step_aside(void)
{
    shoal_berth *peer = shoal_the_shm.peers[0].berth;
    atomic_store(&world.header->awake, (int32_t)world.header->cores);
    atomic_store(&peer->off_core, 1);
    atomic_store(&peer->core, HERE);
    CHECK(moves_in(ASIDE_YIELDS / 2 + 1, 0) == 0);
    CHECK(moves_in(4 * ASIDE_YIELDS, 0) == 1);
    CHECK(moves_in(4 * ASIDE_YIELDS, 0) == 0);
    int64_t moved = shoal_now_ns();
    while (shoal_now_ns() - moved < ASIDE_NS) shoal_relax();
    atomic_store(&peer->core, HERE + 1);
    CHECK(moves_in(4 * ASIDE_YIELDS, 0) == 0);
    atomic_store(&peer->core, HERE);
    atomic_store(&peer->asleep, 1);
    CHECK(moves_in(4 * ASIDE_YIELDS, 0) == 0);
    atomic_store(&peer->asleep, 0);
    atomic_store(&world.header->awake, (int32_t)world.header->cores + 1);
    CHECK(moves_in(4 * ASIDE_YIELDS, 0) == 0);
    atomic_store(&world.header->awake, (int32_t)world.header->cores);
    CHECK(moves_in(4 * ASIDE_YIELDS, 0) == 1);
    // Among several that are awaited, the one that spoke last counts.
    moved = shoal_now_ns();
    while (shoal_now_ns() - moved < ASIDE_NS) shoal_relax();
    moves = looks = 0;
    answer_at = 4 * ASIDE_YIELDS;
    shoal_progress_wait_many(there, NULL, describe, one_open);
    CHECK(moves == 1);
}

static void test_first_stays(void)
{
    atomic_store(&world.header->awake, (int32_t)world.header->cores);
    atomic_store(&shoal_the_shm.peers[1].berth->core, HERE);
    peer_has_core(false);
    CHECK(moves_in(4 * ASIDE_YIELDS, 1) == 0);
}

int main(void)
{
    int fd = shoal_world_create(2, &world);
    CHECK(fd >= 0);
    if (fd < 0) return SHOAL_TEST_RESULT();
    world.rank = 0;
    if (shoal_shm_init(&world) != 0) return 1;
    atomic_store(&world.header->awake, (int32_t)world.header->cores + 1);
    test_peer_without_core();
    test_peer_with_core();
    test_peer_computes();
    test_long_turns();
    test_nobody_named();
    test_turn_ends();
    test_roomy();
    test_first_stays();
    shoal_shm_fini();
    world.rank = 1;
    if (shoal_shm_init(&world) != 0) return 1;
    test_step_aside();
    shoal_shm_fini();
    shoal_world_detach(&world);
    close(fd);
    return SHOAL_TEST_RESULT();
}
