// SPDX-License-Identifier: BSD-3-Clause
// Collectives of long blocks, which go from buffer to buffer through the kernel, while the kernel
// refuses to read, to write, both, or now and then, on all ranks or on one: other ways are found,
// and every byte is right. In place and not. Each kernel has a communicator of its own, since who
// is refused on one soon asks more rarely there.
// RANKS: 2 4
// TIMEOUT: 120
#include "coll_test.h"

#include "../p2p/refusing.h"

enum { INTS = 75001, ROUNDS = 3 };
static int rank, size, *in, *out;
static MPI_Comm w;

static int number(int from, int to, int k)
{
    return from * 1000003 + to * 10007 + k;
}

// A block for each rank; `same`: the same for all.
static void fill(int *x, int same)
{
    for (int i = 0; i < size; i++)
        for (int k = 0; k < INTS; k++) x[i * INTS + k] = number(rank, same ? 0 : i, k);
}

static void check(const int *x, int from, int to)
{
    int bad = 0;
    for (int k = 0; k < INTS; k++) bad += x[k] != number(from, to, k);
    CHECK(bad == 0);
}

static void exchanges(int in_place)
{
    fill(in, 0);
    MPI_Alltoall(in, INTS, MPI_INT, out, INTS, MPI_INT, w);
    for (int i = 0; i < size; i++) check(out + i * INTS, i, rank);
    fill(in, 1);
    memset(out, 0, sizeof(int) * INTS * (size_t)size);
    if (in_place) memcpy(out + rank * INTS, in, sizeof(int) * INTS);
    MPI_Allgather(in_place ? MPI_IN_PLACE : in, INTS, MPI_INT, out, INTS, MPI_INT, w);
    for (int i = 0; i < size; i++) check(out + i * INTS, i, 0);
}

static void rooted(int root, int in_place)
{
    int mine = in_place && rank == root;
    fill(in, 1);
    memset(out, 0, sizeof(int) * INTS * (size_t)size);
    if (mine) memcpy(out + rank * INTS, in, sizeof(int) * INTS);
    MPI_Gather(mine ? MPI_IN_PLACE : in, INTS, MPI_INT, out, INTS, MPI_INT, root, w);
    for (int i = 0; rank == root && i < size; i++) check(out + i * INTS, i, 0);
    fill(in, 0);
    memset(out, 0, sizeof(int) * INTS);
    MPI_Scatter(in, INTS, MPI_INT, mine ? MPI_IN_PLACE : out, INTS, MPI_INT, root, w);
    memset(in, 0, sizeof(int) * INTS * (size_t)size); // it is ours again
    if (!mine) check(out, root, rank);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    in = malloc(sizeof(int) * INTS * (size_t)size);
    out = malloc(sizeof(int) * INTS * (size_t)size);
    for (int kind = 0; kind < 2 * REFUSALS; kind++) {
        refusal = kind < REFUSALS || rank == 1 ? kind % REFUSALS : REFUSE_NONE;
        MPI_Comm_dup(MPI_COMM_WORLD, &w);
        for (int round = 0; round < ROUNDS; round++) {
            exchanges(round % 2);
            for (int root = 0; root < size; root++) rooted(root, round % 2);
        }
        MPI_Comm_free(&w);
    }
    free(in);
    free(out);
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
