// SPDX-License-Identifier: BSD-3-Clause
// Which memory lies on huge pages. The kernel copies from there twice as fast to another process
// (process_vm_readv), and the ways of large messages are chosen by it. Known are two kinds:
//
//   - The part of the heap that malloc.c has laid there.
//   - Very large buffers elsewhere, which malloc maps one by one, or whoever else made them. One
//     that has been sent from or received into several times is put on huge pages
//     (MADV_COLLAPSE): its bytes stay, and only whole pages of it are concerned.
//
// If the memory behind an address changes, the answer may be wrong: then a message is slower.
#include "plat/plat.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE  ((uintptr_t)2 << 20)
#define VERY_LARGE ((size_t)8 << 20) // worth the trouble
#define USES       40 // of a buffer, before it is put there: it takes as long as some of these
#define BUFFERS    8  // that are remembered

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 // since Linux 6.1
#endif

typedef struct buffer {
    uintptr_t from, to;
    int uses;
    bool huge;
} buffer;

static uintptr_t heap_from, heap_to;
static buffer buffers[BUFFERS];
static unsigned next_buffer;

void shoal_huge_heap(uintptr_t from, uintptr_t to)
{
    heap_from = from;
    heap_to = to;
}

// May the kernel give huge pages to who asks for them, and may we ask?
static bool are_given(void)
{
    static int given = -1;
    if (given >= 0) return given;
    const char *wish = getenv("SHOAL_MALLOC");
    char text[64] = "";
    int fd = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    given = got > 0 && !strstr(text, "[never]") && !(wish && strcmp(wish, "0") == 0);
    return given;
}

static bool put_on_huge_pages(uintptr_t from, uintptr_t to)
{
    from = (from + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    to = to / HUGE_PAGE * HUGE_PAGE;
    return madvise((void *)from, to - from, MADV_COLLAPSE) == 0;
}

static buffer *find(uintptr_t from, uintptr_t to)
{
    for (buffer *b = buffers; b < buffers + BUFFERS; b++)
        if (from >= b->from && to <= b->to) return b;
    buffer *b = &buffers[next_buffer++ % BUFFERS];
    *b = (buffer){.from = from, .to = to};
    return b;
}

bool shoal_on_huge_pages(const void *block, size_t bytes)
{
    uintptr_t from = (uintptr_t)block, to = from + bytes;
    if (from >= heap_from && to <= heap_to) return are_given();
    if (bytes < VERY_LARGE || !are_given()) return false;
    buffer *b = find(from, to);
    if (b->uses < USES && ++b->uses == USES)
        *b = (buffer){from, to, USES, put_on_huge_pages(from, to)}; // only what is used now
    return b->huge;
}
