// SPDX-License-Identifier: BSD-3-Clause
// Where a rank waits in a crowd, and after whom it has its turn. A world of eight ranks of which
// only rank 3 is real, on two cores; the kernel is played.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "net/net_nobody.h"
#include "plat/plat.h"
#include "plat/test.h"
#include "plat/turn.h"

#define RANKS 8
#define ME    3

static int core_now;            // the core that this rank runs on
static int allowed;             // cores that it may use
static uint32_t turn_of;        // who has the turn before this rank in each cycle
static double place_now, delay; // in the cycle; and by how much it was moved on
static bool kernel_tells;
static int64_t clock_now, turn_ns; // the time, and how long it takes until the next turn
static int yields, delays, looks_at_place, moves;

static int play_affinity(cpu_set_t *set)
{
    CPU_ZERO(set);
    for (int core = 0; core < allowed; core++) CPU_SET((size_t)core, set);
    return 0;
}

static int play_yield(void);
static bool play_change_core(bool (*taken)(int core));
static bool play_place(double *out);
static void play_cycle_yield(double more);

// The code under test, compiled in so that it meets the played kernel.
#define shoal_this_core()                  core_now
#define sched_getaffinity(pid, bytes, set) play_affinity(set)
#define shoal_yield()                      play_yield()
#define shoal_now_ns()                     clock_now
#define shoal_quick_ns()                   clock_now
#define shoal_change_core(taken)           play_change_core(taken)
#define shoal_cycle_place(out)             play_place(out)
#define shoal_cycle_yield(more)            play_cycle_yield(more)
#include "net/shm/shm.c"
#include "progress/turns.c"

static shoal_world world;

static void others_run(void)
{
    atomic_store(&shoal_the_shm.peers[core_now].berth->turn, turn_of);
}

static int play_yield(void)
{
    yields++;
    clock_now += turn_ns;
    others_run();
    return 0;
}

static bool play_change_core(bool (*taken)(int core))
{
    int to = core_now == 0 ? allowed - 1 : 0;
    CHECK(taken(core_now));
    for (int core = 0; core < allowed; core++)
        if (!taken(core)) to = core;
    core_now = to;
    moves++;
    return true;
}

static bool play_place(double *out)
{
    looks_at_place++;
    *out = place_now;
    return kernel_tells;
}

static void play_cycle_yield(double more)
{
    delays++;
    delay = more;
    others_run();
}

static bool hold(uint32_t peer, int64_t began)
{
    return shoal_turns_hold(peer, &began);
}

static void set_core(uint32_t rank, int core)
{
    atomic_store(&shoal_the_shm.peers[rank].berth->core, core);
}

// A new rank in a world dealt out well, with the turn after rank 1.
static void begin(void)
{
    placing = ordering = holding = (chore){0};
    shoal_the_shm.fetches = false;
    held_from = 0;
    held_out = false;
    in_vain = 0;
    weight = 1;
    before = last = UINT32_MAX;
    strange = well = talked = called = laden = longs = 0;
    near = false;
    atomic_store(&shoal_the_shm.world->header->apart, 0);
    at_length = false;
    home = -1;
    slow = 0;
    moved = false;
    turn_ns = 1000;
    allowed = 2;
    core_now = 1;
    turn_of = 1;
    place_now = 0.25;
    kernel_tells = true;
    yields = delays = looks_at_place = moves = 0;
    for (uint32_t i = 0; i < RANKS; i++) {
        set_core(i, (int)i % 2);
        atomic_store(&shoal_the_shm.peers[i].berth->asleep, 0);
        atomic_store(&shoal_the_shm.peers[i].berth->life, SHOAL_LIFE_INIT);
        atomic_store(&shoal_the_shm.peers[i].berth->mate, 0);
        atomic_store(&shoal_the_shm.peers[i].berth->off_core, 1);
    }
}

// Yields `times` times, beginning at `now`, a microsecond apart.
static void wait_from(int64_t now, int times)
{
    for (int k = 0; k < times; k++) {
        clock_now = now + k * 1000;
        shoal_turns_yield(clock_now);
    }
}

