// SPDX-License-Identifier: BSD-3-Clause
// Allgather and alltoall in the arena: blocks that change places. Those of an alltoall are equally
// long; those of an allgather may differ, since all ranks know all lengths. What there is no room
// for at once moves in pieces: while some still copy piece k, others show piece k + 1.
#include "coll/coll.h"
#include "coll/mark.h"
#include "coll/shm_blocks.h"
#include "coll/shm_coll.h"
#include "coll/shm_straight.h"
#include "coll/shm_swap.h"
#include "net/shm/shm.h"

// Which blocks a rank shows and takes in one of the two exchanges.
typedef struct exchange {
    shoal_comm *comm;
    shoal_arena_mark mark;
    int64_t bytes; // of a block, the longest if they differ,
    int64_t total; // ... and of all those that a rank gets
    shoal_blocks in, out;
    const shoal_blocks *each; // instead of `out`, if blocks differ: one for each rank
    bool shows_row;           // shows a block for each rank (alltoall), else one
    int own_in;               // index of the own block in `in` where only one is shown
    bool in_place;            // the own block lies where it belongs,
    bool own_done;            // ... or has been copied there
} exchange;

// Where the block of rank i goes.
static shoal_blocks block_out(const exchange *x, int i)
{
    if (x->each) return x->each[i];
    return (shoal_blocks){shoal_blocks_at(&x->out, i), x->out.count, x->out.type};
}

static int64_t length_of(const exchange *x, int i)
{
    return x->each ? x->each[i].count * x->each[i].type->size : x->bytes;
}

// How much of rank i's block lies in a piece of `part` bytes from position `at`.
static int64_t share_of(const exchange *x, int i, int64_t at, int64_t part)
{
    if (!x->each) return part;
    int64_t left = length_of(x, i) - at;
    return left < 0 ? 0 : left < part ? left : part;
}

// A row has no place for its owner's block if there is but one other rank.
static int row_blocks(const exchange *x)
{
    if (!x->shows_row) return 1;
    return x->comm->size == 2 ? 1 : x->comm->size;
}

static int place_in_row(const exchange *x, int i)
{
    return row_blocks(x) == 1 ? 0 : i;
}

// Packs `bytes` of block i from packed position `at`.
static void show(const exchange *x, const shoal_room *room, int i, int64_t at, char *to,
                 int64_t bytes)
{
    const shoal_blocks *b = &x->in;
    if (b->type->dense && bytes > 0) {
        shoal_room_fill(x->comm->arena, room, to, shoal_blocks_byte(b, i, at), bytes);
        return;
    }
    shoal_cursor c = shoal_blocks_cursor(b, i, at);
    shoal_cursor_pack(&c, to, bytes);
}

// The block that a rank has for itself goes straight over.
static void copy_own(exchange *x)
{
    if (x->in_place || x->own_done) return;
    int me = x->comm->rank;
    shoal_blocks to = block_out(x, me);
    shoal_blocks_copy(&x->in, x->shows_row ? me : x->own_in, &to, 0);
    x->own_done = true;
}

static void show_piece(const exchange *x, const shoal_room *room, int64_t at, int64_t part)
{
    char *to = shoal_room_of(room, x->comm->rank);
    if (!x->shows_row) {
        // Not beyond what it has, should that be less than the others think.
        int64_t share = share_of(x, x->comm->rank, at, part);
        int64_t left = x->in.count * x->in.type->size - at;
        if (share > left) share = left;
        if (share > 0) show(x, room, x->own_in, at, to, share);
        return;
    }
    for (int i = 0; i < x->comm->size; i++)
        if (i != x->comm->rank) show(x, room, i, at, to + place_in_row(x, i) * part, part);
}

// In a crowd all buffers together may be more than the caches hold.
static bool is_flood(const exchange *x)
{
    int64_t n = x->comm->size;
    int64_t rows = n + (x->shows_row ? n : 1);
    return x->comm->arena->crowded && x->total >= SHOAL_FLOOD / rows;
}

// Takes what all others show. Each rank begins with the one above it, so that not all read the same
// place at once.
static void take_all(const exchange *x, const shoal_room *room, int64_t at, int64_t part)
{
    const shoal_comm *c = x->comm;
    int64_t mine = place_in_row(x, c->rank) * part;
    bool flood = is_flood(x);
    for (int k = 1; k < c->size; k++) {
        int i = shoal_rank_above(c->rank, k, c->size);
        int64_t share = share_of(x, i, at, part);
        shoal_blocks to = block_out(x, i);
        if (share > 0) shoal_blocks_take(&to, 0, at, shoal_room_of(room, i) + mine, share, flood);
    }
}

