// SPDX-License-Identifier: BSD-3-Clause
// Arenas: where their memory comes from and when it goes. The leader of a communicator takes it
// from its own shared heap and may give it back only when every member has left.
#include "coll/arena.h"

#include <stdlib.h>
#include <string.h>

#include "coll/shm_later.h"
#include "net/shm/shm.h"
#include "plat/error.h"

#define ALIGN 4096u

static shoal_arena
    *leaving; // owned arenas whose communicator is gone here, but maybe not everywhere

static bool all_left(const shoal_arena *a)
{
    for (int r = 0; r < a->n; r++)
        if (!atomic_load_explicit(&shoal_arena_notes(a, r)->left, memory_order_acquire))
            return false;
    return true;
}

static void give_back(void)
{
    for (shoal_arena **link = &leaving; *link;) {
        shoal_arena *a = *link;
        if (!all_left(a)) {
            link = &a->next;
            continue;
        }
        *link = a->next;
        shoal_heap_free(a->base);
        free(a);
    }
}

uint64_t shoal_arena_reserve(int nranks)
{
    if (nranks < 2) return 0;
    give_back();
    uint64_t bytes = (uint64_t)nranks * SHOAL_PLACE;
    char *memory = shoal_heap_alloc(bytes, ALIGN);
    if (!memory) return 0;
    // Memory that was used before may be full of flags that look set.
    memset(memory, 0, (size_t)nranks * SHOAL_CONTROL);
    return shoal_heap_offset(memory, bytes);
}

static int attach(shoal_comm *c, char *base, bool owned)
{
    shoal_arena *a = calloc(1, sizeof *a);
    if (!a) return shoal_fail(SHOAL_E_NO_MEM, "no memory for the arena of %s", shoal_comm_label(c));
    uint32_t cores = shoal_the_shm.world->header->cores;
    bool crowded = c->size > (int)cores;
    uint32_t later_data = crowded ? SHOAL_LATER_CROWDED : SHOAL_LATER_ROOMY;
    uint64_t places = (uint64_t)c->size * SHOAL_PLACE;
    *a = (shoal_arena){.base = base,
                       .later = base + (uint64_t)c->size * SHOAL_CONTROL,
                       .later_data = later_data,
                       .room = base + places - (uint64_t)c->size * SHOAL_ROOM(later_data),
                       .owned = owned,
                       .cores = cores,
                       .crowded = crowded,
                       .n = c->size,
                       .rank = c->rank,
                       .slots = crowded ? SHOAL_SLOTS : SHOAL_SLOTS_ROOMY,
                       .record = {crowded ? SHOAL_RECORD : SHOAL_SLOTS_ROOMY, SHOAL_RECORD},
                       .next_slot = crowded ? (uint32_t)c->size : 1,
                       .next_rank = crowded ? 1 : SHOAL_SLOTS,
                       .peers = c->peers};
    c->arena = a;
    return 0;
}

int shoal_arena_attach(shoal_comm *c, uint64_t arena)
{
    if (arena == 0) return 0;
    uint64_t bytes = (uint64_t)c->size * SHOAL_PLACE;
    char *base = (char *)(uintptr_t)shoal_heap_at(arena, bytes);
    if (!base)
        return shoal_fail(SHOAL_E_INTERN, "the leader of %s named an arena outside the world",
                          shoal_comm_label(c));
    return attach(c, base, c->rank == 0);
}

int shoal_arena_attach_world(void)
{
    shoal_world *w = shoal_the_shm.world;
    if (w->nranks < 2 || w->header->arena_bytes < (uint64_t)w->nranks * SHOAL_PLACE) return 0;
    return attach(&shoal_comm_world, w->base + w->header->arena_off, false);
}

void shoal_arena_detach(shoal_comm *c)
{
    shoal_arena *a = c->arena;
    if (!a) return;
    c->arena = NULL;
    shoal_later_forget(a);
    atomic_store_explicit(&shoal_arena_notes(a, a->rank)->left, 1, memory_order_release);
    if (!a->owned) {
        free(a);
        return;
    }
    a->next = leaving;
    leaving = a;
    give_back();
}

// In the long run a sixteenth of the ranks is enough, and all together are forgotten after a dozen
// times.
#define VOTE 16
static void hear(shoal_arena *a, int votes)
{
    a->far += votes * VOTE - a->n;
    if (a->far < 0) a->far = 0;
    if (a->far > VOTE * a->n) a->far = VOTE * a->n;
}

void shoal_arena_hear_far(shoal_arena *a, uint64_t epoch)
{
    int votes = 0;
    for (int r = 0; r < a->n; r++) votes += shoal_arena_slot(a, r, epoch)->far != 0;
    hear(a, votes);
}

void shoal_arena_hear_closing(shoal_arena *a, uint64_t closing)
{
    int votes = 0;
    for (int r = 0; r < a->n; r++)
        votes += shoal_arena_notes(a, r)->closing[closing % SHOAL_CLOSINGS].far;
    hear(a, votes);
}
