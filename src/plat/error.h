// SPDX-License-Identifier: BSD-3-Clause
// How failure travels inside Shoal: a function returns 0 or one of the negative codes below; the
// function that first sees a failure records the facts, once, with shoal_fail(), and its callers
// only pass the code up. src/api/ turns the code into an MPI error class and the recorded text
// into what MPI_Error_string answers.
//
// The codes are the negated MPI error classes, so that nothing is lost in translation.
#ifndef SHOAL_PLAT_ERROR_H
#define SHOAL_PLAT_ERROR_H

#include <mpi.h>
#include <stdarg.h>

enum shoal_error {
    SHOAL_OK = 0,
    SHOAL_E_BUFFER = -MPI_ERR_BUFFER,
    SHOAL_E_COUNT = -MPI_ERR_COUNT,
    SHOAL_E_TYPE = -MPI_ERR_TYPE,
    SHOAL_E_TAG = -MPI_ERR_TAG,
    SHOAL_E_COMM = -MPI_ERR_COMM,
    SHOAL_E_RANK = -MPI_ERR_RANK,
    SHOAL_E_REQUEST = -MPI_ERR_REQUEST,
    SHOAL_E_ROOT = -MPI_ERR_ROOT,
    SHOAL_E_GROUP = -MPI_ERR_GROUP,
    SHOAL_E_OP = -MPI_ERR_OP,
    SHOAL_E_TOPOLOGY = -MPI_ERR_TOPOLOGY,
    SHOAL_E_DIMS = -MPI_ERR_DIMS,
    SHOAL_E_ARG = -MPI_ERR_ARG,
    SHOAL_E_TRUNCATE = -MPI_ERR_TRUNCATE,
    SHOAL_E_OTHER = -MPI_ERR_OTHER,
    SHOAL_E_INTERN = -MPI_ERR_INTERN,
    SHOAL_E_PENDING = -MPI_ERR_PENDING,
    SHOAL_E_NO_MEM = -MPI_ERR_NO_MEM,
    SHOAL_E_KEYVAL = -MPI_ERR_KEYVAL,
    SHOAL_E_INFO = -MPI_ERR_INFO,
    SHOAL_E_INFO_KEY = -MPI_ERR_INFO_KEY,
    SHOAL_E_INFO_VALUE = -MPI_ERR_INFO_VALUE,
    SHOAL_E_INFO_NOKEY = -MPI_ERR_INFO_NOKEY,
    SHOAL_E_ERRHANDLER = -MPI_ERR_ERRHANDLER,
    SHOAL_E_SESSION = -MPI_ERR_SESSION,
    SHOAL_E_UNSUPPORTED = -MPI_ERR_UNSUPPORTED_OPERATION,
    SHOAL_E_PROC_ABORTED = -MPI_ERR_PROC_ABORTED,
    SHOAL_E_VALUE_TOO_LARGE = -MPI_ERR_VALUE_TOO_LARGE,
    // A failed system call; reported as MPI_ERR_OTHER with the system's words in the text.
    SHOAL_E_SYS = -MPI_ERR_OTHER,
};

// Longest text kept for one failure, terminator included (MPI_Error_string's own limit).
#define SHOAL_FAIL_TEXT MPI_MAX_ERROR_STRING

// Records the facts of a failure for this thread and returns `code`. The text is for the user:
// name the culprit and the values, no trailing full stop or newline.
int shoal_fail(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));

// The text last recorded on this thread ("" if none); valid until the next shoal_fail() here.
const char *shoal_fail_text(void);

// Ends the process because the engine found itself or shared memory broken: prints the text with
// the rank to stderr and calls abort(). For broken invariants, never for user mistakes.
void shoal_panic(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn, cold));

#endif
