// SPDX-License-Identifier: BSD-3-Clause
// What the stubs of functions not written yet fall back to while no error handlers exist: the
// plain error class. The definition that knows the error handlers replaces this weak one.
#include "api/api.h"

__attribute__((weak)) int shoal_api_unsupported(const char *function, int handle_kind,
                                                const void *handle)
{
    (void)function;
    (void)handle_kind;
    (void)handle;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
