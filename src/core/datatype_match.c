// SPDX-License-Identifier: BSD-3-Clause
// Datatypes found by what they can hold: the parameterised Fortran types, MPI_Type_match_size,
// and the pairs of a value and an index.
#include <stdio.h>
#include <stdlib.h>

#include "core/datatype_make.h"
#include "core/recipe.h"
#include "plat/error.h"

// Decimal digits and decimal exponent range of the floats, the smallest first. The half comes
// last: Fortran's kinds rarely include it, so it is chosen by nobody who asks for digits.
static const struct {
    int digits, range;
    uint8_t real, complex;
} floats[] = {
    {6, 37, SHOAL_B_REAL4, SHOAL_B_COMPLEX8},
    {15, 307, SHOAL_B_REAL8, SHOAL_B_COMPLEX16},
    {33, 4931, SHOAL_B_REAL16, SHOAL_B_COMPLEX32},
};

static const struct {
    int digits;
    uint8_t basic;
} integers[] = {
    {2, SHOAL_B_INTEGER1},  {4, SHOAL_B_INTEGER2},   {9, SHOAL_B_INTEGER4},
    {18, SHOAL_B_INTEGER8}, {38, SHOAL_B_INTEGER16},
};

// The f90 datatypes made so far: the same request gives the same handle.
static struct made {
    shoal_datatype *type;
    int combiner, precision, range;
} * made;
static int made_count, made_room;

static enum shoal_basic find_float(bool complex, int precision, int range)
{
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
        uint8_t basic = complex ? floats[i].complex : floats[i].real;
        if (floats[i].digits >= precision && floats[i].range >= range &&
            shoal_basics[basic].size > 0) {
            return basic;
        }
    }
    return SHOAL_B_NONE;
}

static enum shoal_basic find_integer(int range)
{
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        if (integers[i].digits >= range && shoal_basics[integers[i].basic].size > 0) {
            return integers[i].basic;
        }
    }
    return SHOAL_B_NONE;
}

static enum shoal_basic find_f90(int combiner, int precision, int range)
{
    // What is undefined asks for nothing.
    int p = precision == MPI_UNDEFINED ? 0 : precision;
    int r = range == MPI_UNDEFINED ? 0 : range;
    if (p < 0 || r < 0) return SHOAL_B_NONE;
    if (combiner == MPI_COMBINER_F90_INTEGER) return find_integer(r);
    if (precision == MPI_UNDEFINED && range == MPI_UNDEFINED) return SHOAL_B_NONE;
    return find_float(combiner == MPI_COMBINER_F90_COMPLEX, p, r);
}

static int f90_recipe(int combiner, int precision, int range, shoal_recipe **out)
{
    bool integer = combiner == MPI_COMBINER_F90_INTEGER;
    shoal_recipe *r =
        shoal_recipe_new(combiner, false, (shoal_recipe_sizes){.integers = integer ? 1 : 2});
    if (!r) return SHOAL_E_NO_MEM;
    if (!integer) shoal_recipe_put_integers(r, 1, &precision);
    shoal_recipe_put_integers(r, 1, &range);
    *out = r;
    return 0;
}

static int make_f90(int combiner, int precision, int range, enum shoal_basic basic,
                    shoal_datatype **out)
{
    if (made_count == made_room) {
        int room = made_room ? 2 * made_room : 8;
        struct made *larger = realloc(made, (size_t)room * sizeof *made);
        if (!larger) return shoal_fail(SHOAL_E_NO_MEM, "no memory for one more f90 datatype");
        made = larger;
        made_room = room;
    }
    shoal_recipe *r = NULL;
    int rc = f90_recipe(combiner, precision, range, &r);
    if (rc != 0) return rc;
    shoal_layout *l = shoal_layout_new(1);
    if (!l) {
        shoal_recipe_free(r);
        return SHOAL_E_NO_MEM;
    }
    l->part[0] = (shoal_part){.disp = 0, .length = 1, .child = shoal_datatype_of(basic)};
    shoal_datatype *t = NULL;
    rc = shoal_datatype_build(l, r, &t);
    if (rc != 0) return rc;
    rc = shoal_datatype_commit(t);
    if (rc != 0) {
        shoal_datatype_drop(t);
        return rc;
    }
    t->predefined = true;
    made[made_count++] = (struct made){t, combiner, precision, range};
    *out = t;
    return 0;
}

