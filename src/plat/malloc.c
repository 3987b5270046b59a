// SPDX-License-Identifier: BSD-3-Clause
// The C library's malloc, told to keep what is freed. By default glibc takes a large block from the
// kernel and gives it back when it is freed; a program that sends an array of 1 MiB as a pickled
// object makes and frees several such blocks for each message, and the kernel clears and maps 256
// pages for every one of them: nine tenths of the time. glibc itself raises its limits, step by
// step, up to those set here, when it sees large blocks being freed; here they hold from the start.
//
// And large blocks shall lie on huge pages: the heap is made longer at once, and the kernel told
// so. A block of 1 MiB then needs one entry of the translation cache instead of 256, another rank
// reads it faster (process_vm_readv), and the first touch of 2 MiB is one fault instead of 512.
// Nothing is touched here; a program with a small heap never gets there.
#include "plat/plat.h"

#include <stdlib.h>
#include <string.h>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    MIB = 1 << 20,
    OWN_MAPPING = 32 * MIB, // larger blocks are still the kernel's as soon as they are freed
    KEPT = 64 * MIB,        // at most this much stays at the top of the heap
    LONGER = 48 * MIB,      // the heap is made longer by this: less than KEPT, which undoes it
    SMALL = MIB,            // ... of which so much at least is left to small programs
    HUGE_PAGE = 2 * MIB,
    TOP_PAD = 128 << 10, // glibc's own: what it takes beyond what it needs
    TRIES = 4,
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

// Makes the heap longer by asking for a block that does not fit into it any more. It does not grow
// if there is much room in it, if another allocator serves this process, or on a thread with a heap
// of its own: then all stays as it is.
static void lay_on_huge_pages(void)
{
    char *const end = sbrk(0);
    void *volatile blocks[TRIES]; // volatile: a block that nobody uses need not be made
    int n = 0;
    if (!mallopt(M_TOP_PAD, LONGER)) return;
    while (n < TRIES && sbrk(0) == end) blocks[n++] = malloc(SMALL);
    while (n > 0) free(blocks[--n]);
    mallopt(M_TOP_PAD, TOP_PAD);
    // What malloc has written behind the last block lies below the first huge page.
    uintptr_t first = ((uintptr_t)end + SMALL + HUGE_PAGE) / HUGE_PAGE * HUGE_PAGE;
    uintptr_t last = (uintptr_t)sbrk(0) / HUGE_PAGE * HUGE_PAGE;
    if (last > first) madvise((void *)first, last - first, MADV_HUGEPAGE);
}

bool shoal_malloc_keep(void)
{
    if (user_has_chosen()) return false;
    if (!mallopt(M_TRIM_THRESHOLD, KEPT) || !mallopt(M_MMAP_THRESHOLD, OWN_MAPPING)) return false;
    lay_on_huge_pages();
    return true;
}

#else

bool shoal_malloc_keep(void)
{
    return false; // no such knobs, as in musl
}

#endif
