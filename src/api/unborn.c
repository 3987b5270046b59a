// SPDX-License-Identifier: BSD-3-Clause
// See unborn.h.
#include "api/unborn.h"

int shoal_arg_comm_errhandler(MPI_Errhandler handle, shoal_errhandler **out)
{
    shoal_errhandler *e = NULL;
    int rc = shoal_arg_errhandler(handle, &e);
    if (rc == 0 && !e->predefined && e->owner != SHOAL_KIND_COMM)
        rc = shoal_fail(SHOAL_E_ERRHANDLER, "the error handler was not created for communicators");
    if (rc == 0) *out = e;
    return rc;
}

int shoal_leave_unborn(int rc, shoal_errhandler *e)
{
    // Nobody can hold it beyond this call: its own reference keeps it from being disposed of.
    shoal_comm unborn = {
        .handle = MPI_COMM_SELF, .errhandler = e, .name = "the communicator to be made"};
    unborn.object.refs = 1;
    return shoal_leave_comm(rc, &unborn);
}

#include "weak_unborn.h"
