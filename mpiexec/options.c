// SPDX-License-Identifier: BSD-3-Clause
// Reading the command line, section by section.
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "hosts.h"
#include "info.h"
#include "optable.h"
#include "run.h"

void shoal_options_reject(const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "mpiexec: %s\n", text);
    exit(SHOAL_EXIT_USAGE);
}

uint32_t shoal_options_count(const char *option, const char *text, uint32_t low, uint32_t high)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || n < low || n > high)
        shoal_options_reject("%s: '%s' is not a number from %u to %u", option, text, low, high);
    return (uint32_t)n;
}

static void *grown(void *array, uint32_t count, size_t each)
{
    void *p = realloc(array, (size_t)count * each);
    if (!p) shoal_options_reject("out of memory");
    return p;
}

static void add_set(shoal_env_rules *rules, char *entry)
{
    rules->sets = grown(rules->sets, rules->nsets + 1, sizeof *rules->sets);
    rules->sets[rules->nsets++] = entry;
}

// NAME value, or NAME=value as one word; returns how many words it took.
static int add_pair(const char *option, shoal_env_rules *rules, char **words)
{
    if (strchr(words[0], '=')) {
        add_set(rules, words[0]);
        return 1;
    }
    if (!words[1]) shoal_options_reject("%s needs a name and a value", option);
    size_t n = strlen(words[0]) + strlen(words[1]) + 2;
    char *entry = grown(NULL, 1, n);
    snprintf(entry, n, "%s=%s", words[0], words[1]);
    add_set(rules, entry);
    return 2;
}

// -x NAME passes the variable on, -x NAME=value sets it.
static void add_export(shoal_env_rules *rules, char *word)
{
    const char *value = getenv(word);
    if (strchr(word, '='))
        add_set(rules, word);
    else if (value)
        add_pair("-x", rules, (char *[]){word, (char *)value, NULL});
}

static void parse_stdin(const char *option, const char *text, shoal_options *o)
{
    if (strcmp(text, "all") == 0)
        o->stdin_to = SHOAL_STDIN_ALL;
    else if (strcmp(text, "none") == 0)
        o->stdin_to = SHOAL_STDIN_NONE;
    else if (!isdigit((unsigned char)text[0]))
        shoal_options_reject("%s: '%s' is neither a rank nor 'all' nor 'none'", option, text);
    else
        o->stdin_to = (int32_t)shoal_options_count(option, text, 0, SHOAL_MAX_RANKS - 1);
}

static void parse_timeout(const char *option, const char *text, shoal_options *o)
{
    char *end;
    double seconds = strtod(text, &end);
    if (strcmp(end, "s") == 0)
        end++;
    else if (strcmp(end, "m") == 0)
        seconds *= 60, end++;
    else if (strcmp(end, "h") == 0)
        seconds *= 3600, end++;
    if (end == text || *end || !isfinite(seconds) || seconds <= 0 || seconds > 1e9)
        shoal_options_reject("%s: '%s' is not a time in seconds", option, text);
    o->timeout = seconds;
}

static void parse_deadlock(const char *option, const char *text, shoal_options *o)
{
    if (strcmp(text, "abort") == 0)
        o->on_deadlock = SHOAL_DEADLOCK_ABORT;
    else if (strcmp(text, "report") == 0)
        o->on_deadlock = SHOAL_DEADLOCK_REPORT;
    else if (strcmp(text, "ignore") == 0)
        o->on_deadlock = SHOAL_DEADLOCK_IGNORE;
    else
        shoal_options_reject("%s: '%s' is not abort, report or ignore", option, text);
}

// Open MPI's --output: a list of tag, timestamp, merge, dir=NAME, file=NAME ...
static void parse_output(const char *option, char *text, shoal_options *o)
{
    for (char *word = strtok(text, ",:"); word; word = strtok(NULL, ",:")) {
        if (strncasecmp(word, "tag", 3) == 0 || strcasecmp(word, "rank") == 0)
            o->label = true;
        else if (strcasecmp(word, "timestamp") == 0)
            o->timestamp = true;
        else if (strncasecmp(word, "merge", 5) == 0)
            o->merge_stderr = true;
        else if (strncasecmp(word, "dir=", 4) == 0)
            o->output_dir = word + 4;
        else if (strcasecmp(word, "nocopy") != 0 && strcasecmp(word, "raw") != 0)
            shoal_options_reject("%s: '%s' is not known; tag, timestamp, merge and dir=NAME are",
                                 option, word);
    }
}

static void parse_universe(const char *option, const char *text, shoal_options *o)
{
    if (isdigit((unsigned char)text[0]))
        o->universe = (int32_t)shoal_options_count(option, text, 1, 1u << 30);
}

