// SPDX-License-Identifier: BSD-3-Clause
// Collectives on an inter-communicator between the even and the odd ranks of the world (and, for
// three ranks and more, one of unequal groups), in every form.
//
// RANKS: 2 3 5 8
#include "coll_test.h"

static int rank, size, remote, round_, side; // side 0: the group of the world's rank 0
static MPI_Comm comm;

#define MOST 5000

// Ranks are numbered through for value(): the other group's rank i.
static int there(int i)
{
    return (1 - side) * 100 + i;
}

static int here(int i)
{
    return side * 100 + i;
}

static int64_t mismatches(const int *got, int64_t n, int who, int64_t from)
{
    int64_t bad = 0;
    for (int64_t k = 0; k < n; k++) bad += got[k] != value(round_, who, from + k);
    return bad;
}

static int sum_of_remote(int64_t k)
{
    int sum = 0;
    for (int i = 0; i < remote; i++) sum += value(round_, there(i), k);
    return sum;
}

// The root is rank `r` of side `s`; what this rank has to say for it.
static int root_argument(int s, int r)
{
    if (side != s) return r;
    return rank == r ? MPI_ROOT : MPI_PROC_NULL;
}

static void rooted(int form, int count, int root_side)
{
    int root_size = root_side == side ? size : remote, leaves = root_side == side ? remote : size;
    int r = round_ % root_size, root = root_argument(root_side, r), i_am_root = root == MPI_ROOT;
    int *one = calloc(MOST, sizeof(int)), *many = calloc((size_t)MOST * 16, sizeof(int));
    int counts[16], displs[16];
    for (int i = 0; i < leaves; i++) {
        counts[i] = count + i;
        displs[i] = i * (count + 16);
    }
    for (int k = 0; k < count; k++) one[k] = i_am_root ? value(round_, here(rank), k) : 0;
    DO(form, 2, Bcast, bcast, one, count, MPI_INT, root, comm);
    if (root >= 0) CHECK(mismatches(one, count, there(r), 0) == 0);

    for (int k = 0; k < MOST; k++) one[k] = value(round_, here(rank), k);
    DO(form, 2, Gather, gather, one, count, MPI_INT, many, count, MPI_INT, root, comm);
    for (int i = 0; i_am_root && i < remote; i++)
        CHECK(mismatches(many + i * count, count, there(i), 0) == 0);
    DO(form, 2, Gatherv, gatherv, one, count + rank, MPI_INT, many, counts, displs, MPI_INT, root,
       comm);
    for (int i = 0; i_am_root && i < remote; i++)
        CHECK(mismatches(many + displs[i], counts[i], there(i), 0) == 0);

    for (int k = 0; k < MOST * 16; k++) many[k] = value(round_, here(rank), k);
    DO(form, 2, Scatter, scatter, many, count, MPI_INT, one, count, MPI_INT, root, comm);
    if (root >= 0) CHECK(mismatches(one, count, there(r), rank * count) == 0);
    DO(form, 2, Scatterv, scatterv, many, counts, displs, MPI_INT, one, count + rank, MPI_INT, root,
       comm);
    if (root >= 0) CHECK(mismatches(one, count + rank, there(r), rank * (count + 16)) == 0);

    for (int k = 0; k < MOST; k++) one[k] = value(round_, here(rank), k);
    DO(form, 2, Reduce, reduce, one, many, count, MPI_INT, MPI_SUM, root, comm);
    for (int k = 0; i_am_root && k < count; k++) CHECK(many[k] == sum_of_remote(k));
    free(one);
    free(many);
}

