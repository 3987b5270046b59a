// SPDX-License-Identifier: BSD-3-Clause
// What the tests of topologies share.
#ifndef SHOAL_TESTS_TOPO_CHECK_H
#define SHOAL_TESTS_TOPO_CHECK_H

#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#include "../../src/plat/test.h"

static int rank, size;

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static bool same(const int *a, const int *b, int n)
{
    return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

static int kind_of(MPI_Comm comm)
{
    int kind = -1;
    CHECK(MPI_Topo_test(comm, &kind) == 0);
    return kind;
}

static void begin(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

#endif
