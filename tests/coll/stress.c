// SPDX-License-Identifier: BSD-3-Clause
// Random collectives: random communicators (split, duplicated, in reverse order),
// sizes, roots, operations and forms, ranks that sleep at random; every byte of every result is
// checked.
//     stress SEED REPETITIONS
// The sequence follows from the seed, so a failure can be repeated.
//
// RANKS: 3 8
// ARGS: 1 150
// TIMEOUT: 120
#include "coll_test.h"

#include <unistd.h>

static int world_rank, world_size, round_;
static uint64_t own_state; // for sleeping: each rank its own

static uint32_t draw_alone(uint32_t below)
{
    own_state = own_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(own_state >> 33) % below;
}

typedef struct group {
    MPI_Comm comm;
    int rank, size;
} group;

#define GROUPS 6
static group groups[GROUPS];

static void group_make(group *g, int how)
{
    MPI_Comm c;
    int parts = 1 + (int)draw(3);
    switch (how) {
    case 0: MPI_Comm_dup(MPI_COMM_WORLD, &c); break;
    case 1: MPI_Comm_split(MPI_COMM_WORLD, world_rank % parts, world_rank, &c); break;
    case 2:
        MPI_Comm_split(MPI_COMM_WORLD, world_rank / (1 + world_size / 3), -world_rank, &c);
        break;
    default:
        MPI_Comm_split(MPI_COMM_WORLD, world_rank == parts ? 1 : 0, world_rank * 7 % world_size,
                       &c);
        break;
    }
    g->comm = c;
    MPI_Comm_rank(c, &g->rank);
    MPI_Comm_size(c, &g->size);
}

static int64_t draw_units(void)
{
    static const uint32_t limits[] = {1, 4, 20, 200, 2000, 9000};
    return draw(limits[draw(6)] + 1);
}

static int draw_shape(void)
{
    return draw(2) ? INT : (int)draw(QUAD);
}

// Which of the parts of the world does it: all ranks draw the same, since the sequence is shared,
// so the arguments are equal in all parts of a split; value() is given the rank in the part.
typedef struct args {
    group *g;
    int form, root, in_place, send_shape, recv_shape;
    int64_t units, ints;
} args;

static int64_t count_of(int shape_, int64_t ints)
{
    return ints / shapes[shape_].n;
}

static void do_bcast(const args *a)
{
    buffer b = buffer_new(a->send_shape, count_of(a->send_shape, a->ints));
    if (a->g->rank == a->root) buffer_fill(&b, round_, a->root, 0);
    DO(a->form, 1, Bcast, bcast, b.at, (int)b.count, b.s->type, a->root, a->g->comm);
    check_data(&b, 0, a->ints, round_, a->root, 0);
    check_guards(&b);
    buffer_free(&b);
}

static void do_gather(const args *a)
{
    group *g = a->g;
    buffer s = buffer_new(a->send_shape, count_of(a->send_shape, a->ints));
    buffer r = buffer_new(a->recv_shape, count_of(a->recv_shape, a->ints) * g->size);
    int here = a->in_place && g->rank == a->root;
    buffer_fill(&s, round_, g->rank, 0);
    for (int64_t k = 0; here && k < a->ints; k++)
        *datum(&r, g->rank * a->ints + k) = value(round_, g->rank, k);
    DO(a->form, 1, Gather, gather, here ? MPI_IN_PLACE : s.at, (int)s.count, s.s->type, r.at,
       (int)count_of(a->recv_shape, a->ints), r.s->type, a->root, g->comm);
    for (int i = 0; g->rank == a->root && i < g->size; i++)
        check_data(&r, i * a->ints, a->ints, round_, i, 0);
    check_guards(&r);
    buffer_free(&s);
    buffer_free(&r);
}

static void do_scatter(const args *a)
{
    group *g = a->g;
    buffer s = buffer_new(a->send_shape, count_of(a->send_shape, a->ints) * g->size);
    buffer r = buffer_new(a->recv_shape, count_of(a->recv_shape, a->ints));
    buffer_fill(&s, round_, a->root, 0);
    DO(a->form, 1, Scatter, scatter, s.at, (int)count_of(a->send_shape, a->ints), s.s->type, r.at,
       (int)r.count, r.s->type, a->root, g->comm);
    check_data(&r, 0, a->ints, round_, a->root, g->rank * a->ints);
    check_guards(&r);
    buffer_free(&s);
    buffer_free(&r);
}

