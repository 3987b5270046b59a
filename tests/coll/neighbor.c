// SPDX-License-Identifier: BSD-3-Clause
// Neighbourhood collectives on grids (with borders, periodic, with dimensions of one and two
// ranks), graphs and distributed graphs with several edges between two ranks and to oneself; in
// every form.
//
// RANKS: 1 2 3 4 6 8
#include "coll_test.h"

// Variables, because the compiler takes the ABI's constant addresses for arrays that are too small.
static int *volatile unweighted = MPI_UNWEIGHTED, *volatile no_weights = MPI_WEIGHTS_EMPTY;

#define MOST  64
#define COUNT 5
#define UNSET (-9)

static int rank, size;

// What `from` sends along its k-th outgoing edge.
static int along(int from, int k, int i)
{
    return value(from, k, i);
}

// For each incoming edge: who sends, and along which of his outgoing edges. -1: nobody.
typedef struct edges {
    int in, out;
    int source[MOST], edge[MOST];
} edges;

static void check_block(const int *got, int n, const edges *e, int k, int same_to_all)
{
    int bad = 0;
    for (int i = 0; i < n; i++) {
        int want = e->source[k] < 0 ? UNSET : along(e->source[k], same_to_all ? 0 : e->edge[k], i);
        bad += got[i] != want;
    }
    CHECK(bad == 0);
}

static void unset(int *buf, int n)
{
    for (int i = 0; i < n; i++) buf[i] = UNSET;
}

static void allgathers(int form, MPI_Comm comm, const edges *e)
{
    int out[COUNT], in[MOST * 2 * COUNT], counts[MOST], displs[MOST];
    for (int i = 0; i < COUNT; i++) out[i] = along(rank, 0, i);
    unset(in, MOST * 2 * COUNT);
    DO(form, 2, Neighbor_allgather, neighbor_allgather, out, COUNT, MPI_INT, in, COUNT, MPI_INT,
       comm);
    for (int k = 0; k < e->in; k++) check_block(in + k * COUNT, COUNT, e, k, 1);
    for (int k = 0; k < e->in; k++) {
        counts[k] = COUNT;
        displs[k] = 2 * COUNT * (e->in - 1 - k);
    }
    unset(in, MOST * 2 * COUNT);
    DO(form, 2, Neighbor_allgatherv, neighbor_allgatherv, out, COUNT, MPI_INT, in, counts, displs,
       MPI_INT, comm);
    for (int k = 0; k < e->in; k++) check_block(in + displs[k], COUNT, e, k, 1);
}

static void alltoalls(int form, MPI_Comm comm, const edges *e)
{
    int out[MOST * COUNT], in[MOST * 2 * COUNT], counts[MOST], sends[MOST], displs[MOST];
    MPI_Aint bytes[MOST], sbytes[MOST];
    MPI_Datatype types[MOST];
    for (int k = 0; k < e->out; k++)
        for (int i = 0; i < COUNT; i++) out[k * COUNT + i] = along(rank, k, i);
    unset(in, MOST * 2 * COUNT);
    DO(form, 2, Neighbor_alltoall, neighbor_alltoall, out, COUNT, MPI_INT, in, COUNT, MPI_INT,
       comm);
    for (int k = 0; k < e->in; k++) check_block(in + k * COUNT, COUNT, e, k, 0);
    for (int k = 0; k < MOST; k++) {
        counts[k] = COUNT;
        sends[k] = k * COUNT;
        displs[k] = 2 * COUNT * k;
        bytes[k] = displs[k] * (MPI_Aint)sizeof(int);
        sbytes[k] = sends[k] * (MPI_Aint)sizeof(int);
        types[k] = MPI_INT;
    }
    unset(in, MOST * 2 * COUNT);
    DO(form, 2, Neighbor_alltoallv, neighbor_alltoallv, out, counts, sends, MPI_INT, in, counts,
       displs, MPI_INT, comm);
    for (int k = 0; k < e->in; k++) check_block(in + displs[k], COUNT, e, k, 0);
    unset(in, MOST * 2 * COUNT);
    DO(form, 2, Neighbor_alltoallw, neighbor_alltoallw, out, counts, sbytes, types, in, counts,
       bytes, types, comm);
    for (int k = 0; k < e->in; k++) check_block(in + displs[k], COUNT, e, k, 0);
}

