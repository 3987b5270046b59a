// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point messages. A message goes one of these ways:
//
//   eager       small: header and data into the ring at once; the send is done
//   fetched     of medium length, where the kernel is quick and that has been faster: RTS goes out,
//               and the receiver takes the data through the kernel, soon even if nobody waits
//               for it; so a program that counts on such messages being buffered still runs
//   rendezvous  large, or the receiver holds too much unmatched data: RTS goes out, the data stays.
//               When the receive is there, the receiver takes it by plain loads (shared heap),
//               through the kernel, perhaps with the sender's help (meet.h), or asks for it (CTS)
//               and the sender streams it through its depot
//   self        to this very process: from buffer to buffer
//
// Every function here runs under the engine lock.
#ifndef SHOAL_P2P_P2P_H
#define SHOAL_P2P_P2P_H

#include <stdint.h>

#include "core/request.h"
#include "net/net.h"
#include "p2p/match.h"

// What a message is made of; the arguments have been checked. `use` picks the context:
// SHOAL_USE_P2P for users' messages, SHOAL_USE_COLL for collectives.
typedef struct shoal_message_args {
    const void *buf;
    int64_t count;
    shoal_datatype *type;
    int rank; // partner, MPI_PROC_NULL, or MPI_ANY_SOURCE
    int tag;
    shoal_comm *comm;
    enum shoal_context_use use;
    enum shoal_traffic traffic;
} shoal_message_args;

int shoal_p2p_init(void);
// Waits until all that was handed over (buffered, freed requests) has left.
void shoal_p2p_drain(void);
// The user has freed a request under way: nobody but shoal_p2p_drain() will wait for it.
void shoal_p2p_orphan(shoal_req *);
// Sends under way that nobody waits for.
extern uint32_t shoal_p2p_unwaited;
void shoal_p2p_fini(void);

// Blocking. The status may be NULL. The result may be an MPI error code (> 0), of the message.
int shoal_p2p_send(const shoal_message_args *, enum shoal_send_mode);
int shoal_p2p_recv(const shoal_message_args *, MPI_Status *);
// The same if the message is small and comes in a moment; false: nothing has happened.
bool shoal_p2p_recv_at_once(const shoal_message_args *, MPI_Status *);

// A request ready to be started, for persistent ones; one reference. `owner`, `extra` and what
// stands behind them are the caller's to set.
int shoal_p2p_prepare(const shoal_message_args *, enum shoal_req_kind, enum shoal_send_mode,
                      shoal_req **out);
// Starts a prepared request; it completes in its own time.
int shoal_p2p_start(shoal_req *);

// Both at once.
int shoal_p2p_isend(const shoal_message_args *, enum shoal_send_mode, shoal_req **out);
int shoal_p2p_irecv(const shoal_message_args *, shoal_req **out);

// Probes: the oldest matching message, or NULL if `wait` is false and there is none.
shoal_unexpected *shoal_p2p_probe(const shoal_message_args *, bool wait, MPI_Status *);
// The same, and takes the message away from other receives (MPI_Mprobe); it is received later, by a
// request or, if it is small and the buffer simple, at once (false: not so; nothing has happened).
shoal_unexpected *shoal_p2p_mprobe(const shoal_message_args *, bool wait, MPI_Status *);
bool shoal_p2p_mrecv_now(const shoal_message_args *, shoal_unexpected *, MPI_Status *);
// Would it?
bool shoal_p2p_fits_at_once(const shoal_message_args *, const shoal_unexpected *);
int shoal_p2p_recv_claimed(shoal_req *, shoal_unexpected *);

// Marks for cancelling; the request completes soon, cancelled or not.
void shoal_p2p_cancel(shoal_req *);

// Inside p2p/.

// Larger messages stay with the sender until the receive is there.
#define SHOAL_EAGER_MAX (64u << 10)

// What an unmatched message costs the receiver beside its bytes: both sides count with it.
#define SHOAL_EAGER_OVERHEAD 256u

// How blocking calls look for a message before they make a request.
#define SHOAL_LOOKS         100 // at one ring, between two looks at everything else: a microsecond or two
#define SHOAL_LOOKS_CROWDED 32 // ... when somebody else needs the core and the peer has one
#define SHOAL_ROUNDS        10 // of these at most, some twenty microseconds
#define SHOAL_POLL_EVERY    32 // calls that found theirs at once, between two looks at the rest

// Looks at one ring for a moment: what is at its head, or NULL.
shoal_header *shoal_p2p_look(uint32_t peer, uint32_t *word_out);

// Fills in the status of a message, unless it is MPI_STATUS_IGNORE.
static inline void shoal_p2p_tell(MPI_Status *status, int src, int tag, int64_t bytes)
{
    if (status == MPI_STATUS_IGNORE) return;
    status->MPI_SOURCE = src;
    status->MPI_TAG = tag;
    shoal_status_set_bytes(status, bytes);
    shoal_status_set_cancelled(status, false);
}

// A copy of the message whose data begins at `at`; in no index yet.
shoal_unexpected *shoal_recv_copy(const shoal_packet *, uint32_t at);

void shoal_send_begin(shoal_req *);
void shoal_send_on_cts(const shoal_packet *);
void shoal_send_on_done(const shoal_packet *); // ACK and FIN
void shoal_send_on_cancel_answer(const shoal_packet *);
void shoal_recv_begin(shoal_req *);
void shoal_recv_on_message(const shoal_packet *);
void shoal_recv_on_data(const shoal_packet *);
void shoal_recv_on_cancel(const shoal_packet *);
// A message will never be received: its sender may send as much again.
void shoal_recv_forget(const shoal_unexpected *);
// The same, and if its sender waits for it to be fetched it need not any more; or, in a collective
// call, hears that it never will be.
void shoal_recv_abandon(const shoal_unexpected *);

// Takes in a message that a receive has matched, of which the first part may lie in `p` from `at`
// on. `r` completes or goes on moving.
void shoal_rndv_take(shoal_req *r, const shoal_packet *p, uint32_t at, const shoal_rts *);
// A large message that was moving is all there.
void shoal_rndv_end(shoal_req *);
// Receives of large messages that are moving.
extern uint32_t shoal_rndv_moving;
// Unpacks a part of a packet's payload.
void shoal_packet_unpack(const shoal_packet *, uint32_t at, shoal_cursor *, uint32_t bytes);
void shoal_recv_finish(shoal_req *r, int64_t message_bytes);
void shoal_recv_note_match(shoal_req *r, uint32_t peer, int src, int tag);

// Sends a packet without data now or as soon as there is room.
void shoal_control_send(uint32_t peer, enum shoal_packet_kind, uint64_t id, const shoal_cts *cts);

// Packets that found the ring full.
typedef struct shoal_waiting {
    struct shoal_waiting *next;
    uint32_t kind;
    uint64_t id;
    shoal_cts cts;
    shoal_req *req; // held; the send whose packet or data this is, or NULL
} shoal_waiting;
void shoal_wait_for_room(uint32_t peer, uint32_t kind, shoal_req *);
bool shoal_queue_withdraw(shoal_req *); // for cancelling: false if it has left already
// Which kind of packet a message begins with: by its size, mode, and what the receiver holds
// already.
uint32_t shoal_send_first_packet(const shoal_req *);
// Pushes pieces of a large message while there is room; true when all has been pushed.
bool shoal_send_stream(shoal_req *);
// The whole of a small message, to another process; false when it cannot go this way now.
bool shoal_send_eager(const shoal_message_args *, uint32_t peer, int64_t bytes);
// The first packet of a message: false when there is no room.
bool shoal_send_push(shoal_req *, uint32_t kind);

#endif
