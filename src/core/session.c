// SPDX-License-Identifier: BSD-3-Clause
// Sessions: who holds them, and when they end. A finalized session's object lives on while groups
// and communicators made from it do, because it has their error handler.
#include "core/session.h"

#include <assert.h>

static int open_sessions;

shoal_session *shoal_session_get(MPI_Session handle)
{
    shoal_session *s = shoal_object_get(SHOAL_KIND_SESSION, handle);
    return s && !s->finalized ? s : NULL;
}

static const char *level_name(int level)
{
    switch (level) {
    case MPI_THREAD_SINGLE: return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED: return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED: return "MPI_THREAD_SERIALIZED";
    default: return "MPI_THREAD_MULTIPLE";
    }
}

shoal_session *shoal_session_new(const shoal_info *info, shoal_errhandler *errhandler,
                                 int thread_level)
{
    shoal_info *used = info ? shoal_info_dup(info) : shoal_info_new();
    if (!used) return NULL;
    if (shoal_info_set(used, "thread_level", level_name(thread_level)) != 0) goto free_info;
    shoal_object_register(SHOAL_KIND_SESSION, sizeof(shoal_session));
    shoal_session *s = shoal_object_new(SHOAL_KIND_SESSION);
    if (!s) goto free_info;
    s->handle = shoal_object_handle(s);
    s->info = used;
    s->thread_level = thread_level;
    shoal_errhandler_hold(errhandler);
    s->errhandler = errhandler;
    open_sessions++;
    return s;
free_info:
    shoal_info_free(used);
    return NULL;
}

void shoal_session_finish(shoal_session *s)
{
    assert(!s->finalized);
    s->finalized = true;
    open_sessions--;
    shoal_session_drop(s);
}

void shoal_session_hold(shoal_session *s)
{
    s->object.refs++;
}

void shoal_session_drop(shoal_session *s)
{
    assert(s->object.refs > 0);
    if (--s->object.refs > 0) return;
    shoal_errhandler_drop(s->errhandler);
    shoal_info_free(s->info);
    shoal_object_free(s);
}

int shoal_session_count(void)
{
    return open_sessions;
}
