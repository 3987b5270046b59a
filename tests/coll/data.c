// SPDX-License-Identifier: BSD-3-Clause
// Collectives that move data: every form, several shapes of datatypes on either side, all roots,
// counts from zero to beyond the eager limit, in place and not; compared with what each rank must
// get. SHOAL_COLL chooses the algorithm (algorithms_test.py).
//
// RANKS: 1 2 3 4 7 8
#include "coll_test.h"

static int rank, size, round_;

// Pairs of shapes for the two sides; counts are chosen so that both have the same number of ints.
static const int pairs[][2] = {{INT, INT}, {STRIDED, PADDED}, {INT, REVERSED}, {BELOW, TRIPLE}};
#define PAIRS (int)(sizeof pairs / sizeof pairs[0])

static const int64_t unit_counts[] = {0, 1, 5, 700, 9000};
#define COUNTS (int)(sizeof unit_counts / sizeof unit_counts[0])

// 6 ints are a whole number of elements of every shape.
static int64_t elements(int shape_, int64_t units)
{
    return units * 6 / shapes[shape_].n;
}

static void bcast(int form, const int pair[2], int64_t units, int root)
{
    int mine = rank % 2 ? pair[0] : pair[1];
    buffer b = buffer_new(mine, elements(mine, units));
    if (rank == root) buffer_fill(&b, round_, root, 0);
    DO(form, 2, Bcast, bcast, b.at, (int)b.count, b.s->type, root, MPI_COMM_WORLD);
    check_data(&b, 0, units * 6, round_, root, 0);
    check_guards(&b);
    buffer_free(&b);
}

static void gather(int form, const int pair[2], int64_t units, int root, int in_place)
{
    int64_t ints = units * 6;
    buffer s = buffer_new(pair[0], elements(pair[0], units));
    buffer r = buffer_new(pair[1], elements(pair[1], units) * size);
    buffer_fill(&s, round_, rank, 0);
    int here = in_place && rank == root;
    for (int64_t k = 0; here && k < ints; k++) *datum(&r, rank * ints + k) = value(round_, rank, k);
    DO(form, 2, Gather, gather, here ? MPI_IN_PLACE : s.at, (int)s.count, s.s->type, r.at,
       (int)elements(pair[1], units), r.s->type, root, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        if (rank == root)
            check_data(&r, i * ints, ints, round_, i, 0);
        else
            check_untouched(&r, i * ints, ints);
    }
    check_guards(&r);
    check_data(&s, 0, ints, round_, rank, 0);
    buffer_free(&s);
    buffer_free(&r);
}

static void scatter(int form, const int pair[2], int64_t units, int root, int in_place)
{
    int64_t ints = units * 6;
    buffer s = buffer_new(pair[0], elements(pair[0], units) * size);
    buffer r = buffer_new(pair[1], elements(pair[1], units));
    buffer_fill(&s, round_, root, 0);
    int here = in_place && rank == root;
    DO(form, 2, Scatter, scatter, s.at, (int)elements(pair[0], units), s.s->type,
       here ? MPI_IN_PLACE : r.at, (int)r.count, r.s->type, root, MPI_COMM_WORLD);
    if (here)
        check_untouched(&r, 0, ints);
    else
        check_data(&r, 0, ints, round_, root, rank * ints);
    check_guards(&r);
    buffer_free(&s);
    buffer_free(&r);
}

// Counts and places of the v forms: rank i has i % 3 units more, and blocks lie in reverse order
// with gaps.
typedef struct layout {
    int counts[64], displs[64];
    int64_t ints[64], first[64]; // of each block, in ints of the data
    int64_t elements;
} layout;

static layout layout_of(int shape_, int64_t units)
{
    layout l = {0};
    for (int i = size - 1; i >= 0; i--) {
        int64_t u = units + (units ? i % 3 : 0);
        l.counts[i] = (int)elements(shape_, u);
        l.displs[i] = (int)l.elements;
        l.ints[i] = u * 6;
        l.first[i] = l.elements * shapes[shape_].n;
        l.elements += l.counts[i] + 1; // a gap of one element
    }
    return l;
}

// The element after each block must not have been touched.
static void check_gaps(const buffer *b, const layout *l)
{
    for (int i = 0; i < size; i++) check_untouched(b, l->first[i] + l->ints[i], b->s->n);
}

