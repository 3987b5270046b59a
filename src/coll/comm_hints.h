// SPDX-License-Identifier: BSD-3-Clause
// The hints of MPI_Comm_set_info: which are known, and what is in force.
#ifndef SHOAL_COLL_COMM_HINTS_H
#define SHOAL_COLL_COMM_HINTS_H

#include "core/comm.h"

// Takes the hints that are known and have a legal value; others are ignored, as the standard wants.
int shoal_hints_set(shoal_comm *, const shoal_info *);

// A new info with every known hint as it is in force; NULL after shoal_fail().
shoal_info *shoal_hints_get(const shoal_comm *);

#endif
