// SPDX-License-Identifier: BSD-3-Clause
// Completing requests: wait and test for one, any, some and all; looking without completing;
// starting persistent requests, cancelling, freeing.
#include <stdlib.h>

#include "api/api.h"
#include "p2p/grequest.h"
#include "p2p/p2p.h"
#include "progress/progress.h"
#include "progress/turns.h"

// Up to this many requests an array of theirs lies on the stack.
#define FEW 64

static int arg_request(MPI_Request h, shoal_req **out)
{
    shoal_req *r = shoal_req_get(h);
    if (!r)
        return shoal_fail(SHOAL_E_REQUEST, "the request (%p) %s", (void *)h,
                          h == MPI_REQUEST_NULL
                              ? "is the null handle"
                              : "names nothing that is alive; was it completed or freed before?");
    *out = r;
    return 0;
}

// A request that takes part in waiting: not null, and started.
static bool is_active(const shoal_req *r)
{
    return r && r->state != SHOAL_RQ_IDLE;
}

// Resolves an array; null handles give NULL. *list_out is `few` or allocated.
static int resolve(MPI_Count n, const MPI_Request handles[], shoal_req *few[FEW],
                   shoal_req ***list_out)
{
    if (n < 0) return shoal_fail(SHOAL_E_ARG, "count is %lld", (long long)n);
    if (n > 0 && !handles) return shoal_fail(SHOAL_E_ARG, "array_of_requests is a null pointer");
    shoal_req **list = n <= FEW ? few : malloc((size_t)n * sizeof *list);
    if (!list) return shoal_fail(SHOAL_E_NO_MEM, "no memory for %lld requests", (long long)n);
    *list_out = list;
    for (MPI_Count i = 0; i < n; i++) {
        list[i] = shoal_req_get(handles[i]);
        if (__builtin_expect(!list[i], 0) && handles[i] != MPI_REQUEST_NULL)
            return shoal_fail(SHOAL_E_REQUEST,
                              "array_of_requests[%lld] (%p) names nothing that is alive; was it "
                              "completed or freed "
                              "before?",
                              (long long)i, (void *)handles[i]);
    }
    return 0;
}

static void release_list(shoal_req **list, shoal_req *few[FEW])
{
    if (list != few) free(list);
}

// The same for persistent requests, which stay, for failed ones and for those of the user.
static __attribute__((noinline)) int finish_special(shoal_req *r, MPI_Request *handle,
                                                    MPI_Status *status, shoal_comm **c)
{
    if (r->kind == SHOAL_REQ_GENERALIZED) shoal_grequest_query(r);
    shoal_status_give(&r->status, status);
    int error = r->error;
    // A communicator that only this request keeps alive has no handler to call any more.
    if (error && r->comm && !r->comm->freed) *c = r->comm;
    if (r->persistent) {
        shoal_req_step(r, SHOAL_RQ_IDLE);
    } else {
        *handle = MPI_REQUEST_NULL;
        if (r->kind == SHOAL_REQ_GENERALIZED) {
            int code = shoal_grequest_release(r);
            if (!error) error = code;
        }
        shoal_req_drop(r);
    }
    return error;
}

// Hands the result of a finished request to the user and ends its round. Returns the request's
// error.
static inline int finish(shoal_req *r, MPI_Request *handle, MPI_Status *status, shoal_comm **c)
{
    if (r->persistent || r->error || r->kind == SHOAL_REQ_GENERALIZED)
        return finish_special(r, handle, status, c);
    shoal_status_give(&r->status, status);
    *handle = MPI_REQUEST_NULL;
    shoal_req_drop(r);
    return 0;
}

static void give_empty(MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE) shoal_status_empty(status); // MPI_ERROR too is part of "empty"
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    shoal_comm *c = NULL;
    shoal_req *r = NULL;
    int rc = shoal_enter("MPI_Wait");
    if (rc == 0) rc = shoal_arg_pointer(request, "request");
    if (rc == 0 && *request != MPI_REQUEST_NULL) rc = arg_request(*request, &r);
    if (rc == 0 && !is_active(r))
        give_empty(status);
    else if (rc == 0) {
        shoal_req_wait(r);
        rc = finish(r, request, status, &c);
    }
    return shoal_leave_comm(rc, c);
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    shoal_comm *c = NULL;
    shoal_req *r = NULL;
    int rc = shoal_enter("MPI_Test");
    if (rc == 0) rc = shoal_arg_pointer(request, "request");
    if (rc == 0) rc = shoal_arg_pointer(flag, "flag");
    if (rc == 0 && *request != MPI_REQUEST_NULL) rc = arg_request(*request, &r);
    if (rc == 0 && !is_active(r)) {
        *flag = 1;
        give_empty(status);
    } else if (rc == 0) {
        if (!shoal_req_done(r)) shoal_progress_poll();
        *flag = shoal_req_done(r);
        if (*flag) rc = finish(r, request, status, &c);
    }
    return shoal_leave_comm(rc, c);
}

