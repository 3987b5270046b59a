// SPDX-License-Identifier: BSD-3-Clause
// Reductions in the arena of which each rank gets a piece: every rank shows the others their
// pieces, and combines its own of all vectors, in the order of the ranks. What fits a slot's data
// moves in one epoch; larger pieces move bit by bit, as there is room. With more ranks than cores
// the sum of a long vector goes from rank to rank (shm_chain.h).
#include <stdlib.h>
#include <string.h>

#include "coll/mark.h"
#include "coll/shm_chain.h"
#include "coll/shm_coll.h"
#include "coll/shm_pair.h"
#include "coll/shm_sync.h"
#include "plat/error.h"

typedef struct dealing {
    shoal_comm *comm;
    shoal_op_fn *kernel;
    int64_t unit;            // bytes of one basic element
    int64_t element;         // bytes of one element
    int64_t count;           // elements of a piece, if `counts` is NULL
    const MPI_Count *counts; // elements of each piece
    const shoal_arena_mark *mark;
} dealing;

static int64_t piece_bytes(const dealing *d, int i)
{
    return (d->counts ? d->counts[i] : d->count) * d->element;
}

// Bytes [at, at + room) of a piece that is `bytes` long: how many there are.
static int64_t part_of(int64_t bytes, int64_t at, int64_t room)
{
    int64_t left = bytes - at;
    return left < 0 ? 0 : left < room ? left : room;
}

static int deal_small(const dealing *d, const char *in, char *out, int64_t total, int64_t before)
{
    shoal_comm *c = d->comm;
    int64_t mine = piece_bytes(d, c->rank);
    shoal_room room;
    int rc = shoal_room_begin(c, d->mark, total, false, &room);
    if (rc) return rc;
    shoal_arena_copy(c->arena, shoal_room_of(&room, c->rank), in, total);
    rc = shoal_room_show(c, d->mark, &room);
    if (rc || mine == 0) return rc;
    // The own vector is not read where others have just read it, which is slow, unless the result
    // goes where it lies.
    const char *own = in == out ? shoal_room_of(&room, c->rank) : in;
    for (int i = 0; i < c->size; i++) {
        const char *from = (i == c->rank ? own : shoal_room_of(&room, i)) + before;
        if (i == 0)
            shoal_copy(out, from, (size_t)mine);
        else
            d->kernel(from, out, mine / d->unit);
    }
    return 0;
}

// The own window has room for a part of each rank's piece. The own one is not shown: its place is
// where the sum is made, since `out` may be where other input lies.
static void show_parts(const dealing *d, const char *in, int64_t at, int64_t room, char *window)
{
    for (int i = 0; i < d->comm->size; i++) {
        int64_t bytes = piece_bytes(d, i), part = part_of(bytes, at, room);
        if (i != d->comm->rank && part > 0)
            shoal_arena_copy(d->comm->arena, window + i * room, in + at, part);
        in += bytes;
    }
}

static void combine_part(const dealing *d, const char *own, char *sum, const shoal_room *shown,
                         int64_t room, int64_t part)
{
    int me = d->comm->rank, n = d->comm->size;
    for (int i = 0; i < n; i++) {
        const char *from = i == me ? own : shoal_room_of(shown, i) + me * room;
        if (i == 0)
            shoal_copy(sum, from, (size_t)part);
        else
            d->kernel(from, sum, part / d->unit);
    }
}

static int deal_large(const dealing *d, const char *in, char *out, int64_t before)
{
    shoal_comm *c = d->comm;
    int64_t room = shoal_room_most(c->arena, false) / c->size / d->unit * d->unit, longest = 0;
    int64_t mine = piece_bytes(d, c->rank);
    for (int i = 0; i < c->size; i++)
        longest = piece_bytes(d, i) > longest ? piece_bytes(d, i) : longest;
    if (room > longest) room = longest;
    int rc = 0;
    for (int64_t at = 0; rc == 0 && at < longest; at += room) {
        shoal_room shown;
        rc = shoal_room_begin(c, d->mark, room * c->size, false, &shown);
        if (rc) return rc;
        char *window = shoal_room_of(&shown, c->rank), *sum = window + c->rank * room;
        show_parts(d, in, at, room, window);
        rc = shoal_room_show(c, d->mark, &shown);
        int64_t part = part_of(mine, at, room);
        if (rc || part == 0) continue;
        combine_part(d, in + before + at, sum, &shown, room, part);
        shoal_copy(out + at, sum, (size_t)part);
    }
    return rc;
}

// Two ranks fetch from each other (shm_pair.h).
static int deal_to_pair(const dealing *d, const char *in, char *out, int64_t before, int64_t total,
                        bool *done)
{
    return shoal_pair_run(&(shoal_pair){.comm = d->comm,
                                        .mark = d->mark,
                                        .kind = SHOAL_COLL_REDUCE_SCATTER,
                                        .kernel = d->kernel,
                                        .unit = d->unit,
                                        .length = total / 2,
                                        .in = in,
                                        .out = out,
                                        .from = before,
                                        .bytes = piece_bytes(d, d->comm->rank),
                                        .into_others = d->comm->rank == 1},
                          done);
}

static int deal_chained(const dealing *d, const char *in, char *out, int64_t before, int64_t total)
{
    int64_t mine = piece_bytes(d, d->comm->rank);
    return shoal_chain_run(&(shoal_chain){.comm = d->comm,
                                          .mark = d->mark,
                                          .kernel = d->kernel,
                                          .unit = d->unit,
                                          .in = in,
                                          .bytes = total,
                                          .from = before,
                                          .to = before + mine,
                                          .out = out});
}

int shoal_shm_reduce_scatter(shoal_comm *c, const void *in, void *out, const MPI_Count *counts,
                             int64_t count, shoal_datatype *type, shoal_op *op)
{
    int64_t total = 0, before = 0;
    enum shoal_coll_kind kind =
        counts ? SHOAL_COLL_REDUCE_SCATTER : SHOAL_COLL_REDUCE_SCATTER_BLOCK;
    dealing d = {.comm = c, .element = type->size, .count = count, .counts = counts};
    for (int i = 0; i < c->size; i++) {
        if (i == c->rank) before = total;
        total += piece_bytes(&d, i);
    }
    if (total == 0) return 0;
    shoal_arena_mark mark =
        shoal_mark_make(kind, -1, op, type, counts ? total : count * type->size);
    d.mark = &mark;
    d.kernel = shoal_op_kernel(op, type, &d.unit);
    const char *from = (const char *)in + type->true_lb;
    char *to = (char *)out + type->true_lb, *aside = NULL;
    if (total <= (int64_t)SHOAL_DATA) return deal_small(&d, from, to, total, before);
    if (shoal_chain_serves(c->arena, total)) return deal_chained(&d, from, to, before, total);
    bool done = false;
    int rc = 0;
    if (shoal_pair_serves(c, total / 2, SHOAL_PAIR_PIECE))
        rc = deal_to_pair(&d, from, to, before, total, &done);
    if (rc || done) return rc;
    // In place with pieces of different lengths the result would overwrite input that is still to
    // be shown.
    if (in == out && counts) {
        aside = malloc((size_t)piece_bytes(&d, c->rank) + 1);
        if (!aside) return shoal_fail(SHOAL_E_NO_MEM, "no memory for a copy of the result");
    }
    rc = deal_large(&d, from, aside ? aside : to, before);
    if (aside && rc == 0) shoal_copy(to, aside, (size_t)piece_bytes(&d, c->rank));
    free(aside);
    return rc;
}
