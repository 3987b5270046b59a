// SPDX-License-Identifier: BSD-3-Clause
// Options by name. Those of MPICH's and Open MPI's mpiexec that have a meaning here share a row
// with ours; those that have none on one machine are accepted, so that scripts run as they are.
#include "optable.h"

#include <stddef.h>
#include <string.h>

static const shoal_optrow rows[] = {
    {"n np c", 1, OPT_N},
    {"wdir wd working-dir working-directory", 1, OPT_WDIR},
    {"path", 1, OPT_PATH},
    {"env", 2, OPT_ENV},
    {"envall", 0, OPT_ENVALL},
    {"envnone", 0, OPT_ENVNONE},
    {"envlist", 1, OPT_ENVLIST},
    {"genv", 2, OPT_GENV},
    {"genvall", 0, OPT_GENVALL},
    {"genvnone", 0, OPT_GENVNONE},
    {"genvlist", 1, OPT_GENVLIST},
    {"x", 1, OPT_X},
    {"host hosts H", 1, OPT_HOST},
    {"hostfile machinefile f machine default-hostfile", 1, OPT_HOSTFILE},
    {"ppn perhost npernode N", 1, OPT_PPN},
    {"pernode", 0, OPT_PERNODE},
    {"bind-to binding", 1, OPT_BIND},
    {"bind-to-core", 0, OPT_BIND_CORE},
    {"bind-to-socket", 0, OPT_BIND_SOCKET},
    {"bind-to-none", 0, OPT_BIND_NONE},
    {"map-by", 1, OPT_MAP},
    {"bysocket", 0, OPT_MAP_SOCKET},
    {"cpus-per-rank cpus-per-proc", 1, OPT_CPUS_PER_RANK},
    {"cpu-set cpu-list", 1, OPT_CPU_SET},
    {"report-bindings", 0, OPT_REPORT_BINDINGS},
    {"l label prepend-rank tag-output", 0, OPT_LABEL},
    {"timestamp-output", 0, OPT_TIMESTAMP},
    {"merge-stderr-to-stdout", 0, OPT_MERGE},
    {"output", 1, OPT_OUTPUT},
    {"outfile-pattern outfile", 1, OPT_OUTFILE},
    {"errfile-pattern errfile", 1, OPT_ERRFILE},
    {"output-filename", 1, OPT_OUTPUT_DIR},
    {"stdin s", 1, OPT_STDIN},
    {"timeout", 1, OPT_TIMEOUT},
    {"on-deadlock", 1, OPT_ON_DEADLOCK},
    {"disable-auto-cleanup continuous", 0, OPT_KEEP_GOING},
    {"print-all-exitcodes", 0, OPT_PRINT_CODES},
    {"usize", 1, OPT_UNIVERSE},
    {"configfile", 1, OPT_CONFIGFILE},
    {"quiet q", 0, OPT_QUIET},
    {"verbose v", 0, OPT_VERBOSE},
    {"version V", 0, OPT_VERSION},
    {"help h ?", 0, OPT_HELP},
    {"info", 0, OPT_INFO},
    // Open MPI: more ranks than cores are never an error here, and there is nobody to ask.
    {"oversubscribe overcommit nooversubscribe allow-run-as-root use-hwthread-cpus", 0, OPT_ACCEPT},
    {"bynode byslot bycore nolocal noprefix display-map display-allocation display-topo", 0,
     OPT_ACCEPT},
    {"report-state-on-timeout enable-recovery disable-recovery preload-binary novm", 0, OPT_ACCEPT},
    {"get-stack-traces forward-signals do-not-resolve use-regexp show-progress", 0, OPT_ACCEPT},
    {"mca gmca omca prtemca gprtemca pmixmca gpmixmca", 2, OPT_ACCEPT},
    {"am tune prefix rank-by display npersocket max-restarts preload-files tmpdir", 1, OPT_ACCEPT},
    {"report-pid report-uri with-ft personality runtime-options pset", 1, OPT_ACCEPT},
    // MPICH and Intel MPI: other ways to reach other hosts, and inner workings.
    {"launcher bootstrap launcher-exec bootstrap-exec rmk iface demux membind topolib", 1,
     OPT_ACCEPT},
    {"localhost order-nodes nameserver gpus-per-proc memory-alloc-kinds rankmap", 1, OPT_ACCEPT},
    {"pmi-port enable-x disable-x hybrid-hosts profile skip-launch-node", 0, OPT_ACCEPT},
    {"disable-hostname-propagation ordered-output", 0, OPT_ACCEPT},
    // MPI standard: hints for sites with a choice of machines.
    {"arch soft file", 1, OPT_ACCEPT},
};

#define ROWS (sizeof rows / sizeof *rows)

const shoal_optrow *shoal_optable_find(const char *name, uint32_t length)
{
    for (size_t i = 0; i < ROWS; i++) {
        for (const char *at = rows[i].names; *at;) {
            size_t n = strcspn(at, " ");
            if (n == length && strncmp(at, name, n) == 0) return &rows[i];
            at += n + (at[n] == ' ');
        }
    }
    return NULL;
}

// Edit distance: the fewest letters to insert, delete, change, or swap with their neighbour.
static uint32_t distance(const char *a, size_t n, const char *b, size_t m)
{
    uint32_t d[32][32];
    if (n > 31 || m > 31) return 99;
    for (size_t i = 0; i <= n; i++) d[i][0] = (uint32_t)i;
    for (size_t j = 0; j <= m; j++) d[0][j] = (uint32_t)j;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            uint32_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    }
    return d[n][m];
}

const char *shoal_optable_nearest(const char *name)
{
    static char found[32];
    size_t length = strcspn(name, "=");
    uint32_t best = length <= 3 ? 2 : length <= 6 ? 3 : 4; // beyond this it is no likeness
    found[0] = 0;
    for (size_t i = 0; i < ROWS; i++) {
        for (const char *at = rows[i].names; *at;) {
            size_t n = strcspn(at, " ");
            uint32_t d = n > 1 ? distance(name, length, at, n) : 99;
            if (d < best && n < sizeof found) {
                best = d;
                memcpy(found, at, n);
                found[n] = 0;
            }
            at += n + (at[n] == ' ');
        }
    }
    return found[0] ? found : NULL;
}
