// SPDX-License-Identifier: BSD-3-Clause
// Collectives of some megabytes, which take the ways for large data: through the arena in pieces,
// by rendezvous, cut between the ranks. In place and not; several in a row, so that one begins
// where another has just ended.
//
// RANKS: 1 2 3 5
// TIMEOUT: 120
#include "coll_test.h"

#include <stdbool.h>

#define COUNT 700001 // no multiple of anything
static int rank, size;

static int mine(int who, int64_t k)
{
    return (int)(k % 1009) * (who + 1) + who;
}

// Sum of mine() over ranks 0 .. last.
static int sum(int last, int64_t k)
{
    return (int)(k % 1009) * (last + 1) * (last + 2) / 2 + last * (last + 1) / 2;
}

static void fill(int *x, int64_t n)
{
    for (int64_t k = 0; k < n; k++) x[k] = mine(rank, k);
}

static void check_sum(const int *x, int last, int64_t from, int64_t n)
{
    int64_t bad = 0;
    for (int64_t k = 0; k < n; k++) bad += x[k] != sum(last, from + k);
    CHECK(bad == 0);
}

static void check_from(const int *x, int who, int64_t from, int64_t n)
{
    int64_t bad = 0;
    for (int64_t k = 0; k < n; k++) bad += x[k] != mine(who, from + k);
    CHECK(bad == 0);
}

static void reductions(int form, int *in, int *out, int in_place)
{
    void *from = in_place ? MPI_IN_PLACE : (void *)in;
    int *place = in_place ? out : in, counts[64];
    int64_t before = 0, all = 0;
    fill(place, COUNT);
    DO(form, 1, Scan, scan, from, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check_sum(out, rank, 0, COUNT);
    fill(place, COUNT);
    DO(form, 1, Allreduce, allreduce, from, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check_sum(out, size - 1, 0, COUNT);
    fill(place, COUNT);
    DO(form, 1, Exscan, exscan, from, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank) check_sum(out, rank - 1, 0, COUNT);
    fill(place, (int64_t)COUNT * size);
    DO(form, 1, Reduce_scatter_block, reduce_scatter_block, from, out, COUNT, MPI_INT, MPI_SUM,
       MPI_COMM_WORLD);
    check_sum(out, size - 1, (int64_t)COUNT * rank, COUNT);
    for (int i = 0; i < size; i++) {
        counts[i] = i % 3 == 1 ? 0 : COUNT / (i + 1);
        before += i < rank ? counts[i] : 0;
        all += counts[i];
    }
    fill(place, all);
    DO(form, 1, Reduce_scatter, reduce_scatter, from, out, counts, MPI_INT, MPI_SUM,
       MPI_COMM_WORLD);
    check_sum(out, size - 1, before, counts[rank]);
    fill(in, COUNT);
    DO(form, 1, Reduce, reduce, in, out, COUNT, MPI_INT, MPI_SUM, size - 1, MPI_COMM_WORLD);
    if (rank == size - 1) check_sum(out, size - 1, 0, COUNT);
}

static void check_alltoall(const int *out)
{
    for (int i = 0; i < size; i++)
        check_from(out + (int64_t)i * COUNT, i, (int64_t)rank * COUNT, COUNT);
}

// In place, and with holes in what one rank sends: blocks that others cannot just fetch.
static void awkward_alltoalls(int form, int *in, int *out)
{
    fill(out, (int64_t)COUNT * size);
    DO(form, 1, Alltoall, alltoall, MPI_IN_PLACE, 0, MPI_INT, out, COUNT, MPI_INT, MPI_COMM_WORLD);
    check_alltoall(out);
    MPI_Datatype apart;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &apart);
    MPI_Type_commit(&apart);
    bool holes = rank == size / 2;
    for (int64_t k = 0; k < (int64_t)COUNT * size; k++) in[holes ? 2 * k : k] = mine(rank, k);
    memset(out, 0, (size_t)COUNT * (size_t)size * sizeof(int));
    DO(form, 1, Alltoall, alltoall, in, COUNT, holes ? apart : MPI_INT, out, COUNT, MPI_INT,
       MPI_COMM_WORLD);
    check_alltoall(out);
    MPI_Type_free(&apart);
}

static void movements(int form, int *in, int *out)
{
    fill(in, (int64_t)COUNT * size);
    DO(form, 1, Allgather, allgather, in, COUNT, MPI_INT, out, COUNT, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) check_from(out + (int64_t)i * COUNT, i, 0, COUNT);
    DO(form, 1, Alltoall, alltoall, in, COUNT, MPI_INT, out, COUNT, MPI_INT, MPI_COMM_WORLD);
    check_alltoall(out);
    for (int root = 0; root<size; root += size> 1 ? size - 1 : 1) {
        DO(form, 1, Scatter, scatter, in, COUNT, MPI_INT, out, COUNT, MPI_INT, root,
           MPI_COMM_WORLD);
        check_from(out, root, (int64_t)rank * COUNT, COUNT);
        DO(form, 1, Gather, gather, in, COUNT, MPI_INT, out, COUNT, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; rank == root && i < size; i++)
            check_from(out + (int64_t)i * COUNT, i, 0, COUNT);
        if (rank == root) fill(out, COUNT);
        DO(form, 1, Bcast, bcast, out, COUNT, MPI_INT, root, MPI_COMM_WORLD);
        check_from(out, root, 0, COUNT);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    size_t bytes = (size_t)COUNT * (size_t)size * sizeof(int);
    int *in = malloc(2 * bytes), *out = malloc(bytes);
    // One of three may not read the others' memory.
    if (size == 3 && rank == 1) setenv("SHOAL_CMA", "0", 1);
    for (int form = 0; form < 2; form++) {
        reductions(form, in, out, 0);
        reductions(form, in, out, 1);
        movements(form, in, out);
        awkward_alltoalls(form, in, out);
    }
    free(in);
    free(out);
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
