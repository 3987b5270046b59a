// SPDX-License-Identifier: BSD-3-Clause
// A child that is forked while another thread of the rank is inside MPI may still call what is
// allowed at any time, and is refused a session of its own.
// RANKS: 1
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../src/plat/test.h"

static _Atomic int stop;

static void *stay_inside(void *unused)
{
    int flag;
    while (!stop) MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    return unused;
}

static void child(void)
{
    alarm(5);
    MPI_Info info;
    MPI_Session session;
    int made = MPI_Info_create(&info) == MPI_SUCCESS;
    int refused = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS;
    _exit(made && refused ? 0 : 1);
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t t;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(pthread_create(&t, NULL, stay_inside, NULL) == 0);
    for (int i = 0; i < 30; i++) {
        int status = -1;
        usleep(500);
        pid_t pid = fork();
        if (pid == 0) child();
        CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    stop = 1;
    CHECK(pthread_join(t, NULL) == 0);
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
