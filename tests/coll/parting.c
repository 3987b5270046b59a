// SPDX-License-Identifier: BSD-3-Clause
// Ranks part just when one of them falls asleep in the call, at any moment of that: it must not
// miss it. The root of a broadcast goes ahead, and the others find out later and later that theirs
// is another call: after up to 450 us, and with a core each the root sleeps after 250. So, too,
// where calls go by messages: all wait to receive, or to get rid of what they send.
// RANKS: 2 4
// TIMEOUT: 120
#include <mpi.h>
#include <stdlib.h>

#include "../../src/plat/test.h"

enum { TIMES = 3000, STEP_NS = 150, AHEAD = 40, LONG_TIMES = 300, MOST_RANKS = 4 };

static void wait_ns(double ns)
{
    double began = MPI_Wtime();
    while ((MPI_Wtime() - began) * 1e9 < ns) continue;
}

// The root comes soon to where it must wait for the others.
static int broadcast_ahead(MPI_Comm comm)
{
    char data[16] = {0};
    int errors = 0;
    for (int k = 0; k < AHEAD; k++)
        errors += MPI_Bcast(data, sizeof data, MPI_BYTE, 0, comm) != MPI_SUCCESS;
    return errors;
}

static MPI_Comm comm_of_its_own(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

static void part_in_arena(int rank)
{
    char data[32];
    for (int k = 0; k < TIMES; k++) {
        MPI_Comm comm = comm_of_its_own();
        if (rank == 0) {
            CHECK(broadcast_ahead(comm) > 0);
        } else {
            wait_ns(k * STEP_NS);
            CHECK(MPI_Bcast(data, sizeof data, MPI_BYTE, 0, comm) != MPI_SUCCESS);
        }
        MPI_Comm_free(&comm);
    }
}

// Everybody receives, or everybody sends, so all wait in vain and all must hear of it. Now the
// root is the one that comes late, now the others.
static void part_by_messages(int rank, int count, int root_gathers)
{
    int counts[MOST_RANKS], displs[MOST_RANKS], rc;
    for (int i = 0; i < MOST_RANKS; i++) counts[i] = count, displs[i] = i * count;
    double *all = calloc(MOST_RANKS * (size_t)count, sizeof *all);
    double *one = calloc((size_t)count, sizeof *one);
    for (int k = 0; k < LONG_TIMES; k++) {
        MPI_Comm comm = comm_of_its_own();
        if ((rank == 0) == k % 2) wait_ns(k * STEP_NS * (TIMES / LONG_TIMES));
        if ((rank == 0) == root_gathers)
            rc = MPI_Gatherv(one, count, MPI_DOUBLE, all, counts, displs, MPI_DOUBLE, 0, comm);
        else
            rc = MPI_Scatterv(all, counts, displs, MPI_DOUBLE, one, count, MPI_DOUBLE, 0, comm);
        CHECK(rc != MPI_SUCCESS);
        MPI_Comm_free(&comm);
    }
    free(all);
    free(one);
}

// A rank that has begun a call hears that another has given the communicator up instead, though it
// does not wait when that happens.
static void leave_before_the_call(int rank, int count)
{
    MPI_Comm comm = comm_of_its_own();
    int ranks, flag;
    MPI_Comm_size(comm, &ranks);
    double *all = calloc((size_t)ranks * (size_t)count, sizeof *all);
    MPI_Request r = MPI_REQUEST_NULL;
    if (rank == 0) MPI_Iscatter(all, count, MPI_DOUBLE, MPI_IN_PLACE, 0, MPI_DOUBLE, 0, comm, &r);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 1000; i++) // the message is here by then, and is kept
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (rank != 0) MPI_Comm_free(&comm);
    if (rank == 0) CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Comm_free(&comm);
    free(all);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    part_in_arena(rank);
    part_by_messages(rank, 1, 1);
    part_by_messages(rank, 1 << 17, 1);
    part_by_messages(rank, 1 << 17, 0);
    leave_before_the_call(rank, 1 << 17);
    MPI_Barrier(MPI_COMM_WORLD); // who takes a message back needs the other's answer
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
