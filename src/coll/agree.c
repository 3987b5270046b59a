// SPDX-License-Identifier: BSD-3-Clause
// See agree.h. Everything goes along one binomial tree of the circle's places:
//
//     0 - 1            place p's parent is p without its lowest bit; its children are
//     0 - 2 - 3        p + 1, p + 2, p + 4, ... below that bit. A subtree is a run of places,
//     0 - 4 - 5        so what is gathered lies together.
//         4 - 6 - 7
//
// 2 (n - 1) messages let everybody know everything; where ranks outnumber cores that is cheaper
// than any scheme in which all talk at once.
#include "coll/agree.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "coll/arena.h"
#include "p2p/p2p.h"
#include "plat/error.h"

int shoal_agree_tag(shoal_comm *c)
{
    // 0 belongs to shoal_agree_user_tag().
    c->make_seq = c->make_seq == INT_MAX ? 1 : c->make_seq + 1;
    return c->make_seq;
}

int shoal_agree_user_tag(int tag)
{
    int mapped = -1 - tag;
    return mapped == MPI_ANY_TAG ? 0 : mapped;
}

shoal_circle shoal_circle_all(shoal_comm *c)
{
    return (shoal_circle){.comm = c, .size = c->size, .place = c->rank, .tag = shoal_agree_tag(c)};
}

static int rank_at(const shoal_circle *r, int place)
{
    return r->ranks ? r->ranks[place] : place;
}

// How many places a subtree may cover: the lowest bit of its root's place.
static int reach_of(const shoal_circle *r)
{
    if (r->place > 0) return r->place & -r->place;
    int reach = 1;
    while (reach < r->size) reach <<= 1;
    return reach;
}

static shoal_message_args message(shoal_comm *comm, int rank, int tag, void *data, size_t bytes)
{
    return (shoal_message_args){.buf = data,
                                .count = (int64_t)bytes,
                                .type = shoal_datatype_get(MPI_BYTE),
                                .rank = rank,
                                .tag = tag,
                                .comm = comm,
                                .use = SHOAL_USE_MAKE};
}

static shoal_message_args to_place(const shoal_circle *r, int place, void *data, size_t bytes)
{
    return message(r->comm, rank_at(r, place), r->tag, data, bytes);
}

static int send_to(const shoal_circle *r, int place, void *data, size_t bytes)
{
    shoal_message_args m = to_place(r, place, data, bytes);
    return shoal_p2p_send(&m, SHOAL_MODE_STANDARD);
}

// Another length than expected comes from a rank that makes another call.
static int check_length(const shoal_comm *c, int rank, size_t expected, const MPI_Status *status)
{
    int64_t got = shoal_status_bytes(status);
    if (got == (int64_t)expected) return 0;
    return shoal_fail(
        SHOAL_E_OTHER,
        "rank %d of %s told %lld bytes where %zu were expected: do all ranks make the "
        "same communicator?",
        rank, shoal_comm_label(c), (long long)got, expected);
}

static int recv_from(const shoal_circle *r, int place, void *data, size_t bytes)
{
    MPI_Status status;
    shoal_message_args m = to_place(r, place, data, bytes);
    int rc = shoal_p2p_recv(&m, &status);
    return rc == 0 ? check_length(r->comm, m.rank, bytes, &status) : rc;
}

int shoal_agree_bcast(const shoal_circle *r, void *data, size_t bytes)
{
    int reach = reach_of(r), rc = 0;
    if (r->place > 0) rc = recv_from(r, r->place - reach, data, bytes);
    for (int bit = reach >> 1; rc == 0 && bit > 0; bit >>= 1)
        if (r->place + bit < r->size) rc = send_to(r, r->place + bit, data, bytes);
    return rc;
}

// A table with one record for each place.
typedef struct table {
    char *data;
    size_t bytes;          // of a record
    const size_t *offsets; // where records differ in length
} table;

static size_t offset_of(const table *t, int place)
{
    return t->offsets ? t->offsets[place] : (size_t)place * t->bytes;
}

