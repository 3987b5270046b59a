// SPDX-License-Identifier: BSD-3-Clause
// The MPICH ABI's door onto the engine: how its values become the engine's (<kind>_in) and the
// engine's become its own (<kind>_out). Types of this interface are called mpich_X, its constants
// MPICH_X; MPI_X are the engine's. The names MPI_X of functions are those that this library
// defines; the engine's functions are reached through its table only, so that no symbol of one
// library can stand in for one of the other, whatever the order they were loaded in.
//
// Handles of this interface are ints. Predefined ones are constants. A live one is
//
//      31 30 29    26 25           0
//     | 1  1 |  kind  |    index    |      kind: that of the null handle's value
//
// where index is the place in the engine's table. What names nothing becomes a dead ticket, which
// the engine refuses as it refuses freed handles, and never a handle of something else.
#ifndef SHOAL_MPICH_DOOR_H
#define SHOAL_MPICH_DOOR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpich/types.h"

#include "core/object.h"
#include "engine_table.h"
#include "mpich/interface.h"

// Only what the table of the interface lists leaves the library.
#pragma GCC visibility push(hidden)

__attribute__((visibility("default"))) extern const shoal_engine_table
    engine __asm__("shoal_engine_table_v1");

// Handles.

#define LIVE_BITS  0xc0000000u
#define INDEX_BITS 0x03ffffffu

static inline void *live_in(enum shoal_kind kind, int null_handle, int handle)
{
    const unsigned value = (unsigned)handle;
    if ((value & ~INDEX_BITS) == ((unsigned)null_handle | LIVE_BITS)) {
        void *live = engine.live((int)kind, value & INDEX_BITS);
        if (live != NULL) return live;
    }
    return (void *)((uintptr_t)kind << 32 | INDEX_BITS);
}

static inline int live_out(int null_handle, const void *handle)
{
    return (int)((unsigned)null_handle | LIVE_BITS | ((unsigned)(uintptr_t)handle & INDEX_BITS));
}

// Files are addresses here: the engine's handle as it is, but for the null handle.
static inline MPI_File file_in(mpich_File handle)
{
    return handle == NULL ? MPI_FILE_NULL : (MPI_File)(void *)handle;
}

static inline mpich_File file_out(MPI_File handle)
{
    return handle == MPI_FILE_NULL ? NULL : (mpich_File)(void *)handle;
}

// The engine's keyvals are positive; those that users make are the negative ones here.
static inline int live_keyval_in(int keyval)
{
    return keyval < 0 ? keyval & INT_MAX : MPI_KEYVAL_INVALID;
}

static inline int live_keyval_out(int keyval)
{
    return keyval | INT_MIN;
}

#include "mpich/convert.h"

// Ranks and tags. The special values are the small negative numbers in both interfaces, in another
// order; what is special in neither keeps its value, or takes that of a number that is not.

static inline int rank_in(int rank)
{
    static const signed char specials[] = {MPI_PROC_NULL, MPI_ANY_SOURCE, MPI_ROOT, -2};
    return rank >= 0 || rank < -4 ? rank : specials[-1 - rank];
}

static inline int rank_out(int rank)
{
    static const signed char specials[] = {MPICH_ANY_SOURCE, -4, MPICH_PROC_NULL, MPICH_ROOT};
    return rank >= 0 || rank < -4 ? rank : specials[-1 - rank];
}

static inline int tag_in(int tag)
{
    return tag == MPICH_ANY_TAG ? MPI_ANY_TAG : tag == MPI_ANY_TAG ? MPICH_ANY_TAG : tag;
}

static inline int tag_out(int tag)
{
    return tag_in(tag); // the two values change places
}

// Addresses with a meaning.

#define MPICH_IN_PLACE_ADDRESS ((void *)(intptr_t)MPICH_IN_PLACE)

