// SPDX-License-Identifier: BSD-3-Clause
// The quick clock beside the kernel's, and a thread's own core beside what the kernel says of it.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>

#include "plat/plat.h"
#include "plat/test.h"
#include "plat/turn.h"

#define SECOND       1000000000
#define OFF_BY       100000 // ns: what the kernel may do between two looks is not its fault
#define OFTEN_ENOUGH 100

// Some look must come out between two of the kernel's clock that are near each other.
static void agrees(void)
{
    bool quiet = false;
    for (int tries = 0; tries < OFTEN_ENOUGH && !quiet; tries++) {
        int64_t before = shoal_now_ns(), quick = shoal_quick_ns(), after = shoal_now_ns();
        quiet = after - before <= OFF_BY;
        CHECK(!quiet || (quick > before - OFF_BY && quick < after + OFF_BY));
    }
    CHECK(quiet);
}

static void keeps_time(void)
{
    int64_t end = shoal_now_ns() + SECOND / 10;
    while (shoal_now_ns() < end) {
        agrees();
        shoal_yield();
    }
}

static void knows_its_core(void)
{
    cpu_set_t all, one;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (!CPU_ISSET((size_t)core, &all)) continue;
        CPU_ZERO(&one);
        CPU_SET((size_t)core, &one);
        CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
        CHECK(shoal_this_core() == core);
        CHECK(shoal_this_core() == core); // now that it is known where to look
    }
    CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
}

int main(void)
{
    keeps_time();
    knows_its_core();
    return SHOAL_TEST_RESULT();
}
