// SPDX-License-Identifier: BSD-3-Clause
// A pipe: one rank fills a ring of pieces (arena.h) while the others read behind it. With a core
// for each rank.
#ifndef SHOAL_COLL_SHM_PIPE_H
#define SHOAL_COLL_SHM_PIPE_H

#include "coll/shm_sync.h"

// Called for one piece after the other: `put` by the rank `from`, `take` by the others. `warm` says
// that the place is in the caches of who puts something there.
typedef void shoal_pipe_put_fn(void *what, char *place, int64_t bytes, bool warm);
typedef void shoal_pipe_take_fn(void *what, const char *place, int64_t bytes);
typedef struct shoal_pipe {
    shoal_comm *comm;
    const shoal_arena_mark *mark;
    int from;
    int64_t bytes, unit; // of all, and of what no piece may cut
    shoal_pipe_put_fn *put;
    shoal_pipe_take_fn *take;
    void *what;
} shoal_pipe;

int shoal_pipe_run(const shoal_pipe *);

#endif
