// SPDX-License-Identifier: BSD-3-Clause
// Conversions that are too long to be inline: error codes, statuses, arrays.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpich/door.h"

// Both libraries come from one build, or they do not run at all: a table of another layout would
// send calls to the wrong functions.
__attribute__((constructor)) static void check_engine(void)
{
    if (engine.layout == SHOAL_ENGINE_LAYOUT) return;
    fprintf(stderr, "libmpi.so.12 and libmpi_abi.so.1 are of different builds of Shoal: install "
                    "both anew, and look for an old one in LD_LIBRARY_PATH\n");
    _exit(127);
}

// Error codes. What both sides know of:
//
//                            here                         in the engine
//     a class                1 .. 255, MPICH's numbers    1 .. 62 and 1001 .. 1018
//     with a text            text << 8 | class            1 << 30 | text << 8 | class
//     added by the user      1 << 30 | i                  16384 + i
//     anything else          itself                       1 << 29 | itself
//
// so that codes with a text are not above MPICH_ERR_LASTCODE (0x3fffffff) and added ones are.

#define WITH_TEXT   (1 << 30)
#define FOREIGN     (1 << 29)
#define FIRST_ADDED (MPI_ERR_LASTCODE + 1)
#define MOST_ADDED  (1 << 20)

static int class_out(int class)
{
    int tool = class - MPI_T_ERR_CANNOT_INIT;
    int found = 0;
    if (class >= 0 && class < 256)
        found = classes_out[class];
    else if (tool >= 0 && tool < 32)
        found = tool_classes_out[tool];
    return found;
}

int door_error_out(int code)
{
    int class = code >= WITH_TEXT ? class_out(code & 0xff) : class_out(code);
    if (code >= WITH_TEXT) return (code & ~WITH_TEXT & ~0xff) | (class ? class : MPICH_ERR_UNKNOWN);
    if (class != 0) return class;
    int added = code - FIRST_ADDED;
    if (code >= FIRST_ADDED && added < MOST_ADDED) return 1 << 30 | added;
    return code >= FOREIGN ? code & ~FOREIGN : code;
}

int door_error_in(int code)
{
    if (code <= 0) return code;
    int class = classes_in[code & 0xff];
    if (code >= 1 << 30) return FIRST_ADDED + (code & ~(1 << 30));
    if (code < 256 && class != 0) return class;
    if (code > 255 && class != 0) return WITH_TEXT | (code & ~0xff) | class;
    return code < FOREIGN ? FOREIGN | code : code;
}

// Statuses. The engine keeps the bytes in MPI_internal[0..1], "cancelled" in [2] (core/status.h).

MPI_Status *status_in(MPI_Status *to, const mpich_Status *user)
{
    if (user == MPICH_STATUS_IGNORE_ADDRESS || user == NULL) return MPI_STATUS_IGNORE;
    memset(to, 0, sizeof *to);
    to->MPI_SOURCE = rank_in(user->MPI_SOURCE);
    to->MPI_TAG = tag_in(user->MPI_TAG);
    to->MPI_ERROR = error_in(user->MPI_ERROR);
    to->MPI_internal[0] = user->count_lo;
    to->MPI_internal[1] = (int)((unsigned)user->count_hi_and_cancelled >> 1);
    to->MPI_internal[2] = user->count_hi_and_cancelled & 1;
    return to;
}

void status_fill(mpich_Status *user, const MPI_Status *from)
{
    if (from->MPI_ERROR != STATUS_UNTOUCHED) user->MPI_ERROR = error_out(from->MPI_ERROR);
    if (from->MPI_SOURCE == STATUS_UNTOUCHED) return;
    user->MPI_SOURCE = rank_out(from->MPI_SOURCE);
    user->MPI_TAG = tag_out(from->MPI_TAG);
    user->count_lo = from->MPI_internal[0];
    unsigned high = (unsigned)from->MPI_internal[1] << 1;
    user->count_hi_and_cancelled = (int)(high | (from->MPI_internal[2] != 0));
}

// Arrays.

static void *array_room(door_array *a, const void *from, MPI_Count n, size_t bytes)
{
    a->failed = false;
    a->p = from != NULL && n >= 0 ? a->small : NULL;
    if (a->p != NULL && (size_t)n > DOOR_ARRAY_BYTES / bytes) {
        a->p = malloc((size_t)n * bytes);
        a->failed = a->p == NULL;
    }
    return a->p;
}

void door_release(door_array *a)
{
    if (a->p != a->small) free(a->p);
}

void requests_in(door_array *a, const mpich_Request *from, MPI_Count n)
{
    MPI_Request *to = array_room(a, from, n, sizeof *to);
    for (MPI_Count i = 0; to != NULL && i < n; i++) to[i] = request_in(from[i]);
}

void requests_out(mpich_Request *to, const door_array *a, MPI_Count n)
{
    const MPI_Request *from = a->p;
    for (MPI_Count i = 0; from != NULL && i < n; i++) to[i] = request_out(from[i]);
}

void datatypes_in(door_array *a, const mpich_Datatype *from, MPI_Count n)
{
    MPI_Datatype *to = array_room(a, from, n, sizeof *to);
    for (MPI_Count i = 0; to != NULL && i < n; i++) to[i] = datatype_in(from[i]);
}

void infos_in(door_array *a, const mpich_Info *from, MPI_Count n)
{
    MPI_Info *to = array_room(a, from, n, sizeof *to);
    for (MPI_Count i = 0; to != NULL && i < n; i++) to[i] = info_in(from[i]);
}

void ints_in(door_array *a, const int *from, MPI_Count n, int (*convert)(int))
{
    int *to = array_room(a, from, n, sizeof *to);
    for (MPI_Count i = 0; to != NULL && i < n; i++) to[i] = convert(from[i]);
}

void ints_out(int *values, MPI_Count n, int (*convert)(int))
{
    for (MPI_Count i = 0; values != NULL && i < n; i++) values[i] = convert(values[i]);
}

void statuses_begin(door_array *a, const mpich_Status *user, MPI_Count n)
{
    if (user == MPICH_STATUS_IGNORE_ADDRESS) user = NULL;
    MPI_Status *to = array_room(a, user, n, sizeof *to);
    for (MPI_Count i = 0; to != NULL && i < n; i++) status_begin(&to[i], user + i);
}

void statuses_out(mpich_Status *user, const door_array *a, MPI_Count n)
{
    const MPI_Status *from = a->p;
    for (MPI_Count i = 0; from != NULL && i < n; i++) status_fill(&user[i], &from[i]);
}
