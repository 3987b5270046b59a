// SPDX-License-Identifier: BSD-3-Clause
// A datatype: what MPI says of it (size, bounds, how it was made) and the flat program of copy steps
// into which commit turns it. Contiguous data never runs a program: look at `dense` first.
#ifndef SHOAL_CORE_DATATYPE_H
#define SHOAL_CORE_DATATYPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/attr.h"
#include "core/object.h"

// What the elements are, for reductions and for external32.
enum shoal_basic {
    SHOAL_B_NONE, // mixed, or not a basic type
    SHOAL_B_INT8, SHOAL_B_INT16, SHOAL_B_INT32, SHOAL_B_INT64, SHOAL_B_INT128,
    SHOAL_B_UINT8, SHOAL_B_UINT16, SHOAL_B_UINT32, SHOAL_B_UINT64, SHOAL_B_UINT128,
    SHOAL_B_FLOAT16, SHOAL_B_BFLOAT16, SHOAL_B_FLOAT, SHOAL_B_DOUBLE, SHOAL_B_LONG_DOUBLE,
    SHOAL_B_FLOAT128,
    SHOAL_B_COMPLEX32 /* two float16 */, SHOAL_B_COMPLEX_FLOAT, SHOAL_B_COMPLEX_DOUBLE,
    SHOAL_B_COMPLEX_LONG_DOUBLE, SHOAL_B_COMPLEX256 /* two float128 */,
    SHOAL_B_BOOL /* C _Bool */, SHOAL_B_LOGICAL8, SHOAL_B_LOGICAL16, SHOAL_B_LOGICAL32,
    SHOAL_B_LOGICAL64, SHOAL_B_LOGICAL128,
    SHOAL_B_BYTE, SHOAL_B_CHAR /* text: no arithmetic */, SHOAL_B_WCHAR,
    SHOAL_B_FLOAT_INT, SHOAL_B_DOUBLE_INT, SHOAL_B_LONG_INT, SHOAL_B_2INT, SHOAL_B_SHORT_INT,
    SHOAL_B_LONG_DOUBLE_INT, SHOAL_B_2REAL, SHOAL_B_2DOUBLE_PRECISION, SHOAL_B_2INTEGER,
    SHOAL_B_AINT, SHOAL_B_OFFSET, SHOAL_B_COUNT, SHOAL_B_PACKED,
    SHOAL_BASICS
};

typedef struct shoal_program shoal_program; // core/program.h
typedef struct shoal_recipe shoal_recipe;   // core/recipe.h: envelope and contents

typedef struct shoal_datatype {
    shoal_object object;
    MPI_Datatype handle;  // what the user calls it
    int64_t size;         // bytes of data in one element
    int64_t lb, extent;   // extent = ub - lb
    int64_t true_lb, true_extent;
    int64_t align;        // for the padding of structs
    int64_t basics;       // basic elements in one element (a pair counts as its two parts)
    bool dense;           // count elements are count * size bytes without holes from buf + true_lb
    bool committed;
    bool predefined;
    uint8_t basic;        // enum shoal_basic when all elements are of that one kind, else NONE
    shoal_program *program; // of one element, built at commit; NULL while dense suffices
    shoal_recipe *recipe;
    shoal_attrs attrs;
    char name[MPI_MAX_OBJECT_NAME];
} shoal_datatype;

// The datatype behind a handle, predefined or made; NULL if there is none.
shoal_datatype *shoal_datatype_get(MPI_Datatype);

// Sets up the predefined datatypes; undone by _fini.
int shoal_datatype_init(void);
void shoal_datatype_fini(void);

// One more owner (an operation under way keeps its datatype), one less.
static inline void shoal_datatype_hold(shoal_datatype *t)
{
    if (!t->predefined) t->object.refs++;
}
void shoal_datatype_drop(shoal_datatype *);

// Bytes of data in `count` elements, or SHOAL_E_COUNT when that is more than 2^63 - 1.
int shoal_datatype_bytes(const shoal_datatype *, int64_t count, int64_t *bytes_out);

// A place in the data of `count` elements at `buf`, counted in packed bytes. Packing and unpacking
// continue where the last call stopped, so that a message can move in pieces of any size.
typedef struct shoal_cursor {
    const shoal_datatype *type;
    char *buf;
    int64_t count;
    int64_t position;  // packed bytes moved so far
    int64_t total;     // packed bytes in all
    int64_t element;   // state of the interpreter: element, step, repetition, byte in block
    int64_t step;
    int64_t repeat[8];
    int64_t offset;
} shoal_cursor;

void shoal_cursor_init(shoal_cursor *, const shoal_datatype *, int64_t count, const void *buf);

// Moves the next `bytes` (clamped to what is left) and returns how many were moved.
int64_t shoal_cursor_pack(shoal_cursor *, void *out, int64_t bytes);
int64_t shoal_cursor_unpack(shoal_cursor *, const void *in, int64_t bytes);

// Goes to an absolute packed position.
void shoal_cursor_seek(shoal_cursor *, int64_t position);

// Copies between two typed buffers without a temporary of the whole; at most the shorter one's
// bytes. Returns bytes copied.
int64_t shoal_datatype_copy(const void *from, int64_t from_count, const shoal_datatype *from_type,
                            void *to, int64_t to_count, const shoal_datatype *to_type);

#endif
