// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments of collectives: the right error class, and a text that names the value. Only what
// a rank can find out alone, so that no other rank is left waiting.
//
// RANKS: 1 2 4
#include "coll_test.h"

static int rank, size;

static void expect(int code, int class, const char *part)
{
    char text[MPI_MAX_ERROR_STRING];
    int got, length;
    MPI_Error_class(code, &got);
    MPI_Error_string(code, text, &length);
    if (got != class || !strstr(text, part))
        fprintf(stderr, "class %d, not %d, or no '%s' in: %s\n", got, class, part, text);
    CHECK(got == class && strstr(text, part));
}

static void roots(void)
{
    int x = 0, y[64];
    MPI_Request r;
    MPI_Comm c = MPI_COMM_WORLD;
    char text[16];
    snprintf(text, sizeof text, "root %d", size);
    expect(MPI_Bcast(&x, 1, MPI_INT, -1, c), MPI_ERR_ROOT, "root -1");
    expect(MPI_Bcast(&x, 1, MPI_INT, size, c), MPI_ERR_ROOT, text);
    expect(MPI_Ibcast(&x, 1, MPI_INT, size, c, &r), MPI_ERR_ROOT, "MPI_Ibcast");
    expect(MPI_Bcast_init(&x, 1, MPI_INT, size, c, MPI_INFO_NULL, &r), MPI_ERR_ROOT,
           "MPI_Bcast_init");
    expect(MPI_Reduce(&x, y, 1, MPI_INT, MPI_SUM, MPI_ROOT, c), MPI_ERR_ROOT, "root");
    expect(MPI_Gather(&x, 1, MPI_INT, y, 1, MPI_INT, MPI_PROC_NULL, c), MPI_ERR_ROOT, "root");
    expect(MPI_Scatter(y, 1, MPI_INT, &x, 1, MPI_INT, 1000, c), MPI_ERR_ROOT, "1000");
}

static void counts_and_types(void)
{
    int x = 0, y[64], bad[64], zero[64] = {0};
    MPI_Comm c = MPI_COMM_WORLD;
    MPI_Datatype open;
    for (int i = 0; i < 64; i++) bad[i] = i == size - 1 ? -3 : 0;
    MPI_Type_contiguous(2, MPI_INT, &open);
    expect(MPI_Bcast(&x, -1, MPI_INT, 0, c), MPI_ERR_COUNT, "count is -1");
    expect(MPI_Allreduce(&x, y, -2, MPI_INT, MPI_SUM, c), MPI_ERR_COUNT, "-2");
    expect(MPI_Allgather(&x, -1, MPI_INT, y, 1, MPI_INT, c), MPI_ERR_COUNT, "sendcount is -1");
    expect(MPI_Allgather(&x, 1, MPI_INT, y, -1, MPI_INT, c), MPI_ERR_COUNT, "recvcount is -1");
    expect(MPI_Alltoallv(&x, zero, zero, MPI_INT, y, bad, zero, MPI_INT, c), MPI_ERR_COUNT,
           "is -3");
    expect(MPI_Reduce_scatter(&x, y, bad, MPI_INT, MPI_SUM, c), MPI_ERR_COUNT, "is -3");
    expect(MPI_Allgatherv(&x, 1, MPI_INT, y, NULL, zero, MPI_INT, c), MPI_ERR_ARG, "recvcounts");
    expect(MPI_Bcast(&x, 1, MPI_DATATYPE_NULL, 0, c), MPI_ERR_TYPE, "null");
    expect(MPI_Bcast(&x, 1, open, 0, c), MPI_ERR_TYPE, "committed");
    expect(MPI_Allgather(&x, 1, MPI_INT, y, 1, MPI_DATATYPE_NULL, c), MPI_ERR_TYPE, "null");
    MPI_Type_free(&open);
    expect(MPI_Allgather(&x, 1, MPI_INT, y, 2, MPI_SHORT_INT, c), MPI_ERR_TRUNCATE,
           "sends 4 bytes");
    expect(MPI_Alltoall(y, 1, MPI_DOUBLE, y + 32, 1, MPI_INT, c), MPI_ERR_TRUNCATE,
           "expects 4 bytes");
}

// Nothing may be at no address.
static void nothing(void)
{
    int zero[64] = {0};
    MPI_Comm c = MPI_COMM_WORLD;
    CHECK(MPI_Bcast(NULL, 0, MPI_INT, 0, c) == MPI_SUCCESS);
    CHECK(MPI_Gather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, c) == MPI_SUCCESS);
    CHECK(MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, c) == MPI_SUCCESS);
    CHECK(MPI_Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, 0, c) == MPI_SUCCESS);
    CHECK(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, c) == MPI_SUCCESS);
    CHECK(MPI_Reduce_scatter(NULL, NULL, zero, MPI_INT, MPI_SUM, c) == MPI_SUCCESS);
    CHECK(MPI_Scan(NULL, NULL, 0, MPI_INT, MPI_SUM, c) == MPI_SUCCESS);
    CHECK(MPI_Exscan(NULL, NULL, 0, MPI_INT, MPI_SUM, c) == MPI_SUCCESS);
}

