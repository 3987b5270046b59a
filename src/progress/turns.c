// SPDX-License-Identifier: BSD-3-Clause
// See turns.h.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "progress/turns.h"

#include <sched.h>

#include "net/shm/shm.h"
#include "plat/turn.h"

#define SOON_NS    1000000    // between two looks whether all is well ...
#define LATE_NS    256000000  // ... when it mostly is not, and nothing helps ...
#define NEVER_NS   4096000000 // ... and when somebody computes on the core that a rank should go to
#define SLOW_NS    1000000    // that is one where a turn is this long in coming ...
#define SLOW       4          // ... several times ...
#define QUICK      8          // ... and not after so many quick ones each
#define STRANGE    8          // turns after the wrong rank, before this one moves
#define TALK       16         // waits for the same peer that make it the only one,
#define FORGET     4          // ... of which one for another takes so many away
#define CALLS      128    // waits in collective calls, more than for messages, that make it these
#define LADEN      32     // waits for messages of some pages in a chain, likewise
#define LONG       65537  // messages of this length are long,
#define LONG_FAR   32768  // ... or this, if cores share no cache,
#define LONG_QUICK 4096   // ... or this, where the kernel is quick to move them,
#define LONG_MANY  8193   // ... or this with many ranks to a core, which makes turns dear
#define LONGS      4      // ... two make talks such, and a few short ones in between change nothing
#define HEAVY      65536  // bytes that take as much of a turn as the message itself
#define PAGE       4096   // messages in a chain of so many are long,
#define PAGES_NEAR 16384  // ... or so many with near cores,
#define MUCH       262144 // ... and that all cores should move at the same time
#define SURE       8      // looks, more than others, that have found cores near, or far
#define HOLD_NS    4000   // for each rank of a core: how long one of a pair waits for the other,
#define FAILURES   4      // ... and how often in vain, before it is left alone for a while;
#define MOMENT_NS  2000   // and how long the other waits for the one, which may be about to come
#define MANY       4      // ranks to a core
#define WELL       64     // turns after the right one, after which all is well

// A thing to be put right now and then: the less often, the less it stays so.
typedef struct chore {
    int64_t done, pause;
} chore;

static chore placing, ordering;
static int home = -1;                // the core that this rank should wait on ...
static uint32_t share, cores;        // ... which is number `share` of `cores` that it may use
static bool moved;                   // there, since turns were last long in coming
static int slow;                     // turns that were long in coming; quick ones make up for them
static uint32_t before = UINT32_MAX; // the rank that should have its turn before this one ...
static uint32_t last = UINT32_MAX;   // ... and that had it
static int strange, well;            // turns in a row that came after another, and after that one

static uint32_t mate;       // whom this rank talks to ...
static int talked;          // ... how many times, less those to others; to twice TALK
static int longs;           // messages that were long, or all that was sent since the one before,
static bool at_length;      // ... are many
static int64_t stored;      // bytes sent through the depot by then, to anybody
static uint32_t weight = 1; // of that
static int in_vain;         // it was waited for so many turns in a row
static int64_t held_from;   // when the last of these turns began ...
static bool held_out;       // ... and whether it ended in vain
static chore holding;       // after that has been in vain too often
static int called; // waits in collective calls less those for messages, from 0 to twice CALLS
static int laden;  // waits for messages of some pages in a chain, less others; to twice LADEN
static bool near;  // cores share a cache, as far as ranks are sure of it

static bool is_due(chore *c, int64_t now)
{
    if (c->pause == 0) c->pause = SOON_NS;
    if (now - c->done < c->pause) return false;
    c->done = now;
    return true;
}

static void was_needed(chore *c)
{
    if (c->pause < LATE_NS) c->pause += c->pause / 2;
}

static void was_not_needed(chore *c)
{
    c->pause = c->pause > 2 * SOON_NS ? c->pause / 2 : SOON_NS;
}

