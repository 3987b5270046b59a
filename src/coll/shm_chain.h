// SPDX-License-Identifier: BSD-3-Clause
// Long reductions with more ranks than cores: the sum of a piece goes from rank to rank, and each
// adds its own to it. So nobody copies its vector, and who gets a core after the rank below finds
// several pieces to add to, in the caches of that core. What the last rank has made of a piece the
// others take some pieces later, when it has had its turn. Not if cores share no cache: between
// these a piece would go back and forth.
#ifndef SHOAL_COLL_SHM_CHAIN_H
#define SHOAL_COLL_SHM_CHAIN_H

#include "coll/shm_sync.h"
#include "core/op.h"

typedef struct shoal_chain {
    shoal_comm *comm;
    const shoal_arena_mark *mark;
    shoal_op_fn *kernel; // of an operation that commutes
    int64_t unit;        // bytes of one basic element
    const char *in;      // the own vector,
    int64_t bytes;       // ... which is as long as everybody's
    int64_t from, to;    // the bytes of the result that this rank wants,
    char *out;           // ... and where: not behind the same bytes of the own vector
    bool flood;          // all want so much that it will not stay in the caches
} shoal_chain;

// For vectors of so many bytes?
bool shoal_chain_serves(const shoal_arena *, int64_t bytes);

int shoal_chain_run(const shoal_chain *);

#endif
