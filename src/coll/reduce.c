// SPDX-License-Identifier: BSD-3-Clause
// Reductions to one rank, and how vectors are cut for those who share the work.
#include "coll/algorithms.h"

shoal_pieces shoal_pieces_even(int64_t total, int ranks)
{
    return (shoal_pieces){.total = total, .even = (total + ranks - 1) / ranks};
}

int64_t shoal_piece(const shoal_pieces *p, int i, int64_t *before_out)
{
    int64_t from = 0, to;
    if (p->counts) {
        for (int k = 0; k < i; k++) from += p->counts[k];
        to = from + p->counts[i];
    } else {
        from = p->even * i < p->total ? p->even * i : p->total;
        to = from + p->even < p->total ? from + p->even : p->total;
    }
    *before_out = from;
    return to - from;
}

// What a rank has combined lies in the buffer of the last child it took in; the children of a place
// cover the places above it, nearest first, so that combining with one after the other keeps the
// order. Counted from the root when the operation commutes, else from rank 0.
void shoal_reduce_binomial(shoal_schedule *s, const void *in, void *out, int64_t count,
                           shoal_datatype *t, int root, bool commutes)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    int top = commutes ? root : 0, size = c->size, place = (c->rank - top + size) % size;
    char *child[32];
    int children = 0, bit;
    for (bit = 1; bit < size && !(place & bit); bit <<= 1) {
        if (place + bit >= size) continue;
        child[children] = shoal_schedule_scratch(s, count, t);
        shoal_schedule_recv(s, child[children], count, t, (place + bit + top) % size);
        children++;
    }
    shoal_schedule_wait(s);
    const void *sum = in;
    for (int i = 0; i < children; i++) {
        shoal_schedule_reduce(s, sum, child[i], count, t);
        sum = child[i];
    }
    if (place != 0) {
        shoal_schedule_send(s, sum, count, t, (place - bit + top) % size);
        if (c->rank == root) {
            shoal_schedule_wait(s); // `in` may be `out`
            shoal_schedule_recv(s, out, count, t, top);
        }
    } else if (c->rank == root) {
        shoal_schedule_copy(s, sum, count, t, out, count, t);
    } else {
        shoal_schedule_send(s, sum, count, t, root);
    }
}

// Each rank combines its piece of all vectors, the root collects the pieces.
void shoal_reduce_scatter_gather(shoal_schedule *s, const void *in, void *out, int64_t count,
                                 shoal_datatype *t, int root, bool commutes)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    shoal_pieces p = shoal_pieces_even(count, c->size);
    int64_t before, mine = shoal_piece(&p, c->rank, &before);
    bool is_root = c->rank == root;
    char *piece = is_root ? shoal_element(out, before, t) : shoal_schedule_scratch(s, mine, t);
    if (commutes)
        shoal_reduce_scatter_windowed(s, in, piece, &p, t, 1);
    else
        shoal_reduce_scatter_ordered(s, in, piece, &p, t);
    shoal_schedule_wait(s);
    if (!is_root) {
        shoal_schedule_send(s, piece, mine, t, root);
        return;
    }
    for (int i = 0; i < c->size; i++) {
        int64_t n = shoal_piece(&p, i, &before);
        if (i != root) shoal_schedule_recv(s, shoal_element(out, before, t), n, t, i);
    }
}
