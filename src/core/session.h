// SPDX-License-Identifier: BSD-3-Clause
// A session: a user's own way into MPI, beside or without MPI_Init. It has an error handler, the
// info it was made with, and knows the process sets mpi://WORLD and mpi://SELF.
#ifndef SHOAL_CORE_SESSION_H
#define SHOAL_CORE_SESSION_H

#include <mpi.h>
#include <stdbool.h>

#include "core/errhandler.h"
#include "core/group.h"
#include "core/info.h"
#include "core/object.h"

struct shoal_buffer;

typedef struct shoal_session {
    shoal_object object;
    MPI_Session handle;
    shoal_errhandler *errhandler;
    shoal_info *info;            // what the user gave plus what was granted; owned
    int thread_level;            // granted
    struct shoal_buffer *buffer; // MPI_Session_attach_buffer; p2p/bsend.h
    bool finalized;              // the user has ended it; groups and communicators keep the object
} shoal_session;

// The session behind a handle, or NULL: MPI_SESSION_NULL, invented or finalized.
shoal_session *shoal_session_get(MPI_Session);

// A session with one reference, the user's. `info` (may be NULL) is copied, a hold is taken on
// `errhandler`. The engine runs by then, with `thread_level` granted. NULL after shoal_fail().
shoal_session *shoal_session_new(const shoal_info *info, shoal_errhandler *errhandler,
                                 int thread_level);

// The handle is dead from now on; gives up the user's reference.
void shoal_session_finish(shoal_session *);

void shoal_session_hold(shoal_session *);
void shoal_session_drop(shoal_session *);

// How many sessions the user has not finalized.
int shoal_session_count(void);

// Process sets: their number, the name of the n-th, its group, and the info that describes it.
// An unknown name or number is SHOAL_E_ARG.
int shoal_pset_count(void);
int shoal_pset_name(int n, const char **name_out);
int shoal_pset_group(const char *name, shoal_session *, shoal_group **out);
int shoal_pset_info(const char *name, shoal_info **out);

#endif
