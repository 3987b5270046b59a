// SPDX-License-Identifier: BSD-3-Clause
// Collectives that are started and then waited for at once, as a program does that has nothing to
// do in between: what the calls cost by themselves. Sizes and roots are those of coll.c.
#include "coll.h"

#define WORLD MPI_COMM_WORLD

static int bytes_of(const bench_point *p)
{
    return (int)p->size;
}

static int floats_of(const bench_point *p)
{
    return (int)(p->size / sizeof(float));
}

// Defines a body: n times `start`, which may use i and leaves its request in r, and a wait.
#define BODY(name, start)                                                                          \
    static void name(bench *b, const bench_point *p, long n)                                       \
    {                                                                                              \
        (void)b, (void)p;                                                                          \
        for (long i = 0; i < n; i++) {                                                             \
            MPI_Request r;                                                                         \
            start;                                                                                 \
            MPI_Wait(&r, MPI_STATUS_IGNORE);                                                       \
        }                                                                                          \
    }

#define ROOT     ((int)(i % b->np))
#define BLOCKS   b->send, bytes_of(p), MPI_BYTE, b->recv, bytes_of(p), MPI_BYTE
#define VECTORS  b->send, b->recv, floats_of(p), MPI_FLOAT, MPI_SUM
#define THAT_WAY (i % 2 ? b->reversed : WORLD)

BODY(ibarrier, MPI_Ibarrier(WORLD, &r))
BODY(ibcast, MPI_Ibcast(b->send, bytes_of(p), MPI_BYTE, ROOT, WORLD, &r))
BODY(ireduce, MPI_Ireduce(VECTORS, ROOT, WORLD, &r))
BODY(iallreduce, MPI_Iallreduce(VECTORS, WORLD, &r))
BODY(iallgather, MPI_Iallgather(BLOCKS, WORLD, &r))
BODY(ialltoall, MPI_Ialltoall(BLOCKS, WORLD, &r))
BODY(igather, MPI_Igather(BLOCKS, ROOT, WORLD, &r))
BODY(iscatter, MPI_Iscatter(BLOCKS, ROOT, WORLD, &r))
BODY(ireduce_scatter, MPI_Ireduce_scatter_block(VECTORS, WORLD, &r))
BODY(iscan, MPI_Iscan(VECTORS, THAT_WAY, &r))

void bench_nonblocking(bench *b, const size_t *sizes, int count)
{
    static const coll_kind kinds[] = {
        {"ibcast", ibcast, byte_buffers, check_bcast, false},
        {"ireduce", ireduce, vector_buffers, check_root_sum, false},
        {"iallreduce", iallreduce, vector_buffers, check_sum, false},
        {"iallgather", iallgather, block_buffers, check_blocks, true},
        {"ialltoall", ialltoall, block_buffers, check_blocks, true},
        {"igather", igather, block_buffers, check_root_blocks, true},
        {"iscatter", iscatter, block_buffers, check_scatter, true},
        {"ireduce_scatter", ireduce_scatter, block_vectors, check_sum, true},
        {"iscan", iscan, vector_buffers, check_scan, false},
    };
    bench_point none = {.name = "ibarrier", .scale = 1, .body = ibarrier};
    bench_run(b, &none);
    bench_kinds(b, kinds, sizeof kinds / sizeof kinds[0], sizes, count);
}
