// SPDX-License-Identifier: BSD-3-Clause
// Datatypes through the MPICH ABI: predefined handles, constructors, what they were made of.
#include <stddef.h>
#include <stdint.h>

#include "check.h"

static void predefined(void)
{
    static const struct {
        MPI_Datatype type;
        int size;
        const char *name;
    } all[] = {
        {MPI_CHAR, 1, "MPI_CHAR"},
        {MPI_INT, 4, "MPI_INT"},
        {MPI_LONG, 8, "MPI_LONG"},
        {MPI_UNSIGNED_LONG_LONG, 8, "MPI_UNSIGNED_LONG_LONG"},
        {MPI_DOUBLE, 8, "MPI_DOUBLE"},
        {MPI_LONG_DOUBLE, sizeof(long double), "MPI_LONG_DOUBLE"},
        {MPI_BYTE, 1, "MPI_BYTE"},
        {MPI_FLOAT_INT, 8, "MPI_FLOAT_INT"},
        {MPI_DOUBLE_INT, 12, "MPI_DOUBLE_INT"},
        {MPI_LONG_INT, 12, "MPI_LONG_INT"},
        {MPI_SHORT_INT, 6, "MPI_SHORT_INT"},
        {MPI_2INT, 8, "MPI_2INT"},
        {MPI_INT8_T, 1, "MPI_INT8_T"},
        {MPI_UINT64_T, 8, "MPI_UINT64_T"},
        {MPI_C_BOOL, 1, "MPI_C_BOOL"},
        {MPI_C_DOUBLE_COMPLEX, 16, "MPI_C_DOUBLE_COMPLEX"},
        {MPI_AINT, 8, "MPI_AINT"},
        {MPI_COUNT, 8, "MPI_COUNT"},
        {MPI_OFFSET, 8, "MPI_OFFSET"},
        {MPI_WCHAR, 4, "MPI_WCHAR"},
        {MPI_PACKED, 1, "MPI_PACKED"},
        {MPI_REAL8, 8, "MPI_REAL8"},
        {MPI_INTEGER, 4, "MPI_INTEGER"},
        {MPI_LOGICAL, 4, "MPI_LOGICAL"},
        {MPI_CXX_BOOL, 1, "MPI_CXX_BOOL"},
        {MPI_2REAL, 8, "MPI_2REAL"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char name[MPI_MAX_OBJECT_NAME];
        int size = -1, length = 0;
        OK(MPI_Type_size(all[i].type, &size));
        OK(MPI_Type_get_name(all[i].type, name, &length));
        CHECK(size == all[i].size && strcmp(name, all[i].name) == 0);
        int integers, addresses, types, combiner = -1;
        OK(MPI_Type_get_envelope(all[i].type, &integers, &addresses, &types, &combiner));
        CHECK(combiner == MPI_COMBINER_NAMED);
        // There and back: what it was made of is the same handle.
        MPI_Datatype dup, inner = MPI_DATATYPE_NULL;
        OK(MPI_Type_dup(all[i].type, &dup));
        OK(MPI_Type_get_contents(dup, 0, 0, 1, NULL, NULL, &inner));
        CHECK(inner == all[i].type && dup != inner);
        CHECK(MPI_Type_f2c(MPI_Type_c2f(dup)) == dup);
        OK(MPI_Type_free(&dup));
        CHECK(dup == MPI_DATATYPE_NULL);
    }
    int size;
    FAILS(MPI_Type_size(MPI_DATATYPE_NULL, &size), MPI_ERR_TYPE);
    FAILS(MPI_Type_size(0, &size), MPI_ERR_TYPE);
    FAILS(MPI_Type_size(MPI_INT + 256, &size), MPI_ERR_TYPE);
    FAILS(MPI_Type_size((MPI_Datatype)MPI_SUM, &size), MPI_ERR_TYPE);
}

typedef struct item {
    int id;
    double value;
    char tag[3];
} item;

static void structs(void)
{
    int lengths[3] = {1, 1, 3}, back[4];
    MPI_Aint places[3] = {offsetof(item, id), offsetof(item, value), offsetof(item, tag)}, where[3];
    MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR}, made, resized, parts[3];
    OK(MPI_Type_create_struct(3, lengths, places, types, &made));
    OK(MPI_Type_create_resized(made, 0, sizeof(item), &resized));
    OK(MPI_Type_commit(&resized));
    int size = 0;
    MPI_Aint lb = -1, extent = 0;
    OK(MPI_Type_size(resized, &size));
    OK(MPI_Type_get_extent(resized, &lb, &extent));
    CHECK(size == 15 && lb == 0 && extent == sizeof(item));
    OK(MPI_Type_get_contents(made, 4, 3, 3, back, where, parts));
    CHECK(back[0] == 3 && back[3] == 3 && where[1] == places[1]);
    CHECK(parts[0] == MPI_INT && parts[1] == MPI_DOUBLE && parts[2] == MPI_CHAR);
    item out[4], in[4];
    memset(in, 0, sizeof in);
    for (int i = 0; i < 4; i++) out[i] = (item){i, i / 4.0, {'a', 'b', (char)('c' + i)}};
    MPI_Status s;
    int count = 0;
    OK(MPI_Sendrecv(out, 4, resized, my_rank, 0, in, 4, resized, my_rank, 0, MPI_COMM_WORLD, &s));
    OK(MPI_Get_count(&s, resized, &count));
    CHECK(count == 4 && in[3].value == 0.75 && in[3].tag[2] == 'f');
    OK(MPI_Get_elements(&s, resized, &count));
    CHECK(count == 20);
    OK(MPI_Type_free(&made));
    OK(MPI_Type_free(&resized));
    FAILS(MPI_Type_commit(&resized), MPI_ERR_TYPE);
}

