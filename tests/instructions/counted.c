// SPDX-License-Identifier: BSD-3-Clause
// RANKS: 2
// TIMEOUT: 60
// The messages whose instructions instructions_test.py counts; run by itself it is a short test.
//
//     counted [send|recv] [batches] [messages in a batch] [fifo]
//
// Rank 0 is the one under callgrind. Its peer never sleeps in MPI, so rank 0 rings no bell, and
// rank 0 never waits in a call that is counted:
//   send     a batch of MPI_Send fits the ring; the peer takes it all and answers, which rank 0
//            collects with MPI_Mrecv (not counted)
//   recv     the peer sends a batch and then writes a byte to the fifo; only then does rank 0 call
//            MPI_Recv, so that every message is there
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAG 7
#define TAG_ANSWER 8
#define WORLD MPI_COMM_WORLD

// Receives without MPI_Recv and, on the peer, without ever sleeping.
static void take(void *data, int bytes, int from, int tag)
{
    MPI_Message message;
    int there = 0;
    while (!there)
        MPI_Improbe(from, tag, WORLD, &there, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(data, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
}

static void count_sends(int rank, long batches, int size)
{
    char data[8] = "shoal 1", answer = 0;
    for (long b = 0; b < batches; b++) {
        if (rank == 0) {
            for (int i = 0; i < size; i++)
                MPI_Send(data, 8, MPI_BYTE, 1, TAG, WORLD);
            take(&answer, 1, 1, TAG_ANSWER);
        } else {
            for (int i = 0; i < size; i++)
                take(data, 8, 0, TAG);
            MPI_Send(&answer, 1, MPI_BYTE, 0, TAG_ANSWER, WORLD);
        }
    }
}

static void count_receives(int rank, long batches, int size, int fifo)
{
    char data[8] = "shoal 2", answer = 0;
    for (long b = 0; b < batches; b++) {
        if (rank == 0) {
            if (read(fifo, &answer, 1) != 1) MPI_Abort(WORLD, 3);
            for (int i = 0; i < size; i++)
                MPI_Recv(data, 8, MPI_BYTE, 1, TAG, WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&answer, 1, MPI_BYTE, 1, TAG_ANSWER, WORLD);
        } else {
            for (int i = 0; i < size; i++)
                MPI_Send(data, 8, MPI_BYTE, 0, TAG, WORLD);
            if (write(fifo, &answer, 1) != 1) MPI_Abort(WORLD, 3);
            take(&answer, 1, 0, TAG_ANSWER);
        }
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "send";
    long batches = argc > 2 ? atol(argv[2]) : 10;
    int rank, size = argc > 3 ? atoi(argv[3]) : 16;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    if (strcmp(what, "recv") == 0 && argc > 4) {
        int fifo = open(argv[4], rank == 0 ? O_RDONLY : O_WRONLY);
        if (fifo < 0) MPI_Abort(WORLD, 4);
        count_receives(rank, batches, size, fifo);
        close(fifo);
    } else {
        count_sends(rank, batches, size);
    }
    MPI_Finalize();
    return 0;
}
