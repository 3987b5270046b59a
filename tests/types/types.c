// SPDX-License-Identifier: BSD-3-Clause
// Datatypes as objects: sizes and extents, names, commit, dup and attributes, and what bad
// arguments give.
// RANKS: 1
#include <limits.h>
#include <mpi.h>
#include <string.h>

#include "../../src/plat/test.h"

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static void test_sizes(void)
{
    MPI_Datatype t;
    int size;
    MPI_Aint lb, extent;
    MPI_Count big, lb_x, extent_x;
    MPI_Type_vector(3, 2, 4, MPI_DOUBLE, &t);
    CHECK(MPI_Type_size(t, &size) == MPI_SUCCESS && size == 48);
    CHECK(MPI_Type_get_extent(t, &lb, &extent) == MPI_SUCCESS && lb == 0 && extent == 80);
    CHECK(MPI_Type_get_true_extent(t, &lb, &extent) == MPI_SUCCESS && lb == 0 && extent == 80);
    CHECK(MPI_Type_size_x(t, &big) == MPI_SUCCESS && big == 48);
    CHECK(MPI_Type_get_extent_x(t, &lb_x, &extent_x) == MPI_SUCCESS && extent_x == 80);
    CHECK(MPI_Type_get_true_extent_x(t, &lb_x, &extent_x) == MPI_SUCCESS && extent_x == 80);
    MPI_Type_free(&t);
    // Beyond an int, and beyond everything.
    MPI_Datatype huge;
    MPI_Type_contiguous(INT_MAX, MPI_DOUBLE, &t);
    CHECK(MPI_Type_size(t, &size) == MPI_SUCCESS && size == MPI_UNDEFINED);
    CHECK(MPI_Type_size_c(t, &big) == MPI_SUCCESS && big == (MPI_Count)INT_MAX * 8);
    CHECK(class_of(MPI_Type_contiguous(INT_MAX, t, &huge)) == MPI_ERR_COUNT);
    CHECK(MPI_Type_commit(&t) == MPI_SUCCESS);
    CHECK(MPI_Pack_size(1, t, MPI_COMM_SELF, &size) == MPI_SUCCESS && size == MPI_UNDEFINED);
    MPI_Type_free(&t);
    // Resizing outranks the data.
    MPI_Datatype wide, parts[2] = {MPI_INT, MPI_INT};
    MPI_Type_create_resized(MPI_INT, -8, 32, &wide);
    parts[0] = wide;
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 100}, parts, &t);
    CHECK(MPI_Type_get_extent(t, &lb, &extent) == MPI_SUCCESS && lb == -8 && extent == 32);
    CHECK(MPI_Type_get_true_extent(t, &lb, &extent) == MPI_SUCCESS && lb == 0 && extent == 104);
    MPI_Type_free(&wide);
    MPI_Type_free(&t);
    // A struct is padded as the compiler pads.
    MPI_Datatype fields[2] = {MPI_DOUBLE, MPI_CHAR};
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, fields, &t);
    CHECK(MPI_Type_get_extent(t, &lb, &extent) == MPI_SUCCESS && extent == 16);
    MPI_Type_free(&t);
}

static void test_names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int n;
    CHECK(MPI_Type_get_name(MPI_INT, name, &n) == MPI_SUCCESS && strcmp(name, "MPI_INT") == 0);
    CHECK(n == 7);
    CHECK(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &n) == MPI_SUCCESS);
    CHECK(strcmp(name, "MPI_DATATYPE_NULL") == 0);
    MPI_Datatype t;
    MPI_Type_dup(MPI_INT, &t);
    CHECK(MPI_Type_get_name(t, name, &n) == MPI_SUCCESS && n == 0 && name[0] == 0);
    CHECK(MPI_Type_set_name(t, "a pixel") == MPI_SUCCESS);
    CHECK(MPI_Type_get_name(t, name, &n) == MPI_SUCCESS && strcmp(name, "a pixel") == 0);
    MPI_Type_free(&t);
}

static int copies, deletes;

