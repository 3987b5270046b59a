// SPDX-License-Identifier: BSD-3-Clause
// What the machine itself can do, without MPI: the limits beside which the figures are read.
//
// Two processes or threads on two cores pass a cache line, wake each other, copy from each other;
// one core copies, adds and packs; the kernel starts a program. Lines: name, value, unit, count.
#define _GNU_SOURCE
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 7

static size_t core_of[2];

typedef struct shared {
    _Alignas(128) _Atomic unsigned ping;
    _Alignas(128) _Atomic unsigned pong;
    _Alignas(128) _Atomic int stop;
} shared;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void pin(size_t core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set);
}

// The first two cores that this process may use; the same one twice when there is only one.
static void find_cores(void)
{
    cpu_set_t set;
    int found = 0;
    sched_getaffinity(0, sizeof set, &set);
    for (size_t c = 0; c < CPU_SETSIZE && found < 2; c++)
        if (CPU_ISSET(c, &set)) core_of[found++] = c;
    if (found == 1) core_of[1] = core_of[0];
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *name, double *times, double per)
{
    qsort(times, ROUNDS, sizeof times[0], by_value);
    printf("%s\t%.6g\tus\t%d\n", name, times[ROUNDS / 2] / per, ROUNDS);
    fflush(stdout);
}

static void futex(_Atomic unsigned *word, int op, unsigned value)
{
    syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

enum way { SPIN, YIELD, SLEEP };

static void await(_Atomic unsigned *word, unsigned want, enum way way)
{
    unsigned seen;
    while ((seen = atomic_load_explicit(word, memory_order_acquire)) != want) {
        if (way == YIELD) sched_yield();
        if (way == SLEEP) futex(word, FUTEX_WAIT, seen);
    }
}

static void post(_Atomic unsigned *word, unsigned value, enum way way)
{
    atomic_store_explicit(word, value, memory_order_release);
    if (way == SLEEP) futex(word, FUTEX_WAKE, 1);
}

// One way of a ping-pong between two processes, on two cores or on one.
static void ping_pong(const char *name, enum way way, size_t other_core, unsigned count)
{
    shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double times[ROUNDS];
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin(other_core);
        for (unsigned i = 1; i <= count * ROUNDS; i++) {
            await(&s->ping, i, way);
            post(&s->pong, i, way);
        }
        _exit(0);
    }
    unsigned i = 0;
    for (int r = 0; r < ROUNDS; r++) {
        double began = now();
        for (unsigned end = i + count; i < end;) {
            post(&s->ping, ++i, way);
            await(&s->pong, i, way);
        }
        times[r] = now() - began;
    }
    waitpid(child, NULL, 0);
    munmap(s, sizeof *s);
    report(name, times, 2.0 * count);
}

static void copies(char *to, char *from)
{
    static const size_t sizes[] = {8, 1024, 4096, 32768, 65536, 262144, 1 << 20, 4 << 20, 16 << 20};
    char name[40];
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        double times[ROUNDS];
        long n = (long)((16 << 20) / (sizes[k] + 512)) + 1;
        for (int r = 0; r < ROUNDS; r++) {
            double began = now();
            for (long i = 0; i < n; i++) {
                memcpy(to, from, sizes[k]);
                __asm__ volatile("" : : "r"(to) : "memory");
            }
            times[r] = now() - began;
        }
        snprintf(name, sizeof name, "memcpy/%zu", sizes[k]);
        report(name, times, (double)n);
    }
}

#define CELL  ((size_t)8192)
#define APART (CELL + 4096)
#define CELLS 256

typedef struct channel {
    _Alignas(128) _Atomic size_t full;
    _Alignas(128) _Atomic size_t freed;
    _Alignas(4096) char data[CELLS * APART];
} channel;

// Between cells in the caches is a gap, or the prefetcher fetches what is still being written.
static char *place(channel *c, size_t cell, bool past)
{
    return c->data + cell % CELLS * (past ? CELL : APART);
}

// Writes a cell past the caches, which pays where the two cores have none in common.
static void copy_past(char *to, const char *from)
{
#if defined(__SSE2__)
    for (size_t i = 0; i < CELL; i += 16)
        _mm_stream_si128((__m128i *)(void *)(to + i),
                         _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
    _mm_sfence();
#else
    memcpy(to, from, CELL);
#endif
}

static void copy_in(channel *c, const char *from, size_t bytes, size_t *cell, bool past)
{
    for (size_t at = 0; at < bytes; at += CELL) {
        while (*cell - atomic_load_explicit(&c->freed, memory_order_acquire) >= CELLS) continue;
        char *to = place(c, *cell, past);
        if (past)
            copy_past(to, from + at);
        else
            memcpy(to, from + at, CELL);
        atomic_store_explicit(&c->full, ++*cell, memory_order_release);
    }
}

static void copy_out(channel *c, char *to, size_t bytes, size_t *cell, bool past)
{
    for (size_t at = 0; at < bytes; at += CELL) {
        while (atomic_load_explicit(&c->full, memory_order_acquire) == *cell) continue;
        memcpy(to + at, place(c, *cell, past), CELL);
        atomic_store_explicit(&c->freed, ++*cell, memory_order_release);
    }
}

// One process's part of passing `bytes` to and fro, n times; who is `first` begins.
static double pass(channel *out, channel *in, char *to, char *from, size_t bytes, long n,
                   bool first, bool past)
{
    static size_t sent, taken;
    double began = now();
    for (long i = 0; i < n; i++) {
        if (first) copy_in(out, from, bytes, &sent, past);
        copy_out(in, to, bytes, &taken, past);
        if (!first) copy_in(out, from, bytes, &sent, past);
    }
    return now() - began;
}

// Two processes pass a buffer to and fro through shared memory, both copying at the same time: what
// two ranks with a core each cannot beat without the kernel's help. One way, the better of two.
static void relays(char *to, char *from)
{
    static const size_t sizes[] = {65536, 262144, 1 << 20, 4 << 20, 16 << 20};
    size_t bytes = 2 * sizeof(channel);
    channel *c = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c == MAP_FAILED) return;
    pid_t child = fork();
    bool first = child != 0;
    if (!first) prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!first) pin(core_of[1]);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        double times[ROUNDS];
        long n = (long)((8 << 20) / sizes[k]) + 1;
        for (int r = 0; r < ROUNDS; r++) {
            times[r] = pass(&c[first], &c[!first], to, from, sizes[k], n, first, false);
            double past = pass(&c[first], &c[!first], to, from, sizes[k], n, first, true);
            if (past < times[r]) times[r] = past;
        }
        char name[40];
        snprintf(name, sizeof name, "two-copies/%zu", sizes[k]);
        if (first) report(name, times, 2.0 * (double)n);
    }
    if (!first) _exit(0);
    waitpid(child, NULL, 0);
    munmap(c, bytes);
}