// Moves `part` bytes from position `at` of each block.
static int move_piece(exchange *x, int64_t at, int64_t part)
{
    shoal_comm *c = x->comm;
    shoal_room room;
    int rc = shoal_swap_begin(c, &x->mark, part * row_blocks(x), &room);
    if (rc) return rc;
    show_piece(x, &room, at, part);
    if (at == 0 && !c->arena->crowded) {
        // What this rank has for itself while the others still show theirs.
        shoal_arena_settle(c->arena);
        shoal_slot_publish(c->arena, room.epoch, &x->mark, shoal_is_long_block(part));
        copy_own(x);
        rc = shoal_slot_wait_all(c, room.epoch, &x->mark, true);
    } else {
        rc = shoal_room_show(c, &x->mark, &room);
    }
    if (rc == 0) take_all(x, &room, at, part);
    return rc;
}

static int move_large(exchange *x, int64_t most)
{
    int64_t piece = most / row_blocks(x);
    if (piece > 64) piece = piece / 64 * 64;
    int rc = 0;
    for (int64_t at = 0; rc == 0 && at < x->bytes; at += piece)
        rc = move_piece(x, at, x->bytes - at < piece ? x->bytes - at : piece);
    return rc;
}

// Copying twice through the pool, which stays in the caches, takes less time than the kernel needs
// for its one copy. But maybe not if blocks are long, or what another core has written is slow to
// read; and from huge pages the kernel takes half as long. Where all get the same, the copy into
// the pool is a small part if they are many, and only a rank itself can write past the caches.
#define CROWD_HUGE (8 << 20)   // what all ranks move
#define FEW        8           // ranks
#define BY_TURNS   (256 << 10) // more than a few of such blocks will not stay in the nearest cache

enum fetch { FETCH_NOT, FETCH_IF_HUGE, FETCH }; // as far as that has been faster

static enum fetch should_fetch(const exchange *x)
{
    const shoal_arena *a = x->comm->arena;
    int64_t n = x->comm->size;
    bool is_long = shoal_is_long_block(x->bytes), quick = shoal_shm_quick_kernel();
    if (!a->crowded) return !is_long ? FETCH_NOT : quick ? FETCH : FETCH_IF_HUGE;
    if (quick) return is_long && (x->shows_row || (n <= FEW && !is_flood(x))) ? FETCH : FETCH_NOT;
    if (!x->shows_row || n * x->bytes <= shoal_room_most(a, false)) return FETCH_NOT;
    if (is_long || shoal_arena_far(a)) return FETCH;
    return n * n * x->bytes >= CROWD_HUGE ? FETCH_IF_HUGE : FETCH_NOT;
}

static bool can_be_fetched(const exchange *x, enum fetch how, const char *own)
{
    const shoal_comm *c = x->comm;
    uint32_t neighbour = c->peers[(c->rank + 1) % c->size];
    if (!x->in.type->dense || !block_out(x, 0).type->dense || (x->in_place && x->shows_row) ||
        !shoal_cma_works(neighbour))
        return false;
    int64_t bytes = x->shows_row ? c->size * x->bytes : length_of(x, c->rank);
    return how == FETCH || bytes == 0 || shoal_on_huge_pages(own, (size_t)bytes);
}

