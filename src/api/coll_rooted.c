// SPDX-License-Identifier: BSD-3-Clause
// Collectives with a root that move data: broadcast, gather, scatter.
#include "api/coll_args.h"

static int bcast(const shoal_coll_form *f, void *buffer, MPI_Count count, MPI_Datatype datatype,
                 int root, MPI_Comm comm)
{
    shoal_coll_args a = {.kind = SHOAL_COLL_BCAST, .root = root};
    int rc = shoal_coll_enter(f, comm, &a);
    if (rc == 0) rc = shoal_coll_arg_root(&a);
    if (rc == 0 && (shoal_coll_is_root(&a) || shoal_coll_is_leaf(&a))) {
        if (buffer == MPI_IN_PLACE)
            rc = shoal_fail(SHOAL_E_BUFFER, "buffer cannot be MPI_IN_PLACE");
        else if (count < 0)
            rc = shoal_arg_count(count, "count");
        else
            rc = shoal_coll_arg_recv(&a, buffer, count, datatype, 1);
    }
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    return bcast(SHOAL_BLOCKING("MPI_Bcast"), buffer, count, datatype, root, comm);
}

int PMPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    return bcast(SHOAL_STARTED("MPI_Ibcast", request), buffer, count, datatype, root, comm);
}

int PMPI_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                      MPI_Info info, MPI_Request *request)
{
    return bcast(SHOAL_PERSISTENT("MPI_Bcast_init", info, request), buffer, count, datatype, root,
                 comm);
}

// The contributions of a gather: one block of everybody; the root's may be in place.
static int gather_send(shoal_coll_args *a, const void *sendbuf, MPI_Count sendcount,
                       MPI_Datatype sendtype)
{
    if (!shoal_coll_is_leaf(a)) return 0;
    if (sendbuf == MPI_IN_PLACE)
        return shoal_coll_arg_in_place(a, shoal_coll_is_root(a), "sendbuf");
    return shoal_coll_arg_send(a, sendbuf, sendcount, sendtype, 1);
}

// What the root of an intra-communicator sends itself must not lie where it goes.
static int gather_apart(const shoal_coll_args *a)
{
    if (a->comm->inter || !shoal_coll_is_root(a)) return 0;
    int rc = shoal_coll_arg_apart(a, -1, a->root);
    return rc || a->recvcounts ? rc : shoal_coll_arg_apart(a, -1, 0);
}

static int gather(const shoal_coll_form *f, const void *sendbuf, MPI_Count sendcount,
                  MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                  int root, MPI_Comm comm)
{
    shoal_coll_args a = {.kind = SHOAL_COLL_GATHER, .root = root};
    int rc = shoal_coll_enter(f, comm, &a);
    if (rc == 0) rc = shoal_coll_arg_root(&a);
    if (rc == 0) rc = gather_send(&a, sendbuf, sendcount, sendtype);
    if (rc == 0 && shoal_coll_is_root(&a))
        rc = shoal_coll_arg_recv(&a, recvbuf, recvcount, recvtype, a.comm->remote_size);
    if (rc == 0) rc = gather_apart(&a);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return gather(SHOAL_BLOCKING("MPI_Gather"), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                  recvtype, root, comm);
}

int PMPI_Igather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                   MPI_Request *request)
{
    return gather(SHOAL_STARTED("MPI_Igather", request), sendbuf, sendcount, sendtype, recvbuf,
                  recvcount, recvtype, root, comm);
}

int PMPI_Gather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return gather(SHOAL_PERSISTENT("MPI_Gather_init", info, request), sendbuf, sendcount, sendtype,
                  recvbuf, recvcount, recvtype, root, comm);
}

static int gatherv(const shoal_coll_form *f, const void *sendbuf, MPI_Count sendcount,
                   MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                   const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    shoal_coll_args a = {.kind = SHOAL_COLL_GATHERV, .root = root};
    int rc = shoal_coll_enter(f, comm, &a);
    if (rc == 0) rc = shoal_coll_arg_root(&a);
    if (rc == 0) rc = gather_send(&a, sendbuf, sendcount, sendtype);
    if (rc == 0 && shoal_coll_is_root(&a))
        rc = shoal_coll_arg_recvs(&a, recvbuf, recvcounts, displs, recvtype, a.comm->remote_size);
    if (rc == 0) rc = gather_apart(&a);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                   int root, MPI_Comm comm)
{
    return gatherv(SHOAL_BLOCKING("MPI_Gatherv"), sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                   displs, recvtype, root, comm);
}

