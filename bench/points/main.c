// SPDX-License-Identifier: BSD-3-Clause
// The measuring program: options, the clock, and how a point is run.
//
//     points GROUP [--sizes A,B,..] [--budget MS] [--limit S] [--only GLOB,GLOB,..] [--threads]
//
// A point is run once to warm up, then with growing iteration counts until a batch takes a fifth of
// the budget, then in five batches, whose median is the figure. Rank 0 leads; it sends the count of
// the next batch to the ranks that take part. A library so slow that one iteration fills the budget
// gives that one iteration as its figure, and no point begins after the limit.
#include <fnmatch.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

#define BATCHES  5
#define ATTEMPTS 3     // at finding out how many iterations fill the time
#define STOP     (-1L) // instead of a count: the point is done;
#define LINE     (-2L) // pass a cache line

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *make_buffer(size_t bytes)
{
    void *p = NULL;
    if (posix_memalign(&p, 4096, bytes) == 0) return p;
    fprintf(stderr, "no memory for a buffer of %zu bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

void bench_buffers(bench *b, size_t bytes)
{
    if (bytes > b->room) {
        free(b->send);
        free(b->recv);
        b->send = make_buffer(bytes);
        b->recv = make_buffer(bytes);
        b->room = bytes;
    }
    memset(b->send, b->rank + 1, bytes);
    memset(b->recv, 0, bytes);
}

bool bench_wanted(const bench *b, const char *name)
{
    if (b->only == NULL) return true;
    for (int i = 0; i < b->only_count; i++)
        if (fnmatch(b->only[i], name, 0) == 0) return true;
    return false;
}

void bench_report(const bench *b, const char *name, double value, const char *unit, long n)
{
    if (b->rank != 0) return;
    printf("%s\t%.6g\t%s\t%ld\n", name, value, unit, n);
    fflush(stdout);
}

bool bench_in_time(bench *b)
{
    int yes = bench_now() - b->start < b->limit;
    for (int r = 1; r < b->np && b->rank == 0; r++)
        MPI_Send(&yes, 1, MPI_INT, r, TAG_CONTROL, MPI_COMM_WORLD);
    if (b->rank != 0) MPI_Recv(&yes, 1, MPI_INT, 0, TAG_CONTROL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return yes;
}

// Nobody leaves before everybody has come. Plain messages, because MPI_Barrier of some libraries
// takes 20 ms when there are more ranks than cores, and because not all ranks take part.
static void sync_ranks(const bench *b, int ranks)
{
    char token = 0;
    if (b->rank != 0) {
        MPI_Send(&token, 1, MPI_CHAR, 0, TAG_SYNC, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_CHAR, 0, TAG_SYNC, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    for (int r = 1; r < ranks; r++)
        MPI_Recv(&token, 1, MPI_CHAR, r, TAG_SYNC, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int r = 1; r < ranks; r++) MPI_Send(&token, 1, MPI_CHAR, r, TAG_SYNC, MPI_COMM_WORLD);
}

// The time of the slowest rank, on rank 0.
static double slowest(const bench *b, int ranks, double mine)
{
    if (b->rank != 0) {
        MPI_Send(&mine, 1, MPI_DOUBLE, 0, TAG_SYNC, MPI_COMM_WORLD);
        return mine;
    }
    for (int r = 1; r < ranks; r++) {
        double other;
        MPI_Recv(&other, 1, MPI_DOUBLE, r, TAG_SYNC, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (other > mine) mine = other;
    }
    return mine;
}

static double batch(bench *b, const bench_point *p, int ranks, long n)
{
    sync_ranks(b, ranks);
    double began = bench_now();
    p->body(b, p, n);
    return slowest(b, ranks, bench_now() - began);
}

// Rank 0: everybody does a batch of n.
static double lead(bench *b, const bench_point *p, int ranks, long n)
{
    for (int r = 1; r < ranks; r++) MPI_Send(&n, 1, MPI_LONG, r, TAG_CONTROL, MPI_COMM_WORLD);
    return n == STOP ? 0 : batch(b, p, ranks, n);
}

static void follow(bench *b, const bench_point *p, int ranks)
{
    for (;;) {
        long n;
        MPI_Recv(&n, 1, MPI_LONG, 0, TAG_CONTROL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (n == STOP) return;
        if (n != LINE)
            batch(b, p, ranks, n);
        else if (b->line != NULL)
            line_time(b->line, false);
    }
}

// Rank 0: how long a cache line takes to the other of two ranks just now; 0 if that is not known.
static double pass_line(bench *b)
{
    long n = LINE;
    if (b->line == NULL) return 0;
    MPI_Send(&n, 1, MPI_LONG, 1, TAG_CONTROL, MPI_COMM_WORLD);
    return line_time(b->line, true);
}

// Where two ranks have the cores for themselves.
static void share_line(bench *b, const char *group)
{
    char place[64] = "";
    if ((b->np != 2 && strcmp(group, "quiet") != 0) || b->rank > 1) return;
    if (b->rank == 0) {
        b->line = line_make(place, sizeof place);
        MPI_Send(place, sizeof place, MPI_CHAR, 1, TAG_CONTROL, MPI_COMM_WORLD);
    } else {
        MPI_Recv(place, sizeof place, MPI_CHAR, 0, TAG_CONTROL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        b->line = line_open(place);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Rank 0: the iterations that take about `share` seconds, at least n of them.
static long find_count(bench *b, const bench_point *p, int ranks, double share, long n, double *t)
{
    *t = lead(b, p, ranks, n);
    while (*t < 0.7 * share) {
        double grow = *t > 0 ? 1.1 * share / *t : 10;
        n = (long)((double)n * (grow > 10 ? 10 : grow)) + 1;
        *t = lead(b, p, ranks, n);
    }
    return n;
}

// Rank 0: finds the iteration count, then measures. Returns seconds for an iteration. A count that
// was found while ranks of the point before were still falling asleep is too small: again then.
static double measure(bench *b, const bench_point *p, int ranks, long *n_out)
{
    double share = b->budget / BATCHES, times[BATCHES], t;
    long n = 1;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        n = find_count(b, p, ranks, share, n, &t);
        *n_out = n;
        if (t >= b->budget) return t / (double)n;
        *n_out = n * BATCHES;
        for (int i = 0; i < BATCHES; i++) times[i] = lead(b, p, ranks, n);
        qsort(times, BATCHES, sizeof times[0], by_value);
        if (times[BATCHES / 2] >= 0.3 * share) break;
    }
    return times[BATCHES / 2] / (double)n;
}

// The warm-up is checked: a figure of a wrong result is worth nothing.
static bool warm_up(bench *b, const bench_point *p, int ranks)
{
    batch(b, p, ranks, 1);
    double wrong = p->check != NULL && !p->check(b, p) ? 1 : 0;
    return slowest(b, ranks, wrong) == 0;
}

void bench_run(bench *b, const bench_point *p)
{
    if (!bench_wanted(b, p->name)) return;
    if (!bench_in_time(b)) {
        bench_report(b, p->name, 0, "late", 0);
        return;
    }
    int ranks = p->ranks ? p->ranks : b->np;
    char token = 0;
    if (b->rank >= ranks) {
        MPI_Recv(&token, 1, MPI_CHAR, 0, TAG_RELEASE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    if (p->prepare != NULL) p->prepare(b, p);
    bool good = warm_up(b, p, ranks);
    if (b->rank != 0) {
        follow(b, p, ranks);
        return;
    }
    if (good) {
        long n;
        double before = pass_line(b), t = measure(b, p, ranks, &n), after = pass_line(b);
        printf("%s\t%.6g\tus\t%ld\t%.4g\t%.4g\n", p->name, t / p->scale * 1e6, n, before, after);
        fflush(stdout);
    } else {
        bench_report(b, p->name, 0, "wrong", 0);
    }
    lead(b, p, ranks, STOP);
    for (int r = ranks; r < b->np; r++)
        MPI_Send(&token, 1, MPI_CHAR, r, TAG_RELEASE, MPI_COMM_WORLD);
}

static int split_list(char *text, const char **out, int room)
{
    int n = 0;
    for (char *save, *w = strtok_r(text, ",", &save); w && n < room; w = strtok_r(NULL, ",", &save))
        out[n++] = w;
    return n;
}

// Says on how many cores this rank may run, so that run.py can tell whether all are bound alike.
static void report_binding(const bench *b)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        bench_report(b, "cores-of-rank-0", CPU_COUNT(&set), "cores", 1);
}

static int run_group(bench *b, const char *group, const size_t *sizes, int count)
{
    if (strcmp(group, "p2p") == 0)
        bench_p2p(b, sizes, count);
    else if (strcmp(group, "crowd") == 0)
        bench_crowd(b, sizes, count);
    else if (strcmp(group, "quiet") == 0)
        bench_quiet(b, sizes, count);
    else if (strcmp(group, "coll") == 0)
        bench_coll(b, sizes, count);
    else if (strcmp(group, "uneven") == 0)
        bench_uneven(b, sizes, count);
    else if (strcmp(group, "nonblocking") == 0)
        bench_nonblocking(b, sizes, count);
    else if (strcmp(group, "types") == 0)
        bench_types(b);
    else if (strcmp(group, "threads") == 0)
        bench_threads(b, sizes, count);
    else if (strcmp(group, "memory") == 0)
        bench_memory(b);
    else if (strcmp(group, "idle") == 0)
        bench_idle(b);
    else
        return 1;
    return 0;
}

int main(int argc, char **argv)
{
    static const char *names[512], *words[64];
    size_t sizes[64] = {8};
    int count = 1;
    bench b = {.budget = 0.08, .limit = 60, .start = bench_now()};
    int want = MPI_THREAD_SINGLE, got;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--threads") == 0) {
            want = MPI_THREAD_MULTIPLE;
        } else if (strcmp(argv[i], "--budget") == 0 && i + 1 < argc) {
            b.budget = atof(argv[++i]) * 1e-3;
        } else if (strcmp(argv[i], "--limit") == 0 && i + 1 < argc) {
            b.limit = atof(argv[++i]);
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            b.only_count = split_list(argv[++i], names, 512);
            b.only = names;
        } else if (strcmp(argv[i], "--sizes") == 0 && i + 1 < argc) {
            count = split_list(argv[++i], words, 64);
            for (int k = 0; k < count; k++) sizes[k] = strtoul(words[k], NULL, 10);
        }
    }
    MPI_Init_thread(&argc, &argv, want, &got);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.np);
    report_binding(&b);
    if (argc > 1) share_line(&b, argv[1]);
    if (argc < 2 || got < want || run_group(&b, argv[1], sizes, count) != 0) {
        fprintf(stderr, "points: no such group, or threads are not supported\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Finalize();
    return 0;
}
