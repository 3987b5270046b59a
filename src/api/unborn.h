// SPDX-License-Identifier: BSD-3-Clause
// Errors while a communicator is made out of groups: they go to the error handler that it would
// have had.
#ifndef SHOAL_API_UNBORN_H
#define SHOAL_API_UNBORN_H

#include "api/api.h"

// An error handler that a communicator may have.
int shoal_arg_comm_errhandler(MPI_Errhandler, shoal_errhandler **out);
// As shoal_leave_comm(), for a communicator that is not there yet.
int shoal_leave_unborn(int rc, shoal_errhandler *);

#endif
