// SPDX-License-Identifier: BSD-3-Clause
// Attributes through MPI: of communicators and datatypes, predefined ones, callbacks and their
// errors, and the order in which MPI_Finalize calls back.
// RANKS: 1 2
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/plat/test.h"

static char trace[128];
static int fail_with;

static int class_of(int code)
{
    int class = -1;
    CHECK(MPI_Error_class(code, &class) == MPI_SUCCESS);
    return class;
}

static int copy_comm(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    CHECK(comm != MPI_COMM_NULL && keyval != MPI_KEYVAL_INVALID && extra == trace);
    *(void **)out = (void *)((intptr_t)in + 1);
    *flag = 1;
    return fail_with;
}

static int delete_comm(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)keyval, (void)extra;
    int size = 0;
    CHECK(MPI_Comm_size(comm, &size) == MPI_SUCCESS && size > 0);
    size_t n = strlen(trace);
    snprintf(trace + n, sizeof trace - n, "%d ", (int)(intptr_t)value);
    return fail_with;
}

static int copy_type(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)keyval, (void)extra, (void)in;
    CHECK(type != MPI_DATATYPE_NULL);
    return MPI_Type_dup(MPI_INT, out) == MPI_SUCCESS ? (*flag = 1, fail_with) : MPI_ERR_OTHER;
}

static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)keyval, (void)extra;
    CHECK(type != MPI_DATATYPE_NULL);
    MPI_Datatype held = value;
    return MPI_Type_free(&held);
}

static intptr_t get(MPI_Comm comm, int keyval)
{
    void *value = NULL;
    int flag = -1;
    CHECK(MPI_Comm_get_attr(comm, keyval, &value, &flag) == MPI_SUCCESS);
    return flag ? (intptr_t)value : -1;
}

static void predefined(void)
{
    int *value = NULL, flag = 0, size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag) == 0 && flag);
    CHECK(*value >= 32767 && *value <= INT_MAX);
    CHECK(MPI_Comm_get_attr(MPI_COMM_SELF, MPI_TAG_UB, &value, &flag) == 0 && flag);
    CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag) == 0);
    CHECK(!flag || *value >= size);
    CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag) == 0);
    CHECK((!flag || *value >= 0));
    CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag) == 0);
    CHECK(flag && *value == MPI_ANY_SOURCE);
    CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag) == 0);
    CHECK(flag && *value == 1);
    CHECK(MPI_Attr_get(MPI_COMM_WORLD, MPI_HOST, &value, &flag) == 0 && flag);
    CHECK(class_of(MPI_Comm_set_attr(MPI_COMM_SELF, MPI_TAG_UB, &flag)) == MPI_ERR_KEYVAL);
    CHECK(class_of(MPI_Comm_delete_attr(MPI_COMM_SELF, MPI_TAG_UB)) == MPI_ERR_KEYVAL);
    int predefined_key = MPI_TAG_UB;
    CHECK(class_of(MPI_Comm_free_keyval(&predefined_key)) == MPI_ERR_KEYVAL);
}

static void of_comms(void)
{
    int plain, duped, copied;
    MPI_Comm dup;
    CHECK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, NULL, &plain, NULL) == 0);
    CHECK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &duped, NULL) == 0);
    CHECK(MPI_Comm_create_keyval(copy_comm, delete_comm, &copied, trace) == 0);
    CHECK(get(MPI_COMM_SELF, plain) == -1);
    CHECK(MPI_Comm_set_attr(MPI_COMM_SELF, plain, (void *)1) == 0);
    CHECK(MPI_Comm_set_attr(MPI_COMM_SELF, duped, (void *)2) == 0);
    CHECK(MPI_Comm_set_attr(MPI_COMM_SELF, copied, (void *)3) == 0);
    CHECK(MPI_Comm_dup(MPI_COMM_SELF, &dup) == 0);
    CHECK(get(dup, plain) == -1 && get(dup, duped) == 2 && get(dup, copied) == 4);
    trace[0] = '\0';
    CHECK(MPI_Comm_free(&dup) == 0 && strcmp(trace, "4 ") == 0);
    fail_with = MPI_ERR_NAME;
    CHECK(class_of(MPI_Comm_dup(MPI_COMM_SELF, &dup)) == MPI_ERR_NAME);
    CHECK(class_of(MPI_Comm_delete_attr(MPI_COMM_SELF, copied)) == MPI_ERR_NAME);
    fail_with = 0;
    CHECK(get(MPI_COMM_SELF, copied) == 3);
    int keep = copied;
    CHECK(MPI_Comm_free_keyval(&copied) == 0 && copied == MPI_KEYVAL_INVALID);
    CHECK(MPI_Comm_delete_attr(MPI_COMM_SELF, keep) == 0);
    CHECK(class_of(MPI_Comm_delete_attr(MPI_COMM_SELF, keep)) == MPI_ERR_KEYVAL);
    CHECK(MPI_Comm_delete_attr(MPI_COMM_SELF, plain) == 0);
    CHECK(MPI_Comm_delete_attr(MPI_COMM_SELF, duped) == 0);
    CHECK(MPI_Comm_free_keyval(&plain) == 0 && MPI_Comm_free_keyval(&duped) == 0);
}

