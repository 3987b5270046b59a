// SPDX-License-Identifier: BSD-3-Clause
// All ranks but the first block in a call that the argument names, for two seconds; then each tells
// how much processor time it used while blocked. For idle_test.py.
// RANKS:
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { SECONDS = 2, BIG = 1 << 20 };

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

// Comes back when rank 0 has sent (or taken) what belongs to it.
static void block(const char *how)
{
    static unsigned char big[BIG];
    int x = 0, index;
    MPI_Request r[3];
    MPI_Status s;
    if (strcmp(how, "ssend") == 0) {
        MPI_Ssend(big, BIG, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        return;
    }
    if (strcmp(how, "probe") == 0) MPI_Probe(0, 1, MPI_COMM_WORLD, &s);
    if (strcmp(how, "waitany") == 0) {
        for (int k = 0; k < 3; k++) MPI_Irecv(&x, 1, MPI_INT, 0, 1 + k, MPI_COMM_WORLD, &r[k]);
        MPI_Waitany(3, r, &index, &s);
        for (int k = 1; k < 3; k++) {
            MPI_Cancel(&r[k]);
            MPI_Wait(&r[k], &s);
        }
        return;
    }
    MPI_Recv(&x, 1, MPI_INT, strcmp(how, "any") == 0 ? MPI_ANY_SOURCE : 0, 1, MPI_COMM_WORLD, &s);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "recv";
    int rank, size, x = 0, provided;
    int level = strcmp(how, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double before = cpu_seconds();
    if (rank > 0) {
        block(how);
        double used = cpu_seconds() - before;
        MPI_Send(&used, 1, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD);
    } else {
        unsigned char *big = malloc(BIG);
        double used, all = 0;
        struct timespec ts = {SECONDS, 0};
        nanosleep(&ts, NULL);
        for (int k = 1; k < size; k++) {
            if (strcmp(how, "ssend") == 0)
                MPI_Recv(big, BIG, MPI_BYTE, k, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            else
                MPI_Send(&x, 1, MPI_INT, k, 1, MPI_COMM_WORLD);
            MPI_Recv(&used, 1, MPI_DOUBLE, k, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            all += used;
        }
        printf("%.6f\n", all);
        free(big);
    }
    MPI_Finalize();
    return 0;
}
