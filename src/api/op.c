// SPDX-License-Identifier: BSD-3-Clause
// Reduction operations as objects, and MPI_Reduce_local.
#include "core/op.h"

#include "api/api.h"

int PMPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)
{
    shoal_op *o = NULL;
    int rc = shoal_enter("MPI_Op_create");
    if (rc == 0) rc = shoal_arg_pointer((const void *)user_fn, "user_fn");
    if (rc == 0) rc = shoal_arg_pointer(op, "op");
    if (rc == 0) rc = shoal_op_new(commute != 0, &o);
    if (rc == 0) {
        o->user.small = user_fn;
        *op = o->handle;
    }
    return shoal_leave(rc);
}

int PMPI_Op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op)
{
    shoal_op *o = NULL;
    int rc = shoal_enter("MPI_Op_create_c");
    if (rc == 0) rc = shoal_arg_pointer((const void *)user_fn, "user_fn");
    if (rc == 0) rc = shoal_arg_pointer(op, "op");
    if (rc == 0) rc = shoal_op_new(commute != 0, &o);
    if (rc == 0) {
        o->large = true;
        o->user.wide = user_fn;
        *op = o->handle;
    }
    return shoal_leave(rc);
}

int PMPI_Op_free(MPI_Op *op)
{
    shoal_op *o = NULL;
    int rc = shoal_enter("MPI_Op_free");
    if (rc == 0) rc = shoal_arg_pointer(op, "op");
    if (rc == 0) rc = shoal_arg_op(*op, &o);
    if (rc == 0 && o->predefined) {
        rc = shoal_fail(SHOAL_E_OP, "%s is predefined and cannot be freed", o->name);
    }
    if (rc == 0) {
        o->freed = true;
        shoal_op_drop(o);
        *op = MPI_OP_NULL;
    }
    return shoal_leave(rc);
}

int PMPI_Op_commutative(MPI_Op op, int *commute)
{
    shoal_op *o = NULL;
    int rc = shoal_enter("MPI_Op_commutative");
    if (rc == 0) rc = shoal_arg_op(op, &o);
    if (rc == 0) rc = shoal_arg_pointer(commute, "commute");
    if (rc == 0) *commute = o->commutative;
    return shoal_leave(rc);
}

int PMPI_Reduce_local_c(const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op)
{
    shoal_op *o = NULL;
    shoal_datatype *t = NULL;
    int64_t bytes;
    int rc = shoal_enter("MPI_Reduce_local");
    if (rc == 0) rc = shoal_arg_count(count, "count");
    if (rc == 0) rc = shoal_arg_committed(datatype, &t);
    if (rc == 0) rc = shoal_arg_op(op, &o);
    if (rc == 0) rc = shoal_op_check(o, t);
    if (rc == 0) rc = shoal_datatype_bytes(t, count, &bytes);
    if (rc == 0) rc = shoal_arg_buffer(inbuf, count, t, "inbuf");
    if (rc == 0) rc = shoal_arg_buffer(inoutbuf, count, t, "inoutbuf");
    if (rc == 0) {
        // The user's function may free both.
        shoal_op_hold(o);
        shoal_datatype_hold(t);
        shoal_op_apply(o, inbuf, inoutbuf, count, t);
        shoal_datatype_drop(t);
        shoal_op_drop(o);
    }
    return shoal_leave(rc);
}

#include "weak_op.h"
