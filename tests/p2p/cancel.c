// SPDX-License-Identifier: BSD-3-Clause
// Cancelling: receives, and sends in every state that a send can be in. A cancelled operation has
// done nothing, one that was not cancelled has done everything; what comes after is unharmed.
// RANKS: 1 2 3
#include "common.h"

enum { BIG = 300000, FLOOD = 4000, FLOOD_BYTES = 16000 };

static void receives(void)
{
    int in = -1, out = 9;
    MPI_Request r, s;
    MPI_Status status;
    CHECK(MPI_Irecv(&in, 1, MPI_INT, my_rank, 1, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
    CHECK(MPI_Cancel(&r) == MPI_SUCCESS && r != MPI_REQUEST_NULL);
    CHECK(MPI_Wait(&r, &status) == MPI_SUCCESS && was_cancelled(&status) && in == -1);
    // The message is for the receive that was not cancelled.
    MPI_Request gone;
    CHECK(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &gone) == MPI_SUCCESS);
    CHECK(MPI_Irecv(&in, 1, MPI_INT, my_rank, 1, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
    CHECK(MPI_Cancel(&gone) == MPI_SUCCESS);
    CHECK(MPI_Isend(&out, 1, MPI_INT, my_rank, 1, MPI_COMM_WORLD, &s) == MPI_SUCCESS);
    CHECK(MPI_Wait(&r, &status) == MPI_SUCCESS && !was_cancelled(&status) && in == 9);
    CHECK(MPI_Wait(&gone, &status) == MPI_SUCCESS && was_cancelled(&status));
    CHECK(MPI_Wait(&s, &status) == MPI_SUCCESS);
    // Too late: matched already.
    CHECK(MPI_Irecv(&in, 1, MPI_INT, my_rank, 1, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
    CHECK(MPI_Send(&out, 1, MPI_INT, my_rank, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Cancel(&r) == MPI_SUCCESS);
    CHECK(MPI_Wait(&r, &status) == MPI_SUCCESS && !was_cancelled(&status) &&
          bytes_of(&status) == 4);
    // Cancelled and freed without waiting; and a persistent one, which lives on.
    CHECK(MPI_Irecv(&in, 1, MPI_INT, my_rank, 1, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
    CHECK(MPI_Cancel(&r) == MPI_SUCCESS && MPI_Request_free(&r) == MPI_SUCCESS);
    CHECK(MPI_Recv_init(&in, 1, MPI_INT, my_rank, 2, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
    for (int round = 0; round < 4; round++) {
        in = -1;
        CHECK(MPI_Start(&r) == MPI_SUCCESS);
        if (round % 2)
            CHECK(MPI_Send(&out, 1, MPI_INT, my_rank, 2, MPI_COMM_WORLD) == MPI_SUCCESS);
        else
            CHECK(MPI_Cancel(&r) == MPI_SUCCESS);
        CHECK(MPI_Wait(&r, &status) == MPI_SUCCESS);
        CHECK(was_cancelled(&status) == !(round % 2) && in == (round % 2 ? 9 : -1));
    }
    CHECK(MPI_Request_free(&r) == MPI_SUCCESS);
}

static void sends_to_self(void)
{
    static unsigned char big[BIG];
    int out[3] = {1, 2, 3}, in = -1;
    MPI_Request s[3];
    MPI_Status status;
    // Three synchronous sends wait under one tag; the middle one goes.
    for (int k = 0; k < 3; k++)
        CHECK(MPI_Issend(&out[k], 1, MPI_INT, my_rank, 5, MPI_COMM_WORLD, &s[k]) == MPI_SUCCESS);
    CHECK(MPI_Cancel(&s[1]) == MPI_SUCCESS);
    CHECK(MPI_Wait(&s[1], &status) == MPI_SUCCESS && was_cancelled(&status));
    CHECK(MPI_Recv(&in, 1, MPI_INT, my_rank, 5, MPI_COMM_WORLD, &status) == MPI_SUCCESS && in == 1);
    CHECK(MPI_Recv(&in, 1, MPI_INT, my_rank, 5, MPI_COMM_WORLD, &status) == MPI_SUCCESS && in == 3);
    CHECK(MPI_Wait(&s[0], &status) == MPI_SUCCESS && !was_cancelled(&status));
    CHECK(MPI_Wait(&s[2], &status) == MPI_SUCCESS && !was_cancelled(&status));
    CHECK(MPI_Isend(big, BIG, MPI_BYTE, my_rank, 5, MPI_COMM_WORLD, &s[0]) == MPI_SUCCESS);
    CHECK(MPI_Cancel(&s[0]) == MPI_SUCCESS);
    CHECK(MPI_Wait(&s[0], &status) == MPI_SUCCESS && was_cancelled(&status));
    int flag = 1;
    CHECK(MPI_Iprobe(my_rank, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status) == MPI_SUCCESS && !flag);
}

typedef int isend_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

// The receiver has not asked for it: the send can go, and the receiver never sees it.
static void unmatched_send(isend_fn *isend, int bytes)
{
    static unsigned char data[BIG];
    MPI_Status status;
    int flag = 1;
    if (my_rank == 0) {
        MPI_Request s;
        CHECK(isend(data, bytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &s) == MPI_SUCCESS);
        CHECK(MPI_Cancel(&s) == MPI_SUCCESS);
        CHECK(MPI_Wait(&s, &status) == MPI_SUCCESS);
        flag = was_cancelled(&status);
        CHECK(flag);
        CHECK(MPI_Send(&flag, 1, MPI_INT, 1, 8, MPI_COMM_WORLD) == MPI_SUCCESS);
    } else {
        CHECK(MPI_Recv(&flag, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, &status) == MPI_SUCCESS && flag);
        CHECK(MPI_Iprobe(0, 7, MPI_COMM_WORLD, &flag, &status) == MPI_SUCCESS && !flag);
    }
    meet(1 - my_rank);
}

// The receiver has matched it, or taken it by Mprobe: too late, and the data arrives.
static void matched_send(isend_fn *isend, int bytes, int claim)
{
    MPI_Status status;
    if (my_rank == 0) {
        unsigned char *data = malloc((size_t)bytes);
        MPI_Request s;
        fill(data, (size_t)bytes, 5);
        CHECK(isend(data, bytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &s) == MPI_SUCCESS);
        meet(1);
        CHECK(MPI_Cancel(&s) == MPI_SUCCESS);
        meet(1);
        CHECK(MPI_Wait(&s, &status) == MPI_SUCCESS && !was_cancelled(&status));
        free(data);
    } else {
        guarded g = guarded_new((size_t)bytes, 0);
        MPI_Message m = MPI_MESSAGE_NULL;
        MPI_Request r = MPI_REQUEST_NULL;
        if (claim)
            CHECK(MPI_Mprobe(0, 7, MPI_COMM_WORLD, &m, &status) == MPI_SUCCESS);
        else
            CHECK(MPI_Irecv(g.data, bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
        if (!claim) { // make sure that the match has happened
            int flag = 0;
            for (int k = 0; k < 2000 && !flag; k++) {
                CHECK(MPI_Request_get_status(r, &flag, &status) == MPI_SUCCESS);
                nap_us(50);
            }
        }
        meet(0);
        meet(0);
        if (claim)
            CHECK(MPI_Mrecv(g.data, bytes, MPI_BYTE, &m, &status) == MPI_SUCCESS);
        else
            CHECK(MPI_Wait(&r, &status) == MPI_SUCCESS);
        CHECK(wrong_bytes(g.data, (size_t)bytes, 5) == 0 && guarded_intact(&g));
        guarded_free(&g);
    }
}

// So many sends that some wait for room in the ring; every third is cancelled. Whatever the
// outcome of each, the receiver gets exactly those that were not, in order.
static void queued_sends(void)
{
    if (my_rank == 0) {
        static MPI_Request s[FLOOD];
        static int kept[FLOOD];
        MPI_Status status;
        unsigned char *data = malloc((size_t)FLOOD * FLOOD_BYTES);
        int cancelled = 0, n = 0;
        for (int k = 0; k < FLOOD; k++) {
            unsigned char *m = data + (size_t)k * FLOOD_BYTES;
            memset(m, 0, FLOOD_BYTES);
            memcpy(m, &k, sizeof k);
            CHECK(MPI_Isend(m, FLOOD_BYTES, MPI_BYTE, 1, 9, MPI_COMM_WORLD, &s[k]) == MPI_SUCCESS);
        }
        for (int k = 0; k < FLOOD; k += 3) CHECK(MPI_Cancel(&s[k]) == MPI_SUCCESS);
        meet(1);
        for (int k = 0; k < FLOOD; k++) {
            CHECK(MPI_Wait(&s[k], &status) == MPI_SUCCESS);
            if (!was_cancelled(&status)) {
                kept[n++] = k;
                continue;
            }
            CHECK(k % 3 == 0);
            cancelled++;
        }
        CHECK(cancelled > 0);
        CHECK(MPI_Send(kept, n, MPI_INT, 1, 10, MPI_COMM_WORLD) == MPI_SUCCESS);
        free(data);
    } else {
        static int got[FLOOD], kept[FLOOD];
        unsigned char *m = malloc(FLOOD_BYTES);
        MPI_Status status;
        int n = 0, sent = 0, flag = 0;
        meet(0);
        while (!flag || n < sent) {
            int there = 0;
            if (!flag) CHECK(MPI_Iprobe(0, 10, MPI_COMM_WORLD, &flag, &status) == MPI_SUCCESS);
            if (flag && !sent) CHECK(MPI_Get_count(&status, MPI_INT, &sent) == MPI_SUCCESS);
            CHECK(MPI_Iprobe(0, 9, MPI_COMM_WORLD, &there, &status) == MPI_SUCCESS);
            if (!there) continue;
            CHECK(MPI_Recv(m, FLOOD_BYTES, MPI_BYTE, 0, 9, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
            memcpy(&got[n++], m, sizeof(int));
        }
        CHECK(MPI_Recv(kept, FLOOD, MPI_INT, 0, 10, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
        CHECK(n == sent && memcmp(got, kept, (size_t)n * sizeof(int)) == 0);
        CHECK(MPI_Iprobe(0, 9, MPI_COMM_WORLD, &flag, &status) == MPI_SUCCESS && !flag);
        free(m);
    }
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    receives();
    sends_to_self();
    if (world_size > 1 && my_rank < 2) {
        unmatched_send(MPI_Issend, 0);
        unmatched_send(MPI_Issend, 100);
        unmatched_send(MPI_Isend, BIG);
        unmatched_send(MPI_Issend, BIG);
        for (int claim = 0; claim < 2; claim++) {
            matched_send(MPI_Issend, 100, claim);
            matched_send(MPI_Isend, 100, claim);
            matched_send(MPI_Isend, BIG, claim);
        }
        queued_sends();
    }
    return end_test();
}