// Is this another rank that may want a core? Before MPI_Init and after MPI_Finalize none has turns.
static bool is_about(uint32_t rank)
{
    const shoal_shm *s = &shoal_the_shm;
    return rank != s->rank && !shoal_shm_asleep(rank) &&
           atomic_load_explicit(&s->peers[rank].berth->life, memory_order_relaxed) ==
               SHOAL_LIFE_INIT;
}

// Counts some more or fewer, from 0 to twice `enough`. Whether there are enough says where ranks
// belong: when that changes they go there soon, unless that has been tried in vain.
static void count(int *so_far, int more, int enough)
{
    bool were = *so_far >= enough;
    *so_far += more;
    if (*so_far < 0) *so_far = 0;
    if (*so_far > 2 * enough) *so_far = 2 * enough;
    if (were != (*so_far >= enough) && placing.pause < LATE_NS) placing.pause = SOON_NS;
}

void shoal_turns_talk_to_many(void)
{
    count(&called, -1, CALLS);
}

// Do more than two ranks hang together? This one waits now for one peer and now for another, or
// always for the same, which waits for a third.
static bool in_chain(void)
{
    const shoal_shm *s = &shoal_the_shm;
    uint32_t its = atomic_load_explicit(&s->peers[mate].berth->mate, memory_order_relaxed);
    return talked < TALK || (its != 0 && its != s->rank + 1);
}

static uint32_t ranks_to_core(void)
{
    return shoal_the_shm.count / (cores ? cores : 1);
}

// How many more looks have found cores far of late than near.
static int32_t looks_apart(void)
{
    return atomic_load_explicit(&shoal_the_shm.world->header->apart, memory_order_relaxed);
}

// From here on messages of a chain are slower to read on another core than it helps that two ranks
// have one at the same time. If ranks have found of late that their cores share a cache, and turns
// are not rare, that is not so for a page or two.
static int64_t laden_from(void)
{
    if (looks_apart() > 0)
        near = false;
    else if (looks_apart() <= -SURE)
        near = true;
    return near && ranks_to_core() <= MANY ? PAGES_NEAR : PAGE;
}

// With many ranks to a core each turn costs twice as much, since the processor has forgotten where
// the memory of the rank lies. Two cores at the same time need fewer turns.
static int64_t long_from(void)
{
    if (!shoal_the_shm.fetches) return looks_apart() >= SURE ? LONG_FAR : LONG;
    return ranks_to_core() > MANY ? LONG_MANY : LONG_QUICK;
}

// A few words with others in between change nothing.
static void count_talk(uint32_t peer)
{
    _Atomic uint32_t *said = &shoal_the_shm.berth->mate;
    int had = talked;
    if (peer == mate) {
        if (talked < 2 * TALK) talked++;
    } else if (talked > FORGET) {
        talked -= FORGET;
    } else {
        talked = 1;
        mate = peer;
    }
    if (had >= TALK && talked < TALK) atomic_store_explicit(said, 0, memory_order_relaxed);
    if (had < TALK && talked >= TALK) atomic_store_explicit(said, mate + 1, memory_order_relaxed);
}

void shoal_turns_talk(uint32_t peer, int64_t bytes)
{
    shoal_turns_talk_to_many();
    count_talk(peer);
    if (bytes >= MUCH)
        count(&laden, -2 * LADEN, LADEN);
    else
        count(&laden, bytes >= laden_from() && in_chain() ? 1 : -1, LADEN);
    if (peer != mate) return;
    int64_t sent = shoal_the_shm.depot.stored - stored;
    stored += sent;
    longs += (bytes > sent ? bytes : sent) >= long_from() ? 2 : -1;
    if (longs < 0) longs = 0;
    if (longs > 2 * LONGS) longs = 2 * LONGS;
    at_length = longs >= LONGS;
    weight = at_length ? 1 : 1 + (uint32_t)bytes / HEAVY;
}

