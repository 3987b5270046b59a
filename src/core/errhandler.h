// SPDX-License-Identifier: BSD-3-Clause
// Error handlers, and error classes, codes and strings: the predefined, the user's, and the codes
// that carry the text of one particular failure.
#ifndef SHOAL_CORE_ERRHANDLER_H
#define SHOAL_CORE_ERRHANDLER_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/door.h"
#include "core/object.h"

enum shoal_errhandler_does { SHOAL_EH_FATAL, SHOAL_EH_ABORT, SHOAL_EH_RETURN, SHOAL_EH_CALL };

// All callbacks have this form once the address of the object's handle is passed as void *.
typedef void shoal_errhandler_fn(void *handle_address, int *code, ...);

typedef struct shoal_errhandler {
    shoal_object object;
    MPI_Errhandler handle;
    enum shoal_errhandler_does does;
    enum shoal_kind owner; // COMM, WIN, FILE or SESSION for a user's function
    shoal_errhandler_fn *function;
    shoal_door_errhandler_fn *door; // calls `function` when it came through another interface
    uint32_t handles;               // how many of the references are the user's
    bool predefined;
} shoal_errhandler;

// The handler behind a handle that the user has not freed, or NULL. Works at any time.
shoal_errhandler *shoal_errhandler_get(MPI_Errhandler);
int shoal_errhandler_init(void);

// A handler that calls the user's function; its one reference is the user's handle. NULL after
// shoal_fail().
shoal_errhandler *shoal_errhandler_new(enum shoal_kind owner, shoal_errhandler_fn *);

// Gives the user one more handle (MPI_Comm_get_errhandler), and takes one back
// (MPI_Errhandler_free).
MPI_Errhandler shoal_errhandler_give(shoal_errhandler *);
void shoal_errhandler_take_back(shoal_errhandler *);

// Puts a handler in place of the one in *place (which may be NULL) of an object of that kind.
int shoal_errhandler_attach(shoal_errhandler **place, shoal_errhandler *, enum shoal_kind);

// Where an object keeps its handler. Kinds that live above core (windows, files) register a
// function that finds the place for a handle, or NULL if there is no such object.
typedef shoal_errhandler **shoal_errhandler_place_fn(const void *handle);
void shoal_errhandler_register(enum shoal_kind, shoal_errhandler_place_fn *);
shoal_errhandler **shoal_errhandler_place(enum shoal_kind, const void *handle);

// The handler that new files get: that of MPI_FILE_NULL, which the user may set.
shoal_errhandler **shoal_errhandler_file_default(void);

static inline void shoal_errhandler_hold(shoal_errhandler *e)
{
    if (!e->predefined) e->object.refs++;
}
void shoal_errhandler_drop(shoal_errhandler *);

// Error codes may be asked for at any time and by any thread, with or without the engine lock.

// Turns an internal code and the text recorded with it into an MPI error code: the class when
// there is no text, otherwise a code that MPI_Error_class and _string resolve (the last 4,096
// texts are kept).
int shoal_errcode_make(int internal_code, const char *text);

// For any code: its class, and its text ("MPI_ERR_RANK: ..." ); class MPI_ERR_UNKNOWN if not known.
int shoal_errcode_class(int code);
void shoal_errcode_text(int code, char out[MPI_MAX_ERROR_STRING]);
bool shoal_errcode_known(int code);

// MPI_Add_error_class/code/string and MPI_Remove_...; MPI_LASTUSEDCODE.
int shoal_errcode_add_class(int *class_out);
int shoal_errcode_add_code(int class, int *code_out);
int shoal_errcode_add_string(int code, const char *text);
int shoal_errcode_remove_class(int class);
int shoal_errcode_remove_code(int code);
int shoal_errcode_remove_string(int code);
// Around fork(), so that the child does not inherit a lock that some other thread holds.
void shoal_errcode_lock(void);
void shoal_errcode_unlock(void);
int *shoal_errcode_last_used(void); // address of the attribute's value

#endif
