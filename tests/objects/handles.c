// SPDX-License-Identifier: BSD-3-Clause
// Handles as ints and back, and what the library tells about its binary interface.
// RANKS: 1
#include <mpi.h>
#include <stdint.h>
#include <string.h>

#include "../../src/plat/test.h"

#define BACK(Kind, handle)                                                                         \
    CHECK(MPI_##Kind##_fromint(MPI_##Kind##_toint(handle)) == (handle));                           \
    CHECK(MPI_##Kind##_toint(handle) == (int)(uintptr_t)(handle))

static void predefined(void)
{
    BACK(Comm, MPI_COMM_NULL);
    BACK(Comm, MPI_COMM_WORLD);
    BACK(Comm, MPI_COMM_SELF);
    BACK(Errhandler, MPI_ERRORS_RETURN);
    BACK(File, MPI_FILE_NULL);
    BACK(Group, MPI_GROUP_EMPTY);
    BACK(Info, MPI_INFO_ENV);
    BACK(Message, MPI_MESSAGE_NO_PROC);
    BACK(Op, MPI_SUM);
    BACK(Request, MPI_REQUEST_NULL);
    BACK(Session, MPI_SESSION_NULL);
    BACK(Type, MPI_INT);
    BACK(Win, MPI_WIN_NULL);
}

static void made(void)
{
    MPI_Info info;
    MPI_Group group;
    CHECK(MPI_Info_create(&info) == 0);
    CHECK(MPI_Comm_group(MPI_COMM_WORLD, &group) == 0);
    int i = MPI_Info_toint(info), g = MPI_Group_toint(group);
    CHECK(i >= 4096 && MPI_Info_fromint(i) == info);
    CHECK(g >= 4096 && MPI_Group_fromint(g) == group);
    CHECK(MPI_Info_free(&info) == 0 && MPI_Group_free(&group) == 0);
    CHECK(MPI_Info_fromint(i) == MPI_INFO_NULL);
    CHECK(MPI_Comm_fromint(-1) == MPI_COMM_NULL && MPI_Comm_fromint(2147483647) == MPI_COMM_NULL);
}

static void interface(void)
{
    int major = 0, minor = -1, flag = 0, len = 8;
    MPI_Info info;
    char text[8];
    CHECK(MPI_Abi_get_version(&major, &minor) == 0 && major == 1 && minor == 0);
    CHECK(MPI_Abi_get_info(&info) == 0);
    CHECK(MPI_Info_get_string(info, "mpi_count_size", &len, text, &flag) == 0);
    CHECK(flag && strcmp(text, "8") == 0);
    CHECK(MPI_Info_free(&info) == 0);
}

static void fortran(void)
{
    MPI_Info info, got;
    int class = 0, flag = 0, yes = -1, no = 0, a = 5, b = 5, set = -1;
    CHECK(MPI_Abi_get_fortran_info(&got) == 0 && got == MPI_INFO_NULL);
    CHECK(MPI_Info_create(&info) == 0 && MPI_Info_set(info, "mpi_integer_size", "8") == 0);
    CHECK(MPI_Error_class(MPI_Abi_set_fortran_info(info), &class) == 0 && class == MPI_ERR_ABI);
    CHECK(MPI_Info_set(info, "mpi_integer_size", "4") == 0);
    CHECK(MPI_Abi_set_fortran_info(info) == 0 && MPI_Abi_set_fortran_info(info) == 0);
    CHECK(MPI_Info_set(info, "mpi_integer1_supported", "true") == 0);
    CHECK(MPI_Error_class(MPI_Abi_set_fortran_info(info), &class) == 0 && class == MPI_ERR_ABI);
    CHECK(MPI_Abi_get_fortran_info(&got) == 0 && got != MPI_INFO_NULL);
    CHECK(MPI_Info_get_nkeys(got, &flag) == 0 && flag == 1);
    CHECK(MPI_Info_free(&got) == 0 && MPI_Info_free(&info) == 0);

    CHECK(MPI_Abi_get_fortran_booleans(4, &a, &b, &set) == 0 && set == 0 && a == 5);
    CHECK(MPI_Abi_set_fortran_booleans(4, &yes, &no) == 0);
    CHECK(MPI_Abi_get_fortran_booleans(4, &a, &b, &set) == 0 && set == 1 && a == -1 && b == 0);
    CHECK(MPI_Abi_get_fortran_booleans(8, &a, &b, &set) == 0 && set == 0);
    CHECK(MPI_Error_class(MPI_Abi_get_fortran_booleans(3, &a, &b, &set), &class) == 0);
    CHECK(class == MPI_ERR_ARG);
}

int main(void)
{
    predefined();
    interface();
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    predefined();
    made();
    interface();
    fortran();
    MPI_Finalize();
    predefined();
    return SHOAL_TEST_RESULT();
}
