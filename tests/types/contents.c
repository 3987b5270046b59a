// SPDX-License-Identifier: BSD-3-Clause
// Envelopes and contents of every constructor, in both forms: what was put in comes out, and what
// comes out makes the same datatype again.
// RANKS: 1
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/plat/test.h"

typedef struct contents {
    MPI_Count ni, na, nc, nd;
    int combiner;
    int i[32];
    MPI_Aint a[16];
    MPI_Count c[32];
    MPI_Datatype d[8];
} contents;

static contents ask(MPI_Datatype t)
{
    contents x;
    memset(&x, 0, sizeof x);
    CHECK(MPI_Type_get_envelope_c(t, &x.ni, &x.na, &x.nc, &x.nd, &x.combiner) == MPI_SUCCESS);
    CHECK(MPI_Type_get_contents_c(t, x.ni, x.na, x.nc, x.nd, x.i, x.a, x.c, x.d) == MPI_SUCCESS);
    return x;
}

static void forget(contents *x)
{
    for (MPI_Count k = 0; k < x->nd; k++) {
        MPI_Count ni, na, nc, nd;
        int combiner;
        MPI_Type_get_envelope_c(x->d[k], &ni, &na, &nc, &nd, &combiner);
        if (combiner != MPI_COMBINER_NAMED) CHECK(MPI_Type_free(&x->d[k]) == MPI_SUCCESS);
    }
}

// Compares the envelope and each list; a list is given up to its end by the envelope.
static void check(MPI_Datatype t, int combiner, MPI_Count ni, const int *i, MPI_Count na,
                  const MPI_Aint *a, MPI_Count nc, const MPI_Count *c, MPI_Count nd)
{
    contents x = ask(t);
    CHECK(x.combiner == combiner && x.ni == ni && x.na == na && x.nc == nc && x.nd == nd);
    CHECK(ni == 0 || memcmp(x.i, i, (size_t)ni * sizeof *i) == 0);
    CHECK(na == 0 || memcmp(x.a, a, (size_t)na * sizeof *a) == 0);
    CHECK(nc == 0 || memcmp(x.c, c, (size_t)nc * sizeof *c) == 0);
    forget(&x);
    CHECK(MPI_Type_free(&t) == MPI_SUCCESS && t == MPI_DATATYPE_NULL);
}

#define INTS(...)                                                                                  \
    (sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[])                                          \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define AINTS(...)                                                                                 \
    (sizeof((MPI_Aint[]){__VA_ARGS__}) / sizeof(MPI_Aint)), (MPI_Aint[])                           \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define COUNTS(...)                                                                                \
    (sizeof((MPI_Count[]){__VA_ARGS__}) / sizeof(MPI_Count)), (MPI_Count[])                        \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define NONE 0, NULL

