// SPDX-License-Identifier: BSD-3-Clause
// A very large buffer that is sent again and again is put on huge pages; its bytes stay, and so
// does what lies beside it.
// RANKS: 2
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum { MIB = 1 << 20, BYTES = 16 * MIB, ROUNDS = 50 };

static char *map(size_t bytes)
{
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) exit(2);
    return p;
}

// Does this kernel do so when it is asked?
static int kernel_can(void)
{
    char text[64] = "";
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (!f || !fgets(text, sizeof text, f) || strstr(text, "[never]")) return 0;
    fclose(f);
    char *p = map(4 * MIB), *page = p + 2 * MIB - (size_t)p % (2 * MIB);
    memset(p, 1, 4 * MIB);
    int can = madvise(page, 2 * MIB, MADV_COLLAPSE) == 0;
    munmap(p, 4 * MIB);
    return can;
}

// KiB on huge pages in the mappings that [from, to) lies in.
static long huge_kib(const char *from, const char *to)
{
    FILE *f = fopen("/proc/self/smaps", "r");
    char line[512];
    unsigned long first, last;
    long kib, sum = 0;
    int inside = 0;
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx ", &first, &last) == 2)
            inside = first < (unsigned long)to && last > (unsigned long)from;
        if (inside && sscanf(line, "AnonHugePages: %ld", &kib) == 1) sum += kib;
    }
    if (f) fclose(f);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, failures = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *buf = map(BYTES);
    for (size_t i = 0; i < BYTES; i++) buf[i] = (char)(i * 7 + i / 4096);
    for (int k = 0; k < ROUNDS; k++) {
        if (rank == 0) {
            MPI_Send(buf, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        } else {
            memset(buf, 0, BYTES);
            MPI_Recv(buf, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    for (size_t i = 0; i < BYTES; i++) failures += buf[i] != (char)(i * 7 + i / 4096);
    if (failures) fprintf(stderr, "rank %d: %d bytes are wrong\n", rank, failures);
    long kib = huge_kib(buf, buf + BYTES);
    if (rank == 0 && kernel_can() && kib < BYTES / 1024 / 2) {
        fprintf(stderr, "%ld KiB of the buffer lie on huge pages\n", kib);
        failures++;
    }
    MPI_Finalize();
    return failures != 0;
}
