// SPDX-License-Identifier: BSD-3-Clause
// Requests of point-to-point messages: making, starting, probing, cancelling; and the switch-board
// for packets that arrive.
#include "p2p/p2p.h"

#include "net/shm/shm.h"
#include "p2p/bsend.h"
#include "p2p/meet.h"
#include "plat/error.h"
#include "progress/progress.h"

// Nobody can receive any more what has come for a communicator that is gone.
static void forget_comm(shoal_comm *c)
{
    for (unsigned use = SHOAL_USE_P2P; use <= SHOAL_USE_MAKE; use++)
        shoal_match_purge(c->context | use, shoal_recv_abandon);
    if (c->buffer) shoal_buffer_free(c->buffer);
}

static bool early; // messages have been kept from one end of MPI to its next start

int shoal_p2p_init(void)
{
    if (!early) shoal_match_init();
    early = false;
    shoal_comm_on_gone(forget_comm);
    return 0;
}

void shoal_p2p_fini(void)
{
    // A rank that is ahead may have begun its next session: what it sent is for the next one here.
    early = shoal_match_kept > 0;
    if (!early) shoal_match_fini();
    if (shoal_process_buffer) shoal_buffer_free(shoal_process_buffer);
    shoal_process_buffer = NULL;
}

uint32_t shoal_p2p_unwaited;

static void orphan_done(shoal_req *r)
{
    (void)r;
    shoal_p2p_unwaited--;
}

void shoal_p2p_orphan(shoal_req *r)
{
    if ((r->kind != SHOAL_REQ_SEND && r->kind != SHOAL_REQ_PAIR) || shoal_req_done(r)) return;
    r->on_done = orphan_done;
    shoal_p2p_unwaited++;
}

void shoal_net_deliver(const shoal_packet *p)
{
    switch (p->kind) {
    case SHOAL_PKT_EAGER:
    case SHOAL_PKT_EAGER_SYNC:
    case SHOAL_PKT_RTS: shoal_recv_on_message(p); break;
    case SHOAL_PKT_DATA: shoal_recv_on_data(p); break;
    case SHOAL_PKT_CTS: shoal_send_on_cts(p); break;
    case SHOAL_PKT_ACK:
    case SHOAL_PKT_FIN: shoal_send_on_done(p); break;
    case SHOAL_PKT_WROTE: shoal_meet_on_wrote(p); break;
    case SHOAL_PKT_CANCEL: shoal_recv_on_cancel(p); break;
    case SHOAL_PKT_CANCELLED:
    case SHOAL_PKT_TOO_LATE: shoal_send_on_cancel_answer(p); break;
    default: break; // a kind of a later version: not for us
    }
}

// Every field that a message's request uses is set here, and no other: this is done for each
// message.
static inline void fill_in(shoal_req *r, const shoal_message_args *a, enum shoal_req_kind kind,
                           enum shoal_send_mode mode, int64_t bytes)
{
    r->kind = (uint8_t)kind;
    r->state = SHOAL_RQ_IDLE;
    r->mode = (uint8_t)mode;
    r->persistent = r->queued = r->cancel_asked = false;
    r->no_partner = a->rank == MPI_PROC_NULL;
    r->traffic = (uint8_t)a->traffic;
    r->error = 0;
    r->peer = a->rank >= 0 ? a->comm->peers[a->rank] : 0;
    r->comm = a->comm;
    shoal_comm_hold(a->comm);
    r->type = a->type;
    shoal_datatype_hold(a->type);
    r->dispose = NULL;
    r->buf = (char *)(uintptr_t)a->buf;
    r->bytes = bytes;
    r->context = a->comm->context | a->use;
    r->rank = a->rank;
    r->tag = a->tag;
    r->count = a->count;
    r->on_done = NULL;
}

int shoal_p2p_prepare(const shoal_message_args *a, enum shoal_req_kind kind,
                      enum shoal_send_mode mode, shoal_req **out)
{
    int64_t bytes;
    int rc = shoal_datatype_bytes(a->type, a->count, &bytes);
    if (rc) return rc;
    shoal_req *r = shoal_object_new_raw(SHOAL_KIND_REQUEST);
    if (!r) return SHOAL_E_NO_MEM;
    fill_in(r, a, kind, mode, bytes);
    *out = r;
    return 0;
}

int shoal_p2p_start(shoal_req *r)
{
    r->error = 0;
    r->cancel_asked = false;
    shoal_status_empty(&r->status);
    if (r->kind == SHOAL_REQ_RECV && r->rank >= 0) r->peer = r->comm->peers[r->rank];
    shoal_req_hold(r); // the engine's, until it is done
    if (r->no_partner) {
        if (r->kind == SHOAL_REQ_RECV) r->status.MPI_SOURCE = MPI_PROC_NULL;
        shoal_req_complete(r);
        return 0;
    }
    shoal_req_step(r, SHOAL_RQ_POSTED);
    if (r->kind == SHOAL_REQ_SEND)
        shoal_send_begin(r);
    else
        shoal_recv_begin(r);
    return 0;
}

