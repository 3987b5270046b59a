// SPDX-License-Identifier: BSD-3-Clause
// Messages of every size at which something changes (ring or depot, one chunk or several, eager or
// not, how much goes along with an announcement), a byte less and a byte more: in every mode, dense
// and with gaps, received before and after they came, probed, into buffers that are too short; and
// cancelled. Every byte is checked, and that none beside it was written.
// RANKS: 2 4
// TIMEOUT: 120
#include "common.h"

static const int sizes[] = {376,   383,   384,   385,   992,   999,   1000,   1001,   8183,  8184,
                            8185,  8191,  8192,  8193,  16383, 16384, 16385,  32639,  32640, 32641,
                            65535, 65536, 65537, 65599, 65600, 65601, 131071, 131072, 131073};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 131073, TAG = 7, TAG_GO = 8 };

enum mode { SEND, SSEND, BSEND, ISEND, ISSEND, START, RSEND, MODES }; // RSEND: only when expected
enum way { EXPECTED, AT_ONCE, PROBED, MPROBED, IMPROBED, WAYS };
enum room { EXACT, GAPS, SHORT, TINY, CHUNK, ROOMS };

static spaced data; // every message is a part of it

static int start_of(int k)
{
    return k * 53 % 8191;
}

static void send_one(int partner, int k, int bytes, enum mode mode, int gaps)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Datatype type = gaps ? with_gaps(bytes) : MPI_BYTE;
    const unsigned char *from = gaps ? data.apart + 2 * start_of(k) : data.base + start_of(k);
    int count = gaps ? 1 : bytes;
    MPI_Request r = MPI_REQUEST_NULL;
    switch (mode) {
    case SEND: CHECK(MPI_Send(from, count, type, partner, TAG, w) == 0); break;
    case SSEND: CHECK(MPI_Ssend(from, count, type, partner, TAG, w) == 0); break;
    case BSEND: CHECK(MPI_Bsend(from, count, type, partner, TAG, w) == 0); break;
    case RSEND: CHECK(MPI_Rsend(from, count, type, partner, TAG, w) == 0); break;
    case ISEND: CHECK(MPI_Isend(from, count, type, partner, TAG, w, &r) == 0); break;
    case ISSEND: CHECK(MPI_Issend(from, count, type, partner, TAG, w, &r) == 0); break;
    default:
        CHECK(MPI_Send_init(from, count, type, partner, TAG, w, &r) == 0 && MPI_Start(&r) == 0);
        break;
    }
    if (r != MPI_REQUEST_NULL) CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == 0);
    if (mode == START) CHECK(MPI_Request_free(&r) == 0);
    if (gaps) CHECK(MPI_Type_free(&type) == 0);
}

static int room_for(int bytes, enum room room)
{
    if (room == SHORT) return bytes - 1;
    if (room == TINY) return 40;
    if (room == CHUNK) return bytes > 8192 ? 8192 : bytes / 2;
    return bytes;
}

// Receives by the way given; the error, if there is one, is the caller's to judge.
static int receive(int partner, enum way way, guarded *g, int count, MPI_Datatype type, int bytes,
                   MPI_Status *s)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Request r;
    MPI_Message m;
    int flag = 0;
    switch (way) {
    case EXPECTED:
        CHECK(MPI_Irecv(g->data, count, type, partner, TAG, w, &r) == 0);
        CHECK(MPI_Send(NULL, 0, MPI_BYTE, partner, TAG_GO, w) == 0);
        return MPI_Wait(&r, s);
    case PROBED:
        CHECK(MPI_Probe(partner, TAG, w, s) == 0 && bytes_of(s) == bytes);
        return MPI_Recv(g->data, count, type, partner, TAG, w, s);
    case MPROBED:
        CHECK(MPI_Mprobe(partner, TAG, w, &m, s) == 0 && bytes_of(s) == bytes);
        return MPI_Mrecv(g->data, count, type, &m, s);
    case IMPROBED:
        while (!flag) CHECK(MPI_Improbe(MPI_ANY_SOURCE, TAG, w, &flag, &m, s) == 0);
        CHECK(bytes_of(s) == bytes && s->MPI_SOURCE == partner);
        CHECK(MPI_Imrecv(g->data, count, type, &m, &r) == 0);
        return MPI_Wait(&r, s);
    default: return MPI_Recv(g->data, count, type, partner, TAG, w, s);
    }
}

static void receive_one(int partner, int k, int bytes, enum way way, enum room room)
{
    int gaps = room == GAPS, fits = room_for(bytes, room);
    guarded g = guarded_new((size_t)(gaps ? 2 * bytes : fits), 0);
    MPI_Datatype type = gaps ? with_gaps(bytes) : MPI_BYTE;
    MPI_Status s;
    int rc = receive(partner, way, &g, gaps ? 1 : fits, type, bytes, &s);
    CHECK(fits < bytes ? class_of(rc) == MPI_ERR_TRUNCATE : rc == MPI_SUCCESS);
    CHECK(s.MPI_SOURCE == partner && s.MPI_TAG == TAG && bytes_of(&s) == fits);
    size_t wrong = 0;
    for (int i = 0; gaps && i < bytes; i++)
        wrong += g.data[2 * i] != data.base[start_of(k) + i] || g.data[2 * i + 1] != UNTOUCHED;
    if (!gaps) wrong = memcmp(g.data, data.base + start_of(k), (size_t)fits) != 0;
    CHECK(wrong == 0 && guarded_intact(&g));
    if (wrong) fprintf(stderr, "%d bytes, way %d, room %d: %zu wrong\n", bytes, way, room, wrong);
    if (gaps) CHECK(MPI_Type_free(&type) == 0);
    guarded_free(&g);
}

