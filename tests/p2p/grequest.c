// SPDX-License-Identifier: BSD-3-Clause
// Generalized requests: the user's callbacks are called when and as often as the standard says,
// and mix with other requests.
// RANKS: 1 2
#include "common.h"

typedef struct job {
    int queries, frees, cancels, complete_when_cancelled;
    int tag, error;
} job;

static int query(void *extra, MPI_Status *s)
{
    job *j = extra;
    j->queries++;
    CHECK(MPI_Status_set_elements(s, MPI_INT, 3) == MPI_SUCCESS);
    CHECK(MPI_Status_set_cancelled(s, j->cancels > 0) == MPI_SUCCESS);
    s->MPI_SOURCE = 12;
    s->MPI_TAG = j->tag;
    return j->error;
}

static int release(void *extra)
{
    ((job *)extra)->frees++;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    job *j = extra;
    j->cancels++;
    j->complete_when_cancelled = complete;
    return MPI_SUCCESS;
}

static MPI_Request begin(job *j, int tag)
{
    MPI_Request r = MPI_REQUEST_NULL;
    *j = (job){.tag = tag};
    CHECK(MPI_Grequest_start(query, release, cancel, j, &r) == MPI_SUCCESS &&
          r != MPI_REQUEST_NULL);
    return r;
}

static void simple(void)
{
    job j;
    MPI_Status s;
    int flag = 1, count = 0;
    MPI_Request r = begin(&j, 5);
    CHECK(MPI_Test(&r, &flag, &s) == MPI_SUCCESS && !flag && j.queries == 0);
    CHECK(MPI_Grequest_complete(r) == MPI_SUCCESS);
    CHECK(class_of(MPI_Grequest_complete(r)) == MPI_ERR_REQUEST);
    CHECK(MPI_Request_get_status(r, &flag, &s) == MPI_SUCCESS && flag && j.frees == 0);
    CHECK(MPI_Wait(&r, &s) == MPI_SUCCESS && r == MPI_REQUEST_NULL);
    CHECK(s.MPI_SOURCE == 12 && s.MPI_TAG == 5);
    CHECK(MPI_Get_count(&s, MPI_INT, &count) == MPI_SUCCESS && count == 3);
    CHECK(j.queries >= 1 && j.frees == 1 && j.cancels == 0);
}

static void cancelled(void)
{
    job j;
    MPI_Status s;
    MPI_Request r = begin(&j, 6);
    CHECK(MPI_Cancel(&r) == MPI_SUCCESS && j.cancels == 1 && !j.complete_when_cancelled);
    CHECK(MPI_Grequest_complete(r) == MPI_SUCCESS);
    CHECK(MPI_Wait(&r, &s) == MPI_SUCCESS && was_cancelled(&s) && j.frees == 1);
    r = begin(&j, 7);
    CHECK(MPI_Grequest_complete(r) == MPI_SUCCESS);
    CHECK(MPI_Cancel(&r) == MPI_SUCCESS && j.complete_when_cancelled);
    CHECK(MPI_Wait(&r, &s) == MPI_SUCCESS && j.frees == 1);
}

// Freed before and after completing: free_fn is called once, when both have happened.
static void freed(void)
{
    job j;
    MPI_Request r = begin(&j, 8), copy = r;
    CHECK(MPI_Request_free(&r) == MPI_SUCCESS && r == MPI_REQUEST_NULL && j.frees == 0);
    CHECK(MPI_Grequest_complete(copy) == MPI_SUCCESS && j.frees == 1 && j.queries == 0);
    CHECK(class_of(MPI_Grequest_complete(copy)) == MPI_ERR_REQUEST);
    r = begin(&j, 9);
    CHECK(MPI_Grequest_complete(r) == MPI_SUCCESS && j.frees == 0);
    CHECK(MPI_Request_free(&r) == MPI_SUCCESS && j.frees == 1);
}

static void failing(void)
{
    job j;
    MPI_Status s;
    MPI_Request r = begin(&j, 10);
    j.error = MPI_ERR_OTHER;
    CHECK(MPI_Grequest_complete(r) == MPI_SUCCESS);
    CHECK(class_of(MPI_Wait(&r, &s)) == MPI_ERR_OTHER && j.frees == 1);
}

static void among_others(void)
{
    job j[3];
    MPI_Request r[4];
    MPI_Status s[4];
    int in = 0, out = 3, index, count, indices[4];
    for (int k = 0; k < 3; k++) r[k] = begin(&j[k], 20 + k);
    CHECK(MPI_Irecv(&in, 1, MPI_INT, my_rank, 1, MPI_COMM_WORLD, &r[3]) == MPI_SUCCESS);
    CHECK(MPI_Grequest_complete(r[1]) == MPI_SUCCESS);
    CHECK(MPI_Waitany(4, r, &index, s) == MPI_SUCCESS && index == 1 && s[0].MPI_TAG == 21);
    CHECK(MPI_Send(&out, 1, MPI_INT, my_rank, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Waitsome(4, r, &count, indices, s) == MPI_SUCCESS && count == 1 && indices[0] == 3);
    CHECK(MPI_Grequest_complete(r[0]) == MPI_SUCCESS && MPI_Grequest_complete(r[2]) == MPI_SUCCESS);
    CHECK(MPI_Waitall(4, r, s) == MPI_SUCCESS && s[0].MPI_TAG == 20 && s[2].MPI_TAG == 22);
    for (int k = 0; k < 3; k++) CHECK(j[k].frees == 1);
    CHECK(MPI_Irecv(&in, 1, MPI_INT, my_rank, 1, MPI_COMM_WORLD, &r[0]) == MPI_SUCCESS);
    CHECK(class_of(MPI_Grequest_complete(r[0])) == MPI_ERR_REQUEST);
    CHECK(MPI_Cancel(&r[0]) == MPI_SUCCESS && MPI_Wait(&r[0], s) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    simple();
    cancelled();
    freed();
    failing();
    among_others();
    return end_test();
}
