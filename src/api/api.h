// SPDX-License-Identifier: BSD-3-Clause
// How an MPI entry point is written. It enters, resolves handles, checks arguments, calls one
// function below, and leaves:
//
//     int PMPI_Comm_rank(MPI_Comm comm, int *rank)
//     {
//         shoal_comm *c = NULL;
//         int rc = shoal_enter("MPI_Comm_rank");
//         if (rc == 0) rc = shoal_arg_comm(comm, &c);
//         if (rc == 0) rc = shoal_arg_pointer(rank, "rank");
//         if (rc == 0) *rank = c->rank;
//         return shoal_leave_comm(rc, c);
//     }
//
// Leaving with rc < 0 (an internal code with a recorded text) or rc > 0 (an MPI error code that
// exists already, of a request or a callback) raises the error through the error handler of the
// object, or of MPI_COMM_SELF where there is none, and returns the MPI code.
#ifndef SHOAL_API_API_H
#define SHOAL_API_API_H

#include <mpi.h>

#include "core/comm.h"
#include "core/datatype.h"
#include "core/info.h"
#include "core/op.h"
#include "plat/error.h"
#include "progress/engine.h"

// Takes the engine lock; fails (without the lock) before MPI_Init, after MPI_Finalize and in a
// forked child. The name is what error texts say.
int shoal_enter_too_early_or_late(const char *call, int state);
static inline int shoal_enter(const char *call)
{
    shoal_engine *e = &shoal_the_engine;
    int state = atomic_load_explicit(&e->state, memory_order_relaxed);
    if (__builtin_expect(state != SHOAL_ENGINE_RUNNING, 0))
        return shoal_enter_too_early_or_late(call, state);
    shoal_engine_lock();
    e->call = call;
    return 0;
}

// For the functions that the standard allows at any time, before MPI_Init and after MPI_Finalize
// too.
void shoal_enter_any_time(const char *call);

int shoal_leave_failed(int rc, shoal_comm *);
static inline int shoal_leave_comm(int rc, shoal_comm *c)
{
    if (__builtin_expect(rc != 0, 0)) return shoal_leave_failed(rc, c);
    shoal_engine_unlock_if_mine();
    return MPI_SUCCESS;
}
static inline int shoal_leave(int rc)
{
    return shoal_leave_comm(rc, NULL);
}
struct shoal_session;
int shoal_leave_session(int rc, struct shoal_session *);

// Raises an error through a comm's handler (NULL: the default) outside of enter and leave.
int shoal_raise(int rc, shoal_comm *);

// Ends the job with a message: MPI_ERRORS_ARE_FATAL and MPI_Abort.
void shoal_api_die(const char *text, int exit_code) __attribute__((noreturn));

// What a function that is not implemented yet does: MPI_ERR_UNSUPPORTED_OPERATION with its name,
// through the error handler of the handle it was given (enum shoal_kind, or SHOAL_KIND_NONE).
int shoal_api_unsupported(const char *function, int handle_kind, const void *handle);

// Arguments. Each returns 0 or a recorded failure that names the argument and its value; the out
// parameter is set on success only. The common ones are inline up to the failure, which is told by
// a function of the same name with `bad`.
int shoal_arg_intracomm(MPI_Comm, shoal_comm **out);
int shoal_arg_group(MPI_Group, shoal_group **out);
int shoal_arg_op(MPI_Op, shoal_op **out);
int shoal_arg_info(MPI_Info, shoal_info **out);         // MPI_INFO_NULL fails
int shoal_arg_info_or_null(MPI_Info, shoal_info **out); // MPI_INFO_NULL gives NULL
int shoal_arg_errhandler(MPI_Errhandler, shoal_errhandler **out);
int shoal_arg_root(int root, const shoal_comm *); // intra-communicator: 0 .. size-1

