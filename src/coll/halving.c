// SPDX-License-Identifier: BSD-3-Clause
// Long reductions among a power of two of ranks: partners exchange halves of the vectors, then
// quarters and so on, until each rank has one piece of the sum. For operations that commute.
#include "coll/algorithms.h"

// Vectors of which the ranks share the work.
typedef struct shared {
    shoal_schedule *schedule;
    const shoal_comm *comm;
    shoal_datatype *type;
    const char *in;
    char *sum;  // where that of the pieces that this rank keeps goes, apart from `in` or the same
    char *room; // for what comes and cannot go into `sum` at once
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
// comes first goes where the sum belongs, if the own vector is elsewhere, and that is added.
static void halve(shared *x, int distance)
{
    int middle = (x->first + x->last) / 2, partner = x->comm->rank ^ distance;
    bool upper = x->comm->rank & distance, whole = x->last - x->first == x->comm->size;
    bool onto = whole && x->in != x->sum;
    part low = part_of(x, x->first, middle), high = part_of(x, middle, x->last);
    part keep = upper ? high : low, give = upper ? low : high;
    const char *from = whole ? x->in : x->sum;
    char *came = onto ? x->sum : shoal_element(x->room, -keep.at, x->type);
    exchange(x, partner, from, give, came, keep);
    shoal_schedule_reduce(x->schedule, shoal_element(onto ? x->in : came, keep.at, x->type),
                          shoal_element(x->sum, keep.at, x->type), keep.n, x->type);
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
    exchange(x, partner, x->sum, part_of(x, x->first, x->last), x->sum,
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
                    .sum = shoal_element(out, at, t),
                    .room = room,
                    .pieces = shoal_pieces_even(n, c->size),
                    .last = c->size};
        for (int distance = c->size / 2; distance > 0; distance /= 2) halve(&x, distance);
        for (int distance = 1; distance < c->size; distance *= 2) put_together(&x, distance);
    }
}
