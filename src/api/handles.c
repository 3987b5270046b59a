// SPDX-License-Identifier: BSD-3-Clause
// Handles as ints and back, for languages and files that cannot hold a pointer. They may be
// called at any time, raise no errors and need no lock; an int that names nothing gives the null
// handle.
#include "api/api.h"

int PMPI_Comm_toint(MPI_Comm comm)
{
    return shoal_handle_to_int(comm);
}

MPI_Comm PMPI_Comm_fromint(int comm)
{
    return shoal_handle_from_int(SHOAL_KIND_COMM, comm, MPI_COMM_NULL);
}

int PMPI_Errhandler_toint(MPI_Errhandler errhandler)
{
    return shoal_handle_to_int(errhandler);
}

MPI_Errhandler PMPI_Errhandler_fromint(int errhandler)
{
    return shoal_handle_from_int(SHOAL_KIND_ERRHANDLER, errhandler, MPI_ERRHANDLER_NULL);
}

int PMPI_File_toint(MPI_File file)
{
    return shoal_handle_to_int(file);
}

MPI_File PMPI_File_fromint(int file)
{
    return shoal_handle_from_int(SHOAL_KIND_FILE, file, MPI_FILE_NULL);
}

int PMPI_Group_toint(MPI_Group group)
{
    return shoal_handle_to_int(group);
}

MPI_Group PMPI_Group_fromint(int group)
{
    return shoal_handle_from_int(SHOAL_KIND_GROUP, group, MPI_GROUP_NULL);
}

int PMPI_Info_toint(MPI_Info info)
{
    return shoal_handle_to_int(info);
}

MPI_Info PMPI_Info_fromint(int info)
{
    return shoal_handle_from_int(SHOAL_KIND_INFO, info, MPI_INFO_NULL);
}

int PMPI_Message_toint(MPI_Message message)
{
    return shoal_handle_to_int(message);
}

MPI_Message PMPI_Message_fromint(int message)
{
    return shoal_handle_from_int(SHOAL_KIND_MESSAGE, message, MPI_MESSAGE_NULL);
}

int PMPI_Op_toint(MPI_Op op)
{
    return shoal_handle_to_int(op);
}

MPI_Op PMPI_Op_fromint(int op)
{
    return shoal_handle_from_int(SHOAL_KIND_OP, op, MPI_OP_NULL);
}

int PMPI_Request_toint(MPI_Request request)
{
    return shoal_handle_to_int(request);
}

MPI_Request PMPI_Request_fromint(int request)
{
    return shoal_handle_from_int(SHOAL_KIND_REQUEST, request, MPI_REQUEST_NULL);
}

int PMPI_Session_toint(MPI_Session session)
{
    return shoal_handle_to_int(session);
}

MPI_Session PMPI_Session_fromint(int session)
{
    return shoal_handle_from_int(SHOAL_KIND_SESSION, session, MPI_SESSION_NULL);
}

int PMPI_Type_toint(MPI_Datatype datatype)
{
    return shoal_handle_to_int(datatype);
}

MPI_Datatype PMPI_Type_fromint(int datatype)
{
    return shoal_handle_from_int(SHOAL_KIND_DATATYPE, datatype, MPI_DATATYPE_NULL);
}

int PMPI_Win_toint(MPI_Win win)
{
    return shoal_handle_to_int(win);
}

MPI_Win PMPI_Win_fromint(int win)
{
    return shoal_handle_from_int(SHOAL_KIND_WIN, win, MPI_WIN_NULL);
}

#include "weak_handles.h"
