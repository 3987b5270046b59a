// SPDX-License-Identifier: BSD-3-Clause
// The sending side: choosing a way, pushing packets, streaming large messages.
#include <string.h>

#include "core/errhandler.h"
#include "net/shm/shm.h"
#include "p2p/p2p.h"
#include "plat/error.h"

#define EAGER_MAX      (16u << 10) // larger messages stay with the sender until the receive is there
#define EAGER_OVERHEAD 256u        // what an unmatched message costs the receiver beside its bytes
#define PIECE          (16u << 10) // one DATA packet
#define SELF_EAGER     (64u << 10) // a standard send to self up to this size does not wait

static uint32_t eager_max(const shoal_peer *p)
{
    uint32_t room = shoal_ring_max_payload(&p->out);
    return room < EAGER_MAX ? room : EAGER_MAX;
}

// May this many bytes more lie unmatched at the peer?
static bool within_budget(shoal_peer *p, uint64_t bytes)
{
    uint64_t budget = shoal_the_shm.eager_budget;
    if (p->eager_sent + bytes - p->eager_released <= budget) return true;
    p->eager_released = atomic_load_explicit(&p->out.ring->released, memory_order_relaxed);
    return p->eager_sent + bytes - p->eager_released <= budget;
}

static shoal_header header_of(uint64_t context, const shoal_comm *comm, int tag)
{
    return (shoal_header){.src = (uint16_t)comm->rank,
                          .context_high = (uint16_t)(context >> 32),
                          .context_low = (uint32_t)context,
                          .tag = tag};
}

static void put_data(char *to, const void *buf, int64_t count, const shoal_datatype *type,
                     int64_t bytes)
{
    if (bytes == 0) return; // the buffer may be a null pointer
    if (type->dense) {
        memcpy(to, (const char *)buf + type->true_lb, (size_t)bytes);
        return;
    }
    shoal_cursor c;
    shoal_cursor_init(&c, type, count, buf);
    shoal_cursor_pack(&c, to, bytes);
}

// The whole of the fast path: a small message into a ring with room.
bool shoal_send_eager(const shoal_message_args *a, uint32_t peer, int64_t bytes)
{
    uint64_t context = a->comm->context | a->use;
    shoal_peer *p = &shoal_the_shm.peers[peer];
    if (p->queue_first || bytes > eager_max(p)) return false;
    uint64_t cost = (uint64_t)bytes + EAGER_OVERHEAD;
    if (!within_budget(p, cost)) return false;
    char *to = shoal_ring_reserve(&p->out, (uint32_t)bytes);
    if (!to) return false;
    put_data(to, a->buf, a->count, a->type, bytes);
    shoal_header h = header_of(context, a->comm, a->tag);
    shoal_shm_publish(peer, SHOAL_PKT_EAGER, (uint32_t)bytes, &h);
    p->eager_sent += cost;
    return true;
}

int shoal_p2p_send(const shoal_message_args *a, enum shoal_send_mode mode)
{
    if (a->rank == MPI_PROC_NULL) return 0;
    int64_t bytes;
    int rc = shoal_datatype_bytes(a->type, a->count, &bytes);
    if (rc) return rc;
    uint32_t peer = a->comm->peers[a->rank];
    if (mode != SHOAL_MODE_SYNC && peer != shoal_the_shm.rank && shoal_send_eager(a, peer, bytes))
        return 0;
    shoal_req *r;
    rc = shoal_p2p_isend(a, mode, &r);
    if (rc) return rc;
    shoal_req_wait(r);
    rc = r->error;
    shoal_req_drop(r);
    return rc;
}

// EAGER_SYNC carries the sender's request in front of the data.
bool shoal_send_push(shoal_req *r, uint32_t kind)
{
    shoal_peer *p = &shoal_the_shm.peers[r->peer];
    uint64_t id = (uint64_t)(uintptr_t)shoal_object_handle(r);
    uint32_t front = kind == SHOAL_PKT_EAGER_SYNC ? sizeof id : 0;
    uint32_t payload =
        kind == SHOAL_PKT_RTS ? (uint32_t)sizeof(shoal_rts) : front + (uint32_t)r->bytes;
    char *to = shoal_ring_reserve(&p->out, payload);
    if (!to) return false;
    if (kind == SHOAL_PKT_RTS) {
        const char *data = r->buf + r->type->true_lb;
        shoal_rts rts = {.bytes = (uint64_t)r->bytes, .id = id};
        if (r->type->dense) {
            rts.address = (uint64_t)(uintptr_t)data;
            rts.heap = shoal_heap_offset(data, rts.bytes);
        }
        memcpy(to, &rts, sizeof rts);
    } else {
        memcpy(to, &id, front);
        put_data(to + front, r->buf, r->count, r->type, r->bytes);
        p->eager_sent += (uint64_t)r->bytes + EAGER_OVERHEAD;
    }
    shoal_header h = header_of(r->context, r->comm, r->tag);
    shoal_shm_publish(r->peer, kind, payload, &h);
    return true;
}

