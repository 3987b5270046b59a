// SPDX-License-Identifier: BSD-3-Clause
// What the tests of collectives share: datatypes of several shapes over int with buffers whose gaps
// are guarded, data that every rank can compute for every other, and one way to run a collective in
// its three forms.
#ifndef SHOAL_TESTS_COLL_H
#define SHOAL_TESTS_COLL_H

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/plat/test.h"

// Not every test uses every helper.
#define HELPER __attribute__((unused)) static

// A datatype of `n` ints at the given places of an element that is `extent` ints long.
typedef struct shape {
    const char *name;
    int n, at[4], extent;
    MPI_Datatype type;
} shape;

enum { INT, TRIPLE, STRIDED, PADDED, REVERSED, BELOW, QUAD, QUAD_APART, SHAPES };

static shape shapes[SHAPES] = {
    [INT] = {"int", 1, {0}, 1, MPI_DATATYPE_NULL},
    [TRIPLE] = {"contiguous", 3, {0, 1, 2}, 3, MPI_DATATYPE_NULL},
    [STRIDED] = {"vector", 2, {0, 2}, 3, MPI_DATATYPE_NULL},
    [PADDED] = {"resized vector", 2, {0, 2}, 5, MPI_DATATYPE_NULL},
    [REVERSED] = {"indexed backwards", 2, {2, 0}, 3, MPI_DATATYPE_NULL},
    [BELOW] = {"data below the buffer", 2, {-1, 2}, 4, MPI_DATATYPE_NULL},
    [QUAD] = {"four together", 4, {0, 1, 2, 3}, 4, MPI_DATATYPE_NULL},
    [QUAD_APART] = {"four apart", 4, {3, 0, 5, 1}, 7, MPI_DATATYPE_NULL},
};

HELPER void shapes_make(void)
{
    for (int i = 0; i < SHAPES; i++) {
        shape *s = &shapes[i];
        int ones[4] = {1, 1, 1, 1};
        MPI_Datatype t;
        if (i == INT) {
            s->type = MPI_INT;
            continue;
        }
        MPI_Type_indexed(s->n, ones, s->at, MPI_INT, &t);
        MPI_Aint lb = i == BELOW ? -(MPI_Aint)sizeof(int) : 0;
        MPI_Type_create_resized(t, lb, s->extent * (MPI_Aint)sizeof(int), &s->type);
        MPI_Type_free(&t);
        MPI_Type_commit(&s->type);
    }
}

HELPER void shapes_free(void)
{
    for (int i = 1; i < SHAPES; i++) MPI_Type_free(&shapes[i].type);
}

#define GUARD  0x0badcafe
#define MARGIN 4

// Room for `count` elements with guards around and between the data. `at` is the address for MPI.
typedef struct buffer {
    const shape *s;
    int64_t count;
    int *memory, *at;
    int64_t length;
} buffer;

HELPER buffer buffer_new(int which, int64_t count)
{
    const shape *s = &shapes[which];
    buffer b = {.s = s, .count = count, .length = count * s->extent + 2 * MARGIN};
    b.memory = malloc((size_t)b.length * sizeof(int));
    for (int64_t i = 0; i < b.length; i++) b.memory[i] = GUARD;
    b.at = b.memory + MARGIN;
    return b;
}

HELPER void buffer_free(buffer *b)
{
    free(b->memory);
}

// The k-th int of the data, counted in the order of the type map.
HELPER int *datum(const buffer *b, int64_t k)
{
    return b->at + k / b->s->n * b->s->extent + b->s->at[k % b->s->n];
}

HELPER int64_t data_count(const buffer *b)
{
    return b->count * b->s->n;
}

// What rank `rank` contributes as its k-th int in round `round`: small, so that sums stay exact.
HELPER int value(int round, int rank, int64_t k)
{
    uint32_t h =
        (uint32_t)round * 2654435761u ^ (uint32_t)(rank + 1) * 40503u ^ (uint32_t)k * 2246822519u;
    h ^= h >> 15;
    return (int)(h % 97) + 1;
}

HELPER void buffer_fill(buffer *b, int round, int rank, int64_t from)
{
    for (int64_t k = 0; k < data_count(b); k++) *datum(b, k) = value(round, rank, from + k);
}

// Are all ints that belong to no datum as they were?
HELPER void check_guards(const buffer *b)
{
    char *is_data = calloc((size_t)b->length, 1);
    for (int64_t k = 0; k < data_count(b); k++) is_data[datum(b, k) - b->memory] = 1;
    int64_t bad = 0;
    for (int64_t i = 0; i < b->length; i++) bad += !is_data[i] && b->memory[i] != GUARD;
    CHECK(bad == 0);
    free(is_data);
}

// Ints [at, at + n) of the data are what `rank` contributes from its int `from` on.
HELPER void check_data(const buffer *b, int64_t at, int64_t n, int round, int rank, int64_t from)
{
    int64_t bad = 0;
    for (int64_t k = 0; k < n; k++) bad += *datum(b, at + k) != value(round, rank, from + k);
    CHECK(bad == 0);
}

HELPER void check_untouched(const buffer *b, int64_t at, int64_t n)
{
    int64_t bad = 0;
    for (int64_t k = 0; k < n; k++) bad += *datum(b, at + k) != GUARD;
    CHECK(bad == 0);
}

enum { BLOCKING, STARTED, PERSISTENT, FORMS };

// Runs a collective in one of its forms; a persistent one `starts` times.
#define DO(form, starts, Name, name, ...)                                                          \
    do {                                                                                           \
        MPI_Request request = MPI_REQUEST_NULL;                                                    \
        if ((form) == BLOCKING) {                                                                  \
            CHECK(MPI_##Name(__VA_ARGS__) == MPI_SUCCESS);                                         \
        } else if ((form) == STARTED) {                                                            \
            CHECK(MPI_I##name(__VA_ARGS__, &request) == MPI_SUCCESS);                              \
            CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);                           \
            CHECK(request == MPI_REQUEST_NULL);                                                    \
        } else {                                                                                   \
            CHECK(MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request) == MPI_SUCCESS);         \
            for (int start_ = 0; start_ < (starts); start_++) {                                    \
                CHECK(MPI_Start(&request) == MPI_SUCCESS);                                         \
                CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);                       \
            }                                                                                      \
            CHECK(MPI_Request_free(&request) == MPI_SUCCESS);                                      \
        }                                                                                          \
    } while (0)

// A pseudo-random sequence that all ranks share when they use it alike.
static uint64_t random_state = 1;

HELPER uint32_t draw(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

HELPER int world_result(void)
{
    int failures = shoal_test_failures, sum = 0;
    MPI_Reduce(&failures, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("%d checks on rank 0, %d failed on all ranks\n", shoal_test_checks, sum);
    return failures != 0;
}

#endif
