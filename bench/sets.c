// SPDX-License-Identifier: BSD-3-Clause
// What the machine itself needs to move data that is more than its caches hold: each block of a set
// of data is copied once, or added to another, by all cores at the same time, each in a part of its
// own and on huge pages. Plain copies, or past the caches, whichever is faster. And from process to
// process: fetched by the kernel from the neighbour's part, or all from the same, or copied into a
// room that stays in the caches, and out of it. The figures beside which those of many ranks and
// long messages are read.
//
// Lines: name/block/set, µs for a MiB that is moved by any of the cores, unit, count.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bare.h"

#define MIB       ((size_t)1 << 20)
#define SET_LEAST (2 * MIB)
#define SET_MOST  (256 * MIB)
#define ROUNDS    5
#define ROUND     3000.0 // µs, about
#define CORES     64
#define ROOM      ((size_t)128 << 10)

enum work {
    COPY,
    COPY_PAST,
    ADD,
    IN,
    OUT,
    OUT_PAST,
    THROUGH,
    THROUGH_PAST,
    FETCH,
    FETCH_SAME,
    WORKS
};

typedef struct board {
    _Alignas(128) _Atomic long here;   // how many have come to the next round
    _Alignas(128) _Atomic long passes; // through the set, in that round
    _Alignas(128) double took[CORES];  // µs, the last round
    struct {
        pid_t pid;
        char *from;
    } parts[CORES];
    _Atomic bool refused; // by the kernel, to fetch
} board;

typedef struct part {
    board *b;
    int cores, me;
    char *from, *to, *room;
    size_t bytes, block;
} part;

static void add(float *to, const float *from, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] += from[i];
}

// Into the room, out of it, or both, in pieces that it can hold.
static void step(const part *p, char *to, const char *from, enum work work)
{
    size_t piece = p->block < ROOM ? p->block : ROOM;
    bool into = work == IN || work >= THROUGH, past = work == OUT_PAST || work == THROUGH_PAST;
    for (size_t at = 0; at < p->block; at += piece) {
        if (into) memcpy(p->room, from + at, piece);
        __asm__ volatile("" : : "r"(p->room) : "memory");
        if (work == IN) continue;
        if (past)
            copy_past(to + at, p->room, piece);
        else
            memcpy(to + at, p->room, piece);
    }
}

// From another process's part.
static void fetch(const part *p, size_t at, int other)
{
    struct iovec here = {p->to + at, p->block}, there = {p->b->parts[other].from + at, p->block};
    pid_t pid = p->b->parts[other].pid;
    if (process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)p->block)
        atomic_store(&p->b->refused, true);
}

static void pass(const part *p, enum work work)
{
    for (size_t at = 0; at < p->bytes; at += p->block) {
        char *to = p->to + at;
        const char *from = p->from + at;
        if (work == COPY) memcpy(to, from, p->block);
        if (work == COPY_PAST) copy_past(to, from, p->block);
        if (work == ADD) add((float *)(void *)to, (const float *)(const void *)from, p->block / 4);
        if (work >= IN && work <= THROUGH_PAST) step(p, to, from, work);
        if (work == FETCH) fetch(p, at, (p->me + 1) % p->cores);
        if (work == FETCH_SAME) fetch(p, at, 0);
        __asm__ volatile("" : : "r"(to) : "memory");
    }
}

// Ends if one of the others has ended: it would wait for ever.
static void meet(const part *p, long round)
{
    atomic_fetch_add(&p->b->here, 1);
    while (atomic_load(&p->b->here) < (round + 1) * p->cores) {
        // Who comes last may be gone by now.
        if (p->me == 0 && waitpid(-1, NULL, WNOHANG) > 0 &&
            atomic_load(&p->b->here) < (round + 1) * p->cores)
            exit(1);
        sched_yield();
    }
}

static double longest(const part *p)
{
    double most = 0;
    for (int i = 0; i < p->cores; i++)
        if (p->b->took[i] > most) most = p->b->took[i];
    return most;
}

