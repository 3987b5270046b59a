// SPDX-License-Identifier: BSD-3-Clause
// MPI_Info_*. All of them may be called at any time, before MPI_Init and after MPI_Finalize too.
#include <string.h>

#include "api/api.h"

// A key that the user gives.
static int arg_key(const char *key)
{
    if (key == NULL) return shoal_fail(SHOAL_E_INFO_KEY, "key is a null pointer");
    return shoal_info_check_key(key);
}

// An info that the user may change.
static int arg_own_info(MPI_Info handle, shoal_info **out)
{
    int rc = shoal_arg_info(handle, out);
    if (rc == 0 && (*out)->fixed)
        rc = shoal_fail(SHOAL_E_INFO, "MPI_INFO_ENV cannot be changed or freed");
    return rc;
}

// Hands a new object to the user.
static int give(shoal_info *made, MPI_Info *out)
{
    if (!made) return SHOAL_E_NO_MEM;
    *out = made->handle;
    return 0;
}

int PMPI_Info_create(MPI_Info *info)
{
    shoal_enter_any_time("MPI_Info_create");
    int rc = shoal_arg_pointer(info, "info");
    if (rc == 0) rc = give(shoal_info_new(), info);
    return shoal_leave(rc);
}

int PMPI_Info_create_env(int argc, char *argv[], MPI_Info *info)
{
    shoal_enter_any_time("MPI_Info_create_env");
    int rc = shoal_arg_pointer(info, "info");
    if (rc == 0) rc = shoal_arg_count(argc, "argc");
    if (rc == 0) rc = give(shoal_info_new_env(argc, argv), info);
    return shoal_leave(rc);
}

int PMPI_Info_dup(MPI_Info info, MPI_Info *newinfo)
{
    shoal_enter_any_time("MPI_Info_dup");
    shoal_info *i = NULL;
    int rc = shoal_arg_info(info, &i);
    if (rc == 0) rc = shoal_arg_pointer(newinfo, "newinfo");
    if (rc == 0) rc = give(shoal_info_dup(i), newinfo);
    return shoal_leave(rc);
}

int PMPI_Info_free(MPI_Info *info)
{
    shoal_enter_any_time("MPI_Info_free");
    shoal_info *i = NULL;
    int rc = shoal_arg_pointer(info, "info");
    if (rc == 0) rc = arg_own_info(*info, &i);
    if (rc == 0) {
        shoal_info_free(i);
        *info = MPI_INFO_NULL;
    }
    return shoal_leave(rc);
}

int PMPI_Info_set(MPI_Info info, const char *key, const char *value)
{
    shoal_enter_any_time("MPI_Info_set");
    shoal_info *i = NULL;
    int rc = arg_own_info(info, &i);
    if (rc == 0) rc = arg_key(key);
    if (rc == 0 && value == NULL) rc = shoal_fail(SHOAL_E_INFO_VALUE, "value is a null pointer");
    if (rc == 0) rc = shoal_info_set(i, key, value);
    return shoal_leave(rc);
}

int PMPI_Info_delete(MPI_Info info, const char *key)
{
    shoal_enter_any_time("MPI_Info_delete");
    shoal_info *i = NULL;
    int rc = arg_own_info(info, &i);
    if (rc == 0) rc = arg_key(key);
    if (rc == 0) rc = shoal_info_delete(i, key);
    return shoal_leave(rc);
}

int PMPI_Info_get_nkeys(MPI_Info info, int *nkeys)
{
    shoal_enter_any_time("MPI_Info_get_nkeys");
    shoal_info *i = NULL;
    int rc = shoal_arg_info(info, &i);
    if (rc == 0) rc = shoal_arg_pointer(nkeys, "nkeys");
    if (rc == 0) *nkeys = i->count;
    return shoal_leave(rc);
}

int PMPI_Info_get_nthkey(MPI_Info info, int n, char *key)
{
    shoal_enter_any_time("MPI_Info_get_nthkey");
    shoal_info *i = NULL;
    int rc = shoal_arg_info(info, &i);
    if (rc == 0) rc = shoal_arg_pointer(key, "key");
    if (rc == 0 && (n < 0 || n >= i->count))
        rc = shoal_fail(SHOAL_E_ARG, "n=%d: the info object has %d keys, numbered from 0", n,
                        i->count);
    if (rc == 0) memcpy(key, i->pairs[n].key, strlen(i->pairs[n].key) + 1);
    return shoal_leave(rc);
}

// The value of a key, or NULL if the info has none: what every form of reading begins with.
static int look_up(MPI_Info info, const char *key, int *flag, const char **value_out)
{
    shoal_info *i = NULL;
    int rc = shoal_arg_info(info, &i);
    if (rc == 0) rc = arg_key(key);
    if (rc == 0) rc = shoal_arg_pointer(flag, "flag");
    if (rc != 0) return rc;
    *value_out = shoal_info_find(i, key);
    *flag = *value_out != NULL;
    return 0;
}

// Copies at most `room` bytes, the terminator included.
static void copy_value(char *out, const char *value, size_t room)
{
    size_t length = strlen(value);
    if (length >= room) length = room - 1;
    memcpy(out, value, length);
    out[length] = '\0';
}

int PMPI_Info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag)
{
    shoal_enter_any_time("MPI_Info_get_string");
    const char *found = NULL;
    int rc = shoal_arg_pointer(buflen, "buflen");
    if (rc == 0) rc = shoal_arg_count(*buflen, "buflen");
    if (rc == 0 && *buflen > 0) rc = shoal_arg_pointer(value, "value");
    if (rc == 0) rc = look_up(info, key, flag, &found);
    if (rc == 0 && found) {
        if (*buflen > 0) copy_value(value, found, (size_t)*buflen);
        *buflen = (int)strlen(found) + 1;
    }
    return shoal_leave(rc);
}

int PMPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag)
{
    shoal_enter_any_time("MPI_Info_get");
    const char *found = NULL;
    int rc = shoal_arg_count(valuelen, "valuelen");
    if (rc == 0) rc = shoal_arg_pointer(value, "value");
    if (rc == 0) rc = look_up(info, key, flag, &found);
    if (rc == 0 && found) copy_value(value, found, (size_t)valuelen + 1);
    return shoal_leave(rc);
}

int PMPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag)
{
    shoal_enter_any_time("MPI_Info_get_valuelen");
    const char *found = NULL;
    int rc = shoal_arg_pointer(valuelen, "valuelen");
    if (rc == 0) rc = look_up(info, key, flag, &found);
    if (rc == 0 && found) *valuelen = (int)strlen(found);
    return shoal_leave(rc);
}

#include "weak_info.h"