// A wait for several requests at once.
typedef struct crowd {
    shoal_req **list;
    int64_t n;
    int64_t from; // all before are done (for "all")
} crowd;

static bool all_done(void *what)
{
    crowd *w = what;
    while (w->from < w->n && (!is_active(w->list[w->from]) || shoal_req_done(w->list[w->from])))
        w->from++;
    return w->from == w->n;
}

// How many come after the first that is not done: about as many as are not done.
static int64_t not_passed(void *what)
{
    const crowd *w = what;
    return w->n - w->from - 1;
}

static int64_t first_done(const crowd *w)
{
    for (int64_t i = 0; i < w->n; i++)
        if (is_active(w->list[i]) && shoal_req_done(w->list[i])) return i;
    return -1;
}

static bool any_done(void *what)
{
    return first_done(what) >= 0;
}

static void describe_crowd(void *what, shoal_wait_note *note)
{
    const crowd *w = what;
    uint32_t open = 0;
    for (int64_t i = 0; i < w->n; i++) {
        if (!is_active(w->list[i]) || shoal_req_done(w->list[i])) continue;
        if (open++ == 0) shoal_req_describe(w->list[i], note);
    }
    note->requests = open;
}

static bool none_active(const crowd *w)
{
    for (int64_t i = 0; i < w->n; i++)
        if (is_active(w->list[i])) return false;
    return true;
}

// False when an earlier entry of the array was the same request and has ended it: the handle was
// good when the array was resolved.
static bool still_there(const shoal_req *r, MPI_Request handle)
{
    return shoal_object_handle(r) == handle;
}

static int fail_twice(int64_t i)
{
    return shoal_fail(SHOAL_E_REQUEST,
                      "array_of_requests[%lld] names the same request as an entry before it",
                      (long long)i);
}

// Finishes the requests of the list from number `i` on; statuses carry each one's error when one
// has failed.
static int finish_each(crowd *w, int64_t i, MPI_Request handles[], MPI_Status statuses[],
                       shoal_comm **c)
{
    bool failed = false;
    int64_t twice = -1;
    for (int64_t k = i; k < w->n; k++) failed |= is_active(w->list[k]) && w->list[k]->error;
    for (int64_t k = 0; failed && statuses != MPI_STATUSES_IGNORE && k < i; k++)
        statuses[k].MPI_ERROR = MPI_SUCCESS;
    for (; i < w->n; i++) {
        MPI_Status *s = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
        int error = 0;
        bool active = is_active(w->list[i]);
        if (active && !still_there(w->list[i], handles[i]))
            twice = i;
        else if (active)
            error = finish(w->list[i], &handles[i], s, c);
        else
            give_empty(s);
        if (error) failed = true;
        if (failed && s != MPI_STATUS_IGNORE) s->MPI_ERROR = error;
    }
    if (twice >= 0) return fail_twice(twice);
    if (!failed) return 0;
    return shoal_fail(-MPI_ERR_IN_STATUS,
                      "at least one of %lld requests has failed; its status says why",
                      (long long)w->n);
}

// All are done: finishes them, as far as they are ordinary requests without a failure.
static int finish_all(crowd *w, MPI_Request handles[], MPI_Status statuses[], shoal_comm **c)
{
    for (int64_t i = 0; i < w->n; i++) {
        shoal_req *r = w->list[i];
        if (!r || r->persistent || r->error || r->kind > SHOAL_REQ_RECV ||
            !still_there(r, handles[i]))
            return finish_each(w, i, handles, statuses, c);
        if (statuses != MPI_STATUSES_IGNORE) shoal_status_give(&r->status, &statuses[i]);
        handles[i] = MPI_REQUEST_NULL;
        shoal_req_drop(r);
    }
    return 0;
}

