// SPDX-License-Identifier: BSD-3-Clause
// The text of the last failure, one for each thread.
#include "plat/error.h"

#include <stdio.h>
#include <stdlib.h>

static _Thread_local char last_text[SHOAL_FAIL_TEXT];

int shoal_fail(int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(last_text, sizeof last_text, fmt, ap);
    va_end(ap);
    return code;
}

const char *shoal_fail_text(void)
{
    return last_text;
}

void shoal_panic(const char *fmt, ...)
{
    char text[SHOAL_FAIL_TEXT];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const char *rank = getenv("PMI_RANK");
    fprintf(stderr, "shoal: rank %s: internal error: %s\n", rank ? rank : "0", text);
    abort();
}
