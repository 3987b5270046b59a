// SPDX-License-Identifier: BSD-3-Clause
// What a job costs that does nothing: memory of a rank, and processor time of blocked ranks.
//
// Memory is the proportional set size (a page that four processes share counts a quarter for each),
// averaged over the ranks; "shared" is the part in shared mappings. Only plain messages gather the
// figures, after they were taken.
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench.h"

#define WORLD        MPI_COMM_WORLD
#define IDLE_SECONDS 2

// Kilobytes of this process, all and in shared mappings.
static void read_memory(double *all_out, double *shared_out)
{
    char line[512], flags[8];
    unsigned long from, to;
    double kb, all = 0, shared = 0;
    bool in_shared = false;
    FILE *f = fopen("/proc/self/smaps", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "%lx-%lx %7s", &from, &to, flags) == 3) {
            in_shared = flags[3] == 's';
        } else if (sscanf(line, "Pss: %lf kB", &kb) == 1) {
            all += kb;
            if (in_shared) shared += kb;
        }
    }
    if (f != NULL) fclose(f);
    *all_out = all;
    *shared_out = shared;
}

static double sum_at_root(const bench *b, double mine)
{
    if (b->rank != 0) {
        MPI_Send(&mine, 1, MPI_DOUBLE, 0, TAG_SYNC, WORLD);
        return mine;
    }
    for (int r = 1; r < b->np; r++) {
        double other;
        MPI_Recv(&other, 1, MPI_DOUBLE, r, TAG_SYNC, WORLD, MPI_STATUS_IGNORE);
        mine += other;
    }
    return mine;
}

// Everybody has read its figures before anybody goes on and touches more.
static void report_memory(const bench *b, const char *name, const char *shared_name)
{
    double all, shared;
    int go = 1;
    read_memory(&all, &shared);
    all = sum_at_root(b, all) / b->np;
    shared = sum_at_root(b, shared) / b->np;
    for (int r = 1; r < b->np && b->rank == 0; r++)
        MPI_Send(&go, 1, MPI_INT, r, TAG_RELEASE, WORLD);
    if (b->rank != 0) MPI_Recv(&go, 1, MPI_INT, 0, TAG_RELEASE, WORLD, MPI_STATUS_IGNORE);
    bench_report(b, name, all, "KiB", 1);
    bench_report(b, shared_name, shared, "KiB", 1);
}

// Every rank exchanges a message of 1 KiB with every other one.
static void talk_to_all(const bench *b)
{
    char out[1024], in[1024];
    memset(out, 1, sizeof out);
    for (int d = 1; d < b->np; d++)
        MPI_Sendrecv(out, sizeof out, MPI_BYTE, (b->rank + d) % b->np, TAG_DATA, in, sizeof in,
                     MPI_BYTE, (b->rank + b->np - d) % b->np, TAG_DATA, WORLD, MPI_STATUS_IGNORE);
}

void bench_memory(bench *b)
{
    // Everybody must have left MPI_Init; a rank that is still inside would count too little.
    struct timespec pause = {.tv_nsec = 300000000};
    nanosleep(&pause, NULL);
    report_memory(b, "memory-after-init", "shared-memory-after-init");
    talk_to_all(b);
    report_memory(b, "memory-after-all-to-all", "shared-memory-after-all-to-all");
}

static double processor_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

// Rank 0 is away for two seconds; the others wait for it. The figure is the processor time of all
// of them together, in percent of one core.
static void idle(bench *b, const char *name, bool in_barrier)
{
    if (!bench_wanted(b, name)) return;
    struct timespec away = {.tv_sec = IDLE_SECONDS};
    char token = 0;
    double used = processor_seconds();
    if (b->rank == 0) nanosleep(&away, NULL);
    if (in_barrier) {
        MPI_Barrier(WORLD);
    } else if (b->rank == 0) {
        for (int r = 1; r < b->np; r++) MPI_Send(&token, 1, MPI_CHAR, r, TAG_RELEASE, WORLD);
    } else {
        MPI_Recv(&token, 1, MPI_CHAR, 0, TAG_RELEASE, WORLD, MPI_STATUS_IGNORE);
    }
    used = b->rank == 0 ? 0 : processor_seconds() - used;
    bench_report(b, name, 100 * sum_at_root(b, used) / IDLE_SECONDS, "%", 1);
}

void bench_idle(bench *b)
{
    idle(b, "idle-in-recv", false);
    idle(b, "idle-in-barrier", true);
}
