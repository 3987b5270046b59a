// SPDX-License-Identifier: BSD-3-Clause
// What the machine itself can do with more processes than cores, without MPI: the same work as the
// points of 4, 8 and 16 ranks, by plain copies through shared memory, each process yielding until
// what it waits for is there. The figures beside which those of the crowd are read.
//
// Lines: name, value, unit, count. The best of some batches, since the order in which the kernel
// gives processes their turns is due to chance.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bare.h"

#define MOST    16
#define BATCHES 5
#define BATCH   3000.0 // µs, about

typedef struct board {
    struct {
        _Alignas(128) _Atomic long round; // that the process has shown
    } shown[MOST];
    _Alignas(128) _Atomic long n; // rounds of the next batch, by process 0
    _Alignas(128) _Atomic long batch;
    _Alignas(4096) char rooms[];
} board;

typedef struct process {
    board *b;
    int np, me;
    long rooms; // of each process
    size_t size;
    char *send, *recv;
} process;

static void await(_Atomic long *word, long want)
{
    while (atomic_load_explicit(word, memory_order_acquire) < want) sched_yield();
}

static void show(process *p, long round)
{
    atomic_store_explicit(&p->b->shown[p->me].round, round, memory_order_release);
}

static void await_shown(process *p, int who, long round)
{
    await(&p->b->shown[who].round, round);
}

// Room `k` of a process, of which some are used in turn.
static char *room(const process *p, int who, long k)
{
    return p->b->rooms + ((size_t)who * (size_t)p->rooms + (size_t)(k % p->rooms)) * p->size;
}

static void copy(process *p, char *to, const char *from)
{
    memcpy(to, from, p->size);
    __asm__ volatile("" : : "r"(to) : "memory");
}

static char *block(const process *p, char *buffer, int i)
{
    return buffer + (size_t)i * p->size;
}

// Takes what one has shown and shows something itself, or the other way round.
static void pass_on(process *p, int from, int first, long r)
{
    if (!first) await_shown(p, from, r);
    if (!first) copy(p, p->recv, room(p, from, r));
    copy(p, room(p, p->me, r), p->send);
    show(p, r);
    if (first) await_shown(p, from, r);
    if (first) copy(p, p->recv, room(p, from, r));
}

static void ring(process *p, long r)
{
    pass_on(p, (p->me + p->np - 1) % p->np, p->me == 0, r);
}

static void shift(process *p, long r)
{
    int left = (p->me + p->np - 1) % p->np;
    copy(p, room(p, p->me, r), p->send);
    show(p, r);
    await_shown(p, left, r);
    copy(p, p->recv, room(p, left, r));
}

static void allgather(process *p, long r)
{
    copy(p, room(p, p->me, r), p->send);
    show(p, r);
    copy(p, block(p, p->recv, p->me), p->send);
    for (int k = 1; k < p->np; k++) {
        int i = (p->me + k) % p->np;
        await_shown(p, i, r);
        copy(p, block(p, p->recv, i), room(p, i, r));
    }
}

static void alltoall(process *p, long r)
{
    long row = r % 2 * p->np;
    for (int i = 0; i < p->np; i++)
        if (i != p->me) copy(p, room(p, p->me, row + i), block(p, p->send, i));
    show(p, r);
    copy(p, block(p, p->recv, p->me), block(p, p->send, p->me));
    for (int k = 1; k < p->np; k++) {
        int i = (p->me + k) % p->np;
        await_shown(p, i, r);
        copy(p, block(p, p->recv, i), room(p, i, row + p->me));
    }
}

static void gather(process *p, long r)
{
    int root = (int)(r % p->np);
    if (p->me == root) {
        copy(p, block(p, p->recv, p->me), p->send);
        for (int k = 1; k < p->np; k++) {
            int i = (root + k) % p->np;
            await_shown(p, i, r);
            copy(p, block(p, p->recv, i), room(p, i, r));
        }
    } else {
        copy(p, room(p, p->me, r), p->send);
    }
    show(p, r);
}

static void scatter(process *p, long r)
{
    int root = (int)(r % p->np);
    if (p->me == root) {
        for (int k = 1; k < p->np; k++) {
            int i = (root + k) % p->np;
            copy(p, room(p, p->me, i), block(p, p->send, i));
        }
        show(p, r);
        copy(p, p->recv, block(p, p->send, p->me));
    } else {
        await_shown(p, root, r);
        copy(p, p->recv, room(p, root, p->me));
    }
}

// Two by two, to and fro.
static void pairs(process *p, long r)
{
    int half = p->np / 2;
    pass_on(p, p->me < half ? p->me + half : p->me - half, p->me < half, r);
}

static void bcast(process *p, long r)
{
    int root = (int)(r % p->np);
    if (p->me == root) {
        copy(p, room(p, p->me, 0), p->send);
        show(p, r);
    } else {
        await_shown(p, root, r);
        copy(p, p->recv, room(p, root, 0));
    }
}

static void add(float *to, const float *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof(float); i++) to[i] += from[i];
}

