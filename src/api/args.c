// SPDX-License-Identifier: BSD-3-Clause
// Argument checks: each names the argument and the value that is wrong.
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"

// A handle's value as users can recognise it: null, predefined, or dead.
static const char *handle_story(const void *handle, const void *null)
{
    if (handle == null) return "is the null handle";
    if (!handle) return "is zero, which no MPI handle is; was it ever set?";
    return "names nothing that is alive; was it freed?";
}

int shoal_bad_comm(MPI_Comm h)
{
    return shoal_fail(SHOAL_E_COMM, "the communicator (%p) %s", (void *)h,
                      handle_story(h, MPI_COMM_NULL));
}

int shoal_arg_intracomm(MPI_Comm h, shoal_comm **out)
{
    int rc = shoal_arg_comm(h, out);
    if (rc == 0 && (*out)->inter)
        rc = shoal_fail(SHOAL_E_COMM,
                        "this call needs an intra-communicator, %s is an inter-communicator",
                        shoal_comm_label(*out));
    return rc;
}

int shoal_arg_group(MPI_Group h, shoal_group **out)
{
    shoal_group *g = shoal_group_get(h);
    if (!g)
        return shoal_fail(SHOAL_E_GROUP, "the group (%p) %s", (void *)h,
                          handle_story(h, MPI_GROUP_NULL));
    *out = g;
    return 0;
}

int shoal_bad_type(MPI_Datatype h)
{
    return shoal_fail(SHOAL_E_TYPE, "the datatype (%p) %s", (void *)h,
                      handle_story(h, MPI_DATATYPE_NULL));
}

int shoal_bad_uncommitted(const shoal_datatype *t)
{
    return shoal_fail(SHOAL_E_TYPE, "the datatype%s%s has not been committed: call MPI_Type_commit",
                      t->name[0] ? " " : "", t->name);
}

int shoal_arg_op(MPI_Op h, shoal_op **out)
{
    shoal_op *o = shoal_op_get(h);
    if (!o)
        return shoal_fail(SHOAL_E_OP, "the operation (%p) %s", (void *)h,
                          handle_story(h, MPI_OP_NULL));
    *out = o;
    return 0;
}

int shoal_arg_info(MPI_Info h, shoal_info **out)
{
    shoal_info *i = shoal_info_get(h);
    if (!i)
        return shoal_fail(SHOAL_E_INFO, "the info (%p) %s", (void *)h,
                          handle_story(h, MPI_INFO_NULL));
    *out = i;
    return 0;
}

int shoal_arg_info_or_null(MPI_Info h, shoal_info **out)
{
    if (h != MPI_INFO_NULL) return shoal_arg_info(h, out);
    *out = NULL;
    return 0;
}

int shoal_arg_errhandler(MPI_Errhandler h, shoal_errhandler **out)
{
    shoal_errhandler *e = shoal_errhandler_get(h);
    if (!e)
        return shoal_fail(SHOAL_E_ERRHANDLER, "the error handler (%p) %s", (void *)h,
                          handle_story(h, MPI_ERRHANDLER_NULL));
    *out = e;
    return 0;
}

int shoal_bad_pointer(const char *argument)
{
    return shoal_fail(SHOAL_E_ARG, "%s is a null pointer", argument);
}

int shoal_bad_count(MPI_Count count, const char *argument)
{
    return shoal_fail(SHOAL_E_COUNT, "%s is %lld", argument, (long long)count);
}

int shoal_bad_buffer(const void *buf, MPI_Count count, const char *argument)
{
    if (buf == MPI_IN_PLACE)
        return shoal_fail(SHOAL_E_BUFFER, "%s is MPI_IN_PLACE, which only collectives know",
                          argument);
    return shoal_fail(SHOAL_E_BUFFER, "%s is a null pointer, count is %lld", argument,
                      (long long)count);
}

int shoal_bad_rank(const char *what, int rank, const shoal_comm *c)
{
    const char *hint = rank == MPI_PROC_NULL    ? " (MPI_PROC_NULL)"
                       : rank == MPI_ANY_SOURCE ? " (MPI_ANY_SOURCE)"
                                                : "";
    return shoal_fail(SHOAL_E_RANK, "%s %d%s is outside %s, which has %d rank%s", what, rank, hint,
                      shoal_comm_label(c), c->remote_size, c->remote_size == 1 ? "" : "s");
}

int shoal_bad_send_tag(int tag)
{
    return shoal_fail(SHOAL_E_TAG, "tag %d is not in 0 .. %d", tag, INT_MAX);
}

int shoal_bad_recv_tag(int tag)
{
    return shoal_fail(SHOAL_E_TAG, "tag %d is neither in 0 .. %d nor MPI_ANY_TAG", tag, INT_MAX);
}

int shoal_arg_root(int root, const shoal_comm *c)
{
    if (root >= 0 && root < c->size) return 0;
    return shoal_fail(SHOAL_E_ROOT, "root %d is outside %s, which has %d rank%s", root,
                      shoal_comm_label(c), c->size, c->size == 1 ? "" : "s");
}

void shoal_name_get(const char *name, char *out, int *len_out)
{
    *len_out = snprintf(out, MPI_MAX_OBJECT_NAME, "%s", name);
}

int shoal_name_set(char name[MPI_MAX_OBJECT_NAME], const char *given)
{
    if (!given) return shoal_fail(SHOAL_E_ARG, "the name is a null pointer");
    // A longer name is cut, as the standard allows.
    size_t n = strnlen(given, MPI_MAX_OBJECT_NAME - 1);
    memmove(name, given, n);
    name[n] = 0;
    return 0;
}
