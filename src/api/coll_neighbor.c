// SPDX-License-Identifier: BSD-3-Clause
// Neighbourhood collectives.
#include "api/coll_args.h"
#include "topo/topo.h"

// Enters the call and finds the neighbours.
static int enter(const shoal_coll_form *f, MPI_Comm comm, shoal_coll_args *a, bool same_to_all)
{
    shoal_neighbors *n = &a->neighbors;
    a->kind = SHOAL_COLL_NEIGHBOR;
    a->root = SHOAL_NO_ROOT;
    int rc = shoal_coll_enter(f, comm, a);
    if (rc == 0) rc = shoal_topo_neighbors(a->comm, &n->in_count, &n->in, &n->out_count, &n->out);
    if (rc) return rc;
    n->cartesian = a->comm->topo->kind == MPI_CART;
    n->same_to_all = same_to_all;
    return 0;
}

// Data may not be received where it is sent from.
static int apart(const shoal_coll_args *a, int send_block, int sends)
{
    if (sends == 0 || a->neighbors.in_count == 0) return 0;
    return shoal_coll_arg_apart(a, send_block, 0);
}

static int allgather(const shoal_coll_form *f, const void *sendbuf, MPI_Count sendcount,
                     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, MPI_Comm comm)
{
    shoal_coll_args a = {0};
    int rc = enter(f, comm, &a, true);
    if (rc == 0) rc = shoal_coll_arg_send(&a, sendbuf, sendcount, sendtype, 1);
    if (rc == 0) rc = shoal_coll_arg_recv(&a, recvbuf, recvcount, recvtype, a.neighbors.in_count);
    if (rc == 0) rc = apart(&a, -1, 1);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Neighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm)
{
    return allgather(SHOAL_BLOCKING("MPI_Neighbor_allgather"), sendbuf, sendcount, sendtype,
                     recvbuf, recvcount, recvtype, comm);
}

int PMPI_Ineighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Request *request)
{
    return allgather(SHOAL_STARTED("MPI_Ineighbor_allgather", request), sendbuf, sendcount,
                     sendtype, recvbuf, recvcount, recvtype, comm);
}

int PMPI_Neighbor_allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return allgather(SHOAL_PERSISTENT("MPI_Neighbor_allgather_init", info, request), sendbuf,
                     sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

static int allgatherv(const shoal_coll_form *f, const void *sendbuf, MPI_Count sendcount,
                      MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    shoal_coll_args a = {0};
    int rc = enter(f, comm, &a, true);
    if (rc == 0) rc = shoal_coll_arg_send(&a, sendbuf, sendcount, sendtype, 1);
    if (rc == 0)
        rc = shoal_coll_arg_recvs(&a, recvbuf, recvcounts, displs, recvtype, a.neighbors.in_count);
    if (rc == 0) rc = apart(&a, -1, 1);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Neighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                               MPI_Datatype recvtype, MPI_Comm comm)
{
    return allgatherv(SHOAL_BLOCKING("MPI_Neighbor_allgatherv"), sendbuf, sendcount, sendtype,
                      recvbuf, recvcounts, displs, recvtype, comm);
}

int PMPI_Ineighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void *recvbuf, const MPI_Count recvcounts[],
                                const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Request *request)
{
    return allgatherv(SHOAL_STARTED("MPI_Ineighbor_allgatherv", request), sendbuf, sendcount,
                      sendtype, recvbuf, recvcounts, displs, recvtype, comm);
}

int PMPI_Neighbor_allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void *recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                    MPI_Info info, MPI_Request *request)
{
    return allgatherv(SHOAL_PERSISTENT("MPI_Neighbor_allgatherv_init", info, request), sendbuf,
                      sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
}

static int alltoall(const shoal_coll_form *f, const void *sendbuf, MPI_Count sendcount,
                    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm)
{
    shoal_coll_args a = {0};
    int rc = enter(f, comm, &a, false);
    if (rc == 0) rc = shoal_coll_arg_send(&a, sendbuf, sendcount, sendtype, a.neighbors.out_count);
    if (rc == 0) rc = shoal_coll_arg_recv(&a, recvbuf, recvcount, recvtype, a.neighbors.in_count);
    if (rc == 0) rc = apart(&a, 0, a.neighbors.out_count);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Neighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                             MPI_Comm comm)
{
    return alltoall(SHOAL_BLOCKING("MPI_Neighbor_alltoall"), sendbuf, sendcount, sendtype, recvbuf,
                    recvcount, recvtype, comm);
}

int PMPI_Ineighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm, MPI_Request *request)
{
    return alltoall(SHOAL_STARTED("MPI_Ineighbor_alltoall", request), sendbuf, sendcount, sendtype,
                    recvbuf, recvcount, recvtype, comm);
}

int PMPI_Neighbor_alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return alltoall(SHOAL_PERSISTENT("MPI_Neighbor_alltoall_init", info, request), sendbuf,
                    sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

static int alltoallv(const shoal_coll_form *f, const void *sendbuf, const MPI_Count sendcounts[],
                     const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                     const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                     MPI_Comm comm)
{
    shoal_coll_args a = {0};
    int rc = enter(f, comm, &a, false);
    if (rc == 0)
        rc =
            shoal_coll_arg_sends(&a, sendbuf, sendcounts, sdispls, sendtype, a.neighbors.out_count);
    if (rc == 0)
        rc = shoal_coll_arg_recvs(&a, recvbuf, recvcounts, rdispls, recvtype, a.neighbors.in_count);
    if (rc == 0) rc = apart(&a, 0, a.neighbors.out_count);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Neighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              MPI_Datatype recvtype, MPI_Comm comm)
{
    return alltoallv(SHOAL_BLOCKING("MPI_Neighbor_alltoallv"), sendbuf, sendcounts, sdispls,
                     sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

int PMPI_Ineighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                               const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return alltoallv(SHOAL_STARTED("MPI_Ineighbor_alltoallv", request), sendbuf, sendcounts,
                     sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

int PMPI_Neighbor_alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                                   const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                   MPI_Request *request)
{
    return alltoallv(SHOAL_PERSISTENT("MPI_Neighbor_alltoallv_init", info, request), sendbuf,
                     sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

static int alltoallw(const shoal_coll_form *f, const void *sendbuf, const MPI_Count sendcounts[],
                     const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                     const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                     const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    shoal_coll_args a = {0};
    int rc = enter(f, comm, &a, false);
    if (rc == 0)
        rc = shoal_coll_arg_sends_w(&a, sendbuf, sendcounts, sdispls, sendtypes,
                                    a.neighbors.out_count);
    if (rc == 0)
        rc = shoal_coll_arg_recvs_w(&a, recvbuf, recvcounts, rdispls, recvtypes,
                                    a.neighbors.in_count);
    if (rc == 0) rc = apart(&a, 0, a.neighbors.out_count);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Neighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                              void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    return alltoallw(SHOAL_BLOCKING("MPI_Neighbor_alltoallw"), sendbuf, sendcounts, sdispls,
                     sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}

int PMPI_Ineighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                               void *recvbuf, const MPI_Count recvcounts[],
                               const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                               MPI_Comm comm, MPI_Request *request)
{
    return alltoallw(SHOAL_STARTED("MPI_Ineighbor_alltoallw", request), sendbuf, sendcounts,
                     sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}

int PMPI_Neighbor_alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                   void *recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return alltoallw(SHOAL_PERSISTENT("MPI_Neighbor_alltoallw_init", info, request), sendbuf,
                     sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}

#include "weak_coll_neighbor.h"
