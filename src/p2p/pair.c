// SPDX-License-Identifier: BSD-3-Clause
// See pair.h.
#include "p2p/pair.h"

#include <stdlib.h>

#include "net/shm/shm.h"
#include "plat/error.h"

#define AT_ONCE 8192 // bytes: longer ones are better written when the receive is known (send.c)

typedef struct pair {
    shoal_req *send, *recv; // held
    int left;               // parts that are not done
    char *copy;             // of the data to send, or NULL
} pair;

static void part_done(shoal_req *part)
{
    shoal_req *whole = part->owner;
    pair *p = whole->extra;
    if (part->error && !whole->error) whole->error = part->error;
    if (part == p->recv) whole->status = part->status;
    if (--p->left == 0) shoal_req_complete(whole);
}

static void dispose(shoal_req *whole)
{
    pair *p = whole->extra;
    if (p->send) shoal_req_drop(p->send);
    if (p->recv) shoal_req_drop(p->recv);
    free(p->copy);
    free(p);
}

static int prepare(pair *p, const shoal_message_args *send, const shoal_message_args *recv,
                   shoal_req *whole)
{
    int rc = shoal_p2p_prepare(recv, SHOAL_REQ_RECV, SHOAL_MODE_STANDARD, &p->recv);
    if (rc == 0) rc = shoal_p2p_prepare(send, SHOAL_REQ_SEND, SHOAL_MODE_STANDARD, &p->send);
    if (rc) return rc;
    p->recv->on_done = p->send->on_done = part_done;
    p->recv->owner = p->send->owner = whole;
    whole->rank = recv->rank;
    whole->tag = recv->tag;
    whole->bytes = p->recv->bytes;
    whole->peer = p->recv->peer;
    return 0;
}

// Takes over `copy`, whatever comes.
static int start(const shoal_message_args *send, const shoal_message_args *recv, char *copy,
                 shoal_req **out)
{
    shoal_req *whole = shoal_req_new(SHOAL_REQ_PAIR, recv->comm);
    pair *p = calloc(1, sizeof *p);
    if (!whole || !p) {
        if (whole) shoal_req_drop(whole);
        free(p);
        free(copy);
        return shoal_fail(SHOAL_E_NO_MEM, "no memory for a request");
    }
    *p = (pair){.left = 2, .copy = copy};
    whole->extra = p;
    whole->dispose = dispose;
    int rc = prepare(p, send, recv, whole);
    if (rc) {
        shoal_req_drop(whole);
        return rc;
    }
    shoal_req_hold(whole);
    shoal_req_step(whole, SHOAL_RQ_POSTED);
    // Both parts are held by the pair, so that a part that is done at once stays valid here.
    shoal_p2p_start(p->recv);
    shoal_p2p_start(p->send);
    *out = whole;
    return 0;
}

// Has a small message left at once? Then there is nothing but the receive to wait for.
static bool sent_at_once(const shoal_message_args *a)
{
    int64_t bytes;
    if (a->rank == MPI_PROC_NULL) return true;
    uint32_t peer = a->comm->peers[a->rank];
    return peer != shoal_the_shm.rank && shoal_datatype_bytes(a->type, a->count, &bytes) == 0 &&
           bytes <= AT_ONCE && shoal_send_eager(a, peer, bytes);
}

int shoal_pair_exchange(const shoal_message_args *send, const shoal_message_args *recv,
                        MPI_Status *status)
{
    int64_t room;
    shoal_req *r;
    int rc = shoal_datatype_bytes(recv->type, recv->count, &room);
    if (rc) return rc; // before anything has been sent
    if (sent_at_once(send)) return shoal_p2p_recv(recv, status);
    rc = start(send, recv, NULL, &r);
    return rc ? rc : shoal_pair_finish(r, status);
}

int shoal_pair_finish(shoal_req *r, MPI_Status *status)
{
    shoal_req_wait(r);
    int rc = r->error;
    shoal_status_give(&r->status, status);
    shoal_req_drop(r);
    return rc;
}

int shoal_pair_start(const shoal_message_args *send, const shoal_message_args *recv,
                     shoal_req **out)
{
    return start(send, recv, NULL, out);
}

int shoal_pair_start_replace(const shoal_message_args *send, const shoal_message_args *recv,
                             shoal_req **out)
{
    int64_t bytes;
    int rc = shoal_datatype_bytes(send->type, send->count, &bytes);
    if (rc) return rc;
    char *copy = malloc((size_t)bytes + 1);
    if (!copy)
        return shoal_fail(SHOAL_E_NO_MEM, "no memory for a copy of %lld bytes", (long long)bytes);
    shoal_cursor c;
    shoal_cursor_init(&c, send->type, send->count, send->buf);
    shoal_cursor_pack(&c, copy, bytes);
    shoal_message_args packed = *send;
    packed.buf = copy;
    packed.count = bytes;
    packed.type = shoal_datatype_get(MPI_BYTE);
    return start(&packed, recv, copy, out);
}
