// SPDX-License-Identifier: BSD-3-Clause
// The end of a communicator.
#ifndef SHOAL_COLL_COMM_END_H
#define SHOAL_COLL_COMM_END_H

#include "core/comm.h"

// Waits until nothing is under way on the communicator, whether or not its requests have been
// completed by the user.
void shoal_comm_quiet(shoal_comm *);

#endif
