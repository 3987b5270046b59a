// SPDX-License-Identifier: BSD-3-Clause
// Large messages at the receiver: the one place that chooses how the data comes over.
//
//   1. The data lies in a shared heap: copy it, it is as good as our own memory.
//   2. The kernel copies it once: the receiver reads the sender's memory, and the sender writes
//      some of it if it has nothing else to do (meet.h). So if the sender sleeps; if the kernel is
//      quick (plat/machine.c), or the data lies on huge pages, where it takes half as long, and
//      this has been faster (core/ways.h); and if more ranks are awake than cores and the kernel is
//      quick, or what all of them move, copied twice, would not stay in the caches.
//   3. Otherwise ask for it: two copies, at the same time if both have a core, beat the kernel's
//      one.
//
// Never is more written than the receive buffer holds: the length is cut before any copy.
#include <string.h>

#include "net/shm/shm.h"
#include "p2p/meet.h"
#include "p2p/p2p.h"
#include "plat/error.h"

#define BOUNCE (32u << 10) // a piece when the receive buffer is not dense
#define FLOOD  (8 << 20)   // so much at once will not stay in the caches anyway

uint32_t shoal_rndv_moving;
static int64_t moving_bytes; // of all these
static bool flood;           // there were FLOOD of them, and some are left

void shoal_packet_unpack(const shoal_packet *p, uint32_t at, shoal_cursor *c, uint32_t bytes)
{
    while (bytes > 0) {
        uint32_t part;
        const char *from = shoal_packet_part(p, at, &part);
        if (part > bytes) part = bytes;
        shoal_cursor_unpack(c, from, part);
        at += part;
        bytes -= part;
    }
}

static void begin_moving(shoal_req *r)
{
    shoal_req_step(r, SHOAL_RQ_MATCHED);
    shoal_req_step(r, SHOAL_RQ_MOVING);
    shoal_rndv_moving++;
    moving_bytes += r->total;
    flood |= moving_bytes >= FLOOD;
}

static void end_moving(const shoal_req *r)
{
    moving_bytes -= r->total;
    flood &= --shoal_rndv_moving > 0;
}

void shoal_rndv_end(shoal_req *r)
{
    end_moving(r);
    shoal_recv_finish(r, shoal_status_bytes(&r->status));
}

// Should this be written past our caches? What a far sender has written past its own comes from
// memory, and is only slowed down if it has to go back there at once; unless it is very long.
static bool goes_past(const shoal_req *r, const shoal_packet *p)
{
    return flood && (!p->past || r->total >= FLOOD);
}

// What the receive has room for, and no more; done when it has all it wants.
static void put_piece(shoal_req *r, const shoal_packet *p, uint32_t at)
{
    int64_t bytes = p->length - at;
    if (bytes > r->total - r->moved) bytes = r->total - r->moved;
    if (bytes > 0 && r->type->dense)
        shoal_packet_copy_long(p, at, r->buf + r->type->true_lb + r->moved, (uint32_t)bytes,
                               goes_past(r, p));
    else if (bytes > 0)
        shoal_packet_unpack(p, at, &r->cursor, (uint32_t)bytes);
    r->moved += bytes;
    if (r->moved >= r->total) shoal_rndv_end(r);
}

static bool read_through_kernel(shoal_req *r, uint32_t peer, uint64_t from)
{
    if (r->type->dense)
        return shoal_cma_read(peer, r->buf + r->type->true_lb, from, (uint64_t)r->total);
    char bounce[BOUNCE];
    for (int64_t done = 0; done < r->total;) {
        int64_t left = r->total - done;
        int64_t piece = left < BOUNCE ? left : BOUNCE;
        if (!shoal_cma_read(peer, bounce, from + (uint64_t)done, (uint64_t)piece)) return false;
        shoal_cursor_unpack(&r->cursor, bounce, piece);
        done += piece;
    }
    return true;
}

// Takes all that the receive wants without the sender; false, and nothing taken, if it is needed.
static bool fetch_alone(shoal_req *r, uint32_t peer, const shoal_rts *rts)
{
    const char *shared = shoal_heap_at(rts->heap, (uint64_t)r->total);
    if (shared && r->type->dense) {
        shoal_copy(r->buf + r->type->true_lb, shared, (size_t)r->total);
        return true;
    }
    if (shared) {
        shoal_cursor_unpack(&r->cursor, shared, r->total);
        return true;
    }
    if (!rts->address || !(shoal_shm_asleep(peer) || shoal_meet_suits(r, rts)) ||
        !shoal_cma_works(peer))
        return false;
    if (read_through_kernel(r, peer, rts->address)) return true;
    if (!r->type->dense) shoal_cursor_seek(&r->cursor, 0);
    return false;
}

void shoal_rndv_take(shoal_req *r, const shoal_packet *p, uint32_t at, const shoal_rts *rts)
{
    int64_t bytes = (int64_t)rts->bytes;
    r->total = bytes < r->bytes ? bytes : r->bytes;
    r->moved = 0;
    r->meeting = 0;
    r->remote_id = rts->id;
    if (!r->type->dense) shoal_cursor_init(&r->cursor, r->type, r->count, r->buf);
    shoal_status_set_bytes(&r->status, bytes); // remembered for shoal_recv_finish()
    bool all_here = r->total <= p->length - at;
    shoal_ways *ways = rts->address && !rts->heap ? shoal_meet_ways(r, p->peer, rts) : NULL;
    int64_t began = ways ? shoal_now_ns() : 0;
    if (ways) shoal_meet_wish(p->peer, ways, began);
    if (shoal_meet_can_be(r, p->peer, rts)) {
        if (ways) shoal_ways_went(ways, SHOAL_WAY_KERNEL, r->total, began);
        begin_moving(r);
        shoal_meet_begin(r, p->peer, rts);
        return;
    }
    bool fetched = !all_here && fetch_alone(r, p->peer, rts);
    if (ways) shoal_ways_went(ways, fetched ? SHOAL_WAY_KERNEL : SHOAL_WAY_COPIES, r->total, began);
    if (fetched) {
        shoal_control_send(p->peer, SHOAL_PKT_FIN, rts->id, NULL);
        shoal_recv_finish(r, bytes);
        return;
    }
    begin_moving(r);
    shoal_cts cts = {.id = (uint64_t)(uintptr_t)shoal_object_handle(r),
                     .bytes = (uint64_t)r->total};
    if (all_here)
        shoal_control_send(p->peer, SHOAL_PKT_FIN, rts->id, NULL);
    else
        shoal_control_send(p->peer, SHOAL_PKT_CTS, rts->id, &cts);
    put_piece(r, p, at); // while the sender goes on
}

void shoal_recv_on_data(const shoal_packet *p)
{
    shoal_req *r = shoal_req_get((MPI_Request)(uintptr_t)p->id);
    if (!r || r->kind != SHOAL_REQ_RECV || r->state != SHOAL_RQ_MOVING || r->peer != p->peer ||
        r->meeting)
        return;
    if (p->length > r->total - r->moved)
        shoal_panic("rank %u sent %u bytes where %lld were asked for", p->peer, p->length,
                    (long long)(r->total - r->moved));
    put_piece(r, p, 0);
}
