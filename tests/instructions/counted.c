// SPDX-License-Identifier: BSD-3-Clause
// RANKS: 2
// TIMEOUT: 60
// The messages whose instructions instructions_test.py counts; run by itself it is a short test.
//
//     counted [send|recv|isend|irecv|keep|exchange] [batches] [messages in a batch] [fifo]
//
// Rank 0 is the one under callgrind. Its peer never sleeps in MPI, so rank 0 rings no bell, and
// rank 0 never waits in a call that is counted:
//   send     a batch of MPI_Send fits the ring; the peer takes it all and answers, which rank 0
//            collects with MPI_Mrecv (not counted)
//   recv     the peer sends a batch and then writes a byte to the fifo; only then does rank 0 call
//            MPI_Recv, so that every message is there
//   isend    as send, with MPI_Isend and one MPI_Waitall for the batch
//   irecv    rank 0 posts the batch with MPI_Irecv, reads the fifo's byte, and calls MPI_Waitall
//   keep     as recv, but the batch has as many tags and is asked for from the last to the first
//   exchange as recv, with MPI_Sendrecv, whose send the peer takes afterwards
#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAG        7
#define TAG_ANSWER 8
#define BATCH      64
#define WORLD      MPI_COMM_WORLD

// Receives without MPI_Recv and, on the peer, without ever sleeping.
static void take(void *data, int bytes, int from, int tag)
{
    MPI_Message message;
    int there = 0;
    while (!there) MPI_Improbe(from, tag, WORLD, &there, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(data, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
}

static void send_batch(const char *data, int size, bool requests)
{
    MPI_Request all[BATCH];
    for (int i = 0; i < size; i++) {
        if (requests)
            MPI_Isend(data, 8, MPI_BYTE, 1, TAG, WORLD, &all[i]);
        else
            MPI_Send(data, 8, MPI_BYTE, 1, TAG, WORLD);
    }
    if (requests) MPI_Waitall(size, all, MPI_STATUSES_IGNORE);
}

static void count_sends(int rank, long batches, int size, bool requests)
{
    char data[8] = "shoal 1", answer = 0;
    for (long b = 0; b < batches; b++) {
        if (rank == 0) {
            send_batch(data, size, requests);
            take(&answer, 1, 1, TAG_ANSWER);
        } else {
            for (int i = 0; i < size; i++) take(data, 8, 0, TAG);
            MPI_Send(&answer, 1, MPI_BYTE, 0, TAG_ANSWER, WORLD);
        }
    }
}

static void wait_for_byte(int fifo)
{
    char byte;
    if (read(fifo, &byte, 1) != 1) MPI_Abort(WORLD, 3);
}

static void receive_batch(int size, char how, int fifo)
{
    MPI_Request all[BATCH];
    char data[BATCH][8];
    for (int i = 0; i < size && how == 'i'; i++)
        MPI_Irecv(data[i], 8, MPI_BYTE, 1, TAG, WORLD, &all[i]);
    wait_for_byte(fifo);
    if (how == 'i') MPI_Waitall(size, all, MPI_STATUSES_IGNORE);
    for (int i = 0; i < size && how == 'e'; i++)
        MPI_Sendrecv("shoal 3", 8, MPI_BYTE, 1, TAG, data[i], 8, MPI_BYTE, 1, TAG, WORLD,
                     MPI_STATUS_IGNORE);
    for (int i = 0; i < size && how == 'r'; i++)
        MPI_Recv(data[i], 8, MPI_BYTE, 1, TAG, WORLD, MPI_STATUS_IGNORE);
    for (int i = size; i > 0 && how == 'k'; i--)
        MPI_Recv(data[i - 1], 8, MPI_BYTE, 1, TAG_ANSWER + i, WORLD, MPI_STATUS_IGNORE);
}

static void count_receives(int rank, long batches, int size, char how, int fifo)
{
    char data[8] = "shoal 2", answer = 0;
    for (long b = 0; b < batches; b++) {
        if (rank == 0) {
            receive_batch(size, how, fifo);
            MPI_Send(&answer, 1, MPI_BYTE, 1, TAG_ANSWER, WORLD);
        } else {
            for (int i = 1; i <= size; i++)
                MPI_Send(data, 8, MPI_BYTE, 0, how == 'k' ? TAG_ANSWER + i : TAG, WORLD);
            if (write(fifo, &answer, 1) != 1) MPI_Abort(WORLD, 3);
            for (int i = 0; i < size && how == 'e'; i++) take(data, 8, 0, TAG);
            take(&answer, 1, 0, TAG_ANSWER);
        }
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "send";
    long batches = argc > 2 ? atol(argv[2]) : 10;
    int rank, size = argc > 3 ? atoi(argv[3]) : 16;
    if (size > BATCH) return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    if (!strstr(what, "send") && argc > 4) {
        int fifo = open(argv[4], rank == 0 ? O_RDONLY : O_WRONLY);
        if (fifo < 0) MPI_Abort(WORLD, 4);
        count_receives(rank, batches, size, what[0], fifo);
        close(fifo);
    } else {
        count_sends(rank, batches, size, what[0] == 'i');
    }
    MPI_Finalize();
    return 0;
}
