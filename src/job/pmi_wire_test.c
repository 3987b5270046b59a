// SPDX-License-Identifier: BSD-3-Clause
// PMI-1 lines, good and bad.
#include "job/pmi_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plat/test.h"

static int split(const char *text, char *copy, shoal_pmi_line *line)
{
    strcpy(copy, text);
    return shoal_pmi_line_split(copy, line);
}

static void good_lines(void)
{
    char copy[256];
    shoal_pmi_line line;
    CHECK(split("cmd=init pmi_version=1  pmi_subversion=2", copy, &line) == 0);
    CHECK(line.count == 3);
    CHECK(strcmp(shoal_pmi_line_get(&line, "cmd"), "init") == 0);
    CHECK(shoal_pmi_line_int(&line, "pmi_version", -1) == 1);
    CHECK(shoal_pmi_line_int(&line, "absent", -7) == -7);
    CHECK(split("cmd=abort exitcode=3 message=two words = here", copy, &line) == 0);
    CHECK(strcmp(shoal_pmi_line_get(&line, "message"), "two words = here") == 0);
    CHECK(split("cmd=put key=a value=", copy, &line) == 0);
    CHECK(strcmp(shoal_pmi_line_get(&line, "value"), "") == 0);
    CHECK(split("cmd=put key=a=b", copy, &line) == 0);
    CHECK(strcmp(shoal_pmi_line_get(&line, "key"), "a=b") == 0);
}

static void bad_lines(void)
{
    char copy[1024];
    shoal_pmi_line line;
    CHECK(split("", copy, &line) != 0);
    CHECK(split("   ", copy, &line) != 0);
    CHECK(split("cmd", copy, &line) != 0);
    CHECK(split("=x", copy, &line) != 0);
    CHECK(split("cmd=get key", copy, &line) != 0);
    char many[SHOAL_PMI_WORDS * 4 + 8] = "";
    for (int i = 0; i <= SHOAL_PMI_WORDS; i++) strcat(many, "a=b ");
    CHECK(split(many, copy, &line) != 0);
    CHECK(split("cmd=x n=99999999999 m=12z e=", copy, &line) == 0);
    CHECK(shoal_pmi_line_int(&line, "n", -1) == -1);
    CHECK(shoal_pmi_line_int(&line, "m", -1) == -1);
    CHECK(shoal_pmi_line_int(&line, "e", -1) == -1);
}

// Random bytes must neither crash nor make a word point outside the text.
static void noise(void)
{
    static const char alphabet[] = "cmd= valuemessage\t\x01\xff";
    srand(1);
    for (int round = 0; round < 20000; round++) {
        char text[64];
        size_t n = (size_t)rand() % (sizeof text - 1);
        for (size_t i = 0; i < n; i++) text[i] = alphabet[(size_t)rand() % (sizeof alphabet - 1)];
        text[n] = 0;
        shoal_pmi_line line;
        if (shoal_pmi_line_split(text, &line)) continue;
        for (uint32_t i = 0; i < line.count; i++) {
            if (line.key[i] < text || line.value[i] > text + n)
                CHECK(0 && "a word outside the text");
        }
    }
    CHECK(1);
}

int main(void)
{
    good_lines();
    bad_lines();
    noise();
    return SHOAL_TEST_RESULT();
}
