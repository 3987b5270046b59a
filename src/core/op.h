// SPDX-License-Identifier: BSD-3-Clause
// Reduction operations: for each predefined one and each basic kind a kernel over contiguous
// elements; user-defined ones call back with the user's datatype handle.
#ifndef SHOAL_CORE_OP_H
#define SHOAL_CORE_OP_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/datatype.h"
#include "core/door.h"
#include "core/object.h"

// inout[i] = in[i] op inout[i] for n basic elements (for non-commutative ops the order matters).
typedef void shoal_op_fn(const void *in, void *inout, int64_t n);

typedef struct shoal_op {
    shoal_object object;
    MPI_Op handle;
    const char *name; // of a predefined one
    uint8_t code;     // enum shoal_op_code
    bool commutative;
    bool predefined;
    bool freed; // the user has freed it; operations under way keep it alive
    bool large; // the user function is of the _c form
    union {
        MPI_User_function *small;
        MPI_User_function_c *wide;
    } user;
    shoal_op_fn *const *kernels; // by enum shoal_basic; NULL where it is not defined
    shoal_door_op_fn *door;      // calls `user` when it came through another interface, or NULL
} shoal_op;

// The operation behind a handle; NULL for MPI_OP_NULL and what the user has freed.
shoal_op *shoal_op_get(MPI_Op);
int shoal_op_init(void);

// A user-defined operation with one owner, the user's handle.
int shoal_op_new(bool commutative, shoal_op **out);

static inline void shoal_op_hold(shoal_op *o)
{
    if (!o->predefined) o->object.refs++;
}
void shoal_op_drop(shoal_op *);

// SHOAL_E_OP with a text naming both when the operation is not defined on the datatype. A
// predefined operation takes derived datatypes too if all their elements are of one basic type
// that it is defined on.
int shoal_op_check(const shoal_op *, shoal_datatype *);

// The same for MPI_Accumulate and its kin: no user-defined operation, but MPI_REPLACE and
// MPI_NO_OP on every datatype.
int shoal_op_check_accumulate(const shoal_op *, shoal_datatype *);

// inout = in op inout for `count` elements of the datatype. The pair has been checked.
void shoal_op_apply(const shoal_op *, const void *in, void *inout, int64_t count,
                    const shoal_datatype *);

// Can the order of two operands be seen in the result, as in that of MPI_MAX of +0 and -0? Not
// counting which of two NaNs it is.
bool shoal_op_shows_order(const shoal_op *);

// The kernel for a predefined op on a dense datatype and the bytes of one basic element, so that
// collectives can reduce slices; NULL when there is none (user-defined, or not dense).
static inline shoal_op_fn *shoal_op_kernel(const shoal_op *o, const shoal_datatype *t,
                                           int64_t *unit_out)
{
    if (!t->dense || t->size == 0) return NULL;
    int64_t unit = shoal_basics[t->basic].size;
    *unit_out = unit > 0 ? unit : shoal_datatype_of(t->basic)->size; // the table is of no pairs
    return o->kernels[t->basic];
}

#endif
