// SPDX-License-Identifier: BSD-3-Clause
// The C library's malloc, told to keep what is freed. By default glibc takes a large block from the
// kernel and gives it back when it is freed; a program that sends an array of 1 MiB as a pickled
// object makes and frees several such blocks for each message, and the kernel clears and maps 256
// pages for every one of them: nine tenths of the time. glibc itself raises its limits, step by
// step, up to those set here, when it sees large blocks being freed; here they hold from the start.
//
// And large blocks shall lie on huge pages: the heap is made longer at once, and the kernel told
// so. A block of 1 MiB then needs one entry of the translation cache instead of 256, another rank
// reads it in half the time (process_vm_readv), and the first touch of 2 MiB is one fault instead
// of 512. Small blocks lie apart from them, below the first huge page, so that nothing is touched
// here and a program with a small heap never gets there:
//
//     the heap so far       first huge page
//     ... [ gap ][ small blocks ][ wall ][ large blocks, and small ones when there is no more room
//
// The gap, which is never touched, and the wall are blocks that are never freed.
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
    SMALL = 128 << 10,      // ... of which so much is left to small blocks
    WALL = 1 << 10,
    SLACK = 4 << 10, // more than what malloc writes around four blocks
    HUGE_PAGE = 2 * MIB,
    TOP_PAD = 128 << 10, // glibc's own: what it takes beyond what it needs
    TRIES = 4,
};

static void *volatile kept[2]; // the gap and the wall: no leak to who looks for leaks

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
static bool make_longer(char *end)
{
    void *volatile blocks[TRIES]; // volatile: a block that nobody uses need not be made
    int n = 0;
    if (!mallopt(M_TOP_PAD, LONGER)) return false;
    while (n < TRIES && sbrk(0) == end) blocks[n++] = malloc(MIB);
    while (n > 0) free(blocks[--n]);
    mallopt(M_TOP_PAD, TOP_PAD);
    return sbrk(0) != end;
}

// Leaves SMALL bytes of what is free below the first huge page to small blocks, if malloc would go
// on there with large ones.
static void set_small_apart(uintptr_t first)
{
    void *volatile next = malloc(MIB), *volatile small;
    uintptr_t at = (uintptr_t)next;
    free(next);
    if (at >= first || first - at < SMALL + SLACK || first - at > 2 * HUGE_PAGE) return;
    kept[0] = malloc(first - at - SMALL - SLACK);
    small = malloc(SMALL - WALL);
    kept[1] = malloc(WALL);
    free(small);
}

static void lay_on_huge_pages(void)
{
    char *const end = sbrk(0);
    if (!make_longer(end)) return;
    // What malloc has written behind the last block lies below the first huge page.
    uintptr_t first = ((uintptr_t)end + MIB + HUGE_PAGE) / HUGE_PAGE * HUGE_PAGE;
    uintptr_t last = (uintptr_t)sbrk(0) / HUGE_PAGE * HUGE_PAGE;
    if (last <= first || madvise((void *)first, last - first, MADV_HUGEPAGE) != 0) return;
    shoal_huge_heap(first - SLACK, last); // the first large block begins there
    set_small_apart(first);
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
