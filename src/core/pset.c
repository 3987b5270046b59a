// SPDX-License-Identifier: BSD-3-Clause
// Process sets: those that the standard demands. Their members follow from MPI_COMM_WORLD, which
// exists whenever the engine runs.
#include <stdio.h>
#include <string.h>

#include "core/comm.h"
#include "core/session.h"
#include "plat/error.h"

static const char *const pset_names[] = {"mpi://WORLD", "mpi://SELF"};
#define PSETS ((int)(sizeof pset_names / sizeof pset_names[0]))

int shoal_pset_count(void)
{
    return PSETS;
}

int shoal_pset_name(int n, const char **name_out)
{
    if (n < 0 || n >= PSETS)
        return shoal_fail(SHOAL_E_ARG, "n=%d: there are %d process sets, numbered from 0", n,
                          PSETS);
    *name_out = pset_names[n];
    return 0;
}

// The communicator with the same members as a set.
static int pset_comm(const char *name, const shoal_comm **out)
{
    if (strcmp(name, pset_names[0]) == 0)
        *out = &shoal_comm_world;
    else if (strcmp(name, pset_names[1]) == 0)
        *out = &shoal_comm_self;
    else
        return shoal_fail(SHOAL_E_ARG, "pset_name \"%.100s\" is none of %s and %s", name,
                          pset_names[0], pset_names[1]);
    return 0;
}

int shoal_pset_group(const char *name, shoal_session *s, shoal_group **out)
{
    const shoal_comm *c = NULL;
    int rc = pset_comm(name, &c);
    if (rc != 0) return rc;
    shoal_group *g = shoal_group_new(c->group->size, c->group->peers);
    if (!g) return SHOAL_E_NO_MEM;
    shoal_group_set_session(g, s);
    *out = g;
    return 0;
}

int shoal_pset_info(const char *name, shoal_info **out)
{
    const shoal_comm *c = NULL;
    int rc = pset_comm(name, &c);
    if (rc != 0) return rc;
    shoal_info *info = shoal_info_new();
    if (!info) return SHOAL_E_NO_MEM;
    char size[16];
    snprintf(size, sizeof size, "%d", c->size);
    rc = shoal_info_set(info, "mpi_size", size);
    if (rc != 0)
        shoal_info_free(info);
    else
        *out = info;
    return rc;
}
