// SPDX-License-Identifier: BSD-3-Clause
// Buffers for MPI_Bsend: attached to the process, a communicator or a session.
#include "api/api.h"
#include "core/session.h"
#include "p2p/bsend.h"

// Where the buffer of an object hangs; *c or *s is set for the error handler.
static int arg_session(MPI_Session h, shoal_session **s)
{
    shoal_session *found = shoal_session_get(h);
    if (!found)
        return shoal_fail(SHOAL_E_SESSION, "the session (%p) is null or not alive", (void *)h);
    *s = found;
    return 0;
}

static int detach(shoal_buffer **place, void *address_out, MPI_Count *size)
{
    void *memory = NULL;
    int64_t bytes = 0;
    int rc = shoal_arg_pointer(address_out, "buffer_addr");
    if (rc == 0) rc = shoal_arg_pointer(size, "size");
    if (rc == 0) rc = shoal_buffer_detach(place, &memory, &bytes);
    if (rc) return rc;
    memcpy(address_out, &memory, sizeof memory);
    *size = bytes;
    return 0;
}

static int iflush(shoal_buffer *b, MPI_Request *request)
{
    shoal_req *r;
    int rc = shoal_arg_pointer(request, "request");
    if (rc == 0) rc = shoal_buffer_iflush(b, &r);
    if (rc == 0) *request = shoal_object_handle(r);
    return rc;
}

int PMPI_Buffer_attach_c(void *buffer, MPI_Count size)
{
    int rc = shoal_enter("MPI_Buffer_attach");
    if (rc == 0) rc = shoal_buffer_attach(&shoal_process_buffer, buffer, size);
    return shoal_leave(rc);
}

int PMPI_Buffer_detach_c(void *buffer_addr, MPI_Count *size)
{
    int rc = shoal_enter("MPI_Buffer_detach");
    if (rc == 0) rc = detach(&shoal_process_buffer, buffer_addr, size);
    return shoal_leave(rc);
}

int PMPI_Buffer_flush(void)
{
    int rc = shoal_enter("MPI_Buffer_flush");
    if (rc == 0) rc = shoal_buffer_flush(shoal_process_buffer);
    return shoal_leave(rc);
}

int PMPI_Buffer_iflush(MPI_Request *request)
{
    int rc = shoal_enter("MPI_Buffer_iflush");
    if (rc == 0) rc = iflush(shoal_process_buffer, request);
    return shoal_leave(rc);
}

int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void *buffer, MPI_Count size)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Comm_attach_buffer");
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = shoal_buffer_attach(&c->buffer, buffer, size);
    return shoal_leave_comm(rc, c);
}

int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr, MPI_Count *size)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Comm_detach_buffer");
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = detach(&c->buffer, buffer_addr, size);
    return shoal_leave_comm(rc, c);
}

int PMPI_Comm_flush_buffer(MPI_Comm comm)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Comm_flush_buffer");
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = shoal_buffer_flush(c->buffer);
    return shoal_leave_comm(rc, c);
}

int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter("MPI_Comm_iflush_buffer");
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = iflush(c->buffer, request);
    return shoal_leave_comm(rc, c);
}

int PMPI_Session_attach_buffer_c(MPI_Session session, void *buffer, MPI_Count size)
{
    shoal_session *s = NULL;
    int rc = shoal_enter("MPI_Session_attach_buffer");
    if (rc == 0) rc = arg_session(session, &s);
    if (rc == 0) rc = shoal_buffer_attach((shoal_buffer **)&s->buffer, buffer, size);
    return shoal_leave_session(rc, s);
}

int PMPI_Session_detach_buffer_c(MPI_Session session, void *buffer_addr, MPI_Count *size)
{
    shoal_session *s = NULL;
    int rc = shoal_enter("MPI_Session_detach_buffer");
    if (rc == 0) rc = arg_session(session, &s);
    if (rc == 0) rc = detach((shoal_buffer **)&s->buffer, buffer_addr, size);
    return shoal_leave_session(rc, s);
}

int PMPI_Session_flush_buffer(MPI_Session session)
{
    shoal_session *s = NULL;
    int rc = shoal_enter("MPI_Session_flush_buffer");
    if (rc == 0) rc = arg_session(session, &s);
    if (rc == 0) rc = shoal_buffer_flush(s->buffer);
    return shoal_leave_session(rc, s);
}

int PMPI_Session_iflush_buffer(MPI_Session session, MPI_Request *request)
{
    shoal_session *s = NULL;
    int rc = shoal_enter("MPI_Session_iflush_buffer");
    if (rc == 0) rc = arg_session(session, &s);
    if (rc == 0) rc = iflush(s->buffer, request);
    return shoal_leave_session(rc, s);
}

#include "weak_buffer.h"
