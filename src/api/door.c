// SPDX-License-Identifier: BSD-3-Clause
// The hooks for the doors of other binary interfaces.
#include "api/door.h"

#include "core/errhandler.h"
#include "core/object.h"
#include "core/op.h"

void *shoal_door_live(int kind, uint32_t index)
{
    int number = (int)(SHOAL_HANDLE_PREDEFINED + index);
    return shoal_handle_from_int((enum shoal_kind)kind, number, NULL);
}

int shoal_door_set_op(MPI_Op op, shoal_door_op_fn *door)
{
    shoal_op *o = shoal_op_get(op);
    if (!o || o->predefined) return MPI_ERR_OP;
    o->door = door;
    return MPI_SUCCESS;
}

int shoal_door_set_errhandler(MPI_Errhandler errhandler, shoal_door_errhandler_fn *door)
{
    shoal_errhandler *e = shoal_errhandler_get(errhandler);
    if (!e || e->predefined) return MPI_ERR_ERRHANDLER;
    e->door = door;
    return MPI_SUCCESS;
}