// Each adds up all vectors if they are short.
static void allreduce_short(process *p, long r)
{
    copy(p, room(p, p->me, r), p->send);
    show(p, r);
    memcpy(p->recv, p->send, p->size);
    for (int k = 1; k < p->np; k++) {
        int i = (p->me + k) % p->np;
        await_shown(p, i, r);
        add((float *)(void *)p->recv, (float *)(void *)room(p, i, r), p->size);
    }
}

// Else each adds up a slice of all vectors, and copies those of the others.
static void allreduce(process *p, long r)
{
    if (p->size <= 4096) {
        allreduce_short(p, r);
        return;
    }
    size_t slice = p->size / (size_t)p->np / 64 * 64, mine = (size_t)p->me * slice;
    copy(p, room(p, p->me, 0), p->send);
    show(p, 2 * r - 1);
    memcpy(p->recv + mine, p->send + mine, slice);
    for (int k = 1; k < p->np; k++) {
        int i = (p->me + k) % p->np;
        await_shown(p, i, 2 * r - 1);
        add((float *)(void *)(p->recv + mine), (float *)(void *)(room(p, i, 0) + mine), slice);
    }
    memcpy(room(p, p->me, 1), p->recv + mine, slice);
    show(p, 2 * r);
    for (int k = 1; k < p->np; k++) {
        int i = (p->me + k) % p->np;
        await_shown(p, i, 2 * r);
        memcpy(p->recv + (size_t)i * slice, room(p, i, 1), slice);
    }
}

typedef struct work {
    const char *name;
    void (*round)(process *, long);
    int rooms;   // of each process, or 0: twice as many as there are processes
    int parts;   // a round is so many of what is measured, or 0: as many as there are processes
    size_t most; // bytes
} work;

#define KIB64 ((size_t)64 << 10)
#define MIB   ((size_t)1 << 20)

static const work works[] = {
    {"ring", ring, 2, 0, MIB},           {"shift", shift, 2, 1, KIB64},
    {"pairs-latency", pairs, 2, 2, MIB}, {"allgather", allgather, 2, 1, KIB64},
    {"alltoall", alltoall, 0, 1, KIB64}, {"gather", gather, 0, 1, KIB64},
    {"scatter", scatter, 0, 1, KIB64},   {"bcast", bcast, 1, 1, MIB},
    {"allreduce", allreduce, 2, 1, MIB},
};

// Process 0 says how many rounds a batch has; all do them, and it takes the time.
static double batch(process *p, const work *w, long number, long n, long *round)
{
    if (p->me == 0) {
        atomic_store_explicit(&p->b->n, n, memory_order_relaxed);
        atomic_store_explicit(&p->b->batch, number, memory_order_release);
    }
    await(&p->b->batch, number);
    n = atomic_load_explicit(&p->b->n, memory_order_relaxed);
    double began = now();
    for (long i = 0; i < n; i++) w->round(p, ++*round);
    // Everybody is done when each has been seen in later rounds, in which nothing is copied.
    *round = 2 * *round + 1;
    show(p, *round);
    for (int i = 0; i < p->np; i++) await_shown(p, i, *round);
    return (now() - began) / (double)(n > 0 ? n : 1);
}

static void run(process *p, const work *w)
{
    long round = 0, n = 4;
    double best = 0;
    for (long number = 1; number <= 2 + BATCHES; number++) {
        double took = batch(p, w, number, n, &round);
        if (number == 2) n = (long)(BATCH / took) + 1;
        if (number > 2 && (best == 0 || took < best)) best = took;
    }
    if (p->me > 0) return;
    printf("crowd-%s/%d/%zu\t%.6g\tus\t%d\n", w->name, p->np, p->size,
           best / (w->parts > 0 ? w->parts : p->np), BATCHES);
    fflush(stdout);
}

static void measure(const work *w, int np, size_t size)
{
    process p = {.np = np, .size = size, .rooms = w->rooms > 0 ? w->rooms : 2 * np};
    size_t bytes = sizeof(board) + (size_t)(np * p.rooms) * size;
    p.b = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p.b == MAP_FAILED) return;
    pid_t children[MOST] = {0};
    for (int i = 1; i < np; i++) {
        children[i] = fork();
        if (children[i] < 0) exit(1); // the others die with us
        if (children[i] != 0) continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        p.me = i;
        break;
    }
    p.send = page_buffer((size_t)np * size);
    p.recv = page_buffer((size_t)np * size);
    if (!p.send || !p.recv) exit(1);
    memset(p.send, p.me + 1, (size_t)np * size);
    memset(p.recv, 0, (size_t)np * size);
    run(&p, w);
    if (p.me > 0) _exit(0);
    for (int i = 1; i < np; i++) waitpid(children[i], NULL, 0);
    munmap(p.b, bytes);
    free(p.send);
    free(p.recv);
}

int main(void)
{
    static const size_t sizes[] = {8, 512, 4096, KIB64, MIB};
    for (int np = 4; np <= MOST; np *= 2)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
            for (size_t k = 0; k < sizeof works / sizeof works[0]; k++)
                if (sizes[s] <= works[k].most) measure(&works[k], np, sizes[s]);
    return 0;
}
