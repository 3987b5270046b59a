// SPDX-License-Identifier: BSD-3-Clause
// Probing for messages, with and without taking them (MPI_Mprobe); and what a status says.
#include "api/api.h"
#include "api/message.h"
#include "p2p/p2p.h"

static int check(int source, int tag, MPI_Comm comm, shoal_message_args *m, shoal_comm **c)
{
    int rc = shoal_arg_comm(comm, c);
    if (rc == 0) rc = shoal_arg_source(source, *c);
    if (rc == 0) rc = shoal_arg_recv_tag(tag);
    *m = (shoal_message_args){.rank = source, .tag = tag, .comm = *c, .use = SHOAL_USE_P2P};
    return rc;
}

static void no_partner(MPI_Status *status)
{
    MPI_Status s;
    shoal_status_empty(&s);
    s.MPI_SOURCE = MPI_PROC_NULL;
    shoal_status_give(&s, status);
}

static int probe(const char *call, bool wait, int source, int tag, MPI_Comm comm, int *flag,
                 MPI_Status *status)
{
    shoal_message_args m;
    shoal_comm *c = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_pointer(flag, "flag");
    if (rc == 0) rc = check(source, tag, comm, &m, &c);
    if (rc == 0 && source == MPI_PROC_NULL) {
        *flag = 1;
        no_partner(status);
    } else if (rc == 0) {
        *flag = shoal_p2p_probe(&m, wait, status) != NULL;
    }
    return shoal_leave_comm(rc, c);
}

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int flag;
    return probe("MPI_Probe", true, source, tag, comm, &flag, status);
}

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    return probe("MPI_Iprobe", false, source, tag, comm, flag, status);
}

static int take_message(const shoal_message_args *a, bool wait, int *flag, MPI_Message *message,
                        MPI_Status *status)
{
    shoal_message *m;
    int rc = shoal_message_new(a->comm, &m);
    if (rc) return rc;
    m->unexpected = shoal_p2p_mprobe(a, wait, status);
    *flag = m->unexpected != NULL;
    *message = *flag ? shoal_object_handle(m) : MPI_MESSAGE_NULL;
    if (!*flag) shoal_message_free(m);
    return 0;
}

static int probe_and_take(const char *call, bool wait, int source, int tag, MPI_Comm comm,
                          int *flag, MPI_Message *message, MPI_Status *status)
{
    shoal_message_args m;
    shoal_comm *c = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_pointer(flag, "flag");
    if (rc == 0) rc = shoal_arg_pointer(message, "message");
    if (rc == 0) rc = check(source, tag, comm, &m, &c);
    if (rc == 0 && source == MPI_PROC_NULL) {
        *flag = 1;
        *message = MPI_MESSAGE_NO_PROC;
        no_partner(status);
    } else if (rc == 0) {
        rc = take_message(&m, wait, flag, message, status);
    }
    return shoal_leave_comm(rc, c);
}

int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    int flag;
    return probe_and_take("MPI_Mprobe", true, source, tag, comm, &flag, message, status);
}

int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                 MPI_Status *status)
{
    return probe_and_take("MPI_Improbe", false, source, tag, comm, flag, message, status);
}

// What a receive of a taken message needs; *m stays NULL for MPI_MESSAGE_NO_PROC.
static int check_mrecv(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                       shoal_message_args *a, shoal_message **m, shoal_comm **c)
{
    *a = (shoal_message_args){
        .buf = buf, .count = count, .rank = MPI_PROC_NULL, .comm = &shoal_comm_self};
    int rc = shoal_arg_pointer(message, "message");
    if (rc == 0 && *message != MPI_MESSAGE_NO_PROC) rc = shoal_message_find(*message, m);
    if (*m) *c = a->comm = (*m)->comm;
    if (rc == 0) rc = shoal_arg_count(count, "count");
    if (rc == 0) rc = shoal_arg_committed(datatype, &a->type);
    if (rc == 0) rc = shoal_arg_buffer(buf, count, a->type, "buf");
    return rc;
}

// Starts receiving the message; the handle is used up.
static int start_mrecv(shoal_message_args *a, shoal_message *m, MPI_Message *message,
                       shoal_req **out)
{
    if (m) {
        a->rank = m->unexpected->src;
        a->tag = m->unexpected->tag;
    }
    int rc = shoal_p2p_prepare(a, SHOAL_REQ_RECV, SHOAL_MODE_STANDARD, out);
    if (rc) return rc;
    *message = MPI_MESSAGE_NULL;
    if (!m) return shoal_p2p_start(*out);
    shoal_status_empty(&(*out)->status);
    shoal_p2p_recv_claimed(*out, m->unexpected);
    shoal_message_free(m);
    return 0;
}

static int finish_mrecv(shoal_req *r, MPI_Status *status, shoal_comm **c)
{
    shoal_req_wait(r);
    int rc = r->error;
    shoal_status_give(&r->status, status);
    // A communicator that only this request keeps alive has no handler to call any more.
    *c = r->comm->freed ? NULL : r->comm;
    shoal_req_drop(r);
    return rc;
}

int PMPI_Mrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                 MPI_Status *status)
{
    shoal_message_args a;
    shoal_message *m = NULL;
    shoal_comm *c = NULL;
    shoal_req *r;
    int rc = shoal_enter("MPI_Mrecv");
    if (rc == 0) rc = check_mrecv(buf, count, datatype, message, &a, &m, &c);
    if (rc == 0 && m && shoal_p2p_mrecv_now(&a, m->unexpected, status)) {
        *message = MPI_MESSAGE_NULL;
        shoal_message_free(m);
        return shoal_leave(0);
    }
    if (rc == 0) rc = start_mrecv(&a, m, message, &r);
    if (rc == 0) rc = finish_mrecv(r, status, &c);
    return shoal_leave_comm(rc, c);
}

int PMPI_Imrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                  MPI_Request *request)
{
    shoal_message_args a;
    shoal_message *m = NULL;
    shoal_comm *c = NULL;
    shoal_req *r;
    int rc = shoal_enter("MPI_Imrecv");
    if (rc == 0) rc = shoal_arg_pointer(request, "request");
    if (rc == 0) rc = check_mrecv(buf, count, datatype, message, &a, &m, &c);
    if (rc == 0) rc = start_mrecv(&a, m, message, &r);
    if (rc == 0) *request = shoal_object_handle(r);
    return shoal_leave_comm(rc, c);
}

#include "weak_probe.h"