static void gatherv(int form, const int pair[2], int64_t units, int root, int in_place)
{
    layout l = layout_of(pair[1], units);
    buffer s = buffer_new(pair[0], l.ints[rank] / shapes[pair[0]].n),
           r = buffer_new(pair[1], l.elements);
    buffer_fill(&s, round_, rank, 0);
    int here = in_place && rank == root;
    for (int64_t k = 0; here && k < l.ints[rank]; k++)
        *datum(&r, l.first[rank] + k) = value(round_, rank, k);
    DO(form, 2, Gatherv, gatherv, here ? MPI_IN_PLACE : s.at, (int)s.count, s.s->type, r.at,
       l.counts, l.displs, r.s->type, root, MPI_COMM_WORLD);
    for (int i = 0; rank == root && i < size; i++)
        check_data(&r, l.first[i], l.ints[i], round_, i, 0);
    check_gaps(&r, &l);
    check_guards(&r);
    buffer_free(&s);
    buffer_free(&r);
}

static void scatterv(int form, const int pair[2], int64_t units, int root, int in_place)
{
    layout l = layout_of(pair[0], units);
    buffer s = buffer_new(pair[0], l.elements),
           r = buffer_new(pair[1], l.ints[rank] / shapes[pair[1]].n);
    buffer_fill(&s, round_, root, 0);
    int here = in_place && rank == root;
    DO(form, 2, Scatterv, scatterv, s.at, l.counts, l.displs, s.s->type, here ? MPI_IN_PLACE : r.at,
       (int)r.count, r.s->type, root, MPI_COMM_WORLD);
    if (here)
        check_untouched(&r, 0, l.ints[rank]);
    else
        check_data(&r, 0, l.ints[rank], round_, root, l.first[rank]);
    check_guards(&r);
    buffer_free(&s);
    buffer_free(&r);
}

static void allgather(int form, const int pair[2], int64_t units, int in_place)
{
    int64_t ints = units * 6;
    buffer s = buffer_new(pair[0], elements(pair[0], units));
    buffer r = buffer_new(pair[1], elements(pair[1], units) * size);
    buffer_fill(&s, round_, rank, 0);
    for (int64_t k = 0; in_place && k < ints; k++)
        *datum(&r, rank * ints + k) = value(round_, rank, k);
    DO(form, 2, Allgather, allgather, in_place ? MPI_IN_PLACE : s.at, (int)s.count, s.s->type, r.at,
       (int)elements(pair[1], units), r.s->type, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) check_data(&r, i * ints, ints, round_, i, 0);
    check_guards(&r);
    buffer_free(&s);
    buffer_free(&r);
}

static void allgatherv(int form, const int pair[2], int64_t units, int in_place)
{
    layout l = layout_of(pair[1], units);
    buffer s = buffer_new(pair[0], l.ints[rank] / shapes[pair[0]].n),
           r = buffer_new(pair[1], l.elements);
    buffer_fill(&s, round_, rank, 0);
    for (int64_t k = 0; in_place && k < l.ints[rank]; k++)
        *datum(&r, l.first[rank] + k) = value(round_, rank, k);
    DO(form, 2, Allgatherv, allgatherv, in_place ? MPI_IN_PLACE : s.at, (int)s.count, s.s->type,
       r.at, l.counts, l.displs, r.s->type, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) check_data(&r, l.first[i], l.ints[i], round_, i, 0);
    check_gaps(&r, &l);
    check_guards(&r);
    buffer_free(&s);
    buffer_free(&r);
}

static void alltoall(int form, const int pair[2], int64_t units, int in_place)
{
    int64_t ints = units * 6;
    buffer s = buffer_new(pair[0], elements(pair[0], units) * size);
    buffer r = buffer_new(pair[1], elements(pair[1], units) * size);
    buffer_fill(in_place ? &r : &s, round_, rank, 0);
    DO(form, in_place ? 1 : 2, Alltoall, alltoall, in_place ? MPI_IN_PLACE : s.at,
       (int)elements(pair[0], units), s.s->type, r.at, (int)elements(pair[1], units), r.s->type,
       MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) check_data(&r, i * ints, ints, round_, i, rank * ints);
    check_guards(&r);
    buffer_free(&s);
    buffer_free(&r);
}

