// SPDX-License-Identifier: BSD-3-Clause
// What the door of another binary interface needs of the engine beside MPI's own functions. The
// door reaches all of it through the table that the library exports (generated/engine_table.h).
#ifndef SHOAL_API_DOOR_H
#define SHOAL_API_DOOR_H

#include <mpi.h>
#include <stdint.h>

#include "core/door.h"

// The handle of the live object at a place of a kind's table (enum shoal_kind), or NULL.
void *shoal_door_live(int kind, uint32_t index);

// Says how the user function of an operation or error handler is to be called. To be told right
// after its creation, before the user knows the handle. Returns MPI_SUCCESS or an error class.
int shoal_door_set_op(MPI_Op op, shoal_door_op_fn *door);
int shoal_door_set_errhandler(MPI_Errhandler errhandler, shoal_door_errhandler_fn *door);

#endif
