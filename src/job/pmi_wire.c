// SPDX-License-Identifier: BSD-3-Clause
// Taking PMI-1 lines apart.
#include "job/pmi_wire.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "plat/error.h"

int shoal_pmi_line_split(char *text, shoal_pmi_line *out)
{
    char *at = text;
    out->count = 0;
    for (;;) {
        at += strspn(at, " ");
        if (!*at) break;
        if (out->count == SHOAL_PMI_WORDS)
            return shoal_fail(SHOAL_E_ARG, "more than %d words in a PMI line", SHOAL_PMI_WORDS);
        size_t key = strcspn(at, "= ");
        if (key == 0 || at[key] != '=')
            return shoal_fail(SHOAL_E_ARG, "'%.40s' in a PMI line is not key=value", at);
        at[key] = 0;
        char *value = at + key + 1;
        out->key[out->count] = at;
        out->value[out->count++] = value;
        if (strcmp(at, "value") == 0 || strcmp(at, "message") == 0) break;
        at = value + strcspn(value, " ");
        if (*at) *at++ = 0;
    }
    return out->count ? 0 : shoal_fail(SHOAL_E_ARG, "an empty PMI line");
}

const char *shoal_pmi_line_get(const shoal_pmi_line *line, const char *key)
{
    for (uint32_t i = 0; i < line->count; i++)
        if (strcmp(line->key[i], key) == 0) return line->value[i];
    return NULL;
}

int shoal_pmi_line_int(const shoal_pmi_line *line, const char *key, int otherwise)
{
    const char *text = shoal_pmi_line_get(line, key);
    if (!text || !*text) return otherwise;
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (*end || errno || n < INT_MIN || n > INT_MAX) return otherwise;
    return (int)n;
}
