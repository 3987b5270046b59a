// SPDX-License-Identifier: BSD-3-Clause
// Alltoallv and alltoallw of blocks from nothing to more than travels at once, one call behind the
// other without anything between, of several datatypes, with ranks that come late. Blocks that are
// longer or shorter than where they go, in these, in gatherv and in scatterv; the calls after that
// are in order.
// RANKS: 1 2 3 4 8
#include <unistd.h>

#include "coll_test.h"

#define WORLD MPI_COMM_WORLD

enum { ROUNDS = 40, MAX_RANKS = 16, LATE_US = 3000 };

static int rank, size;
static const int lengths[] = {7, 0, 1, 300, 24, 5000, 0, 90, 30000};

// Ints from one rank to another, a multiple of twelve: of whole elements of every shape.
static int length_of(int from, int to, int round)
{
    int n = lengths[(from * 5 + to * 2 + round) % (int)(sizeof lengths / sizeof *lengths)];
    return round % 4 == 1 ? n % 100 * 12 : n * 12;
}

typedef struct side {
    buffer all[MAX_RANKS]; // a block for each rank
    int counts[MAX_RANKS], places[MAX_RANKS];
    MPI_Datatype types[MAX_RANKS];
    char *memory;
} side;

// In units of ints, one block behind the other, as alltoallv wants it.
static void lay_out(side *s, int round, int sends)
{
    int at = 0;
    for (int i = 0; i < size; i++) {
        s->counts[i] = sends ? length_of(rank, i, round) : length_of(i, rank, round);
        s->places[i] = at;
        at += s->counts[i] + 3; // a gap that must stay as it is
    }
    s->memory = malloc((size_t)(at + 1) * sizeof(int));
    int *v = (int *)(void *)s->memory;
    for (int i = 0; i < at + 1; i++) v[i] = GUARD;
}

static void fill_ints(side *s, int round)
{
    for (int i = 0; i < size; i++)
        for (int k = 0; k < s->counts[i]; k++)
            ((int *)(void *)s->memory)[s->places[i] + k] = value(round, rank * size + i, k);
}

static void check_ints(const side *s, int round)
{
    const int *v = (const int *)(const void *)s->memory;
    int bad = 0;
    for (int i = 0; i < size; i++) {
        for (int k = 0; k < s->counts[i]; k++)
            bad += v[s->places[i] + k] != value(round, i * size + rank, k);
        for (int k = 0; k < 3; k++) bad += v[s->places[i] + s->counts[i] + k] != GUARD;
    }
    CHECK(bad == 0);
}

static void come_late(int round)
{
    if (round % 7 == 0 && round / 7 % size == rank) usleep(LATE_US);
}

// All calls first, and then the checks, so that a rank may run ahead.
static void exchange_ints(void)
{
    static side out[ROUNDS], in[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        lay_out(&out[round], round, 1);
        lay_out(&in[round], round, 0);
        fill_ints(&out[round], round);
    }
    for (int round = 0; round < ROUNDS; round++) {
        come_late(round);
        CHECK(MPI_Alltoallv(out[round].memory, out[round].counts, out[round].places, MPI_INT,
                            in[round].memory, in[round].counts, in[round].places, MPI_INT,
                            WORLD) == 0);
    }
    for (int round = 0; round < ROUNDS; round++) {
        check_ints(&in[round], round);
        free(out[round].memory);
        free(in[round].memory);
    }
}

// Every block has another shape, and the receiver's differs from the sender's.
static int shape_of(int from, int to, int round, int sends)
{
    return (from + 2 * to + round + (sends ? 0 : 3)) % SHAPES;
}

static void make_shaped(side *s, int round, int sends)
{
    for (int i = 0; i < size; i++) {
        int from = sends ? rank : i, to = sends ? i : rank;
        int which = shape_of(from, to, round, sends);
        s->counts[i] = length_of(from, to, round) / shapes[which].n;
        s->types[i] = shapes[which].type;
        s->all[i] = buffer_new(which, s->counts[i]);
        if (sends) buffer_fill(&s->all[i], round, from * size + to, 0);
    }
}

