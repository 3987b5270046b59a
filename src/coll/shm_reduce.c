// SPDX-License-Identifier: BSD-3-Clause
// Reductions in the arena, of predefined operations. The operands are always taken in the order of
// the ranks, so the result has the same bits on every rank and in every run.
//
//   small   every rank shows its vector; who needs the result reduces all of them himself. So it is
//           with more, too, for the root of a crowd: then nobody else waits
//   large   by slices: rank r reduces slice r of all vectors. For each piece of the vector
//             show the slices that others will reduce  | everybody waits |
//             reduce the own slice and show it         | everybody waits |
//             copy the other slices of the result
//
//   larger  with more ranks than cores the sum goes from rank to rank (shm_chain.h)
//
// Two ranks with a core each: the result for one of them is reduced by it alone, behind the other,
// which fills a pipe with its vector. By slices it would have to read and write as much. Or they
// fetch each other's (shm_pair.h).
#include <string.h>

#include "coll/mark.h"
#include "coll/shm_chain.h"
#include "coll/shm_coll.h"
#include "coll/shm_pair.h"
#include "coll/shm_pipe.h"
#include "coll/shm_swap.h"

#define SMALL      4096 // up to here reducing everything everywhere is cheaper than one more wait
#define SMALL_SWAP (64 << 10)  // ... by two ranks that change places,
#define SMALL_ROOT (128 << 10) // ... and at the root of a crowd, where there is only one wait,
#define FEW_CORES  2           // ... if there would not be many cores for it,
#define ROOT_ALL   (512 << 10) // ... or it is not much altogether
#define BLOCK      4096        // that is reduced at a time: it stays in the nearest cache

typedef struct reduction {
    shoal_comm *comm;
    shoal_op_fn *kernel;
    int64_t unit; // bytes of one basic element, for cutting and counting
    const shoal_arena_mark *mark;
} reduction;

// out = in[0] op in[1] op ... op in[n-1], from left to right, over `bytes` at the same place of
// each input. All operations that come here commute.
typedef const char *input_fn(const reduction *, int rank, const void *context);
static void reduce_in_order(const reduction *r, input_fn *input, const void *context, char *out,
                            int64_t bytes)
{
    shoal_copy(out, input(r, 0, context), (size_t)bytes);
    for (int i = 1; i < r->comm->size; i++) r->kernel(input(r, i, context), out, bytes / r->unit);
}

typedef struct small_input {
    const char *own; // the own vector
    shoal_room shown;
} small_input;

static const char *small_input_of(const reduction *r, int rank, const void *context)
{
    const small_input *s = context;
    return rank == r->comm->rank ? s->own : shoal_room_of(&s->shown, rank);
}

static int reduce_small(const reduction *r, const char *in, char *out, int64_t bytes, int root)
{
    shoal_comm *c = r->comm;
    shoal_arena *a = c->arena;
    small_input s;
    int rc = root < 0 ? shoal_swap_begin(c, r->mark, bytes, &s.shown)
                      : shoal_room_begin(c, r->mark, bytes, false, &s.shown);
    if (rc) return rc;
    bool wants = root < 0 || c->rank == root;
    char *shown = shoal_room_of(&s.shown, c->rank);
    shoal_room_fill(a, &s.shown, shown, in, bytes);
    shoal_arena_settle(a);
    shoal_slot_publish(a, s.shown.epoch, r->mark, root >= 0);
    if (!wants) return 0;
    rc = shoal_slot_wait_all(c, s.shown.epoch, r->mark, root < 0);
    if (rc) return rc;
    // What others have just read is theirs now, and slow to read: the own vector is taken from
    // where it came, unless the result goes there.
    s.own = in == out ? shown : in;
    reduce_in_order(r, small_input_of, &s, out, bytes);
    return 0;
}

typedef struct slice_input {
    const char *own; // the own vector is read where it is
    shoal_room inputs;
    int64_t from;
} slice_input;

static const char *slice_input_of(const reduction *r, int rank, const void *context)
{
    const slice_input *s = context;
    return (rank == r->comm->rank ? s->own : shoal_room_of(&s->inputs, rank)) + s->from;
}

static void show(const reduction *r, const shoal_room *room, int64_t at, const char *from,
                 int64_t bytes)
{
    shoal_room_fill(r->comm->arena, room, shoal_room_of(room, r->comm->rank) + at, from, bytes);
}

// What the other of two ranks has written comes from memory if its core shares no cache with ours,
// and takes half as long again if it is not asked for a block ahead.
static void ask_for(const char *next, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += SHOAL_LINE) __builtin_prefetch(next + at);
}