// A send that has left already: nothing is left to know of it but that it is done.
// Has gone already. Nobody looks at the partner or the length of a request that is done, so these
// stay as the last one's.
static inline void fill_in_done(shoal_req *r)
{
    r->kind = SHOAL_REQ_SEND;
    r->state = SHOAL_RQ_DONE;
    r->mode = SHOAL_MODE_STANDARD;
    r->persistent = r->queued = r->cancel_asked = r->no_partner = false;
    r->error = 0;
    r->comm = NULL;
    r->type = NULL;
    r->dispose = NULL;
    shoal_status_empty(&r->status);
}

int shoal_p2p_isend(const shoal_message_args *a, enum shoal_send_mode mode, shoal_req **out)
{
    int64_t bytes;
    int rc = shoal_datatype_bytes(a->type, a->count, &bytes);
    if (rc) return rc;
    shoal_req *r = shoal_object_new_raw(SHOAL_KIND_REQUEST);
    if (!r) return SHOAL_E_NO_MEM;
    *out = r;
    if (mode != SHOAL_MODE_SYNC && a->rank >= 0) {
        uint32_t peer = a->comm->peers[a->rank];
        if (peer != shoal_the_shm.rank && shoal_send_eager(a, peer, bytes)) {
            fill_in_done(r);
            return 0;
        }
    }
    fill_in(r, a, SHOAL_REQ_SEND, mode, bytes);
    return shoal_p2p_start(r);
}

int shoal_p2p_irecv(const shoal_message_args *a, shoal_req **out)
{
    int64_t bytes;
    int rc = shoal_datatype_bytes(a->type, a->count, &bytes);
    if (rc) return rc;
    shoal_req *r = shoal_object_new_raw(SHOAL_KIND_REQUEST);
    if (!r) return SHOAL_E_NO_MEM;
    fill_in(r, a, SHOAL_REQ_RECV, SHOAL_MODE_STANDARD, bytes);
    *out = r;
    if (r->no_partner || shoal_match_kept > 0) return shoal_p2p_start(r);
    // As there, where nothing can have come for it yet.
    shoal_status_empty(&r->status);
    shoal_req_hold(r);
    shoal_req_step(r, SHOAL_RQ_POSTED);
    shoal_match_post(r);
    return 0;
}

typedef struct probe {
    const shoal_message_args *args;
    uint64_t context;
    shoal_unexpected *found;
} probe;

static bool probe_done(void *what)
{
    probe *p = what;
    p->found = shoal_match_find(p->context, p->args->rank, p->args->tag);
    return p->found != NULL;
}

static void probe_describe(void *what, shoal_wait_note *note)
{
    const shoal_message_args *a = ((probe *)what)->args;
    note->comm = shoal_comm_label(a->comm);
    note->context = a->comm->context;
    note->peer = a->rank;
    note->peer_world = a->rank >= 0 ? (int)a->comm->peers[a->rank] : -1;
    note->tag = a->tag;
}

shoal_unexpected *shoal_p2p_probe(const shoal_message_args *a, bool wait, MPI_Status *status)
{
    probe p = {.args = a, .context = a->comm->context | a->use};
    if (!probe_done(&p)) {
        int hot = a->rank >= 0 ? (int)a->comm->peers[a->rank] : -1;
        if (wait)
            shoal_progress_wait(probe_done, &p, probe_describe, hot);
        else {
            shoal_progress_poll();
            probe_done(&p);
        }
    }
    if (p.found) shoal_p2p_tell(status, p.found->src, p.found->tag, p.found->bytes);
    return p.found;
}

static void complete_cancelled(shoal_req *r)
{
    shoal_status_set_cancelled(&r->status, true);
    shoal_req_complete(r);
}

// A send to self that waits for its receive lies among the unexpected messages.
static bool withdraw_from_self(shoal_req *r)
{
    shoal_unexpected *u = shoal_match_find(r->context, r->comm->rank, r->tag);
    while (u && u->self != r) {
        shoal_match_link *next = u->links[0].next;
        u = (shoal_unexpected *)(void *)next; // links[0] is the first member
    }
    if (!u) return false;
    shoal_match_remove(u);
    shoal_unexpected_free(u);
    return true;
}

void shoal_p2p_cancel(shoal_req *r)
{
    if (r->state != SHOAL_RQ_POSTED || r->cancel_asked) return;
    r->cancel_asked = true;
    if (r->kind == SHOAL_REQ_RECV) {
        shoal_match_unpost(r);
        complete_cancelled(r);
    } else if (r->peer == shoal_the_shm.rank) {
        if (withdraw_from_self(r)) complete_cancelled(r);
    } else if (r->queued) {
        if (shoal_queue_withdraw(r)) complete_cancelled(r);
    } else {
        uint64_t id = (uint64_t)(uintptr_t)shoal_object_handle(r);
        shoal_control_send(r->peer, SHOAL_PKT_CANCEL, id, NULL);
    }
}
