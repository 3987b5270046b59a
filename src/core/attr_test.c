// SPDX-License-Identifier: BSD-3-Clause
// Attributes: callbacks, their order and their errors, keyvals that outlive their freeing, and
// callbacks that change the list they are called from.
#include <stdint.h>
#include <string.h>

#include "core/attr.h"
#include "plat/error.h"
#include "plat/test.h"
#include "progress/engine.h"

static char trace[256];
static shoal_attrs list;
static int key_a, key_b, key_c;
static int fail_with;
static char the_object;
#define OBJECT ((void *)&the_object)

static void note(char what, const void *value)
{
    size_t n = strlen(trace);
    snprintf(trace + n, sizeof trace - n, "%c%d ", what, (int)(intptr_t)value);
}

static int copy_plus_100(void *handle, int keyval, void *extra, void *in, void *out, int *flag)
{
    CHECK(handle == OBJECT && keyval != 0 && extra == &the_object);
    note('c', in);
    if (fail_with) return fail_with;
    *(void **)out = (void *)((intptr_t)in + 100);
    *flag = 1;
    return 0;
}

static int refuse_copy(void *handle, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)handle, (void)keyval, (void)extra, (void)out;
    note('r', in);
    *flag = 0;
    return 0;
}

static int drop_noting(void *handle, int keyval, void *value, void *extra)
{
    CHECK(handle == OBJECT && keyval != 0);
    (void)extra;
    note('d', value);
    return fail_with;
}

// Deletes another attribute, itself, and sets a new one, all from inside a callback.
static int drop_meddling(void *handle, int keyval, void *value, void *extra)
{
    (void)extra;
    int code = 0;
    note('m', value);
    CHECK(shoal_attr_delete(&list, SHOAL_ATTR_COMM, handle, key_a, &code) == 0);
    CHECK(shoal_attr_delete(&list, SHOAL_ATTR_COMM, handle, keyval, &code) == SHOAL_E_KEYVAL);
    CHECK(shoal_attr_set(&list, SHOAL_ATTR_COMM, handle, key_b, (void *)77, &code) == 0);
    return 0;
}

static intptr_t value_of(const shoal_attrs *l, int key)
{
    void *v = NULL;
    bool found = false;
    CHECK(shoal_attr_get(l, SHOAL_ATTR_COMM, key, &v, &found) == 0);
    return found ? (intptr_t)v : -1;
}

static void set(int key, intptr_t value)
{
    int code = 5;
    CHECK(shoal_attr_set(&list, SHOAL_ATTR_COMM, OBJECT, key, (void *)value, &code) == 0);
    CHECK(code == 0);
}

static int create(shoal_attr_copy_fn *copy, shoal_attr_delete_fn *drop)
{
    int key = 0;
    CHECK(shoal_keyval_create(SHOAL_ATTR_COMM, copy, drop, &the_object, &key) == 0);
    CHECK(key > 1000);
    return key;
}

static void life(void)
{
    int code = 0;
    key_a = create(NULL, drop_noting);
    key_b = create((shoal_attr_copy_fn *)1, drop_noting);
    key_c = create(copy_plus_100, NULL);
    int key_d = create(refuse_copy, NULL);
    CHECK(value_of(&list, key_a) == -1);
    set(key_a, 1), set(key_b, 2), set(key_c, 3), set(key_d, 4);
    CHECK(value_of(&list, key_a) == 1 && value_of(&list, key_c) == 3);
    trace[0] = '\0';
    set(key_a, 5); // replaces: the old value is deleted, and it is now the last one set
    CHECK(strcmp(trace, "d1 ") == 0 && value_of(&list, key_a) == 5);
    shoal_attrs copy = {NULL};
    trace[0] = '\0';
    CHECK(shoal_attr_copy_all(&list, OBJECT, SHOAL_ATTR_COMM, &copy, &code) == 0 && code == 0);
    CHECK(value_of(&copy, key_a) == -1 && value_of(&copy, key_b) == 2);
    CHECK(value_of(&copy, key_c) == 103 && value_of(&copy, key_d) == -1);
    fail_with = MPI_ERR_IO;
    shoal_attrs half = {NULL};
    CHECK(shoal_attr_copy_all(&list, OBJECT, SHOAL_ATTR_COMM, &half, &code) == SHOAL_E_OTHER);
    CHECK(code == MPI_ERR_IO);
    CHECK(shoal_attr_delete(&list, SHOAL_ATTR_COMM, OBJECT, key_a, &code) == SHOAL_E_OTHER);
    CHECK(code == MPI_ERR_IO && value_of(&list, key_a) == 5);
    CHECK(shoal_attr_delete_all(&list, OBJECT, SHOAL_ATTR_COMM, &code) == SHOAL_E_OTHER);
    fail_with = 0;
    CHECK(shoal_attr_delete_all(&half, OBJECT, SHOAL_ATTR_COMM, &code) == 0);
    CHECK(shoal_attr_delete_all(&copy, OBJECT, SHOAL_ATTR_COMM, &code) == 0);
    trace[0] = '\0';
    CHECK(shoal_attr_delete_all(&list, OBJECT, SHOAL_ATTR_COMM, &code) == 0 && !list.first);
    CHECK(strcmp(trace, "d5 d2 ") == 0);
    CHECK(shoal_keyval_free(SHOAL_ATTR_COMM, key_d) == 0);
    CHECK(shoal_keyval_live() == 3);
}

