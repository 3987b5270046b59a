// SPDX-License-Identifier: BSD-3-Clause
// Gather, scatter and alltoall of blocks of any length, blocking, in the arena of a crowd: there a
// call takes half as long as by messages, since all that is moved lies in few pages and a rank need
// not wait for one message after the other.
//
// Only two ranks know how long the block between them is, so an epoch has the same room for every
// call of a kind, and who has a block for others says where it lies:
//
//     gather     slot of a rank:  | cell | a short block        room of the rank: | a longer one
//     scatter    room of the root:  | cell of each rank | blocks
//     alltoall   front of a rank:   | cell of each rank | short blocks     its back: | longer ones
//
// The fronts of an alltoall lie side by side, and many of them in a page. A block for which there
// may be no room becomes a message: its cell says so, and who expects it asks for it before looking
// at the cell, so that it is copied but once. How much room a gather or scatter has follows what
// all ranks have met of late.
#include "coll/shm_uneven.h"

#include <assert.h>

#include "coll/direct.h"
#include "coll/own_block.h"
#include "coll/schedule.h"
#include "coll/select.h"
#include "coll/shm_blocks.h"
#include "coll/shm_sync.h"
#include "coll/signature.h"
#include "core/errhandler.h"
#include "p2p/p2p.h"
#include "plat/error.h"

#define ROOM_EPOCHS  8         // serve themselves from a part of the pool before it is full
#define SCATTER_MOST (1 << 20) // bytes of a row; more would not stay in the caches
// Other exchanges have as much of the pool as stays in the caches. Here more than half of it may be
// left out, since nobody knows how long the blocks are, and messages take longer all the same.
#define EXCHANGE_ROOMS 3
#define EXCHANGE_MOST  (128 << 10) // bytes of a block
#define EXCHANGE_RANKS 32          // of more most blocks would be messages, which then go by turns
#define FETCHED        (32 << 10)  // as messages, if the kernel is quick
#define EVEN_LEAST     (16 << 10)  // ... of an alltoall whose blocks are equally long,
#define EVEN_ALL       (8 << 20)   // ... and all that ranks move in such a one
#define FRONT_BYTES    24          // of the front of an alltoall, for each rank, beside its cell

typedef struct cell {
    uint32_t at; // where in the row, or one of these
    uint32_t bytes;
} cell;
enum { BESIDE = UINT32_MAX - 1, BY_MESSAGE = UINT32_MAX };

// What a rank shows in its slot in a gather.
typedef struct single {
    cell where;
    char data[SHOAL_SLOT_PAYLOAD - sizeof(cell)];
} single;
static_assert(sizeof(single) == SHOAL_SLOT_PAYLOAD, "it fills the slot");

// How the room of an alltoall is divided.
typedef struct plan {
    char *fronts, *backs;
    int64_t front, back; // bytes of each rank
} plan;

typedef struct call {
    const shoal_coll_args *args;
    const shoal_arena_mark *mark;
    shoal_comm *comm;
    int tag;
    int64_t limit; // longer blocks are messages
    shoal_room room;
    plan plan; // alltoall
    shoal_own_block own;
    shoal_schedule *messages; // those that this rank expects or sends, or NULL
    void (*take)(struct call *);
    bool taken;   // what others show
    int rc;       // the first failure
    int cut_from; // a rank whose block is too long for its place, or -1
    int64_t cut_bytes, cut_room;
} call;

// What is under way as a message may fail as well, with another text.
static void remember(call *x, int rc)
{
    if (x->rc == 0) x->rc = rc < 0 && x->messages ? shoal_errcode_make(rc, shoal_fail_text()) : rc;
}

// The only block of a rank that is not the root.
static shoal_block single_to_send(const shoal_coll_args *a)
{
    return (shoal_block){(char *)(uintptr_t)a->sendbuf, a->sendcount, a->sendtype};
}

static shoal_block single_to_recv(const shoal_coll_args *a)
{
    return (shoal_block){a->recvbuf, a->recvcount, a->recvtype};
}

static void pack(const call *x, const shoal_block *b, char *to, int64_t bytes)
{
    if (bytes == 0) return;
    if (b->type->dense) {
        shoal_arena_copy(x->comm->arena, to, b->buf + b->type->true_lb, bytes);
        return;
    }
    shoal_cursor c;
    shoal_cursor_init(&c, b->type, b->count, b->buf);
    shoal_cursor_pack(&c, to, bytes);
}

