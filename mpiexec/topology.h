// SPDX-License-Identifier: BSD-3-Clause
// The processors that this process may use, and what they have in common.
#ifndef SHOAL_MPIEXEC_TOPOLOGY_H
#define SHOAL_MPIEXEC_TOPOLOGY_H

#include <sched.h>
#include <stdint.h>

enum shoal_unit {
    SHOAL_UNIT_HWTHREAD,
    SHOAL_UNIT_CORE,
    SHOAL_UNIT_L2,
    SHOAL_UNIT_L3,
    SHOAL_UNIT_NUMA,
    SHOAL_UNIT_SOCKET,
    SHOAL_UNIT_MACHINE,
    SHOAL_UNITS
};

// A hardware thread; of[u] says which unit of kind u it belongs to (any number, equal if the same).
typedef struct shoal_cpu {
    int32_t of[SHOAL_UNITS];
} shoal_cpu;

typedef struct shoal_topology {
    shoal_cpu cpus[CPU_SETSIZE];
    uint32_t count; // sorted: socket, NUMA node, core
} shoal_topology;

// Reads the processors of `allowed` from the kernel. What it does not tell is guessed: one socket,
// a core for each processor.
void shoal_topology_read(const cpu_set_t *allowed, shoal_topology *out);

// Adds the processors of a list such as "0-3,8" to a set; 0 if it is not such a list.
int shoal_topology_parse(const char *list, cpu_set_t *out);

// Writes a set as such a list.
void shoal_topology_print(const cpu_set_t *, char *text, size_t room);

#endif