// Sends or receives the records of a subtree that covers at most `reach` places.
static int move_records(const shoal_circle *r, int partner, const table *t, int first, int reach,
                        bool send)
{
    int end = r->size - first < reach ? r->size : first + reach;
    char *data = t->data + offset_of(t, first);
    size_t bytes = offset_of(t, end) - offset_of(t, first);
    return send ? send_to(r, partner, data, bytes) : recv_from(r, partner, data, bytes);
}

static int gather_and_tell(const shoal_circle *r, const void *mine, const table *t)
{
    int reach = reach_of(r), rc = 0;
    size_t at = offset_of(t, r->place), bytes = offset_of(t, r->place + 1) - at;
    if (bytes > 0) memcpy(t->data + at, mine, bytes);
    for (int bit = 1; rc == 0 && bit < reach; bit <<= 1) {
        int child = r->place + bit;
        if (child < r->size) rc = move_records(r, child, t, child, bit, false);
    }
    if (rc == 0 && r->place > 0) rc = move_records(r, r->place - reach, t, r->place, reach, true);
    return rc == 0 ? shoal_agree_bcast(r, t->data, offset_of(t, r->size)) : rc;
}

int shoal_agree_allgather(const shoal_circle *r, const void *mine, size_t bytes, void *all)
{
    table t = {.data = all, .bytes = bytes};
    return gather_and_tell(r, mine, &t);
}

int shoal_agree_allgatherv(const shoal_circle *r, const void *mine, const size_t offsets[],
                           void *all)
{
    table t = {.data = all, .offsets = offsets};
    return gather_and_tell(r, mine, &t);
}

int shoal_agree_exchange(const shoal_bridge *b, const void *out, size_t bytes, void *in,
                         size_t room, size_t *got_out)
{
    size_t got = 0;
    shoal_req *recv = NULL;
    shoal_message_args m = message(b->comm, b->rank, b->tag, in, room);
    int rc = shoal_p2p_irecv(&m, &recv);
    if (rc) return rc;
    m = message(b->comm, b->rank, b->tag, (void *)(uintptr_t)out, bytes);
    rc = shoal_p2p_send(&m, SHOAL_MODE_STANDARD);
    if (rc == 0) {
        shoal_req_wait(recv);
        rc = recv->error;
        got = (size_t)shoal_status_bytes(&recv->status);
    }
    shoal_req_drop(recv);
    if (rc == 0 && got_out) *got_out = got;
    return rc;
}

// An agreement under way. A leader hears from the other group's leader, if there is one, everybody
// else from his parent; then it goes on down the tree.
typedef struct agreement {
    shoal_circle circle;
    shoal_terms terms;
    uint64_t members; // as this rank sees them
    bool across;      // this is a leader with a bridge
    uint64_t offered; // the other leader's context
    enum { HEAR, TELL } step;
    int pending; // messages, and one more while they are being started
    int error;
    shoal_agree_done_fn *done;
    void *arg;
} agreement;

static void advance(agreement *);

static void message_done(shoal_req *r)
{
    agreement *a = r->owner;
    int rc = r->error;
    if (rc == 0 && r->kind == SHOAL_REQ_RECV)
        rc = check_length(r->comm, r->rank, (size_t)r->bytes, &r->status);
    if (rc && !a->error) a->error = rc;
    if (--a->pending == 0) advance(a);
}

// Starts one message, which tells the agreement when it is done.
static void begin(agreement *a, enum shoal_req_kind kind, const shoal_message_args *m)
{
    shoal_req *r = NULL;
    int rc = shoal_p2p_prepare(m, kind, SHOAL_MODE_STANDARD, &r);
    if (rc) {
        if (!a->error) a->error = rc;
        return;
    }
    r->on_done = message_done;
    r->owner = a;
    a->pending++;
    shoal_p2p_start(r);
    shoal_req_drop(r);
}

