// SPDX-License-Identifier: BSD-3-Clause
// Ferries: two places for payloads between two ranks. Who has read what came in a ferry has the
// ferry, and the next payload back goes in it:
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
// both ranks may send at the same time.
//
// Only so much of a ferry is in the caches of who has it as it has read there. A longer payload
// would be written into lines that the other core holds, the slowest way of all; it goes by the
// depot. If the next is as long, and nothing shorter has come in between, it takes the ferry all
// the same: answers of that length will follow.
#ifndef SHOAL_NET_SHM_FERRY_H
#define SHOAL_NET_SHM_FERRY_H

#include "net/shm/depot.h"

typedef struct shoal_ferries {
    shoal_parcel *places[2];
    uint32_t room;     // bytes of payload in each; 0: there are none
    uint32_t last[2];  // bytes of the last payload in each,
    uint32_t most[2];  // ... and of the longest
    uint32_t too_long; // bytes of a payload that was refused, or 0
    uint8_t here;      // how many of them are with us
    uint8_t next;      // which of them has been here longer
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

// Is what such a payload would be written to in our caches, or in nobody's yet?
static inline bool shoal_ferry_warm(const shoal_ferries *f, uint32_t k, uint32_t payload)
{
    return payload <= f->last[k] + f->last[k] / 8 || f->most[k] <= f->last[k];
}

static inline void shoal_ferry_note(shoal_ferries *f, uint32_t k, uint32_t payload)
{
    f->last[k] = payload;
    if (payload > f->most[k]) f->most[k] = payload;
}

// A ferry if one is here that serves the payload, else NULL. It is away now. Of two, the one that
// was used for less: parts of a large message come back in the places in which they came.
static inline shoal_parcel *shoal_ferry_take(shoal_ferries *f, uint32_t payload, shoal_away *out)
{
    if (f->here == 0 || payload > f->room) return NULL;
    uint32_t k = f->next, other = k ^ 1;
    bool warm = shoal_ferry_warm(f, k, payload);
    if (f->here == 2 && shoal_ferry_warm(f, other, payload) &&
        (!warm || f->last[other] < f->last[k])) {
        k = other;
        warm = true;
    }
    if (!warm && (f->too_long == 0 || payload > f->too_long)) {
        f->too_long = payload;
        return NULL;
    }
    if (payload >= f->too_long) f->too_long = 0;
    f->here--;
    f->next = (uint8_t)(k ^ 1);
    shoal_ferry_note(f, k, payload);
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

// A message has come, by ferry or not, and not only a part of a large one.
static inline void shoal_ferry_see(shoal_ferries *f, uint32_t payload)
{
    if (payload < f->too_long) f->too_long = 0;
}

// What came in it, so many bytes, has been read.
static inline void shoal_ferry_keep(shoal_ferries *f, uint8_t ferry, uint32_t payload)
{
    if (f->here++ == 0) f->next = (uint8_t)(ferry - 1);
    shoal_ferry_note(f, ferry - 1u, payload);
}

#endif
