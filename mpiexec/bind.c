// SPDX-License-Identifier: BSD-3-Clause
// From --bind-to and --map-by to a set of processors for each rank. The processors are divided
// into units (cores, sockets, ...), the units are put in the order that --map-by asks for, and the
// ranks take them in turn, from the beginning again when there are more ranks than units.
#include "bind.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "run.h"
#include "say.h"
#include "topology.h"

typedef struct unit {
    cpu_set_t cpus;
    int32_t key;    // which unit it is
    int32_t domain; // what --map-by goes round in: its socket, say
    bool taken;
} unit;

static cpu_set_t *sets; // a set for each rank; NULL: nobody is bound
static shoal_topology topology;

static const struct {
    const char *name;
    enum shoal_unit unit;
} unit_names[] = {
    {"hwthread", SHOAL_UNIT_HWTHREAD}, {"pu", SHOAL_UNIT_HWTHREAD},   {"rr", SHOAL_UNIT_HWTHREAD},
    {"core", SHOAL_UNIT_CORE},         {"slot", SHOAL_UNIT_CORE},     {"l1cache", SHOAL_UNIT_CORE},
    {"l2cache", SHOAL_UNIT_L2},        {"l3cache", SHOAL_UNIT_L3},    {"cache", SHOAL_UNIT_L3},
    {"numa", SHOAL_UNIT_NUMA},         {"numanode", SHOAL_UNIT_NUMA}, {"socket", SHOAL_UNIT_SOCKET},
    {"package", SHOAL_UNIT_SOCKET},    {"board", SHOAL_UNIT_MACHINE}, {"node", SHOAL_UNIT_MACHINE},
    {"machine", SHOAL_UNIT_MACHINE},
};

// What the two options say, taken apart.
typedef struct wish {
    bool bind;
    enum shoal_unit unit;   // what a rank gets
    uint32_t each;          // how many of them
    enum shoal_unit around; // what ranks are dealt round
    uint32_t chunk;         // how many units in one place before the next
} wish;

static bool find_unit(const char *name, size_t length, enum shoal_unit *out)
{
    for (size_t i = 0; i < sizeof unit_names / sizeof *unit_names; i++) {
        if (strlen(unit_names[i].name) != length) continue;
        if (strncasecmp(unit_names[i].name, name, length) != 0) continue;
        *out = unit_names[i].unit;
        return true;
    }
    return false;
}

// The words after the first colon: a number, PE=2, or something that changes nothing here.
static void read_modifiers(const char *text, wish *w)
{
    while (*text) {
        size_t n = strcspn(text, ":,");
        if (isdigit((unsigned char)*text)) w->each = (uint32_t)strtoul(text, NULL, 10);
        if (n > 3 && strncasecmp(text, "pe=", 3) == 0) {
            w->each = (uint32_t)strtoul(text + 3, NULL, 10);
            if (!w->bind) w->unit = SHOAL_UNIT_CORE;
            w->bind = true;
        }
        text += n + (text[n] != 0);
    }
    if (w->each < 1 || w->each > CPU_SETSIZE) w->each = 1;
}

static void read_bind(const char *text, wish *w)
{
    size_t n = strcspn(text, ":");
    if (n == 4 && strncasecmp(text, "none", n) == 0) {
        w->bind = false;
        return;
    }
    if (!find_unit(text, n, &w->unit))
        shoal_options_reject("--bind-to %s: a unit is none, hwthread, core, l2cache, l3cache, numa "
                             "or socket",
                             text);
    w->bind = true;
    if (text[n]) read_modifiers(text + n + 1, w);
}

static void read_map(const char *text, wish *w)
{
    if (strncasecmp(text, "ppr:", 4) == 0) {
        w->chunk = (uint32_t)strtoul(text + 4, NULL, 10);
        text += 4 + strcspn(text + 4, ":");
        text += *text == ':';
        if (w->chunk < 1) shoal_options_reject("--map-by ppr:N:UNIT needs a number");
    }
    size_t n = strcspn(text, ":");
    bool known = find_unit(text, n, &w->around);
    if (!known && n > 0 && strncasecmp(text, "seq", 3) != 0 && strncasecmp(text, "dist", 4) != 0)
        shoal_options_reject("--map-by %s: a unit is slot, hwthread, core, l3cache, numa, socket "
                             "or node",
                             text);
    if (text[n]) {
        uint32_t each = w->each;
        read_modifiers(text + n + 1, w);
        if (!w->bind) w->each = each;
    }
}

// Divides the processors into units, in the topology's order.
static uint32_t make_units(const wish *w, unit *units)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < topology.count; i++) {
        const shoal_cpu *c = &topology.cpus[i];
        uint32_t k = 0;
        while (k < count && units[k].key != c->of[w->unit]) k++;
        if (k == count) units[count++] = (unit){.key = c->of[w->unit], .domain = c->of[w->around]};
        CPU_SET((size_t)c->of[SHOAL_UNIT_HWTHREAD], &units[k].cpus);
    }
    return count;
}

// Puts units in order: `chunk` of the first domain, of the next, ..., and round again.
static void order_units(const wish *w, unit *units, uint32_t count)
{
    unit *ordered = calloc(count, sizeof *ordered);
    uint32_t done = 0;
    // Dealt round something no larger than the unit itself the order stays as it is.
    if (!ordered || w->around <= w->unit) {
        free(ordered);
        return;
    }
    while (done < count) {
        for (uint32_t i = 0; i < count; i++) {
            bool seen = units[i].taken;
            for (uint32_t k = 0; k < i && !seen; k++)
                seen = !units[k].taken && units[k].domain == units[i].domain;
            if (seen) continue; // not the first free one of its domain
            uint32_t left = w->chunk;
            int32_t domain = units[i].domain;
            for (uint32_t k = i; k < count && left; k++) {
                if (units[k].taken || units[k].domain != domain) continue;
                units[k].taken = true;
                ordered[done++] = units[k];
                left--;
            }
        }
    }
    memcpy(units, ordered, count * sizeof *units);
    free(ordered);
}