static void freed_in_use(void)
{
    int code = 0;
    set(key_a, 9);
    CHECK(shoal_keyval_free(SHOAL_ATTR_COMM, key_a) == 0);
    CHECK(shoal_keyval_free(SHOAL_ATTR_COMM, key_a) == SHOAL_E_KEYVAL);
    CHECK(value_of(&list, key_a) == 9);
    CHECK(shoal_attr_set(&list, SHOAL_ATTR_COMM, OBJECT, key_a, NULL, &code) == SHOAL_E_KEYVAL);
    trace[0] = '\0';
    CHECK(shoal_attr_delete(&list, SHOAL_ATTR_COMM, OBJECT, key_a, &code) == 0);
    CHECK(strcmp(trace, "d9 ") == 0 && shoal_keyval_live() == 2);
    void *v = NULL;
    bool found = false;
    CHECK(shoal_attr_get(&list, SHOAL_ATTR_COMM, key_a, &v, &found) == SHOAL_E_KEYVAL);
    int again = create(NULL, NULL); // the same place, another number
    CHECK(again != key_a);
    CHECK(shoal_attr_get(&list, SHOAL_ATTR_TYPE, again, &v, &found) == SHOAL_E_KEYVAL);
    CHECK(shoal_keyval_free(SHOAL_ATTR_WIN, again) == SHOAL_E_KEYVAL);
    CHECK(shoal_attr_get(&list, SHOAL_ATTR_COMM, 0, &v, &found) == SHOAL_E_KEYVAL);
    CHECK(shoal_attr_get(&list, SHOAL_ATTR_COMM, -5, &v, &found) == SHOAL_E_KEYVAL);
    CHECK(shoal_attr_get(&list, SHOAL_ATTR_COMM, 0x7fffffff, &v, &found) == SHOAL_E_KEYVAL);
    CHECK(shoal_keyval_free(SHOAL_ATTR_COMM, again) == 0);
}

static void meddling(void)
{
    int code = 0;
    key_a = create(NULL, drop_noting);
    int key_m = create(NULL, drop_meddling);
    set(key_a, 1), set(key_m, 2);
    trace[0] = '\0';
    CHECK(shoal_attr_delete_all(&list, OBJECT, SHOAL_ATTR_COMM, &code) == 0 && !list.first);
    CHECK(strcmp(trace, "m2 d1 d77 ") == 0);
    CHECK(shoal_keyval_free(SHOAL_ATTR_COMM, key_a) == 0);
    CHECK(shoal_keyval_free(SHOAL_ATTR_COMM, key_b) == 0);
    CHECK(shoal_keyval_free(SHOAL_ATTR_COMM, key_c) == 0);
    CHECK(shoal_keyval_free(SHOAL_ATTR_COMM, key_m) == 0);
    CHECK(shoal_keyval_live() == 0);
}

static void many(void)
{
    static int keys[3000];
    for (int i = 0; i < 3000; i++) keys[i] = create(NULL, NULL);
    for (int i = 0; i < 3000; i++) CHECK(shoal_keyval_free(SHOAL_ATTR_COMM, keys[i]) == 0);
    for (int i = 0; i < 10000; i++)
        CHECK(shoal_keyval_free(SHOAL_ATTR_COMM, create(NULL, NULL)) == 0);
    CHECK(shoal_keyval_live() == 0);
}

int main(void)
{
    shoal_engine_use_lock(false); // callbacks of one thread, which call in without entering
    life();
    freed_in_use();
    meddling();
    many();
    return SHOAL_TEST_RESULT();
}
