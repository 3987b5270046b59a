// SPDX-License-Identifier: BSD-3-Clause
// Waiting: spin while the answer is near, yield while others may need the core, then sleep.
//
// How long each step lasts depends on one number that all ranks share: how many of them are awake.
// While every awake rank can have a core, spinning disturbs nobody and saves the cost of waking an
// idle core. As soon as more are awake than cores are there, the core is worth more to a peer,
// unless the awaited one has a core at the same time. And a peer that has none may wait for ours,
// however few are awake.
#include "net/shm/shm.h"
#include "plat/turn.h"
#include "progress/engine.h"
#include "progress/progress.h"
#include "progress/turns.h"

#define SPIN_ROOMY_NS       40000  // spin when there is a core for everybody awake
#define YIELD_ROOMY_NS      250000 // ... then yield up to this age of the wait
#define YIELD_CROWDED_NS    200000 // yield at once, up to this age, when somebody else needs the core
#define YIELDS_CROWDED      32     // ... and so often: turns of others may be long,
#define YIELD_MOST_NS       5000000 // ... but not longer: others may compute
#define LOOK_AT_CLOCK       32      // polls between two looks at the clock
#define LOOKS_CROWDED       32      // polls for a peer that has a core, before others get ours,
#define LOOKS_FIRST         128     // ... when its turn begins, and its caches are cold,
#define LOOKS_IN_VAIN       4       // ... unless that has been in vain so many times in a row,
#define LOOKS_AGAIN         64      // ... and then only every so many times
#define TURN                64      // waits in one turn that may be such
#define LOOK_AROUND         4       // polls between two looks at all rings
#define ASIDE_YIELDS        16      // to a peer on our core, while another is free, before we move
#define ASIDE_NS            1000000 // between two moves at least
#define PATIENCE_ROOMY_NS   20000   // before messages are fetched that nobody has asked for
#define PATIENCE_CROWDED_NS 100000  // ... when it takes longer until one is asked for
#define HOLD_BACK_NS        14      // for each request that a call waits for ...
#define HOLD_BACK_MOST      32 // ... up to so many: time between two looks, so that messages pile up

static shoal_poll_fn *more[4];
static int more_count;
static bool nothing_to_do(void)
{
    return false;
}
static shoal_before_sleep_fn *before_sleep = nothing_to_do;
static uint32_t waits_in_turn;
static int64_t turn_began; // to be waited out for a mate, or 0: not known
static bool met_in_turn;   // a peer with a core: when it has none any more, its turn is over
static unsigned in_vain;   // turns in a row at whose beginning one was looked for for long
uint32_t shoal_progress_sleepers;

void shoal_progress_add(shoal_poll_fn *poll)
{
    more[more_count++] = poll;
}

void shoal_progress_set_before_sleep(shoal_before_sleep_fn *f)
{
    before_sleep = f;
}

// Somebody waits for us to fetch a message that we have not asked for. The receive often comes in a
// moment, and then it need not be copied twice; but not for ever, since we may wait for that rank
// in turn.
static int settle_in_time(void)
{
    int64_t patience = shoal_progress_crowded() ? PATIENCE_CROWDED_NS : PATIENCE_ROOMY_NS;
    return shoal_net_settle(shoal_now_ns() - patience);
}

// What is to be done at each poll beside looking at rings.
static SHOAL_HOT int poll_more(void)
{
    int moved = 0;
    for (int i = 0; i < more_count; i++) moved += more[i]();
    if (__builtin_expect(shoal_net_owed > 0, 0)) moved += settle_in_time();
    return moved;
}

static int poll(bool everything)
{
    int moved = everything ? shoal_shm_poll() : shoal_shm_poll_hot();
    return moved + poll_more();
}

int shoal_progress_poll_others(uint32_t peer)
{
    int moved = shoal_shm_poll_others(peer);
    return moved + poll_more();
}

int shoal_progress_poll(void)
{
    return poll(true);
}

void shoal_progress_wake_sleepers(void)
{
    shoal_berth *b = shoal_the_shm.berth;
    shoal_shm_ring_bell(b);
    // The bell may have been rung already by a sender; threads that slept since must wake too.
    atomic_fetch_add_explicit(&b->bell, 1, memory_order_seq_cst);
    shoal_futex_wake(&b->bell, 1 << 30);
}

SHOAL_HOT bool shoal_progress_crowded(void)
{
    const shoal_world_header *h = shoal_the_shm.world->header;
    return atomic_load_explicit(&h->awake, memory_order_relaxed) > (int32_t)h->cores;
}

