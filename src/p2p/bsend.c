// SPDX-License-Identifier: BSD-3-Clause
// Buffered sends. A message is packed into the attached memory and sent from there by an ordinary
// send of bytes; when that is done its place is free again. The list of places is ours, not in the
// user's memory.
#include "p2p/bsend.h"

#include <stdlib.h>
#include <string.h>

#include "core/session.h"
#include "plat/error.h"
#include "progress/progress.h"

// What a message takes beside its bytes. Nothing is kept there; users of every interface reserve
// at least this much (MPI_BSEND_OVERHEAD is 512 in the standard ABI and 96 in the MPICH ABI).
#define OVERHEAD 96

typedef struct shoal_buffered {
    struct shoal_buffered *next;
    shoal_buffer *buffer; // NULL once the buffer is gone
    char *at;
    int64_t bytes; // OVERHEAD included
    bool own;      // `at` was allocated for this message
} buffered;

shoal_buffer *shoal_process_buffer;

shoal_buffer *shoal_buffer_of(const shoal_comm *c)
{
    if (c->buffer) return c->buffer;
    const shoal_session *s = c->session;
    return s && s->buffer ? s->buffer : shoal_process_buffer;
}

int shoal_buffer_attach(shoal_buffer **place, void *memory, int64_t bytes)
{
    if (*place) return shoal_fail(SHOAL_E_BUFFER, "a buffer is attached already; detach it first");
    bool automatic = memory == MPI_BUFFER_AUTOMATIC;
    if (!automatic && bytes < 0)
        return shoal_fail(SHOAL_E_ARG, "a buffer of %lld bytes cannot be attached",
                          (long long)bytes);
    if (!automatic && !memory && bytes > 0)
        return shoal_fail(SHOAL_E_BUFFER, "the buffer is NULL but %lld bytes long",
                          (long long)bytes);
    shoal_buffer *b = calloc(1, sizeof *b);
    if (!b) return shoal_fail(SHOAL_E_NO_MEM, "no memory to attach a buffer");
    *b = (shoal_buffer){
        .base = automatic ? NULL : memory, .bytes = automatic ? 0 : bytes, .automatic = automatic};
    *place = b;
    return 0;
}

// First gap that is large enough; NULL if there is none.
static buffered *reserve(shoal_buffer *b, int64_t data)
{
    buffered *m = malloc(sizeof *m);
    if (!m) return NULL;
    *m = (buffered){.buffer = b, .bytes = data + OVERHEAD};
    if (b->automatic) {
        m->at = malloc((size_t)data + 1);
        m->own = true;
        if (!m->at) {
            free(m);
            return NULL;
        }
        m->next = b->first;
        b->first = m;
        b->count++;
        return m;
    }
    int64_t at = 0;
    buffered **link = &b->first;
    while (*link && (*link)->at - b->base - at < m->bytes) {
        at = (*link)->at - b->base + (*link)->bytes;
        link = &(*link)->next;
    }
    if (!*link && b->bytes - at < m->bytes) {
        free(m);
        return NULL;
    }
    m->at = b->base + at;
    m->next = *link;
    *link = m;
    b->count++;
    return m;
}

static void release(buffered *m)
{
    shoal_buffer *b = m->buffer;
    if (b) {
        buffered **link = &b->first;
        while (*link != m) link = &(*link)->next;
        *link = m->next;
        b->count--;
    }
    if (m->own) free(m->at);
    free(m);
    while (b && b->count == 0 && b->flushes) {
        shoal_req *r = b->flushes;
        b->flushes = r->next_queued;
        shoal_req_complete(r);
    }
}

static void message_left(shoal_req *r)
{
    shoal_p2p_unwaited--;
    release(r->owner);
}

static int64_t in_use(const shoal_buffer *b)
{
    int64_t used = 0;
    for (const buffered *m = b->first; m; m = m->next) used += m->bytes;
    return used;
}

