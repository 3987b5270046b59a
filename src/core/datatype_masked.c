// SPDX-License-Identifier: BSD-3-Clause
// See datatype_masked.h.
#include "core/datatype_masked.h"

#include <stddef.h>

// Sanitizers do not see what such instructions touch.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <immintrin.h>
#include <string.h>

#define MASKED __attribute__((target("avx512bw,avx512vl,bmi2")))
#define INLINE static inline __attribute__((always_inline))

#define WIDTH 32  // a wider vector would lie across two lines more often
#define LONG  256 // from here on memcpy is faster

MASKED INLINE void move_block(char *to, const char *from, int64_t n)
{
    if (__builtin_expect(n >= LONG, 0)) {
        memcpy(to, from, (size_t)n);
        return;
    }
    for (; __builtin_expect(n > WIDTH, 0); n -= WIDTH, to += WIDTH, from += WIDTH)
        memcpy(to, from, WIDTH);
    __mmask32 bytes = _bzhi_u32(UINT32_MAX, (uint32_t)n);
    _mm256_mask_storeu_epi8(to, bytes, _mm256_maskz_loadu_epi8(bytes, from));
}

MASKED static char *pack(const char *typed, char *packed, const int64_t *list, int64_t count)
{
    for (int64_t i = 0; i < count; packed += list[2 * i + 1], i++)
        move_block(packed, typed + list[2 * i], list[2 * i + 1]);
    return packed;
}

MASKED static char *unpack(char *typed, char *packed, const int64_t *list, int64_t count)
{
    for (int64_t i = 0; i < count; packed += list[2 * i + 1], i++)
        move_block(typed + list[2 * i], packed, list[2 * i + 1]);
    return packed;
}

char *shoal_masked_move(char *typed, char *packed, const int64_t *list, int64_t count, bool packing)
{
    if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("bmi2"))
        return NULL;
    return packing ? pack(typed, packed, list, count) : unpack(typed, packed, list, count);
}

#else

char *shoal_masked_move(char *typed, char *packed, const int64_t *list, int64_t count, bool packing)
{
    (void)typed, (void)packed, (void)list, (void)count, (void)packing;
    return NULL;
}

#endif
