// SPDX-License-Identifier: BSD-3-Clause
// What the int twins ask about a communicator before they widen its arrays. The _c function that
// a twin calls checks the handle properly; here a bad one only means that nothing is read.
//
// The degrees of a topology are told by the file that knows topologies; the linker asks for them
// when the first neighbourhood collective is written.
#include "api/twin.h"

#include "api/api.h"

int shoal_twin_comm_size(MPI_Comm comm)
{
    const shoal_comm *c = shoal_comm_get(comm);
    return c != NULL ? c->size : 0;
}

int shoal_twin_remote_or_local_size(MPI_Comm comm)
{
    const shoal_comm *c = shoal_comm_get(comm);
    return c != NULL ? c->remote_size : 0;
}

bool shoal_twin_is_root(MPI_Comm comm, int root)
{
    const shoal_comm *c = shoal_comm_get(comm);
    if (c == NULL) return false;
    return c->inter ? root == MPI_ROOT : root == c->rank;
}

int shoal_twin_no_memory(const char *function, int kind, const void *handle)
{
    shoal_comm *c = NULL;
    if (kind == SHOAL_KIND_COMM) {
        MPI_Comm comm = (MPI_Comm)(uintptr_t)handle;
        c = shoal_comm_get(comm);
    }
    int rc = shoal_fail(SHOAL_E_NO_MEM, "%s: no memory to widen its arrays of counts", function);
    return shoal_raise(rc, c);
}
