// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point messages through the MPICH ABI: special ranks and tags, statuses, arrays.
#include "check.h"

#define COMM MPI_COMM_WORLD

static void special_values(void)
{
    int x = 42;
    MPI_Status s;
    memset(&s, 0x55, sizeof s);
    int error = s.MPI_ERROR;
    OK(MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 3, COMM, &s));
    int count = -1;
    OK(MPI_Get_count(&s, MPI_INT, &count));
    CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG && count == 0);
    CHECK(s.MPI_ERROR == error); // not the call's to change
    OK(MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 3, COMM));
    OK(MPI_Sendrecv(&x, 1, MPI_INT, MPI_PROC_NULL, 1, &x, 1, MPI_INT, MPI_PROC_NULL, 1, COMM,
                    MPI_STATUS_IGNORE));
    MPI_Request r = MPI_REQUEST_NULL;
    OK(MPI_Wait(&r, &s));
    CHECK(s.MPI_SOURCE == MPI_ANY_SOURCE && s.MPI_TAG == MPI_ANY_TAG);
    FAILS(MPI_Send(&x, 1, MPI_INT, MPI_ANY_SOURCE, 3, COMM), MPI_ERR_RANK);
    FAILS(MPI_Send(&x, 1, MPI_INT, my_size, 3, COMM), MPI_ERR_RANK);
    FAILS(MPI_Send(&x, 1, MPI_INT, my_rank, MPI_ANY_TAG, COMM), MPI_ERR_TAG);
    FAILS(MPI_Send(&x, 1, MPI_INT, my_rank, -2, COMM), MPI_ERR_TAG);
    FAILS(MPI_Send(&x, -1, MPI_INT, my_rank, 3, COMM), MPI_ERR_COUNT);
    FAILS(MPI_Send(&x, 1, MPI_DATATYPE_NULL, my_rank, 3, COMM), MPI_ERR_TYPE);
    FAILS(MPI_Send(&x, 1, MPI_INT, my_rank, 3, MPI_COMM_NULL), MPI_ERR_COMM);
}

static void ring(void)
{
    int right = (my_rank + 1) % my_size, left = (my_rank + my_size - 1) % my_size;
    double in[8], out[8];
    for (int i = 0; i < 8; i++) out[i] = my_rank + i / 10.0;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    OK(MPI_Irecv(in, 8, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, COMM, &requests[0]));
    OK(MPI_Isend(out, 5, MPI_DOUBLE, right, 17, COMM, &requests[1]));
    CHECK(requests[0] != MPI_REQUEST_NULL && requests[0] != requests[1]);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(requests[0])) == requests[0]);
    OK(MPI_Waitall(2, requests, statuses));
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    CHECK(statuses[0].MPI_SOURCE == left && statuses[0].MPI_TAG == 17);
    int count = 0;
    OK(MPI_Get_count(&statuses[0], MPI_DOUBLE, &count));
    CHECK(count == 5 && in[4] == left + 0.4);
    OK(MPI_Get_elements(&statuses[0], MPI_DOUBLE, &count));
    CHECK(count == 5);
    MPI_Count large = 0;
    OK(MPI_Get_count_c(&statuses[0], MPI_DOUBLE, &large));
    CHECK(large == 5);
    OK(MPI_Get_count(&statuses[0], MPI_LONG_DOUBLE, &count));
    CHECK(count == MPI_UNDEFINED);
    int flag = 1;
    OK(MPI_Test_cancelled(&statuses[0], &flag));
    CHECK(!flag);
}