int PMPI_Igatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    int root, MPI_Comm comm, MPI_Request *request)
{
    return gatherv(SHOAL_STARTED("MPI_Igatherv", request), sendbuf, sendcount, sendtype, recvbuf,
                   recvcounts, displs, recvtype, root, comm);
}

int PMPI_Gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                        MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    return gatherv(SHOAL_PERSISTENT("MPI_Gatherv_init", info, request), sendbuf, sendcount,
                   sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
}

static int scatter_recv(shoal_coll_args *a, void *recvbuf, MPI_Count recvcount,
                        MPI_Datatype recvtype)
{
    if (!shoal_coll_is_leaf(a)) return 0;
    if (recvbuf == MPI_IN_PLACE)
        return shoal_coll_arg_in_place(a, shoal_coll_is_root(a), "recvbuf");
    return shoal_coll_arg_recv(a, recvbuf, recvcount, recvtype, 1);
}

static int scatter_apart(const shoal_coll_args *a)
{
    if (a->comm->inter || !shoal_coll_is_root(a)) return 0;
    int rc = shoal_coll_arg_apart(a, a->root, -1);
    return rc || a->sendcounts ? rc : shoal_coll_arg_apart(a, 0, -1);
}

static int scatter(const shoal_coll_form *f, const void *sendbuf, MPI_Count sendcount,
                   MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm)
{
    shoal_coll_args a = {.kind = SHOAL_COLL_SCATTER, .root = root};
    int rc = shoal_coll_enter(f, comm, &a);
    if (rc == 0) rc = shoal_coll_arg_root(&a);
    if (rc == 0 && shoal_coll_is_root(&a))
        rc = shoal_coll_arg_send(&a, sendbuf, sendcount, sendtype, a.comm->remote_size);
    if (rc == 0) rc = scatter_recv(&a, recvbuf, recvcount, recvtype);
    if (rc == 0) rc = scatter_apart(&a);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return scatter(SHOAL_BLOCKING("MPI_Scatter"), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                   recvtype, root, comm);
}

int PMPI_Iscatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    MPI_Request *request)
{
    return scatter(SHOAL_STARTED("MPI_Iscatter", request), sendbuf, sendcount, sendtype, recvbuf,
                   recvcount, recvtype, root, comm);
}

int PMPI_Scatter_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return scatter(SHOAL_PERSISTENT("MPI_Scatter_init", info, request), sendbuf, sendcount,
                   sendtype, recvbuf, recvcount, recvtype, root, comm);
}

static int scatterv(const shoal_coll_form *f, const void *sendbuf, const MPI_Count sendcounts[],
                    const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    shoal_coll_args a = {.kind = SHOAL_COLL_SCATTERV, .root = root};
    int rc = shoal_coll_enter(f, comm, &a);
    if (rc == 0) rc = shoal_coll_arg_root(&a);
    if (rc == 0 && shoal_coll_is_root(&a))
        rc = shoal_coll_arg_sends(&a, sendbuf, sendcounts, displs, sendtype, a.comm->remote_size);
    if (rc == 0) rc = scatter_recv(&a, recvbuf, recvcount, recvtype);
    if (rc == 0) rc = scatter_apart(&a);
    return shoal_coll_leave(rc, f, &a);
}

int PMPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return scatterv(SHOAL_BLOCKING("MPI_Scatterv"), sendbuf, sendcounts, displs, sendtype, recvbuf,
                    recvcount, recvtype, root, comm);
}

int PMPI_Iscatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return scatterv(SHOAL_STARTED("MPI_Iscatterv", request), sendbuf, sendcounts, displs, sendtype,
                    recvbuf, recvcount, recvtype, root, comm);
}

int PMPI_Scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                         MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                         MPI_Request *request)
{
    return scatterv(SHOAL_PERSISTENT("MPI_Scatterv_init", info, request), sendbuf, sendcounts,
                    displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

#include "weak_coll_rooted.h"