bool shoal_progress_turn_goes_on(void)
{
    bool goes_on = waits_in_turn < TURN;
    waits_in_turn += shoal_turns_weight();
    return goes_on;
}

static SHOAL_HOT void leave_core(shoal_berth *b)
{
    atomic_store_explicit(&b->core, shoal_this_core(), memory_order_relaxed);
    atomic_store_explicit(&b->off_core, 1, memory_order_relaxed);
}

static SHOAL_HOT void have_core(shoal_berth *b)
{
    atomic_store_explicit(&b->off_core, 0, memory_order_relaxed);
    waits_in_turn = 0;
    turn_began = 0;
    met_in_turn = false;
}

static void set_asleep(shoal_world_header *h, shoal_berth *b)
{
    if (atomic_exchange_explicit(&b->asleep, 1, memory_order_seq_cst) == 0)
        atomic_fetch_sub_explicit(&h->awake, 1, memory_order_seq_cst);
    shoal_shm_want_room();
    // Pairs with the look at `asleep` in shoal_shm_announce() and
    // shoal_shm_wake_producer().
    atomic_thread_fence(memory_order_seq_cst);
    if (!h->fenced) shoal_membarrier();
}

static void set_awake(shoal_world_header *h, shoal_berth *b)
{
    // While another thread sleeps the bell must go on ringing.
    if (shoal_progress_sleepers > 0) return;
    if (atomic_exchange_explicit(&b->asleep, 0, memory_order_seq_cst) == 1)
        atomic_fetch_add_explicit(&h->awake, 1, memory_order_relaxed);
}

// The last look, and the sleep. Returns after any ring of the bell, or a signal.
static void sleep_once(shoal_done_fn *done, void *what, shoal_describe_fn *describe)
{
    shoal_shm *s = &shoal_the_shm;
    shoal_world_header *h = s->world->header;
    shoal_berth *b = s->berth;
    uint32_t bell = atomic_load_explicit(&b->bell, memory_order_seq_cst);
    shoal_wait_note note = {.call = shoal_the_engine.call, .requests = 1, .peer_world = -1};
    describe(what, &note);
    if (before_sleep()) return;
    int slot = shoal_board_write(b, &note);
    set_asleep(h, b);
    if (shoal_shm_pending() || before_sleep() || done(what)) {
        set_awake(h, b);
        shoal_board_wipe(b, slot);
        return;
    }
    shoal_progress_sleepers++;
    atomic_store_explicit(&b->slept_bell, bell, memory_order_relaxed);
    atomic_store_explicit(&b->sleepers, shoal_progress_sleepers, memory_order_release);
    const char *call = shoal_the_engine.call;
    if (atomic_load_explicit(&h->awake, memory_order_seq_cst) <= 0) shoal_world_notify(s->world);
    leave_core(b);
    uint32_t depth = shoal_engine_release();
    shoal_futex_wait(&b->bell, bell, -1);
    shoal_engine_reacquire(depth);
    have_core(b);
    shoal_the_engine.call = call;
    shoal_progress_sleepers--;
    atomic_store_explicit(&b->sleepers, shoal_progress_sleepers, memory_order_release);
    set_awake(h, b);
    shoal_board_wipe(b, slot);
}

// Lets another thread of this process have the engine if one asks for it.
static void share_engine(void)
{
    if (!shoal_engine_wanted()) return;
    const char *call = shoal_the_engine.call;
    uint32_t depth = shoal_engine_release();
    shoal_yield();
    shoal_engine_reacquire(depth);
    shoal_the_engine.call = call;
}

// A receiver that looks at the ring all the time takes each message as soon as it comes, and the
// sender has to win every cache line back. When many are awaited it is faster to let some come.
static void hold_back(int64_t open)
{
    if (open > HOLD_BACK_MOST) open = HOLD_BACK_MOST;
    shoal_relax_ns((int)open * HOLD_BACK_NS);
}

