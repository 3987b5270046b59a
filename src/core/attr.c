// SPDX-License-Identifier: BSD-3-Clause
// Keyvals and attributes. A keyval's number tells where it is and which of those that have lived
// there is meant, so that a freed or invented number is found out:
//
//      30      20 19   18 17      0
//     | lifetime | owner |  place  |
//
// A keyval is owned by the user, until freed, and by each attribute stored under it. Callbacks
// may set and delete attributes of the very object, and so may other threads meanwhile: an
// attribute whose delete callback runs is marked, and no loop keeps a pointer into a list across a
// callback.
#include "core/attr.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "core/outside.h"
#include "plat/error.h"

#define PLACE_BITS 18
#define PLACES     (1u << PLACE_BITS)
#define LIFETIMES  (1u << 11)

typedef struct keyval {
    int number;
    enum shoal_attr_owner owner;
    shoal_attr_copy_fn *copy;
    shoal_attr_delete_fn *drop;
    void *extra;
    uint32_t refs;
    bool freed; // by the user
} keyval;

struct shoal_attr {
    shoal_attr *next;
    keyval *key;
    void *value;
    bool deleting;    // its delete callback runs
    uint32_t copying; // by so many who copy all attributes: its value is still needed
    bool doomed;      // deleted meanwhile; the last of them calls the delete callback
};

// A place in the table of keyvals.
typedef struct key_place {
    keyval *key; // or NULL
    uint32_t lifetime;
    uint32_t next_free; // 1 + place, 0: none
} key_place;

static struct {
    key_place *places;
    uint32_t used, room;
    uint32_t free; // 1 + place, 0: none
    int live;
} keys;

static int take_place(uint32_t *place_out)
{
    if (keys.free) {
        *place_out = keys.free - 1;
        keys.free = keys.places[*place_out].next_free;
        return 0;
    }
    if (keys.used == keys.room) {
        uint32_t room = keys.room ? 2 * keys.room : 32;
        if (room > PLACES) return shoal_fail(SHOAL_E_NO_MEM, "%u keyvals exist already", keys.used);
        key_place *more = realloc(keys.places, room * sizeof *more);
        if (!more) return shoal_fail(SHOAL_E_NO_MEM, "no memory for %u keyvals", room);
        keys.places = more;
        keys.room = room;
    }
    *place_out = keys.used++;
    keys.places[*place_out] = (key_place){0};
    return 0;
}

int shoal_keyval_create(enum shoal_attr_owner owner, shoal_attr_copy_fn *copy,
                        shoal_attr_delete_fn *drop, void *extra, int *keyval_out)
{
    keyval *k = malloc(sizeof *k);
    if (!k) return shoal_fail(SHOAL_E_NO_MEM, "no memory for a keyval");
    uint32_t place = 0;
    int rc = take_place(&place);
    if (rc != 0) {
        free(k);
        return rc;
    }
    key_place *p = &keys.places[place];
    p->lifetime = p->lifetime + 1 == LIFETIMES ? 1 : p->lifetime + 1;
    *k = (keyval){.owner = owner, .copy = copy, .drop = drop, .extra = extra, .refs = 1};
    k->number = (int)(p->lifetime << 20 | (uint32_t)owner << PLACE_BITS | place);
    p->key = k;
    keys.live++;
    *keyval_out = k->number;
    return 0;
}

int shoal_keyval_live(void)
{
    return keys.live;
}

static const char *owner_name(enum shoal_attr_owner owner)
{
    return owner == SHOAL_ATTR_COMM   ? "communicators"
           : owner == SHOAL_ATTR_TYPE ? "datatypes"
                                      : "windows";
}

// The keyval of a number, alive and made for that kind of object.
static int find_key(enum shoal_attr_owner owner, int number, keyval **out)
{
    uint32_t place = (uint32_t)number & (PLACES - 1);
    keyval *k = number > 0 && place < keys.used ? keys.places[place].key : NULL;
    if (!k || k->number != number)
        return shoal_fail(SHOAL_E_KEYVAL, "keyval %d is not valid for %s", number,
                          owner_name(owner));
    if (k->owner != owner)
        return shoal_fail(SHOAL_E_KEYVAL, "keyval %d is for %s, not for %s", number,
                          owner_name(k->owner), owner_name(owner));
    *out = k;
    return 0;
}

