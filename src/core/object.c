// SPDX-License-Identifier: BSD-3-Clause
// The tables behind handles: for each kind a directory of chunks, chunks are never freed.
#include "core/object.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "plat/error.h"

#define CHUNK_BITS 8u
#define CHUNK      (1u << CHUNK_BITS)
#define DIRECTORY  (1u << 16) // 16 million objects of a kind

// Zero pages of the library until they are used: from malloc they might come with old contents, and
// clearing them would make them real.
static _Atomic(char *) directories[SHOAL_KINDS][DIRECTORY];

static struct table {
    size_t bytes;
    uint32_t used; // places that have ever held an object
    uint32_t live;
    shoal_object *free;
    _Atomic(char *) *chunks; // readers look up without the engine lock
} tables[SHOAL_KINDS];

void shoal_object_register(enum shoal_kind kind, size_t bytes)
{
    assert(tables[kind].bytes == 0 || tables[kind].bytes == bytes);
    tables[kind].bytes = bytes;
}

static shoal_object *place_of(const struct table *t, uint32_t index)
{
    char *chunk = atomic_load_explicit(&t->chunks[index >> CHUNK_BITS], memory_order_acquire);
    return chunk ? (shoal_object *)(void *)(chunk + (index & (CHUNK - 1)) * t->bytes) : NULL;
}

// A place that has not been used before; makes a chunk when the last one is full.
static shoal_object *fresh_place(struct table *t, enum shoal_kind kind)
{
    if (!t->chunks) t->chunks = directories[kind];
    uint32_t index = t->used;
    if (index == DIRECTORY * CHUNK) return NULL;
    if ((index & (CHUNK - 1)) == 0) {
        char *chunk = calloc(CHUNK, t->bytes);
        if (!chunk) return NULL;
        // Pairs with the acquire in place_of(): the zeroed chunk is visible before its address.
        atomic_store_explicit(&t->chunks[index >> CHUNK_BITS], chunk, memory_order_release);
    }
    t->used++;
    shoal_object *o = place_of(t, index);
    o->index = index;
    o->kind = (uint32_t)kind;
    return o;
}

void *shoal_object_new_raw(enum shoal_kind kind)
{
    struct table *t = &tables[kind];
    assert(t->bytes >= sizeof(shoal_object));
    shoal_object *o = t->free;
    if (o)
        t->free = o->next_free;
    else
        o = fresh_place(t, kind);
    if (!o) {
        shoal_fail(SHOAL_E_NO_MEM, "no memory for one more object of kind %d", (int)kind);
        return NULL;
    }
    o->generation = (o->generation + 1) & 0xffffffu;
    o->refs = 1;
    t->live++;
    return o;
}

void *shoal_object_new(enum shoal_kind kind)
{
    shoal_object *o = shoal_object_new_raw(kind);
    if (o) memset(o + 1, 0, tables[kind].bytes - sizeof *o);
    return o;
}

void shoal_object_free(void *object)
{
    shoal_object *o = object;
    struct table *t = &tables[o->kind];
    assert(o->generation & 1);
    o->generation = (o->generation + 1) & 0xffffffu;
    o->next_free = t->free;
    t->free = o;
    t->live--;
}

uint32_t shoal_object_live(enum shoal_kind kind)
{
    return tables[kind].live;
}

void *shoal_object_next(enum shoal_kind kind, const void *after)
{
    const struct table *t = &tables[kind];
    uint32_t index = after ? ((const shoal_object *)after)->index + 1 : 0;
    for (; index < t->used; index++) {
        shoal_object *o = place_of(t, index);
        if (o->generation & 1) return o;
    }
    return NULL;
}

void *shoal_object_get(enum shoal_kind kind, const void *handle)
{
    uint64_t h = (uint64_t)(uintptr_t)handle;
    struct table *t = &tables[kind];
    uint32_t index = (uint32_t)h;
    if ((h >> 32 & 0xff) != (uint64_t)kind || index >= t->used) return NULL;
    shoal_object *o = place_of(t, index);
    uint32_t generation = (uint32_t)(h >> 40);
    return o->generation == generation && generation & 1 ? o : NULL;
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
    if (index >= tables[kind].used) return none;
    shoal_object *o = place_of(&tables[kind], index);
    return o->generation & 1 ? shoal_object_handle(o) : none;
}