SHOAL_HOT void shoal_turns_call(uint64_t bytes)
{
    count(&called, bytes < MUCH ? 1 : -2 * CALLS, CALLS);
}

// Do this rank and its mate talk only to each other?
static bool is_pair(void)
{
    const shoal_shm *s = &shoal_the_shm;
    return talked >= TALK && mate != s->rank &&
           atomic_load_explicit(&s->peers[mate].berth->mate, memory_order_relaxed) == s->rank + 1;
}

uint32_t shoal_turns_weight(void)
{
    return is_pair() ? weight : 1;
}

// Only the one on the lower core waits for long, or both would, each for who cannot have a turn
// meanwhile.
bool shoal_turns_hold(uint32_t peer, int64_t *began)
{
    if (peer != mate || at_length || called >= CALLS || !is_pair() || !is_about(peer)) return false;
    int here = shoal_this_core(), there = shoal_shm_core_of(peer);
    if (here < 0 || here == there) return false;
    int64_t now = shoal_now_ns();
    if (*began == 0) *began = now;
    if (there < here) return now - *began < MOMENT_NS;
    if (*began != held_from) {
        if (!held_out) {
            in_vain = 0;
            was_not_needed(&holding);
        }
        held_from = *began;
        held_out = false;
    }
    if (in_vain >= FAILURES) {
        held_out = true; // there was nothing to hold out for
        if (!is_due(&holding, now)) return false;
        in_vain = 0;
        held_out = false;
    }
    if (now - *began < HOLD_NS * (int64_t)(ranks_to_core() + 1)) return true;
    if (!held_out && ++in_vain == FAILURES) was_needed(&holding);
    held_out = true;
    return false;
}

// Which of its cores a rank of a crowd goes to. Neighbours go to different ones, so that they can
// have a turn at the same time. With many ranks to a core that is rare, and in collective calls it
// is better then if turn follows turn. Nor does it matter as much as how far a page has to go, if
// each gets them from the one below: then all of them stay on their core but one.
static uint32_t share_of(uint32_t rank)
{
    bool together = called >= CALLS ? ranks_to_core() > MANY : laden >= LADEN;
    return together ? (uint32_t)((uint64_t)rank * cores / shoal_the_shm.count) : rank % cores;
}

// The same for this rank, which may be one of a pair. Pairs of neighbours (of which the first is
// even) and of ranks half the world apart (any) both come out evenly.
static uint32_t find_share(void)
{
    uint32_t rank = shoal_the_shm.rank, first = rank < mate ? rank : mate;
    if (called >= CALLS || !is_pair()) return share_of(rank);
    bool next = rank != first && !at_length;
    return (first / 2 + first % 2 * ((cores + 1) / 2) + next) % cores;
}

static int find_home(void)
{
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) == 0) return -1;
    cores = (uint32_t)CPU_COUNT(&all);
    share = find_share();
    uint32_t nth = 0;
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET((size_t)core, &all) && nth++ == share) return core;
    return -1;
}

// Has a rank a core, and has had it for long? Others' turns do not count, however long they are.
static bool is_computing(uint32_t rank, int64_t now)
{
    const shoal_berth *b = shoal_the_shm.peers[rank].berth;
    return shoal_shm_on_core(rank) &&
           now - atomic_load_explicit(&b->turn_began, memory_order_relaxed) > SLOW_NS;
}

static bool is_not_home(int core)
{
    return core != home;
}

