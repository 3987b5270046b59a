// SPDX-License-Identifier: BSD-3-Clause
// A mismatch under MPI_ERRORS_RETURN is an error on every rank, also on those that sleep when it is
// found out; afterwards calls that match are right or an error, never wrong data; and a program
// that has handled it can end MPI in peace.
// RANKS: 2 3 8
#include <mpi.h>
#include <string.h>
#include <unistd.h>

#include "../../src/plat/test.h"

// Rank 1 expects more than the root sends, and learns of it. What follows matches again.
static void go_on(int rank)
{
    MPI_Comm comm;
    char data[3000] = {0};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int rc = MPI_Bcast(data, rank == 1 ? 2000 : 1000, MPI_BYTE, 0, comm);
    CHECK(rank != 1 || rc != MPI_SUCCESS);
    for (int round = 1; round < 5; round++) {
        memset(data, rank == 0 ? round : 0, sizeof data);
        rc = MPI_Bcast(data, 200 + round, MPI_BYTE, 0, comm);
        CHECK(rc != MPI_SUCCESS || (data[0] == round && data[199 + round] == round));
    }
}

int main(int argc, char **argv)
{
    int rank, size, in = 1, out = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    go_on(rank);
    int last = rank == size - 1;
    if (last) usleep(200000); // the others are asleep by then
    int rc = MPI_Allreduce(&in, &out, 1, MPI_INT, last ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
    CHECK(rc != MPI_SUCCESS);
    CHECK(MPI_Finalize() == MPI_SUCCESS);
    return SHOAL_TEST_RESULT();
}
