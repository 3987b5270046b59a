// SPDX-License-Identifier: BSD-3-Clause
// Prefix reductions. Each rank keeps two values: `group`, combined over the aligned block of ranks
// that has been heard of so far, and the prefix, combined over those of them that are not above
// this rank.
#include "coll/algorithms.h"

void shoal_scan_doubling(shoal_schedule *s, const void *in, void *out, int64_t count,
                         shoal_datatype *t, bool exclusive)
{
    const shoal_comm *c = shoal_schedule_comm(s);
    bool empty = exclusive; // nobody below has been heard of
    char *group = shoal_schedule_scratch(s, count, t), *came = shoal_schedule_scratch(s, count, t);
    shoal_schedule_copy(s, in, count, t, group, count, t);
    if (!exclusive) shoal_schedule_copy(s, in, count, t, out, count, t);
    for (int distance = 1; distance < c->size; distance <<= 1) {
        int partner = c->rank ^ distance;
        if (partner >= c->size) continue;
        shoal_schedule_recv(s, came, count, t, partner);
        shoal_schedule_send(s, group, count, t, partner);
        shoal_schedule_wait(s);
        if (partner > c->rank) {
            shoal_schedule_reduce(s, group, came, count, t);
            char *old = group;
            group = came;
            came = old;
            continue;
        }
        if (empty)
            shoal_schedule_copy(s, came, count, t, out, count, t);
        else
            shoal_schedule_reduce(s, came, out, count, t);
        empty = false;
        shoal_schedule_reduce(s, came, group, count, t);
    }
}