// Takes what a rank has shown, as far as it fits.
static void unpack(call *x, int rank, const shoal_block *b, const char *from, int64_t bytes)
{
    int64_t room = shoal_block_bytes(b);
    if (bytes > room && x->cut_from < 0) {
        x->cut_from = rank;
        x->cut_bytes = bytes;
        x->cut_room = room;
    }
    if (bytes > room) bytes = room;
    if (bytes == 0) return;
    if (b->type->dense) {
        shoal_copy(b->buf + b->type->true_lb, from, (size_t)bytes);
        return;
    }
    shoal_cursor c;
    shoal_cursor_init(&c, b->type, b->count, b->buf);
    shoal_cursor_unpack(&c, from, bytes);
}

// Where the next block of a row goes.
typedef struct row {
    char *at;
    int64_t used, room;
} row;

static int64_t in_lines(int64_t bytes)
{
    return (bytes + SHOAL_LINE - 1) / SHOAL_LINE * SHOAL_LINE;
}

// Shows a block in the row if there is room for it.
static bool show(const call *x, row *r, const shoal_block *b, cell *out)
{
    int64_t bytes = shoal_block_bytes(b);
    int64_t from = bytes >= SHOAL_LINE ? in_lines(r->used) : r->used;
    if (bytes > r->room - from) return false;
    pack(x, b, r->at + from, bytes);
    *out = (cell){.at = (uint32_t)from, .bytes = (uint32_t)bytes};
    r->used = from + bytes;
    return true;
}

// The room of a row of blocks: cells first.
static row row_behind_cells(const call *x, char *at, int64_t room)
{
    return (row){.at = at, .used = x->comm->size * (int64_t)sizeof(cell), .room = room};
}

static bool is_message(const call *x, const shoal_block *b)
{
    return shoal_block_bytes(b) > x->limit;
}

// The block of a rank, after waiting for it; its cell, which another process has written, speaks of
// `room` bytes from `at` on. The two ranks may not think the same of its length: what is sent is
// received, and what is longer than its place is an error.
static void take(call *x, int from, const shoal_block *b, cell where, const char *at, int64_t room)
{
    bool expected = is_message(x, b);
    if (where.at == BY_MESSAGE) {
        shoal_message_args m = shoal_direct_message(x->args, b, from, x->tag);
        if (!expected) remember(x, shoal_p2p_recv(&m, NULL));
        return;
    }
    if (expected && x->messages) shoal_schedule_forget_recv(x->messages, from);
    if ((int64_t)where.at + where.bytes > room) {
        remember(x, shoal_fail(SHOAL_E_INTERN, "a block of a collective lies outside of its room"));
        return;
    }
    unpack(x, from, b, at + where.at, where.bytes);
}

static shoal_schedule *messages(call *x)
{
    const shoal_coll_args *a = x->args;
    if (x->messages) return x->messages;
    shoal_schedule *s = shoal_schedule_new(x->comm, a->call, a->root, true);
    x->messages = s;
    if (!s) {
        remember(x, SHOAL_E_NO_MEM);
        return NULL;
    }
    shoal_coll_keep_types(s, a);
    if (a->root < 0)
        shoal_schedule_set_traffic(s, SHOAL_TRAFFIC_EXCHANGE);
    else if (x->comm->rank == a->root)
        shoal_schedule_set_traffic(s, SHOAL_TRAFFIC_MANY);
    return s;
}

static void expect_message(call *x, const shoal_block *b, int from)
{
    shoal_schedule *s = is_message(x, b) ? messages(x) : NULL;
    if (s) shoal_schedule_recv(s, b->buf, b->count, b->type, from);
}

static void send_message(call *x, const shoal_block *b, int to)
{
    shoal_schedule *s = is_message(x, b) ? messages(x) : NULL;
    if (s) shoal_schedule_send(s, b->buf, b->count, b->type, to);
}

// What others show, and then what this rank has for itself.
static bool work(void *what)
{
    call *x = what;
    if (!x->taken && x->take) x->take(x);
    x->taken = true;
    return shoal_own_block_copy_piece(&x->own);
}

static int outcome(const call *x)
{
    const shoal_own_block *own = &x->own;
    if (x->rc) return x->rc;
    if (x->cut_from >= 0)
        return shoal_fail(SHOAL_E_TRUNCATE,
                          "rank %d sent %lld bytes, the receive buffer holds %lld", x->cut_from,
                          (long long)x->cut_bytes, (long long)x->cut_room);
    return shoal_own_block_fits(own) ? 0 : shoal_check_own(own->bytes, shoal_block_bytes(&own->to));
}

