// SPDX-License-Identifier: BSD-3-Clause
// See depot.h. All of this is the owner's side; the receiver only sets `taken`.
#include "net/shm/depot.h"

#include <stdlib.h>

#include "net/shm/shm.h"
#include "plat/error.h"
#include "plat/turn.h"

#define LOOK_AT 8u // parcels are forgotten in groups: it is their receivers' lines that are read
#define NOBODY  UINT32_MAX
#define FIRST   ((uint32_t)sizeof(shoal_depot_memory)) // where the first parcel lies

typedef struct shoal_sent {
    uint32_t offset;
    uint32_t peer; // NOBODY: known to be taken
} shoal_sent;

int shoal_depot_open(shoal_depot *d, void *memory, uint64_t bytes)
{
    // Numbers begin at 1: new memory is zero.
    *d = (shoal_depot){
        .memory = memory, .bytes = (uint32_t)bytes, .next = FIRST, .first = 1, .last = 1};
    d->sent = malloc(SHOAL_PARCELS * sizeof *d->sent);
    return d->sent ? 0 : shoal_fail(SHOAL_E_NO_MEM, "no memory for a list of parcels");
}

void shoal_depot_close(shoal_depot *d)
{
    free(d->sent);
    d->sent = NULL;
}

static shoal_sent *sent_at(const shoal_depot *d, uint32_t k)
{
    return &d->sent[k % SHOAL_PARCELS];
}

static bool is_taken(const shoal_depot *d, uint32_t k)
{
    // Pairs with the release in shoal_shm_step(): the receiver has read all of it.
    return atomic_load_explicit(shoal_parcel_taken(d->memory, k), memory_order_acquire) == k;
}

// Notes that a parcel has been taken; false if it has not.
static bool settle(const shoal_depot *d, uint32_t k)
{
    shoal_sent *s = sent_at(d, k);
    if (s->peer == NOBODY) return true;
    if (!is_taken(d, k)) return false;
    shoal_the_shm.peers[s->peer].parcels--;
    s->peer = NOBODY;
    return true;
}

// Forgets the oldest parcels that have been taken; false if the very oldest has not.
static bool reclaim(shoal_depot *d)
{
    uint32_t k = 0;
    while (k < LOOK_AT && d->first != d->last && settle(d, d->first)) {
        d->first++;
        k++;
    }
    return k > 0;
}

// Where `room` bytes fit between the newest parcel and the oldest.
static bool find_place(const shoal_depot *d, uint32_t room, uint32_t *at_out)
{
    *at_out = d->next;
    if (d->first == d->last) {
        if (d->bytes - d->next < room) *at_out = FIRST;
        return room <= d->bytes - FIRST;
    }
    uint32_t oldest = sent_at(d, d->first)->offset;
    if (d->next <= oldest) return oldest - d->next >= room;
    if (d->bytes - d->next >= room) return true;
    *at_out = FIRST;
    return oldest - FIRST >= room;
}

// Begins again with the first bytes if nothing is under way.
static void begin_again(shoal_depot *d)
{
    while (reclaim(d)) {
    }
    if (d->first == d->last) d->next = FIRST;
}

// The oldest parcel is somebody's who is slow. Those of this peer behind it may have been taken all
// the same: it matters, because only a peer that has something of ours will ever wake us.
static void settle_all_of(const shoal_depot *d, uint32_t peer)
{
    for (uint32_t k = d->first; k != d->last; k++)
        if (sent_at(d, k)->peer == peer) settle(d, k);
}

// Has the peer, which has no core, as much to read as it should have?
static bool enough_for_turn(const shoal_depot *d, uint32_t peer, uint32_t room)
{
    const uint32_t *parcels = &shoal_the_shm.peers[peer].parcels;
    if (*parcels < SHOAL_DEPOT_TURN / room || *parcels == 0 || !shoal_shm_crowded()) return false;
    settle_all_of(d, peer);
    return *parcels > 0 && *parcels >= SHOAL_DEPOT_TURN / room;
}

// Does the peer, which has no core, wait for ours? Then it reads from our own caches.
static bool waits_here(uint32_t peer)
{
    const shoal_berth *b = shoal_the_shm.peers[peer].berth;
    return atomic_load_explicit(&b->core, memory_order_relaxed) == shoal_this_core();
}

// Sees to it that there is a place, if that can be.
static bool make_place(shoal_depot *d, uint32_t peer, uint32_t room, uint32_t *at_out)
{
    if (!shoal_shm_on_core(peer)) {
        if (waits_here(peer) || d->next + room > SHOAL_DEPOT_NEAR / shoal_the_shm.count)
            begin_again(d);
        if (enough_for_turn(d, peer, room)) return false;
    }
    while (d->last - d->first == SHOAL_PARCELS || !find_place(d, room, at_out)) {
        if (reclaim(d)) continue;
        settle_all_of(d, peer);
        return false;
    }
    return true;
}

bool shoal_depot_fits(shoal_depot *d, uint32_t peer, uint32_t payload)
{
    uint32_t at;
    return make_place(d, peer, shoal_parcel_room(payload), &at);
}

shoal_parcel *shoal_depot_take(shoal_depot *d, uint32_t peer, uint32_t payload, shoal_away *out)
{
    uint32_t at, room = shoal_parcel_room(payload);
    if (!make_place(d, peer, room, &at)) return NULL;
    *sent_at(d, d->last) = (shoal_sent){.offset = at, .peer = peer};
    *out = (shoal_away){.offset = at, .length = payload, .number = d->last++, .whole = 1};
    shoal_the_shm.peers[peer].parcels++;
    d->next = at + room;
    d->stored += payload;
    return (shoal_parcel *)(void *)((char *)d->memory + at);
}

bool shoal_depot_moved(const shoal_depot *d, uint32_t peer)
{
    for (uint32_t k = d->first; k != d->last; k++)
        if (sent_at(d, k)->peer == peer && is_taken(d, k)) return true;
    return false;
}
