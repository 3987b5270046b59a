// SPDX-License-Identifier: BSD-3-Clause
// Packing, external32, element counts of a status, operations: through MPI, in one process.
// RANKS: 1
#include <mpi.h>
#include <string.h>

#include "../../src/plat/test.h"

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static void test_pack(void)
{
    MPI_Datatype column;
    int matrix[4][4], back[4][4], size, position = 0;
    char packed[64];
    for (int i = 0; i < 16; i++) matrix[i / 4][i % 4] = i;
    memset(back, 0, sizeof back);
    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    CHECK(class_of(MPI_Pack(matrix, 1, column, packed, 64, &position, MPI_COMM_SELF)) ==
          MPI_ERR_TYPE); // not committed
    MPI_Type_commit(&column);
    CHECK(MPI_Pack_size(1, column, MPI_COMM_SELF, &size) == MPI_SUCCESS && size == 16);
    CHECK(MPI_Pack(&matrix[0][1], 1, column, packed, 64, &position, MPI_COMM_SELF) == MPI_SUCCESS);
    CHECK(MPI_Pack("hello", 5, MPI_CHAR, packed, 64, &position, MPI_COMM_SELF) == MPI_SUCCESS);
    CHECK(position == 21);
    position = 0;
    char word[6] = "";
    CHECK(MPI_Unpack(packed, 21, &position, &back[0][2], 1, column, MPI_COMM_SELF) == MPI_SUCCESS);
    CHECK(MPI_Unpack(packed, 21, &position, word, 5, MPI_CHAR, MPI_COMM_SELF) == MPI_SUCCESS);
    CHECK(position == 21 && strcmp(word, "hello") == 0);
    for (int i = 0; i < 4; i++) CHECK(back[i][2] == 4 * i + 1 && !back[i][1] && !back[i][3]);
    // What does not fit is refused and changes nothing.
    position = 50;
    CHECK(class_of(MPI_Pack(matrix, 1, column, packed, 64, &position, MPI_COMM_SELF)) ==
              MPI_ERR_TRUNCATE &&
          position == 50);
    CHECK(class_of(MPI_Unpack(packed, 64, &position, back, 1, column, MPI_COMM_SELF)) ==
              MPI_ERR_TRUNCATE &&
          position == 50);
    position = -1;
    CHECK(class_of(MPI_Pack(matrix, 1, column, packed, 64, &position, MPI_COMM_SELF)) ==
          MPI_ERR_ARG);
    position = 0;
    CHECK(class_of(MPI_Pack(matrix, -1, column, packed, 64, &position, MPI_COMM_SELF)) ==
          MPI_ERR_COUNT);
    CHECK(class_of(MPI_Pack(NULL, 1, MPI_INT, packed, 64, &position, MPI_COMM_SELF)) ==
          MPI_ERR_BUFFER);
    CHECK(MPI_Pack(NULL, 0, MPI_INT, NULL, 0, &position, MPI_COMM_SELF) == MPI_SUCCESS);
    MPI_Type_free(&column);
}

static void test_external(void)
{
    double values[3] = {1.0, -2.5, 1e100}, back[3] = {0};
    char packed[32];
    MPI_Aint size, position = 0;
    CHECK(MPI_Pack_external_size("external32", 3, MPI_DOUBLE, &size) == MPI_SUCCESS && size == 24);
    CHECK(MPI_Pack_external("external32", values, 3, MPI_DOUBLE, packed, 32, &position) ==
              MPI_SUCCESS &&
          position == 24);
    CHECK(memcmp(packed, "\x3f\xf0\0\0\0\0\0\0", 8) == 0);
    position = 0;
    CHECK(MPI_Unpack_external("external32", packed, 24, &position, back, 3, MPI_DOUBLE) ==
              MPI_SUCCESS &&
          position == 24);
    CHECK(memcmp(values, back, sizeof values) == 0);
    CHECK(MPI_Pack_external_size("external32", 3, MPI_LONG, &size) == MPI_SUCCESS && size == 12);
    CHECK(class_of(MPI_Pack_external_size("native", 3, MPI_LONG, &size)) == MPI_ERR_ARG);
}

