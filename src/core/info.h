// SPDX-License-Identifier: BSD-3-Clause
// MPI_Info: an ordered list of key and value strings.
#ifndef SHOAL_CORE_INFO_H
#define SHOAL_CORE_INFO_H

#include <mpi.h>

#include "core/object.h"

typedef struct shoal_info_pair {
    char *key;
    char *value;
} shoal_info_pair;

typedef struct shoal_info {
    shoal_object object;
    shoal_info_pair *pairs; // in the order of their first setting
    int count, room;
} shoal_info;

// The object behind a handle (MPI_INFO_ENV included), or NULL: dead or MPI_INFO_NULL.
shoal_info *shoal_info_get(MPI_Info);

shoal_info *shoal_info_new(void);
shoal_info *shoal_info_dup(const shoal_info *);
int shoal_info_set(shoal_info *, const char *key, const char *value);
int shoal_info_delete(shoal_info *, const char *key); // SHOAL_E_INFO_NOKEY
const char *shoal_info_find(const shoal_info *, const char *key); // NULL when not there
void shoal_info_free(shoal_info *);

#endif
