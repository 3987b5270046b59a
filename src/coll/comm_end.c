// SPDX-License-Identifier: BSD-3-Clause
// See comm_end.h. Ending is rare, so no count of operations is kept: all requests are looked at.
#include "coll/comm_end.h"

#include "core/request.h"

static const shoal_req *next_open(const shoal_comm *c)
{
    for (const shoal_req *r = NULL; (r = shoal_object_next(SHOAL_KIND_REQUEST, r));)
        if (r->comm && (r->comm == c || r->comm == c->local) && !shoal_req_done(r)) return r;
    return NULL;
}

static bool is_quiet(void *comm)
{
    return next_open(comm) == NULL;
}

static void describe(void *comm, shoal_wait_note *note)
{
    const shoal_req *r = next_open(comm);
    if (r) shoal_req_describe((void *)(uintptr_t)r, note);
}

void shoal_comm_quiet(shoal_comm *c)
{
    if (!is_quiet(c)) shoal_progress_wait(is_quiet, c, describe, -1);
}
