// SPDX-License-Identifier: BSD-3-Clause
// What the threads of another process are doing, as far as the kernel tells.
#ifndef SHOAL_MPIEXEC_THREADS_H
#define SHOAL_MPIEXEC_THREADS_H

#include <stdbool.h>
#include <sys/types.h>

// True if every thread of the process sleeps in a futex without a time limit: none of them can act
// before somebody wakes it. False also when that cannot be found out.
bool shoal_threads_all_wait(pid_t);

#endif