int shoal_bsend(const shoal_message_args *a)
{
    if (a->rank == MPI_PROC_NULL) return 0;
    int64_t bytes;
    int rc = shoal_datatype_bytes(a->type, a->count, &bytes);
    if (rc) return rc;
    shoal_buffer *b = shoal_buffer_of(a->comm);
    if (!b)
        return shoal_fail(SHOAL_E_BUFFER,
                          "no buffer is attached for a buffered send of %lld bytes: call "
                          "MPI_Buffer_attach first",
                          (long long)bytes);
    buffered *m = reserve(b, bytes);
    if (!m) {
        shoal_progress_poll(); // room may have come up meanwhile
        m = reserve(b, bytes);
    }
    if (!m)
        return shoal_fail(
            SHOAL_E_BUFFER,
            "the attached buffer of %lld bytes, %lld in use, has no room for a message of %lld "
            "bytes and %d of overhead",
            (long long)b->bytes, (long long)in_use(b), (long long)bytes, OVERHEAD);
    shoal_cursor c;
    shoal_cursor_init(&c, a->type, a->count, a->buf);
    shoal_cursor_pack(&c, m->at, bytes);
    shoal_message_args copy = *a;
    copy.buf = m->at;
    copy.count = bytes;
    copy.type = shoal_datatype_get(MPI_BYTE);
    shoal_req *r;
    rc = shoal_p2p_prepare(&copy, SHOAL_REQ_SEND, SHOAL_MODE_STANDARD, &r);
    if (rc) {
        release(m);
        return rc;
    }
    r->on_done = message_left;
    r->owner = m;
    shoal_p2p_unwaited++;
    rc = shoal_p2p_start(r);
    shoal_req_drop(r);
    return rc;
}

int shoal_bsend_start(shoal_req *r)
{
    shoal_message_args a = {.buf = r->buf,
                            .count = r->count,
                            .type = r->type,
                            .rank = r->rank,
                            .tag = r->tag,
                            .comm = r->comm,
                            .use = SHOAL_USE_P2P};
    r->error = 0;
    shoal_status_empty(&r->status);
    int rc = shoal_bsend(&a);
    if (rc) return rc;
    shoal_req_hold(r);
    shoal_req_complete(r);
    return 0;
}

static bool buffer_empty(void *b)
{
    return ((shoal_buffer *)b)->count == 0;
}

static void describe_flush(void *what, shoal_wait_note *note)
{
    const shoal_buffer *b = what;
    note->is_send = true;
    note->peer = MPI_ANY_SOURCE;
    note->tag = MPI_ANY_TAG;
    note->requests = b->count;
    note->bytes = in_use(b);
}

int shoal_buffer_flush(shoal_buffer *b)
{
    if (b) shoal_progress_wait(buffer_empty, b, describe_flush, -1);
    return 0;
}

int shoal_buffer_detach(shoal_buffer **place, void **memory_out, int64_t *bytes_out)
{
    shoal_buffer *b = *place;
    if (!b) {
        *memory_out = NULL;
        *bytes_out = 0;
        return 0;
    }
    shoal_buffer_flush(b);
    *memory_out = b->automatic ? MPI_BUFFER_AUTOMATIC : b->base;
    *bytes_out = b->bytes;
    *place = NULL;
    free(b);
    return 0;
}

void shoal_buffer_free(shoal_buffer *b)
{
    // MPI_Comm_disconnect and _free wait for the messages, so what is left here was never sent.
    for (buffered *m = b->first; m; m = m->next) m->buffer = NULL;
    free(b);
}

int shoal_buffer_iflush(shoal_buffer *b, shoal_req **out)
{
    shoal_req *r = shoal_req_new(SHOAL_REQ_FLUSH, NULL);
    if (!r) return SHOAL_E_NO_MEM;
    r->rank = MPI_ANY_SOURCE;
    r->tag = MPI_ANY_TAG;
    shoal_status_empty(&r->status);
    shoal_req_hold(r);
    shoal_req_step(r, SHOAL_RQ_POSTED);
    *out = r;
    if (!b || b->count == 0) {
        shoal_req_complete(r);
        return 0;
    }
    r->next_queued = b->flushes;
    b->flushes = r;
    return 0;
}
