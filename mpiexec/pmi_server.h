// SPDX-License-Identifier: BSD-3-Clause
// mpiexec's side of PMI-1: each rank has a socket on which it asks who it is, leaves values for
// the others, waits for all, and tells that it aborts.
#ifndef SHOAL_MPIEXEC_PMI_SERVER_H
#define SHOAL_MPIEXEC_PMI_SERVER_H

#include "run.h"

// Prepares the key-value space. Returns 0 or a negative SHOAL_E_*.
int shoal_pmi_server_open(void);

// Makes the socket of a rank and sets its pmi_fd.
int shoal_pmi_server_attach(shoal_rank *);

// Answers what a rank has still asked; called when its process has ended.
void shoal_pmi_server_drain(shoal_rank *);

// A rank is gone: whoever waits for it in a barrier waits in vain.
void shoal_pmi_server_gone(void);

// Whether the rank said "init" and not yet "finalize".
bool shoal_pmi_server_inside(const shoal_rank *);

#endif
