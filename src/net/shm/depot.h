// SPDX-License-Identifier: BSD-3-Clause
// A rank's depot: where it puts the payloads of its longer packets; the packet in the ring then
// only says where. Two facts of the hardware are behind this:
//
//   - Writing a line that the other core's cache still holds costs several times a write that finds
//     it in the shared cache or in memory. A ring of some KiB is always in the other's cache. So
//     the depot is larger than a core's own caches, and is used round and round; and there is a gap
//     between payloads, because the reader's prefetcher runs on where one ends.
//   - Two cores that share no cache hand lines over very slowly (on the machine this was made on
//     0.46 ns a byte, against 0.03 to 0.12 near). Then it is ten times as fast to write past the
//     caches (non-temporal stores). How far a peer is the sender notices by itself: from the time
//     it takes to read a line that the peer has just written (the head of the ring).
//
//     [taken: a word for each][filled | payload ... | gap][filled | payload ... | gap][ ][filled
//                                                                                     ^ next ^
//                                                                                     oldest
//
// What the receivers write, `taken`, lies apart from the payloads, and not only because of the
// cache: where a parcel begins an older one may have had its payload, and bytes that look like
// "taken" must not be believed.
//
// A payload of more than a chunk lies in chunks, with gaps between them, unless it is a piece of
// something larger or was written past the caches: then the reader's prefetcher is welcome. It may
// be announced before
// it is written: the sender counts in `filled` how far it is, and the receiver copies behind it.
//
// Parcels are forgotten in the order in which they were made. While the oldest is not taken (its
// receiver computes, say) the depot fills up behind it, and is full. Then a payload to a peer that
// still has parcels waits until it has taken them, and after that payloads go through the ring.
#ifndef SHOAL_NET_SHM_DEPOT_H
#define SHOAL_NET_SHM_DEPOT_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plat/plat.h"

#define SHOAL_AWAY_MIN 384u  // a payload this long may go into the depot
#define SHOAL_AWAY     1000u // ... and this long it does

// A peer that has no core reads from our caches, or when others have used them. There new pages
// cost more than old lines: a depot that is empty is used from the beginning again, at once if the
// peer waits for our core, else after its share of what all ranks together may keep near. And while
// ranks outnumber cores such a peer gets no more at once than a turn's worth, so that it is still
// near when the peer's turn comes.
#define SHOAL_DEPOT_NEAR (2u << 20)
#define SHOAL_DEPOT_TURN (1u << 20)

#define SHOAL_CHUNK     8192u // a longer one lies in chunks
#define SHOAL_CHUNK_GAP 4096u // behind each chunk

#define SHOAL_PARCELS 512u // under way at most; a power of two

// In front of each payload.
typedef struct shoal_parcel {
    alignas(SHOAL_APART) _Atomic uint32_t filled; // bytes that are there, unless `whole`
    alignas(SHOAL_APART) char data[];
} shoal_parcel;

// A depot as it lies in shared memory. The receiver of parcel k stores k in `taken` when it has
// read it. The word had k - SHOAL_PARCELS before, or zero.
typedef struct shoal_depot_memory {
    alignas(SHOAL_APART) _Atomic uint32_t taken[SHOAL_PARCELS];
    alignas(SHOAL_APART) char parcels[];
} shoal_depot_memory;

// What the packet in the ring says of it.
typedef struct shoal_away {
    uint32_t offset, length, number;
    uint8_t whole; // 0: look at `filled`
    uint8_t gaps;  // between chunks
    uint8_t past;  // written past the caches
    uint8_t ferry; // 1, 2: not in the depot but in this one (ferry.h)
} shoal_away;

// The owner's private list of parcels, oldest first.
typedef struct shoal_depot {
    shoal_depot_memory *memory;
    uint32_t bytes;
    uint32_t next; // where the next parcel goes
    struct shoal_sent *sent;
    uint32_t first, last; // of `sent`: numbers of parcels, counting on for ever
    int64_t stored;       // bytes in all of them so far
} shoal_depot;

// The memory is zero, and stays the caller's.
int shoal_depot_open(shoal_depot *, void *memory, uint64_t bytes);
void shoal_depot_close(shoal_depot *);

// A place for a payload to `peer`; NULL when there is none.
shoal_parcel *shoal_depot_take(shoal_depot *, uint32_t peer, uint32_t payload, shoal_away *out);

// Would there be one?
bool shoal_depot_fits(shoal_depot *, uint32_t peer, uint32_t payload);

// Has the peer taken a parcel since the last look?
bool shoal_depot_moved(const shoal_depot *, uint32_t peer);

// Where the byte at `offset` of a payload lies.
static inline uint32_t shoal_chunk_at(uint32_t offset)
{
    return offset / SHOAL_CHUNK * (SHOAL_CHUNK + SHOAL_CHUNK_GAP) + offset % SHOAL_CHUNK;
}

// How much room a payload takes, its parcel and the gap behind it included.
static inline uint32_t shoal_parcel_room(uint32_t payload)
{
    uint32_t room =
        (uint32_t)sizeof(shoal_parcel) + shoal_chunk_at(payload - 1) + 1 + SHOAL_CHUNK_GAP;
    return (room + SHOAL_APART - 1) / SHOAL_APART * SHOAL_APART;
}

// The receiver's word on a parcel.
static inline _Atomic uint32_t *shoal_parcel_taken(shoal_depot_memory *m, uint32_t number)
{
    return &m->taken[number % SHOAL_PARCELS];
}

// True if the place lies inside a depot of that size: another process wrote it.
static inline bool shoal_away_sane(const shoal_away *a, uint64_t depot_bytes)
{
    return a->offset % SHOAL_APART == 0 && a->offset >= sizeof(shoal_depot_memory) &&
           a->length >= SHOAL_AWAY_MIN && a->length < depot_bytes &&
           (uint64_t)a->offset + shoal_parcel_room(a->length) <= depot_bytes;
}

#endif
