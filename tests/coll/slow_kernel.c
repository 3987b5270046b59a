// SPDX-License-Identifier: BSD-3-Clause
// Long blocks that could go straight from buffer to buffer, by a kernel that takes long over it, on
// one rank: all ranks have them copied soon. Every byte is right, whichever way they go.
// RANKS: 2 4
// TIMEOUT: 60
#include "coll_test.h"

#include "../p2p/refusing.h"

enum { INTS = 150001, FEW = 100, MANY = 300, SLOW_US = 3000 };
static int rank, size, *in, *out;

// How often this rank has asked the kernel.
static long exchanges(int times)
{
    long before = reads + writes;
    for (int k = 0; k < times; k++) {
        for (int i = 0; i < size; i++)
            in[i * INTS] = in[i * INTS + INTS - 1] = k * 100 + rank * 10 + i;
        MPI_Alltoall(in, INTS, MPI_INT, out, INTS, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++) {
            int want = k * 100 + i * 10 + rank;
            CHECK(out[i * INTS] == want && out[i * INTS + INTS - 1] == want);
        }
    }
    return reads + writes - before;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    in = calloc((size_t)size * INTS, sizeof(int));
    out = calloc((size_t)size * INTS, sizeof(int));
    takes_us = rank == 1 ? SLOW_US : 0;
    long first = exchanges(FEW), later = exchanges(MANY);
    if (huge_pages()) CHECK(first > 0);
    CHECK(later <= (size - 1) * MANY / 4);
    free(in);
    free(out);
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
