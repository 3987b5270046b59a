// SPDX-License-Identifier: BSD-3-Clause
// The life of a request: states, references, who is told when it is done, and that its place is
// used again under another handle.
#include "core/request.h"

#include "plat/test.h"

static int told, disposed;

static void tell(shoal_req *r)
{
    told++;
    CHECK(shoal_req_done(r));
}

static void dispose(shoal_req *r)
{
    (void)r;
    disposed++;
}

static void one_life(void)
{
    shoal_req *r = shoal_req_new(SHOAL_REQ_GENERALIZED, NULL);
    CHECK(r && r->state == SHOAL_RQ_IDLE && shoal_req_done(r) && r->object.refs == 1);
    MPI_Request h = shoal_object_handle(r);
    r->on_done = tell;
    r->dispose = dispose;
    shoal_req_hold(r); // the engine's
    shoal_req_step(r, SHOAL_RQ_POSTED);
    CHECK(!shoal_req_done(r) && shoal_req_get(h) == r);
    shoal_req_step(r, SHOAL_RQ_MATCHED);
    shoal_req_step(r, SHOAL_RQ_MOVING);
    shoal_req_complete(r);
    CHECK(told == 1 && disposed == 0 && shoal_req_done(r) && r->object.refs == 1);
    shoal_req_wait(r); // returns at once
    shoal_req_drop(r);
    CHECK(disposed == 1 && shoal_req_get(h) == NULL);
    CHECK(shoal_req_get(MPI_REQUEST_NULL) == NULL);
}

// The user lets go first.
static void freed_under_way(void)
{
    told = disposed = 0;
    shoal_req *r = shoal_req_new(SHOAL_REQ_GENERALIZED, NULL);
    MPI_Request h = shoal_object_handle(r);
    r->on_done = tell;
    r->dispose = dispose;
    shoal_req_hold(r);
    shoal_req_step(r, SHOAL_RQ_POSTED);
    shoal_req_drop(r);
    CHECK(shoal_req_get(h) == r && disposed == 0);
    shoal_req_complete(r);
    CHECK(told == 1 && disposed == 1 && shoal_req_get(h) == NULL);
}

static void rounds(void)
{
    shoal_req *r = shoal_req_new(SHOAL_REQ_SEND, NULL);
    r->persistent = true;
    for (int k = 0; k < 3; k++) {
        shoal_req_hold(r);
        shoal_req_step(r, SHOAL_RQ_POSTED);
        shoal_req_complete(r);
        shoal_req_step(r, SHOAL_RQ_IDLE);
        CHECK(shoal_req_done(r) && r->object.refs == 1);
    }
    shoal_req_drop(r);
}

static void described(void)
{
    shoal_wait_note note = {0};
    shoal_req *r = shoal_req_new(SHOAL_REQ_RECV, NULL);
    r->rank = MPI_ANY_SOURCE;
    r->tag = 5;
    r->bytes = 77;
    shoal_req_describe(r, &note);
    CHECK(!note.is_send && note.peer == MPI_ANY_SOURCE && note.peer_world == -1 && note.tag == 5);
    CHECK(note.bytes == 77);
    r->kind = SHOAL_REQ_SEND;
    r->rank = 2;
    r->peer = 9;
    shoal_req_describe(r, &note);
    CHECK(note.is_send && note.peer == 2 && note.peer_world == 9);
    shoal_req_drop(r);
}

int main(void)
{
    shoal_req_init();
    one_life();
    freed_under_way();
    rounds();
    described();
    CHECK(shoal_object_live(SHOAL_KIND_REQUEST) == 0);
    return SHOAL_TEST_RESULT();
}