static void drop_key(keyval *k)
{
    assert(k->refs > 0);
    if (--k->refs > 0) return;
    uint32_t place = (uint32_t)k->number & (PLACES - 1);
    keys.places[place].key = NULL;
    keys.places[place].next_free = keys.free;
    keys.free = place + 1;
    keys.live--;
    free(k);
}

int shoal_keyval_free(enum shoal_attr_owner owner, int number)
{
    keyval *k = NULL;
    int rc = find_key(owner, number, &k);
    if (rc != 0) return rc;
    if (k->freed) return shoal_fail(SHOAL_E_KEYVAL, "keyval %d was freed before", number);
    k->freed = true;
    drop_key(k);
    return 0;
}

static shoal_attr *find_attr(const shoal_attrs *list, const keyval *k)
{
    for (shoal_attr *a = list->first; a; a = a->next)
        if (a->key == k && !a->deleting) return a;
    return NULL;
}

static void unlink_attr(shoal_attrs *list, shoal_attr *a)
{
    shoal_attr **at = &list->first;
    while (*at && *at != a) at = &(*at)->next;
    if (*at) *at = a->next;
}

static int call_copy(const keyval *k, void *handle, void *value, void *copied_out, int *flag_out)
{
    shoal_outside o = shoal_outside_go();
    int code = k->copy(handle, k->number, k->extra, value, copied_out, flag_out);
    shoal_outside_return(o);
    return code;
}

static int call_delete(const keyval *k, void *handle, void *value)
{
    if (!k->drop) return 0;
    shoal_outside o = shoal_outside_go();
    int code = k->drop(handle, k->number, value, k->extra);
    shoal_outside_return(o);
    return code;
}

// Calls the delete callback, and takes the attribute off the list when it agrees. While others copy
// the value it goes at once, and the callback runs when they are done.
static int delete_attr(shoal_attrs *list, void *handle, shoal_attr *a, int *user_error_out)
{
    keyval *k = a->key;
    if (a->copying > 0) {
        a->doomed = true;
        unlink_attr(list, a);
        return 0;
    }
    a->deleting = true;
    int code = call_delete(k, handle, a->value);
    a->deleting = false;
    if (code != 0) {
        *user_error_out = code;
        return shoal_fail(SHOAL_E_OTHER, "the delete callback of keyval %d returned error %d",
                          k->number, code);
    }
    unlink_attr(list, a);
    free(a);
    drop_key(k);
    return 0;
}

// A new attribute; takes a hold on the keyval.
static shoal_attr *new_attr(keyval *k, void *value)
{
    shoal_attr *a = calloc(1, sizeof *a);
    if (!a) {
        shoal_fail(SHOAL_E_NO_MEM, "no memory for an attribute");
        return NULL;
    }
    a->key = k;
    a->value = value;
    k->refs++;
    return a;
}

int shoal_attr_set(shoal_attrs *list, enum shoal_attr_owner owner, void *handle, int number,
                   void *value, int *user_error_out)
{
    *user_error_out = 0;
    keyval *k = NULL;
    int rc = find_key(owner, number, &k);
    if (rc != 0) return rc;
    if (k->freed) return shoal_fail(SHOAL_E_KEYVAL, "keyval %d was freed", number);
    // Made first: it keeps the keyval through the callback, and nothing can fail after that.
    shoal_attr *a = new_attr(k, value);
    if (!a) return SHOAL_E_NO_MEM;
    // More than once if another thread sets it while the callback runs.
    for (shoal_attr *old; rc == 0 && (old = find_attr(list, k)) != NULL;)
        rc = delete_attr(list, handle, old, user_error_out);
    if (rc != 0) {
        free(a);
        drop_key(k);
        return rc;
    }
    a->next = list->first;
    list->first = a;
    return 0;
}

