// SPDX-License-Identifier: BSD-3-Clause
// MINLOC and MAXLOC on pairs of a value and an index, and MPI_REPLACE for elements of any size.
// Of equal values the lower index wins, so the operations are commutative and associative.
#include <stddef.h>
#include <string.h>

#include "core/op_kernels.h"

// Whether the left pair takes the place of the right one.
#define FIRST(left, right, better)                                                                 \
    ((left).value better(right).value ||                                                           \
     ((left).value == (right).value && (left).index < (right).index))

// The pair datatypes are C structs; they are copied in and out because user buffers may be
// aligned to nothing.
#define PAIR_KERNEL(name, pair, better)                                                            \
    static void name(const void *in, void *inout, int64_t n)                                       \
    {                                                                                              \
        const char *from = in;                                                                     \
        char *to = inout;                                                                          \
        for (int64_t i = 0; i < n; i++, from += sizeof(pair), to += sizeof(pair)) {                \
            pair left, right;                                                                      \
            memcpy(&left, from, sizeof left);                                                      \
            memcpy(&right, to, sizeof right);                                                      \
            if (!FIRST(left, right, better)) continue;                                             \
            memcpy(to + offsetof(pair, value), &left.value, sizeof left.value);                    \
            memcpy(to + offsetof(pair, index), &left.index, sizeof left.index);                    \
        }                                                                                          \
    }

#define PAIR(name, value_type, index_type)                                                         \
    typedef struct name {                                                                          \
        value_type value;                                                                          \
        index_type index;                                                                          \
    } name;                                                                                        \
    PAIR_KERNEL(minloc_##name, name, <)                                                            \
    PAIR_KERNEL(maxloc_##name, name, >)

PAIR(float_int, float, int)
PAIR(double_int, double, int)
PAIR(long_int, long, int)
PAIR(two_int, int, int)
PAIR(short_int, short, int)
PAIR(long_double_int, long double, int)
PAIR(two_real, float, float)
PAIR(two_double, double, double)

shoal_op_fn *shoal_kernel_of_pair(enum shoal_op_code code, enum shoal_basic pair)
{
    bool min = code == SHOAL_OP_MINLOC;
    if (!min && code != SHOAL_OP_MAXLOC) return NULL;
    switch (pair) {
    case SHOAL_B_FLOAT_INT: return min ? minloc_float_int : maxloc_float_int;
    case SHOAL_B_DOUBLE_INT: return min ? minloc_double_int : maxloc_double_int;
    case SHOAL_B_LONG_INT: return min ? minloc_long_int : maxloc_long_int;
    case SHOAL_B_2INT:
    case SHOAL_B_2INTEGER: return min ? minloc_two_int : maxloc_two_int;
    case SHOAL_B_SHORT_INT: return min ? minloc_short_int : maxloc_short_int;
    case SHOAL_B_LONG_DOUBLE_INT: return min ? minloc_long_double_int : maxloc_long_double_int;
    case SHOAL_B_2REAL: return min ? minloc_two_real : maxloc_two_real;
    case SHOAL_B_2DOUBLE_PRECISION: return min ? minloc_two_double : maxloc_two_double;
    default: return NULL;
    }
}

#define REPLACE(bytes)                                                                             \
    static void replace_##bytes(const void *in, void *inout, int64_t n)                            \
    {                                                                                              \
        memcpy(inout, in, (size_t)n *bytes);                                                       \
    }

REPLACE(1)
REPLACE(2)
REPLACE(4)
REPLACE(8)
REPLACE(16)
REPLACE(32)

shoal_op_fn *shoal_kernel_of_replace(int64_t bytes)
{
    switch (bytes) {
    case 1: return replace_1;
    case 2: return replace_2;
    case 4: return replace_4;
    case 8: return replace_8;
    case 16: return replace_16;
    case 32: return replace_32;
    default: return NULL;
    }
}
