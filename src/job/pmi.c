// SPDX-License-Identifier: BSD-3-Clause
// The PMI-1 wire as a rank speaks it: lines of key=value words over the inherited socket, one
// answer for each question. What the launcher answers is input: it is checked for form and length.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/job.h"
#include "job/pmi_wire.h"
#include "plat/error.h"

#define LINE_MAX_BYTES SHOAL_PMI_LINE_MAX

static int pmi_fd = -1;
static char kvs_name[256];
static char inbox[LINE_MAX_BYTES];
static size_t inbox_used;

static int send_line(int fd, const char *line)
{
    size_t left = strlen(line);
    while (left > 0) {
        ssize_t n = write(fd, line, left);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            return shoal_fail(SHOAL_E_SYS, "the launcher's PMI socket: %s", strerror(errno));
        line += n;
        left -= (size_t)n;
    }
    return 0;
}

// Reads one line without its newline.
static int read_line(char out[LINE_MAX_BYTES])
{
    for (;;) {
        char *end = memchr(inbox, '\n', inbox_used);
        if (end) {
            size_t length = (size_t)(end - inbox);
            memcpy(out, inbox, length);
            out[length] = 0;
            inbox_used -= length + 1;
            memmove(inbox, end + 1, inbox_used);
            return 0;
        }
        if (inbox_used == sizeof inbox)
            return shoal_fail(SHOAL_E_OTHER, "the launcher sent a PMI line of over %d bytes",
                              LINE_MAX_BYTES);
        ssize_t n = read(pmi_fd, inbox + inbox_used, sizeof inbox - inbox_used);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return shoal_fail(SHOAL_E_SYS, "the launcher has closed its PMI socket");
        inbox_used += (size_t)n;
    }
}

// Sends a command and reads the answer, which points into `text`.
static int ask(const char *question, const char *answer, char text[LINE_MAX_BYTES],
               shoal_pmi_line *out)
{
    int rc = send_line(pmi_fd, question);
    if (rc == 0) rc = read_line(text);
    if (rc == 0) rc = shoal_pmi_line_split(text, out);
    if (rc) return rc;
    const char *command = shoal_pmi_line_get(out, "cmd");
    if (!command || strcmp(command, answer) != 0)
        return shoal_fail(SHOAL_E_OTHER, "the launcher answered '%.80s' where '%s' was due",
                          command ? command : "nothing", answer);
    if (shoal_pmi_line_int(out, "rc", 0) != 0)
        return shoal_fail(SHOAL_E_OTHER, "the launcher refused '%.60s'", question);
    return 0;
}

// A value of the answer; false when it is missing or too long.
static bool copy_value(const shoal_pmi_line *line, const char *key, char *out, size_t room)
{
    const char *value = shoal_pmi_line_get(line, key);
    if (!value || strlen(value) >= room) return false;
    strcpy(out, value);
    return true;
}

static bool env_int(const char *name, int least, int *out)
{
    const char *text = getenv(name);
    if (!text || !*text) return false;
    char *end;
    long v = strtol(text, &end, 10);
    if (*end || v < least || v > INT32_MAX) return false;
    *out = (int)v;
    return true;
}

int shoal_pmi_open(int fd, int *rank_out, int *size_out)
{
    char text[LINE_MAX_BYTES];
    shoal_pmi_line line;
    pmi_fd = fd;
    inbox_used = 0;
    if (!env_int("PMI_RANK", 0, rank_out) || !env_int("PMI_SIZE", 1, size_out) ||
        *rank_out >= *size_out)
        return shoal_fail(SHOAL_E_OTHER, "PMI_FD is set but PMI_RANK and PMI_SIZE make no sense");
    int rc = ask("cmd=init pmi_version=1 pmi_subversion=1\n", "response_to_init", text, &line);
    if (rc == 0) rc = ask("cmd=get_my_kvsname\n", "my_kvsname", text, &line);
    if (rc == 0 && !copy_value(&line, "kvsname", kvs_name, sizeof kvs_name))
        rc = shoal_fail(SHOAL_E_OTHER, "the launcher named no key-value space");
    return rc;
}

int shoal_pmi_put(const char *key, const char *value)
{
    char question[LINE_MAX_BYTES], text[LINE_MAX_BYTES];
    shoal_pmi_line line;
    snprintf(question, sizeof question, "cmd=put kvsname=%s key=%s value=%s\n", kvs_name, key,
             value);
    return ask(question, "put_result", text, &line);
}

int shoal_pmi_get(const char *key, char value_out[SHOAL_PMI_VALUE])
{
    char question[LINE_MAX_BYTES], text[LINE_MAX_BYTES];
    shoal_pmi_line line;
    snprintf(question, sizeof question, "cmd=get kvsname=%s key=%s\n", kvs_name, key);
    int rc = ask(question, "get_result", text, &line);
    if (rc == 0 && !copy_value(&line, "value", value_out, SHOAL_PMI_VALUE))
        rc = shoal_fail(SHOAL_E_OTHER, "the launcher knows no key '%s'", key);
    return rc;
}

int shoal_pmi_barrier(void)
{
    char text[LINE_MAX_BYTES];
    shoal_pmi_line line;
    return ask("cmd=barrier_in\n", "barrier_out", text, &line);
}

void shoal_pmi_abort(int fd, int exit_code, const char *message)
{
    char line[LINE_MAX_BYTES];
    snprintf(line, sizeof line, "cmd=abort exitcode=%d message=%.200s\n", exit_code, message);
    (void)send_line(fd, line);
}

void shoal_pmi_close(void)
{
    char text[LINE_MAX_BYTES];
    shoal_pmi_line line;
    if (pmi_fd >= 0) (void)ask("cmd=finalize\n", "finalize_ack", text, &line);
    pmi_fd = -1;
}
