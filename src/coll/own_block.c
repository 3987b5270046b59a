// SPDX-License-Identifier: BSD-3-Clause
// See own_block.h. A long one is copied in pieces, so that messages move meanwhile.
#include "coll/own_block.h"

#include "coll/shm_sync.h"

#define PIECE (128 << 10) // between two looks at what has come

shoal_own_block shoal_own_block_of(const shoal_comm *c, shoal_block from, shoal_block to)
{
    shoal_own_block o = {.from = from, .to = to};
    if (from.buf == MPI_IN_PLACE || to.buf == MPI_IN_PLACE) return o;
    o.bytes = shoal_block_bytes(&from);
    o.flood = shoal_is_flood(c, o.bytes);
    return o;
}

bool shoal_own_block_fits(const shoal_own_block *o)
{
    return o->bytes == 0 || o->bytes <= shoal_block_bytes(&o->to);
}

void shoal_own_block_copy(shoal_own_block *o)
{
    const shoal_block *from = &o->from, *to = &o->to;
    if (o->done < o->bytes)
        shoal_datatype_copy(from->buf, from->count, from->type, to->buf, to->count, to->type);
    o->done = o->bytes;
}

bool shoal_own_block_copy_piece(void *own)
{
    shoal_own_block *o = own;
    const shoal_block *from = &o->from, *to = &o->to;
    bool whole = o->bytes <= PIECE || !from->type->dense || !to->type->dense;
    if (whole || !shoal_own_block_fits(o)) shoal_own_block_copy(o);
    if (o->done == o->bytes) return false;
    int64_t left = o->bytes - o->done, part = left < PIECE ? left : PIECE;
    char *d = to->buf + to->type->true_lb + o->done;
    const char *f = from->buf + from->type->true_lb + o->done;
    if (o->flood)
        shoal_copy_past_caches(d, f, (size_t)part);
    else
        shoal_move(d, f, (size_t)part);
    o->done += part;
    if (o->done < o->bytes) return true;
    if (o->flood) shoal_settle_copies();
    return false;
}
