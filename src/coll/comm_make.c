// SPDX-License-Identifier: BSD-3-Clause
// See comm_make.h: what all ways of making a communicator share, and duplicating.
#include "coll/comm_make.h"

#include <stdlib.h>

#include "coll/arena.h"
#include "core/session.h"
#include "plat/error.h"

int shoal_comm_finish(shoal_comm *c, uint64_t context, uint64_t arena)
{
    shoal_comm_on_gone(shoal_arena_detach);
    c->context = context;
    return shoal_arena_attach(c, arena);
}

void shoal_comm_inherit(shoal_comm *c, const shoal_comm *parent)
{
    shoal_errhandler_attach(&c->errhandler, parent->errhandler, SHOAL_KIND_COMM);
    if (!parent->session || c->session) return;
    shoal_session_hold(parent->session);
    c->session = parent->session;
}

// A communicator whose context is still to be agreed on.
static shoal_comm *begin_comm(const shoal_comm *parent, shoal_group *group, shoal_group *remote)
{
    shoal_comm *c = shoal_comm_new(0, group, remote);
    if (!c) return NULL;
    c->vessel = true; // until it has a context, nobody needs to hear of its end
    if (parent) shoal_comm_inherit(c, parent);
    if (!remote) return c;
    c->local = shoal_comm_new(0, group, NULL);
    if (c->local) {
        c->local->vessel = true;
        return c;
    }
    shoal_comm_drop(c);
    return NULL;
}

static int settle(shoal_comm *c, const shoal_terms *terms)
{
    c->vessel = false;
    if (!c->inter) return shoal_comm_finish(c, terms->context, terms->arena);
    c->context = terms->context;
    c->local->vessel = false;
    return shoal_comm_finish(c->local, terms->local_context, terms->local_arena);
}

int shoal_comm_make(const shoal_circle *circle, const shoal_bridge *bridge,
                    const shoal_comm *parent, shoal_group *group, shoal_group *remote,
                    shoal_comm **out)
{
    shoal_terms terms;
    shoal_comm *c = begin_comm(parent, group, remote);
    if (!c) return SHOAL_E_NO_MEM;
    int rc = shoal_agree_terms(circle, bridge, &terms);
    if (rc == 0) rc = settle(c, &terms);
    if (rc == 0)
        *out = c;
    else
        shoal_comm_drop(c);
    return rc;
}

// A duplicate under way holds the new communicator.
static void dup_done(void *arg, int error, const shoal_terms *terms)
{
    shoal_req *r = arg;
    shoal_comm *c = r->owner;
    if (error == 0) error = settle(c, terms);
    if (error < 0) error = shoal_errcode_make(error, shoal_fail_text());
    r->error = r->status.MPI_ERROR = error;
    shoal_comm_drop(c);
    shoal_req_complete(r);
}

static int start_dup(shoal_comm *c, shoal_comm *n, shoal_req **req_out)
{
    shoal_req *r = shoal_req_new(SHOAL_REQ_COLLECTIVE, c);
    if (!r) return SHOAL_E_NO_MEM;
    r->rank = MPI_ANY_SOURCE;
    r->tag = MPI_ANY_TAG;
    shoal_status_empty(&r->status);
    shoal_comm_hold(n);
    r->owner = n;
    shoal_req_hold(r);
    shoal_req_step(r, SHOAL_RQ_POSTED);
    shoal_circle circle = shoal_circle_all(c->inter ? c->local : c);
    shoal_bridge bridge = {.comm = c, .tag = c->inter ? shoal_agree_tag(c) : 0};
    int rc = shoal_agree_start(&circle, c->inter ? &bridge : NULL, dup_done, r);
    if (rc) {
        shoal_comm_drop(n);
        shoal_req_drop(r); // the engine's
        shoal_req_drop(r);
        return rc;
    }
    *req_out = r;
    return 0;
}

int shoal_comm_idup(shoal_comm *c, shoal_comm **out, shoal_req **req_out, int *user_error_out)
{
    int ignored;
    *user_error_out = 0;
    shoal_comm *n = begin_comm(c, c->group, c->inter ? c->remote_group : NULL);
    if (!n) return SHOAL_E_NO_MEM;
    // A callback that fails is this rank's affair: the others wait for its part all the same.
    int copied =
        shoal_attr_copy_all(&c->attrs, c->handle, SHOAL_ATTR_COMM, &n->attrs, user_error_out);
    shoal_req *r = NULL;
    int rc = start_dup(c, n, &r);
    if (rc == 0) rc = copied;
    if (rc == 0) {
        *out = n;
        *req_out = r;
        return 0;
    }
    if (r) shoal_req_drop(r);
    shoal_attr_delete_all(&n->attrs, n->handle, SHOAL_ATTR_COMM, &ignored);
    n->freed = true;
    shoal_comm_drop(n);
    return rc;
}
