// SPDX-License-Identifier: BSD-3-Clause
// Error codes and error handlers through MPI.
// RANKS: 1 2
#include <mpi.h>
#include <stdint.h>
#include <string.h>

#include "../../src/plat/test.h"

static int called, last_code;
static MPI_Comm last_comm;

static void on_comm_error(MPI_Comm *comm, int *code, ...)
{
    called++;
    last_comm = *comm;
    last_code = *code;
}

// Frees and replaces the handler that it belongs to, and calls MPI.
static void meddler(MPI_Comm *comm, int *code, ...)
{
    int size = 0, class = 0;
    called++;
    CHECK(MPI_Comm_size(*comm, &size) == MPI_SUCCESS && size > 0);
    CHECK(MPI_Error_class(*code, &class) == MPI_SUCCESS && class == MPI_ERR_OTHER);
    CHECK(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN) == MPI_SUCCESS);
}

static void on_file_error(MPI_File *file, int *code, ...)
{
    called++;
    CHECK(*file == MPI_FILE_NULL && *code == MPI_ERR_IO);
}

static int class_of(int code)
{
    int class = -1;
    CHECK(MPI_Error_class(code, &class) == MPI_SUCCESS);
    return class;
}

static int last_used(void)
{
    int *value = NULL, flag = 0;
    CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag) == MPI_SUCCESS);
    CHECK(flag);
    return *value;
}

static void codes(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int len = 0, class = 0, code = 0;
    CHECK(MPI_Error_string(MPI_ERR_TRUNCATE, text, &len) == MPI_SUCCESS);
    CHECK(len == (int)strlen(text) && strncmp(text, "MPI_ERR_TRUNCATE: ", 18) == 0);
    CHECK(MPI_Add_error_class(&class) == MPI_SUCCESS && class > MPI_ERR_LASTCODE);
    CHECK(last_used() == class);
    CHECK(MPI_Add_error_code(class, &code) == MPI_SUCCESS && last_used() == code);
    CHECK(class_of(code) == class);
    CHECK(MPI_Error_string(code, text, &len) == MPI_SUCCESS && len == 0);
    CHECK(MPI_Add_error_string(code, "mine") == MPI_SUCCESS);
    CHECK(MPI_Error_string(code, text, &len) == MPI_SUCCESS && strcmp(text, "mine") == 0);
    CHECK(class_of(MPI_Remove_error_class(class)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Remove_error_code(code)) == MPI_ERR_ARG);
    CHECK(MPI_Remove_error_string(code) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_code(code) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(class) == MPI_SUCCESS && last_used() == MPI_ERR_LASTCODE);
    CHECK(class_of(MPI_Add_error_code(9999999, &code)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Add_error_string(MPI_ERR_TAG, "x")) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Error_string(0, NULL, &len)) == MPI_ERR_ARG);
}

static void texts(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int len = 0, rank = 0;
    int code = MPI_Comm_rank(MPI_COMM_NULL, &rank);
    CHECK(class_of(code) == MPI_ERR_COMM && code != MPI_ERR_COMM);
    CHECK(MPI_Error_string(code, text, &len) == MPI_SUCCESS);
    CHECK(strstr(text, "MPI_Comm_rank") && strncmp(text, "MPI_ERR_COMM: ", 14) == 0);
}

static void user_handlers(void)
{
    MPI_Errhandler mine, got, copy;
    MPI_Comm comm = MPI_COMM_SELF;
    CHECK(MPI_Comm_create_errhandler(on_comm_error, &mine) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(comm, mine) == MPI_SUCCESS);
    copy = mine;
    CHECK(MPI_Errhandler_free(&mine) == MPI_SUCCESS && mine == MPI_ERRHANDLER_NULL);
    // The user has no handle any more, but the communicator still has the handler.
    CHECK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER) == MPI_SUCCESS);
    CHECK(called == 1 && last_code == MPI_ERR_OTHER && last_comm == comm);
    int size = 0;
    CHECK(class_of(MPI_Errhandler_free(&copy)) == MPI_ERR_ERRHANDLER && called == 2);
    CHECK(class_of(MPI_Comm_size(MPI_COMM_NULL, &size)) == MPI_ERR_COMM && called == 3);
    CHECK(MPI_Comm_get_errhandler(comm, &got) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(comm, got) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_Errhandler_free(&got) == MPI_SUCCESS);
    CHECK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER) == MPI_SUCCESS && called == 3);

    called = 0;
    CHECK(MPI_Comm_create_errhandler(meddler, &mine) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(comm, mine) == MPI_SUCCESS);
    CHECK(MPI_Errhandler_free(&mine) == MPI_SUCCESS);
    CHECK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER) == MPI_SUCCESS && called == 1);
    CHECK(MPI_Comm_get_errhandler(comm, &got) == MPI_SUCCESS && got == MPI_ERRORS_RETURN);
    CHECK(MPI_Errhandler_free(&got) == MPI_SUCCESS && got == MPI_ERRHANDLER_NULL);
}

