// SPDX-License-Identifier: BSD-3-Clause
// Calling a function of the user's. It runs without the engine lock: it may need what another
// thread of the user's holds while that thread waits for the engine, such as an interpreter's lock.
// It may call MPI itself, so the name of the call under way is kept.
//
//     shoal_outside o = shoal_outside_go();
//     int code = function(...);
//     shoal_outside_return(o);
//
// Whatever the caller still needs afterwards must be held: other threads make calls meanwhile.
#ifndef SHOAL_CORE_OUTSIDE_H
#define SHOAL_CORE_OUTSIDE_H

#include "progress/engine.h"

typedef struct shoal_outside {
    const char *call;
    uint32_t depth;
} shoal_outside;

static inline shoal_outside shoal_outside_go(void)
{
    const char *call = shoal_the_engine.call;
    return (shoal_outside){.call = call, .depth = shoal_engine_release()};
}

static inline void shoal_outside_return(shoal_outside o)
{
    shoal_engine_reacquire(o.depth);
    shoal_the_engine.call = o.call;
}

#endif
