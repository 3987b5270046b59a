// SPDX-License-Identifier: BSD-3-Clause
// The tables behind handles: for each kind a directory of chunks, chunks are never freed.
#include "core/object.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "plat/error.h"
#include "plat/plat.h"

#define CHUNK     (1u << SHOAL_CHUNK_BITS)
#define DIRECTORY (1u << 16) // 16 million objects of a kind

// Zero pages of the library until they are used: from malloc they might come with old contents, and
// clearing them would make them real.
static _Atomic(char *) directories[SHOAL_KINDS][DIRECTORY];

shoal_object_table shoal_object_tables[SHOAL_KINDS];

void shoal_object_register(enum shoal_kind kind, size_t bytes)
{
    assert(shoal_object_tables[kind].bytes == 0 || shoal_object_tables[kind].bytes == bytes);
    shoal_object_tables[kind].bytes = bytes;
}

static shoal_object *place_of(const shoal_object_table *t, uint32_t index)
{
    char *chunk = atomic_load_explicit(&t->chunks[index >> SHOAL_CHUNK_BITS], memory_order_relaxed);
    return (shoal_object *)(void *)(chunk + (index & (CHUNK - 1)) * t->bytes);
}

// A place that has not been used before; makes a chunk when the last one is full.
static shoal_object *fresh_place(shoal_object_table *t, enum shoal_kind kind)
{
    if (!t->chunks) t->chunks = directories[kind];
    uint32_t index = atomic_load_explicit(&t->used, memory_order_relaxed);
    if (index == DIRECTORY * CHUNK) return NULL;
    if ((index & (CHUNK - 1)) == 0) {
        // Objects whose size is whole cache lines begin on one.
        char *chunk = calloc(1, CHUNK * t->bytes + SHOAL_LINE);
        if (!chunk) return NULL;
        chunk += SHOAL_LINE - (uintptr_t)chunk % SHOAL_LINE;
        atomic_store_explicit(&t->chunks[index >> SHOAL_CHUNK_BITS], chunk, memory_order_relaxed);
    }
    // Pairs with the acquire in shoal_object_get(): the zeroed place is visible before it counts.
    atomic_store_explicit(&t->used, index + 1, memory_order_release);
    shoal_object *o = place_of(t, index);
    o->index = index;
    o->kind = (uint32_t)kind;
    return o;
}

void *shoal_object_new_place(enum shoal_kind kind)
{
    shoal_object_table *t = &shoal_object_tables[kind];
    assert(t->bytes >= sizeof(shoal_object));
    shoal_object *o = fresh_place(t, kind);
    if (!o) {
        shoal_fail(SHOAL_E_NO_MEM, "no memory for one more object of kind %d", (int)kind);
        return NULL;
    }
    o->generation = 1;
    o->refs = 1;
    t->live++;
    return o;
}

void *shoal_object_new(enum shoal_kind kind)
{
    shoal_object *o = shoal_object_new_raw(kind);
    if (o) memset(o + 1, 0, shoal_object_tables[kind].bytes - sizeof *o);
    return o;
}

uint32_t shoal_object_live(enum shoal_kind kind)
{
    return shoal_object_tables[kind].live;
}

void *shoal_object_next(enum shoal_kind kind, const void *after)
{
    const shoal_object_table *t = &shoal_object_tables[kind];
    uint32_t index = after ? ((const shoal_object *)after)->index + 1 : 0;
    uint32_t used = atomic_load_explicit(&t->used, memory_order_acquire);
    for (; index < used; index++) {
        shoal_object *o = place_of(t, index);
        if (o->generation & 1) return o;
    }
    return NULL;
}

int shoal_handle_to_int(const void *handle)
{
    uint64_t h = (uint64_t)(uintptr_t)handle;
    if (h < SHOAL_HANDLE_PREDEFINED) return (int)h;
    return (int)(SHOAL_HANDLE_PREDEFINED + (uint32_t)h);
}

void *shoal_handle_from_int(enum shoal_kind kind, int value, void *none)
{
    if (value < 0) return none;
    if ((unsigned)value < SHOAL_HANDLE_PREDEFINED) return (void *)(uintptr_t)value;
    uint32_t index = (uint32_t)value - SHOAL_HANDLE_PREDEFINED;
    if (index >= atomic_load_explicit(&shoal_object_tables[kind].used, memory_order_acquire))
        return none;
    shoal_object *o = place_of(&shoal_object_tables[kind], index);
    return o->generation & 1 ? shoal_object_handle(o) : none;
}
