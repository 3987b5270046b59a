// SPDX-License-Identifier: BSD-3-Clause
// Ways to get stuck, and ways that only look like it; the first argument says which. For
// watch_test.py.
// RANKS:
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static char *big;
#define BIG (4 << 20)

static int is(const char *mode, const char *name)
{
    return strcmp(mode, name) == 0;
}

static void *send_later(void *unused)
{
    (void)unused;
    int x = 1;
    usleep(1500000);
    MPI_Send(&x, 1, MPI_INT, rank, 5, MPI_COMM_WORLD);
    return NULL;
}

static void *wait_for_ever(void *unused)
{
    (void)unused;
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    for (;;) pthread_cond_wait(&never, &mutex);
    return NULL;
}

// Everybody waits for somebody.
static void stuck(const char *mode)
{
    int next = (rank + 1) % size, x[1024] = {0};
    if (is(mode, "recv")) MPI_Recv(x, 1024, MPI_INT, next, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is(mode, "any"))
        MPI_Recv(x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is(mode, "send")) MPI_Ssend(big, BIG, MPI_CHAR, next, 3, MPI_COMM_WORLD);
    if (is(mode, "self")) MPI_Recv(x, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    if (is(mode, "gone") && rank > 0)
        MPI_Recv(x, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is(mode, "barrier") && rank != 1) MPI_Barrier(MPI_COMM_WORLD);
    if (is(mode, "barrier") && rank == 1)
        MPI_Recv(x, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is(mode, "sums") && rank != size - 1) {
        // The last is waited for first: some before it have to end so that it can begin.
        MPI_Request sums[6];
        for (int i = 0; i < 6; i++)
            MPI_Iallreduce(big, big + (i + 1) * (BIG / 8), BIG / 8, MPI_INT8_T, MPI_MAX,
                           MPI_COMM_WORLD, &sums[i]);
        for (int i = 5; i >= 0; i--) MPI_Wait(&sums[i], MPI_STATUS_IGNORE);
    } else if (is(mode, "sums")) {
        MPI_Recv(x, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (is(mode, "left")) {
        if (rank == 0) exit(0); // without MPI_Finalize
        for (;;) usleep(10000);
    }
}

// A message comes late, from a rank that is busy outside MPI.
static void slow(void)
{
    int x = 0;
    if (rank == 0) usleep(1200000);
    for (int i = 1; i < size && rank == 0; i++) MPI_Send(&x, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
    if (rank > 0) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// A ring that goes round and round: always all but one asleep, never stuck.
static void ring(void)
{
    int x = 0, next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int i = 0; i < 3000; i++) {
        if (rank > 0 || i > 0)
            MPI_Recv(&x, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&x, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) MPI_Recv(&x, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// One after the other is busy outside MPI while all others sleep: nearly stuck, again and again.
static void storm(void)
{
    int x = 0;
    unsigned seed = 1;
    for (int i = 0; i < 1000; i++) {
        int root = i % size;
        seed = seed * 1103515245u + 12345u;
        if (rank == root) {
            if (seed & 1 << 20) usleep(seed >> 22);
            for (int k = 0; k < size; k++)
                if (k != root) MPI_Send(&x, 1, MPI_INT, k, i, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&x, 1, MPI_INT, root, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

static void threads(const char *mode)
{
    int x;
    pthread_t thread;
    if (is(mode, "thread-storm")) {
        storm();
        return;
    }
    pthread_create(&thread, NULL, is(mode, "thread-acts") ? send_later : wait_for_ever, NULL);
    MPI_Recv(&x, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "recv";
    int threaded = strncmp(mode, "thread", 6) == 0, provided;
    MPI_Init_thread(&argc, &argv, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    big = calloc(1, BIG);
    if (is(mode, "die")) {
        if (rank == 1) {
            usleep(200000);
            raise(SIGKILL);
        }
        MPI_Recv(big, 1, MPI_CHAR, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (is(mode, "abort")) {
        if (rank == 1) MPI_Abort(MPI_COMM_WORLD, atoi(argv[2]));
        for (;;) usleep(10000);
    }
    if (is(mode, "slow"))
        slow();
    else if (is(mode, "ring"))
        ring();
    else if (is(mode, "storm"))
        storm();
    else if (threaded)
        threads(mode);
    else
        stuck(mode);
    MPI_Finalize();
    if (rank == 0) puts("finished");
    return 0;
}
