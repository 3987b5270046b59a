// SPDX-License-Identifier: BSD-3-Clause
// What a call costs through each door of the library: the standard ABI (libmpi_abi.so.1) and the
// MPICH ABI (libmpi.so.12), in one process, on the same engine.
//
//     doors [directory with both libraries]
//
// Both libraries are opened here, so that both kinds of functions can be called side by side; the
// rounds are interleaved and the best of each is shown.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 15
#define CALLS  20000

// The MPICH ABI's view of the few things used here.
#define MPICH_WORLD         0x44000000
#define MPICH_INT           0x4c000405
#define MPICH_ANY_TAG       (-1)
#define MPICH_STATUS_IGNORE ((void *)1)

static struct {
    int (*init)(int *, char ***);
    int (*finalize)(void);
    int (*rank)(MPI_Comm, int *);
    int (*iprobe)(int, int, MPI_Comm, int *, MPI_Status *);
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*recv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
    int (*irecv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*wait)(MPI_Request *, MPI_Status *);
} standard;

static struct {
    int (*rank)(int, int *);
    int (*iprobe)(int, int, int, int *, void *);
    int (*send)(const void *, int, int, int, int, int);
    int (*recv)(void *, int, int, int, int, int, void *);
    int (*irecv)(void *, int, int, int, int, int, int *);
    int (*wait)(int *, void *);
} mpich;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *function(void *library, const char *name)
{
    void *f = dlsym(library, name);
    if (f != NULL) return f;
    fprintf(stderr, "%s is not there: %s\n", name, dlerror());
    exit(1);
}

static void *open_library(const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s%s", directory, directory[0] ? "/" : "", name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library != NULL) return library;
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
}

#define FIND(member, library, name) *(void **)&(member) = function(library, name)

static void find_functions(const char *directory)
{
    void *a = open_library(directory, "libmpi_abi.so.1");
    void *b = open_library(directory, "libmpi.so.12");
    FIND(standard.init, a, "MPI_Init");
    FIND(standard.finalize, a, "MPI_Finalize");
    FIND(standard.rank, a, "MPI_Comm_rank");
    FIND(standard.iprobe, a, "MPI_Iprobe");
    FIND(standard.send, a, "MPI_Send");
    FIND(standard.recv, a, "MPI_Recv");
    FIND(standard.irecv, a, "MPI_Irecv");
    FIND(standard.wait, a, "MPI_Wait");
    FIND(mpich.rank, b, "MPI_Comm_rank");
    FIND(mpich.iprobe, b, "MPI_Iprobe");
    FIND(mpich.send, b, "MPI_Send");
    FIND(mpich.recv, b, "MPI_Recv");
    FIND(mpich.irecv, b, "MPI_Irecv");
    FIND(mpich.wait, b, "MPI_Wait");
}

static void standard_rank(void)
{
    int rank;
    standard.rank(MPI_COMM_WORLD, &rank);
}

static void mpich_rank(void)
{
    int rank;
    mpich.rank(MPICH_WORLD, &rank);
}

static void standard_iprobe(void)
{
    int flag;
    MPI_Status s;
    standard.iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &s);
}

static void mpich_iprobe(void)
{
    int flag, s[5];
    mpich.iprobe(0, MPICH_ANY_TAG, MPICH_WORLD, &flag, s);
}

static void standard_self(void)
{
    int x = 1;
    MPI_Status s;
    standard.send(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    standard.recv(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &s);
}

static void mpich_self(void)
{
    int x = 1, s[5];
    mpich.send(&x, 1, MPICH_INT, 0, 5, MPICH_WORLD);
    mpich.recv(&x, 1, MPICH_INT, 0, 5, MPICH_WORLD, s);
}

static void standard_request(void)
{
    int x = 1;
    MPI_Request r;
    standard.irecv(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &r);
    standard.send(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    standard.wait(&r, MPI_STATUS_IGNORE);
}

static void mpich_request(void)
{
    int x = 1, r;
    mpich.irecv(&x, 1, MPICH_INT, 0, 5, MPICH_WORLD, &r);
    mpich.send(&x, 1, MPICH_INT, 0, 5, MPICH_WORLD);
    mpich.wait(&r, MPICH_STATUS_IGNORE);
}

static double once(void (*body)(void))
{
    double start = now();
    for (int i = 0; i < CALLS; i++) body();
    return (now() - start) / CALLS;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int calls;
        void (*standard)(void), (*mpich)(void);
    } points[] = {
        {"MPI_Comm_rank", 1, standard_rank, mpich_rank},
        {"MPI_Iprobe, nothing there", 1, standard_iprobe, mpich_iprobe},
        {"MPI_Send + MPI_Recv to self", 2, standard_self, mpich_self},
        {"MPI_Irecv + MPI_Send + MPI_Wait", 3, standard_request, mpich_request},
    };
    find_functions(argc > 1 ? argv[1] : "");
    if (standard.init(NULL, NULL) != MPI_SUCCESS) return 1;
    printf("%-34s %10s %10s %14s\n", "ns", "standard", "MPICH", "more per call");
    for (size_t p = 0; p < sizeof points / sizeof points[0]; p++) {
        double a = 1e30, b = 1e30;
        for (int round = 0; round < ROUNDS; round++) {
            double t = once(points[p].standard);
            a = t < a ? t : a;
            t = once(points[p].mpich);
            b = t < b ? t : b;
        }
        printf("%-34s %10.1f %10.1f %14.1f\n", points[p].name, a, b, (b - a) / points[p].calls);
    }
    return standard.finalize() != MPI_SUCCESS;
}
