// SPDX-License-Identifier: BSD-3-Clause
// Derived datatypes: ping-pong of 1 MiB of data that does not lie together, the same layout on both
// sides, and the same pack by hand as the limit that a library could reach (see ../machine.c).
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define PAYLOAD (1 << 20)
#define SPREAD  ((size_t)40 << 20) // the widest layout: 256 Ki elements 128 bytes apart

static void type_buffers(bench *b, const bench_point *p)
{
    (void)p;
    bench_buffers(b, SPREAD);
}

static void type_latency(bench *b, const bench_point *p, long n)
{
    int partner = 1 - b->rank;
    for (long i = 0; i < n; i++) {
        if (b->rank == 0) MPI_Send(b->send, 1, p->type, partner, TAG_DATA, MPI_COMM_WORLD);
        MPI_Recv(b->recv, 1, p->type, partner, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (b->rank != 0) MPI_Send(b->send, 1, p->type, partner, TAG_DATA, MPI_COMM_WORLD);
    }
}

// As many bytes as the type has must have come, and nothing between them.
static bool check_type(bench *b, const bench_point *p)
{
    size_t came = 0;
    int size;
    for (size_t i = 0; i < SPREAD; i++) came += b->recv[i] == (char)(2 - b->rank);
    MPI_Type_size(p->type, &size);
    return came == (size_t)size;
}

static MPI_Datatype committed(MPI_Datatype t)
{
    MPI_Type_commit(&t);
    return t;
}

static MPI_Datatype vector(int count, int block, int stride)
{
    MPI_Datatype t;
    MPI_Type_vector(count, block, stride, MPI_FLOAT, &t);
    return committed(t);
}

// Blocks of 1 to 7 floats (4 on average) at uneven distances.
static MPI_Datatype indexed(void)
{
    int count = PAYLOAD / 16, *lengths = malloc((size_t)count * sizeof(int)),
        *places = malloc((size_t)count * sizeof(int));
    unsigned seed = 1;
    MPI_Datatype t;
    for (int i = 0; i < count; i++) {
        seed = seed * 1103515245u + 12345u;
        lengths[i] = i % 2 ? 8 - lengths[i - 1] : 1 + (int)((seed >> 16) % 7);
        places[i] = 16 * i + (int)((seed >> 20) % 8);
    }
    MPI_Type_indexed(count, lengths, places, MPI_FLOAT, &t);
    free(lengths);
    free(places);
    return committed(t);
}

// A face of a cube of doubles, as halo exchanges send it.
static MPI_Datatype face(void)
{
    int sizes[3] = {128, 128, 128}, part[3] = {128, 128, 8}, from[3] = {0, 0, 60};
    MPI_Datatype t;
    MPI_Type_create_subarray(3, sizes, part, from, MPI_ORDER_C, MPI_DOUBLE, &t);
    return committed(t);
}

// {double, int, char} records with the holes a compiler leaves.
static MPI_Datatype records(void)
{
    int lengths[3] = {1, 1, 1};
    MPI_Aint places[3] = {0, 8, 12};
    MPI_Datatype parts[3] = {MPI_DOUBLE, MPI_INT, MPI_CHAR}, one, spaced, all;
    MPI_Type_create_struct(3, lengths, places, parts, &one);
    MPI_Type_create_resized(one, 0, 16, &spaced);
    MPI_Type_contiguous(PAYLOAD / 13, spaced, &all);
    MPI_Type_free(&one);
    MPI_Type_free(&spaced);
    return committed(all);
}

void bench_types(bench *b)
{
    struct {
        const char *name;
        MPI_Datatype type;
    } all[] = {
        {"type-column", vector(PAYLOAD / 4, 1, 32)}, // 4 bytes of every 128
        {"type-blocks8", vector(PAYLOAD / 32, 8, 16)},
        {"type-blocks64", vector(PAYLOAD / 256, 64, 128)},
        {"type-indexed", indexed()},
        {"type-face", face()},
        {"type-records", records()},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        bench_point p = {.ranks = 2,
                         .scale = 2,
                         .body = type_latency,
                         .prepare = type_buffers,
                         .check = check_type,
                         .type = all[i].type,
                         .size = PAYLOAD};
        strcpy(p.name, all[i].name);
        bench_run(b, &p);
        MPI_Type_free(&all[i].type);
    }
}