// The own slice, block by block: what a block is made of is read before anything is written, since
// `out` may be the input. Either of `out` and `shown` may be NULL: the result is wanted here, and
// shown to others.
static void reduce_slice(const reduction *r, slice_input *s, char *out, const shoal_room *shown,
                         int64_t bytes)
{
    char block[BLOCK] __attribute__((aligned(64)));
    int64_t most = BLOCK / r->unit * r->unit;
    bool directly = !shown && out != s->own + s->from;
    bool far = r->comm->size == 2 && shoal_arena_others_are_far(r->comm->arena);
    for (int64_t at = 0; at < bytes; at += most) {
        int64_t part = bytes - at < most ? bytes - at : most, next = bytes - at - part;
        if (far) ask_for(slice_input_of(r, 1 - r->comm->rank, s) + part, next < most ? next : most);
        reduce_in_order(r, slice_input_of, s, directly ? out + at : block, part);
        if (out && !directly) shoal_copy(out + at, block, (size_t)part);
        if (shown) show(r, shown, at, block, part);
        s->from += part;
    }
}

// As reduce_small() for one root, if the vectors are not so small: the root does not show its own,
// and reduces block by block.
static int reduce_at_root(const reduction *r, const char *in, char *out, int64_t bytes, int root)
{
    shoal_comm *c = r->comm;
    slice_input s = {.own = in};
    int rc = shoal_room_begin(c, r->mark, bytes, false, &s.inputs);
    if (rc) return rc;
    if (c->rank != root) show(r, &s.inputs, 0, in, bytes);
    shoal_arena_settle(c->arena);
    shoal_slot_publish(c->arena, s.inputs.epoch, r->mark, c->rank != root);
    if (c->rank != root) return 0;
    rc = shoal_slot_wait_all(c, s.inputs.epoch, r->mark, false);
    if (rc == 0) reduce_slice(r, &s, out, NULL, bytes);
    return rc;
}

static int reduce_piece(const reduction *r, const char *in, char *out, int64_t bytes, int root)
{
    shoal_comm *c = r->comm;
    int n = c->size, me = c->rank;
    bool wants = root < 0 || root == me;
    int64_t from = shoal_slice_from(me, n, bytes, r->unit),
            to = shoal_slice_from(me + 1, n, bytes, r->unit);
    shoal_room inputs, results;
    int64_t share = bytes / n + 2 * SHOAL_LINE;
    int rc = shoal_swap_begin(c, r->mark, n == 2 ? share : bytes, &inputs);
    if (rc) return rc;
    // Two ranks show one slice each, not the same, but in lines that change hands.
    if (n == 2) {
        int64_t half = shoal_slice_from(1, n, bytes, r->unit);
        inputs.at -= half;
        inputs.step += half;
    }
    show(r, &inputs, 0, in, from);
    show(r, &inputs, to, in + to, bytes - to);
    rc = shoal_room_show(c, r->mark, &inputs);
    if (rc == 0) rc = shoal_swap_begin(c, r->mark, share, &results);
    if (rc) return rc;
    slice_input slice = {.own = in, .inputs = inputs, .from = from};
    reduce_slice(r, &slice, wants ? out + from : NULL, root == me ? NULL : &results, to - from);
    rc = shoal_room_show(c, r->mark, &results);
    bool flood = root < 0 && shoal_is_flood(c, (int64_t)r->mark->bytes);
    for (int i = 0; rc == 0 && wants && i < n; i++) {
        int64_t first = shoal_slice_from(i, n, bytes, r->unit),
                end = shoal_slice_from(i + 1, n, bytes, r->unit);
        if (i != me) shoal_arena_take(out + first, shoal_room_of(&results, i), end - first, flood);
    }
    if (flood) shoal_settle_copies();
    return rc;
}

static int reduce_large(const reduction *r, const char *in, char *out, int64_t bytes, int root)
{
    int64_t piece = shoal_room_most(r->comm->arena, false) / r->unit * r->unit;
    int rc = 0;
    for (int64_t done = 0; rc == 0 && done < bytes; done += piece) {
        int64_t part = bytes - done < piece ? bytes - done : piece;
        rc = reduce_piece(r, in + done, out ? out + done : NULL, part, root);
    }
    return rc;
}

static int reduce_chained(const reduction *r, const char *in, char *out, int64_t bytes, int root)
{
    bool wants = root < 0 || root == r->comm->rank;
    return shoal_chain_run(&(shoal_chain){.comm = r->comm,
                                          .mark = r->mark,
                                          .kernel = r->kernel,
                                          .unit = r->unit,
                                          .in = in,
                                          .bytes = bytes,
                                          .to = wants ? bytes : 0,
                                          .out = out,
                                          .flood = root < 0 && shoal_is_flood(r->comm, bytes)});
}