static void test_goes_home(void)
{
    begin();
    core_now = 0;
    set_core(ME, 0);
    wait_from(SOON_NS, 1);
    CHECK(moves == 1 && core_now == 1);
    core_now = 0; // the kernel has other plans: they are not crossed at once
    wait_from(SOON_NS + 1000, 100);
    CHECK(moves == 1 && core_now == 0);
    wait_from(4 * SOON_NS, 1);
    CHECK(moves == 2 && core_now == 1);
}

// What is undone again and again is done less and less.
static void test_gives_way(void)
{
    begin();
    for (int64_t now = SOON_NS; now < 1000 * SOON_NS; now += SOON_NS) {
        core_now = 0;
        shoal_turns_yield(now);
    }
    CHECK(moves > 5 && moves < 40);
    // Once it stays, it is looked after as often as at first, and not more often.
    for (int k = 0; k < 100; k++) was_not_needed(&placing);
    CHECK(placing.pause == SOON_NS);
}

// Some other program computes on its core: that is tried ever more rarely, until it is no longer
// so.
static void test_leaves_core_to_others(void)
{
    begin();
    turn_ns = SLOW_NS;
    for (int64_t k = 1; k * SOON_NS < 10 * NEVER_NS; k++) {
        if (k % (2 * SLOW) == 0) core_now = 0;
        clock_now = k * SOON_NS;
        shoal_turns_yield(clock_now);
    }
    CHECK(moves > 5 && moves < 40 && placing.pause == NEVER_NS);
    turn_ns = 1000;
    for (int64_t now = 10 * NEVER_NS; now < 40 * NEVER_NS; now += SOON_NS) {
        clock_now = now;
        shoal_turns_yield(now);
    }
    CHECK(core_now == 1 && placing.pause == SOON_NS);
}

// Nor is it another program if a rank of this core computes.
static void test_own_rank_computes(void)
{
    begin();
    turn_ns = SLOW_NS;
    atomic_store(&shoal_the_shm.peers[5].berth->off_core, 0);
    for (int64_t k = 1; k < 100; k++) {
        clock_now = k * SOON_NS;
        shoal_turns_yield(clock_now);
    }
    CHECK(slow == 0 && placing.pause < LATE_NS);
}

// Somebody who computes now and then is nothing to run away from.
static void test_bears_much(void)
{
    begin();
    for (int64_t k = 0; k < 1000; k++) {
        turn_ns = k % (QUICK + 1) == 0 ? SLOW_NS : 1000;
        clock_now = SOON_NS + k * 1000;
        shoal_turns_yield(clock_now);
    }
    CHECK(moves == 0 && placing.pause == SOON_NS);
}

// While some rank computes, all stay where they are.
static void test_rank_computes(void)
{
    shoal_berth *other = shoal_the_shm.peers[4].berth;
    begin();
    core_now = 0;
    atomic_store(&other->off_core, 0);
    atomic_store(&other->turn_began, 0);
    wait_from(4 * SOON_NS, 1);
    CHECK(moves == 0);
    atomic_store(&other->turn_began, 8 * SOON_NS - 1000); // it was only its turn
    wait_from(8 * SOON_NS, 1);
    CHECK(moves == 1 && core_now == 1);
    turn_ns = 5 * SLOW_NS; // so long have all others had the core
    wait_from(20 * SOON_NS, 1);
    CHECK(atomic_load(&shoal_the_shm.berth->turn_began) == clock_now);
}

