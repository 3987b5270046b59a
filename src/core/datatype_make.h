// SPDX-License-Identifier: BSD-3-Clause
// The constructors of datatypes. All of them end in one form, the layout: a list of parts, each a
// number of children in a row at a displacement, and the whole list repeated at a stride:
//
//     vector(count 3, blocklength 2)          struct(2 parts)
//     [cc....cc....cc]                        [a..bbb]
//     count 3, stride 6c, parts {0, 2, c}     count 1, parts {0, 1, a}, {3a, 3, b}
//
// Size, bounds and alignment follow from the layout alone; so does the program.
#ifndef SHOAL_CORE_DATATYPE_MAKE_H
#define SHOAL_CORE_DATATYPE_MAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/datatype.h"

// How deep datatypes may be built on each other.
#define SHOAL_DATATYPE_DEPTH 1000

typedef struct shoal_part {
    int64_t disp;   // bytes
    int64_t length; // children in a row, each at the extent of the last
    shoal_datatype *child;
} shoal_part;

struct shoal_layout {
    int64_t count, stride; // the parts are repeated; stride in bytes
    int64_t parts;
    bool holds; // the layout itself holds its children; else the recipe does
    shoal_part part[];
};

// A layout of `parts` parts, not repeated, to be filled; NULL after shoal_fail().
shoal_layout *shoal_layout_new(int64_t parts);

// The datatype of a layout. Layout and recipe (may be NULL) are its own from now on, or freed.
int shoal_datatype_build(shoal_layout *, shoal_recipe *, shoal_datatype **out);

// Overrides the bounds, as resizing does.
void shoal_datatype_mark(shoal_datatype *, int64_t lb, int64_t extent);

// The constructors. `large` says that the user called the _c form. Arrays are read, never kept.
// Negative counts and sizes beyond 2^63 - 1 give SHOAL_E_COUNT, negative lengths SHOAL_E_ARG.
int shoal_datatype_contiguous(int64_t count, shoal_datatype *old, bool large, shoal_datatype **out);
int shoal_datatype_vector(int64_t count, int64_t length, int64_t stride, shoal_datatype *old,
                          bool large, shoal_datatype **out);
int shoal_datatype_hvector(int64_t count, int64_t length, int64_t stride, shoal_datatype *old,
                           bool large, shoal_datatype **out);
int shoal_datatype_indexed(int64_t count, const int64_t *lengths, const int64_t *disps,
                           shoal_datatype *old, bool large, shoal_datatype **out);
int shoal_datatype_hindexed(int64_t count, const int64_t *lengths, const int64_t *disps,
                            shoal_datatype *old, bool large, shoal_datatype **out);
int shoal_datatype_indexed_block(int64_t count, int64_t length, const int64_t *disps,
                                 shoal_datatype *old, bool large, shoal_datatype **out);
int shoal_datatype_hindexed_block(int64_t count, int64_t length, const int64_t *disps,
                                  shoal_datatype *old, bool large, shoal_datatype **out);
int shoal_datatype_struct(int64_t count, const int64_t *lengths, const int64_t *disps,
                          shoal_datatype *const *types, bool large, shoal_datatype **out);
int shoal_datatype_resized(shoal_datatype *old, int64_t lb, int64_t extent, bool large,
                           shoal_datatype **out);
int shoal_datatype_dup(shoal_datatype *old, shoal_datatype **out); // committed if `old` is

// datatype_array.c
int shoal_datatype_subarray(int ndims, const int64_t *sizes, const int64_t *subsizes,
                            const int64_t *starts, int order, shoal_datatype *old, bool large,
                            shoal_datatype **out);

typedef struct shoal_darray {
    int size, rank, ndims, order;
    const int64_t *gsizes;
    const int *distribs, *dargs, *psizes;
} shoal_darray;
int shoal_datatype_darray(const shoal_darray *, shoal_datatype *old, bool large,
                          shoal_datatype **out);

// datatype_match.c: datatypes that exist already, found by what they can hold. The f90 ones are
// made on first use, live until _fini and may not be freed by the user.
int shoal_datatype_f90(int combiner, int precision, int range, shoal_datatype **out);
int shoal_datatype_match_size(int typeclass, int size, shoal_datatype **out);
MPI_Datatype shoal_datatype_value_index(const shoal_datatype *value, const shoal_datatype *index);
void shoal_datatype_match_fini(void);

#endif
