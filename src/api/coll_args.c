// SPDX-License-Identifier: BSD-3-Clause
// See coll_args.h.
#include "api/coll_args.h"

#include <stdlib.h>

#include "plat/turn.h"

SHOAL_HOT int shoal_coll_enter(const shoal_coll_form *f, MPI_Comm comm, shoal_coll_args *a)
{
    shoal_info *info;
    int rc = shoal_enter(f->call);
    a->call = f->call;
    if (rc == 0) rc = shoal_arg_comm(comm, &a->comm);
    if (rc == 0 && !f->blocking) rc = shoal_arg_pointer(f->request, "request");
    if (rc == 0 && f->persistent) rc = shoal_arg_info_or_null(f->info, &info);
    return rc;
}

SHOAL_HOT int shoal_coll_leave(int rc, const shoal_coll_form *f, shoal_coll_args *a)
{
    shoal_req *r;
    if (rc == 0 && f->blocking) {
        rc = shoal_coll_run(a);
    } else if (rc == 0) {
        rc = shoal_coll_request(a, f->persistent, &r);
        if (rc == 0) *f->request = shoal_object_handle(r);
    }
    if (a->sendtypes) free((void *)(uintptr_t)a->sendtypes);
    if (a->recvtypes) free((void *)(uintptr_t)a->recvtypes);
    return shoal_leave_comm(rc, a->comm);
}

int shoal_coll_arg_root(const shoal_coll_args *a)
{
    const shoal_comm *c = a->comm;
    if (!c->inter) return shoal_arg_root(a->root, c);
    if (a->root == MPI_ROOT || a->root == MPI_PROC_NULL ||
        (a->root >= 0 && a->root < c->remote_size))
        return 0;
    return shoal_fail(
        SHOAL_E_ROOT,
        "root %d is neither MPI_ROOT nor MPI_PROC_NULL nor a rank of the remote group of %s, "
        "which has %d rank%s",
        a->root, shoal_comm_label(c), c->remote_size, c->remote_size == 1 ? "" : "s");
}

bool shoal_coll_is_root(const shoal_coll_args *a)
{
    return a->comm->inter ? a->root == MPI_ROOT : a->root == a->comm->rank;
}

bool shoal_coll_is_leaf(const shoal_coll_args *a)
{
    return a->comm->inter ? a->root >= 0 : true;
}

// A count and a datatype that can be communicated, `blocks` times.
static int check_data(const void *buf, MPI_Count count, MPI_Datatype h, int blocks,
                      const char *side, shoal_datatype **type)
{
    const char *argument = side[0] == 's' ? "sendbuf" : "recvbuf";
    int64_t all, bytes;
    if (count < 0) return shoal_fail(SHOAL_E_COUNT, "%scount is %lld", side, (long long)count);
    int rc = shoal_arg_committed(h, type);
    if (rc) return rc;
    if (buf == MPI_IN_PLACE)
        return shoal_fail(SHOAL_E_BUFFER, "%s cannot be MPI_IN_PLACE here", argument);
    if (__builtin_mul_overflow(count, blocks, &all)) all = INT64_MAX;
    rc = shoal_datatype_bytes(*type, all, &bytes);
    return rc ? rc : shoal_arg_buffer(buf, blocks ? count : 0, *type, argument);
}

// Where nothing lies that has no address: memcpy wants one even for no bytes.
static char nowhere;

int shoal_coll_arg_send(shoal_coll_args *a, const void *buf, MPI_Count count, MPI_Datatype h,
                        int blocks)
{
    a->sendbuf = buf;
    a->sendcount = count;
    int rc = check_data(buf, count, h, blocks, "send", &a->sendtype);
    if (rc == 0 && !buf && (count == 0 || a->sendtype->size == 0)) a->sendbuf = &nowhere;
    return rc;
}

int shoal_coll_arg_recv(shoal_coll_args *a, void *buf, MPI_Count count, MPI_Datatype h, int blocks)
{
    a->recvbuf = buf;
    a->recvcount = count;
    int rc = check_data(buf, count, h, blocks, "recv", &a->recvtype);
    if (rc == 0 && !buf && (count == 0 || a->recvtype->size == 0)) a->recvbuf = &nowhere;
    return rc;
}

static int check_arrays(const MPI_Count counts[], const MPI_Aint displs[], int blocks,
                        const char *side, MPI_Count *most_out)
{
    MPI_Count most = 0;
    if (blocks > 0 && !counts) return shoal_fail(SHOAL_E_ARG, "%scounts is a null pointer", side);
    if (blocks > 0 && !displs)
        return shoal_fail(SHOAL_E_ARG, "the displacements of %sbuf are a null pointer", side);
    for (int i = 0; i < blocks; i++) {
        if (counts[i] < 0)
            return shoal_fail(SHOAL_E_COUNT, "%scounts[%d] is %lld", side, i, (long long)counts[i]);
        if (counts[i] > most) most = counts[i];
    }
    *most_out = most;
    return 0;
}

