// SPDX-License-Identifier: BSD-3-Clause
// The receiving side: taking packets in, posting receives, finishing them.
#include <string.h>

#include "core/errhandler.h"
#include "net/shm/shm.h"
#include "p2p/meet.h"
#include "p2p/p2p.h"
#include "plat/error.h"
#include "progress/engine.h"

void shoal_recv_note_match(shoal_req *r, uint32_t peer, int src, int tag)
{
    r->peer = peer;
    r->status.MPI_SOURCE = src;
    r->status.MPI_TAG = tag;
}

// All data that fits is in the buffer; a message that was longer is an error of this receive.
void shoal_recv_finish(shoal_req *r, int64_t message_bytes)
{
    int64_t got = message_bytes < r->bytes ? message_bytes : r->bytes;
    shoal_status_set_bytes(&r->status, got);
    if (message_bytes > r->bytes) {
        shoal_fail(
            SHOAL_E_TRUNCATE, "rank %d sent %lld bytes with tag %d, the receive buffer holds %lld",
            r->status.MPI_SOURCE, (long long)message_bytes, r->status.MPI_TAG, (long long)r->bytes);
        r->error = shoal_errcode_make(SHOAL_E_TRUNCATE, shoal_fail_text());
        r->status.MPI_ERROR = r->error;
    }
    shoal_req_complete(r);
}

// The sender may send as much again: this message no longer lies here unmatched.
static void release_budget(uint32_t peer, int64_t bytes)
{
    shoal_peer *p = &shoal_the_shm.peers[peer];
    p->released += (uint64_t)bytes + SHOAL_EAGER_OVERHEAD;
    atomic_store_explicit(&p->in.ring->released, p->released, memory_order_relaxed);
}

void shoal_recv_forget(const shoal_unexpected *u)
{
    if (u->peer == shoal_the_shm.rank) return;
    if (u->here > 0 || u->kind != SHOAL_PKT_RTS)
        release_budget(u->peer, u->here);
    else if (u->traits & SHOAL_RTS_KEEP)
        release_budget(u->peer, u->bytes);
}

// A sender that was told that it need not wait has sent its message. Others, if they are in a
// collective call, hear that this rank has left it.
void shoal_recv_abandon(const shoal_unexpected *u)
{
    shoal_recv_forget(u);
    if (u->kind != SHOAL_PKT_RTS || u->peer == shoal_the_shm.rank) return;
    if (u->traits & SHOAL_RTS_KEEP)
        shoal_control_send(u->peer, SHOAL_PKT_FIN, u->id, NULL);
    else if (shoal_use_of(u->context) == SHOAL_USE_COLL)
        shoal_control_send(u->peer, SHOAL_PKT_CANCELLED, u->id, NULL);
}

static void put_in_buffer(shoal_req *r, const shoal_packet *p, uint32_t at, int64_t bytes)
{
    int64_t fits = bytes < r->bytes ? bytes : r->bytes;
    if (fits == 0) return; // the buffer may be a null pointer
    if (r->type->dense) {
        shoal_packet_copy(p, at, r->buf + r->type->true_lb, (uint32_t)fits);
        return;
    }
    shoal_cursor_init(&r->cursor, r->type, r->count, r->buf);
    shoal_packet_unpack(p, at, &r->cursor, (uint32_t)fits);
}

// A matched message that is all here, in `p` from `at` on.
static void take_eager(shoal_req *r, const shoal_packet *p, uint32_t at, uint64_t id)
{
    int64_t bytes = p->length - at;
    put_in_buffer(r, p, at, bytes);
    if (p->peer != shoal_the_shm.rank) release_budget(p->peer, bytes);
    if (p->kind == SHOAL_PKT_EAGER_SYNC) shoal_control_send(p->peer, SHOAL_PKT_ACK, id, NULL);
    shoal_recv_finish(r, bytes);
}

shoal_unexpected *shoal_recv_copy(const shoal_packet *p, uint32_t at)
{
    uint32_t here = p->length - at;
    shoal_unexpected *u = shoal_unexpected_new(here);
    u->context = p->context;
    u->src = p->src;
    u->tag = p->tag;
    u->peer = p->peer;
    u->kind = p->kind;
    u->bytes = here;
    u->here = here;
    shoal_packet_copy(p, at, u->data, here);
    return u;
}

