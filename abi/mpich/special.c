// SPDX-License-Identifier: BSD-3-Clause
// Functions of the MPICH ABI that do more than convert argument by argument.
#include <stdlib.h>
#include <string.h>

#include "mpich/door.h"

// This is not the standard ABI: mpi4py and others ask, to tell the two apart.
int PMPI_Abi_get_version(int *abi_major, int *abi_minor)
{
    if (abi_major != NULL) *abi_major = -1;
    if (abi_minor != NULL) *abi_minor = -1;
    return MPI_SUCCESS;
}

int PMPI_Pcontrol(const int level, ...)
{
    return error_out(engine.MPI_Pcontrol(level));
}

// Strings whose longest length is smaller here than in the engine.

static void copy_text(char *to, const char *from, int limit, int *length)
{
    size_t n = strnlen(from, (size_t)limit - 1);
    memcpy(to, from, n);
    to[n] = '\0';
    if (length != NULL) *length = (int)n;
}

int PMPI_Get_processor_name(char *name, int *resultlen)
{
    char text[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    int err = engine.MPI_Get_processor_name(name != NULL ? text : NULL,
                                            resultlen != NULL ? &length : NULL);
    if (err == MPI_SUCCESS) copy_text(name, text, MPICH_MAX_PROCESSOR_NAME, resultlen);
    return error_out(err);
}

int PMPI_Open_port(mpich_Info info, char *port_name)
{
    char text[MPI_MAX_PORT_NAME] = "";
    int err = engine.MPI_Open_port(info_in(info), port_name != NULL ? text : NULL);
    if (err == MPI_SUCCESS) copy_text(port_name, text, MPICH_MAX_PORT_NAME, NULL);
    return error_out(err);
}

int PMPI_Lookup_name(const char *service_name, mpich_Info info, char *port_name)
{
    char text[MPI_MAX_PORT_NAME] = "";
    int err = engine.MPI_Lookup_name(service_name, info_in(info), port_name != NULL ? text : NULL);
    if (err == MPI_SUCCESS) copy_text(port_name, text, MPICH_MAX_PORT_NAME, NULL);
    return error_out(err);
}

// Predefined attributes whose value, an int that the user gets the address of, differs.

static void convert_comm_attr(int keyval, void **value)
{
    static int host, io, last_used;
    int *place = keyval == MPI_HOST           ? &host
                 : keyval == MPI_IO           ? &io
                 : keyval == MPI_LASTUSEDCODE ? &last_used
                                              : NULL;
    if (place == NULL || *value == NULL) return;
    int standard = *(int *)*value;
    if (keyval != MPI_LASTUSEDCODE)
        *place = rank_out(standard);
    else
        *place = standard == MPI_ERR_LASTCODE ? MPICH_ERR_LASTCODE : error_out(standard);
    *value = place;
}

int PMPI_Comm_get_attr(mpich_Comm comm, int comm_keyval, void *attribute_val, int *flag)
{
    int keyval = keyval_in(comm_keyval);
    int err = engine.MPI_Comm_get_attr(comm_in(comm), keyval, attribute_val, flag);
    if (err == MPI_SUCCESS && *flag) convert_comm_attr(keyval, attribute_val);
    return error_out(err);
}

int PMPI_Attr_get(mpich_Comm comm, int keyval, void *attribute_val, int *flag)
{
    return PMPI_Comm_get_attr(comm, keyval, attribute_val, flag);
}

static void convert_win_attr(int keyval, void **value)
{
    static const int flavors[] = {MPICH_WIN_FLAVOR_CREATE, MPICH_WIN_FLAVOR_ALLOCATE,
                                  MPICH_WIN_FLAVOR_DYNAMIC, MPICH_WIN_FLAVOR_SHARED};
    static const int models[] = {MPICH_WIN_UNIFIED, MPICH_WIN_SEPARATE};
    if (keyval == MPI_WIN_CREATE_FLAVOR)
        *value = (void *)(uintptr_t)&flavors[*(int *)*value - MPI_WIN_FLAVOR_CREATE];
    else if (keyval == MPI_WIN_MODEL)
        *value = (void *)(uintptr_t)&models[*(int *)*value - MPI_WIN_UNIFIED];
}

int PMPI_Win_get_attr(mpich_Win win, int win_keyval, void *attribute_val, int *flag)
{
    int keyval = keyval_in(win_keyval);
    int err = engine.MPI_Win_get_attr(win_in(win), keyval, attribute_val, flag);
    if (err == MPI_SUCCESS && *flag) convert_win_attr(keyval, attribute_val);
    return error_out(err);
}

// What a datatype was made of. Among the integers there may be an order and distributions: the
// order is the last one, and before it stand distributions, arguments and process grid.

static void convert_integers(int combiner, int *integers, MPI_Count n)
{
    if (combiner == MPI_COMBINER_SUBARRAY || combiner == MPI_COMBINER_DARRAY)
        integers[n - 1] = array_order_out(integers[n - 1]);
    if (combiner != MPI_COMBINER_DARRAY) return;
    int ndims = integers[2];
    int *distributions = integers + n - 1 - 3 * (MPI_Count)ndims;
    ints_out(distributions, ndims, distribution_out);
    ints_out(distributions + ndims, ndims, distribution_argument_out);
}

static MPI_Datatype *datatype_room(MPI_Count n)
{
    MPI_Datatype *room = n >= 0 ? calloc((size_t)n + 1, sizeof *room) : NULL;
    return room;
}

static void give_datatypes(mpich_Datatype *to, const MPI_Datatype *from, MPI_Count n)
{
    for (MPI_Count i = 0; i < n; i++) to[i] = datatype_out(from[i]);
}

int PMPI_Type_get_contents(mpich_Datatype datatype, int max_integers, int max_addresses,
                           int max_datatypes, int array_of_integers[],
                           MPI_Aint array_of_addresses[], mpich_Datatype array_of_datatypes[])
{
    MPI_Datatype type = datatype_in(datatype);
    int integers = 0, addresses = 0, datatypes = 0, combiner = 0;
    int err = engine.MPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner);
    if (err != MPI_SUCCESS) return error_out(err);
    MPI_Datatype *room = datatype_room(datatypes);
    if (room == NULL) return MPICH_ERR_NO_MEM;
    int room_datatypes = max_datatypes < datatypes ? max_datatypes : datatypes;
    err = engine.MPI_Type_get_contents(type, max_integers, max_addresses, room_datatypes,
                                       array_of_integers, array_of_addresses,
                                       array_of_datatypes != NULL ? room : NULL);
    if (err == MPI_SUCCESS) {
        convert_integers(combiner, array_of_integers, integers);
        give_datatypes(array_of_datatypes, room, datatypes);
    }
    free(room);
    return error_out(err);
}

