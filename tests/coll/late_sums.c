// SPDX-License-Identifier: BSD-3-Clause
// Long non-blocking sums and prefixes, more under way at a time than there are rooms for, with
// short calls in between, in place and not, ended in any order, with ranks that are late, so that
// the others sleep for links of a chain or for places to put them. Lengths around those at which
// ways, links and places change. Every number is checked, and, where there are more ranks than a
// few cores, that sums of floating-point numbers have the bits that adding from rank to rank gives.
//
// RANKS: 2 3 4 8 20
// TIMEOUT: 120
#include "coll_test.h"

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 24, AT_ONCE = 7, MOST = 140000 };
enum { ALLREDUCE, REDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, KINDS };

typedef struct sum {
    int kind, count, root;
    bool in_place;
    int counts[32], before; // of pieces, and of those before the own one
    double *in, *out;
    MPI_Request request;
} sum;

static int rank, size;
static bool exact;           // is it known in which order operands are taken?
static unsigned chance = 11; // the same on all ranks

static int pick(int n)
{
    chance = chance * 1103515245u + 12345u;
    return (int)((chance >> 16) % (unsigned)n);
}

static int length(void)
{
    static const int edges[] = {1024, 4096, 8192, 12288, 32768, 65536, MOST - 2000};
    return edges[pick(7)] + pick(3) - 1;
}

// Not exact in binary, so that the order of additions shows.
static double number(int round, int who, int k)
{
    return 1.0 / (1 + k % 1000 + who * 17 + round);
}

static double added_up(int round, int below, int k)
{
    double all = number(round, 0, k);
    for (int who = 1; who < below; who++) all += number(round, who, k);
    return all;
}

static void deal(sum *s)
{
    int each = s->count / size;
    bool even = s->kind == REDUCE_SCATTER_BLOCK;
    s->before = s->count = 0;
    for (int who = 0; who < size; who++) {
        s->counts[who] = even ? each : pick(4) == 0 ? 0 : each / 2 + pick(each + 1);
        if (who < rank) s->before += s->counts[who];
        s->count += s->counts[who];
    }
}

static void start(sum *s, int round)
{
    s->kind = pick(KINDS);
    s->count = length();
    s->root = pick(size);
    s->in_place = pick(3) == 0;
    if (s->kind == REDUCE_SCATTER || s->kind == REDUCE_SCATTER_BLOCK) deal(s);
    bool in_place = s->in_place && (s->kind != REDUCE || rank == s->root);
    double *vector = in_place ? s->out : s->in;
    for (int k = 0; k < s->count; k++) vector[k] = number(round, rank, k);
    const void *from = in_place ? MPI_IN_PLACE : s->in;
    switch (s->kind) {
    case ALLREDUCE:
        MPI_Iallreduce(from, s->out, s->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &s->request);
        break;
    case REDUCE:
        MPI_Ireduce(from, rank == s->root ? s->out : NULL, s->count, MPI_DOUBLE, MPI_SUM, s->root,
                    MPI_COMM_WORLD, &s->request);
        break;
    case REDUCE_SCATTER:
        MPI_Ireduce_scatter(from, s->out, s->counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                            &s->request);
        break;
    case REDUCE_SCATTER_BLOCK:
        MPI_Ireduce_scatter_block(from, s->out, s->counts[0], MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                                  &s->request);
        break;
    case SCAN:
        MPI_Iscan(from, s->out, s->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &s->request);
        break;
    default: MPI_Iexscan(from, s->out, s->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &s->request);
    }
}

static bool is_right(double a, double b)
{
    double off = a > b ? a - b : b - a;
    return exact ? a == b : off <= 1e-12 * b;
}

static void check(const sum *s, int round)
{
    int from = 0, count = s->count, below = size;
    switch (s->kind) {
    case REDUCE: count = rank == s->root ? count : 0; break;
    case REDUCE_SCATTER:
    case REDUCE_SCATTER_BLOCK:
        from = s->before;
        count = s->counts[rank];
        break;
    case SCAN: below = rank + 1; break;
    case EXSCAN:
        below = rank;
        if (rank == 0) count = 0;
        break;
    default: break;
    }
    int wrong = 0;
    for (int k = 0; k < count; k++) wrong += !is_right(s->out[k], added_up(round, below, from + k));
    CHECK(wrong == 0);
    // A rank's input is its own.
    for (int k = 0; !s->in_place && k < s->count; k++) wrong += s->in[k] != number(round, rank, k);
    CHECK(wrong == 0);
}

// Lends a hand for a while, and then computes for so long that the others sleep.
static void go_on_later(sum *s)
{
    int done = 0;
    for (int i = 0; i < 300 && !done; i++) MPI_Test(&s->request, &done, MPI_STATUS_IGNORE);
    usleep(8000);
}

