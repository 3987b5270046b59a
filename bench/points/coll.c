// SPDX-License-Identifier: BSD-3-Clause
// Collectives by size, all ranks active, float32 where there is arithmetic.
//
// The size is that of a block: what one rank gives to one other (allgather, alltoall, gather,
// scatter, reduce_scatter), or the whole vector (bcast, reduce, allreduce, scan). A root changes
// with every call, so that each call depends on the one before and none can run ahead unseen.
#include <stdio.h>

#include "bench.h"

#define WORLD MPI_COMM_WORLD

static int floats(const bench_point *p)
{
    return (int)(p->size / sizeof(float));
}

// Vectors: every rank gives rank + 1 everywhere.
static void vector_buffers(bench *b, const bench_point *p)
{
    bench_buffers(b, p->size + 64);
    float *v = (float *)(void *)b->send;
    for (int i = 0; i < floats(p); i++) v[i] = (float)(b->rank + 1);
}

static void byte_buffers(bench *b, const bench_point *p)
{
    bench_buffers(b, p->size + 64);
}

static void block_buffers(bench *b, const bench_point *p)
{
    bench_buffers(b, p->size * (size_t)b->np + 64);
}

static void block_vectors(bench *b, const bench_point *p)
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

static bool check_sum(bench *b, const bench_point *p)
{
    return all_are(b, p, sum_to(b->np));
}

static bool check_root_sum(bench *b, const bench_point *p)
{
    return b->rank != 0 || all_are(b, p, sum_to(b->np));
}

static bool check_scan(bench *b, const bench_point *p)
{
    return all_are(b, p, sum_to(b->rank + 1));
}

static bool check_bcast(bench *b, const bench_point *p)
{
    return b->send[0] == 1 && b->send[p->size - 1] == 1;
}

// Block r must have come from rank r.
static bool check_blocks(bench *b, const bench_point *p)
{
    for (int r = 0; r < b->np; r++) {
        const char *block = b->recv + (size_t)r * p->size;
        if (block[0] != (char)(r + 1) || block[p->size - 1] != (char)(r + 1)) return false;
    }
    return true;
}

static bool check_root_blocks(bench *b, const bench_point *p)
{
    return b->rank != 0 || check_blocks(b, p);
}

static bool check_scatter(bench *b, const bench_point *p)
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

// Every second scan runs over the ranks in reverse: the first rank of a scan waits for nobody, and
// would otherwise never wait at all.
static MPI_Comm reversed;

static void scan(bench *b, const bench_point *p, long n)
{
    for (long i = 0; i < n; i++)
        MPI_Scan(b->send, b->recv, floats(p), MPI_FLOAT, MPI_SUM, i % 2 ? reversed : WORLD);
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
static bool fits(const bench *b, const bench_point *p)
{
    bool blocks = p->prepare == block_buffers || p->prepare == block_vectors;
    return !blocks || b->np <= 2 || p->size * (size_t)b->np <= BENCH_MAX_BYTES;
}

void bench_coll(bench *b, const size_t *sizes, int count)
{
    static const struct {
        const char *name;
        bench_point p;
    } all[] = {
        {"bcast", {.body = bcast, .prepare = byte_buffers, .check = check_bcast}},
        {"reduce", {.body = reduce, .prepare = vector_buffers, .check = check_root_sum}},
        {"allreduce", {.body = allreduce, .prepare = vector_buffers, .check = check_sum}},
        {"allgather", {.body = allgather, .prepare = block_buffers, .check = check_blocks}},
        {"alltoall", {.body = alltoall, .prepare = block_buffers, .check = check_blocks}},
        {"gather", {.body = gather, .prepare = block_buffers, .check = check_root_blocks}},
        {"scatter", {.body = scatter, .prepare = block_buffers, .check = check_scatter}},
        {"reduce_scatter", {.body = reduce_scatter, .prepare = block_vectors, .check = check_sum}},
        {"scan", {.body = scan, .prepare = vector_buffers, .check = check_scan}},
    };
    bench_point none = {.name = "barrier", .scale = 1, .body = barrier};
    bench_run(b, &none);
    MPI_Comm_split(WORLD, 0, b->np - b->rank, &reversed);
    for (int s = 0; s < count; s++) {
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            bench_point p = all[i].p;
            p.size = sizes[s];
            p.scale = 1;
            snprintf(p.name, sizeof p.name, "%s/%zu", all[i].name, p.size);
            if (fits(b, &p)) bench_run(b, &p);
        }
    }
    MPI_Comm_free(&reversed);
}
