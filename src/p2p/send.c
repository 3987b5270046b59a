// SPDX-License-Identifier: BSD-3-Clause
// The sending side: choosing a way, pushing packets, streaming large messages.
#include <string.h>

#include "core/errhandler.h"
#include "net/shm/shm.h"
#include "p2p/meet.h"
#include "p2p/p2p.h"
#include "plat/error.h"
#include "progress/progress.h"

#define FETCH_MIN     (32u << 10)  // in a crowd, what could go eagerly may be better fetched
#define STREAM        4            // messages in a row that make a stream
#define AHEAD         (64u << 10)  // goes along with the announcement of a large message
#define PIECE         (256u << 10) // one DATA packet
#define PIECE_CROWDED (64u << 10)  // ... when ranks outnumber cores, so that it stays in the caches
#define PIECE_IN_RING (16u << 10)  // ... when others fill the depot
#define STEP          (32u << 10)  // within a piece the receiver is told after so many bytes
#define SELF_EAGER    (64u << 10)  // a standard send to self up to this size does not wait

// May this many bytes more lie unmatched at the peer?
static inline bool within_budget(shoal_peer *p, uint64_t bytes)
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

// Where the bytes of a message come from, one after the other.
typedef struct source {
    const shoal_datatype *type;
    const char *buf;
    int64_t *moved;
    shoal_cursor *cursor; // when the type is not dense
} source;

static void pack(shoal_cursor *c, uint32_t peer, char *to, int64_t bytes)
{
    if (shoal_the_shm.peers[peer].past)
        shoal_cursor_pack_past_caches(c, to, bytes);
    else
        shoal_cursor_pack(c, to, bytes);
}

static void fill(void *what, uint32_t peer, char *to, uint32_t bytes)
{
    source *s = what;
    if (bytes == 0) return; // the buffer may be a null pointer
    if (s->type->dense)
        shoal_shm_fill(peer, to, s->buf + s->type->true_lb + *s->moved, bytes);
    else
        pack(s->cursor, peer, to, bytes);
    *s->moved += bytes;
}

static void put_data(uint32_t peer, char *to, const void *buf, int64_t count,
                     const shoal_datatype *type, int64_t bytes)
{
    if (bytes == 0) return;
    if (type->dense) {
        shoal_shm_fill(peer, to, (const char *)buf + type->true_lb, (uint32_t)bytes);
        return;
    }
    shoal_cursor c;
    shoal_cursor_init(&c, type, count, buf);
    pack(&c, peer, to, bytes);
}

// Will the receiver copy a long payload while we write it? If we wait for a message ourselves, it
// is probably busy writing that one: in an exchange both are faster when each first writes and then
// reads than when they follow each other line by line. If it has no core it does not see the
// payload before it is whole, and nothing is lost.
static bool copies_along(void)
{
    return !shoal_match_posted() && shoal_rndv_moving == 0;
}

static enum shoal_beside beside(enum shoal_traffic traffic)
{
    if (traffic != SHOAL_TRAFFIC_ONE && shoal_progress_crowded()) return SHOAL_BESIDE_MANY;
    return copies_along() ? SHOAL_BESIDE_NOTHING : SHOAL_BESIDE_RECEIVING;
}

static bool push_long_eager(const shoal_message_args *a, const shoal_header *h, uint32_t peer,
                            int64_t bytes)
{
    int64_t moved = 0;
    shoal_cursor cursor;
    if (!a->type->dense) shoal_cursor_init(&cursor, a->type, a->count, a->buf);
    source s = {.type = a->type, .buf = a->buf, .moved = &moved, .cursor = &cursor};
    shoal_long l = {.bytes = (uint32_t)bytes,
                    .fill = fill,
                    .source = &s,
                    .early = copies_along(),
                    .gaps = true,
                    // Telling it costs both; but what is not long would come too late.
                    .step = bytes > 4 * SHOAL_CHUNK ? 2 * SHOAL_CHUNK : SHOAL_CHUNK};
    return shoal_shm_send_long(peer, SHOAL_PKT_EAGER, h, &l);
}

