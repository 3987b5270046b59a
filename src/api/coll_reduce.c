// SPDX-License-Identifier: BSD-3-Clause
// Collective reductions.
#include "api/coll_args.h"

// The operation, and that it is defined on the datatype.
static int arg_op(shoal_coll_args *a, MPI_Op op)
{
    int rc = shoal_arg_op(op, &a->op);
    return rc ? rc : shoal_op_check(a->op, a->recvtype);
}

// Both vectors of `count` elements. recvbuf is looked at only where it is written.
static int arg_vectors(shoal_coll_args *a, const void *sendbuf, void *recvbuf, MPI_Count count,
                       MPI_Datatype datatype, MPI_Op op, bool writes)
{
    if (recvbuf == MPI_IN_PLACE && writes)
        return shoal_fail(SHOAL_E_BUFFER, "recvbuf cannot be MPI_IN_PLACE; sendbuf can");
    int rc = shoal_arg_count(count, "count");
    if (rc == 0) rc = shoal_arg_committed(datatype, &a->recvtype);
    if (rc == 0) rc = arg_op(a, op);
    if (rc == 0 && writes) rc = shoal_coll_arg_recv(a, recvbuf, count, datatype, 1);
    a->recvcount = count;
    if (rc) return rc;
    if (sendbuf == MPI_IN_PLACE) return shoal_coll_arg_in_place(a, writes, "sendbuf");
    rc = shoal_coll_arg_send(a, sendbuf, count, datatype, 1);
    return rc || !writes ? rc : shoal_coll_arg_apart(a, -1, -1);
}

// The root of an inter-communicator's reduction only receives.
static int arg_result(shoal_coll_args *a, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op)
{
    int rc = shoal_arg_count(count, "count");
    if (rc == 0) rc = shoal_coll_arg_recv(a, recvbuf, count, datatype, 1);
    return rc ? rc : arg_op(a, op);
}

static int reduce(const shoal_coll_form *f, const void *sendbuf, void *recvbuf, MPI_Count count,
                  MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
    shoal_coll_args a = {.kind = SHOAL_COLL_REDUCE, .root = root};
    int rc = shoal_coll_enter(f, comm, &a);
    if (rc == 0) rc = shoal_coll_arg_root(&a);
    if (rc == 0 && shoal_coll_is_leaf(&a))
        rc = arg_vectors(&a, sendbuf, recvbuf, count, datatype, op, shoal_coll_is_root(&a));
    else if (rc == 0 && shoal_coll_is_root(&a))
        rc = arg_result(&a, recvbuf, count, datatype, op);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, int root, MPI_Comm comm)
{
    return reduce(SHOAL_BLOCKING("MPI_Reduce"), sendbuf, recvbuf, count, datatype, op, root, comm);
}

int PMPI_Ireduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm, MPI_Request *request)
{
    return reduce(SHOAL_STARTED("MPI_Ireduce", request), sendbuf, recvbuf, count, datatype, op,
                  root, comm);
}

int PMPI_Reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return reduce(SHOAL_PERSISTENT("MPI_Reduce_init", info, request), sendbuf, recvbuf, count,
                  datatype, op, root, comm);
}

// Allreduce and the scans: every rank gives and gets a vector.
static int everywhere(enum shoal_coll_kind kind, const shoal_coll_form *f, const void *sendbuf,
                      void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                      MPI_Comm comm)
{
    shoal_coll_args a = {.kind = kind, .root = SHOAL_NO_ROOT};
    int rc = shoal_coll_enter(f, comm, &a);
    if (rc == 0 && a.comm->inter && kind != SHOAL_COLL_ALLREDUCE)
        rc = shoal_fail(SHOAL_E_COMM,
                        "a scan needs an intra-communicator, %s is an inter-communicator",
                        shoal_comm_label(a.comm));
    if (rc == 0) rc = arg_vectors(&a, sendbuf, recvbuf, count, datatype, op, true);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm)
{
    return everywhere(SHOAL_COLL_ALLREDUCE, SHOAL_BLOCKING("MPI_Allreduce"), sendbuf, recvbuf,
                      count, datatype, op, comm);
}

int PMPI_Iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return everywhere(SHOAL_COLL_ALLREDUCE, SHOAL_STARTED("MPI_Iallreduce", request), sendbuf,
                      recvbuf, count, datatype, op, comm);
}

int PMPI_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                          MPI_Request *request)
{
    return everywhere(SHOAL_COLL_ALLREDUCE, SHOAL_PERSISTENT("MPI_Allreduce_init", info, request),
                      sendbuf, recvbuf, count, datatype, op, comm);
}

int PMPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                MPI_Op op, MPI_Comm comm)
{
    return everywhere(SHOAL_COLL_SCAN, SHOAL_BLOCKING("MPI_Scan"), sendbuf, recvbuf, count,
                      datatype, op, comm);
}

int PMPI_Iscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return everywhere(SHOAL_COLL_SCAN, SHOAL_STARTED("MPI_Iscan", request), sendbuf, recvbuf, count,
                      datatype, op, comm);
}

int PMPI_Scan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return everywhere(SHOAL_COLL_SCAN, SHOAL_PERSISTENT("MPI_Scan_init", info, request), sendbuf,
                      recvbuf, count, datatype, op, comm);
}

int PMPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, MPI_Comm comm)
{
    return everywhere(SHOAL_COLL_EXSCAN, SHOAL_BLOCKING("MPI_Exscan"), sendbuf, recvbuf, count,
                      datatype, op, comm);
}

int PMPI_Iexscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return everywhere(SHOAL_COLL_EXSCAN, SHOAL_STARTED("MPI_Iexscan", request), sendbuf, recvbuf,
                      count, datatype, op, comm);
}

int PMPI_Exscan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return everywhere(SHOAL_COLL_EXSCAN, SHOAL_PERSISTENT("MPI_Exscan_init", info, request),
                      sendbuf, recvbuf, count, datatype, op, comm);
}

// The vector is as long as all ranks' pieces together; in place it lies in recvbuf.
static int arg_scatter_vectors(shoal_coll_args *a, const void *sendbuf, void *recvbuf, int64_t mine,
                               int64_t all, MPI_Datatype datatype, MPI_Op op)
{
    bool in_place = sendbuf == MPI_IN_PLACE;
    int64_t piece = a->recvcount;
    int rc = shoal_coll_arg_recv(a, recvbuf, in_place ? all : mine, datatype, 1);
    a->recvcount = piece;
    if (rc == 0) rc = arg_op(a, op);
    if (rc) return rc;
    if (in_place) return shoal_coll_arg_in_place(a, true, "sendbuf");
    rc = shoal_coll_arg_send(a, sendbuf, all, datatype, 1);
    if (rc || mine == 0 || sendbuf != recvbuf || !sendbuf) return rc;
    return shoal_fail(SHOAL_E_BUFFER, "sendbuf and recvbuf are the same (%p): use MPI_IN_PLACE",
                      recvbuf);
}

static int reduce_scatter(const shoal_coll_form *f, const void *sendbuf, void *recvbuf,
                          const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op,
                          MPI_Comm comm)
{
    shoal_coll_args a = {.kind = SHOAL_COLL_REDUCE_SCATTER, .root = SHOAL_NO_ROOT};
    int64_t all = 0;
    int rc = shoal_coll_enter(f, comm, &a);
    if (rc == 0) rc = shoal_arg_pointer(recvcounts, "recvcounts");
    for (int i = 0; rc == 0 && i < a.comm->size; i++) {
        if (recvcounts[i] < 0)
            rc = shoal_fail(SHOAL_E_COUNT, "recvcounts[%d] is %lld", i, (long long)recvcounts[i]);
        else if (__builtin_add_overflow(all, recvcounts[i], &all))
            rc = shoal_fail(SHOAL_E_COUNT, "the sum of recvcounts is beyond 2^63 - 1");
    }
    a.recvcounts = recvcounts;
    if (rc == 0)
        rc = arg_scatter_vectors(&a, sendbuf, recvbuf, recvcounts[a.comm->rank], all, datatype, op);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return reduce_scatter(SHOAL_BLOCKING("MPI_Reduce_scatter"), sendbuf, recvbuf, recvcounts,
                          datatype, op, comm);
}

int PMPI_Ireduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return reduce_scatter(SHOAL_STARTED("MPI_Ireduce_scatter", request), sendbuf, recvbuf,
                          recvcounts, datatype, op, comm);
}

int PMPI_Reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                               MPI_Request *request)
{
    return reduce_scatter(SHOAL_PERSISTENT("MPI_Reduce_scatter_init", info, request), sendbuf,
                          recvbuf, recvcounts, datatype, op, comm);
}

static int reduce_scatter_block(const shoal_coll_form *f, const void *sendbuf, void *recvbuf,
                                MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op,
                                MPI_Comm comm)
{
    shoal_coll_args a = {.kind = SHOAL_COLL_REDUCE_SCATTER_BLOCK, .root = SHOAL_NO_ROOT};
    int64_t all = 0;
    int rc = shoal_coll_enter(f, comm, &a);
    if (rc == 0) rc = shoal_arg_count(recvcount, "recvcount");
    if (rc == 0 && __builtin_mul_overflow(recvcount, a.comm->size, &all))
        rc = shoal_fail(SHOAL_E_COUNT, "recvcount %lld for each rank is beyond 2^63 - 1",
                        (long long)recvcount);
    a.recvcount = recvcount;
    if (rc == 0) rc = arg_scatter_vectors(&a, sendbuf, recvbuf, recvcount, all, datatype, op);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return reduce_scatter_block(SHOAL_BLOCKING("MPI_Reduce_scatter_block"), sendbuf, recvbuf,
                                recvcount, datatype, op, comm);
}

int PMPI_Ireduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                 MPI_Request *request)
{
    return reduce_scatter_block(SHOAL_STARTED("MPI_Ireduce_scatter_block", request), sendbuf,
                                recvbuf, recvcount, datatype, op, comm);
}

int PMPI_Reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                     MPI_Request *request)
{
    return reduce_scatter_block(SHOAL_PERSISTENT("MPI_Reduce_scatter_block_init", info, request),
                                sendbuf, recvbuf, recvcount, datatype, op, comm);
}

#include "weak_coll_reduce.h"
