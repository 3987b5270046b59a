// SPDX-License-Identifier: BSD-3-Clause
// Collectives without a root that move data, and the barrier.
#include "api/coll_args.h"

static int barrier(const shoal_coll_form *f, MPI_Comm comm)
{
    shoal_coll_args a = {.kind = SHOAL_COLL_BARRIER, .root = SHOAL_NO_ROOT};
    int rc = shoal_coll_enter(f, comm, &a);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Barrier(MPI_Comm comm)
{
    return barrier(SHOAL_BLOCKING("MPI_Barrier"), comm);
}

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return barrier(SHOAL_STARTED("MPI_Ibarrier", request), comm);
}

int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return barrier(SHOAL_PERSISTENT("MPI_Barrier_init", info, request), comm);
}

// One block to send, or what is in place.
static int own_block(shoal_coll_args *a, const void *sendbuf, MPI_Count sendcount,
                     MPI_Datatype sendtype)
{
    if (sendbuf == MPI_IN_PLACE) return shoal_coll_arg_in_place(a, true, "sendbuf");
    return shoal_coll_arg_send(a, sendbuf, sendcount, sendtype, 1);
}

static int allgather(const shoal_coll_form *f, const void *sendbuf, MPI_Count sendcount,
                     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, MPI_Comm comm)
{
    shoal_coll_args a = {.kind = SHOAL_COLL_ALLGATHER, .root = SHOAL_NO_ROOT};
    int rc = shoal_coll_enter(f, comm, &a);
    if (rc == 0) rc = own_block(&a, sendbuf, sendcount, sendtype);
    if (rc == 0) rc = shoal_coll_arg_recv(&a, recvbuf, recvcount, recvtype, a.comm->remote_size);
    if (rc == 0) rc = shoal_coll_arg_even(&a);
    if (rc == 0) rc = shoal_coll_arg_apart(&a, -1, 0);
    if (rc == 0 && !a.comm->inter) rc = shoal_coll_arg_apart(&a, -1, a.comm->rank);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return allgather(SHOAL_BLOCKING("MPI_Allgather"), sendbuf, sendcount, sendtype, recvbuf,
                     recvcount, recvtype, comm);
}

int PMPI_Iallgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    return allgather(SHOAL_STARTED("MPI_Iallgather", request), sendbuf, sendcount, sendtype,
                     recvbuf, recvcount, recvtype, comm);
}

int PMPI_Allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info, MPI_Request *request)
{
    return allgather(SHOAL_PERSISTENT("MPI_Allgather_init", info, request), sendbuf, sendcount,
                     sendtype, recvbuf, recvcount, recvtype, comm);
}

static int allgatherv(const shoal_coll_form *f, const void *sendbuf, MPI_Count sendcount,
                      MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    shoal_coll_args a = {.kind = SHOAL_COLL_ALLGATHERV, .root = SHOAL_NO_ROOT};
    int rc = shoal_coll_enter(f, comm, &a);
    if (rc == 0) rc = own_block(&a, sendbuf, sendcount, sendtype);
    if (rc == 0)
        rc = shoal_coll_arg_recvs(&a, recvbuf, recvcounts, displs, recvtype, a.comm->remote_size);
    if (rc == 0 && !a.comm->inter) rc = shoal_coll_arg_apart(&a, -1, a.comm->rank);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                      MPI_Datatype recvtype, MPI_Comm comm)
{
    return allgatherv(SHOAL_BLOCKING("MPI_Allgatherv"), sendbuf, sendcount, sendtype, recvbuf,
                      recvcounts, displs, recvtype, comm);
}

int PMPI_Iallgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return allgatherv(SHOAL_STARTED("MPI_Iallgatherv", request), sendbuf, sendcount, sendtype,
                      recvbuf, recvcounts, displs, recvtype, comm);
}

int PMPI_Allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                           MPI_Request *request)
{
    return allgatherv(SHOAL_PERSISTENT("MPI_Allgatherv_init", info, request), sendbuf, sendcount,
                      sendtype, recvbuf, recvcounts, displs, recvtype, comm);
}

// No block to be received may lie where the one for the same partner is sent from.
static int all_apart(const shoal_coll_args *a)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < a->comm->remote_size; i++) rc = shoal_coll_arg_apart(a, i, i);
    return rc;
}

