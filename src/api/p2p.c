// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point messages: sends in four modes and receives, each blocking, non-blocking and
// persistent; and the combined send and receive.
#include "p2p/p2p.h"
#include "api/api.h"
#include "p2p/bsend.h"
#include "p2p/pair.h"

// Resolves and checks what all messages have; *c is set as soon as the communicator is known, for
// its error handler.
static inline int check(const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Comm comm,
                        shoal_message_args *m, shoal_comm **c)
{
    int rc = shoal_arg_comm(comm, c);
    if (rc == 0) rc = shoal_arg_count(count, "count");
    if (rc == 0) rc = shoal_arg_committed(datatype, &m->type);
    if (rc == 0) rc = shoal_arg_buffer(buf, count, m->type, "buf");
    m->buf = buf;
    m->count = count;
    m->comm = *c;
    return rc;
}

static inline int check_send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                             int tag, MPI_Comm comm, shoal_message_args *m, shoal_comm **c)
{
    int rc = check(buf, count, datatype, comm, m, c);
    if (rc == 0) rc = shoal_arg_dest(dest, *c);
    if (rc == 0) rc = shoal_arg_send_tag(tag);
    m->rank = dest;
    m->tag = tag;
    return rc;
}

static inline int check_recv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                             MPI_Comm comm, shoal_message_args *m, shoal_comm **c)
{
    int rc = check(buf, count, datatype, comm, m, c);
    if (rc == 0) rc = shoal_arg_source(source, *c);
    if (rc == 0) rc = shoal_arg_recv_tag(tag);
    m->rank = source;
    m->tag = tag;
    return rc;
}

static inline int send_blocking(const char *call, const void *buf, MPI_Count count,
                                MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                                enum shoal_send_mode mode)
{
    shoal_message_args m = {.use = SHOAL_USE_P2P};
    shoal_comm *c = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = check_send(buf, count, datatype, dest, tag, comm, &m, &c);
    if (rc == 0) rc = mode == SHOAL_MODE_BUFFERED ? shoal_bsend(&m) : shoal_p2p_send(&m, mode);
    return shoal_leave_comm(rc, c);
}

int PMPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm)
{
    return send_blocking("MPI_Send", buf, count, datatype, dest, tag, comm, SHOAL_MODE_STANDARD);
}

int PMPI_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    return send_blocking("MPI_Ssend", buf, count, datatype, dest, tag, comm, SHOAL_MODE_SYNC);
}

int PMPI_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    return send_blocking("MPI_Rsend", buf, count, datatype, dest, tag, comm, SHOAL_MODE_READY);
}

int PMPI_Bsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    return send_blocking("MPI_Bsend", buf, count, datatype, dest, tag, comm, SHOAL_MODE_BUFFERED);
}

int PMPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                MPI_Comm comm, MPI_Status *status)
{
    shoal_message_args m = {.use = SHOAL_USE_P2P};
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Recv");
    if (rc == 0) rc = check_recv(buf, count, datatype, source, tag, comm, &m, &c);
    if (rc == 0) rc = shoal_p2p_recv(&m, status);
    return shoal_leave_comm(rc, c);
}

// Starts a send, of any mode but the buffered one.
static inline int send_request(const char *call, const void *buf, MPI_Count count,
                               MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                               enum shoal_send_mode mode, MPI_Request *request)
{
    shoal_message_args m = {.use = SHOAL_USE_P2P};
    shoal_comm *c = NULL;
    shoal_req *r = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = check_send(buf, count, datatype, dest, tag, comm, &m, &c);
    if (rc == 0) rc = shoal_arg_pointer(request, "request");
    if (rc == 0) rc = shoal_p2p_isend(&m, mode, &r);
    if (rc == 0) *request = shoal_object_handle(r);
    return shoal_leave_comm(rc, c);
}

// Makes a send request that is started later, again and again; or, if it is buffered, now and once.
static int send_init(const char *call, const void *buf, MPI_Count count, MPI_Datatype datatype,
                     int dest, int tag, MPI_Comm comm, enum shoal_send_mode mode, bool persistent,
                     MPI_Request *request)
{
    shoal_message_args m = {.use = SHOAL_USE_P2P};
    shoal_comm *c = NULL;
    shoal_req *r = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = check_send(buf, count, datatype, dest, tag, comm, &m, &c);
    if (rc == 0) rc = shoal_arg_pointer(request, "request");
    if (rc == 0) rc = shoal_p2p_prepare(&m, SHOAL_REQ_SEND, mode, &r);
    if (rc == 0) {
        r->start = mode == SHOAL_MODE_BUFFERED ? shoal_bsend_start : shoal_p2p_start;
        r->persistent = persistent;
        if (!persistent) rc = r->start(r);
        if (rc == 0)
            *request = shoal_object_handle(r);
        else
            shoal_req_drop(r);
    }
    return shoal_leave_comm(rc, c);
}

int PMPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    return send_request("MPI_Isend", buf, count, datatype, dest, tag, comm, SHOAL_MODE_STANDARD,
                        request);
}

int PMPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return send_request("MPI_Issend", buf, count, datatype, dest, tag, comm, SHOAL_MODE_SYNC,
                        request);
}

int PMPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return send_request("MPI_Irsend", buf, count, datatype, dest, tag, comm, SHOAL_MODE_READY,
                        request);
}

int PMPI_Ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return send_init("MPI_Ibsend", buf, count, datatype, dest, tag, comm, SHOAL_MODE_BUFFERED,
                     false, request);
}

int PMPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    shoal_message_args m = {.use = SHOAL_USE_P2P};
    shoal_comm *c = NULL;
    shoal_req *r = NULL;
    int rc = shoal_enter("MPI_Irecv");
    if (rc == 0) rc = check_recv(buf, count, datatype, source, tag, comm, &m, &c);
    if (rc == 0) rc = shoal_arg_pointer(request, "request");
    if (rc == 0) rc = shoal_p2p_irecv(&m, &r);
    if (rc == 0) *request = shoal_object_handle(r);
    return shoal_leave_comm(rc, c);
}

int PMPI_Send_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    return send_init("MPI_Send_init", buf, count, datatype, dest, tag, comm, SHOAL_MODE_STANDARD,
                     true, request);
}

int PMPI_Ssend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return send_init("MPI_Ssend_init", buf, count, datatype, dest, tag, comm, SHOAL_MODE_SYNC, true,
                     request);
}

int PMPI_Rsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return send_init("MPI_Rsend_init", buf, count, datatype, dest, tag, comm, SHOAL_MODE_READY,
                     true, request);
}

int PMPI_Bsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return send_init("MPI_Bsend_init", buf, count, datatype, dest, tag, comm, SHOAL_MODE_BUFFERED,
                     true, request);
}

int PMPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    shoal_message_args m = {.use = SHOAL_USE_P2P};
    shoal_comm *c = NULL;
    shoal_req *r = NULL;
    int rc = shoal_enter("MPI_Recv_init");
    if (rc == 0) rc = check_recv(buf, count, datatype, source, tag, comm, &m, &c);
    if (rc == 0) rc = shoal_arg_pointer(request, "request");
    if (rc == 0) rc = shoal_p2p_prepare(&m, SHOAL_REQ_RECV, SHOAL_MODE_STANDARD, &r);
    if (rc == 0) {
        r->start = shoal_p2p_start;
        r->persistent = true;
        *request = shoal_object_handle(r);
    }
    return shoal_leave_comm(rc, c);
}

int PMPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                    int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                    int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    shoal_message_args s = {.use = SHOAL_USE_P2P}, v = s;
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Sendrecv");
    if (rc == 0) rc = check_send(sendbuf, sendcount, sendtype, dest, sendtag, comm, &s, &c);
    if (rc == 0) rc = check_recv(recvbuf, recvcount, recvtype, source, recvtag, comm, &v, &c);
    if (rc == 0) rc = shoal_pair_exchange(&s, &v, status);
    return shoal_leave_comm(rc, c);
}

int PMPI_Sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                            int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    shoal_message_args s = {.use = SHOAL_USE_P2P}, v = s;
    shoal_comm *c = NULL;
    shoal_req *r = NULL;
    int rc = shoal_enter("MPI_Sendrecv_replace");
    if (rc == 0) rc = check_send(buf, count, datatype, dest, sendtag, comm, &s, &c);
    if (rc == 0) rc = check_recv(buf, count, datatype, source, recvtag, comm, &v, &c);
    if (rc == 0) rc = shoal_pair_start_replace(&s, &v, &r);
    if (rc == 0) rc = shoal_pair_finish(r, status);
    return shoal_leave_comm(rc, c);
}

int PMPI_Isendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                     int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                     int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    shoal_message_args s = {.use = SHOAL_USE_P2P}, v = s;
    shoal_comm *c = NULL;
    shoal_req *r = NULL;
    int rc = shoal_enter("MPI_Isendrecv");
    if (rc == 0) rc = check_send(sendbuf, sendcount, sendtype, dest, sendtag, comm, &s, &c);
    if (rc == 0) rc = check_recv(recvbuf, recvcount, recvtype, source, recvtag, comm, &v, &c);
    if (rc == 0) rc = shoal_arg_pointer(request, "request");
    if (rc == 0) rc = shoal_pair_start(&s, &v, &r);
    if (rc == 0) *request = shoal_object_handle(r);
    return shoal_leave_comm(rc, c);
}

int PMPI_Isendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                             int sendtag, int source, int recvtag, MPI_Comm comm,
                             MPI_Request *request)
{
    shoal_message_args s = {.use = SHOAL_USE_P2P}, v = s;
    shoal_comm *c = NULL;
    shoal_req *r = NULL;
    int rc = shoal_enter("MPI_Isendrecv_replace");
    if (rc == 0) rc = check_send(buf, count, datatype, dest, sendtag, comm, &s, &c);
    if (rc == 0) rc = check_recv(buf, count, datatype, source, recvtag, comm, &v, &c);
    if (rc == 0) rc = shoal_arg_pointer(request, "request");
    if (rc == 0) rc = shoal_pair_start_replace(&s, &v, &r);
    if (rc == 0) *request = shoal_object_handle(r);
    return shoal_leave_comm(rc, c);
}

#include "weak_p2p.h"
