// SPDX-License-Identifier: BSD-3-Clause
// A program of either interface, without its header: prints how many ranks there are.
#include <stdint.h>
#include <stdio.h>

int MPI_Init(int *argc, char ***argv);
int MPI_Comm_size(COMM comm, int *size);
int MPI_Send(const void *buf, int count, COMM datatype, int dest, int tag, COMM comm);
int MPI_Finalize(void);

int main(int argc, char **argv)
{
    int size = 0, null = PROC_NULL;
    if (MPI_Init(&argc, &argv) != 0) return 1;
    for (int i = 0; i < 3; i++)
        if (MPI_Comm_size((COMM)(intptr_t)WORLD, &size) != 0) return 2;
    if (MPI_Send(&size, 1, (COMM)(intptr_t)INT, null, 0, (COMM)(intptr_t)WORLD) != 0) return 3;
    printf("%d ranks\n", size);
    fflush(stdout);
    return MPI_Finalize();
}