// Goes where it belongs, unless some rank computes, wherever that is: the kernel does well by it
// and by those who wait for it. Nor if that core has more to do than this one already, or would
// have it then and nobody there belongs elsewhere: when only some ranks are awake, all may belong
// to one core. True if it has moved.
static bool go_home(int here, int64_t now)
{
    const shoal_shm *s = &shoal_the_shm;
    home = find_home();
    if (home < 0 || home == here) {
        was_not_needed(&placing);
        return false;
    }
    int there = 0, with_us = 1;
    bool others_will_go = called < CALLS && is_pair(), busy = false;
    for (uint32_t i = 0; i < s->count; i++) {
        if (!is_about(i)) continue;
        busy = busy || is_computing(i, now);
        there += shoal_shm_core_of(i) == home;
        with_us += shoal_shm_core_of(i) == here;
        others_will_go = others_will_go || (shoal_shm_core_of(i) == home && share_of(i) != share);
    }
    if (busy || there > with_us || (there == with_us && !others_will_go)) return false;
    was_needed(&placing);
    if (!shoal_change_core(is_not_home)) return false;
    atomic_store_explicit(&s->berth->core, home, memory_order_relaxed);
    strange = well = 0; // they were turns on another core
    moved = true;
    return true;
}

// Has some rank that was last seen on this core not given it away?
static bool rank_computes_on(int core)
{
    for (uint32_t i = 0; i < shoal_the_shm.count; i++)
        if (is_about(i) && shoal_shm_core_of(i) == core && shoal_shm_on_core(i)) return true;
    return false;
}

// A rank whose turns at home are long in coming, because another program computes there, keeps all
// others waiting. They are better off crowded on the cores that are left; the kernel sees to that
// when it wakes them. A rank that computes will come back.
static void judge_home(int64_t took)
{
    bool is_slow = took >= SLOW_NS && !rank_computes_on(home);
    slow += is_slow ? QUICK : slow > 0 ? -1 : 0;
    if (slow < SLOW * QUICK) return;
    slow = 0;
    if (placing.pause < LATE_NS)
        placing.pause = LATE_NS;
    else if (moved && placing.pause < NEVER_NS)
        placing.pause *= 2;
    moved = false;
}

// Finds who should have its turn before this rank on this core, and where in the cycle its own turn
// should be.
static double find_place(int here)
{
    const shoal_shm *s = &shoal_the_shm;
    uint32_t lower = 0, all = 1;
    before = s->rank;
    for (uint32_t i = 0; i < s->count; i++) {
        if (!is_about(i) || shoal_shm_core_of(i) != here) continue;
        all++;
        if (i < s->rank) lower++;
        if (i < s->rank || lower == 0) before = i;
    }
    return (double)lower / all;
}

// Yields until the place in the cycle that this rank should have.
static void yield_to_place(int here)
{
    double should = find_place(here), is;
    strange = 0;
    if (last == before) {
        shoal_yield();
        return;
    }
    was_needed(&ordering);
    if (!shoal_cycle_place(&is))
        shoal_yield();
    else
        shoal_cycle_yield(should >= is ? should - is : should - is + 1);
}

// A turn of this rank begins: after whose?
static void note_turn(int here)
{
    const shoal_shm *s = &shoal_the_shm;
    _Atomic uint32_t *turn = &s->peers[(uint32_t)here % s->count].berth->turn;
    last = atomic_exchange_explicit(turn, s->rank, memory_order_relaxed);
    if (last == s->rank) return; // nobody else has had any
    if (last != before) {
        strange++;
        well = 0;
        return;
    }
    strange = 0;
    if (++well < WELL) return;
    well = 0;
    was_not_needed(&ordering);
    find_place(here); // somebody may have come in between
}

SHOAL_HOT void shoal_turns_yield(int64_t now)
{
    int here = shoal_this_core();
    if (here < 0) here = 0;
    if (is_due(&placing, now) && go_home(here, now)) here = home;
    bool timed = here == home;
    if (strange >= STRANGE && is_due(&ordering, now))
        yield_to_place(here);
    else
        shoal_yield();
    int64_t back = shoal_quick_ns();
    atomic_store_explicit(&shoal_the_shm.berth->turn_began, back, memory_order_relaxed);
    if (timed) judge_home(back - now);
    here = shoal_this_core();
    note_turn(here < 0 ? 0 : here);
}
