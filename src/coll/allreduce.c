// SPDX-License-Identifier: BSD-3-Clause
// Reductions whose result everybody gets, in the same bits.
#include "coll/algorithms.h"

// Two buffers that change roles: the sum so far, and room for what comes.
typedef struct accumulator {
    char *sum, *room;
} accumulator;

// Takes in what has come from ranks above or below those that are in the sum.
static void take_in(shoal_schedule *s, accumulator *a, int64_t count, shoal_datatype *t,
                    bool from_below)
{
    if (from_below) {
        shoal_schedule_reduce(s, a->room, a->sum, count, t);
        return;
    }
    shoal_schedule_reduce(s, a->sum, a->room, count, t);
    char *sum = a->room;
    a->room = a->sum;
    a->sum = sum;
}

// Pairs at distance 1, 2, 4 ... exchange what they have and both compute the same. When the number
// of ranks is no power of two, of the first 2 * rest ranks each even one leaves its part to the odd
// one above it and gets the result back.
void shoal_allreduce_doubling(shoal_schedule *s, const void *in, void *out, int64_t count,
                              shoal_datatype *t)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    int power = 1;
    while (power * 2 <= c->size) power *= 2;
    int rest = c->size - power;
    bool paired = c->rank < 2 * rest;
    if (paired && c->rank % 2 == 0) {
        shoal_schedule_send(s, in, count, t, c->rank + 1);
        shoal_schedule_wait(s);
        shoal_schedule_recv(s, out, count, t, c->rank + 1);
        return;
    }
    accumulator a = {.sum = out, .room = c->size > 1 ? shoal_schedule_scratch(s, count, t) : NULL};
    shoal_schedule_copy(s, in, count, t, out, count, t);
    if (paired) {
        shoal_schedule_recv(s, a.room, count, t, c->rank - 1);
        shoal_schedule_wait(s);
        take_in(s, &a, count, t, true);
    }
    int number = paired ? c->rank / 2 : c->rank - rest;
    for (int distance = 1; distance < power; distance *= 2) {
        int other = number ^ distance, partner = other < rest ? 2 * other + 1 : other + rest;
        shoal_schedule_recv(s, a.room, count, t, partner);
        shoal_schedule_send(s, a.sum, count, t, partner);
        shoal_schedule_wait(s);
        take_in(s, &a, count, t, other < number);
    }
    if (paired) shoal_schedule_send(s, a.sum, count, t, c->rank - 1);
    shoal_schedule_copy(s, a.sum, count, t, out, count, t);
}

// Each rank combines its piece and gives it to all others.
void shoal_allreduce_scatter_allgather(shoal_schedule *s, const void *in, void *out, int64_t count,
                                       shoal_datatype *t, bool commutes, int window)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    shoal_schedule_set_traffic(s, SHOAL_TRAFFIC_EXCHANGE);
    shoal_pieces p = shoal_pieces_even(count, c->size);
    int64_t before, n = shoal_piece(&p, c->rank, &before);
    char *mine = shoal_element(out, before, t);
    if (commutes)
        shoal_reduce_scatter_windowed(s, in, mine, &p, t, window);
    else
        shoal_reduce_scatter_ordered(s, in, mine, &p, t);
    for (int i = 1; i < c->size; i++) {
        int from = (c->rank - i + c->size) % c->size;
        int64_t its = shoal_piece(&p, from, &before);
        if (its > 0) shoal_schedule_recv(s, shoal_element(out, before, t), its, t, from);
    }
    for (int i = 1; i < c->size && n > 0; i++)
        shoal_schedule_send(s, mine, n, t, (c->rank + i) % c->size);
}
