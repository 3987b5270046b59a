// SPDX-License-Identifier: BSD-3-Clause
// Communicator objects: the two that are always there, and those that are made.
#include "core/comm.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/session.h"
#include "job/job.h"
#include "plat/error.h"

shoal_comm shoal_comm_world, shoal_comm_self;

static uint32_t next_context; // goes on counting when MPI is started again

#define LISTENERS 8
static shoal_comm_gone_fn *tell_gone[LISTENERS];

static bool is_static(const shoal_comm *c)
{
    return c == &shoal_comm_world || c == &shoal_comm_self;
}

uint64_t shoal_comm_new_context(void)
{
    return (uint64_t)shoal_the_job.rank << 32 | (uint64_t)(next_context++) << 2;
}

void shoal_comm_on_gone(shoal_comm_gone_fn *fn)
{
    int n = 0;
    while (n < LISTENERS && tell_gone[n] && tell_gone[n] != fn) n++;
    assert(n < LISTENERS);
    tell_gone[n] = fn;
}

static void fill_in(shoal_comm *c, uint64_t context, shoal_group *group, shoal_group *remote)
{
    c->context = context;
    c->group = group;
    shoal_group_hold(group);
    c->rank = group->rank;
    c->size = group->size;
    c->inter = remote != NULL;
    c->remote_group = remote;
    if (remote) shoal_group_hold(remote);
    c->remote_size = remote ? remote->size : group->size;
    c->peers = remote ? remote->peers : group->peers;
    c->errhandler = shoal_errhandler_get(MPI_ERRORS_ARE_FATAL);
}

static int make_static(shoal_comm *c, MPI_Comm handle, const char *name, int size, uint32_t first)
{
    uint32_t *peers = malloc((size_t)size * sizeof *peers);
    if (!peers) return shoal_fail(SHOAL_E_NO_MEM, "no memory for %s", name);
    for (int i = 0; i < size; i++) peers[i] = first + (uint32_t)i;
    shoal_group *g = shoal_group_new(size, peers);
    free(peers);
    if (!g) return SHOAL_E_NO_MEM;
    *c = (shoal_comm){.handle = handle};
    c->object.refs = 1;
    c->object.kind = SHOAL_KIND_COMM;
    fill_in(c, shoal_comm_new_context(), g, NULL);
    shoal_group_drop(g);
    snprintf(c->name, sizeof c->name, "%s", name);
    return 0;
}

int shoal_comm_init(void)
{
    shoal_object_register(SHOAL_KIND_COMM, sizeof(shoal_comm));
    int rc =
        make_static(&shoal_comm_world, MPI_COMM_WORLD, "MPI_COMM_WORLD", shoal_the_job.size, 0);
    if (rc == 0)
        rc = make_static(&shoal_comm_self, MPI_COMM_SELF, "MPI_COMM_SELF", 1,
                         (uint32_t)shoal_the_job.rank);
    // All ranks must know the world's context without asking anybody.
    shoal_comm_world.context = 0;
    return rc;
}

shoal_comm *shoal_comm_lookup(MPI_Comm h)
{
    if (h == MPI_COMM_WORLD) return &shoal_comm_world;
    if (h == MPI_COMM_SELF) return &shoal_comm_self;
    shoal_comm *c = shoal_object_get(SHOAL_KIND_COMM, h);
    return c && !c->freed ? c : NULL;
}

shoal_comm *shoal_comm_new(uint64_t context, shoal_group *group, shoal_group *remote)
{
    shoal_comm *c = shoal_object_new(SHOAL_KIND_COMM);
    if (!c) return NULL;
    c->handle = shoal_object_handle(c);
    fill_in(c, context, group, remote);
    return c;
}

static void dispose(shoal_comm *c)
{
    for (int i = 0; i < LISTENERS && tell_gone[i] && !c->vessel; i++) tell_gone[i](c);
    shoal_errhandler_drop(c->errhandler);
    if (c->info) shoal_info_free(c->info);
    if (c->local) shoal_comm_drop(c->local);
    if (c->remote_group) shoal_group_drop(c->remote_group);
    if (c->session) shoal_session_drop(c->session);
    shoal_group_drop(c->group);
}

void shoal_comm_drop(shoal_comm *c)
{
    assert(c->object.refs > 0);
    if (--c->object.refs > 0) return;
    dispose(c);
    if (!is_static(c)) shoal_object_free(c);
}

void shoal_comm_fini(void)
{
    shoal_comm_drop(&shoal_comm_self);
    shoal_comm_drop(&shoal_comm_world);
}

const char *shoal_comm_label(const shoal_comm *c)
{
    static _Thread_local char text[64];
    if (c->name[0]) return c->name;
    snprintf(text, sizeof text, "communicator %llx:%llx", (unsigned long long)(c->context >> 32),
             (unsigned long long)(c->context & 0xffffffffu) >> 2);
    return text;
}