uint32_t shoal_send_first_packet(const shoal_req *r)
{
    shoal_peer *p = &shoal_the_shm.peers[r->peer];
    if (r->bytes + (int64_t)sizeof(uint64_t) > eager_max(p) ||
        !within_budget(p, (uint64_t)r->bytes + EAGER_OVERHEAD))
        return SHOAL_PKT_RTS;
    return r->mode == SHOAL_MODE_SYNC ? SHOAL_PKT_EAGER_SYNC : SHOAL_PKT_EAGER;
}

// To this process: straight into the receive if it is there; else kept, as a copy if small.
static void send_to_self(shoal_req *r)
{
    shoal_req *recv = shoal_match_arrived(r->context, r->comm->rank, r->tag);
    if (recv) {
        shoal_recv_note_match(recv, r->peer, r->comm->rank, r->tag);
        shoal_datatype_copy(r->buf, r->count, r->type, recv->buf, recv->count, recv->type);
        shoal_recv_finish(recv, r->bytes);
        shoal_req_complete(r);
        return;
    }
    bool copy = r->mode != SHOAL_MODE_SYNC && r->bytes <= SELF_EAGER;
    shoal_unexpected *u = shoal_unexpected_new(copy ? (uint32_t)r->bytes : 0);
    u->context = r->context;
    u->src = r->comm->rank;
    u->tag = r->tag;
    u->peer = r->peer;
    u->bytes = r->bytes;
    if (copy) {
        put_data(u->data, r->buf, r->count, r->type, r->bytes);
        u->kind = SHOAL_PKT_EAGER;
    } else {
        u->self = r;
    }
    shoal_match_keep(u);
    shoal_progress_completed(); // another thread may sleep in a probe for it
    if (copy) shoal_req_complete(r);
}

void shoal_send_begin(shoal_req *r)
{
    if (r->peer == shoal_the_shm.rank) {
        send_to_self(r);
        return;
    }
    uint32_t kind = shoal_send_first_packet(r);
    if (shoal_the_shm.peers[r->peer].queue_first || !shoal_send_push(r, kind))
        shoal_wait_for_room(r->peer, kind, r);
    else if (kind == SHOAL_PKT_EAGER)
        shoal_req_complete(r);
}

bool shoal_send_stream(shoal_req *r)
{
    uint32_t most = shoal_ring_max_payload(&shoal_the_shm.peers[r->peer].out);
    if (most > PIECE) most = PIECE;
    while (r->moved < r->total) {
        int64_t left = r->total - r->moved;
        uint32_t piece = left < most ? (uint32_t)left : most;
        char *to = shoal_shm_reserve(r->peer, piece);
        if (!to) return false;
        if (r->type->dense)
            memcpy(to, r->buf + r->type->true_lb + r->moved, piece);
        else
            shoal_cursor_pack(&r->cursor, to, piece);
        shoal_header h = {.id = r->remote_id};
        shoal_shm_publish(r->peer, SHOAL_PKT_DATA, piece, &h);
        r->moved += piece;
    }
    return true;
}

// The send that an answer speaks of, if there is one and the peer may speak of it.
static shoal_req *send_of(const shoal_packet *p)
{
    shoal_req *r = shoal_req_get((MPI_Request)(uintptr_t)p->id);
    return r && r->kind == SHOAL_REQ_SEND && r->peer == p->peer ? r : NULL;
}

void shoal_send_on_cts(const shoal_packet *p)
{
    shoal_cts cts;
    shoal_req *r = send_of(p);
    if (!r || r->state != SHOAL_RQ_POSTED || p->length != sizeof cts) return;
    memcpy(&cts, p->data, sizeof cts);
    shoal_req_step(r, SHOAL_RQ_MATCHED);
    shoal_req_step(r, SHOAL_RQ_MOVING);
    r->remote_id = cts.id;
    r->moved = 0;
    r->total = cts.bytes < (uint64_t)r->bytes ? (int64_t)cts.bytes : r->bytes;
    if (!r->type->dense) shoal_cursor_init(&r->cursor, r->type, r->count, r->buf);
    if (shoal_send_stream(r))
        shoal_req_complete(r);
    else
        shoal_wait_for_room(r->peer, SHOAL_PKT_DATA, r);
}

void shoal_send_on_done(const shoal_packet *p)
{
    shoal_req *r = send_of(p);
    if (r && r->state == SHOAL_RQ_POSTED) shoal_req_complete(r);
}

void shoal_send_on_cancel_answer(const shoal_packet *p)
{
    shoal_req *r = send_of(p);
    if (!r || !r->cancel_asked || p->kind != SHOAL_PKT_CANCELLED) return;
    if (r->state != SHOAL_RQ_POSTED) return;
    shoal_status_set_cancelled(&r->status, true);
    shoal_req_complete(r);
}
