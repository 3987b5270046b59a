// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives of a communicator with one rank, as when a program is run without mpiexec:
// what the rank would send itself goes straight over.
#include "coll/fast.h"
#include "plat/error.h"

int shoal_check_own(int64_t bytes, int64_t room)
{
    if (bytes <= room) return 0;
    return shoal_fail(SHOAL_E_TRUNCATE,
                      "this rank sends itself %lld bytes, the receive buffer holds %lld",
                      (long long)bytes, (long long)room);
}

static int give(const shoal_block *from, const shoal_block *to)
{
    int64_t bytes = shoal_block_bytes(from), room = shoal_block_bytes(to);
    if (bytes > 0 && room > 0)
        shoal_datatype_copy(from->buf, from->count, from->type, to->buf, to->count, to->type);
    return shoal_check_own(bytes, room);
}

bool shoal_fast_alone(const shoal_coll_args *a, int *rc_out)
{
    shoal_block from = {(char *)(uintptr_t)a->sendbuf, a->sendcount, a->sendtype};
    shoal_block to = {a->recvbuf, a->recvcount, a->recvtype};
    *rc_out = 0;
    switch (a->kind) {
    case SHOAL_COLL_BARRIER:
    case SHOAL_COLL_BCAST:
    case SHOAL_COLL_EXSCAN: return true;
    case SHOAL_COLL_REDUCE_SCATTER: to.count = a->recvcounts[0]; // fall through
    case SHOAL_COLL_REDUCE_SCATTER_BLOCK:
    case SHOAL_COLL_REDUCE:
    case SHOAL_COLL_ALLREDUCE:
    case SHOAL_COLL_SCAN:
        from.count = to.count;
        from.type = to.type;
        break;
    case SHOAL_COLL_GATHER:
    case SHOAL_COLL_GATHERV:
    case SHOAL_COLL_ALLGATHER:
    case SHOAL_COLL_ALLGATHERV: to = shoal_block_to_recv(a, 0); break;
    case SHOAL_COLL_SCATTER:
    case SHOAL_COLL_SCATTERV: from = shoal_block_to_send(a, 0); break;
    case SHOAL_COLL_ALLTOALL:
    case SHOAL_COLL_ALLTOALLV:
    case SHOAL_COLL_ALLTOALLW:
        if (a->sendbuf == MPI_IN_PLACE) return true;
        from = shoal_block_to_send(a, 0);
        to = shoal_block_to_recv(a, 0);
        break;
    default: return false;
    }
    if (a->sendbuf != MPI_IN_PLACE && a->recvbuf != MPI_IN_PLACE) *rc_out = give(&from, &to);
    return true;
}
