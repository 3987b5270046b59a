// SPDX-License-Identifier: BSD-3-Clause
// Many collectives under way at once on several communicators, mixed with point-to-point messages
// and blocking collectives, finished in an order of each rank's own; persistent ones started again
// and again together; ranks that test instead of waiting.
//
// RANKS: 1 2 3 4 8
#include "coll_test.h"

#include <unistd.h>

#define MANY  60
#define COMMS 3
#define MOST  3000

static int rank, size;

typedef struct operation {
    int kind, count, root;
    int in[MOST], out[MOST];
} operation;

enum { BCAST, ALLREDUCE, ALLGATHER, SCAN, GATHER, ALLTOALL, BARRIER, KINDS };

// Begins the n-th operation; its arguments follow from n on all ranks.
static void begin(operation *o, int n, MPI_Comm comm, MPI_Request *r)
{
    o->kind = (int)draw(KINDS);
    o->count = (int)draw(5) == 0 ? 300 : (int)draw(20);
    o->root = (int)draw((uint32_t)size);
    for (int k = 0; k < MOST; k++) o->in[k] = value(n, rank, k);
    memset(o->out, 0, sizeof o->out);
    switch (o->kind) {
    case BCAST:
        if (rank == o->root) memcpy(o->out, o->in, (size_t)o->count * sizeof(int));
        MPI_Ibcast(o->out, o->count, MPI_INT, o->root, comm, r);
        break;
    case ALLREDUCE: MPI_Iallreduce(o->in, o->out, o->count, MPI_INT, MPI_SUM, comm, r); break;
    case ALLGATHER:
        MPI_Iallgather(o->in, o->count, MPI_INT, o->out, o->count, MPI_INT, comm, r);
        break;
    case SCAN: MPI_Iscan(o->in, o->out, o->count, MPI_INT, MPI_SUM, comm, r); break;
    case GATHER:
        MPI_Igather(o->in, o->count, MPI_INT, o->out, o->count, MPI_INT, o->root, comm, r);
        break;
    case ALLTOALL:
        MPI_Ialltoall(o->in, o->count, MPI_INT, o->out, o->count, MPI_INT, comm, r);
        break;
    default: MPI_Ibarrier(comm, r); break;
    }
}

static int sum_to(int n, int last, int k)
{
    int sum = 0;
    for (int i = 0; i <= last; i++) sum += value(n, i, k);
    return sum;
}

static void check(const operation *o, int n)
{
    int bad = 0;
    for (int k = 0; k < o->count; k++) {
        if (o->kind == BCAST) bad += o->out[k] != value(n, o->root, k);
        if (o->kind == ALLREDUCE) bad += o->out[k] != sum_to(n, size - 1, k);
        if (o->kind == SCAN) bad += o->out[k] != sum_to(n, rank, k);
        for (int i = 0; i < size; i++) {
            int got = o->out[i * o->count + k];
            if (o->kind == ALLGATHER || (o->kind == GATHER && rank == o->root))
                bad += got != value(n, i, k);
            if (o->kind == ALLTOALL) bad += got != value(n, i, rank * o->count + k);
        }
    }
    CHECK(bad == 0);
}

// Waits for all in an order that differs between the ranks.
static void finish(MPI_Request r[], int n)
{
    int done = 0, way = rank % 4;
    while (way == 0 && done < n) {
        int i, flag;
        MPI_Testany(n, r, &i, &flag, MPI_STATUS_IGNORE);
        if (flag)
            done++;
        else
            usleep(10);
    }
    if (way == 1) MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
    for (int i = n - 1; way == 2 && i >= 0; i--) MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    while (way == 3 && done < n) {
        int indices[2 * MANY], out;
        MPI_Waitsome(n, r, &out, indices, MPI_STATUSES_IGNORE);
        done += out;
    }
    for (int i = 0; i < n; i++) CHECK(r[i] == MPI_REQUEST_NULL);
}

static void storm(MPI_Comm comms[], int round)
{
    static operation ops[MANY];
    MPI_Request r[2 * MANY]; // a third of the operations has two messages beside it
    int sent[MANY], got[MANY], n = 0, right = (rank + 1) % size, left = (rank - 1 + size) % size;
    for (int i = 0; i < MANY; i++) {
        MPI_Comm comm = comms[draw(COMMS)];
        begin(&ops[i], round * MANY + i, comm, &r[n++]);
        if (i % 3 == 0) {
            sent[i] = value(round, rank, i);
            MPI_Isend(&sent[i], 1, MPI_INT, right, i, comm, &r[n++]);
            MPI_Irecv(&got[i], 1, MPI_INT, left, i, comm, &r[n++]);
        }
        if (i % 20 == 10) {
            int one = 1, all = 0;
            MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comms[0]);
            CHECK(all == size);
        }
    }
    finish(r, n);
    for (int i = 0; i < MANY; i++) check(&ops[i], round * MANY + i);
    for (int i = 0; i < MANY; i += 3) CHECK(got[i] == value(round, left, i));
}

static void persistent(MPI_Comm comm)
{
    int in = 0, sum = 0, prefix = 0, word = 0, *all = calloc((size_t)size, sizeof(int));
    MPI_Request r[5];
    MPI_Allreduce_init(&in, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r[0]);
    MPI_Scan_init(&in, &prefix, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r[1]);
    MPI_Allgather_init(&in, 1, MPI_INT, all, 1, MPI_INT, comm, MPI_INFO_NULL, &r[2]);
    MPI_Bcast_init(&word, 1, MPI_INT, size - 1, comm, MPI_INFO_NULL, &r[3]);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &r[4]);
    for (int i = 0; i < 100; i++) {
        in = value(i, rank, 0);
        word = rank == size - 1 ? i : -1;
        MPI_Startall(5, r);
        if (i % 7 == rank % 7) usleep(200);
        MPI_Waitall(5, r, MPI_STATUSES_IGNORE);
        CHECK(sum == sum_to(i, size - 1, 0) && prefix == sum_to(i, rank, 0) && word == i);
        for (int k = 0; k < size; k++) CHECK(all[k] == value(i, k, 0));
    }
    for (int i = 0; i < 5; i++) MPI_Request_free(&r[i]);
    free(all);
}

// Everything that the call was given but the data may be gone before the operation ends.
static void freed_early(void)
{
    MPI_Comm comm;
    MPI_Datatype pair;
    MPI_Request r;
    int counts[64], displs[64], *out = calloc((size_t)size * 2, sizeof(int)), in[2] = {rank, -rank};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_vector(2, 1, 1, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i;
    }
    MPI_Iallgatherv(in, 1, pair, out, counts, displs, pair, comm, &r);
    memset(counts, 0x7f, sizeof counts);
    memset(displs, 0x7f, sizeof displs);
    MPI_Type_free(&pair);
    MPI_Comm_free(&comm);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < size; i++) CHECK(out[2 * i] == i && out[2 * i + 1] == -i);
    free(out);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS] = {MPI_COMM_WORLD};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < COMMS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int round = 0; round < 15; round++) storm(comms, round);
    for (int i = 0; i < COMMS; i++) persistent(comms[i]);
    for (int i = 0; i < 20; i++) freed_early();
    for (int i = 1; i < COMMS; i++) MPI_Comm_free(&comms[i]);
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
