// SPDX-License-Identifier: BSD-3-Clause
// Derived datatypes in messages: every rank sends to the next, of one layout, into another, in
// sizes that go through the ring as a whole, in pieces, and by the receiver's own copying. What
// arrives is compared with packing here and unpacking there; what lies between stays as it was.
// RANKS: 1 2 3
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/plat/test.h"

#define LAYOUTS 7

// `doubles` doubles in a layout; the buffer for it has 4 * doubles + 64.
static MPI_Datatype layout(int kind, int doubles)
{
    MPI_Datatype t, column, parts[2] = {MPI_DOUBLE, MPI_INT};
    int half = doubles / 2, *disps;
    switch (kind) {
    case 0: MPI_Type_contiguous(doubles, MPI_DOUBLE, &t); break;
    case 1: MPI_Type_vector(doubles, 1, 3, MPI_DOUBLE, &t); break;
    case 2: MPI_Type_vector(half, 2, 8, MPI_DOUBLE, &t); break;
    case 3:
        disps = malloc((size_t)doubles * sizeof *disps);
        for (int i = 0; i < doubles; i++) disps[i] = 3 * i + (int)((unsigned)i * 2654435761u >> 31);
        MPI_Type_create_indexed_block(doubles, 1, disps, MPI_DOUBLE, &t);
        free(disps);
        break;
    case 4: // a double and two ints with a hole between, for every two doubles
        MPI_Type_create_struct(2, (int[]){1, 2}, (MPI_Aint[]){0, 12}, parts, &column);
        MPI_Type_create_hvector(half, 1, 48, column, &t);
        MPI_Type_free(&column);
        break;
    case 5:
        MPI_Type_create_subarray(2, (int[]){half, 6}, (int[]){half, 2}, (int[]){0, 3}, MPI_ORDER_C,
                                 MPI_DOUBLE, &t);
        break;
    default: // backwards
        MPI_Type_create_hvector(doubles, 1, -16, MPI_DOUBLE, &column);
        MPI_Type_create_hindexed(1, (int[]){1}, (MPI_Aint[]){16 * (MPI_Aint)doubles}, column, &t);
        MPI_Type_free(&column);
    }
    MPI_Type_commit(&t);
    return t;
}

static void check(int from_kind, int to_kind, int doubles, int rank, int size)
{
    size_t bytes = (size_t)(4 * doubles + 64) * sizeof(double);
    unsigned char *out = malloc(bytes), *in = malloc(bytes), *want = malloc(bytes), *packed;
    int left = (rank + size - 1) % size, right = (rank + 1) % size, position = 0, n = doubles * 8;
    MPI_Datatype from = layout(from_kind, doubles), to = layout(to_kind, doubles);
    MPI_Status status;
    packed = malloc((size_t)n + 1);
    // What the left neighbour sends, made here too.
    for (size_t i = 0; i < bytes; i++) out[i] = (unsigned char)(i * 31 + (size_t)left * 7);
    MPI_Pack(out, 1, from, packed, n, &position, MPI_COMM_SELF);
    memset(in, 0xee, bytes);
    memset(want, 0xee, bytes);
    position = 0;
    MPI_Unpack(packed, n, &position, want, 1, to, MPI_COMM_SELF);
    for (size_t i = 0; i < bytes; i++) out[i] = (unsigned char)(i * 31 + (size_t)rank * 7);
    MPI_Sendrecv(out, 1, from, right, 5, in, 1, to, left, 5, MPI_COMM_WORLD, &status);
    int count = -1;
    MPI_Get_count(&status, to, &count);
    CHECK(count == 1 && memcmp(in, want, bytes) == 0);
    MPI_Get_elements(&status, to, &count);
    CHECK(count == (to_kind == 4 ? doubles / 2 * 3 : doubles));
    MPI_Type_free(&from);
    MPI_Type_free(&to);
    free(packed);
    free(out);
    free(in);
    free(want);
}

// A message longer than the receiver's datatype: an error, and not a byte beyond.
static void check_truncation(int rank, int size)
{
    MPI_Datatype t = layout(1, 100);
    double out[200], in[400];
    MPI_Request request;
    for (int i = 0; i < 200; i++) out[i] = i;
    for (int i = 0; i < 400; i++) in[i] = -1;
    MPI_Isend(out, 200, MPI_DOUBLE, (rank + 1) % size, 6, MPI_COMM_WORLD, &request);
    int code = MPI_Recv(in, 1, t, (rank + size - 1) % size, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_TRUNCATE);
    for (int i = 0; i < 400; i++) CHECK(in[i] == -1 || (i % 3 == 0 && i < 300));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&t);
}

int main(int argc, char **argv)
{
    int rank, size;
    static const int sizes[] = {2, 10, 300, 3000, 20000, 150000};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (int from = 0; from < LAYOUTS; from++) {
            for (int to = 0; to < LAYOUTS; to++) {
                // The largest in fewer combinations, to keep the test short.
                if (sizes[s] > 100000 && (from + to) % 3 != 0) continue;
                check(from, to, sizes[s], rank, size);
            }
        }
    }
    check_truncation(rank, size);
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
