// SPDX-License-Identifier: BSD-3-Clause
// A hash table with chains that grows with its contents.
#include "kvs.h"

#include <stdlib.h>
#include <string.h>

#include "plat/error.h"

typedef struct shoal_kvs_entry {
    struct shoal_kvs_entry *next;
    char *value;
    char key[];
} entry;

static uint32_t hash(const char *key)
{
    uint32_t h = 2166136261u;
    for (; *key; key++) h = (h ^ (unsigned char)*key) * 16777619u;
    return h;
}

static entry **find(const shoal_kvs *t, const char *key)
{
    entry **at = &t->buckets[hash(key) & (t->nbuckets - 1)];
    while (*at && strcmp((*at)->key, key) != 0) at = &(*at)->next;
    return at;
}

int shoal_kvs_open(shoal_kvs *t, uint32_t limit)
{
    *t = (shoal_kvs){.nbuckets = 64, .limit = limit};
    t->buckets = calloc(t->nbuckets, sizeof *t->buckets);
    return t->buckets ? 0 : shoal_fail(SHOAL_E_NO_MEM, "out of memory");
}

// Twice the buckets; if there is no memory for them the chains just get longer.
static void grow(shoal_kvs *t)
{
    shoal_kvs wider = {.nbuckets = t->nbuckets * 2};
    wider.buckets = calloc(wider.nbuckets, sizeof *wider.buckets);
    if (!wider.buckets) return;
    for (uint32_t i = 0; i < t->nbuckets; i++) {
        while (t->buckets[i]) {
            entry *e = t->buckets[i];
            t->buckets[i] = e->next;
            entry **at = find(&wider, e->key);
            e->next = NULL;
            *at = e;
        }
    }
    free(t->buckets);
    t->buckets = wider.buckets;
    t->nbuckets = wider.nbuckets;
}

int shoal_kvs_put(shoal_kvs *t, const char *key, const char *value)
{
    char *copy = strdup(value);
    if (!copy) return shoal_fail(SHOAL_E_NO_MEM, "out of memory");
    entry **at = find(t, key);
    if (*at) {
        free((*at)->value);
        (*at)->value = copy;
        return 0;
    }
    entry *e = t->count < t->limit ? malloc(sizeof *e + strlen(key) + 1) : NULL;
    if (!e) {
        free(copy);
        return shoal_fail(SHOAL_E_NO_MEM, "the table of %u values is full", t->limit);
    }
    strcpy(e->key, key);
    e->value = copy;
    e->next = NULL;
    *at = e;
    if (++t->count > 2 * t->nbuckets) grow(t);
    return 0;
}

const char *shoal_kvs_get(const shoal_kvs *t, const char *key)
{
    entry *e = *find(t, key);
    return e ? e->value : NULL;
}

int shoal_kvs_remove(shoal_kvs *t, const char *key)
{
    entry **at = find(t, key), *e = *at;
    if (!e) return 0;
    *at = e->next;
    free(e->value);
    free(e);
    t->count--;
    return 1;
}
