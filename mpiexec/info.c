// SPDX-License-Identifier: BSD-3-Clause
// --info: each line says what is so and, where it could be otherwise, why.
#include "info.h"

#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job/world.h"
#include "plat/error.h"
#include "topology.h"
#include "unsupported_names.h"

// Every environment variable that Shoal itself looks at.
static const struct {
    const char *name, *otherwise, *meaning;
} variables[] = {
    {"SHOAL_CMA", "1",
     "0: never read or write another rank's memory through the kernel; always: also messages of 12 "
     "KiB and more, where it is not quick"},
    {"SHOAL_COLL", "", "algorithms of collectives, for measuring: allgather:bruck,..."},
    {"SHOAL_MALLOC", "1",
     "0: malloc is left alone (else: freed blocks are kept, large ones on huge pages)"},
    {"MPIEXEC_TIMEOUT", "none", "seconds after which mpiexec ends the job"},
};

static void print_version(void)
{
    printf("Shoal %s\n", SHOAL_VERSION);
    printf("  interface       MPI %d.%d, standard ABI %d.%d (libmpi_abi.so.%d)\n", MPI_VERSION,
           MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION, MPI_ABI_VERSION);
    printf("  functions       %d of %d are implemented",
           SHOAL_FUNCTION_COUNT - shoal_api_unsupported_count, SHOAL_FUNCTION_COUNT);
    if (shoal_api_unsupported_count)
        printf("; %d answer MPI_ERR_UNSUPPORTED_OPERATION (-v --info lists them)",
               shoal_api_unsupported_count);
    printf("\n");
}

static void print_unsupported(void)
{
    printf("\nNot implemented\n");
    for (int i = 0; i < shoal_api_unsupported_count;) {
        // As many names on a line as fit.
        int width = 0;
        do width += printf("  %s", shoal_api_unsupported_names[i]);
        while (++i < shoal_api_unsupported_count &&
               width + (int)strlen(shoal_api_unsupported_names[i]) < 98);
        printf("\n");
    }
}

// The quota of the control group as the kernel writes it, "" if there is none.
static void read_quota(char *text, size_t room)
{
    long quota, period;
    text[0] = 0;
    FILE *f = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (!f) return;
    if (fscanf(f, "%ld %ld", &quota, &period) == 2 && quota > 0 && period > 0)
        snprintf(text, room, "%.2g", (double)quota / (double)period);
    fclose(f);
}

static uint32_t count_units(const shoal_topology *t, enum shoal_unit unit)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t k = 0;
        while (k < i && t->cpus[k].of[unit] != t->cpus[i].of[unit]) k++;
        count += k == i;
    }
    return count;
}

static void print_count(uint32_t n, const char *unit, const char *end)
{
    printf("%u %s%s%s", n, unit, n == 1 ? "" : "s", end);
}

static void print_cores(void)
{
    static shoal_topology topology;
    cpu_set_t set;
    char list[512], quota[32];
    CPU_ZERO(&set);
    (void)sched_getaffinity(0, sizeof set, &set);
    shoal_topology_print(&set, list, sizeof list);
    read_quota(quota, sizeof quota);
    printf("\nCores\n");
    printf("  usable          %d: this process may run on %d of %ld (%s), the control group %s%s\n",
           shoal_usable_cores(), CPU_COUNT(&set), sysconf(_SC_NPROCESSORS_ONLN), list,
           quota[0] ? "allows the time of " : "sets no limit", quota);
    shoal_topology_read(&set, &topology);
    printf("  topology        ");
    print_count(topology.count, "hardware thread", ", ");
    print_count(count_units(&topology, SHOAL_UNIT_CORE), "core", ", ");
    print_count(count_units(&topology, SHOAL_UNIT_NUMA), "NUMA node", ", ");
    print_count(count_units(&topology, SHOAL_UNIT_SOCKET), "socket", "\n");
}

