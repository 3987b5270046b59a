// SPDX-License-Identifier: BSD-3-Clause
// Matched probes: a message is taken away from all other receives first and received later. It is
// what Python objects travel by: nobody knows beforehand how long a pickled object is.
#include "net/shm/shm.h"
#include "p2p/meet.h"
#include "p2p/p2p.h"
#include "progress/engine.h"

// Is it a small message, all of it here, that the probe wants?
static bool wanted(const shoal_packet *p, const shoal_message_args *a, uint64_t context)
{
    return p->kind == SHOAL_PKT_EAGER && p->context == context &&
           (p->src == a->rank || a->rank == MPI_ANY_SOURCE) &&
           (p->tag == a->tag || a->tag == MPI_ANY_TAG);
}

// Takes the packet out of its ring. The copy is in no index: nobody else can find it.
static shoal_unexpected *take(const shoal_packet *p)
{
    shoal_unexpected *u = shoal_recv_copy(p, 0);
    shoal_shm_step(p);
    return u;
}

// The short way, as recv_directly() in recv.c: while nothing is posted and nothing kept, the next
// packet of a ring cannot be meant for anybody else. Without a named source it is the ring that
// spoke last which is watched. NULL at the first thing that is not simple, or after a while.
static shoal_unexpected *take_directly(const shoal_message_args *a, bool wait)
{
    static unsigned in_a_row;
    uint32_t peer = a->rank >= 0 ? a->comm->peers[a->rank] : shoal_the_shm.hot;
    uint64_t context = a->comm->context | a->use;
    shoal_packet p;
    if (peer == shoal_the_shm.rank) return NULL; // no ring leads to oneself
    // Other transfers, and other senders, must not wait for ever behind a lively conversation.
    if (++in_a_row % SHOAL_POLL_EVERY == 0) shoal_progress_poll();
    for (int round = 0; round < SHOAL_ROUNDS && shoal_match_idle(); round++) {
        uint32_t word;
        if (wait ? shoal_p2p_look(peer, &word) : shoal_shm_head(peer, &word)) {
            shoal_shm_peek(peer, &p);
            return wanted(&p, a, context) ? take(&p) : NULL;
        }
        if (!wait || shoal_progress_crowded() || shoal_engine_wanted() || !shoal_shm_on_core(peer))
            return NULL;
        shoal_progress_poll();
    }
    return NULL;
}

shoal_unexpected *shoal_p2p_mprobe(const shoal_message_args *a, bool wait, MPI_Status *status)
{
    shoal_unexpected *u = take_directly(a, wait);
    if (u) {
        shoal_p2p_tell(status, u->src, u->tag, u->bytes);
        return u;
    }
    u = shoal_p2p_probe(a, wait, status);
    if (u) shoal_match_remove(u);
    return u;
}

bool shoal_p2p_fits_at_once(const shoal_message_args *a, const shoal_unexpected *u)
{
    int64_t room;
    return u->kind == SHOAL_PKT_EAGER && a->type->dense &&
           shoal_datatype_bytes(a->type, a->count, &room) == 0 && u->bytes <= room;
}

bool shoal_p2p_mrecv_now(const shoal_message_args *a, shoal_unexpected *u, MPI_Status *status)
{
    if (!shoal_p2p_fits_at_once(a, u)) return false;
    shoal_meet_note(u->peer, u->bytes, u->traits & SHOAL_RTS_KEEP);
    if (u->bytes > 0)
        shoal_copy_few((char *)(uintptr_t)a->buf + a->type->true_lb, u->data, (size_t)u->bytes);
    shoal_p2p_tell(status, u->src, u->tag, u->bytes);
    shoal_recv_forget(u);
    shoal_unexpected_free(u);
    return true;
}
