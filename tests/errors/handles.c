// SPDX-License-Identifier: BSD-3-Clause
// Handles that name nothing: freed ones whose place has been taken by others, invented ones, and
// handles of another kind; to every message, probe and request call. Each gives an error, none
// disturbs what is alive. Also: handles that are used twice, and that outlive their communicator.
// RANKS: 1 2
#include "../p2p/common.h"

enum { ROUNDS = 3000 };
#define W MPI_COMM_WORLD

static int b[4];

// Values near those of live handles are the dangerous ones.
static uint64_t invent(uint64_t *seed, const void *live)
{
    uint64_t any =
        (uint64_t)random_next(seed) << 33 ^ (uint64_t)random_next(seed) << 11 ^ random_next(seed);
    uint64_t near = (uint64_t)(uintptr_t)live;
    switch (random_next(seed) % 6) {
    case 0: return any;
    case 1: return near ^ (uint64_t)1 << random_next(seed) % 64;
    case 2: return near + (uint64_t)(random_next(seed) % 1000 + 1) * 4096;
    case 3: return (near & ~0xffffffffull) | (random_next(seed) & 0xffffff);
    case 4: return random_next(seed) % 4096;
    default: return any & 0xffff;
    }
}

static int refused(int rc, int class)
{
    int good = rc != MPI_SUCCESS && class_of(rc) == class;
    if (!good) fprintf(stderr, "class %d instead of %d\n", class_of(rc), class);
    return good;
}

static void bad_request(uint64_t value, MPI_Request live)
{
    MPI_Request bad = (MPI_Request)(uintptr_t)value, two[2] = {live, bad};
    MPI_Status s[2];
    int flag, index, count, indices[2];
    if (bad == MPI_REQUEST_NULL || bad == live) return;
    CHECK(refused(MPI_Wait(&bad, s), MPI_ERR_REQUEST));
    CHECK(refused(MPI_Test(&bad, &flag, s), MPI_ERR_REQUEST));
    CHECK(refused(MPI_Waitall(2, two, s), MPI_ERR_REQUEST));
    CHECK(refused(MPI_Testall(2, two, &flag, s), MPI_ERR_REQUEST));
    CHECK(refused(MPI_Waitany(2, two, &index, s), MPI_ERR_REQUEST));
    CHECK(refused(MPI_Testany(2, two, &index, &flag, s), MPI_ERR_REQUEST));
    CHECK(refused(MPI_Waitsome(2, two, &count, indices, s), MPI_ERR_REQUEST));
    CHECK(refused(MPI_Testsome(2, two, &count, indices, s), MPI_ERR_REQUEST));
    CHECK(refused(MPI_Request_get_status(bad, &flag, s), MPI_ERR_REQUEST));
    CHECK(refused(MPI_Request_get_status_some(2, two, &count, indices, s), MPI_ERR_REQUEST));
    CHECK(refused(MPI_Start(&bad), MPI_ERR_REQUEST) &&
          refused(MPI_Startall(1, &bad), MPI_ERR_REQUEST));
    CHECK(refused(MPI_Cancel(&bad), MPI_ERR_REQUEST) &&
          refused(MPI_Request_free(&bad), MPI_ERR_REQUEST));
    CHECK(refused(MPI_Grequest_complete(bad), MPI_ERR_REQUEST));
    CHECK((uint64_t)(uintptr_t)bad == value && two[0] == live);
}

static void bad_comm(uint64_t value, MPI_Comm live)
{
    MPI_Comm bad = (MPI_Comm)(uintptr_t)value;
    MPI_Request r;
    MPI_Status s;
    MPI_Message m;
    int flag;
    if (bad == W || bad == MPI_COMM_SELF || bad == live) return;
    CHECK(refused(MPI_Send(b, 1, MPI_INT, 0, 0, bad), MPI_ERR_COMM));
    CHECK(refused(MPI_Recv(b, 1, MPI_INT, 0, 0, bad, &s), MPI_ERR_COMM));
    CHECK(refused(MPI_Isend(b, 1, MPI_INT, 0, 0, bad, &r), MPI_ERR_COMM));
    CHECK(refused(MPI_Recv_init(b, 1, MPI_INT, 0, 0, bad, &r), MPI_ERR_COMM));
    CHECK(refused(MPI_Iprobe(0, 0, bad, &flag, &s), MPI_ERR_COMM));
    CHECK(refused(MPI_Mprobe(0, 0, bad, &m, &s), MPI_ERR_COMM));
    CHECK(refused(MPI_Comm_flush_buffer(bad), MPI_ERR_COMM));
    CHECK(refused(MPI_Sendrecv(b, 1, MPI_INT, 0, 0, b, 1, MPI_INT, 0, 0, bad, &s), MPI_ERR_COMM));
}

static void bad_message(uint64_t value, MPI_Message live)
{
    MPI_Message bad = (MPI_Message)(uintptr_t)value;
    MPI_Request r;
    if (bad == live || bad == MPI_MESSAGE_NO_PROC) return;
    CHECK(refused(MPI_Mrecv(b, 1, MPI_INT, &bad, MPI_STATUS_IGNORE), MPI_ERR_REQUEST));
    CHECK(refused(MPI_Imrecv(b, 1, MPI_INT, &bad, &r), MPI_ERR_REQUEST));
}