static void test_stays_where_it_is(void)
{
    begin();
    wait_from(SOON_NS, 10);
    CHECK(moves == 0);
    begin(); // its own core has more ranks than this one
    core_now = 0;
    set_core(0, 1);
    set_core(2, 1);
    wait_from(SOON_NS, 10);
    CHECK(moves == 0);
    atomic_store(&shoal_the_shm.peers[5].berth->asleep, 1); // who sleeps needs no core
    atomic_store(&shoal_the_shm.peers[7].berth->asleep, 1);
    wait_from(4 * SOON_NS, 10);
    CHECK(moves == 1);
    begin(); // only odd ranks are awake: they are not all to have one core
    for (uint32_t i = 0; i < RANKS; i += 2) atomic_store(&shoal_the_shm.peers[i].berth->asleep, 1);
    core_now = 0;
    set_core(7, 0);
    wait_from(SOON_NS, 1);
    CHECK(moves == 0);
    atomic_store(&shoal_the_shm.peers[1].berth->asleep, 1);
    atomic_store(&shoal_the_shm.peers[2].berth->asleep, 0);
    set_core(2, 1); // it will leave
    wait_from(4 * SOON_NS, 1);
    CHECK(moves == 1);
    begin(); // bound
    allowed = 1;
    core_now = 0;
    wait_from(SOON_NS, 10);
    CHECK(moves == 0);
}

// On core 1 are 1, 3, 5 and 7: rank 3 is the second of four.
static void test_keeps_order(void)
{
    begin();
    wait_from(SOON_NS, STRANGE + 1);
    CHECK(before == 1 && delays == 0); // it is where it should be, and knows that now
    wait_from(3 * SOON_NS, 1000);
    CHECK(delays == 0 && looks_at_place == 0 && yields == STRANGE + 1001);
}

static void test_moves_in_cycle(void)
{
    begin();
    turn_of = 7;
    place_now = 0.75;
    wait_from(SOON_NS, STRANGE + 1);
    CHECK(delays == 1 && delay == 0.5); // past the end of the cycle, to the second of four places
    wait_from(SOON_NS + 10000, STRANGE * 4);
    CHECK(delays == 1); // not at once again
    place_now = 0.125;
    wait_from(4 * SOON_NS, STRANGE + 1);
    CHECK(delays == 2 && delay == 0.125);
    turn_of = 1;
    wait_from(4 * SOON_NS + 20000, 1);
    wait_from(8 * SOON_NS, 1000);
    CHECK(delays == 2);
}

// Rank 2, which belongs to the other core, comes to this one, and its turn is not before this
// rank's.
static void test_somebody_comes(void)
{
    begin();
    wait_from(SOON_NS, STRANGE + 1);
    CHECK(before == 1 && delays == 0);
    set_core(2, 1);
    wait_from(3 * SOON_NS, 2 * WELL);
    CHECK(before == 2 && delays == 1);
}

static void test_first_follows_last(void)
{
    begin();
    atomic_store(&shoal_the_shm.peers[1].berth->asleep, 1);
    turn_of = 5;
    place_now = 0.5;
    wait_from(SOON_NS, STRANGE + 1);
    CHECK(before == 7 && delays == 1 && delay == 0.5);
}

// Who has left, or has not come yet, has no turn and fills no core.
static void test_absent(void)
{
    begin();
    atomic_store(&shoal_the_shm.peers[1].berth->life, SHOAL_LIFE_FINALIZED);
    turn_of = 7;
    wait_from(SOON_NS, STRANGE + 1);
    CHECK(before == 7 && delays == 0);
    begin();
    core_now = 0;
    set_core(0, 1);
    set_core(2, 1);
    atomic_store(&shoal_the_shm.peers[5].berth->life, SHOAL_LIFE_EMPTY);
    atomic_store(&shoal_the_shm.peers[7].berth->life, SHOAL_LIFE_DEAD);
    wait_from(SOON_NS, 1);
    CHECK(moves == 1);
}

// A move says where it went, and the turns before it count no longer.
static void test_move_begins_anew(void)
{
    begin();
    core_now = 0;
    strange = STRANGE;
    wait_from(SOON_NS, 1);
    CHECK(moves == 1 && shoal_shm_core_of(ME) == 1 && strange <= 1 && looks_at_place == 0);
}

static void test_kernel_does_not_tell(void)
{
    begin();
    turn_of = 7;
    kernel_tells = false;
    wait_from(SOON_NS, 2000);
    CHECK(delays == 0 && looks_at_place < 4 && yields == 2000);
}

