// SPDX-License-Identifier: BSD-3-Clause
// See place.h: the affinity mask, and what /sys says about each processor in it.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plat/place.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_NODES 1024

// A number in a file of a processor's directory, or -1.
static int read_number(int cpu, const char *file)
{
    char path[128];
    int number = -1;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
    FILE *f = fopen(path, "re");
    if (!f) return -1;
    if (fscanf(f, "%d", &number) != 1) number = -1;
    fclose(f);
    return number;
}

// The node is told by the name of a link.
static int node_of(int cpu)
{
    char path[128];
    for (int node = 0; node < MAX_NODES; node++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/node%d", cpu, node);
        if (access(path, F_OK) == 0) return node;
        // Numbers are nearly always dense; without node0 of any processor there are no nodes at
        // all.
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d", node);
        if (node > 0 && access(path, F_OK) != 0) break;
    }
    return -1;
}

static int place_of(int cpu, enum shoal_hw level)
{
    if (level == SHOAL_HW_THREAD) return cpu;
    if (level == SHOAL_HW_NUMA) return node_of(cpu);
    int package = read_number(cpu, "topology/physical_package_id");
    if (level == SHOAL_HW_PACKAGE) return package;
    // Core numbers begin anew in each package.
    int core = read_number(cpu, "topology/core_id");
    return core < 0 || package < 0 ? core : package << 16 | core;
}

int shoal_hw_place(enum shoal_hw level)
{
    cpu_set_t set;
    int place = -1;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return -1;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET((size_t)cpu, &set)) continue;
        int here = place_of(cpu, level);
        if (here < 0 || (place >= 0 && here != place)) return -1;
        place = here;
    }
    return place;
}
