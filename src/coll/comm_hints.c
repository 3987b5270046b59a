// SPDX-License-Identifier: BSD-3-Clause
// See comm_hints.h. The assertions of the standard are kept and told; the engine does not need
// them.
#include "coll/comm_hints.h"

#include <string.h>

#include "plat/error.h"

static const char *const assertions[] = {
    "mpi_assert_no_any_tag",
    "mpi_assert_no_any_source",
    "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking",
};
#define ASSERTIONS (sizeof assertions / sizeof assertions[0])

static bool is_boolean(const char *value)
{
    return value && (strcmp(value, "true") == 0 || strcmp(value, "false") == 0);
}

int shoal_hints_set(shoal_comm *c, const shoal_info *given)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && given && i < ASSERTIONS; i++) {
        const char *value = shoal_info_find(given, assertions[i]);
        if (!is_boolean(value)) continue;
        if (!c->info) c->info = shoal_info_new();
        rc = c->info ? shoal_info_set(c->info, assertions[i], value) : SHOAL_E_NO_MEM;
    }
    return rc;
}

shoal_info *shoal_hints_get(const shoal_comm *c)
{
    shoal_info *info = shoal_info_new();
    for (size_t i = 0; info && i < ASSERTIONS; i++) {
        const char *value = c->info ? shoal_info_find(c->info, assertions[i]) : NULL;
        if (shoal_info_set(info, assertions[i], value ? value : "false") == 0) continue;
        shoal_info_free(info);
        return NULL;
    }
    return info;
}