// What rank a has for rank b; symmetric, as the forms in place want it, and sometimes nothing.
static int64_t units_between(int a, int b, int64_t units)
{
    return (a + b) % 4 == 3 ? 0 : units + (units ? (a + b) % 3 : 0);
}

static layout layout_between(int shape_, int64_t units)
{
    layout l = {0};
    for (int i = size - 1; i >= 0; i--) {
        l.ints[i] = units_between(rank, i, units) * 6;
        l.counts[i] = (int)(l.ints[i] / shapes[shape_].n);
        l.displs[i] = (int)l.elements;
        l.first[i] = l.elements * shapes[shape_].n;
        l.elements += l.counts[i] + 1;
    }
    return l;
}

// Block i of a rank's data is numbered from 1000 * i.
static void fill_blocks(buffer *b, const layout *l)
{
    for (int i = 0; i < size; i++)
        for (int64_t k = 0; k < l->ints[i]; k++)
            *datum(b, l->first[i] + k) = value(round_, rank, 1000 * i + k);
}

static void check_blocks(const buffer *r, const layout *l)
{
    for (int i = 0; i < size; i++) check_data(r, l->first[i], l->ints[i], round_, i, 1000 * rank);
    check_gaps(r, l);
    check_guards(r);
}

static void alltoallv(int form, const int pair[2], int64_t units, int in_place)
{
    layout ls = layout_between(pair[0], units), lr = layout_between(pair[1], units);
    buffer s = buffer_new(pair[0], ls.elements), r = buffer_new(pair[1], lr.elements);
    fill_blocks(in_place ? &r : &s, in_place ? &lr : &ls);
    DO(form, in_place ? 1 : 2, Alltoallv, alltoallv, in_place ? MPI_IN_PLACE : s.at, ls.counts,
       ls.displs, s.s->type, r.at, lr.counts, lr.displs, r.s->type, MPI_COMM_WORLD);
    check_blocks(&r, &lr);
    buffer_free(&s);
    buffer_free(&r);
}

static void alltoallw(int form, const int pair[2], int64_t units, int in_place)
{
    layout ls = layout_between(pair[0], units), lr = layout_between(pair[1], units);
    buffer s = buffer_new(pair[0], ls.elements), r = buffer_new(pair[1], lr.elements);
    MPI_Datatype st[64], rt[64];
    int sd[64], rd[64];
    for (int i = 0; i < size; i++) {
        st[i] = s.s->type;
        rt[i] = r.s->type;
        sd[i] = ls.displs[i] * s.s->extent * (int)sizeof(int);
        rd[i] = lr.displs[i] * r.s->extent * (int)sizeof(int);
    }
    fill_blocks(in_place ? &r : &s, in_place ? &lr : &ls);
    DO(form, in_place ? 1 : 2, Alltoallw, alltoallw, in_place ? MPI_IN_PLACE : s.at, ls.counts, sd,
       st, r.at, lr.counts, rd, rt, MPI_COMM_WORLD);
    check_blocks(&r, &lr);
    buffer_free(&s);
    buffer_free(&r);
}

static void barrier(int form)
{
    DO(form, 3, Barrier, barrier, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    shapes_make();
    for (int form = 0; form < FORMS; form++) {
        barrier(form);
        for (int p = 0; p < PAIRS; p++) {
            for (int c = 0; c < COUNTS; c++) {
                int64_t n = unit_counts[c];
                int in_place = (p + c) % 2, root = (p * COUNTS + c + form) % size;
                // Large ones once: they take the time.
                if (n > 1000 && p != form) continue;
                round_++;
                bcast(form, pairs[p], n, root);
                gather(form, pairs[p], n, root, in_place);
                scatter(form, pairs[p], n, root, in_place);
                gatherv(form, pairs[p], n, root, in_place);
                scatterv(form, pairs[p], n, root, in_place);
                allgather(form, pairs[p], n, in_place);
                allgatherv(form, pairs[p], n, in_place);
                alltoall(form, pairs[p], n, in_place);
                alltoallv(form, pairs[p], n, in_place);
                alltoallw(form, pairs[p], n, in_place);
            }
        }
    }
    shapes_free();
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