static void rootless(int form, int count)
{
    int *one = calloc(MOST, sizeof(int)), *many = calloc((size_t)MOST * 16, sizeof(int));
    int *out = calloc((size_t)MOST * 16, sizeof(int));
    int counts[16], displs[16], sends[16], places[16];
    for (int k = 0; k < MOST; k++) one[k] = value(round_, here(rank), k);
    for (int k = 0; k < MOST * 16; k++) out[k] = value(round_, here(rank), k);
    DO(form, 2, Barrier, barrier, comm);
    // The two groups may send different amounts.
    int mine = count + side, theirs = count + 1 - side;
    DO(form, 2, Allgather, allgather, one, mine, MPI_INT, many, theirs, MPI_INT, comm);
    for (int i = 0; i < remote; i++) CHECK(mismatches(many + i * theirs, theirs, there(i), 0) == 0);
    for (int i = 0; i < remote; i++) {
        counts[i] = theirs + i;
        displs[i] = i * (count + 16);
        sends[i] = count + rank + i;
        places[i] = i * (count + 16);
    }
    DO(form, 2, Allgatherv, allgatherv, one, mine + rank, MPI_INT, many, counts, displs, MPI_INT,
       comm);
    for (int i = 0; i < remote; i++)
        CHECK(mismatches(many + displs[i], counts[i], there(i), 0) == 0);
    DO(form, 2, Alltoall, alltoall, out, mine, MPI_INT, many, theirs, MPI_INT, comm);
    for (int i = 0; i < remote; i++)
        CHECK(mismatches(many + i * theirs, theirs, there(i), rank * theirs) == 0);
    DO(form, 2, Alltoallv, alltoallv, out, sends, places, MPI_INT, many, sends, places, MPI_INT,
       comm);
    for (int i = 0; i < remote; i++)
        CHECK(mismatches(many + places[i], sends[i], there(i), rank * (count + 16)) == 0);
    MPI_Datatype types[16];
    for (int i = 0; i < remote; i++) {
        types[i] = MPI_INT;
        places[i] *= (int)sizeof(int);
    }
    memset(many, 0, (size_t)MOST * 16 * sizeof(int));
    DO(form, 2, Alltoallw, alltoallw, out, sends, places, types, many, sends, places, types, comm);
    for (int i = 0; i < remote; i++)
        CHECK(mismatches(many + i * (count + 16), sends[i], there(i), rank * (count + 16)) == 0);
    DO(form, 2, Allreduce, allreduce, one, many, count, MPI_INT, MPI_SUM, comm);
    for (int k = 0; k < count; k++) CHECK(many[k] == sum_of_remote(k));
    // The vector has as many elements in both groups.
    DO(form, 2, Reduce_scatter_block, reduce_scatter_block, out, many, remote * count, MPI_INT,
       MPI_SUM, comm);
    for (int k = 0; k < remote * count; k++)
        CHECK(many[k] == sum_of_remote(rank * remote * count + k));
    int total = size * remote * 3, first = 0;
    for (int i = 0; i < size; i++) counts[i] = i == 0 ? total - (size - 1) : 1;
    for (int i = 0; i < rank; i++) first += counts[i];
    DO(form, 2, Reduce_scatter, reduce_scatter, out, many, counts, MPI_INT, MPI_SUM, comm);
    for (int k = 0; k < counts[rank]; k++) CHECK(many[k] == sum_of_remote(first + k));
    free(one);
    free(many);
    free(out);
}

static void refused(void)
{
    int x = 1, y = 0, class;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, comm), &class);
    CHECK(class == MPI_ERR_COMM);
    MPI_Error_class(MPI_Allreduce(MPI_IN_PLACE, &y, 1, MPI_INT, MPI_SUM, comm), &class);
    CHECK(class == MPI_ERR_BUFFER);
    MPI_Error_class(MPI_Bcast(&x, 1, MPI_INT, remote, comm), &class);
    CHECK(class == MPI_ERR_ROOT);
    MPI_Error_class(MPI_Bcast(&x, 1, MPI_INT, -77, comm), &class);
    CHECK(class == MPI_ERR_ROOT);
}

static void between(int color, int leader_of_other)
{
    static const int counts[] = {0, 1, 17, 2500};
    MPI_Comm local;
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    side = color;
    MPI_Comm_split(MPI_COMM_WORLD, color, me, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, leader_of_other, 9, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_remote_size(comm, &remote);
    for (int form = 0; form < FORMS; form++) {
        for (int c = 0; c < 4; c++) {
            round_++;
            rooted(form, counts[c], 0);
            rooted(form, counts[c], 1);
            rootless(form, counts[c] > 100 ? 100 : counts[c]);
        }
    }
    refused();
    MPI_Comm_free(&comm);
    MPI_Comm_free(&local);
}

int main(int argc, char **argv)
{
    int me, world;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    between(me % 2, 1 - me % 2);
    if (world > 2) between(me == 0 ? 0 : 1, me == 0 ? 1 : 0);
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
