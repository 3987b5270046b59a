// SPDX-License-Identifier: BSD-3-Clause
// Sending and receiving at once, with and without a partner, from and into one buffer.
// RANKS: 1 2 3 4 8
#include "common.h"

static const int sizes[] = {0,    1,    8,    100,   383,   384,   999,    1000,
                            8191, 8192, 8193, 16384, 16385, 70000, 1 << 20};
#define SIZES ((int)(sizeof sizes / sizeof sizes[0]))

static int left, right;

static void check_got(const guarded *g, const MPI_Status *s, int bytes, int tag)
{
    CHECK(s->MPI_SOURCE == left && s->MPI_TAG == tag && bytes_of(s) == bytes);
    CHECK(wrong_bytes(g->data, (size_t)bytes, (uint64_t)(left + tag)) == 0 && guarded_intact(g));
}

static void ring(int bytes, int tag)
{
    guarded out = guarded_new((size_t)bytes, 0), in = guarded_new((size_t)bytes + 8, 0);
    MPI_Request r;
    MPI_Status s;
    fill(out.data, out.bytes, (uint64_t)(my_rank + tag));
    CHECK(MPI_Sendrecv(out.data, bytes, MPI_BYTE, right, tag, in.data, bytes + 8, MPI_BYTE, left,
                       tag, MPI_COMM_WORLD, &s) == MPI_SUCCESS);
    check_got(&in, &s, bytes, tag);
    CHECK(other_than(in.data + bytes, 8, UNTOUCHED) == 0);
    memset(in.data, UNTOUCHED, in.bytes);
    CHECK(MPI_Isendrecv(out.data, bytes, MPI_BYTE, right, tag, in.data, bytes + 8, MPI_BYTE,
                        MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
    CHECK(MPI_Wait(&r, &s) == MPI_SUCCESS && r == MPI_REQUEST_NULL);
    check_got(&in, &s, bytes, tag);
    guarded_free(&in);
    in = guarded_new((size_t)bytes, 1);
    fill(in.data, in.bytes, (uint64_t)(my_rank + tag));
    CHECK(MPI_Sendrecv_replace(in.data, bytes, MPI_BYTE, right, tag, left, tag, MPI_COMM_WORLD,
                               &s) == 0);
    check_got(&in, &s, bytes, tag);
    fill(in.data, in.bytes, (uint64_t)(my_rank + tag));
    CHECK(MPI_Isendrecv_replace(in.data, bytes, MPI_BYTE, right, tag, left, tag, MPI_COMM_WORLD,
                                &r) == 0);
    int flag = 0;
    while (!flag) CHECK(MPI_Test(&r, &flag, &s) == MPI_SUCCESS);
    check_got(&in, &s, bytes, tag);
    guarded_free(&out);
    guarded_free(&in);
}

static void without_partner(void)
{
    int out = 4, in = 5, flag = 0;
    MPI_Status s;
    MPI_Request r;
    CHECK(MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Ssend(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Rsend(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Bsend(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &s) == MPI_SUCCESS);
    CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG && bytes_of(&s) == 0 &&
          in == 5);
    CHECK(MPI_Isend(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
    CHECK(MPI_Test(&r, &flag, &s) == MPI_SUCCESS && flag);
    CHECK(MPI_Ibsend(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
    CHECK(MPI_Wait(&r, &s) == MPI_SUCCESS);
    CHECK(MPI_Recv_init(&in, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
    for (int k = 0; k < 3; k++) {
        CHECK(MPI_Start(&r) == MPI_SUCCESS && MPI_Wait(&r, &s) == MPI_SUCCESS);
        CHECK(s.MPI_SOURCE == MPI_PROC_NULL && bytes_of(&s) == 0);
    }
    CHECK(MPI_Request_free(&r) == MPI_SUCCESS);
    CHECK(MPI_Sendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 0, &in, 1, MPI_INT, MPI_PROC_NULL, 0,
                       MPI_COMM_WORLD, &s) == MPI_SUCCESS);
    CHECK(s.MPI_SOURCE == MPI_PROC_NULL && in == 5);
    // The open ends of a line of ranks.
    int up = my_rank + 1 < world_size ? my_rank + 1 : MPI_PROC_NULL;
    int down = my_rank > 0 ? my_rank - 1 : MPI_PROC_NULL;
    CHECK(MPI_Sendrecv(&my_rank, 1, MPI_INT, up, 0, &in, 1, MPI_INT, down, 0, MPI_COMM_WORLD, &s) ==
          0);
    CHECK(in == (my_rank > 0 ? my_rank - 1 : 5) && s.MPI_SOURCE == down);
}

// Nothing, named by a null pointer; to others and to oneself.
static void zero_counts(void)
{
    MPI_Status s = {.MPI_ERROR = 3};
    MPI_Request r;
    for (int self = 0; self < 2; self++) {
        int to = self ? my_rank : right, from = self ? my_rank : left;
        CHECK(MPI_Irecv(NULL, 0, MPI_INT, from, 40, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
        CHECK(MPI_Ssend(NULL, 0, MPI_DOUBLE, to, 40, MPI_COMM_WORLD) == MPI_SUCCESS);
        CHECK(MPI_Wait(&r, &s) == MPI_SUCCESS && s.MPI_SOURCE == from && bytes_of(&s) == 0);
        CHECK(MPI_Send(NULL, 0, MPI_BYTE, to, 41, MPI_COMM_WORLD) == MPI_SUCCESS);
        CHECK(MPI_Recv(NULL, 0, MPI_BYTE, from, 41, MPI_COMM_WORLD, &s) == MPI_SUCCESS);
        CHECK(s.MPI_SOURCE == from && bytes_of(&s) == 0 && s.MPI_ERROR == 3);
        CHECK(MPI_Sendrecv_replace(NULL, 0, MPI_BYTE, to, 42, from, 42, MPI_COMM_WORLD, &s) == 0);
        CHECK(s.MPI_SOURCE == from && bytes_of(&s) == 0);
    }
}

// The largest tag that there is.
static void largest_tag(void)
{
    int *most = NULL, flag = 0, in = -1;
    MPI_Status s;
    CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag) == MPI_SUCCESS && flag);
    CHECK(*most >= 32767);
    CHECK(MPI_Sendrecv(&my_rank, 1, MPI_INT, right, *most, &in, 1, MPI_INT, left, *most,
                       MPI_COMM_WORLD, &s) == MPI_SUCCESS);
    CHECK(in == left && s.MPI_TAG == *most);
}

// The second receive is there before the first send: rings of large messages cannot lock up.
static void crossing(void)
{
    enum { BYTES = 400000 };
    unsigned char *out = malloc(BYTES);
    for (int other = 0; other < world_size; other++) {
        guarded in = guarded_new(BYTES, 0);
        MPI_Status s;
        fill(out, BYTES, (uint64_t)(my_rank * 31 + other));
        CHECK(MPI_Sendrecv(out, BYTES, MPI_BYTE, (other - my_rank + world_size) % world_size, 60,
                           in.data, BYTES, MPI_BYTE, (other - my_rank + world_size) % world_size,
                           60, MPI_COMM_WORLD, &s) == MPI_SUCCESS);
        int peer = (other - my_rank + world_size) % world_size;
        CHECK(wrong_bytes(in.data, BYTES, (uint64_t)(peer * 31 + other)) == 0 &&
              guarded_intact(&in));
        guarded_free(&in);
    }
    free(out);
}

// A message that does not fit is an error of the receive; the send has happened all the same, and
// what comes next is in order.
static void too_long(int bytes, int to, int from)
{
    guarded out = guarded_new((size_t)bytes, 0), in = guarded_new((size_t)bytes - 1, 0);
    MPI_Status s;
    int next = -1;
    fill(out.data, out.bytes, (uint64_t)my_rank);
    int rc = MPI_Sendrecv(out.data, bytes, MPI_BYTE, to, 70, in.data, bytes - 1, MPI_BYTE, from, 70,
                          MPI_COMM_WORLD, &s);
    CHECK(class_of(rc) == MPI_ERR_TRUNCATE);
    CHECK(s.MPI_SOURCE == from && s.MPI_TAG == 70 && bytes_of(&s) == bytes - 1);
    CHECK(wrong_bytes(in.data, in.bytes, (uint64_t)from) == 0 && guarded_intact(&in));
    CHECK(MPI_Sendrecv(&my_rank, 1, MPI_INT, to, 70, &next, 1, MPI_INT, from, 70, MPI_COMM_WORLD,
                       &s) == MPI_SUCCESS);
    CHECK(next == from && s.MPI_SOURCE == from && bytes_of(&s) == sizeof next);
    guarded_free(&out);
    guarded_free(&in);
}

// With oneself, and with a partner on one side only: of every size, since small ones take a way of
// their own.
static void one_sided(int bytes)
{
    guarded out = guarded_new((size_t)bytes, 0), in = guarded_new((size_t)bytes, 0);
    MPI_Status s;
    fill(out.data, out.bytes, (uint64_t)my_rank);
    CHECK(MPI_Sendrecv(out.data, bytes, MPI_BYTE, my_rank, 71, in.data, bytes, MPI_BYTE, my_rank,
                       MPI_ANY_TAG, MPI_COMM_WORLD, &s) == MPI_SUCCESS);
    CHECK(s.MPI_SOURCE == my_rank && s.MPI_TAG == 71 && bytes_of(&s) == bytes);
    CHECK(wrong_bytes(in.data, in.bytes, (uint64_t)my_rank) == 0 && guarded_intact(&in));
    memset(in.data, UNTOUCHED, in.bytes);
    int up = my_rank + 1 < world_size ? my_rank + 1 : MPI_PROC_NULL;
    int down = my_rank > 0 ? my_rank - 1 : MPI_PROC_NULL;
    CHECK(MPI_Sendrecv(out.data, bytes, MPI_BYTE, up, 72, in.data, bytes, MPI_BYTE, down, 72,
                       MPI_COMM_WORLD, &s) == MPI_SUCCESS);
    CHECK(s.MPI_SOURCE == down && bytes_of(&s) == (my_rank > 0 ? bytes : 0));
    CHECK(my_rank > 0 ? wrong_bytes(in.data, in.bytes, (uint64_t)down) == 0
                      : other_than(in.data, in.bytes, UNTOUCHED) == 0);
    CHECK(guarded_intact(&in));
    guarded_free(&out);
    guarded_free(&in);
}

// Behind messages that wait for room a small one must wait as well: it comes after them.
static void behind_others(void)
{
    enum { MANY = 4000, BYTES = 1200 };
    static MPI_Request r[MANY];
    static int out[MANY][BYTES / sizeof(int)], in[BYTES / sizeof(int)];
    int partner = my_rank ^ 1, last = -1;
    if (partner >= world_size) return;
    if (my_rank % 2 == 0) {
        for (int k = 0; k < MANY; k++) {
            out[k][0] = k;
            CHECK(MPI_Isend(out[k], BYTES, MPI_BYTE, partner, 73, MPI_COMM_WORLD, &r[k]) == 0);
        }
        CHECK(MPI_Sendrecv(&(int){MANY}, 1, MPI_INT, partner, 73, &last, 1, MPI_INT, partner, 74,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(last == MANY && MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    } else {
        for (int k = 0; k <= MANY; k++) {
            CHECK(MPI_Recv(in, BYTES, MPI_BYTE, partner, 73, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
                  0);
            CHECK(in[0] == k);
        }
        CHECK(MPI_Send(in, 1, MPI_INT, partner, 74, MPI_COMM_WORLD) == MPI_SUCCESS);
    }
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    left = (my_rank + world_size - 1) % world_size;
    right = (my_rank + 1) % world_size;
    for (int k = 0; k < SIZES; k++) ring(sizes[k], k);
    without_partner();
    zero_counts();
    largest_tag();
    crossing();
    for (int k = 0; k < SIZES; k++) {
        one_sided(sizes[k]);
        if (sizes[k] >= (int)sizeof(int)) too_long(sizes[k], right, left);
        if (sizes[k] >= (int)sizeof(int)) too_long(sizes[k], my_rank, my_rank);
    }
    behind_others();
    return end_test();
}
