// SPDX-License-Identifier: BSD-3-Clause
// A table of named values: PMI's key-value space, and the names that ranks publish.
#ifndef SHOAL_MPIEXEC_KVS_H
#define SHOAL_MPIEXEC_KVS_H

#include <stdint.h>

typedef struct shoal_kvs {
    struct shoal_kvs_entry **buckets;
    uint32_t nbuckets; // a power of two
    uint32_t count, limit;
} shoal_kvs;

// An empty table that takes at most `limit` values. Returns 0 or a negative SHOAL_E_*.
int shoal_kvs_open(shoal_kvs *, uint32_t limit);

// Sets a value, copying both. Returns 0, or a negative SHOAL_E_* if the table is full.
int shoal_kvs_put(shoal_kvs *, const char *key, const char *value);

// The value, or NULL; valid until the key is set again or removed.
const char *shoal_kvs_get(const shoal_kvs *, const char *key);

// Removes a value; false if there was none.
int shoal_kvs_remove(shoal_kvs *, const char *key);

#endif
