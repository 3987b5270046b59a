// SPDX-License-Identifier: BSD-3-Clause
// Matching, in one place: posted receives against messages that arrive, and new receives against
// messages that came unexpected. Both sides are kept in an index from a key (context, source, tag)
// to a list in order of time:
//
//     a receive is posted under one key, its own, wildcards included;
//     a message is looked up under the four keys that could match it, the oldest receive wins;
//     an unexpected message is kept under its own key, so a receive looks up one key and takes the
//     first; and under the keys with wildcards, but those only from the first receive or probe on
//     that asks for such a key. They go out of use when the messages run out and nobody has asked.
//
// Nothing is ever searched: 100,000 unexpected messages cost as much as one.
#ifndef SHOAL_P2P_MATCH_H
#define SHOAL_P2P_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/request.h"

// A message that came before its receive.
typedef struct shoal_unexpected {
    shoal_match_link links[4];            // under (src, tag), (src, any), (any, tag), (any, any)
    struct shoal_unexpected *prev, *next; // all that are kept, in order of arrival
    // From here on a new entry is zero.
    uint64_t context;
    int32_t src, tag;
    uint32_t peer;
    uint32_t kind; // SHOAL_PKT_EAGER, _EAGER_SYNC, _RTS; or 0: from this very process
    int64_t bytes; // of the message
    uint64_t id;   // the sender's request, if it waits for an answer
    uint64_t address, heap, traits; // of an RTS
    uint32_t here;                  // bytes that are at `data`
    uint32_t room;                  // for data, of this struct
    shoal_req *self;                // the sending request when it is this process's own and waits
    char *data; // the message, or the first part of it, behind this struct or in a block of its own
    bool owed;  // see below
    int64_t since;
    struct shoal_unexpected *owed_before, *owed_after;
} shoal_unexpected;

void shoal_match_init(void);
void shoal_match_fini(void);

// Posts a receive.
void shoal_match_post(shoal_req *);
// Takes a posted receive back; it had not been matched.
void shoal_match_unpost(shoal_req *);
// The posted receive that a message matches, taken out; or NULL.
shoal_req *shoal_match_arrived(uint64_t context, int src, int tag);

// A new entry with room for `payload` bytes behind it; NULL when memory is out.
shoal_unexpected *shoal_unexpected_new(uint32_t payload);
// Room for so many bytes instead.
void shoal_unexpected_grow(shoal_unexpected *, uint32_t payload);
void shoal_unexpected_free(shoal_unexpected *);
void shoal_match_keep(shoal_unexpected *);
// The oldest unexpected message that a receive would match; still kept.
shoal_unexpected *shoal_match_find(uint64_t context, int src, int tag);
void shoal_match_remove(shoal_unexpected *);
// The message of that sender's request, for cancelling.
shoal_unexpected *shoal_match_find_id(uint32_t peer, uint64_t id);
// Drops all that is kept for a context that is being freed; `gone` is told of each before it goes.
void shoal_match_purge(uint64_t context, void (*gone)(const shoal_unexpected *));

// Messages whose senders wait for them to be fetched, though nobody has asked for them
// (shoal_net_owed is how many): the oldest, and since when. Also one that a probe has taken away
// stays among them, until it is fetched or freed.
void shoal_owed_add(shoal_unexpected *);
void shoal_owed_drop(shoal_unexpected *); // does nothing if it is not
shoal_unexpected *shoal_owed_oldest(void);

extern uint64_t shoal_match_kept; // messages that wait for a receive
extern uint32_t shoal_match_open; // receives that wait for a message

// Some receive is posted.
static inline bool shoal_match_posted(void)
{
    return shoal_match_open > 0;
}

// Nothing is posted and nothing kept: the next packet of a ring cannot be meant for anybody but who
// looks at it.
static inline bool shoal_match_idle(void)
{
    return (shoal_match_kept | shoal_match_open) == 0;
}

#endif
