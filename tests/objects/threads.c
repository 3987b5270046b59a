// SPDX-License-Identifier: BSD-3-Clause
// Many threads make, use and free objects of all everyday kinds at once.
// RANKS: 1 2
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "../../src/plat/test.h"

#define THREADS 4
#define ROUNDS  2000

// A thread's own count of what went wrong; CHECK's counters belong to the main thread.
typedef struct worker {
    pthread_t thread;
    int number;
    int wrong;
} worker;

static int shared_key;

static int drop_value(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value;
    // Callbacks may call MPI, and those of several threads run at the same time.
    atomic_int *dropped = extra;
    atomic_fetch_add(dropped, 1);
    MPI_Info info;
    int rc = MPI_Info_create(&info);
    return rc == MPI_SUCCESS ? MPI_Info_free(&info) : rc;
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

static int infos(int number)
{
    MPI_Info info, dup;
    char value[16], got[16];
    int flag = 0, len = sizeof got, bad = 0;
    snprintf(value, sizeof value, "%d", number);
    bad += MPI_Info_create(&info) != 0 || MPI_Info_set(info, "k", value) != 0;
    bad += MPI_Info_dup(info, &dup) != 0;
    bad += MPI_Info_get_string(dup, "k", &len, got, &flag) != 0 || strcmp(got, value) != 0;
    return bad + (MPI_Info_free(&info) != 0) + (MPI_Info_free(&dup) != 0);
}

static int groups(void)
{
    MPI_Group world, none;
    int result = 0, zero = 0, bad = 0;
    bad += MPI_Comm_group(MPI_COMM_WORLD, &world) != 0;
    bad += MPI_Group_excl(world, 1, &zero, &none) != 0;
    bad += MPI_Group_compare(world, none, &result) != 0 || result != MPI_UNEQUAL;
    return bad + (MPI_Group_free(&none) != 0) + (MPI_Group_free(&world) != 0);
}

static int attributes(int number)
{
    int key = 0, flag = 0, bad = 0;
    void *value = NULL;
    bad += MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL) != 0;
    bad += MPI_Comm_set_attr(MPI_COMM_WORLD, key, (void *)(intptr_t)number) != 0;
    bad += MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag) != 0 || !flag;
    bad += value != (void *)(intptr_t)number;
    bad += MPI_Comm_delete_attr(MPI_COMM_WORLD, key) != 0;
    return bad + (MPI_Comm_free_keyval(&key) != 0);
}

// One keyval and one communicator for all: each set deletes another thread's value.
static int shared_attribute(int number)
{
    return MPI_Comm_set_attr(MPI_COMM_SELF, shared_key, (void *)(intptr_t)number) != 0;
}

static int errors(int round)
{
    MPI_Errhandler e;
    char text[MPI_MAX_ERROR_STRING];
    int n = 0, len = 0, class = 0, bad = 0;
    bad += MPI_Comm_create_errhandler(on_error, &e) != 0 || MPI_Errhandler_free(&e) != 0;
    int code = MPI_Info_get_nkeys(MPI_INFO_NULL, &n);
    bad += MPI_Error_class(code, &class) != 0 || class != MPI_ERR_INFO;
    bad += MPI_Error_string(code, text, &len) != 0 || strncmp(text, "MPI_ERR_INFO", 12) != 0;
    if (round % 100) return bad;
    bad += MPI_Add_error_class(&class) != 0 || MPI_Add_error_string(class, "x") != 0;
    bad += MPI_Remove_error_string(class) != 0 || MPI_Remove_error_class(class) != 0;
    return bad;
}

static void *work(void *arg)
{
    worker *w = arg;
    for (int i = 0; i < ROUNDS; i++) {
        w->wrong += infos(w->number) + groups() + attributes(w->number) + errors(i);
        w->wrong += shared_attribute(w->number);
        if (i % 100) continue;
        MPI_Session s;
        w->wrong += MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s) != 0;
        w->wrong += MPI_Session_finalize(&s) != 0;
    }
    return NULL;
}

int main(void)
{
    worker workers[THREADS];
    int provided = 0;
    atomic_int dropped = 0;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop_value, &shared_key, &dropped) == 0);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.number = i + 1};
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK(workers[i].wrong == 0);
    }
    CHECK(atomic_load(&dropped) == THREADS * ROUNDS - 1); // each value but the last, once
    CHECK(MPI_Comm_free_keyval(&shared_key) == 0);
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
