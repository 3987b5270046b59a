// SPDX-License-Identifier: BSD-3-Clause
// See agree.h. The number goes down a binomial tree of messages on the communicator's collective context.
#include "coll/agree.h"

#include "p2p/p2p.h"

#define TAG_CONTEXT 1

int shoal_agree_context(shoal_comm *c, uint64_t *context_out)
{
    uint64_t context = c->rank == 0 ? shoal_comm_new_context() : 0;
    shoal_message_args m = {.buf = &context, .count = sizeof context, .type = shoal_datatype_get(MPI_BYTE),
                            .tag = TAG_CONTEXT, .comm = c, .use = SHOAL_USE_COLL};
    int bit = 1;
    while (bit < c->size && !(c->rank & bit)) bit <<= 1;
    if (c->rank != 0) {
        m.rank = c->rank - bit;
        int rc = shoal_p2p_recv(&m, NULL);
        if (rc) return rc;
    }
    for (bit >>= 1; bit > 0; bit >>= 1) {
        m.rank = c->rank + bit;
        int rc = m.rank < c->size ? shoal_p2p_send(&m, SHOAL_MODE_STANDARD) : 0;
        if (rc) return rc;
    }
    *context_out = context;
    return 0;
}
