// SPDX-License-Identifier: BSD-3-Clause
// Messages so long that the receiver writes them past its caches, and some just shorter: to and
// fro, at once in both directions, and into a buffer that is too short; from and to addresses that
// are no multiples of anything. Every byte is checked, and that none beside it was written.
// RANKS: 2
// TIMEOUT: 120
#include "common.h"

enum { TAG = 7, LONG = 8 << 20, MOST = (16 << 20) + 777 };

static unsigned char *out;

static void check(guarded *in, int offset, int bytes)
{
    CHECK(wrong_bytes(in->data + offset, (size_t)bytes, 3) == 0);
    CHECK(other_than(in->data, (size_t)offset, UNTOUCHED) == 0);
    CHECK(other_than(in->data + offset + bytes, in->bytes - (size_t)(offset + bytes), UNTOUCHED) ==
          0);
    CHECK(guarded_intact(in));
    memset(in->data, UNTOUCHED, in->bytes);
}

static void there_and_back(guarded *in, int offset, int bytes)
{
    int other = 1 - my_rank;
    MPI_Comm w = MPI_COMM_WORLD;
    if (my_rank == 0) CHECK(MPI_Send(out, bytes, MPI_BYTE, other, TAG, w) == 0);
    CHECK(MPI_Recv(in->data + offset, bytes, MPI_BYTE, other, TAG, w, MPI_STATUS_IGNORE) == 0);
    if (my_rank != 0) CHECK(MPI_Send(out, bytes, MPI_BYTE, other, TAG, w) == 0);
    check(in, offset, bytes);
    CHECK(MPI_Sendrecv(out, bytes, MPI_BYTE, other, TAG, in->data + offset, bytes, MPI_BYTE, other,
                       TAG, w, MPI_STATUS_IGNORE) == 0);
    check(in, offset, bytes);
}

static void too_short(guarded *in, int offset, int bytes, int room)
{
    MPI_Comm w = MPI_COMM_WORLD;
    if (my_rank == 0) {
        CHECK(MPI_Send(out, bytes, MPI_BYTE, 1, TAG, w) == 0);
        return;
    }
    int code = MPI_Recv(in->data + offset, room, MPI_BYTE, 0, TAG, w, MPI_STATUS_IGNORE);
    CHECK(class_of(code) == MPI_ERR_TRUNCATE);
    check(in, offset, room);
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    static const int sizes[] = {LONG - 1, LONG, LONG + 1, MOST};
    guarded in = guarded_new(MOST + 128, 0);
    unsigned char *whole = malloc(MOST + 5);
    out = whole + 5;
    fill(out, MOST, 3);
    for (int i = 0; i < 4; i++) there_and_back(&in, 13 * i, sizes[i]);
    too_short(&in, 3, MOST, LONG + 3);
    too_short(&in, 7, MOST, LONG - 3);
    free(whole);
    guarded_free(&in);
    return end_test();
}
