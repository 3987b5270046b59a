// SPDX-License-Identifier: BSD-3-Clause
// What the ranks that make a communicator tell each other, in small messages of their own context
// (SHOAL_USE_MAKE), apart from what users and collectives send.
//
// A circle is those who talk: some ranks of an intra-communicator, numbered by places; place 0
// leads. Two circles (the groups of an inter-communicator) talk through their leaders, over a
// bridge.
#ifndef SHOAL_COLL_AGREE_H
#define SHOAL_COLL_AGREE_H

#include <stddef.h>

#include "core/comm.h"

typedef struct shoal_circle {
    shoal_comm *comm; // carries the messages
    const int *ranks; // place -> rank in `comm`; NULL: the same number
    int size, place;
    int tag;
} shoal_circle;

// From a leader to the leader of the other group.
typedef struct shoal_bridge {
    shoal_comm *comm;
    int rank;
    int tag;
} shoal_bridge;

// What members of a new communicator must know alike. An inter-communicator has a context with both
// groups, and in each group an intra-communicator for collectives.
typedef struct shoal_terms {
    uint64_t context, arena;             // of an intra-communicator; inter: arena is 0
    uint64_t local_context, local_arena; // inter: of the one inside
    uint64_t members; // a digest of who they are, to find out that ranks disagree
} shoal_terms;

// A tag for one collective making on the communicator: the n-th has the same on every rank.
int shoal_agree_tag(shoal_comm *);
// Where the user gives the tag that keeps makings apart; never equal to one of the above.
int shoal_agree_user_tag(int tag);

// All ranks of an intra-communicator, with a tag of its own.
shoal_circle shoal_circle_all(shoal_comm *);

// Blocking: from place 0 to all; from all to all, `bytes` of each, or as many as lie between two of
// the size + 1 offsets; between two leaders (what came may be shorter than the room).
int shoal_agree_bcast(const shoal_circle *, void *data, size_t bytes);
int shoal_agree_allgather(const shoal_circle *, const void *mine, size_t bytes, void *all);
int shoal_agree_allgatherv(const shoal_circle *, const void *mine, const size_t offsets[],
                           void *all);
int shoal_agree_exchange(const shoal_bridge *, const void *out, size_t bytes, void *in, size_t room,
                         size_t *got_out);

// Agrees on the terms of a new communicator of the circle's members (with a bridge: of both
// groups). `bridge` is NULL for an intra-communicator; `comm` and `tag` are read by the leader
// alone. Never blocks; `done` is called once, maybe before this returns, with 0 or the error.
// `ranks` of the circle must live until then.
typedef void shoal_agree_done_fn(void *arg, int error, const shoal_terms *);
int shoal_agree_start(const shoal_circle *, const shoal_bridge *, shoal_agree_done_fn *done,
                      void *arg);

// The same, waiting for it.
int shoal_agree_terms(const shoal_circle *, const shoal_bridge *, shoal_terms *out);

#endif
