// SPDX-License-Identifier: BSD-3-Clause
// Error handlers, and error classes, codes and strings: the predefined, the user's, and the codes that
// carry the text of one particular failure.
#ifndef SHOAL_CORE_ERRHANDLER_H
#define SHOAL_CORE_ERRHANDLER_H

#include <mpi.h>
#include <stdbool.h>

#include "core/object.h"

enum shoal_errhandler_does { SHOAL_EH_FATAL, SHOAL_EH_ABORT, SHOAL_EH_RETURN, SHOAL_EH_CALL };

typedef struct shoal_errhandler {
    shoal_object object;
    MPI_Errhandler handle;
    enum shoal_errhandler_does does;
    enum shoal_kind owner;        // COMM, WIN, FILE or SESSION for a user's function
    void (*function)(void *handle_address, int *code, ...);
    bool predefined;
} shoal_errhandler;

shoal_errhandler *shoal_errhandler_get(MPI_Errhandler);
int shoal_errhandler_init(void);
static inline void shoal_errhandler_hold(shoal_errhandler *e)
{
    if (!e->predefined) e->object.refs++;
}
void shoal_errhandler_drop(shoal_errhandler *);

// Turns an internal code and the text recorded with it into an MPI error code: the class when
// there is no text, otherwise a code that MPI_Error_class and _string resolve (the last 4,096 texts are kept).
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
int *shoal_errcode_last_used(void); // address of the attribute's value

#endif
