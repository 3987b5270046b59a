// SPDX-License-Identifier: BSD-3-Clause
// The job: its ranks, its world, and how it ends. There is one for each mpiexec, so it is a global
// that every part of the launcher sees; each part keeps what only it needs to itself.
//
//   starting -> running -> ending -> over
//
// "ending" begins once, with the first thing that goes wrong (a rank dies, MPI_Abort, a deadlock,
// the time limit, ...): the ranks get SIGTERM, 100 ms later SIGKILL. It fixes the exit status.
#ifndef SHOAL_MPIEXEC_RUN_H
#define SHOAL_MPIEXEC_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "job/world.h"
#include "loop.h"
#include "options.h"

// Exit statuses of mpiexec's own.
#define SHOAL_EXIT_USAGE    2   // the command line is wrong
#define SHOAL_EXIT_DEADLOCK 86  // every rank waits and nothing is under way
#define SHOAL_EXIT_TIMEOUT  124 // --timeout has passed
#define SHOAL_EXIT_NO_EXEC  126 // the program was found but cannot be run
#define SHOAL_EXIT_NO_FILE  127 // the program was not found
#define SHOAL_EXIT_PIPE     141 // nobody reads our output any more

typedef struct shoal_rank {
    uint32_t rank;
    const shoal_section *section;
    pid_t pid;         // 0: not started
    shoal_source exit; // its pidfd; fd -1 where the kernel has none
    bool gone;         // the process has ended; `code` and `signal` say how
    bool reaped;
    int code, signal;   // exit status, or the signal that killed it (else 0)
    bool aborted;       // has called MPI_Abort
    bool unfinished;    // ended between MPI_Init and MPI_Finalize
    pid_t inner_pid;    // the process that calls MPI when that is not `pid` (a wrapper's child)
    shoal_source inner; // its pidfd; fd -1: none
    shoal_source pmi;   // our end of its PMI socket; fd -1: closed
    int stdin_fd;       // what spawn gives it as 0, 1, 2; closed afterwards
    int stdout_fd, stderr_fd;
    int pmi_fd;
} shoal_rank;

typedef struct shoal_run {
    shoal_options options;
    uint32_t nranks;
    shoal_rank *ranks;
    shoal_world world;
    int world_fd;
    int notify_fd;
    uint32_t alive;  // processes started and not gone
    bool own_groups; // each rank leads a process group of its own
    bool ending;
    bool cause_told;  // the one line that says why has been printed
    int status;       // exit status of the job so far
    int last_signal;  // the last signal passed on for the user, 0: none
    bool interrupted; // ranks have begun to end because of it
    int64_t started_ns;
} shoal_run;

extern shoal_run shoal_the_run;

// Takes in that a rank's process has ended: finds out how, and what it means for the job.
void shoal_run_on_exit(shoal_rank *);

// Watches a rank just started.
void shoal_run_adopt(shoal_rank *);

// MPI_Abort(comm, code) of a rank, as it told by PMI; `message` may be NULL.
void shoal_run_abort(shoal_rank *, int code, const char *message);

// Begins to end the job with this exit status, unless it is ending already.
void shoal_run_end(int status);

// Kills what is left of the job now.
void shoal_run_kill(void);

// Sends a signal to every rank that is alive, and to its process group.
void shoal_run_signal(int signal);

// Has the kernel's view of every started process: all gone.
bool shoal_run_over(void);

// After the last rank: kills stragglers of ended groups and reaps.
void shoal_run_clean_up(void);

// Notices processes that took a berth without being mpiexec's own child (wrappers).
void shoal_run_find_inner(void);

// True if the rank is between MPI_Init and MPI_Finalize, as far as it has told.
bool shoal_run_inside_mpi(const shoal_rank *);

#endif
