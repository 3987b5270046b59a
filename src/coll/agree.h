// SPDX-License-Identifier: BSD-3-Clause
// Agreeing on small things when a communicator is made.
#ifndef SHOAL_COLL_AGREE_H
#define SHOAL_COLL_AGREE_H

#include "core/comm.h"

// A new context id, the same on all ranks of an intra-communicator: rank 0 picks it. Collective.
int shoal_agree_context(shoal_comm *, uint64_t *context_out);

#endif
