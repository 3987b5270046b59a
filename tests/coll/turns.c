// SPDX-License-Identifier: BSD-3-Clause
// Collectives that use the same shared memory in turn, in any order: those in which all wait for
// all, those through a pipe, with the same root again and with another, and those in which nobody
// waits for the root. Ranks that are late at random read what others would overwrite.
// RANKS: 2 4
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../src/plat/test.h"

#define MOST (400 << 10) // ints

static int rank, size, round_;
static int *in, *out;
static unsigned shared = 1, own;

static unsigned draw(unsigned *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 16;
}

static int value(int from, int i)
{
    return (from + 1) * (round_ % 1000 + 1) + i;
}

static int sum(int i)
{
    return size * (size + 1) / 2 * (round_ % 1000 + 1) + size * i;
}

// How many of `n` ints at `at` are not as `from` (-1: the sum) has them.
static int wrong(const int *at, int n, int from)
{
    int bad = 0;
    for (int i = 0; i < n; i++) bad += at[i] != (from < 0 ? sum(i) : value(from, i));
    return bad;
}

static int wrong_blocks(int n)
{
    int bad = 0;
    for (int r = 0; r < size; r++) bad += wrong(out + (size_t)r * (size_t)n, n, r);
    return bad;
}

static int draw_count(void)
{
    static const int edges[] = {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 200000};
    return edges[draw(&shared) % 9] + (int)(draw(&shared) % 3) - 1;
}

static int reduce(int n, int root, int in_place)
{
    const void *from = in_place && rank == root ? MPI_IN_PLACE : in;
    for (int i = 0; i < n; i++) out[i] = in[i];
    MPI_Reduce(from, rank == root ? out : NULL, n, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    return rank == root ? wrong(out, n, -1) : 0;
}

static int allreduce(int n, int in_place)
{
    for (int i = 0; i < n; i++) out[i] = in[i];
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return wrong(out, n, -1);
}

static int alltoall(int n)
{
    int bad = 0;
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++) in[r * n + i] = value(rank, i) + r;
    MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++) bad += out[r * n + i] != value(r, i) + rank;
    return bad;
}

static int one_round(void)
{
    int n = draw_count(), root = (int)(draw(&shared) % (unsigned)size);
    int in_place = draw(&shared) % 3 == 0, kind = (int)(draw(&shared) % 8);
    for (int i = 0; i < n; i++) in[i] = value(rank, i);
    if (draw(&own) % 8 == 0) usleep(draw(&own) % 200);
    switch (kind) {
    case 0:
    case 1: return reduce(n, root, in_place);
    case 2:
    case 3: return allreduce(n, in_place);
    case 4: MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD); return wrong_blocks(n);
    case 5: return alltoall(n);
    case 6:
        n = n % 400;
        MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, root, MPI_COMM_WORLD);
        return rank == root ? wrong_blocks(n) : 0;
    default: MPI_Bcast(in, n, MPI_INT, root, MPI_COMM_WORLD); return wrong(in, n, root);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    own = (unsigned)rank + 7;
    in = malloc((size_t)size * MOST * sizeof *in);
    out = malloc((size_t)size * MOST * sizeof *out);
    for (round_ = 1; round_ <= 600 && shoal_test_failures == 0; round_++) CHECK(one_round() == 0);
    free(in);
    free(out);
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
