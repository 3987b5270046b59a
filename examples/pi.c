// SPDX-License-Identifier: BSD-3-Clause
// Pi as the area under 4 / (1 + x^2) from 0 to 1: each rank adds up its share of the strips.
//     mpicc -O2 pi.c -o pi && mpiexec -n 4 ./pi [strips]
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    long strips = argc > 1 ? atol(argv[1]) : 10000000;
    MPI_Bcast(&strips, 1, MPI_LONG, 0, MPI_COMM_WORLD);

    double start = MPI_Wtime(), part = 0.0, pi = 0.0;
    for (long i = rank; i < strips; i += size) {
        double x = ((double)i + 0.5) / (double)strips;
        part += 4.0 / (1.0 + x * x);
    }
    part /= (double)strips;
    MPI_Reduce(&part, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("pi is about %.10f\n", pi);
        fprintf(stderr, "%ld strips on %d ranks in %.3f s\n", strips, size, MPI_Wtime() - start);
    }

    MPI_Finalize();
    return 0;
}
