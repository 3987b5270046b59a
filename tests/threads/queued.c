// SPDX-License-Identifier: BSD-3-Clause
// A thread starts more sends than there is room for and leaves MPI. The only thread of its process
// that is in MPI sleeps there, for a message that comes when all of the sends have arrived: it must
// push on what waits for room, although it was asleep before there was anything to push.
// RANKS: 2
// TIMEOUT: 60
#include <pthread.h>

#include "../p2p/common.h"

enum { N = 250, ROUNDS = 3, TAG_DATA = 1, TAG_DONE = 2 };
static const int sizes[] = {60000, 8000, 500}; // what fills the depot, and what fills the ring

static void *sleeper(void *value)
{
    MPI_Recv(value, 1, MPI_INT, 1, TAG_DONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void sender(unsigned char *data, int bytes)
{
    static MPI_Request r[N];
    pthread_t t;
    int done = 0;
    CHECK(pthread_create(&t, NULL, sleeper, &done) == 0);
    nap_us(30000); // it falls asleep
    for (int k = 0; k < N; k++)
        CHECK(MPI_Isend(data + k, bytes, MPI_BYTE, 1, TAG_DATA, MPI_COMM_WORLD, &r[k]) == 0);
    CHECK(pthread_join(t, NULL) == 0 && done == 1);
    CHECK(MPI_Waitall(N, r, MPI_STATUSES_IGNORE) == 0);
}

static void receiver(const unsigned char *data, int bytes)
{
    static unsigned char got[60000];
    int done = 1;
    nap_us(100000); // the sender has run out of room
    for (int k = 0; k < N; k++) {
        CHECK(MPI_Recv(got, bytes, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == 0);
        CHECK(memcmp(got, data + k, (size_t)bytes) == 0);
    }
    CHECK(MPI_Send(&done, 1, MPI_INT, 0, TAG_DONE, MPI_COMM_WORLD) == 0);
}

int main(int argc, char **argv)
{
    static unsigned char data[60000 + N];
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    CHECK(level == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    fill(data, sizeof data, 4);
    for (int round = 0; round < ROUNDS; round++) {
        meet(1 - my_rank);
        if (my_rank == 0)
            sender(data, sizes[round]);
        else
            receiver(data, sizes[round]);
    }
    return end_test();
}
