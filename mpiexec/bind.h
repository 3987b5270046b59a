// SPDX-License-Identifier: BSD-3-Clause
// Which cores each rank may use.
#ifndef SHOAL_MPIEXEC_BIND_H
#define SHOAL_MPIEXEC_BIND_H

#include <sched.h>
#include <stdint.h>

// Works out the binding that the options ask for. Exits 2 if they make no sense.
void shoal_bind_plan(void);

// The cores of a rank, or NULL if it is not bound.
const cpu_set_t *shoal_bind_of(uint32_t rank);

#endif
