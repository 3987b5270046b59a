// SPDX-License-Identifier: BSD-3-Clause
// MPI_Session_* and the process sets. A session uses the same engine as MPI_Init: the first user
// starts it, the last one stops it.
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/runtime.h"
#include "core/session.h"
#include "p2p/bsend.h"

static int arg_session(MPI_Session handle, shoal_session **out)
{
    shoal_session *s = shoal_session_get(handle);
    if (!s)
        return shoal_fail(SHOAL_E_SESSION, "the session (%p) is null or was finalized",
                          (void *)handle);
    *out = s;
    return 0;
}

// What the info asks for under "thread_level"; without it the most that there is.
static int wanted_level(const shoal_info *info, int *level_out)
{
    static const struct {
        const char *name;
        int level;
    } levels[] = {
        {"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
        {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
        {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
        {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE},
    };
    const char *wanted = info ? shoal_info_find(info, "thread_level") : NULL;
    *level_out = MPI_THREAD_MULTIPLE;
    if (!wanted) return 0;
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (strcmp(wanted, levels[i].name) != 0) continue;
        *level_out = levels[i].level;
        return 0;
    }
    return shoal_fail(SHOAL_E_INFO_VALUE, "thread_level \"%.40s\" is not a thread level", wanted);
}

static int init(MPI_Info info, shoal_errhandler *e, MPI_Session *session)
{
    shoal_info *i = NULL;
    int level = 0, granted = 0;
    int rc = shoal_arg_pointer(session, "session");
    if (rc == 0) rc = shoal_arg_info_or_null(info, &i);
    if (rc == 0) rc = wanted_level(i, &level);
    if (rc == 0 && !e->predefined && e->owner != SHOAL_KIND_SESSION)
        rc = shoal_fail(SHOAL_E_ERRHANDLER, "the error handler was not created for sessions");
    if (rc == 0) rc = shoal_runtime_acquire(level, &granted);
    if (rc != 0) return rc;
    shoal_session *s = shoal_session_new(i, e, granted);
    if (!s) {
        shoal_runtime_release();
        return SHOAL_E_NO_MEM;
    }
    *session = s->handle;
    return 0;
}

int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    shoal_enter_any_time("MPI_Session_init");
    shoal_errhandler *e = NULL;
    int rc = shoal_arg_errhandler(errhandler, &e);
    if (rc != 0) return shoal_leave(rc);
    rc = init(info, e, session);
    // An error of this very call goes to the handler that the session would have had.
    shoal_session not_born = {.handle = MPI_SESSION_NULL, .errhandler = e};
    return shoal_leave_session(rc, &not_born);
}

int PMPI_Session_finalize(MPI_Session *session)
{
    shoal_enter_any_time("MPI_Session_finalize");
    shoal_session *s = NULL;
    void *memory = NULL;
    int64_t bytes = 0;
    int rc = shoal_arg_pointer(session, "session");
    if (rc == 0) rc = arg_session(*session, &s);
    // Buffered messages leave first; the memory is the user's again.
    if (rc == 0 && s->buffer) rc = shoal_buffer_detach(&s->buffer, &memory, &bytes);
    if (rc == 0) {
        shoal_session_finish(s);
        *session = MPI_SESSION_NULL;
        shoal_runtime_release();
    }
    return shoal_leave(rc);
}

int PMPI_Session_get_info(MPI_Session session, MPI_Info *info_used)
{
    shoal_enter_any_time("MPI_Session_get_info");
    shoal_session *s = NULL;
    int rc = arg_session(session, &s);
    if (rc == 0) rc = shoal_arg_pointer(info_used, "info_used");
    if (rc == 0) {
        shoal_info *copy = shoal_info_dup(s->info);
        if (copy)
            *info_used = copy->handle;
        else
            rc = SHOAL_E_NO_MEM;
    }
    return shoal_leave_session(rc, s);
}

int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int *npset_names)
{
    shoal_enter_any_time("MPI_Session_get_num_psets");
    shoal_session *s = NULL;
    shoal_info *i = NULL;
    int rc = arg_session(session, &s);
    if (rc == 0) rc = shoal_arg_info_or_null(info, &i);
    if (rc == 0) rc = shoal_arg_pointer(npset_names, "npset_names");
    if (rc == 0) *npset_names = shoal_pset_count();
    return shoal_leave_session(rc, s);
}

int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *pset_len,
                              char *pset_name)
{
    shoal_enter_any_time("MPI_Session_get_nth_pset");
    shoal_session *s = NULL;
    shoal_info *i = NULL;
    const char *name = NULL;
    int rc = arg_session(session, &s);
    if (rc == 0) rc = shoal_arg_info_or_null(info, &i);
    if (rc == 0) rc = shoal_arg_pointer(pset_len, "pset_len");
    if (rc == 0 && *pset_len < 0)
        rc = shoal_fail(SHOAL_E_ARG, "pset_len=%d is negative", *pset_len);
    if (rc == 0 && *pset_len > 0) rc = shoal_arg_pointer(pset_name, "pset_name");
    if (rc == 0) rc = shoal_pset_name(n, &name);
    if (rc == 0) {
        // A length of 0 only asks how much room the name needs.
        size_t length = strlen(name);
        if (*pset_len > 0) {
            size_t fits = length < (size_t)*pset_len ? length : (size_t)*pset_len - 1;
            memcpy(pset_name, name, fits);
            pset_name[fits] = '\0';
        }
        *pset_len = (int)length + 1;
    }
    return shoal_leave_session(rc, s);
}

int PMPI_Session_get_pset_info(MPI_Session session, const char *pset_name, MPI_Info *info)
{
    shoal_enter_any_time("MPI_Session_get_pset_info");
    shoal_session *s = NULL;
    shoal_info *made = NULL;
    int rc = arg_session(session, &s);
    if (rc == 0) rc = shoal_arg_pointer(pset_name, "pset_name");
    if (rc == 0) rc = shoal_arg_pointer(info, "info");
    if (rc == 0) rc = shoal_pset_info(pset_name, &made);
    if (rc == 0) *info = made->handle;
    return shoal_leave_session(rc, s);
}

int PMPI_Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup)
{
    shoal_enter_any_time("MPI_Group_from_session_pset");
    shoal_session *s = NULL;
    shoal_group *g = NULL;
    int rc = arg_session(session, &s);
    if (rc == 0) rc = shoal_arg_pointer(pset_name, "pset_name");
    if (rc == 0) rc = shoal_arg_pointer(newgroup, "newgroup");
    if (rc == 0) rc = shoal_pset_group(pset_name, s, &g);
    if (rc == 0) *newgroup = shoal_group_give(g);
    return shoal_leave_session(rc, s);
}

#include "weak_session.h"
