// SPDX-License-Identifier: BSD-3-Clause
// fork() in a rank is harmless: children that end in any way, that call MPI, that run programs
// (MPI programs too), that are born in the middle of messages or while another thread is inside
// MPI. The world goes on, and a child that calls MPI gets an error, not a crash and not a hang.
// RANKS: 1 2 4
// TIMEOUT: 60
#include <pthread.h>
#include <sys/wait.h>

#include "../p2p/common.h"

static int left, right;

// The world still works, with small and large messages.
static void world_goes_on(void)
{
    enum { BIG = 100000 };
    static unsigned char out[BIG], in[BIG];
    static uint64_t round;
    round++;
    fill(out, BIG, round + (uint64_t)my_rank);
    for (int bytes = 10; bytes <= BIG; bytes += BIG - 10) {
        CHECK(MPI_Sendrecv(out, bytes, MPI_BYTE, right, 1, in, bytes, MPI_BYTE, left, 1,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(wrong_bytes(in, (size_t)bytes, round + (uint64_t)left) == 0);
    }
}

// Runs body in a child that must end by itself; its exit status.
static int in_child(int (*body)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(10); // a hang is a failure, not the end of the test
        _exit(body());
    }
    int status = -1;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int nothing(void)
{
    return 7;
}

static int exits_properly(void)
{
    exit(8); // with everything that atexit does
}

// With MPI_ERRORS_RETURN each call comes back with an error.
static int calls_mpi(void)
{
    int rank = -1, bad = 0, flag = 0, b = 0;
    MPI_Request r = MPI_REQUEST_NULL;
    void *memory;
    bad += MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS;
    bad += MPI_Send(&b, 1, MPI_INT, 0, 99, MPI_COMM_WORLD) == MPI_SUCCESS;
    bad += MPI_Recv(&b, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    bad += MPI_Isend(&b, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, &r) == MPI_SUCCESS;
    bad += MPI_Iprobe(0, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    bad += MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    bad += MPI_Alloc_mem(100, MPI_INFO_NULL, &memory) == MPI_SUCCESS;
    // What an inherited exit handler does must not complain.
    bad += MPI_Finalized(&flag) != MPI_SUCCESS || !flag;
    bad += MPI_Finalize() != MPI_SUCCESS;
    return bad;
}

static int aborts(void)
{
    MPI_Abort(MPI_COMM_WORLD, 9);
    return 0;
}

// A child of a child.
static int forks(void)
{
    return in_child(calls_mpi) == 0 && shoal_test_failures == 0 ? 0 : 1;
}

static void children(void)
{
    CHECK(in_child(nothing) == 7);
    world_goes_on();
    CHECK(in_child(exits_properly) == 8);
    world_goes_on();
    CHECK(in_child(calls_mpi) == 0);
    world_goes_on();
    CHECK(in_child(forks) == 0);
    world_goes_on();
    CHECK(in_child(aborts) == 9);
    world_goes_on();
    // With the default handler the child ends with the error; its parent lives.
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL) == MPI_SUCCESS);
    int status = in_child(calls_mpi);
    CHECK(status != 0 && status < 128);
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    world_goes_on();
}

// Programs: a shell, and this very program, which is then a world of its own.
static void programs(const char *self)
{
    char command[4096];
    CHECK(system("true") == 0);
    snprintf(command, sizeof command, "'%s' alone >/dev/null", self);
    CHECK(system(command) == 0);
    world_goes_on();
    FILE *f = popen("echo 17", "r");
    int value = 0;
    CHECK(f && fscanf(f, "%d", &value) == 1 && value == 17 && pclose(f) == 0);
    world_goes_on();
}

// While a large message is under way; the child scribbles over its copy of the buffers.
static unsigned char big_out[1 << 20], big_in[1 << 20];

static int scribbles(void)
{
    memset(big_out, 1, sizeof big_out);
    memset(big_in, 2, sizeof big_in);
    return 0;
}

static void under_way(void)
{
    MPI_Request r[2];
    fill(big_out, sizeof big_out, (uint64_t)my_rank);
    CHECK(MPI_Irecv(big_in, sizeof big_in, MPI_BYTE, left, 2, MPI_COMM_WORLD, &r[0]) ==
          MPI_SUCCESS);
    CHECK(MPI_Isend(big_out, sizeof big_out, MPI_BYTE, right, 2, MPI_COMM_WORLD, &r[1]) ==
          MPI_SUCCESS);
    CHECK(in_child(scribbles) == 0);
    CHECK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(wrong_bytes(big_in, sizeof big_in, (uint64_t)left) == 0);
}

// A thread keeps the engine busy, so that most children are born with its lock taken.
static _Atomic int stop;

static void *busy(void *unused)
{
    (void)unused;
    int flag;
    while (!stop) {
        MPI_Iprobe(MPI_ANY_SOURCE, 12345, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
#ifndef __SANITIZE_ADDRESS__ // whose allocator can leave its own lock taken in the child
        MPI_Send(&flag, 1, MPI_INT, -50, 0, MPI_COMM_WORLD); // fails: errors have a lock, too
#endif
    }
    return NULL;
}

static void beside_threads(void)
{
    pthread_t t;
    CHECK(pthread_create(&t, NULL, busy, NULL) == 0);
    for (int k = 0; k < 40; k++) CHECK(in_child(calls_mpi) == 0);
    stop = 1;
    CHECK(pthread_join(t, NULL) == 0);
    world_goes_on();
}

static int world_of_one(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Finalize();
    return world_size == 1 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc > 1) return world_of_one();
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    left = (my_rank + world_size - 1) % world_size;
    right = (my_rank + 1) % world_size;
    children();
    programs(argv[0]);
    under_way();
    beside_threads();
    return end_test();
}
