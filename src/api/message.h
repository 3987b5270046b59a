// SPDX-License-Identifier: BSD-3-Clause
// The object behind MPI_Message: a message that MPI_Mprobe has taken and that waits to be received.
#ifndef SHOAL_API_MESSAGE_H
#define SHOAL_API_MESSAGE_H

#include "p2p/p2p.h"

typedef struct shoal_message {
    shoal_object object;
    shoal_unexpected *unexpected;
    shoal_comm *comm; // held
} shoal_message;

// An object for a message yet to be found: once a message is taken nothing may fail.
int shoal_message_new(shoal_comm *, shoal_message **out);
int shoal_message_find(MPI_Message, shoal_message **out);
void shoal_message_free(shoal_message *);

#endif
