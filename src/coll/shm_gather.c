// SPDX-License-Identifier: BSD-3-Clause
// Gather and scatter in the arena: blocks of equal size, to a root or from it. Long ones go
// straight from buffer to buffer, if all can; then all wait for all. Otherwise nobody waits but for
// what it needs. If the root changes from call to call, the next root must be through with this
// call before it can serve its own; so a root takes each block as soon as it is there, those of the
// ranks just below it last, and shows those of the ranks just above it first.
//
// What there is no room for at once moves in pieces.
#include "coll/coll.h"
#include "coll/mark.h"
#include "coll/shm_blocks.h"
#include "coll/shm_coll.h"
#include "coll/shm_straight.h"
#include "coll/shm_sync.h"
#include "net/shm/shm.h"

#define ONE_BY_ONE 8192        // blocks of this length are shown one by one if the pool has them
#define FLOOD      (4 << 20)   // so much will not stay in the root's caches anyway
#define BOTH_MOVE  (192 << 10) // messages that two ranks with a core each move from both ends

typedef struct rooted {
    shoal_comm *comm;
    shoal_arena_mark mark;
    int root;
    int64_t bytes;          // of a block
    shoal_blocks all, mine; // each where the rank has it
    bool in_place;          // the root's own block lies where it belongs
} rooted;

static bool is_root(const rooted *x)
{
    return x->comm->rank == x->root;
}

// Packs `bytes` of block i from packed position `at`.
static void show(const rooted *x, const shoal_blocks *b, int i, int64_t at, char *to, int64_t bytes)
{
    if (b->type->dense && bytes > 0) {
        shoal_arena_copy(x->comm->arena, to, shoal_blocks_byte(b, i, at), bytes);
        return;
    }
    shoal_cursor c = shoal_blocks_cursor(b, i, at);
    shoal_cursor_pack(&c, to, bytes);
}

static int gather_piece(const rooted *x, int64_t at, int64_t part)
{
    shoal_comm *c = x->comm;
    shoal_room room;
    int rc = shoal_room_begin(c, &x->mark, part, false, &room);
    if (rc) return rc;
    if (!is_root(x)) {
        show(x, &x->mine, 0, at, shoal_room_of(&room, c->rank), part);
        shoal_arena_settle(c->arena);
        shoal_slot_publish(c->arena, room.epoch, &x->mark, true);
        return 0;
    }
    bool flood = x->bytes >= FLOOD / c->size;
    for (int k = 1; rc == 0 && k < c->size; k++) {
        int i = shoal_rank_above(x->root, k, c->size);
        rc = shoal_slot_wait(c, i, room.epoch, &x->mark);
        if (rc == 0) shoal_blocks_take(&x->all, i, at, shoal_room_of(&room, i), part, flood);
    }
    return rc;
}

static void show_row(const rooted *x, const shoal_room *room, int64_t at, int64_t part,
                     bool one_by_one)
{
    shoal_arena *a = x->comm->arena;
    char *row = shoal_room_of(room, x->root);
    for (int k = 1; k < x->comm->size; k++) {
        show(x, &x->all, shoal_rank_above(x->root, k, x->comm->size), at, row + (k - 1) * part,
             part);
        if (one_by_one) shoal_slot_show(a, room->epoch, &x->mark, (uint32_t)k);
    }
    if (one_by_one) return;
    shoal_arena_settle(a);
    shoal_slot_publish(a, room->epoch, &x->mark, true);
}

static int scatter_piece(const rooted *x, int64_t at, int64_t part)
{
    shoal_comm *c = x->comm;
    shoal_room room;
    int rc = shoal_room_begin(c, &x->mark, part * (c->size - 1), true, &room);
    if (rc) return rc;
    bool one_by_one = c->arena->crowded && part >= ONE_BY_ONE;
    if (is_root(x)) {
        show_row(x, &room, at, part, one_by_one);
        return 0;
    }
    int k = c->rank - x->root + (c->rank < x->root ? c->size : 0);
    rc = shoal_slot_wait_shown(c, x->root, room.epoch, &x->mark, one_by_one ? (uint32_t)k : 0);
    if (rc == 0)
        shoal_blocks_take(&x->mine, 0, at, shoal_room_of(&room, x->root) + (k - 1) * part, part,
                          false);
    return rc;
}

static int move(const rooted *x, bool gathers)
{
    int64_t most = shoal_room_most(x->comm->arena, !gathers);
    int64_t piece = gathers ? most : most / (x->comm->size - 1), at = 0;
    if (piece > SHOAL_LINE) piece = piece / SHOAL_LINE * SHOAL_LINE;
    int rc;
    do {
        int64_t left = x->bytes - at, part = left < piece ? left : piece;
        rc = gathers ? gather_piece(x, at, part) : scatter_piece(x, at, part);
        at += part;
    } while (rc == 0 && at < x->bytes);
    return rc;
}

