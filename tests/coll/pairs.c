// SPDX-License-Identifier: BSD-3-Clause
// Long reductions of two ranks, which may fetch from each other through the kernel: of every kind,
// of lengths around those from which and up to which that is done, in place and not, in pieces of
// different lengths, while the kernel works, refuses, or does both by turns. Results have the same
// bits as those made without the kernel (which of +0 and -0 is the larger depends on the order of
// operands), inputs stay as they were, and they are the program's again at once.
// RANKS: 2
// TIMEOUT: 120
#include "coll_test.h"

#include "../p2p/refusing.h"

enum { MOST = 300001 };
enum { VECTOR, PREFIX, PIECE, KINDS };
static const int lengths[] = {8191, 8192, 16385, 65536, 65537, MOST};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };
static int rank;
static float *in, *out, *expected[2][KINDS];
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
    for (int k = 0; k < n; k++) bad += !same(&x[k], &(float){operand(rank, k)}, 1);
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

static MPI_Op op_of(int largest)
{
    return largest ? MPI_MAX : MPI_SUM;
}

static void vectors(int n, int largest, int in_place)
{
    float **e = expected[largest];
    MPI_Op op = op_of(largest);
    MPI_Allreduce(input(in_place, out, n), out, n, MPI_FLOAT, op, w);
    after(in_place, n);
    CHECK(same(out, e[VECTOR], n));
    for (int root = 0; root < 2; root++) {
        int here = rank == root;
        const void *from = input(in_place && here, out, n);
        MPI_Reduce(from, here ? out : NULL, n, MPI_FLOAT, op, root, w);
        after(in_place && here, n);
        if (here) CHECK(same(out, e[VECTOR], n));
    }
    MPI_Scan(input(in_place, out, n), out, n, MPI_FLOAT, op, w);
    after(in_place, n);
    CHECK(same(out, e[PREFIX], n));
}

static void pieces(int first, int second, int largest, int in_place)
{
    int counts[2] = {first, second}, n = first + second;
    const float *e = expected[largest][PIECE] + (rank ? first : 0);
    MPI_Reduce_scatter(input(in_place, out, n), out, counts, MPI_FLOAT, op_of(largest), w);
    after(in_place, n);
    CHECK(same(out, e, counts[rank]));
    if (first != second) return;
    MPI_Reduce_scatter_block(input(in_place, out, n), out, first, MPI_FLOAT, op_of(largest), w);
    after(in_place, n);
    CHECK(same(out, e, first));
}

static void all_calls(int round)
{
    for (int i = 0; i < LENGTHS; i++) {
        int n = lengths[i], largest = (i + round) % 2, in_place = round / 2 % 2;
        vectors(n, largest, in_place);
        pieces(n / 2, n / 2, largest, in_place);
        pieces(n / 5, n - n / 5, largest, in_place);
        pieces(n - 7, 7, largest, in_place);
        pieces(0, n, largest, in_place);
        pieces(n, 0, largest, in_place);
    }
}

// What the calls give without the kernel. That is right, too, apart from the signs of zeros.
static void expect(int largest)
{
    float **e = expected[largest];
    MPI_Op op = op_of(largest);
    for (int k = 0; k < KINDS; k++) e[k] = calloc(MOST, sizeof(float));
    MPI_Allreduce(input(0, e[VECTOR], MOST), e[VECTOR], MOST, MPI_FLOAT, op, w);
    MPI_Scan(in, e[PREFIX], MOST, MPI_FLOAT, op, w);
    for (int r = 0; r < 2; r++) { // each gets all of it in turn
        int counts[2] = {r == 0 ? MOST : 0, r == 1 ? MOST : 0};
        MPI_Reduce_scatter(in, r == rank ? e[PIECE] : out, counts, MPI_FLOAT, op, w);
    }
    int bad = 0;
    for (int k = 0; k < MOST; k++) {
        float a = operand(0, k), b = operand(1, k), both = largest ? (a < b ? b : a) : a + b;
        bad += e[VECTOR][k] != both || e[PIECE][k] != both;
        bad += e[PREFIX][k] != (rank == 0 ? a : both);
    }
    CHECK(bad == 0);
}

int main(int argc, char **argv)
{
    const char *cma = getenv("SHOAL_CMA");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    in = malloc(sizeof(float) * MOST);
    out = malloc(sizeof(float) * MOST);
    refusal = REFUSE_BOTH;
    MPI_Comm_dup(MPI_COMM_WORLD, &w);
    for (int largest = 0; largest < 2; largest++) expect(largest);
    MPI_Comm_free(&w);
    for (int kind = 0; kind < 2 * REFUSALS; kind++) {
        refusal = kind < REFUSALS || rank == 1 ? kind % REFUSALS : REFUSE_NONE;
        MPI_Comm_dup(MPI_COMM_WORLD, &w);
        for (int round = 0; round < 4; round++) all_calls(round);
        MPI_Comm_free(&w);
    }
    // Where there is a choice it is the kernel's way that has been tested here.
    if (cma && strcmp(cma, "always") == 0 && cores() > 1) CHECK(reads > 0);
    free(in);
    free(out);
    for (int k = 0; k < 2 * KINDS; k++) free(expected[k / KINDS][k % KINDS]);
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
