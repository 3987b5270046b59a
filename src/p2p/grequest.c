// SPDX-License-Identifier: BSD-3-Clause
// See grequest.h. The user's functions run outside the engine (core/outside.h).
#include "p2p/grequest.h"

#include <stdlib.h>

#include "core/outside.h"
#include "plat/error.h"

typedef struct grequest {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra;
} grequest;

int shoal_grequest_release(shoal_req *r)
{
    grequest *g = r->extra;
    MPI_Grequest_free_function *function = g->free;
    g->free = NULL;
    if (!function) return MPI_SUCCESS;
    shoal_outside o = shoal_outside_go();
    int code = function(g->extra);
    shoal_outside_return(o);
    return code;
}

static void dispose(shoal_req *r)
{
    (void)shoal_grequest_release(r); // when the user has freed the request himself
    free(r->extra);
}

int shoal_grequest_new(MPI_Grequest_query_function *query, MPI_Grequest_free_function *free_fn,
                       MPI_Grequest_cancel_function *cancel, void *extra, shoal_req **out)
{
    shoal_req *r = shoal_req_new(SHOAL_REQ_GENERALIZED, NULL);
    grequest *g = malloc(sizeof *g);
    if (!r || !g) {
        if (r) shoal_req_drop(r);
        free(g);
        return shoal_fail(SHOAL_E_NO_MEM, "no memory for a request");
    }
    *g = (grequest){.query = query, .free = free_fn, .cancel = cancel, .extra = extra};
    r->extra = g;
    r->dispose = dispose;
    r->rank = MPI_ANY_SOURCE;
    r->tag = MPI_ANY_TAG;
    shoal_status_empty(&r->status);
    shoal_req_hold(r);
    shoal_req_step(r, SHOAL_RQ_POSTED);
    *out = r;
    return 0;
}

// Another thread may complete and free the request while a function runs.
void shoal_grequest_query(shoal_req *r)
{
    grequest g = *(grequest *)r->extra;
    MPI_Status status = r->status;
    shoal_req_hold(r);
    shoal_outside o = shoal_outside_go();
    int code = g.query ? g.query(g.extra, &status) : MPI_SUCCESS;
    shoal_outside_return(o);
    r->status = status;
    r->error = code;
    r->status.MPI_ERROR = code;
    shoal_req_drop(r);
}

int shoal_grequest_cancel(shoal_req *r)
{
    grequest g = *(grequest *)r->extra;
    bool done = r->state == SHOAL_RQ_DONE;
    shoal_outside o = shoal_outside_go();
    int code = g.cancel ? g.cancel(g.extra, done) : MPI_SUCCESS;
    shoal_outside_return(o);
    return code;
}