static void talk(uint32_t peer, int64_t bytes, int times)
{
    for (int k = 0; k < times; k++) shoal_turns_talk(peer, bytes);
}

static uint32_t share_among(uint32_t of)
{
    cores = of;
    return find_share();
}

// Ranks 3 and 7 would both wait on core 1. The first of a pair goes where its number says, the
// other to the next core, or to the same if messages are long.
static void test_pair(void)
{
    shoal_berth *mine = shoal_the_shm.berth, *other = shoal_the_shm.peers[7].berth;
    begin();
    atomic_store(&other->mate, ME + 1);
    talk(7, 8, TALK - 1);
    CHECK(atomic_load(&mine->mate) == 0 && share_among(8) == ME);
    talk(7, 8, 1);
    CHECK(atomic_load(&mine->mate) == 7 + 1 && share_among(8) == ME / 2 + 4);
    talk(7, LONG, 2 * LONGS);
    CHECK(share_among(8) == ME / 2 + 4);
    wait_from(SOON_NS, 1);
    CHECK(moves == 1 && core_now == 0);
    atomic_store(&other->mate, 6); // it talks to another
    CHECK(share_among(8) == ME);
    talk(5, 8, 2 * TALK / FORGET);
    CHECK(atomic_load(&mine->mate) == 0);
}

// Once two have talked much, a word with another now and then makes them no less a pair.
static void test_pair_and_others(void)
{
    shoal_berth *mine = shoal_the_shm.berth;
    begin();
    atomic_store(&shoal_the_shm.peers[7].berth->mate, ME + 1);
    talk(7, LONG, 10 * TALK);
    for (uint32_t k = 0; k < 50; k++) {
        talk(0, 8, 2);
        CHECK(is_pair() && atomic_load(&mine->mate) == 7 + 1 && at_length);
        talk(7, LONG, 2 * FORGET);
    }
    talk(0, 8, TALK / FORGET);
    CHECK(is_pair());
    talk(0, 8, 1);
    CHECK(!is_pair() && atomic_load(&mine->mate) == 0);
    talk(0, 8, TALK / FORGET);
    CHECK(mate == 0 && talked > 1);
    begin(); // every fourth is too many
    for (int k = 0; k < 100; k++) {
        talk(7, 8, FORGET - 1);
        talk(0, 8, 1);
    }
    CHECK(!is_pair() && atomic_load(&mine->mate) == 0);
}

// Who has the lower core of a pair waits for the other, but not for ever, and not again and again.
static void test_holds_core_for_mate(void)
{
    begin();
    atomic_store(&shoal_the_shm.peers[2].berth->mate, ME + 1);
    talk(2, 8, TALK - 1);
    core_now = 0;
    set_core(2, 1);
    cores = 2;
    clock_now = 5000;
    CHECK(!hold(2, clock_now) && shoal_turns_weight() == 1); // no pair yet
    talk(2, HEAVY, 1);
    CHECK(hold(2, clock_now) && shoal_turns_weight() == 2);
    CHECK(!hold(4, clock_now));
    set_core(2, 0);
    CHECK(!hold(2, clock_now)); // it waits for this very core
    core_now = 1;
    CHECK(hold(2, clock_now)); // it is the other that waits for long
    CHECK(!hold(2, clock_now - MOMENT_NS));
    core_now = 0;
    set_core(2, 1);
    atomic_store(&shoal_the_shm.peers[2].berth->asleep, 1);
    CHECK(!hold(2, clock_now));
    atomic_store(&shoal_the_shm.peers[2].berth->asleep, 0);
    for (int k = 0; k < FAILURES; k++) {
        CHECK(hold(2, clock_now));
        clock_now += HOLD_NS * (RANKS / 2 + 1);
        CHECK(!hold(2, clock_now - HOLD_NS * (RANKS / 2 + 1)));
    }
    CHECK(!hold(2, clock_now)); // it has given up ...
    clock_now = 9 * SOON_NS;
    CHECK(hold(2, clock_now)); // ... for some time
    for (int k = 0; k < FAILURES; k++) {
        CHECK(!hold(2, clock_now - SOON_NS - k));
        CHECK(!hold(2, clock_now - SOON_NS - k)); // the same turn
        if (k == 1) CHECK(hold(2, clock_now) && in_vain == 2);
        if (k == 1) CHECK(!hold(2, clock_now - 2 * SOON_NS) && in_vain == 1);
    }
    CHECK(in_vain == FAILURES - 1 && !hold(2, clock_now - 3 * SOON_NS));
    clock_now += SOON_NS;
    CHECK(!hold(2, clock_now)); // for longer now
    clock_now += SOON_NS;
    CHECK(hold(2, clock_now));
    for (int k = 1; k < 10; k++) CHECK(hold(2, clock_now - k)); // it comes: all is well again
    CHECK(holding.pause == SOON_NS);
    talk(2, LONG, 2 * LONGS);
    CHECK(!hold(2, clock_now) && shoal_turns_weight() == 1);
}

