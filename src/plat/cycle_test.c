// SPDX-License-Identifier: BSD-3-Clause
// The place in the cycle of turns: what the kernel tells is read right, and a delayed yield leaves
// the thread as it was.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plat/cycle.c"
#include "plat/test.h"

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
}

static void test_this_kernel(void)
{
    double place = 0;
    if (shoal_cycle_place(&place)) CHECK(place >= 0 && place < 1);
    sched_attributes was, is;
    memset(&was, 0, sizeof was);
    if (syscall(SYS_sched_getattr, 0, &was, sizeof was, 0) != 0) return;
    for (int k = 0; k < 10; k++) shoal_cycle_yield(k / 10.0);
    memset(&is, 0, sizeof is);
    CHECK(syscall(SYS_sched_getattr, 0, &is, sizeof is, 0) == 0);
    CHECK(memcmp(&was, &is, sizeof is) == 0);
}

int main(void)
{
    test_fields();
    test_this_kernel();
    return SHOAL_TEST_RESULT();
}
