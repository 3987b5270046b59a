// SPDX-License-Identifier: BSD-3-Clause
// The engine's lock when it is not free.
#include "progress/engine.h"

#include <sched.h>
#include <stddef.h>

// Until MPI_Init says that the program has one thread, any number may call what is allowed before
// it.
shoal_engine shoal_the_engine = {.multiple = true, .shared = true};

#define SPINS 200 // about a microsecond: the usual hold is shorter

// The caller has the lock, but the favourite does not look at it yet. The favourite leaves at the
// latest when its call ends or waits: there it looks at `waiting`.
static void take_over(shoal_engine *e)
{
    atomic_store_explicit(&e->shared, true, memory_order_relaxed);
    // Pairs with the signal fence in shoal_engine_enter_alone().
    shoal_membarrier();
    for (int i = 0; atomic_load_explicit(&e->inside, memory_order_acquire) != 0; i++) {
        if (i < SPINS)
            shoal_relax();
        else
            sched_yield();
    }
}

static void take(shoal_engine *e, uint32_t depth)
{
    atomic_store_explicit(&e->owner, shoal_thread_self(), memory_order_relaxed);
    e->depth = depth;
}

static bool try_lock(shoal_engine *e, uint32_t as)
{
    uint32_t free = 0;
    return atomic_load_explicit(&e->lock, memory_order_relaxed) == 0 &&
           atomic_compare_exchange_strong_explicit(&e->lock, &free, as, memory_order_acquire,
                                                   memory_order_relaxed);
}

static void lock_to_depth(uint32_t depth)
{
    shoal_engine *e = &shoal_the_engine;
    atomic_fetch_add_explicit(&e->waiting, 1, memory_order_relaxed);
    bool got = false;
    for (int i = 0; i < SPINS && !got; i++) {
        got = try_lock(e, 1);
        if (!got) shoal_relax();
    }
    // 2 tells the owner to wake somebody; a thread that has slept takes the lock as 2, because
    // others may sleep as well.
    while (!got) {
        got = atomic_exchange_explicit(&e->lock, 2, memory_order_acquire) == 0;
        if (!got) shoal_futex_wait_private(&e->lock, 2, -1);
    }
    if (!atomic_load_explicit(&e->shared, memory_order_relaxed)) take_over(e);
    atomic_fetch_sub_explicit(&e->waiting, 1, memory_order_relaxed);
    take(e, depth);
}

void shoal_engine_lock_slow(void)
{
    shoal_engine *e = &shoal_the_engine;
    if (atomic_load_explicit(&e->owner, memory_order_relaxed) == shoal_thread_self()) {
        e->depth++;
        return;
    }
    lock_to_depth(1);
}

void shoal_engine_unlock_slow(void)
{
    shoal_futex_wake_private(&shoal_the_engine.lock, 1);
}

void shoal_engine_use_lock(bool multiple)
{
    shoal_engine *e = &shoal_the_engine;
    if (e->multiple == multiple) return;
    // The calling thread may have the lock now, and will not give it back once it is not in use.
    if (!multiple) {
        while (shoal_engine_leave_alone(e)) {
        }
        if (atomic_load_explicit(&e->owner, memory_order_relaxed) == shoal_thread_self()) {
            e->depth = 1;
            shoal_engine_unlock();
        }
    }
    e->multiple = multiple;
}

void shoal_engine_favour_me(void)
{
    shoal_engine *e = &shoal_the_engine;
    // One in a life: a favourite that was found not to be alone has had its chance.
    if (!e->multiple || atomic_load(&e->favourite) || !shoal_membarrier_register()) return;
    atomic_store(&e->favourite, shoal_thread_self());
    atomic_store(&e->shared, false);
}

void shoal_engine_reset(void)
{
    shoal_engine *e = &shoal_the_engine;
    atomic_store(&e->lock, 0);
    atomic_store(&e->waiting, 0);
    atomic_store(&e->owner, NULL);
    atomic_store(&e->favourite, NULL);
    atomic_store(&e->inside, 0);
    atomic_store(&e->shared, true);
    e->depth = 0;
    e->multiple = true;
}

uint32_t shoal_engine_release(void)
{
    shoal_engine *e = &shoal_the_engine;
    if (!e->multiple) return 0;
    uint32_t depth = 0;
    while (shoal_engine_leave_alone(e)) depth++;
    if (depth > 0) return depth;
    depth = e->depth;
    e->depth = 1;
    shoal_engine_unlock();
    return depth;
}

void shoal_engine_reacquire(uint32_t depth)
{
    shoal_engine *e = &shoal_the_engine;
    if (!e->multiple) return;
    if (atomic_load_explicit(&e->favourite, memory_order_relaxed) == shoal_thread_self() &&
        shoal_engine_enter_alone(e, depth))
        return;
    lock_to_depth(depth);
}
