// SPDX-License-Identifier: BSD-3-Clause
// Error handlers. The predefined three are constants of the library and need no start-up, so that
// they can be named before MPI_Init. A handler made by the user is owned by the handles given out
// for it (`handles`) and by the objects it is attached to; the sum of both is `object.refs`.
#include "core/errhandler.h"

#include <assert.h>
#include <stddef.h>

#include "plat/error.h"

static shoal_errhandler predefined[] = {
    {.handle = MPI_ERRORS_ARE_FATAL, .does = SHOAL_EH_FATAL, .predefined = true},
    {.handle = MPI_ERRORS_ABORT, .does = SHOAL_EH_ABORT, .predefined = true},
    {.handle = MPI_ERRORS_RETURN, .does = SHOAL_EH_RETURN, .predefined = true},
};
#define PREDEFINED (sizeof predefined / sizeof predefined[0])

static shoal_errhandler_place_fn *finders[SHOAL_KINDS];
static shoal_errhandler *file_default = &predefined[2]; // files begin with MPI_ERRORS_RETURN

int shoal_errhandler_init(void)
{
    shoal_object_register(SHOAL_KIND_ERRHANDLER, sizeof(shoal_errhandler));
    return 0;
}

shoal_errhandler *shoal_errhandler_get(MPI_Errhandler handle)
{
    if (!shoal_handle_is_predefined(handle)) {
        shoal_errhandler *e = shoal_object_get(SHOAL_KIND_ERRHANDLER, handle);
        return e && e->handles > 0 ? e : NULL;
    }
    for (size_t i = 0; i < PREDEFINED; i++)
        if (predefined[i].handle == handle) return &predefined[i];
    return NULL;
}

shoal_errhandler *shoal_errhandler_new(enum shoal_kind owner, shoal_errhandler_fn *function)
{
    shoal_errhandler_init(); // may be the first use: allowed before MPI_Init
    shoal_errhandler *e = shoal_object_new(SHOAL_KIND_ERRHANDLER);
    if (!e) return NULL;
    e->handle = shoal_object_handle(e);
    e->does = SHOAL_EH_CALL;
    e->owner = owner;
    e->function = function;
    e->handles = 1;
    return e;
}

MPI_Errhandler shoal_errhandler_give(shoal_errhandler *e)
{
    shoal_errhandler_hold(e);
    if (!e->predefined) e->handles++;
    return e->handle;
}

void shoal_errhandler_take_back(shoal_errhandler *e)
{
    if (e->predefined) return;
    assert(e->handles > 0);
    e->handles--;
    shoal_errhandler_drop(e);
}

void shoal_errhandler_drop(shoal_errhandler *e)
{
    if (!e || e->predefined) return;
    assert(e->object.refs > 0);
    if (--e->object.refs == 0) shoal_object_free(e);
}

int shoal_errhandler_attach(shoal_errhandler **place, shoal_errhandler *e, enum shoal_kind kind)
{
    if (!e->predefined && e->owner != kind)
        return shoal_fail(SHOAL_E_ERRHANDLER,
                          "the error handler was created for another kind of object");
    shoal_errhandler_hold(e);
    shoal_errhandler_drop(*place);
    *place = e;
    return 0;
}

void shoal_errhandler_register(enum shoal_kind kind, shoal_errhandler_place_fn *find)
{
    finders[kind] = find;
}

shoal_errhandler **shoal_errhandler_place(enum shoal_kind kind, const void *handle)
{
    return finders[kind] ? finders[kind](handle) : NULL;
}

shoal_errhandler **shoal_errhandler_file_default(void)
{
    return &file_default;
}