// What goes through the pipe, and how far it is.
typedef struct piped {
    const reduction *reduction;
    const char *in;
    char *out;
} piped;

static void put_vector(void *what, char *place, int64_t bytes, bool warm)
{
    piped *p = what;
    const shoal_arena *a = p->reduction->comm->arena;
    if (warm)
        shoal_copy(place, p->in, (size_t)bytes);
    else
        shoal_arena_copy(a, place, p->in, bytes);
    shoal_arena_settle(a);
    p->in += bytes;
}

static void reduce_vector(void *what, const char *place, int64_t bytes)
{
    piped *p = what;
    // A room whose every rank is at this place: only the other's is looked for in it.
    slice_input s = {.own = p->in, .inputs = {.at = (char *)(uintptr_t)place}};
    reduce_slice(p->reduction, &s, p->out, NULL, bytes);
    p->in += bytes;
    p->out += bytes;
}

static int reduce_piped(const reduction *r, const char *in, char *out, int64_t bytes, int root)
{
    piped p = {.reduction = r, .in = in, .out = out};
    return shoal_pipe_run(&(shoal_pipe){.comm = r->comm,
                                        .mark = r->mark,
                                        .from = 1 - root,
                                        .bytes = bytes,
                                        .unit = r->unit,
                                        .put = put_vector,
                                        .take = reduce_vector,
                                        .what = &p});
}

static int reduce_fetched(const reduction *r, const char *in, char *out, int64_t bytes, int root,
                          bool *done)
{
    bool wants = root < 0 || root == r->comm->rank;
    return shoal_pair_run(&(shoal_pair){.comm = r->comm,
                                        .mark = r->mark,
                                        .kind = root < 0 ? SHOAL_COLL_ALLREDUCE : SHOAL_COLL_REDUCE,
                                        .kernel = r->kernel,
                                        .unit = r->unit,
                                        .length = bytes,
                                        .in = in,
                                        .out = out,
                                        .bytes = wants ? bytes : 0,
                                        .into_others = r->comm->rank == 1},
                          done);
}

static bool is_small_for_root(const shoal_arena *a, int64_t bytes)
{
    return a->crowded && bytes <= SMALL_ROOT && bytes <= shoal_room_most(a, false) &&
           (a->cores <= FEW_CORES || bytes * a->n <= ROOT_ALL);
}

static int reduce(shoal_comm *c, const void *in, void *out, int64_t count, shoal_datatype *type,
                  shoal_op *op, int root, enum shoal_coll_kind kind)
{
    int64_t bytes;
    int rc = shoal_datatype_bytes(type, count, &bytes);
    if (rc) return rc;
    shoal_arena_mark mark = shoal_mark_make(kind, root, op, type, bytes);
    reduction r = {.comm = c, .mark = &mark};
    r.kernel = shoal_op_kernel(op, type, &r.unit);
    const char *from = (const char *)in + type->true_lb;
    char *to = out ? (char *)out + type->true_lb : NULL;
    bool pair = shoal_swap_serves(c->arena);
    if (bytes <= SMALL || (pair && root < 0 && bytes <= SMALL_SWAP))
        return reduce_small(&r, from, to, bytes, root);
    if (root >= 0 && is_small_for_root(c->arena, bytes))
        return reduce_at_root(&r, from, to, bytes, root);
    if (shoal_pair_serves(c, bytes, SHOAL_PAIR_VECTOR)) {
        bool done = false;
        rc = reduce_fetched(&r, from, to, bytes, root, &done);
        if (rc || done) return rc;
    }
    if (shoal_chain_serves(c->arena, bytes)) return reduce_chained(&r, from, to, bytes, root);
    return pair && root >= 0 ? reduce_piped(&r, from, to, bytes, root)
                             : reduce_large(&r, from, to, bytes, root);
}

int shoal_shm_reduce(shoal_comm *c, const void *in, void *out, int64_t count, shoal_datatype *type,
                     shoal_op *op, int root)
{
    return reduce(c, in, out, count, type, op, root, SHOAL_COLL_REDUCE);
}

int shoal_shm_allreduce(shoal_comm *c, const void *in, void *out, int64_t count,
                        shoal_datatype *type, shoal_op *op)
{
    return reduce(c, in, out, count, type, op, -1, SHOAL_COLL_ALLREDUCE);
}