// Says with whom this rank talks: who is waited for first, and all that is still to come from it or
// go to it.
static void talk_of(const crowd *w)
{
    const shoal_req *first = NULL;
    int64_t bytes = 0;
    for (int64_t i = w->from; i < w->n; i++) {
        const shoal_req *r = w->list[i];
        if (!is_active(r) || shoal_req_done(r) || !shoal_req_names_peer(r)) continue;
        if (!first) first = r;
        if (r->peer == first->peer) bytes += r->bytes;
    }
    if (first)
        shoal_turns_talk(first->peer, bytes);
    else
        shoal_turns_talk_to_many();
}

int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
    shoal_req *few[FEW], **list = few;
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Waitall");
    if (rc == 0) rc = resolve(count, array_of_requests, few, &list);
    if (rc == 0) {
        crowd w = {.list = list, .n = count};
        if (!all_done(&w)) {
            if (shoal_progress_crowded()) talk_of(&w);
            shoal_progress_wait_many(all_done, &w, describe_crowd, not_passed);
        }
        rc = finish_all(&w, array_of_requests, array_of_statuses, &c);
    }
    release_list(list, few);
    return shoal_leave_comm(rc, c);
}

int PMPI_Testall(int count, MPI_Request array_of_requests[], int *flag,
                 MPI_Status *array_of_statuses)
{
    shoal_req *few[FEW], **list = few;
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Testall");
    if (rc == 0) rc = shoal_arg_pointer(flag, "flag");
    if (rc == 0) rc = resolve(count, array_of_requests, few, &list);
    if (rc == 0) {
        crowd w = {.list = list, .n = count};
        if (!all_done(&w)) shoal_progress_poll();
        *flag = all_done(&w);
        if (*flag) rc = finish_all(&w, array_of_requests, array_of_statuses, &c);
    }
    release_list(list, few);
    return shoal_leave_comm(rc, c);
}

static int any(const char *call, bool wait, int count, MPI_Request handles[], int *index, int *flag,
               MPI_Status *status)
{
    shoal_req *few[FEW], **list = few;
    shoal_comm *c = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_pointer(index, "index");
    if (rc == 0) rc = shoal_arg_pointer(flag, "flag");
    if (rc == 0) rc = resolve(count, handles, few, &list);
    if (rc == 0) {
        crowd w = {.list = list, .n = count};
        bool none = none_active(&w);
        if (!none && wait && !any_done(&w))
            shoal_progress_wait(any_done, &w, describe_crowd, -1);
        else if (!none && !any_done(&w))
            shoal_progress_poll();
        int64_t i = none ? -1 : first_done(&w);
        *flag = none || i >= 0;
        *index = i >= 0 ? (int)i : MPI_UNDEFINED;
        if (i >= 0)
            rc = finish(list[i], &handles[i], status, &c);
        else if (none)
            give_empty(status);
    }
    release_list(list, few);
    return shoal_leave_comm(rc, c);
}

int PMPI_Waitany(int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status)
{
    int flag;
    return any("MPI_Waitany", true, count, array_of_requests, indx, &flag, status);
}

int PMPI_Testany(int count, MPI_Request array_of_requests[], int *indx, int *flag,
                 MPI_Status *status)
{
    return any("MPI_Testany", false, count, array_of_requests, indx, flag, status);
}

// Finishes those that are done; as for all, statuses carry errors when one has failed.
static int finish_some(crowd *w, MPI_Request handles[], int *outcount, int indices[],
                       MPI_Status statuses[], shoal_comm **c)
{
    int out = 0;
    bool failed = false;
    int64_t twice = -1;
    for (int64_t i = 0; i < w->n; i++) {
        if (!is_active(w->list[i]) || !shoal_req_done(w->list[i])) continue;
        if (!still_there(w->list[i], handles[i])) {
            twice = i;
            continue;
        }
        MPI_Status *s = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[out];
        int error = finish(w->list[i], &handles[i], s, c);
        if (s != MPI_STATUS_IGNORE && error)
            s->MPI_ERROR = error;
        else if (s != MPI_STATUS_IGNORE)
            s->MPI_ERROR = MPI_SUCCESS;
        failed |= error != 0;
        indices[out++] = (int)i;
    }
    *outcount = out;
    if (twice >= 0) return fail_twice(twice);
    if (!failed) return 0;
    return shoal_fail(-MPI_ERR_IN_STATUS,
                      "at least one of %d requests has failed; its status says why", out);
}