// The own part has been shown.
static int finish(call *x)
{
    int rc = x->messages ? shoal_signature_check(x->comm, x->mark) : 0;
    if (rc) {
        shoal_schedule_free(x->messages);
        return rc;
    }
    if (x->messages) {
        remember(x, shoal_schedule_run_beside(x->messages, work, x));
    } else {
        while (work(x)) continue;
        shoal_schedule_skip_tag(x->comm, true);
    }
    return outcome(x);
}

static void publish(const call *x)
{
    shoal_arena_settle(x->comm->arena);
    shoal_slot_publish(x->comm->arena, x->room.epoch, x->mark, true);
}

// Where the kernel is quick, long messages are fetched, which takes one copy.
static int64_t not_long(int64_t bytes)
{
    return shoal_shm_quick_kernel() && bytes > FETCHED ? FETCHED : bytes;
}

static int64_t most_of(const shoal_comm *c, enum shoal_want which)
{
    if (which == SHOAL_WANT_SCATTER) return SCATTER_MOST / c->size / SHOAL_LINE * SHOAL_LINE;
    return shoal_room_most(c->arena, false) / SHOAL_LINE * SHOAL_LINE;
}

// The longest block of a gather or scatter that lies in the pool: of so many that several epochs
// have room in a part of it; or longer, up to `most`, if such blocks have been met of late.
static int64_t limit_of(const shoal_comm *c, enum shoal_want which)
{
    int64_t short_one = (int64_t)SHOAL_POOL_PART / ROOM_EPOCHS / c->size;
    int64_t wanted = not_long(shoal_room_wanted(c->arena, which)), most = most_of(c, which);
    if (wanted > most) wanted = most;
    return in_lines(wanted > short_one ? wanted : short_one);
}

// Notes that there is such a block. One that is a message in any case says nothing.
static void note_block(const call *x, enum shoal_want which, const shoal_block *b)
{
    int64_t bytes = shoal_block_bytes(b);
    if (bytes <= most_of(x->comm, which)) shoal_room_want(x->comm->arena, which, bytes);
}

// ---- gather

static single *single_of(const call *x, int rank)
{
    return (single *)(void *)shoal_arena_slot(x->comm->arena, rank, x->room.epoch)->payload;
}

static int give_to_root(call *x)
{
    shoal_block b = single_to_send(x->args);
    single *mine = single_of(x, x->comm->rank);
    note_block(x, SHOAL_WANT_GATHER, &b);
    row beside = {.at = mine->data, .room = sizeof mine->data};
    row pool = {.at = shoal_room_of(&x->room, x->comm->rank), .room = x->limit};
    cell where = {.at = BY_MESSAGE};
    if (show(x, &beside, &b, &where))
        where.at = BESIDE;
    else
        show(x, &pool, &b, &where);
    mine->where = where;
    publish(x);
    if (where.at == BY_MESSAGE && shoal_direct_send(x->args, &b, x->args->root, x->tag))
        where.at = BESIDE; // it is on its way
    if (where.at == BY_MESSAGE) send_message(x, &b, x->args->root);
    return finish(x);
}

// If the root changes from call to call, the ranks just below it come last.
static void take_singles(call *x)
{
    for (int k = 1; k < x->comm->size; k++) {
        int i = shoal_rank_above(x->args->root, k, x->comm->size);
        int rc = (x->messages ? shoal_slot_wait_long : shoal_slot_wait)(x->comm, i, x->room.epoch,
                                                                        x->mark);
        remember(x, rc);
        if (rc) return;
        const single *theirs = single_of(x, i);
        cell where = theirs->where;
        shoal_block b = shoal_block_to_recv(x->args, i);
        bool beside = where.at == BESIDE;
        if (beside) where.at = 0;
        take(x, i, &b, where, beside ? theirs->data : shoal_room_of(&x->room, i),
             beside ? (int64_t)sizeof theirs->data : x->limit);
    }
}

static int take_at_root(call *x)
{
    const shoal_coll_args *a = x->args;
    x->own = shoal_own_block_of(x->comm, single_to_send(a), shoal_block_to_recv(a, a->root));
    if (!x->own.flood) shoal_own_block_copy(&x->own);
    for (int k = 1; k < x->comm->size; k++) {
        int i = shoal_rank_above(a->root, k, x->comm->size);
        shoal_block b = shoal_block_to_recv(a, i);
        note_block(x, SHOAL_WANT_GATHER, &b);
        expect_message(x, &b, i);
    }
    x->take = take_singles;
    return finish(x);
}

