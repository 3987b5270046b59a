// SPDX-License-Identifier: BSD-3-Clause
// Collectives by size, all ranks active, float32 where there is arithmetic.
//
// The size is that of a block: what one rank gives to one other (allgather, alltoall, gather,
// scatter, reduce_scatter), or the whole vector (bcast, reduce, allreduce, scan). A root changes
// with every call, so that each call depends on the one before and none can run ahead unseen.
#include "coll.h"

#include <stdio.h>

#define WORLD MPI_COMM_WORLD

static int floats(const bench_point *p)
{
    return (int)(p->size / sizeof(float));
}

void vector_buffers(bench *b, const bench_point *p)
{
    bench_buffers(b, p->size + 64);
    float *v = (float *)(void *)b->send;
    for (int i = 0; i < floats(p); i++) v[i] = (float)(b->rank + 1);
}

void byte_buffers(bench *b, const bench_point *p)
{
    bench_buffers(b, p->size + 64);
}

void block_buffers(bench *b, const bench_point *p)
{
    bench_buffers(b, p->size * (size_t)b->np + 64);
}

void block_vectors(bench *b, const bench_point *p)
{
    block_buffers(b, p);
    float *v = (float *)(void *)b->send;
    for (int i = 0; i < floats(p) * b->np; i++) v[i] = (float)(b->rank + 1);
}

static bool all_are(const bench *b, const bench_point *p, float want)
{
    const float *v = (const float *)(const void *)b->recv;
    int n = floats(p);
    return v[0] == want && v[n / 2] == want && v[n - 1] == want;
}

static float sum_to(int n)
{
    return (float)(n * (n + 1) / 2);
}

bool check_sum(bench *b, const bench_point *p)
{
    return all_are(b, p, sum_to(b->np));
}

bool check_root_sum(bench *b, const bench_point *p)
{
    return b->rank != 0 || all_are(b, p, sum_to(b->np));
}

bool check_scan(bench *b, const bench_point *p)
{
    return all_are(b, p, sum_to(b->rank + 1));
}

bool check_bcast(bench *b, const bench_point *p)
{
    return b->send[0] == 1 && b->send[p->size - 1] == 1;
}

bool check_blocks(bench *b, const bench_point *p)
{
    for (int r = 0; r < b->np; r++) {
        const char *block = b->recv + (size_t)r * p->size;
        if (block[0] != (char)(r + 1) || block[p->size - 1] != (char)(r + 1)) return false;
    }
    return true;
}

bool check_root_blocks(bench *b, const bench_point *p)
{
    return b->rank != 0 || check_blocks(b, p);
}

bool check_scatter(bench *b, const bench_point *p)
{
    return b->recv[0] == 1 && b->recv[p->size - 1] == 1;
}

static void barrier(bench *b, const bench_point *p, long n)
{
    (void)b, (void)p;
    for (long i = 0; i < n; i++) MPI_Barrier(WORLD);
}

static void bcast(bench *b, const bench_point *p, long n)
{
    for (long i = 0; i < n; i++)
        MPI_Bcast(b->send, (int)p->size, MPI_BYTE, (int)(i % b->np), WORLD);
}

static void reduce(bench *b, const bench_point *p, long n)
{
    for (long i = 0; i < n; i++)
        MPI_Reduce(b->send, b->recv, floats(p), MPI_FLOAT, MPI_SUM, (int)(i % b->np), WORLD);
}

static void allreduce(bench *b, const bench_point *p, long n)
{
    for (long i = 0; i < n; i++)
        MPI_Allreduce(b->send, b->recv, floats(p), MPI_FLOAT, MPI_SUM, WORLD);
}

static void scan(bench *b, const bench_point *p, long n)
{
    for (long i = 0; i < n; i++)
        MPI_Scan(b->send, b->recv, floats(p), MPI_FLOAT, MPI_SUM, i % 2 ? b->reversed : WORLD);
}

static void reduce_scatter(bench *b, const bench_point *p, long n)
{
    for (long i = 0; i < n; i++)
        MPI_Reduce_scatter_block(b->send, b->recv, floats(p), MPI_FLOAT, MPI_SUM, WORLD);
}

static void allgather(bench *b, const bench_point *p, long n)
{
    int bytes = (int)p->size;
    for (long i = 0; i < n; i++)
        MPI_Allgather(b->send, bytes, MPI_BYTE, b->recv, bytes, MPI_BYTE, WORLD);
}

static void alltoall(bench *b, const bench_point *p, long n)
{
    int bytes = (int)p->size;
    for (long i = 0; i < n; i++)
        MPI_Alltoall(b->send, bytes, MPI_BYTE, b->recv, bytes, MPI_BYTE, WORLD);
}

static void gather(bench *b, const bench_point *p, long n)
{
    int bytes = (int)p->size;
    for (long i = 0; i < n; i++)
        MPI_Gather(b->send, bytes, MPI_BYTE, b->recv, bytes, MPI_BYTE, (int)(i % b->np), WORLD);
}

static void scatter(bench *b, const bench_point *p, long n)
{
    int bytes = (int)p->size;
    for (long i = 0; i < n; i++)
        MPI_Scatter(b->send, bytes, MPI_BYTE, b->recv, bytes, MPI_BYTE, (int)(i % b->np), WORLD);
}

// With np blocks to a buffer the memory of the machine would not do for 16 MiB and many ranks.
static bool fits(const bench *b, const coll_kind *kind, size_t size)
{
    return !kind->blocks || b->np <= 2 || size * (size_t)b->np <= BENCH_MAX_BYTES;
}

void bench_kinds(bench *b, const coll_kind *kinds, int n, const size_t *sizes, int count)
{
    MPI_Comm_split(WORLD, 0, b->np - b->rank, &b->reversed);
    for (int s = 0; s < count; s++) {
        for (const coll_kind *k = kinds; k < kinds + n; k++) {
            bench_point p = {.size = sizes[s],
                             .scale = 1,
                             .body = k->body,
                             .prepare = k->prepare,
                             .check = k->check};
            snprintf(p.name, sizeof p.name, "%s/%zu", k->name, p.size);
            if (fits(b, k, p.size)) bench_run(b, &p);
        }
    }
    MPI_Comm_free(&b->reversed);
}

void bench_coll(bench *b, const size_t *sizes, int count)
{
    static const coll_kind kinds[] = {
        {"bcast", bcast, byte_buffers, check_bcast, false},
        {"reduce", reduce, vector_buffers, check_root_sum, false},
        {"allreduce", allreduce, vector_buffers, check_sum, false},
        {"allgather", allgather, block_buffers, check_blocks, true},
        {"alltoall", alltoall, block_buffers, check_blocks, true},
        {"gather", gather, block_buffers, check_root_blocks, true},
        {"scatter", scatter, block_buffers, check_scatter, true},
        {"reduce_scatter", reduce_scatter, block_vectors, check_sum, true},
        {"scan", scan, vector_buffers, check_scan, false},
    };
    bench_point none = {.name = "barrier", .scale = 1, .body = barrier};
    bench_run(b, &none);
    bench_kinds(b, kinds, sizeof kinds / sizeof kinds[0], sizes, count);
}
