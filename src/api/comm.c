// SPDX-License-Identifier: BSD-3-Clause
// Communicators: what they are, their names and hints, and how they end. Making them:
// comm_create.c.
#include "api/api.h"
#include "coll/comm_end.h"
#include "coll/comm_hints.h"

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Comm_rank");
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = shoal_arg_pointer(rank, "rank");
    if (rc == 0) *rank = c->rank;
    return shoal_leave_comm(rc, c);
}

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Comm_size");
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = shoal_arg_pointer(size, "size");
    if (rc == 0) *size = c->size;
    return shoal_leave_comm(rc, c);
}

int PMPI_Comm_remote_size(MPI_Comm comm, int *size)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Comm_remote_size");
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = shoal_arg_pointer(size, "size");
    if (rc == 0 && !c->inter)
        rc = shoal_fail(SHOAL_E_COMM, "%s is not an inter-communicator", shoal_comm_label(c));
    if (rc == 0) *size = c->remote_size;
    return shoal_leave_comm(rc, c);
}

int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Comm_test_inter");
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = shoal_arg_pointer(flag, "flag");
    if (rc == 0) *flag = c->inter;
    return shoal_leave_comm(rc, c);
}

static int give_group(const char *call, MPI_Comm comm, bool remote, MPI_Group *group)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = shoal_arg_pointer(group, "group");
    if (rc == 0 && remote && !c->inter)
        rc = shoal_fail(SHOAL_E_COMM, "%s is not an inter-communicator", shoal_comm_label(c));
    if (rc == 0) {
        shoal_group *g = remote ? c->remote_group : c->group;
        shoal_group_hold(g);
        *group = shoal_group_give(g);
    }
    return shoal_leave_comm(rc, c);
}

int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    return give_group("MPI_Comm_group", comm, false, group);
}

int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)
{
    return give_group("MPI_Comm_remote_group", comm, true, group);
}

int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    shoal_comm *a = NULL, *b = NULL;
    int rc = shoal_enter("MPI_Comm_compare");
    if (rc == 0) rc = shoal_arg_comm(comm1, &a);
    if (rc == 0) rc = shoal_arg_comm(comm2, &b);
    if (rc == 0) rc = shoal_arg_pointer(result, "result");
    if (rc == 0) {
        int same = a->inter == b->inter ? shoal_group_compare(a->group, b->group) : MPI_UNEQUAL;
        if (a->inter && same != MPI_UNEQUAL) {
            int remote = shoal_group_compare(a->remote_group, b->remote_group);
            if (remote == MPI_UNEQUAL || same == MPI_IDENT) same = remote;
        }
        *result = a == b ? MPI_IDENT : same == MPI_IDENT ? MPI_CONGRUENT : same;
    }
    return shoal_leave_comm(rc, a);
}

int PMPI_Comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Comm_get_name");
    // The null handle has a name too.
    if (rc == 0 && comm != MPI_COMM_NULL) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = shoal_arg_pointer(comm_name, "comm_name");
    if (rc == 0) rc = shoal_arg_pointer(resultlen, "resultlen");
    if (rc == 0) shoal_name_get(c ? c->name : "MPI_COMM_NULL", comm_name, resultlen);
    return shoal_leave_comm(rc, c);
}

int PMPI_Comm_set_name(MPI_Comm comm, const char *comm_name)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Comm_set_name");
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = shoal_name_set(c->name, comm_name);
    return shoal_leave_comm(rc, c);
}

int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    int rc = shoal_enter("MPI_Comm_get_parent");
    if (rc == 0) rc = shoal_arg_pointer(parent, "parent");
    // No process of this version has been spawned.
    if (rc == 0) *parent = MPI_COMM_NULL;
    return shoal_leave(rc);
}

int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    shoal_comm *c = NULL;
    shoal_info *i = NULL;
    int rc = shoal_enter("MPI_Comm_set_info");
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = shoal_arg_info(info, &i);
    if (rc == 0) rc = shoal_hints_set(c, i);
    return shoal_leave_comm(rc, c);
}

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Comm_get_info");
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = shoal_arg_pointer(info_used, "info_used");
    if (rc == 0) {
        shoal_info *hints = shoal_hints_get(c);
        if (hints)
            *info_used = hints->handle;
        else
            rc = SHOAL_E_NO_MEM;
    }
    return shoal_leave_comm(rc, c);
}

// The handle is dead from now on; operations under way keep the object.
static int end(const char *call, MPI_Comm *comm, bool wait)
{
    shoal_comm *c = NULL;
    int user_error = 0;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_pointer(comm, "comm");
    if (rc == 0) rc = shoal_arg_comm(*comm, &c);
    if (rc == 0 && shoal_handle_is_predefined(*comm))
        rc = shoal_fail(SHOAL_E_COMM, "%s is there until MPI_Finalize", shoal_comm_label(c));
    if (rc == 0 && wait) shoal_comm_quiet(c);
    if (rc == 0) rc = shoal_attr_delete_all(&c->attrs, c->handle, SHOAL_ATTR_COMM, &user_error);
    if (rc == 0) {
        c->freed = true;
        *comm = MPI_COMM_NULL;
        shoal_comm_drop(c);
        c = NULL;
    }
    return shoal_leave_comm(user_error ? user_error : rc, c);
}

int PMPI_Comm_free(MPI_Comm *comm)
{
    return end("MPI_Comm_free", comm, false);
}

int PMPI_Comm_disconnect(MPI_Comm *comm)
{
    return end("MPI_Comm_disconnect", comm, true);
}

#include "weak_comm.h"
