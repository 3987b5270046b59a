// SPDX-License-Identifier: BSD-3-Clause
// Reading and writing another rank's memory through the kernel (process_vm_readv,
// process_vm_writev). Whether that is
// allowed depends on Yama, seccomp and containers, so it is found out by trying: each rank keeps a
// word of known value, and the first reader reads it.
#include "net/shm/shm.h"

#include <stdlib.h>
#include <string.h>

#define PIECE (16u << 20) // one call at most: keeps the other rank's mapping lock short

enum { UNTRIED, WORKS, REFUSED };
static int state = UNTRIED;

static bool is_forbidden(void)
{
    const char *said = getenv("SHOAL_CMA");
    return said && strcmp(said, "0") == 0;
}

bool shoal_cma_is_quick(const shoal_world *w)
{
    return w->header->quick_kernel && !is_forbidden();
}

bool shoal_cma_works(uint32_t peer)
{
    if (state != UNTRIED) return state == WORKS;
    if (is_forbidden()) {
        state = REFUSED;
        return false;
    }
    shoal_berth *b = shoal_the_shm.peers[peer].berth;
    uint64_t address = atomic_load_explicit(&b->probe, memory_order_acquire);
    int32_t pid = atomic_load_explicit(&b->pid, memory_order_relaxed);
    uint64_t value = 0;
    if (address == 0 || pid <= 0) return false; // not there yet: try again with the next message
    ssize_t n = shoal_vm_read(pid, &value, address, sizeof value);
    // The word holds its own address.
    state = n == (ssize_t)sizeof value && value == address ? WORKS : REFUSED;
    return state == WORKS;
}

static pid_t pid_of(uint32_t peer)
{
    return atomic_load_explicit(&shoal_the_shm.peers[peer].berth->pid, memory_order_relaxed);
}

bool shoal_cma_read(uint32_t peer, void *to, uint64_t from, uint64_t bytes)
{
    pid_t pid = pid_of(peer);
    for (uint64_t done = 0; done < bytes;) {
        uint64_t piece = bytes - done < PIECE ? bytes - done : PIECE;
        ssize_t n = shoal_vm_read(pid, (char *)to + done, from + done, piece);
        if (n <= 0) return false;
        done += (uint64_t)n;
    }
    return true;
}

bool shoal_cma_write(uint32_t peer, uint64_t to, const void *from, uint64_t bytes)
{
    const shoal_berth *b = shoal_the_shm.peers[peer].berth;
    pid_t pid = pid_of(peer);
    // Its number may be another process's by now.
    if (atomic_load_explicit(&b->life, memory_order_acquire) == SHOAL_LIFE_DEAD) return false;
    for (uint64_t done = 0; done < bytes;) {
        uint64_t piece = bytes - done < PIECE ? bytes - done : PIECE;
        ssize_t n = shoal_vm_write(pid, to + done, (const char *)from + done, piece);
        if (n <= 0) return false;
        done += (uint64_t)n;
    }
    return true;
}
