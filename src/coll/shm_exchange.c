// SPDX-License-Identifier: BSD-3-Clause
// Gather, scatter, allgather and alltoall in the arena: blocks of equal size that change places.
// What there is no room for at once moves in pieces: while some still copy piece k, others show
// piece k + 1. With a root, who is not concerned does not wait.
#include "coll/mark.h"
#include "coll/shm_coll.h"
#include "coll/shm_swap.h"
#include "net/shm/shm.h"

// Blocks of a buffer, one for each rank.
typedef struct blocks {
    char *buf;
    int64_t count;
    const shoal_datatype *type;
    int64_t stride;
} blocks;

static blocks blocks_of(const void *buf, int64_t count, const shoal_datatype *type)
{
    return (blocks){.buf = (char *)(uintptr_t)buf,
                    .count = count,
                    .type = type,
                    .stride = type ? count * type->extent : 0};
}

// Unpacks `bytes` of block i to packed position `at`.
static void take(const blocks *b, int i, int64_t at, const char *from, int64_t bytes)
{
    shoal_cursor c;
    shoal_cursor_init(&c, b->type, b->count, b->buf + i * b->stride);
    if (at) shoal_cursor_seek(&c, at);
    shoal_cursor_unpack(&c, from, bytes);
}

// Which blocks a rank shows and takes in one of the four exchanges.
typedef struct exchange {
    shoal_comm *comm;
    shoal_arena_mark mark;
    int64_t bytes; // of a block
    blocks in, out;
    int root;          // -1: none
    bool shows_row;    // shows a block for each rank (alltoall, scatter's root), else one
    bool shows, takes; // this rank does, to and from others
    int own_in;        // index of the own block in `in` where only one is shown
    bool in_place;     // the own block lies where it belongs
} exchange;

// Only the root shows, and something for each.
static bool from_root(const exchange *x)
{
    return x->shows_row && x->root >= 0;
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
    const blocks *b = &x->in;
    if (b->type->dense && bytes > 0) {
        const char *from = b->buf + i * b->stride + b->type->true_lb + at;
        shoal_room_fill(x->comm->arena, room, to, from, bytes);
        return;
    }
    shoal_cursor c;
    shoal_cursor_init(&c, b->type, b->count, b->buf + i * b->stride);
    if (at) shoal_cursor_seek(&c, at);
    shoal_cursor_pack(&c, to, bytes);
}

// The block that a rank has for itself goes straight over.
static void copy_own(const exchange *x)
{
    if (!x->takes || x->in_place || (x->root >= 0 && x->comm->rank != x->root)) return;
    int me = x->comm->rank;
    const char *from = x->in.buf + (x->shows_row ? me : x->own_in) * x->in.stride;
    char *to = x->out.buf + (x->root >= 0 && x->shows_row ? 0 : me) * x->out.stride;
    shoal_datatype_copy(from, x->in.count, x->in.type, to, x->out.count, x->out.type);
}

static void show_piece(const exchange *x, const shoal_room *room, int64_t at, int64_t part)
{
    char *to = shoal_room_of(room, x->comm->rank);
    if (!x->shows_row) {
        show(x, room, x->own_in, at, to, part);
        return;
    }
    for (int i = 0; i < x->comm->size; i++)
        if (i != x->comm->rank) show(x, room, i, at, to + place_in_row(x, i) * part, part);
}

// Takes what rank i shows at `from` into the right block.
static void take_piece(const exchange *x, int i, const char *from, int64_t at, int64_t part)
{
    int row = place_in_row(x, x->comm->rank);
    int block = x->root >= 0 && x->shows_row ? 0 : i; // scatter has one block to take
    take(&x->out, block, at, from + row * part, part);
}

// Each rank begins with the one above it, so that not all read the same place at once.
static void take_all(const exchange *x, const shoal_room *room, int64_t at, int64_t part)
{
    const shoal_comm *c = x->comm;
    for (int k = c->rank + 1; k < c->rank + c->size; k++) {
        int i = k < c->size ? k : k - c->size;
        take_piece(x, i, shoal_room_of(room, i), at, part);
    }
}

// Moves `part` bytes from position `at` of each block.
static int move_piece(const exchange *x, int64_t at, int64_t part)
{
    shoal_comm *c = x->comm;
    shoal_arena *a = c->arena;
    shoal_room room;
    int64_t shown = part * row_blocks(x);
    int rc = x->root < 0 ? shoal_swap_begin(c, &x->mark, shown, &room)
                         : shoal_room_begin(c, &x->mark, shown, from_root(x), &room);
    if (rc) return rc;
    if (x->shows) {
        show_piece(x, &room, at, part);
        shoal_arena_settle(a);
        shoal_slot_publish(a, room.epoch, &x->mark, x->root >= 0);
    }
    if (!x->takes || (from_root(x) && c->rank == x->root)) return 0;
    rc = from_root(x) ? shoal_slot_wait(c, x->root, room.epoch, &x->mark)
                      : shoal_slot_wait_all(c, room.epoch, &x->mark, x->root < 0);
    if (rc) return rc;
    if (from_root(x))
        take_piece(x, x->root, shoal_room_of(&room, x->root), at, part);
    else
        take_all(x, &room, at, part);
    return 0;
}

static int move_large(const exchange *x, int64_t most)
{
    int64_t piece = most / row_blocks(x);
    if (piece > 64) piece = piece / 64 * 64;
    int rc = 0;
    for (int64_t at = 0; rc == 0 && at < x->bytes; at += piece)
        rc = move_piece(x, at, x->bytes - at < piece ? x->bytes - at : piece);
    return rc;
}

