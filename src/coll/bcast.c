// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts. Ranks are counted from the root here ("place"): place p hangs below p without its
// lowest bit, and its subtree is [p, p + lowest bit).
#include "coll/algorithms.h"

static int place_of(const shoal_comm *c, int root)
{
    return (c->rank - root + c->size) % c->size;
}

static int rank_at(const shoal_comm *c, int place, int root)
{
    return (place + root) % c->size;
}

// The lowest bit of the place; for the root the first power of two that is not below the size.
static int lowest_bit(int place, int size)
{
    int bit = 1;
    while (bit < size && !(place & bit)) bit <<= 1;
    return bit;
}

void shoal_bcast_binomial(shoal_schedule *s, void *buf, int64_t count, shoal_datatype *t, int root)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    int place = place_of(c, root), bit = lowest_bit(place, c->size);
    if (place != 0) {
        shoal_schedule_recv(s, buf, count, t, rank_at(c, place - bit, root));
        shoal_schedule_wait(s);
    }
    for (bit >>= 1; bit > 0; bit >>= 1)
        if (place + bit < c->size)
            shoal_schedule_send(s, buf, count, t, rank_at(c, place + bit, root));
}

// A range of bytes, cut to what there is.
typedef struct range {
    int64_t at, bytes;
} range;

static range blocks(int64_t block, int64_t total, int first, int count)
{
    int64_t from = block * first, to = block * ((int64_t)first + count);
    if (from > total) from = total;
    if (to > total) to = total;
    return (range){from, to - from};
}

// Has the tree brought this block to the place?
static bool has_block(int place, int block, int size)
{
    return block >= place && block < place + lowest_bit(place, size);
}

// Around the ring until everybody has all. A block is not sent where the tree has brought it.
static void pass_around(shoal_schedule *s, char *data, int64_t block, int64_t total, int root)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    shoal_datatype *byte = shoal_datatype_of(SHOAL_B_BYTE);
    int size = c->size, place = place_of(c, root);
    int right = (place + 1) % size, left = (place + size - 1) % size;
    for (int k = 0; k < size - 1; k++) {
        int send = (place - k + size) % size, recv = (place - k - 1 + size) % size;
        range out = blocks(block, total, send, 1), in = blocks(block, total, recv, 1);
        if (!has_block(place, recv, size))
            shoal_schedule_recv(s, data + in.at, in.bytes, byte, rank_at(c, left, root));
        if (!has_block(right, send, size))
            shoal_schedule_send(s, data + out.at, out.bytes, byte, rank_at(c, right, root));
        shoal_schedule_wait(s);
    }
}

// The data is cut into a block for each place; the blocks go down the tree, each only where it is
// wanted, and then around.
static void scatter_allgather_bytes(shoal_schedule *s, char *data, int64_t total, int root)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    shoal_datatype *byte = shoal_datatype_of(SHOAL_B_BYTE);
    int size = c->size, place = place_of(c, root), bit = lowest_bit(place, size);
    int64_t block = (total + size - 1) / size;
    if (place != 0) {
        range r = blocks(block, total, place, bit);
        shoal_schedule_recv(s, data + r.at, r.bytes, byte, rank_at(c, place - bit, root));
        shoal_schedule_wait(s);
    }
    for (bit >>= 1; bit > 0; bit >>= 1) {
        if (place + bit >= size) continue;
        range r = blocks(block, total, place + bit, bit);
        shoal_schedule_send(s, data + r.at, r.bytes, byte, rank_at(c, place + bit, root));
    }
    pass_around(s, data, block, total, root);
}

void shoal_bcast_scatter_allgather(shoal_schedule *s, void *buf, int64_t count, shoal_datatype *t,
                                   int root)
{
    shoal_datatype *byte = shoal_datatype_of(SHOAL_B_BYTE);
    int64_t total = count * t->size;
    bool is_root = shoal_schedule_comm(s)->rank == root;
    if (t->dense) {
        scatter_allgather_bytes(s, (char *)buf + t->true_lb, total, root);
        return;
    }
    char *packed = shoal_schedule_bytes(s, total);
    if (is_root) shoal_schedule_copy(s, buf, count, t, packed, total, byte);
    scatter_allgather_bytes(s, packed, total, root);
    if (!is_root) shoal_schedule_copy(s, packed, total, byte, buf, count, t);
}
