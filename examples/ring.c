// SPDX-License-Identifier: BSD-3-Clause
// A number goes round the ring of ranks; each adds one.
//     mpicc ring.c -o ring && mpiexec -n 4 ./ring
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size, token = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;

    // Rank 0 starts the ring and hears last; posting its receive first makes that right for one
    // rank, too.
    MPI_Request last = MPI_REQUEST_NULL;
    int arrived = 0;
    if (rank == 0)
        MPI_Irecv(&arrived, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &last);
    else
        MPI_Recv(&token, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    token++;
    MPI_Send(&token, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
    MPI_Wait(&last, MPI_STATUS_IGNORE);
    if (rank == 0) printf("the token came back as %d after %d ranks\n", arrived, size);

    MPI_Finalize();
    return 0;
}
