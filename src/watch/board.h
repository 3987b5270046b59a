// SPDX-License-Identifier: BSD-3-Clause
// The blackboard: what each sleeping thread of this rank waits for, written into the rank's berth
// before it sleeps and wiped when it wakes. mpiexec reads it. Never on the fast path.
#ifndef SHOAL_WATCH_BOARD_H
#define SHOAL_WATCH_BOARD_H

#include "job/world.h"

// What to write; strings are cut to fit.
typedef struct shoal_wait_note {
    const char *call; // "MPI_Recv"
    const char *comm;
    uint64_t context;
    int peer, peer_world, tag;
    bool is_send;
    bool collective; // `peer` is the rank that has not come yet
    uint32_t requests;
    int64_t bytes;
} shoal_wait_note;

// Takes a slot and fills it in; returns its number, or -1 when all are in use.
int shoal_board_write(shoal_berth *, const shoal_wait_note *);
void shoal_board_wipe(shoal_berth *, int slot);

#endif
