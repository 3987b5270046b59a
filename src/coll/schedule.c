// SPDX-License-Identifier: BSD-3-Clause
// The interpreter of schedules. A schedule whose round is complete is put on the ready list by the
// last message of the round and goes on from the progress loop, never from inside the engine's code
// that completed the message: what a step does cannot disturb what is under way there.
#include "coll/schedule.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "coll/coll.h"
#include "coll/shm_sync.h"
#include "core/errhandler.h"
#include "p2p/p2p.h"
#include "plat/error.h"
#include "progress/progress.h"

enum step_kind { STEP_SEND, STEP_RECV, STEP_WAIT, STEP_REDUCE, STEP_COPY };

typedef struct step {
    uint8_t kind;    // enum step_kind
    int rank;        // partner
    shoal_req *open; // a message that was started and is not done: the engine's
    shoal_comm *comm;
    shoal_schedule *schedule;
    const void *from; // SEND, COPY, REDUCE
    void *to;         // RECV, COPY, REDUCE
    int64_t count;
    shoal_datatype *type;
    int64_t to_count; // COPY
    shoal_datatype *to_type;
    int64_t copied; // bytes of a long copy so far
} step;

#define FIRST_STEPS   16
#define COPY_PIECE    (128 << 10)
#define ADDRESS_SPACE ((int64_t)1 << 47) // more than this no process can have

// Tags of collectives: apart from the small tags by which communicators are made, and those of an
// inter-communicator apart from those of its local communicator's own collectives.
#define TAG_COLLECTIVE (1 << 30)
#define TAG_INTER      (1 << 29)
#define TAG_BLOCKING   (1 << 28)
#define TAG_CALL       20 // from this bit on, which call it is, of blocking ones in an arena

struct shoal_schedule {
    step *steps;
    uint32_t count, room;
    uint32_t at;      // next step
    uint32_t pending; // messages under way
    bool running, queued, done;
    bool sleeps; // the call that waits for it has, or is about to
    int fault;   // why building failed, a negative code with a recorded text
    int error;   // MPI code of the first message that failed
    int tag, root;
    enum shoal_traffic traffic;
    const char *call;
    shoal_comm *comm, *on;
    shoal_op *op;           // held
    shoal_datatype **types; // held
    char **buffers;
    uint32_t type_count, buffer_count;
    shoal_req *req;       // to be told at the end, or NULL
    shoal_schedule *next; // in the ready list
    step first[FIRST_STEPS];
};

static shoal_schedule *ready_first, *ready_last;

static void advance(shoal_schedule *);

// What is made ready meanwhile has its turn at the next poll, after messages.
static int poll_ready(void)
{
    int moved = 0;
    const shoal_schedule *last = ready_last;
    for (bool more = true; more && ready_first;) {
        shoal_schedule *s = ready_first;
        more = s != last;
        ready_first = s->next;
        s->queued = false;
        advance(s);
        moved++;
    }
    return moved;
}

static void make_ready(shoal_schedule *s)
{
    assert(!s->queued);
    s->queued = true;
    s->next = NULL;
    if (ready_first)
        ready_last->next = s;
    else
        ready_first = s;
    ready_last = s;
}

int shoal_schedule_tag(const shoal_comm *c, bool blocking)
{
    int base = TAG_COLLECTIVE | (c->inter ? TAG_INTER : 0);
    int number = (int)(c->coll_seq[!blocking] & (TAG_BLOCKING - 1));
    if (!blocking) return base | number;
    if (!c->arena) return base | TAG_BLOCKING | number;
    return base | TAG_BLOCKING | c->arena->call_kind << TAG_CALL | (number & ((1 << TAG_CALL) - 1));
}

void shoal_schedule_skip_tag(shoal_comm *c, bool blocking)
{
    c->coll_seq[!blocking]++;
}

shoal_schedule *shoal_schedule_new(shoal_comm *c, const char *call, int root, bool blocking)
{
    static bool polled;
    if (!polled) shoal_progress_add(poll_ready);
    polled = true;
    shoal_schedule *s = malloc(sizeof *s);
    if (!s) {
        shoal_fail(SHOAL_E_NO_MEM, "no memory for the steps of a collective");
        return NULL;
    }
    memset(s, 0, offsetof(shoal_schedule, first));
    s->steps = s->first;
    s->room = FIRST_STEPS;
    s->comm = s->on = c;
    s->call = call;
    s->root = root;
    s->tag = shoal_schedule_tag(c, blocking);
    shoal_schedule_skip_tag(c, blocking);
    return s;
}

