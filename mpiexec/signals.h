// SPDX-License-Identifier: BSD-3-Clause
// Signals that mpiexec gets, passed on to the ranks.
#ifndef SHOAL_MPIEXEC_SIGNALS_H
#define SHOAL_MPIEXEC_SIGNALS_H

// Takes the signals over into the event loop. Returns 0 or a negative SHOAL_E_*.
int shoal_signals_open(void);

#endif
