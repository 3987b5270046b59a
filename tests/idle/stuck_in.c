// SPDX-License-Identifier: BSD-3-Clause
// Gets stuck in the call that the argument names, on communicators of its own. For
// deadlock_test.py.
// RANKS:
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BIG = 1 << 20 };

static unsigned char big[BIG];
static int rank, size;

static int is(const char *what, const char *name)
{
    return strcmp(what, name) == 0;
}

static void stuck(const char *what, int other)
{
    int x = 0, index;
    MPI_Request r[3];
    MPI_Status s;
    MPI_Message m;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "solvers");
    for (int k = 0; k < 3; k++) MPI_Irecv(&x, 1, MPI_INT, other, 20 + k, comm, &r[k]);
    if (is(what, "wait")) MPI_Wait(&r[1], &s);
    if (is(what, "waitall")) MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    if (is(what, "waitany")) MPI_Waitany(3, r, &index, &s);
    if (is(what, "probe")) MPI_Probe(other, 5, comm, &s);
    if (is(what, "mprobe")) MPI_Mprobe(MPI_ANY_SOURCE, 5, comm, &m, &s);
    if (is(what, "ssend")) MPI_Ssend(&x, 1, MPI_INT, other, 6, comm);
    if (is(what, "large")) MPI_Send(big, BIG, MPI_BYTE, other, 6, comm);
    if (is(what, "sendrecv"))
        MPI_Sendrecv(&x, 1, MPI_INT, other, 7, &x, 1, MPI_INT, other, 8, comm, &s);
    if (is(what, "detach")) {
        MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
        MPI_Bsend(big, BIG, MPI_BYTE, other, 6, comm);
        MPI_Buffer_flush();
    }
    if (is(what, "finalize")) {
        MPI_Isend(big, BIG, MPI_BYTE, other, 6, MPI_COMM_WORLD, &r[0]);
        MPI_Request_free(&r[0]);
        MPI_Finalize();
    }
    if (is(what, "flood"))
        for (;;) MPI_Send(big, 8000, MPI_BYTE, other, 6, comm);
}

// Both threads of each rank wait for each other's rank.
static void *second_thread(void *other)
{
    int x;
    MPI_Recv(&x, 1, MPI_INT, *(int *)other, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "wait";
    int provided;
    MPI_Init_thread(&argc, &argv,
                    is(what, "threads") || is(what, "joined") ? MPI_THREAD_MULTIPLE
                                                              : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int other = (rank + 1) % size;
    if (is(what, "threads")) {
        pthread_t t;
        pthread_create(&t, NULL, second_thread, &other);
        MPI_Recv(big, 1, MPI_BYTE, other, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (is(what, "joined")) { // the main thread is outside MPI, but can do nothing either
        pthread_t t;
        pthread_create(&t, NULL, second_thread, &other);
        pthread_join(t, NULL);
    }
    stuck(what, other);
    return 0;
}