static void old_names(void)
{
    int key = MPI_KEYVAL_INVALID, flag = 0;
    void *value = NULL;
    CHECK(MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL) == 0);
    CHECK(MPI_Attr_put(MPI_COMM_SELF, key, (void *)11) == 0);
    CHECK(MPI_Attr_get(MPI_COMM_SELF, key, &value, &flag) == 0 && flag && value == (void *)11);
    CHECK(MPI_Attr_delete(MPI_COMM_SELF, key) == 0);
    CHECK(MPI_Keyval_free(&key) == 0 && key == MPI_KEYVAL_INVALID);
}

static void of_types(void)
{
    int key, flag = 0;
    MPI_Datatype type, dup, value = MPI_DATATYPE_NULL, got = MPI_DATATYPE_NULL;
    CHECK(MPI_Type_create_keyval(copy_type, delete_type, &key, NULL) == 0);
    CHECK(MPI_Type_dup(MPI_DOUBLE, &type) == 0 && MPI_Type_dup(MPI_INT, &value) == 0);
    CHECK(MPI_Type_set_attr(type, key, value) == 0);
    CHECK(MPI_Type_dup(type, &dup) == 0);
    CHECK(MPI_Type_get_attr(dup, key, &got, &flag) == 0 && flag && got != value);
    CHECK(MPI_Type_free(&dup) == 0);
    CHECK(MPI_Type_delete_attr(type, key) == 0);
    CHECK(MPI_Type_get_attr(type, key, &got, &flag) == 0 && !flag);
    CHECK(class_of(MPI_Type_get_attr(MPI_INT, MPI_KEYVAL_INVALID, &got, &flag)) == MPI_ERR_KEYVAL);
    CHECK(class_of(MPI_Type_get_attr(MPI_DATATYPE_NULL, key, &got, &flag)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL)) == MPI_ERR_KEYVAL);
    CHECK(MPI_Type_free(&type) == 0 && MPI_Type_free_keyval(&key) == 0);
}

static void mistakes(void)
{
    int flag = 0, key = MPI_KEYVAL_INVALID;
    void *value = NULL;
    CHECK(class_of(MPI_Comm_get_attr(MPI_COMM_NULL, MPI_TAG_UB, &value, &flag)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Comm_get_attr(MPI_COMM_SELF, 0, &value, &flag)) == MPI_ERR_KEYVAL);
    CHECK(class_of(MPI_Comm_get_attr(MPI_COMM_SELF, -7, &value, &flag)) == MPI_ERR_KEYVAL);
    CHECK(class_of(MPI_Comm_get_attr(MPI_COMM_SELF, MPI_TAG_UB, NULL, &flag)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Comm_free_keyval(&key)) == MPI_ERR_KEYVAL);
    CHECK(class_of(MPI_Comm_create_keyval(NULL, NULL, NULL, NULL)) == MPI_ERR_ARG);
    CHECK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL) == 0);
    CHECK(class_of(MPI_Win_get_attr(MPI_WIN_NULL, key, &value, &flag)) == MPI_ERR_WIN);
    CHECK(MPI_Win_free_keyval(&key) == 0);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    predefined();
    of_comms();
    old_names();
    of_types();
    mistakes();
    int keys[4];
    for (int i = 0; i < 4; i++) {
        CHECK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_comm, &keys[i], NULL) == 0);
        CHECK(MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], (void *)(intptr_t)(i + 1)) == 0);
        CHECK(MPI_Comm_free_keyval(&keys[i]) == 0);
    }
    trace[0] = '\0';
    MPI_Finalize();
    CHECK(strcmp(trace, "4 3 2 1 ") == 0);
    return SHOAL_TEST_RESULT();
}
