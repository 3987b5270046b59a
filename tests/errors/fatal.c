// SPDX-License-Identifier: BSD-3-Clause
// Makes one mistake, named by the argument, with the default error handler. For fatal_test.py.
// RANKS:
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char *what, const char *name)
{
    return strcmp(what, name) == 0;
}

static void mistake(const char *what, int rank, int size)
{
    int b[100] = {0}, flag;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Comm comm;
    if (is(what, "rank")) MPI_Send(b, 1, MPI_INT, size + 4, 0, MPI_COMM_WORLD);
    if (is(what, "tag")) MPI_Recv(b, 1, MPI_INT, 0, -44, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is(what, "count")) MPI_Isend(b, -3, MPI_INT, 0, 0, MPI_COMM_WORLD, &r);
    if (is(what, "self")) MPI_Send(b, 1, MPI_INT, 1, 0, MPI_COMM_SELF);
    if (is(what, "request")) MPI_Start(&r);
    if (is(what, "flag")) MPI_Iprobe(0, 0, MPI_COMM_WORLD, NULL, MPI_STATUS_IGNORE);
    if (is(what, "nullcomm")) MPI_Comm_rank(MPI_COMM_NULL, &flag);
    if (is(what, "named")) {
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        MPI_Comm_set_name(comm, "workers");
        MPI_Send(b, 1, MPI_INT, 7, 0, comm);
    }
    if (is(what, "truncate")) {
        MPI_Isend(b, 100, MPI_INT, rank, 5, MPI_COMM_WORLD, &r);
        MPI_Recv(b, 7, MPI_INT, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (is(what, "waitall")) {
        MPI_Irecv(b, 7, MPI_INT, rank, 5, MPI_COMM_WORLD, &r);
        MPI_Send(b, 100, MPI_INT, rank, 5, MPI_COMM_WORLD);
        MPI_Waitall(1, &r, MPI_STATUSES_IGNORE);
    }
    if (is(what, "abort")) MPI_Abort(MPI_COMM_WORLD, 42);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rank = 0, size = 0;
    if (is(what, "early")) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (is(what, "early-send")) MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Init(&argc, &argv);
    if (is(what, "init")) MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == size - 1) mistake(what, rank, size);
    if (strncmp(what, "late", 4) != 0)
        MPI_Recv(&rank, 1, MPI_INT, rank, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    if (is(what, "late")) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (is(what, "late-recv")) MPI_Recv(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is(what, "late-init")) MPI_Init(&argc, &argv);
    if (is(what, "late-finalize")) MPI_Finalize();
    printf("still here\n");
    return 0;
}
