// SPDX-License-Identifier: BSD-3-Clause
// Never a false alarm: ranks that block for long and often, in every call that can block, while the
// others sleep outside MPI for random times or are about to fall asleep themselves. A deadlock
// report would end the job with status 86.
// RANKS: 2 3 8 16
// OPTIONS: --on-deadlock=abort
// TIMEOUT: 120
#include "../p2p/common.h"

enum { ROUNDS = 250, BIG = 120000, SMALL = 64, KINDS = 8 };

static unsigned char out[BIG], in[BIG];

// Sends in a way that may block until the other side comes.
static void send_somehow(uint32_t how, int to, int bytes)
{
    MPI_Request r;
    switch (how % 4) {
    case 0: CHECK(MPI_Send(out, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD) == MPI_SUCCESS); break;
    case 1: CHECK(MPI_Ssend(out, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD) == MPI_SUCCESS); break;
    case 2:
        CHECK(MPI_Issend(out, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
        CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        break;
    default:
        CHECK(MPI_Bsend(out, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
        CHECK(MPI_Buffer_flush() == MPI_SUCCESS);
    }
}

static void receive_somehow(uint32_t how, int from, int bytes)
{
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Message m;
    MPI_Status s;
    int index, count;
    switch (how % KINDS) {
    case 0: CHECK(MPI_Probe(from, 1, MPI_COMM_WORLD, &s) == MPI_SUCCESS); break;
    case 1:
        CHECK(MPI_Mprobe(from, MPI_ANY_TAG, MPI_COMM_WORLD, &m, &s) == MPI_SUCCESS);
        CHECK(MPI_Mrecv(in, bytes, MPI_BYTE, &m, &s) == MPI_SUCCESS);
        return;
    case 2:
        CHECK(MPI_Irecv(in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, &r[0]) == MPI_SUCCESS);
        CHECK(MPI_Waitany(2, r, &index, &s) == MPI_SUCCESS);
        return;
    case 3:
        CHECK(MPI_Irecv(in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, &r[1]) == MPI_SUCCESS);
        CHECK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        return;
    case 4:
        CHECK(MPI_Irecv(in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, &r[1]) == MPI_SUCCESS);
        CHECK(MPI_Waitsome(2, r, &count, (int[2]){0}, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        return;
    default: break;
    }
    CHECK(MPI_Recv(in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, &s) == MPI_SUCCESS);
}

// Out for nothing, for the time of a wake-up, or for longer than anybody spins.
static void wander(uint64_t *seed)
{
    static const long naps[] = {0, 0, 0, 0, 20, 60, 150, 400, 1500, 5000};
    long us = naps[random_next(seed) % 10];
    if (us) nap_us((long)(random_next(seed) % (uint32_t)us));
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    uint64_t plan = 5, mine = 100 + (uint64_t)my_rank; // the plan is the same everywhere
    void *memory;
    int bytes;
    CHECK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0) == MPI_SUCCESS);
    for (int round = 0; round < ROUNDS; round++) {
        int from = (int)(random_next(&plan) % (uint32_t)world_size);
        int to = (from + 1 + (int)(random_next(&plan) % (uint32_t)(world_size - 1))) % world_size;
        int size = random_next(&plan) % 3 == 0 ? BIG : SMALL;
        uint32_t how = random_next(&plan);
        if (my_rank == from) {
            wander(&mine);
            fill(out, SMALL, (uint64_t)round);
            send_somehow(how, to, size);
        } else if (my_rank == to) {
            wander(&mine);
            receive_somehow(how / 16, from, size);
            CHECK(wrong_bytes(in, SMALL, (uint64_t)round) == 0);
        }
        if (round % 10 == 9) meet_all(); // mostly asleep here
    }
    if (my_rank == 0) nap_us(700000); // all others wait long past the watch's tick
    meet_all();
    CHECK(MPI_Buffer_detach(&memory, &bytes) == MPI_SUCCESS);
    return end_test();
}
