// SPDX-License-Identifier: BSD-3-Clause
// Inter-communicators: made from two groups, merged into one.
#include "api/api.h"
#include "api/unborn.h"
#include "coll/comm_hints.h"
#include "coll/comm_make.h"

int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
                          int remote_leader, int tag, MPI_Comm *newintercomm)
{
    shoal_comm *c = NULL, *n = NULL;
    int rc = shoal_enter("MPI_Intercomm_create");
    if (rc == 0) rc = shoal_arg_intracomm(local_comm, &c);
    if (rc == 0 && (local_leader < 0 || local_leader >= c->size))
        rc = shoal_fail(SHOAL_E_RANK, "local_leader %d is outside %s, which has %d ranks",
                        local_leader, shoal_comm_label(c), c->size);
    if (rc == 0) rc = shoal_arg_send_tag(tag);
    if (rc == 0) rc = shoal_arg_pointer(newintercomm, "newintercomm");
    // What only the leader reads is checked by the leader, who tells the others.
    if (rc == 0) {
        shoal_comm *peer = c->rank == local_leader ? shoal_comm_get(peer_comm) : NULL;
        rc = shoal_intercomm_create(c, local_leader, peer, remote_leader, tag, &n);
    }
    if (rc == 0) *newintercomm = n->handle;
    return shoal_leave_comm(rc, c);
}

static int arg_leader(const char *argument, int leader, const shoal_group *g)
{
    if (leader >= 0 && leader < g->size) return 0;
    return shoal_fail(SHOAL_E_RANK, "%s %d is outside its group, which has %d members", argument,
                      leader, g->size);
}

// What MPI_Intercomm_create_from_groups is told about the groups.
typedef struct meeting {
    MPI_Group local, remote;
    int local_leader, remote_leader;
    const char *stringtag;
} meeting;

static int from_groups(const meeting *m, const shoal_info *hints, shoal_errhandler *e,
                       MPI_Comm *newintercomm)
{
    shoal_group *local = NULL, *remote = NULL;
    shoal_comm *n = NULL;
    int rc = shoal_arg_group(m->local, &local);
    if (rc == 0) rc = shoal_arg_group(m->remote, &remote);
    if (rc == 0) rc = shoal_arg_pointer(m->stringtag, "stringtag");
    if (rc == 0) rc = shoal_arg_pointer(newintercomm, "newintercomm");
    if (rc == 0 && (local->size == 0 || remote->size == 0)) {
        *newintercomm = MPI_COMM_NULL;
        return 0;
    }
    if (rc == 0 && local->rank == MPI_UNDEFINED)
        rc = shoal_fail(SHOAL_E_GROUP,
                        "this process is not a member of the local group, which has %d",
                        local->size);
    if (rc == 0) rc = arg_leader("local_leader", m->local_leader, local);
    if (rc == 0) rc = arg_leader("remote_leader", m->remote_leader, remote);
    if (rc == 0)
        rc = shoal_intercomm_create_from_groups(local, m->local_leader, remote, m->remote_leader,
                                                m->stringtag, &n);
    if (rc == 0) rc = shoal_errhandler_attach(&n->errhandler, e, SHOAL_KIND_COMM);
    if (rc == 0) rc = shoal_hints_set(n, hints);
    if (rc == 0) *newintercomm = n->handle;
    return rc;
}

int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
                                      MPI_Group remote_group, int remote_leader,
                                      const char *stringtag, MPI_Info info,
                                      MPI_Errhandler errhandler, MPI_Comm *newintercomm)
{
    meeting m = {.local = local_group,
                 .local_leader = local_leader,
                 .remote = remote_group,
                 .remote_leader = remote_leader,
                 .stringtag = stringtag};
    shoal_info *hints = NULL;
    shoal_errhandler *e = NULL;
    int rc = shoal_enter("MPI_Intercomm_create_from_groups");
    if (rc == 0) rc = shoal_arg_info_or_null(info, &hints);
    if (rc == 0) rc = shoal_arg_comm_errhandler(errhandler, &e);
    if (rc != 0) return shoal_leave(rc);
    return shoal_leave_unborn(from_groups(&m, hints, e, newintercomm), e);
}

int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
    shoal_comm *c = NULL, *n = NULL;
    int rc = shoal_enter("MPI_Intercomm_merge");
    if (rc == 0) rc = shoal_arg_comm(intercomm, &c);
    if (rc == 0 && !c->inter)
        rc = shoal_fail(SHOAL_E_COMM, "%s is not an inter-communicator", shoal_comm_label(c));
    if (rc == 0) rc = shoal_arg_pointer(newintracomm, "newintracomm");
    if (rc == 0) rc = shoal_intercomm_merge(c, high != 0, &n);
    if (rc == 0) *newintracomm = n->handle;
    return shoal_leave_comm(rc, c);
}

#include "weak_comm_inter.h"
