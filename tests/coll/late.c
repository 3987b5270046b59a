// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collectives of all kinds for which some rank is late: the others sleep in MPI_Wait
// and must be woken, also those who cannot even show what they have, because all slots are in use.
// Lengths around those at which the way changes; some calls end before others that were begun
// earlier. Roots that wait for nobody run ahead.
//
// RANKS: 2 3 4 8
// TIMEOUT: 120
#include "coll_test.h"

#include <unistd.h>

enum { ROUNDS = 60, AHEAD = 40, MOST = 17000 };

static int rank, size, in[MOST], out[MOST];

static int sum_of(int round, int k)
{
    int sum = 0;
    for (int i = 0; i < size; i++) sum += value(round, i, k);
    return sum;
}

static void start(int round, int count, int root, MPI_Request r[3])
{
    for (int k = 0; k < count; k++) in[k] = value(round, rank, k);
    MPI_Iallreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[0]);
    MPI_Ibcast(&in[count], 1, MPI_INT, root, MPI_COMM_WORLD, &r[1]);
    MPI_Ibarrier(MPI_COMM_WORLD, &r[2]);
}

static void one_is_late(int round)
{
    static const int counts[] = {1, 24, 25, 511, 513, 2047, 2049, 4096, 16383, 16385};
    int count = counts[round % 10], root = round % size;
    MPI_Request r[3];
    if (round % 3 == 0 && rank == round / 3 % size) usleep(3000);
    in[count] = rank == root ? round : -1;
    start(round, count, root, r);
    // The barrier first: whoever has passed it knows that all have begun the others.
    for (int i = 2; i >= 0; i--) MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    int bad = in[count] != round;
    for (int k = 0; k < count; k++) bad += out[k] != sum_of(round, k);
    CHECK(bad == 0);
}

// More calls than there are slots, while the last rank makes none.
static void one_runs_ahead(int round)
{
    static int words[AHEAD];
    MPI_Request r[AHEAD];
    for (int i = 0; i < AHEAD; i++) words[i] = rank == 0 ? round + i : -1;
    if (rank == size - 1) usleep(3000);
    for (int i = 0; i < AHEAD; i++) MPI_Ibcast(&words[i], 1, MPI_INT, 0, MPI_COMM_WORLD, &r[i]);
    if (round % 2 == 0)
        for (int i = AHEAD - 1; i >= 0; i--) MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    else
        MPI_Waitall(AHEAD, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < AHEAD; i++) CHECK(words[i] == round + i);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < ROUNDS; round++) {
        one_is_late(round);
        if (round % 4 == 0) one_runs_ahead(round / 4);
    }
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