static void do_allgather(const args *a)
{
    group *g = a->g;
    buffer s = buffer_new(a->send_shape, count_of(a->send_shape, a->ints));
    buffer r = buffer_new(a->recv_shape, count_of(a->recv_shape, a->ints) * g->size);
    buffer_fill(&s, round_, g->rank, 0);
    for (int64_t k = 0; a->in_place && k < a->ints; k++)
        *datum(&r, g->rank * a->ints + k) = value(round_, g->rank, k);
    DO(a->form, 1, Allgather, allgather, a->in_place ? MPI_IN_PLACE : s.at, (int)s.count, s.s->type,
       r.at, (int)count_of(a->recv_shape, a->ints), r.s->type, g->comm);
    for (int i = 0; i < g->size; i++) check_data(&r, i * a->ints, a->ints, round_, i, 0);
    check_guards(&r);
    buffer_free(&s);
    buffer_free(&r);
}

static void do_alltoall(const args *a)
{
    group *g = a->g;
    buffer s = buffer_new(a->send_shape, count_of(a->send_shape, a->ints) * g->size);
    buffer r = buffer_new(a->recv_shape, count_of(a->recv_shape, a->ints) * g->size);
    buffer_fill(a->in_place ? &r : &s, round_, g->rank, 0);
    DO(a->form, 1, Alltoall, alltoall, a->in_place ? MPI_IN_PLACE : s.at,
       (int)count_of(a->send_shape, a->ints), s.s->type, r.at,
       (int)count_of(a->recv_shape, a->ints), r.s->type, g->comm);
    for (int i = 0; i < g->size; i++)
        check_data(&r, i * a->ints, a->ints, round_, i, g->rank * a->ints);
    check_guards(&r);
    buffer_free(&s);
    buffer_free(&r);
}

static void do_alltoallv(const args *a)
{
    group *g = a->g;
    int counts[64], displs[64];
    int64_t all = 0;
    for (int i = 0; i < g->size; i++) {
        counts[i] = (int)(a->units * ((i + g->rank) % 3));
        displs[i] = (int)all;
        all += counts[i] + 1;
    }
    buffer s = buffer_new(INT, all), r = buffer_new(INT, all);
    buffer_fill(&s, round_, g->rank, 0);
    DO(a->form, 1, Alltoallv, alltoallv, s.at, counts, displs, MPI_INT, r.at, counts, displs,
       MPI_INT, g->comm);
    for (int i = 0; i < g->size; i++) {
        int64_t from = 0; // where rank i has its block for this rank
        for (int k = 0; k < g->rank; k++) from += a->units * ((i + k) % 3) + 1;
        check_data(&r, displs[i], counts[i], round_, i, from);
        check_untouched(&r, displs[i] + counts[i], 1);
    }
    check_guards(&r);
    buffer_free(&s);
    buffer_free(&r);
}

enum { REDUCE, ALLREDUCE, SCAN, EXSCAN, REDUCE_SCATTER };

// Products of 2x2 matrices, or sums.
static MPI_Op matrix_product;

static void multiply(void *in, void *inout, int *len, MPI_Datatype *t)
{
    int *a = in, *b = inout;
    (void)t;
    for (int i = 0; i < *len; i++, a += 4, b += 4) {
        int c[4] = {(a[0] * b[0] + a[1] * b[2]) % 10007, (a[0] * b[1] + a[1] * b[3]) % 10007,
                    (a[2] * b[0] + a[3] * b[2]) % 10007, (a[2] * b[1] + a[3] * b[3]) % 10007};
        memcpy(b, c, sizeof c);
    }
}

static int *combined(int last, int64_t ints, int matrices)
{
    int *x = malloc((size_t)ints * sizeof(int) + 1), *y = malloc((size_t)ints * sizeof(int) + 1);
    int n = (int)(ints / 4);
    for (int64_t k = 0; k < ints; k++) y[k] = value(round_, last, k);
    for (int i = last - 1; i >= 0; i--) {
        for (int64_t k = 0; k < ints; k++) x[k] = value(round_, i, k);
        if (matrices)
            multiply(x, y, &n, NULL);
        else
            for (int64_t k = 0; k < ints; k++) y[k] += x[k];
    }
    free(x);
    return y;
}

