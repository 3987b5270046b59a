// SPDX-License-Identifier: BSD-3-Clause
// The arena of a new communicator may lie where the user's memory was: what the user left there
// means nothing.
// RANKS: 2 4
#include <mpi.h>
#include <string.h>
#include <unistd.h>

#include "../../src/plat/test.h"

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 4; round++) {
        enum { BYTES = 200000 }; // small enough to keep its pages when freed
        void *memory;
        MPI_Comm dup;
        int in = rank + 1, out = 0;
        CHECK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &memory) == MPI_SUCCESS);
        memset(memory, 0x7f, BYTES);
        CHECK(MPI_Free_mem(memory) == MPI_SUCCESS);
        CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &dup) == MPI_SUCCESS);
        if (rank == 0) usleep(50000); // the others look at its flag before it has set it
        CHECK(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, dup) == MPI_SUCCESS);
        CHECK(out == size * (size + 1) / 2);
        CHECK(MPI_Comm_free(&dup) == MPI_SUCCESS);
    }
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