static int on_copy(MPI_Datatype t, int key, void *extra, void *in, void *out, int *flag)
{
    (void)t;
    (void)key;
    (void)extra;
    copies++;
    *(void **)out = in;
    *flag = 1;
    return in == NULL ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int refuse;

static int on_delete(MPI_Datatype t, int key, void *value, void *extra)
{
    (void)key;
    (void)value;
    (void)extra;
    int size;
    CHECK(MPI_Type_size(t, &size) == MPI_SUCCESS);
    deletes++;
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void test_attributes(void)
{
    MPI_Datatype t, u;
    int key, flag, here = 7;
    void *value;
    CHECK(MPI_Type_create_keyval(on_copy, on_delete, &key, NULL) == MPI_SUCCESS);
    MPI_Type_contiguous(2, MPI_INT, &t);
    CHECK(MPI_Type_set_attr(t, key, &here) == MPI_SUCCESS);
    CHECK(MPI_Type_dup(t, &u) == MPI_SUCCESS && copies == 1);
    CHECK(MPI_Type_get_attr(u, key, &value, &flag) == MPI_SUCCESS && flag && value == &here);
    refuse = 1;
    CHECK(MPI_Type_free(&u) != MPI_SUCCESS && u != MPI_DATATYPE_NULL);
    refuse = 0;
    CHECK(MPI_Type_free(&u) == MPI_SUCCESS);
    int before = deletes;
    CHECK(MPI_Type_set_attr(t, key, NULL) == MPI_SUCCESS && deletes == before + 1);
    CHECK(MPI_Type_dup(t, &u) != MPI_SUCCESS && u == MPI_DATATYPE_NULL);
    CHECK(MPI_Type_free(&t) == MPI_SUCCESS && deletes == before + 2);
    MPI_Type_free_keyval(&key);
}

static void test_bad_arguments(void)
{
    MPI_Datatype t = MPI_DATATYPE_NULL, zero = (MPI_Datatype)0, freed;
    int size, one = 1, minus = -1;
    MPI_Type_contiguous(2, MPI_INT, &freed);
    MPI_Datatype dead = freed;
    MPI_Type_free(&freed);
    MPI_Datatype bad[] = {
        MPI_DATATYPE_NULL, zero, dead, (MPI_Datatype)MPI_COMM_WORLD, (MPI_Datatype)0x2ff,
        (MPI_Datatype)&one};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(class_of(MPI_Type_size(bad[i], &size)) == MPI_ERR_TYPE);
        CHECK(class_of(MPI_Type_contiguous(1, bad[i], &t)) == MPI_ERR_TYPE);
        CHECK(class_of(MPI_Type_create_struct(1, &one, (MPI_Aint[]){0}, &bad[i], &t)) ==
              MPI_ERR_TYPE);
        CHECK(class_of(MPI_Type_commit(&bad[i])) == MPI_ERR_TYPE);
        CHECK(class_of(MPI_Type_free(&bad[i])) == MPI_ERR_TYPE);
    }
    CHECK(class_of(MPI_Type_contiguous(-1, MPI_INT, &t)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Type_contiguous(1, MPI_INT, NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Type_vector(2, -1, 1, MPI_INT, &t)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Type_indexed(1, &minus, &one, MPI_INT, &t)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Type_indexed(1, NULL, &one, MPI_INT, &t)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Type_indexed(-3, &one, &one, MPI_INT, &t)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Type_match_size(MPI_TYPECLASS_REAL, 5, &t)) == MPI_ERR_ARG);
    CHECK(t == MPI_DATATYPE_NULL);
    MPI_Datatype predefined = MPI_INT;
    CHECK(class_of(MPI_Type_free(&predefined)) == MPI_ERR_TYPE && predefined == MPI_INT);
    // A text carries the values.
    char text[MPI_MAX_ERROR_STRING];
    int code = MPI_Type_vector(2, -17, 1, MPI_INT, &t), n;
    CHECK(MPI_Error_string(code, text, &n) == MPI_SUCCESS && strstr(text, "-17") != NULL);
}

static void test_pairs(void)
{
    MPI_Datatype t;
    CHECK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &t) == MPI_SUCCESS && t == MPI_DOUBLE_INT);
    CHECK(MPI_Type_get_value_index(MPI_INT, MPI_INT, &t) == MPI_SUCCESS && t == MPI_2INT);
    CHECK(MPI_Type_get_value_index(MPI_INT, MPI_FLOAT, &t) == MPI_SUCCESS);
    CHECK(t == MPI_DATATYPE_NULL);
    CHECK(class_of(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &t)) == MPI_ERR_TYPE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    test_sizes();
    test_names();
    test_attributes();
    test_bad_arguments();
    test_pairs();
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
