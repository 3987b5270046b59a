// SPDX-License-Identifier: BSD-3-Clause
// Error handlers: created for communicators, windows, files and sessions, attached to them, and
// called by the user's own wish. The four kinds differ only in where an object keeps its handler;
// MPI_FILE_NULL stands for files that are not open yet.
#include <stdio.h>

#include "api/api.h"
#include "core/session.h"

// An object that has an error handler, of whatever kind.
typedef struct target {
    enum shoal_kind kind;
    const void *handle;
    shoal_errhandler **place; // where the object keeps its handler
    shoal_comm *comm;         // of kind COMM and SESSION: for raising errors
    shoal_session *session;
} target;

static int find_place(target *t, int code, const char *what)
{
    t->place = shoal_errhandler_place(t->kind, t->handle);
    if (t->place) return 0;
    return shoal_fail(code, "the %s (%p) is null or names nothing that is alive", what, t->handle);
}

static int find_comm(target *t)
{
    int rc = shoal_arg_comm((MPI_Comm)(uintptr_t)t->handle, &t->comm);
    if (rc == 0) t->place = &t->comm->errhandler;
    return rc;
}

static int find_session(target *t)
{
    t->session = shoal_session_get((MPI_Session)(uintptr_t)t->handle);
    if (!t->session)
        return shoal_fail(SHOAL_E_SESSION, "the session (%p) is null or was finalized", t->handle);
    t->place = &t->session->errhandler;
    return 0;
}

static int resolve(target *t)
{
    switch (t->kind) {
    case SHOAL_KIND_COMM: return find_comm(t);
    case SHOAL_KIND_SESSION: return find_session(t);
    case SHOAL_KIND_WIN: return find_place(t, -MPI_ERR_WIN, "window");
    default: break;
    }
    if (t->handle != MPI_FILE_NULL) return find_place(t, -MPI_ERR_FILE, "file");
    t->place = shoal_errhandler_file_default();
    return 0;
}

static int leave(int rc, const target *t)
{
    if (t->session) return shoal_leave_session(rc, t->session);
    return shoal_leave_comm(rc, t->comm);
}

// The forms of create, set and get that all kinds share.
static int create(const char *call, enum shoal_kind kind, shoal_errhandler_fn *function,
                  MPI_Errhandler *out)
{
    shoal_enter_any_time(call);
    int rc = shoal_arg_pointer((const void *)(uintptr_t)function, "the error handler function");
    if (rc == 0) rc = shoal_arg_pointer(out, "errhandler");
    if (rc == 0) {
        shoal_errhandler *e = shoal_errhandler_new(kind, function);
        if (e)
            *out = e->handle;
        else
            rc = SHOAL_E_NO_MEM;
    }
    return shoal_leave(rc);
}

static int set(const char *call, enum shoal_kind kind, const void *handle,
               MPI_Errhandler errhandler)
{
    target t = {.kind = kind, .handle = handle};
    shoal_errhandler *e = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = resolve(&t);
    if (rc == 0) rc = shoal_arg_errhandler(errhandler, &e);
    if (rc == 0) rc = shoal_errhandler_attach(t.place, e, kind);
    return leave(rc, &t);
}

static int get(const char *call, enum shoal_kind kind, const void *handle, MPI_Errhandler *out)
{
    target t = {.kind = kind, .handle = handle};
    int rc = shoal_enter(call);
    if (rc == 0) rc = resolve(&t);
    if (rc == 0) rc = shoal_arg_pointer(out, "errhandler");
    if (rc == 0) *out = shoal_errhandler_give(*t.place);
    return leave(rc, &t);
}

// Does what the handler does, without the lock: the user's function may call MPI or never return.
static void invoke(const char *call, const shoal_errhandler *e, const void *handle, int code)
{
    if (e->does == SHOAL_EH_CALL) {
        if (e->door)
            e->door((shoal_door_user_fn *)e->function, (int)e->owner, &handle, &code);
        else
            e->function(&handle, &code);
        return;
    }
    if (e->does == SHOAL_EH_RETURN || code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING], line[MPI_MAX_ERROR_STRING + 64];
    shoal_errcode_text(code, text);
    snprintf(line, sizeof line, "%s with error %d: %s", call, code, text);
    shoal_api_die(line, shoal_errcode_class(code));
}

