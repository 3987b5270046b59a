// SPDX-License-Identifier: BSD-3-Clause
// What /proc tells about other processes.
#ifndef SHOAL_MPIEXEC_PROC_H
#define SHOAL_MPIEXEC_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// True if every thread of the process sleeps in a futex without a time limit: none of them can act
// before somebody wakes it, and nobody but ranks and its own threads can. False also when that
// cannot be found out. Threads are looked at one after the other, and may wake each other
// meanwhile; so *moves collects who they are and how often each has run, and only two looks
// with the same sum show that none has moved between them.
bool shoal_proc_all_wait(pid_t, uint64_t *moves);

// True if `pid` is `of` or one of its descendants.
bool shoal_proc_is_descendant(pid_t pid, pid_t of);

// True if `pid`, which a descendant of `of` has called its own number, is no process any more.
// False when descendants live in a namespace with other numbers, where nothing follows.
bool shoal_proc_has_vanished(pid_t pid, pid_t of);

#endif