int PMPI_Type_get_contents_c(mpich_Datatype datatype, MPI_Count max_integers,
                             MPI_Count max_addresses, MPI_Count max_large_counts,
                             MPI_Count max_datatypes, int array_of_integers[],
                             MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
                             mpich_Datatype array_of_datatypes[])
{
    MPI_Datatype type = datatype_in(datatype);
    MPI_Count integers = 0, addresses = 0, large = 0, datatypes = 0;
    int combiner = 0;
    int err =
        engine.MPI_Type_get_envelope_c(type, &integers, &addresses, &large, &datatypes, &combiner);
    if (err != MPI_SUCCESS) return error_out(err);
    MPI_Datatype *room = datatype_room(datatypes);
    if (room == NULL) return MPICH_ERR_NO_MEM;
    MPI_Count room_datatypes = max_datatypes < datatypes ? max_datatypes : datatypes;
    err = engine.MPI_Type_get_contents_c(
        type, max_integers, max_addresses, max_large_counts, room_datatypes, array_of_integers,
        array_of_addresses, array_of_large_counts, array_of_datatypes != NULL ? room : NULL);
    if (err == MPI_SUCCESS) {
        convert_integers(combiner, array_of_integers, integers);
        give_datatypes(array_of_datatypes, room, datatypes);
    }
    free(room);
    return error_out(err);
}

// Functions of MPI-1 that later versions have removed.

static int extent_of(mpich_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
    return engine.MPI_Type_get_extent(datatype_in(datatype), lb, extent);
}

int PMPI_Type_extent(mpich_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb = 0;
    return error_out(extent_of(datatype, &lb, extent));
}

int PMPI_Type_lb(mpich_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent = 0;
    return error_out(extent_of(datatype, displacement, &extent));
}

int PMPI_Type_ub(mpich_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint lb = 0;
    int err = extent_of(datatype, &lb, displacement);
    if (err == MPI_SUCCESS) *displacement += lb;
    return error_out(err);
}

// Spawning: the codes of the processes are known at the root, where their number is.

static bool is_root(mpich_Comm comm, int root)
{
    int rank = -1;
    return engine.MPI_Comm_rank(comm_in(comm), &rank) == MPI_SUCCESS && rank == root;
}

int PMPI_Comm_spawn(const char *command, char *argv[], int maxprocs, mpich_Info info, int root,
                    mpich_Comm comm, mpich_Comm *intercomm, int array_of_errcodes[])
{
    MPI_Comm made = MPI_COMM_NULL;
    int err =
        engine.MPI_Comm_spawn(command, argv, maxprocs, info_in(info), rank_in(root), comm_in(comm),
                              intercomm != NULL ? &made : NULL, array_of_errcodes);
    if (err == MPI_SUCCESS) *intercomm = comm_out(made);
    if (array_of_errcodes != NULL && is_root(comm, root))
        ints_out(array_of_errcodes, maxprocs, error_out);
    return error_out(err);
}

