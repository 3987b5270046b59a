// SPDX-License-Identifier: BSD-3-Clause
// Starting a rank.
#ifndef SHOAL_MPIEXEC_SPAWN_H
#define SHOAL_MPIEXEC_SPAWN_H

#include "run.h"

// Remembers the signal mask, dispositions and limits that the ranks get back. Call before mpiexec
// changes its own.
void shoal_spawn_remember(void);

// Starts the process of a rank, whose descriptors are set, and closes the descriptors that are
// its alone. On failure prints why and returns the exit status for mpiexec (126 or 127); 0 else.
int shoal_spawn_rank(shoal_rank *);

#endif