// Options that belong to one program. Returns the words taken, -1 if it is no such option.
static int section_option(const char *as, enum shoal_opt id, char **values, shoal_section *s)
{
    switch (id) {
    case OPT_N: s->nranks = shoal_options_count(as, values[0], 1, SHOAL_MAX_RANKS); return 1;
    case OPT_WDIR: s->wdir = values[0]; return 1;
    case OPT_PATH: s->path = values[0]; return 1;
    case OPT_ENV: return add_pair(as, &s->env, values);
    case OPT_X: add_export(&s->env, values[0]); return 1;
    case OPT_ENVALL: s->env.base = SHOAL_ENV_ALL; return 0;
    case OPT_ENVNONE: s->env.base = SHOAL_ENV_NONE; return 0;
    case OPT_ENVLIST:
        s->env.base = SHOAL_ENV_LIST;
        s->env.list = values[0];
        return 1;
    default: return -1;
    }
}

// Options that concern the whole job. Returns the words taken.
static int job_option(const char *as, const shoal_optrow *row, char **values, shoal_options *o)
{
    char *v = row->values ? values[0] : NULL;
    switch (row->id) {
    case OPT_GENV: return add_pair(as, &o->genv, values);
    case OPT_GENVALL: o->genv.base = SHOAL_ENV_ALL; break;
    case OPT_GENVNONE: o->genv.base = SHOAL_ENV_NONE; break;
    case OPT_GENVLIST:
        o->genv.base = SHOAL_ENV_LIST;
        o->genv.list = v;
        break;
    case OPT_HOST: o->slots = shoal_hosts_from_list(as, v); break;
    case OPT_HOSTFILE: o->slots = shoal_hosts_from_file(as, v); break;
    case OPT_PPN: o->per_node = shoal_options_count(as, v, 1, SHOAL_MAX_RANKS); break;
    case OPT_PERNODE: o->per_node = 1; break;
    case OPT_BIND: o->bind_to = v; break;
    case OPT_BIND_CORE: o->bind_to = "core"; break;
    case OPT_BIND_SOCKET: o->bind_to = "socket"; break;
    case OPT_BIND_NONE: o->bind_to = "none"; break;
    case OPT_MAP: o->map_by = v; break;
    case OPT_MAP_SOCKET: o->map_by = "socket"; break;
    case OPT_CPUS_PER_RANK: o->cpus_per_rank = shoal_options_count(as, v, 1, 4096); break;
    case OPT_CPU_SET: o->cpu_set = v; break;
    case OPT_REPORT_BINDINGS: o->report_bindings = true; break;
    case OPT_LABEL: o->label = true; break;
    case OPT_TIMESTAMP: o->timestamp = true; break;
    case OPT_MERGE: o->merge_stderr = true; break;
    case OPT_OUTPUT: parse_output(as, v, o); break;
    case OPT_OUTFILE: o->outfile = v; break;
    case OPT_ERRFILE: o->errfile = v; break;
    case OPT_OUTPUT_DIR: o->output_dir = v; break;
    case OPT_STDIN: parse_stdin(as, v, o); break;
    case OPT_TIMEOUT: parse_timeout(as, v, o); break;
    case OPT_ON_DEADLOCK: parse_deadlock(as, v, o); break;
    case OPT_KEEP_GOING: o->keep_going = true; break;
    case OPT_PRINT_CODES: o->print_exit_codes = true; break;
    case OPT_UNIVERSE: parse_universe(as, v, o); break;
    case OPT_QUIET: o->quiet = true; break;
    case OPT_VERBOSE: o->verbose = true; break;
    default: break;
    }
    return row->values;
}

static void unknown(const char *word, const char *name)
{
    const char *near = shoal_optable_nearest(name);
    if (near) {
        const char *dashes = strlen(near) > 1 && word[1] == '-' ? "--" : "-";
        shoal_options_reject("unknown option '%s'; did you mean '%s%s'?", word, dashes, near);
    }
    shoal_options_reject("unknown option '%s'; --help lists what there is", word);
}

