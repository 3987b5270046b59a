// SPDX-License-Identifier: BSD-3-Clause
// Every send mode in every form, with messages of every size class, from and into private and
// shared memory, dense and strided, whoever comes first; every byte and the bytes around checked.
// RANKS: 1 2 3 4 8 16
// TIMEOUT: 120
#include "common.h"

enum mode { STANDARD, BUFFERED, SYNCHRONOUS, READY, MODES };
enum form { BLOCKING, IMMEDIATE, PERSISTENT, FORMS };
enum shape { DENSE, INTS, STRIDED, SHAPES };

typedef int send_fn(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
typedef int isend_fn(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static send_fn *const sends[MODES] = {MPI_Send_c, MPI_Bsend_c, MPI_Ssend_c, MPI_Rsend_c};
static isend_fn *const isends[MODES] = {MPI_Isend_c, MPI_Ibsend_c, MPI_Issend_c, MPI_Irsend_c};
static isend_fn *const inits[MODES] = {MPI_Send_init_c, MPI_Bsend_init_c, MPI_Ssend_init_c,
                                       MPI_Rsend_init_c};

#define KIB 1024u
#define MIB (1024u * 1024u)
static const size_t sizes[] = {
    0,        1,   8,      48, 49, 1000, 16 * KIB - 8, 16 * KIB - 1, 16 * KIB, 16 * KIB + 1,
    64 * KIB, MIB, 5 * MIB};
#define SIZES (sizeof sizes / sizeof sizes[0])

typedef struct way {
    enum mode mode;
    enum form form;
    enum shape shape;
    int receiver_first, shared;
    size_t bytes;
    int tag;
} way;

static MPI_Datatype strided = MPI_DATATYPE_NULL; // 40 bytes, then a gap of 24

// Bytes that the message takes in memory, count and type to name it.
static size_t lay_out(const way *w, MPI_Count *count, MPI_Datatype *type)
{
    if (w->shape == INTS) {
        *count = (MPI_Count)(w->bytes / sizeof(int));
        *type = MPI_INT;
        return w->bytes / sizeof(int) * sizeof(int);
    }
    if (w->shape == STRIDED) {
        *count = (MPI_Count)(w->bytes / 40);
        *type = strided;
        return w->bytes / 40 * 64;
    }
    *count = (MPI_Count)w->bytes;
    *type = MPI_BYTE;
    return w->bytes;
}

static int do_send(const way *w, const void *buf, int dest)
{
    MPI_Count count;
    MPI_Datatype type;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status status;
    int rc;
    lay_out(w, &count, &type);
    if (w->form == BLOCKING) return sends[w->mode](buf, count, type, dest, w->tag, MPI_COMM_WORLD);
    if (w->form == IMMEDIATE) {
        rc = isends[w->mode](buf, count, type, dest, w->tag, MPI_COMM_WORLD, &r);
    } else {
        rc = inits[w->mode](buf, count, type, dest, w->tag, MPI_COMM_WORLD, &r);
        if (rc == 0) rc = MPI_Start(&r);
    }
    if (rc == 0) rc = MPI_Wait(&r, &status);
    if (rc == 0 && w->form == PERSISTENT) {
        CHECK(r != MPI_REQUEST_NULL);
        rc = MPI_Request_free(&r);
    }
    CHECK(r == MPI_REQUEST_NULL);
    return rc;
}

static int do_irecv(const way *w, void *buf, int source, MPI_Request *r)
{
    MPI_Count count;
    MPI_Datatype type;
    lay_out(w, &count, &type);
    if (w->form != PERSISTENT)
        return MPI_Irecv_c(buf, count, type, source, w->tag, MPI_COMM_WORLD, r);
    int rc = MPI_Recv_init_c(buf, count, type, source, w->tag, MPI_COMM_WORLD, r);
    return rc ? rc : MPI_Start(r);
}

static void check_arrived(const way *w, const guarded *g, const MPI_Status *status, int source,
                          uint64_t seed)
{
    MPI_Count count, got = -1;
    MPI_Datatype type;
    size_t room = lay_out(w, &count, &type);
    CHECK(status->MPI_SOURCE == source && status->MPI_TAG == w->tag);
    CHECK(MPI_Get_count_c(status, type, &got) == 0 && got == count);
    CHECK(guarded_intact(g));
    if (w->shape != STRIDED) {
        CHECK(wrong_bytes(g->data, room, seed) == 0);
        return;
    }
    size_t wrong = 0;
    for (size_t i = 0; i < room; i++)
        wrong += g->data[i] != (i % 64 < 40 ? pattern(seed, i) : UNTOUCHED);
    CHECK(wrong == 0);
}

static void send_side(const way *w, int dest, uint64_t seed)
{
    MPI_Count count;
    MPI_Datatype type;
    size_t room = lay_out(w, &count, &type);
    guarded g = guarded_new(room, w->shared);
    fill(g.data, room, seed);
    // A ready send needs to know that the receive is there.
    if (w->receiver_first || w->mode == READY) meet(dest);
    CHECK(do_send(w, g.data, dest) == MPI_SUCCESS);
    if (w->mode == BUFFERED) memset(g.data, 0, room); // the copy is elsewhere
    CHECK(guarded_intact(&g));
    if (w->mode == BUFFERED) CHECK(MPI_Buffer_flush() == MPI_SUCCESS);
    guarded_free(&g);
}

static void recv_side(const way *w, int source, uint64_t seed)
{
    MPI_Count count;
    MPI_Datatype type;
    MPI_Status status;
    MPI_Request r;
    size_t room = lay_out(w, &count, &type);
    guarded g = guarded_new(room, w->shared);
    if (w->receiver_first || w->mode == READY) {
        CHECK(do_irecv(w, g.data, source, &r) == MPI_SUCCESS);
        meet(source);
        CHECK(MPI_Wait(&r, &status) == MPI_SUCCESS);
    } else if (w->form == BLOCKING) {
        CHECK(MPI_Recv_c(g.data, count, type, source, w->tag, MPI_COMM_WORLD, &status) == 0);
        r = MPI_REQUEST_NULL;
    } else {
        CHECK(do_irecv(w, g.data, source, &r) == MPI_SUCCESS);
        CHECK(MPI_Wait(&r, &status) == MPI_SUCCESS);
    }
    check_arrived(w, &g, &status, source, seed);
    if (r != MPI_REQUEST_NULL) CHECK(MPI_Request_free(&r) == MPI_SUCCESS);
    guarded_free(&g);
}

// To oneself: the receive is posted before or after, never waited for in between.
static void to_self(const way *w, uint64_t seed)
{
    MPI_Count count;
    MPI_Datatype type;
    MPI_Status status;
    MPI_Request s = MPI_REQUEST_NULL, r;
    size_t room = lay_out(w, &count, &type);
    guarded from = guarded_new(room, w->shared), to = guarded_new(room, w->shared);
    fill(from.data, room, seed);
    int first = w->receiver_first || w->mode == READY || w->form == BLOCKING;
    if (first) CHECK(do_irecv(w, to.data, my_rank, &r) == MPI_SUCCESS);
    if (w->form == BLOCKING) {
        CHECK(do_send(w, from.data, my_rank) == MPI_SUCCESS);
    } else if (w->form == IMMEDIATE) {
        CHECK(isends[w->mode](from.data, count, type, my_rank, w->tag, MPI_COMM_WORLD, &s) == 0);
    } else {
        CHECK(inits[w->mode](from.data, count, type, my_rank, w->tag, MPI_COMM_WORLD, &s) == 0);
        CHECK(MPI_Start(&s) == MPI_SUCCESS);
    }
    if (!first) CHECK(do_irecv(w, to.data, my_rank, &r) == MPI_SUCCESS);
    CHECK(MPI_Wait(&r, &status) == MPI_SUCCESS);
    CHECK(MPI_Wait(&s, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    check_arrived(w, &to, &status, my_rank, seed);
    if (s != MPI_REQUEST_NULL) CHECK(MPI_Request_free(&s) == MPI_SUCCESS);
    if (r != MPI_REQUEST_NULL) CHECK(MPI_Request_free(&r) == MPI_SUCCESS);
    guarded_free(&from);
    guarded_free(&to);
}

// Even ranks and their right neighbours, then odd ranks and theirs.
static void between_neighbours(const way *w, uint64_t seed)
{
    for (int parity = 0; parity < 2; parity++) {
        int right = my_rank + 1, left = my_rank - 1;
        if (my_rank % 2 == parity && right < world_size)
            send_side(w, right, seed + (uint64_t)my_rank);
        if (my_rank % 2 != parity && left >= 0) recv_side(w, left, seed + (uint64_t)left);
    }
    // The last also sends back to the first.
    if (world_size < 2) return;
    if (my_rank == world_size - 1) send_side(w, 0, seed);
    if (my_rank == 0) recv_side(w, world_size - 1, seed);
}

// Large messages take time: with many ranks, or in combinations that make no difference to them,
// they are left out.
static int worth_it(const way *w)
{
    if (w->shape == STRIDED && strided == MPI_DATATYPE_NULL) return 0;
    if (w->bytes <= 64 * KIB) return world_size <= 4 || w->shape != INTS;
    if (w->shape == INTS || (w->shared && w->shape != DENSE)) return 0;
    if (w->bytes == 5 * MIB) return world_size <= 3 && w->form == IMMEDIATE && w->mode != READY;
    if (world_size > 4) return w->form == IMMEDIATE && w->shape == DENSE;
    return w->form != PERSISTENT || w->shape == DENSE;
}

static void walk(int self)
{
    static int tag;
    uint64_t seed = 0;
    for (size_t k = 0; k < SIZES; k++)
        for (int choice = 0; choice < MODES * FORMS * SHAPES * 4; choice++) {
            way w = {.mode = (enum mode)(choice % MODES),
                     .form = (enum form)(choice / MODES % FORMS),
                     .shape = (enum shape)(choice / MODES / FORMS % SHAPES),
                     .receiver_first = choice / MODES / FORMS / SHAPES % 2,
                     .shared = choice / MODES / FORMS / SHAPES / 2,
                     .bytes = sizes[k],
                     .tag = tag++ % 20000};
            seed += 977;
            if (!worth_it(&w)) continue;
            if (self)
                to_self(&w, seed);
            else
                between_neighbours(&w, seed);
        }
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    size_t room = 6 * MIB + MPI_BSEND_OVERHEAD;
    void *buffer = malloc(room), *detached;
    MPI_Count detached_bytes;
    if (MPI_Type_vector(1, 40, 64, MPI_BYTE, &strided) == 0) {
        MPI_Datatype plain = strided;
        CHECK(MPI_Type_create_resized(plain, 0, 64, &strided) == MPI_SUCCESS);
        CHECK(MPI_Type_commit(&strided) == MPI_SUCCESS);
        CHECK(MPI_Type_free(&plain) == MPI_SUCCESS);
    }
    CHECK(MPI_Buffer_attach_c(buffer, (MPI_Count)room) == MPI_SUCCESS);
    walk(0);
    if (my_rank == 0) walk(1);
    CHECK(MPI_Buffer_detach_c(&detached, &detached_bytes) == MPI_SUCCESS);
    CHECK(detached == buffer && detached_bytes == (MPI_Count)room);
    free(buffer);
    return end_test();
}