static inline void *buffer_in(const void *buffer)
{
    return buffer == MPICH_IN_PLACE_ADDRESS ? MPI_IN_PLACE : (void *)(uintptr_t)buffer;
}

static inline void *attached_buffer_in(void *buffer)
{
    return buffer == (void *)(intptr_t)MPICH_BUFFER_AUTOMATIC ? MPI_BUFFER_AUTOMATIC : buffer;
}

// What a detach function has put at the address.
static inline void attached_buffer_out(void *buffer_addr)
{
    void **buffer = buffer_addr;
    if (*buffer == MPI_BUFFER_AUTOMATIC) *buffer = (void *)(intptr_t)MPICH_BUFFER_AUTOMATIC;
}

static inline MPI_Offset file_displacement_in(MPI_Offset disp)
{
    return disp == MPICH_DISPLACEMENT_CURRENT ? MPI_DISPLACEMENT_CURRENT : disp;
}

static inline int distribution_argument_in(int darg)
{
    return darg == MPICH_DISTRIBUTE_DFLT_DARG ? MPI_DISTRIBUTE_DFLT_DARG : darg;
}

static inline int distribution_argument_out(int darg)
{
    return darg == MPI_DISTRIBUTE_DFLT_DARG ? MPICH_DISTRIBUTE_DFLT_DARG : darg;
}

// Error classes and codes; convert.c tells how they look on both sides.
int door_error_in(int code);
int door_error_out(int code);

static inline int error_in(int code)
{
    return code == MPI_SUCCESS ? MPI_SUCCESS : door_error_in(code);
}

static inline int error_out(int code)
{
    return __builtin_expect(code == MPI_SUCCESS, 1) ? MPI_SUCCESS : door_error_out(code);
}

// Statuses. The count has 63 bits here, and the lowest bit of the second word says "cancelled".
// Where a call leaves a status or its MPI_ERROR alone, the user's stays as it is.

#define STATUS_UNTOUCHED            (INT_MIN + 1)
#define MPICH_STATUS_IGNORE_ADDRESS ((mpich_Status *)(intptr_t)MPICH_STATUS_IGNORE)

// A status for the engine to fill; NULL when the user ignores it.
static inline MPI_Status *status_begin(MPI_Status *to, const mpich_Status *user)
{
    if (user == MPICH_STATUS_IGNORE_ADDRESS || user == NULL) return MPI_STATUS_IGNORE;
    to->MPI_SOURCE = STATUS_UNTOUCHED;
    to->MPI_ERROR = STATUS_UNTOUCHED;
    return to;
}

MPI_Status *status_in(MPI_Status *to, const mpich_Status *user);
void status_fill(mpich_Status *user, const MPI_Status *from);

static inline void status_out(mpich_Status *user, const MPI_Status *from)
{
    if (user != MPICH_STATUS_IGNORE_ADDRESS && user != NULL) status_fill(user, from);
}

// Arrays: converted copies, on the stack while they are short. A null array stays null, so that
// the engine can complain; `failed` says that there was no memory.

#define DOOR_ARRAY_BYTES 1024

typedef struct door_array {
    void *p;
    bool failed;
    _Alignas(8) char small[DOOR_ARRAY_BYTES];
} door_array;

void door_release(door_array *a);
void requests_in(door_array *a, const mpich_Request *from, MPI_Count n);
void requests_out(mpich_Request *to, const door_array *a, MPI_Count n);
void datatypes_in(door_array *a, const mpich_Datatype *from, MPI_Count n);
void infos_in(door_array *a, const mpich_Info *from, MPI_Count n);
void ints_in(door_array *a, const int *from, MPI_Count n, int (*convert)(int));
void ints_out(int *values, MPI_Count n, int (*convert)(int));
void statuses_begin(door_array *a, const mpich_Status *user, MPI_Count n);
void statuses_out(mpich_Status *user, const door_array *a, MPI_Count n);

#pragma GCC visibility pop

#endif
