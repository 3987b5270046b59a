// SPDX-License-Identifier: BSD-3-Clause
// The ring's slow side: finding room, wrapping around, growing.
#include "net/shm/ring.h"

void shoal_ring_open_out(shoal_ring_out *o, void *memory, uint64_t bytes)
{
    uint32_t data = (uint32_t)(bytes - sizeof(shoal_ring));
    *o = (shoal_ring_out){.ring = memory, .limit = SHOAL_RING_FIRST, .bytes = data};
}

void shoal_ring_open_in(shoal_ring_in *in, void *memory, uint64_t bytes)
{
    *in = (shoal_ring_in){.ring = memory, .bytes = (uint32_t)(bytes - sizeof(shoal_ring))};
}

// Takes more of the ring while the consumer is behind us in the same lap, so that the new part is
// known to be free.
static bool grow(shoal_ring_out *o, uint32_t room)
{
    uint32_t limit = o->limit;
    while (limit < o->bytes && limit - o->tail < room + SHOAL_LINE)
        limit = limit <= o->bytes / 2 ? limit * 2 : o->bytes;
    if (limit - o->tail < room + SHOAL_LINE) return false;
    o->limit = limit;
    return true;
}

// Sets o->place for a packet of `room` bytes; false when there is no room now.
bool shoal_ring_find_room(shoal_ring_out *o, uint32_t room)
{
    // Pairs with the release in shoal_ring_publish_head(): what was there has been read.
    uint32_t head = atomic_load_explicit(&o->ring->head, memory_order_acquire);
    // A head outside the ring was not written by a consumer of ours: treat it as "no room".
    if (head >= o->bytes || head % SHOAL_SLOT != 0) return false;
    o->head = head;
    if (o->tail < head) return head - o->tail >= room + SHOAL_LINE;
    if (o->limit - o->tail >= room + SHOAL_LINE) return true;
    // The end is too near: go to the start, if the consumer has left room there.
    if (head >= room + SHOAL_LINE && o->limit / 4 >= room) {
        o->place = 0;
        return true;
    }
    if (grow(o, room)) return true;
    o->place = 0;
    return head >= room + SHOAL_LINE;
}

// The packet at the start is complete; now let the consumer go there.
void shoal_ring_publish_wrap(shoal_ring_out *o, uint32_t next_tail)
{
    shoal_header *at = (shoal_header *)(void *)(o->ring->data + o->tail);
    atomic_store_explicit(&at->word, SHOAL_PKT_WRAP, memory_order_release);
    o->tail = next_tail;
}

bool shoal_ring_publish_head(shoal_ring_in *in)
{
    in->published = in->place;
    // Pairs with the acquire in shoal_ring_find_room(): we are done with all before the head.
    atomic_store_explicit(&in->ring->head, in->place, memory_order_release);
    return true;
}