static void some_at_once(int round, sum sums[])
{
    int late = pick(size), when = pick(AT_ONCE);
    int shorts[AT_ONCE], many = pick(AT_ONCE);
    MPI_Request requests[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        if (round % 2 == 0 && rank == late && i == when) usleep(2000);
        start(&sums[i], round * AT_ONCE + i);
        shorts[i] = rank == i % size ? round : -1;
        if (i < many) MPI_Ibcast(&shorts[i], 1, MPI_INT, i % size, MPI_COMM_WORLD, &requests[i]);
    }
    if (round % 3 == 0) MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
    if (round % 4 == 1 && rank == late) go_on_later(&sums[0]);
    int word = rank == 0 ? round : -1;
    if (pick(2) == 0) MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
    int order = pick(3);
    for (int i = 0; i < AT_ONCE; i++)
        MPI_Wait(&sums[(i * (AT_ONCE - 1) + order) % AT_ONCE].request, MPI_STATUS_IGNORE);
    if (round % 3 != 0) MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < many; i++) CHECK(shorts[i] == round);
    for (int i = 0; i < AT_ONCE; i++) check(&sums[i], round * AT_ONCE + i);
}

// More epochs than there are slots, of which every third is a long sum; the last are waited for
// first.
static void many_outstanding(sum *s)
{
    enum { CALLS = 45, COUNT = 6000 };
    static int words[CALLS];
    MPI_Request requests[CALLS];
    for (int k = 0; k < COUNT; k++) s->in[k] = number(0, rank, k);
    for (int i = 0; i < CALLS; i++) {
        words[i] = rank == i % size ? i : -1;
        if (i % 3 == 0)
            MPI_Iallreduce(s->in, s->out + i / 3 * COUNT, COUNT, MPI_DOUBLE, MPI_SUM,
                           MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Ibcast(&words[i], 1, MPI_INT, i % size, MPI_COMM_WORLD, &requests[i]);
        if (i == CALLS / 2 && rank == size - 1) usleep(3000);
    }
    for (int i = CALLS - 1; i >= 0; i--) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    int wrong = 0;
    for (int i = 0; i < CALLS; i++)
        for (int k = 0; i % 3 == 0 && k < COUNT; k++)
            wrong += !is_right(s->out[i / 3 * COUNT + k], added_up(0, size, k));
    for (int i = 0; i < CALLS; i++) wrong += i % 3 != 0 && words[i] != i;
    CHECK(wrong == 0);
}

// A short call behind long sums, of which one has no room yet since a rank has not come to the
// first, ends all the same: that rank comes only then.
static void short_behind_long(sum *s)
{
    enum { LONG = 4, COUNT = 6000 };
    int word = rank == 0 ? 17 : -1, late = size - 1;
    MPI_Request sums[LONG], request;
    if (size < 3) return;
    if (rank == late) MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int k = 0; k < COUNT; k++) s->in[k] = number(0, rank, k);
    for (int i = 0; i < LONG; i++)
        MPI_Iallreduce(s->in, s->out + i * COUNT, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                       &sums[i]);
    MPI_Ibcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(word == 17);
    if (rank == 1) MPI_Send(&word, 1, MPI_INT, late, 0, MPI_COMM_WORLD);
    MPI_Waitall(LONG, sums, MPI_STATUSES_IGNORE);
    int wrong = 0;
    for (int k = 0; k < LONG * COUNT; k++)
        wrong += !is_right(s->out[k], added_up(0, size, k % COUNT));
    CHECK(wrong == 0);
}

// The same vectors give the same bits on all ranks, every time.
static void same_bits(sum *s)
{
    static const int counts[] = {5000, 40000, 130000};
    for (int i = 0; i < 3; i++) {
        double *first = s->in, *again = s->out, *own = malloc((size_t)counts[i] * sizeof *own);
        if (!own) MPI_Abort(MPI_COMM_WORLD, 2);
        for (int k = 0; k < counts[i]; k++) own[k] = number(i, rank, k);
        for (int turn = 0; turn < 2; turn++) {
            double *out = turn == 0 ? first : again;
            MPI_Iallreduce(own, out, counts[i], MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &s->request);
            MPI_Wait(&s->request, MPI_STATUS_IGNORE);
        }
        size_t bytes = (size_t)counts[i] * sizeof *own;
        CHECK(memcmp(first, again, bytes) == 0);
        memcpy(own, first, bytes);
        MPI_Bcast(own, counts[i], MPI_DOUBLE, 0, MPI_COMM_WORLD);
        CHECK(memcmp(own, first, bytes) == 0);
        free(own);
    }
}

int main(int argc, char **argv)
{
    sum sums[AT_ONCE];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    cpu_set_t cores;
    sched_getaffinity(0, sizeof cores, &cores);
    exact = CPU_COUNT(&cores) < size && CPU_COUNT(&cores) <= 8;
    for (int i = 0; i < AT_ONCE; i++) {
        sums[i].in = malloc(2 * MOST * sizeof(double));
        sums[i].out = malloc(2 * MOST * sizeof(double));
        if (!sums[i].in || !sums[i].out) MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int round = 0; round < ROUNDS; round++) some_at_once(round, sums);
    for (int round = 0; round < 4; round++) {
        many_outstanding(&sums[0]);
        short_behind_long(&sums[0]);
    }
    same_bits(&sums[0]);
    for (int i = 0; i < AT_ONCE; i++) {
        free(sums[i].in);
        free(sums[i].out);
    }
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
