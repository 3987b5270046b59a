// SPDX-License-Identifier: BSD-3-Clause
// Graphs known whole and graphs known by their edges, with and without weights; duplicates and
// mistakes.
// RANKS: 1 2 3 4 8
#include "check.h"

#define MOST 64

// Not as constants: gcc takes their small values for arrays that are too short.
static int *volatile unweighted = MPI_UNWEIGHTED, *volatile no_weights = MPI_WEIGHTS_EMPTY;

static void whole(void)
{
    int index[MOST], edges[2 * MOST], got_index[MOST], got_edges[2 * MOST], n = -1, m = -1, near[4];
    MPI_Comm graph = MPI_COMM_NULL, copy = MPI_COMM_NULL;
    for (int i = 0; i < size; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + size - 1) % size;
        edges[2 * i + 1] = (i + 1) % size;
    }
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 1, &graph) == 0 &&
          kind_of(graph) == MPI_GRAPH);
    CHECK(MPI_Comm_dup(graph, &copy) == 0 && MPI_Comm_free(&graph) == 0);
    CHECK(MPI_Graphdims_get(copy, &n, &m) == 0 && n == size && m == 2 * size);
    CHECK(MPI_Graph_get(copy, size, 2 * size, got_index, got_edges) == 0);
    CHECK(same(index, got_index, size) && same(edges, got_edges, 2 * size));
    for (int i = 0; i < size; i++) {
        CHECK(MPI_Graph_neighbors_count(copy, i, &n) == 0 && n == 2);
        CHECK(MPI_Graph_neighbors(copy, i, 2, near) == 0 && same(near, &edges[2 * i], 2));
    }
    CHECK(class_of(MPI_Graph_neighbors_count(copy, size, &n)) == MPI_ERR_RANK);
    CHECK(MPI_Comm_free(&copy) == 0);
    CHECK(MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &n) == 0 && n == rank);
    // A star of fewer nodes: the others are not in it.
    int star[1] = {0};
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, 1, star, NULL, 0, &graph) == 0);
    CHECK((graph == MPI_COMM_NULL) == (rank > 0));
    if (graph != MPI_COMM_NULL) CHECK(MPI_Comm_free(&graph) == 0);
    CHECK(MPI_Graph_map(MPI_COMM_WORLD, 1, star, NULL, &n) == 0 &&
          n == (rank == 0 ? 0 : MPI_UNDEFINED));
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &graph) == 0 &&
          graph == MPI_COMM_NULL);
    edges[0] = size;
    CHECK(class_of(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph)) == MPI_ERR_ARG);
    index[0] = -1;
    CHECK(class_of(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Graph_create(MPI_COMM_WORLD, size + 1, index, edges, 0, &graph)) ==
          MPI_ERR_ARG);
}

static void adjacent(void)
{
    int in[2] = {(rank + size - 1) % size, rank}, out[2] = {(rank + 1) % size, rank};
    int in_weight[2] = {rank, 7}, out_weight[2] = {(rank + 1) % size, 7};
    int got[4], weight[4], n = -1, m = -1, weighted = -1;
    MPI_Comm graph = MPI_COMM_NULL, copy = MPI_COMM_NULL;
    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, in, in_weight, 2, out, out_weight,
                                         MPI_INFO_NULL, 0, &graph) == 0);
    CHECK(kind_of(graph) == MPI_DIST_GRAPH && MPI_Comm_dup(graph, &copy) == 0 &&
          MPI_Comm_free(&graph) == 0);
    CHECK(MPI_Dist_graph_neighbors_count(copy, &n, &m, &weighted) == 0 && n == 2 && m == 2 &&
          weighted);
    CHECK(MPI_Dist_graph_neighbors(copy, 2, got, weight, 2, got + 2, weight + 2) == 0);
    CHECK(same(got, in, 2) && same(got + 2, out, 2) && same(weight, in_weight, 2) &&
          same(weight + 2, out_weight, 2));
    CHECK(MPI_Comm_free(&copy) == 0);
    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, in, unweighted, 0, NULL, unweighted,
                                         MPI_INFO_NULL, 1, &graph) == 0);
    CHECK(MPI_Dist_graph_neighbors_count(graph, &n, &m, &weighted) == 0 && n == 2 && m == 0 &&
          !weighted);
    CHECK(MPI_Dist_graph_neighbors(graph, 1, got, unweighted, 0, NULL, unweighted) == 0 &&
          got[0] == in[0]);
    CHECK(MPI_Comm_free(&graph) == 0);
    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, no_weights, 0, NULL, no_weights,
                                         MPI_INFO_NULL, 1, &graph) == 0);
    CHECK(MPI_Dist_graph_neighbors_count(graph, &n, &m, &weighted) == 0 && n == 0 && m == 0 &&
          weighted);
    CHECK(MPI_Comm_free(&graph) == 0);
    in[1] = size;
    CHECK(class_of(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, in, unweighted, 0, NULL,
                                                  unweighted, MPI_INFO_NULL, 0, &graph)) ==
          MPI_ERR_RANK);
    CHECK(class_of(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, in, no_weights, 0, NULL, NULL,
                                                  MPI_INFO_NULL, 0, &graph)) == MPI_ERR_ARG);
}

// Every rank names the edges of the rank after it; weights tell who named them.
static void distributed(void)
{
    int source = (rank + 1) % size, degree = 2, n = -1, m = -1, weighted = -1;
    int to[2] = {source, (source + 1) % size}, weight[2] = {100 + source, 200 + source};
    int in[4], in_weight[4], out[4], out_weight[4];
    MPI_Comm graph;
    CHECK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &source, &degree, to, weight, MPI_INFO_NULL, 0,
                                &graph) == 0);
    CHECK(MPI_Dist_graph_neighbors_count(graph, &n, &m, &weighted) == 0 && n == 2 && m == 2 &&
          weighted);
    CHECK(MPI_Dist_graph_neighbors(graph, 2, in, in_weight, 2, out, out_weight) == 0);
    CHECK(out[0] == rank && out[1] == (rank + 1) % size && out_weight[0] == 100 + rank &&
          out_weight[1] == 200 + rank);
    int before = (rank + size - 1) % size;
    for (int i = 0; i < 2; i++)
        CHECK((in[i] == rank && in_weight[i] == 100 + rank) ||
              (in[i] == before && in_weight[i] == 200 + before));
    CHECK(in_weight[0] != in_weight[1]);
    CHECK(MPI_Comm_free(&graph) == 0);
    // Rank 0 alone knows a complete graph, with loops.
    int sources[MOST], degrees[MOST], all[MOST * MOST], edges = 0, from[MOST], dest[MOST];
    for (int i = 0; i < size; i++) {
        sources[i] = i;
        degrees[i] = size;
        for (int k = 0; k < size; k++) all[edges++] = k;
    }
    CHECK(MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? size : 0, sources, degrees, all,
                                unweighted, MPI_INFO_NULL, 0, &graph) == 0);
    CHECK(MPI_Dist_graph_neighbors_count(graph, &n, &m, &weighted) == 0 && n == size && m == size &&
          !weighted);
    CHECK(MPI_Dist_graph_neighbors(graph, size, from, unweighted, size, dest, unweighted) == 0);
    for (int i = 0; i < size; i++) CHECK(from[i] == i && dest[i] == i);
    CHECK(MPI_Comm_free(&graph) == 0);
    degree = -1;
    CHECK(class_of(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &source, &degree, to, weight,
                                         MPI_INFO_NULL, 0, &graph)) == MPI_ERR_ARG);
}

int main(void)
{
    begin();
    whole();
    adjacent();
    distributed();
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
