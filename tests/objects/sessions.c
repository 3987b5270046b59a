// SPDX-License-Identifier: BSD-3-Clause
// Sessions before, beside and after MPI_Init: process sets, groups, infos and error handlers.
// RANKS: 1 2
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/plat/test.h"

static int called;

static void on_session_error(MPI_Session *session, int *code, ...)
{
    (void)session;
    int class = 0;
    called++;
    CHECK(MPI_Error_class(*code, &class) == 0 && class == MPI_ERR_ARG);
}

static int class_of(int code)
{
    int class = -1;
    CHECK(MPI_Error_class(code, &class) == MPI_SUCCESS);
    return class;
}

static void sets(MPI_Session s)
{
    int n = 0, len = 0;
    char name[MPI_MAX_PSET_NAME_LEN];
    CHECK(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n) == 0 && n >= 2);
    for (int i = 0; i < n; i++) {
        MPI_Info info;
        MPI_Group group;
        int size = 0, flag = 0, room = 16;
        char text[16];
        len = 0;
        CHECK(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &len, NULL) == 0 && len > 6);
        int needed = len;
        CHECK(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &len, name) == 0);
        CHECK(len == needed && (int)strlen(name) == len - 1 && strncmp(name, "mpi://", 6) == 0);
        CHECK(MPI_Session_get_pset_info(s, name, &info) == 0);
        CHECK(MPI_Info_get_string(info, "mpi_size", &room, text, &flag) == 0 && flag);
        CHECK(MPI_Group_from_session_pset(s, name, &group) == 0);
        CHECK(MPI_Group_size(group, &size) == 0 && size == atoi(text));
        CHECK(MPI_Group_free(&group) == 0 && MPI_Info_free(&info) == 0);
    }
    len = 5;
    CHECK(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 0, &len, name) == 0);
    CHECK(strcmp(name, "mpi:") == 0 && len > 5);
}

static void mistakes(MPI_Session s)
{
    MPI_Group group;
    MPI_Info info;
    int n = 0, len = 0;
    CHECK(class_of(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, -1, &len, NULL)) == MPI_ERR_ARG);
    CHECK(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n) == 0);
    CHECK(class_of(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, n, &len, NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Session_get_pset_info(s, "no such set", &info)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Group_from_session_pset(s, "no such set", &group)) == MPI_ERR_ARG);
}

static void null_session(void)
{
    MPI_Session none = MPI_SESSION_NULL;
    MPI_Info info;
    int n = 0;
    CHECK(class_of(MPI_Session_get_num_psets(none, MPI_INFO_NULL, &n)) == MPI_ERR_SESSION);
    CHECK(class_of(MPI_Session_get_info(none, &info)) == MPI_ERR_SESSION);
    CHECK(class_of(MPI_Session_finalize(&none)) == MPI_ERR_SESSION);
}

static void handlers(MPI_Session s)
{
    MPI_Errhandler e, got;
    CHECK(MPI_Session_create_errhandler(on_session_error, &e) == 0);
    CHECK(MPI_Session_set_errhandler(s, e) == 0);
    CHECK(MPI_Session_get_errhandler(s, &got) == 0 && got == e);
    CHECK(MPI_Errhandler_free(&got) == 0 && MPI_Errhandler_free(&e) == 0);
    called = 0;
    mistakes(s);
    CHECK(called == 4);
    CHECK(MPI_Session_call_errhandler(s, MPI_ERR_ARG) == 0 && called == 5);
    CHECK(MPI_Session_set_errhandler(s, MPI_ERRORS_RETURN) == 0);
}

static MPI_Session open_session(const char *level)
{
    MPI_Session s = MPI_SESSION_NULL;
    MPI_Info info = MPI_INFO_NULL, used;
    char text[40];
    int flag = 0, len = sizeof text;
    if (level) {
        CHECK(MPI_Info_create(&info) == 0 && MPI_Info_set(info, "thread_level", level) == 0);
    }
    CHECK(MPI_Session_init(info, MPI_ERRORS_RETURN, &s) == 0 && s != MPI_SESSION_NULL);
    CHECK(MPI_Session_get_info(s, &used) == 0);
    CHECK(MPI_Info_get_string(used, "thread_level", &len, text, &flag) == 0 && flag);
    if (level) CHECK(strcmp(text, level) == 0 && MPI_Info_free(&info) == 0);
    CHECK(MPI_Info_free(&used) == 0);
    return s;
}

int main(void)
{
    int size = 0, world_size = 0;
    MPI_Session first = open_session("MPI_THREAD_SINGLE");
    sets(first);
    handlers(first);
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    null_session();
    MPI_Session second = open_session(NULL), copy = second;
    sets(second);
    MPI_Group world, self;
    CHECK(MPI_Group_from_session_pset(second, "mpi://WORLD", &world) == 0);
    CHECK(MPI_Group_from_session_pset(second, "mpi://SELF", &self) == 0);
    CHECK(MPI_Group_size(world, &size) == 0);
    CHECK(MPI_Comm_size(MPI_COMM_WORLD, &world_size) == 0 && size == world_size);
    CHECK(MPI_Group_size(self, &size) == 0 && size == 1);
    CHECK(MPI_Session_finalize(&second) == 0 && second == MPI_SESSION_NULL);
    CHECK(class_of(MPI_Session_finalize(&copy)) == MPI_ERR_SESSION);
    // A group outlives its session.
    CHECK(MPI_Group_size(world, &size) == 0 && size == world_size);
    CHECK(MPI_Group_free(&world) == 0 && MPI_Group_free(&self) == 0);
    MPI_Finalize();
    sets(first);
    CHECK(MPI_Session_finalize(&first) == 0);
    return SHOAL_TEST_RESULT();
}