static void test_small(void)
{
    MPI_Datatype t;
    int lengths[] = {2, 1}, disps[] = {0, 5};
    MPI_Aint bytes[] = {0, 50};
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
    MPI_Type_contiguous(3, MPI_INT, &t);
    check(t, MPI_COMBINER_CONTIGUOUS, INTS(3), NONE, NONE, 1);
    MPI_Type_vector(3, 2, -4, MPI_INT, &t);
    check(t, MPI_COMBINER_VECTOR, INTS(3, 2, -4), NONE, NONE, 1);
    MPI_Type_create_hvector(3, 2, 40, MPI_INT, &t);
    check(t, MPI_COMBINER_HVECTOR, INTS(3, 2), AINTS(40), NONE, 1);
    MPI_Type_indexed(2, lengths, disps, MPI_INT, &t);
    check(t, MPI_COMBINER_INDEXED, INTS(2, 2, 1, 0, 5), NONE, NONE, 1);
    MPI_Type_create_hindexed(2, lengths, bytes, MPI_INT, &t);
    check(t, MPI_COMBINER_HINDEXED, INTS(2, 2, 1), AINTS(0, 50), NONE, 1);
    MPI_Type_create_indexed_block(2, 3, disps, MPI_INT, &t);
    check(t, MPI_COMBINER_INDEXED_BLOCK, INTS(2, 3, 0, 5), NONE, NONE, 1);
    MPI_Type_create_hindexed_block(2, 3, bytes, MPI_INT, &t);
    check(t, MPI_COMBINER_HINDEXED_BLOCK, INTS(2, 3), AINTS(0, 50), NONE, 1);
    MPI_Type_create_struct(2, lengths, bytes, types, &t);
    check(t, MPI_COMBINER_STRUCT, INTS(2, 2, 1), AINTS(0, 50), NONE, 2);
    MPI_Type_create_resized(MPI_INT, -4, 16, &t);
    check(t, MPI_COMBINER_RESIZED, NONE, AINTS(-4, 16), NONE, 1);
    MPI_Type_dup(MPI_INT, &t);
    check(t, MPI_COMBINER_DUP, NONE, NONE, NONE, 1);
    MPI_Type_create_subarray(2, (int[]){4, 5}, (int[]){2, 3}, (int[]){1, 2}, MPI_ORDER_C, MPI_INT,
                             &t);
    check(t, MPI_COMBINER_SUBARRAY, INTS(2, 4, 5, 2, 3, 1, 2, MPI_ORDER_C), NONE, NONE, 1);
    MPI_Type_create_darray(
        6, 4, 2, (int[]){8, 9}, (int[]){MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
        (int[]){MPI_DISTRIBUTE_DFLT_DARG, 2}, (int[]){2, 3}, MPI_ORDER_FORTRAN, MPI_INT, &t);
    check(t, MPI_COMBINER_DARRAY,
          INTS(6, 4, 2, 8, 9, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG,
               2, 2, 3, MPI_ORDER_FORTRAN),
          NONE, NONE, 1);
}

static void test_large(void)
{
    MPI_Datatype t;
    MPI_Count lengths[] = {2, 1}, disps[] = {0, 50};
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
    MPI_Type_contiguous_c(3, MPI_INT, &t);
    check(t, MPI_COMBINER_CONTIGUOUS, NONE, NONE, COUNTS(3), 1);
    MPI_Type_vector_c(3, 2, -4, MPI_INT, &t);
    check(t, MPI_COMBINER_VECTOR, NONE, NONE, COUNTS(3, 2, -4), 1);
    MPI_Type_create_hvector_c(3, 2, 40, MPI_INT, &t);
    check(t, MPI_COMBINER_HVECTOR, NONE, NONE, COUNTS(3, 2, 40), 1);
    MPI_Type_indexed_c(2, lengths, disps, MPI_INT, &t);
    check(t, MPI_COMBINER_INDEXED, NONE, NONE, COUNTS(2, 2, 1, 0, 50), 1);
    MPI_Type_create_hindexed_c(2, lengths, disps, MPI_INT, &t);
    check(t, MPI_COMBINER_HINDEXED, NONE, NONE, COUNTS(2, 2, 1, 0, 50), 1);
    MPI_Type_create_indexed_block_c(2, 3, disps, MPI_INT, &t);
    check(t, MPI_COMBINER_INDEXED_BLOCK, NONE, NONE, COUNTS(2, 3, 0, 50), 1);
    MPI_Type_create_hindexed_block_c(2, 3, disps, MPI_INT, &t);
    check(t, MPI_COMBINER_HINDEXED_BLOCK, NONE, NONE, COUNTS(2, 3, 0, 50), 1);
    MPI_Type_create_struct_c(2, lengths, disps, types, &t);
    check(t, MPI_COMBINER_STRUCT, NONE, NONE, COUNTS(2, 2, 1, 0, 50), 2);
    MPI_Type_create_resized_c(MPI_INT, -4, 16, &t);
    check(t, MPI_COMBINER_RESIZED, NONE, NONE, COUNTS(-4, 16), 1);
    MPI_Type_create_subarray_c(2, (MPI_Count[]){4, 5}, (MPI_Count[]){2, 3}, (MPI_Count[]){1, 2},
                               MPI_ORDER_C, MPI_INT, &t);
    check(t, MPI_COMBINER_SUBARRAY, INTS(2, MPI_ORDER_C), NONE, COUNTS(4, 5, 2, 3, 1, 2), 1);
    MPI_Type_create_darray_c(
        6, 4, 2, (MPI_Count[]){8, 9}, (int[]){MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
        (int[]){MPI_DISTRIBUTE_DFLT_DARG, 2}, (int[]){2, 3}, MPI_ORDER_FORTRAN, MPI_INT, &t);
    check(t, MPI_COMBINER_DARRAY,
          INTS(6, 4, 2, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, 2, 2,
               3, MPI_ORDER_FORTRAN),
          NONE, COUNTS(8, 9), 1);
}

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

// The int forms: the same for what int forms made, an error for what large counts made.
static void test_int_questions(void)
{
    MPI_Datatype t, d[1];
    int ni, na, nd, combiner, i[3];
    MPI_Aint a[1];
    MPI_Type_create_hvector(3, 2, 40, MPI_FLOAT, &t);
    CHECK(MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner) == MPI_SUCCESS);
    CHECK(ni == 2 && na == 1 && nd == 1 && combiner == MPI_COMBINER_HVECTOR);
    CHECK(MPI_Type_get_contents(t, 3, 1, 1, i, a, d) == MPI_SUCCESS);
    CHECK(i[0] == 3 && i[1] == 2 && a[0] == 40 && d[0] == MPI_FLOAT);
    CHECK(class_of(MPI_Type_get_contents(t, 1, 1, 1, i, a, d)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Type_get_contents(t, 3, 1, 0, i, a, d)) == MPI_ERR_ARG);
    MPI_Type_free(&t);
    MPI_Type_contiguous_c(3, MPI_FLOAT, &t);
    CHECK(class_of(MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Type_get_contents(t, 3, 1, 1, i, a, d)) == MPI_ERR_TYPE);
    MPI_Type_free(&t);
    CHECK(MPI_Type_get_envelope(MPI_INT, &ni, &na, &nd, &combiner) == MPI_SUCCESS);
    CHECK(ni == 0 && na == 0 && nd == 0 && combiner == MPI_COMBINER_NAMED);
    CHECK(class_of(MPI_Type_get_contents(MPI_INT, 3, 1, 1, i, a, d)) == MPI_ERR_TYPE);
}

// Parts that are derived come back as handles to be freed, even after the user has freed his own.
static void test_derived_parts(void)
{
    MPI_Datatype inner, outer, gone;
    MPI_Type_vector(2, 1, 3, MPI_INT, &inner);
    MPI_Type_contiguous(2, inner, &outer);
    gone = inner;
    MPI_Type_free(&inner);
    int size;
    CHECK(class_of(MPI_Type_size(gone, &size)) == MPI_ERR_TYPE);
    contents x = ask(outer), y = ask(outer);
    CHECK(MPI_Type_size(x.d[0], &size) == MPI_SUCCESS && size == 8);
    contents inside = ask(x.d[0]);
    CHECK(inside.combiner == MPI_COMBINER_VECTOR && inside.i[2] == 3 && inside.d[0] == MPI_INT);
    forget(&x);
    CHECK(MPI_Type_size(y.d[0], &size) == MPI_SUCCESS);
    MPI_Type_free(&outer);
    CHECK(MPI_Type_size(y.d[0], &size) == MPI_SUCCESS && size == 8);
    gone = y.d[0];
    forget(&y);
    CHECK(class_of(MPI_Type_size(gone, &size)) == MPI_ERR_TYPE);
}

static void test_f90(void)
{
    MPI_Datatype t, u;
    CHECK(MPI_Type_create_f90_real(15, 300, &t) == MPI_SUCCESS);
    CHECK(MPI_Type_create_f90_real(15, 300, &u) == MPI_SUCCESS && t == u);
    contents x = ask(t);
    CHECK(x.combiner == MPI_COMBINER_F90_REAL && x.ni == 2 && x.i[0] == 15 && x.i[1] == 300);
    CHECK(class_of(MPI_Type_free(&t)) == MPI_ERR_TYPE);
    CHECK(MPI_Type_create_f90_integer(9, &t) == MPI_SUCCESS);
    x = ask(t);
    CHECK(x.combiner == MPI_COMBINER_F90_INTEGER && x.ni == 1 && x.i[0] == 9 && x.nd == 0);
    int sum = 5, more = 6;
    CHECK(MPI_Reduce_local(&sum, &more, 1, t, MPI_SUM) == MPI_SUCCESS && more == 11);
    CHECK(class_of(MPI_Type_create_f90_integer(99, &t)) == MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    test_small();
    test_large();
    test_int_questions();
    test_derived_parts();
    test_f90();
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
