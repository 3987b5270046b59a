// SPDX-License-Identifier: BSD-3-Clause
// Starting and stopping the engine: MPI_Init and the first session start it, MPI_Finalize and the
// last session stop it.
#ifndef SHOAL_API_RUNTIME_H
#define SHOAL_API_RUNTIME_H

#include <stdbool.h>

// Starts the engine, or counts one user more. `level` is what is asked for; what is granted comes
// back.
int shoal_runtime_acquire(int level, int *granted_out);
// One user less; the last one waits for messages under way and takes everything down.
void shoal_runtime_release(void);

// Between MPI_Init and MPI_Finalize (sessions do not count), and after MPI_Finalize.
bool shoal_runtime_initialized(void);
bool shoal_runtime_finalized(void);

#endif
