// SPDX-License-Identifier: BSD-3-Clause
// For programs that are compiled with the mpi.h of MPICH itself: CHECK counts failures, DONE ends
// the program with them.
#ifndef SHOAL_TESTS_MPICH_CHECK_H
#define SHOAL_TESTS_MPICH_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures, my_rank, my_size;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failures++;                                                                            \
            printf("rank %d: %s:%d: %s\n", my_rank, __FILE__, __LINE__, #condition);               \
        }                                                                                          \
    } while (0)

#define OK(call) CHECK((call) == MPI_SUCCESS)

// The class of the error that a call returned.
static inline int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

#define FAILS(call, class) CHECK(class_of(call) == (class))

static inline void begin(int *argc, char ***argv)
{
    OK(MPI_Init(argc, argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &my_size);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
}

static inline int finish(void)
{
    OK(MPI_Finalize());
    fflush(stdout);
    return failures != 0;
}

#endif
