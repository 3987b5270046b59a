// SPDX-License-Identifier: BSD-3-Clause
// Everybody gets everybody's block.
#include "coll/algorithms.h"

void shoal_allgather_own(shoal_schedule *s, const shoal_coll_args *a)
{
    if (a->sendbuf == MPI_IN_PLACE) return;
    shoal_block b = shoal_block_to_recv(a, shoal_schedule_comm(s)->rank);
    shoal_schedule_copy(s, a->sendbuf, a->sendcount, a->sendtype, b.buf, b.count, b.type);
}

// One round: each rank to each other. Few ranks.
void shoal_allgather_direct(shoal_schedule *s, const shoal_coll_args *a)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    shoal_schedule_set_traffic(s, SHOAL_TRAFFIC_EXCHANGE);
    bool in_place = a->sendbuf == MPI_IN_PLACE;
    shoal_block own = in_place
                          ? shoal_block_to_recv(a, c->rank)
                          : (shoal_block){(char *)(uintptr_t)a->sendbuf, a->sendcount, a->sendtype};
    for (int i = 1; i < c->size; i++) {
        int from = (c->rank - i + c->size) % c->size;
        shoal_block b = shoal_block_to_recv(a, from);
        shoal_schedule_recv(s, b.buf, b.count, b.type, from);
    }
    for (int i = 1; i < c->size; i++)
        shoal_schedule_send(s, own.buf, own.count, own.type, (c->rank + i) % c->size);
    shoal_allgather_own(s, a); // the others need not wait for it
}

// In each round what came last from the left goes on to the right: no block moves twice over the
// same link.
void shoal_allgather_ring(shoal_schedule *s, const shoal_coll_args *a)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    int left = (c->rank + c->size - 1) % c->size, right = (c->rank + 1) % c->size;
    shoal_allgather_own(s, a);
    for (int k = 0; k < c->size - 1; k++) {
        shoal_block out = shoal_block_to_recv(a, (c->rank - k + c->size) % c->size);
        shoal_block in = shoal_block_to_recv(a, (c->rank - k - 1 + c->size) % c->size);
        shoal_schedule_recv(s, in.buf, in.count, in.type, left);
        shoal_schedule_send(s, out.buf, out.count, out.type, right);
        shoal_schedule_wait(s);
    }
}

// The blocks are kept in the order rank, rank + 1, ...; each round doubles their number. In the end
// they are turned into place.
void shoal_allgather_bruck(shoal_schedule *s, const shoal_coll_args *a)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    shoal_datatype *byte = shoal_datatype_of(SHOAL_B_BYTE);
    int64_t block = a->recvcount * a->recvtype->size;
    char *packed = shoal_schedule_bytes(s, block * c->size);
    shoal_block own = shoal_block_to_recv(a, c->rank);
    if (a->sendbuf == MPI_IN_PLACE)
        shoal_schedule_copy(s, own.buf, own.count, own.type, packed, block, byte);
    else
        shoal_schedule_copy(s, a->sendbuf, a->sendcount, a->sendtype, packed, block, byte);
    for (int have = 1; have < c->size; have *= 2) {
        int64_t more = have < c->size - have ? have : c->size - have;
        shoal_schedule_recv(s, packed + block * have, block * more, byte,
                            (c->rank + have) % c->size);
        shoal_schedule_send(s, packed, block * more, byte, (c->rank - have + c->size) % c->size);
        shoal_schedule_wait(s);
    }
    int above = c->size - c->rank; // blocks from this rank's to the last one's
    shoal_schedule_copy(s, packed, block * above, byte, own.buf, a->recvcount * above, a->recvtype);
    shoal_schedule_copy(s, packed + block * above, block * c->rank, byte, a->recvbuf,
                        a->recvcount * c->rank, a->recvtype);
}

// Partners give one another all that they have, which lies together: twice as much in each round.
void shoal_allgather_doubling(shoal_schedule *s, const shoal_coll_args *a)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    shoal_allgather_own(s, a);
    for (int have = 1; have < c->size; have *= 2) {
        int partner = c->rank ^ have, first = c->rank / have * have;
        shoal_block out = shoal_block_to_recv(a, first), in = shoal_block_to_recv(a, first ^ have);
        shoal_schedule_recv(s, in.buf, in.count * have, in.type, partner);
        shoal_schedule_send(s, out.buf, out.count * have, out.type, partner);
        shoal_schedule_wait(s);
    }
}
