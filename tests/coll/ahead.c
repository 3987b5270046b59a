// SPDX-License-Identifier: BSD-3-Clause
// Ranks that need not wait run ahead of those that do: the root of broadcasts and scatters, all
// others in gathers and reductions, the lower ones in scans. However far behind a rank is, nothing
// it has still to read may be overwritten. One root for many calls, a rank that dawdles, sizes that
// take each of the ways.
// RANKS: 2 3 8
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 75, MOST = 200000 }; // ints

static int rank, size, failures, *one, *all;

static int value(int round, int from, int to, int k)
{
    return round * 7919 + from * 104729 + to * 1299709 + k;
}

static void fill(int *v, int count, int round, int from, int to)
{
    for (int k = 0; k < count; k++) v[k] = value(round, from, to, k);
}

static void check(const int *v, int count, int round, int from, int to, const char *what)
{
    for (int k = 0; k < count; k++) {
        if (v[k] == value(round, from, to, k)) continue;
        failures++;
        fprintf(stderr, "rank %d: %s of %d, round %d: element %d is wrong\n", rank, what, count,
                round, k);
        return;
    }
}

static void dawdle(int round)
{
    if (rank == (round / 10) % size && round % 10 == 9) usleep(3000);
}

static void bcast(int count, int round, int root)
{
    if (rank == root) fill(one, count, round, root, 0);
    MPI_Bcast(one, count, MPI_INT, root, MPI_COMM_WORLD);
    check(one, count, round, root, 0, "bcast");
}

static void scatter(int count, int round, int root)
{
    for (int r = 0; rank == root && r < size; r++) fill(all + r * count, count, round, root, r);
    MPI_Scatter(all, count, MPI_INT, one, count, MPI_INT, root, MPI_COMM_WORLD);
    check(one, count, round, root, rank, "scatter");
}

static void gather(int count, int round, int root)
{
    fill(one, count, round, rank, root);
    MPI_Gather(one, count, MPI_INT, all, count, MPI_INT, root, MPI_COMM_WORLD);
    for (int r = 0; rank == root && r < size; r++)
        check(all + r * count, count, round, r, root, "gather");
}

static void reduce(int count, int round, int root)
{
    fill(one, count, round, rank, root);
    MPI_Reduce(one, all, count, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
    if (rank == root) check(all, count, round, size - 1, root, "reduce");
}

static void scan(int count, int round, int root)
{
    fill(one, count, round, rank, root);
    MPI_Scan(one, all, count, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    check(all, count, round, rank, root, "scan");
}

int main(int argc, char **argv)
{
    static void (*const calls[])(int, int, int) = {bcast, scatter, gather, reduce, scan};
    static const int counts[] = {2, 100, 700, 5000, 16000, 50000, MOST};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    one = malloc(sizeof(int) * MOST);
    all = malloc(sizeof(int) * MOST * (size_t)size);
    if (!one || !all) MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        int rounds = counts[c] > 5000 ? ROUNDS / 5 : ROUNDS;
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
            for (int round = 0; round < rounds; round++) {
                dawdle(round);
                calls[i](counts[c], round, (int)(i + c) % size);
            }
    }
    // All kinds and sizes in turn: what one leaves in the arena another must not take for its own.
    for (int round = 0; round < ROUNDS; round++) {
        dawdle(round);
        calls[round % 5](counts[round % 6], round, round % 4 % size);
    }
    free(one);
    free(all);
    MPI_Finalize();
    return failures > 0;
}
