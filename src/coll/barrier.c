// SPDX-License-Identifier: BSD-3-Clause
// Barriers.
#include "coll/algorithms.h"

// In round k every rank tells the one 2^k above it; after the last round it has heard, directly or
// not, of all.
void shoal_barrier_dissemination(shoal_schedule *s)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    shoal_datatype *byte = shoal_datatype_of(SHOAL_B_BYTE);
    for (int distance = 1; distance < c->size; distance <<= 1) {
        shoal_schedule_recv(s, NULL, 0, byte, (c->rank - distance + c->size) % c->size);
        shoal_schedule_send(s, NULL, 0, byte, (c->rank + distance) % c->size);
        shoal_schedule_wait(s);
    }
}
