// SPDX-License-Identifier: BSD-3-Clause
// Two ways of doing the same work, of which nobody can say beforehand which is faster: whose caches
// hold the data, and how far apart the cores are, makes a difference of up to five times. So it is
// found out by doing: both are tried, the faster is taken, and the other is tried again when that
// has become slower, and now and then, ever more rarely while it loses.
//
// A trial is of several times. The first of them do not count: they are slow because of the way
// before, which has left the data in other caches. Nor does the longest, when somebody else had the
// core. Of the others it is the mean that counts: who need not wait for the others in some calls
// has to in others.
#ifndef SHOAL_CORE_WAYS_H
#define SHOAL_CORE_WAYS_H

#include <stdbool.h>
#include <stdint.h>

enum { SHOAL_WAY_KERNEL, SHOAL_WAY_COPIES }; // in the order in which they are tried

#define SHOAL_WAYS_FIRST       2u      // times that do not count
#define SHOAL_WAYS_TRIES       10u     // with these
#define SHOAL_WAYS_LONG        2000000 // ns: the second of such times is enough
#define SHOAL_WAYS_PAUSE_LEAST 64u
#define SHOAL_WAYS_PAUSE_MOST  2048u

typedef struct shoal_ways {
    float cost[2];   // ns for a byte, as far as they are known
    bool known[2];   // ... which this says
    uint8_t way;     // the one to take
    bool trial;      // it is being tried again, since the other was faster so far
    uint8_t tries;   // of it so far, while it is tried,
    uint8_t counted; // ... and those that count
    float sum, most; // ... all of these, and the longest
    uint16_t since;  // times that the faster was taken since the other was tried
    uint16_t pause;  // ... after which that is done again
} shoal_ways;

static inline int shoal_ways_next(const shoal_ways *w)
{
    return w->way;
}

static inline void shoal_ways_try(shoal_ways *w, uint8_t way)
{
    w->way = way;
    w->trial = true;
    w->tries = w->counted = 0;
    w->sum = w->most = 0;
}

// The one that is tried has to be faster by so much, and the one that is taken slower: the ways of
// other ranks are in the times too, and each would make the other try again.
#define SHOAL_WAYS_BETTER 0.95f
#define SHOAL_WAYS_WORSE  1.25f

static inline void shoal_ways_judge(shoal_ways *w)
{
    bool first = w->pause == 0;
    bool faster = w->cost[w->way] < w->cost[!w->way] * (first ? 1.0f : SHOAL_WAYS_BETTER);
    if (first || faster)
        w->pause = SHOAL_WAYS_PAUSE_LEAST;
    else if (w->pause < SHOAL_WAYS_PAUSE_MOST)
        w->pause = (uint16_t)(2 * w->pause);
    if (!faster) w->way = !w->way;
    w->since = 0;
    w->trial = false;
}

// One time more of a trial; true at its end.
static inline bool shoal_ways_counted(shoal_ways *w, float cost, bool is_long)
{
    if (w->tries++ >= (is_long ? 1 : SHOAL_WAYS_FIRST)) {
        w->counted++;
        w->sum += cost;
        if (cost > w->most) w->most = cost;
    }
    if (w->tries < SHOAL_WAYS_TRIES && !(is_long && w->counted > 0)) return false;
    w->cost[w->way] = w->counted > 1 ? (w->sum - w->most) / (float)(w->counted - 1) : w->sum;
    w->known[w->way] = true;
    return true;
}

// The way was taken, and so many bytes took so long. Says nothing if another was wanted.
static inline void shoal_ways_note(shoal_ways *w, int way, int64_t bytes, int64_t ns)
{
    if (way != w->way || bytes <= 0 || ns < 0) return;
    float cost = (float)ns / (float)bytes, *known = &w->cost[way];
    if (w->trial || !w->known[way]) {
        if (!shoal_ways_counted(w, cost, ns >= SHOAL_WAYS_LONG)) return;
        if (w->known[!way])
            shoal_ways_judge(w);
        else
            shoal_ways_try(w, !way);
        return;
    }
    // Once in a while it is a thousand times as long.
    if (cost > 4 * *known) cost = 4 * *known;
    *known += (cost - *known) / 16;
    if (*known > SHOAL_WAYS_WORSE * w->cost[!way] || ++w->since >= w->pause)
        shoal_ways_try(w, !way);
}

#endif
