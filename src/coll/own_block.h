// SPDX-License-Identifier: BSD-3-Clause
// What a rank has for itself in a call that moves blocks.
#ifndef SHOAL_COLL_OWN_BLOCK_H
#define SHOAL_COLL_OWN_BLOCK_H

#include "coll/coll.h"

typedef struct shoal_own_block {
    shoal_block from, to;
    int64_t done, bytes; // 0 bytes if it lies where it belongs
    bool flood;          // it is so much that it is written past the caches
} shoal_own_block;

// With `from.buf` MPI_IN_PLACE there is nothing to do.
shoal_own_block shoal_own_block_of(const shoal_comm *, shoal_block from, shoal_block to);
bool shoal_own_block_fits(const shoal_own_block *);

// As far as there is room for it.
void shoal_own_block_copy(shoal_own_block *);

// A piece of it, if it is long; returns true if some of it is left. For
// shoal_schedule_run_beside().
bool shoal_own_block_copy_piece(void *own);

#endif