// Others need this core. But while the peer that spoke last, or is to speak, has one too, its
// message may come in a moment. `looks` counts those of this wait since the last yield.
static bool look_on(int *looks)
{
    uint32_t hot = shoal_the_shm.hot;
    if (*looks == 0 && !shoal_progress_turn_goes_on()) return false;
    ++*looks;
    if (!shoal_shm_on_core(hot)) return !met_in_turn && shoal_turns_hold(hot, &turn_began);
    met_in_turn = true;
    uint32_t weight = shoal_turns_weight();
    bool first = waits_in_turn <= 2 * weight; // a receive has looked once before it waits
    int most = LOOKS_CROWDED * (int)weight;
    if (first && most < LOOKS_FIRST && (in_vain < LOOKS_IN_VAIN || in_vain % LOOKS_AGAIN == 0))
        most = LOOKS_FIRST;
    if (*looks <= most) return true;
    if (first) in_vain++; // it computes, perhaps
    return false;
}

// Has a rank that is awake been on this core of late?
static bool core_taken(int core)
{
    const shoal_shm *s = &shoal_the_shm;
    for (uint32_t i = 0; i < s->count; i++)
        if (i != s->rank && !shoal_shm_asleep(i) && shoal_shm_core_of(i) == core) return true;
    return false;
}

// Every awake rank could have a core, and yet the awaited one and we share one: the kernel has
// woken both there, and would let them be for a long time. One of the two moves.
static void step_aside(uint32_t peer, int64_t now)
{
    static int yields;
    static int64_t moved;
    const shoal_shm *s = &shoal_the_shm;
    bool shared = peer < s->rank && !shoal_shm_on_core(peer) && !shoal_shm_asleep(peer) &&
                  shoal_shm_core_of(peer) == shoal_this_core();
    yields = shared ? yields + 1 : 0;
    if (yields < ASIDE_YIELDS || now - moved < ASIDE_NS) return;
    yields = 0;
    moved = now;
    shoal_change_core(core_taken);
}

// Gives the core to others until the next turn. A wait for somebody in particular says so.
static void yield(bool named, int64_t now)
{
    bool crowded = shoal_progress_crowded();
    if (named && !crowded) step_aside(shoal_the_shm.hot, now);
    leave_core(shoal_the_shm.berth);
    if (crowded)
        shoal_turns_yield(now);
    else
        shoal_yield();
    have_core(shoal_the_shm.berth);
}

static SHOAL_HOT void wait_for(shoal_done_fn *done, void *what, shoal_describe_fn *describe,
                               int hot, shoal_open_fn *open)
{
    int64_t began = 0, now = 0;
    int yields = 0, looks = 0;
    bool full = open && shoal_progress_crowded(); // as of the last look at it
    if (hot >= 0) shoal_the_shm.hot = (uint32_t)hot;
    if (shoal_progress_sleepers > 0) have_core(shoal_the_shm.berth); // another thread has left it
    for (unsigned polls = 1;; polls++) {
        if (poll(yields > 0 || (hot < 0 && polls == 1) || polls % LOOK_AROUND == 0) > 0) {
            if (looks > 0) in_vain = 0;
            if (done(what)) return;
            began = 0; // things move: the answer is near
            yields = looks = 0;
            continue;
        }
        if (done(what)) return;
        share_engine();
        if (open && !full) hold_back(open(what));
        if (!full && polls % LOOK_AT_CLOCK != 0 && began != 0 && yields == 0) {
            shoal_relax();
            continue;
        }
        full = shoal_progress_crowded() ||
               ((hot >= 0 || open) && !shoal_shm_on_core(shoal_the_shm.hot));
        if (full && (hot >= 0 || (open && !shoal_shm_far(shoal_the_shm.hot))) && look_on(&looks)) {
            if (open) hold_back(open(what));
            shoal_relax();
            continue;
        }
        now = full ? shoal_quick_ns() : shoal_now_ns();
        if (began == 0) began = now;
        if (!full && now - began < SPIN_ROOMY_NS) continue;
        looks = 0;
        if (now - began < (full ? YIELD_CROWDED_NS : YIELD_ROOMY_NS) ||
            (full && yields < YIELDS_CROWDED && now - began < YIELD_MOST_NS)) {
            yields++;
            yield(hot >= 0 || open, now);
            continue;
        }
        shoal_net_settle(INT64_MAX);
        sleep_once(done, what, describe);
        began = 0;
        yields = 0;
    }
}

SHOAL_HOT void shoal_progress_wait(shoal_done_fn *done, void *what, shoal_describe_fn *describe,
                                   int hot)
{
    wait_for(done, what, describe, hot, NULL);
}

SHOAL_HOT void shoal_progress_wait_many(shoal_done_fn *done, void *what,
                                        shoal_describe_fn *describe, shoal_open_fn *open)
{
    wait_for(done, what, describe, -1, open);
}