static int gather(call *x)
{
    x->limit = limit_of(x->comm, SHOAL_WANT_GATHER);
    int rc = shoal_room_begin(x->comm, x->mark, x->limit, false, &x->room);
    if (rc) return rc;
    return x->comm->rank == x->args->root ? take_at_root(x) : give_to_root(x);
}

// ---- scatter

// For cells, and for blocks of the limit, which begin with lines.
static int64_t scatter_room(const call *x)
{
    return in_lines(x->comm->size * (int64_t)sizeof(cell)) + (x->comm->size - 1) * x->limit;
}

static cell *cells_of_root(const call *x)
{
    return (cell *)(void *)shoal_room_of(&x->room, x->args->root);
}

static int give_from_root(call *x)
{
    const shoal_coll_args *a = x->args;
    cell *cells = cells_of_root(x);
    row r = row_behind_cells(x, (char *)cells, scatter_room(x));
    for (int k = 1; k < x->comm->size; k++) {
        int i = shoal_rank_above(a->root, k, x->comm->size);
        shoal_block b = shoal_block_to_send(a, i);
        note_block(x, SHOAL_WANT_SCATTER, &b);
        cells[i] = (cell){.at = BY_MESSAGE};
        bool shown = !is_message(x, &b) && show(x, &r, &b, &cells[i]);
        assert(shown || is_message(x, &b));
        (void)shown;
        send_message(x, &b, i);
    }
    publish(x);
    x->own = shoal_own_block_of(x->comm, shoal_block_to_send(a, a->root), single_to_recv(a));
    return finish(x);
}

static void take_from_root(call *x)
{
    int rc = shoal_slot_wait(x->comm, x->args->root, x->room.epoch, x->mark);
    remember(x, rc);
    if (rc) return;
    shoal_block b = single_to_recv(x->args);
    const cell *cells = cells_of_root(x);
    take(x, x->args->root, &b, cells[x->comm->rank], (const char *)cells, scatter_room(x));
}

static int scatter(call *x)
{
    x->limit = limit_of(x->comm, SHOAL_WANT_SCATTER);
    int rc = shoal_room_begin(x->comm, x->mark, scatter_room(x), true, &x->room);
    if (rc) return rc;
    if (x->comm->rank == x->args->root) return give_from_root(x);
    shoal_block b = single_to_recv(x->args);
    expect_message(x, &b, x->args->root);
    x->take = take_from_root;
    return finish(x);
}

// ---- alltoall

static int64_t front_of(int64_t n)
{
    int64_t used = n * ((int64_t)sizeof(cell) + FRONT_BYTES);
    return (used + SHOAL_APART - 1) / SHOAL_APART * SHOAL_APART;
}

static plan plan_of(const shoal_room *room, int64_t n)
{
    int64_t front = front_of(n);
    return (plan){.fronts = room->at,
                  .backs = room->at + n * front,
                  .front = front,
                  .back = room->step - front};
}

// What the rank `from` says of its block for the rank `to`.
static cell *cell_of(const plan *p, int from, int to)
{
    return (cell *)(void *)(p->fronts + from * p->front) + to;
}

// In place, which a rank may be by itself, all is shown before anything is taken.
static bool is_in_place(const call *x)
{
    return x->args->sendbuf == MPI_IN_PLACE;
}

static shoal_block block_out(const call *x, int i)
{
    return is_in_place(x) ? shoal_block_to_recv(x->args, i) : shoal_block_to_send(x->args, i);
}

// Places in the back are counted on from the front's end.
static void show_blocks(call *x)
{
    const plan *p = &x->plan;
    int n = x->comm->size, me = x->comm->rank;
    row front = row_behind_cells(x, p->fronts + me * p->front, p->front);
    row back = {.at = p->backs + me * p->back, .room = p->back};
    for (int k = 1; k < n; k++) {
        int i = shoal_rank_above(me, k, n);
        shoal_block b = block_out(x, i);
        cell *c = cell_of(p, me, i);
        *c = (cell){.at = BY_MESSAGE};
        if (is_message(x, &b) || show(x, &front, &b, c)) continue;
        if (show(x, &back, &b, c))
            c->at += (uint32_t)p->front;
        else
            assert(!"there is room for what is no message");
    }
}

