// SPDX-License-Identifier: BSD-3-Clause
// Making communicators: duplicates, subsets, splits, and from a group alone.
#include "api/api.h"
#include "api/unborn.h"
#include "coll/comm_hints.h"
#include "coll/comm_make.h"
#include "coll/comm_type.h"
#include "topo/topo.h"

static MPI_Comm handle_of(const shoal_comm *c)
{
    return c ? c->handle : MPI_COMM_NULL;
}

// A duplicate that nobody will get.
static void undo(shoal_comm *n)
{
    int ignored;
    shoal_attr_delete_all(&n->attrs, n->handle, SHOAL_ATTR_COMM, &ignored);
    n->freed = true;
    shoal_comm_drop(n);
}

// Begins to duplicate. The topology goes along; hints do not, they are those that are given now.
static int begin_dup(shoal_comm *c, const shoal_info *info, shoal_comm **n_out, shoal_req **r_out)
{
    int user_error = 0;
    int rc = shoal_comm_idup(c, n_out, r_out, &user_error);
    if (rc) return user_error > 0 ? user_error : rc;
    shoal_topo_share(*n_out, c);
    return shoal_hints_set(*n_out, info);
}

static int dup(const char *call, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    shoal_comm *c = NULL, *n = NULL;
    shoal_info *hints = NULL;
    shoal_req *r = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = shoal_arg_info_or_null(info, &hints);
    if (rc == 0) rc = shoal_arg_pointer(newcomm, "newcomm");
    if (rc == 0) rc = begin_dup(c, hints, &n, &r);
    if (r) {
        shoal_req_wait(r);
        if (rc == 0) rc = r->error;
        shoal_req_drop(r);
    }
    if (rc == 0)
        *newcomm = n->handle;
    else if (n)
        undo(n);
    return shoal_leave_comm(rc, c);
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    return dup("MPI_Comm_dup", comm, MPI_INFO_NULL, newcomm);
}

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    return dup("MPI_Comm_dup_with_info", comm, info, newcomm);
}

static int idup(const char *call, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
                MPI_Request *request)
{
    shoal_comm *c = NULL, *n = NULL;
    shoal_info *hints = NULL;
    shoal_req *r = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = shoal_arg_info_or_null(info, &hints);
    if (rc == 0) rc = shoal_arg_pointer(newcomm, "newcomm");
    if (rc == 0) rc = shoal_arg_pointer(request, "request");
    if (rc == 0) rc = begin_dup(c, hints, &n, &r);
    if (rc == 0) {
        *newcomm = n->handle;
        *request = shoal_object_handle(r);
    } else if (n) {
        shoal_req_drop(r);
        undo(n);
    }
    return shoal_leave_comm(rc, c);
}

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    return idup("MPI_Comm_idup", comm, MPI_INFO_NULL, newcomm, request);
}

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{
    return idup("MPI_Comm_idup_with_info", comm, info, newcomm, request);
}

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    shoal_comm *c = NULL, *n = NULL;
    shoal_group *g = NULL;
    int rc = shoal_enter("MPI_Comm_create");
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = shoal_arg_group(group, &g);
    if (rc == 0) rc = shoal_arg_pointer(newcomm, "newcomm");
    if (rc == 0) rc = shoal_comm_create(c, g, &n);
    if (rc == 0) *newcomm = handle_of(n);
    return shoal_leave_comm(rc, c);
}

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    shoal_comm *c = NULL, *n = NULL;
    shoal_group *g = NULL;
    int rc = shoal_enter("MPI_Comm_create_group");
    if (rc == 0) rc = shoal_arg_intracomm(comm, &c);
    if (rc == 0) rc = shoal_arg_group(group, &g);
    if (rc == 0) rc = shoal_arg_send_tag(tag);
    if (rc == 0) rc = shoal_arg_pointer(newcomm, "newcomm");
    if (rc == 0) rc = shoal_comm_create_group(c, g, tag, &n);
    if (rc == 0) *newcomm = handle_of(n);
    return shoal_leave_comm(rc, c);
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    shoal_comm *c = NULL, *n = NULL;
    int rc = shoal_enter("MPI_Comm_split");
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0 && color < 0 && color != MPI_UNDEFINED)
        rc = shoal_fail(SHOAL_E_ARG, "color %d is negative and not MPI_UNDEFINED (%d)", color,
                        MPI_UNDEFINED);
    if (rc == 0) rc = shoal_arg_pointer(newcomm, "newcomm");
    if (rc == 0) rc = shoal_comm_split(c, color, key, &n);
    if (rc == 0) *newcomm = handle_of(n);
    return shoal_leave_comm(rc, c);
}

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    shoal_comm *c = NULL, *n = NULL;
    shoal_info *i = NULL;
    int rc = shoal_enter("MPI_Comm_split_type");
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = shoal_arg_info_or_null(info, &i);
    if (rc == 0) rc = shoal_arg_pointer(newcomm, "newcomm");
    if (rc == 0) rc = shoal_comm_split_type(c, split_type, key, i, &n);
    if (rc == 0) *newcomm = handle_of(n);
    return shoal_leave_comm(rc, c);
}

// The rest of MPI_Comm_create_from_group, once there is an error handler that can be told.
static int from_group(MPI_Group group, const char *stringtag, const shoal_info *hints,
                      shoal_errhandler *e, MPI_Comm *newcomm)
{
    shoal_group *g = NULL;
    shoal_comm *n = NULL;
    int rc = shoal_arg_group(group, &g);
    if (rc == 0) rc = shoal_arg_pointer(stringtag, "stringtag");
    if (rc == 0) rc = shoal_arg_pointer(newcomm, "newcomm");
    if (rc == 0 && g->size > 0 && g->rank == MPI_UNDEFINED)
        rc = shoal_fail(SHOAL_E_GROUP, "this process is not a member of the group, which has %d",
                        g->size);
    if (rc == 0) rc = shoal_comm_create_from_group(g, stringtag, &n);
    if (rc == 0 && n) rc = shoal_errhandler_attach(&n->errhandler, e, SHOAL_KIND_COMM);
    if (rc == 0 && n) rc = shoal_hints_set(n, hints);
    if (rc == 0) *newcomm = handle_of(n);
    return rc;
}

int PMPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info,
                                MPI_Errhandler errhandler, MPI_Comm *newcomm)
{
    shoal_info *hints = NULL;
    shoal_errhandler *e = NULL;
    int rc = shoal_enter("MPI_Comm_create_from_group");
    if (rc == 0) rc = shoal_arg_info_or_null(info, &hints);
    if (rc == 0) rc = shoal_arg_comm_errhandler(errhandler, &e);
    if (rc != 0) return shoal_leave(rc);
    return shoal_leave_unborn(from_group(group, stringtag, hints, e, newcomm), e);
}

#include "weak_comm_create.h"
