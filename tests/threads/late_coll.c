// SPDX-License-Identifier: BSD-3-Clause
// One thread sleeps in MPI_Recv while another starts non-blocking collectives and never waits in
// MPI for them before the message has come: the sleeping thread has to make progress with them,
// also on a communicator of which it knew nothing when it fell asleep.
// RANKS: 2 4
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

#include "../../src/plat/test.h"

enum { MANY = 20, ROUNDS = 5 };

static int rank, size;

static void *receive(void *out)
{
    MPI_Recv(out, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void start_all(MPI_Comm c, MPI_Request r[])
{
    for (int i = 0; i < MANY; i++) MPI_Ibarrier(c, &r[i]);
}

// Rank 0's thread is told by the last rank, once that has passed all barriers.
static void round_on(MPI_Comm c, int number)
{
    MPI_Request r[MANY];
    pthread_t thread;
    int word = -1;
    if (rank == 0) {
        pthread_create(&thread, NULL, receive, &word);
        usleep(30000); // so that it sleeps, mostly
        start_all(c, r);
        pthread_join(thread, NULL);
        CHECK(word == number);
    } else {
        usleep(60000);
        start_all(c, r);
    }
    MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
    if (rank == size - 1) MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Comm c;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        round_on(c, i);
        MPI_Comm_free(&c);
    }
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