void shoal_schedule_free(shoal_schedule *s)
{
    assert(s->pending == 0 && !s->queued);
    for (uint32_t i = 0; i < s->type_count; i++) shoal_datatype_drop(s->types[i]);
    for (uint32_t i = 0; i < s->buffer_count; i++) free(s->buffers[i]);
    if (s->op) shoal_op_drop(s->op);
    free(s->types);
    free(s->buffers);
    if (s->steps != s->first) free(s->steps);
    free(s);
}

void shoal_schedule_set_traffic(shoal_schedule *s, enum shoal_traffic traffic)
{
    s->traffic = traffic;
}

void shoal_schedule_on(shoal_schedule *s, shoal_comm *c)
{
    s->on = c;
}

shoal_comm *shoal_schedule_comm(const shoal_schedule *s)
{
    return s->on;
}

static void no_memory(shoal_schedule *s, int64_t bytes)
{
    if (s->fault) return;
    s->fault = shoal_fail(SHOAL_E_NO_MEM, "no memory for %lld bytes of a collective's own",
                          (long long)bytes);
}

// Appends a pointer to a list that grows by doubling; false without memory.
static bool list_add(void ***list, uint32_t *count, void *entry)
{
    if ((*count & (*count - 1)) == 0) {
        void **more = realloc(*list, (*count ? 2 * (size_t)*count : 1) * sizeof *more);
        if (!more) return false;
        *list = more;
    }
    (*list)[(*count)++] = entry;
    return true;
}

void shoal_schedule_keep_type(shoal_schedule *s, shoal_datatype *t)
{
    if (!t || t->predefined) return;
    if (s->type_count && s->types[s->type_count - 1] == t) return;
    void **list = (void **)s->types;
    if (!list_add(&list, &s->type_count, t)) {
        no_memory(s, (int64_t)sizeof t);
        return;
    }
    s->types = (shoal_datatype **)list;
    shoal_datatype_hold(t);
}

void shoal_schedule_set_op(shoal_schedule *s, shoal_op *op)
{
    s->op = op;
    if (op) shoal_op_hold(op);
}

char *shoal_schedule_bytes(shoal_schedule *s, int64_t bytes)
{
    void **list = (void **)s->buffers;
    char *memory = bytes >= 0 && bytes < ADDRESS_SPACE ? malloc((size_t)bytes + 1) : NULL;
    bool kept = memory && list_add(&list, &s->buffer_count, memory);
    s->buffers = (char **)list;
    if (kept) return memory;
    free(memory);
    no_memory(s, bytes);
    return (char *)s; // an address to reckon with; no step will use it
}

char *shoal_schedule_scratch(shoal_schedule *s, int64_t count, const shoal_datatype *t)
{
    int64_t step_bytes, low = 0, bytes = 0;
    if (count == 0) return shoal_schedule_bytes(s, 0);
    if (__builtin_mul_overflow(count - 1, t->extent, &step_bytes)) step_bytes = INT64_MAX / 4;
    if (step_bytes < 0) low = step_bytes; // elements go downward
    // The padding behind the data belongs to an element: operations read pairs whole.
    int64_t last = t->lb + t->extent - t->true_lb;
    if (last < t->true_extent) last = t->true_extent;
    if (__builtin_add_overflow(step_bytes < 0 ? -step_bytes : step_bytes, last, &bytes))
        bytes = INT64_MAX / 4;
    char *memory = shoal_schedule_bytes(s, bytes);
    // As an integer: the address of element 0 may lie outside the memory that its data is in.
    return (char *)((uintptr_t)memory - (uintptr_t)low - (uintptr_t)t->true_lb);
}

static step *append(shoal_schedule *s, enum step_kind kind)
{
    static step nowhere;
    if (s->count == s->room && !s->fault) {
        size_t bytes = 2 * (size_t)s->room * sizeof *s->steps;
        step *more = s->steps == s->first ? malloc(bytes) : realloc(s->steps, bytes);
        if (!more) {
            no_memory(s, (int64_t)bytes);
        } else {
            if (s->steps == s->first) memcpy(more, s->first, sizeof s->first);
            s->steps = more;
            s->room *= 2;
        }
    }
    if (s->fault) return &nowhere;
    step *x = &s->steps[s->count++];
    *x = (step){.kind = (uint8_t)kind, .schedule = s, .comm = s->on};
    return x;
}

// No data may have no address; the layers below want one all the same.
static void *some_address(shoal_schedule *s, const void *buf, int64_t count,
                          const shoal_datatype *t)
{
    return !buf && (count == 0 || t->size == 0) ? s : (void *)(uintptr_t)buf;
}

