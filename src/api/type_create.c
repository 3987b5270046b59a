// SPDX-License-Identifier: BSD-3-Clause
// The constructors of datatypes. Both forms of each are here, because a datatype remembers which
// one made it: MPI_Type_get_contents gives back ints for the one and large counts for the other.
// The int forms widen their arrays and go the same way.
#include <stdlib.h>

#include "api/api.h"
#include "api/twin.h"
#include "core/datatype_make.h"

static int give(int rc, const shoal_datatype *t, MPI_Datatype *newtype)
{
    if (rc == 0) *newtype = t->handle;
    return shoal_leave(rc);
}

// What every constructor begins with.
static int begin(const char *call, MPI_Datatype oldtype, const MPI_Datatype *newtype,
                 shoal_datatype **old_out)
{
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_type(oldtype, old_out);
    if (rc == 0) rc = shoal_arg_pointer(newtype, "newtype");
    return rc;
}

static int arg_array(int64_t n, const void *array, const char *argument)
{
    return n > 0 ? shoal_arg_pointer(array, argument) : 0;
}

static int no_memory(const char *call)
{
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_fail(SHOAL_E_NO_MEM, "no memory to widen the array arguments");
    return shoal_leave(rc);
}

static int contiguous(const char *call, MPI_Count count, MPI_Datatype oldtype, bool large,
                      MPI_Datatype *newtype)
{
    shoal_datatype *old = NULL, *t = NULL;
    int rc = begin(call, oldtype, newtype, &old);
    if (rc == 0) rc = shoal_datatype_contiguous(count, old, large, &t);
    return give(rc, t, newtype);
}

int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return contiguous("MPI_Type_contiguous", count, oldtype, false, newtype);
}

int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return contiguous("MPI_Type_contiguous_c", count, oldtype, true, newtype);
}

int PMPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                       MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    shoal_datatype *old = NULL, *t = NULL;
    int rc = begin("MPI_Type_vector_c", oldtype, newtype, &old);
    if (rc == 0) rc = shoal_datatype_vector(count, blocklength, stride, old, true, &t);
    return give(rc, t, newtype);
}

int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype,
                     MPI_Datatype *newtype)
{
    shoal_datatype *old = NULL, *t = NULL;
    int rc = begin("MPI_Type_vector", oldtype, newtype, &old);
    if (rc == 0) rc = shoal_datatype_vector(count, blocklength, stride, old, false, &t);
    return give(rc, t, newtype);
}

int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                               MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    shoal_datatype *old = NULL, *t = NULL;
    int rc = begin("MPI_Type_create_hvector_c", oldtype, newtype, &old);
    if (rc == 0) rc = shoal_datatype_hvector(count, blocklength, stride, old, true, &t);
    return give(rc, t, newtype);
}

int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                             MPI_Datatype *newtype)
{
    shoal_datatype *old = NULL, *t = NULL;
    int rc = begin("MPI_Type_create_hvector", oldtype, newtype, &old);
    if (rc == 0) rc = shoal_datatype_hvector(count, blocklength, stride, old, false, &t);
    return give(rc, t, newtype);
}

// A constructor of count, blocklengths and displacements; the lists are of 64-bit numbers.
typedef int indexed_fn(int64_t count, const int64_t *lengths, const int64_t *disps,
                       shoal_datatype *old, bool large, shoal_datatype **out);

static int indexed(const char *call, indexed_fn *make, MPI_Count count, const int64_t *lengths,
                   const int64_t *disps, MPI_Datatype oldtype, bool large, MPI_Datatype *newtype)
{
    shoal_datatype *old = NULL, *t = NULL;
    int rc = begin(call, oldtype, newtype, &old);
    if (rc == 0) rc = arg_array(count, lengths, "array_of_blocklengths");
    if (rc == 0) rc = arg_array(count, disps, "array_of_displacements");
    if (rc == 0) rc = make(count, lengths, disps, old, large, &t);
    return give(rc, t, newtype);
}

int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                        const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                        MPI_Datatype *newtype)
{
    return indexed("MPI_Type_indexed_c", shoal_datatype_indexed, count, array_of_blocklengths,
                   array_of_displacements, oldtype, true, newtype);
}

int PMPI_Type_indexed(int count, const int array_of_blocklengths[],
                      const int array_of_displacements[], MPI_Datatype oldtype,
                      MPI_Datatype *newtype)
{
    static const char call[] = "MPI_Type_indexed";
    shoal_twin_array lengths, disps;
    shoal_twin_widen(&lengths, array_of_blocklengths, count);
    shoal_twin_widen(&disps, array_of_displacements, count);
    int err = lengths.failed || disps.failed ? no_memory(call)
                                             : indexed(call, shoal_datatype_indexed, count,
                                                       lengths.p, disps.p, oldtype, false, newtype);
    shoal_twin_release(&disps);
    shoal_twin_release(&lengths);
    return err;
}

int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                                const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                MPI_Datatype *newtype)
{
    return indexed("MPI_Type_create_hindexed_c", shoal_datatype_hindexed, count,
                   array_of_blocklengths, array_of_displacements, oldtype, true, newtype);
}

