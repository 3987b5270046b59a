// SPDX-License-Identifier: BSD-3-Clause
// MPI_Abi_*: what the binary interface looks like, and what a Fortran binding outside of this
// library has told about its compiler. All of it may be called at any time.
#include <stdio.h>
#include <string.h>

#include "api/api.h"

int PMPI_Abi_get_version(int *abi_major, int *abi_minor)
{
    shoal_enter_any_time("MPI_Abi_get_version");
    int rc = shoal_arg_pointer(abi_major, "abi_major");
    if (rc == 0) rc = shoal_arg_pointer(abi_minor, "abi_minor");
    if (rc == 0) {
        *abi_major = MPI_ABI_VERSION;
        *abi_minor = MPI_ABI_SUBVERSION;
    }
    return shoal_leave(rc);
}

static int set_size(shoal_info *info, const char *key, size_t bytes)
{
    char text[24];
    snprintf(text, sizeof text, "%zu", bytes);
    return shoal_info_set(info, key, text);
}

int PMPI_Abi_get_info(MPI_Info *info)
{
    shoal_enter_any_time("MPI_Abi_get_info");
    shoal_info *made = NULL;
    int rc = shoal_arg_pointer(info, "info");
    if (rc == 0 && !(made = shoal_info_new())) rc = SHOAL_E_NO_MEM;
    if (rc == 0) rc = set_size(made, "mpi_aint_size", sizeof(MPI_Aint));
    if (rc == 0) rc = set_size(made, "mpi_count_size", sizeof(MPI_Count));
    if (rc == 0) rc = set_size(made, "mpi_offset_size", sizeof(MPI_Offset));
    if (rc == 0)
        *info = made->handle;
    else
        shoal_info_free(made);
    return shoal_leave(rc);
}

// What a Fortran binding has told; nothing is known before that.
static shoal_info *fortran_info;

// LOGICAL of 1, 2, 4, 8 and 16 bytes: the bits of .TRUE. and .FALSE.
static struct boolean {
    bool set;
    unsigned char yes[16], no[16];
} booleans[5];

int PMPI_Abi_get_fortran_info(MPI_Info *info)
{
    shoal_enter_any_time("MPI_Abi_get_fortran_info");
    int rc = shoal_arg_pointer(info, "info");
    if (rc == 0 && !fortran_info) {
        *info = MPI_INFO_NULL;
    } else if (rc == 0) {
        shoal_info *copy = shoal_info_dup(fortran_info);
        if (copy)
            *info = copy->handle;
        else
            rc = SHOAL_E_NO_MEM;
    }
    return shoal_leave(rc);
}

// The sizes that this library's Fortran datatypes have; another compiler cannot be served.
static int check_sizes(const shoal_info *info)
{
    static const struct {
        const char *key, *size;
    } ours[] = {
        {"mpi_logical_size", "4"},
        {"mpi_integer_size", "4"},
        {"mpi_real_size", "4"},
        {"mpi_double_precision_size", "8"},
    };
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        const char *given = shoal_info_find(info, ours[i].key);
        if (given && strcmp(given, ours[i].size) != 0)
            return shoal_fail(-MPI_ERR_ABI, "%s is \"%.20s\", this library's datatypes have %s",
                              ours[i].key, given, ours[i].size);
    }
    return 0;
}

static bool same_pairs(const shoal_info *a, const shoal_info *b)
{
    for (int i = 0; i < a->count; i++) {
        const char *other = shoal_info_find(b, a->pairs[i].key);
        if (!other || strcmp(other, a->pairs[i].value) != 0) return false;
    }
    return a->count == b->count;
}

int PMPI_Abi_set_fortran_info(MPI_Info info)
{
    shoal_enter_any_time("MPI_Abi_set_fortran_info");
    shoal_info *given = NULL;
    int rc = shoal_arg_info(info, &given);
    if (rc == 0) rc = check_sizes(given);
    if (rc == 0 && fortran_info && !same_pairs(given, fortran_info))
        rc = shoal_fail(-MPI_ERR_ABI, "the Fortran information was set before, and differently");
    if (rc == 0 && !fortran_info) {
        fortran_info = shoal_info_dup(given);
        if (!fortran_info) rc = SHOAL_E_NO_MEM;
    }
    return shoal_leave(rc);
}

static int arg_boolean(int size, struct boolean **out)
{
    for (int i = 0; i < 5; i++) {
        if (size != 1 << i) continue;
        *out = &booleans[i];
        return 0;
    }
    return shoal_fail(SHOAL_E_ARG, "logical_size=%d is not 1, 2, 4, 8 or 16", size);
}

int PMPI_Abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false,
                                  int *is_set)
{
    shoal_enter_any_time("MPI_Abi_get_fortran_booleans");
    struct boolean *b = NULL;
    int rc = arg_boolean(logical_size, &b);
    if (rc == 0) rc = shoal_arg_pointer(logical_true, "logical_true");
    if (rc == 0) rc = shoal_arg_pointer(logical_false, "logical_false");
    if (rc == 0) rc = shoal_arg_pointer(is_set, "is_set");
    if (rc == 0) {
        *is_set = b->set;
        if (b->set) memcpy(logical_true, b->yes, (size_t)logical_size);
        if (b->set) memcpy(logical_false, b->no, (size_t)logical_size);
    }
    return shoal_leave(rc);
}

int PMPI_Abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)
{
    shoal_enter_any_time("MPI_Abi_set_fortran_booleans");
    struct boolean *b = NULL;
    size_t n = (size_t)logical_size;
    int rc = arg_boolean(logical_size, &b);
    if (rc == 0) rc = shoal_arg_pointer(logical_true, "logical_true");
    if (rc == 0) rc = shoal_arg_pointer(logical_false, "logical_false");
    if (rc == 0 && memcmp(logical_true, logical_false, n) == 0)
        rc = shoal_fail(SHOAL_E_ARG, "logical_true and logical_false are the same");
    if (rc == 0 && b->set && (memcmp(b->yes, logical_true, n) || memcmp(b->no, logical_false, n)))
        rc = shoal_fail(-MPI_ERR_ABI, "LOGICAL of %zu bytes was set before, and differently", n);
    if (rc == 0) {
        memcpy(b->yes, logical_true, n);
        memcpy(b->no, logical_false, n);
        b->set = true;
    }
    return shoal_leave(rc);
}

#include "weak_abi.h"