int shoal_attr_get(const shoal_attrs *list, enum shoal_attr_owner owner, int number,
                   void **value_out, bool *found_out)
{
    keyval *k = NULL;
    int rc = find_key(owner, number, &k);
    if (rc != 0) return rc;
    const shoal_attr *a = find_attr(list, k);
    if (a) *value_out = a->value;
    *found_out = a != NULL;
    return 0;
}

int shoal_attr_delete(shoal_attrs *list, enum shoal_attr_owner owner, void *handle, int number,
                      int *user_error_out)
{
    *user_error_out = 0;
    keyval *k = NULL;
    int rc = find_key(owner, number, &k);
    if (rc != 0) return rc;
    shoal_attr *a = find_attr(list, k);
    if (!a) return shoal_fail(SHOAL_E_KEYVAL, "the object has no attribute of keyval %d", number);
    return delete_attr(list, handle, a, user_error_out);
}

// Copies one attribute to the end of `to`, if its keyval's callback wants that.
static int copy_attr(keyval *k, void *value, void *from_handle, shoal_attr ***end,
                     int *user_error_out)
{
    void *copied = value;
    int flag = 1, code = 0;
    if (k->copy == NULL) return 0;
    if ((uintptr_t)k->copy != 1) {
        flag = 0;
        code = call_copy(k, from_handle, value, &copied, &flag);
    }
    if (code != 0) {
        *user_error_out = code;
        return shoal_fail(SHOAL_E_OTHER, "the copy callback of keyval %d returned error %d",
                          k->number, code);
    }
    if (!flag) return 0;
    shoal_attr *a = new_attr(k, copied);
    if (!a) return SHOAL_E_NO_MEM;
    **end = a;
    *end = &a->next;
    return 0;
}

// One of those who copy it is done.
static void end_copying(shoal_attr *a, void *handle)
{
    if (--a->copying > 0 || !a->doomed) return;
    keyval *k = a->key;
    (void)call_delete(k, handle, a->value);
    free(a);
    drop_key(k);
}

int shoal_attr_copy_all(const shoal_attrs *from, void *from_handle, enum shoal_attr_owner owner,
                        shoal_attrs *to, int *user_error_out)
{
    (void)owner;
    *user_error_out = 0;
    assert(to->first == NULL);
    size_t n = 0;
    for (const shoal_attr *a = from->first; a; a = a->next) n += !a->deleting;
    if (n == 0) return 0;
    // The list as it is now: callbacks may change it.
    shoal_attr **now = malloc(n * sizeof(shoal_attr *));
    if (!now) return shoal_fail(SHOAL_E_NO_MEM, "no memory to copy %zu attributes", n);
    size_t i = 0;
    for (shoal_attr *a = from->first; a; a = a->next) {
        if (a->deleting) continue;
        a->copying++;
        now[i++] = a;
    }
    int rc = 0;
    shoal_attr **end = &to->first;
    for (i = 0; i < n; i++) {
        if (rc == 0 && !now[i]->doomed)
            rc = copy_attr(now[i]->key, now[i]->value, from_handle, &end, user_error_out);
        end_copying(now[i], from_handle);
    }
    free(now);
    return rc;
}

int shoal_attr_delete_all(shoal_attrs *list, void *handle, enum shoal_attr_owner owner,
                          int *user_error_out)
{
    (void)owner;
    *user_error_out = 0;
    for (;;) {
        shoal_attr *a = list->first;
        while (a && a->deleting) a = a->next;
        if (!a) return 0;
        int rc = delete_attr(list, handle, a, user_error_out);
        if (rc != 0) return rc;
    }
}

static const shoal_attr_win_ops *win_ops;

void shoal_attr_register_win(const shoal_attr_win_ops *ops)
{
    win_ops = ops;
}

const shoal_attr_win_ops *shoal_attr_win(void)
{
    return win_ops;
}