static void tell_children(agreement *a)
{
    const shoal_circle *r = &a->circle;
    a->step = TELL;
    a->pending = 1;
    for (int bit = reach_of(r) >> 1; bit > 0; bit >>= 1) {
        if (r->place + bit >= r->size) continue;
        shoal_message_args m = to_place(r, r->place + bit, &a->terms, sizeof a->terms);
        begin(a, SHOAL_REQ_SEND, &m);
    }
    a->pending--;
}

// All messages of a step are done.
static void advance(agreement *a)
{
    if (a->step == HEAR && a->error == 0 && a->terms.members != a->members)
        a->error =
            shoal_fail(SHOAL_E_GROUP,
                       "the group of %d that this rank names is not the one that its leader "
                       "names, rank %d of %s",
                       a->circle.size, rank_at(&a->circle, 0), shoal_comm_label(a->circle.comm));
    if (a->step == HEAR && a->error == 0) {
        // Both leaders see the same two numbers.
        if (a->across && a->offered < a->terms.context) a->terms.context = a->offered;
        tell_children(a);
        if (a->pending > 0) return;
    }
    a->done(a->arg, a->error, &a->terms);
    free(a);
}

static void pick_terms(agreement *a, const shoal_bridge *bridge)
{
    uint64_t arena = shoal_arena_reserve(a->circle.size);
    a->terms.members = a->members;
    a->terms.context = shoal_comm_new_context();
    if (!bridge) {
        a->terms.arena = arena;
        return;
    }
    a->across = true;
    a->terms.local_context = shoal_comm_new_context();
    a->terms.local_arena = arena;
    shoal_message_args m =
        message(bridge->comm, bridge->rank, bridge->tag, &a->offered, sizeof a->offered);
    begin(a, SHOAL_REQ_RECV, &m);
    m.buf = &a->terms.context;
    begin(a, SHOAL_REQ_SEND, &m);
}

// Who the members are, in their order. Those of a whole communicator cannot differ.
static uint64_t members_of(const shoal_circle *r)
{
    uint64_t digest = (uint64_t)r->size;
    for (int i = 0; r->ranks && i < r->size; i++)
        digest = (digest ^ (uint64_t)r->ranks[i]) * 0x9e3779b97f4a7c15u + 1;
    return digest;
}

int shoal_agree_start(const shoal_circle *r, const shoal_bridge *bridge, shoal_agree_done_fn *done,
                      void *arg)
{
    agreement *a = calloc(1, sizeof *a);
    if (!a) return shoal_fail(SHOAL_E_NO_MEM, "no memory to make a communicator");
    *a =
        (agreement){.circle = *r, .members = members_of(r), .pending = 1, .done = done, .arg = arg};
    if (r->place == 0) {
        pick_terms(a, bridge);
    } else {
        shoal_message_args m = to_place(r, r->place - reach_of(r), &a->terms, sizeof a->terms);
        begin(a, SHOAL_REQ_RECV, &m);
    }
    if (--a->pending == 0) advance(a);
    return 0;
}

typedef struct waiter {
    const shoal_circle *circle;
    bool done;
    int error;
    shoal_terms *terms;
} waiter;

static void wake(void *arg, int error, const shoal_terms *terms)
{
    waiter *w = arg;
    w->done = true;
    w->error = error;
    *w->terms = *terms;
}

static bool is_done(void *what)
{
    return ((waiter *)what)->done;
}

static void describe(void *what, shoal_wait_note *note)
{
    const shoal_circle *r = ((waiter *)what)->circle;
    note->comm = shoal_comm_label(r->comm);
    note->context = r->comm->context;
    note->peer = r->place > 0 ? rank_at(r, r->place - reach_of(r)) : MPI_ANY_SOURCE;
    note->peer_world = note->peer >= 0 ? (int)r->comm->peers[note->peer] : -1;
    note->tag = MPI_ANY_TAG;
}

int shoal_agree_terms(const shoal_circle *r, const shoal_bridge *bridge, shoal_terms *out)
{
    waiter w = {.circle = r, .terms = out};
    int rc = shoal_agree_start(r, bridge, wake, &w);
    if (rc) return rc;
    if (!w.done) shoal_progress_wait(is_done, &w, describe, -1);
    return w.error;
}
