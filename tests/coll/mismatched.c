// SPDX-License-Identifier: BSD-3-Clause
// Ranks that do not make the same collective call; the argument picks the mistake. Run by
// mismatch_test.py.
//
// RANKS:
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int free_own_key(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)value, (void)extra;
    return MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    double in[8] = {0}, out[64];
    MPI_Request request;
    MPI_Comm c = MPI_COMM_WORLD;
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    const char *mistake = argv[1];
    int odd = rank == size - 1;
    if (strcmp(mistake, "other-call") == 0) {
        if (odd)
            MPI_Bcast(in, 1, MPI_DOUBLE, rank, c);
        else
            MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, c);
    } else if (strcmp(mistake, "size") == 0) {
        MPI_Allreduce(in, out, odd ? 4 : 2, MPI_DOUBLE, MPI_SUM, c);
    } else if (strcmp(mistake, "root") == 0) {
        MPI_Reduce(in, out, 4, MPI_DOUBLE, MPI_SUM, odd, c);
    } else if (strcmp(mistake, "op") == 0) {
        MPI_Allreduce(in, out, 4, MPI_DOUBLE, odd ? MPI_SUM : MPI_MAX, c);
    } else if (strcmp(mistake, "form") == 0) {
        if (!odd)
            MPI_Barrier(c);
        else {
            MPI_Ibarrier(c, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    } else if (strcmp(mistake, "two-roots") == 0) {
        MPI_Bcast(in, 1, MPI_DOUBLE, odd ? rank : 0, c);
    } else if (strcmp(mistake, "seen-at-the-end") == 0) {
        // Everybody only sends; MPI_Finalize tells, though a callback called MPI in it before.
        int key, counts[64] = {0}, displs[64] = {0};
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_own_key, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, in);
        if (odd)
            MPI_Gatherv(in, 1, MPI_DOUBLE, out, counts, displs, MPI_DOUBLE, 0, c);
        else if (rank == 0)
            MPI_Bcast(in, 1, MPI_DOUBLE, 0, c);
    } else if (strcmp(mistake, "nonblocking-root") == 0) {
        MPI_Ibcast(in, 1, MPI_DOUBLE, odd, c, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (strcmp(mistake, "nonblocking-two-roots") == 0) {
        // Nobody waits; only what comes after it can tell.
        MPI_Ibcast(in, 1, MPI_DOUBLE, odd ? rank : 0, c, &request);
        if (odd || rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Ibarrier(c, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (strcmp(mistake, "nonblocking-shifted") == 0) {
        // One goes by messages and so has no slot; the calls after it are alike.
        int counts[64] = {0}, displs[64] = {0};
        if (odd)
            MPI_Igatherv(in, 1, MPI_DOUBLE, out, counts, displs, MPI_DOUBLE, 0, c, &request);
        else
            MPI_Ibcast(in, 1, MPI_DOUBLE, 0, c, &request);
        if (odd || rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Ibcast(out, 1, MPI_DOUBLE, 0, c, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (odd) usleep(100000);
        MPI_Barrier(c);
    } else if (strcmp(mistake, "nonblocking-late") == 0) {
        // The others sleep by the time the odd one comes, with a call that goes another way.
        static double longer[100000];
        if (odd) {
            usleep(100000);
            MPI_Ibcast(longer, 100000, MPI_DOUBLE, 0, c, &request);
        } else {
            MPI_Iallreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, c, &request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (strncmp(mistake, "long-sums", 9) == 0) {
        // With more ranks than cores the sums go from rank to rank.
        static double vector[100000], sum[100000];
        const char *beside = mistake + 9;
        if (!odd)
            MPI_Iallreduce(vector, sum, 100000, MPI_DOUBLE, MPI_SUM, c, &request);
        else if (strcmp(beside, "-prefix") == 0)
            MPI_Iscan(vector, sum, 100000, MPI_DOUBLE, MPI_SUM, c, &request);
        else if (strcmp(beside, "-shorter") == 0)
            MPI_Iallreduce(vector, sum, 10000, MPI_DOUBLE, MPI_SUM, c, &request);
        else
            MPI_Ibarrier(c, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (strcmp(mistake, "blocks") == 0) {
        int counts[64] = {0}, displs[64] = {0};
        for (int i = 0; i < size; i++) displs[i] = i, counts[i] = 1;
        if (odd)
            MPI_Scatterv(in, counts, displs, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, c);
        else
            MPI_Gatherv(in, 1, MPI_DOUBLE, out, counts, displs, MPI_DOUBLE, 0, c);
    } else if (strcmp(mistake, "blocks-unheard") == 0) {
        int counts[64] = {0}, displs[64] = {0};
        for (int i = 0; i < size; i++) displs[i] = i, counts[i] = 1;
        // Everybody only sends, and is done.
        if (odd)
            MPI_Gatherv(in, 1, MPI_DOUBLE, out, counts, displs, MPI_DOUBLE, 0, c);
        else
            MPI_Bcast(in, 1, MPI_DOUBLE, 0, c);
        MPI_Barrier(c);
    } else if (strcmp(mistake, "long-unheard") == 0) {
        // Nobody waits for what the odd one does, and all the calls that follow are alike.
        if (odd)
            MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_SUM, 0, c);
        else
            MPI_Bcast(in, 1, MPI_DOUBLE, 0, c);
        for (int i = 0; i < 1000; i++) MPI_Bcast(in, 1, MPI_DOUBLE, 0, c);
    } else if (strcmp(mistake, "long-past") == 0) {
        // The same, and when all next wait for all the call in question is no longer on record.
        int none[64] = {0};
        if (odd)
            MPI_Gatherv(in, 1, MPI_DOUBLE, out, none, none, MPI_DOUBLE, 0, c);
        else
            MPI_Scatterv(in, none, none, MPI_DOUBLE, out, 0, MPI_DOUBLE, 0, c);
        for (int i = 0; i < 100; i++)
            MPI_Scatterv(in, none, none, MPI_DOUBLE, out, 0, MPI_DOUBLE, 0, c);
        for (int i = 0; i < 100; i++) MPI_Bcast(in, 1, MPI_DOUBLE, 0, c);
    } else if (strcmp(mistake, "blocks-alike") == 0) {
        int counts[64] = {0}, displs[64] = {0};
        for (int i = 0; i < size; i++) displs[i] = i, counts[i] = 1;
        // What one rank sends first is what the others' root expects, but for the call.
        if (odd) {
            MPI_Alltoallv(in, counts, displs, MPI_DOUBLE, out, counts, displs, MPI_DOUBLE, c);
        } else {
            usleep(200000);
            MPI_Gatherv(in, 1, MPI_DOUBLE, out, counts, displs, MPI_DOUBLE, 0, c);
            usleep(2000000); // the root is to be the first to tell
        }
    } else if (strcmp(mistake, "exchanges-alike") == 0) {
        int counts[64], displs[64];
        MPI_Datatype types[64];
        for (int i = 0; i < size; i++) displs[i] = 0, counts[i] = 1, types[i] = MPI_DOUBLE;
        if (odd)
            MPI_Alltoallw(in, counts, displs, types, out, counts, displs, types, c);
        else
            MPI_Alltoallv(in, counts, displs, MPI_DOUBLE, out, counts, displs, MPI_DOUBLE, c);
    }
    MPI_Finalize();
    return 0;
}
