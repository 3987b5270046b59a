// SPDX-License-Identifier: BSD-3-Clause
// Copying where the C library's way is not the best: to places that its instruction is slow for,
// and to memory that this core will not read again.
#include <string.h>

#include "plat/clones.h"
#include "plat/plat.h"

#define WIDTH 32
#define TURN  ((size_t)4 * WIDTH)

typedef char vector __attribute__((vector_size(WIDTH), aligned(1), may_alias));

SHOAL_CLONES void shoal_copy_by_vectors(void *to, const void *from, size_t bytes)
{
    char *d = to, *end = d + bytes;
    const char *s = from;
    if (bytes < TURN + WIDTH) {
        memcpy(d, s, bytes);
        return;
    }
    // Stores that lie across lines cost twice as much.
    memcpy(d, s, WIDTH);
    size_t front = WIDTH - (uintptr_t)d % WIDTH;
    for (d += front, s += front; d + TURN <= end; d += TURN, s += TURN) {
        const vector *in = (const vector *)(const void *)s;
        vector a = in[0], b = in[1], c = in[2], e = in[3];
        vector *out = (vector *)(void *)d;
        out[0] = a, out[1] = b, out[2] = c, out[3] = e;
    }
    memcpy(end - TURN, s + (end - d) - TURN, TURN);
}

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
