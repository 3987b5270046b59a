// SPDX-License-Identifier: BSD-3-Clause
// Large messages that both ranks move through the kernel (src/p2p/meet.h): to and fro, many at
// once, synchronous, into buffers that are too short, from a sender that computes, and while the
// kernel refuses to read, to write, both, or now and then (ways_test.py runs it with each by
// itself, since who is refused soon asks more rarely). Every byte is checked, and that none beside
// the buffer was written.
// RANKS: 2 4
// TIMEOUT: 120
#include "common.h"
#include "refusing.h"

enum { TAG = 7, MIB = 1 << 20, MOST = 3 * MIB + 17, WINDOW = 80, EACH = 300 * 1024 + 5 };

static unsigned char *out;
static guarded in;
static int other;

static void check_in(int bytes, uint64_t seed)
{
    CHECK(wrong_bytes(in.data, (size_t)bytes, seed) == 0);
    CHECK(other_than(in.data + bytes, in.bytes - (size_t)bytes, UNTOUCHED) == 0);
    CHECK(guarded_intact(&in));
    memset(in.data, UNTOUCHED, in.bytes);
}

typedef int send_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm);

static void to_and_fro(send_fn *send, int bytes, int room)
{
    for (int turn = 0; turn < 2; turn++) {
        if (turn == my_rank % 2) {
            CHECK(send(out, bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD) == 0);
            memset(out, 0, (size_t)bytes); // it is ours again
            fill(out, MOST, (uint64_t)my_rank);
            continue;
        }
        int code = MPI_Recv(in.data, room, MPI_BYTE, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(room >= bytes ? code == 0 : class_of(code) == MPI_ERR_TRUNCATE);
        check_in(room < bytes ? room : bytes, (uint64_t)other);
    }
}

static void both_at_once(int bytes)
{
    CHECK(MPI_Sendrecv(out, bytes, MPI_BYTE, other, TAG, in.data, bytes, MPI_BYTE, other, TAG,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE) == 0);
    check_in(bytes, (uint64_t)other);
}

// Many under way, received in another order than sent; the sender computes before it waits.
static void many_at_once(long nap)
{
    static unsigned char *parts[WINDOW];
    MPI_Request requests[WINDOW];
    for (int i = 0; i < WINDOW; i++) {
        if (!parts[i]) parts[i] = malloc(EACH);
        if (my_rank % 2 == 0) {
            fill(parts[i], EACH, (uint64_t)i);
            MPI_Isend(parts[i], EACH, MPI_BYTE, other, 100 + i, MPI_COMM_WORLD, &requests[i]);
        } else {
            memset(parts[i], 0, EACH);
            int k = i ^ 5;
            MPI_Irecv(parts[i], EACH, MPI_BYTE, other, 100 + k, MPI_COMM_WORLD, &requests[i]);
        }
    }
    if (my_rank % 2 == 0) nap_us(nap);
    CHECK(MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE) == 0);
    for (int i = 0; i < WINDOW && my_rank % 2 == 1; i++)
        CHECK(wrong_bytes(parts[i], EACH, (uint64_t)(i ^ 5)) == 0);
}

static void all_kinds(void)
{
    static const int sizes[] = {190 * 1024, 200 * 1024, 256 * 1024 + 1, MIB, MOST};
    for (int i = 0; i < 5; i++) {
        to_and_fro(MPI_Send, sizes[i], MOST);
        to_and_fro(MPI_Ssend, sizes[i], sizes[i]);
        to_and_fro(MPI_Send, sizes[i], sizes[i] - 100);
        both_at_once(sizes[i]);
    }
    to_and_fro(MPI_Send, MOST, 1000);
    many_at_once(0);
    many_at_once(2000);
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    other = my_rank ^ 1;
    in = guarded_new(MOST + 100, 0);
    out = malloc(MOST);
    fill(out, MOST, (uint64_t)my_rank);
    const char *only = getenv("REFUSAL");
    int first = only ? atoi(only) : 0, last = only ? first : REFUSALS - 1;
    for (refusal = first; refusal <= last; refusal++) {
        long before = reads + writes;
        for (int round = 0; round < 3; round++) all_kinds();
        if (refusal == REFUSE_BOTH) CHECK(reads + writes == before);
    }
    free(out);
    guarded_free(&in);
    return end_test();
}
