// SPDX-License-Identifier: BSD-3-Clause
// No deadlock while another process can still bring a thread back to life: every rank waits in
// MPI_Recv, and a second thread of it waits for a child of its own, on a semaphore that both share
// or on a pipe. When the child has spoken the thread sends what is waited for.
// RANKS: 1 3
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../p2p/common.h"

static sem_t *word;
static int pipe_ends[2];

static void *listen_then_send(void *by_pipe)
{
    int x = 9;
    char c;
    if (by_pipe) {
        if (read(pipe_ends[0], &c, 1) != 1) return NULL;
    } else {
        while (sem_wait(word) != 0) {
        }
    }
    MPI_Send(&x, 1, MPI_INT, my_rank, 1, MPI_COMM_WORLD);
    return NULL;
}

static void wait_for_child(int by_pipe)
{
    int x = 0;
    pthread_t t;
    pid_t child = fork();
    if (child == 0) {
        nap_us(900000);
        if (by_pipe && write(pipe_ends[1], "x", 1) != 1) _exit(1);
        if (!by_pipe) sem_post(word);
        _exit(0);
    }
    CHECK(pthread_create(&t, NULL, listen_then_send, by_pipe ? pipe_ends : NULL) == 0);
    MPI_Recv(&x, 1, MPI_INT, my_rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(pthread_join(t, NULL) == 0 && x == 9);
    CHECK(waitpid(child, NULL, 0) == child);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    word = mmap(NULL, sizeof *word, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(word != MAP_FAILED && sem_init(word, 1, 0) == 0 && pipe(pipe_ends) == 0);
    wait_for_child(1);
    wait_for_child(0);
    return end_test();
}
