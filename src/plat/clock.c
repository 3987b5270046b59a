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

#define LOOK       8192                // cycles: one takes much less
#define LOOK_AFTER (UINT64_C(1) << 21) // cycles: a millisecond or less
#define FORGET     (UINT64_C(1) << 36) // ... half a minute: the machine may have slept since the first
#define ONE        (UINT64_C(1) << 32) // nanosecond

static struct {
    uint64_t cycles;
    int64_t ns;
} first, last; // looks at the clock
// What a cycle since the first takes, in nanoseconds times ONE; or 0: not known. More than one, or
// less than an eighth, is none to go by.
static uint64_t rate;

// Cycles and clock at the same time: not if the core was given to somebody else in between.
static void look_at_both(void)
{
    uint64_t before;
    int tries = 0;
    do {
        before = __builtin_ia32_rdtsc();
        last.ns = shoal_now_ns();
        last.cycles = __builtin_ia32_rdtsc();
    } while (last.cycles - before > LOOK && ++tries < 4);
}

static int64_t look(void)
{
    look_at_both();
    if (first.cycles == 0) first = last;
    uint64_t gone = last.cycles - first.cycles;
    if (gone < LOOK_AFTER) return last.ns;
    unsigned __int128 found = ((unsigned __int128)(uint64_t)(last.ns - first.ns) << 32) / gone;
    rate = found >= ONE / 8 && found <= ONE ? (uint64_t)found : 0;
    if (gone >= FORGET) first = last;
    return last.ns;
}

SHOAL_HOT int64_t shoal_quick_ns(void)
{
    uint64_t gone = __builtin_ia32_rdtsc() - last.cycles;
    if (__builtin_expect(rate == 0 || gone >= LOOK_AFTER, 0)) return look();
    return last.ns + (int64_t)(gone * rate >> 32);
}

#else

int64_t shoal_quick_ns(void)
{
    return shoal_now_ns();
}

#endif
