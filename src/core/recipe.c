// SPDX-License-Identifier: BSD-3-Clause
// The lists of a recipe lie behind it in one allocation, the widest entries first.
#include "core/recipe.h"

#include <assert.h>
#include <stdlib.h>

#include "plat/error.h"

shoal_recipe *shoal_recipe_new(int combiner, bool large, shoal_recipe_sizes sizes)
{
    int64_t integers = sizes.integers + (large ? 0 : sizes.counts);
    int64_t addresses = large ? 0 : sizes.addresses;
    int64_t counts = large ? sizes.counts + sizes.addresses : 0;
    size_t bytes = sizeof(shoal_recipe) + (size_t)sizes.types * sizeof(shoal_datatype *) +
                   (size_t)addresses * sizeof(MPI_Aint) + (size_t)counts * sizeof(MPI_Count) +
                   (size_t)integers * sizeof(int);
    shoal_recipe *r = calloc(1, bytes);
    if (!r) {
        shoal_fail(SHOAL_E_NO_MEM, "no memory for the %zu bytes of a datatype's arguments", bytes);
        return NULL;
    }
    r->combiner = combiner;
    r->large = large;
    r->integers = integers;
    r->addresses = addresses;
    r->counts = counts;
    r->types = sizes.types;
    r->type = (shoal_datatype **)(void *)(r + 1);
    r->address = (MPI_Aint *)(void *)(r->type + sizes.types);
    r->count = (MPI_Count *)(void *)(r->address + addresses);
    r->integer = (int *)(void *)(r->count + counts);
    return r;
}

void shoal_recipe_put_integers(shoal_recipe *r, int64_t n, const int *values)
{
    for (int64_t i = 0; i < n; i++) {
        assert(r->put_integers < r->integers);
        r->integer[r->put_integers++] = values[i];
    }
}

static void put_large(shoal_recipe *r, int64_t n, const int64_t *values)
{
    for (int64_t i = 0; i < n; i++) {
        assert(r->put_counts < r->counts);
        r->count[r->put_counts++] = values[i];
    }
}

void shoal_recipe_put_counts(shoal_recipe *r, int64_t n, const int64_t *values)
{
    if (r->large) {
        put_large(r, n, values);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        assert(r->put_integers < r->integers);
        r->integer[r->put_integers++] = (int)values[i];
    }
}

void shoal_recipe_put_addresses(shoal_recipe *r, int64_t n, const int64_t *values)
{
    if (r->large) {
        put_large(r, n, values);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        assert(r->put_addresses < r->addresses);
        r->address[r->put_addresses++] = (MPI_Aint)values[i];
    }
}

void shoal_recipe_put_type(shoal_recipe *r, shoal_datatype *t)
{
    assert(r->put_types < r->types);
    shoal_datatype_hold(t);
    r->type[r->put_types++] = t;
}

void shoal_recipe_free(shoal_recipe *r)
{
    if (!r) return;
    for (int64_t i = 0; i < r->put_types; i++) shoal_datatype_drop(r->type[i]);
    free(r);
}
