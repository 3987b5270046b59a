// SPDX-License-Identifier: BSD-3-Clause
// Datatypes as objects: commit, dup and free, names, and what can be asked about one.
#include "api/api.h"
#include "core/datatype_make.h"

int PMPI_Type_commit(MPI_Datatype *datatype)
{
    shoal_datatype *t = NULL;
    int rc = shoal_enter("MPI_Type_commit");
    if (rc == 0) rc = shoal_arg_pointer(datatype, "datatype");
    if (rc == 0) rc = shoal_arg_type(*datatype, &t);
    if (rc == 0) rc = shoal_datatype_commit(t);
    return shoal_leave(rc);
}

int PMPI_Type_free(MPI_Datatype *datatype)
{
    shoal_datatype *t = NULL;
    int rc = shoal_enter("MPI_Type_free");
    if (rc == 0) rc = shoal_arg_pointer(datatype, "datatype");
    if (rc == 0) rc = shoal_arg_type(*datatype, &t);
    if (rc == 0 && t->predefined) {
        rc = shoal_fail(SHOAL_E_TYPE, "%s is predefined and cannot be freed",
                        shoal_datatype_label(t));
    }
    if (rc == 0 && t->handles == 1) {
        // A callback that refuses keeps the datatype alive.
        int user_error = 0;
        rc = shoal_attr_delete_all(&t->attrs, t->handle, SHOAL_ATTR_TYPE, &user_error);
        if (user_error != 0) rc = user_error;
    }
    if (rc == 0) {
        t->handles--;
        shoal_datatype_drop(t);
        *datatype = MPI_DATATYPE_NULL;
    }
    return shoal_leave(rc);
}

int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    shoal_datatype *old = NULL, *t = NULL;
    int rc = shoal_enter("MPI_Type_dup");
    if (rc == 0) rc = shoal_arg_type(oldtype, &old);
    if (rc == 0) rc = shoal_arg_pointer(newtype, "newtype");
    if (rc == 0) rc = shoal_datatype_dup(old, &t);
    if (rc != 0) return shoal_leave(rc);
    int user_error = 0;
    rc = shoal_attr_copy_all(&old->attrs, oldtype, SHOAL_ATTR_TYPE, &t->attrs, &user_error);
    if (user_error != 0) rc = user_error;
    if (rc == 0) {
        *newtype = t->handle;
    } else {
        *newtype = MPI_DATATYPE_NULL;
        shoal_attr_delete_all(&t->attrs, t->handle, SHOAL_ATTR_TYPE, &user_error);
        t->handles = 0;
        shoal_datatype_drop(t);
    }
    return shoal_leave(rc);
}

int PMPI_Type_set_name(MPI_Datatype datatype, const char *type_name)
{
    shoal_datatype *t = NULL;
    int rc = shoal_enter("MPI_Type_set_name");
    if (rc == 0) rc = shoal_arg_type(datatype, &t);
    if (rc == 0) rc = shoal_name_set(t->name, type_name);
    return shoal_leave(rc);
}

int PMPI_Type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen)
{
    shoal_datatype *t = NULL;
    int rc = shoal_enter("MPI_Type_get_name");
    // The null handle has a name too.
    if (rc == 0 && datatype != MPI_DATATYPE_NULL) rc = shoal_arg_type(datatype, &t);
    if (rc == 0) rc = shoal_arg_pointer(type_name, "type_name");
    if (rc == 0) rc = shoal_arg_pointer(resultlen, "resultlen");
    if (rc == 0) shoal_name_get(t ? t->name : "MPI_DATATYPE_NULL", type_name, resultlen);
    return shoal_leave(rc);
}

static int get_size(const char *call, MPI_Datatype datatype, MPI_Count *size)
{
    shoal_datatype *t = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_type(datatype, &t);
    if (rc == 0) rc = shoal_arg_pointer(size, "size");
    if (rc == 0) *size = t->size;
    return shoal_leave(rc);
}

int PMPI_Type_size_c(MPI_Datatype datatype, MPI_Count *size)
{
    return get_size("MPI_Type_size", datatype, size);
}

int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size)
{
    return get_size("MPI_Type_size_x", datatype, size);
}

static int get_extent(const char *call, bool data_only, MPI_Datatype datatype, MPI_Count *lb,
                      MPI_Count *extent)
{
    shoal_datatype *t = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_type(datatype, &t);
    if (rc == 0) rc = shoal_arg_pointer(lb, data_only ? "true_lb" : "lb");
    if (rc == 0) rc = shoal_arg_pointer(extent, data_only ? "true_extent" : "extent");
    if (rc == 0) {
        *lb = data_only ? t->true_lb : t->lb;
        *extent = data_only ? t->true_extent : t->extent;
    }
    return shoal_leave(rc);
}

int PMPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    return get_extent("MPI_Type_get_extent", false, datatype, lb, extent);
}

int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    return get_extent("MPI_Type_get_extent_x", false, datatype, lb, extent);
}

int PMPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
    return get_extent("MPI_Type_get_true_extent", true, datatype, true_lb, true_extent);
}

int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
    return get_extent("MPI_Type_get_true_extent_x", true, datatype, true_lb, true_extent);
}

int PMPI_Get_address(const void *location, MPI_Aint *address)
{
    int rc = shoal_enter("MPI_Get_address");
    if (rc == 0) rc = shoal_arg_pointer(address, "address");
    if (rc == 0) *address = (MPI_Aint)location;
    return shoal_leave(rc);
}

#include "weak_datatype.h"