static void test_elements(void)
{
    MPI_Status status;
    MPI_Datatype t, types[2] = {MPI_INT, MPI_CHAR};
    int count;
    MPI_Count large;
    MPI_Type_create_struct(2, (int[]){2, 1}, (MPI_Aint[]){0, 8}, types, &t); // 9 bytes, 3 elements
    CHECK(MPI_Status_set_elements(&status, MPI_INT, 5) == MPI_SUCCESS);
    CHECK(MPI_Get_count(&status, MPI_INT, &count) == MPI_SUCCESS && count == 5);
    CHECK(MPI_Get_count(&status, MPI_CHAR, &count) == MPI_SUCCESS && count == 20);
    CHECK(MPI_Get_count(&status, MPI_DOUBLE, &count) == MPI_SUCCESS && count == MPI_UNDEFINED);
    CHECK(MPI_Get_elements(&status, t, &count) == MPI_SUCCESS && count == MPI_UNDEFINED);
    CHECK(MPI_Status_set_elements(&status, t, 8) == MPI_SUCCESS); // 9 + 9 + 8 bytes
    CHECK(MPI_Get_count(&status, t, &count) == MPI_SUCCESS && count == MPI_UNDEFINED);
    CHECK(MPI_Get_elements(&status, t, &count) == MPI_SUCCESS && count == 8);
    CHECK(MPI_Get_elements_x(&status, t, &large) == MPI_SUCCESS && large == 8);
    CHECK(MPI_Get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS && count == 26);
    CHECK(MPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count)1 << 40) == MPI_SUCCESS);
    CHECK(MPI_Get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS && count == MPI_UNDEFINED);
    CHECK(MPI_Get_count_c(&status, MPI_BYTE, &large) == MPI_SUCCESS && large == (MPI_Count)1 << 40);
    CHECK(class_of(MPI_Status_set_elements(&status, MPI_BYTE, -1)) == MPI_ERR_COUNT);
    CHECK(MPI_Status_set_elements(&status, MPI_DOUBLE_INT, 3) == MPI_SUCCESS);
    CHECK(MPI_Get_elements(&status, MPI_DOUBLE_INT, &count) == MPI_SUCCESS && count == 3);
    CHECK(MPI_Get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS && count == 20);
    MPI_Type_free(&t);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    MPI_Aint lb, extent;
    CHECK(MPI_Type_get_extent(*type, &lb, &extent) == MPI_SUCCESS && extent == 8);
    for (int i = 0; i < *n; i++) ((double *)inout)[i] += 2 * ((double *)in)[i];
}

static void test_operations(void)
{
    MPI_Op op, freed;
    int commute, a[3] = {1, 2, 3}, b[3] = {10, 20, 30};
    double x[2] = {1, 2}, y[2] = {5, 6};
    CHECK(MPI_Reduce_local(a, b, 3, MPI_INT, MPI_SUM) == MPI_SUCCESS && b[2] == 33);
    CHECK(class_of(MPI_Reduce_local(x, y, 2, MPI_DOUBLE, MPI_BAND)) == MPI_ERR_OP);
    CHECK(class_of(MPI_Reduce_local(a, b, 3, MPI_INT, MPI_OP_NULL)) == MPI_ERR_OP);
    CHECK(class_of(MPI_Reduce_local(a, b, -1, MPI_INT, MPI_SUM)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Reduce_local(NULL, b, 1, MPI_INT, MPI_SUM)) == MPI_ERR_BUFFER);
    CHECK(MPI_Op_create(add, 0, &op) == MPI_SUCCESS);
    CHECK(MPI_Op_commutative(op, &commute) == MPI_SUCCESS && commute == 0);
    CHECK(MPI_Op_commutative(MPI_SUM, &commute) == MPI_SUCCESS && commute == 1);
    CHECK(MPI_Reduce_local(x, y, 2, MPI_DOUBLE, op) == MPI_SUCCESS && y[0] == 7 && y[1] == 10);
    freed = op;
    CHECK(MPI_Op_free(&op) == MPI_SUCCESS && op == MPI_OP_NULL);
    CHECK(class_of(MPI_Op_free(&freed)) == MPI_ERR_OP);
    op = MPI_SUM;
    CHECK(class_of(MPI_Op_free(&op)) == MPI_ERR_OP && op == MPI_SUM);
    CHECK(class_of(MPI_Op_create(NULL, 0, &op)) == MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    test_pack();
    test_external();
    test_elements();
    test_operations();
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