int PMPI_Type_create_hindexed(int count, const int array_of_blocklengths[],
                              const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    static const char call[] = "MPI_Type_create_hindexed";
    shoal_twin_array lengths;
    shoal_twin_widen(&lengths, array_of_blocklengths, count);
    int err = lengths.failed ? no_memory(call)
                             : indexed(call, shoal_datatype_hindexed, count, lengths.p,
                                       array_of_displacements, oldtype, false, newtype);
    shoal_twin_release(&lengths);
    return err;
}

typedef int block_fn(int64_t count, int64_t length, const int64_t *disps, shoal_datatype *old,
                     bool large, shoal_datatype **out);

static int indexed_block(const char *call, block_fn *make, MPI_Count count, MPI_Count length,
                         const int64_t *disps, MPI_Datatype oldtype, bool large,
                         MPI_Datatype *newtype)
{
    shoal_datatype *old = NULL, *t = NULL;
    int rc = begin(call, oldtype, newtype, &old);
    if (rc == 0) rc = arg_array(count, disps, "array_of_displacements");
    if (rc == 0) rc = make(count, length, disps, old, large, &t);
    return give(rc, t, newtype);
}

int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength,
                                     const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                     MPI_Datatype *newtype)
{
    return indexed_block("MPI_Type_create_indexed_block_c", shoal_datatype_indexed_block, count,
                         blocklength, array_of_displacements, oldtype, true, newtype);
}

int PMPI_Type_create_indexed_block(int count, int blocklength, const int array_of_displacements[],
                                   MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    static const char call[] = "MPI_Type_create_indexed_block";
    shoal_twin_array disps;
    shoal_twin_widen(&disps, array_of_displacements, count);
    int err = disps.failed ? no_memory(call)
                           : indexed_block(call, shoal_datatype_indexed_block, count, blocklength,
                                           disps.p, oldtype, false, newtype);
    shoal_twin_release(&disps);
    return err;
}

int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength,
                                      const MPI_Count array_of_displacements[],
                                      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return indexed_block("MPI_Type_create_hindexed_block_c", shoal_datatype_hindexed_block, count,
                         blocklength, array_of_displacements, oldtype, true, newtype);
}

int PMPI_Type_create_hindexed_block(int count, int blocklength,
                                    const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                                    MPI_Datatype *newtype)
{
    return indexed_block("MPI_Type_create_hindexed_block", shoal_datatype_hindexed_block, count,
                         blocklength, array_of_displacements, oldtype, false, newtype);
}

// The datatypes behind an array of handles; free() it.
static int resolve_types(int64_t count, const MPI_Datatype *handles, shoal_datatype ***out)
{
    int rc = shoal_arg_count(count, "count");
    if (rc == 0) rc = arg_array(count, handles, "array_of_types");
    if (rc != 0) return rc;
    shoal_datatype **types = calloc((size_t)count + 1, sizeof *types);
    if (!types) return shoal_fail(SHOAL_E_NO_MEM, "no memory for %lld types", (long long)count);
    for (int64_t i = 0; i < count && rc == 0; i++) {
        types[i] = shoal_datatype_get(handles[i]);
        if (!types[i]) {
            rc = shoal_fail(SHOAL_E_TYPE, "array_of_types[%lld] (%p) is %s", (long long)i,
                            (void *)handles[i],
                            handles[i] == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL" : "no datatype");
        }
    }
    if (rc == 0)
        *out = types;
    else
        free(types);
    return rc;
}

static int structure(const char *call, int64_t count, const int64_t *lengths, const int64_t *disps,
                     const MPI_Datatype *handles, bool large, MPI_Datatype *newtype)
{
    shoal_datatype **types = NULL, *t = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_pointer(newtype, "newtype");
    if (rc == 0) rc = arg_array(count, lengths, "array_of_blocklengths");
    if (rc == 0) rc = arg_array(count, disps, "array_of_displacements");
    if (rc == 0) rc = resolve_types(count, handles, &types);
    if (rc == 0) rc = shoal_datatype_struct(count, lengths, disps, types, large, &t);
    free(types);
    return give(rc, t, newtype);
}

int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                              const MPI_Count array_of_displacements[],
                              const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    return structure("MPI_Type_create_struct_c", count, array_of_blocklengths,
                     array_of_displacements, array_of_types, true, newtype);
}

int PMPI_Type_create_struct(int count, const int array_of_blocklengths[],
                            const MPI_Aint array_of_displacements[],
                            const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    static const char call[] = "MPI_Type_create_struct";
    shoal_twin_array lengths;
    shoal_twin_widen(&lengths, array_of_blocklengths, count);
    int err = lengths.failed ? no_memory(call)
                             : structure(call, count, lengths.p, array_of_displacements,
                                         array_of_types, false, newtype);
    shoal_twin_release(&lengths);
    return err;
}

int PMPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent,
                               MPI_Datatype *newtype)
{
    shoal_datatype *old = NULL, *t = NULL;
    int rc = begin("MPI_Type_create_resized_c", oldtype, newtype, &old);
    if (rc == 0) rc = shoal_datatype_resized(old, lb, extent, true, &t);
    return give(rc, t, newtype);
}

int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent,
                             MPI_Datatype *newtype)
{
    shoal_datatype *old = NULL, *t = NULL;
    int rc = begin("MPI_Type_create_resized", oldtype, newtype, &old);
    if (rc == 0) rc = shoal_datatype_resized(old, lb, extent, false, &t);
    return give(rc, t, newtype);
}

#include "weak_type_create.h"