// One child reads the memory of another, as ranks would. Returns 0 or the errno.
static int probe_vm_read(void)
{
    static volatile uint64_t word;
    pid_t owner = fork();
    if (owner == 0) {
        shoal_vm_allow();
        word = 0x5348;
        raise(SIGSTOP);
        _exit(0);
    }
    int status = 0;
    if (owner < 0 || waitpid(owner, &status, WUNTRACED) != owner) return EAGAIN;
    pid_t reader = fork();
    if (reader == 0) {
        uint64_t seen = 0;
        ssize_t n = shoal_vm_read(owner, &seen, (uint64_t)(uintptr_t)&word, sizeof seen);
        _exit(n < 0 ? (int)-n : n != (ssize_t)sizeof seen || seen != 0x5348 ? EIO : 0);
    }
    if (reader > 0) waitpid(reader, &status, 0);
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
    if (reader < 0 || !WIFEXITED(status)) return EAGAIN;
    return WEXITSTATUS(status);
}

static void print_ways(void)
{
    char yama[16] = "absent";
    FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (f) {
        if (fgets(yama, sizeof yama, f)) yama[strcspn(yama, "\n")] = 0;
        fclose(f);
    }
    const char *off = getenv("SHOAL_CMA");
    int error = probe_vm_read();
    printf("\nLarge messages\n");
    printf("  shared heap     yes: what MPI_Alloc_mem gave is read where it lies\n");
    printf("  depot           yes: both sides copy at once\n");
    if (off && strcmp(off, "0") == 0)
        printf("  process_vm_readv no: SHOAL_CMA=0\n");
    else if (error)
        printf("  process_vm_readv no: %s (Yama: %s)\n", strerror(error), yama);
    else
        printf("  process_vm_readv yes: a process read another's memory just now (Yama: %s)\n",
               yama);
}

static void print_size(const char *what, uint64_t bytes, const char *more)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double n = (double)bytes;
    int u = 0;
    for (; n >= 1024 && u < 4; u++) n /= 1024;
    printf("  %-15s %.4g %s %s\n", what, n, units[u], more);
}

static void print_world(uint32_t nranks)
{
    shoal_world w;
    printf("\nThe world of %u rank%s\n", nranks, nranks == 1 ? "" : "s");
    int fd = shoal_world_create(nranks, &w);
    if (fd < 0) {
        printf("  cannot be made: %s\n", shoal_fail_text());
        return;
    }
    const shoal_world_header *h = w.header;
    print_size("address space", h->total_bytes,
               "in one nameless file; a page is used when touched");
    print_size("ring", h->ring_bytes, "for each pair, in each direction");
    print_size("depot", h->depot_bytes, "for each rank: payloads of 1000 bytes and more");
    if (h->ferry_bytes > 0)
        print_size("ferry", h->ferry_bytes,
                   "for each pair, in each direction: payloads that answer others");
    print_size("arena", h->arena_bytes, "for collectives");
    print_size("heap", h->heap_bytes, "for each rank");
    if (nranks > 1)
        printf("  kernel          %s\n", h->quick_kernel
                                             ? "quick: tried for messages of 12 KiB and more, too"
                                             : "copies large messages only");
    printf("  fences          %s\n", h->fenced
                                         ? "senders fence (more ranks than cores, or no membarrier)"
                                         : "sleepers use membarrier, senders pay nothing");
    shoal_world_detach(&w);
    close(fd);
}

static void print_variables(void)
{
    printf("\nEnvironment\n");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i].name);
        const char *shown = value ? value : variables[i].otherwise;
        printf("  %-15s %s%s(%s)  %s\n", variables[i].name, shown, *shown ? " " : "",
               value ? "set" : "default", variables[i].meaning);
    }
}

void shoal_info_print(uint32_t nranks, bool verbose)
{
    if (!nranks) nranks = (uint32_t)shoal_usable_cores();
    print_version();
    print_cores();
    fflush(stdout); // before the probe forks
    print_ways();
    print_world(nranks);
    print_variables();
    if (verbose) print_unsupported();
    exit(fflush(stdout) == 0 ? 0 : 1);
}
