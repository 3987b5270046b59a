// SPDX-License-Identifier: BSD-3-Clause
// Gather, scatter, allgather and alltoall in the arena: blocks of equal size that change places.
// What fits an epoch's data moves in one epoch; larger blocks move in pieces through the windows in
// turn: while some still copy piece k from one, others fill the next with piece k + 1.
#include "coll/mark.h"
#include "coll/shm_coll.h"
#include "coll/shm_sync.h"

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

// Packs `bytes` of block i from packed position `at`.
static void show(const exchange *x, int i, int64_t at, char *to, int64_t bytes)
{
    const blocks *b = &x->in;
    if (b->type->dense && bytes > 0) {
        const char *from = b->buf + i * b->stride + b->type->true_lb + at;
        shoal_arena_copy(x->comm->arena, to, from, bytes);
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

static void show_piece(const exchange *x, char *to, int64_t at, int64_t part)
{
    if (!x->shows) return;
    if (!x->shows_row) {
        show(x, x->own_in, at, to, part);
        return;
    }
    for (int i = 0; i < x->comm->size; i++)
        if (i != x->comm->rank) show(x, i, at, to + i * part, part);
}

// Takes what rank i shows at `from` into the right block.
static void take_piece(const exchange *x, int i, const char *from, int64_t at, int64_t part)
{
    int row = x->shows_row ? x->comm->rank : 0;
    int block = x->root >= 0 && x->shows_row ? 0 : i; // scatter has one block to take
    take(&x->out, block, at, from + row * part, part);
}

static bool takes_from(const exchange *x, int i)
{
    return x->takes && i != x->comm->rank && (!x->shows_row || x->root < 0 || i == x->root);
}

static int exchange_small(exchange *x)
{
    shoal_comm *c = x->comm;
    shoal_arena *a = c->arena;
    int64_t shown = x->shows_row ? x->bytes * c->size : x->bytes;
    uint64_t e;
    int rc = shoal_epoch_begin(c, &x->mark, &e);
    if (rc) return rc;
    if (x->shows) {
        show_piece(x, shoal_arena_data(a, c->rank, e, shown), 0, x->bytes);
        shoal_arena_settle(a);
        shoal_slot_publish(a, e, &x->mark, x->root >= 0);
    }
    bool from_root = x->shows_row && x->root >= 0;
    if (!x->takes || (from_root && c->rank == x->root)) return 0;
    rc = from_root ? shoal_slot_wait(c, x->root, e, &x->mark)
                   : shoal_slot_wait_all(c, e, &x->mark, x->root < 0);
    for (int i = 0; rc == 0 && i < c->size; i++)
        if (takes_from(x, i)) take_piece(x, i, shoal_arena_data(a, i, e, shown), 0, x->bytes);
    return rc;
}

static int exchange_large(exchange *x)
{
    shoal_comm *c = x->comm;
    shoal_arena *a = c->arena;
    int64_t piece = shoal_arena_window_bytes(a);
    if (x->shows_row) piece = piece / c->size / 64 * 64;
    int rc = 0;
    for (int64_t at = 0; rc == 0 && at < x->bytes; at += piece) {
        int64_t part = x->bytes - at < piece ? x->bytes - at : piece;
        shoal_window w;
        rc = shoal_window_open(c, &x->mark, x->shows_row ? part * c->size : part, &w);
        if (rc) return rc;
        show_piece(x, shoal_arena_window(a, c->rank, w), at, part);
        rc = shoal_window_show(c, &x->mark, w);
        // Each rank begins with its neighbour, so that not all read the same place at once.
        for (int k = 0; rc == 0 && k < c->size; k++) {
            int i = (c->rank + k) % c->size;
            if (takes_from(x, i)) take_piece(x, i, shoal_arena_window(a, i, w), at, part);
        }
    }
    return rc;
}

static int run(exchange *x)
{
    int64_t shown = x->shows_row ? x->bytes * x->comm->size : x->bytes;
    // With a root, a rank that is not concerned need not wait.
    int64_t most = x->root < 0 ? SHOAL_DATA_MIDDLE : SHOAL_SLOT_DATA;
    int rc = shown <= most ? exchange_small(x) : exchange_large(x);
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
