// SPDX-License-Identifier: BSD-3-Clause
// Error handlers: who holds them, and which objects they may be attached to.
#include <stddef.h>

#include "core/errhandler.h"
#include "plat/error.h"
#include "plat/test.h"

static void on_error(void *handle, int *code, ...)
{
    (void)handle;
    (void)code;
}

int main(void)
{
    const MPI_Errhandler three[] = {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN};
    for (int i = 0; i < 3; i++) {
        shoal_errhandler *e = shoal_errhandler_get(three[i]);
        CHECK(e && e->predefined && e->handle == three[i]);
        CHECK(shoal_errhandler_give(e) == three[i]);
        shoal_errhandler_take_back(e);
        shoal_errhandler_take_back(e);
        shoal_errhandler_drop(e);
        CHECK(shoal_errhandler_get(three[i]) == e);
    }
    CHECK(shoal_errhandler_get(MPI_ERRHANDLER_NULL) == NULL && shoal_errhandler_get(NULL) == NULL);

    shoal_errhandler *e = shoal_errhandler_new(SHOAL_KIND_COMM, on_error);
    MPI_Errhandler h = e->handle;
    shoal_errhandler *place = NULL, *window = shoal_errhandler_get(MPI_ERRORS_RETURN);
    CHECK(shoal_errhandler_get(h) == e);
    CHECK(shoal_errhandler_attach(&place, e, SHOAL_KIND_COMM) == 0 && place == e);
    CHECK(shoal_errhandler_attach(&window, e, SHOAL_KIND_WIN) == SHOAL_E_ERRHANDLER);
    CHECK(shoal_errhandler_attach(&place, e, SHOAL_KIND_COMM) == 0); // once more, the same
    shoal_errhandler_take_back(e);
    CHECK(shoal_errhandler_get(h) == NULL && place->object.refs == 1);
    CHECK(shoal_errhandler_give(place) == h && shoal_errhandler_get(h) == e);
    shoal_errhandler_take_back(e);
    CHECK(shoal_errhandler_attach(&place, window, SHOAL_KIND_COMM) == 0);
    CHECK(shoal_errhandler_get(h) == NULL && shoal_object_live(SHOAL_KIND_ERRHANDLER) == 0);
    return SHOAL_TEST_RESULT();
}
