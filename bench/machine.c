// SPDX-License-Identifier: BSD-3-Clause
// What the machine itself can do, without MPI: the limits beside which the figures are read.
//
// Two processes or threads on two cores pass a cache line, wake each other, copy from each other;
// one core copies, adds and packs; the kernel starts a program. Lines: name, value, unit, count,
// and how long a cache line took before and after it.
#define _GNU_SOURCE
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
#include <unistd.h>

#include "bare.h"
#include "line.h"

#define ROUNDS 7

static size_t core_of[2];

typedef struct shared {
    _Alignas(128) _Atomic unsigned ping;
    _Alignas(128) _Atomic unsigned pong;
    _Alignas(128) _Atomic int stop;
} shared;

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

// How long a cache line takes just now; 0 on one core.
static double look_at_line(void)
{
    static line *shared;
    char place[64];
    if (shared == NULL && core_of[0] != core_of[1]) shared = line_make(place, sizeof place);
    if (shared == NULL) return 0;
    pid_t child = fork();
    if (child == 0) {
        pin(core_of[1]);
        line_time(shared, false);
        _exit(0);
    }
    double us = line_time(shared, true);
    waitpid(child, NULL, 0);
    return us;
}

static void report(const char *name, double *times, double per)
{
    static double before;
    double after = look_at_line();
    qsort(times, ROUNDS, sizeof times[0], by_value);
    printf("%s\t%.6g\tus\t%d\t%.4g\t%.4g\n", name, times[ROUNDS / 2] / per, ROUNDS, before, after);
    fflush(stdout);
    before = after;
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

#define CELL    ((size_t)16384)
#define APART   (CELL + 4096)
#define CELLS   128
#define SWAPPED ((size_t)512 << 10) // at once, when both ways

typedef struct channel {
    _Alignas(128) _Atomic size_t full;
    _Alignas(128) _Atomic size_t freed;
    _Alignas(4096) char data[CELLS * APART];
} channel;

// How the two take cells: round and round, with gaps between them, or the prefetcher fetches what
// is still being written; round and round past the caches, which pays where the two cores have none
// in common; or the answer in the cells that the question came in, which are warm then.
enum relay { ROUND, PAST, BACK, RELAYS };

static char *place(channel *c, size_t cell, enum relay how)
{
    return c->data + cell % CELLS * (how == ROUND ? APART : CELL);
}

// One side of a channel. `data` is where the cells are, which may be the other channel's; `freed`
// is what was last seen of it.
typedef struct end {
    channel *c, *data;
    size_t cell, freed;
} end;

static void copy_in(end *e, const char *from, size_t bytes, enum relay how)
{
    size_t first = how == BACK ? 0 : e->cell;
    for (size_t at = 0; at < bytes; at += CELL) {
        while (e->cell - e->freed >= CELLS)
            e->freed = atomic_load_explicit(&e->c->freed, memory_order_acquire);
        char *to = place(e->data, first + at / CELL, how);
        if (how == PAST)
            copy_past(to, from + at, CELL);
        else
            memcpy(to, from + at, CELL);
        atomic_store_explicit(&e->c->full, ++e->cell, memory_order_release);
    }
}

static void copy_out(end *e, char *to, size_t bytes, enum relay how, bool past)
{
    size_t first = how == BACK ? 0 : e->cell;
    for (size_t at = 0; at < bytes; at += CELL) {
        while (atomic_load_explicit(&e->c->full, memory_order_acquire) == e->cell) continue;
        if (past)
            copy_past(to + at, place(e->data, first + at / CELL, how), CELL);
        else
            memcpy(to + at, place(e->data, first + at / CELL, how), CELL);
        e->cell++;
        if (e->cell % (CELLS / 8) == 0)
            atomic_store_explicit(&e->c->freed, e->cell, memory_order_release);
    }
}

// One process's part of passing `bytes` to and fro, n times; who is `first` begins. Or both ways at
// once.
typedef struct passing {
    end out, in;
    char *to, *from;
    size_t bytes;
    long n;
    bool first, at_once;
} passing;

static double pass(passing *p, enum relay how)
{
    p->out.data = how == BACK && !p->first ? p->in.c : p->out.c;
    p->in.data = how == BACK && p->first ? p->out.c : p->in.c;
    size_t piece = p->at_once && p->bytes > SWAPPED ? SWAPPED : p->bytes;
    double began = now();
    for (long i = 0; i < p->n; i++)
        for (size_t at = 0; at < p->bytes; at += piece) {
            if (p->first || p->at_once) copy_in(&p->out, p->from + at, piece, how);
            copy_out(&p->in, p->to + at, piece, how, false);
            if (!p->first && !p->at_once) copy_in(&p->out, p->from + at, piece, how);
        }
    return now() - began;
}

// The best of the ways: a message that fits the cells can go back in them, but not both at once.
static double pass_best(passing *p)
{
    double best = 0;
    for (enum relay how = 0; how < RELAYS; how++) {
        if (how == BACK && (p->at_once || p->bytes > CELLS * CELL / 4)) continue;
        double took = pass(p, how);
        if (how == 0 || took < best) best = took;
    }
    return best;
}

static double copy_own(passing *p)
{
    double began = now();
    for (long i = 0; i < p->n; i++) {
        memcpy(p->to, p->from, p->bytes);
        __asm__ volatile("" : : "r"(p->to) : "memory");
    }
    return now() - began;
}

// Two processes pass a buffer to and fro through shared memory, both copying at the same time: what
// two ranks with a core each cannot beat without the kernel's help. One way. And both ways at once.
// And each copies something of its own.
#define LONGEST ((size_t)16 << 20)
static void relays(void)
{
    enum { TO_AND_FRO, AT_ONCE, EACH, KINDS };
    static const char *const names[KINDS] = {"two-copies", "swap", "copy-each"};
    static const size_t sizes[] = {65536, 262144, 1 << 20, 4 << 20, LONGEST};
    size_t bytes = 2 * sizeof(channel);
    channel *c = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char *from = huge_buffer(LONGEST), *to = huge_buffer(LONGEST);
    if (c == MAP_FAILED || !from || !to) return;
    pid_t child = fork();
    bool first = child != 0;
    if (!first) prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!first) pin(core_of[1]);
    // Not before: two processes that read the same pages need less of the caches than two ranks do.
    memset(from, 1, LONGEST);
    memset(to, 1, LONGEST);
    passing p = {.out.c = &c[first], .in.c = &c[!first], .to = to, .from = from, .first = first};
    for (size_t k = 0; k < KINDS * sizeof sizes / sizeof sizes[0]; k++) {
        double times[ROUNDS];
        char name[40];
        size_t kind = k % KINDS;
        p.bytes = sizes[k / KINDS];
        p.n = (long)((8 << 20) / p.bytes) + 1;
        p.at_once = kind == AT_ONCE;
        for (int r = 0; r < ROUNDS; r++) times[r] = kind == EACH ? copy_own(&p) : pass_best(&p);
        snprintf(name, sizeof name, "%s/%zu", names[kind], p.bytes);
        if (first) report(name, times, (kind == TO_AND_FRO ? 2.0 : 1.0) * (double)p.n);
    }
    if (!first) _exit(0);
    waitpid(child, NULL, 0);
    munmap(c, bytes);
    munmap(from, LONGEST);
    munmap(to, LONGEST);
}

