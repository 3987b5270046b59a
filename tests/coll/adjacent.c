// SPDX-License-Identifier: BSD-3-Clause
// The largest that communicators show in their memory at one time, again and again, while others'
// memory lies right beside theirs: each stays in its own.
//
// RANKS: 2 3
#include "coll_test.h"

#define COMMS  4
#define ROUNDS 10
#define MOST   (1 << 20)

static void allgather(MPI_Comm comm, char *all, int bytes, int size, int rank, int round)
{
    memset(all, 0, (size_t)bytes * (size_t)size);
    memset(all + (size_t)bytes * (size_t)rank, 64 + round * 4 + rank, (size_t)bytes);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, bytes, MPI_BYTE, comm);
    int bad = 0;
    for (int r = 0; r < size; r++) {
        const char *part = all + (size_t)bytes * (size_t)r;
        bad += part[0] != 64 + round * 4 + r || part[bytes - 1] != part[0] ||
               memcmp(part, part + 1, (size_t)bytes - 1) != 0;
    }
    CHECK(bad == 0);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Comm comms[COMMS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *all = malloc((size_t)MOST * (size_t)size);
    for (int i = 0; i < COMMS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < COMMS; i++) {
            int one = rank + 1, sum = 0;
            allgather(comms[i], all, MOST - 4096 * (round % 3), size, rank, round);
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comms[(i + 1) % COMMS]);
            CHECK(sum == size * (size + 1) / 2);
        }
    for (int i = 0; i < COMMS; i++) MPI_Comm_free(&comms[i]);
    free(all);
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
