// SPDX-License-Identifier: BSD-3-Clause
// What travels between ranks, whatever the medium: packets of a 16-byte header and up to a few KiB
// of payload. Packets of one pair arrive whole, once, and in order.
//
//   EAGER      a message, payload and all
//   EAGER_SYNC the same; the receiver answers ACK when it is matched (synchronous mode)
//   RTS        announces a large message: payload is shoal_rts, perhaps the message's first part
//   CTS        "send it": payload is shoal_cts                   (receiver -> sender)
//   DATA       a piece of a message that was asked for; `id` names the receiver's request
//   ACK        the synchronous message `id` has been matched     (receiver -> sender)
//   WROTE      the sender has written its part of a meeting (p2p/meet.h) into the receive buffer
//   FIN        the receiver has all it wants of the message `id` (receiver -> sender)
//   CANCEL     "forget the message `id` if it is not matched"    (sender -> receiver)
//   CANCELLED  it was forgotten; unasked: the receiver has left the collective call it was for
//   TOO_LATE   it was matched already                            (receiver -> sender)
#ifndef SHOAL_NET_NET_H
#define SHOAL_NET_NET_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum shoal_packet_kind {
    SHOAL_PKT_NONE = 0, // not published yet
    SHOAL_PKT_WRAP,     // ring only: the next packet is at the start
    SHOAL_PKT_EAGER,
    SHOAL_PKT_EAGER_SYNC,
    SHOAL_PKT_RTS,
    SHOAL_PKT_CTS,
    SHOAL_PKT_DATA,
    SHOAL_PKT_ACK,
    SHOAL_PKT_FIN,
    SHOAL_PKT_CANCEL,
    SHOAL_PKT_CANCELLED,
    SHOAL_PKT_TOO_LATE,
    SHOAL_PKT_WROTE,
    SHOAL_PKT_KINDS,
    SHOAL_PKT_AWAY = 16 // ring only, added to a kind: the payload lies in a depot or ferry
};
static_assert(SHOAL_PKT_KINDS <= SHOAL_PKT_AWAY, "a kind has four bits");

// As it lies in memory. `word` is written last and says that the rest is there.
typedef struct shoal_header {
    _Atomic uint32_t word; // kind | payload length << 5
    uint16_t src;          // sender's rank in the communicator
    uint16_t context_high;
    union {
        struct {
            uint32_t context_low;
            int32_t tag;
        };
        uint64_t id; // packets that belong to a request: its ticket at the receiving end
    };
} shoal_header;
static_assert(sizeof(shoal_header) == 16, "a small message must fit half a cache line");

static inline uint64_t shoal_header_context(const shoal_header *h)
{
    return (uint64_t)h->context_high << 32 | h->context_low;
}

// As the receiver sees it. `data` is valid during the delivery only, and is read by way of
// shoal_packet_part(): a long payload does not lie in one piece, and its end may not be there yet.
typedef struct shoal_packet {
    uint32_t peer;
    uint32_t kind;
    uint32_t length;
    int32_t src;
    uint64_t context;
    int32_t tag;
    uint64_t id;
    const char *data;
    uint32_t in_ring;            // bytes of payload in the ring itself
    uint32_t number;             // of the parcel
    struct shoal_parcel *parcel; // where the payload lies; NULL: in the ring, or wherever `data` is
    bool whole;                  // it is all there
    bool gaps;                   // it lies in chunks
    bool past;                   // it was written past the caches
    uint8_t ferry;               // that it came by, or 0
} shoal_packet;

#define SHOAL_RTS_FETCH 1u // best fetched through the kernel, thinks the sender
#define SHOAL_RTS_BUSY  2u // the sender waits for messages itself, and will be busy with those
#define SHOAL_RTS_KEEP  4u // to be fetched soon, even if nobody waits for it: as if sent eagerly

// A line long, so that what follows it begins with a line.
typedef struct shoal_rts {
    uint64_t bytes;   // of the whole message
    uint64_t id;      // the sender's request
    uint64_t address; // of the data in the sender when it is dense, else 0
    uint64_t heap;    // 1 + offset in the world when the data lies in a shared heap, else 0
    uint64_t traits;  // SHOAL_RTS_*
    uint64_t spare[3];
} shoal_rts;
static_assert(sizeof(shoal_rts) == 64, "a line");

typedef struct shoal_cts {
    uint64_t id;      // the receiver's request: goes into each DATA
    uint64_t bytes;   // how much it wants: never more than its buffer holds. In a WROTE: 0: failed
    uint64_t address; // of the receive buffer, if the sender is asked to a meeting; else 0
    uint64_t meeting; // its number
} shoal_cts;

// The part of a payload that begins at `offset`: where it lies, and how long it is. Waits for the
// sender if it has not got so far.
const char *shoal_packet_part(const shoal_packet *, uint32_t offset, uint32_t *bytes_out);
// Copies a part that may be of several.
void shoal_packet_copy(const shoal_packet *, uint32_t offset, void *to, uint32_t bytes);
// The same, past the caches if wanted: to memory that will not stay in them.
void shoal_packet_copy_long(const shoal_packet *, uint32_t offset, void *to, uint32_t bytes,
                            bool past_caches);

// Takes one packet in; written by p2p/. Called with the engine lock held, from a poll.
void shoal_net_deliver(const shoal_packet *);

// The same for a message (EAGER) that lies whole in the ring, `length` bytes behind its header.
void shoal_net_deliver_small(uint32_t peer, const shoal_header *, uint32_t length);

// Messages lie here whose senders wait for them to be fetched, though nobody has asked for them yet
// (SHOAL_RTS_KEEP). Written by p2p/: how many, and fetching those that came before a time; returns
// how many were.
extern uint32_t shoal_net_owed;
int shoal_net_settle(int64_t before);

// Room has come up in the ring towards a peer with waiting packets; written by p2p/. Returns how
// many it pushed.
int shoal_net_flush(uint32_t peer);

#endif
