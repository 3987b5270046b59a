// SPDX-License-Identifier: BSD-3-Clause
// Long reductions of two ranks that do not share one core, where the kernel is quick: each fetches
// what it needs of the other's vector, and combines it with its own. Nothing is shown, and nobody
// waits for more than the other's address, and in the end for its having read. Whether that is
// faster than the other ways is found out as in shm_straight.h.
#ifndef SHOAL_COLL_SHM_PAIR_H
#define SHOAL_COLL_SHM_PAIR_H

#include "coll/arena.h"
#include "coll/mark.h"
#include "core/comm.h"
#include "core/op.h"

// What a rank makes, from `from` on in both vectors.
typedef struct shoal_pair {
    shoal_comm *comm;
    const shoal_arena_mark *mark;
    enum shoal_coll_kind kind;
    shoal_op_fn *kernel;
    int64_t unit;   // bytes of one basic element
    int64_t length; // of the vectors, or pieces that are dealt out: the same on both ranks
    const char *in; // the whole of the own vector
    char *out;
    int64_t from;
    int64_t bytes;    // 0: it makes nothing
    bool into_others; // kernel(own, other's) makes it, else kernel(other's, own): as in other ways
} shoal_pair;

// The longest vectors of which one rank makes the whole: longer ones take as long as adding up
// takes it, and otherwise both do that. And the longest pieces, on average, if each rank makes one.
#define SHOAL_PAIR_VECTOR ((int64_t)256 << 10)
#define SHOAL_PAIR_PIECE  ((int64_t)4 << 20)

// May vectors or pieces of that length go so, if that is at most so much? The same on both ranks.
bool shoal_pair_serves(const shoal_comm *, int64_t length, int64_t most);
// Not done if one of them cannot, or copies have been faster.
int shoal_pair_run(const shoal_pair *, bool *done);

#endif
