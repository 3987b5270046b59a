// SPDX-License-Identifier: BSD-3-Clause
// Signals: a handler runs at once although the rank sleeps in MPI, the call goes on afterwards, and
// a storm of signals during messages of all sizes harms none of them.
// RANKS: 1 2 4
#include <errno.h>
#include <signal.h>
#include <sys/time.h>

#include "../p2p/common.h"

static volatile sig_atomic_t alarms;
static volatile double last_alarm;

static void on_alarm(int signal)
{
    (void)signal;
    alarms = alarms + 1;
    last_alarm = MPI_Wtime();
}

static void every_us(long us)
{
    struct itimerval t = {{0, us}, {0, us}};
    CHECK(setitimer(ITIMER_REAL, &t, NULL) == 0);
}

// Rank 0 lets the others sleep for half a second; each gets one signal in the middle of it.
static void while_asleep(void)
{
    int x = 0;
    double began = MPI_Wtime();
    alarms = 0;
    struct itimerval once = {{0, 0}, {0, 200000}};
    CHECK(setitimer(ITIMER_REAL, &once, NULL) == 0);
    if (my_rank > 0) {
        CHECK(MPI_Recv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
              x == 5);
        CHECK(alarms == 1);
        CHECK(last_alarm - began < 0.45); // before the message came
    } else {
        while (MPI_Wtime() - began < 0.5) nap_us(20000);
        x = 5;
        for (int k = 1; k < world_size; k++)
            CHECK(MPI_Send(&x, 1, MPI_INT, k, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
    }
}

static void storm(void)
{
    enum { MOST = 300000, ROUNDS = 200 };
    static const int sizes[] = {8, 1000, 16384, 20000, MOST};
    int right = (my_rank + 1) % world_size, left = (my_rank + world_size - 1) % world_size;
    guarded out = guarded_new(MOST, 0), in = guarded_new(MOST, 0);
    fill(out.data, MOST, (uint64_t)my_rank);
    alarms = 0;
    every_us(300);
    for (int round = 0; round < ROUNDS; round++) {
        int bytes = sizes[round % 5];
        memset(in.data, 0, (size_t)bytes);
        CHECK(MPI_Sendrecv(out.data, bytes, MPI_BYTE, right, 2, in.data, bytes, MPI_BYTE, left, 2,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(wrong_bytes(in.data, (size_t)bytes, (uint64_t)left) == 0 && guarded_intact(&in));
        if (round % 50 == 0 && my_rank == 0) nap_us(30000);
    }
    meet_all();
    every_us(0);
    CHECK(alarms > 0);
    guarded_free(&out);
    guarded_free(&in);
}

int main(int argc, char **argv)
{
    struct sigaction a = {.sa_handler =
                              on_alarm}; // without SA_RESTART: system calls are interrupted
    CHECK(sigaction(SIGALRM, &a, NULL) == 0);
    begin_test(&argc, &argv);
    while_asleep();
    storm();
    return end_test();
}