static void buffers(void)
{
    int x[64] = {0}, y[64];
    MPI_Comm c = MPI_COMM_WORLD;
    expect(MPI_Bcast(NULL, 1, MPI_INT, 0, c), MPI_ERR_BUFFER, "null pointer");
    expect(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, c), MPI_ERR_BUFFER, "MPI_IN_PLACE");
    expect(MPI_Allreduce(x, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, c), MPI_ERR_BUFFER, "MPI_IN_PLACE");
    expect(MPI_Allgather(x, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, c), MPI_ERR_BUFFER,
           "MPI_IN_PLACE");
    expect(MPI_Allreduce(NULL, y, 1, MPI_INT, MPI_SUM, c), MPI_ERR_BUFFER, "null pointer");
    expect(MPI_Allreduce(x, x, 1, MPI_INT, MPI_SUM, c), MPI_ERR_BUFFER, "same address");
    expect(MPI_Scan(x, x, 1, MPI_INT, MPI_SUM, c), MPI_ERR_BUFFER, "same address");
    expect(MPI_Alltoall(x, 1, MPI_INT, x, 1, MPI_INT, c), MPI_ERR_BUFFER, "same address");
    expect(MPI_Allgather(x, 1, MPI_INT, x, 1, MPI_INT, c), MPI_ERR_BUFFER, "same address");
    expect(MPI_Reduce_scatter_block(x, x, 1, MPI_INT, MPI_SUM, c), MPI_ERR_BUFFER, "same");
    if (rank != 0) {
        expect(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, y, 1, MPI_INT, 0, c), MPI_ERR_BUFFER,
               "only on the root");
        expect(MPI_Reduce(MPI_IN_PLACE, y, 1, MPI_INT, MPI_SUM, 0, c), MPI_ERR_BUFFER,
               "only on the root");
    } else {
        expect(MPI_Gather(x, 1, MPI_INT, x, 1, MPI_INT, 0, c), MPI_ERR_BUFFER, "same address");
        expect(MPI_Scatter(x, 1, MPI_INT, x, 1, MPI_INT, 0, c), MPI_ERR_BUFFER, "same address");
    }
}

static void operations(void)
{
    int y[64];
    double x[2] = {0}, z[2];
    MPI_Comm c = MPI_COMM_WORLD;
    expect(MPI_Allreduce(x, z, 1, MPI_DOUBLE, MPI_OP_NULL, c), MPI_ERR_OP, "null");
    expect(MPI_Allreduce(x, z, 1, MPI_DOUBLE, MPI_BAND, c), MPI_ERR_OP, "MPI_BAND");
    expect(MPI_Reduce(x, z, 1, MPI_DOUBLE, MPI_MAXLOC, 0, c), MPI_ERR_OP, "MPI_MAXLOC");
    expect(MPI_Allreduce(x, z, 1, MPI_DOUBLE, MPI_REPLACE, c), MPI_ERR_OP, "MPI_REPLACE");
    expect(MPI_Scan(x, y, 1, MPI_BYTE, MPI_SUM, c), MPI_ERR_OP, "MPI_BYTE");
    expect(MPI_Reduce_scatter_block(x, z, 1, MPI_DOUBLE, MPI_LXOR, c), MPI_ERR_OP, "MPI_LXOR");
}

static void handles(void)
{
    int x = 0;
    MPI_Request r;
    expect(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM, "null");
    expect(MPI_Ibarrier(MPI_COMM_NULL, &r), MPI_ERR_COMM, "null");
    expect(MPI_Ibarrier(MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "request");
    expect(MPI_Bcast_init(&x, 1, MPI_INT, 0, MPI_COMM_WORLD, (MPI_Info)(intptr_t)0x1234567, &r),
           MPI_ERR_INFO, "info");
}

// A receive buffer that is too small for what comes: an error on the rank that has it, and nobody
// hangs.
static void truncation(void)
{
    int in[8] = {0}, out[64];
    int counts[64], displs[64], code;
    for (int i = 0; i < size; i++) {
        counts[i] = 4;
        displs[i] = 4 * i;
    }
    for (int i = 0; i < 64; i++) out[i] = GUARD;
    // The last rank sends more than the root expects.
    int sends = rank == size - 1 ? 6 : 4;
    code = MPI_Gatherv(in, sends, MPI_INT, out, counts, displs, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0)
        expect(code, MPI_ERR_TRUNCATE, "24 bytes");
    else
        CHECK(code == MPI_SUCCESS);
    CHECK(out[4 * size] == GUARD);
    MPI_Request r;
    MPI_Igatherv(in, sends, MPI_INT, out, counts, displs, MPI_INT, 0, MPI_COMM_WORLD, &r);
    code = MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (rank == 0)
        expect(code, MPI_ERR_TRUNCATE, "24 bytes");
    else
        CHECK(code == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    roots();
    counts_and_types();
    nothing();
    buffers();
    operations();
    handles();
    truncation();
    MPI_Barrier(MPI_COMM_WORLD);
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
