// SPDX-License-Identifier: BSD-3-Clause
// Writing on the blackboard. Slots are taken under the engine lock; the sequence number tells a
// reader in another process that it has seen a whole note.
#include "watch/board.h"

#include <stdio.h>

static void begin(shoal_board_slot *s)
{
    uint32_t seq = atomic_load_explicit(&s->seq, memory_order_relaxed);
    atomic_store_explicit(&s->seq, seq + 1, memory_order_relaxed);
    // The odd number is visible before any of the note.
    atomic_thread_fence(memory_order_release);
}

static void end(shoal_board_slot *s)
{
    uint32_t seq = atomic_load_explicit(&s->seq, memory_order_relaxed);
    atomic_store_explicit(&s->seq, seq + 1, memory_order_release);
}

int shoal_board_write(shoal_berth *b, const shoal_wait_note *n)
{
    for (int i = 0; i < SHOAL_BOARD_SLOTS; i++) {
        shoal_board_slot *s = &b->board[i];
        if (atomic_load_explicit(&s->tid, memory_order_relaxed) != 0) continue;
        begin(s);
        snprintf(s->call, sizeof s->call, "%s", n->call ? n->call : "");
        snprintf(s->comm, sizeof s->comm, "%s", n->comm ? n->comm : "");
        s->context = n->context;
        s->peer = n->peer;
        s->peer_world = n->peer_world;
        s->tag = n->tag;
        s->is_send = n->is_send;
        s->collective = n->collective;
        s->requests = n->requests;
        s->bytes = n->bytes;
        s->since_ns = shoal_now_ns();
        atomic_store_explicit(&s->tid, shoal_tid(), memory_order_relaxed);
        end(s);
        return i;
    }
    return -1;
}

void shoal_board_wipe(shoal_berth *b, int slot)
{
    if (slot < 0) return;
    begin(&b->board[slot]);
    atomic_store_explicit(&b->board[slot].tid, 0, memory_order_relaxed);
    end(&b->board[slot]);
}