// On process 0: µs for a pass of all. The others do what it says.
static double measure(const part *p, enum work work, long *round)
{
    double best = 0;
    pass(p, work);
    for (int r = 0; r <= ROUNDS; r++) {
        meet(p, (*round)++);
        long n = atomic_load(&p->b->passes);
        double began = now();
        for (long i = 0; i < n; i++) pass(p, work);
        p->b->took[p->me] = (now() - began) / (double)n;
        meet(p, (*round)++);
        double took = longest(p);
        if (r > 0 && (best == 0 || took < best)) best = took;
        meet(p, (*round)++);
        if (p->me == 0 && r == 0) atomic_store(&p->b->passes, (long)(ROUND / took) + 1);
    }
    meet(p, (*round)++);
    if (p->me == 0) atomic_store(&p->b->passes, 1);
    return best;
}

static void report(const char *name, const part *p, size_t set, double us)
{
    printf("%s/%zu/%zu\t%.6g\tus\t%d\n", name, p->block, set, us, ROUNDS);
    fflush(stdout);
}

static double less(double a, double b)
{
    return a < b ? a : b;
}

static void set_of(part *p, size_t set, long *round)
{
    p->bytes = set / 2 / (size_t)p->cores / p->block * p->block;
    if (p->bytes == 0) return;
    double took[WORKS], moved = (double)p->cores * (double)p->bytes / (double)MIB;
    for (int work = 0; work < WORKS; work++) took[work] = measure(p, work, round);
    if (p->me != 0) return;
    report("copy-set", p, set, less(took[COPY], took[COPY_PAST]) / moved);
    report("add-set", p, set, took[ADD] / moved);
    report("in-set", p, set, took[IN] / moved);
    report("out-set", p, set, less(took[OUT], took[OUT_PAST]) / moved);
    report("through-set", p, set, less(took[THROUGH], took[THROUGH_PAST]) / moved);
    if (atomic_load(&p->b->refused)) return;
    report("fetch-set", p, set, took[FETCH] / moved);
    report("fetch-same-set", p, set, took[FETCH_SAME] / moved);
}

// The process for the core of that number among those that may be used.
static void work_on(board *b, const cpu_set_t *all, int cores, int me)
{
    static const size_t blocks[] = {64 << 10, 1 << 20};
    cpu_set_t one;
    int nth = 0;
    CPU_ZERO(&one);
    for (size_t c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, all) && nth++ == me) CPU_SET(c, &one);
    sched_setaffinity(0, sizeof one, &one);
    size_t most = SET_MOST / 2 / (size_t)cores;
    part p = {.b = b, .cores = cores, .me = me};
    p.from = huge_buffer(most);
    p.to = huge_buffer(most);
    p.room = page_buffer(ROOM);
    if (!p.from || !p.to || !p.room) exit(1);
    memset(p.from, 0, most);
    memset(p.to, 0, most);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    b->parts[me].pid = getpid();
    b->parts[me].from = p.from;
    long round = 0;
    meet(&p, round++);
    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++)
        for (size_t set = SET_LEAST; set <= SET_MOST; set *= 2) {
            p.block = blocks[k];
            set_of(&p, set, &round);
        }
}

int main(void)
{
    cpu_set_t all;
    board *b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (b == MAP_FAILED || sched_getaffinity(0, sizeof all, &all) != 0) return 1;
    int cores = CPU_COUNT(&all) < CORES ? CPU_COUNT(&all) : CORES;
    pid_t parent = getpid();
    atomic_store(&b->passes, 1);
    for (int i = 1; i < cores; i++) {
        pid_t child = fork();
        if (child < 0) return 1;
        if (child > 0) continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        work_on(b, &all, cores, i);
        _exit(0);
    }
    work_on(b, &all, cores, 0);
    while (wait(NULL) > 0) {
    }
    return 0;
}
