// SPDX-License-Identifier: BSD-3-Clause
// What the message tests share: buffers between canaries, patterns that tell every byte apart, and
// a way to bring ranks together without collectives.
#ifndef SHOAL_TESTS_P2P_COMMON_H
#define SHOAL_TESTS_P2P_COMMON_H

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../src/plat/test.h"

#define CANARY_BYTES 256
#define CANARY       0xa5
#define UNTOUCHED    0x5a
#define TAG_MEET     30000 // tests use smaller tags

static int my_rank, world_size;

// Memory for `bytes` bytes between two canaries.
typedef struct guarded {
    unsigned char *whole, *data;
    size_t bytes;
    int shared; // from MPI_Alloc_mem
} guarded;

static inline unsigned char pattern(uint64_t seed, uint64_t i)
{
    return (unsigned char)((i * 167 + (i >> 8) * 29 + (i >> 16) * 7 + seed * 59 + 11) & 0xff);
}

static inline void fill(unsigned char *to, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i++) to[i] = pattern(seed, i);
}

// The same bytes twice: together, and with a byte between any two.
typedef struct spaced {
    unsigned char *base, *apart;
} spaced;

static inline spaced spaced_new(size_t bytes, uint64_t seed)
{
    spaced s = {.base = malloc(bytes), .apart = malloc(2 * bytes)};
    if (!s.base || !s.apart) abort();
    fill(s.base, bytes, seed);
    for (size_t i = 0; i < bytes; i++) {
        s.apart[2 * i] = s.base[i];
        s.apart[2 * i + 1] = 0xee;
    }
    return s;
}

static inline void spaced_free(spaced *s)
{
    free(s->base);
    free(s->apart);
}

// `bytes` bytes with gaps of one, as they lie in `apart`.
static inline MPI_Datatype with_gaps(int bytes)
{
    MPI_Datatype t;
    CHECK(MPI_Type_vector(bytes, 1, 2, MPI_BYTE, &t) == 0 && MPI_Type_commit(&t) == 0);
    return t;
}

// How many of the bytes are not what fill() writes.
static inline size_t wrong_bytes(const unsigned char *data, size_t bytes, uint64_t seed)
{
    size_t wrong = 0;
    for (size_t i = 0; i < bytes; i++) wrong += data[i] != pattern(seed, i);
    return wrong;
}

static inline size_t other_than(const unsigned char *data, size_t bytes, unsigned char value)
{
    size_t wrong = 0;
    for (size_t i = 0; i < bytes; i++) wrong += data[i] != value;
    return wrong;
}

static inline guarded guarded_new(size_t bytes, int shared)
{
    guarded g = {.bytes = bytes, .shared = shared};
    size_t all = bytes + 2 * CANARY_BYTES;
    if (shared)
        MPI_Alloc_mem((MPI_Aint)all, MPI_INFO_NULL, &g.whole);
    else
        g.whole = malloc(all);
    if (!g.whole) abort();
    memset(g.whole, CANARY, all);
    g.data = g.whole + CANARY_BYTES;
    memset(g.data, UNTOUCHED, bytes);
    return g;
}

// Nothing outside the buffer was written.
static inline int guarded_intact(const guarded *g)
{
    return other_than(g->whole, CANARY_BYTES, CANARY) == 0 &&
           other_than(g->data + g->bytes, CANARY_BYTES, CANARY) == 0;
}

static inline void guarded_free(guarded *g)
{
    if (g->shared)
        MPI_Free_mem(g->whole);
    else
        free(g->whole);
    g->whole = NULL;
}

static inline void nap_us(long us)
{
    struct timespec ts = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&ts, NULL);
}

// Comes back when `other` has called it as well.
static inline void meet(int other)
{
    MPI_Sendrecv(NULL, 0, MPI_BYTE, other, TAG_MEET, NULL, 0, MPI_BYTE, other, TAG_MEET,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Comes back when every rank has called it.
static inline void meet_all(void)
{
    for (int step = 1; step < world_size; step *= 2)
        MPI_Sendrecv(NULL, 0, MPI_BYTE, (my_rank + step) % world_size, TAG_MEET, NULL, 0, MPI_BYTE,
                     (my_rank - step % world_size + world_size) % world_size, TAG_MEET,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static inline int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static inline MPI_Count bytes_of(const MPI_Status *status)
{
    MPI_Count n = -1;
    MPI_Get_count_c(status, MPI_BYTE, &n);
    return n;
}

// Is it the status that waiting for nothing gives?
static inline int is_empty(const MPI_Status *status)
{
    int cancelled = -1;
    MPI_Test_cancelled(status, &cancelled);
    return status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG &&
           bytes_of(status) == 0 && !cancelled;
}

static inline int was_cancelled(const MPI_Status *status)
{
    int cancelled = -1;
    MPI_Test_cancelled(status, &cancelled);
    return cancelled;
}

// A small generator, so that runs can be repeated.
static inline uint32_t random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static inline void begin_test(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

// What main returns.
static inline int end_test(void)
{
    CHECK(MPI_Finalize() == MPI_SUCCESS);
    if (shoal_test_failures) fprintf(stderr, "rank %d of %d failed\n", my_rank, world_size);
    return SHOAL_TEST_RESULT();
}

#endif