static void arrays(void)
{
    int sizes[2] = {4, 5}, subsizes[2] = {2, 3}, starts[2] = {1, 1}, n, m, k, combiner;
    MPI_Datatype sub, inner;
    OK(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_FORTRAN, MPI_INT, &sub));
    OK(MPI_Type_get_envelope(sub, &n, &m, &k, &combiner));
    CHECK(n == 8 && m == 0 && k == 1 && combiner == MPI_COMBINER_SUBARRAY);
    int integers[32];
    OK(MPI_Type_get_contents(sub, 32, 0, 1, integers, NULL, &inner));
    CHECK(integers[0] == 2 && integers[7] == MPI_ORDER_FORTRAN && inner == MPI_INT);
    OK(MPI_Type_free(&sub));
    int distributions[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[2] = {1, 1};
    MPI_Datatype darray;
    OK(MPI_Type_create_darray(1, 0, 2, sizes, distributions, arguments, grid, MPI_ORDER_C,
                              MPI_DOUBLE, &darray));
    OK(MPI_Type_get_envelope(darray, &n, &m, &k, &combiner));
    CHECK(n == 12 && combiner == MPI_COMBINER_DARRAY);
    OK(MPI_Type_get_contents(darray, 32, 0, 1, integers, NULL, &inner));
    CHECK(integers[5] == MPI_DISTRIBUTE_BLOCK && integers[6] == MPI_DISTRIBUTE_CYCLIC);
    CHECK(integers[7] == MPI_DISTRIBUTE_DFLT_DARG && integers[8] == 2);
    CHECK(integers[11] == MPI_ORDER_C && inner == MPI_DOUBLE);
    OK(MPI_Type_free(&darray));
    FAILS(MPI_Type_create_subarray(2, sizes, subsizes, starts, 12, MPI_INT, &sub), MPI_ERR_ARG);
}

static void others(void)
{
    MPI_Datatype type;
    OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type));
    CHECK(type == MPI_REAL8 || type == MPI_DOUBLE_PRECISION || type == MPI_DOUBLE);
    OK(MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 8, &type));
    int size = 0, position = 0;
    OK(MPI_Type_size(type, &size));
    CHECK(size == 8);
    char buffer[64];
    int value = 77, back = 0;
    OK(MPI_Pack(&value, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    CHECK(position == 4);
    position = 0;
    OK(MPI_Unpack(buffer, sizeof buffer, &position, &back, 1, MPI_INT, MPI_COMM_WORLD));
    CHECK(back == 77);
    MPI_Datatype column, large;
    OK(MPI_Type_vector(3, 1, 4, MPI_FLOAT, &column));
    OK(MPI_Type_vector_c(3, 1, 4, MPI_FLOAT, &large));
    OK(MPI_Type_set_name(column, "column"));
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    OK(MPI_Type_get_name(column, name, &length));
    CHECK(strcmp(name, "column") == 0);
    MPI_Count n, m, c, k;
    int combiner = 0;
    OK(MPI_Type_get_envelope_c(large, &n, &m, &c, &k, &combiner));
    CHECK(combiner == MPI_COMBINER_VECTOR && c == 3 && k == 1);
    MPI_Count counts[3];
    MPI_Datatype inner;
    OK(MPI_Type_get_contents_c(large, n, m, c, k, NULL, NULL, counts, &inner));
    CHECK(counts[2] == 4 && inner == MPI_FLOAT);
    OK(MPI_Type_free(&column));
    OK(MPI_Type_free(&large));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    predefined();
    structs();
    arrays();
    others();
    return finish();
}
