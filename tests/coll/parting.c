// SPDX-License-Identifier: BSD-3-Clause
// Ranks part just when one of them falls asleep in the call, at any moment of that: it must not
// miss it. The root of a broadcast goes ahead, and the others find out later and later that theirs
// is another call: after up to 450 us, and with a core each the root sleeps after 250.
// RANKS: 2 4
// TIMEOUT: 120
#include <mpi.h>

#include "../../src/plat/test.h"

enum { TIMES = 3000, STEP_NS = 150, AHEAD = 40 };

static void wait_ns(double ns)
{
    double began = MPI_Wtime();
    while ((MPI_Wtime() - began) * 1e9 < ns) continue;
}

// The root comes soon to where it must wait for the others.
static int broadcast_ahead(MPI_Comm comm)
{
    char data[16] = {0};
    int errors = 0;
    for (int k = 0; k < AHEAD; k++)
        errors += MPI_Bcast(data, sizeof data, MPI_BYTE, 0, comm) != MPI_SUCCESS;
    return errors;
}

int main(int argc, char **argv)
{
    int rank;
    char data[32];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < TIMES; k++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        if (rank == 0) {
            CHECK(broadcast_ahead(comm) > 0);
        } else {
            wait_ns(k * STEP_NS);
            CHECK(MPI_Bcast(data, sizeof data, MPI_BYTE, 0, comm) != MPI_SUCCESS);
        }
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