#define SHOAL_BAD __attribute__((cold, noinline))
SHOAL_BAD int shoal_bad_comm(MPI_Comm);
SHOAL_BAD int shoal_bad_type(MPI_Datatype);
SHOAL_BAD int shoal_bad_uncommitted(const shoal_datatype *);
SHOAL_BAD int shoal_bad_pointer(const char *argument);
SHOAL_BAD int shoal_bad_count(MPI_Count, const char *argument);
SHOAL_BAD int shoal_bad_buffer(const void *buf, MPI_Count, const char *argument);
SHOAL_BAD int shoal_bad_rank(const char *what, int rank, const shoal_comm *);
SHOAL_BAD int shoal_bad_send_tag(int tag);
SHOAL_BAD int shoal_bad_recv_tag(int tag);

// MPI_COMM_NULL and dead ones fail.
static inline int shoal_arg_comm(MPI_Comm h, shoal_comm **out)
{
    shoal_comm *c = shoal_comm_get(h);
    if (__builtin_expect(!c, 0)) return shoal_bad_comm(h);
    *out = c;
    return 0;
}

// Alive, committed or not.
static inline int shoal_arg_type(MPI_Datatype h, shoal_datatype **out)
{
    shoal_datatype *t = shoal_datatype_get(h);
    if (__builtin_expect(!t, 0)) return shoal_bad_type(h);
    *out = t;
    return 0;
}

static inline int shoal_arg_committed(MPI_Datatype h, shoal_datatype **out)
{
    int rc = shoal_arg_type(h, out);
    if (rc == 0 && __builtin_expect(!(*out)->committed, 0)) rc = shoal_bad_uncommitted(*out);
    return rc;
}

// Not NULL.
static inline int shoal_arg_pointer(const void *p, const char *argument)
{
    return __builtin_expect(p != NULL, 1) ? 0 : shoal_bad_pointer(argument);
}

// Not negative.
static inline int shoal_arg_count(MPI_Count count, const char *argument)
{
    return __builtin_expect(count >= 0, 1) ? 0 : shoal_bad_count(count, argument);
}

// Not MPI_IN_PLACE, and not NULL if there is data. MPI_BOTTOM is zero as well: then the datatype
// must hold the addresses.
static inline int shoal_arg_buffer(const void *buf, MPI_Count count, const shoal_datatype *type,
                                   const char *argument)
{
    if (__builtin_expect((uintptr_t)buf > (uintptr_t)MPI_IN_PLACE, 1)) return 0;
    if (!buf && (count == 0 || type->size == 0 || type->true_lb != 0)) return 0;
    return shoal_bad_buffer(buf, count, argument);
}

// A rank or MPI_PROC_NULL.
static inline int shoal_arg_dest(int rank, const shoal_comm *c)
{
    if (__builtin_expect((unsigned)rank < (unsigned)c->remote_size, 1)) return 0;
    return rank == MPI_PROC_NULL ? 0 : shoal_bad_rank("destination", rank, c);
}

// ... or MPI_ANY_SOURCE.
static inline int shoal_arg_source(int rank, const shoal_comm *c)
{
    if (__builtin_expect((unsigned)rank < (unsigned)c->remote_size, 1)) return 0;
    return rank == MPI_ANY_SOURCE || rank == MPI_PROC_NULL ? 0 : shoal_bad_rank("source", rank, c);
}

static inline int shoal_arg_send_tag(int tag)
{
    return __builtin_expect(tag >= 0, 1) ? 0 : shoal_bad_send_tag(tag);
}

static inline int shoal_arg_recv_tag(int tag)
{
    return __builtin_expect(tag >= 0 || tag == MPI_ANY_TAG, 1) ? 0 : shoal_bad_recv_tag(tag);
}

// Copies a name into a user's buffer of MPI_MAX_OBJECT_NAME characters.
void shoal_name_get(const char *name, char *out, int *len_out);
int shoal_name_set(char name[MPI_MAX_OBJECT_NAME], const char *given);

#endif
