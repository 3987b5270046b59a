// SPDX-License-Identifier: BSD-3-Clause
// Threads that make communicators at the same time: each on a parent of its own, and all on one
// parent with different tags or different words.
// RANKS: 1 2 3 4
// TIMEOUT: 90
#include <pthread.h>
#include <stdio.h>

#include "check.h"

#define THREADS 4
#define ROUNDS  40

static MPI_Comm parents[THREADS];
static MPI_Group everybody;

// CHECK counts without a lock; threads count apart.
static int failures[THREADS];
#define EXPECT(me, condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failures[me]++;                                                                        \
            fprintf(stderr, "%s:%d: thread %d: failed: %s\n", __FILE__, __LINE__, me, #condition); \
        }                                                                                          \
    } while (0)

static void token(int me, MPI_Comm c, int value)
{
    int rank = -1, size = -1, got = -1;
    EXPECT(me, MPI_Comm_rank(c, &rank) == 0 && MPI_Comm_size(c, &size) == 0);
    EXPECT(me, MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT,
                            (rank + size - 1) % size, 0, c, MPI_STATUS_IGNORE) == 0);
    EXPECT(me, got == value);
}

static void rounds(int me)
{
    char words[32];
    snprintf(words, sizeof words, "thread %d", me);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm a, b, c, d;
        MPI_Request request;
        int value = me * ROUNDS + i;
        EXPECT(me, MPI_Comm_idup(parents[me], &b, &request) == 0);
        EXPECT(me, MPI_Comm_create_group(MPI_COMM_WORLD, everybody, me, &a) == 0);
        token(me, a, value);
        EXPECT(me, MPI_Comm_create_from_group(everybody, words, MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                              &c) == 0);
        EXPECT(me, MPI_Wait(&request, MPI_STATUS_IGNORE) == 0);
        token(me, b, value);
        token(me, c, value);
        EXPECT(me, MPI_Comm_split(parents[me], 0, 0, &d) == 0);
        token(me, d, value);
        EXPECT(me, MPI_Comm_free(&a) == 0 && MPI_Comm_free(&b) == 0);
        EXPECT(me, MPI_Comm_free(&c) == 0 && MPI_Comm_free(&d) == 0);
    }
}

static void *work(void *arg)
{
    rounds((int)((MPI_Comm *)arg - parents));
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int provided = 0;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    CHECK(MPI_Comm_group(MPI_COMM_WORLD, &everybody) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, &parents[i]) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(failures[i] == 0 && MPI_Comm_free(&parents[i]) == 0);
    CHECK(MPI_Group_free(&everybody) == 0);
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
