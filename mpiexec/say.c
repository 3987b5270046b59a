// SPDX-License-Identifier: BSD-3-Clause
// Formatting of messages; output.c carries them.
#include "say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "output.h"
#include "run.h"

static void say(const char *prefix, const char *fmt, va_list ap)
{
    char line[2048];
    int used = snprintf(line, sizeof line, "%s", prefix);
    int more = vsnprintf(line + used, sizeof line - (size_t)used - 1, fmt, ap);
    size_t length = (size_t)used + (more > 0 ? (size_t)more : 0);
    if (length > sizeof line - 2) length = sizeof line - 2;
    // What ranks send us (an abort's message) may hold anything; a message is one line.
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)line[i] < ' ') line[i] = ' ';
    line[length++] = '\n';
    shoal_output_message(line, length);
}

void shoal_say(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say("mpiexec: ", fmt, ap);
    va_end(ap);
}

void shoal_say_more(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say("", fmt, ap);
    va_end(ap);
}

void shoal_say_verbose(const char *fmt, ...)
{
    if (!shoal_the_run.options.verbose) return;
    va_list ap;
    va_start(ap, fmt);
    say("mpiexec: ", fmt, ap);
    va_end(ap);
}

void shoal_say_warning(const char *fmt, ...)
{
    if (shoal_the_run.options.quiet) return;
    va_list ap;
    va_start(ap, fmt);
    say("mpiexec: ", fmt, ap);
    va_end(ap);
}