int shoal_datatype_f90(int combiner, int precision, int range, shoal_datatype **out)
{
    for (int i = 0; i < made_count; i++) {
        const struct made *m = &made[i];
        if (m->combiner == combiner && m->precision == precision && m->range == range) {
            *out = m->type;
            return 0;
        }
    }
    enum shoal_basic basic = find_f90(combiner, precision, range);
    if (basic == SHOAL_B_NONE && combiner == MPI_COMBINER_F90_INTEGER) {
        return shoal_fail(SHOAL_E_ARG, "there is no integer of %d decimal digits", range);
    }
    if (basic == SHOAL_B_NONE) {
        return shoal_fail(SHOAL_E_ARG,
                          "there is no floating-point type of precision %d and "
                          "exponent range %d",
                          precision, range);
    }
    return make_f90(combiner, precision, range, basic, out);
}

void shoal_datatype_match_fini(void)
{
    for (int i = 0; i < made_count; i++) {
        made[i].type->predefined = false;
        shoal_datatype_drop(made[i].type);
    }
    free(made);
    made = NULL;
    made_count = made_room = 0;
}

int shoal_datatype_match_size(int typeclass, int size, shoal_datatype **out)
{
    static const struct {
        int typeclass;
        uint8_t basic;
    } candidates[] = {
        {MPI_TYPECLASS_INTEGER, SHOAL_B_INTEGER1},  {MPI_TYPECLASS_INTEGER, SHOAL_B_INTEGER2},
        {MPI_TYPECLASS_INTEGER, SHOAL_B_INTEGER4},  {MPI_TYPECLASS_INTEGER, SHOAL_B_INTEGER8},
        {MPI_TYPECLASS_INTEGER, SHOAL_B_INTEGER16}, {MPI_TYPECLASS_REAL, SHOAL_B_REAL2},
        {MPI_TYPECLASS_REAL, SHOAL_B_REAL4},        {MPI_TYPECLASS_REAL, SHOAL_B_REAL8},
        {MPI_TYPECLASS_REAL, SHOAL_B_REAL16},       {MPI_TYPECLASS_COMPLEX, SHOAL_B_COMPLEX4},
        {MPI_TYPECLASS_COMPLEX, SHOAL_B_COMPLEX8},  {MPI_TYPECLASS_COMPLEX, SHOAL_B_COMPLEX16},
        {MPI_TYPECLASS_COMPLEX, SHOAL_B_COMPLEX32}, {MPIX_TYPECLASS_LOGICAL, SHOAL_B_LOGICAL1},
        {MPIX_TYPECLASS_LOGICAL, SHOAL_B_LOGICAL2}, {MPIX_TYPECLASS_LOGICAL, SHOAL_B_LOGICAL4},
        {MPIX_TYPECLASS_LOGICAL, SHOAL_B_LOGICAL8}, {MPIX_TYPECLASS_LOGICAL, SHOAL_B_LOGICAL16},
    };
    bool known = false;
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        if (candidates[i].typeclass != typeclass) continue;
        known = true;
        if (size > 0 && shoal_basics[candidates[i].basic].size == size) {
            *out = shoal_datatype_of(candidates[i].basic);
            return 0;
        }
    }
    if (!known) return shoal_fail(SHOAL_E_ARG, "%d is not a type class", typeclass);
    return shoal_fail(SHOAL_E_ARG, "no datatype of this type class (%d) has %d bytes", typeclass,
                      size);
}

MPI_Datatype shoal_datatype_value_index(const shoal_datatype *value, const shoal_datatype *index)
{
#define X(id, v, i)                                                                                \
    if (value->handle == MPI_##v && index->handle == MPI_##i) return MPI_##id;
    SHOAL_PAIRS(X)
#undef X
    return MPI_DATATYPE_NULL;
}