void shoal_schedule_send(shoal_schedule *s, const void *buf, int64_t count, shoal_datatype *t,
                         int to)
{
    step *x = append(s, STEP_SEND);
    x->from = some_address(s, buf, count, t);
    x->count = count;
    x->type = t;
    x->rank = to;
}

void shoal_schedule_recv(shoal_schedule *s, void *buf, int64_t count, shoal_datatype *t, int from)
{
    step *x = append(s, STEP_RECV);
    x->to = some_address(s, buf, count, t);
    x->count = count;
    x->type = t;
    x->rank = from;
}

void shoal_schedule_wait(shoal_schedule *s)
{
    append(s, STEP_WAIT);
}

void shoal_schedule_reduce(shoal_schedule *s, const void *in, void *inout, int64_t count,
                           shoal_datatype *t)
{
    if (count == 0 || t->size == 0) return;
    step *x = append(s, STEP_REDUCE);
    x->from = in;
    x->to = inout;
    x->count = count;
    x->type = t;
}

void shoal_schedule_copy(shoal_schedule *s, const void *from, int64_t from_count,
                         shoal_datatype *from_type, void *to, int64_t to_count,
                         shoal_datatype *to_type)
{
    if (from == to && from_type == to_type) return;
    if (from_count == 0 || from_type->size == 0) return;
    step *x = append(s, STEP_COPY);
    x->from = from;
    x->to = to;
    x->count = from_count;
    x->type = from_type;
    x->to_count = to_count;
    x->to_type = to_type;
}

static void remember(shoal_schedule *s, int rc)
{
    if (s->error || rc == 0) return;
    s->error = rc > 0 ? rc : shoal_errcode_make(rc, shoal_fail_text());
}

static void message_done(shoal_req *r)
{
    step *x = r->owner;
    shoal_schedule *s = x->schedule;
    x->open = NULL;
    remember(s, r->error);
    if (shoal_status_cancelled(&r->status) && !r->cancel_asked)
        remember(s, shoal_fail(SHOAL_E_OTHER, "rank %d has freed %s instead of making this call",
                               x->rank, shoal_comm_label(x->comm)));
    if (--s->pending == 0 && !s->running && !s->queued) make_ready(s);
}

static void start_message(shoal_schedule *s, step *x)
{
    bool send = x->kind == STEP_SEND;
    shoal_message_args a = {.buf = send ? x->from : x->to,
                            .count = x->count,
                            .type = x->type,
                            .rank = x->rank,
                            .tag = s->tag,
                            .comm = x->comm,
                            .use = SHOAL_USE_COLL,
                            .traffic = s->traffic};
    shoal_req *r;
    int rc = shoal_p2p_prepare(&a, send ? SHOAL_REQ_SEND : SHOAL_REQ_RECV, SHOAL_MODE_STANDARD, &r);
    if (rc) {
        remember(s, rc);
        return;
    }
    r->on_done = message_done;
    r->owner = x;
    x->open = r;
    s->pending++;
    shoal_p2p_start(r);
    shoal_req_drop(r); // the engine keeps it until it is done
}

// The next piece of a long copy while messages are under way, which may be moved between the
// pieces; else all that is left. Returns true if some is left.
static bool copy(shoal_schedule *s, step *x)
{
    int64_t from = x->count * x->type->size, to = x->to_count * x->to_type->size;
    bool whole = from != to || !x->type->dense || !x->to_type->dense;
    int rc = shoal_check_own(from, to);
    if (rc) remember(s, rc);
    if (whole) {
        shoal_datatype_copy(x->from, x->count, x->type, x->to, x->to_count, x->to_type);
        return false;
    }
    int64_t left = from - x->copied;
    int64_t part = s->pending > 0 && left > 2 * COPY_PIECE ? COPY_PIECE : left;
    shoal_move((char *)x->to + x->to_type->true_lb + x->copied,
               (const char *)x->from + x->type->true_lb + x->copied, (size_t)part);
    x->copied = part < left ? x->copied + part : 0; // a persistent one begins again
    return part < left;
}

static void finish(shoal_schedule *s)
{
    shoal_req *r = s->req;
    s->done = true;
    if (!r) {
        shoal_progress_completed(); // the waiting thread may sleep while another makes progress
        return;
    }
    r->error = r->status.MPI_ERROR = s->error;
    shoal_req_complete(r); // the schedule may be gone now
}

static void advance(shoal_schedule *s)
{
    bool paused = false;
    s->running = true;
    while (s->at < s->count) {
        step *x = &s->steps[s->at];
        if (x->kind == STEP_WAIT && s->pending > 0) break;
        s->at++;
        switch (x->kind) {
        case STEP_SEND:
        case STEP_RECV: start_message(s, x); break;
        case STEP_REDUCE: shoal_op_apply(s->op, x->from, x->to, x->count, x->type); break;
        case STEP_COPY: paused = copy(s, x); break;
        default: break;
        }
        if (!paused) continue;
        s->at--;
        s->running = false;
        make_ready(s);
        return;
    }
    s->running = false;
    if (s->pending == 0) finish(s);
}

