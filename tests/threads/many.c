// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: several threads of each rank exchange messages of all sizes at the same
// time, on tags of their own and on communicators of their own; and take turns on shared ones.
// RANKS: 1 2 3 4
// TIMEOUT: 120
#include <pthread.h>

#include "../p2p/common.h"

enum { THREADS = 4, ROUNDS = 150 };

static MPI_Comm comms[THREADS];
static const int sizes[] = {4, 60, 1000, 9000, 20000, 70000};
static pthread_mutex_t failures = PTHREAD_MUTEX_INITIALIZER;

// CHECK counts in plain integers.
#define SAFE_CHECK(c)                                                                              \
    do {                                                                                           \
        if (!(c)) {                                                                                \
            pthread_mutex_lock(&failures);                                                         \
            CHECK(c);                                                                              \
            pthread_mutex_unlock(&failures);                                                       \
        }                                                                                          \
    } while (0)

typedef struct worker {
    pthread_t thread;
    int number;
    MPI_Comm comm;
    int tag;
} worker;

static void ring_round(const worker *w, int round, unsigned char *out, unsigned char *in)
{
    int bytes = sizes[(round + w->number) % 6];
    int right = (my_rank + 1) % world_size, left = (my_rank + world_size - 1) % world_size;
    uint64_t seed = (uint64_t)(round * 31 + w->number * 7);
    MPI_Status s;
    MPI_Request r[2];
    fill(out, (size_t)bytes, seed + (uint64_t)my_rank);
    memset(in, 0, (size_t)bytes);
    switch (round % 3) {
    case 0:
        SAFE_CHECK(MPI_Sendrecv(out, bytes, MPI_BYTE, right, w->tag, in, bytes, MPI_BYTE, left,
                                w->tag, w->comm, &s) == MPI_SUCCESS);
        break;
    case 1:
        SAFE_CHECK(MPI_Irecv(in, bytes, MPI_BYTE, left, w->tag, w->comm, &r[0]) == MPI_SUCCESS);
        SAFE_CHECK(MPI_Send(out, bytes, MPI_BYTE, right, w->tag, w->comm) == MPI_SUCCESS);
        SAFE_CHECK(MPI_Wait(&r[0], &s) == MPI_SUCCESS);
        break;
    default: {
        MPI_Message m;
        SAFE_CHECK(MPI_Issend(out, bytes, MPI_BYTE, right, w->tag, w->comm, &r[0]) == MPI_SUCCESS);
        SAFE_CHECK(MPI_Mprobe(left, w->tag, w->comm, &m, &s) == MPI_SUCCESS);
        SAFE_CHECK(MPI_Imrecv(in, bytes, MPI_BYTE, &m, &r[1]) == MPI_SUCCESS);
        SAFE_CHECK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    }
    }
    SAFE_CHECK(wrong_bytes(in, (size_t)bytes, seed + (uint64_t)left) == 0);
    SAFE_CHECK(s.MPI_SOURCE == left && s.MPI_TAG == w->tag);
}

static void *work(void *what)
{
    const worker *w = what;
    unsigned char *out = malloc(70000), *in = malloc(70000);
    for (int round = 0; round < ROUNDS; round++) {
        ring_round(w, round, out, in);
        // Mistakes of one thread are its own affair.
        if (round % 10 == 0)
            SAFE_CHECK(class_of(MPI_Send(out, 1, MPI_BYTE, 1000 + w->number, 0, w->comm)) ==
                       MPI_ERR_RANK);
    }
    free(out);
    free(in);
    return NULL;
}

static void run(int own_comm)
{
    worker w[THREADS];
    for (int k = 0; k < THREADS; k++) {
        w[k] = (worker){
            .number = k, .comm = own_comm ? comms[k] : MPI_COMM_WORLD, .tag = own_comm ? 5 : k};
        SAFE_CHECK(pthread_create(&w[k].thread, NULL, work, &w[k]) == 0);
    }
    for (int k = 0; k < THREADS; k++) SAFE_CHECK(pthread_join(w[k].thread, NULL) == 0);
}

// All threads receive from any source with one tag; together they get everything, once.
enum { SHARED = 400 };
static _Atomic int seen[16 * SHARED];

static void *take_shared(void *unused)
{
    (void)unused;
    for (int k = 0; k < SHARED * world_size / THREADS; k++) {
        int value = -1;
        MPI_Status s;
        SAFE_CHECK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &s) ==
                   MPI_SUCCESS);
        SAFE_CHECK(value >= 0 && value < SHARED);
        if (value >= 0 && value < SHARED) seen[s.MPI_SOURCE * SHARED + value]++;
    }
    return NULL;
}

static void shared_tag(void)
{
    pthread_t t[THREADS];
    for (int k = 0; k < THREADS; k++)
        SAFE_CHECK(pthread_create(&t[k], NULL, take_shared, NULL) == 0);
    for (int k = 0; k < SHARED; k++)
        for (int to = 0; to < world_size; to++)
            SAFE_CHECK(MPI_Send(&k, 1, MPI_INT, to, 77, MPI_COMM_WORLD) == MPI_SUCCESS);
    for (int k = 0; k < THREADS; k++) SAFE_CHECK(pthread_join(t[k], NULL) == 0);
    for (int k = 0; k < world_size * SHARED; k++) CHECK(seen[k] == 1);
}

int main(int argc, char **argv)
{
    int provided = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int k = 0; k < THREADS; k++) CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[k]) == MPI_SUCCESS);
    run(0);
    run(1);
    shared_tag();
    for (int k = 0; k < THREADS; k++) CHECK(MPI_Comm_free(&comms[k]) == MPI_SUCCESS);
    return end_test();
}
