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

// Takes the engine lock; fails (without the lock) before MPI_Init, after MPI_Finalize and in a
// forked child. The name is what error texts say.
int shoal_enter(const char *call);

// For the functions that the standard allows at any time, before MPI_Init and after MPI_Finalize
// too.
void shoal_enter_any_time(const char *call);

int shoal_leave(int rc);
int shoal_leave_comm(int rc, shoal_comm *);
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
// parameter is set on success only.
int shoal_arg_comm(MPI_Comm, shoal_comm **out); // MPI_COMM_NULL and dead ones fail
int shoal_arg_intracomm(MPI_Comm, shoal_comm **out);
int shoal_arg_group(MPI_Group, shoal_group **out);
int shoal_arg_type(MPI_Datatype, shoal_datatype **out); // alive, committed or not
int shoal_arg_committed(MPI_Datatype, shoal_datatype **out);
int shoal_arg_op(MPI_Op, shoal_op **out);
int shoal_arg_info(MPI_Info, shoal_info **out);         // MPI_INFO_NULL fails
int shoal_arg_info_or_null(MPI_Info, shoal_info **out); // MPI_INFO_NULL gives NULL
int shoal_arg_errhandler(MPI_Errhandler, shoal_errhandler **out);
int shoal_arg_pointer(const void *, const char *argument); // not NULL
int shoal_arg_count(MPI_Count, const char *argument);      // not negative
int shoal_arg_buffer(const void *buf, MPI_Count count, const shoal_datatype *,
                     const char *argument);
int shoal_arg_dest(int rank, const shoal_comm *);   // a rank or MPI_PROC_NULL
int shoal_arg_source(int rank, const shoal_comm *); // ... or MPI_ANY_SOURCE
int shoal_arg_send_tag(int tag);
int shoal_arg_recv_tag(int tag);
int shoal_arg_root(int root, const shoal_comm *); // intra-communicator: 0 .. size-1

// Copies a name into a user's buffer of MPI_MAX_OBJECT_NAME characters.
void shoal_name_get(const char *name, char *out, int *len_out);
int shoal_name_set(char name[MPI_MAX_OBJECT_NAME], const char *given);

#endif
