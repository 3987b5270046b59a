// SPDX-License-Identifier: BSD-3-Clause
// Barrier and broadcast in the arena.
//
//   small   the root shows it all
//   large   in pieces: the root fills piece k while the others copy piece k - 1. With more ranks
//           than cores it shows them, so that who gets a core late finds many at once; else they
//           go through its ring
#include <string.h>

#include "coll/mark.h"
#include "coll/shm_coll.h"
#include "coll/shm_pipe.h"
#include "plat/turn.h"

#define CROWDED_PIECE (128 << 10) // several fit the nearest cache, and a turn is not for too little

SHOAL_HOT int shoal_shm_barrier(shoal_comm *c)
{
    shoal_arena_mark mark = shoal_mark_make(SHOAL_COLL_BARRIER, -1, NULL, NULL, 0);
    return shoal_epoch_sync(c, &mark);
}

// The next bytes go to the pool; past the caches, if others are slow to give up their lines.
static void show_next(const shoal_comm *c, shoal_cursor *cursor, char *to, int64_t bytes)
{
    const shoal_datatype *t = cursor->type;
    if (!t->dense || bytes == 0) {
        shoal_cursor_pack(cursor, to, bytes);
        return;
    }
    shoal_arena_copy(c->arena, to, cursor->buf + t->true_lb + cursor->position, bytes);
    shoal_arena_settle(c->arena);
    shoal_cursor_seek(cursor, cursor->position + bytes);
}

// The next bytes come from there; past the caches, if all that is received is more than they hold.
static void take_next(const shoal_comm *c, shoal_cursor *cursor, const char *from, int64_t bytes,
                      int64_t all)
{
    const shoal_datatype *t = cursor->type;
    if (!t->dense || !shoal_is_flood(c, all)) {
        shoal_cursor_unpack(cursor, from, bytes);
        return;
    }
    shoal_copy_past_caches(cursor->buf + t->true_lb + cursor->position, from, (size_t)bytes);
    shoal_settle_copies();
    shoal_cursor_seek(cursor, cursor->position + bytes);
}

static int pass_piece(shoal_comm *c, shoal_cursor *cursor, int64_t bytes, int root,
                      const shoal_arena_mark *mark)
{
    shoal_room room;
    int rc = shoal_room_begin(c, mark, bytes, true, &room);
    if (rc) return rc;
    char *place = shoal_room_of(&room, root);
    if (c->rank == root) {
        show_next(c, cursor, place, bytes);
        shoal_slot_publish(c->arena, room.epoch, mark, true);
        return 0;
    }
    rc = shoal_slot_wait(c, root, room.epoch, mark);
    if (rc == 0) take_next(c, cursor, place, bytes, (int64_t)mark->bytes);
    return rc;
}

static int bcast_shown(shoal_comm *c, shoal_cursor *cursor, int64_t bytes, int root,
                       const shoal_arena_mark *mark)
{
    int64_t most = CROWDED_PIECE;
    int rc = 0;
    for (; rc == 0 && bytes > most; bytes -= most) rc = pass_piece(c, cursor, most, root, mark);
    return rc ? rc : pass_piece(c, cursor, bytes, root, mark);
}

// What goes through the pipe.
typedef struct piped {
    const shoal_comm *comm;
    shoal_cursor *cursor;
    int64_t bytes;
} piped;

static void put_piece(void *what, char *place, int64_t bytes, bool warm)
{
    (void)warm;
    shoal_cursor_pack(((piped *)what)->cursor, place, bytes);
}

static void take_piece(void *what, const char *place, int64_t bytes)
{
    piped *p = what;
    take_next(p->comm, p->cursor, place, bytes, p->bytes);
}

static int bcast_large(shoal_comm *c, shoal_cursor *cursor, int64_t bytes, int root,
                       const shoal_arena_mark *mark)
{
    piped p = {.comm = c, .cursor = cursor, .bytes = bytes};
    return shoal_pipe_run(&(shoal_pipe){.comm = c,
                                        .mark = mark,
                                        .from = root,
                                        .bytes = bytes,
                                        .unit = 1,
                                        .put = put_piece,
                                        .take = take_piece,
                                        .what = &p});
}

int shoal_shm_bcast(shoal_comm *c, void *buf, int64_t count, shoal_datatype *type, int root)
{
    int64_t bytes;
    int rc = shoal_datatype_bytes(type, count, &bytes);
    if (rc) return rc;
    shoal_arena_mark mark = shoal_mark_make(SHOAL_COLL_BCAST, root, NULL, NULL, bytes);
    shoal_cursor cursor;
    shoal_cursor_init(&cursor, type, count, buf);
    if (c->arena->crowded || bytes <= shoal_room_most(c->arena, true))
        return bcast_shown(c, &cursor, bytes, root, &mark);
    return bcast_large(c, &cursor, bytes, root, &mark);
}
