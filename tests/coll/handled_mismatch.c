// SPDX-License-Identifier: BSD-3-Clause
// A mismatch under MPI_ERRORS_RETURN is an error on every rank, also on those that sleep when it is
// found out; and a program that has handled it can end MPI in peace.
// RANKS: 2 3 8
#include <mpi.h>
#include <unistd.h>

#include "../../src/plat/test.h"

int main(int argc, char **argv)
{
    int rank, size, in = 1, out = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int last = rank == size - 1;
    if (last) usleep(200000); // the others are asleep by then
    int rc = MPI_Allreduce(&in, &out, 1, MPI_INT, last ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
    CHECK(rc != MPI_SUCCESS);
    CHECK(MPI_Finalize() == MPI_SUCCESS);
    return SHOAL_TEST_RESULT();
}
