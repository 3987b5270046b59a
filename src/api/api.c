// SPDX-License-Identifier: BSD-3-Clause
// Entering and leaving MPI calls, raising errors, checking arguments.
#include "api/api.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/errhandler.h"
#include "core/session.h"
#include "job/job.h"
#include "progress/engine.h"

// Why a call cannot be made now.
int shoal_enter_too_early_or_late(const char *call, int state)
{
    static const char *const why[] = {
        [SHOAL_ENGINE_NEW] = "before MPI_Init",
        [SHOAL_ENGINE_FINALIZED] = "after MPI_Finalize",
        [SHOAL_ENGINE_FORKED] =
            "in a child process that a rank has forked; only the rank itself may call MPI",
    };
    shoal_the_engine.call = call;
    return shoal_fail(SHOAL_E_OTHER, "called %s", why[state]);
}

void shoal_enter_any_time(const char *call)
{
    shoal_engine *e = &shoal_the_engine;
    shoal_engine_lock(); // which is in use while the engine does not run
    e->call = call;
}

void shoal_api_die(const char *text, int exit_code)
{
    char line[SHOAL_FAIL_TEXT + 128];
    int n = snprintf(line, sizeof line, "shoal: rank %d: %s\n", shoal_the_job.rank, text);
    if (n > (int)sizeof line - 1) n = (int)sizeof line - 1;
    fflush(stdout);
    ssize_t written = write(STDERR_FILENO, line, (size_t)n);
    (void)written;
    shoal_job_abort(exit_code, text);
}

// "MPI_Send on MPI_COMM_WORLD: " and the facts.
static int make_code(int rc, const char *call, const char *where)
{
    char text[SHOAL_FAIL_TEXT];
    if (rc > 0) return rc;
    int n = where ? snprintf(text, sizeof text, "%s on %s: %s", call, where, shoal_fail_text())
                  : snprintf(text, sizeof text, "%s: %s", call, shoal_fail_text());
    (void)n;
    return shoal_errcode_make(rc, text);
}

static int raise_through(int code, const char *call, const char *where, shoal_errhandler *h,
                         void *handle_address)
{
    if (h && h->does == SHOAL_EH_RETURN) return code;
    if (h && h->does == SHOAL_EH_CALL) {
        if (h->door)
            h->door((shoal_door_user_fn *)h->function, (int)h->owner, handle_address, &code);
        else
            h->function(handle_address, &code);
        return code;
    }
    char text[SHOAL_FAIL_TEXT], line[2 * SHOAL_FAIL_TEXT];
    shoal_errcode_text(code, text);
    // The text of a message's own error was made before anybody knew which call would report it.
    if (strncmp(text, call, strlen(call)) == 0 || strstr(text, call))
        snprintf(line, sizeof line, "%s", text);
    else
        snprintf(line, sizeof line, "%s%s%s: %s", call, where ? " on " : "", where ? where : "",
                 text);
    shoal_api_die(line, shoal_errcode_class(code));
}

static shoal_errhandler *default_handler(void)
{
    int state = atomic_load(&shoal_the_engine.state);
    // A forked child has inherited what the rank wished for.
    bool known = state == SHOAL_ENGINE_RUNNING || state == SHOAL_ENGINE_FORKED;
    return known ? shoal_comm_self.errhandler : NULL;
}

static int raise_for(int rc, shoal_comm *c, const char *call)
{
    char where[MPI_MAX_OBJECT_NAME] = "";
    if (c) snprintf(where, sizeof where, "%s", shoal_comm_label(c));
    int code = make_code(rc, call, c ? where : NULL);
    MPI_Comm handle = c ? c->handle : MPI_COMM_SELF;
    shoal_errhandler *h = c ? c->errhandler : default_handler();
    return raise_through(code, call, c ? where : NULL, h, &handle);
}

int shoal_raise(int rc, shoal_comm *c)
{
    const char *call = shoal_the_engine.call;
    return rc == 0 ? MPI_SUCCESS : raise_for(rc, c, call ? call : "MPI");
}

int shoal_leave_failed(int rc, shoal_comm *c)
{
    // The handler runs without the lock: it may call MPI, or never return.
    const char *call = shoal_the_engine.call;
    if (c) shoal_comm_hold(c);
    shoal_engine_unlock_if_mine();
    rc = raise_for(rc, c, call);
    if (c) {
        shoal_enter_any_time(call);
        shoal_comm_drop(c);
        shoal_engine_unlock_if_mine();
    }
    return rc;
}

int shoal_leave_session(int rc, shoal_session *s)
{
    if (rc == 0 || !s) return shoal_leave(rc);
    const char *call = shoal_the_engine.call;
    shoal_engine_unlock_if_mine();
    MPI_Session handle = s->handle;
    return raise_through(make_code(rc, call, NULL), call, NULL, s->errhandler, &handle);
}

int shoal_api_unsupported(const char *function, int kind, const void *handle)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter(function);
    if (rc == 0 && kind == SHOAL_KIND_COMM) c = shoal_comm_lookup((MPI_Comm)(uintptr_t)handle);
    if (rc == 0)
        rc =
            shoal_fail(SHOAL_E_UNSUPPORTED, "this version of Shoal does not have %s yet", function);
    return shoal_leave_comm(rc, c);
}
