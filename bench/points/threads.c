// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: what it costs a program with one thread (mpi4py always asks for it), and the
// message rate of four threads on each of two ranks.
#include <pthread.h>
#include <stdio.h>

#include "bench.h"

#define THREADS 4

typedef struct lane {
    bench *b;
    int tag;
    long n;
} lane;

static void alone(bench *b, const bench_point *p, long n)
{
    int partner = 1 - b->rank, bytes = (int)p->size;
    for (long i = 0; i < n; i++) {
        if (b->rank == 0) MPI_Send(b->send, bytes, MPI_BYTE, partner, TAG_DATA, MPI_COMM_WORLD);
        MPI_Recv(b->recv, bytes, MPI_BYTE, partner, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (b->rank != 0) MPI_Send(b->send, bytes, MPI_BYTE, partner, TAG_DATA, MPI_COMM_WORLD);
    }
}

// A thread of rank 0 sends windows to the thread of rank 1 that has the same tag.
static void *run_lane(void *argument)
{
    const lane *l = argument;
    MPI_Request requests[BENCH_WINDOW];
    char data[BENCH_WINDOW][8] = {{0}}, ack = 0;
    for (long i = 0; i < l->n; i++) {
        for (int w = 0; w < BENCH_WINDOW; w++) {
            if (l->b->rank == 0)
                MPI_Isend(data[w], 8, MPI_BYTE, 1, l->tag, MPI_COMM_WORLD, &requests[w]);
            else
                MPI_Irecv(data[w], 8, MPI_BYTE, 0, l->tag, MPI_COMM_WORLD, &requests[w]);
        }
        MPI_Waitall(BENCH_WINDOW, requests, MPI_STATUSES_IGNORE);
        if (l->b->rank == 0)
            MPI_Recv(&ack, 1, MPI_CHAR, 1, l->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(&ack, 1, MPI_CHAR, 0, l->tag, MPI_COMM_WORLD);
    }
    return NULL;
}

static void four_threads(bench *b, const bench_point *p, long n)
{
    (void)p;
    pthread_t threads[THREADS];
    lane lanes[THREADS];
    for (int t = 0; t < THREADS; t++) {
        lanes[t] = (lane){.b = b, .tag = 100 + t, .n = n};
        if (pthread_create(&threads[t], NULL, run_lane, &lanes[t]) != 0)
            MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
}

static void small_buffers(bench *b, const bench_point *p)
{
    bench_buffers(b, p->size + 64);
}

void bench_threads(bench *b, const size_t *sizes, int count)
{
    for (int i = 0; i < count; i++) {
        bench_point p = {
            .ranks = 2, .scale = 2, .body = alone, .size = sizes[i], .prepare = small_buffers};
        snprintf(p.name, sizeof p.name, "multiple-latency/%zu", p.size);
        bench_run(b, &p);
    }
    bench_point rate = {.name = "multiple-rate-4-threads/8",
                        .ranks = 2,
                        .body = four_threads,
                        .scale = THREADS * BENCH_WINDOW};
    bench_run(b, &rate);
}
