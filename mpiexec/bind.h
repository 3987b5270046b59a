// SPDX-License-Identifier: BSD-3-Clause
// Which cores each rank may use.
#ifndef SHOAL_MPIEXEC_BIND_H
#define SHOAL_MPIEXEC_BIND_H

#include <sched.h>
#include <stdint.h>

// Works out the binding that the options ask for. Exits 2 if they make no sense.
void shoal_bind_plan(void);

// How many processors all bound ranks together have; 0 if nobody is bound.
uint32_t shoal_bind_processors(void);

// The cores of a rank, or NULL if it is not bound.
const cpu_set_t *shoal_bind_of(uint32_t rank);

#endif
