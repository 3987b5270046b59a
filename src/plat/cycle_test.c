// SPDX-License-Identifier: BSD-3-Clause
// The place in the cycle of turns: what the kernel tells is read right, and a delayed yield leaves
// the thread as it was.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plat/test.h"

static uint64_t slice_set; // the one that was set last
static long note_syscall(long number, pid_t pid, void *attributes, ...);

// The code under test, compiled in so that its calls can be watched.
#define syscall(number, pid, ...) note_syscall(number, pid, __VA_ARGS__)
#include "plat/cycle.c"
#undef syscall

static long note_syscall(long number, pid_t pid, void *attributes, ...)
{
    if (number == SYS_sched_getattr)
        return syscall(number, pid, attributes, sizeof(sched_attributes), 0);
    slice_set = ((sched_attributes *)attributes)->runtime;
    return syscall(number, pid, attributes, 0);
}

static const char as_of_linux[] = "cat (16463, #threads: 1)\n"
                                  "---------------------------\n"
                                  "se.exec_start                  :      47387347.621452\n"
                                  "se.vruntime                    :       1565839.493832\n"
                                  "se.load.weight                 :              1048576\n"
                                  "se.avg.load_sum                :                47075\n"
                                  "se.slice                       :              1400000\n";

static void test_fields(void)
{
    int64_t n = 0;
    CHECK(read_field(as_of_linux, "se.vruntime", &n) && n == 1565839493832);
    CHECK(read_field(as_of_linux, "se.load.weight", &n) && n == 1048576);
    CHECK(read_field(as_of_linux, "se.slice", &n) && n == 1400000);
    CHECK(!read_field(as_of_linux, "se.deadline", &n));
    CHECK(read_field("se.vruntime : -12.000034\n", "se.vruntime", &n) && n == -12000034);
    CHECK(!read_field("se.vruntime : soon\n", "se.vruntime", &n));
    CHECK(!read_field("se.vruntime :\n", "se.vruntime", &n));
    CHECK(!read_field("se.vruntime", "se.vruntime", &n));
    CHECK(!read_field("se.slice (1, of 1)\nse.slice 7\n", "se.slice", &n));
    CHECK(read_field("my se.slice (1, #threads: 1)\nse.slice : 7\n", "se.slice", &n) && n == 7);
}

// Yields, later and later; the slice that was set last.
static uint64_t yield_unchanged(void)
{
    sched_attributes was, is;
    slice_set = 0;
    if (!get_attributes(&was)) return 0;
    for (int k = 0; k < 10; k++) shoal_cycle_yield(k / 10.0);
    CHECK(get_attributes(&is) && memcmp(&was, &is, sizeof is) == 0);
    return slice_set;
}

static void test_this_kernel(void)
{
    double place = 0;
    if (shoal_cycle_place(&place)) CHECK(place >= 0 && place < 1);
    sched_attributes own;
    if (!get_attributes(&own) || own.policy != SCHED_OTHER) return;
    bool can = own.runtime > 0 && set_slice(own, 0);
    CHECK(yield_unchanged() == 0); // it follows the system's, as before
    if (can && set_slice(own, 7000000)) CHECK(yield_unchanged() == 7000000);
}

int main(void)
{
    test_fields();
    test_this_kernel();
    return SHOAL_TEST_RESULT();
}