// Each rank begins with the one above it, so that not all read the same place at once.
static void take_blocks(call *x)
{
    const plan *p = &x->plan;
    int rc = shoal_slot_wait_all(x->comm, x->room.epoch, x->mark, true);
    remember(x, rc);
    for (int k = 1; rc == 0 && k < x->comm->size; k++) {
        int i = shoal_rank_above(x->comm->rank, k, x->comm->size);
        cell where = *cell_of(p, i, x->comm->rank);
        shoal_block b = shoal_block_to_recv(x->args, i);
        bool in_front = where.at < p->front;
        if (!in_front && where.at != BY_MESSAGE) where.at -= (uint32_t)p->front;
        take(x, i, &b, where, in_front ? p->fronts + i * p->front : p->backs + i * p->back,
             in_front ? p->front : p->back);
    }
}

static void exchange_messages(call *x)
{
    for (int k = 1; k < x->comm->size; k++) {
        int to = shoal_rank_above(x->comm->rank, k, x->comm->size);
        int from = shoal_rank_above(x->comm->rank, x->comm->size - k, x->comm->size);
        shoal_block in = shoal_block_to_recv(x->args, from), out = block_out(x, to);
        expect_message(x, &in, from);
        send_message(x, &out, to);
    }
}

// The room of an exchange for each rank, in whole lines, and the longest block that surely fits.
static int64_t room_of_exchange(const shoal_comm *c)
{
    int64_t room = EXCHANGE_ROOMS * shoal_room_most(c->arena, false);
    if (room > (int64_t)SHOAL_POOL_STEP) room = SHOAL_POOL_STEP;
    return room / SHOAL_APART * SHOAL_APART;
}

static int64_t limit_of_exchange(const shoal_comm *c)
{
    int64_t back = room_of_exchange(c) - front_of(c->size);
    int64_t each = back / (c->size - 1) / SHOAL_LINE * SHOAL_LINE;
    return not_long(each < EXCHANGE_MOST ? each : EXCHANGE_MOST);
}

static int alltoall(call *x)
{
    shoal_comm *c = x->comm;
    int rc = shoal_room_begin(c, x->mark, room_of_exchange(c), false, &x->room);
    if (rc) return rc;
    x->plan = plan_of(&x->room, c->size);
    x->limit = limit_of_exchange(c);
    show_blocks(x);
    shoal_arena_settle(c->arena);
    shoal_slot_publish(c->arena, x->room.epoch, x->mark, false);
    exchange_messages(x);
    if (!is_in_place(x))
        x->own = shoal_own_block_of(c, shoal_block_to_send(x->args, c->rank),
                                    shoal_block_to_recv(x->args, c->rank));
    x->take = take_blocks;
    return finish(x);
}

// Blocks that are equally long go so as well, if they are not short, and not better fetched: the
// room is larger.
static bool is_medium_alltoall(const shoal_coll_args *a)
{
    int64_t bytes = a->recvcount * a->recvtype->size, n = a->comm->size;
    return bytes >= EVEN_LEAST && n * n * bytes < EVEN_ALL && n <= EXCHANGE_RANKS &&
           bytes <= limit_of_exchange(a->comm) && !shoal_shm_quick_kernel() &&
           !shoal_arena_far(a->comm->arena);
}

bool shoal_uneven_applies(const shoal_coll_args *a)
{
    bool rooted = a->kind == SHOAL_COLL_GATHERV || a->kind == SHOAL_COLL_SCATTERV;
    if (!a->comm->arena || !a->comm->arena->crowded) return false;
    if (rooted) return true;
    if (a->kind == SHOAL_COLL_ALLTOALL) return is_medium_alltoall(a);
    bool exchange = a->kind == SHOAL_COLL_ALLTOALLV || a->kind == SHOAL_COLL_ALLTOALLW;
    return exchange && a->sendbuf != MPI_IN_PLACE && a->comm->size <= EXCHANGE_RANKS;
}

int shoal_uneven_run(const shoal_coll_args *a, const shoal_arena_mark *mark)
{
    call x = {.cut_from = -1,
              .args = a,
              .mark = mark,
              .comm = a->comm,
              .tag = shoal_schedule_tag(a->comm, true)};
    if (a->kind == SHOAL_COLL_GATHERV) return gather(&x);
    return a->kind == SHOAL_COLL_SCATTERV ? scatter(&x) : alltoall(&x);
}
