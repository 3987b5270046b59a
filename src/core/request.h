// SPDX-License-Identifier: BSD-3-Clause
// A request: one operation under way. Its state moves along this table and nowhere else:
//
//     IDLE     made, not started (persistent requests between uses)
//     POSTED   waits for a match, or for room in the ring
//     MATCHED  has found its partner; the data has not begun to move
//     MOVING   data moves in pieces
//     DONE     finished; status is final
//
// Who owns a request: the user's handle holds one reference, the engine one while it is not DONE or
// IDLE. MPI_Request_free drops the user's; the last drop recycles the place.
#ifndef SHOAL_CORE_REQUEST_H
#define SHOAL_CORE_REQUEST_H

#include <assert.h>
#include <mpi.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/comm.h"
#include "core/datatype.h"
#include "core/object.h"
#include "core/status.h"
#include "plat/plat.h"
#include "progress/progress.h"

enum shoal_req_state {
    SHOAL_RQ_IDLE,
    SHOAL_RQ_POSTED,
    SHOAL_RQ_MATCHED,
    SHOAL_RQ_MOVING,
    SHOAL_RQ_DONE
};

enum shoal_req_kind {
    SHOAL_REQ_SEND,
    SHOAL_REQ_RECV,
    SHOAL_REQ_PAIR,        // send and receive of MPI_Isendrecv: done when both parts are
    SHOAL_REQ_GENERALIZED, // MPI_Grequest_start
    SHOAL_REQ_COLLECTIVE,  // of coll/: a schedule, or shm_later.c's
    SHOAL_REQ_PARTITIONED,
    SHOAL_REQ_FLUSH, // MPI_Buffer_iflush
};

enum shoal_send_mode {
    SHOAL_MODE_STANDARD,
    SHOAL_MODE_SYNC,
    SHOAL_MODE_READY,
    SHOAL_MODE_BUFFERED
};

typedef struct shoal_req shoal_req;

// One place in the list of a matching key; see p2p/match.h.
typedef struct shoal_match_link {
    struct shoal_match_link *prev, *next;
    struct shoal_match_key *key;
} shoal_match_link;

// What goes on beside a message: nothing in particular; its sender sends many at a time; or it is
// of a call in which all ranks send each other something, and is not kept for who is late.
enum shoal_traffic { SHOAL_TRAFFIC_ONE, SHOAL_TRAFFIC_MANY, SHOAL_TRAFFIC_EXCHANGE };

// In the order of use: a small message touches the first three cache lines.
struct shoal_req {
    alignas(SHOAL_LINE) shoal_object object;
    uint8_t kind, state, mode;
    bool persistent;
    bool queued; // waits in its peer's queue for room in the ring
    bool cancel_asked;
    uint8_t traffic;      // enum shoal_traffic
    uint16_t meeting;     // the number of its meeting (p2p/meet.h), or 0
    bool no_partner;      // MPI_PROC_NULL: completes at once
    int error;            // MPI error code of the operation, 0: none
    uint32_t peer;        // partner in the job; of a receive from anybody: known after the match
    shoal_comm *comm;     // held, or NULL
    shoal_datatype *type; // held, or NULL
    void (*dispose)(shoal_req *); // frees `extra`
    alignas(SHOAL_LINE) shoal_match_link link;
    uint64_t order; // of posting, for receives with wildcards
    char *buf;
    int64_t bytes; // room in the receive buffer; size of the message to send
    uint64_t context;
    alignas(SHOAL_LINE) shoal_status status;
    int32_t rank; // partner in the communicator, or MPI_ANY_SOURCE
    int32_t tag;
    int64_t count;
    // Who wants to know: called once when DONE, by the engine, under its lock.
    void (*on_done)(shoal_req *);
    void *owner;
    // Kinds with a life of their own.
    void *extra;                 // coll: its own; generalized: shoal_grequest; pair: shoal_pair
    int (*start)(shoal_req *);   // persistent: begins another round
    shoal_describe_fn *describe; // coll: of `extra`, for the blackboard, or NULL
    shoal_req *next_queued;
    // Data that moves in pieces, and packets that wait for room.
    uint64_t remote_id;   // the partner's request
    int64_t moved, total; // bytes so far, bytes to move
    uint64_t address;     // of the data in the sender, while a meeting goes on and it can be read
    shoal_cursor cursor;  // when the data is not dense
};

// The request behind a handle, or NULL (MPI_REQUEST_NULL, dead).
static inline shoal_req *shoal_req_get(MPI_Request h)
{
    return shoal_object_get(SHOAL_KIND_REQUEST, h);
}
void shoal_req_init(void);

// A request with one reference and nothing under way; the fields behind `describe` are not set.
// NULL after shoal_fail().
shoal_req *shoal_req_new(enum shoal_req_kind, shoal_comm *comm_or_null);
static inline void shoal_req_hold(shoal_req *r)
{
    r->object.refs++;
}
void shoal_req_free(shoal_req *); // for the next function alone
static inline void shoal_req_drop(shoal_req *r)
{
    assert(r->object.refs > 0);
    if (--r->object.refs == 0) shoal_req_free(r);
}

bool shoal_req_may_step(const shoal_req *, enum shoal_req_state to); // by the table above
static inline void shoal_req_step(shoal_req *r, enum shoal_req_state to)
{
    assert(shoal_req_may_step(r, to));
    r->state = (uint8_t)to;
}

// Moves to DONE: calls on_done, wakes sleepers, drops the engine's reference. Do not touch the
// request afterwards unless you hold it.
static inline void shoal_req_complete(shoal_req *r)
{
    shoal_req_step(r, SHOAL_RQ_DONE);
    if (__builtin_expect(r->on_done != NULL, 0)) r->on_done(r);
    shoal_progress_completed();
    shoal_req_drop(r);
}

static inline bool shoal_req_done(const shoal_req *r)
{
    return r->state == SHOAL_RQ_DONE || r->state == SHOAL_RQ_IDLE;
}

// Is it with one peer, known beforehand?
static inline bool shoal_req_names_peer(const shoal_req *r)
{
    return r->kind == SHOAL_REQ_SEND || (r->kind == SHOAL_REQ_RECV && r->rank != MPI_ANY_SOURCE) ||
           (r->kind == SHOAL_REQ_PAIR && r->rank >= 0);
}

// Waits until it is done.
void shoal_req_wait(shoal_req *);
// For the blackboard.
void shoal_req_describe(void *req, shoal_wait_note *note_out);

#endif