// Everybody says where its blocks lie, and fetches those of the others through the kernel. Not done
// if somebody's cannot be fetched, or not so fast. A long block of its own a rank copies before
// that in one call and after it in the next: each begins with what the caches have of the one
// before.
static int fetch_blocks(exchange *x, enum fetch how, bool *done)
{
    shoal_comm *c = x->comm;
    char *own = shoal_blocks_byte(&x->in, x->shows_row ? 0 : x->own_in, 0);
    enum shoal_coll_kind kind = x->shows_row ? SHOAL_COLL_ALLTOALL : SHOAL_COLL_ALLGATHER;
    bool wanted = shoal_straight_wanted(c->arena, kind, x->bytes);
    bool can = can_be_fetched(x, how, own) && wanted;
    shoal_room room;
    uint64_t least;
    // Who has nothing may have no address.
    uint64_t word = length_of(x, c->rank) > 0 ? (uint64_t)(uintptr_t)own : 1;
    // Not beyond what it has, as in show_piece().
    can = can && x->in.count * x->in.type->size >= (x->shows_row ? 0 : length_of(x, c->rank));
    int rc = shoal_word_say(c, &x->mark, can ? word : 0, &room, &least);
    if (rc == 0) shoal_straight_went(c->arena, least > 0);
    if (rc || least == 0) return rc;
    c->arena->own_first = !c->arena->own_first;
    if (x->bytes >= BY_TURNS && c->arena->own_first) copy_own(x);
    bool good = true;
    for (int k = c->rank + 1; good && k < c->rank + c->size; k++) {
        int i = k < c->size ? k : k - c->size;
        uint64_t from = shoal_word_of(&room, i);
        if (x->shows_row) from += (uint64_t)(c->rank * x->bytes);
        shoal_blocks to = block_out(x, i);
        uint64_t bytes = (uint64_t)length_of(x, i);
        if (bytes > 0)
            good = shoal_cma_read(c->peers[i], shoal_blocks_byte(&to, 0, 0), from, bytes);
    }
    // Nobody may change its blocks before all have been fetched.
    rc = shoal_word_say(c, &x->mark, good, &room, &least);
    *done = rc == 0 && least == 1;
    return rc;
}

static int run(exchange *x)
{
    int64_t shown = x->bytes * row_blocks(x);
    int64_t most = shoal_room_most(x->comm->arena, false);
    enum fetch how = should_fetch(x);
    bool done = false;
    int rc = 0;
    if (how != FETCH_NOT) rc = fetch_blocks(x, how, &done);
    if (rc == 0 && !done) rc = shown <= most ? move_piece(x, 0, x->bytes) : move_large(x, most);
    if (rc == 0) copy_own(x);
    return rc;
}

int shoal_shm_allgather(shoal_comm *c, const void *in, int64_t in_count, shoal_datatype *in_type,
                        void *out, int64_t out_count, shoal_datatype *out_type)
{
    exchange x = {.comm = c, .in_place = in == MPI_IN_PLACE};
    int rc = shoal_datatype_bytes(out_type, out_count, &x.bytes);
    if (rc) return rc;
    x.out = (shoal_blocks){out, out_count, out_type};
    x.in = x.in_place ? x.out : (shoal_blocks){(char *)(uintptr_t)in, in_count, in_type};
    x.own_in = x.in_place ? c->rank : 0;
    x.total = c->size * x.bytes;
    x.mark = shoal_mark_make(SHOAL_COLL_ALLGATHER, -1, NULL, NULL, x.bytes);
    return run(&x);
}

int shoal_shm_alltoall(shoal_comm *c, const void *in, int64_t in_count, shoal_datatype *in_type,
                       void *out, int64_t out_count, shoal_datatype *out_type)
{
    exchange x = {.comm = c, .shows_row = true, .in_place = in == MPI_IN_PLACE};
    int rc = shoal_datatype_bytes(out_type, out_count, &x.bytes);
    if (rc) return rc;
    x.out = (shoal_blocks){out, out_count, out_type};
    x.in = x.in_place ? x.out : (shoal_blocks){(char *)(uintptr_t)in, in_count, in_type};
    x.total = c->size * x.bytes;
    x.mark = shoal_mark_make(SHOAL_COLL_ALLTOALL, -1, NULL, NULL, x.bytes);
    return run(&x);
}

int shoal_shm_allgatherv(shoal_comm *c, const void *in, int64_t in_count, shoal_datatype *in_type,
                         const shoal_blocks *out, int64_t longest, int64_t total)
{
    const shoal_blocks *mine = &out[c->rank];
    exchange x = {
        .comm = c, .bytes = longest, .total = total, .each = out, .in_place = in == MPI_IN_PLACE};
    x.in = x.in_place ? *mine : (shoal_blocks){(char *)(uintptr_t)in, in_count, in_type};
    int64_t own = x.in.count * x.in.type->size, bytes = length_of(&x, c->rank);
    x.mark = shoal_mark_make(SHOAL_COLL_ALLGATHERV, -1, NULL, NULL, total);
    int rc = run(&x);
    return rc ? rc : shoal_check_own(own, bytes);
}
