// SPDX-License-Identifier: BSD-3-Clause
// Completing requests: Wait and Test for one, any, some and all; looking without completing;
// persistent requests; freeing requests under way.
// RANKS: 1 2 4 16 130
#include "common.h"

#define N 100 // more than the engine keeps on its stack

static int left, right; // neighbours on a ring (oneself when alone)

static void post_ring(int value_base, int tag, int out[N], int in[N], MPI_Request r[2 * N])
{
    for (int k = 0; k < N; k++) {
        in[k] = -1;
        out[k] = value_base + k;
        CHECK(MPI_Irecv(&in[k], 1, MPI_INT, left, tag + k, MPI_COMM_WORLD, &r[k]) == MPI_SUCCESS);
    }
    for (int k = 0; k < N; k++)
        CHECK(MPI_Isend(&out[k], 1, MPI_INT, right, tag + k, MPI_COMM_WORLD, &r[N + k]) ==
              MPI_SUCCESS);
}

static void check_ring(int value_base, const int in[N], const MPI_Request r[2 * N])
{
    for (int k = 0; k < N; k++) CHECK(in[k] == value_base + k);
    for (int k = 0; k < 2 * N; k++) CHECK(r[k] == MPI_REQUEST_NULL);
}

static void all(void)
{
    int out[N], in[N], flag = 0;
    MPI_Request r[2 * N];
    MPI_Status s[2 * N];
    post_ring(1000, 0, out, in, r);
    CHECK(MPI_Waitall(2 * N, r, s) == MPI_SUCCESS);
    check_ring(1000, in, r);
    for (int k = 0; k < N; k++)
        CHECK(s[k].MPI_SOURCE == left && s[k].MPI_TAG == k && bytes_of(&s[k]) == 4);
    post_ring(2000, 0, out, in, r);
    while (!flag) CHECK(MPI_Testall(2 * N, r, &flag, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    check_ring(2000, in, r);
    // All are null now.
    CHECK(MPI_Waitall(2 * N, r, s) == MPI_SUCCESS && is_empty(&s[0]) && is_empty(&s[2 * N - 1]));
    flag = 0;
    CHECK(MPI_Testall(2 * N, r, &flag, s) == MPI_SUCCESS && flag);
    CHECK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
}

static void any(void)
{
    int out[N], in[N], index, flag, done = 0, seen[2 * N] = {0};
    MPI_Request r[2 * N];
    MPI_Status s;
    post_ring(3000, 0, out, in, r);
    while (done < N) {
        CHECK(MPI_Waitany(2 * N, r, &index, &s) == MPI_SUCCESS);
        CHECK(index >= 0 && index < 2 * N && r[index] == MPI_REQUEST_NULL && !seen[index]++);
        if (index < N)
            CHECK(s.MPI_SOURCE == left && s.MPI_TAG == index && in[index] == 3000 + index);
        done++;
    }
    while (done < 2 * N) {
        CHECK(MPI_Testany(2 * N, r, &index, &flag, &s) == MPI_SUCCESS);
        if (!flag) {
            CHECK(index == MPI_UNDEFINED);
            continue;
        }
        CHECK(r[index] == MPI_REQUEST_NULL && !seen[index]++);
        done++;
    }
    check_ring(3000, in, r);
    CHECK(MPI_Waitany(2 * N, r, &index, &s) == MPI_SUCCESS && index == MPI_UNDEFINED &&
          is_empty(&s));
    CHECK(MPI_Testany(2 * N, r, &index, &flag, &s) == MPI_SUCCESS && flag &&
          index == MPI_UNDEFINED);
    CHECK(MPI_Waitany(0, NULL, &index, &s) == MPI_SUCCESS && index == MPI_UNDEFINED);
}

static void some(void)
{
    int out[N], in[N], indices[2 * N], count, round = 0, done = 0;
    int seen[2 * N] = {0};
    MPI_Request r[2 * N];
    MPI_Status s[2 * N];
    post_ring(4000, 0, out, in, r);
    while (done < 2 * N) {
        if (round++ % 2)
            CHECK(MPI_Testsome(2 * N, r, &count, indices, s) == MPI_SUCCESS);
        else
            CHECK(MPI_Waitsome(2 * N, r, &count, indices, s) == MPI_SUCCESS && count > 0);
        CHECK(count != MPI_UNDEFINED);
        for (int k = 0; k < count; k++) {
            CHECK(r[indices[k]] == MPI_REQUEST_NULL && !seen[indices[k]]++);
            if (indices[k] < N) CHECK(s[k].MPI_TAG == indices[k] && s[k].MPI_SOURCE == left);
        }
        done += count;
    }
    check_ring(4000, in, r);
    CHECK(MPI_Waitsome(2 * N, r, &count, indices, s) == MPI_SUCCESS && count == MPI_UNDEFINED);
    CHECK(MPI_Testsome(2 * N, r, &count, indices, s) == MPI_SUCCESS && count == MPI_UNDEFINED);
}

static void one(void)
{
    int out[N], in[N], flag = 0;
    MPI_Request r[2 * N], none = MPI_REQUEST_NULL;
    MPI_Status s;
    post_ring(5000, 0, out, in, r);
    for (int k = 0; k < N; k += 2) {
        CHECK(MPI_Wait(&r[k], &s) == MPI_SUCCESS && s.MPI_TAG == k && in[k] == 5000 + k);
        for (flag = 0; !flag;) CHECK(MPI_Test(&r[k + 1], &flag, &s) == MPI_SUCCESS);
        CHECK(s.MPI_TAG == k + 1 && s.MPI_SOURCE == left && in[k + 1] == 5000 + k + 1);
    }
    for (int k = N; k < 2 * N; k++) CHECK(MPI_Wait(&r[k], &s) == MPI_SUCCESS);
    check_ring(5000, in, r);
    CHECK(MPI_Wait(&none, &s) == MPI_SUCCESS && is_empty(&s));
    flag = 0;
    CHECK(MPI_Test(&none, &flag, &s) == MPI_SUCCESS && flag && is_empty(&s));
}

static void looking(void)
{
    int out = 7, in = -1, flag = -1, index = 0, count = 0, indices[3];
    MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s[3];
    CHECK(MPI_Request_get_status(r[0], &flag, s) == MPI_SUCCESS && flag && is_empty(s));
    CHECK(MPI_Request_get_status_any(3, r, &index, &flag, s) == 0 && flag &&
          index == MPI_UNDEFINED);
    CHECK(MPI_Request_get_status_some(3, r, &count, indices, s) == 0 && count == MPI_UNDEFINED);
    CHECK(MPI_Request_get_status_all(3, r, &flag, s) == MPI_SUCCESS && flag && is_empty(&s[2]));
    CHECK(MPI_Irecv(&in, 1, MPI_INT, left, 400, MPI_COMM_WORLD, &r[1]) == MPI_SUCCESS);
    CHECK(MPI_Request_get_status(r[1], &flag, s) == MPI_SUCCESS && !flag);
    CHECK(MPI_Request_get_status_any(3, r, &index, &flag, s) == MPI_SUCCESS && !flag);
    CHECK(MPI_Request_get_status_some(3, r, &count, indices, s) == MPI_SUCCESS && count == 0);
    CHECK(MPI_Request_get_status_all(3, r, &flag, s) == MPI_SUCCESS && !flag);
    meet_all();
    CHECK(MPI_Send(&out, 1, MPI_INT, right, 400, MPI_COMM_WORLD) == MPI_SUCCESS);
    for (flag = 0; !flag;) CHECK(MPI_Request_get_status(r[1], &flag, s) == MPI_SUCCESS);
    CHECK(s[0].MPI_TAG == 400 && in == 7 && r[1] != MPI_REQUEST_NULL);
    // It is still there, as often as one looks.
    CHECK(MPI_Request_get_status_any(3, r, &index, &flag, s) == MPI_SUCCESS && flag && index == 1);
    CHECK(MPI_Request_get_status_some(3, r, &count, indices, s) == 0 && count == 1 &&
          indices[0] == 1);
    CHECK(s[0].MPI_SOURCE == left && bytes_of(&s[0]) == 4);
    CHECK(MPI_Request_get_status_all(3, r, &flag, s) == MPI_SUCCESS && flag);
    CHECK(s[1].MPI_TAG == 400 && is_empty(&s[0]));
    CHECK(MPI_Wait(&r[1], &s[0]) == MPI_SUCCESS && s[0].MPI_TAG == 400);
}

static void persistent(void)
{
    enum { ROUNDS = 20, BIG = 40000 };
    int small = 0, small_in = -1, flag, index;
    unsigned char *big = malloc(BIG);
    guarded big_in = guarded_new(BIG, 0);
    MPI_Request r[4];
    MPI_Status s[4];
    CHECK(MPI_Recv_init(&small_in, 1, MPI_INT, left, 500, MPI_COMM_WORLD, &r[0]) == MPI_SUCCESS);
    CHECK(MPI_Recv_init(big_in.data, BIG, MPI_BYTE, MPI_ANY_SOURCE, 501, MPI_COMM_WORLD, &r[1]) ==
          0);
    CHECK(MPI_Send_init(&small, 1, MPI_INT, right, 500, MPI_COMM_WORLD, &r[2]) == MPI_SUCCESS);
    CHECK(MPI_Ssend_init(big, BIG, MPI_BYTE, right, 501, MPI_COMM_WORLD, &r[3]) == MPI_SUCCESS);
    // Not started: done, and empty.
    CHECK(MPI_Test(&r[0], &flag, s) == MPI_SUCCESS && flag && is_empty(s) &&
          r[0] != MPI_REQUEST_NULL);
    CHECK(MPI_Waitany(4, r, &index, s) == MPI_SUCCESS && index == MPI_UNDEFINED);
    for (int round = 0; round < ROUNDS; round++) {
        small = round;
        fill(big, BIG, (uint64_t)round);
        if (round % 2) {
            for (int k = 0; k < 4; k++) CHECK(MPI_Start(&r[k]) == MPI_SUCCESS);
        } else {
            CHECK(MPI_Startall(4, r) == MPI_SUCCESS);
        }
        CHECK(class_of(MPI_Start(&r[0])) == MPI_ERR_REQUEST); // it is under way, or not waited for
        CHECK(MPI_Waitall(4, r, s) == MPI_SUCCESS);
        CHECK(small_in == round && s[0].MPI_SOURCE == left && s[1].MPI_SOURCE == left);
        CHECK(wrong_bytes(big_in.data, BIG, (uint64_t)round) == 0 && guarded_intact(&big_in));
        for (int k = 0; k < 4; k++) CHECK(r[k] != MPI_REQUEST_NULL);
    }
    for (int k = 0; k < 4; k++) CHECK(MPI_Request_free(&r[k]) == 0 && r[k] == MPI_REQUEST_NULL);
    free(big);
    guarded_free(&big_in);
}

// Requests that nobody waits for still do their work.
static void freed(void)
{
    enum { BIG = 200000 };
    unsigned char *out = malloc(BIG);
    guarded in = guarded_new(BIG, 0);
    int done = 0;
    MPI_Request r;
    fill(out, BIG, 3);
    CHECK(MPI_Irecv(in.data, BIG, MPI_BYTE, left, 600, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
    CHECK(MPI_Request_free(&r) == MPI_SUCCESS && r == MPI_REQUEST_NULL);
    CHECK(MPI_Isend(out, BIG, MPI_BYTE, right, 600, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
    CHECK(MPI_Request_free(&r) == MPI_SUCCESS && r == MPI_REQUEST_NULL);
    CHECK(MPI_Send_init(&done, 1, MPI_INT, right, 601, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
    CHECK(MPI_Start(&r) == MPI_SUCCESS && MPI_Request_free(&r) == MPI_SUCCESS);
    // What comes after it on the way proves that the receive is through.
    CHECK(MPI_Recv(&done, 1, MPI_INT, left, 601, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int tries = 0; tries < 5000 && wrong_bytes(in.data, BIG, 3) != 0; tries++) {
        int flag;
        CHECK(MPI_Iprobe(MPI_ANY_SOURCE, 999, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE) ==
              MPI_SUCCESS);
        nap_us(200);
    }
    CHECK(wrong_bytes(in.data, BIG, 3) == 0 && guarded_intact(&in));
    // The right neighbour says that it has all of `out`.
    CHECK(MPI_Sendrecv(NULL, 0, MPI_BYTE, left, 602, NULL, 0, MPI_BYTE, right, 602, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE) == MPI_SUCCESS);
    free(out);
    guarded_free(&in);
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    left = (my_rank + world_size - 1) % world_size;
    right = (my_rank + 1) % world_size;
    all();
    any();
    some();
    one();
    looking();
    persistent();
    freed();
    return end_test();
}
