// SPDX-License-Identifier: BSD-3-Clause
// Thread levels: what is asked for is granted, and asked for again gives the same answer.
// RANKS: 1 2
// ARGS: 2048
#include <pthread.h>

#include "../p2p/common.h"

static void *am_i_main(void *flag)
{
    MPI_Is_thread_main(flag);
    return NULL;
}

int main(int argc, char **argv)
{
    int required = argc > 1 ? atoi(argv[1]) : MPI_THREAD_MULTIPLE, provided = -1, again = -1,
        flag = -1;
    CHECK(MPI_Init_thread(&argc, &argv, required, &provided) == MPI_SUCCESS &&
          provided == required);
    CHECK(MPI_Query_thread(&again) == MPI_SUCCESS && again == provided);
    CHECK(MPI_Is_thread_main(&flag) == MPI_SUCCESS && flag == 1);
    pthread_t t;
    CHECK(pthread_create(&t, NULL, am_i_main, &flag) == 0 && pthread_join(t, NULL) == 0 &&
          flag == 0);
    return end_test();
}
