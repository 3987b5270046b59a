// SPDX-License-Identifier: BSD-3-Clause
// How a datatype was made: the combiner and the arguments of the constructor, kept in the three
// lists that MPI_Type_get_envelope and _get_contents speak of (four with the large counts).
//
// A constructor puts its arguments in order; whether a count goes to the integers or to the large
// counts depends only on which form of the constructor (int or _c) the user called.
#ifndef SHOAL_CORE_RECIPE_H
#define SHOAL_CORE_RECIPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/datatype.h"

struct shoal_recipe {
    int combiner;
    bool large;                                                 // made by the _c form
    int64_t integers, addresses, counts, types;                 // entries in the lists
    int64_t put_integers, put_addresses, put_counts, put_types; // filled so far
    int *integer;
    MPI_Aint *address;
    MPI_Count *count;
    shoal_datatype **type; // each entry is a hold
};

// How many arguments of each sort a constructor has.
typedef struct shoal_recipe_sizes {
    int64_t integers;  // int in both forms: ndims, order, distributions
    int64_t counts;    // int or MPI_Count
    int64_t addresses; // MPI_Aint or MPI_Count
    int64_t types;
} shoal_recipe_sizes;

// Room for the arguments; NULL after shoal_fail().
shoal_recipe *shoal_recipe_new(int combiner, bool large, shoal_recipe_sizes);

void shoal_recipe_put_integers(shoal_recipe *, int64_t n, const int *);
void shoal_recipe_put_counts(shoal_recipe *, int64_t n, const int64_t *);
void shoal_recipe_put_addresses(shoal_recipe *, int64_t n, const int64_t *);
void shoal_recipe_put_type(shoal_recipe *, shoal_datatype *); // takes a hold

// Drops the holds and frees.
void shoal_recipe_free(shoal_recipe *);

#endif