int shoal_coll_arg_sends(shoal_coll_args *a, const void *buf, const MPI_Count counts[],
                         const MPI_Aint displs[], MPI_Datatype h, int blocks)
{
    MPI_Count most = 0;
    a->sendcounts = counts;
    a->senddispls = displs;
    a->sendbuf = buf;
    int rc = check_arrays(counts, displs, blocks, "send", &most);
    return rc ? rc : check_data(buf, most, h, 1, "send", &a->sendtype);
}

int shoal_coll_arg_recvs(shoal_coll_args *a, void *buf, const MPI_Count counts[],
                         const MPI_Aint displs[], MPI_Datatype h, int blocks)
{
    MPI_Count most = 0;
    a->recvcounts = counts;
    a->recvdispls = displs;
    a->recvbuf = buf;
    int rc = check_arrays(counts, displs, blocks, "recv", &most);
    return rc ? rc : check_data(buf, most, h, 1, "recv", &a->recvtype);
}

// Resolves an array of datatypes into one of ours, which leaving frees. A type without data need
// not be one.
static int check_types(const void *buf, const MPI_Count counts[], const MPI_Datatype types[],
                       int blocks, const char *side, shoal_datatype *const **out)
{
    if (blocks > 0 && !types) return shoal_fail(SHOAL_E_ARG, "%stypes is a null pointer", side);
    shoal_datatype **list = calloc((size_t)blocks + 1, sizeof *list);
    if (!list) return shoal_fail(SHOAL_E_NO_MEM, "no memory for %d datatypes", blocks);
    *out = list;
    for (int i = 0; i < blocks; i++) {
        list[i] = shoal_datatype_of(SHOAL_B_BYTE);
        if (counts[i] == 0 && types[i] == MPI_DATATYPE_NULL) continue;
        // A block's address may be anything: displacements count from MPI_BOTTOM too.
        int rc =
            check_data(buf ? buf : (const void *)types, counts[i], types[i], 1, side, &list[i]);
        if (rc) return rc;
    }
    return 0;
}

int shoal_coll_arg_sends_w(shoal_coll_args *a, const void *buf, const MPI_Count counts[],
                           const MPI_Aint displs[], const MPI_Datatype types[], int blocks)
{
    MPI_Count most = 0;
    a->sendcounts = counts;
    a->senddispls = displs;
    a->sendbuf = buf;
    int rc = check_arrays(counts, displs, blocks, "send", &most);
    return rc ? rc : check_types(buf, counts, types, blocks, "send", &a->sendtypes);
}

int shoal_coll_arg_recvs_w(shoal_coll_args *a, void *buf, const MPI_Count counts[],
                           const MPI_Aint displs[], const MPI_Datatype types[], int blocks)
{
    MPI_Count most = 0;
    a->recvcounts = counts;
    a->recvdispls = displs;
    a->recvbuf = buf;
    int rc = check_arrays(counts, displs, blocks, "recv", &most);
    return rc ? rc : check_types(buf, counts, types, blocks, "recv", &a->recvtypes);
}

int shoal_coll_arg_even(const shoal_coll_args *a)
{
    if (a->sendbuf == MPI_IN_PLACE || a->comm->inter) return 0;
    int64_t sends = a->sendcount * a->sendtype->size, receives = a->recvcount * a->recvtype->size;
    if (sends == receives) return 0;
    return shoal_fail(
        SHOAL_E_TRUNCATE,
        "this rank sends %lld bytes to each and expects %lld bytes of each: sendcount "
        "is %lld, recvcount is %lld",
        (long long)sends, (long long)receives, (long long)a->sendcount, (long long)a->recvcount);
}

int shoal_coll_arg_in_place(shoal_coll_args *a, bool allowed, const char *argument)
{
    if (a->comm->inter)
        return shoal_fail(SHOAL_E_BUFFER, "%s cannot be MPI_IN_PLACE on an inter-communicator",
                          argument);
    if (!allowed)
        return shoal_fail(SHOAL_E_BUFFER, "%s can be MPI_IN_PLACE only on the root, rank %d",
                          argument, a->root);
    if (argument[0] == 's')
        a->sendbuf = MPI_IN_PLACE;
    else
        a->recvbuf = MPI_IN_PLACE;
    return 0;
}

int shoal_coll_arg_apart(const shoal_coll_args *a, int k, int i)
{
    if (a->sendbuf == MPI_IN_PLACE || a->recvbuf == MPI_IN_PLACE) return 0;
    shoal_block s = {(char *)(uintptr_t)a->sendbuf, a->sendcount, a->sendtype};
    shoal_block r = {a->recvbuf, a->recvcount, a->recvtype};
    if (k >= 0) s = shoal_block_to_send(a, k);
    if (i >= 0) r = shoal_block_to_recv(a, i);
    if (shoal_block_bytes(&s) == 0 || shoal_block_bytes(&r) == 0) return 0;
    uintptr_t from = (uintptr_t)s.buf + (uintptr_t)s.type->true_lb;
    uintptr_t to = (uintptr_t)r.buf + (uintptr_t)r.type->true_lb;
    if (from != to) return 0;
    return shoal_fail(
        SHOAL_E_BUFFER,
        "data is to be sent from and received at the same address %p: use MPI_IN_PLACE where "
        "the collective allows it, or another buffer",
        (void *)from);
}
