// SPDX-License-Identifier: BSD-3-Clause
// Reductions on integers, logicals and bytes. Sums and products run on the unsigned type of the
// same width, which gives the same bits and is defined when it overflows; bitwise operations run
// on bytes whatever the width.
#include "core/op_kernels.h"

#define ANY __attribute__((aligned(1), may_alias))

typedef int8_t i8 ANY;
typedef int16_t i16 ANY;
typedef int32_t i32 ANY;
typedef int64_t i64 ANY;
typedef uint8_t u8 ANY;
typedef uint16_t u16 ANY;
typedef uint32_t u32 ANY;
typedef uint64_t u64 ANY;

// The operations that depend on the sign, then those that do not. Narrow values are computed as
// unsigned int: their product as int could overflow.
#define ORDER_KERNELS(clones, type)                                                                \
    SHOAL_KERNEL(clones, min_##type, type, a < b ? a : b)                                          \
    SHOAL_KERNEL(clones, max_##type, type, a > b ? a : b)
#define WIDTH_KERNELS(clones, type, computed)                                                      \
    SHOAL_KERNEL(clones, sum_##type, type, (computed)a + (computed)b)                              \
    SHOAL_KERNEL(clones, prod_##type, type, (computed)a *(computed)b)                              \
    SHOAL_KERNEL(clones, land_##type, type, (a != 0) & (b != 0))                                   \
    SHOAL_KERNEL(clones, lor_##type, type, (a != 0) | (b != 0))                                    \
    SHOAL_KERNEL(clones, lxor_##type, type, (a != 0) ^ (b != 0))

ORDER_KERNELS(SHOAL_CLONES, i8)
ORDER_KERNELS(SHOAL_CLONES, u8)
ORDER_KERNELS(SHOAL_CLONES, i16)
ORDER_KERNELS(SHOAL_CLONES, u16)
ORDER_KERNELS(SHOAL_CLONES, i32)
ORDER_KERNELS(SHOAL_CLONES, u32)
ORDER_KERNELS(SHOAL_CLONES, i64)
ORDER_KERNELS(SHOAL_CLONES, u64)
WIDTH_KERNELS(SHOAL_CLONES, u8, unsigned)
WIDTH_KERNELS(SHOAL_CLONES, u16, unsigned)
WIDTH_KERNELS(SHOAL_CLONES, u32, uint32_t)
WIDTH_KERNELS(SHOAL_CLONES, u64, uint64_t)

SHOAL_KERNEL(SHOAL_CLONES, band_u8, u8, a &b)
SHOAL_KERNEL(SHOAL_CLONES, bor_u8, u8, a | b)
SHOAL_KERNEL(SHOAL_CLONES, bxor_u8, u8, a ^ b)

#define BITS_KERNELS(type)                                                                         \
    static void band_##type(const void *in, void *inout, int64_t n)                                \
    {                                                                                              \
        band_u8(in, inout, n *(int64_t)sizeof(type));                                              \
    }                                                                                              \
    static void bor_##type(const void *in, void *inout, int64_t n)                                 \
    {                                                                                              \
        bor_u8(in, inout, n *(int64_t)sizeof(type));                                               \
    }                                                                                              \
    static void bxor_##type(const void *in, void *inout, int64_t n)                                \
    {                                                                                              \
        bxor_u8(in, inout, n *(int64_t)sizeof(type));                                              \
    }

BITS_KERNELS(u16)
BITS_KERNELS(u32)
BITS_KERNELS(u64)

#if SHOAL_HAVE_INT128
typedef shoal_i128 i128 ANY;
typedef shoal_u128 u128 ANY;
ORDER_KERNELS(, i128)
WIDTH_KERNELS(, u128, shoal_u128)
BITS_KERNELS(u128)
#endif

#define ROW(ordered, width)                                                                        \
    [SHOAL_OP_SUM] = sum_##width, [SHOAL_OP_PROD] = prod_##width, [SHOAL_OP_MIN] = min_##ordered,  \
    [SHOAL_OP_MAX] = max_##ordered, [SHOAL_OP_BAND] = band_##width, [SHOAL_OP_BOR] = bor_##width,  \
    [SHOAL_OP_BXOR] = bxor_##width, [SHOAL_OP_LAND] = land_##width, [SHOAL_OP_LOR] = lor_##width,  \
    [SHOAL_OP_LXOR] = lxor_##width
#define LOGICAL_ROW(width)                                                                         \
    [SHOAL_OP_LAND] = land_##width, [SHOAL_OP_LOR] = lor_##width, [SHOAL_OP_LXOR] = lxor_##width

static shoal_op_fn *const kernels[SHOAL_STORES_END][SHOAL_OP_CODES] = {
    [SHOAL_S_I8] = {ROW(i8, u8)},       [SHOAL_S_U8] = {ROW(u8, u8)},
    [SHOAL_S_I16] = {ROW(i16, u16)},    [SHOAL_S_U16] = {ROW(u16, u16)},
    [SHOAL_S_I32] = {ROW(i32, u32)},    [SHOAL_S_U32] = {ROW(u32, u32)},
    [SHOAL_S_I64] = {ROW(i64, u64)},    [SHOAL_S_U64] = {ROW(u64, u64)},
    [SHOAL_S_L8] = {LOGICAL_ROW(u8)},   [SHOAL_S_L16] = {LOGICAL_ROW(u16)},
    [SHOAL_S_L32] = {LOGICAL_ROW(u32)}, [SHOAL_S_L64] = {LOGICAL_ROW(u64)},
#if SHOAL_HAVE_INT128
    [SHOAL_S_I128] = {ROW(i128, u128)}, [SHOAL_S_L128] = {LOGICAL_ROW(u128)},
#endif
};

shoal_op_fn *shoal_kernel_of_integer(enum shoal_op_code code, enum shoal_store store)
{
    return kernels[store][code];
}