static bool push_eager(const shoal_message_args *a, uint64_t context, uint32_t peer, int64_t bytes)
{
    shoal_header h = header_of(context, a->comm, a->tag);
    if (bytes > SHOAL_CHUNK) {
        if (!push_long_eager(a, &h, peer, bytes)) return false;
    } else {
        char *to = bytes >= SHOAL_AWAY_MIN ? shoal_shm_reserve_away(peer, (uint32_t)bytes)
                                           : shoal_shm_reserve(peer, (uint32_t)bytes);
        if (!to) return false;
        put_data(peer, to, a->buf, a->count, a->type, bytes);
        shoal_shm_publish(peer, SHOAL_PKT_EAGER, (uint32_t)bytes, &h);
    }
    shoal_the_shm.peers[peer].eager_sent += (uint64_t)bytes + SHOAL_EAGER_OVERHEAD;
    return true;
}

// Many messages in a row to a peer that shares no cache with us: already those of medium size are
// faster past the caches. A single one is not.
static bool stream_afar(uint32_t peer)
{
    if (shoal_the_shm.streak < STREAM) return false;
    shoal_shm_measure_distance(peer);
    return shoal_shm_far(peer);
}

// Of what could be sent eagerly: is it better fetched by the receiver? If the kernel is quick,
// perhaps. If not, then in an exchange among many ranks, where less is copied so.
static bool better_fetched(uint32_t peer, const char *buf, const shoal_datatype *type,
                           int64_t bytes, enum shoal_traffic traffic)
{
    bool quick = shoal_the_shm.fetches;
    enum shoal_beside besides = beside(traffic);
    if (!type->dense || bytes < (quick ? SHOAL_MEET_SHORTEST : FETCH_MIN)) return false;
    if (quick && !(shoal_shm_fetches(peer) && shoal_cma_works(peer))) return false;
    if (!quick && (besides == SHOAL_BESIDE_NOTHING || !shoal_progress_crowded())) return false;
    return shoal_meet_is_better(peer, buf + type->true_lb, (uint64_t)bytes, besides);
}