static void test_second_of_pair(void)
{
    begin();
    atomic_store(&shoal_the_shm.peers[2].berth->mate, ME + 1);
    talk(2, LONG - 1, TALK);
    CHECK(share_among(8) == 1 + 1 && share_among(2) == 0);
    talk(2, LONG, 2 * LONGS);
    CHECK(share_among(8) == 1 && share_among(2) == 1);
    shoal_the_shm.fetches = true;
    talk(2, LONG_QUICK - 1, 2 * LONGS);
    CHECK(share_among(8) == 1 + 1 && share_among(2) == 0);
    talk(2, LONG_QUICK, 2 * LONGS);
    CHECK(share_among(8) == 1 && share_among(2) == 1);
    cores = 1; // which makes eight ranks to a core
    talk(2, LONG_MANY - 1, 2 * LONGS);
    CHECK(!at_length);
    talk(2, LONG_MANY, 2 * LONGS);
    CHECK(at_length);
    cores = 2;
    talk(2, 1, 2 * LONGS);
    CHECK(!at_length);
    for (int k = 0; k < 2; k++) { // what has been sent counts, too
        shoal_the_shm.depot.stored += LONG_QUICK;
        talk(2, 1, 1);
    }
    CHECK(at_length);
    for (int k = 0; k < 20; k++) { // as in a stream whose end is acknowledged
        talk(2, LONG_QUICK, 1);
        talk(2, 1, 1);
        CHECK(at_length);
    }
    talk(2, 1, LONGS - 1);
    CHECK(at_length);
    talk(2, 1, LONGS);
    CHECK(!at_length);
}

// Between far cores what is long has a longer way than the turn that it saves is worth.
static void test_pair_with_far_cores(void)
{
    _Atomic int32_t *apart = &shoal_the_shm.world->header->apart;
    begin();
    atomic_store(&shoal_the_shm.peers[2].berth->mate, ME + 1);
    atomic_store(apart, SURE);
    talk(2, LONG_FAR - 1, TALK + 2 * LONGS);
    CHECK(!at_length && share_among(8) == 1 + 1 && share_among(2) == 0);
    talk(2, LONG_FAR, 2 * LONGS);
    CHECK(at_length && share_among(8) == 1 && share_among(2) == 1);
    atomic_store(apart, SURE - 1); // not sure
    talk(2, LONG_FAR, 2 * LONGS);
    CHECK(!at_length);
}

// Where rank `rank` of a pair goes.
static uint32_t share_beside(uint32_t rank, uint32_t other, int64_t bytes)
{
    shoal_the_shm.rank = rank;
    shoal_the_shm.berth = shoal_the_shm.peers[rank].berth;
    talked = 0;
    atomic_store(&shoal_the_shm.peers[other].berth->mate, rank + 1);
    talk(other, bytes, TALK);
    uint32_t found = find_share();
    shoal_the_shm.rank = ME;
    shoal_the_shm.berth = shoal_the_shm.peers[ME].berth;
    return found;
}

