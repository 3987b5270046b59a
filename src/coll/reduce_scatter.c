// SPDX-License-Identifier: BSD-3-Clause
// Each rank combines one piece of everybody's vectors: all send it their piece, and it computes
// alone, so that there is one result whoever reads it later.
#include "coll/algorithms.h"

// Pieces of no bytes are not sent; both sides know.
static void send_piece(shoal_schedule *s, const void *in, const shoal_pieces *p, shoal_datatype *t,
                       int to)
{
    int64_t before, n = shoal_piece(p, to, &before);
    if (n > 0) shoal_schedule_send(s, shoal_element(in, before, t), n, t, to);
}

void shoal_reduce_scatter_ordered(shoal_schedule *s, const void *in, void *out,
                                  const shoal_pieces *p, shoal_datatype *t)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    shoal_schedule_set_traffic(s, SHOAL_TRAFFIC_EXCHANGE);
    int64_t before, n = shoal_piece(p, c->rank, &before);
    const char *own = shoal_element(in, before, t);
    // All vectors' pieces side by side; this rank's own is copied there, because it will be
    // overwritten.
    char *sides = shoal_schedule_scratch(s, n * c->size, t);
    for (int i = 1; i < c->size; i++) {
        int from = (c->rank - i + c->size) % c->size;
        if (n > 0) shoal_schedule_recv(s, shoal_element(sides, n * from, t), n, t, from);
    }
    for (int i = 1; i < c->size; i++) send_piece(s, in, p, t, (c->rank + i) % c->size);
    shoal_schedule_copy(s, own, n, t, shoal_element(sides, n * c->rank, t), n, t);
    shoal_schedule_wait(s);
    for (int i = 1; i < c->size; i++)
        shoal_schedule_reduce(s, shoal_element(sides, n * (i - 1), t),
                              shoal_element(sides, n * i, t), n, t);
    shoal_schedule_copy(s, shoal_element(sides, n * (c->size - 1), t), n, t, out, n, t);
}

// Does writing `out` change the vector?
static bool overlaps(const void *in, const shoal_pieces *p, const void *out,
                     const shoal_datatype *t, int ranks)
{
    int64_t before, last = shoal_piece(p, ranks - 1, &before);
    uintptr_t first = (uintptr_t)in, end = (uintptr_t)shoal_element(in, before + last, t),
              at = (uintptr_t)out;
    return first < end ? at >= first && at < end : at <= first && at > end;
}

// The first vector that comes is received where the result belongs and the own one added to it
// there, unless that would change what is still to be sent.
void shoal_reduce_scatter_windowed(shoal_schedule *s, const void *in, void *out,
                                   const shoal_pieces *p, shoal_datatype *t, int window)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    shoal_schedule_set_traffic(s, SHOAL_TRAFFIC_EXCHANGE);
    int64_t before, n = shoal_piece(p, c->rank, &before);
    const char *own = shoal_element(in, before, t);
    bool onto = c->size > 1 && !overlaps(in, p, out, t, c->size);
    int most = window < c->size - 1 ? window : c->size - 1;
    char *sum = onto ? out : shoal_schedule_scratch(s, n, t);
    char *room = c->size > 2 || !onto ? shoal_schedule_scratch(s, n * most, t) : NULL;
    if (!onto) shoal_schedule_copy(s, own, n, t, sum, n, t);
    for (int first = 1; first < c->size; first += most) {
        int last = first + most < c->size ? first + most : c->size;
        for (int i = first; i < last; i++) {
            int from = (c->rank - i + c->size) % c->size;
            char *came = onto && i == 1 ? sum : shoal_element(room, n * (i - first), t);
            if (n > 0) shoal_schedule_recv(s, came, n, t, from);
            send_piece(s, in, p, t, (c->rank + i) % c->size);
        }
        shoal_schedule_wait(s);
        for (int i = first; i < last; i++) {
            const char *came = shoal_element(room, n * (i - first), t);
            shoal_schedule_reduce(s, onto && i == 1 ? own : came, sum, n, t);
        }
    }
    shoal_schedule_copy(s, sum, n, t, out, n, t);
}