static int call_handler(const char *call, enum shoal_kind kind, const void *handle, int code)
{
    target t = {.kind = kind, .handle = handle};
    shoal_enter_any_time(call);
    int rc = resolve(&t);
    if (rc != 0) return leave(rc, &t);
    // Held, because the function may replace the handler that it belongs to.
    shoal_errhandler *e = *t.place;
    shoal_errhandler_hold(e);
    (void)shoal_leave(0);
    invoke(call, e, handle, code);
    shoal_enter_any_time(call);
    shoal_errhandler_drop(e);
    return shoal_leave(0);
}

int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn,
                                MPI_Errhandler *errhandler)
{
    return create("MPI_Comm_create_errhandler", SHOAL_KIND_COMM,
                  (shoal_errhandler_fn *)comm_errhandler_fn, errhandler);
}

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return set("MPI_Comm_set_errhandler", SHOAL_KIND_COMM, comm, errhandler);
}

int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return get("MPI_Comm_get_errhandler", SHOAL_KIND_COMM, comm, errhandler);
}

int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
    return call_handler("MPI_Comm_call_errhandler", SHOAL_KIND_COMM, comm, errorcode);
}

int PMPI_Win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn,
                               MPI_Errhandler *errhandler)
{
    return create("MPI_Win_create_errhandler", SHOAL_KIND_WIN,
                  (shoal_errhandler_fn *)win_errhandler_fn, errhandler);
}

int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler)
{
    return set("MPI_Win_set_errhandler", SHOAL_KIND_WIN, win, errhandler);
}

int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler)
{
    return get("MPI_Win_get_errhandler", SHOAL_KIND_WIN, win, errhandler);
}

int PMPI_Win_call_errhandler(MPI_Win win, int errorcode)
{
    return call_handler("MPI_Win_call_errhandler", SHOAL_KIND_WIN, win, errorcode);
}

int PMPI_File_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn,
                                MPI_Errhandler *errhandler)
{
    return create("MPI_File_create_errhandler", SHOAL_KIND_FILE,
                  (shoal_errhandler_fn *)file_errhandler_fn, errhandler);
}

int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler)
{
    return set("MPI_File_set_errhandler", SHOAL_KIND_FILE, file, errhandler);
}

int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler *errhandler)
{
    return get("MPI_File_get_errhandler", SHOAL_KIND_FILE, file, errhandler);
}

int PMPI_File_call_errhandler(MPI_File fh, int errorcode)
{
    return call_handler("MPI_File_call_errhandler", SHOAL_KIND_FILE, fh, errorcode);
}

int PMPI_Session_create_errhandler(MPI_Session_errhandler_function *session_errhandler_fn,
                                   MPI_Errhandler *errhandler)
{
    return create("MPI_Session_create_errhandler", SHOAL_KIND_SESSION,
                  (shoal_errhandler_fn *)session_errhandler_fn, errhandler);
}

int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler)
{
    return set("MPI_Session_set_errhandler", SHOAL_KIND_SESSION, session, errhandler);
}

int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler *errhandler)
{
    return get("MPI_Session_get_errhandler", SHOAL_KIND_SESSION, session, errhandler);
}

int PMPI_Session_call_errhandler(MPI_Session session, int errorcode)
{
    return call_handler("MPI_Session_call_errhandler", SHOAL_KIND_SESSION, session, errorcode);
}

int PMPI_Errhandler_free(MPI_Errhandler *errhandler)
{
    shoal_enter_any_time("MPI_Errhandler_free");
    shoal_errhandler *e = NULL;
    int rc = shoal_arg_pointer(errhandler, "errhandler");
    if (rc == 0) rc = shoal_arg_errhandler(*errhandler, &e);
    if (rc == 0) {
        shoal_errhandler_take_back(e);
        *errhandler = MPI_ERRHANDLER_NULL;
    }
    return shoal_leave(rc);
}

#include "weak_errhandler.h"