static void do_reduction(const args *a, int which)
{
    group *g = a->g;
    int matrices = (int)draw(2), shape_ = matrices ? QUAD : INT, per = shapes[shape_].n;
    int64_t n = a->units, all = which == REDUCE_SCATTER ? n * g->size : n;
    MPI_Op op = matrices ? matrix_product : MPI_SUM;
    MPI_Datatype t = shapes[shape_].type;
    buffer s = buffer_new(shape_, all), r = buffer_new(shape_, all);
    int in_place = a->in_place && (which != REDUCE || g->rank == a->root), last = g->size - 1;
    buffer_fill(in_place ? &r : &s, round_, g->rank, 0);
    void *from = in_place ? MPI_IN_PLACE : (void *)s.at;
    if (which == REDUCE)
        DO(a->form, 1, Reduce, reduce, from, r.at, (int)n, t, op, a->root, g->comm);
    if (which == ALLREDUCE)
        DO(a->form, 1, Allreduce, allreduce, from, r.at, (int)n, t, op, g->comm);
    if (which == SCAN) DO(a->form, 1, Scan, scan, from, r.at, (int)n, t, op, g->comm);
    if (which == EXSCAN) DO(a->form, 1, Exscan, exscan, from, r.at, (int)n, t, op, g->comm);
    if (which == REDUCE_SCATTER)
        DO(a->form, 1, Reduce_scatter_block, reduce_scatter_block, from, r.at, (int)n, t, op,
           g->comm);
    if (which == SCAN) last = g->rank;
    if (which == EXSCAN) last = g->rank - 1;
    if (last >= 0 && (which != REDUCE || g->rank == a->root)) {
        int *want = combined(last, all * per, matrices);
        int64_t bad = 0, first = which == REDUCE_SCATTER ? g->rank * n * per : 0;
        for (int64_t k = 0; k < n * per; k++) bad += *datum(&r, k) != want[first + k];
        CHECK(bad == 0);
        free(want);
    }
    check_guards(&r);
    buffer_free(&s);
    buffer_free(&r);
}

static void one_round(void)
{
    uint32_t kind = draw(13), which = draw(GROUPS);
    args a = {.g = &groups[which], .form = (int)draw(FORMS), .in_place = draw(3) == 0};
    a.send_shape = draw_shape();
    a.recv_shape = draw_shape();
    a.units = draw_units();
    a.ints = a.units * 6;
    // Parts of a split have different sizes; a root that all of them have.
    a.root = (int)draw(16) % a.g->size;
    if (draw_alone(4) == 0) usleep(draw_alone(300));
    switch (kind) {
    case 0: do_bcast(&a); break;
    case 1: do_gather(&a); break;
    case 2: do_scatter(&a); break;
    case 3: do_allgather(&a); break;
    case 4: do_alltoall(&a); break;
    case 5: do_alltoallv(&a); break;
    case 6: DO(a.form, 1, Barrier, barrier, a.g->comm); break;
    case 7: {
        // Another communicator in place of one.
        MPI_Comm_free(&groups[which].comm);
        group_make(&groups[which], (int)draw(4));
        break;
    }
    default: do_reduction(&a, (int)kind - 8); break;
    }
}

int main(int argc, char **argv)
{
    int seed = argc > 1 ? atoi(argv[1]) : 1, repetitions = argc > 2 ? atoi(argv[2]) : 100;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    random_state = (uint64_t)seed * 7919u;
    own_state = random_state + (uint64_t)world_rank * 104729u;
    shapes_make();
    MPI_Op_create(multiply, 0, &matrix_product);
    for (int i = 0; i < GROUPS; i++) group_make(&groups[i], i % 4);
    for (round_ = 1; round_ <= repetitions; round_++) {
        int before = shoal_test_failures;
        one_round();
        if (shoal_test_failures > before)
            fprintf(stderr, "rank %d: seed %d, repetition %d\n", world_rank, seed, round_);
    }
    for (int i = 0; i < GROUPS; i++) MPI_Comm_free(&groups[i].comm);
    MPI_Op_free(&matrix_product);
    shapes_free();
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
