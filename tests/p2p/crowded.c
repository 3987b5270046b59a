// SPDX-License-Identifier: BSD-3-Clause
// Large messages while more ranks are awake than there are cores (where there are fewer than four):
// handed on round a ring, and shifted by all at once, expected and not, dense and with gaps. The
// sizes are a piece or some, and on both sides of where the receiver stops asking for the data and
// reads it by itself. Then many in a row to each neighbour, more than one turn holds. Every byte is
// checked, and that none beside it was written.
// RANKS: 4 8
// TIMEOUT: 120
#include "common.h"

enum { TAG = 7, ALL = 12 << 20, ROUNDS = 3, MANY = 40, LONG = 1 << 16 };

static spaced data; // every message is a part of it
static guarded in;

// What a rank sends begins with another byte for each of them.
static void check_arrived(int from, int bytes, int gaps)
{
    size_t step = gaps ? 2 : 1, wrong = 0;
    for (size_t i = 0; i < (size_t)bytes; i++)
        wrong += in.data[step * i] != data.base[(size_t)from + i];
    for (size_t i = 0; gaps && i + 1 < (size_t)bytes; i++) wrong += in.data[2 * i + 1] != UNTOUCHED;
    CHECK(wrong == 0 && guarded_intact(&in));
    memset(in.data, UNTOUCHED, in.bytes);
}

static void pass_round(int bytes, int gaps)
{
    int right = (my_rank + 1) % world_size, left = (my_rank + world_size - 1) % world_size;
    MPI_Datatype type = gaps ? with_gaps(bytes) : MPI_BYTE;
    const void *out = gaps ? data.apart + 2 * my_rank : data.base + my_rank;
    int count = gaps ? 1 : bytes;
    MPI_Comm w = MPI_COMM_WORLD;
    if (my_rank == 0) CHECK(MPI_Send(out, count, type, right, TAG, w) == 0);
    CHECK(MPI_Recv(in.data, count, type, left, TAG, w, MPI_STATUS_IGNORE) == 0);
    if (my_rank != 0) CHECK(MPI_Send(out, count, type, right, TAG, w) == 0);
    check_arrived(left, bytes, gaps);
    if (gaps) CHECK(MPI_Type_free(&type) == 0);
}

static void shift_all(int bytes, int expected, int sends_gaps)
{
    int right = (my_rank + 1) % world_size, left = (my_rank + world_size - 1) % world_size;
    MPI_Datatype type = sends_gaps ? with_gaps(bytes) : MPI_BYTE;
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Request r[2];
    if (expected) CHECK(MPI_Irecv(in.data, bytes, MPI_BYTE, left, TAG, w, &r[1]) == 0);
    const void *out = sends_gaps ? data.apart + 2 * my_rank : data.base + my_rank;
    CHECK(MPI_Isend(out, sends_gaps ? 1 : bytes, type, right, TAG, w, &r[0]) == 0);
    if (!expected) {
        MPI_Status s;
        CHECK(MPI_Probe(left, TAG, w, &s) == 0 && bytes_of(&s) == bytes);
        CHECK(MPI_Irecv(in.data, bytes, MPI_BYTE, left, TAG, w, &r[1]) == 0);
    }
    CHECK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE) == 0);
    check_arrived(left, bytes, 0);
    if (sends_gaps) CHECK(MPI_Type_free(&type) == 0);
}

// Message k begins with byte k of the data. With `late` nobody asks for any before all have sent.
static void stream_all(int bytes, int late)
{
    int right = (my_rank + 1) % world_size, left = (my_rank + world_size - 1) % world_size;
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Request r[MANY];
    for (int k = 0; k < MANY; k++)
        CHECK(MPI_Isend(data.base + k, bytes, MPI_BYTE, right, TAG, w, &r[k]) == 0);
    if (late) CHECK(MPI_Barrier(w) == 0);
    for (int k = 0; k < MANY; k++) {
        CHECK(MPI_Recv(in.data, bytes, MPI_BYTE, left, TAG, w, MPI_STATUS_IGNORE) == 0);
        check_arrived(k, bytes, 0);
    }
    CHECK(MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE) == 0);
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    int turn = ALL / world_size;
    int sizes[] = {20000, 65536, 65537, 131073, 700001, turn, turn + 1};
    in = guarded_new(2 * ((size_t)turn + 1), 0);
    data = spaced_new((size_t)turn + 65, 5);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int round = 0; round < ROUNDS; round++) {
            pass_round(sizes[i], round == 1);
            shift_all(sizes[i], round != 0, round == 2);
        }
    for (int round = 0; round < ROUNDS; round++) {
        stream_all(LONG, round == 1);
        stream_all(LONG + 1, round == 1);
        stream_all(LONG / 8, round == 2);
    }
    spaced_free(&data);
    guarded_free(&in);
    return end_test();
}
