// SPDX-License-Identifier: BSD-3-Clause
// The constructors of parts of arrays, and the datatypes found by what they can hold.
#include "api/api.h"
#include "api/twin.h"
#include "core/datatype_make.h"

static int give(int rc, const shoal_datatype *t, MPI_Datatype *newtype)
{
    if (rc == 0) *newtype = t->handle;
    return shoal_leave(rc);
}

static int no_memory(const char *call)
{
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_fail(SHOAL_E_NO_MEM, "no memory to widen the array arguments");
    return shoal_leave(rc);
}

static int arg_array(int n, const void *array, const char *argument)
{
    return n > 0 ? shoal_arg_pointer(array, argument) : 0;
}

static int subarray(const char *call, int ndims, const int64_t *sizes, const int64_t *subsizes,
                    const int64_t *starts, int order, MPI_Datatype oldtype, bool large,
                    MPI_Datatype *newtype)
{
    shoal_datatype *old = NULL, *t = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_type(oldtype, &old);
    if (rc == 0) rc = shoal_arg_pointer(newtype, "newtype");
    if (rc == 0) rc = arg_array(ndims, sizes, "array_of_sizes");
    if (rc == 0) rc = arg_array(ndims, subsizes, "array_of_subsizes");
    if (rc == 0) rc = arg_array(ndims, starts, "array_of_starts");
    if (rc == 0) {
        rc = shoal_datatype_subarray(ndims, sizes, subsizes, starts, order, old, large, &t);
    }
    return give(rc, t, newtype);
}

int PMPI_Type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[],
                                const MPI_Count array_of_subsizes[],
                                const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype,
                                MPI_Datatype *newtype)
{
    return subarray("MPI_Type_create_subarray_c", ndims, array_of_sizes, array_of_subsizes,
                    array_of_starts, order, oldtype, true, newtype);
}

int PMPI_Type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[],
                              const int array_of_starts[], int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    static const char call[] = "MPI_Type_create_subarray";
    shoal_twin_array sizes, subsizes, starts;
    shoal_twin_widen(&sizes, array_of_sizes, ndims);
    shoal_twin_widen(&subsizes, array_of_subsizes, ndims);
    shoal_twin_widen(&starts, array_of_starts, ndims);
    int err =
        sizes.failed || subsizes.failed || starts.failed
            ? no_memory(call)
            : subarray(call, ndims, sizes.p, subsizes.p, starts.p, order, oldtype, false, newtype);
    shoal_twin_release(&starts);
    shoal_twin_release(&subsizes);
    shoal_twin_release(&sizes);
    return err;
}

static int darray(const char *call, const shoal_darray *a, MPI_Datatype oldtype, bool large,
                  MPI_Datatype *newtype)
{
    shoal_datatype *old = NULL, *t = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_type(oldtype, &old);
    if (rc == 0) rc = shoal_arg_pointer(newtype, "newtype");
    if (rc == 0) rc = arg_array(a->ndims, a->gsizes, "array_of_gsizes");
    if (rc == 0) rc = arg_array(a->ndims, a->distribs, "array_of_distribs");
    if (rc == 0) rc = arg_array(a->ndims, a->dargs, "array_of_dargs");
    if (rc == 0) rc = arg_array(a->ndims, a->psizes, "array_of_psizes");
    if (rc == 0) rc = shoal_datatype_darray(a, old, large, &t);
    return give(rc, t, newtype);
}

int PMPI_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count array_of_gsizes[],
                              const int array_of_distribs[], const int array_of_dargs[],
                              const int array_of_psizes[], int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    shoal_darray a = {.size = size,
                      .rank = rank,
                      .ndims = ndims,
                      .order = order,
                      .gsizes = array_of_gsizes,
                      .distribs = array_of_distribs,
                      .dargs = array_of_dargs,
                      .psizes = array_of_psizes};
    return darray("MPI_Type_create_darray_c", &a, oldtype, true, newtype);
}

int PMPI_Type_create_darray(int size, int rank, int ndims, const int array_of_gsizes[],
                            const int array_of_distribs[], const int array_of_dargs[],
                            const int array_of_psizes[], int order, MPI_Datatype oldtype,
                            MPI_Datatype *newtype)
{
    static const char call[] = "MPI_Type_create_darray";
    shoal_twin_array gsizes;
    shoal_twin_widen(&gsizes, array_of_gsizes, ndims);
    shoal_darray a = {.size = size,
                      .rank = rank,
                      .ndims = ndims,
                      .order = order,
                      .gsizes = gsizes.p,
                      .distribs = array_of_distribs,
                      .dargs = array_of_dargs,
                      .psizes = array_of_psizes};
    int err = gsizes.failed ? no_memory(call) : darray(call, &a, oldtype, false, newtype);
    shoal_twin_release(&gsizes);
    return err;
}

static int f90(const char *call, int combiner, int p, int r, MPI_Datatype *newtype)
{
    shoal_datatype *t = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_pointer(newtype, "newtype");
    if (rc == 0) rc = shoal_datatype_f90(combiner, p, r, &t);
    return give(rc, t, newtype);
}

int PMPI_Type_create_f90_integer(int r, MPI_Datatype *newtype)
{
    return f90("MPI_Type_create_f90_integer", MPI_COMBINER_F90_INTEGER, MPI_UNDEFINED, r, newtype);
}

int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype)
{
    return f90("MPI_Type_create_f90_real", MPI_COMBINER_F90_REAL, p, r, newtype);
}

int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype)
{
    return f90("MPI_Type_create_f90_complex", MPI_COMBINER_F90_COMPLEX, p, r, newtype);
}

int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{
    shoal_datatype *t = NULL;
    int rc = shoal_enter("MPI_Type_match_size");
    if (rc == 0) rc = shoal_arg_pointer(datatype, "datatype");
    if (rc == 0) rc = shoal_datatype_match_size(typeclass, size, &t);
    return give(rc, t, datatype);
}

int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type,
                              MPI_Datatype *pair_type)
{
    shoal_datatype *value = NULL, *index = NULL;
    int rc = shoal_enter("MPI_Type_get_value_index");
    if (rc == 0) rc = shoal_arg_type(value_type, &value);
    if (rc == 0) rc = shoal_arg_type(index_type, &index);
    if (rc == 0) rc = shoal_arg_pointer(pair_type, "pair_type");
    if (rc == 0) *pair_type = shoal_datatype_value_index(value, index);
    return shoal_leave(rc);
}

#include "weak_type_array.h"
