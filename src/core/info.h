// SPDX-License-Identifier: BSD-3-Clause
// MPI_Info: an ordered list of key and value strings. Works at any time, before MPI_Init too.
#ifndef SHOAL_CORE_INFO_H
#define SHOAL_CORE_INFO_H

#include <mpi.h>
#include <stdbool.h>

#include "core/object.h"

typedef struct shoal_info_pair {
    char *key;
    char *value;
} shoal_info_pair;

typedef struct shoal_info {
    shoal_object object;
    MPI_Info handle;
    shoal_info_pair *pairs; // in the order of their first setting
    int count, room;
    bool fixed; // MPI_INFO_ENV: the user cannot change or free it
} shoal_info;

// The object behind a handle (MPI_INFO_ENV included), or NULL: dead or MPI_INFO_NULL.
shoal_info *shoal_info_get(MPI_Info);

// New objects belong to the caller; NULL after shoal_fail().
shoal_info *shoal_info_new(void);
shoal_info *shoal_info_dup(const shoal_info *);

// What MPI_INFO_ENV tells: the command and its arguments (of this process when argc is 0), the
// host, the architecture, the working directory and, under a launcher, the number of processes.
shoal_info *shoal_info_new_env(int argc, char *const argv[]);

// Sets or replaces. The key has 1 .. MPI_MAX_INFO_KEY - 1 characters (SHOAL_E_INFO_KEY), the value
// fewer than MPI_MAX_INFO_VAL (SHOAL_E_INFO_VALUE).
int shoal_info_set(shoal_info *, const char *key, const char *value);
int shoal_info_delete(shoal_info *, const char *key);             // SHOAL_E_INFO_NOKEY
const char *shoal_info_find(const shoal_info *, const char *key); // NULL when not there
void shoal_info_free(shoal_info *);

// Only the check of a key: SHOAL_E_INFO_KEY when it is empty or too long.
int shoal_info_check_key(const char *key);

#endif
