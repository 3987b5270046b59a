// SPDX-License-Identifier: BSD-3-Clause
// Each rank has another block for each rank.
#include "coll/algorithms.h"

// In place the blocks to send lie where those to receive go: they are moved aside first. `before`
// is how many bytes of other blocks have been moved aside already.
static shoal_block block_aside(shoal_schedule *s, const shoal_coll_args *a, int i, char *aside,
                               int64_t *before)
{
    shoal_datatype *byte = shoal_datatype_of(SHOAL_B_BYTE);
    shoal_block b = shoal_block_to_recv(a, i);
    int64_t bytes = shoal_block_bytes(&b);
    shoal_block moved = {.buf = aside + *before, .count = bytes, .type = byte};
    shoal_schedule_copy(s, b.buf, b.count, b.type, moved.buf, bytes, byte);
    *before += bytes;
    return moved;
}

// Nothing is sent between two ranks that have nothing for each other; both know it.
static void exchange(shoal_schedule *s, shoal_block out, int to, shoal_block in, int from)
{
    if (shoal_block_bytes(&in) > 0) shoal_schedule_recv(s, in.buf, in.count, in.type, from);
    if (shoal_block_bytes(&out) > 0) shoal_schedule_send(s, out.buf, out.count, out.type, to);
}

static int64_t bytes_to_move(const shoal_coll_args *a, int size)
{
    int64_t sum = 0;
    for (int i = 0; i < size; i++) {
        shoal_block b = shoal_block_to_recv(a, i);
        sum += shoal_block_bytes(&b);
    }
    return sum;
}

// In place: in round i those two ranks meet whose sum is i, so that each block has been moved aside
// before its successor arrives.
static void pairwise_in_place(shoal_schedule *s, const shoal_coll_args *a, int window)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    char *aside = shoal_schedule_bytes(s, bytes_to_move(a, c->size));
    int64_t before = 0;
    for (int i = 0; i < c->size; i++) {
        int partner = (i - c->rank + c->size) % c->size;
        if (partner == c->rank) continue;
        shoal_block out = block_aside(s, a, partner, aside, &before);
        exchange(s, out, partner, shoal_block_to_recv(a, partner), partner);
        if (i % window == window - 1) shoal_schedule_wait(s);
    }
}

void shoal_alltoall_pairwise(shoal_schedule *s, const shoal_coll_args *a, int window)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    shoal_schedule_set_traffic(s, SHOAL_TRAFFIC_EXCHANGE);
    if (a->sendbuf == MPI_IN_PLACE) {
        pairwise_in_place(s, a, window);
        return;
    }
    for (int i = 1; i < c->size; i++) {
        int to = (c->rank + i) % c->size, from = (c->rank - i + c->size) % c->size;
        exchange(s, shoal_block_to_send(a, to), to, shoal_block_to_recv(a, from), from);
        if (i % window == 0) shoal_schedule_wait(s);
    }
    shoal_block mine = shoal_block_to_send(a, c->rank), there = shoal_block_to_recv(a, c->rank);
    shoal_schedule_copy(s, mine.buf, mine.count, mine.type, there.buf, there.count, there.type);
}

// Copies the blocks whose number has `bit` set between `all` and a gapless `some`; they come in
// runs.
static int64_t copy_runs(shoal_schedule *s, char *all, char *some, int64_t block, int size, int bit,
                         bool into_some)
{
    shoal_datatype *byte = shoal_datatype_of(SHOAL_B_BYTE);
    int64_t used = 0;
    for (int first = bit; first < size; first += 2 * bit) {
        int run = size - first < bit ? size - first : bit;
        char *x = all + block * first, *y = some + used;
        shoal_schedule_copy(s, into_some ? x : y, block * run, byte, into_some ? y : x, block * run,
                            byte);
        used += block * run;
    }
    return used;
}

// Block j of the list is the one for the rank j above this one. In round k all blocks with bit k in
// their number move 2^k ranks up; after the last round each has made its whole way.
void shoal_alltoall_bruck(shoal_schedule *s, const shoal_coll_args *a)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    shoal_datatype *byte = shoal_datatype_of(SHOAL_B_BYTE);
    int size = c->size;
    bool in_place = a->sendbuf == MPI_IN_PLACE;
    int64_t block = a->recvcount * a->recvtype->size;
    char *list = shoal_schedule_bytes(s, block * size),
         *out = shoal_schedule_bytes(s, block * size), *in = shoal_schedule_bytes(s, block * size);
    for (int j = 0; j < size; j++) {
        int to = (c->rank + j) % size;
        shoal_block b = in_place ? shoal_block_to_recv(a, to) : shoal_block_to_send(a, to);
        shoal_schedule_copy(s, b.buf, b.count, b.type, list + block * j, block, byte);
    }
    for (int bit = 1; bit < size; bit <<= 1) {
        int64_t bytes = copy_runs(s, list, out, block, size, bit, true);
        shoal_schedule_recv(s, in, bytes, byte, (c->rank - bit + size) % size);
        shoal_schedule_send(s, out, bytes, byte, (c->rank + bit) % size);
        shoal_schedule_wait(s);
        copy_runs(s, list, in, block, size, bit, false);
    }
    for (int j = 0; j < size; j++) {
        shoal_block b = shoal_block_to_recv(a, (c->rank - j + size) % size);
        shoal_schedule_copy(s, list + block * j, block, byte, b.buf, b.count, b.type);
    }
}
