// SPDX-License-Identifier: BSD-3-Clause
// What a rank frees stays in the process for its next blocks, up to a bound: the pages of large
// blocks that are made and freed again and again are not faulted in again and again, and most of a
// large heap goes back to the kernel. The heap's new part is meant for huge pages, and costs
// nothing before it is used. With "untouched" as argument: malloc is as the user left it.
// RANKS: 1 2
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define OTHER_ALLOCATOR 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OTHER_ALLOCATOR 1
#endif
#endif

enum { MIB = 1 << 20, ROUNDS = 50, SIZES = 5, BLOCKS = 24, PAGES = MIB / 4096 };

static int failures;

static void check(int good, const char *what, long found)
{
    if (good) return;
    failures++;
    fprintf(stderr, "%s: %ld\n", what, found);
}

static long faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

static long resident_mib(void)
{
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &pages, &resident) != 2) failures++;
    if (f) fclose(f);
    return resident * sysconf(_SC_PAGESIZE) / MIB;
}

// The part of the heap that is to lie on huge pages, as the kernel has it, and what of it is there.
static void heap_on_huge_pages(long *mib, long *resident_kib)
{
    FILE *f = fopen("/proc/self/smaps", "r");
    char line[512];
    unsigned long from, to;
    long size = 0, kib = 0;
    *mib = *resident_kib = 0;
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            size = strstr(line, "[heap]") ? (long)((to - from) / MIB) : 0;
        if (sscanf(line, "Rss: %ld", &kib) == 1) continue;
        if (strncmp(line, "VmFlags:", 8) != 0 || !strstr(line, " hg") || size == 0) continue;
        *mib += size;
        *resident_kib += kib;
    }
    if (f) fclose(f);
}

static void check_huge_pages(int kept)
{
    long mib, resident_kib;
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) != 0) return;
    heap_on_huge_pages(&mib, &resident_kib);
    if (kept) {
        check(mib >= 40, "MiB of the heap that are to lie on huge pages", mib);
        check(resident_kib == 0, "KiB of them that are there already", resident_kib);
    } else {
        check(mib == 0, "MiB on huge pages although the user had chosen", mib);
    }
}

static char *block(size_t mib)
{
    char *p = malloc(mib * MIB);
    if (p) memset(p, 1, mib * MIB);
    return p;
}

// Blocks of 8, 8, 4, 2 and 1 MiB live together, as the parts and the whole of a gathered list do;
// 23 MiB are more than the 16 that glibc would keep after it has seen blocks of 8.
static void some_blocks(void)
{
    char *p[SIZES];
    for (int i = 0; i < SIZES; i++) p[i] = block((size_t)8 >> (i > 0 ? i - 1 : 0));
    for (int i = 0; i < SIZES; i++) free(p[i]);
}

static void check_reuse(int kept)
{
    some_blocks();
    long before = faults();
    for (int i = 0; i < ROUNDS; i++) some_blocks();
    long each = (faults() - before) / ROUNDS;
    if (kept)
        check(each < PAGES / 4, "pages faulted in for blocks that were there before", each);
    else
        check(each > PAGES, "malloc was set up although the user had chosen; faults", each);
}

// 192 MiB in blocks of 8, then nothing: 64 may stay.
static void check_bound(void)
{
    static char *all[BLOCKS];
    long before = resident_mib();
    for (int i = 0; i < BLOCKS; i++) all[i] = block(8);
    check(resident_mib() - before >= 128, "MiB in use", resident_mib() - before);
    for (int i = 0; i < BLOCKS; i++) free(all[i]);
    check(resident_mib() - before <= 72, "MiB kept", resident_mib() - before);
    // A block of its own mapping goes at once.
    before = resident_mib();
    free(block(48));
    check(resident_mib() - before <= 8, "MiB kept of a block of 48", resident_mib() - before);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int kept = argc < 2 || strcmp(argv[1], "untouched") != 0;
#ifndef OTHER_ALLOCATOR
    check_huge_pages(kept);
    check_reuse(kept);
    if (kept) check_bound();
#endif
    (void)kept;
    (void)check_huge_pages;
    (void)check_reuse;
    (void)check_bound;
    MPI_Finalize();
    return failures != 0;
}