static void keep_unexpected(const shoal_packet *p, uint32_t at, uint64_t id, const shoal_rts *rts)
{
    shoal_unexpected *u = shoal_recv_copy(p, at);
    u->id = id;
    if (rts) {
        u->bytes = (int64_t)rts->bytes;
        u->address = rts->address;
        u->heap = rts->heap;
        u->traits = rts->traits;
        if (rts->traits & SHOAL_RTS_KEEP) shoal_owed_add(u);
    }
    shoal_match_keep(u);
}

// Fetches a message that nobody has asked for: from now on it is kept as if it had come eagerly. If
// that cannot be, its sender goes on waiting, as for any large message, and sends the next eagerly.
static int fetch_owed(shoal_unexpected *u)
{
    uint64_t bytes = (uint64_t)u->bytes;
    if (u->here > 0 || bytes > SHOAL_EAGER_MAX) return 0; // it was not told to us so
    const char *shared = shoal_heap_at(u->heap, bytes);
    shoal_unexpected_grow(u, (uint32_t)bytes);
    if (shared) {
        shoal_copy(u->data, shared, bytes);
    } else if (!u->address || !shoal_cma_works(u->peer) ||
               !shoal_cma_read(u->peer, u->data, u->address, bytes)) {
        atomic_store_explicit(&shoal_the_shm.berth->fetches, 0, memory_order_relaxed);
        return 0;
    }
    shoal_control_send(u->peer, SHOAL_PKT_FIN, u->id, NULL);
    u->kind = SHOAL_PKT_EAGER;
    u->here = (uint32_t)bytes;
    return 1;
}

int shoal_net_settle(int64_t before)
{
    int fetched = 0;
    for (shoal_unexpected *u; (u = shoal_owed_oldest()) && u->since <= before;) {
        shoal_owed_drop(u);
        fetched += fetch_owed(u);
    }
    return fetched;
}

// A message that lies whole in the ring: what most messages are.
void shoal_net_deliver_small(uint32_t peer, const shoal_header *h, uint32_t length)
{
    uint64_t context = shoal_header_context(h);
    int src = h->src, tag = h->tag;
    shoal_req *r = shoal_match_arrived(context, src, tag);
    if (__builtin_expect(!r || length > r->bytes || !r->type->dense, 0)) {
        shoal_packet p = {.peer = peer,
                          .kind = SHOAL_PKT_EAGER,
                          .length = length,
                          .src = src,
                          .context = context,
                          .tag = tag,
                          .data = (const char *)(h + 1)};
        if (!r) {
            keep_unexpected(&p, 0, 0, NULL);
            return;
        }
        shoal_recv_note_match(r, peer, src, tag);
        take_eager(r, &p, 0, 0);
        return;
    }
    shoal_recv_note_match(r, peer, src, tag);
    if (length > 0) shoal_copy_few(r->buf + r->type->true_lb, h + 1, length);
    release_budget(peer, length);
    shoal_status_set_bytes(&r->status, length);
    shoal_req_complete(r);
}

// A matched message of which only the first part is here, if any.
static void take_rts(shoal_req *r, const shoal_packet *p, uint32_t at, const shoal_rts *rts)
{
    if (p->length > at)
        release_budget(p->peer, p->length - at);
    else if (rts->traits & SHOAL_RTS_KEEP)
        release_budget(p->peer, (int64_t)rts->bytes);
    shoal_rndv_take(r, p, at, rts);
}

