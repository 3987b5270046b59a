// SPDX-License-Identifier: BSD-3-Clause
// A collective as a list of steps. An algorithm appends steps once; one interpreter runs them, for
// the blocking, the non-blocking and the persistent form alike:
//
//     recv tmp <- 3 | send acc -> 3 | WAIT | acc = tmp op acc | recv ... | WAIT | ...
//     `--------- one round --------'        `- local work -'
//
// Messages start when their step is reached and complete in their own time; WAIT holds the schedule
// until all that were started are done, and there is one at the end. Local work is done at once.
// Between two ranks messages match in the order of their steps, so both sides must append theirs in
// the same order. A message that fails (truncation) is remembered as the schedule's error; the rest
// still runs, so that the other ranks are not left waiting.
//
// Building cannot fail half way for the caller: appending after a failure does nothing, and
// starting the schedule reports it.
#ifndef SHOAL_COLL_SCHEDULE_H
#define SHOAL_COLL_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/comm.h"
#include "core/datatype.h"
#include "core/op.h"
#include "core/request.h"

typedef struct shoal_schedule shoal_schedule;

// An empty schedule for a collective call on `c`, with a tag that no other collective of the
// communicator uses. The caller keeps the communicator alive. `root` is for the blackboard, or -1.
// NULL after shoal_fail().
// Blocking calls are numbered apart from all others, which they never match.
shoal_schedule *shoal_schedule_new(shoal_comm *c, const char *call, int root, bool blocking);
void shoal_schedule_free(shoal_schedule *);

// The tag that the next schedule on the communicator will have, and using it up without one. Where
// there is an arena, that of a blocking call says which call it is, so that none takes a message of
// another.
int shoal_schedule_tag(const shoal_comm *, bool blocking);
void shoal_schedule_skip_tag(shoal_comm *, bool blocking);

// The communicator of the messages appended from now on: the one of the call, or for parts of an
// inter-communicator's collective the local one.
void shoal_schedule_on(shoal_schedule *, shoal_comm *);
shoal_comm *shoal_schedule_comm(const shoal_schedule *);

// Of all its messages; SHOAL_TRAFFIC_ONE unless said.
void shoal_schedule_set_traffic(shoal_schedule *, enum shoal_traffic);

// Objects that must live as long as the schedule: held until it is freed.
void shoal_schedule_keep_type(shoal_schedule *, shoal_datatype *);
void shoal_schedule_set_op(shoal_schedule *, shoal_op *);

// Memory that lives as long as the schedule; never NULL. _scratch has room for `count` elements of
// a datatype, and is to be used like a user's buffer: the data begins at +true_lb.
char *shoal_schedule_bytes(shoal_schedule *, int64_t bytes);
char *shoal_schedule_scratch(shoal_schedule *, int64_t count, const shoal_datatype *);

// Appends a step.
void shoal_schedule_send(shoal_schedule *, const void *buf, int64_t count, shoal_datatype *,
                         int to);
void shoal_schedule_recv(shoal_schedule *, void *buf, int64_t count, shoal_datatype *, int from);
void shoal_schedule_wait(shoal_schedule *);
// inout = in op inout, with the schedule's operation.
void shoal_schedule_reduce(shoal_schedule *, const void *in, void *inout, int64_t count,
                           shoal_datatype *);
// Nothing is appended when source and target are the same.
void shoal_schedule_copy(shoal_schedule *, const void *from, int64_t from_count,
                         shoal_datatype *from_type, void *to, int64_t to_count,
                         shoal_datatype *to_type);

// Runs it to the end and frees it. Returns 0, a recorded failure, or the MPI code (> 0) of the
// first message that failed.
int shoal_schedule_run(shoal_schedule *);

// The same, with work of the caller's own that is done a little at a time while messages come;
// the function returns true as long as there is more.
typedef bool shoal_work_fn(void *work);
int shoal_schedule_run_beside(shoal_schedule *, shoal_work_fn *, void *work);

// What was to be received from that rank, and has been begun, is not waited for: it comes
// otherwise.
void shoal_schedule_forget_recv(shoal_schedule *, int from);

// Gives the schedule to a new request: active, or idle if it is persistent. The schedule is the
// request's from now on; on failure it has been freed.
int shoal_schedule_request(shoal_schedule *, bool persistent, shoal_req **out);

#endif