// A stream as of the points' bandwidth: one process sends as many messages in a row as are under
// way there, each from a place of its own and to one. The best of writing the cells and what comes
// out of them past the caches or not. µs for a message.
static double stream(passing *p, size_t window)
{
    double best = 0;
    for (int way = 0; way < 4; way++) {
        enum relay how = way % 2 ? PAST : ROUND;
        double began = now();
        for (long i = 0; i < p->n; i++)
            for (size_t w = 0; w < window; w++) {
                if (p->first)
                    copy_in(&p->out, p->from + w * p->bytes, p->bytes, how);
                else
                    copy_out(&p->in, p->to + w * p->bytes, p->bytes, how, way >= 2);
            }
        // The receiver says so after some cells, and these divide what has been sent.
        while (p->first &&
               atomic_load_explicit(&p->out.c->freed, memory_order_acquire) < p->out.cell)
            continue;
        double took = now() - began;
        if (way == 0 || took < best) best = took;
    }
    return best / (double)p->n / (double)window;
}

static const struct {
    size_t bytes, window;
} streamed[] = {{65536, 64}, {262144, 16}, {1 << 20, 16}, {4 << 20, 4}, {16 << 20, 4}};
#define STREAMED (sizeof streamed / sizeof streamed[0])
#define WINDOW   ((size_t)64 << 20) // of the longest

