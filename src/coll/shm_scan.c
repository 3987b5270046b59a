// SPDX-License-Identifier: BSD-3-Clause
// Prefix reductions in the arena, of predefined operations.
//
//   small     every rank shows its vector and combines those of the ranks below it
//   by slices when ranks outnumber cores: rank r makes slice r of all prefixes, and the others copy
//             it from there, so that nobody waits for a chain of turns
//   chained   else: rank r takes the prefix of a piece from rank r - 1, adds its own and shows the
//             result to rank r + 1, which is at that piece while r is at the next
//
// A rank's ring of pieces is read by the next rank only. The second of two ranks may fetch the
// first's vector (shm_pair.h).
#include <string.h>

#include "coll/mark.h"
#include "coll/shm_coll.h"
#include "coll/shm_pair.h"
#include "coll/shm_sync.h"

#define SMALL                                                                                      \
    8192 // up to here combining again what ranks below have combined is cheaper than a chain

#define BLOCK 4096 // that is combined at a time: it stays in the nearest cache

typedef struct scan {
    shoal_comm *comm;
    shoal_op_fn *kernel;
    int64_t unit; // bytes of one basic element
    bool exclusive;
    const shoal_arena_mark *mark;
} scan;

static int scan_small(const scan *s, const char *in, char *out, int64_t bytes)
{
    shoal_comm *c = s->comm;
    shoal_arena *a = c->arena;
    shoal_room room;
    int rc = shoal_room_begin(c, s->mark, bytes, false, &room);
    if (rc) return rc;
    shoal_arena_copy(a, shoal_room_of(&room, c->rank), in, bytes);
    shoal_arena_settle(a);
    shoal_slot_publish(a, room.epoch, s->mark, c->rank + 1 < c->size);
    for (int i = 0; rc == 0 && i < c->rank; i++) rc = shoal_slot_wait(c, i, room.epoch, s->mark);
    if (rc) return rc;
    int last = s->exclusive ? c->rank - 1 : c->rank;
    if (last < 0) return 0;
    // The own vector is not read where others have just read it: that is slow.
    const char *from = s->exclusive ? shoal_room_of(&room, last) : in;
    if (from != out) shoal_copy(out, from, (size_t)bytes);
    for (int i = last - 1; i >= 0; i--) s->kernel(shoal_room_of(&room, i), out, bytes / s->unit);
    return 0;
}

// The prefix of one piece: `before` from the rank below (NULL: there is none), `show` for the rank
// above (likewise).
static void add_piece(const scan *s, const char *before, const char *in, char *out, char *show,
                      int64_t bytes)
{
    size_t n = (size_t)bytes;
    const char *sum = in;
    if (!s->exclusive || (before && show)) {
        if (in != out) shoal_copy(out, in, n);
        if (before) s->kernel(before, out, bytes / s->unit);
        sum = out;
    }
    if (show) shoal_arena_copy(s->comm->arena, show, sum, bytes);
    if (s->exclusive && before) shoal_copy(out, before, n); // last: `in` may be the same
}

// The prefixes of one slice, each made of the one below it, where the vectors lie.
static void add_slice(const scan *s, const shoal_room *room, int64_t from, int64_t bytes)
{
    int64_t most = BLOCK / s->unit * s->unit;
    for (int64_t at = from; at < from + bytes; at += most) {
        int64_t part = from + bytes - at < most ? from + bytes - at : most;
        for (int i = 1; i < s->comm->size; i++)
            s->kernel(shoal_room_of(room, i - 1) + at, shoal_room_of(room, i) + at, part / s->unit);
    }
}

