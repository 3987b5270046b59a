// SPDX-License-Identifier: BSD-3-Clause
// The PMI-1 wire format: lines of "key=value" words, the first of them "cmd=...". mpiexec reads
// what ranks send and the library reads what launchers answer; both are input from another
// process, so lengths and counts are bounded here, in one place.
#ifndef SHOAL_JOB_PMI_WIRE_H
#define SHOAL_JOB_PMI_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define SHOAL_PMI_LINE_MAX  4096 // one line, newline included
#define SHOAL_PMI_NAME_MAX  256  // a key-value space's name
#define SHOAL_PMI_KEY_MAX   64
#define SHOAL_PMI_VALUE_MAX 1024
#define SHOAL_PMI_WORDS     32

typedef struct shoal_pmi_line {
    uint32_t count;
    const char *key[SHOAL_PMI_WORDS];
    const char *value[SHOAL_PMI_WORDS];
} shoal_pmi_line;

// Splits a line (terminated, without its newline) in place; *out points into `text`. The words
// "value" and "message" take the rest of the line, spaces included. Returns 0, or SHOAL_E_ARG
// for a word without "=", an empty key or too many words.
int shoal_pmi_line_split(char *text, shoal_pmi_line *out);

// The value of a key, or NULL.
const char *shoal_pmi_line_get(const shoal_pmi_line *, const char *key);

// The value of a key as an integer, or `otherwise` if it is absent or no integer.
int shoal_pmi_line_int(const shoal_pmi_line *, const char *key, int otherwise);

#endif
