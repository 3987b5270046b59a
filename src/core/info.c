// SPDX-License-Identifier: BSD-3-Clause
// Info objects: a short array of pairs, searched in order. Hints are few; no index is needed.
#include "core/info.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "plat/error.h"

static shoal_info *the_env; // MPI_INFO_ENV, made when first asked for

shoal_info *shoal_info_get(MPI_Info handle)
{
    if (handle == MPI_INFO_ENV) {
        if (!the_env) {
            the_env = shoal_info_new_env(0, NULL);
            if (the_env) the_env->fixed = true;
        }
        return the_env;
    }
    return shoal_object_get(SHOAL_KIND_INFO, handle);
}

shoal_info *shoal_info_new(void)
{
    // May be the first use of all: info objects work before MPI_Init.
    shoal_object_register(SHOAL_KIND_INFO, sizeof(shoal_info));
    shoal_info *info = shoal_object_new(SHOAL_KIND_INFO);
    if (info) info->handle = shoal_object_handle(info);
    return info;
}

shoal_info *shoal_info_dup(const shoal_info *from)
{
    shoal_info *info = shoal_info_new();
    for (int i = 0; info && i < from->count; i++) {
        if (shoal_info_set(info, from->pairs[i].key, from->pairs[i].value) == 0) continue;
        shoal_info_free(info);
        return NULL;
    }
    return info;
}

int shoal_info_check_key(const char *key)
{
    size_t length = strlen(key);
    if (length == 0) return shoal_fail(SHOAL_E_INFO_KEY, "the info key is empty");
    if (length >= MPI_MAX_INFO_KEY)
        return shoal_fail(SHOAL_E_INFO_KEY,
                          "the info key \"%.40s...\" has %zu characters, "
                          "at most %d are allowed",
                          key, length, MPI_MAX_INFO_KEY - 1);
    return 0;
}

// The place of a key, or -1.
static int place_of(const shoal_info *info, const char *key)
{
    for (int i = 0; i < info->count; i++)
        if (strcmp(info->pairs[i].key, key) == 0) return i;
    return -1;
}

static int make_room(shoal_info *info)
{
    if (info->count < info->room) return 0;
    int room = info->room ? 2 * info->room : 8;
    shoal_info_pair *more = realloc(info->pairs, (size_t)room * sizeof *more);
    if (!more) return shoal_fail(SHOAL_E_NO_MEM, "no memory for an info of %d keys", room);
    info->pairs = more;
    info->room = room;
    return 0;
}

int shoal_info_set(shoal_info *info, const char *key, const char *value)
{
    int rc = shoal_info_check_key(key);
    if (rc != 0) return rc;
    if (strlen(value) >= MPI_MAX_INFO_VAL)
        return shoal_fail(SHOAL_E_INFO_VALUE,
                          "the value of info key \"%s\" has %zu characters, "
                          "at most %d are allowed",
                          key, strlen(value), MPI_MAX_INFO_VAL - 1);
    char *copy = strdup(value);
    if (!copy) return shoal_fail(SHOAL_E_NO_MEM, "no memory for an info value");
    int i = place_of(info, key);
    if (i >= 0) {
        free(info->pairs[i].value);
        info->pairs[i].value = copy;
        return 0;
    }
    char *name = strdup(key);
    rc = name ? make_room(info) : shoal_fail(SHOAL_E_NO_MEM, "no memory for an info key");
    if (rc != 0) {
        free(name);
        free(copy);
        return rc;
    }
    info->pairs[info->count++] = (shoal_info_pair){.key = name, .value = copy};
    return 0;
}

int shoal_info_delete(shoal_info *info, const char *key)
{
    int rc = shoal_info_check_key(key);
    if (rc != 0) return rc;
    int i = place_of(info, key);
    if (i < 0) return shoal_fail(SHOAL_E_INFO_NOKEY, "the info object has no key \"%s\"", key);
    free(info->pairs[i].key);
    free(info->pairs[i].value);
    info->count--;
    memmove(&info->pairs[i], &info->pairs[i + 1],
            (size_t)(info->count - i) * sizeof info->pairs[0]);
    return 0;
}

const char *shoal_info_find(const shoal_info *info, const char *key)
{
    int i = place_of(info, key);
    return i < 0 ? NULL : info->pairs[i].value;
}

void shoal_info_free(shoal_info *info)
{
    if (!info) return;
    assert(!info->fixed);
    for (int i = 0; i < info->count; i++) {
        free(info->pairs[i].key);
        free(info->pairs[i].value);
    }
    free(info->pairs);
    shoal_object_free(info);
}
