// SPDX-License-Identifier: BSD-3-Clause
// Packets that found their ring full, for each peer in order. Control packets and first packets of
// messages go before pieces of large messages, so that a long transfer does not hold up short ones.
#include <stdlib.h>
#include <string.h>

#include "net/shm/shm.h"
#include "p2p/p2p.h"
#include "plat/error.h"
#include "progress/progress.h"

static shoal_waiting *waiting_new(uint32_t kind, shoal_req *r)
{
    shoal_waiting *w = malloc(sizeof *w);
    if (!w) shoal_panic("no memory left to queue a packet");
    *w = (shoal_waiting){.kind = kind, .req = r};
    if (r) {
        shoal_req_hold(r);
        r->queued = true;
    }
    return w;
}

static void append(uint32_t peer, shoal_waiting *w)
{
    shoal_peer *p = &shoal_the_shm.peers[peer];
    bool bulk = w->kind == SHOAL_PKT_DATA;
    shoal_waiting **first = bulk ? &p->bulk_first : &p->queue_first;
    shoal_waiting **last = bulk ? &p->bulk_last : &p->queue_last;
    if (*first)
        (*last)->next = w;
    else
        *first = w;
    *last = w;
    shoal_shm_queue_peer(peer);
    // A thread that sleeps in MPI has not asked to be woken when there is room for this one.
    shoal_progress_completed();
}

void shoal_wait_for_room(uint32_t peer, uint32_t kind, shoal_req *r)
{
    append(peer, waiting_new(kind, r));
}

static bool push_control(uint32_t peer, uint32_t kind, uint64_t id, const shoal_cts *cts)
{
    uint32_t payload = cts ? (uint32_t)sizeof *cts : 0;
    char *to = shoal_shm_reserve(peer, payload);
    if (!to) return false;
    if (cts) memcpy(to, cts, sizeof *cts);
    shoal_header h = {.id = id};
    shoal_shm_publish(peer, kind, payload, &h);
    return true;
}

void shoal_control_send(uint32_t peer, enum shoal_packet_kind kind, uint64_t id,
                        const shoal_cts *cts)
{
    if (!shoal_the_shm.peers[peer].queue_first && push_control(peer, kind, id, cts)) return;
    shoal_waiting *w = waiting_new(kind, NULL);
    w->id = id;
    if (cts) w->cts = *cts;
    append(peer, w);
}

static bool push_waiting(uint32_t peer, shoal_waiting *w)
{
    bool has_cts = w->kind == SHOAL_PKT_CTS || w->kind == SHOAL_PKT_WROTE;
    if (!w->req) return push_control(peer, w->kind, w->id, has_cts ? &w->cts : NULL);
    if (w->kind == SHOAL_PKT_DATA) return shoal_send_stream(w->req);
    // Those that left before it may have used up what was to spare when it was queued.
    w->kind = shoal_send_first_packet(w->req);
    return shoal_send_push(w->req, w->kind);
}

// A packet has left; an eager or streamed send is done with it.
static void release(shoal_waiting *w)
{
    if (w->req) {
        w->req->queued = false;
        if (w->kind == SHOAL_PKT_EAGER || w->kind == SHOAL_PKT_DATA) shoal_req_complete(w->req);
        shoal_req_drop(w->req);
    }
    free(w);
}

static int flush_list(uint32_t peer, shoal_waiting **first)
{
    int pushed = 0;
    while (*first && push_waiting(peer, *first)) {
        shoal_waiting *w = *first;
        *first = w->next;
        release(w);
        pushed++;
    }
    return pushed;
}

int shoal_net_flush(uint32_t peer)
{
    shoal_peer *p = &shoal_the_shm.peers[peer];
    p->retry = false; // unless what is tried now asks for it again
    int pushed = flush_list(peer, &p->queue_first);
    if (!p->queue_first) pushed += flush_list(peer, &p->bulk_first);
    return pushed;
}

bool shoal_queue_withdraw(shoal_req *r)
{
    shoal_peer *p = &shoal_the_shm.peers[r->peer];
    shoal_waiting *prev = NULL;
    for (shoal_waiting *w = p->queue_first; w; prev = w, w = w->next) {
        if (w->req != r) continue;
        if (prev)
            prev->next = w->next;
        else
            p->queue_first = w->next;
        if (p->queue_last == w) p->queue_last = prev;
        r->queued = false;
        shoal_req_drop(r);
        free(w);
        return true;
    }
    return false;
}

static bool all_left(void *unused)
{
    (void)unused;
    return shoal_the_shm.queued_count == 0 && shoal_p2p_unwaited == 0;
}

static void describe_drain(void *unused, shoal_wait_note *note)
{
    (void)unused;
    shoal_shm *s = &shoal_the_shm;
    note->is_send = true;
    note->peer = s->queued_count ? (int)s->queued[0] : MPI_ANY_SOURCE;
    note->peer_world = s->queued_count ? (int)s->queued[0] : -1;
    note->requests = shoal_p2p_unwaited;
    note->comm = "MPI_COMM_WORLD";
    note->tag = MPI_ANY_TAG;
}

void shoal_p2p_drain(void)
{
    shoal_progress_wait(all_left, NULL, describe_drain, -1);
}