static void streams(void)
{
    channel *c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char *from = huge_buffer(WINDOW), *to = huge_buffer(WINDOW);
    if (c == MAP_FAILED || !from || !to) return;
    pid_t child = fork();
    bool first = child != 0;
    if (!first) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin(core_of[1]);
    }
    memset(from, 1, WINDOW); // not before: pages that both have had are small
    memset(to, 1, WINDOW);
    passing p = {.out = {.c = c, .data = c},
                 .in = {.c = c, .data = c},
                 .to = to,
                 .from = from,
                 .first = first};
    for (size_t k = 0; k < STREAMED; k++) {
        double times[ROUNDS];
        char name[40];
        p.bytes = streamed[k].bytes;
        p.n = (long)((32 << 20) / (p.bytes * streamed[k].window)) + 1;
        for (int r = 0; r < ROUNDS; r++) times[r] = stream(&p, streamed[k].window);
        snprintf(name, sizeof name, "stream/%zu", p.bytes);
        if (first) report(name, times, 1);
    }
    if (!first) _exit(0);
    waitpid(child, NULL, 0);
    munmap(c, sizeof *c);
    munmap(from, WINDOW);
    munmap(to, WINDOW);
}

// Two processes move a message on huge pages through the kernel: who gets it reads one half, who
// has it writes the other. To and fro in one buffer; or so many in a row, from places of their own.
typedef struct kernel_relay {
    shared *s;
    char *from, *to;
    size_t half;
    pid_t other;
    unsigned turn;
    bool first, good;
} kernel_relay;

static void relay_once(kernel_relay *x, bool takes, size_t at)
{
    struct iovec mine = {(takes ? x->to : x->from + x->half) + at, x->half},
                 theirs = {(takes ? x->from : x->to + x->half) + at, x->half};
    x->turn++;
    if (takes) {
        atomic_store_explicit(&x->s->ping, x->turn, memory_order_release);
        x->good &= process_vm_readv(x->other, &mine, 1, &theirs, 1, 0) == (ssize_t)x->half;
        await(&x->s->pong, x->turn, SPIN);
    } else {
        await(&x->s->ping, x->turn, SPIN);
        x->good &= process_vm_writev(x->other, &mine, 1, &theirs, 1, 0) == (ssize_t)x->half;
        atomic_store_explicit(&x->s->pong, x->turn, memory_order_release);
    }
}

static void report_relay(kernel_relay *x, const char *kind, size_t bytes, size_t window)
{
    double times[ROUNDS];
    char name[40];
    long n = 2 * ((long)((16 << 20) / bytes) + 1);
    x->half = bytes / 2;
    for (int r = 0; r < ROUNDS; r++) {
        double began = now();
        for (long i = 0; i < n; i++)
            relay_once(x, (window > 1 || i % 2 == 0) == x->first, (size_t)i % window * bytes);
        times[r] = now() - began;
    }
    snprintf(name, sizeof name, "%s/%zu", kind, bytes);
    if (x->first && x->good) report(name, times, (double)n);
}

static void kernel_relays(void)
{
    static const size_t sizes[] = {262144, 1 << 20, 4 << 20, 16 << 20};
    shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char *from = huge_buffer(WINDOW), *to = huge_buffer(WINDOW);
    if (s == MAP_FAILED || !from || !to) return;
    pid_t parent = getpid(), child = fork(), other = child ? child : parent;
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin(core_of[1]);
    }
    memset(from, 1, WINDOW); // not before, likewise
    memset(to, 1, WINDOW);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    kernel_relay x = {
        .s = s, .from = from, .to = to, .other = other, .first = child != 0, .good = true};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        report_relay(&x, "kernel-relay", sizes[k], 1);
    for (size_t k = 0; k < STREAMED; k++)
        if (streamed[k].bytes > 65536)
            report_relay(&x, "kernel-stream", streamed[k].bytes, streamed[k].window);
    if (!child) _exit(0);
    waitpid(child, NULL, 0);
    munmap(from, WINDOW);
    munmap(to, WINDOW);
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

