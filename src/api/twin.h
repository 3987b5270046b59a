// SPDX-License-Identifier: BSD-3-Clause
// What the generated int twins of the large-count functions (generated/twins.c) lean on.
//
// A twin widens its arrays of counts into temporaries that end when the call returns. Hence a
// rule for every _c function, the non-blocking and persistent ones too: it keeps no pointer to a
// caller's array of counts, displacements or datatypes, it copies what it needs later. (Datatypes,
// because the second door of abi/mpich converts these in the same way.)
#ifndef SHOAL_API_TWIN_H
#define SHOAL_API_TWIN_H

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/object.h"

// How many entries the arrays of a collective have; 0 if the handle is not a live communicator
// (the _c function will then say so). Never an error.
int shoal_twin_comm_size(MPI_Comm comm);
int shoal_twin_remote_or_local_size(MPI_Comm comm);
int shoal_twin_indegree(MPI_Comm comm);
int shoal_twin_outdegree(MPI_Comm comm);

// Whether the arrays that only the root reads are significant on this rank.
bool shoal_twin_is_root(MPI_Comm comm, int root);

// Raises MPI_ERR_NO_MEM for `function` on the handle's error handler (enum shoal_kind; the handle
// as it is, or SHOAL_KIND_NONE and NULL).
int shoal_twin_no_memory(const char *function, int kind, const void *handle);

#define SHOAL_TWIN_SMALL 32

// A widened copy of an int array: on the stack up to SHOAL_TWIN_SMALL entries, else allocated.
typedef struct shoal_twin_array {
    int64_t *p;
    bool failed;
    int64_t small[SHOAL_TWIN_SMALL];
} shoal_twin_array;

_Static_assert(sizeof(MPI_Count) == sizeof(int64_t) && sizeof(MPI_Aint) == sizeof(int64_t),
               "counts and displacements share one widened form");

// Fills `wide` from `n` ints. A null array stays null, so that the _c function can complain.
static inline void shoal_twin_widen(shoal_twin_array *wide, const int *array, int n)
{
    wide->failed = false;
    wide->p = array != NULL ? wide->small : NULL;
    if (array == NULL) return;
    if (n > SHOAL_TWIN_SMALL) {
        wide->p = malloc((size_t)n * sizeof wide->p[0]);
        wide->failed = wide->p == NULL;
        if (wide->failed) return;
    }
    for (int i = 0; i < n; i++) wide->p[i] = array[i];
}

static inline void shoal_twin_release(shoal_twin_array *wide)
{
    if (wide->p != wide->small) free(wide->p);
}

// A result for an int out parameter: MPI_UNDEFINED where the value does not fit.
static inline int shoal_twin_narrow(int64_t value)
{
    return value > INT_MAX || value < INT_MIN ? MPI_UNDEFINED : (int)value;
}

#endif
