// SPDX-License-Identifier: BSD-3-Clause
// No deadlock: two threads of rank 0 hand a token to each other, each asleep most of the time, and
// then one sends what all ranks wait for. Whoever looks at the threads one after the other may find
// each of them asleep.
// RANKS: 2
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "../../src/plat/test.h"

#define SECONDS 2.0

static sem_t there, back;
static _Atomic int stop;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *first(void *unused)
{
    int value = 1;
    for (double began = now(); now() - began < SECONDS;) {
        sem_post(&there);
        sem_wait(&back);
    }
    stop = 1;
    sem_post(&there);
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    return unused;
}

static void *second(void *unused)
{
    for (sem_wait(&there); !stop; sem_wait(&there)) sem_post(&back);
    return unused;
}

int main(int argc, char **argv)
{
    int rank, provided, value = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        pthread_t t[2];
        sem_init(&there, 0, 0);
        sem_init(&back, 0, 0);
        CHECK(pthread_create(&t[0], NULL, first, NULL) == 0);
        CHECK(pthread_create(&t[1], NULL, second, NULL) == 0);
        MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 2; i++) CHECK(pthread_join(t[i], NULL) == 0);
    } else {
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    CHECK(value == 1);
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
