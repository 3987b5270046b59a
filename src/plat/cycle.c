// SPDX-License-Identifier: BSD-3-Clause
// The cycle in which the kernel gives threads of one core that yield all the time their turns.
//
// Since Linux 6.6 the fair scheduler runs the thread with the earliest deadline, and a yield puts
// that of the yielding thread off by its time slice: threads with equal slices follow each other in
// an order that does not change. Where in this cycle a thread stands is told by its virtual time,
// in /proc, if a yield moves that on to the deadline (seen to be so with 6.18.44; at first it was
// not); a yield with a longer slice (6.12 and later) moves the thread. Where slices cannot be set
// or the kernel does not tell, nothing is moved and nothing is lost; where they can and a yield
// leaves the virtual time alone, threads are moved at random, now and then.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plat/plat.h"

#define PLAIN_WEIGHT 1048576 // of a thread of nice 0, for which virtual time runs like the clock
#define TEXT_BYTES   4096

// As of Linux 5.3; the C library has no declaration of it that all versions share.
typedef struct sched_attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime; // the time slice, ns; 0 before Linux 6.12
    uint64_t deadline, period;
    uint32_t util_min, util_max;
} sched_attributes;

// The number after the colon in the line that begins with `name`, without its point.
static bool read_field(const char *text, const char *name, int64_t *out)
{
    const char *at = strstr(text, name);
    while (at && at > text && at[-1] != '\n') at = strstr(at + 1, name);
    at = at ? strchr(at, ':') : NULL;
    if (!at) return false;
    char digits[32];
    size_t n = 0;
    for (at++; *at && *at != '\n' && n + 1 < sizeof digits; at++)
        if (*at != ' ' && *at != '.') digits[n++] = *at;
    digits[n] = 0;
    char *end;
    *out = strtoll(digits, &end, 10);
    return n > 0 && *end == 0;
}

static bool read_schedule(char *text, size_t room)
{
    int fd = open("/proc/thread-self/sched", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t got = read(fd, text, room - 1);
    close(fd);
    if (got <= 0) return false;
    text[got] = 0;
    return true;
}

bool shoal_cycle_place(double *place_out)
{
    char text[TEXT_BYTES];
    int64_t at, weight, slice;
    if (!read_schedule(text, sizeof text) || !read_field(text, "se.vruntime", &at) ||
        !read_field(text, "se.load.weight", &weight) || !read_field(text, "se.slice", &slice))
        return false;
    if (weight <= 0 || slice <= 0) return false;
    double cycle = (double)slice * PLAIN_WEIGHT / (double)weight;
    double cycles = (double)at / cycle;
    double place = cycles - (double)(int64_t)cycles;
    *place_out = place < 0 ? place + 1 : place;
    return true;
}

static bool get_attributes(sched_attributes *out)
{
    memset(out, 0, sizeof *out);
    return syscall(SYS_sched_getattr, 0, out, sizeof *out, 0) == 0;
}

static bool set_slice(sched_attributes as, uint64_t slice)
{
    as.runtime = slice;
    return syscall(SYS_sched_setattr, 0, &as, 0) == 0;
}

// A slice that was set, even to what it was, no longer follows the system's; 0 makes it do so. Only
// one that somebody had chosen is set again.
static void restore(const sched_attributes *was)
{
    sched_attributes now;
    if (!set_slice(*was, 0) || !get_attributes(&now) || now.runtime != was->runtime)
        (void)set_slice(*was, was->runtime);
}

void shoal_cycle_yield(double more)
{
    sched_attributes now;
    bool can = get_attributes(&now) && now.runtime > 0 && now.policy == SCHED_OTHER &&
               set_slice(now, now.runtime + (uint64_t)((double)now.runtime * more));
    sched_yield();
    if (can) restore(&now);
}