static void many(void)
{
    enum { N = 300 };
    static int in[N], out[N];
    MPI_Request r[2 * N];
    MPI_Status s[2 * N];
    for (int i = 0; i < N; i++) {
        out[i] = i;
        OK(MPI_Irecv(&in[i], 1, MPI_INT, my_rank, i, COMM, &r[i]));
    }
    for (int i = 0; i < N; i++) OK(MPI_Isend(&out[i], 1, MPI_INT, my_rank, i, COMM, &r[N + i]));
    OK(MPI_Waitall(2 * N, r, s));
    for (int i = 0; i < N; i++) CHECK(in[i] == i && s[i].MPI_TAG == i && r[i] == MPI_REQUEST_NULL);
    for (int i = 0; i < 3; i++) OK(MPI_Irecv(&in[i], 1, MPI_INT, my_rank, i, COMM, &r[i]));
    OK(MPI_Send(&out[7], 1, MPI_INT, my_rank, 1, COMM));
    int index = -1, flag = -1, some = 0, indices[3];
    OK(MPI_Waitany(3, r, &index, &s[0]));
    CHECK(index == 1 && r[1] == MPI_REQUEST_NULL && s[0].MPI_TAG == 1 && in[1] == 7);
    OK(MPI_Testall(3, r, &flag, MPI_STATUSES_IGNORE));
    CHECK(!flag && r[0] != MPI_REQUEST_NULL);
    OK(MPI_Send(&out[8], 1, MPI_INT, my_rank, 2, COMM));
    memset(s, 0x55, sizeof s);
    OK(MPI_Waitsome(3, r, &some, indices, s));
    CHECK(some == 1 && indices[0] == 2 && s[0].MPI_TAG == 2 && s[1].MPI_TAG == 0x55555555);
    OK(MPI_Request_get_status(r[0], &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Cancel(&r[0]));
    OK(MPI_Wait(&r[0], &s[0]));
    OK(MPI_Test_cancelled(&s[0], &flag));
    CHECK(flag && r[0] == MPI_REQUEST_NULL);
    OK(MPI_Testsome(3, r, &some, indices, MPI_STATUSES_IGNORE));
    CHECK(some == MPI_UNDEFINED);
    OK(MPI_Waitany(3, r, &index, MPI_STATUS_IGNORE));
    CHECK(index == MPI_UNDEFINED);
}

static void persistent_and_matched(void)
{
    int out = 5, in = 0, flag = 0;
    MPI_Request r[2];
    OK(MPI_Send_init(&out, 1, MPI_INT, my_rank, 9, COMM, &r[0]));
    OK(MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, COMM, &r[1]));
    for (int i = 0; i < 3; i++) {
        out = 10 + i;
        OK(MPI_Startall(2, r));
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        CHECK(in == 10 + i && r[0] != MPI_REQUEST_NULL);
    }
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
    CHECK(r[0] == MPI_REQUEST_NULL);
    MPI_Message message;
    MPI_Status s;
    OK(MPI_Improbe(MPI_ANY_SOURCE, 30, COMM, &flag, &message, &s));
    CHECK(!flag);
    OK(MPI_Isend(&out, 1, MPI_INT, my_rank, 30, COMM, &r[0]));
    OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, COMM, &message, &s));
    CHECK(message != MPI_MESSAGE_NULL && s.MPI_SOURCE == my_rank && s.MPI_TAG == 30);
    OK(MPI_Mrecv(&in, 1, MPI_INT, &message, &s));
    CHECK(message == MPI_MESSAGE_NULL && in == out);
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    OK(MPI_Mprobe(MPI_PROC_NULL, 0, COMM, &message, &s));
    CHECK(message == MPI_MESSAGE_NO_PROC);
    OK(MPI_Mrecv(&in, 1, MPI_INT, &message, &s));
    CHECK(message == MPI_MESSAGE_NULL && s.MPI_SOURCE == MPI_PROC_NULL);
}

static void errors_of_messages(void)
{
    int out[4] = {1, 2, 3, 4}, in[4] = {0, 0, 0, 0};
    MPI_Request r[2];
    MPI_Status s[2];
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    OK(MPI_Irecv(in, 2, MPI_INT, my_rank, 4, COMM, &r[0]));
    OK(MPI_Isend(out, 4, MPI_INT, my_rank, 4, COMM, &r[1]));
    int code = MPI_Waitall(2, r, s);
    CHECK(class_of(code) == MPI_ERR_IN_STATUS);
    CHECK(class_of(s[0].MPI_ERROR) == MPI_ERR_TRUNCATE && s[1].MPI_ERROR == MPI_SUCCESS);
    CHECK(in[2] == 0);
    OK(MPI_Error_string(s[0].MPI_ERROR, text, &length));
    CHECK(length == (int)strlen(text) && strstr(text, "TRUNCATE") != NULL);
    MPI_Request stale = r[0] = MPI_REQUEST_NULL;
    OK(MPI_Irecv(in, 2, MPI_INT, MPI_PROC_NULL, 4, COMM, &r[0]));
    stale = r[0];
    OK(MPI_Wait(&r[0], s));
    (void)stale;
    MPI_Request invented = 12345;
    FAILS(MPI_Wait(&invented, s), MPI_ERR_REQUEST);
}

static void statuses(void)
{
    MPI_Status s;
    memset(&s, 0, sizeof s);
    int count = 0, flag = 0, value = 0;
    OK(MPI_Status_set_elements(&s, MPI_INT, 7));
    OK(MPI_Get_count(&s, MPI_INT, &count));
    CHECK(count == 7);
    MPI_Count large = 0;
    OK(MPI_Status_set_elements_x(&s, MPI_BYTE, (MPI_Count)1 << 40));
    OK(MPI_Get_elements_x(&s, MPI_BYTE, &large));
    CHECK(large == (MPI_Count)1 << 40);
    OK(MPI_Status_set_cancelled(&s, 1));
    OK(MPI_Test_cancelled(&s, &flag));
    OK(MPI_Get_elements_x(&s, MPI_BYTE, &large));
    CHECK(flag && large == (MPI_Count)1 << 40);
    OK(MPI_Status_set_source(&s, MPI_PROC_NULL));
    OK(MPI_Status_set_tag(&s, MPI_ANY_TAG));
    OK(MPI_Status_set_error(&s, MPI_ERR_TRUNCATE));
    CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG);
    CHECK(s.MPI_ERROR == MPI_ERR_TRUNCATE);
    OK(MPI_Status_get_source(&s, &value));
    CHECK(value == MPI_PROC_NULL);
    OK(MPI_Status_get_error(&s, &value));
    CHECK(value == MPI_ERR_TRUNCATE);
    MPI_Fint fortran[MPI_F_STATUS_SIZE];
    MPI_Status back;
    OK(MPI_Status_c2f(&s, fortran));
    OK(MPI_Status_f2c(fortran, &back));
    CHECK(memcmp(&s, &back, sizeof s) == 0 && fortran[MPI_F_SOURCE] == MPI_PROC_NULL);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    special_values();
    ring();
    many();
    persistent_and_matched();
    errors_of_messages();
    statuses();
    return finish();
}
