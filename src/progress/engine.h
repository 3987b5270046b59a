// SPDX-License-Identifier: BSD-3-Clause
// The engine of this process: whether MPI runs, which thread is inside, and what call it makes.
//
// One lock protects everything above plat/. While the engine runs it is taken only when
// MPI_Init_thread granted MPI_THREAD_MULTIPLE. It may be taken again by the thread that has it
// (user callbacks may call MPI); a thread that sleeps gives it up whole.
//
// Most programs that ask for MPI_THREAD_MULTIPLE call MPI from one thread only. That thread, the
// favourite, enters and leaves by plain stores to `inside`. The first other thread that comes sets
// `shared`, makes the favourite's core pass a barrier (membarrier), waits until it is not inside,
// and from then on everybody takes the lock.
#ifndef SHOAL_PROGRESS_ENGINE_H
#define SHOAL_PROGRESS_ENGINE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "plat/plat.h"

enum shoal_engine_state {
    SHOAL_ENGINE_NEW, // before MPI_Init and the first session
    SHOAL_ENGINE_RUNNING,
    SHOAL_ENGINE_FINALIZED, // after MPI_Finalize
    SHOAL_ENGINE_FORKED,    // in a child that a rank forked: not part of the world
};

typedef struct shoal_engine {
    _Atomic int state; // enum shoal_engine_state
    bool multiple;     // MPI_THREAD_MULTIPLE: the lock is in use
    int thread_level;  // what was granted
    const char *call;  // the MPI function under way, for error texts and the blackboard
    _Atomic(const void *) favourite; // thread that needs no lock while it is alone, or NULL
    _Atomic uint32_t inside;         // how deep the favourite is in; only it writes this
    _Atomic bool shared;             // everybody takes the lock
    // The lock: 0 free, 1 taken, 2 taken and somebody sleeps for it.
    alignas(SHOAL_LINE) _Atomic uint32_t lock;
    _Atomic uint32_t waiting; // threads that want the lock; asks a spinning owner to let go
    _Atomic(const void *) owner;
    uint32_t depth;
} shoal_engine;

extern shoal_engine shoal_the_engine;

void shoal_engine_lock_slow(void);
void shoal_engine_unlock_slow(void);

// An address that differs between threads.
static inline const void *shoal_thread_self(void)
{
    return __builtin_thread_pointer();
}

// Entering as the favourite, `levels` deep; false if the lock must be taken.
static inline bool shoal_engine_enter_alone(shoal_engine *e, uint32_t levels)
{
    uint32_t inside = atomic_load_explicit(&e->inside, memory_order_relaxed);
    if (!inside && atomic_load_explicit(&e->shared, memory_order_relaxed)) return false;
    atomic_store_explicit(&e->inside, inside + levels, memory_order_relaxed);
    // Pairs with the membarrier in take_over(): either we see `shared`, or it sees us inside.
    atomic_signal_fence(memory_order_seq_cst);
    if (inside || !atomic_load_explicit(&e->shared, memory_order_relaxed)) return true;
    atomic_store_explicit(&e->inside, 0, memory_order_release);
    return false;
}

// Leaving as the favourite; false if it is the lock that must be given back.
static inline bool shoal_engine_leave_alone(shoal_engine *e)
{
    if (atomic_load_explicit(&e->favourite, memory_order_relaxed) != shoal_thread_self())
        return false;
    uint32_t inside = atomic_load_explicit(&e->inside, memory_order_relaxed);
    if (!inside) return false;
    // Pairs with the acquire in take_over().
    atomic_store_explicit(&e->inside, inside - 1, memory_order_release);
    return true;
}

static inline void shoal_engine_lock(void)
{
    shoal_engine *e = &shoal_the_engine;
    if (!e->multiple) return;
    if (atomic_load_explicit(&e->favourite, memory_order_relaxed) == shoal_thread_self() &&
        shoal_engine_enter_alone(e, 1))
        return;
    uint32_t free = 0;
    if (atomic_load_explicit(&e->shared, memory_order_relaxed) &&
        atomic_compare_exchange_strong_explicit(&e->lock, &free, 1, memory_order_acquire,
                                                memory_order_relaxed)) {
        atomic_store_explicit(&e->owner, shoal_thread_self(), memory_order_relaxed);
        e->depth = 1;
        return;
    }
    shoal_engine_lock_slow();
}

static inline void shoal_engine_unlock(void)
{
    shoal_engine *e = &shoal_the_engine;
    if (!e->multiple || shoal_engine_leave_alone(e)) return;
    if (--e->depth > 0) return;
    atomic_store_explicit(&e->owner, NULL, memory_order_relaxed);
    if (atomic_exchange_explicit(&e->lock, 0, memory_order_release) != 1)
        shoal_engine_unlock_slow();
}

// Does another thread wait to be let in?
static inline bool shoal_engine_wanted(void)
{
    return atomic_load_explicit(&shoal_the_engine.waiting, memory_order_relaxed) != 0;
}

// The same for a caller that may not have got in.
static inline void shoal_engine_unlock_if_mine(void)
{
    shoal_engine *e = &shoal_the_engine;
    if (!e->multiple || shoal_engine_leave_alone(e)) return;
    if (atomic_load_explicit(&e->owner, memory_order_relaxed) == shoal_thread_self())
        shoal_engine_unlock();
}

// Whether the lock is in use: while MPI_THREAD_MULTIPLE is granted, and while the engine does not
// run.
void shoal_engine_use_lock(bool multiple);

// Makes the calling thread, which has the lock, the favourite.
void shoal_engine_favour_me(void);

// In a forked child: nobody has the lock, and all threads but one are gone.
void shoal_engine_reset(void);

// Gives the lock up whole (returning its depth) and takes it back, around a sleep. The call's name
// is kept by the caller, since another thread will write its own.
uint32_t shoal_engine_release(void);
void shoal_engine_reacquire(uint32_t depth);

#endif
