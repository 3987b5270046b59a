// SPDX-License-Identifier: BSD-3-Clause
// Reductions on floats and complex numbers. Half precision and bfloat16 are widened to float,
// computed and rounded back to the nearest even value: float has more than twice their digits, so
// the rounding happens once in effect. A complex sum is a sum of twice as many reals.
#include <string.h>

#include "core/op_kernels.h"

#define ANY __attribute__((aligned(1), may_alias))

typedef float f32 ANY;
typedef double f64 ANY;
typedef long double fld ANY;
typedef uint16_t f16 ANY;
typedef uint16_t bf16 ANY;

static inline float float_of_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t bits_of_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

// One of two, without a branch, which would keep the loops below from being vectorised.
static inline uint32_t choose(bool first, uint32_t a, uint32_t b)
{
    uint32_t mask = 0u - (uint32_t)first;
    return (a & mask) | (b & ~mask);
}

// A subnormal half is a multiple of 2^-24. (Shifted into place like the others it would be a
// subnormal float, which many machines are slow at.)
static inline float widen(uint16_t h)
{
    uint32_t magnitude = h & 0x7fffu;
    uint32_t small = bits_of_float((float)(int32_t)magnitude * 0x1p-24f);
    uint32_t bits = choose(magnitude < 0x400u, small, (magnitude << 13) + 0x38000000u);
    bits = choose(magnitude >= 0x7c00u, 0x7f800000u | magnitude << 13, bits);
    return float_of_bits(bits | (uint32_t)(h & 0x8000u) << 16);
}

// Adding one half to a number below 2^-14 leaves the subnormal half's digits at the end of the
// float, rounded by the addition itself.
static inline uint16_t narrow(float f)
{
    uint32_t bits = bits_of_float(f);
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t normal = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    uint32_t small = bits_of_float(float_of_bits(magnitude) + 0.5f) - 0x3f000000u;
    uint32_t nan = 0x7e00u | (magnitude >> 13 & 0x3ffu);
    uint32_t half = choose(magnitude < 0x38800000u, small, normal);
    half = choose(magnitude >= 0x47800000u, 0x7c00u, half);
    half = choose(magnitude > 0x7f800000u, nan, half);
    return (uint16_t)(sign | half);
}

// A bfloat16 is the upper half of a float.
static inline float widen_brain(uint16_t h)
{
    return float_of_bits((uint32_t)h << 16);
}

static inline uint16_t narrow_brain(float f)
{
    uint32_t bits = bits_of_float(f);
    uint32_t nearest = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return (uint16_t)choose(nan, bits >> 16 | 0x40u, nearest);
}

#define REAL_KERNELS(clones, type)                                                                 \
    SHOAL_KERNEL(clones, sum_##type, type, a + b)                                                  \
    SHOAL_KERNEL(clones, prod_##type, type, a *b)                                                  \
    SHOAL_KERNEL(clones, min_##type, type, a < b ? a : b)                                          \
    SHOAL_KERNEL(clones, max_##type, type, a > b ? a : b)

#define COMPLEX_KERNELS(clones, type)                                                              \
    static void csum_##type(const void *in, void *inout, int64_t n)                                \
    {                                                                                              \
        sum_##type(in, inout, 2 * n);                                                              \
    }                                                                                              \
    clones static void cprod_##type(const void *in, void *inout, int64_t n)                        \
    {                                                                                              \
        const type *restrict left = in;                                                            \
        type *restrict right = inout;                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type re = left[2 * i] * right[2 * i] - left[2 * i + 1] * right[2 * i + 1];             \
            type im = left[2 * i] * right[2 * i + 1] + left[2 * i + 1] * right[2 * i];             \
            right[2 * i] = re;                                                                     \
            right[2 * i + 1] = im;                                                                 \
        }                                                                                          \
    }

REAL_KERNELS(SHOAL_CLONES, f32)
REAL_KERNELS(SHOAL_CLONES, f64)
REAL_KERNELS(, fld)
COMPLEX_KERNELS(SHOAL_CLONES_UNFUSED, f32)
COMPLEX_KERNELS(SHOAL_CLONES_UNFUSED, f64)
COMPLEX_KERNELS(, fld)

SHOAL_KERNEL(SHOAL_CLONES, sum_f16, f16, narrow(widen(a) + widen(b)))
SHOAL_KERNEL(SHOAL_CLONES, prod_f16, f16, narrow(widen(a) * widen(b)))
SHOAL_KERNEL(SHOAL_CLONES, min_f16, f16, choose(widen(a) < widen(b), a, b))
SHOAL_KERNEL(SHOAL_CLONES, max_f16, f16, choose(widen(a) > widen(b), a, b))

SHOAL_KERNEL(SHOAL_CLONES, sum_bf16, bf16, narrow_brain(widen_brain(a) + widen_brain(b)))
SHOAL_KERNEL(SHOAL_CLONES, prod_bf16, bf16, narrow_brain(widen_brain(a) * widen_brain(b)))
SHOAL_KERNEL(SHOAL_CLONES, min_bf16, bf16, choose(widen_brain(a) < widen_brain(b), a, b))
SHOAL_KERNEL(SHOAL_CLONES, max_bf16, bf16, choose(widen_brain(a) > widen_brain(b), a, b))

static void csum_f16(const void *in, void *inout, int64_t n)
{
    sum_f16(in, inout, 2 * n);
}

static void cprod_f16(const void *in, void *inout, int64_t n)
{
    const f16 *restrict left = in;
    f16 *restrict right = inout;
    for (int64_t i = 0; i < n; i++) {
        float a = widen(left[2 * i]), b = widen(left[2 * i + 1]);
        float c = widen(right[2 * i]), d = widen(right[2 * i + 1]);
        right[2 * i] = narrow(a * c - b * d);
        right[2 * i + 1] = narrow(a * d + b * c);
    }
}

#if SHOAL_HAVE_FLOAT128
typedef shoal_f128 f128 ANY;
REAL_KERNELS(, f128)
COMPLEX_KERNELS(, f128)
#endif

#define REAL_ROW(type)                                                                             \
    [SHOAL_OP_SUM] = sum_##type, [SHOAL_OP_PROD] = prod_##type, [SHOAL_OP_MIN] = min_##type,       \
    [SHOAL_OP_MAX] = max_##type
#define COMPLEX_ROW(type) [SHOAL_OP_SUM] = csum_##type, [SHOAL_OP_PROD] = cprod_##type

static shoal_op_fn *const kernels[SHOAL_STORES_END][SHOAL_OP_CODES] = {
    [SHOAL_S_F16] = {REAL_ROW(f16)},    [SHOAL_S_BF16] = {REAL_ROW(bf16)},
    [SHOAL_S_F32] = {REAL_ROW(f32)},    [SHOAL_S_F64] = {REAL_ROW(f64)},
    [SHOAL_S_FLD] = {REAL_ROW(fld)},    [SHOAL_S_C16] = {COMPLEX_ROW(f16)},
    [SHOAL_S_C32] = {COMPLEX_ROW(f32)}, [SHOAL_S_C64] = {COMPLEX_ROW(f64)},
    [SHOAL_S_CLD] = {COMPLEX_ROW(fld)},
#if SHOAL_HAVE_FLOAT128
    [SHOAL_S_F128] = {REAL_ROW(f128)},  [SHOAL_S_C128] = {COMPLEX_ROW(f128)},
#endif
};

shoal_op_fn *shoal_kernel_of_float(enum shoal_op_code code, enum shoal_store store)
{
    return kernels[store][code];
}
