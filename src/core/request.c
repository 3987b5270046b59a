// SPDX-License-Identifier: BSD-3-Clause
// The life of a request.
#include "core/request.h"

#include <stddef.h>
#include <string.h>

#include "plat/error.h"
#include "progress/engine.h"
#include "progress/turns.h"

// Bit i says that a request may go to state i.
static const uint8_t next_ok[] = {
    [SHOAL_RQ_IDLE] = 1 << SHOAL_RQ_POSTED | 1 << SHOAL_RQ_DONE,
    [SHOAL_RQ_POSTED] = 1 << SHOAL_RQ_MATCHED | 1 << SHOAL_RQ_DONE,
    [SHOAL_RQ_MATCHED] = 1 << SHOAL_RQ_MOVING | 1 << SHOAL_RQ_DONE,
    [SHOAL_RQ_MOVING] = 1 << SHOAL_RQ_DONE,
    [SHOAL_RQ_DONE] = 1 << SHOAL_RQ_IDLE | 1 << SHOAL_RQ_POSTED,
};

bool shoal_req_may_step(const shoal_req *r, enum shoal_req_state to)
{
    return next_ok[r->state] >> to & 1;
}

void shoal_req_init(void)
{
    shoal_object_register(SHOAL_KIND_REQUEST, sizeof(shoal_req));
}

shoal_req *shoal_req_new(enum shoal_req_kind kind, shoal_comm *comm)
{
    shoal_req *r = shoal_object_new_raw(SHOAL_KIND_REQUEST);
    if (!r) return NULL;
    memset((char *)r + sizeof r->object, 0, offsetof(shoal_req, next_queued) - sizeof r->object);
    r->kind = (uint8_t)kind;
    r->comm = comm;
    if (comm) shoal_comm_hold(comm);
    return r;
}

void shoal_req_free(shoal_req *r)
{
    if (r->dispose) r->dispose(r);
    if (r->type) shoal_datatype_drop(r->type);
    if (r->comm) shoal_comm_drop(r->comm);
    shoal_object_free(r);
}

static bool is_done(void *r)
{
    return shoal_req_done(r);
}

void shoal_req_wait(shoal_req *r)
{
    if (shoal_req_done(r)) return;
    int hot = shoal_req_names_peer(r) ? (int)r->peer : -1;
    if (hot >= 0 && shoal_progress_crowded()) shoal_turns_talk(r->peer, r->bytes);
    shoal_progress_wait(is_done, r, shoal_req_describe, hot);
}

void shoal_req_describe(void *what, shoal_wait_note *note)
{
    const shoal_req *r = what;
    if (r->kind == SHOAL_REQ_COLLECTIVE && r->describe) {
        r->describe(r->extra, note);
        return;
    }
    if (r->comm) {
        note->comm = shoal_comm_label(r->comm);
        note->context = r->comm->context;
    }
    note->is_send = r->kind == SHOAL_REQ_SEND || r->kind == SHOAL_REQ_FLUSH;
    note->peer = r->rank;
    note->peer_world = r->kind == SHOAL_REQ_SEND || r->rank >= 0 ? (int)r->peer : -1;
    note->tag = r->tag;
    note->bytes = r->bytes;
}
