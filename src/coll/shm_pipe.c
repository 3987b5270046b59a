// SPDX-License-Identifier: BSD-3-Clause
// See shm_pipe.h.
#include "coll/shm_pipe.h"

typedef struct run {
    const shoal_pipe *pipe;
    int64_t piece;  // bytes
    uint64_t first; // number of the first piece
    bool warm;
} run;

static char *place_of(const run *r, uint64_t number)
{
    const shoal_arena *a = r->pipe->comm->arena;
    return shoal_arena_piece(a, a->pipe_place, a->pipe_at + (number - r->first));
}

static int put_pieces(const run *r)
{
    const shoal_pipe *p = r->pipe;
    shoal_arena *a = p->comm->arena;
    int64_t left = p->bytes;
    for (uint64_t k = r->first; left > 0; k++, left -= r->piece) {
        // The piece that lay there before must have been taken by all.
        int rc =
            k >= r->first + SHOAL_PIECES ? shoal_pieces_wait(p->comm, k + 1 - SHOAL_PIECES) : 0;
        if (rc) return rc;
        uint64_t e = ++a->epoch;
        p->put(p->what, place_of(r, k), left < r->piece ? left : r->piece, r->warm);
        shoal_slot_publish(a, e, p->mark, true);
    }
    return 0;
}

static int take_pieces(const run *r)
{
    const shoal_pipe *p = r->pipe;
    shoal_arena *a = p->comm->arena;
    int64_t left = p->bytes;
    for (uint64_t k = r->first; left > 0; k++, left -= r->piece) {
        uint64_t e = ++a->epoch;
        int rc = shoal_slot_wait(p->comm, p->from, e, p->mark);
        if (rc) return rc;
        p->take(p->what, place_of(r, k), left < r->piece ? left : r->piece);
        shoal_pieces_take(a, k + 1, p->from);
    }
    return 0;
}

// Who of two ranks has read the last pipe fills the next one in the same place: there the lines are
// its own (see net/shm/ferry.h). Otherwise the ring goes on, over more than the caches hold. All
// ranks see the same pipes, and so know the place. Small pieces let the reader begin earlier, but
// make the ring shorter.
static void choose_place(run *r)
{
    const shoal_pipe *p = r->pipe;
    shoal_arena *a = p->comm->arena;
    r->warm = a->n == 2 && a->pipe_from != p->from && p->bytes <= a->pipe_bytes &&
              p->bytes <= SHOAL_PIECES * (SHOAL_PIECE / 2);
    r->piece = (r->warm ? SHOAL_PIECE / 2 : SHOAL_PIECE) / p->unit * p->unit;
    r->first = a->pieces;
    if (!r->warm) {
        a->pipe_place = p->from;
        a->pipe_at = a->pipe_end;
    }
    uint64_t pieces = (uint64_t)((p->bytes + r->piece - 1) / r->piece);
    a->pipe_from = p->from;
    a->pipe_bytes = p->bytes;
    a->pipe_end = a->pipe_at + pieces;
    a->pieces += pieces;
}

// A synchronisation that came just before, by another call, will do if all epochs of this one have
// slots that are not in use.
static bool may_begin(const run *r)
{
    const shoal_arena *a = r->pipe->comm->arena;
    return a->synced == a->epoch && a->pieces - r->first + 1 < a->slots;
}

// Between two synchronisations the rings of pieces belong to one pipe. Every piece has an epoch;
// who fills it may be ahead by more epochs than there are slots, since a later flag tells a reader
// as much as the one it waits for.
int shoal_pipe_run(const shoal_pipe *p)
{
    shoal_comm *c = p->comm;
    shoal_arena *a = c->arena;
    run r = {.pipe = p};
    choose_place(&r);
    int rc = may_begin(&r) ? 0 : shoal_epoch_sync(c, p->mark);
    if (rc) return rc;
    rc = c->rank == p->from ? put_pieces(&r) : take_pieces(&r);
    // Its own count must not lag behind for the next that fills a pipe.
    if (c->rank == p->from) shoal_pieces_take(a, a->pieces, p->from);
    return rc ? rc : shoal_epoch_sync(c, p->mark);
}