static void all_forms(MPI_Comm comm, const edges *e)
{
    for (int form = 0; form < FORMS; form++) {
        allgathers(form, comm, e);
        alltoalls(form, comm, e);
    }
}

static void grid(int ndims, const int dims[], int periodic)
{
    int periods[3] = {periodic, periodic, periodic};
    MPI_Comm comm;
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm);
    if (comm == MPI_COMM_NULL) return;
    edges e = {.in = 2 * ndims, .out = 2 * ndims};
    for (int d = 0; d < ndims; d++) {
        int down, up;
        MPI_Cart_shift(comm, d, 1, &down, &up);
        // What comes from below was sent upwards there, and the other way round.
        e.source[2 * d] = down == MPI_PROC_NULL ? -1 : down;
        e.edge[2 * d] = 2 * d + 1;
        e.source[2 * d + 1] = up == MPI_PROC_NULL ? -1 : up;
        e.edge[2 * d + 1] = 2 * d;
    }
    all_forms(comm, &e);
    MPI_Comm_free(&comm);
}

static void grids(void)
{
    int line[1] = {size}, flat[2] = {1, size}, pair[2] = {size / 2, 2}, cube[3] = {2, 1, size / 2};
    for (int periodic = 0; periodic < 2; periodic++) {
        grid(1, line, periodic);
        grid(2, flat, periodic);
        if (size % 2 == 0) {
            grid(2, pair, periodic);
            grid(3, cube, periodic);
        }
    }
}

// Rank r has two edges to r + 1, one to r + 2 and one to itself; the receiving side lists its
// sources in another order, but several edges of a pair in the same one.
static void distributed(void)
{
    int next = (rank + 1) % size, over = (rank + 2) % size, before = (rank - 1 + size) % size,
        under = (rank - 2 + 2 * size) % size;
    int targets[4] = {next, over, next, rank};
    int all[4] = {rank, under, before, before}; // sources in the order in which they are listed
    MPI_Comm comm;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 4, all, unweighted, 4, targets, unweighted,
                                   MPI_INFO_NULL, 0, &comm);
    edges e = {.in = 4, .out = 4};
    // The n-th edge from a source in the list is the n-th edge to us in that source's list.
    for (int k = 0; k < 4; k++) {
        int nth = 0, s = all[k];
        for (int j = 0; j < k; j++) nth += all[j] == s;
        int his[4] = {(s + 1) % size, (s + 2) % size, (s + 1) % size, s};
        for (int j = 0; j < 4; j++)
            if (his[j] == rank && nth-- == 0) e.edge[k] = j;
        e.source[k] = s;
    }
    all_forms(comm, &e);
    MPI_Comm_free(&comm);
    // Nobody has neighbours.
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, no_weights, 0, NULL, no_weights,
                                   MPI_INFO_NULL, 0, &comm);
    edges none = {0};
    all_forms(comm, &none);
    MPI_Comm_free(&comm);
}

// A star: everybody is a neighbour of rank 0.
static void star(void)
{
    int index[16], list[32];
    MPI_Comm comm;
    for (int i = 0; i < size; i++) {
        index[i] = size - 1 + i;
        if (i > 0) list[i - 1] = i;
        if (i > 0) list[size - 2 + i] = 0;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, list, 0, &comm);
    edges e = {.in = rank ? 1 : size - 1, .out = rank ? 1 : size - 1};
    for (int k = 0; k < e.in; k++) {
        e.source[k] = rank ? 0 : k + 1;
        e.edge[k] = rank ? rank - 1 : 0;
    }
    all_forms(comm, &e);
    MPI_Comm_free(&comm);
}

static void refused(void)
{
    int x = 0, y = 0, class;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Neighbor_allgather(&x, 1, MPI_INT, &y, 1, MPI_INT, MPI_COMM_WORLD), &class);
    CHECK(class == MPI_ERR_TOPOLOGY);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    grids();
    distributed();
    star();
    refused();
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
