// SPDX-License-Identifier: BSD-3-Clause
// MPI_Type_get_envelope and _get_contents: how a datatype was made. The int forms cannot say it
// of a datatype whose constructor took large counts; they refuse.
#include <limits.h>

#include "api/api.h"
#include "core/recipe.h"

typedef struct envelope {
    MPI_Count integers, addresses, counts, types;
    int combiner;
} envelope;

static envelope envelope_of(const shoal_datatype *t)
{
    const shoal_recipe *r = t->recipe;
    if (!r) return (envelope){.combiner = MPI_COMBINER_NAMED};
    return (envelope){.integers = r->integers,
                      .addresses = r->addresses,
                      .counts = r->counts,
                      .types = r->types,
                      .combiner = r->combiner};
}

int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers,
                             MPI_Count *num_addresses, MPI_Count *num_large_counts,
                             MPI_Count *num_datatypes, int *combiner)
{
    shoal_datatype *t = NULL;
    int rc = shoal_enter("MPI_Type_get_envelope_c");
    if (rc == 0) rc = shoal_arg_type(datatype, &t);
    if (rc == 0) rc = shoal_arg_pointer(num_integers, "num_integers");
    if (rc == 0) rc = shoal_arg_pointer(num_addresses, "num_addresses");
    if (rc == 0) rc = shoal_arg_pointer(num_large_counts, "num_large_counts");
    if (rc == 0) rc = shoal_arg_pointer(num_datatypes, "num_datatypes");
    if (rc == 0) rc = shoal_arg_pointer(combiner, "combiner");
    if (rc == 0) {
        envelope e = envelope_of(t);
        *num_integers = e.integers;
        *num_addresses = e.addresses;
        *num_large_counts = e.counts;
        *num_datatypes = e.types;
        *combiner = e.combiner;
    }
    return shoal_leave(rc);
}

static int not_large(const shoal_datatype *t)
{
    if (!t->recipe || t->recipe->counts == 0) return 0;
    return shoal_fail(SHOAL_E_TYPE,
                      "%s was made with large counts: ask with the _c form of this "
                      "call",
                      shoal_datatype_label(t));
}

int PMPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses,
                           int *num_datatypes, int *combiner)
{
    shoal_datatype *t = NULL;
    int rc = shoal_enter("MPI_Type_get_envelope");
    if (rc == 0) rc = shoal_arg_type(datatype, &t);
    if (rc == 0) rc = shoal_arg_pointer(num_integers, "num_integers");
    if (rc == 0) rc = shoal_arg_pointer(num_addresses, "num_addresses");
    if (rc == 0) rc = shoal_arg_pointer(num_datatypes, "num_datatypes");
    if (rc == 0) rc = shoal_arg_pointer(combiner, "combiner");
    if (rc == 0) rc = not_large(t);
    if (rc == 0) {
        envelope e = envelope_of(t);
        *num_integers = e.integers > INT_MAX ? MPI_UNDEFINED : (int)e.integers;
        *num_addresses = (int)e.addresses;
        *num_datatypes = (int)e.types;
        *combiner = e.combiner;
    }
    return shoal_leave(rc);
}

static int room_for(MPI_Count have, MPI_Count need, const void *array, const char *room,
                    const char *argument)
{
    if (have < need) {
        return shoal_fail(SHOAL_E_ARG, "%s is %lld, the datatype has %lld", room, (long long)have,
                          (long long)need);
    }
    return need > 0 ? shoal_arg_pointer(array, argument) : 0;
}

// Copies the three lists that both forms share. A derived datatype that is given out is one more
// handle for the user to free.
static int give_contents(const shoal_datatype *t, const envelope *room, int *integers,
                         MPI_Aint *addresses, MPI_Datatype *types)
{
    const shoal_recipe *r = t->recipe;
    if (!r) {
        return shoal_fail(SHOAL_E_TYPE, "%s is a named datatype: it has no contents",
                          shoal_datatype_label(t));
    }
    int rc = room_for(room->integers, r->integers, integers, "max_integers", "array_of_integers");
    if (rc == 0) {
        rc = room_for(room->addresses, r->addresses, addresses, "max_addresses",
                      "array_of_addresses");
    }
    if (rc == 0) rc = room_for(room->types, r->types, types, "max_datatypes", "array_of_datatypes");
    if (rc != 0) return rc;
    for (int64_t i = 0; i < r->integers; i++) integers[i] = r->integer[i];
    for (int64_t i = 0; i < r->addresses; i++) addresses[i] = r->address[i];
    for (int64_t i = 0; i < r->types; i++) {
        types[i] = r->type[i]->handle;
        if (r->type[i]->predefined) continue;
        r->type[i]->handles++;
        shoal_datatype_hold(r->type[i]);
    }
    return 0;
}

int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                             MPI_Count max_large_counts, MPI_Count max_datatypes,
                             int array_of_integers[], MPI_Aint array_of_addresses[],
                             MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[])
{
    shoal_datatype *t = NULL;
    envelope room = {.integers = max_integers, .addresses = max_addresses, .types = max_datatypes};
    int rc = shoal_enter("MPI_Type_get_contents_c");
    if (rc == 0) rc = shoal_arg_type(datatype, &t);
    MPI_Count counts = rc == 0 ? envelope_of(t).counts : 0;
    if (rc == 0) {
        rc = room_for(max_large_counts, counts, array_of_large_counts, "max_large_counts",
                      "array_of_large_counts");
    }
    if (rc == 0) {
        rc = give_contents(t, &room, array_of_integers, array_of_addresses, array_of_datatypes);
    }
    for (int64_t i = 0; i < counts && rc == 0; i++) array_of_large_counts[i] = t->recipe->count[i];
    return shoal_leave(rc);
}

int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses,
                           int max_datatypes, int array_of_integers[],
                           MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[])
{
    shoal_datatype *t = NULL;
    envelope room = {.integers = max_integers, .addresses = max_addresses, .types = max_datatypes};
    int rc = shoal_enter("MPI_Type_get_contents");
    if (rc == 0) rc = shoal_arg_type(datatype, &t);
    if (rc == 0) rc = not_large(t);
    if (rc == 0) {
        rc = give_contents(t, &room, array_of_integers, array_of_addresses, array_of_datatypes);
    }
    return shoal_leave(rc);
}

#include "weak_type_contents.h"
