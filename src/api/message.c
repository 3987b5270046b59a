// SPDX-License-Identifier: BSD-3-Clause
// See message.h.
#include "api/message.h"

#include "plat/error.h"

int shoal_message_new(shoal_comm *c, shoal_message **out)
{
    shoal_object_register(SHOAL_KIND_MESSAGE, sizeof(shoal_message));
    shoal_message *m = shoal_object_new(SHOAL_KIND_MESSAGE);
    if (!m) return SHOAL_E_NO_MEM;
    m->comm = c;
    shoal_comm_hold(c);
    *out = m;
    return 0;
}

int shoal_message_find(MPI_Message h, shoal_message **out)
{
    shoal_message *m = shoal_object_get(SHOAL_KIND_MESSAGE, h);
    if (!m)
        return shoal_fail(SHOAL_E_REQUEST, "the message (%p) %s", (void *)h,
                          h == MPI_MESSAGE_NULL ? "is the null handle"
                                                : "names nothing; was it received before?");
    *out = m;
    return 0;
}

void shoal_message_free(shoal_message *m)
{
    shoal_comm_drop(m->comm);
    shoal_object_free(m);
}