// The blocks lie anywhere: their places are their addresses.
static void call_alltoallw(const side *out, const side *in)
{
    MPI_Count outs[MAX_RANKS], ins[MAX_RANKS];
    MPI_Aint from[MAX_RANKS], to[MAX_RANKS];
    for (int i = 0; i < size; i++) {
        outs[i] = out->counts[i];
        ins[i] = in->counts[i];
        MPI_Get_address(out->all[i].at, &from[i]);
        MPI_Get_address(in->all[i].at, &to[i]);
    }
    CHECK(MPI_Alltoallw_c(MPI_BOTTOM, outs, from, out->types, MPI_BOTTOM, ins, to, in->types,
                          WORLD) == 0);
}

static void exchange_shapes(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        side out = {.memory = NULL}, in = {.memory = NULL};
        make_shaped(&out, round, 1);
        make_shaped(&in, round, 0);
        come_late(round);
        call_alltoallw(&out, &in);
        for (int i = 0; i < size; i++) {
            check_data(&in.all[i], 0, length_of(i, rank, round), round, i * size + rank, 0);
            check_guards(&in.all[i]);
            buffer_free(&out.all[i]);
            buffer_free(&in.all[i]);
        }
    }
}

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

// What comes is `more` bytes longer than what is expected from it, or shorter.
static int expected(int rc, int more, int has_other)
{
    return class_of(rc) == (more > 0 && has_other ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
}

static void mistake(int sent, int room)
{
    char *out = malloc((size_t)(sent + 1) * (size_t)size),
         *in = malloc((size_t)(room + 1) * (size_t)size);
    int outs[MAX_RANKS], ins[MAX_RANKS], from[MAX_RANKS], to[MAX_RANKS];
    int fits = sent < room ? sent : room;
    for (int i = 0; i < size; i++) {
        outs[i] = i == rank ? fits : sent;
        ins[i] = i == rank ? fits : room;
        from[i] = i * sent;
        to[i] = i * (room + 1);
    }
    memset(out, rank + 1, (size_t)(sent + 1) * (size_t)size);
    memset(in, 0, (size_t)(room + 1) * (size_t)size);
    int rc = MPI_Alltoallv(out, outs, from, MPI_BYTE, in, ins, to, MPI_BYTE, WORLD);
    CHECK(expected(rc, sent - room, size > 1));
    for (int i = 0; i < size; i++)
        CHECK(in[to[i]] == i + 1 && in[to[i] + fits - 1] == i + 1 && in[to[i] + room] == 0);
    int root = size - 1;
    memset(in, 0, (size_t)(room + 1) * (size_t)size);
    rc = MPI_Gatherv(out, rank == root ? fits : sent, MPI_BYTE, in, ins, to, MPI_BYTE, root, WORLD);
    CHECK(expected(rc, rank == root ? sent - room : 0, size > 1));
    for (int i = 0; i < size && rank == root; i++)
        CHECK(in[to[i]] == i + 1 && in[to[i] + fits - 1] == i + 1 && in[to[i] + room] == 0);
    in[0] = in[room] = 0;
    outs[root] = fits;
    rc = MPI_Scatterv(out, outs, from, MPI_BYTE, in, rank == root ? fits : room, MPI_BYTE, root,
                      WORLD);
    CHECK(expected(rc, rank == root ? 0 : sent - room, 1));
    CHECK(in[0] == root + 1 && in[fits - 1] == root + 1 && (rank == root || in[room] == 0));
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    shapes_make();
    exchange_ints();
    exchange_shapes();
    static const int pairs[][2] = {{100, 40},   {40, 100},     {60000, 8},     {8, 60000},
                                   {3000, 500}, {500, 300000}, {500000, 3000}, {400000, 300000}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) mistake(pairs[i][0], pairs[i][1]);
    exchange_ints();
    shapes_free();
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
