// SPDX-License-Identifier: BSD-3-Clause
// The mark of a collective call: enough of its arguments in two words to find out that two ranks
// do not make the same call, and to say in words what each does.
#ifndef SHOAL_COLL_MARK_H
#define SHOAL_COLL_MARK_H

#include "coll/arena.h"
#include "core/op.h"

enum shoal_coll_kind {
    SHOAL_COLL_NONE,
    SHOAL_COLL_BARRIER,
    SHOAL_COLL_BCAST,
    SHOAL_COLL_GATHER,
    SHOAL_COLL_GATHERV,
    SHOAL_COLL_SCATTER,
    SHOAL_COLL_SCATTERV,
    SHOAL_COLL_ALLGATHER,
    SHOAL_COLL_ALLGATHERV,
    SHOAL_COLL_ALLTOALL,
    SHOAL_COLL_ALLTOALLV,
    SHOAL_COLL_ALLTOALLW,
    SHOAL_COLL_REDUCE,
    SHOAL_COLL_ALLREDUCE,
    SHOAL_COLL_REDUCE_SCATTER,
    SHOAL_COLL_REDUCE_SCATTER_BLOCK,
    SHOAL_COLL_SCAN,
    SHOAL_COLL_EXSCAN,
    SHOAL_COLL_NEIGHBOR,
    SHOAL_COLL_KINDS
};

enum shoal_mark_form { SHOAL_FORM_BLOCKING, SHOAL_FORM_NONBLOCKING, SHOAL_FORM_PERSISTENT };

// root -1: the collective has none; op NULL, type NULL: likewise. `bytes` must be equal on all
// ranks where the standard wants it, else 0.
shoal_arena_mark shoal_mark_make(enum shoal_coll_kind, int root, const shoal_op *,
                                 const shoal_datatype *, int64_t bytes);

void shoal_mark_set_form(shoal_arena_mark *, enum shoal_mark_form);
void shoal_mark_set_in_place(shoal_arena_mark *); // of calls in which all must do so
static inline enum shoal_mark_form shoal_mark_form(const shoal_arena_mark *m)
{
    return (enum shoal_mark_form)(m->what >> 56 & 3);
}
static inline uint8_t shoal_mark_kind(const shoal_arena_mark *m)
{
    return (uint8_t)(m->what & 0xff);
}
static inline bool shoal_mark_same(const shoal_arena_mark *a, const shoal_arena_mark *b)
{
    return a->what == b->what && a->bytes == b->bytes;
}

// Records the failure: what this rank does and what the other one does.
int shoal_mark_mismatch(const shoal_comm *, const shoal_arena_mark *mine, int rank,
                        const shoal_arena_mark *theirs);

#endif
