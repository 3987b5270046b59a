// SPDX-License-Identifier: BSD-3-Clause
// See mark.h. `what` is  kind | (root + 1) << 8 | op << 32 | element kind << 48 | form << 56
// | in place << 58.
#include "coll/mark.h"

#include <stdio.h>

#include "plat/error.h"
#include "plat/turn.h"

#define OP_USER  0xfffu
#define IN_PLACE ((uint64_t)1 << 58)

static const char *const names[SHOAL_COLL_KINDS] = {
    [SHOAL_COLL_NONE] = "an unknown collective",
    [SHOAL_COLL_BARRIER] = "MPI_Barrier",
    [SHOAL_COLL_BCAST] = "MPI_Bcast",
    [SHOAL_COLL_GATHER] = "MPI_Gather",
    [SHOAL_COLL_GATHERV] = "MPI_Gatherv",
    [SHOAL_COLL_SCATTER] = "MPI_Scatter",
    [SHOAL_COLL_SCATTERV] = "MPI_Scatterv",
    [SHOAL_COLL_ALLGATHER] = "MPI_Allgather",
    [SHOAL_COLL_ALLGATHERV] = "MPI_Allgatherv",
    [SHOAL_COLL_ALLTOALL] = "MPI_Alltoall",
    [SHOAL_COLL_ALLTOALLV] = "MPI_Alltoallv",
    [SHOAL_COLL_ALLTOALLW] = "MPI_Alltoallw",
    [SHOAL_COLL_REDUCE] = "MPI_Reduce",
    [SHOAL_COLL_ALLREDUCE] = "MPI_Allreduce",
    [SHOAL_COLL_REDUCE_SCATTER] = "MPI_Reduce_scatter",
    [SHOAL_COLL_REDUCE_SCATTER_BLOCK] = "MPI_Reduce_scatter_block",
    [SHOAL_COLL_SCAN] = "MPI_Scan",
    [SHOAL_COLL_EXSCAN] = "MPI_Exscan",
    [SHOAL_COLL_NEIGHBOR] = "a neighborhood collective",
};

static const struct {
    MPI_Op op;
    const char *name;
} op_names[] = {
    {MPI_MAX, "MPI_MAX"},         {MPI_MIN, "MPI_MIN"},       {MPI_SUM, "MPI_SUM"},
    {MPI_PROD, "MPI_PROD"},       {MPI_LAND, "MPI_LAND"},     {MPI_BAND, "MPI_BAND"},
    {MPI_LOR, "MPI_LOR"},         {MPI_BOR, "MPI_BOR"},       {MPI_LXOR, "MPI_LXOR"},
    {MPI_BXOR, "MPI_BXOR"},       {MPI_MINLOC, "MPI_MINLOC"}, {MPI_MAXLOC, "MPI_MAXLOC"},
    {MPI_REPLACE, "MPI_REPLACE"}, {MPI_NO_OP, "MPI_NO_OP"},
};

SHOAL_HOT shoal_arena_mark shoal_mark_make(enum shoal_coll_kind kind, int root, const shoal_op *op,
                                           const shoal_datatype *type, int64_t bytes)
{
    uint64_t which = !op ? 0 : op->predefined ? (uint64_t)(uintptr_t)op->handle : OP_USER;
    uint64_t basic = op && type ? type->basic : 0;
    return (shoal_arena_mark){.what = (uint64_t)kind | (uint64_t)(uint32_t)(root + 1) << 8 |
                                      (which & 0xffff) << 32 | basic << 48,
                              .bytes = (uint64_t)bytes};
}

SHOAL_HOT void shoal_mark_set_form(shoal_arena_mark *m, enum shoal_mark_form form)
{
    m->what |= (uint64_t)form << 56;
}

void shoal_mark_set_in_place(shoal_arena_mark *m)
{
    m->what |= IN_PLACE;
}

static const char *op_name(uint64_t which)
{
    for (size_t i = 0; i < sizeof op_names / sizeof op_names[0]; i++)
        if ((uint64_t)(uintptr_t)op_names[i].op == which) return op_names[i].name;
    return "a user's operation";
}

static void in_words(const shoal_arena_mark *m, char *out, size_t room)
{
    unsigned kind = (unsigned)(m->what & 0xff);
    long root = (long)(m->what >> 8 & 0xffffff) - 1;
    uint64_t op = m->what >> 32 & 0xffff;
    int n = snprintf(out, room, "%s(%llu bytes",
                     names[kind < SHOAL_COLL_KINDS ? kind : SHOAL_COLL_NONE],
                     (unsigned long long)m->bytes);
    if (root >= 0 && n < (int)room) n += snprintf(out + n, room - (size_t)n, ", root %ld", root);
    if (op && n < (int)room) n += snprintf(out + n, room - (size_t)n, ", %s", op_name(op));
    if (m->what & IN_PLACE && n < (int)room) n += snprintf(out + n, room - (size_t)n, ", in place");
    static const char *const forms[] = {"", ", non-blocking", ", persistent"};
    unsigned form = (unsigned)(m->what >> 56 & 3);
    if (n < (int)room) snprintf(out + n, room - (size_t)n, "%s)", forms[form < 3 ? form : 0]);
}

int shoal_mark_mismatch(const shoal_comm *c, const shoal_arena_mark *mine, int rank,
                        const shoal_arena_mark *theirs)
{
    char here[96], there[96];
    in_words(mine, here, sizeof here);
    in_words(theirs, there, sizeof there);
    bool same_call = mine->what == theirs->what;
    return shoal_fail(
        same_call ? SHOAL_E_TRUNCATE : SHOAL_E_OTHER,
        "the ranks of %s do not make the same collective call: rank %d calls %s, rank %d calls %s",
        shoal_comm_label(c), c->rank, here, rank, there);
}
