// SPDX-License-Identifier: BSD-3-Clause
// A mismatch under MPI_ERRORS_RETURN is an error on every rank, also on those that sleep when it is
// found out; afterwards calls that match are right or an error, never wrong data, however many they
// are; and a program that has handled it can end MPI in peace.
// RANKS: 2 3 8
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../src/plat/test.h"

#define ROUNDS 200

static MPI_Comm comm_of_its_own(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

// Rank 1 expects more than the root sends, and learns of it. What follows matches again.
static void broadcast(int rank, int most)
{
    MPI_Comm comm = comm_of_its_own();
    char *data = calloc(1, (size_t)most);
    int errors = 0;
    int rc = MPI_Bcast(data, rank == 1 ? most : most / 2, MPI_BYTE, 0, comm);
    CHECK(rank != 1 || rc != MPI_SUCCESS);
    for (int round = 1; round < ROUNDS; round++) {
        int bytes = most / 8 + round;
        memset(data, rank == 0 ? round : 0, (size_t)most);
        rc = MPI_Bcast(data, bytes, MPI_BYTE, 0, comm);
        CHECK(rc != MPI_SUCCESS || (data[0] == (char)round && data[bytes - 1] == (char)round));
        errors += rc != MPI_SUCCESS;
    }
    CHECK(errors > 0); // nobody goes on for ever
    free(data);
}

// Rank 0 reduces, the others wait for each other: all learn of it.
static void reduce(int rank, int size, int count, int scans)
{
    MPI_Comm comm = comm_of_its_own();
    int *in = malloc(sizeof *in * (size_t)count), *out = malloc(sizeof *out * (size_t)count);
    for (int i = 0; i < count; i++) in[i] = 1;
    int rc = rank == 0 ? MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, 0, comm) : MPI_Barrier(comm);
    CHECK(rc != MPI_SUCCESS);
    for (int round = 1; round < ROUNDS; round++) {
        for (int i = 0; i < count; i++) in[i] = round + i % 7, out[i] = -1;
        rc = scans ? MPI_Scan(in, out, count, MPI_INT, MPI_SUM, comm)
                   : MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, 0, comm);
        if (rc != MPI_SUCCESS || (rank != 0 && !scans)) continue;
        int wrong = 0;
        for (int i = 0; i < count; i++)
            wrong += out[i] != (scans ? rank + 1 : size) * (round + i % 7);
        CHECK(wrong == 0);
    }
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    int rank, size, in = 1, out = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    broadcast(rank, 2000);
    if (size > 2) { // two ranks with a core each send each other messages, and learn of it later
        broadcast(rank, 40000);
        broadcast(rank, 900000);
    }
    reduce(rank, size, 2, 0);
    reduce(rank, size, 16384, 0);
    reduce(rank, size, 16384, 1);
    int last = rank == size - 1;
    if (last) usleep(200000); // the others are asleep by then
    int rc = MPI_Allreduce(&in, &out, 1, MPI_INT, last ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
    CHECK(rc != MPI_SUCCESS);
    CHECK(MPI_Finalize() == MPI_SUCCESS);
    return SHOAL_TEST_RESULT();
}