// As many pairs as cores, apart by `step`, whose first ranks are `apart` apart: each core gets two
// ranks.
static void check_even(uint32_t apart, uint32_t step, int64_t bytes)
{
    int ranks_on[RANKS] = {0};
    for (uint32_t k = 0; k < cores; k++) {
        uint32_t first = k * apart;
        ranks_on[share_beside(first, first + step, bytes)]++;
        ranks_on[share_beside(first + step, first, bytes)]++;
    }
    for (uint32_t core = 0; core < cores; core++) CHECK(ranks_on[core] == 2);
}

static void test_pairs_come_out_evenly(void)
{
    begin();
    for (cores = 1; cores <= RANKS / 2; cores++) {
        check_even(2, 1, 8);
        check_even(2, 1, LONG);
        check_even(1, cores, 8);
        check_even(1, cores, LONG);
    }
}

// Collective calls, with many ranks to a core: the first half of the ranks go to the first of two
// cores. A few messages in between change nothing.
static void test_calls(void)
{
    begin();
    shoal_the_shm.count = 16;
    for (int k = 1; k < CALLS; k++) shoal_turns_call(8);
    CHECK(share_among(2) == 1);
    shoal_turns_call(8);
    CHECK(share_among(2) == 0 && share_among(8) == ME);
    for (int k = 0; k < 4 * CALLS; k++) shoal_turns_call(8);
    talk(7, 8, TALK);
    for (int k = 0; k < CALLS - TALK; k++) shoal_turns_talk_to_many();
    CHECK(share_among(2) == 0);
    shoal_turns_talk_to_many();
    CHECK(share_among(2) == 1);
    for (int k = 0; k < 4 * CALLS; k++) shoal_turns_call(MUCH - 1);
    CHECK(share_among(2) == 0);
    shoal_turns_call(MUCH); // sums go from rank to rank, and both cores are to add up
    CHECK(share_among(2) == 1);
    shoal_the_shm.count = RANKS;
}

// Messages of a page and more from a rank that gets them from another, or from several: the first
// half of the ranks goes to the first core, until there are more short ones.
static void test_messages_of_pages(void)
{
    begin();
    atomic_store(&shoal_the_shm.peers[2].berth->mate, 1 + 1);
    talk(2, 8, TALK);
    talk(2, PAGE, LADEN - 1);
    CHECK(share_among(2) == 1);
    talk(2, PAGE, 1);
    CHECK(share_among(2) == 0 && share_among(4) == ME / 2);
    talk(2, PAGE, 4 * LADEN);
    talk(2, PAGE - 1, LADEN);
    CHECK(share_among(2) == 0);
    talk(2, PAGE - 1, 1);
    CHECK(share_among(2) == 1);
    begin();
    for (int k = 0; k < LADEN; k++) talk(k % 2 ? 2 : 4, PAGE, 1);
    CHECK(share_among(2) == 0);
    talk(2, MUCH, 1);
    CHECK(share_among(2) == 1);
}

// ... unless they are short and ranks have found that it is not far from core to core.
static void test_pages_between_near_cores(void)
{
    _Atomic int32_t *apart = &shoal_the_shm.world->header->apart;
    begin();
    atomic_store(&shoal_the_shm.peers[2].berth->mate, 1 + 1);
    atomic_store(apart, -SURE);
    talk(2, PAGES_NEAR - 1, TALK + LADEN);
    CHECK(share_among(2) == 1);
    talk(2, PAGES_NEAR, LADEN);
    CHECK(share_among(2) == 0);
    talk(2, PAGES_NEAR - 1, 2 * LADEN);
    atomic_store(apart, 0); // some have found otherwise
    talk(2, PAGE, LADEN);
    CHECK(share_among(2) == 1);
    atomic_store(apart, 1);
    talk(2, PAGE, LADEN);
    CHECK(share_among(2) == 0);
    talk(2, PAGE - 1, 2 * LADEN);
    atomic_store(apart, 1 - SURE);
    talk(2, PAGE, LADEN);
    CHECK(share_among(2) == 0);
}