// Copying twice through the pool, which stays in the caches, takes less time than the kernel needs
// for its one copy, unless blocks are long or what another core has written is slow to read.
#define LONG_BLOCK (256 << 10)
static bool should_fetch(const exchange *x)
{
    const shoal_arena *a = x->comm->arena;
    return a->crowded && x->shows_row && x->root < 0 &&
           (x->bytes >= LONG_BLOCK || shoal_arena_far(a));
}

// Alltoall with more ranks than cores: everybody says where its blocks lie, and fetches those of
// the others through the kernel. Not done if somebody's blocks have holes, or somebody cannot read.
static int fetch_blocks(const exchange *x, bool *done)
{
    shoal_comm *c = x->comm;
    bool can = x->in.type->dense && x->out.type->dense && !x->in_place &&
               shoal_cma_works(c->peers[(c->rank + 1) % c->size]);
    char *own = x->in.buf + x->in.type->true_lb;
    shoal_room room;
    uint64_t least;
    int rc = shoal_word_say(c, &x->mark, can ? (uint64_t)(uintptr_t)own : 0, &room, &least);
    if (rc || least == 0) return rc;
    bool good = true;
    for (int k = c->rank + 1; good && k < c->rank + c->size; k++) {
        int i = k < c->size ? k : k - c->size;
        uint64_t from = shoal_word_of(&room, i) + (uint64_t)(c->rank * x->bytes);
        char *to = x->out.buf + x->out.type->true_lb + i * x->out.stride;
        good = shoal_cma_read(c->peers[i], to, from, (uint64_t)x->bytes);
    }
    // Nobody may change its blocks before all have been fetched.
    rc = shoal_word_say(c, &x->mark, good, &room, &least);
    *done = rc == 0 && least == 1;
    return rc;
}

static int run(exchange *x)
{
    int64_t shown = x->bytes * row_blocks(x);
    int64_t most = shoal_room_most(x->comm->arena, from_root(x));
    bool done = false;
    int rc = 0;
    if (shown > most && should_fetch(x)) rc = fetch_blocks(x, &done);
    if (rc == 0 && !done) rc = shown <= most ? move_piece(x, 0, x->bytes) : move_large(x, most);
    // Last, because an exchange in place reads the buffer that it writes.
    if (rc == 0) copy_own(x);
    return rc;
}

int shoal_shm_allgather(shoal_comm *c, const void *in, int64_t in_count, shoal_datatype *in_type,
                        void *out, int64_t out_count, shoal_datatype *out_type)
{
    exchange x = {
        .comm = c, .root = -1, .shows = true, .takes = true, .in_place = in == MPI_IN_PLACE};
    int rc = shoal_datatype_bytes(out_type, out_count, &x.bytes);
    if (rc) return rc;
    x.out = blocks_of(out, out_count, out_type);
    x.in = x.in_place ? x.out : blocks_of(in, in_count, in_type);
    x.own_in = x.in_place ? c->rank : 0;
    x.mark = shoal_mark_make(SHOAL_COLL_ALLGATHER, -1, NULL, NULL, x.bytes);
    return run(&x);
}

int shoal_shm_gather(shoal_comm *c, const void *in, int64_t in_count, shoal_datatype *in_type,
                     void *out, int64_t out_count, shoal_datatype *out_type, int root)
{
    bool is_root = c->rank == root;
    exchange x = {.comm = c,
                  .root = root,
                  .shows = !is_root,
                  .takes = is_root,
                  .in_place = in == MPI_IN_PLACE};
    int rc = is_root ? shoal_datatype_bytes(out_type, out_count, &x.bytes)
                     : shoal_datatype_bytes(in_type, in_count, &x.bytes);
    if (rc) return rc;
    if (x.takes) x.out = blocks_of(out, out_count, out_type);
    if (!x.in_place) x.in = blocks_of(in, in_count, in_type);
    x.mark = shoal_mark_make(SHOAL_COLL_GATHER, root, NULL, NULL, x.bytes);
    return run(&x);
}

int shoal_shm_scatter(shoal_comm *c, const void *in, int64_t in_count, shoal_datatype *in_type,
                      void *out, int64_t out_count, shoal_datatype *out_type, int root)
{
    bool is_root = c->rank == root;
    exchange x = {.comm = c,
                  .root = root,
                  .shows_row = true,
                  .shows = is_root,
                  .takes = true,
                  .in_place = out == MPI_IN_PLACE};
    int rc = is_root ? shoal_datatype_bytes(in_type, in_count, &x.bytes)
                     : shoal_datatype_bytes(out_type, out_count, &x.bytes);
    if (rc) return rc;
    if (x.shows) x.in = blocks_of(in, in_count, in_type);
    if (!x.in_place) x.out = blocks_of(out, out_count, out_type);
    x.mark = shoal_mark_make(SHOAL_COLL_SCATTER, root, NULL, NULL, x.bytes);
    return run(&x);
}

int shoal_shm_alltoall(shoal_comm *c, const void *in, int64_t in_count, shoal_datatype *in_type,
                       void *out, int64_t out_count, shoal_datatype *out_type)
{
    exchange x = {.comm = c,
                  .root = -1,
                  .shows_row = true,
                  .shows = true,
                  .takes = true,
                  .in_place = in == MPI_IN_PLACE};
    int rc = shoal_datatype_bytes(out_type, out_count, &x.bytes);
    if (rc) return rc;
    x.out = blocks_of(out, out_count, out_type);
    x.in = x.in_place ? x.out : blocks_of(in, in_count, in_type);
    x.mark = shoal_mark_make(SHOAL_COLL_ALLTOALL, -1, NULL, NULL, x.bytes);
    return run(&x);
}
