// SPDX-License-Identifier: BSD-3-Clause
// Callbacks of another binary interface. A user function that was handed over through another door
// than the standard ABI (libmpi.so.12) knows other handles and codes; where MPI gives the callback
// no argument of its own, the object keeps, beside the function, the door's way to call it.
#ifndef SHOAL_CORE_DOOR_H
#define SHOAL_CORE_DOOR_H

#include <mpi.h>
#include <stdint.h>

// A user's function of whatever type.
typedef void shoal_door_user_fn(void);

// Calls the user's reduction for `n` elements (for an MPI_User_function `n` fits an int).
typedef void shoal_door_op_fn(shoal_door_user_fn *user, void *in, void *inout, MPI_Count n,
                              MPI_Datatype type);

// Calls the user's error handler of an object of `kind` (enum shoal_kind).
typedef void shoal_door_errhandler_fn(shoal_door_user_fn *user, int kind, void *handle_address,
                                      int *code);

#endif
