// SPDX-License-Identifier: BSD-3-Clause
// Large messages that could be read through the kernel, from a kernel that takes long over it: the
// receiver finds out, and has them copied. Every byte is right, whichever way they come. Needs a
// core for each rank, or there is nothing to find out, and a kernel with huge pages, or it is not
// asked.
// RANKS: 2
// TIMEOUT: 60
#include "common.h"
#include "refusing.h"

enum { TAG = 7, BYTES = 512 * 1024 + 3, FEW = 300, MANY = 1000, SLOW_US = 1500 };

static unsigned char *out, *in;

// To and fro; how often this rank has asked the kernel.
static long passes(int times)
{
    long before = reads + writes;
    for (int i = 0; i < times; i++) {
        fill(out, 64, (uint64_t)i);
        if (my_rank == 0) MPI_Send(out, BYTES, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        MPI_Recv(in, BYTES, MPI_BYTE, 1 - my_rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (my_rank == 1) MPI_Send(out, BYTES, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
        CHECK(wrong_bytes(in, 64, (uint64_t)i) == 0 && in[BYTES - 1] == 'z');
    }
    return reads + writes - before;
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    out = malloc(BYTES);
    in = malloc(BYTES);
    memset(out, 'z', BYTES);
    takes_us = SLOW_US;
    long first = passes(FEW), later = passes(MANY);
    if (huge_pages() && cores() >= world_size) CHECK(first > 0);
    // Not asked any more but for trials.
    if (cores() >= world_size) CHECK(later <= MANY / 2);
    free(out);
    free(in);
    return end_test();
}