int PMPI_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[],
                             const int array_of_maxprocs[], const mpich_Info array_of_info[],
                             int root, mpich_Comm comm, mpich_Comm *intercomm,
                             int array_of_errcodes[])
{
    bool here = is_root(comm, root);
    MPI_Comm made = MPI_COMM_NULL;
    door_array infos;
    infos_in(&infos, here ? array_of_info : NULL, count);
    int err = infos.failed
                  ? MPI_ERR_NO_MEM
                  : engine.MPI_Comm_spawn_multiple(count, array_of_commands, array_of_argv,
                                                   array_of_maxprocs, infos.p, rank_in(root),
                                                   comm_in(comm), intercomm != NULL ? &made : NULL,
                                                   array_of_errcodes);
    door_release(&infos);
    if (err == MPI_SUCCESS) *intercomm = comm_out(made);
    int processes = 0;
    for (int i = 0; here && array_of_maxprocs != NULL && i < count; i++)
        processes += array_of_maxprocs[i];
    ints_out(array_of_errcodes, processes, error_out);
    return error_out(err);
}

// Files are no ints here: their ints are the engine's.

int PMPI_File_toint(mpich_File file)
{
    return file == NULL ? 0 : engine.MPI_File_toint(file_in(file));
}

mpich_File PMPI_File_fromint(int file)
{
    return file == 0 ? NULL : file_out(engine.MPI_File_fromint(file));
}

mpich_Fint PMPI_File_c2f(mpich_File file)
{
    return PMPI_File_toint(file);
}

mpich_File PMPI_File_f2c(mpich_Fint file)
{
    return PMPI_File_fromint(file);
}

// Statuses in Fortran are the same five words.

extern mpich_Fint *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;
extern mpich_F08_status *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE;

static int copy_status(void *to, const void *from)
{
    const void *const ignored[] = {NULL,
                                   MPICH_STATUS_IGNORE_ADDRESS,
                                   MPI_F_STATUS_IGNORE,
                                   MPI_F_STATUSES_IGNORE,
                                   MPI_F08_STATUS_IGNORE,
                                   MPI_F08_STATUSES_IGNORE};
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        if (to == ignored[i] || from == ignored[i]) return MPICH_ERR_ARG;
    memcpy(to, from, sizeof(mpich_Status));
    return MPI_SUCCESS;
}

int PMPI_Status_c2f(const mpich_Status *c_status, mpich_Fint *f_status)
{
    return copy_status(f_status, c_status);
}

int PMPI_Status_f2c(const mpich_Fint *f_status, mpich_Status *c_status)
{
    return copy_status(c_status, f_status);
}

int PMPI_Status_c2f08(const mpich_Status *c_status, mpich_F08_status *f08_status)
{
    return copy_status(f08_status, c_status);
}

int PMPI_Status_f082c(const mpich_F08_status *f08_status, mpich_Status *c_status)
{
    return copy_status(c_status, f08_status);
}

int PMPI_Status_f2f08(const mpich_Fint *f_status, mpich_F08_status *f08_status)
{
    return copy_status(f08_status, f_status);
}

int PMPI_Status_f082f(const mpich_F08_status *f08_status, mpich_Fint *f_status)
{
    return copy_status(f_status, f08_status);
}

// The engine has no events: whatever index is asked for, no array is ever filled.
int PMPI_T_event_get_info(int event_index, char *name, int *name_len, int *verbosity,
                          mpich_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[],
                          int *num_elements, MPI_T_enum *enumtype, mpich_Info *info, char *desc,
                          int *desc_len, int *bind)
{
    (void)array_of_datatypes;
    (void)info;
    return error_out(engine.MPI_T_event_get_info(event_index, name, name_len, verbosity, NULL,
                                                 array_of_displacements, num_elements, enumtype,
                                                 NULL, desc, desc_len, bind));
}

// There is no GPU support.

int PMPIX_GPU_query_support(int gpu_type, int *is_supported)
{
    (void)gpu_type;
    if (is_supported == NULL) return MPICH_ERR_ARG;
    *is_supported = 0;
    return MPI_SUCCESS;
}

int PMPIX_Query_cuda_support(void)
{
    return 0;
}

int PMPIX_Query_hip_support(void)
{
    return 0;
}

int PMPIX_Query_ze_support(void)
{
    return 0;
}

#include "mpich/weak_special.h"
