// SPDX-License-Identifier: BSD-3-Clause
// A large message that both ranks move through the kernel, until they meet: the receiver reads from
// one end (process_vm_readv), and if the sender has nothing better to do it writes from the other.
// The higher rank begins at the front, whichever it is.
//
//     sender's memory      [ read by the receiver --> | <-- written by the sender ]   or
//                          [ written by the sender --> | <-- read by the receiver ]
//
// Each byte is copied once, and on huge pages by two cores at the rate of two. If the sender
// computes, or has no core, the receiver does all of it.
//
//     RTS       ->   address, bytes
//               <-   CTS  with the address of the receive buffer and the meeting's number
//     both claim parts by a word in the ring that the message came by, and copy them
//     WROTE     ->   if the sender has claimed any: they are there, or could not be written
//               <-   FIN  when all is there
//
// What cannot be read comes over as if there had been no meeting: by a CTS without an address.
#ifndef SHOAL_P2P_MEET_H
#define SHOAL_P2P_MEET_H

#include <stdbool.h>

#include "core/request.h"
#include "core/ways.h"
#include "net/shm/shm.h"

// From here on messages may be moved by the kernel where that is quick; elsewhere only large ones.
#define SHOAL_MEET_SHORTEST (12u << 10)

// What goes on beside a message: the sender receives at the same time, or many are sent.
enum shoal_beside { SHOAL_BESIDE_NOTHING, SHOAL_BESIDE_RECEIVING, SHOAL_BESIDE_MANY };

// The sender: is one copy by the kernel better than two through shared memory? With a core for each
// rank the receiver knows best: which way is faster depends on whose caches the data is in, and how
// far away they are. It times both, and says in the ring for each length which one it had rather.
bool shoal_meet_is_better(uint32_t peer, const char *data, uint64_t bytes, enum shoal_beside);
// The receiver: where it keeps the times of such messages; NULL if it has no choice. And before one
// of them begins to move: its wish for the next.
shoal_ways *shoal_meet_ways(const shoal_req *r, uint32_t peer, const shoal_rts *);
void shoal_meet_wish(uint32_t peer, shoal_ways *, int64_t now);

// Both for a message that could be sent eagerly, and has come this way or that and found its
// receive.
void shoal_meet_came(uint32_t peer, uint64_t bytes, bool fetched);
static inline void shoal_meet_note(uint32_t peer, int64_t bytes, bool fetched)
{
    if (bytes >= SHOAL_MEET_SHORTEST && shoal_the_shm.fetches && peer != shoal_the_shm.rank)
        shoal_meet_came(peer, (uint64_t)bytes, fetched);
}

// The receiver: does it agree?
bool shoal_meet_suits(const shoal_req *r, const shoal_rts *);
// And can the sender help? Then a meeting is begun, and `r`, which is moving, completes, now or
// later.
bool shoal_meet_can_be(const shoal_req *r, uint32_t peer, const shoal_rts *);
void shoal_meet_begin(shoal_req *r, uint32_t peer, const shoal_rts *);
void shoal_meet_on_wrote(const shoal_packet *);

// The sender: takes its part in what the receiver proposes.
void shoal_meet_join(shoal_req *, const shoal_cts *);
// It was asked for the data instead.
void shoal_meet_declined(uint32_t peer);

#endif
