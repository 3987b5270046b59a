// SPDX-License-Identifier: BSD-3-Clause
// A datatype: what MPI says of it (size, bounds, how it was made), the layout from which other
// datatypes are built, and the flat program of copy steps into which commit turns it. Contiguous
// data never runs a program: look at `dense` first.
#ifndef SHOAL_CORE_DATATYPE_H
#define SHOAL_CORE_DATATYPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/attr.h"
#include "core/datatype_table.h"
#include "core/object.h"
#include "plat/error.h"

typedef struct shoal_program shoal_program; // core/program.h
typedef struct shoal_recipe shoal_recipe;   // core/recipe.h: envelope and contents
typedef struct shoal_layout shoal_layout;   // core/datatype_make.h

typedef struct shoal_datatype {
    shoal_object object;
    MPI_Datatype handle; // what the user calls it
    int64_t size;        // bytes of data in one element
    int64_t lb, extent;  // extent = ub - lb
    int64_t true_lb, true_extent;
    int64_t align;    // for the padding of structs
    int64_t basics;   // basic elements in one element (a pair counts as its two parts)
    int64_t external; // bytes of data in one element in external32
    bool dense;       // count elements are count * size bytes without holes from buf + true_lb
    bool committed;
    bool predefined;        // an MPI_ name, or one of the f90 types: the user may not free it
    bool marked;            // the bounds were set by resizing and outrank those of plain data
    uint8_t basic;          // enum shoal_basic when all elements are of that one kind, else NONE
    uint32_t handles;       // how often the user has it: made, and given out by get_contents
    uint32_t depth;         // constructors on the longest way down to a basic type
    uint32_t place;         // scratch of program.c, valid while it compiles
    shoal_layout *layout;   // NULL for a basic type
    shoal_program *program; // of one element, built at commit; NULL while dense suffices
    shoal_program *typed;   // the same without merging different basic types; built when asked for
    shoal_recipe *recipe;   // NULL for MPI_ names and for the hidden parts of subarrays
    shoal_attrs attrs;
    char name[MPI_MAX_OBJECT_NAME];
} shoal_datatype;

// The datatype behind a handle, predefined or made; NULL if there is none. Predefined handles are
// 0x200 to 0x2eb, so a small table by value finds them.
#define SHOAL_TYPE_HANDLES 0x200u
extern shoal_datatype *shoal_datatype_predefined[0x100];
shoal_datatype *shoal_datatype_lookup(MPI_Datatype);
static inline shoal_datatype *shoal_datatype_get(MPI_Datatype handle)
{
    uintptr_t value = (uintptr_t)handle - SHOAL_TYPE_HANDLES;
    return value < 0x100 ? shoal_datatype_predefined[value] : shoal_datatype_lookup(handle);
}

// Sets up the predefined datatypes; undone by _fini.
int shoal_datatype_init(void);
void shoal_datatype_fini(void);

// The predefined datatype of a basic kind or pair.
shoal_datatype *shoal_datatype_of(enum shoal_basic);

// One more owner (an operation under way keeps its datatype), one less.
static inline void shoal_datatype_hold(shoal_datatype *t)
{
    if (!t->predefined) t->object.refs++;
}
void shoal_datatype_drop(shoal_datatype *);

// Makes it usable in communication: compiles its program. Doing it again does nothing.
int shoal_datatype_commit(shoal_datatype *);

// The program that keeps basic elements apart, made on the first call; NULL after shoal_fail().
const shoal_program *shoal_datatype_typed(shoal_datatype *);

// What error texts call it: its name, or how it was made.
const char *shoal_datatype_label(const shoal_datatype *);

// Bytes of data in `count` elements, or SHOAL_E_COUNT when that is more than 2^63 - 1.
void shoal_datatype_too_many(const shoal_datatype *, int64_t count);
static inline int shoal_datatype_bytes(const shoal_datatype *t, int64_t count, int64_t *bytes_out)
{
    int64_t bytes;
    if (__builtin_mul_overflow(t->size, count, &bytes)) {
        shoal_datatype_too_many(t, count);
        return SHOAL_E_COUNT;
    }
    *bytes_out = bytes;
    return 0;
}

// How many basic elements the first `bytes` of data hold: MPI_UNDEFINED if they end inside one.
int shoal_datatype_elements(shoal_datatype *, int64_t bytes, int64_t *elements_out);

// The other way: the bytes of the first `elements` basic elements.
int shoal_datatype_element_bytes(shoal_datatype *, int64_t elements, int64_t *bytes_out);

// A place in the data of `count` elements at `buf`, counted in packed bytes. Packing and unpacking
// continue where the last call stopped, so that a message can move in pieces of any size.
typedef struct shoal_cursor {
    const shoal_datatype *type;
    char *buf;
    int64_t count;
    int64_t position; // packed bytes moved so far
    int64_t total;    // packed bytes in all
} shoal_cursor;

// The datatype is committed, and the count has passed shoal_datatype_bytes().
void shoal_cursor_init(shoal_cursor *, const shoal_datatype *, int64_t count, const void *buf);

// Moves the next `bytes` (clamped to what is left) and returns how many were moved.
int64_t shoal_cursor_pack(shoal_cursor *, void *out, int64_t bytes);
// The same to memory that this core will not read; shoal_settle_copies() has to follow.
int64_t shoal_cursor_pack_past_caches(shoal_cursor *, void *out, int64_t bytes);
int64_t shoal_cursor_unpack(shoal_cursor *, const void *in, int64_t bytes);

// Goes to an absolute packed position.
void shoal_cursor_seek(shoal_cursor *, int64_t position);

// Copies between two typed buffers without a temporary of the whole; at most the shorter one's
// bytes. Returns bytes copied.
int64_t shoal_datatype_copy(const void *from, int64_t from_count, const shoal_datatype *from_type,
                            void *to, int64_t to_count, const shoal_datatype *to_type);

#endif
