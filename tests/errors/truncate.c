// SPDX-License-Identifier: BSD-3-Clause
// A receive buffer shorter than the message: MPI_ERR_TRUNCATE, what fits is there, and not one byte
// behind it is written, by every path that a message can take.
// RANKS: 1 2 3 8
#include "../p2p/common.h"

// As sent and as received.
static const int sizes[][2] = {{1, 0},          {8, 7},           {60, 12},   {1000, 999},
                               {16384, 16383},  {16385, 16384},   {16385, 1}, {70000, 0},
                               {300000, 65536}, {1 << 20, 700000}};
#define SIZES ((int)(sizeof sizes / sizeof sizes[0]))

enum way {
    RECV,        // posted late: unexpected when it comes to it
    IRECV_FIRST, // posted before the message comes
    MRECV,
    IMRECV,
    PERSISTENT,
    SENDRECV,
    ISENDRECV,
    WAITALL,
    STRIDED,
    WAYS
};

static int peer;                                 // the same both ways
static MPI_Datatype strided = MPI_DATATYPE_NULL; // 5 bytes, then a gap of 3

static void check_truncated(int rc, const guarded *g, const MPI_Status *s, int sent)
{
    char text[MPI_MAX_ERROR_STRING] = "", number[16];
    int len;
    CHECK(class_of(rc) == MPI_ERR_TRUNCATE);
    CHECK(MPI_Error_string(rc, text, &len) == MPI_SUCCESS);
    snprintf(number, sizeof number, "%d", sent);
    CHECK(strstr(text, number) != NULL);
    snprintf(number, sizeof number, "%zu", g->bytes);
    CHECK(strstr(text, number) != NULL);
    CHECK(s->MPI_SOURCE == peer && s->MPI_TAG == 3);
    CHECK(bytes_of(s) <= (MPI_Count)g->bytes);
    CHECK(wrong_bytes(g->data, g->bytes, 1) == 0 && guarded_intact(g));
}

static void receive(enum way way, int sent, int room, int shared)
{
    guarded g = guarded_new((size_t)room, shared);
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Message m;
    MPI_Status s[2];
    int rc = -1, out = 0, in = 0;
    switch (way) {
    case RECV: rc = MPI_Recv(g.data, room, MPI_BYTE, peer, 3, MPI_COMM_WORLD, s); break;
    case IRECV_FIRST:
        CHECK(MPI_Irecv(g.data, room, MPI_BYTE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &r) ==
              MPI_SUCCESS);
        meet(peer);
        rc = MPI_Wait(&r, s);
        break;
    case MRECV:
        CHECK(MPI_Mprobe(peer, MPI_ANY_TAG, MPI_COMM_WORLD, &m, s) == MPI_SUCCESS &&
              bytes_of(s) == sent);
        rc = MPI_Mrecv(g.data, room, MPI_BYTE, &m, s);
        CHECK(m == MPI_MESSAGE_NULL);
        break;
    case IMRECV:
        CHECK(MPI_Mprobe(peer, 3, MPI_COMM_WORLD, &m, s) == MPI_SUCCESS);
        CHECK(MPI_Imrecv(g.data, room, MPI_BYTE, &m, &r) == MPI_SUCCESS);
        rc = MPI_Wait(&r, s);
        break;
    case PERSISTENT:
        CHECK(MPI_Recv_init(g.data, room, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
        CHECK(MPI_Start(&r) == MPI_SUCCESS);
        rc = MPI_Wait(&r, s);
        CHECK(r != MPI_REQUEST_NULL && MPI_Request_free(&r) == MPI_SUCCESS);
        break;
    case SENDRECV:
        rc = MPI_Sendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 0, g.data, room, MPI_BYTE, peer, 3,
                          MPI_COMM_WORLD, s);
        break;
    case ISENDRECV:
        CHECK(MPI_Isendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 0, g.data, room, MPI_BYTE, peer, 3,
                            MPI_COMM_WORLD, &r) == MPI_SUCCESS);
        rc = MPI_Wait(&r, s);
        break;
    default: { // one of two requests fails: its status says so, the other is untouched by it
        MPI_Request both[2];
        CHECK(MPI_Irecv(g.data, room, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &both[0]) == MPI_SUCCESS);
        CHECK(MPI_Irecv(&in, 1, MPI_INT, my_rank, 4, MPI_COMM_WORLD, &both[1]) == MPI_SUCCESS);
        out = 5;
        CHECK(MPI_Send(&out, 1, MPI_INT, my_rank, 4, MPI_COMM_WORLD) == MPI_SUCCESS);
        CHECK(class_of(MPI_Waitall(2, both, s)) == MPI_ERR_IN_STATUS);
        CHECK(both[0] == MPI_REQUEST_NULL && both[1] == MPI_REQUEST_NULL);
        CHECK(s[1].MPI_ERROR == MPI_SUCCESS && in == 5);
        rc = s[0].MPI_ERROR;
    }
    }
    check_truncated(rc, &g, s, sent);
    guarded_free(&g);
}

