// SPDX-License-Identifier: BSD-3-Clause
// Prefix reductions.
#include "coll/algorithms.h"

// Each rank keeps two values: `group`, combined over the aligned block of ranks that has been heard
// of so far, and the prefix, combined over those of them that are not above this rank.
void shoal_scan_doubling(shoal_schedule *s, const void *in, void *out, int64_t count,
                         shoal_datatype *t, bool exclusive)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    bool empty = exclusive; // nobody below has been heard of
    char *group = shoal_schedule_scratch(s, count, t), *came = shoal_schedule_scratch(s, count, t);
    shoal_schedule_copy(s, in, count, t, group, count, t);
    if (!exclusive) shoal_schedule_copy(s, in, count, t, out, count, t);
    for (int distance = 1; distance < c->size; distance <<= 1) {
        int partner = c->rank ^ distance;
        if (partner >= c->size) continue;
        shoal_schedule_recv(s, came, count, t, partner);
        shoal_schedule_send(s, group, count, t, partner);
        shoal_schedule_wait(s);
        if (partner > c->rank) {
            shoal_schedule_reduce(s, group, came, count, t);
            char *old = group;
            group = came;
            came = old;
            continue;
        }
        if (empty)
            shoal_schedule_copy(s, came, count, t, out, count, t);
        else
            shoal_schedule_reduce(s, came, out, count, t);
        empty = false;
        shoal_schedule_reduce(s, came, group, count, t);
    }
}

// A piece of the vectors on its way from rank to rank.
typedef struct link {
    const char *in;
    char *out, *room;
    int64_t n;
    shoal_datatype *type;
    int below, above; // or -1
    bool onto;        // what comes is the result below, and the own piece may be added to it there
} link;

static void begin_chain(shoal_schedule *s, const link *l)
{
    if (l->above >= 0) shoal_schedule_send(s, l->in, l->n, l->type, l->above);
    shoal_schedule_copy(s, l->in, l->n, l->type, l->out, l->n, l->type);
    shoal_schedule_wait(s);
}

static void pass_inclusive(shoal_schedule *s, const link *l)
{
    char *came = l->onto ? l->out : l->room;
    shoal_schedule_recv(s, came, l->n, l->type, l->below);
    shoal_schedule_wait(s);
    if (!l->onto) shoal_schedule_copy(s, l->in, l->n, l->type, l->out, l->n, l->type);
    shoal_schedule_reduce(s, l->onto ? l->in : came, l->out, l->n, l->type);
    if (l->above >= 0) shoal_schedule_send(s, l->out, l->n, l->type, l->above);
}

// The own piece is taken out of the way first: it may lie where the prefix goes.
static void pass_exclusive(shoal_schedule *s, const link *l)
{
    if (l->above >= 0) shoal_schedule_copy(s, l->in, l->n, l->type, l->room, l->n, l->type);
    if (l->below >= 0) {
        shoal_schedule_recv(s, l->out, l->n, l->type, l->below);
        shoal_schedule_wait(s);
        if (l->above >= 0) shoal_schedule_reduce(s, l->out, l->room, l->n, l->type);
    }
    if (l->above < 0) return;
    shoal_schedule_send(s, l->room, l->n, l->type, l->above);
    shoal_schedule_wait(s); // the room is wanted for the next piece
}

void shoal_scan_chain(shoal_schedule *s, const void *in, void *out, int64_t count,
                      shoal_datatype *t, bool exclusive, bool commutes, int64_t piece)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    link l = {.type = t,
              .below = c->rank - 1,
              .above = c->rank + 1 < c->size ? c->rank + 1 : -1,
              .onto = commutes && in != out};
    if (exclusive || !l.onto) l.room = shoal_schedule_scratch(s, piece < count ? piece : count, t);
    for (int64_t at = 0; at < count; at += piece) {
        l.in = shoal_element(in, at, t);
        l.out = shoal_element(out, at, t);
        l.n = count - at < piece ? count - at : piece;
        if (exclusive)
            pass_exclusive(s, &l);
        else if (l.below < 0)
            begin_chain(s, &l);
        else
            pass_inclusive(s, &l);
    }
}
