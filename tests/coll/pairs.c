// SPDX-License-Identifier: BSD-3-Clause
// Long reductions of two ranks, which may fetch from each other through the kernel: of every kind,
// of lengths around those from which and up to which that is done, in place and not, in pieces of
// different lengths, while the kernel works, refuses, or does both by turns. Results have the same
// bits whoever makes them (which of +0 and -0 is the larger depends on the order of operands),
// inputs stay as they were, and they are the program's again at once.
// RANKS: 2
// TIMEOUT: 120
#include "coll_test.h"

#include "../p2p/refusing.h"

enum { MOST = 300001 };
static const int lengths[] = {8191, 8192, 16385, 65536, 65537, MOST};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };
static int rank;
static float *in, *out, *kept, *expected;
static MPI_Comm w;

// Of rank r; some elements are those of which the order of operands can be told.
static float operand(int r, int k)
{
    if (k % 17 == 3) return r ? 0.0F : -0.0F;
    if (k % 19 == 5) return r ? -0.0F : 0.0F;
    return (float)(k % 1009) + (float)r * 0.25F;
}

static void fill(float *x, int n)
{
    for (int k = 0; k < n; k++) x[k] = operand(rank, k);
}

static int same(const float *a, const float *b, int n)
{
    return memcmp(a, b, sizeof(float) * (size_t)n) == 0;
}

static void check_input(const float *x, int n)
{
    int bad = 0;
    for (int k = 0; k < n; k++) bad += memcmp(&x[k], &(float){operand(rank, k)}, sizeof *x) != 0;
    CHECK(bad == 0);
}

static void expect(MPI_Op op, int n)
{
    for (int k = 0; k < n; k++) {
        float both[2] = {operand(0, k), operand(1, k)};
        if (op == MPI_SUM)
            expected[k] = both[0] + both[1];
        else
            expected[k] = both[0] < both[1] ? both[1] : both[0];
    }
}

static void check_result(const float *x, int from, int n)
{
    int bad = 0;
    for (int k = 0; k < n; k++) bad += x[k] != expected[from + k];
    CHECK(bad == 0);
}

static const void *input(int in_place, float *result, int n)
{
    fill(in, n);
    memset(result, 0, sizeof(float) * (size_t)n);
    if (in_place) fill(result, n);
    return in_place ? MPI_IN_PLACE : in;
}

static void after(int in_place, int n)
{
    if (!in_place) check_input(in, n);
    memset(in, 0, sizeof(float) * (size_t)n); // the other must not read it any more
}

static void vectors(int n, MPI_Op op, int in_place)
{
    MPI_Allreduce(input(in_place, out, n), out, n, MPI_FLOAT, op, w);
    after(in_place, n);
    check_result(out, 0, n);
    memcpy(kept, out, sizeof(float) * (size_t)n);
    MPI_Bcast(kept, n, MPI_FLOAT, 0, w);
    CHECK(same(out, kept, n));
    for (int root = 0; root < 2; root++) {
        int here = rank == root;
        const void *from = input(in_place && here, out, n);
        MPI_Reduce(from, here ? out : NULL, n, MPI_FLOAT, op, root, w);
        after(in_place && here, n);
        if (here) check_result(out, 0, n);
        if (here) CHECK(same(out, kept, n));
    }
    MPI_Scan(input(in_place, out, n), out, n, MPI_FLOAT, op, w);
    after(in_place, n);
    if (rank == 1) check_result(out, 0, n);
    if (rank == 0) check_input(out, n);
}

static void pieces(int first, int second, MPI_Op op, int in_place)
{
    int counts[2] = {first, second}, n = first + second;
    MPI_Reduce_scatter(input(in_place, out, n), out, counts, MPI_FLOAT, op, w);
    after(in_place, n);
    check_result(out, rank ? first : 0, counts[rank]);
    if (first != second) return;
    MPI_Reduce_scatter_block(input(in_place, out, n), out, first, MPI_FLOAT, op, w);
    after(in_place, n);
    check_result(out, rank ? first : 0, first);
}

static void all_calls(int round)
{
    for (int i = 0; i < LENGTHS; i++) {
        MPI_Op op = (i + round) % 2 ? MPI_MAX : MPI_SUM;
        int n = lengths[i];
        expect(op, n);
        vectors(n, op, round % 2);
        pieces(n / 2, n / 2, op, round % 2);
        pieces(n / 5, n - n / 5, op, round % 2);
        pieces(n - 7, 7, op, round % 2);
        pieces(0, n, op, round % 2);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    in = malloc(sizeof(float) * MOST);
    out = malloc(sizeof(float) * MOST);
    kept = malloc(sizeof(float) * MOST);
    expected = malloc(sizeof(float) * MOST);
    for (int kind = 0; kind < 2 * REFUSALS; kind++) {
        refusal = kind < REFUSALS || rank == 1 ? kind % REFUSALS : REFUSE_NONE;
        MPI_Comm_dup(MPI_COMM_WORLD, &w);
        all_calls(kind);
        all_calls(kind + 1);
        MPI_Comm_free(&w);
    }
    free(in);
    free(out);
    free(kept);
    free(expected);
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
