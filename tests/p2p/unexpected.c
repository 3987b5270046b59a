// SPDX-License-Identifier: BSD-3-Clause
// A hundred thousand messages that nobody has asked for yet: kept, found by any key in no time, and
// in order. The time is bounded so generously that only searching through all of them exceeds it.
// RANKS: 2 4
// TIMEOUT: 60
#include "common.h"

enum { N = 100000, SECONDS = 20 };

static double began;

static void send_numbers(int to, int tag_step)
{
    for (int k = 0; k < N; k++)
        CHECK(MPI_Send(&k, 1, MPI_INT, to, tag_step * k, MPI_COMM_WORLD) == MPI_SUCCESS);
}

// More than a peer may have unmatched at the receiver: some of these become rendezvous, and must
// be started without waiting for the receiver.
static void isend_numbers(int to, MPI_Request *r, int *values, int tag_step)
{
    for (int k = 0; k < N; k++) {
        values[k] = k;
        CHECK(MPI_Isend(&values[k], 1, MPI_INT, to, tag_step * k, MPI_COMM_WORLD, &r[k]) ==
              MPI_SUCCESS);
    }
}

static void receive_one(int source, int tag, int want)
{
    int got = -1;
    MPI_Status s;
    if (MPI_Recv(&got, 1, MPI_INT, source, tag, MPI_COMM_WORLD, &s) != MPI_SUCCESS || got != want)
        CHECK(got == want);
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    began = MPI_Wtime();
    if (my_rank == 1) {
        MPI_Request *r = malloc(N * sizeof *r);
        int *values = malloc(N * sizeof *values);
        isend_numbers(0, r, values, 1);
        CHECK(MPI_Send(NULL, 0, MPI_BYTE, 0, N + 1, MPI_COMM_WORLD) == MPI_SUCCESS);
        CHECK(MPI_Waitall(N, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        isend_numbers(0, r, values, 1);
        CHECK(MPI_Waitall(N, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        isend_numbers(0, r, values, 0);
        CHECK(MPI_Waitall(N, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        send_numbers(0, 1);
        free(values);
        free(r);
    } else if (my_rank == 0) {
        // All are here before the first receive; tags in reverse order.
        CHECK(MPI_Recv(NULL, 0, MPI_BYTE, 1, N + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
              MPI_SUCCESS);
        for (int k = N - 1; k >= 0; k--) receive_one(1, k, k);
        nap_us(100000);
        for (int k = N - 1; k >= 0; k--) receive_one(MPI_ANY_SOURCE, k, k);
        for (int k = 0; k < N; k++)
            receive_one(k % 2 ? MPI_ANY_SOURCE : 1, k % 3 ? MPI_ANY_TAG : 0, k);
        nap_us(100000);
        for (int k = 0; k < N; k++) receive_one(1, MPI_ANY_TAG, k);
        printf("%d messages by four orders in %.2f s\n", N, MPI_Wtime() - began);
        CHECK(MPI_Wtime() - began < SECONDS);
    }
    return end_test();
}
