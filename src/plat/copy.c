// SPDX-License-Identifier: BSD-3-Clause
// Copying to memory that this core will not read again.
#include <string.h>

#include "plat/plat.h"

#if defined(__SSE2__)
#include <emmintrin.h>

void shoal_copy_past_caches(void *to, const void *from, size_t bytes)
{
    char *d = to;
    const char *s = from;
    size_t front = (SHOAL_LINE - (uintptr_t)d % SHOAL_LINE) % SHOAL_LINE;
    if (front > bytes) front = bytes;
    memcpy(d, s, front);
    for (bytes -= front, d += front, s += front; bytes >= SHOAL_LINE; bytes -= SHOAL_LINE) {
        for (int k = 0; k < SHOAL_LINE; k += 16)
            _mm_stream_si128((__m128i *)(void *)(d + k),
                             _mm_loadu_si128((const __m128i *)(const void *)(s + k)));
        d += SHOAL_LINE;
        s += SHOAL_LINE;
    }
    memcpy(d, s, bytes);
}

void shoal_settle_copies(void)
{
    _mm_sfence();
}

#else

void shoal_copy_past_caches(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

void shoal_settle_copies(void)
{
}

#endif
