// SPDX-License-Identifier: BSD-3-Clause
// Ferries: two places for payloads between two ranks that both have a core of their own. Who has
// read what came in a ferry has the ferry, and the next payload back goes in it:
//
//     rank 0                      rank 1
//     [ferry 0: ping] ----------> reads it, has both
//     reads it, has both <------- [ferry 1 or 0: pong]
//
// A line that a core has read last it can write at the cost of its own cache, and a line that the
// other core holds it cannot (see depot.h). So a line that goes back and forth travels once for
// each message, whether the cores share a cache or not; in the depot it travels twice, and is
// fetched from further away. Messages that all go one way find no ferry and go by the depot.
//
// Nobody asks for a ferry or waits for one: it is here or it is not. Two for each pair, because
// both ranks may send at the same time; the one that has been here longer leaves first, so that the
// parts of a large message come back in the places in which they came.
#ifndef SHOAL_NET_SHM_FERRY_H
#define SHOAL_NET_SHM_FERRY_H

#include "net/shm/depot.h"

typedef struct shoal_ferries {
    shoal_parcel *places[2];
    uint32_t room; // bytes of payload in each; 0: there are none
    uint8_t here;  // how many of them are with us
    uint8_t next;  // which of them leaves next
} shoal_ferries;

static inline void shoal_ferries_open(shoal_ferries *f, void *own, void *theirs, uint64_t bytes)
{
    // Both ranks number them alike: by their places in memory.
    bool first = (char *)own < (char *)theirs;
    *f = (shoal_ferries){.places = {first ? own : theirs, first ? theirs : own},
                         .room = (uint32_t)(bytes - sizeof(shoal_parcel)),
                         .here = 1,
                         .next = !first};
}

// The next ferry if one is here and the payload fits, else NULL. It is away now.
static inline shoal_parcel *shoal_ferry_take(shoal_ferries *f, uint32_t payload, shoal_away *out)
{
    if (f->here == 0 || payload > f->room) return NULL;
    uint32_t k = f->next;
    f->here--;
    f->next ^= 1;
    *out = (shoal_away){.length = payload, .whole = 1, .ferry = (uint8_t)(k + 1)};
    return f->places[k];
}

// Where a payload lies that came by ferry, or NULL if it cannot be: another process wrote it.
static inline shoal_parcel *shoal_ferry_find(const shoal_ferries *f, const shoal_away *a)
{
    uint32_t k = a->ferry - 1u;
    bool here = f->here == 2 || (f->here == 1 && f->next == k);
    return k > 1 || here || a->length < SHOAL_AWAY_MIN || a->length > f->room ? NULL : f->places[k];
}

// What came in it has been read.
static inline void shoal_ferry_keep(shoal_ferries *f, uint8_t ferry)
{
    if (f->here++ == 0) f->next = (uint8_t)(ferry - 1);
}

#endif