// `sender` sends all there is to `receiver`.
static void one_way(int sender, int receiver)
{
    int k = 0;
    for (int i = 0; i < SIZES; i++)
        for (int way = 0; way < WAYS; way++)
            for (int mode = 0; mode < (way == EXPECTED ? MODES : RSEND); mode++)
                for (int room = 0; room < ROOMS; room++, k++) {
                    if (my_rank == receiver)
                        receive_one(sender, k, sizes[i], (enum way)way, (enum room)room);
                    if (my_rank != sender) continue;
                    if (way == EXPECTED)
                        CHECK(MPI_Recv(NULL, 0, MPI_BYTE, receiver, TAG_GO, MPI_COMM_WORLD,
                                       MPI_STATUS_IGNORE) == 0);
                    send_one(receiver, k, sizes[i], (enum mode)mode, k % 2);
                }
}

// Many at once, so that some wait for room; then taken in the other order, by tags.
static void many(int sender, int receiver)
{
    enum { N = 4 * SIZES };
    static MPI_Request r[N];
    for (int k = 0; my_rank == sender && k < N; k++)
        CHECK(MPI_Isend(data.base + start_of(k), sizes[k % SIZES], MPI_BYTE, receiver, 100 + k,
                        MPI_COMM_WORLD, &r[k]) == 0);
    if (my_rank == sender) CHECK(MPI_Waitall(N, r, MPI_STATUSES_IGNORE) == 0);
    guarded g = guarded_new(MOST, 0);
    for (int k = N - 1; my_rank == receiver && k >= 0; k--) {
        MPI_Status s;
        CHECK(MPI_Recv(g.data, MOST, MPI_BYTE, sender, 100 + k, MPI_COMM_WORLD, &s) == 0);
        CHECK(bytes_of(&s) == sizes[k % SIZES]);
        CHECK(memcmp(g.data, data.base + start_of(k), (size_t)sizes[k % SIZES]) == 0);
    }
    CHECK(guarded_intact(&g));
    guarded_free(&g);
}

// More than a sender may have unmatched at a receiver, if what was cancelled counted on. What was
// not cancelled in time arrives.
static void cancelled(int sender, int receiver)
{
    enum { ROUNDS = 40 };
    guarded g = guarded_new(MOST, 0);
    MPI_Status s;
    int gone = 0;
    for (int k = 0; k < ROUNDS * SIZES; k++) {
        int bytes = sizes[k % SIZES], was = 0;
        if (my_rank == sender) {
            MPI_Request r;
            CHECK((k % 2 ? MPI_Isend : MPI_Issend)(data.base + start_of(k), bytes, MPI_BYTE,
                                                   receiver, TAG, MPI_COMM_WORLD, &r) == 0);
            CHECK(MPI_Cancel(&r) == 0 && MPI_Wait(&r, &s) == 0);
            was = was_cancelled(&s);
            gone += was;
            CHECK(was || bytes <= 65536); // nobody has matched it
            CHECK(MPI_Send(&was, 1, MPI_INT, receiver, TAG_GO, MPI_COMM_WORLD) == 0);
        } else {
            CHECK(MPI_Recv(&was, 1, MPI_INT, sender, TAG_GO, MPI_COMM_WORLD, &s) == 0);
            if (was) continue;
            CHECK(MPI_Recv(g.data, MOST, MPI_BYTE, sender, TAG, MPI_COMM_WORLD, &s) == 0);
            CHECK(bytes_of(&s) == bytes &&
                  memcmp(g.data, data.base + start_of(k), (size_t)bytes) == 0);
        }
    }
    if (my_rank == sender) CHECK(gone > 0);
    CHECK(guarded_intact(&g));
    guarded_free(&g);
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    data = spaced_new(MOST + 8192, 9);
    int room = (ROOMS + 1) * (MOST + MPI_BSEND_OVERHEAD + 1024); // so many follow each other
    char *buffer = malloc((size_t)room);
    CHECK(MPI_Buffer_attach(buffer, room) == 0);
    int low = my_rank & ~1, high = my_rank | 1;
    one_way(low, high);
    one_way(high, low);
    many(low, high);
    cancelled(high, low);
    meet_all();
    if (world_size == 4) one_way(my_rank & 1, my_rank | 2); // 0 to 2 and 1 to 3
    int size;
    void *detached;
    CHECK(MPI_Buffer_detach(&detached, &size) == 0);
    free(buffer);
    spaced_free(&data);
    return end_test();
}
