// SPDX-License-Identifier: BSD-3-Clause
// A receiver that does not receive slows the sender down instead of eating the machine: the memory
// of both stays bounded whether the sender uses blocking sends or starts everything at once, while
// the receiver is busy in MPI with somebody else. What arrives in the end is right and in order.
// RANKS: 2 3 4
// TIMEOUT: 120
#include "common.h"

enum { BYTES = 8000, N = 24000, SAME = 64 }; // 192 MB in all
#ifdef __SANITIZE_ADDRESS__
enum { GROWTH_KIB = 1 << 30 }; // that allocator keeps what was freed
#else
enum { GROWTH_KIB = 100 << 10 }; // more than the budget of a peer, less than the flood
#endif

static long resident_kib(void)
{
    char line[128];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %ld", &kib) == 1) break;
    if (f) fclose(f);
    return kib;
}

static unsigned char message[SAME][BYTES];

// Message k carries the pattern of k % SAME: the sender needs no memory of its own for each.
static void sender(int immediate)
{
    MPI_Request *r = malloc(N * sizeof *r);
    for (int k = 0; k < N; k++) {
        if (immediate)
            CHECK(MPI_Isend(message[k % SAME], BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &r[k]) == 0);
        else
            CHECK(MPI_Send(message[k % SAME], BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD) ==
                  MPI_SUCCESS);
    }
    if (immediate) CHECK(MPI_Waitall(N, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    free(r);
}

static void receiver(void)
{
    static unsigned char got[BYTES];
    long before = resident_kib(), most = 0;
    double until = MPI_Wtime() + 1.0;
    // In MPI all the time, but for something that does not come.
    while (MPI_Wtime() < until) {
        int flag;
        CHECK(MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE) ==
              MPI_SUCCESS);
        if (!flag) nap_us(100);
    }
    most = resident_kib() - before;
    CHECK(most < GROWTH_KIB);
    for (int k = 0; k < N; k++) {
        MPI_Status s;
        CHECK(MPI_Recv(got, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &s) == MPI_SUCCESS);
        if (memcmp(got, message[k % SAME], BYTES) != 0)
            CHECK(memcmp(got, message[k % SAME], BYTES) == 0);
        if (k % 1000 == 0 && resident_kib() - before > most) most = resident_kib() - before;
    }
    printf("the receiver grew by %ld KiB at most\n", most);
    CHECK(most < GROWTH_KIB);
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    for (int k = 0; k < SAME; k++) fill(message[k], BYTES, (uint64_t)k);
    for (int immediate = 0; immediate < 2; immediate++) {
        long before = resident_kib();
        if (my_rank == 1) sender(immediate);
        if (my_rank == 0) receiver();
        if (my_rank == 1) CHECK(resident_kib() - before < GROWTH_KIB);
        meet_all();
    }
    return end_test();
}
