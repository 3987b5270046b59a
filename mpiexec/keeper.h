// SPDX-License-Identifier: BSD-3-Clause
// The keeper: a tiny process that outlives mpiexec by a moment if somebody kills it with SIGKILL,
// and then kills what mpiexec can no longer: the process groups of the ranks. (A rank itself is
// killed by the kernel, PR_SET_PDEATHSIG; the keeper is for the children of shells and wrappers.)
#ifndef SHOAL_MPIEXEC_KEEPER_H
#define SHOAL_MPIEXEC_KEEPER_H

#include <sys/types.h>

// Starts the keeper; call early, while mpiexec has little memory. Without one all else works.
// `argv` is where its name goes, for ps and for those who kill by name.
void shoal_keeper_start(int argc, char **argv);

// Tells it that a process group is to be killed with mpiexec, or no longer.
void shoal_keeper_add(pid_t group);
void shoal_keeper_drop(pid_t group);

// The job has ended in order: the keeper goes without killing anything.
void shoal_keeper_stop(void);

#endif
