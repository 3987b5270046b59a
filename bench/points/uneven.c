// SPDX-License-Identifier: BSD-3-Clause
// Collectives whose blocks differ in length: one half, the other one and a half times the size, so
// that the size is their mean. Blocks lie one behind the other. And exscan, which no other group
// has.
#include "coll.h"

#include <stdlib.h>

#define WORLD MPI_COMM_WORLD

// The blocks that a rank has, or the ones it gets, of a call.
typedef struct blocks {
    int *counts, *places;
} blocks;

static blocks blocks_for(int np)
{
    blocks k = {calloc((size_t)np, sizeof(int)), calloc((size_t)np, sizeof(int))};
    if (!k.counts || !k.places) MPI_Abort(WORLD, 2);
    return k;
}

static void free_blocks(blocks k)
{
    free(k.counts);
    free(k.places);
}

// In units of so many bytes; which are the short ones changes with `odd`.
static blocks uneven(const bench *b, const bench_point *p, size_t unit, int odd)
{
    blocks k = blocks_for(b->np);
    int half = (int)(p->size / unit / 2);
    for (int i = 0, at = 0; i < b->np; at += k.counts[i++]) {
        k.counts[i] = (i + odd) % 2 ? half : 3 * half;
        k.places[i] = at;
    }
    return k;
}

static void buffers(bench *b, const bench_point *p)
{
    bench_buffers(b, p->size * 3 / 2 * (size_t)b->np + 64);
}

static void vectors(bench *b, const bench_point *p)
{
    buffers(b, p);
    float *v = (float *)(void *)b->send;
    for (size_t i = 0; i < p->size * 3 / 2 / sizeof(float) * (size_t)b->np; i++)
        v[i] = (float)(b->rank + 1);
}

static bool came(const bench *b, blocks k)
{
    bool good = true;
    for (int r = 0; r < b->np; r++) {
        const char *block = b->recv + k.places[r];
        char want = (char)(r + 1);
        good = good && block[0] == want && block[k.counts[r] - 1] == want;
    }
    free_blocks(k);
    return good;
}

static bool check_all(bench *b, const bench_point *p)
{
    return came(b, uneven(b, p, 1, 0));
}

static bool check_root(bench *b, const bench_point *p)
{
    return b->rank != 0 || check_all(b, p);
}

static bool check_exchange(bench *b, const bench_point *p)
{
    return came(b, uneven(b, p, 1, b->rank));
}

static bool check_own(bench *b, const bench_point *p)
{
    return b->recv[0] == 1 && b->recv[p->size / 2 - 1] == 1;
}

static bool check_own_sum(bench *b, const bench_point *p)
{
    const float *v = (const float *)(const void *)b->recv;
    float want = (float)(b->np * (b->np + 1) / 2);
    return v[0] == want && v[p->size / sizeof(float) / 2 - 1] == want;
}

static bool check_exscan(bench *b, const bench_point *p)
{
    const float *v = (const float *)(const void *)b->recv;
    float want = (float)(b->rank * (b->rank + 1) / 2);
    return b->rank == 0 || (v[0] == want && v[p->size / sizeof(float) - 1] == want);
}

static void gatherv(bench *b, const bench_point *p, long n)
{
    blocks k = uneven(b, p, 1, 0);
    for (long i = 0; i < n; i++)
        MPI_Gatherv(b->send, k.counts[b->rank], MPI_BYTE, b->recv, k.counts, k.places, MPI_BYTE,
                    (int)(i % b->np), WORLD);
    free_blocks(k);
}

static void scatterv(bench *b, const bench_point *p, long n)
{
    blocks k = uneven(b, p, 1, 0);
    for (long i = 0; i < n; i++)
        MPI_Scatterv(b->send, k.counts, k.places, MPI_BYTE, b->recv, k.counts[b->rank], MPI_BYTE,
                     (int)(i % b->np), WORLD);
    free_blocks(k);
}

static void allgatherv(bench *b, const bench_point *p, long n)
{
    blocks k = uneven(b, p, 1, 0);
    for (long i = 0; i < n; i++)
        MPI_Allgatherv(b->send, k.counts[b->rank], MPI_BYTE, b->recv, k.counts, k.places, MPI_BYTE,
                       WORLD);
    free_blocks(k);
}

static void alltoallv(bench *b, const bench_point *p, long n)
{
    blocks k = uneven(b, p, 1, b->rank);
    for (long i = 0; i < n; i++)
        MPI_Alltoallv(b->send, k.counts, k.places, MPI_BYTE, b->recv, k.counts, k.places, MPI_BYTE,
                      WORLD);
    free_blocks(k);
}

static void alltoallw(bench *b, const bench_point *p, long n)
{
    blocks k = uneven(b, p, 1, b->rank);
    MPI_Datatype *types = malloc((size_t)b->np * sizeof *types);
    if (!types) MPI_Abort(WORLD, 2);
    for (int r = 0; r < b->np; r++) types[r] = MPI_BYTE;
    for (long i = 0; i < n; i++)
        MPI_Alltoallw(b->send, k.counts, k.places, types, b->recv, k.counts, k.places, types,
                      WORLD);
    free(types);
    free_blocks(k);
}

static void reduce_scatterv(bench *b, const bench_point *p, long n)
{
    blocks k = uneven(b, p, sizeof(float), 0);
    for (long i = 0; i < n; i++)
        MPI_Reduce_scatter(b->send, b->recv, k.counts, MPI_FLOAT, MPI_SUM, WORLD);
    free_blocks(k);
}

static void exscan(bench *b, const bench_point *p, long n)
{
    for (long i = 0; i < n; i++)
        MPI_Exscan(b->send, b->recv, (int)(p->size / sizeof(float)), MPI_FLOAT, MPI_SUM,
                   i % 2 ? b->reversed : WORLD);
}

void bench_uneven(bench *b, const size_t *sizes, int count)
{
    static const coll_kind kinds[] = {
        {"gatherv", gatherv, buffers, check_root, true},
        {"scatterv", scatterv, buffers, check_own, true},
        {"allgatherv", allgatherv, buffers, check_all, true},
        {"alltoallv", alltoallv, buffers, check_exchange, true},
        {"alltoallw", alltoallw, buffers, check_exchange, true},
        {"reduce_scatterv", reduce_scatterv, vectors, check_own_sum, true},
        {"exscan", exscan, vector_buffers, check_exscan, false},
    };
    bench_kinds(b, kinds, sizeof kinds / sizeof kinds[0], sizes, count);
}
