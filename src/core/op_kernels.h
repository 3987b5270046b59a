// SPDX-License-Identifier: BSD-3-Clause
// The inner loops of the predefined reductions, found by operation and by how values are stored.
// Elements are combined one by one, in float formats without contraction, so that a result does
// not depend on alignment, on slicing or on the width of the machine's vectors. Buffers may be
// aligned to nothing.
#ifndef SHOAL_CORE_OP_KERNELS_H
#define SHOAL_CORE_OP_KERNELS_H

#include "core/op.h"
#include "plat/clones.h"

enum shoal_op_code {
    SHOAL_OP_USER,
    SHOAL_OP_SUM,
    SHOAL_OP_MIN,
    SHOAL_OP_MAX,
    SHOAL_OP_PROD,
    SHOAL_OP_BAND,
    SHOAL_OP_BOR,
    SHOAL_OP_BXOR,
    SHOAL_OP_LAND,
    SHOAL_OP_LOR,
    SHOAL_OP_LXOR,
    SHOAL_OP_MINLOC,
    SHOAL_OP_MAXLOC,
    SHOAL_OP_REPLACE,
    SHOAL_OP_NO_OP,
    SHOAL_OP_CODES
};

// NULL where the table has none. Whether the standard allows the pair is op.c's question.
shoal_op_fn *shoal_kernel_of_integer(enum shoal_op_code, enum shoal_store); // and logical, byte
shoal_op_fn *shoal_kernel_of_float(enum shoal_op_code, enum shoal_store);   // and complex
shoal_op_fn *shoal_kernel_of_pair(enum shoal_op_code, enum shoal_basic);

// MPI_REPLACE for elements of a size.
shoal_op_fn *shoal_kernel_of_replace(int64_t bytes);

// Defines a kernel: b[i] = value, where a is the left operand.
#define SHOAL_KERNEL(clones, name, type, value)                                                    \
    clones static void name(const void *in, void *inout, int64_t n)                                \
    {                                                                                              \
        const type *restrict left = in;                                                            \
        type *restrict right = inout;                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type a = left[i], b = right[i];                                                        \
            right[i] = (type)(value);                                                              \
        }                                                                                          \
    }

#endif
