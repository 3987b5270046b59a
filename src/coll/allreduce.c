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

// Each rank combines its piece, then the pieces go around the ring.
void shoal_allreduce_scatter_allgather(shoal_schedule *s, const void *in, void *out, int64_t count,
                                       shoal_datatype *t, bool commutes)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    shoal_pieces p = shoal_pieces_even(count, c->size);
    int64_t before, n;
    shoal_piece(&p, c->rank, &before);
    char *mine = shoal_element(out, before, t);
    if (commutes)
        shoal_reduce_scatter_windowed(s, in, mine, &p, t, 1);
    else
        shoal_reduce_scatter_ordered(s, in, mine, &p, t);
    int left = (c->rank + c->size - 1) % c->size, right = (c->rank + 1) % c->size;
    for (int k = 0; k < c->size - 1; k++) {
        n = shoal_piece(&p, (c->rank - k - 1 + c->size) % c->size, &before);
        shoal_schedule_recv(s, shoal_element(out, before, t), n, t, left);
        n = shoal_piece(&p, (c->rank - k + c->size) % c->size, &before);
        shoal_schedule_send(s, shoal_element(out, before, t), n, t, right);
        shoal_schedule_wait(s);
    }
}

// One block of the vectors, of which the ranks share the work.
typedef struct shared {
    shoal_schedule *schedule;
    const shoal_comm *comm;
    shoal_datatype *type;
    const char *in;
    char *out, *room; // room for what comes and cannot go into `out` at once
    shoal_pieces pieces;
    int first, last; // the pieces that this rank has to do with
} shared;

typedef struct part {
    int64_t at, n;
} part;

static part part_of(const shared *x, int first, int last)
{
    part a;
    int64_t to, n = shoal_piece(&x->pieces, last - 1, &to);
    shoal_piece(&x->pieces, first, &a.at);
    a.n = to + n - a.at;
    return a;
}

static void exchange(const shared *x, int partner, const char *from, part give, char *to, part get)
{
    shoal_datatype *t = x->type;
    if (get.n > 0)
        shoal_schedule_recv(x->schedule, shoal_element(to, get.at, t), get.n, t, partner);
    if (give.n > 0)
        shoal_schedule_send(x->schedule, shoal_element(from, give.at, t), give.n, t, partner);
    shoal_schedule_wait(x->schedule);
}

// Partners halve what they have, give one another the half that the other keeps, and add. What
// comes first goes where the result belongs, if the own vector is elsewhere, and that is added.
static void halve(shared *x, int distance)
{
    int middle = (x->first + x->last) / 2, partner = x->comm->rank ^ distance;
    bool upper = x->comm->rank & distance, whole = x->last - x->first == x->comm->size;
    bool onto = whole && x->in != x->out;
    part low = part_of(x, x->first, middle), high = part_of(x, middle, x->last);
    part keep = upper ? high : low, give = upper ? low : high;
    const char *sum = whole ? x->in : x->out;
    char *came = onto ? x->out : shoal_element(x->room, -keep.at, x->type);
    exchange(x, partner, sum, give, came, keep);
    shoal_schedule_reduce(x->schedule, shoal_element(onto ? x->in : came, keep.at, x->type),
                          shoal_element(x->out, keep.at, x->type), keep.n, x->type);
    if (upper)
        x->first = middle;
    else
        x->last = middle;
}

// The way back: partners give one another what they have of the result.
static void put_together(shared *x, int distance)
{
    int pieces = x->last - x->first, partner = x->comm->rank ^ distance;
    bool upper = x->comm->rank & distance;
    int first = upper ? x->first - pieces : x->last;
    exchange(x, partner, x->out, part_of(x, x->first, x->last), x->out,
             part_of(x, first, first + pieces));
    if (upper)
        x->first = first;
    else
        x->last = first + pieces;
}

void shoal_allreduce_halving(shoal_schedule *s, const void *in, void *out, int64_t count,
                             shoal_datatype *t, int64_t block)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    int64_t most = shoal_pieces_even(block < count ? block : count, c->size).even;
    char *room = shoal_schedule_scratch(s, most * (c->size / 2), t);
    for (int64_t at = 0; at < count; at += block) {
        int64_t n = count - at < block ? count - at : block;
        shared x = {.schedule = s,
                    .comm = c,
                    .type = t,
                    .in = shoal_element(in, at, t),
                    .out = shoal_element(out, at, t),
                    .room = room,
                    .pieces = shoal_pieces_even(n, c->size),
                    .last = c->size};
        for (int distance = c->size / 2; distance > 0; distance /= 2) halve(&x, distance);
        for (int distance = 1; distance < c->size; distance *= 2) put_together(&x, distance);
    }
}
