// SPDX-License-Identifier: BSD-3-Clause
// A ring carries packets from one rank to one other: one producer, one consumer, plain stores only.
//
//     | consumer's line | producer's line | meetings | data: packets on 32-byte boundaries ......|
//
//     data:   [packet][packet][packet][0 ...            0 = the next header, not published yet
//              ^head                   ^tail
//
// The producer fills in a packet behind the tail, writes a zero where the next header will be, and
// then publishes by storing the header's first word. The consumer polls that word; a small message
// is thus half a cache line. A producer that dies half way has published nothing.
//
// The producer alone decides where the ring ends: it starts with a small part of it, so that a
// rarely used pair touches few pages, and takes more when it finds the ring full.
#ifndef SHOAL_NET_SHM_RING_H
#define SHOAL_NET_SHM_RING_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/net.h"
#include "plat/plat.h"

// Large messages of a pair that both move at the same time. That the sender has done its part comes
// behind all that it has announced before, so it takes a window of them to keep both busy.
#define SHOAL_MEETINGS 64u
#define SHOAL_LENGTHS  32u // kinds of lengths, of which p2p/meet.c knows

typedef struct shoal_ring {
    alignas(SHOAL_APART) _Atomic uint32_t head; // written by the consumer: all before is free
    _Atomic uint64_t released;     // ... bytes of eager messages that found their receive
    _Atomic uint32_t wants_copies; // ... by which way it had rather which lengths: p2p/meet.c,
    _Atomic uint8_t batches[SHOAL_LENGTHS];      // ... and how many batches of each have come so
    alignas(SHOAL_APART) _Atomic uint32_t waits; // written by the producer: it sleeps for room
    alignas(SHOAL_APART) _Atomic uint64_t meet[SHOAL_MEETINGS]; // by both: see p2p/meet.h
    alignas(SHOAL_APART) char data[];
} shoal_ring;

#define SHOAL_RING_FIRST 8192u // part of the ring that a quiet pair uses
#define SHOAL_SLOT       32u   // packets begin at multiples of this: two of the smallest in a line
#define SHOAL_AHEAD      512u  // bytes of the next packet whose lines are fetched before it is made

typedef struct shoal_ring_out {
    shoal_ring *ring;
    uint32_t tail;  // where the next header goes
    uint32_t head;  // the consumer's head as last read
    uint32_t limit; // where the ring ends for now
    uint32_t bytes; // where it ends at most
    uint32_t place; // of the packet under way
} shoal_ring_out;

typedef struct shoal_ring_in {
    shoal_ring *ring;
    uint32_t place;     // of the next header
    uint32_t published; // head as last written
    uint32_t bytes;
} shoal_ring_in;

static inline uint32_t shoal_packet_room(uint32_t payload)
{
    return (uint32_t)(sizeof(shoal_header) + payload + SHOAL_SLOT - 1) / SHOAL_SLOT * SHOAL_SLOT;
}

void shoal_ring_open_out(shoal_ring_out *, void *memory, uint64_t bytes);
void shoal_ring_open_in(shoal_ring_in *, void *memory, uint64_t bytes);

bool shoal_ring_find_room(shoal_ring_out *, uint32_t room);

// Largest payload that is sure to find room once the consumer has caught up.
static inline uint32_t shoal_ring_max_payload(const shoal_ring_out *o)
{
    return o->bytes / 4 - SHOAL_LINE;
}

// Begins a packet: where its payload goes, or NULL when the ring is full. Nothing is visible to the
// consumer before shoal_ring_publish().
static inline char *shoal_ring_reserve(shoal_ring_out *o, uint32_t payload)
{
    uint32_t room = shoal_packet_room(payload);
    // One line more: the header after this packet must be free to be zeroed.
    uint32_t end = o->tail >= o->head ? o->limit : o->head;
    o->place = o->tail;
    if (__builtin_expect(end - o->tail < room + SHOAL_LINE, 0) && !shoal_ring_find_room(o, room))
        return NULL;
    return o->ring->data + o->place + sizeof(shoal_header);
}

void shoal_ring_publish_wrap(shoal_ring_out *, uint32_t next_tail);

// Publishes the packet begun by the last reserve; `h` gives all fields but `word`.
static inline void shoal_ring_publish(shoal_ring_out *o, uint32_t kind, uint32_t payload,
                                      const shoal_header *h)
{
    char *data = o->ring->data;
    shoal_header *at = (shoal_header *)(void *)(data + o->place);
    uint32_t next = o->place + shoal_packet_room(payload);
    atomic_store_explicit(&((shoal_header *)(void *)(data + next))->word, 0, memory_order_relaxed);
    at->src = h->src;
    at->context_high = h->context_high;
    at->id = h->id;
    // Pairs with the acquire in shoal_ring_peek(): payload and the next zero are visible first.
    atomic_store_explicit(&at->word, kind | payload << 5, memory_order_release);
    if (__builtin_expect(o->place != o->tail, 0))
        shoal_ring_publish_wrap(o, next);
    else
        o->tail = next;
    // The consumer has touched the lines ahead in its last lap. Ask for as many as this packet
    // took: the next one is often as long.
    uint32_t ahead = (payload < SHOAL_AHEAD ? payload : SHOAL_AHEAD) + SHOAL_LINE;
    for (uint32_t i = SHOAL_LINE; i <= ahead; i += SHOAL_LINE)
        shoal_prefetch_write(data + next + i);
}

// The next packet, or NULL; *word_out is its first word, read once.
static inline shoal_header *shoal_ring_peek(shoal_ring_in *in, uint32_t *word_out)
{
    for (;;) {
        shoal_header *at = (shoal_header *)(void *)(in->ring->data + in->place);
        uint32_t word = atomic_load_explicit(&at->word, memory_order_acquire);
        if (word == 0) return NULL;
        *word_out = word;
        if (__builtin_expect((word & 31) != SHOAL_PKT_WRAP, 1)) return at;
        in->place = 0;
    }
}

// True if the packet lies inside the ring and is of a known kind: another process wrote it.
static inline bool shoal_ring_sane(const shoal_ring_in *in, uint32_t word)
{
    return (word & 15) < SHOAL_PKT_KINDS &&
           in->place + shoal_packet_room(word >> 5) + SHOAL_LINE <= in->bytes;
}

// Steps over a packet. Returns true when the head has moved far enough that it was published: the
// caller then looks whether the producer waits for room.
bool shoal_ring_publish_head(shoal_ring_in *);
static inline bool shoal_ring_skip(shoal_ring_in *in, uint32_t payload)
{
    in->place += shoal_packet_room(payload);
    uint32_t moved = in->place - in->published; // huge after a wrap, which publishes as well
    return __builtin_expect(moved >= 1024, 0) && shoal_ring_publish_head(in);
}

#endif
