// SPDX-License-Identifier: BSD-3-Clause
// The root of a gather or scatter whose own block is longer than its place gets an error that tells
// both lengths, and the others get their data; whichever way the blocks go. So does a rank in an
// allgatherv of short blocks.
// RANKS: 1 2 4
#include "coll_test.h"

static int rank, size;

static void check_code(int code)
{
    int class = -1, length = 0;
    char text[MPI_MAX_ERROR_STRING] = "";
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    CHECK(rank != 0 ? code == 0 : class == MPI_ERR_TRUNCATE && strstr(text, "sends itself"));
}

static void check_length(int bytes)
{
    size_t all = (size_t)bytes * (size_t)size;
    char *whole = malloc(all), *block = malloc((size_t)bytes + 4);
    int more = rank == 0 ? 4 : 0;
    memset(block, rank + 1, (size_t)bytes + 4);
    memset(whole, 0, all);
    check_code(
        MPI_Gather(block, bytes + more, MPI_BYTE, whole, bytes, MPI_BYTE, 0, MPI_COMM_WORLD));
    for (int i = 0; i < size && rank == 0; i++)
        CHECK(whole[i * bytes] == i + 1 && whole[(i + 1) * bytes - 1] == i + 1);
    for (int i = 0; i < size; i++) memset(whole + i * bytes, i + 1, (size_t)bytes);
    memset(block, 0, (size_t)bytes);
    check_code(
        MPI_Scatter(whole, bytes, MPI_BYTE, block, bytes - more, MPI_BYTE, 0, MPI_COMM_WORLD));
    CHECK(block[0] == rank + 1 && block[bytes - more - 1] == rank + 1);
    free(whole);
    free(block);
}

static void check_allgatherv(int bytes)
{
    char *whole = calloc((size_t)bytes * (size_t)size, 2), *block = malloc((size_t)bytes + 4);
    int counts[8], places[8];
    for (int i = 0; i < size; i++) counts[i] = bytes - i;
    for (int i = 0; i < size; i++) places[i] = 2 * bytes * i;
    memset(block, rank + 1, (size_t)bytes + 4);
    check_code(MPI_Allgatherv(block, counts[rank] + (rank == 0 ? 4 : 0), MPI_BYTE, whole, counts,
                              places, MPI_BYTE, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++) {
        const char *b = whole + places[i];
        CHECK(b[0] == i + 1 && b[counts[i] - 1] == i + 1 && b[counts[i]] == 0);
    }
    free(whole);
    free(block);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_length(100);
    check_length(3000);
    check_length(300000);
    check_allgatherv(100);
    check_allgatherv(3000);
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
