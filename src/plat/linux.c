// SPDX-License-Identifier: BSD-3-Clause
// plat.h on Linux.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plat/plat.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "plat/error.h"
#include "plat/turn.h"

static void futex_wait(_Atomic uint32_t *word, int op, uint32_t value, int64_t timeout_ns)
{
    struct timespec ts = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    syscall(SYS_futex, word, op, value, timeout_ns < 0 ? NULL : &ts, NULL, 0);
}

void shoal_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t timeout_ns)
{
    futex_wait(word, FUTEX_WAIT, value, timeout_ns);
}

void shoal_futex_wake(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}

void shoal_futex_wait_private(_Atomic uint32_t *word, uint32_t value, int64_t timeout_ns)
{
    futex_wait(word, FUTEX_WAIT_PRIVATE, value, timeout_ns);
}

void shoal_futex_wake_private(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

bool shoal_membarrier_register(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void shoal_membarrier(void)
{
    syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

// How long shoal_relax() takes differs tenfold between processors: found out on first use. The
// least of a few tries is the one that nothing came between.
static int relax_ps(void)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < 5; i++) {
        int64_t began = shoal_now_ns();
        for (int k = 0; k < 32; k++) shoal_relax();
        int64_t took = shoal_now_ns() - began;
        if (took < least) least = took;
    }
    return least < 32 ? 1000 : (int)(least * 1000 / 32);
}

void shoal_relax_ns(int ns)
{
    static _Atomic int each_ps;
    int each = atomic_load_explicit(&each_ps, memory_order_relaxed);
    if (each == 0) {
        each = relax_ps();
        atomic_store_explicit(&each_ps, each, memory_order_relaxed);
    }
    for (int left = ns * 1000; left >= each / 2; left -= each) shoal_relax();
}

int shoal_memfd(const char *label, size_t bytes)
{
    int fd = memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return shoal_fail(SHOAL_E_SYS, "memfd_create: %s", strerror(errno));
    if (ftruncate(fd, (off_t)bytes) != 0) {
        shoal_fail(SHOAL_E_SYS, "cannot size shared memory to %zu bytes: %s", bytes,
                   strerror(errno));
        close(fd);
        return SHOAL_E_SYS;
    }
    // A segment that could shrink would turn a peer's mistake into everybody's SIGBUS.
    (void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    return fd;
}

void *shoal_map_shared(int fd, size_t bytes)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (base == MAP_FAILED) {
        shoal_fail(SHOAL_E_SYS, "cannot map %zu shared bytes: %s", bytes, strerror(errno));
        return NULL;
    }
    // A core file must not carry a sparse segment, and a forked child must not touch the world.
    (void)madvise(base, bytes, MADV_DONTDUMP);
    (void)madvise(base, bytes, MADV_DONTFORK);
    return base;
}

ssize_t shoal_vm_read(pid_t pid, void *to, uint64_t from, size_t bytes)
{
    struct iovec local = {.iov_base = to, .iov_len = bytes};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)from, .iov_len = bytes};
    ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    return n < 0 ? -errno : n;
}

ssize_t shoal_vm_write(pid_t pid, uint64_t to, const void *from, size_t bytes)
{
    struct iovec local = {.iov_base = (void *)(uintptr_t)from, .iov_len = bytes};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)to, .iov_len = bytes};
    ssize_t n = process_vm_writev(pid, &local, 1, &remote, 1, 0);
    return n < 0 ? -errno : n;
}

void shoal_vm_allow(void)
{
#ifdef PR_SET_PTRACER
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#endif
}

void shoal_await_reader(int fd)
{
    const struct timespec nap = {.tv_nsec = 200000};
    struct stat st;
    int unread = 0;
    if (fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode)) return;
    for (int i = 0; i < 500 && ioctl(fd, FIONREAD, &unread) == 0 && unread > 0; i++)
        nanosleep(&nap, NULL);
}

// Cores that a cgroup (v2 at its usual mount) allows, or 0 when it sets no limit.
static int cgroup_cores(void)
{
    FILE *f = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (!f) return 0;
    long quota = 0, period = 0;
    int fields = fscanf(f, "%ld %ld", &quota, &period);
    fclose(f);
    if (fields != 2 || quota <= 0 || period <= 0) return 0;
    return (int)((quota + period - 1) / period);
}

int shoal_usable_cores(void)
{
    cpu_set_t set;
    int cores = 1;
    if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
    int limit = cgroup_cores();
    if (limit > 0 && limit < cores) cores = limit;
    return cores > 0 ? cores : 1;
}

// Binding the thread to other cores is what makes the kernel move it, at once; afterwards it is
// free again. If somebody else has bound it meanwhile, that is left alone.
bool shoal_change_core(bool (*taken)(int core))
{
    cpu_set_t all, others, untaken, now;
    int here = shoal_this_core();
    if (here < 0 || here >= CPU_SETSIZE || sched_getaffinity(0, sizeof all, &all) != 0)
        return false;
    others = all;
    CPU_CLR((size_t)here, &others);
    untaken = others;
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET((size_t)core, &others) && taken(core)) CPU_CLR((size_t)core, &untaken);
    if (CPU_COUNT(&untaken) > 0) others = untaken;
    if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return false;
    if (sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &others))
        (void)sched_setaffinity(0, sizeof all, &all);
    return true;
}

// glibc from 2.35 on; it says 0 bytes where the kernel or the user does not want it.
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

#define CORE_FIELD 4 // struct rseq's cpu_id, after cpu_id_start

_Atomic ptrdiff_t shoal_core_at = SHOAL_CORE_UNKNOWN;

int shoal_ask_core(void)
{
    bool there = &__rseq_offset && &__rseq_size && __rseq_size > 0;
    atomic_store_explicit(&shoal_core_at, there ? __rseq_offset + CORE_FIELD : SHOAL_CORE_NOWHERE,
                          memory_order_relaxed);
    return sched_getcpu();
}

pid_t shoal_tid(void)
{
    return (pid_t)syscall(SYS_gettid);
}
