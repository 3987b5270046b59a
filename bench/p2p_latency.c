// SPDX-License-Identifier: BSD-3-Clause
// Ping-pong between the first two ranks while all others are blocked in MPI_Recv: half a round trip
// for each message size, the median of several batches, and the bandwidth that follows from it.
//
//     mpicc -O2 bench/p2p_latency.c -o p2p_latency && mpiexec -n 16 ./p2p_latency [largest [level]]
//
// `level` is a thread level (0 or 4096, MPI_THREAD_MULTIPLE). Figures only; nothing is asserted.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 11, TAG = 1, TAG_END = 2 };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Seconds of one batch of round trips.
static double batch(int rank, char *data, int bytes, int rounds)
{
    double began = MPI_Wtime();
    for (int k = 0; k < rounds; k++) {
        if (rank == 0) {
            MPI_Send(data, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
            MPI_Recv(data, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(data, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
        }
    }
    return MPI_Wtime() - began;
}

static void measure(int rank, char *data, int bytes)
{
    double seconds[BATCHES];
    int rounds = bytes <= 1024 ? 2000 : bytes <= 65536 ? 400 : 20;
    batch(rank, data, bytes, rounds / 4);
    for (int k = 0; k < BATCHES; k++) seconds[k] = batch(rank, data, bytes, rounds) / rounds / 2;
    qsort(seconds, BATCHES, sizeof seconds[0], compare);
    double median = seconds[BATCHES / 2];
    if (rank == 0)
        printf("%10d B %12.3f us %12.3f us at best %12.1f MB/s\n", bytes, median * 1e6,
               seconds[0] * 1e6, bytes / median * 1e-6);
}

int main(int argc, char **argv)
{
    int rank, size, provided;
    int largest = argc > 1 ? atoi(argv[1]) : 4 << 20;
    MPI_Init_thread(&argc, &argv, argc > 2 ? atoi(argv[2]) : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        fprintf(stderr, "p2p_latency needs two ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank > 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_END, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        char *data = malloc((size_t)largest + 1);
        memset(data, rank, (size_t)largest + 1);
        if (rank == 0) printf("ping-pong of ranks 0 and 1, %d blocked\n", size - 2);
        measure(rank, data, 0);
        for (int bytes = 8; bytes <= largest; bytes *= bytes < 16384 ? 8 : 4)
            measure(rank, data, bytes);
        free(data);
    }
    for (int k = 2; rank == 0 && k < size; k++)
        MPI_Send(NULL, 0, MPI_BYTE, k, TAG_END, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
