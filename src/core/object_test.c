// SPDX-License-Identifier: BSD-3-Clause
// Handles: found while alive, refused afterwards, whatever lives in the place now; invented values
// never reach memory that is not an object; the way over integers and back.
#include "core/object.h"

#include <stdlib.h>
#include <string.h>

#include "plat/test.h"

typedef struct thing {
    shoal_object object;
    int value;
    char more[40];
} thing;

enum { MANY = 3000 }; // several chunks

static void life(void)
{
    thing *t = shoal_object_new(SHOAL_KIND_INFO);
    CHECK(t && t->value == 0 && t->object.refs == 1);
    void *h = shoal_object_handle(t);
    CHECK((uintptr_t)h >= SHOAL_HANDLE_PREDEFINED);
    CHECK(shoal_object_get(SHOAL_KIND_INFO, h) == t);
    CHECK(shoal_object_get(SHOAL_KIND_GROUP, h) == NULL);
    CHECK(shoal_object_live(SHOAL_KIND_INFO) == 1);
    shoal_object_free(t);
    CHECK(shoal_object_get(SHOAL_KIND_INFO, h) == NULL && shoal_object_live(SHOAL_KIND_INFO) == 0);
    thing *next = shoal_object_new(SHOAL_KIND_INFO);
    void *second = shoal_object_handle(next);
    CHECK(next == t && second != h); // the same place, another ticket
    CHECK(shoal_object_get(SHOAL_KIND_INFO, h) == NULL);
    CHECK(shoal_object_get(SHOAL_KIND_INFO, second) == next);
    shoal_object_free(next);
}

static void many(void)
{
    static thing *things[MANY];
    static void *handles[MANY];
    for (int k = 0; k < MANY; k++) {
        things[k] = shoal_object_new(SHOAL_KIND_INFO);
        things[k]->value = k;
        handles[k] = shoal_object_handle(things[k]);
    }
    for (int k = 0; k < MANY; k += 2) shoal_object_free(things[k]);
    for (int k = 0; k < MANY; k++) {
        thing *t = shoal_object_get(SHOAL_KIND_INFO, handles[k]);
        CHECK(k % 2 ? t == things[k] && t->value == k : t == NULL);
    }
    for (int k = 0; k < MANY; k += 2) things[k] = shoal_object_new(SHOAL_KIND_INFO);
    for (int k = 0; k < MANY; k++) {
        CHECK(k % 2 == 1 || shoal_object_get(SHOAL_KIND_INFO, handles[k]) == NULL);
        CHECK(shoal_object_get(SHOAL_KIND_INFO, shoal_object_handle(things[k])) == things[k]);
    }
    CHECK(shoal_object_live(SHOAL_KIND_INFO) == MANY);
    for (int k = 0; k < MANY; k++) shoal_object_free(things[k]);
}

static void invented(void)
{
    thing *t = shoal_object_new(SHOAL_KIND_INFO);
    uint64_t live = (uint64_t)(uintptr_t)shoal_object_handle(t), seed = 1;
    int found = 0;
    for (int k = 0; k < 1000000; k++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t h = k % 2 ? seed : live ^ (uint64_t)1 << (seed >> 58);
        found += h != live && shoal_object_get(SHOAL_KIND_INFO, (void *)(uintptr_t)h) != NULL;
    }
    CHECK(found == 0);
    for (uintptr_t h = 0; h < 2 * SHOAL_HANDLE_PREDEFINED; h++)
        CHECK(shoal_object_get(SHOAL_KIND_INFO, (void *)h) == NULL);
    shoal_object_free(t);
}

static void over_integers(void)
{
    void *none = (void *)0x130;
    thing *t = shoal_object_new(SHOAL_KIND_INFO);
    void *h = shoal_object_handle(t);
    int i = shoal_handle_to_int(h);
    CHECK(i >= (int)SHOAL_HANDLE_PREDEFINED);
    CHECK(shoal_handle_from_int(SHOAL_KIND_INFO, i, none) == h);
    CHECK(shoal_handle_to_int(none) == 0x130);
    CHECK(shoal_handle_from_int(SHOAL_KIND_INFO, 0x130, NULL) == none);
    CHECK(shoal_handle_from_int(SHOAL_KIND_INFO, -1, none) == none);
    CHECK(shoal_handle_from_int(SHOAL_KIND_INFO, 0x7fffffff, none) == none);
    shoal_object_free(t);
    CHECK(shoal_handle_from_int(SHOAL_KIND_INFO, i, none) == none);
}

int main(void)
{
    shoal_object_register(SHOAL_KIND_INFO, sizeof(thing));
    life();
    many();
    invented();
    over_integers();
    return SHOAL_TEST_RESULT();
}