static void many(void)
{
    MPI_Errhandler e[100];
    for (int i = 0; i < 100; i++)
        CHECK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &e[i]) == MPI_SUCCESS);
    for (int i = 0; i < 100; i++) CHECK(MPI_Errhandler_free(&e[i]) == MPI_SUCCESS);
    for (int i = 0; i < 100; i++)
        CHECK(MPI_Comm_create_errhandler(on_comm_error, &e[i]) == MPI_SUCCESS);
    for (int i = 0; i < 100; i++) {
        CHECK(MPI_Comm_set_errhandler(MPI_COMM_SELF, e[i]) == MPI_SUCCESS);
        CHECK(MPI_Errhandler_free(&e[i]) == MPI_SUCCESS);
    }
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN) == MPI_SUCCESS);
}

static void other_kinds(void)
{
    MPI_Errhandler e, comm_handler;
    CHECK(MPI_File_get_errhandler(MPI_FILE_NULL, &e) == MPI_SUCCESS && e == MPI_ERRORS_RETURN);
    CHECK(MPI_File_create_errhandler(on_file_error, &e) == MPI_SUCCESS);
    CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, e) == MPI_SUCCESS);
    called = 0;
    CHECK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO) == MPI_SUCCESS && called == 1);
    CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(class_of(MPI_Comm_set_errhandler(MPI_COMM_SELF, e)) == MPI_ERR_ERRHANDLER);
    CHECK(MPI_Errhandler_free(&e) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_errhandler(on_comm_error, &comm_handler) == MPI_SUCCESS);
    CHECK(class_of(MPI_File_set_errhandler(MPI_FILE_NULL, comm_handler)) == MPI_ERR_ERRHANDLER);
    CHECK(MPI_Errhandler_free(&comm_handler) == MPI_SUCCESS);
    CHECK(class_of(MPI_Win_get_errhandler(MPI_WIN_NULL, &e)) == MPI_ERR_WIN);
    CHECK(class_of(MPI_Win_set_errhandler(MPI_WIN_NULL, MPI_ERRORS_RETURN)) == MPI_ERR_WIN);
    CHECK(class_of(MPI_Win_call_errhandler(MPI_WIN_NULL, 0)) == MPI_ERR_WIN);
}

static void mistakes(void)
{
    MPI_Errhandler e;
    CHECK(class_of(MPI_Comm_get_errhandler(MPI_COMM_NULL, &e)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Comm_set_errhandler(MPI_COMM_NULL, MPI_ERRORS_RETURN)) == MPI_ERR_COMM);
    e = MPI_ERRHANDLER_NULL;
    CHECK(class_of(MPI_Errhandler_free(&e)) == MPI_ERR_ERRHANDLER);
    CHECK(class_of(MPI_Comm_set_errhandler(MPI_COMM_SELF, e)) == MPI_ERR_ERRHANDLER);
    CHECK(class_of(MPI_Comm_create_errhandler(NULL, &e)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Comm_get_errhandler(MPI_COMM_SELF, NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Session_get_errhandler(MPI_SESSION_NULL, &e)) == MPI_ERR_SESSION);
    e = (MPI_Errhandler)(uintptr_t)0x123456789abc;
    CHECK(class_of(MPI_Comm_set_errhandler(MPI_COMM_SELF, e)) == MPI_ERR_ERRHANDLER);
}

int main(void)
{
    int class = 0, code = 0;
    CHECK(MPI_Error_class(MPI_ERR_IO, &class) == MPI_SUCCESS && class == MPI_ERR_IO);
    CHECK(MPI_Add_error_class(&class) == MPI_SUCCESS);
    CHECK(MPI_Add_error_code(class, &code) == MPI_SUCCESS);
    MPI_Init(NULL, NULL);
    CHECK(last_used() == code && class_of(code) == class);
    CHECK(MPI_Remove_error_code(code) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(class) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    codes();
    texts();
    user_handlers();
    many();
    other_kinds();
    mistakes();
    MPI_Finalize();
    CHECK(MPI_Error_class(MPI_ERR_IO, &class) == MPI_SUCCESS && class == MPI_ERR_IO);
    return SHOAL_TEST_RESULT();
}