// How far cores are from each other: what a peer on the own core has written says nothing of it,
// and what many have found can be outweighed soon.
static void test_distance_of_cores(void)
{
    shoal_world_header *h = shoal_the_shm.world->header;
    int64_t far = shoal_the_shm.clock_ns + FAR_NS + 1;
    int32_t awake = atomic_load(&h->awake);
    begin();
    shoal_the_shm.far_matters = true;
    atomic_store(&h->awake, (int32_t)h->cores + 1);
    set_core(2, core_now);
    shoal_shm_note_distance(2, far);
    CHECK(atomic_load(&h->apart) == 0);
    set_core(2, 1 - core_now);
    for (int k = 0; k < 3 * CORES_APART; k++) shoal_shm_note_distance(2, far);
    CHECK(atomic_load(&h->apart) == CORES_APART);
    for (int k = 0; k < CORES_APART + SURE; k++) shoal_shm_note_distance(2, far - 1);
    CHECK(atomic_load(&h->apart) == -SURE);
    atomic_store(&h->awake, (int32_t)h->cores); // a core for everybody: it matters to nobody
    shoal_shm_note_distance(2, far);
    CHECK(atomic_load(&h->apart) == -SURE);
    atomic_store(&h->awake, awake);
    shoal_the_shm.far_matters = false;
}

// ... but not if it waits for nobody, or for this one: then neither waits long.
static void test_pages_from_a_mate(void)
{
    begin();
    talk(2, PAGE, 4 * LADEN);
    CHECK(share_among(2) == 1);
    atomic_store(&shoal_the_shm.peers[2].berth->mate, ME + 1);
    talk(2, PAGE, 4 * LADEN);
    atomic_store(&shoal_the_shm.peers[2].berth->mate, 0);
    CHECK(share_among(2) == 1);
}

// When ranks begin to do something else they go soon where they belong then, even if they have been
// moved away often; but not if turns were long in coming there.
static void test_something_else(void)
{
    begin();
    atomic_store(&shoal_the_shm.peers[2].berth->mate, 1 + 1);
    placing.pause = LATE_NS - 1;
    talk(2, PAGE, LADEN - 1);
    CHECK(placing.pause == LATE_NS - 1);
    talk(2, PAGE, 1);
    CHECK(placing.pause == SOON_NS);
    placing.pause = LATE_NS;
    talk(2, MUCH, 1);
    CHECK(placing.pause == LATE_NS);
    begin();
    placing.pause = LATE_NS - 1;
    for (int k = 0; k < CALLS; k++) shoal_turns_call(8);
    CHECK(placing.pause == SOON_NS);
    placing.pause = LATE_NS - 1;
    shoal_turns_call(MUCH);
    CHECK(placing.pause == SOON_NS && called == 0);
}

int main(void)
{
    int fd = shoal_world_create(RANKS, &world);
    CHECK(fd >= 0);
    if (fd < 0) return SHOAL_TEST_RESULT();
    world.rank = ME;
    if (shoal_shm_init(&world) != 0) return 1;
    test_goes_home();
    test_gives_way();
    test_leaves_core_to_others();
    test_own_rank_computes();
    test_bears_much();
    test_rank_computes();
    test_stays_where_it_is();
    test_keeps_order();
    test_moves_in_cycle();
    test_somebody_comes();
    test_first_follows_last();
    test_absent();
    test_move_begins_anew();
    test_kernel_does_not_tell();
    test_pair();
    test_second_of_pair();
    test_pair_with_far_cores();
    test_pair_and_others();
    test_holds_core_for_mate();
    test_pairs_come_out_evenly();
    test_calls();
    test_messages_of_pages();
    test_pages_between_near_cores();
    test_distance_of_cores();
    test_pages_from_a_mate();
    test_something_else();
    shoal_shm_fini();
    shoal_world_detach(&world);
    close(fd);
    return SHOAL_TEST_RESULT();
}
