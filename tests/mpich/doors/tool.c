// SPDX-License-Identifier: BSD-3-Clause
// A profiling tool as users write them: takes MPI_Comm_size over, counts, and calls PMPI_Comm_size.
// Compiled once for each interface; the type of a communicator is all that differs.
#include <stdio.h>
#include <stdlib.h>

int PMPI_Comm_size(COMM comm, int *size);
int PMPI_Finalize(void);

static int calls;

int MPI_Comm_size(COMM comm, int *size)
{
    calls++;
    return PMPI_Comm_size(comm, size);
}

int MPI_Finalize(void)
{
    printf("tool saw %d calls\n", calls);
    return PMPI_Finalize();
}
