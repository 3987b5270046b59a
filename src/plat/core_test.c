// SPDX-License-Identifier: BSD-3-Clause
// Changing the core: the thread runs elsewhere afterwards, and may run where it might before.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>

#include "plat/plat.h"
#include "plat/test.h"

static int spared; // the core that is not taken

static bool all_taken(int core)
{
    (void)core;
    return true;
}

static bool others_taken(int core)
{
    return core != spared;
}

static bool may_run_on(const cpu_set_t *set)
{
    cpu_set_t now;
    return sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, set);
}

// The kernel may move the thread by itself; but not so often.
static bool moves(bool (*taken)(int core), bool to_spared)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        int here = sched_getcpu();
        if (to_spared && here == spared) continue;
        bool moved = shoal_change_core(taken);
        int now = sched_getcpu();
        if (moved && now != here && (!to_spared || now == spared)) return true;
    }
    return false;
}

int main(void)
{
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return 1;
    if (CPU_COUNT(&all) > 1) {
        CHECK(moves(all_taken, false));
        CHECK(may_run_on(&all));
        spared = sched_getcpu();
        CHECK(shoal_change_core(all_taken));
        CHECK(moves(others_taken, true));
        CHECK(may_run_on(&all));
    }
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) return 1;
    CHECK(!shoal_change_core(all_taken));
    CHECK(may_run_on(&one));
    return SHOAL_TEST_RESULT();
}