// The whole of the fast path: a message into a ring or depot with room. A small one whose bytes lie
// together takes no turning on it.
bool shoal_send_eager(const shoal_message_args *a, uint32_t peer, int64_t bytes)
{
    shoal_peer *p = &shoal_the_shm.peers[peer];
    uint64_t cost = (uint64_t)bytes + SHOAL_EAGER_OVERHEAD, context = a->comm->context | a->use;
    if (p->queue_first || bytes > SHOAL_EAGER_MAX || !within_budget(p, cost)) return false;
    if (bytes >= SHOAL_MEET_SHORTEST && shoal_the_shm.fetches &&
        better_fetched(peer, a->buf, a->type, bytes, a->traffic))
        return false;
    shoal_the_shm.streak++;
    if (bytes >= SHOAL_AWAY || !a->type->dense || (bytes >= SHOAL_AWAY_MIN && stream_afar(peer)))
        return push_eager(a, context, peer, bytes);
    char *to = shoal_ring_reserve(&p->out, (uint32_t)bytes);
    if (!to) return false;
    if (bytes > 0) shoal_copy_few(to, (const char *)a->buf + a->type->true_lb, (size_t)bytes);
    shoal_header h = header_of(context, a->comm, a->tag);
    shoal_shm_announce(p, SHOAL_PKT_EAGER, (uint32_t)bytes, &h);
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
static bool push_eager_sync(shoal_req *r)
{
    uint64_t id = (uint64_t)(uintptr_t)shoal_object_handle(r);
    uint32_t payload = (uint32_t)(sizeof id + (size_t)r->bytes);
    char *to = shoal_shm_reserve(r->peer, payload);
    if (!to) return false;
    memcpy(to, &id, sizeof id);
    put_data(r->peer, to + sizeof id, r->buf, r->count, r->type, r->bytes);
    shoal_the_shm.peers[r->peer].eager_sent += (uint64_t)r->bytes + SHOAL_EAGER_OVERHEAD;
    shoal_header h = header_of(r->context, r->comm, r->tag);
    shoal_shm_publish(r->peer, SHOAL_PKT_EAGER_SYNC, payload, &h);
    return true;
}

// How much of a large message goes along with its announcement: what is on its way while the answer
// is, or while the receiver wakes up. Nothing if it will fetch the whole by itself.
static uint32_t how_far_ahead(const shoal_req *r, const shoal_rts *rts)
{
    shoal_peer *p = &shoal_the_shm.peers[r->peer];
    if (rts->heap || rts->traits & SHOAL_RTS_FETCH || r->bytes <= AHEAD ||
        !within_budget(p, AHEAD + SHOAL_EAGER_OVERHEAD) ||
        !shoal_depot_fits(&shoal_the_shm.depot, r->peer, AHEAD + (uint32_t)sizeof(shoal_rts)))
        return 0;
    return AHEAD;
}

static bool push_rts(shoal_req *r)
{
    const char *data = r->buf + r->type->true_lb;
    shoal_rts rts = {.bytes = (uint64_t)r->bytes,
                     .id = (uint64_t)(uintptr_t)shoal_object_handle(r)};
    if (r->type->dense) {
        rts.address = (uint64_t)(uintptr_t)data;
        rts.heap = shoal_heap_offset(data, rts.bytes);
        enum shoal_beside besides = beside(r->traffic);
        bool busy = besides != SHOAL_BESIDE_NOTHING;
        bool fetch = !rts.heap && shoal_meet_is_better(r->peer, data, rts.bytes, besides);
        bool keep =
            r->bytes <= SHOAL_EAGER_MAX && r->mode != SHOAL_MODE_SYNC &&
            r->traffic != SHOAL_TRAFFIC_EXCHANGE &&
            within_budget(&shoal_the_shm.peers[r->peer], (uint64_t)r->bytes + SHOAL_EAGER_OVERHEAD);
        rts.traits = (fetch ? SHOAL_RTS_FETCH : 0) | (busy ? SHOAL_RTS_BUSY : 0) |
                     (keep ? SHOAL_RTS_KEEP : 0);
    } else {
        shoal_cursor_init(&r->cursor, r->type, r->count, r->buf);
    }
    r->moved = 0;
    r->meeting = 0;
    shoal_header h = header_of(r->context, r->comm, r->tag);
    uint32_t ahead = how_far_ahead(r, &rts);
    if (ahead > 0) {
        source s = {.type = r->type, .buf = r->buf, .moved = &r->moved, .cursor = &r->cursor};
        shoal_long l = {.front = &rts,
                        .front_bytes = sizeof rts,
                        .bytes = ahead,
                        .fill = fill,
                        .source = &s,
                        .early = copies_along(),
                        .step = STEP};
        if (!shoal_shm_send_long(r->peer, SHOAL_PKT_RTS, &h, &l)) return false;
        shoal_the_shm.peers[r->peer].eager_sent += ahead + SHOAL_EAGER_OVERHEAD;
        return true;
    }
    char *to = shoal_shm_reserve(r->peer, sizeof rts);
    if (!to) return false;
    memcpy(to, &rts, sizeof rts);
    shoal_shm_publish(r->peer, SHOAL_PKT_RTS, sizeof rts, &h);
    if (rts.traits & SHOAL_RTS_KEEP)
        shoal_the_shm.peers[r->peer].eager_sent += (uint64_t)r->bytes + SHOAL_EAGER_OVERHEAD;
    return true;
}

bool shoal_send_push(shoal_req *r, uint32_t kind)
{
    if (kind == SHOAL_PKT_RTS) return push_rts(r);
    if (kind == SHOAL_PKT_EAGER_SYNC) return push_eager_sync(r);
    shoal_message_args a = {
        .buf = r->buf, .count = r->count, .type = r->type, .tag = r->tag, .comm = r->comm};
    return push_eager(&a, r->context, r->peer, r->bytes);
}

uint32_t shoal_send_first_packet(const shoal_req *r)
{
    shoal_peer *p = &shoal_the_shm.peers[r->peer];
    int64_t sync_front = r->mode == SHOAL_MODE_SYNC ? (int64_t)sizeof(uint64_t) : 0;
    if (r->bytes > SHOAL_EAGER_MAX ||
        better_fetched(r->peer, r->buf, r->type, r->bytes, r->traffic) ||
        !within_budget(p, (uint64_t)r->bytes + SHOAL_EAGER_OVERHEAD) ||
        (sync_front && r->bytes + sync_front > SHOAL_CHUNK))
        return SHOAL_PKT_RTS;
    if (r->bytes > SHOAL_CHUNK && !shoal_shm_takes_long(r->peer, (uint32_t)r->bytes))
        return SHOAL_PKT_RTS;
    return sync_front ? SHOAL_PKT_EAGER_SYNC : SHOAL_PKT_EAGER;
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
        put_data(r->peer, u->data, r->buf, r->count, r->type, r->bytes);
        u->here = (uint32_t)r->bytes;
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

// One DATA packet with the next `bytes`.
static bool push_piece(shoal_req *r, uint32_t bytes)
{
    shoal_header h = {.id = r->remote_id};
    source s = {.type = r->type, .buf = r->buf, .moved = &r->moved, .cursor = &r->cursor};
    if (bytes > SHOAL_CHUNK) {
        shoal_long l = {
            .bytes = bytes, .fill = fill, .source = &s, .early = copies_along(), .step = STEP};
        return shoal_shm_send_long(r->peer, SHOAL_PKT_DATA, &h, &l);
    }
    char *to = shoal_shm_reserve(r->peer, bytes);
    if (!to) return false;
    fill(&s, r->peer, to, bytes);
    shoal_shm_publish(r->peer, SHOAL_PKT_DATA, bytes, &h);
    return true;
}

// How much may go at once now. If the depot is full of what others do not take, the way is through
// the ring, which is small when ranks are many.
static uint32_t piece_to(uint32_t peer)
{
    uint32_t piece = shoal_progress_crowded() ? PIECE_CROWDED : PIECE;
    if (shoal_shm_takes_long(peer, piece)) return piece;
    if (shoal_shm_takes_long(peer, PIECE_CROWDED)) return PIECE_CROWDED;
    uint32_t sure = shoal_shm_sure_payload(peer);
    return sure < PIECE_IN_RING ? sure : PIECE_IN_RING;
}

bool shoal_send_stream(shoal_req *r)
{
    while (r->moved < r->total) {
        int64_t left = r->total - r->moved;
        int64_t most = piece_to(r->peer);
        if (!push_piece(r, (uint32_t)(left < most ? left : most))) return false;
    }
    return true;
}

// The send that an answer speaks of, if there is one and the peer may speak of it.
static shoal_req *send_of(const shoal_packet *p)
{
    shoal_req *r = shoal_req_get((MPI_Request)(uintptr_t)p->id);
    return r && r->kind == SHOAL_REQ_SEND && r->peer == p->peer ? r : NULL;
}

// Has it been announced, and is nothing of it under way but what the receiver moves itself?
static bool awaits_answer(const shoal_req *r)
{
    return r->state == SHOAL_RQ_POSTED || (r->state == SHOAL_RQ_MOVING && r->meeting);
}

void shoal_send_on_cts(const shoal_packet *p)
{
    shoal_cts cts;
    shoal_req *r = send_of(p);
    if (!r || !awaits_answer(r) || p->length != sizeof cts) return;
    memcpy(&cts, p->data, sizeof cts);
    if (r->state == SHOAL_RQ_POSTED) {
        shoal_req_step(r, SHOAL_RQ_MATCHED);
        shoal_req_step(r, SHOAL_RQ_MOVING);
    }
    r->meeting = r->type->dense ? (uint16_t)cts.meeting : 0;
    r->remote_id = cts.id;
    r->total = cts.bytes < (uint64_t)r->bytes ? (int64_t)cts.bytes : r->bytes;
    if (r->meeting) {
        shoal_meet_join(r, &cts);
        return;
    }
    if (r->moved == 0) shoal_meet_declined(r->peer);
    if (shoal_send_stream(r))
        shoal_req_complete(r);
    else
        shoal_wait_for_room(r->peer, SHOAL_PKT_DATA, r);
}

void shoal_send_on_done(const shoal_packet *p)
{
    shoal_req *r = send_of(p);
    if (r && awaits_answer(r)) shoal_req_complete(r);
}

// The receiver will not take it: we have asked for that, or it has left the collective call.
void shoal_send_on_cancel_answer(const shoal_packet *p)
{
    shoal_req *r = send_of(p);
    if (!r || r->state != SHOAL_RQ_POSTED || r->queued || p->kind != SHOAL_PKT_CANCELLED) return;
    if (!r->cancel_asked && shoal_use_of(r->context) != SHOAL_USE_COLL) return;
    shoal_status_set_cancelled(&r->status, true);
    shoal_req_complete(r);
}
