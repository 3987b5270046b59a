// SPDX-License-Identifier: BSD-3-Clause
// /sys/devices/system/cpu, as far as binding needs it.
#include "topology.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPU_DIR "/sys/devices/system/cpu/cpu"

static bool read_text(const char *path, char *text, size_t room)
{
    FILE *f = fopen(path, "re");
    if (!f) return false;
    bool ok = fgets(text, (int)room, f) != NULL;
    fclose(f);
    if (ok) text[strcspn(text, "\n")] = 0;
    return ok;
}

static int read_number(int cpu, const char *name, int otherwise)
{
    char path[256], text[64];
    snprintf(path, sizeof path, CPU_DIR "%d/%s", cpu, name);
    if (!read_text(path, text, sizeof text) || !isdigit((unsigned char)text[0])) return otherwise;
    return atoi(text);
}

// The first processor with which this one shares a cache of that level; itself if there is none.
static int cache_of(int cpu, int level)
{
    char path[128], text[1024];
    for (int i = 0; i < 8; i++) {
        snprintf(path, sizeof path, "cache/index%d/level", i);
        if (read_number(cpu, path, -1) != level) continue;
        snprintf(path, sizeof path, CPU_DIR "%d/cache/index%d/shared_cpu_list", cpu, i);
        if (read_text(path, text, sizeof text) && isdigit((unsigned char)text[0]))
            return atoi(text);
    }
    return cpu;
}

// The NUMA node is the one whose directory links back.
static int node_of(int cpu)
{
    char path[128];
    for (int node = 0; node < 128; node++) {
        snprintf(path, sizeof path, CPU_DIR "%d/node%d", cpu, node);
        if (access(path, F_OK) == 0) return node;
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    static const enum shoal_unit keys[] = {SHOAL_UNIT_SOCKET, SHOAL_UNIT_NUMA, SHOAL_UNIT_CORE,
                                           SHOAL_UNIT_HWTHREAD};
    const shoal_cpu *x = a, *y = b;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (x->of[keys[i]] != y->of[keys[i]]) return x->of[keys[i]] < y->of[keys[i]] ? -1 : 1;
    return 0;
}

void shoal_topology_read(const cpu_set_t *allowed, shoal_topology *t)
{
    t->count = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET((size_t)cpu, allowed)) continue;
        shoal_cpu *c = &t->cpus[t->count++];
        int socket = read_number(cpu, "topology/physical_package_id", 0);
        int core = read_number(cpu, "topology/core_id", cpu);
        c->of[SHOAL_UNIT_HWTHREAD] = cpu;
        c->of[SHOAL_UNIT_CORE] = socket * 65536 + core; // numbered anew in each socket
        c->of[SHOAL_UNIT_L2] = cache_of(cpu, 2);
        c->of[SHOAL_UNIT_L3] = cache_of(cpu, 3);
        c->of[SHOAL_UNIT_NUMA] = node_of(cpu);
        c->of[SHOAL_UNIT_SOCKET] = socket;
        c->of[SHOAL_UNIT_MACHINE] = 0;
    }
    qsort(t->cpus, t->count, sizeof *t->cpus, compare);
}

int shoal_topology_parse(const char *list, cpu_set_t *out)
{
    while (*list) {
        char *end;
        if (!isdigit((unsigned char)*list)) return 0;
        unsigned long low = strtoul(list, &end, 10), high = low;
        if (*end == '-' && isdigit((unsigned char)end[1])) high = strtoul(end + 1, &end, 10);
        if (high < low || high >= CPU_SETSIZE || (*end && *end != ',' && *end != '+')) return 0;
        for (; low <= high; low++) CPU_SET(low, out);
        list = *end ? end + 1 : end;
    }
    return CPU_COUNT(out) > 0;
}

void shoal_topology_print(const cpu_set_t *set, char *text, size_t room)
{
    size_t used = 0;
    text[0] = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE && used + 16 < room; cpu++) {
        if (!CPU_ISSET((size_t)cpu, set)) continue;
        int last = cpu;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET((size_t)last + 1, set)) last++;
        const char *comma = used ? "," : "";
        used +=
            (size_t)(last > cpu ? snprintf(text + used, room - used, "%s%d-%d", comma, cpu, last)
                                : snprintf(text + used, room - used, "%s%d", comma, cpu));
        cpu = last;
    }
}