// Another process has the data; it sleeps meanwhile.
static void kernel_copies(char *to, char *from)
{
    static const size_t sizes[] = {4096, 65536, 1 << 20, 4 << 20, 16 << 20};
    char name[40];
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
        memset(from, 1, 16 << 20);
        pause();
        _exit(0);
    }
    usleep(100000);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        struct iovec here = {to, sizes[k]}, there = {from, sizes[k]};
        double times[ROUNDS];
        long n = (long)((16 << 20) / (sizes[k] + 8192)) + 1;
        bool good = true;
        for (int r = 0; r < ROUNDS && good; r++) {
            double began = now();
            for (long i = 0; i < n && good; i++)
                good = process_vm_readv(child, &here, 1, &there, 1, 0) == (ssize_t)sizes[k];
            times[r] = now() - began;
        }
        snprintf(name, sizeof name, "process_vm_readv/%zu", sizes[k]);
        if (good)
            report(name, times, (double)n);
        else
            printf("%s\t0\tnot allowed\t0\n", name);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

// The loops a datatype engine or a reduction cannot beat: gather a column, add vectors.
static void loops(char *to, char *from)
{
    static const struct {
        const char *name;
        long blocks, block, stride; // in floats
    } layouts[] = {
        {"pack-loop/column", 262144, 1, 32},
        {"pack-loop/blocks8", 32768, 8, 16},
        {"pack-loop/blocks64", 4096, 64, 128},
    };
    double times[ROUNDS];
    float *out = (float *)(void *)to;
    const float *in = (const float *)(const void *)from;
    for (size_t k = 0; k < sizeof layouts / sizeof layouts[0]; k++) {
        for (int r = 0; r < ROUNDS; r++) {
            double began = now();
            for (long i = 0; i < layouts[k].blocks; i++)
                for (long j = 0; j < layouts[k].block; j++)
                    out[i * layouts[k].block + j] = in[i * layouts[k].stride + j];
            __asm__ volatile("" : : "r"(out) : "memory");
            times[r] = now() - began;
        }
        report(layouts[k].name, times, 1);
    }
    static const long sizes[] = {65536, 1 << 20, 16 << 20};
    char name[40];
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        for (int r = 0; r < ROUNDS; r++) {
            double began = now();
            for (long i = 0; i < sizes[k] / 4; i++) out[i] += in[i];
            __asm__ volatile("" : : "r"(out) : "memory");
            times[r] = now() - began;
        }
        snprintf(name, sizeof name, "float-add/%ld", sizes[k]);
        report(name, times, 1);
    }
}

static void start_programs(char *self)
{
    double times[ROUNDS];
    char *arguments[] = {self, "--nothing", NULL}, *environment[] = {NULL};
    for (int r = 0; r < ROUNDS; r++) {
        double began = now();
        for (int i = 0; i < 5; i++) {
            pid_t child = fork();
            if (child == 0) {
                execve(self, arguments, environment);
                _exit(127);
            }
            waitpid(child, NULL, 0);
        }
        times[r] = now() - began;
    }
    report("fork+exec+wait", times, 5);
}

// Only how far the two cores are from each other, in a few milliseconds.
static int pass_a_line(void)
{
    find_cores();
    pin(core_of[0]);
    if (core_of[0] != core_of[1]) ping_pong("spin-ping-pong", SPIN, core_of[1], 3000);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--nothing") == 0) return 0;
    if (argc > 1 && strcmp(argv[1], "--line") == 0) return pass_a_line();
    char *to = malloc(40 << 20), *from = malloc(40 << 20);
    if (to == NULL || from == NULL) return 1;
    find_cores();
    start_programs("/proc/self/exe");
    pin(core_of[0]);
    memset(to, 0, 40 << 20);
    memset(from, 0, 40 << 20);
    if (core_of[0] != core_of[1]) ping_pong("spin-ping-pong", SPIN, core_of[1], 50000);
    ping_pong("yield-hand-over/one-core", YIELD, core_of[0], 2000);
    ping_pong("futex-wake/one-core", SLEEP, core_of[0], 1000);
    if (core_of[0] != core_of[1]) ping_pong("futex-wake/idle-core", SLEEP, core_of[1], 200);
    copies(to, from);
    if (core_of[0] != core_of[1]) relays(to, from);
    kernel_copies(to, from);
    loops(to, from);
    free(to);
    free(from);
    return 0;
}