static int alltoall(const shoal_coll_form *f, const void *sendbuf, MPI_Count sendcount,
                    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm)
{
    shoal_coll_args a = {.kind = SHOAL_COLL_ALLTOALL, .root = SHOAL_NO_ROOT};
    int rc = shoal_coll_enter(f, comm, &a);
    if (rc == 0 && sendbuf == MPI_IN_PLACE)
        rc = shoal_coll_arg_in_place(&a, true, "sendbuf");
    else if (rc == 0)
        rc = shoal_coll_arg_send(&a, sendbuf, sendcount, sendtype, a.comm->remote_size);
    if (rc == 0) rc = shoal_coll_arg_recv(&a, recvbuf, recvcount, recvtype, a.comm->remote_size);
    if (rc == 0) rc = shoal_coll_arg_even(&a);
    if (rc == 0) rc = shoal_coll_arg_apart(&a, 0, 0);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return alltoall(SHOAL_BLOCKING("MPI_Alltoall"), sendbuf, sendcount, sendtype, recvbuf,
                    recvcount, recvtype, comm);
}

int PMPI_Ialltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request *request)
{
    return alltoall(SHOAL_STARTED("MPI_Ialltoall", request), sendbuf, sendcount, sendtype, recvbuf,
                    recvcount, recvtype, comm);
}

int PMPI_Alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Info info, MPI_Request *request)
{
    return alltoall(SHOAL_PERSISTENT("MPI_Alltoall_init", info, request), sendbuf, sendcount,
                    sendtype, recvbuf, recvcount, recvtype, comm);
}

static int alltoallv(const shoal_coll_form *f, const void *sendbuf, const MPI_Count sendcounts[],
                     const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                     const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                     MPI_Comm comm)
{
    shoal_coll_args a = {.kind = SHOAL_COLL_ALLTOALLV, .root = SHOAL_NO_ROOT};
    int rc = shoal_coll_enter(f, comm, &a);
    int n = rc == 0 ? a.comm->remote_size : 0;
    if (rc == 0 && sendbuf == MPI_IN_PLACE)
        rc = shoal_coll_arg_in_place(&a, true, "sendbuf");
    else if (rc == 0)
        rc = shoal_coll_arg_sends(&a, sendbuf, sendcounts, sdispls, sendtype, n);
    if (rc == 0) rc = shoal_coll_arg_recvs(&a, recvbuf, recvcounts, rdispls, recvtype, n);
    if (rc == 0) rc = all_apart(&a);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    return alltoallv(SHOAL_BLOCKING("MPI_Alltoallv"), sendbuf, sendcounts, sdispls, sendtype,
                     recvbuf, recvcounts, rdispls, recvtype, comm);
}

int PMPI_Ialltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    return alltoallv(SHOAL_STARTED("MPI_Ialltoallv", request), sendbuf, sendcounts, sdispls,
                     sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

int PMPI_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return alltoallv(SHOAL_PERSISTENT("MPI_Alltoallv_init", info, request), sendbuf, sendcounts,
                     sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

static int alltoallw(const shoal_coll_form *f, const void *sendbuf, const MPI_Count sendcounts[],
                     const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                     const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                     const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    shoal_coll_args a = {.kind = SHOAL_COLL_ALLTOALLW, .root = SHOAL_NO_ROOT};
    int rc = shoal_coll_enter(f, comm, &a);
    int n = rc == 0 ? a.comm->remote_size : 0;
    if (rc == 0 && sendbuf == MPI_IN_PLACE)
        rc = shoal_coll_arg_in_place(&a, true, "sendbuf");
    else if (rc == 0)
        rc = shoal_coll_arg_sends_w(&a, sendbuf, sendcounts, sdispls, sendtypes, n);
    if (rc == 0) rc = shoal_coll_arg_recvs_w(&a, recvbuf, recvcounts, rdispls, recvtypes, n);
    if (rc == 0) rc = all_apart(&a);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    return alltoallw(SHOAL_BLOCKING("MPI_Alltoallw"), sendbuf, sendcounts, sdispls, sendtypes,
                     recvbuf, recvcounts, rdispls, recvtypes, comm);
}

int PMPI_Ialltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                      MPI_Request *request)
{
    return alltoallw(SHOAL_STARTED("MPI_Ialltoallw", request), sendbuf, sendcounts, sdispls,
                     sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}

int PMPI_Alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                          MPI_Request *request)
{
    return alltoallw(SHOAL_PERSISTENT("MPI_Alltoallw_init", info, request), sendbuf, sendcounts,
                     sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}

#include "weak_coll_all.h"
