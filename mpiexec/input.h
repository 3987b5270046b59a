// SPDX-License-Identifier: BSD-3-Clause
// mpiexec's stdin, for one rank, for all, or for none.
#ifndef SHOAL_MPIEXEC_INPUT_H
#define SHOAL_MPIEXEC_INPUT_H

#include "run.h"

// Decides how stdin is handed on, once, before ranks start. Returns 0 or a negative SHOAL_E_*.
int shoal_input_open(void);

// Sets a rank's stdin_fd.
int shoal_input_attach(shoal_rank *);

// True if the single rank of the job gets the terminal itself and stays in its foreground.
bool shoal_input_is_handed_through(void);

// Looks again whether mpiexec is in the terminal's foreground (after SIGCONT).
void shoal_input_foreground(void);

#endif
