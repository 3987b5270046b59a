// SPDX-License-Identifier: BSD-3-Clause
// The int twins, tested without the engine: this file defines a few _c functions that write down
// what they are given, and the helpers that tell the lengths of arrays; the generator makes the
// twins of just these functions.
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <string.h>

#include "api/twin.h"
#include "plat/test.h"

// A communicator that never is one: the helpers below answer for it.
#define COMM ((MPI_Comm)0x1000)

static int peers, local, in, out, my_rank, no_memory_calls;
static int64_t seen_counts[100], seen_displs[100], seen_more[100];
static MPI_Count seen_scalar;
static const void *seen_pointer;
static MPI_Count answer;
static int error;

int shoal_twin_comm_size(MPI_Comm comm)
{
    (void)comm;
    return local;
}

int shoal_twin_remote_or_local_size(MPI_Comm comm)
{
    (void)comm;
    return peers;
}

int shoal_twin_indegree(MPI_Comm comm)
{
    (void)comm;
    return in;
}

int shoal_twin_outdegree(MPI_Comm comm)
{
    (void)comm;
    return out;
}

bool shoal_twin_is_root(MPI_Comm comm, int root)
{
    (void)comm;
    return root == my_rank;
}

int shoal_twin_no_memory(const char *function, int kind, const void *handle)
{
    (void)function;
    (void)kind;
    (void)handle;
    no_memory_calls++;
    return MPI_ERR_NO_MEM;
}

static void note(int64_t *seen, const int64_t *array, int n)
{
    for (int i = 0; i < n; i++) seen[i] = array[i];
}

int PMPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm)
{
    seen_pointer = buf;
    seen_scalar = count;
    return datatype == MPI_INT && dest == 3 && tag == 9 && comm == COMM ? error : MPI_ERR_ARG;
}

int PMPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                   int root, MPI_Comm comm)
{
    (void)sendbuf, (void)sendtype, (void)recvbuf, (void)recvtype, (void)comm;
    seen_scalar = sendcount;
    seen_pointer = recvcounts;
    if (root == my_rank) {
        note(seen_counts, recvcounts, peers);
        note(seen_displs, displs, peers);
    }
    return error;
}

int PMPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    (void)sdispls, (void)sendtype, (void)recvbuf, (void)recvtype, (void)comm;
    seen_pointer = sendcounts;
    if (sendbuf != MPI_IN_PLACE) note(seen_more, sendcounts, peers);
    note(seen_counts, recvcounts, peers);
    note(seen_displs, rdispls, peers);
    return error;
}

int PMPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    (void)sendbuf, (void)recvbuf, (void)datatype, (void)op, (void)comm;
    note(seen_counts, recvcounts, local);
    return error;
}

int PMPI_Neighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              MPI_Datatype recvtype, MPI_Comm comm)
{
    (void)sendbuf, (void)sendtype, (void)recvbuf, (void)recvtype, (void)comm, (void)sdispls;
    note(seen_counts, recvcounts, in);
    note(seen_displs, rdispls, in);
    note(seen_more, sendcounts, out);
    return error;
}

int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                              const MPI_Count array_of_displacements[],
                              const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    (void)array_of_types, (void)newtype;
    seen_scalar = count;
    if (count < 0) return MPI_ERR_COUNT;
    note(seen_counts, array_of_blocklengths, (int)count);
    note(seen_displs, array_of_displacements, (int)count);
    return error;
}

int PMPI_Get_count_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    (void)status, (void)datatype;
    if (count == NULL) return MPI_ERR_ARG;
    *count = answer;
    return error;
}

int PMPI_Get_elements_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    return PMPI_Get_count_c(status, datatype, count);
}

int PMPI_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf,
                MPI_Count outsize, MPI_Count *position, MPI_Comm comm)
{
    (void)inbuf, (void)datatype, (void)outbuf, (void)outsize, (void)comm;
    seen_scalar = *position;
    *position += incount;
    return error;
}

int PMPI_Psend_init_c(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype,
                      int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    (void)buf, (void)partitions, (void)datatype, (void)dest, (void)tag, (void)comm, (void)info;
    (void)request;
    seen_scalar = count;
    return error;
}

static void fill(int *array, int n, int start)
{
    for (int i = 0; i < n; i++) array[i] = start + i;
}

static bool counted(const int64_t *array, int n, int start)
{
    for (int i = 0; i < n; i++)
        if (array[i] != start + i) return false;
    return true;
}

static void test_scalars(void)
{
    int x = 0;
    CHECK(MPI_Send(&x, INT_MAX, MPI_INT, 3, 9, COMM) == MPI_SUCCESS);
    CHECK(seen_scalar == INT_MAX && seen_pointer == &x);
    CHECK(MPI_Send(&x, -1, MPI_INT, 3, 9, COMM) == MPI_SUCCESS && seen_scalar == -1);
    error = MPI_ERR_RANK;
    CHECK(MPI_Send(&x, 1, MPI_INT, 3, 9, COMM) == MPI_ERR_RANK);
    error = MPI_SUCCESS;
}

