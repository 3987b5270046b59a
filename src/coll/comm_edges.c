// SPDX-License-Identifier: BSD-3-Clause
// See comm_edges.h. Every rank sees all edges and keeps its own: two rounds of messages, whatever
// the graph.
#include "coll/comm_edges.h"

#include <limits.h>
#include <stdlib.h>

#include "coll/agree.h"
#include "plat/error.h"

static int pick(const shoal_edge *all, size_t count, int rank, shoal_edges *out)
{
    size_t in = 0, going = 0;
    for (size_t i = 0; i < count; i++) {
        in += all[i].to == rank;
        going += all[i].from == rank;
    }
    int *p = in < INT_MAX && going < INT_MAX ? malloc((2 * (in + going) + 1) * sizeof *p) : NULL;
    if (!p) return shoal_fail(SHOAL_E_NO_MEM, "no memory for the %zu edges of a rank", in + going);
    *out = (shoal_edges){.memory = p,
                         .sources = p,
                         .source_weights = p + in,
                         .targets = p + 2 * in,
                         .target_weights = p + 2 * in + going};
    for (size_t i = 0; i < count; i++) {
        if (all[i].to == rank) {
            out->source_weights[out->indegree] = all[i].weight;
            out->sources[out->indegree++] = all[i].from;
        }
        if (all[i].from == rank) {
            out->target_weights[out->outdegree] = all[i].weight;
            out->targets[out->outdegree++] = all[i].to;
        }
    }
    return 0;
}

int shoal_edges_exchange(shoal_comm *c, int n, const shoal_edge edges[], shoal_edges *out)
{
    shoal_edge *all = NULL;
    size_t places = (size_t)c->size + 1;
    int *counts = malloc(places * sizeof *counts);
    size_t *offsets = malloc(places * sizeof *offsets);
    shoal_circle first = shoal_circle_all(c), second = shoal_circle_all(c);
    int rc = counts && offsets
                 ? 0
                 : shoal_fail(SHOAL_E_NO_MEM, "no memory for a graph of %d ranks", c->size);
    if (rc == 0) rc = shoal_agree_allgather(&first, &n, sizeof n, counts);
    if (rc == 0) {
        offsets[0] = 0;
        for (int i = 0; i < c->size; i++)
            offsets[i + 1] = offsets[i] + (size_t)counts[i] * sizeof *all;
        all = malloc(offsets[c->size] + 1);
        if (!all)
            rc = shoal_fail(SHOAL_E_NO_MEM, "no memory for the %zu bytes of a graph's edges",
                            offsets[c->size]);
    }
    if (rc == 0) rc = shoal_agree_allgatherv(&second, edges, offsets, all);
    if (rc == 0) rc = pick(all, offsets[c->size] / sizeof *all, c->rank, out);
    free(all);
    free(offsets);
    free(counts);
    return rc;
}

void shoal_edges_free(shoal_edges *e)
{
    free(e->memory);
}
