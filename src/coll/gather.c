// SPDX-License-Identifier: BSD-3-Clause
// Gathering blocks at a root and scattering them from there: straight, or along a binomial tree
// when blocks are small and ranks many. Ranks of the tree are counted from the root; the subtree of
// place p is [p, p + its lowest bit).
#include "coll/algorithms.h"

void shoal_gather_linear(shoal_schedule *s, const shoal_coll_args *a)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    if (c->rank != a->root) {
        shoal_schedule_send(s, a->sendbuf, a->sendcount, a->sendtype, a->root);
        return;
    }
    for (int i = 0; i < c->size; i++) {
        shoal_block b = shoal_block_to_recv(a, i);
        if (i != c->rank) shoal_schedule_recv(s, b.buf, b.count, b.type, i);
    }
    shoal_block own = shoal_block_to_recv(a, c->rank);
    if (a->sendbuf != MPI_IN_PLACE)
        shoal_schedule_copy(s, a->sendbuf, a->sendcount, a->sendtype, own.buf, own.count, own.type);
}

void shoal_scatter_linear(shoal_schedule *s, const shoal_coll_args *a)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    if (c->rank != a->root) {
        shoal_schedule_recv(s, a->recvbuf, a->recvcount, a->recvtype, a->root);
        return;
    }
    shoal_schedule_set_traffic(s, SHOAL_TRAFFIC_MANY);
    for (int i = 0; i < c->size; i++) {
        shoal_block b = shoal_block_to_send(a, i);
        if (i != c->rank) shoal_schedule_send(s, b.buf, b.count, b.type, i);
    }
    shoal_block own = shoal_block_to_send(a, c->rank);
    if (a->recvbuf != MPI_IN_PLACE)
        shoal_schedule_copy(s, own.buf, own.count, own.type, a->recvbuf, a->recvcount, a->recvtype);
}

// Where a rank stands in the tree.
typedef struct seat {
    int place, size, root;
    int parent_bit; // its lowest bit; for the root the first power of two not below the size
    int subtree;    // places in its subtree, itself included
} seat;

static seat take_seat(const shoal_comm *c, int root)
{
    seat t = {.place = (c->rank - root + c->size) % c->size, .size = c->size, .root = root};
    t.parent_bit = 1;
    while (t.parent_bit < t.size && !(t.place & t.parent_bit)) t.parent_bit <<= 1;
    int left = t.size - t.place;
    t.subtree = t.parent_bit < left ? t.parent_bit : left;
    return t;
}

static int rank_at(const seat *t, int place)
{
    return (place + t->root) % t->size;
}

// Places in the subtree of the child at place + bit.
static int child_subtree(const seat *t, int bit)
{
    int left = t->size - t->place - bit;
    return left < bit ? left : bit;
}

void shoal_gather_binomial(shoal_schedule *s, const shoal_coll_args *a)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    shoal_datatype *byte = shoal_datatype_of(SHOAL_B_BYTE);
    seat t = take_seat(c, a->root);
    bool is_root = t.place == 0;
    int64_t block = is_root ? a->recvcount * a->recvtype->size : a->sendcount * a->sendtype->size;
    char *packed = shoal_schedule_bytes(s, block * t.subtree);
    if (!is_root)
        shoal_schedule_copy(s, a->sendbuf, a->sendcount, a->sendtype, packed, block, byte);
    for (int bit = 1; bit < t.parent_bit && t.place + bit < t.size; bit <<= 1)
        shoal_schedule_recv(s, packed + block * bit, block * child_subtree(&t, bit), byte,
                            rank_at(&t, t.place + bit));
    shoal_schedule_wait(s);
    if (!is_root) {
        shoal_schedule_send(s, packed, block * t.subtree, byte,
                            rank_at(&t, t.place - t.parent_bit));
        return;
    }
    for (int p = 1; p < t.size; p++) {
        shoal_block b = shoal_block_to_recv(a, rank_at(&t, p));
        shoal_schedule_copy(s, packed + block * p, block, byte, b.buf, b.count, b.type);
    }
    shoal_block own = shoal_block_to_recv(a, c->rank);
    if (a->sendbuf != MPI_IN_PLACE)
        shoal_schedule_copy(s, a->sendbuf, a->sendcount, a->sendtype, own.buf, own.count, own.type);
}

void shoal_scatter_binomial(shoal_schedule *s, const shoal_coll_args *a)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    shoal_datatype *byte = shoal_datatype_of(SHOAL_B_BYTE);
    seat t = take_seat(c, a->root);
    bool is_root = t.place == 0;
    int64_t block = is_root ? a->sendcount * a->sendtype->size : a->recvcount * a->recvtype->size;
    char *packed = shoal_schedule_bytes(s, block * t.subtree);
    for (int p = 1; is_root && p < t.size; p++) {
        shoal_block b = shoal_block_to_send(a, rank_at(&t, p));
        shoal_schedule_copy(s, b.buf, b.count, b.type, packed + block * p, block, byte);
    }
    if (!is_root) {
        shoal_schedule_recv(s, packed, block * t.subtree, byte,
                            rank_at(&t, t.place - t.parent_bit));
        shoal_schedule_wait(s);
        shoal_schedule_copy(s, packed, block, byte, a->recvbuf, a->recvcount, a->recvtype);
    }
    for (int bit = t.parent_bit >> 1; bit > 0; bit >>= 1)
        if (t.place + bit < t.size)
            shoal_schedule_send(s, packed + block * bit, block * child_subtree(&t, bit), byte,
                                rank_at(&t, t.place + bit));
    shoal_block own = is_root ? shoal_block_to_send(a, c->rank) : (shoal_block){0};
    if (is_root && a->recvbuf != MPI_IN_PLACE)
        shoal_schedule_copy(s, own.buf, own.count, own.type, a->recvbuf, a->recvcount, a->recvtype);
}
