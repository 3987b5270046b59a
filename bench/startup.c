// SPDX-License-Identifier: BSD-3-Clause
// Start-up and shut-down, nothing else; run.py takes the time of the whole mpiexec.
#include <mpi.h>
#include <stddef.h>

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Finalize();
    return 0;
}
