// SPDX-License-Identifier: BSD-3-Clause
// A thread that sleeps in MPI is woken by whatever it waits for, also when another thread of the
// same process brings it about: a message to oneself, a request that another thread's progress
// completes, a generalized request, a probe, a buffer that empties. The sleeper is given time to
// fall asleep for real; nothing here may be taken for a deadlock.
// RANKS: 1 2 4
// TIMEOUT: 60
#include <pthread.h>

#include "../p2p/common.h"

enum { NAP_US = 30000, ROUNDS = 5 }; // long enough that the other thread has given up spinning

static int partner; // another rank, or oneself

static void *recv_from_partner(void *value)
{
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *(int *)value = got;
    return NULL;
}

static void *probe_partner(void *value)
{
    MPI_Status s;
    MPI_Probe(partner, 1, MPI_COMM_WORLD, &s);
    return recv_from_partner(value);
}

static void *mprobe_partner(void *value)
{
    MPI_Message m;
    MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
    MPI_Mrecv(value, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
    return NULL;
}

typedef void *body_fn(void *);

static pthread_t start(body_fn *body, void *what)
{
    pthread_t t;
    CHECK(pthread_create(&t, NULL, body, what) == 0);
    nap_us(NAP_US);
    return t;
}

// The sleeper waits for a message; this thread sends it and does nothing else in MPI.
static void one_sleeps(body_fn *body, int synchronous)
{
    int got = -1, value = 41;
    pthread_t t = start(body, &got);
    if (synchronous)
        CHECK(MPI_Ssend(&value, 1, MPI_INT, partner, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
    else
        CHECK(MPI_Send(&value, 1, MPI_INT, partner, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(pthread_join(t, NULL) == 0 && got == 41);
}

// Both sleep: the sleeper for tag 1, this thread for tag 2. Messages come from the partner in
// either order, so each of the two takes in what is the other's.
static void both_sleep(body_fn *body, int order)
{
    int got = -1, mine = -1, value = 42;
    MPI_Request r[2];
    pthread_t t = start(body, &got);
    if (partner == my_rank) {
        CHECK(MPI_Isend(&value, 1, MPI_INT, partner, 1 + order, MPI_COMM_WORLD, &r[0]) ==
              MPI_SUCCESS);
        nap_us(1000);
        CHECK(MPI_Isend(&value, 1, MPI_INT, partner, 2 - order, MPI_COMM_WORLD, &r[1]) ==
              MPI_SUCCESS);
        CHECK(MPI_Recv(&mine, 1, MPI_INT, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
              MPI_SUCCESS);
        CHECK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    } else if (my_rank < partner) {
        CHECK(MPI_Recv(&mine, 1, MPI_INT, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
              MPI_SUCCESS);
        for (int k = 0; k < 2; k++)
            CHECK(MPI_Send(&value, 1, MPI_INT, partner, 1 + (k ^ order), MPI_COMM_WORLD) ==
                  MPI_SUCCESS);
    } else {
        nap_us(NAP_US);
        for (int k = 0; k < 2; k++) {
            CHECK(MPI_Send(&value, 1, MPI_INT, partner, 1 + (k ^ order), MPI_COMM_WORLD) ==
                  MPI_SUCCESS);
            nap_us(2000);
        }
        CHECK(MPI_Recv(&mine, 1, MPI_INT, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
              MPI_SUCCESS);
    }
    CHECK(pthread_join(t, NULL) == 0 && got == 42 && mine == 42);
}

static void *wait_for(void *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    return NULL;
}

static int query(void *extra, MPI_Status *s)
{
    (void)extra;
    MPI_Status_set_elements(s, MPI_BYTE, 0);
    MPI_Status_set_cancelled(s, 0);
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    ++*(int *)extra;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra;
    (void)complete;
    return MPI_SUCCESS;
}

static void generalized(void)
{
    int freed = 0;
    MPI_Request r, copy;
    CHECK(MPI_Grequest_start(query, release, cancel, &freed, &r) == MPI_SUCCESS);
    copy = r;
    pthread_t t = start(wait_for, &r);
    CHECK(MPI_Grequest_complete(copy) == MPI_SUCCESS);
    CHECK(pthread_join(t, NULL) == 0 && freed == 1 && r == MPI_REQUEST_NULL);
}

// The sleeper's receive is cancelled by this thread.
static void cancelled(void)
{
    int in;
    MPI_Request r, copy;
    CHECK(MPI_Irecv(&in, 1, MPI_INT, my_rank, 9, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
    copy = r;
    pthread_t t = start(wait_for, &r);
    CHECK(MPI_Cancel(&copy) == MPI_SUCCESS);
    CHECK(pthread_join(t, NULL) == 0 && r == MPI_REQUEST_NULL);
}

static void *flush(void *unused)
{
    (void)unused;
    MPI_Buffer_flush();
    return NULL;
}

static void flushed(void)
{
    enum { BIG = 200000 };
    static unsigned char data[BIG], in[BIG];
    void *memory;
    int bytes;
    CHECK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0) == MPI_SUCCESS);
    CHECK(MPI_Bsend(data, BIG, MPI_BYTE, my_rank, 8, MPI_COMM_WORLD) == MPI_SUCCESS);
    pthread_t t = start(flush, NULL);
    CHECK(MPI_Recv(in, BIG, MPI_BYTE, my_rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
          MPI_SUCCESS);
    CHECK(pthread_join(t, NULL) == 0);
    CHECK(MPI_Buffer_detach(&memory, &bytes) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    int provided;
    body_fn *const bodies[] = {recv_from_partner, probe_partner, mprobe_partner};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    for (int round = 0; round < ROUNDS; round++)
        for (int self = 0; self < (world_size > 1 ? 2 : 1); self++) {
            partner = self || world_size == 1 ? my_rank : my_rank ^ 1;
            for (int k = 0; k < 3; k++) {
                one_sleeps(bodies[k], round % 2);
                if (partner != my_rank) meet(partner);
                for (int order = 0; order < 2; order++) {
                    both_sleep(bodies[k], order);
                    if (partner != my_rank) meet(partner);
                }
            }
            // Who is done with itself must not send to one whose probe takes messages from anybody.
            if (world_size > 1) meet(my_rank ^ 1);
        }
    generalized();
    cancelled();
    flushed();
    return end_test();
}