void shoal_recv_on_message(const shoal_packet *p)
{
    uint32_t at = 0; // where the data begins
    uint64_t id = 0;
    shoal_rts rts;
    bool is_rts = p->kind == SHOAL_PKT_RTS;
    if (p->kind == SHOAL_PKT_EAGER_SYNC && p->length >= sizeof id) {
        at = sizeof id;
        shoal_packet_copy(p, 0, &id, sizeof id);
    } else if (is_rts) {
        at = sizeof rts;
        if (p->length < sizeof rts) return;
        shoal_packet_copy(p, 0, &rts, sizeof rts);
        if (rts.bytes > INT64_MAX || rts.bytes < p->length - at) return;
        id = rts.id;
    }
    shoal_req *r = shoal_match_arrived(p->context, p->src, p->tag);
    if (!r) {
        keep_unexpected(p, at, id, is_rts ? &rts : NULL);
        return;
    }
    shoal_recv_note_match(r, p->peer, p->src, p->tag);
    if (is_rts) {
        take_rts(r, p, at, &rts);
        return;
    }
    shoal_meet_note(p->peer, p->length - at, false);
    take_eager(r, p, at, id);
}

// Gives an unexpected message, already removed from the index, to a receive.
int shoal_p2p_recv_claimed(shoal_req *r, shoal_unexpected *u)
{
    if (r->state != SHOAL_RQ_POSTED) {
        shoal_req_hold(r);
        shoal_req_step(r, SHOAL_RQ_POSTED);
    }
    shoal_recv_note_match(r, u->peer, u->src, u->tag);
    shoal_packet kept = {.peer = u->peer, .kind = u->kind, .length = u->here, .data = u->data};
    if (u->self) {
        shoal_req *s = u->self;
        shoal_datatype_copy(s->buf, s->count, s->type, r->buf, r->count, r->type);
        shoal_recv_finish(r, u->bytes);
        shoal_req_complete(s);
    } else if (u->kind == SHOAL_PKT_RTS) {
        shoal_rts rts = {.bytes = (uint64_t)u->bytes,
                         .id = u->id,
                         .address = u->address,
                         .heap = u->heap,
                         .traits = u->traits};
        take_rts(r, &kept, 0, &rts);
    } else {
        shoal_meet_note(u->peer, u->bytes, u->traits & SHOAL_RTS_KEEP);
        take_eager(r, &kept, 0, u->id);
    }
    shoal_unexpected_free(u);
    return 0;
}

void shoal_recv_begin(shoal_req *r)
{
    shoal_unexpected *u = shoal_match_find(r->context, r->rank, r->tag);
    if (!u) {
        shoal_match_post(r);
        return;
    }
    shoal_match_remove(u);
    shoal_p2p_recv_claimed(r, u);
}

// Is this packet all that the receive wants, and does it fit?
static bool fits(const shoal_packet *p, const shoal_message_args *a, uint64_t context, int64_t room)
{
    return p->kind == SHOAL_PKT_EAGER && p->context == context && p->src == a->rank &&
           (p->tag == a->tag || a->tag == MPI_ANY_TAG) && p->length <= room;
}

static char *buffer_of(const shoal_message_args *a)
{
    return (char *)(uintptr_t)a->buf + a->type->true_lb;
}

static void take_directly(const shoal_packet *p, const shoal_message_args *a, MPI_Status *status)
{
    shoal_meet_note(p->peer, p->length, false);
    if (a->type->dense && p->length > 0) {
        shoal_packet_copy(p, 0, buffer_of(a), p->length);
    } else if (p->length > 0) {
        shoal_cursor c;
        shoal_cursor_init(&c, a->type, a->count, a->buf);
        shoal_packet_unpack(p, 0, &c, p->length);
    }
    shoal_p2p_tell(status, p->src, p->tag, p->length);
    release_budget(p->peer, p->length);
    shoal_shm_step(p);
}

// Takes the message at the head of the ring if it is what the receive wants.
static bool take_head(const shoal_header *h, uint32_t word, uint32_t peer,
                      const shoal_message_args *a, uint64_t context, int64_t room,
                      MPI_Status *status)
{
    uint32_t length = word >> 5;
    int tag = h->tag;
    if ((word & 31) == SHOAL_PKT_EAGER && a->type->dense && length <= room && h->src == a->rank &&
        (tag == a->tag || a->tag == MPI_ANY_TAG) && shoal_header_context(h) == context) {
        if (length > 0) shoal_copy_few(buffer_of(a), h + 1, length);
        shoal_p2p_tell(status, a->rank, tag, length);
        release_budget(peer, length);
        shoal_shm_pass(peer, length);
        return true;
    }
    shoal_packet p;
    if (!shoal_shm_peek(peer, &p) || !fits(&p, a, context, room)) return false;
    take_directly(&p, a, status);
    return true;
}

