// SPDX-License-Identifier: BSD-3-Clause
// Ten thousand communicators made and freed, in every way, leave nothing behind: no object (a new
// one gets a place that was used before) and no memory.
// RANKS: 1 2 4
// TIMEOUT: 120
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#define CYCLES 10000

// Resident memory that is the process's own, in KiB.
static long resident(void)
{
    long pages = 0, all = 0, shared = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld %ld %ld", &pages, &all, &shared) == 3);
    fclose(f);
    return (all - shared) * sysconf(_SC_PAGESIZE) / 1024;
}

// A heap that outgrows its small blocks gets a huge page, which counts whole from its first byte
// on: it gets it here.
static void touch_heap(void)
{
    enum { BYTES = 256 << 10 };
    char *volatile p = malloc(BYTES);
    CHECK(p != NULL);
    if (p) memset(p, 1, BYTES);
    free(p);
}

static void make_and_free(int way)
{
    MPI_Comm c = MPI_COMM_NULL, d = MPI_COMM_NULL;
    MPI_Request request;
    int dims[2] = {0, 0}, periods[2] = {0, 1}, rank = rank_of(MPI_COMM_WORLD);
    MPI_Group g;
    switch (way) {
    case 0: CHECK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &c) == 0); break;
    case 1:
        CHECK(MPI_Comm_idup(MPI_COMM_WORLD, &c, &request) == 0);
        CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == 0);
        break;
    case 2:
        CHECK(MPI_Comm_group(MPI_COMM_WORLD, &g) == 0 &&
              MPI_Comm_create_group(MPI_COMM_WORLD, g, 3, &c) == 0);
        CHECK(MPI_Comm_create_from_group(g, "many", MPI_INFO_NULL, MPI_ERRORS_RETURN, &d) == 0);
        CHECK(MPI_Group_free(&g) == 0 && MPI_Comm_free(&d) == 0);
        break;
    case 3:
        CHECK(MPI_Dims_create(size_of(MPI_COMM_WORLD), 2, dims) == 0);
        CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &d) == 0);
        CHECK(MPI_Cart_sub(d, periods, &c) == 0 && MPI_Comm_free(&d) == 0);
        break;
    default: CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &c) == 0); break;
    }
    CHECK(MPI_Comm_free(&c) == 0);
}

// With two or more ranks an inter-communicator of the first against the others.
static void inter(void)
{
    MPI_Comm part, c, d, whole;
    int first = rank_of(MPI_COMM_WORLD) == 0;
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, first, 0, &part) == 0);
    CHECK(MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, first ? 1 : 0, 0, &c) == 0);
    CHECK(MPI_Comm_dup(c, &d) == 0 && MPI_Comm_free(&c) == 0);
    CHECK(MPI_Intercomm_merge(d, first, &whole) == 0 && MPI_Comm_free(&d) == 0);
    CHECK(MPI_Comm_free(&part) == 0 && MPI_Comm_free(&whole) == 0);
}

// The number of a new communicator: the first 64 are enough for all that live at once.
static bool reuses_places(void)
{
    MPI_Comm c;
    CHECK(MPI_Comm_dup(MPI_COMM_SELF, &c) == 0);
    int number = MPI_Comm_toint(c);
    CHECK(MPI_Comm_free(&c) == 0);
    return number < 4096 + 64;
}

int main(void)
{
    MPI_Init(NULL, NULL);
    long before = 0;
    touch_heap();
    for (int i = 0; i < CYCLES; i++) {
        // The first tenth fills what is kept for reuse.
        if (i == CYCLES / 10) before = resident();
        make_and_free(i % 25);
        if (i % 100 == 0 && size_of(MPI_COMM_WORLD) > 1) inter();
    }
    long grown = resident() - before;
    CHECK(reuses_places());
    if (grown > 512) printf("%ld KiB more than before\n", grown);
#ifndef __SANITIZE_ADDRESS__ // which keeps freed memory, and finds leaks itself
    CHECK(grown <= 512);
#endif
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
