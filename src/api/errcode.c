// SPDX-License-Identifier: BSD-3-Clause
// MPI_Error_class, MPI_Error_string, and the classes, codes and strings that the user adds and
// removes. All of them may be called at any time.
#include <string.h>

#include "api/api.h"

int PMPI_Error_class(int errorcode, int *errorclass)
{
    shoal_enter_any_time("MPI_Error_class");
    int rc = shoal_arg_pointer(errorclass, "errorclass");
    if (rc == 0) *errorclass = shoal_errcode_class(errorcode);
    return shoal_leave(rc);
}

int PMPI_Error_string(int errorcode, char *string, int *resultlen)
{
    shoal_enter_any_time("MPI_Error_string");
    int rc = shoal_arg_pointer(string, "string");
    if (rc == 0) rc = shoal_arg_pointer(resultlen, "resultlen");
    if (rc == 0) {
        // Only what is needed of the user's buffer is written.
        char text[MPI_MAX_ERROR_STRING];
        shoal_errcode_text(errorcode, text);
        *resultlen = (int)strlen(text);
        memcpy(string, text, strlen(text) + 1);
    }
    return shoal_leave(rc);
}

int PMPI_Add_error_class(int *errorclass)
{
    shoal_enter_any_time("MPI_Add_error_class");
    int rc = shoal_arg_pointer(errorclass, "errorclass");
    if (rc == 0) rc = shoal_errcode_add_class(errorclass);
    return shoal_leave(rc);
}

int PMPI_Add_error_code(int errorclass, int *errorcode)
{
    shoal_enter_any_time("MPI_Add_error_code");
    int rc = shoal_arg_pointer(errorcode, "errorcode");
    if (rc == 0) rc = shoal_errcode_add_code(errorclass, errorcode);
    return shoal_leave(rc);
}

int PMPI_Add_error_string(int errorcode, const char *string)
{
    shoal_enter_any_time("MPI_Add_error_string");
    int rc = shoal_arg_pointer(string, "string");
    if (rc == 0) rc = shoal_errcode_add_string(errorcode, string);
    return shoal_leave(rc);
}

int PMPI_Remove_error_class(int errorclass)
{
    shoal_enter_any_time("MPI_Remove_error_class");
    return shoal_leave(shoal_errcode_remove_class(errorclass));
}

int PMPI_Remove_error_code(int errorcode)
{
    shoal_enter_any_time("MPI_Remove_error_code");
    return shoal_leave(shoal_errcode_remove_code(errorcode));
}

int PMPI_Remove_error_string(int errorcode)
{
    shoal_enter_any_time("MPI_Remove_error_string");
    return shoal_leave(shoal_errcode_remove_string(errorcode));
}

#include "weak_errcode.h"
