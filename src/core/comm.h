// SPDX-License-Identifier: BSD-3-Clause
// A communicator: a group (and for inter-communicators a remote one), a context that keeps its
// messages apart from all others, and what users hang on it.
#ifndef SHOAL_CORE_COMM_H
#define SHOAL_CORE_COMM_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/attr.h"
#include "core/errhandler.h"
#include "core/group.h"
#include "core/info.h"
#include "core/object.h"

// Context ids have 48 bits. Who leads the making of a communicator picks the next id of its own
// range, so no two ever collide and nothing needs to be agreed but the number itself:
//     leader's peer index << 32 | leader's counter << 2 | use
enum shoal_context_use {
    SHOAL_USE_P2P = 0,
    SHOAL_USE_COLL = 1,
    SHOAL_USE_PART = 2,
    SHOAL_USE_MAKE = 3, // making communicators out of this one; coll/agree.h
};

static inline enum shoal_context_use shoal_use_of(uint64_t context)
{
    return (enum shoal_context_use)(context & 3);
}

typedef struct shoal_buffer shoal_buffer; // MPI_Buffer_attach; p2p/bsend.h
typedef struct shoal_topo shoal_topo;     // topo/
typedef struct shoal_arena shoal_arena;   // coll/

typedef struct shoal_comm {
    shoal_object object;
    MPI_Comm handle;
    uint64_t context; // of point-to-point; | SHOAL_USE_COLL for collectives
    int rank, size;   // in the local group
    int remote_size;  // inter: size of the remote group; intra: size
    bool inter;
    bool freed;            // the user has freed it; operations under way keep it alive
    const uint32_t *peers; // rank (of the remote group if inter) -> peer: whom messages go to
    shoal_group *group, *remote_group;
    struct shoal_comm *local; // inter: an intra-communicator of the local group for its collectives
    shoal_errhandler *errhandler;
    shoal_attrs attrs;
    shoal_info *info;     // hints in force, or NULL
    shoal_buffer *buffer; // MPI_Comm_attach_buffer
    shoal_topo *topo;
    shoal_arena *arena;
    void *session;        // shoal_session * or NULL
    uint64_t coll_seq[2]; // collectives started on it: blocking, and all others
    int make_seq;         // communicators made out of it, for the tags of the making
    bool vessel;          // carries the messages of one making only; its context outlives it
    char name[MPI_MAX_OBJECT_NAME];
} shoal_comm;

extern shoal_comm shoal_comm_world, shoal_comm_self;

// The communicator behind a handle, or NULL. MPI_COMM_NULL and freed ones give NULL.
shoal_comm *shoal_comm_lookup(MPI_Comm);
static inline shoal_comm *shoal_comm_get(MPI_Comm h)
{
    return h == MPI_COMM_WORLD ? &shoal_comm_world : shoal_comm_lookup(h);
}

// Makes MPI_COMM_WORLD and MPI_COMM_SELF; the engine knows its rank and size by then.
int shoal_comm_init(void);
void shoal_comm_fini(void);

// A communicator object over groups that it takes a hold on, with everything else at its default.
// `context` was agreed by the members. NULL after shoal_fail().
shoal_comm *shoal_comm_new(uint64_t context, shoal_group *group, shoal_group *remote_or_null);

// A context id of this process's own range, never used before.
uint64_t shoal_comm_new_context(void);

// One owner more or less. The last drop frees; user callbacks have been run by then.
static inline void shoal_comm_hold(shoal_comm *c)
{
    c->object.refs++;
}
void shoal_comm_drop(shoal_comm *);

// Called for each communicator that ends, so that layers above can drop what they keep for it.
// Saying the same function twice is saying it once.
typedef void shoal_comm_gone_fn(shoal_comm *);
void shoal_comm_on_gone(shoal_comm_gone_fn *);

// What error texts and the blackboard call it.
const char *shoal_comm_label(const shoal_comm *);

#endif
