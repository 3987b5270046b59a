// SPDX-License-Identifier: BSD-3-Clause
// Handles. A predefined handle is a small constant of the ABI; every other handle is a ticket, not
// a pointer:
//
//      63        40 39    32 31         0
//     | generation |  kind  |   index    |
//
// The index names a place in the kind's table, the generation says which of the objects that have
// lived in that place is meant. A freed or invented handle is therefore found out by comparing,
// and no bad handle makes the library touch memory that is not an object.
//
// Places are never given back to the system while the library lives. Creating and freeing happen
// under the engine lock; looking up needs no lock.
#ifndef SHOAL_CORE_OBJECT_H
#define SHOAL_CORE_OBJECT_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum shoal_kind {
    SHOAL_KIND_NONE,
    SHOAL_KIND_COMM,
    SHOAL_KIND_GROUP,
    SHOAL_KIND_DATATYPE,
    SHOAL_KIND_OP,
    SHOAL_KIND_REQUEST,
    SHOAL_KIND_INFO,
    SHOAL_KIND_ERRHANDLER,
    SHOAL_KIND_WIN,
    SHOAL_KIND_FILE,
    SHOAL_KIND_SESSION,
    SHOAL_KIND_MESSAGE,
    SHOAL_KINDS
};

// First member of every object that a handle can name.
typedef struct shoal_object {
    uint32_t index;
    uint32_t generation; // odd: live, even: free; 24 bits are used
    uint32_t refs;       // owners: the handle, and whatever else still needs the object
    uint32_t kind;       // enum shoal_kind
    struct shoal_object *next_free;
} shoal_object;

// The places of one kind: a directory of chunks, which are never freed. For this file alone.
#define SHOAL_CHUNK_BITS 8u
typedef struct shoal_object_table {
    size_t bytes;            // of one object
    _Atomic(char *) *chunks; // readers look up without the engine lock
    _Atomic uint32_t used;   // places that have ever held an object
    uint32_t live;
    shoal_object *free;
} shoal_object_table;
extern shoal_object_table shoal_object_tables[SHOAL_KINDS];

// The value below which a handle is predefined.
#define SHOAL_HANDLE_PREDEFINED 4096u

// Declares how large objects of a kind are; once, before the first shoal_object_new().
void shoal_object_register(enum shoal_kind, size_t bytes);

// A zeroed object with one reference, or NULL after shoal_fail().
void *shoal_object_new(enum shoal_kind);

// The same without the zeroing: for kinds whose maker sets every field (requests are made for each
// message).
void *shoal_object_new_place(enum shoal_kind);
static inline void *shoal_object_new_raw(enum shoal_kind kind)
{
    shoal_object_table *t = &shoal_object_tables[kind];
    shoal_object *o = t->free;
    if (__builtin_expect(!o, 0)) return shoal_object_new_place(kind);
    t->free = o->next_free;
    t->live++;
    o->generation = (o->generation + 1) & 0xffffffu;
    o->refs = 1;
    return o;
}

// Ends the life of an object: its handles are dead from now on.
static inline void shoal_object_free(void *object)
{
    shoal_object *o = object;
    shoal_object_table *t = &shoal_object_tables[o->kind];
    assert(o->generation & 1);
    o->generation = (o->generation + 1) & 0xffffffu;
    o->next_free = t->free;
    t->free = o;
    t->live--;
}

// How many objects of the kind are alive (for leak checks in tests and at MPI_Finalize).
uint32_t shoal_object_live(enum shoal_kind);

// The live objects of a kind, one after the other; NULL begins and ends. Under the engine lock.
void *shoal_object_next(enum shoal_kind, const void *after);

// The object behind a ticket, or NULL if the handle is predefined, dead, or of another kind.
static inline void *shoal_object_get(enum shoal_kind kind, const void *handle)
{
    uint64_t h = (uint64_t)(uintptr_t)handle;
    const shoal_object_table *t = &shoal_object_tables[kind];
    uint32_t index = (uint32_t)h, generation = (uint32_t)(h >> 40);
    // Pairs with the release of the place's first use: its chunk is visible before it counts.
    if ((h >> 32 & 0xff) != (uint64_t)kind || !(generation & 1) ||
        index >= atomic_load_explicit(&t->used, memory_order_acquire))
        return NULL;
    char *chunk = atomic_load_explicit(&t->chunks[index >> SHOAL_CHUNK_BITS], memory_order_relaxed);
    void *place = chunk + (index & ((1u << SHOAL_CHUNK_BITS) - 1)) * t->bytes;
    return ((shoal_object *)place)->generation == generation ? place : NULL;
}

// The ticket of an object, as the pointer-sized value that the ABI wants.
static inline void *shoal_object_handle(const void *object)
{
    const shoal_object *o = object;
    return (void *)(uintptr_t)((uint64_t)(o->generation & 0xffffffu) << 40 |
                               (uint64_t)o->kind << 32 | o->index);
}

static inline bool shoal_handle_is_predefined(const void *handle)
{
    return (uintptr_t)handle < SHOAL_HANDLE_PREDEFINED;
}

// MPI_X_toint and _fromint: the table's value, or 4096 + index. An int that names nothing comes
// back as `none`.
int shoal_handle_to_int(const void *handle);
void *shoal_handle_from_int(enum shoal_kind, int value, void *none);

#endif
