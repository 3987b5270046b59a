// SPDX-License-Identifier: BSD-3-Clause
// A kernel that now and then does not let ranks read or write each other's memory, or takes long:
// the library's calls come by here, since a program's own functions come before those of the C
// library. Whether it is allowed at all is asked with a few bytes, and that is never refused.
#ifndef SHOAL_TESTS_P2P_REFUSING_H
#define SHOAL_TESTS_P2P_REFUSING_H

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define PROBE 64

enum { REFUSE_NONE, REFUSE_READS, REFUSE_WRITES, REFUSE_BOTH, REFUSE_SOME, REFUSALS };
static int refusal;
static long reads, writes, takes_us;
static unsigned chance = 1;

// Does malloc of this program lie on huge pages? Not that of an address sanitizer.
static inline int huge_pages(void)
{
#if defined(__SANITIZE_ADDRESS__)
    return 0;
#endif
    char text[64] = "";
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (f && !fgets(text, sizeof text, f)) text[0] = 0;
    if (f) fclose(f);
    return text[0] && !strstr(text, "[never]") && !getenv("SHOAL_MALLOC") && !getenv("SHOAL_CMA");
}

static inline int cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static int refused(int kind)
{
    if (refusal == REFUSE_SOME) {
        chance = chance * 1103515245u + 12345u;
        return chance >> 16 & 1;
    }
    return refusal == REFUSE_BOTH || refusal == kind;
}

static void take_long(void)
{
    struct timespec now, began;
    clock_gettime(CLOCK_MONOTONIC, &began);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while (takes_us > 0 &&
           (now.tv_sec - began.tv_sec) * 1000000 + (now.tv_nsec - began.tv_nsec) / 1000 < takes_us);
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long to_count,
                         const struct iovec *from, unsigned long from_count, unsigned long flags)
{
    if (to->iov_len > PROBE && refused(REFUSE_READS)) {
        errno = EFAULT;
        return -1;
    }
    reads += to->iov_len > PROBE;
    take_long();
    return syscall(SYS_process_vm_readv, pid, to, to_count, from, from_count, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *from, unsigned long from_count,
                          const struct iovec *to, unsigned long to_count, unsigned long flags)
{
    if (refused(REFUSE_WRITES)) {
        errno = EFAULT;
        return -1;
    }
    writes++;
    take_long();
    return syscall(SYS_process_vm_writev, pid, from, from_count, to, to_count, flags);
}

#endif
