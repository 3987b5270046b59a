// SPDX-License-Identifier: BSD-3-Clause
// Threads of each rank make collectives at the same time, each on a communicator of its own:
// blocking and not, with predefined operations and with one of the user's that calls MPI and takes
// a lock which other threads hold while they call MPI.
//
// RANKS: 1 2 4
// TIMEOUT: 120
#include "coll_test.h"

#include <pthread.h>

#define THREADS 4
#define ROUNDS  150
#define COUNT   200

static int rank, size;
static MPI_Comm comms[THREADS];
static MPI_Op careful;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // like an interpreter's
static _Atomic int failures;

static void add(void *in, void *inout, int *len, MPI_Datatype *t)
{
    int bytes = 0, *x = in, *y = inout;
    pthread_mutex_lock(&lock);
    MPI_Type_size(*t, &bytes);
    pthread_mutex_unlock(&lock);
    if (bytes != sizeof(int)) failures++;
    for (int i = 0; i < *len; i++) y[i] += x[i];
}

static void expect(int ok)
{
    if (!ok) failures++;
}

static int sum_to(int round, int last, int k)
{
    int sum = 0;
    for (int i = 0; i <= last; i++) sum += value(round, i, k);
    return sum;
}

static void *work(void *arg)
{
    int me = *(int *)arg, in[COUNT], out[COUNT], later[COUNT],
        *all = malloc((size_t)size * COUNT * sizeof(int));
    MPI_Comm comm = comms[me];
    for (int round = me * ROUNDS; round < (me + 1) * ROUNDS; round++) {
        MPI_Request r;
        MPI_Op op = round % 2 ? careful : MPI_SUM;
        for (int k = 0; k < COUNT; k++) in[k] = value(round, rank, k);
        MPI_Iallreduce(in, later, COUNT, MPI_INT, op, comm, &r);
        MPI_Scan(in, out, COUNT, MPI_INT, op, comm);
        for (int k = 0; k < COUNT; k++) expect(out[k] == sum_to(round, rank, k));
        MPI_Allgather(in, COUNT, MPI_INT, all, COUNT, MPI_INT, comm);
        for (int i = 0; i < size; i++) expect(all[i * COUNT + 7] == value(round, i, 7));
        pthread_mutex_lock(&lock);
        int rank_again = -1;
        MPI_Comm_rank(comm, &rank_again);
        pthread_mutex_unlock(&lock);
        expect(rank_again == rank);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        for (int k = 0; k < COUNT; k++) expect(later[k] == sum_to(round, size - 1, k));
        MPI_Barrier(comm);
    }
    free(all);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, numbers[THREADS];
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Op_create(add, 1, &careful);
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK(failures == 0);
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&comms[i]);
    MPI_Op_free(&careful);
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