static int scan_sliced(const scan *s, const char *in, char *out, int64_t bytes)
{
    shoal_comm *c = s->comm;
    shoal_arena *a = c->arena;
    int64_t piece = shoal_room_most(a, false) / s->unit * s->unit;
    int from = s->exclusive ? c->rank - 1 : c->rank, rc = 0;
    for (int64_t at = 0; rc == 0 && at < bytes; at += piece) {
        int64_t part = bytes - at < piece ? bytes - at : piece;
        shoal_room room;
        rc = shoal_room_begin(c, s->mark, part, false, &room);
        if (rc) return rc;
        shoal_arena_copy(a, shoal_room_of(&room, c->rank), in + at, part);
        rc = shoal_room_show(c, s->mark, &room);
        if (rc) return rc;
        int64_t first = shoal_slice_from(c->rank, c->size, part, s->unit),
                end = shoal_slice_from(c->rank + 1, c->size, part, s->unit);
        add_slice(s, &room, first, end - first);
        rc = shoal_epoch_sync(c, s->mark);
        if (rc == 0 && from >= 0) shoal_copy(out + at, shoal_room_of(&room, from), (size_t)part);
    }
    return rc;
}

static int scan_chained(const scan *s, const char *in, char *out, int64_t bytes)
{
    shoal_comm *c = s->comm;
    shoal_arena *a = c->arena;
    int me = c->rank, above = me + 1 < c->size ? me + 1 : -1;
    int64_t piece = SHOAL_PIECE / s->unit * s->unit;
    int rc = shoal_epoch_sync(c, s->mark);
    uint64_t first = a->pieces, number = first;
    for (int64_t at = 0; rc == 0 && at < bytes; at += piece, number++) {
        int64_t part = bytes - at < piece ? bytes - at : piece;
        uint64_t e = ++a->epoch;
        const char *before = me > 0 ? shoal_arena_piece(a, me - 1, number) : NULL;
        char *show = above >= 0 ? shoal_arena_piece(a, me, number) : NULL;
        if (before) rc = shoal_slot_wait(c, me - 1, e, s->mark);
        // The piece that lay there before must have been taken.
        if (rc == 0 && show && number >= first + SHOAL_PIECES)
            rc = shoal_piece_wait(c, above, number + 1 - SHOAL_PIECES);
        if (rc) break;
        add_piece(s, before, in + at, out + at, show, part);
        if (show) shoal_arena_settle(a);
        if (show) shoal_slot_publish_to(a, e, s->mark, above);
        if (before) shoal_pieces_take(a, number + 1, me - 1);
    }
    a->pieces = first + (uint64_t)((bytes + piece - 1) / piece);
    // Nobody's count may lag behind for those who wait for everybody's later.
    shoal_pieces_take(a, a->pieces, me > 0 ? me - 1 : 0);
    // A slot that a slower rank looks at must not tell of another collective yet.
    return rc ? rc : shoal_epoch_sync(c, s->mark);
}

static int scan_fetched(const scan *s, const char *in, char *out, int64_t bytes, bool *done)
{
    bool second = s->comm->rank == 1;
    int rc = shoal_pair_run(&(shoal_pair){.comm = s->comm,
                                          .mark = s->mark,
                                          .kind = SHOAL_COLL_SCAN,
                                          .kernel = s->kernel,
                                          .unit = s->unit,
                                          .length = bytes,
                                          .in = in,
                                          .out = out,
                                          .bytes = second ? bytes : 0},
                            done);
    if (*done && !second && in != out) shoal_copy(out, in, (size_t)bytes);
    return rc;
}

int shoal_shm_scan(shoal_comm *c, const void *in, void *out, int64_t count, shoal_datatype *type,
                   shoal_op *op, bool exclusive)
{
    int64_t bytes;
    int rc = shoal_datatype_bytes(type, count, &bytes);
    if (rc || bytes == 0) return rc;
    shoal_arena_mark mark =
        shoal_mark_make(exclusive ? SHOAL_COLL_EXSCAN : SHOAL_COLL_SCAN, -1, op, type, bytes);
    scan s = {.comm = c, .exclusive = exclusive, .mark = &mark};
    s.kernel = shoal_op_kernel(op, type, &s.unit);
    const char *from = (const char *)in + type->true_lb;
    char *to = (char *)out + type->true_lb;
    if (bytes <= SMALL) return scan_small(&s, from, to, bytes);
    if (!exclusive && shoal_pair_serves(c, bytes, SHOAL_PAIR_VECTOR)) {
        bool done = false;
        rc = scan_fetched(&s, from, to, bytes, &done);
        if (rc || done) return rc;
    }
    return c->arena->crowded ? scan_sliced(&s, from, to, bytes) : scan_chained(&s, from, to, bytes);
}
