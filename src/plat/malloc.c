// SPDX-License-Identifier: BSD-3-Clause
// The C library's malloc, told to keep what is freed. By default glibc takes a large block from the
// kernel and gives it back when it is freed; a program that sends an array of 1 MiB as a pickled
// object makes and frees several such blocks for each message, and the kernel clears and maps 256
// pages for every one of them: nine tenths of the time. glibc itself raises its limits, step by
// step, up to those set here, when it sees large blocks being freed; here they hold from the start.
#include "plat/plat.h"

#include <stdlib.h>
#include <string.h>

#ifdef __GLIBC__
#include <malloc.h>

enum {
    MIB = 1 << 20,
    OWN_MAPPING = 32 * MIB, // larger blocks are still the kernel's as soon as they are freed
    KEPT = 64 * MIB,        // at most this much stays at the top of the heap
};

// Whoever has settings of his own keeps them. A process with another allocator has no use for these
// settings, and takes no harm: they concern only glibc's.
static bool user_has_chosen(void)
{
    static const char *const names[] = {"MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_",
                                        "MALLOC_TOP_PAD_", "MALLOC_MMAP_MAX_"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i])) return true;
    const char *tunables = getenv("GLIBC_TUNABLES");
    const char *ours = getenv("SHOAL_MALLOC");
    return (tunables && strstr(tunables, "glibc.malloc.")) || (ours && strcmp(ours, "0") == 0);
}

bool shoal_malloc_keep(void)
{
    if (user_has_chosen()) return false;
    return mallopt(M_TRIM_THRESHOLD, KEPT) != 0 && mallopt(M_MMAP_THRESHOLD, OWN_MAPPING) != 0;
}

#else

bool shoal_malloc_keep(void)
{
    return false; // no such knobs, as in musl
}

#endif
