// SPDX-License-Identifier: BSD-3-Clause
// See comm_type.h. All ranks are on one host, so sharing memory splits nothing; packages, NUMA
// nodes, cores and hardware threads do where ranks are bound to them.
#include "coll/comm_type.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "coll/comm_make.h"
#include "core/session.h"
#include "plat/error.h"
#include "plat/place.h"

#define RESOURCE "mpi_hw_resource_type"
#define PSET     "mpi_pset_name"

// The first name of each level is the one that we tell.
static const struct {
    const char *name;
    enum shoal_hw level;
} levels[] = {
    {"package", SHOAL_HW_PACKAGE}, {"socket", SHOAL_HW_PACKAGE}, {"numanode", SHOAL_HW_NUMA},
    {"numa", SHOAL_HW_NUMA},       {"core", SHOAL_HW_CORE},      {"hwthread", SHOAL_HW_THREAD},
    {"pu", SHOAL_HW_THREAD},
};
#define NAMES (sizeof levels / sizeof levels[0])

// What the whole host is called.
static bool is_host(const char *name)
{
    return strcmp(name, "mpi_shared_memory") == 0 || strcasecmp(name, "machine") == 0 ||
           strcasecmp(name, "host") == 0 || strcasecmp(name, "node") == 0;
}

// The color for a named resource; MPI_UNDEFINED when it is not known or this rank is not bound to
// one.
static int color_of_resource(const char *name)
{
    if (!name) return MPI_UNDEFINED;
    if (is_host(name)) return 0;
    for (size_t i = 0; i < NAMES; i++) {
        if (strcasecmp(name, levels[i].name) != 0) continue;
        int place = shoal_hw_place(levels[i].level);
        return place < 0 ? MPI_UNDEFINED : place;
    }
    return MPI_UNDEFINED;
}

// Members of a named process set stay together.
static int color_of_pset(const char *name)
{
    shoal_group *g = NULL;
    if (!name || shoal_pset_group(name, NULL, &g) != 0) return MPI_UNDEFINED;
    // mpi://SELF is another set for every rank.
    int color = g->rank == MPI_UNDEFINED ? MPI_UNDEFINED : g->size == 1 ? (int)g->peers[0] + 1 : 0;
    shoal_group_drop(g);
    return color;
}

typedef struct position {
    int joins; // did not say MPI_UNDEFINED
    int place[SHOAL_HW_LEVELS];
} position;

// Does this level part the ranks that join, each being bound to one of its places?
static bool parts(const position *all, int n, int level)
{
    int first = -1;
    bool several = false;
    for (int i = 0; i < n; i++) {
        int place = all[i].place[level];
        if (!all[i].joins) continue;
        if (place < 0) return false;
        if (first >= 0 && place != first) several = true;
        if (first < 0) first = place;
    }
    return several;
}

// The largest kind of hardware that parts the ranks.
static int unguided(shoal_comm *c, bool joins, int *color_out, const char **name_out)
{
    shoal_comm *local = c->inter ? c->local : c;
    position mine = {.joins = joins}, *all = malloc((size_t)local->size * sizeof *all);
    if (!all) return shoal_fail(SHOAL_E_NO_MEM, "no memory to split %d ranks", local->size);
    for (int i = 0; joins && i < SHOAL_HW_LEVELS; i++)
        mine.place[i] = shoal_hw_place((enum shoal_hw)i);
    shoal_circle circle = shoal_circle_all(local);
    int rc = shoal_agree_allgather(&circle, &mine, sizeof mine, all);
    *color_out = MPI_UNDEFINED;
    for (size_t i = 0; rc == 0 && joins && i < NAMES; i++) {
        if (!parts(all, local->size, (int)levels[i].level)) continue;
        *color_out = mine.place[levels[i].level];
        *name_out = levels[i].name;
        break;
    }
    free(all);
    return rc;
}

// What a rank says that does not join: all must know whether hardware is to be looked at. Ranks
// that say MPI_UNDEFINED cannot know what the others want, so everybody tells.
static int others_want(shoal_comm *c, int split_type, int *wanted_out)
{
    shoal_comm *local = c->inter ? c->local : c;
    int *all = malloc((size_t)local->size * sizeof *all);
    if (!all) return shoal_fail(SHOAL_E_NO_MEM, "no memory to split %d ranks", local->size);
    shoal_circle circle = shoal_circle_all(local);
    int rc = shoal_agree_allgather(&circle, &split_type, sizeof split_type, all);
    *wanted_out = MPI_UNDEFINED;
    for (int i = 0; rc == 0 && i < local->size; i++) {
        if (all[i] == MPI_UNDEFINED) continue;
        if (*wanted_out != MPI_UNDEFINED && all[i] != *wanted_out)
            rc =
                shoal_fail(SHOAL_E_ARG,
                           "rank %d asks for split_type %d, others for %d: it must be the same, or "
                           "MPI_UNDEFINED",
                           i, all[i], *wanted_out);
        *wanted_out = all[i];
    }
    free(all);
    return rc;
}

int shoal_comm_split_type(shoal_comm *c, int split_type, int key, shoal_info *info,
                          shoal_comm **out)
{
    int color = MPI_UNDEFINED, wanted = MPI_UNDEFINED;
    const char *name = NULL, *resource = info ? shoal_info_find(info, RESOURCE) : NULL;
    if (split_type != MPI_UNDEFINED && split_type != MPI_COMM_TYPE_SHARED &&
        split_type != MPI_COMM_TYPE_HW_GUIDED && split_type != MPI_COMM_TYPE_HW_UNGUIDED &&
        split_type != MPI_COMM_TYPE_RESOURCE_GUIDED)
        return shoal_fail(SHOAL_E_ARG, "split_type %d is none of the MPI_COMM_TYPE_ values",
                          split_type);
    int rc = others_want(c, split_type, &wanted);
    if (rc) return rc;
    if (wanted == MPI_COMM_TYPE_HW_UNGUIDED)
        rc = unguided(c, split_type != MPI_UNDEFINED, &color, &name);
    if (split_type == MPI_COMM_TYPE_SHARED) color = 0;
    if (split_type == MPI_COMM_TYPE_HW_GUIDED) color = color_of_resource(resource);
    if (split_type == MPI_COMM_TYPE_RESOURCE_GUIDED)
        color = resource ? color_of_resource(resource)
                         : color_of_pset(info ? shoal_info_find(info, PSET) : NULL);
    if (rc == 0) rc = shoal_comm_split(c, color, key, out);
    if (rc == 0 && name && info && *out) rc = shoal_info_set(info, RESOURCE, name);
    return rc;
}