// Room for room/5 pieces of 5 bytes; the gaps between them stay as they are.
static void receive_strided(int sent, int room)
{
    int pieces = room / 5;
    guarded g = guarded_new((size_t)pieces * 8, 0);
    MPI_Status s;
    int rc = MPI_Recv(g.data, pieces, strided, peer, 3, MPI_COMM_WORLD, &s);
    size_t wrong = 0;
    CHECK(class_of(rc) == MPI_ERR_TRUNCATE && pieces * 5 < sent);
    for (size_t i = 0; i < g.bytes; i++)
        wrong += g.data[i] != (i % 8 < 5 ? pattern(1, i / 8 * 5 + i % 8) : UNTOUCHED);
    CHECK(wrong == 0 && guarded_intact(&g));
    guarded_free(&g);
}

static MPI_Request start_send(const guarded *g, int synchronous)
{
    MPI_Request r;
    int n = (int)g->bytes;
    if (synchronous)
        CHECK(MPI_Issend(g->data, n, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
    else
        CHECK(MPI_Isend(g->data, n, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
    return r;
}

static void one_case(enum way way, const int size[2], int shared, int synchronous)
{
    if (way == STRIDED && strided == MPI_DATATYPE_NULL) return;
    int alone = peer == my_rank;
    MPI_Request r = MPI_REQUEST_NULL;
    guarded g = {0};
    if (alone || my_rank % 2 == 0) {
        g = guarded_new((size_t)size[0], shared);
        fill(g.data, g.bytes, 1);
        if (way == IRECV_FIRST && !alone) meet(peer);
        r = start_send(&g, synchronous);
    }
    if (alone || my_rank % 2 == 1) {
        if (way == IRECV_FIRST && alone) way = RECV;
        if (way == STRIDED)
            receive_strided(size[0], size[1]);
        else
            receive(way, size[0], size[1], shared);
    }
    CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS); // the sender has done nothing wrong
    if (g.whole) guarded_free(&g);
    if (!alone) meet(peer);
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    peer = world_size == 1 || (my_rank ^ 1) >= world_size ? my_rank : my_rank ^ 1;
    MPI_Datatype plain;
    if (MPI_Type_vector(1, 5, 8, MPI_BYTE, &plain) == MPI_SUCCESS) {
        CHECK(MPI_Type_create_resized(plain, 0, 8, &strided) == MPI_SUCCESS);
        CHECK(MPI_Type_commit(&strided) == MPI_SUCCESS && MPI_Type_free(&plain) == MPI_SUCCESS);
    }
    for (int k = 0; k < SIZES; k++)
        for (int way = 0; way < WAYS; way++)
            for (int choice = 0; choice < 4; choice++)
                one_case((enum way)way, sizes[k], choice & 1, choice >> 1);
    return end_test();
}
