// SPDX-License-Identifier: BSD-3-Clause
// Reductions of vectors so long that they go in several pieces, with lengths around the ends of
// pieces and of the ranks' shares: predefined sums, and with SHOAL_COLL (algorithms_test.py) also
// products of 2x2 matrices, which do not commute and which nobody may cut but by that wish.
//
// RANKS: 1 2 3 4 8
#include "coll_test.h"

#define PRIME 10007
#define PIECE 65536  // ints of a piece of a prefix,
#define BLOCK 524288 // ... and of a block of which the ranks share the work

static int rank, size, round_;

// left * right, element by element, into right.
static void multiply(const int *left, int *right, int64_t elements)
{
    for (const int *a = left; a < left + 4 * elements; a += 4, right += 4) {
        int b[4] = {right[0], right[1], right[2], right[3]};
        right[0] = (a[0] * b[0] + a[1] * b[2]) % PRIME;
        right[1] = (a[0] * b[1] + a[1] * b[3]) % PRIME;
        right[2] = (a[2] * b[0] + a[3] * b[2]) % PRIME;
        right[3] = (a[2] * b[1] + a[3] * b[3]) % PRIME;
    }
}

static void user_matrix(void *in, void *inout, MPI_Count *len, MPI_Datatype *t)
{
    (void)t;
    multiply(in, inout, *len);
}

// What ranks first..last make together, of `ints` ints.
static int *expected(int which, int first, int last, int64_t ints)
{
    int *sum = calloc((size_t)ints + 1, sizeof(int)), *one = calloc((size_t)ints + 1, sizeof(int));
    for (int r = first; r <= last; r++) {
        for (int64_t k = 0; k < ints; k++) one[k] = value(round_, r, k);
        for (int64_t k = 0; which == INT && k < ints; k++) one[k] += sum[k];
        if (which == QUAD && r > first) multiply(sum, one, ints / 4);
        int *old = sum;
        sum = one;
        one = old;
    }
    free(one);
    return sum;
}

enum { ALLREDUCE, SCAN, EXSCAN, KINDS };

static void reduce(int kind, int form, int which, MPI_Op op, int count, int in_place)
{
    buffer s = buffer_new(which, count), r = buffer_new(which, count);
    buffer_fill(in_place ? &r : &s, ++round_, rank, 0);
    const void *from = in_place ? MPI_IN_PLACE : s.at;
    int starts = in_place ? 1 : 2;
    if (kind == ALLREDUCE)
        DO(form, starts, Allreduce, allreduce, from, r.at, count, s.s->type, op, MPI_COMM_WORLD);
    else if (kind == SCAN)
        DO(form, starts, Scan, scan, from, r.at, count, s.s->type, op, MPI_COMM_WORLD);
    else
        DO(form, starts, Exscan, exscan, from, r.at, count, s.s->type, op, MPI_COMM_WORLD);
    int64_t ints = data_count(&r), bad = 0;
    int last = kind == ALLREDUCE ? size - 1 : kind == SCAN ? rank : rank - 1;
    int *want = expected(which, 0, last, ints);
    for (int64_t k = 0; last >= 0 && k < ints; k++) bad += *datum(&r, k) != want[k];
    CHECK(bad == 0);
    check_guards(&r);
    if (!in_place) check_data(&s, 0, ints, round_, rank, 0);
    if (last < 0 && !in_place) check_untouched(&r, 0, ints);
    free(want);
    buffer_free(&s);
    buffer_free(&r);
}

int main(int argc, char **argv)
{
    static const int ints[] = {16411, PIECE, PIECE + 1, 2 * PIECE - 1, 2 * PIECE + 4003};
    MPI_Op matrix;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    shapes_make();
    MPI_Op_create_c(user_matrix, 0, &matrix);
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < (int)(sizeof ints / sizeof ints[0]); i++)
            for (int form = BLOCKING; form < FORMS; form++) {
                reduce(kind, form, INT, MPI_SUM, ints[i], (kind + i + form) % 2);
                reduce(kind, form, QUAD, matrix, (ints[i] + 3) / 4, (kind + i + form + 1) % 2);
            }
    for (int form = BLOCKING; form < FORMS; form++)
        reduce(ALLREDUCE, form, INT, MPI_SUM, BLOCK + 7, form % 2);
    MPI_Op_free(&matrix);
    shapes_free();
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
