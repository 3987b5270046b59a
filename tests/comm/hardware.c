// SPDX-License-Identifier: BSD-3-Clause
// Ranks that are bound to cores can be split by them.
// RANKS: 4
// OPTIONS: --quiet --bind-to core
#include <sched.h>
#include <string.h>

#include "check.h"

int main(void)
{
    cpu_set_t mine, others;
    MPI_Comm by_core = MPI_COMM_NULL, unguided = MPI_COMM_NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Init(NULL, NULL);
    CHECK(sched_getaffinity(0, sizeof mine, &mine) == 0 && MPI_Info_create(&info) == 0);
    CHECK(MPI_Info_set(info, "mpi_hw_resource_type", "core") == 0);
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &by_core) == 0);
    // Where the system does not tell about cores there is nothing to split by.
    if (by_core != MPI_COMM_NULL) {
        int rank = rank_of(by_core), size = size_of(by_core);
        CHECK(MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, (rank + 1) % size, 0, &others,
                           sizeof others, MPI_BYTE, (rank + size - 1) % size, 0, by_core,
                           MPI_STATUS_IGNORE) == 0);
        CHECK(memcmp(&mine, &others, sizeof mine) == 0);
        CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &unguided) ==
              0);
        CHECK((unguided != MPI_COMM_NULL) == (size < size_of(MPI_COMM_WORLD)));
        if (unguided != MPI_COMM_NULL) CHECK(size_of(unguided) < size_of(MPI_COMM_WORLD));
        if (unguided != MPI_COMM_NULL) CHECK(MPI_Comm_free(&unguided) == 0);
        CHECK(MPI_Comm_free(&by_core) == 0);
    }
    CHECK(MPI_Info_free(&info) == 0);
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