shoal_header *shoal_p2p_look(uint32_t peer, uint32_t *word_out)
{
    shoal_header *h = shoal_shm_head(peer, word_out);
    if (h) return h;
    bool crowded = shoal_progress_crowded();
    int looks = crowded ? SHOAL_LOOKS_CROWDED : SHOAL_LOOKS;
    if (crowded && !shoal_progress_turn_goes_on()) return NULL;
    for (; !h && looks > 0 && shoal_shm_on_core(peer); looks--) {
        shoal_relax();
        h = shoal_shm_head(peer, word_out);
    }
    return h;
}

// The short way of a blocking receive: when nothing else could want it, the message goes from the
// ring into the buffer, without a request. Gives up at the first thing that is not simple, or after
// a moment.
enum outcome { TAKEN, NOT_SIMPLE, NOTHING_YET };
static enum outcome recv_directly(const shoal_message_args *a, MPI_Status *status)
{
    static unsigned in_a_row;
    int64_t room;
    if (a->rank < 0 || !shoal_match_idle() || shoal_datatype_bytes(a->type, a->count, &room) != 0)
        return NOT_SIMPLE;
    uint32_t peer = a->comm->peers[a->rank], word;
    if (peer == shoal_the_shm.rank) return NOT_SIMPLE; // no ring leads to oneself
    // Other transfers of this rank must not wait for ever behind a lively conversation.
    if (++in_a_row % SHOAL_POLL_EVERY == 0) {
        shoal_progress_poll_others(peer);
        if (!shoal_match_idle()) return NOT_SIMPLE;
    }
    uint64_t context = a->comm->context | a->use;
    shoal_the_shm.streak = 0;
    const shoal_header *h = shoal_p2p_look(peer, &word);
    if (!h) return NOTHING_YET;
    return take_head(h, word, peer, a, context, room, status) ? TAKEN : NOT_SIMPLE;
}

// A message that has come before.
static bool recv_kept(const shoal_message_args *a, MPI_Status *status)
{
    shoal_unexpected *u = shoal_match_find(a->comm->context | a->use, a->rank, a->tag);
    if (!u || !shoal_p2p_fits_at_once(a, u)) return false;
    shoal_match_remove(u);
    return shoal_p2p_mrecv_now(a, u, status);
}

// While everybody awake has a core the answer may be worth some more moments. What has come must
// not be polled for here: without a receive it would be copied twice.
bool shoal_p2p_recv_at_once(const shoal_message_args *a, MPI_Status *status)
{
    for (int round = 1;; round++) {
        enum outcome o = recv_directly(a, status);
        if (o != NOTHING_YET) return o == TAKEN;
        if (round == SHOAL_ROUNDS || shoal_progress_crowded() || shoal_engine_wanted() ||
            !shoal_shm_on_core(a->comm->peers[a->rank]))
            return false;
        shoal_progress_poll();
    }
}

int shoal_p2p_recv(const shoal_message_args *a, MPI_Status *status)
{
    if (shoal_match_kept > 0 && recv_kept(a, status)) return 0;
    if (shoal_p2p_recv_at_once(a, status)) return 0;
    shoal_req *r;
    int rc = shoal_p2p_irecv(a, &r);
    if (rc) return rc;
    shoal_req_wait(r);
    rc = r->error;
    if (status) shoal_status_give(&r->status, status);
    shoal_req_drop(r);
    return rc;
}

void shoal_recv_on_cancel(const shoal_packet *p)
{
    shoal_unexpected *u = shoal_match_find_id(p->peer, p->id);
    if (!u) {
        shoal_control_send(p->peer, SHOAL_PKT_TOO_LATE, p->id, NULL);
        return;
    }
    shoal_match_remove(u);
    shoal_recv_forget(u);
    shoal_unexpected_free(u);
    shoal_control_send(p->peer, SHOAL_PKT_CANCELLED, p->id, NULL);
}
