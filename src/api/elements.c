// SPDX-License-Identifier: BSD-3-Clause
// What a status says of the data received: counts of whole datatypes and of basic elements.
#include "api/api.h"
#include "core/status.h"

int PMPI_Get_count_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    shoal_datatype *t = NULL;
    int rc = shoal_enter("MPI_Get_count");
    if (rc == 0) rc = shoal_arg_pointer(status, "status");
    if (rc == 0) rc = shoal_arg_type(datatype, &t);
    if (rc == 0) rc = shoal_arg_pointer(count, "count");
    if (rc == 0) {
        int64_t bytes = shoal_status_bytes(status);
        if (t->size == 0)
            *count = bytes == 0 ? 0 : MPI_UNDEFINED;
        else
            *count = bytes % t->size == 0 ? bytes / t->size : MPI_UNDEFINED;
    }
    return shoal_leave(rc);
}

static int get_elements(const char *call, const MPI_Status *status, MPI_Datatype datatype,
                        MPI_Count *count)
{
    shoal_datatype *t = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_pointer(status, "status");
    if (rc == 0) rc = shoal_arg_type(datatype, &t);
    if (rc == 0) rc = shoal_arg_pointer(count, "count");
    if (rc == 0) rc = shoal_datatype_elements(t, shoal_status_bytes(status), count);
    return shoal_leave(rc);
}

int PMPI_Get_elements_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    return get_elements("MPI_Get_elements", status, datatype, count);
}

int PMPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    return get_elements("MPI_Get_elements_x", status, datatype, count);
}

static int set_elements(const char *call, MPI_Status *status, MPI_Datatype datatype,
                        MPI_Count count)
{
    shoal_datatype *t = NULL;
    int64_t bytes;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_pointer(status, "status");
    if (rc == 0) rc = shoal_arg_type(datatype, &t);
    if (rc == 0) rc = shoal_arg_count(count, "count");
    if (rc == 0) rc = shoal_datatype_element_bytes(t, count, &bytes);
    if (rc == 0) shoal_status_set_bytes(status, bytes);
    return shoal_leave(rc);
}

int PMPI_Status_set_elements_c(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    return set_elements("MPI_Status_set_elements", status, datatype, count);
}

int PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    return set_elements("MPI_Status_set_elements_x", status, datatype, count);
}

#include "weak_elements.h"
