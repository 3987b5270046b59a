// SPDX-License-Identifier: BSD-3-Clause
// Buffered sends: buffers of the process, of a communicator and of a session, given by the user or
// automatic; running out of them; detaching and flushing while messages are under way.
// RANKS: 1 2 4
#include "common.h"

#define KIB 1024
enum { BIG = 300 * KIB };

static int left, right;

static void receive(int bytes, int tag, uint64_t seed, MPI_Comm comm)
{
    guarded g = guarded_new((size_t)bytes, 0);
    MPI_Status s;
    CHECK(MPI_Recv(g.data, bytes, MPI_BYTE, left, tag, comm, &s) == MPI_SUCCESS);
    CHECK(bytes_of(&s) == bytes && wrong_bytes(g.data, g.bytes, seed) == 0 && guarded_intact(&g));
    guarded_free(&g);
}

// Sends without a buffer fail, sends beyond its end fail, and room comes back.
static void limits(void)
{
    static unsigned char data[4 * KIB];
    char *buffer = malloc(8 * KIB + 2 * MPI_BSEND_OVERHEAD);
    void *detached = data;
    int bytes = -1;
    MPI_Request r;
    fill(data, sizeof data, 1);
    CHECK(class_of(MPI_Bsend(data, 1, MPI_BYTE, right, 1, MPI_COMM_WORLD)) == MPI_ERR_BUFFER);
    CHECK(class_of(MPI_Ibsend(data, 1, MPI_BYTE, right, 1, MPI_COMM_WORLD, &r)) == MPI_ERR_BUFFER);
    int size = 8 * KIB + 2 * MPI_BSEND_OVERHEAD;
    CHECK(MPI_Buffer_attach(buffer, size) == MPI_SUCCESS);
    CHECK(class_of(MPI_Buffer_attach(buffer, 10)) == MPI_ERR_BUFFER);
    CHECK(class_of(MPI_Bsend(data, 9 * KIB, MPI_BYTE, right, 1, MPI_COMM_WORLD)) == MPI_ERR_BUFFER);
    for (int k = 0; k < 50; k++) {
        // Two messages of the full size always fit once those before have left.
        CHECK(MPI_Bsend(data, sizeof data, MPI_BYTE, right, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
        CHECK(MPI_Bsend(data, sizeof data, MPI_BYTE, right, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
        receive(sizeof data, 1, 1, MPI_COMM_WORLD);
        receive(sizeof data, 1, 1, MPI_COMM_WORLD);
        CHECK(MPI_Buffer_flush() == MPI_SUCCESS);
    }
    CHECK(MPI_Buffer_detach(&detached, &bytes) == MPI_SUCCESS);
    CHECK(detached == buffer && bytes == size);
    free(buffer);
}

// Messages larger than what goes eagerly stay in the buffer until they are asked for.
static void large(MPI_Comm comm, int automatic, int kind)
{
    size_t room = 3 * ((size_t)BIG + MPI_BSEND_OVERHEAD);
    char *buffer = automatic ? MPI_BUFFER_AUTOMATIC : malloc(room);
    unsigned char *data = malloc(BIG);
    void *detached = NULL;
    MPI_Count bytes = -1;
    MPI_Request persistent, flush;
    int flag = 1;
    CHECK((kind ? MPI_Comm_attach_buffer_c(comm, buffer, (MPI_Count)room)
                : MPI_Buffer_attach_c(buffer, (MPI_Count)room)) == MPI_SUCCESS);
    CHECK(MPI_Bsend_init(data, BIG, MPI_BYTE, right, 3, comm, &persistent) == MPI_SUCCESS);
    for (int k = 0; k < 2; k++) {
        fill(data, BIG, (uint64_t)(10 + k));
        CHECK(MPI_Start(&persistent) == MPI_SUCCESS &&
              MPI_Wait(&persistent, MPI_STATUS_IGNORE) == 0);
    }
    fill(data, BIG, 12);
    CHECK(MPI_Bsend(data, BIG, MPI_BYTE, right, 3, comm) == MPI_SUCCESS);
    memset(data, 0, BIG);
    // With others the first one may have been received by now.
    if (!automatic && world_size == 1)
        CHECK(class_of(MPI_Bsend(data, BIG, MPI_BYTE, right, 3, comm)) == MPI_ERR_BUFFER);
    CHECK((kind ? MPI_Comm_iflush_buffer(comm, &flush) : MPI_Buffer_iflush(&flush)) == MPI_SUCCESS);
    if (world_size == 1) CHECK(MPI_Test(&flush, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag);
    for (int k = 0; k < 3; k++) receive(BIG, 3, (uint64_t)(10 + k), comm);
    CHECK(MPI_Wait(&flush, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK((kind ? MPI_Comm_flush_buffer(comm) : MPI_Buffer_flush()) == MPI_SUCCESS);
    CHECK(MPI_Request_free(&persistent) == MPI_SUCCESS);
    CHECK((kind ? MPI_Comm_detach_buffer_c(comm, &detached, &bytes)
                : MPI_Buffer_detach_c(&detached, &bytes)) == MPI_SUCCESS);
    CHECK(detached == (void *)buffer);
    if (!automatic) CHECK(bytes == (MPI_Count)room);
    if (!automatic) free(buffer);
    free(data);
}

// Detaching waits until the messages have left the buffer.
static void detach_waits(void)
{
    char *buffer = malloc(BIG + MPI_BSEND_OVERHEAD);
    unsigned char *data = malloc(BIG);
    void *detached;
    int bytes;
    MPI_Request r;
    guarded in = guarded_new(BIG, 0);
    fill(data, BIG, 20);
    CHECK(MPI_Buffer_attach(buffer, BIG + MPI_BSEND_OVERHEAD) == MPI_SUCCESS);
    CHECK(MPI_Irecv(in.data, BIG, MPI_BYTE, left, 4, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
    CHECK(MPI_Bsend(data, BIG, MPI_BYTE, right, 4, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Buffer_detach(&detached, &bytes) == MPI_SUCCESS && bytes == BIG + MPI_BSEND_OVERHEAD);
    memset(buffer, 0, BIG);
    free(buffer);
    CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(wrong_bytes(in.data, BIG, 20) == 0 && guarded_intact(&in));
    guarded_free(&in);
    free(data);
}

// Session and communicator come before the process: each has its own memory.
static void whose_buffer(void)
{
    static char own[100 + MPI_BSEND_OVERHEAD], of_process[10000];
    unsigned char data[sizeof own + 1]; // too much for the communicator's, whatever the overhead
    void *detached;
    int bytes;
    MPI_Comm comm;
    MPI_Session session;
    fill(data, sizeof data, 30);
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS);
    CHECK(MPI_Buffer_attach(of_process, sizeof of_process) == MPI_SUCCESS);
    CHECK(MPI_Comm_attach_buffer(comm, own, sizeof own) == MPI_SUCCESS);
    CHECK(class_of(MPI_Bsend(data, sizeof data, MPI_BYTE, right, 5, comm)) == MPI_ERR_BUFFER);
    CHECK(MPI_Bsend(data, 100, MPI_BYTE, right, 5, comm) == MPI_SUCCESS);
    CHECK(MPI_Bsend(data, 200, MPI_BYTE, right, 5, MPI_COMM_WORLD) == MPI_SUCCESS);
    receive(100, 5, 30, comm);
    receive(200, 5, 30, MPI_COMM_WORLD);
    CHECK(MPI_Comm_detach_buffer(comm, &detached, &bytes) == MPI_SUCCESS && detached == own);
    CHECK(MPI_Bsend(data, 200, MPI_BYTE, right, 5, comm) == MPI_SUCCESS);
    receive(200, 5, 30, comm);
    CHECK(MPI_Buffer_detach(&detached, &bytes) == MPI_SUCCESS && detached == of_process);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    CHECK(MPI_Session_attach_buffer(session, own, sizeof own) == MPI_SUCCESS);
    CHECK(class_of(MPI_Session_attach_buffer(session, own, 1)) == MPI_ERR_BUFFER);
    CHECK(MPI_Session_flush_buffer(session) == MPI_SUCCESS);
    MPI_Request r;
    CHECK(MPI_Session_iflush_buffer(session, &r) == MPI_SUCCESS &&
          MPI_Wait(&r, MPI_STATUS_IGNORE) == 0);
    CHECK(MPI_Session_detach_buffer(session, &detached, &bytes) == 0 && detached == own);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    left = (my_rank + world_size - 1) % world_size;
    right = (my_rank + 1) % world_size;
    MPI_Comm comm;
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS);
    limits();
    for (int automatic = 0; automatic < 2; automatic++)
        for (int kind = 0; kind < 2; kind++) large(comm, automatic, kind);
    detach_waits();
    whose_buffer();
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
    return end_test();
}
