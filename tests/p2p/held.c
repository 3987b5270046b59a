// SPDX-License-Identifier: BSD-3-Clause
// One rank computes: it is outside MPI, held back by a socket, and takes nothing of what rank 0 has
// sent it, however much room that takes at rank 0. Rank 0's messages to everybody else go on all
// the same, in both directions and of every size. In the end the held rank gets all that is its, in
// order, every byte.
// RANKS: 3 4 130
// TIMEOUT: 120
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common.h"

enum { HELD = 1, MOST = 1 << 20, FLOOD = 160, TAG = 1, TAG_HELD = 2 };

static const int sizes[] = {2048,  5000,  8192,  8193,   20000, 32640,
                            32641, 65536, 65537, 200000, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

static unsigned char *base;    // every message is a part of it ...
static unsigned char *half[2]; // ... or of every other byte of it
static int gate = -1;

static int start_of(int k)
{
    return k * 61 % 5003;
}

static const unsigned char *data_of(int k)
{
    return base + start_of(k);
}

// Those with gaps can only be had from the sender: nobody else may read its memory for them.
static bool has_gaps(int k)
{
    return k % 3 == 0;
}

static bool right(const unsigned char *got, int k, int bytes, const MPI_Status *s)
{
    int at = start_of(k);
    const unsigned char *want = has_gaps(k) ? half[at % 2] + at / 2 : base + at;
    return bytes_of(s) == bytes && memcmp(got, want, (size_t)bytes) == 0;
}

static void make_data(void)
{
    enum { HALF = MOST + 8192 };
    base = malloc(2 * HALF);
    half[0] = malloc(2 * HALF);
    half[1] = half[0] + HALF;
    fill(base, 2 * HALF, 3);
    for (int i = 0; i < 2 * HALF; i++) half[i % 2][i / 2] = base[i];
}

static void start_send(int k, int bytes, int partner, MPI_Request *r)
{
    MPI_Datatype t = has_gaps(k) ? with_gaps(bytes) : MPI_BYTE;
    CHECK(MPI_Isend(data_of(k), has_gaps(k) ? 1 : bytes, t, partner, TAG, MPI_COMM_WORLD, r) == 0);
    if (has_gaps(k)) CHECK(MPI_Type_free(&t) == 0);
}

static void receive(int k, int bytes, int partner)
{
    static unsigned char got[MOST];
    MPI_Status s;
    CHECK(MPI_Recv(got, MOST, MPI_BYTE, partner, TAG, MPI_COMM_WORLD, &s) == 0);
    CHECK(right(got, k, bytes, &s));
}

// Both ends know the name: the launcher's process id is in it.
static socklen_t gate_name(struct sockaddr_un *name)
{
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "shoal-test-held-%ld",
                     (long)getppid());
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static void make_gate(void)
{
    struct sockaddr_un name;
    socklen_t bytes = gate_name(&name);
    struct timeval most = {.tv_sec = 100};
    gate = socket(AF_UNIX, SOCK_DGRAM, 0);
    CHECK(gate >= 0 && setsockopt(gate, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most) == 0);
    CHECK(bind(gate, (struct sockaddr *)&name, bytes) == 0);
}

static void wait_at_gate(void)
{
    char c = 0;
    CHECK(recv(gate, &c, 1, 0) == 1 && c == 'g');
}

static void open_gate(void)
{
    struct sockaddr_un name;
    socklen_t bytes = gate_name(&name);
    int s = socket(AF_UNIX, SOCK_DGRAM, 0);
    CHECK(sendto(s, "g", 1, 0, (struct sockaddr *)&name, bytes) == 1);
    close(s);
}

// Sizes of the messages to the held rank: one alone, short ones that fill the ring, long ones that
// fill the depot and more, all kinds.
static int held_size(int kind, int k)
{
    static const int of_kind[] = {4000, 100, 65536};
    return kind < 3 ? of_kind[kind] : sizes[k % SIZES];
}

static void with_other(int other, int k, int bytes)
{
    MPI_Request r[3];
    int partner = my_rank == 0 ? other : 0;
    // There and back; then both ways at the same time, one on top of the other.
    for (int turn = 0; turn < 2; turn++) {
        if ((turn == 0) == (my_rank == 0)) {
            start_send(k, bytes, partner, &r[0]);
            CHECK(MPI_Wait(&r[0], MPI_STATUS_IGNORE) == 0);
        } else {
            if (my_rank != 0 && k % 8 == 1) nap_us(2000); // let the sender fall asleep
            receive(k, bytes, partner);
        }
    }
    for (int i = 0; i < 3; i++) start_send(k + i, bytes, partner, &r[i]);
    for (int i = 0; i < 3; i++) receive(k + i, bytes, partner);
    CHECK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE) == 0);
}

static void rank_0(int kind, int count)
{
    static MPI_Request r[FLOOD];
    for (int k = 0; k < count; k++)
        CHECK(MPI_Isend(data_of(k), held_size(kind, k), MPI_BYTE, HELD, TAG_HELD, MPI_COMM_WORLD,
                        &r[k]) == 0);
    for (int round = 0, k = 0; round < 8; round++)
        for (int other = 2; other < world_size && other < 4; other++)
            for (int i = 0; i < SIZES; i++, k++) with_other(other, k, sizes[i]);
    open_gate();
    CHECK(MPI_Waitall(count, r, MPI_STATUSES_IGNORE) == 0);
}

static void other_rank(void)
{
    int others = world_size < 4 ? world_size - 2 : 2;
    for (int round = 0; round < 8; round++)
        for (int i = 0; i < SIZES; i++)
            with_other(my_rank, (round * others + my_rank - 2) * SIZES + i, sizes[i]);
}

static void held_rank(int kind, int count)
{
    static unsigned char got[MOST];
    wait_at_gate();
    for (int k = 0; k < count; k++) {
        MPI_Status s;
        int bytes = held_size(kind, k);
        CHECK(MPI_Recv(got, MOST, MPI_BYTE, 0, TAG_HELD, MPI_COMM_WORLD, &s) == 0);
        CHECK(bytes_of(&s) == bytes && memcmp(got, data_of(k), (size_t)bytes) == 0);
    }
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    make_data();
    if (my_rank == HELD) make_gate();
    for (int kind = 0; kind < 4; kind++) {
        int count = kind == 0 ? 1 : FLOOD;
        meet_all();
        if (my_rank == 0) rank_0(kind, count);
        if (my_rank == HELD) held_rank(kind, count);
        if (my_rank > HELD && my_rank < 4) other_rank();
    }
    free(base);
    free(half[0]);
    if (gate >= 0) close(gate);
    return end_test();
}