static void deal(const wish *w, const unit *units, uint32_t count)
{
    uint32_t nranks = shoal_the_run.nranks;
    static const char *const plural[] = {"hardware threads", "cores",   "L2 caches", "L3 caches",
                                         "NUMA nodes",       "sockets", "machine"};
    for (uint32_t r = 0; r < nranks; r++) {
        CPU_ZERO(&sets[r]);
        for (uint32_t k = 0; k < w->each && k < count; k++) {
            const unit *u = &units[(r * w->each + k) % count];
            CPU_OR(&sets[r], &sets[r], &u->cpus);
        }
    }
    if (w->unit != SHOAL_UNIT_MACHINE && (uint64_t)nranks * w->each > count)
        shoal_say_warning("%u rank%s want%s %u %s and there are %u: they share", nranks,
                          nranks == 1 ? "" : "s", nranks == 1 ? "s" : "", nranks * w->each,
                          plural[w->unit], count);
}

// "user:0,1+2": the sets themselves, one for each rank, round again.
static void deal_listed(const char *text)
{
    uint32_t nranks = shoal_the_run.nranks, lists = 0;
    const char *starts[CPU_SETSIZE];
    for (const char *at = text; *at && lists < CPU_SETSIZE; at += *at == ',') {
        starts[lists++] = at;
        at += strcspn(at, ",");
    }
    if (!lists) shoal_options_reject("--bind-to user: needs a list of processors");
    for (uint32_t r = 0; r < nranks; r++) {
        char one[256];
        snprintf(one, sizeof one, "%.*s", (int)strcspn(starts[r % lists], ","), starts[r % lists]);
        CPU_ZERO(&sets[r]);
        if (!shoal_topology_parse(one, &sets[r]))
            shoal_options_reject("--bind-to user:%s: '%s' is not a list of processors", text, one);
    }
}

static void report_bindings(void)
{
    for (uint32_t r = 0; r < shoal_the_run.nranks; r++) {
        char text[512] = "";
        if (sets) shoal_topology_print(&sets[r], text, sizeof text);
        if (sets)
            shoal_say("rank %u is bound to processor%s %s", r, CPU_COUNT(&sets[r]) == 1 ? "" : "s",
                      text);
        else
            shoal_say("rank %u is not bound", r);
    }
}

static void allowed_set(const char *cpu_set, cpu_set_t *allowed)
{
    if (sched_getaffinity(0, sizeof *allowed, allowed) != 0 || CPU_COUNT(allowed) == 0) {
        CPU_ZERO(allowed);
        CPU_SET(0, allowed);
    }
    if (!cpu_set) return;
    cpu_set_t asked;
    CPU_ZERO(&asked);
    if (!shoal_topology_parse(cpu_set, &asked))
        shoal_options_reject("--cpu-set %s is not a list such as 0-3,8", cpu_set);
    CPU_AND(allowed, allowed, &asked);
    if (CPU_COUNT(allowed) == 0)
        shoal_options_reject("--cpu-set %s: this process may use none of them", cpu_set);
}

static void plan(const wish *w)
{
    cpu_set_t allowed;
    const shoal_options *o = &shoal_the_run.options;
    sets = calloc(shoal_the_run.nranks, sizeof *sets);
    unit *units = calloc(CPU_SETSIZE, sizeof *units);
    if (!sets || !units) shoal_options_reject("out of memory");
    allowed_set(o->cpu_set, &allowed);
    shoal_topology_read(&allowed, &topology);
    if (o->bind_to && strncasecmp(o->bind_to, "user:", 5) == 0) {
        deal_listed(o->bind_to + 5);
    } else {
        uint32_t count = make_units(w, units);
        order_units(w, units, count);
        deal(w, units, count);
    }
    free(units);
}

void shoal_bind_plan(void)
{
    const shoal_options *o = &shoal_the_run.options;
    wish w = {.unit = SHOAL_UNIT_MACHINE, .each = 1, .around = SHOAL_UNIT_CORE, .chunk = 1};
    bool listed = o->bind_to && strncasecmp(o->bind_to, "user:", 5) == 0;
    if (o->bind_to && !listed) read_bind(o->bind_to, &w);
    if (o->map_by) read_map(o->map_by, &w);
    if (o->cpus_per_rank) {
        w.each = o->cpus_per_rank;
        if (!w.bind) w.unit = SHOAL_UNIT_CORE;
        w.bind = true;
    }
    if (o->cpu_set && !w.bind) w.bind = !o->bind_to; // all ranks on all of the set
    if (w.bind || listed) plan(&w);
    if (o->report_bindings) report_bindings();
}

uint32_t shoal_bind_processors(void)
{
    cpu_set_t all;
    CPU_ZERO(&all);
    for (uint32_t r = 0; sets && r < shoal_the_run.nranks; r++) CPU_OR(&all, &all, &sets[r]);
    return (uint32_t)CPU_COUNT(&all);
}

const cpu_set_t *shoal_bind_of(uint32_t rank)
{
    return sets ? &sets[rank] : NULL;
}
