// SPDX-License-Identifier: BSD-3-Clause
// The watch: sees in the world's blackboards that every rank waits and nothing is under way, and
// says who waits for what.
#ifndef SHOAL_MPIEXEC_WATCH_H
#define SHOAL_MPIEXEC_WATCH_H

#include <stddef.h>
#include <stdint.h>

// Begins to watch the world of the job. Returns 0 or a negative SHOAL_E_*.
int shoal_watch_open(void);

// A rank's process has ended, and the run knows how.
void shoal_watch_gone(uint32_t rank);

// What a rank was waiting for in MPI ("MPI_Recv(source=1, tag=7)"), "" if it was not waiting.
void shoal_watch_where(uint32_t rank, char *text, size_t room);

#endif