static int some(const char *call, bool wait, int incount, MPI_Request handles[], int *outcount,
                int indices[], MPI_Status statuses[])
{
    shoal_req *few[FEW], **list = few;
    shoal_comm *c = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_pointer(outcount, "outcount");
    if (rc == 0 && incount > 0) rc = shoal_arg_pointer(indices, "array_of_indices");
    if (rc == 0) rc = resolve(incount, handles, few, &list);
    if (rc == 0) {
        crowd w = {.list = list, .n = incount};
        if (none_active(&w))
            *outcount = MPI_UNDEFINED;
        else {
            if (wait && !any_done(&w))
                shoal_progress_wait(any_done, &w, describe_crowd, -1);
            else if (!any_done(&w))
                shoal_progress_poll();
            rc = finish_some(&w, handles, outcount, indices, statuses, &c);
        }
    }
    release_list(list, few);
    return shoal_leave_comm(rc, c);
}

int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount,
                  int array_of_indices[], MPI_Status *array_of_statuses)
{
    return some("MPI_Waitsome", true, incount, array_of_requests, outcount, array_of_indices,
                array_of_statuses);
}

int PMPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount,
                  int array_of_indices[], MPI_Status *array_of_statuses)
{
    return some("MPI_Testsome", false, incount, array_of_requests, outcount, array_of_indices,
                array_of_statuses);
}

// The status of a finished request without ending it.
static void peek(shoal_req *r, MPI_Status *status)
{
    if (!is_active(r)) {
        give_empty(status);
        return;
    }
    if (r->kind == SHOAL_REQ_GENERALIZED) shoal_grequest_query(r);
    shoal_status_give(&r->status, status);
}

int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    shoal_req *r = NULL;
    int rc = shoal_enter("MPI_Request_get_status");
    if (rc == 0) rc = shoal_arg_pointer(flag, "flag");
    if (rc == 0 && request != MPI_REQUEST_NULL) rc = arg_request(request, &r);
    if (rc == 0) {
        if (is_active(r) && !shoal_req_done(r)) shoal_progress_poll();
        *flag = !is_active(r) || shoal_req_done(r);
        if (*flag) peek(r, status);
    }
    return shoal_leave(rc);
}

int PMPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int *flag,
                                MPI_Status *array_of_statuses)
{
    shoal_req *few[FEW], **list = few;
    int rc = shoal_enter("MPI_Request_get_status_all");
    if (rc == 0) rc = shoal_arg_pointer(flag, "flag");
    if (rc == 0) rc = resolve(count, array_of_requests, few, &list);
    if (rc == 0) {
        crowd w = {.list = list, .n = count};
        if (!all_done(&w)) shoal_progress_poll();
        *flag = all_done(&w);
        for (int i = 0; *flag && array_of_statuses != MPI_STATUSES_IGNORE && i < count; i++)
            peek(list[i], &array_of_statuses[i]);
    }
    release_list(list, few);
    return shoal_leave(rc);
}

int PMPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int *indx,
                                int *flag, MPI_Status *status)
{
    shoal_req *few[FEW], **list = few;
    int rc = shoal_enter("MPI_Request_get_status_any");
    if (rc == 0) rc = shoal_arg_pointer(flag, "flag");
    if (rc == 0) rc = shoal_arg_pointer(indx, "index");
    if (rc == 0) rc = resolve(count, array_of_requests, few, &list);
    if (rc == 0) {
        crowd w = {.list = list, .n = count};
        bool none = none_active(&w);
        if (!none && !any_done(&w)) shoal_progress_poll();
        int64_t i = none ? -1 : first_done(&w);
        *flag = none || i >= 0;
        *indx = i >= 0 ? (int)i : MPI_UNDEFINED;
        if (*flag) peek(i >= 0 ? list[i] : NULL, status);
    }
    release_list(list, few);
    return shoal_leave(rc);
}

int PMPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int *outcount,
                                 int array_of_indices[], MPI_Status *array_of_statuses)
{
    shoal_req *few[FEW], **list = few;
    int rc = shoal_enter("MPI_Request_get_status_some");
    if (rc == 0) rc = shoal_arg_pointer(outcount, "outcount");
    if (rc == 0 && incount > 0) rc = shoal_arg_pointer(array_of_indices, "array_of_indices");
    if (rc == 0) rc = resolve(incount, array_of_requests, few, &list);
    if (rc == 0) {
        crowd w = {.list = list, .n = incount};
        if (!none_active(&w) && !any_done(&w)) shoal_progress_poll();
        int out = 0;
        for (int i = 0; i < incount; i++) {
            if (!is_active(list[i]) || !shoal_req_done(list[i])) continue;
            if (array_of_statuses != MPI_STATUSES_IGNORE) peek(list[i], &array_of_statuses[out]);
            array_of_indices[out++] = i;
        }
        *outcount = none_active(&w) ? MPI_UNDEFINED : out;
    }
    release_list(list, few);
    return shoal_leave(rc);
}

static int start_one(MPI_Request h, shoal_comm **c)
{
    shoal_req *r = NULL;
    int rc = arg_request(h, &r);
    if (rc) return rc;
    *c = r->comm;
    if (!r->persistent)
        return shoal_fail(SHOAL_E_REQUEST, "only persistent requests can be started");
    if (r->state != SHOAL_RQ_IDLE)
        return shoal_fail(SHOAL_E_REQUEST,
                          "the request has been started and not been completed since");
    return r->start(r);
}

int PMPI_Start(MPI_Request *request)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Start");
    if (rc == 0) rc = shoal_arg_pointer(request, "request");
    if (rc == 0) rc = start_one(*request, &c);
    return shoal_leave_comm(rc, c);
}

int PMPI_Startall(int count, MPI_Request array_of_requests[])
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Startall");
    if (rc == 0 && count < 0) rc = shoal_fail(SHOAL_E_ARG, "count is %d", count);
    if (rc == 0 && count > 0) rc = shoal_arg_pointer(array_of_requests, "array_of_requests");
    for (int i = 0; rc == 0 && i < count; i++) rc = start_one(array_of_requests[i], &c);
    return shoal_leave_comm(rc, c);
}

int PMPI_Cancel(MPI_Request *request)
{
    shoal_req *r = NULL;
    int rc = shoal_enter("MPI_Cancel");
    if (rc == 0) rc = shoal_arg_pointer(request, "request");
    if (rc == 0) rc = arg_request(*request, &r);
    shoal_comm *c = r ? r->comm : NULL;
    if (rc == 0 && r->kind == SHOAL_REQ_GENERALIZED)
        rc = shoal_grequest_cancel(r);
    else if (rc == 0 && (r->kind == SHOAL_REQ_SEND || r->kind == SHOAL_REQ_RECV))
        shoal_p2p_cancel(r);
    else if (rc == 0)
        rc = shoal_fail(SHOAL_E_REQUEST,
                        "only sends, receives and generalized requests can be cancelled");
    return shoal_leave_comm(rc, c);
}

int PMPI_Request_free(MPI_Request *request)
{
    shoal_req *r = NULL;
    int rc = shoal_enter("MPI_Request_free");
    if (rc == 0) rc = shoal_arg_pointer(request, "request");
    if (rc == 0) rc = arg_request(*request, &r);
    if (rc == 0) {
        *request = MPI_REQUEST_NULL;
        r->persistent = false;
        shoal_p2p_orphan(r);
        shoal_req_drop(r);
    }
    return shoal_leave(rc);
}

int PMPI_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                        MPI_Grequest_cancel_function *cancel_fn, void *extra_state,
                        MPI_Request *request)
{
    shoal_req *r = NULL;
    int rc = shoal_enter("MPI_Grequest_start");
    if (rc == 0) rc = shoal_arg_pointer(request, "request");
    if (rc == 0) rc = shoal_grequest_new(query_fn, free_fn, cancel_fn, extra_state, &r);
    if (rc == 0) *request = shoal_object_handle(r);
    return shoal_leave(rc);
}

int PMPI_Grequest_complete(MPI_Request request)
{
    shoal_req *r = NULL;
    int rc = shoal_enter("MPI_Grequest_complete");
    if (rc == 0) rc = arg_request(request, &r);
    if (rc == 0 && r->kind != SHOAL_REQ_GENERALIZED)
        rc = shoal_fail(SHOAL_E_REQUEST, "the request is not a generalized one");
    if (rc == 0 && shoal_req_done(r))
        rc = shoal_fail(SHOAL_E_REQUEST, "the request is complete already");
    if (rc == 0) shoal_req_complete(r);
    return shoal_leave(rc);
}

#include "weak_request.h"