// Callers compiled with another header pass a 64-bit count whose upper half may be anything.
static void test_partitioned(void)
{
    typedef int wide_fn(const void *, int, int64_t, MPI_Datatype, int, int, MPI_Comm, MPI_Info,
                        MPI_Request *);
    MPI_Request request;
    void (*plain)(void) = (void (*)(void))MPI_Psend_init;
    wide_fn *wide = (wide_fn *)plain;
    CHECK(wide(NULL, 2, 77, MPI_INT, 0, 0, COMM, MPI_INFO_NULL, &request) == MPI_SUCCESS);
    CHECK(seen_scalar == 77);
}

static void test_arrays(int n)
{
    int counts[100], displs[100], scounts[100], sdispls[100], x = 0;
    fill(counts, 100, 10), fill(displs, 100, -5), fill(scounts, 100, 7), fill(sdispls, 100, 1);
    peers = local = in = out = n;
    my_rank = 2;
    CHECK(MPI_Gatherv(&x, 1, MPI_INT, &x, counts, displs, MPI_INT, 2, COMM) == MPI_SUCCESS);
    CHECK(counted(seen_counts, n, 10) && counted(seen_displs, n, -5) && seen_scalar == 1);
    CHECK(MPI_Alltoallv(&x, scounts, sdispls, MPI_INT, &x, counts, displs, MPI_INT, COMM) == 0);
    CHECK(counted(seen_counts, n, 10) && counted(seen_more, n, 7));
    in = n / 2;
    CHECK(MPI_Neighbor_alltoallv(&x, scounts, sdispls, MPI_INT, &x, counts, displs, MPI_INT,
                                 COMM) == 0);
    CHECK(counted(seen_counts, in, 10) && counted(seen_more, n, 7));
    CHECK(MPI_Reduce_scatter(&x, &x, scounts, MPI_INT, MPI_SUM, COMM) == MPI_SUCCESS);
    CHECK(counted(seen_counts, n, 7));
    error = MPI_ERR_TRUNCATE;
    CHECK(MPI_Reduce_scatter(&x, &x, scounts, MPI_INT, MPI_SUM, COMM) == MPI_ERR_TRUNCATE);
    error = MPI_SUCCESS;
    CHECK(no_memory_calls == 0);
}

// Arrays that are not significant are never read: these pointers would fault.
static void test_insignificant(void)
{
    const int *volatile hidden = (const int *)16; // volatile: the compiler would complain of it
    const int *nowhere = hidden;
    int counts[4] = {1, 2, 3, 4}, x = 0;
    peers = 4;
    my_rank = 0;
    CHECK(MPI_Gatherv(&x, 1, MPI_INT, NULL, nowhere, nowhere, MPI_INT, 1, COMM) == MPI_SUCCESS);
    CHECK(MPI_Gatherv(&x, 1, MPI_INT, NULL, NULL, NULL, MPI_INT, 1, COMM) == MPI_SUCCESS);
    CHECK(seen_pointer == NULL);
    CHECK(MPI_Alltoallv(MPI_IN_PLACE, nowhere, nowhere, MPI_INT, &x, counts, counts, MPI_INT,
                        COMM) == MPI_SUCCESS);
    CHECK(counted(seen_counts, 4, 1));
    CHECK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, &x, counts, counts, MPI_INT, COMM) == 0);
    CHECK(seen_pointer == NULL);
    MPI_Datatype type;
    CHECK(MPI_Type_create_struct(-1, nowhere, NULL, NULL, &type) == MPI_ERR_COUNT);
}

static void test_struct(void)
{
    int lengths[3] = {4, 5, 6};
    MPI_Aint displs[3] = {INT64_C(1) << 40, (INT64_C(1) << 40) + 1, (INT64_C(1) << 40) + 2};
    MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT}, made;
    CHECK(MPI_Type_create_struct(3, lengths, displs, types, &made) == MPI_SUCCESS);
    CHECK(counted(seen_counts, 3, 4) && seen_displs[2] == displs[2] && seen_scalar == 3);
}

static void test_results(void)
{
    MPI_Status status = {0};
    int count = 1;
    MPI_Count large = 0;
    answer = 12;
    CHECK(MPI_Get_count(&status, MPI_INT, &count) == MPI_SUCCESS && count == 12);
    answer = MPI_UNDEFINED;
    CHECK(MPI_Get_count(&status, MPI_INT, &count) == MPI_SUCCESS && count == MPI_UNDEFINED);
    answer = (MPI_Count)INT_MAX + 1;
    CHECK(MPI_Get_elements(&status, MPI_INT, &count) == MPI_SUCCESS && count == MPI_UNDEFINED);
    CHECK(MPI_Get_elements_x(&status, MPI_INT, &large) == MPI_SUCCESS && large == answer);
    CHECK(MPI_Get_count(&status, MPI_INT, NULL) == MPI_ERR_ARG);
    error = MPI_ERR_TYPE;
    count = 5;
    CHECK(MPI_Get_count(&status, MPI_INT, &count) == MPI_ERR_TYPE && count == 5);
    error = MPI_SUCCESS;
    count = 100;
    CHECK(MPI_Pack(&count, 20, MPI_BYTE, &count, 300, &count, COMM) == MPI_SUCCESS);
    CHECK(seen_scalar == 100 && count == 120);
}

int main(void)
{
    test_scalars();
    test_partitioned();
    test_arrays(3);
    test_arrays(SHOAL_TWIN_SMALL);
    test_arrays(100);
    test_insignificant();
    test_struct();
    test_results();
    return SHOAL_TEST_RESULT();
}

#include "weak_twins_check.h"
