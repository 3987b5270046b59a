// SPDX-License-Identifier: BSD-3-Clause
// The fields of a status. (Counts are in elements.c.)
#include "core/status.h"
#include "api/api.h"

int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    shoal_enter_any_time("MPI_Test_cancelled");
    int rc = shoal_arg_pointer(status, "status");
    if (rc == 0) rc = shoal_arg_pointer(flag, "flag");
    if (rc == 0) *flag = shoal_status_cancelled(status);
    return shoal_leave(rc);
}

int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    shoal_enter_any_time("MPI_Status_set_cancelled");
    int rc = shoal_arg_pointer(status, "status");
    if (rc == 0) shoal_status_set_cancelled(status, flag != 0);
    return shoal_leave(rc);
}

static int get(const char *call, const MPI_Status *status, int *out, size_t field)
{
    shoal_enter_any_time(call);
    int rc = shoal_arg_pointer(status, "status");
    if (rc == 0) rc = shoal_arg_pointer(out, "the result");
    if (rc == 0) memcpy(out, (const char *)status + field, sizeof *out);
    return shoal_leave(rc);
}

static int set(const char *call, MPI_Status *status, int value, size_t field)
{
    shoal_enter_any_time(call);
    int rc = shoal_arg_pointer(status, "status");
    if (rc == 0) memcpy((char *)status + field, &value, sizeof value);
    return shoal_leave(rc);
}

int PMPI_Status_get_source(const MPI_Status *status, int *source)
{
    return get("MPI_Status_get_source", status, source, offsetof(MPI_Status, MPI_SOURCE));
}

int PMPI_Status_get_tag(const MPI_Status *status, int *tag)
{
    return get("MPI_Status_get_tag", status, tag, offsetof(MPI_Status, MPI_TAG));
}

int PMPI_Status_get_error(const MPI_Status *status, int *error)
{
    return get("MPI_Status_get_error", status, error, offsetof(MPI_Status, MPI_ERROR));
}

int PMPI_Status_set_source(MPI_Status *status, int source)
{
    return set("MPI_Status_set_source", status, source, offsetof(MPI_Status, MPI_SOURCE));
}

int PMPI_Status_set_tag(MPI_Status *status, int tag)
{
    return set("MPI_Status_set_tag", status, tag, offsetof(MPI_Status, MPI_TAG));
}

int PMPI_Status_set_error(MPI_Status *status, int error)
{
    return set("MPI_Status_set_error", status, error, offsetof(MPI_Status, MPI_ERROR));
}

#include "weak_status.h"