// Predefined types lie below 4096; what an invented value there means is not for this test.
static void bad_type(uint64_t value, MPI_Datatype live)
{
    MPI_Datatype bad = (MPI_Datatype)(uintptr_t)value;
    if (bad == live || value < 4096) return;
    CHECK(refused(MPI_Send(b, 1, bad, my_rank, 0, W), MPI_ERR_TYPE));
    CHECK(refused(MPI_Recv(b, 1, bad, my_rank, 0, W, MPI_STATUS_IGNORE), MPI_ERR_TYPE));
}

static void invented(void)
{
    uint64_t seed = 2026 + (uint64_t)my_rank;
    MPI_Request live;
    MPI_Comm comm;
    MPI_Message message;
    MPI_Datatype type;
    CHECK(MPI_Comm_dup(W, &comm) == MPI_SUCCESS);
    CHECK(MPI_Type_contiguous(1, MPI_INT, &type) == MPI_SUCCESS &&
          MPI_Type_commit(&type) == MPI_SUCCESS);
    CHECK(MPI_Irecv(&b[1], 1, MPI_INT, my_rank, 9, W, &live) == MPI_SUCCESS);
    b[0] = 5;
    CHECK(MPI_Send(b, 1, type, my_rank, 8, comm) == MPI_SUCCESS);
    CHECK(MPI_Mprobe(my_rank, 8, comm, &message, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    const void *all[] = {live, comm, message, type};
    for (int k = 0; k < ROUNDS; k++) {
        bad_request(invent(&seed, live), live);
        bad_comm(invent(&seed, comm), comm);
        bad_message(invent(&seed, message), message);
        bad_type(invent(&seed, type), type);
    }
    // Each in the place of the others.
    for (int k = 0; k < 4; k++) {
        if (k != 0) bad_request((uint64_t)(uintptr_t)all[k], live);
        if (k != 1) bad_comm((uint64_t)(uintptr_t)all[k], comm);
        if (k != 2) bad_message((uint64_t)(uintptr_t)all[k], message);
        if (k != 3) bad_type((uint64_t)(uintptr_t)all[k], type);
    }
    b[0] = 6;
    CHECK(MPI_Send(b, 1, type, my_rank, 9, W) == MPI_SUCCESS);
    CHECK(MPI_Wait(&live, MPI_STATUS_IGNORE) == MPI_SUCCESS && b[1] == 6);
    CHECK(MPI_Mrecv(&b[2], 1, type, &message, MPI_STATUS_IGNORE) == MPI_SUCCESS && b[2] == 5);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS && MPI_Type_free(&type) == MPI_SUCCESS);
}

// A place is used again and again: no old handle may ever fit a new object.
static void reused(void)
{
    MPI_Request old[64], r;
    for (int round = 0; round < 64; round++) {
        CHECK(MPI_Irecv(b, 1, MPI_INT, my_rank, 9, W, &r) == MPI_SUCCESS);
        old[round] = r;
        for (int k = 0; k < round; k++) {
            MPI_Request again = old[k];
            CHECK(refused(MPI_Cancel(&again), MPI_ERR_REQUEST));
        }
        CHECK(MPI_Cancel(&r) == MPI_SUCCESS && MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
}

// One request twice in an array: a mistake that must not be paid with a crash.
static void twice(void)
{
    MPI_Request r, both[2];
    MPI_Status s[2];
    for (int k = 0; k < 3; k++) {
        CHECK(MPI_Irecv(b, 1, MPI_INT, my_rank, 9, W, &r) == MPI_SUCCESS);
        both[0] = both[1] = r;
        CHECK(MPI_Cancel(&r) == MPI_SUCCESS);
        int count, indices[2];
        int rc = k == 0   ? MPI_Waitall(2, both, s)
                 : k == 1 ? MPI_Waitsome(2, both, &count, indices, s)
                          : MPI_Testsome(2, both, &count, indices, s);
        CHECK(rc == MPI_SUCCESS || class_of(rc) == MPI_ERR_REQUEST ||
              class_of(rc) == MPI_ERR_IN_STATUS);
        // Requests made afterwards are not hurt.
        CHECK(MPI_Irecv(&b[1], 1, MPI_INT, my_rank, 10, W, &r) == MPI_SUCCESS);
        b[0] = 70 + k;
        CHECK(MPI_Send(b, 1, MPI_INT, my_rank, 10, W) == MPI_SUCCESS);
        CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS && b[1] == 70 + k);
    }
}

// Operations under way keep a freed communicator alive, even when they end in an error.
static void freed_communicator(void)
{
    enum { BIG = 100000 };
    static unsigned char out[BIG], in[BIG];
    MPI_Comm comm;
    MPI_Request r, s;
    MPI_Message m;
    for (int k = 0; k < 4; k++) {
        CHECK(MPI_Comm_dup(W, &comm) == MPI_SUCCESS);
        CHECK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN) == MPI_SUCCESS);
        if (k < 2)
            CHECK(MPI_Irecv(in, k ? 10 : BIG, MPI_BYTE, my_rank, 1, comm, &r) == MPI_SUCCESS);
        CHECK(MPI_Isend(out, BIG, MPI_BYTE, my_rank, 1, comm, &s) == MPI_SUCCESS);
        if (k >= 2) CHECK(MPI_Mprobe(my_rank, 1, comm, &m, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
        int rc = k < 2 ? MPI_Wait(&r, MPI_STATUS_IGNORE)
                       : MPI_Mrecv(in, k == 3 ? 10 : BIG, MPI_BYTE, &m, MPI_STATUS_IGNORE);
        CHECK(class_of(rc) == (k % 2 ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
        CHECK(MPI_Wait(&s, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    invented();
    reused();
    twice();
    freed_communicator();
    return end_test();
}
