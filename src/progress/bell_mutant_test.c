// SPDX-License-Identifier: BSD-3-Clause
// bell_test.c with the fence of senders taken away, and with the barrier of sleepers taken away:
// wake-ups must be lost now and be seen to be lost. Fails when the duels find nothing.
#include "plat/plat.h"

#define SHOAL_FENCE()      atomic_signal_fence(memory_order_seq_cst)
#define shoal_membarrier() atomic_signal_fence(memory_order_seq_cst)
#define TEST_GRACE_NS      400000000
#define TEST_MUTANT
#include "progress/bell_test.c"

int main(void)
{
    alarm(110);
    begin();
    for (int fenced = 0; fenced < 2; fenced++) {
        in_two_processes(fenced, 0, 40);
        uint32_t lost = atomic_load(&both->lost);
        printf("%s: wake-up %s\n", fenced ? "without fences" : "without barriers",
               lost ? "lost, as it must be" : "never lost");
        CHECK(lost > 0);
    }
    return SHOAL_TEST_RESULT();
}
