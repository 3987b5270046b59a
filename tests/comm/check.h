// SPDX-License-Identifier: BSD-3-Clause
// What the tests of communicators share: is a communicator what it should be, and does it carry
// messages that no other communicator sees?
#ifndef SHOAL_TESTS_COMM_CHECK_H
#define SHOAL_TESTS_COMM_CHECK_H

#include <mpi.h>
#include <stdbool.h>

#include "../../src/plat/test.h"

__attribute__((unused)) static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

__attribute__((unused)) static int rank_of(MPI_Comm comm)
{
    int rank = -1;
    CHECK(MPI_Comm_rank(comm, &rank) == 0);
    return rank;
}

__attribute__((unused)) static int size_of(MPI_Comm comm)
{
    int size = -1;
    CHECK(MPI_Comm_size(comm, &size) == 0);
    return size;
}

__attribute__((unused)) static int compare(MPI_Comm a, MPI_Comm b)
{
    int result = -1;
    CHECK(MPI_Comm_compare(a, b, &result) == 0);
    return result;
}

// A token goes round the ring of an intra-communicator, with wildcards: it must be the right one.
__attribute__((unused)) static void ring(MPI_Comm comm, int token)
{
    int rank = rank_of(comm), size = size_of(comm), got = -1;
    MPI_Status status;
    MPI_Request request;
    CHECK(MPI_Isend(&token, 1, MPI_INT, (rank + 1) % size, 5, comm, &request) == 0);
    CHECK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status) == 0);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == 0);
    CHECK(got == token);
    CHECK(status.MPI_SOURCE == (rank + size - 1) % size);
}

// Everybody of one group of an inter-communicator sends to everybody of the other.
__attribute__((unused)) static void cross(MPI_Comm inter, int token)
{
    int rank = rank_of(inter), remote = -1, got[2];
    MPI_Request requests[64];
    CHECK(MPI_Comm_remote_size(inter, &remote) == 0 && remote > 0 && remote <= 64);
    int mine[2] = {token, rank};
    for (int i = 0; i < remote; i++)
        CHECK(MPI_Isend(mine, 2, MPI_INT, i, 9, inter, &requests[i]) == 0);
    for (int i = 0; i < remote; i++) {
        MPI_Status status;
        CHECK(MPI_Recv(got, 2, MPI_INT, i, MPI_ANY_TAG, inter, &status) == 0);
        CHECK(got[0] == token && got[1] == i && status.MPI_SOURCE == i);
    }
    CHECK(MPI_Waitall(remote, requests, MPI_STATUSES_IGNORE) == 0);
}

#endif
