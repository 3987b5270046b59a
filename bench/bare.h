// SPDX-License-Identifier: BSD-3-Clause
// What the programs share that measure the bare machine: time, memory on huge pages, copies past
// the caches. The includer defines _GNU_SOURCE.
#ifndef SHOAL_BENCH_BARE_H
#define SHOAL_BENCH_BARE_H

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

// µs
static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

// NULL if there is none. Never given back.
static inline char *huge_buffer(size_t bytes)
{
    size_t page = 2 << 20;
    char *p = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    p += page - (size_t)p % page;
    madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

// As the points' buffers: at the beginning of a page. Some processors copy twenty times as slowly
// to what malloc() gives, a few bytes behind it. NULL if there is none.
static inline char *page_buffer(size_t bytes)
{
    void *p = NULL;
    return posix_memalign(&p, 4096, bytes) == 0 ? p : NULL;
}

// `to` lies at a multiple of 16 bytes, and so many are copied.
static inline void copy_past(char *to, const char *from, size_t bytes)
{
#if defined(__SSE2__)
    for (size_t i = 0; i < bytes; i += 16)
        _mm_stream_si128((__m128i *)(void *)(to + i),
                         _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
    _mm_sfence();
#else
    memcpy(to, from, bytes);
#endif
}

#endif
