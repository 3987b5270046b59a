// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives of communicators with an arena: from the common form of arguments to
// shm_coll.h. Whether the arena serves a call depends only on what all ranks know.
#include "coll/fast.h"

#include "coll/shm_coll.h"

static bool has_arena(const shoal_coll_args *a)
{
    return a->comm->arena != NULL;
}

// Between two ranks a collective with a root is one message, and if that is long both sides copy it
// at the same time.
#define MESSAGE_BYTES 2048
static bool better_as_message(const shoal_coll_args *a, int64_t count, const shoal_datatype *type)
{
    return a->comm->size == 2 && count * type->size >= MESSAGE_BYTES;
}

bool shoal_fast_barrier(const shoal_coll_args *a, int *rc_out)
{
    if (!has_arena(a)) return false;
    *rc_out = shoal_shm_barrier(a->comm);
    return true;
}

bool shoal_fast_bcast(const shoal_coll_args *a, int *rc_out)
{
    if (!has_arena(a) || better_as_message(a, a->recvcount, a->recvtype)) return false;
    *rc_out = shoal_shm_bcast(a->comm, a->recvbuf, a->recvcount, a->recvtype, a->root);
    return true;
}

static const void *contribution(const shoal_coll_args *a)
{
    return a->sendbuf == MPI_IN_PLACE ? a->recvbuf : a->sendbuf;
}

// The arena reduces with the kernels of predefined operations; others need their elements whole.
static bool has_kernel(const shoal_coll_args *a)
{
    int64_t per_element;
    return has_arena(a) && shoal_op_kernel(a->op, a->recvtype, &per_element) != NULL;
}

bool shoal_fast_reduce(const shoal_coll_args *a, int *rc_out)
{
    if (!has_kernel(a)) return false;
    *rc_out = shoal_shm_reduce(a->comm, contribution(a), a->recvbuf, a->recvcount, a->recvtype,
                               a->op, a->root);
    return true;
}

bool shoal_fast_allreduce(const shoal_coll_args *a, int *rc_out)
{
    if (!has_kernel(a)) return false;
    *rc_out =
        shoal_shm_allreduce(a->comm, contribution(a), a->recvbuf, a->recvcount, a->recvtype, a->op);
    return true;
}

bool shoal_fast_scan(const shoal_coll_args *a, int *rc_out)
{
    if (!has_kernel(a)) return false;
    *rc_out = shoal_shm_scan(a->comm, contribution(a), a->recvbuf, a->recvcount, a->recvtype, a->op,
                             a->kind == SHOAL_COLL_EXSCAN);
    return true;
}

bool shoal_fast_reduce_scatter(const shoal_coll_args *a, int *rc_out)
{
    if (!has_kernel(a)) return false;
    *rc_out = shoal_shm_reduce_scatter(a->comm, contribution(a), a->recvbuf, a->recvcounts,
                                       a->recvcount, a->recvtype, a->op);
    return true;
}

bool shoal_fast_allgather(const shoal_coll_args *a, int *rc_out)
{
    if (!has_arena(a)) return false;
    *rc_out = shoal_shm_allgather(a->comm, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf,
                                  a->recvcount, a->recvtype);
    return true;
}

bool shoal_fast_alltoall(const shoal_coll_args *a, int *rc_out)
{
    if (!has_arena(a)) return false;
    *rc_out = shoal_shm_alltoall(a->comm, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf,
                                 a->recvcount, a->recvtype);
    return true;
}

bool shoal_fast_gather(const shoal_coll_args *a, int *rc_out)
{
    bool root = a->comm->rank == a->root;
    if (!has_arena(a) ||
        better_as_message(a, root ? a->recvcount : a->sendcount, root ? a->recvtype : a->sendtype))
        return false;
    *rc_out = shoal_shm_gather(a->comm, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf,
                               a->recvcount, a->recvtype, a->root);
    return true;
}

bool shoal_fast_scatter(const shoal_coll_args *a, int *rc_out)
{
    bool root = a->comm->rank == a->root;
    if (!has_arena(a) ||
        better_as_message(a, root ? a->sendcount : a->recvcount, root ? a->sendtype : a->recvtype))
        return false;
    *rc_out = shoal_shm_scatter(a->comm, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf,
                                a->recvcount, a->recvtype, a->root);
    return true;
}