// Takes one option and its values; returns how many words that were.
static int take_option(char **words, shoal_section *section, shoal_options *o)
{
    char *word = words[0], *name = word + (word[1] == '-' ? 2 : 1);
    uint32_t length = (uint32_t)strcspn(name, "=");
    const shoal_optrow *row = shoal_optable_find(name, length);
    char *inline_value = name[length] == '=' ? name + length + 1 : NULL;
    if (!row && !inline_value && (name[0] == 'n' || name[0] == 'c') && word[1] != '-') {
        // -n4 and -np4, as people type them.
        length = name[1] == 'p' ? 2 : 1;
        if (isdigit((unsigned char)name[length])) {
            row = shoal_optable_find("n", 1);
            inline_value = name + length;
        }
    }
    if (!row) unknown(word, name);
    if (row->id == OPT_HELP) shoal_help_print();
    if (row->id == OPT_VERSION) shoal_help_version();
    if (row->id == OPT_INFO) shoal_info_print(section->nranks, o->verbose);
    if (inline_value && row->values != 1)
        shoal_options_reject("'%.*s' takes %s", (int)(inline_value - word - 1), word,
                             row->values ? "its values as words of their own" : "no value");
    for (int i = 1; !inline_value && i <= row->values; i++) {
        bool one_word = i == 2 && strchr(words[1], '=');
        if (!words[i] && !one_word) shoal_options_reject("'%s' needs a value", word);
    }
    char *inline_values[] = {inline_value, NULL};
    char **values = inline_value ? inline_values : words + 1;
    int taken = section_option(word, row->id, values, section);
    if (taken < 0) taken = job_option(word, row, values, o);
    return inline_value ? 1 : 1 + taken;
}

static void add_section(const shoal_section *section, shoal_options *o)
{
    o->sections = grown(o->sections, o->nsections + 1, sizeof *o->sections);
    o->sections[o->nsections++] = *section;
}

// Reads the words from `at` to the next ":" or the end; returns what follows.
static char **take_section(char **at, const shoal_section *defaults, shoal_options *o);

// A file with one section on each line, as the standard's -configfile has it.
static void read_config(const char *path, const shoal_section *defaults, shoal_options *o)
{
    FILE *f = fopen(path, "re");
    if (!f) shoal_options_reject("-configfile: cannot read '%s': %s", path, strerror(errno));
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, f) >= 0) {
        char *text = strdup(line), **words = NULL, *save = NULL;
        uint32_t count = 0;
        for (char *w = strtok_r(text, " \t\r\n", &save); w && *w != '#';
             w = strtok_r(NULL, " \t\r\n", &save)) {
            words = grown(words, count + 2, sizeof *words);
            words[count++] = w;
            words[count] = NULL;
        }
        char **rest = words;
        while (rest && *rest) rest = take_section(rest, defaults, o);
        if (!words) free(text); // the words themselves are kept
        free(words);
    }
    free(line);
    fclose(f);
}

static char **take_section(char **at, const shoal_section *defaults, shoal_options *o)
{
    shoal_section section = *defaults;
    while (*at && (*at)[0] == '-' && (*at)[1]) {
        char *name = *at + (strncmp(*at, "--", 2) == 0 ? 2 : 1);
        if (!*name) { // "--" ends the options
            at++;
            break;
        }
        if (strcmp(name, "configfile") == 0 && at[1]) {
            read_config(at[1], &section, o);
            at += 2;
        } else {
            at += take_option(at, &section, o);
        }
    }
    if (!*at && o->nsections) return at; // options of a -configfile, or a trailing ":"
    if (!*at || !**at || strcmp(*at, ":") == 0)
        shoal_options_reject("no program to run; mpiexec -n 4 ./program, or --help");
    section.argv = at;
    uint32_t argc = 0;
    while (at[argc] && strcmp(at[argc], ":") != 0) argc++;
    section.argv = grown(NULL, argc + 1, sizeof *section.argv);
    memcpy(section.argv, at, argc * sizeof *section.argv);
    section.argv[argc] = NULL;
    add_section(&section, o);
    at += argc;
    return *at ? at + 1 : at;
}

// How many ranks a program has that does not say it: the slots of the hosts named, else a rank for
// each core. With several programs each has one.
static uint32_t default_ranks(const shoal_options *o)
{
    if (o->nsections > 1) return 1;
    if (o->per_node) return o->per_node;
    if (o->slots) return o->slots;
    return (uint32_t)shoal_usable_cores();
}

void shoal_options_parse(int argc, char **argv, shoal_options *o)
{
    (void)argc;
    *o = (shoal_options){.stdin_to = 0};
    shoal_section defaults = {0};
    const char *limit = getenv("MPIEXEC_TIMEOUT"); // known to all makes of mpiexec
    if (limit && *limit) parse_timeout("MPIEXEC_TIMEOUT", limit, o);
    char **at = argv + 1;
    do at = take_section(at, &defaults, o);
    while (*at);
    for (uint32_t i = 0; i < o->nsections; i++) {
        shoal_section *s = &o->sections[i];
        if (!s->nranks) s->nranks = default_ranks(o);
        s->first = o->nranks;
        o->nranks += s->nranks;
        if (o->nranks > SHOAL_MAX_RANKS)
            shoal_options_reject("more than %d ranks are not supported", SHOAL_MAX_RANKS);
    }
}