// The block that the root has for itself goes straight over.
static void copy_own(const rooted *x, bool gathers)
{
    if (!is_root(x) || x->in_place) return;
    const shoal_blocks *from = gathers ? &x->mine : &x->all, *to = gathers ? &x->all : &x->mine;
    shoal_blocks_copy(from, gathers ? 0 : x->root, to, gathers ? x->root : 0);
}

// Everybody reads its block from the root's buffer, or writes it there, through the kernel: at the
// same time on all cores. Not done if somebody cannot or had rather not, or if the kernel is not
// quick and the root's buffer does not lie on huge pages, from where it takes half as long.
static int move_directly(const rooted *x, bool gathers, bool *done)
{
    shoal_comm *c = x->comm;
    const shoal_blocks *known = is_root(x) ? &x->all : &x->mine;
    uint32_t neighbour = c->peers[is_root(x) ? (c->rank + 1) % c->size : x->root];
    char *here = shoal_blocks_byte(known, 0, 0);
    enum shoal_coll_kind kind = gathers ? SHOAL_COLL_GATHER : SHOAL_COLL_SCATTER;
    bool wanted = shoal_straight_wanted(c->arena, kind, x->bytes);
    bool can = wanted && known->type->dense && shoal_cma_works(neighbour);
    if (is_root(x) && !shoal_shm_quick_kernel())
        can = can && shoal_on_huge_pages(here, (size_t)(x->bytes * c->size));
    uint64_t word = is_root(x) ? (uint64_t)(uintptr_t)here : 1;
    shoal_room room;
    uint64_t least;
    int rc = shoal_word_say(c, &x->mark, can ? word : 0, &room, &least);
    if (rc == 0) shoal_straight_went(c->arena, least > 0);
    if (rc || least == 0) return rc;
    uint64_t there = shoal_word_of(&room, x->root) + (uint64_t)(c->rank * x->bytes);
    bool good = true;
    if (is_root(x))
        copy_own(x, gathers);
    else if (gathers)
        good = shoal_cma_write(neighbour, there, here, (uint64_t)x->bytes);
    else
        good = shoal_cma_read(neighbour, here, there, (uint64_t)x->bytes);
    rc = shoal_word_say(c, &x->mark, good, &room, &least);
    *done = rc == 0 && least == 1;
    return rc;
}

// What the root has for itself has gone over as far as there was room for it.
static int check_own(const rooted *x, bool gathers)
{
    const shoal_blocks *from = gathers ? &x->mine : &x->all, *to = gathers ? &x->all : &x->mine;
    if (!is_root(x) || x->in_place) return 0;
    return shoal_check_own(from->count * from->type->size, to->count * to->type->size);
}

static int describe(rooted *x, enum shoal_coll_kind kind)
{
    const shoal_blocks *known = is_root(x) ? &x->all : &x->mine;
    int rc = shoal_datatype_bytes(known->type, known->count, &x->bytes);
    x->mark = shoal_mark_make(kind, x->root, NULL, NULL, x->bytes);
    x->in_place = x->mine.buf == MPI_IN_PLACE;
    return rc;
}

int shoal_shm_gather(shoal_comm *c, const void *in, int64_t in_count, shoal_datatype *in_type,
                     void *out, int64_t out_count, shoal_datatype *out_type, int root, bool pool,
                     bool *done)
{
    rooted x = {.comm = c,
                .root = root,
                .mine = {(char *)(uintptr_t)in, in_count, in_type},
                .all = {out, out_count, out_type}};
    int rc = describe(&x, SHOAL_COLL_GATHER);
    *done = false;
    if (rc == 0 && shoal_is_long_block(x.bytes)) rc = move_directly(&x, true, done);
    if (rc || (!*done && !pool)) return rc;
    if (!*done) {
        copy_own(&x, true); // while the others come
        rc = move(&x, true);
    }
    *done = true;
    return rc ? rc : check_own(&x, true);
}

int shoal_shm_scatter(shoal_comm *c, const void *in, int64_t in_count, shoal_datatype *in_type,
                      void *out, int64_t out_count, shoal_datatype *out_type, int root, bool pool,
                      bool *done)
{
    rooted x = {.comm = c,
                .root = root,
                .mine = {out, out_count, out_type},
                .all = {(char *)(uintptr_t)in, in_count, in_type}};
    int rc = describe(&x, SHOAL_COLL_SCATTER);
    *done = false;
    // Between two ranks with a core each a message is faster: both move it.
    bool both_move = c->size == 2 && !c->arena->crowded && x.bytes >= BOTH_MOVE;
    if (rc == 0 && shoal_is_long_block(x.bytes) && !both_move) rc = move_directly(&x, false, done);
    if (rc || (!*done && !pool)) return rc;
    if (!*done) {
        rc = move(&x, false);
        if (rc == 0) copy_own(&x, false); // the others have waited for theirs
    }
    *done = true;
    return rc ? rc : check_own(&x, false);
}
