// SPDX-License-Identifier: BSD-3-Clause
// Blocks of very different lengths gathered by all, one call after the other: none, a few, and more
// than goes over at once, with gaps in between, in place and not, of bytes and of a datatype with
// holes, and on huge pages, from where they may go straight. Every element is checked, and that
// nothing was written into the gaps.
//
// RANKS: 2 3 4 8 20
// TIMEOUT: 120
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../src/plat/test.h"

enum { ROUNDS = 40, GAP = 3, MOST = 20, HUGE_PAGE = 2 << 20, FREE = -1 };

static int rank, size;
static unsigned chance = 11; // the same on all ranks

static unsigned pick(unsigned n)
{
    chance = chance * 1103515245u + 12345u;
    return (chance >> 16) % n;
}

// Elements of a rank's block; of the longest kind only one rank has one in a round.
static int length(int round, int of)
{
    static const int few[] = {0, 1, 7, 24, 25, 2047, 2048, 2049};
    if (of == round % size) return (int)(pick(4) * 70001 + pick(1000));
    if (round % 3 == 0) return few[pick(8)];
    return (int)pick(round % 3 == 1 ? 40000 : 20000);
}

static int32_t value(int round, int of, int k)
{
    return (int32_t)(round * 7919 + of * 104729 + k);
}

static void *fresh(size_t bytes)
{
    size_t room = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *p = NULL;
    if (posix_memalign(&p, HUGE_PAGE, room ? room : HUGE_PAGE)) return NULL;
    madvise(p, room, MADV_HUGEPAGE);
    return p;
}

typedef struct blocks {
    int counts[MOST], places[MOST], all;
} blocks;

static blocks layout(int round)
{
    blocks b = {.all = GAP};
    for (int i = 0; i < size; i++) {
        b.counts[i] = length(round, i);
        b.places[i] = b.all;
        b.all += b.counts[i] + GAP;
    }
    return b;
}

// An element is `stride` numbers long, of which the first counts.
static bool arrived(const blocks *b, const int32_t *all, int round, int stride)
{
    int next = 0;
    for (int i = 0; i < size; i++) {
        for (; next < b->places[i] * stride; next++)
            if (all[next] != FREE) return false;
        for (int k = 0; k < b->counts[i]; k++, next += stride) {
            if (all[next] != value(round, i, k)) return false;
            for (int hole = 1; hole < stride; hole++)
                if (all[next + hole] != FREE) return false;
        }
    }
    for (; next < b->all * stride; next++)
        if (all[next] != FREE) return false;
    return true;
}

static bool gather(int round, MPI_Datatype type, int stride, bool in_place)
{
    blocks b = layout(round);
    int own = b.counts[rank];
    int32_t *all = fresh(sizeof *all * (size_t)(b.all * stride));
    int32_t *mine = fresh(sizeof *mine * (size_t)own);
    if (!all || !mine) return false;
    for (int k = 0; k < b.all * stride; k++) all[k] = FREE;
    for (int k = 0; k < own; k++) {
        mine[k] = value(round, rank, k);
        if (in_place) all[(b.places[rank] + k) * stride] = mine[k];
    }
    // Who has nothing may have no address.
    const void *from = in_place ? MPI_IN_PLACE : own ? mine : NULL;
    MPI_Allgatherv(from, own, MPI_INT32_T, all, b.counts, b.places, type, MPI_COMM_WORLD);
    bool good = arrived(&b, all, round, stride);
    free(mine);
    free(all);
    return good;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype holes;
    MPI_Type_create_resized(MPI_INT32_T, 0, 3 * sizeof(int32_t), &holes);
    MPI_Type_commit(&holes);
    for (int round = 0; round < ROUNDS; round++) {
        bool in_place = pick(3) == 0;
        CHECK(gather(round, MPI_INT32_T, 1, in_place));
        if (pick(4) == 0) CHECK(gather(round + 1, holes, 3, in_place));
        if (pick(4) == 0) MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Type_free(&holes);
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
