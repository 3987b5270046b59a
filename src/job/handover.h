// SPDX-License-Identifier: BSD-3-Clause
// Handing the world's descriptor from rank 0 to the others when a foreign launcher has started
// them: over an abstract unix socket whose name travels through the launcher's key-value space.
// Collective over the job.
#ifndef SHOAL_JOB_HANDOVER_H
#define SHOAL_JOB_HANDOVER_H

// Rank 0: gives `fd` to `count` ranks. Blocks until all have it.
int shoal_handover_serve(int fd, int count);

// The others: gets it.
int shoal_handover_fetch(int *fd_out);

#endif