static void begin(shoal_schedule *s)
{
    s->at = 0;
    s->error = 0;
    s->done = false;
    advance(s);
}

static bool is_done(void *s)
{
    return ((shoal_schedule *)s)->done;
}

// Is it done, or will what is missing never come? Who finds out that ranks make different calls
// wakes only those who sleep by then; the others look before they do.
static bool is_over(void *what)
{
    const shoal_schedule *s = what;
    return s->done || (s->sleeps && s->comm->arena && shoal_arena_has_parted(s->comm->arena));
}

// The root if there is one; else a rank whose message is missing. Asked for before each sleep.
static void describe(void *what, shoal_wait_note *note)
{
    shoal_schedule *s = what;
    const step *open = NULL;
    s->sleeps = true;
    for (uint32_t i = 0; i < s->at; i++)
        if (s->steps[i].open && (!open || s->steps[i].kind == STEP_RECV)) open = &s->steps[i];
    note->call = s->call;
    note->comm = shoal_comm_label(s->comm);
    note->context = s->comm->context;
    note->peer = s->root >= 0 ? s->root : open ? open->rank : MPI_ANY_SOURCE;
    const shoal_comm *of = s->root >= 0 || !open ? s->comm : open->comm;
    note->peer_world = note->peer >= 0 ? (int)of->peers[note->peer] : -1;
    note->tag = MPI_ANY_TAG;
    note->is_send = open && open->kind == STEP_SEND;
}

// The ranks make different calls, now; but maybe not before, and all that this one needs is here.
// Else what has not begun to move is taken back, and nothing more begins.
static int withdraw(shoal_schedule *s)
{
    while (!s->done && shoal_progress_poll() > 0) continue;
    uint32_t begun = s->at;
    bool cancels = begun < s->count;
    s->at = s->count;
    for (uint32_t i = 0; i < begun; i++) {
        shoal_req *r = s->steps[i].open;
        cancels = cancels || (r && r->state == SHOAL_RQ_POSTED);
        if (r) shoal_p2p_cancel(r);
    }
    if (!s->done) shoal_progress_wait(is_done, s, describe, -1);
    return cancels ? shoal_arena_parted(s->comm) : s->error;
}

void shoal_schedule_forget_recv(shoal_schedule *s, int from)
{
    for (uint32_t i = 0; i < s->at; i++) {
        step *x = &s->steps[i];
        if (x->kind == STEP_RECV && x->rank == from && x->open) shoal_p2p_cancel(x->open);
    }
}

static bool no_work(void *work)
{
    (void)work;
    return false;
}

int shoal_schedule_run(shoal_schedule *s)
{
    return shoal_schedule_run_beside(s, no_work, NULL);
}

int shoal_schedule_run_beside(shoal_schedule *s, shoal_work_fn *more, void *work)
{
    int rc = s->fault;
    if (rc == 0) {
        begin(s);
        while (more(work)) shoal_progress_poll();
        if (!s->done) shoal_progress_wait(is_over, s, describe, -1);
        rc = s->done ? s->error : withdraw(s);
    }
    shoal_schedule_free(s);
    return rc;
}

static int start_request(shoal_req *r)
{
    r->error = 0;
    shoal_status_empty(&r->status);
    shoal_req_hold(r); // the engine's, until it is done
    shoal_req_step(r, SHOAL_RQ_POSTED);
    begin(r->extra);
    return 0;
}

static void dispose(shoal_req *r)
{
    shoal_schedule_free(r->extra);
}

int shoal_schedule_request(shoal_schedule *s, bool persistent, shoal_req **out)
{
    int rc = s->fault;
    shoal_req *r = rc ? NULL : shoal_req_new(SHOAL_REQ_COLLECTIVE, s->comm);
    if (!r) {
        shoal_schedule_free(s);
        return rc ? rc : SHOAL_E_NO_MEM;
    }
    s->req = r;
    r->extra = s;
    r->start = start_request;
    r->dispose = dispose;
    r->describe = describe;
    r->persistent = persistent;
    r->rank = s->root >= 0 ? s->root : MPI_ANY_SOURCE;
    if (s->root >= 0) r->peer = s->comm->peers[s->root];
    r->tag = MPI_ANY_TAG;
    shoal_status_empty(&r->status);
    if (!persistent) start_request(r);
    *out = r;
    return 0;
}
