// SPDX-License-Identifier: BSD-3-Clause
// Clocks: the kernel's, and one that needs nothing but the processor's count of cycles between two
// looks at it.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <time.h>

#include "plat/plat.h"
#include "plat/turn.h"

int64_t shoal_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

#if defined(__x86_64__)

#define LOOK_AFTER (UINT64_C(1) << 21) // cycles: a millisecond or less
#define ONE                                                                                        \
    (UINT64_C(1) << 32) // nanosecond for a cycle; a count of cycles slower than that,
                        // or faster than eight in one, is none to go by

static struct {
    uint64_t cycles;
    int64_t ns;
} first, last;        // looks at the clock
static uint64_t rate; // of the cycles since the first, in nanoseconds times ONE; or 0: not known

static int64_t look(uint64_t cycles)
{
    last.cycles = cycles;
    last.ns = shoal_now_ns();
    if (first.cycles == 0) first = last;
    uint64_t gone = cycles - first.cycles;
    if (gone < LOOK_AFTER) return last.ns;
    unsigned __int128 found = ((unsigned __int128)(uint64_t)(last.ns - first.ns) << 32) / gone;
    rate = found >= ONE / 8 && found <= ONE ? (uint64_t)found : 0;
    return last.ns;
}

SHOAL_HOT int64_t shoal_quick_ns(void)
{
    uint64_t cycles = __builtin_ia32_rdtsc(), gone = cycles - last.cycles;
    if (__builtin_expect(rate == 0 || gone >= LOOK_AFTER, 0)) return look(cycles);
    return last.ns + (int64_t)(gone * rate >> 32);
}

#else

int64_t shoal_quick_ns(void)
{
    return shoal_now_ns();
}

#endif
