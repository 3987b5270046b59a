// SPDX-License-Identifier: BSD-3-Clause
// Marks of collective calls from their arguments.
#include "coll/signature.h"

static int64_t bytes_of(int64_t count, const shoal_datatype *t)
{
    return t ? count * t->size : 0;
}

// The bytes on which all ranks must agree: of a vector, or of one rank's block. On an
// inter-communicator the two groups may differ, and in v and w forms every two ranks: then 0.
static int64_t agreed_bytes(const shoal_coll_args *a)
{
    bool is_root = a->comm->rank == a->root;
    if (a->comm->inter) return 0;
    switch (a->kind) {
    case SHOAL_COLL_BCAST:
    case SHOAL_COLL_ALLGATHER:
    case SHOAL_COLL_ALLTOALL:
    case SHOAL_COLL_REDUCE:
    case SHOAL_COLL_ALLREDUCE:
    case SHOAL_COLL_REDUCE_SCATTER_BLOCK:
    case SHOAL_COLL_SCAN:
    case SHOAL_COLL_EXSCAN: return bytes_of(a->recvcount, a->recvtype);
    case SHOAL_COLL_GATHER:
        return is_root ? bytes_of(a->recvcount, a->recvtype) : bytes_of(a->sendcount, a->sendtype);
    case SHOAL_COLL_SCATTER:
        return is_root ? bytes_of(a->sendcount, a->sendtype) : bytes_of(a->recvcount, a->recvtype);
    default: return 0;
    }
}

shoal_arena_mark shoal_signature_make(const shoal_coll_args *a)
{
    const shoal_datatype *t = a->op ? a->recvtype : NULL;
    return shoal_mark_make(a->kind, a->root >= 0 ? a->root : -1, a->op, t, agreed_bytes(a));
}

int shoal_signature_begin(shoal_comm *c, const shoal_arena_mark *mark)
{
    (void)c;
    (void)mark;
    return 0;
}

void shoal_signature_end(shoal_comm *c, const shoal_arena_mark *mark)
{
    (void)c;
    (void)mark;
}
