// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_split_type: splitting by what ranks share.
#ifndef SHOAL_COLL_COMM_TYPE_H
#define SHOAL_COLL_COMM_TYPE_H

#include "core/comm.h"

// `info` may be NULL; MPI_COMM_TYPE_HW_UNGUIDED writes "mpi_hw_resource_type" into it.
int shoal_comm_split_type(shoal_comm *, int split_type, int key, shoal_info *info,
                          shoal_comm **out);

#endif