// What taking the time takes.
static double clock_cost(void)
{
    double began = now();
    for (int i = 0; i < 999; i++) (void)now();
    return (now() - began) / 1000;
}

// One core writes, as a program does that makes its data, and then the other copies it: only the
// copy is timed.
static void fresh_copies(char *to)
{
    double clock = clock_cost();
    static const size_t sizes[] = {4096, 16384, 65536, 1 << 20};
    char name[40];
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        size_t bytes = sizes[k], all = sizeof(shared) + bytes;
        unsigned count = (unsigned)((4 << 20) / bytes) + 8, i = 0;
        shared *s = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        char *data = (char *)(s + 1);
        double times[ROUNDS] = {0};
        pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            pin(core_of[1]);
            for (unsigned j = 1; j <= count * ROUNDS; j++) {
                await(&s->ping, j, SPIN);
                memset(data, (int)j, bytes);
                post(&s->pong, j, SPIN);
            }
            _exit(0);
        }
        for (int r = 0; r < ROUNDS; r++)
            for (unsigned end = i + count; i < end;) {
                post(&s->ping, ++i, SPIN);
                await(&s->pong, i, SPIN);
                double began = now();
                memcpy(to, data, bytes);
                __asm__ volatile("" : : "r"(to) : "memory");
                times[r] += now() - began - clock;
            }
        waitpid(child, NULL, 0);
        munmap(s, all);
        snprintf(name, sizeof name, "fresh-copy/%zu", bytes);
        report(name, times, (double)count);
    }
}

typedef struct layout {
    const char *name;
    long blocks, block, stride; // in floats
} layout;

static void pack(const layout *l, float *packed, float *spread, bool packing)
{
    for (long i = 0; i < l->blocks; i++)
        for (long j = 0; j < l->block; j++) {
            float *a = &packed[i * l->block + j], *b = &spread[i * l->stride + j];
            if (packing)
                *a = *b;
            else
                *b = *a;
        }
    __asm__ volatile("" : : "r"(packed) : "memory");
}

// One process packs 1 MiB from a buffer while the other unpacks as much into its own, and then the
// other way round: what a message with holes in it takes one way, without moving it.
static void packs(char *to, char *from)
{
    static const layout layouts[] = {
        {"pack-loop/column", 262144, 1, 32},
        {"pack-loop/blocks8", 32768, 8, 16},
        {"pack-loop/blocks64", 4096, 64, 128},
        {"pack-loop/face", 16384, 16, 256},
    };
    float *packed = (float *)(void *)page_buffer(1 << 20);
    pid_t child = fork();
    if (!packed) return;
    memset(packed, 0, 1 << 20);
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin(core_of[1]);
        memset(to, 1, 40 << 20); // its own pages
        memset(from, 1, 40 << 20);
    }
    for (size_t k = 0; k < sizeof layouts / sizeof layouts[0]; k++) {
        double times[ROUNDS];
        for (int r = -1; r < ROUNDS; r++) { // the first is for the other to begin too
            double began = now();
            for (int i = 0; i < 4; i++) {
                bool packing = (i % 2 == 0) == (child != 0);
                pack(&layouts[k], packed, (float *)(void *)(packing ? from : to), packing);
            }
            if (r >= 0) times[r] = now() - began;
        }
        if (child) report(layouts[k].name, times, 4);
    }
    if (!child) _exit(0);
    waitpid(child, NULL, 0);
    free(packed);
}

// The loop a reduction cannot beat.
static void adds(char *to, char *from)
{
    double times[ROUNDS];
    float *out = (float *)(void *)to;
    const float *in = (const float *)(const void *)from;
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
    char *to = page_buffer(40 << 20), *from = page_buffer(40 << 20);
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
    if (core_of[0] != core_of[1]) fresh_copies(to);
    if (core_of[0] != core_of[1]) relays();
    if (core_of[0] != core_of[1]) streams();
    kernel_copies(to, from);
    if (core_of[0] != core_of[1]) kernel_relays();
    if (core_of[0] != core_of[1]) packs(to, from);
    adds(to, from);
    free(to);
    free(from);
    return 0;
}
