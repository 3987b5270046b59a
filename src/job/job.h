// SPDX-License-Identifier: BSD-3-Clause
// Who am I, and who are the others. A process finds its job in one of three ways:
//
//   mpiexec    ours: it inherits the world's descriptor; nothing is asked of anybody
//   PMI        a foreign launcher (Hydra, srun): rank and size come over the PMI-1 wire, rank 0
//              makes the world and hands it to the others over a socket
//   alone      neither: a world of one
#ifndef SHOAL_JOB_JOB_H
#define SHOAL_JOB_JOB_H

#include <stdbool.h>

#include "job/world.h"

typedef struct shoal_job {
    shoal_world world;
    int rank, size;
    int pmi_fd;    // the launcher's socket, or -1
    int appnum;    // which `:` section of the command line, 0 if unknown
    bool launched; // by an mpiexec of ours
} shoal_job;

extern shoal_job shoal_the_job;

// Finds the job and maps its world. Once in a process.
int shoal_job_join(void);
void shoal_job_leave(void);

// Ends the whole job with that exit status.
void shoal_job_abort(int exit_code, const char *message) __attribute__((noreturn));

// PMI-1, the client's side; each returns 0 or a recorded failure. Values are at most
// SHOAL_PMI_VALUE bytes.
#define SHOAL_PMI_VALUE 512
int shoal_pmi_open(int fd, int *rank_out, int *size_out);
int shoal_pmi_put(const char *key, const char *value);
int shoal_pmi_get(const char *key, char value_out[SHOAL_PMI_VALUE]);
int shoal_pmi_barrier(void);
void shoal_pmi_abort(int fd, int exit_code, const char *message);
void shoal_pmi_close(void);

#endif
