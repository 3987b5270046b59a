// SPDX-License-Identifier: BSD-3-Clause
// The shared heap of this rank: its own slice of the world, in which it alone allocates, so that
// there is no lock between processes to be left behind by a dead one. The book-keeping is private:
// a list of extents in address order, neighbours that are free are always merged.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <sys/mman.h>

#include "net/shm/shm.h"
#include "plat/error.h"

#define GRAIN     64u
#define GIVE_BACK (256u << 10) // a freed block this large returns its pages to the system
#define PAGE      4096u

typedef struct extent {
    uint64_t offset, bytes; // in the slice
    bool used;
    struct extent *next, *prev;
} extent;

static extent *first;

static extent *extent_new(uint64_t offset, uint64_t bytes)
{
    extent *e = calloc(1, sizeof *e);
    if (e) *e = (extent){.offset = offset, .bytes = bytes};
    return e;
}

// Cuts `bytes` off the front of `e`; the rest becomes a free extent behind it.
static bool split(extent *e, uint64_t bytes)
{
    if (e->bytes == bytes) return true;
    extent *rest = extent_new(e->offset + bytes, e->bytes - bytes);
    if (!rest) return false;
    rest->next = e->next;
    rest->prev = e;
    if (e->next) e->next->prev = rest;
    e->next = rest;
    e->bytes = bytes;
    return true;
}

static void merge_with_next(extent *e)
{
    extent *gone = e->next;
    if (e->used || !gone || gone->used) return;
    e->bytes += gone->bytes;
    e->next = gone->next;
    if (gone->next) gone->next->prev = e;
    free(gone);
}

void *shoal_heap_alloc(size_t bytes, size_t align)
{
    shoal_shm *s = &shoal_the_shm;
    if (!first) first = extent_new(0, s->world->header->heap_bytes);
    if (align < GRAIN) align = GRAIN;
    uint64_t want = (bytes + GRAIN - 1) / GRAIN * GRAIN;
    if (want == 0) want = GRAIN;
    for (extent *e = first; e && want >= bytes; e = e->next) {
        uint64_t pad = (align - e->offset % align) % align;
        if (e->used || e->bytes < pad || e->bytes - pad < want) continue;
        if (pad > 0) {
            if (!split(e, pad)) break;
            e = e->next;
        }
        if (!split(e, want)) break;
        e->used = true;
        return shoal_world_heap(s->world, s->rank) + e->offset;
    }
    shoal_fail(SHOAL_E_NO_MEM, "the shared heap of this rank (%llu MiB) has no room for %zu bytes",
               (unsigned long long)(s->world->header->heap_bytes >> 20), bytes);
    return NULL;
}

bool shoal_heap_free(void *block)
{
    shoal_shm *s = &shoal_the_shm;
    if (!s->world) return false;
    char *base = shoal_world_heap(s->world, s->rank);
    uint64_t offset = (uint64_t)((char *)block - base);
    if ((char *)block < base || offset >= s->world->header->heap_bytes) return false;
    extent *e = first;
    while (e && e->offset != offset) e = e->next;
    if (!e || !e->used) return false;
    e->used = false;
    if (e->bytes >= GIVE_BACK) {
        uint64_t from = (offset + PAGE - 1) / PAGE * PAGE;
        uint64_t to = (offset + e->bytes) / PAGE * PAGE;
        (void)madvise(base + from, to - from, MADV_REMOVE);
    }
    merge_with_next(e);
    if (e->prev) merge_with_next(e->prev);
    return true;
}

uint64_t shoal_heap_offset(const void *block, uint64_t bytes)
{
    const shoal_world *w = shoal_the_shm.world;
    uint64_t offset = (uint64_t)((const char *)block - w->base);
    if ((const char *)block < w->base + w->header->heap_off || offset >= w->bytes) return 0;
    return bytes <= w->bytes - offset ? 1 + offset : 0;
}

const char *shoal_heap_at(uint64_t one_plus_offset, uint64_t bytes)
{
    const shoal_world *w = shoal_the_shm.world;
    uint64_t offset = one_plus_offset - 1;
    if (one_plus_offset == 0 || offset < w->header->heap_off || offset > w->bytes) return NULL;
    return bytes <= w->bytes - offset ? w->base + offset : NULL;
}

void shoal_heap_fini(void)
{
    while (first) {
        extent *next = first->next;
        free(first);
        first = next;
    }
}
