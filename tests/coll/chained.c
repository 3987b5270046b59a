// SPDX-License-Identifier: BSD-3-Clause
// Long reductions one after the other, of lengths around those at which ways and pieces change, in
// place and not, to one rank, to all or dealt out, with other calls and pauses in between, so that
// ranks are many pieces ahead of each other. Every number is checked, and that sums of
// floating-point numbers have the same bits on all ranks, every time and whichever way they are
// made.
//
// RANKS: 2 3 4 8 20
// TIMEOUT: 120
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../src/plat/test.h"

enum { ROUNDS = 80, MOST = 900001 };

static int rank, size;
static unsigned chance = 7; // the same on all ranks

static unsigned pick(unsigned n)
{
    chance = chance * 1103515245u + 12345u;
    return (chance >> 16) % n;
}

static int length(void)
{
    static const int edges[] = {5000, 32768, 65536, 32768 * 7, 32768 * 8, 32768 * 16, MOST - 1};
    return edges[pick(7)] + (int)pick(3) - 1;
}

static int32_t part(int who, int64_t k, int round)
{
    return (int32_t)(who * 1009 + k * 31 + round);
}

static int32_t sum(int64_t k, int round)
{
    return (int32_t)(size * (size - 1) / 2 * 1009 + size * (k * 31 + round));
}

static void integers(int round, int32_t *in, int32_t *out)
{
    int count = length(), root = (int)pick((unsigned)size), to_all = pick(2) == 0;
    int in_place = pick(3) == 0, wants = to_all || rank == root, wrong = 0;
    for (int64_t k = 0; k < count; k++) in[k] = part(rank, k, round);
    if (in_place && wants) memcpy(out, in, (size_t)count * sizeof *in);
    const void *from = in_place && wants ? MPI_IN_PLACE : in;
    if (rank == (int)pick((unsigned)size)) usleep(300); // somebody computes
    if (to_all)
        MPI_Allreduce(from, out, count, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Reduce(from, out, count, MPI_INT32_T, MPI_SUM, root, MPI_COMM_WORLD);
    for (int64_t k = 0; wants && k < count; k++) wrong += out[k] != sum(k, round);
    CHECK(wrong == 0);
    if (pick(2) == 0) {
        MPI_Bcast(out, 1000, MPI_INT32_T, root, MPI_COMM_WORLD);
        for (int64_t k = 0; k < 1000; k++) wrong += out[k] != sum(k, round);
        CHECK(wrong == 0);
    }
}

// The same vectors dealt out, evenly or not, of which some ranks may get nothing.
static void pieces(int round, int32_t *in, int32_t *out)
{
    int counts[32], from = 0, total = 0, wrong = 0, even = pick(2) == 0, each = length() / size + 1;
    for (int who = 0; who < size; who++) {
        counts[who] = even ? each : pick(4) == 0 ? 0 : each / 2 + (int)pick((unsigned)each);
        if (who == rank) from = total;
        total += counts[who];
    }
    int in_place = pick(3) == 0;
    int32_t *vector = in_place ? out : in;
    for (int64_t k = 0; k < total; k++) vector[k] = part(rank, k, round);
    const void *send = in_place ? MPI_IN_PLACE : in;
    if (even)
        MPI_Reduce_scatter_block(send, out, each, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Reduce_scatter(send, out, counts, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
    for (int64_t k = 0; k < counts[rank]; k++) wrong += out[k] != sum(from + k, round);
    CHECK(wrong == 0);
}

static uint64_t bits_of(const double *numbers, int count)
{
    uint64_t all = 0, one;
    for (int k = 0; k < count; k++) {
        memcpy(&one, &numbers[k], sizeof one);
        all = all * 1099511628211u + one;
    }
    return all;
}

static double number(int who, int k)
{
    return 1.0 / (1 + k + who * 17);
}

// From the lowest rank to the highest, whichever way it is done.
static double in_order(int k)
{
    double all = number(0, k);
    for (int who = 1; who < size; who++) all += number(who, k);
    return all;
}

static void bits(double *in, double *out, int count)
{
    int wrong = 0;
    uint64_t first = 0, mine, least, most;
    for (int k = 0; k < count; k++) in[k] = number(rank, k);
    for (int again = 0; again < 4; again++) {
        MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        mine = bits_of(out, count);
        if (again == 0) first = mine;
        CHECK(mine == first);
        MPI_Allreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allreduce(&mine, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
        CHECK(least == most);
    }
    for (int k = 0; k < count; k++) wrong += out[k] != in_order(k);
    CHECK(wrong == 0);
    int each = count / size;
    MPI_Reduce_scatter_block(in, out, each, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int k = 0; k < each; k++) wrong += out[k] != in_order(rank * each + k);
    CHECK(wrong == 0);
}

// A root that is late finds what the last rank has made of each piece, though that one has made
// many calls since.
static void late_root(int32_t *in)
{
    for (int round = 0; round < ROUNDS; round++) {
        int count = 32768 * (8 + round % 3), wrong = 0;
        // New memory, which takes the root long to write.
        int32_t *out = mmap(NULL, (size_t)count * sizeof *out, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (out == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 2);
        for (int64_t k = 0; k < count; k++) in[k] = part(rank, k, round);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Reduce(in, out, count, MPI_INT32_T, MPI_SUM, 0, MPI_COMM_WORLD);
        for (int i = 0; i < 30; i++) {
            int word = i;
            MPI_Bcast(&word, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
        }
        for (int64_t k = 0; rank == 0 && k < count; k++) wrong += out[k] != sum(k, round);
        CHECK(wrong == 0);
        munmap(out, (size_t)count * sizeof *out);
    }
}

// The others are many sums ahead of a root that is late, each of another length.
static void many_for_late_root(int32_t *in, int32_t *out)
{
    int wrong = 0;
    for (int i = 0; i < 40; i++) {
        int count = 5000 + i * 700;
        for (int64_t k = 0; k < count; k++) in[k] = part(rank, k, i);
        if (rank == 0 && i % 8 == 0) usleep(2000);
        MPI_Reduce(in, out, count, MPI_INT32_T, MPI_SUM, 0, MPI_COMM_WORLD);
        for (int64_t k = 0; rank == 0 && k < count; k++) wrong += out[k] != sum(k, i);
    }
    CHECK(wrong == 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    void *in = malloc(MOST * sizeof(double)), *out = malloc(MOST * sizeof(double));
    if (!in || !out) MPI_Abort(MPI_COMM_WORLD, 2);
    for (int round = 0; round < ROUNDS; round++) {
        integers(round, in, out);
        pieces(round, in, out);
    }
    static const int counts[] = {3, 400, 1900, 20000, 300007};
    for (int i = 0; i < 5; i++) bits(in, out, counts[i]);
    late_root(in);
    many_for_late_root(in, out);
    free(in);
    free(out);
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
