// SPDX-License-Identifier: BSD-3-Clause
// What MPI_INFO_ENV and MPI_Info_create_env tell of how this process was started: what the kernel
// and the launcher's environment know. Keys of which nothing is known are left out.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/info.h"

// The command line as the kernel keeps it: strings one after the other, each with its terminator.
// Longer ones are cut, as values of infos have a limit.
typedef struct command_line {
    char text[2 * MPI_MAX_INFO_VAL];
    size_t length;
} command_line;

static void read_command_line(command_line *line)
{
    line->length = 0;
    FILE *f = fopen("/proc/self/cmdline", "re");
    if (f) {
        line->length = fread(line->text, 1, sizeof line->text - 1, f);
        fclose(f);
    }
    line->text[line->length] = '\0';
}

static void take_command_line(command_line *line, int argc, char *const argv[])
{
    line->length = 0;
    for (int i = 0; i < argc && argv[i]; i++) {
        size_t room = sizeof line->text - 1 - line->length;
        size_t n = strlen(argv[i]) + 1;
        if (n > room) n = room;
        memcpy(line->text + line->length, argv[i], n);
        line->length += n;
    }
    line->text[line->length] = '\0';
}

// A value that is known and of any length; what does not fit is cut.
static void set_cut(shoal_info *info, const char *key, const char *value)
{
    char cut[MPI_MAX_INFO_VAL];
    size_t length = strlen(value);
    if (length >= sizeof cut) length = sizeof cut - 1;
    memcpy(cut, value, length);
    cut[length] = '\0';
    // Memory is all that can fail here, and then the key is missing like any unknown one.
    (void)shoal_info_set(info, key, cut);
}

static void set_command(shoal_info *info, command_line *line)
{
    if (line->length == 0) return;
    set_cut(info, "command", line->text);
    size_t first = strlen(line->text) + 1;
    if (first >= line->length) return;
    // The arguments, separated by blanks instead of terminators.
    for (size_t i = first; i + 1 < line->length; i++)
        if (line->text[i] == '\0') line->text[i] = ' ';
    set_cut(info, "argv", line->text + first);
}

shoal_info *shoal_info_new_env(int argc, char *const argv[])
{
    shoal_info *info = shoal_info_new();
    if (!info) return NULL;
    command_line line;
    if (argc > 0 && argv)
        take_command_line(&line, argc, argv);
    else
        read_command_line(&line);
    set_command(info, &line);
    const char *size = getenv("PMI_SIZE");
    if (size) set_cut(info, "maxprocs", size);
    struct utsname host;
    if (uname(&host) == 0) {
        set_cut(info, "host", host.nodename);
        set_cut(info, "arch", host.machine);
    }
    char directory[MPI_MAX_INFO_VAL];
    if (getcwd(directory, sizeof directory)) set_cut(info, "wdir", directory);
    return info;
}
