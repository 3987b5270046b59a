// SPDX-License-Identifier: BSD-3-Clause
// The engine lock and its favourite: a thread that is alone takes no lock; when another one comes
// the two exclude each other from that moment on, wherever the favourite is just then.
#include "progress/engine.h"

#include <pthread.h>
#include <stdlib.h>

#include "plat/test.h"

#define ROUNDS 400
#define TURNS  3000

static long counter;   // not atomic: the lock must protect it
static bool in_engine; // ... and this

static void turn(void)
{
    CHECK(!in_engine);
    in_engine = true;
    counter++;
    in_engine = false;
}

static void take_turns(unsigned seed)
{
    for (int i = 0; i < TURNS; i++) {
        seed = seed * 1103515245u + 12345u;
        shoal_engine_lock();
        turn();
        switch (seed >> 16 & 7) {
        case 0: // a callback of the user's that calls MPI
            shoal_engine_lock();
            turn();
            counter--;
            shoal_engine_unlock();
            break;
        case 1: { // a sleep
            uint32_t depth = shoal_engine_release();
            shoal_engine_reacquire(depth);
            CHECK(depth == 1);
            turn();
            counter--;
            break;
        }
        default: break;
        }
        shoal_engine_unlock();
    }
}

static void *second(void *argument)
{
    unsigned seed = *(unsigned *)argument;
    for (volatile unsigned wait = seed % 20000; wait > 0; wait--) {
    }
    take_turns(seed);
    return NULL;
}

static void become_favourite(void)
{
    shoal_engine_reset();
    shoal_engine_lock();
    shoal_engine_favour_me();
    shoal_engine_unlock();
}

static void alone(void)
{
    become_favourite();
    counter = 0;
    take_turns(1);
    CHECK(counter == TURNS);
    if (!atomic_load(&shoal_the_engine.favourite)) return; // no membarriers here
    CHECK(!atomic_load(&shoal_the_engine.shared) && atomic_load(&shoal_the_engine.lock) == 0);
    // One that was not let in has nothing to give back.
    shoal_engine_unlock_if_mine();
    CHECK(atomic_load(&shoal_the_engine.inside) == 0);
}

static void two(unsigned seed)
{
    pthread_t thread;
    become_favourite();
    counter = 0;
    CHECK(pthread_create(&thread, NULL, second, &seed) == 0);
    take_turns(seed ^ 0x5bd1e995u);
    pthread_join(thread, NULL);
    CHECK(counter == 2 * TURNS && atomic_load(&shoal_the_engine.shared));
    CHECK(atomic_load(&shoal_the_engine.inside) == 0 && atomic_load(&shoal_the_engine.lock) == 0);
}

// The lock goes out of use while the favourite has it.
static void not_multiple(void)
{
    become_favourite();
    shoal_engine_lock();
    shoal_engine_use_lock(false);
    shoal_engine_unlock_if_mine();
    CHECK(atomic_load(&shoal_the_engine.inside) == 0 && atomic_load(&shoal_the_engine.lock) == 0);
    shoal_engine_use_lock(true);
}

int main(void)
{
    alone();
    not_multiple();
    srand(7);
    for (int i = 0; i < ROUNDS; i++) two((unsigned)rand());
    return SHOAL_TEST_RESULT();
}
