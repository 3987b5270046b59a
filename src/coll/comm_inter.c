// SPDX-License-Identifier: BSD-3-Clause
// Inter-communicators: making them from two groups, splitting them, and merging them into one. What
// one group has to know of the other is exchanged by two leaders and then told to each group.
#include <stdlib.h>
#include <string.h>

#include "coll/comm_make.h"
#include "core/session.h"
#include "job/job.h"
#include "plat/error.h"

// What leaders send when groups meet: who they are, and a context of theirs. The smaller of two
// contexts is taken.
typedef struct greeting {
    uint64_t context;
    int32_t size;  // of the group
    int32_t error; // of the leader: nothing comes of it, and the others must know (internal code)
    uint32_t peers[];
} greeting;

static size_t greeting_bytes(int size)
{
    return sizeof(greeting) + (size_t)size * sizeof(uint32_t);
}

// Room for a group of any size.
static greeting *new_greeting(void)
{
    greeting *g = calloc(1, greeting_bytes(shoal_the_job.size));
    if (!g) shoal_fail(SHOAL_E_NO_MEM, "no memory for a group of %d ranks", shoal_the_job.size);
    return g;
}

// The leader's part: *theirs becomes what the other group said, with the context that is taken.
static int greet(const shoal_bridge *bridge, const shoal_group *local, greeting *theirs)
{
    size_t got = 0;
    greeting *ours = new_greeting();
    if (!ours) return SHOAL_E_NO_MEM;
    ours->context = shoal_comm_new_context();
    ours->size = local->size;
    memcpy(ours->peers, local->peers, (size_t)local->size * sizeof *local->peers);
    int rc = shoal_agree_exchange(bridge, ours, greeting_bytes(ours->size), theirs,
                                  greeting_bytes(shoal_the_job.size), &got);
    if (rc == 0 &&
        (got < sizeof *theirs || got != greeting_bytes(theirs->size) || theirs->size < 1))
        rc = shoal_fail(SHOAL_E_OTHER,
                        "the remote leader (rank %d of %s) sent something else: do both groups "
                        "make the same call?",
                        bridge->rank, shoal_comm_label(bridge->comm));
    for (int i = 0; rc == 0 && i < theirs->size; i++)
        if (theirs->peers[i] >= (uint32_t)shoal_the_job.size)
            rc = shoal_fail(SHOAL_E_INTERN,
                            "the remote leader named peer %u, which this job does not have",
                            theirs->peers[i]);
    if (rc == 0 && ours->context < theirs->context) theirs->context = ours->context;
    free(ours);
    return rc;
}

// The groups of an inter-communicator must not share a process.
static int check_disjoint(const shoal_group *local, const greeting *theirs)
{
    for (int i = 0; i < theirs->size; i++) {
        int rank = shoal_group_rank_of(local, theirs->peers[i]);
        if (rank != MPI_UNDEFINED)
            return shoal_fail(SHOAL_E_GROUP,
                              "the groups overlap: rank %d of the local group is rank %d of the "
                              "remote one",
                              rank, i);
    }
    return 0;
}

// Two groups meet. `circle` begins with the leader, `all` with rank 0 of the local group; `bridge`
// is NULL on other ranks than the leader, or when the leader's arguments were wrong
// (`leader_error`).
static int meet(const shoal_circle *circle, const shoal_circle *all, const shoal_bridge *bridge,
                int leader_error, const shoal_comm *parent, shoal_group *local, shoal_comm **out)
{
    shoal_comm *inside = NULL;
    shoal_group *remote = NULL;
    greeting *theirs = new_greeting();
    if (!theirs) return SHOAL_E_NO_MEM;
    int rc = leader_error;
    if (bridge && rc == 0) rc = greet(bridge, local, theirs);
    if (circle->place == 0) theirs->error = rc > 0 ? SHOAL_E_OTHER : rc;
    int told = shoal_agree_bcast(circle, theirs, greeting_bytes(shoal_the_job.size));
    if (rc == 0) rc = told;
    if (rc == 0 && theirs->error)
        rc = shoal_fail(theirs->error,
                        "the local leader, rank %d of %d, could not reach the remote group",
                        circle->ranks[0], circle->size);
    if (rc == 0) rc = check_disjoint(local, theirs);
    if (rc == 0) rc = shoal_comm_make(all, NULL, parent, local, NULL, &inside);
    if (rc == 0 && !(remote = shoal_group_new(theirs->size, theirs->peers))) rc = SHOAL_E_NO_MEM;
    shoal_comm *c = rc == 0 ? shoal_comm_new(theirs->context, local, remote) : NULL;
    if (rc == 0 && !c) rc = SHOAL_E_NO_MEM;
    if (c) {
        if (parent) shoal_comm_inherit(c, parent);
        c->local = inside;
        *out = c;
    } else if (inside) {
        shoal_comm_drop(inside);
    }
    if (remote) shoal_group_drop(remote);
    free(theirs);
    return rc;
}

// Places of a circle that begins with `leader`.
static int *ranks_from(int leader, int size)
{
    int *ranks = malloc((size_t)size * sizeof *ranks);
    if (!ranks) {
        shoal_fail(SHOAL_E_NO_MEM, "no memory for %d ranks", size);
        return NULL;
    }
    for (int i = 0; i < size; i++) ranks[i] = (leader + i) % size;
    return ranks;
}

// The circle `all` turned so that it begins with the leader.
static shoal_circle turned(const shoal_circle *all, int leader, const int *ranks, int tag)
{
    int place = (all->place - leader + all->size) % all->size;
    return (shoal_circle){
        .comm = all->comm, .ranks = ranks, .size = all->size, .place = place, .tag = tag};
}

int shoal_intercomm_create(shoal_comm *local, int leader, shoal_comm *peer, int remote_leader,
                           int tag, shoal_comm **out)
{
    int *ranks = ranks_from(leader, local->size);
    if (!ranks) return SHOAL_E_NO_MEM;
    int error = 0;
    bool leads = local->rank == leader;
    shoal_bridge bridge = {.comm = peer, .rank = remote_leader, .tag = shoal_agree_user_tag(tag)};
    if (leads && !peer)
        error = shoal_fail(SHOAL_E_COMM, "the peer communicator is null or was freed");
    else if (leads && (remote_leader < 0 || remote_leader >= peer->remote_size))
        error = shoal_fail(SHOAL_E_RANK,
                           "remote_leader %d is outside the peer communicator, which has %d ranks",
                           remote_leader, peer->remote_size);
    shoal_circle all = shoal_circle_all(local);
    shoal_circle circle = turned(&all, leader, ranks, shoal_agree_tag(local));
    int rc = meet(&circle, &all, leads ? &bridge : NULL, error, local, local->group, out);
    free(ranks);
    return rc;
}

int shoal_intercomm_create_from_groups(shoal_group *local, int leader, shoal_group *remote,
                                       int remote_leader, const char *stringtag, shoal_comm **out)
{
    shoal_circle all, pair = {.comm = NULL};
    shoal_group *leaders = NULL;
    int *ranks = ranks_from(leader, local->size);
    if (!ranks) return SHOAL_E_NO_MEM;
    int rc = shoal_comm_vessel(local, stringtag, &all);
    if (rc) goto free_ranks;
    if (local->rank == leader) {
        // The same order of the two on both sides.
        uint32_t a = local->peers[leader], b = remote->peers[remote_leader];
        uint32_t both[2] = {a < b ? a : b, a < b ? b : a};
        if (a == b)
            rc = shoal_fail(
                SHOAL_E_GROUP,
                "the groups overlap: rank %d of the local group is rank %d of the remote "
                "one",
                leader, remote_leader);
        else if (!(leaders = shoal_group_new(2, both)))
            rc = SHOAL_E_NO_MEM;
        if (rc == 0) rc = shoal_comm_vessel(leaders, stringtag, &pair);
    }
    shoal_circle circle = turned(&all, leader, ranks, all.tag);
    shoal_bridge bridge = {.comm = pair.comm, .rank = 1 - pair.place, .tag = pair.tag};
    rc = meet(&circle, &all, pair.comm ? &bridge : NULL, rc, NULL, local, out);
    if (rc == 0 && local->session) {
        shoal_session_hold(local->session);
        (*out)->session = local->session;
    }
    if (pair.comm) shoal_comm_drop(pair.comm);
    if (leaders) shoal_group_drop(leaders);
    shoal_comm_drop(all.comm);
free_ranks:
    free(ranks);
    return rc;
}

// An inter-communicator of `n` of the local ranks and `m` of the remote ones. Every rank of the old
// one comes here; it gets NULL when it is not in, or when one side is empty.
static int make_of_ranks(shoal_comm *c, int n, const int ranks[], int m, const int remote_ranks[],
                         shoal_comm **out)
{
    shoal_group *group = NULL, *remote = NULL;
    int tag = shoal_agree_tag(c->local), bridge_tag = shoal_agree_tag(c);
    *out = NULL;
    if (n == 0 || m == 0) return 0;
    int rc = shoal_group_incl(c->group, n, ranks, &group);
    if (rc == 0) rc = shoal_group_incl(c->remote_group, m, remote_ranks, &remote);
    if (rc == 0 && group->rank != MPI_UNDEFINED) {
        shoal_circle circle = {
            .comm = c->local, .ranks = ranks, .size = n, .place = group->rank, .tag = tag};
        shoal_bridge bridge = {.comm = c, .rank = remote_ranks[0], .tag = bridge_tag};
        rc = shoal_comm_make(&circle, &bridge, c, group, remote, out);
    }
    if (group) shoal_group_drop(group);
    if (remote) shoal_group_drop(remote);
    return rc;
}

// Each side's leader sends `bytes` and everybody gets the other side's, up to `room`.
static int tell_other_side(shoal_comm *c, const void *ours, size_t bytes, void *theirs, size_t room)
{
    int rc = 0;
    shoal_circle all = shoal_circle_all(c->local);
    shoal_bridge bridge = {.comm = c, .rank = 0, .tag = shoal_agree_tag(c)};
    if (c->rank == 0) rc = shoal_agree_exchange(&bridge, ours, bytes, theirs, room, NULL);
    return rc == 0 ? shoal_agree_bcast(&all, theirs, room) : rc;
}

int shoal_intercomm_split(shoal_comm *c, int color, int key, shoal_comm **out)
{
    shoal_wish mine = {.color = color, .key = key};
    size_t all = (size_t)c->size + (size_t)c->remote_size;
    shoal_wish *ours = malloc(all * sizeof *ours), *theirs = ours + c->size;
    int *ranks = malloc(all * sizeof *ranks), *remote_ranks = ranks + c->size;
    int rc = ours && ranks ? 0 : shoal_fail(SHOAL_E_NO_MEM, "no memory to split %zu ranks", all);
    shoal_circle circle = shoal_circle_all(c->local);
    if (rc == 0) rc = shoal_agree_allgather(&circle, &mine, sizeof mine, ours);
    if (rc == 0)
        rc = tell_other_side(c, ours, (size_t)c->size * sizeof *ours, theirs,
                             (size_t)c->remote_size * sizeof *theirs);
    int n = 0, m = 0;
    if (rc == 0 && color != MPI_UNDEFINED) {
        n = shoal_wish_members(ours, c->size, color, ranks);
        m = shoal_wish_members(theirs, c->remote_size, color, remote_ranks);
        if (n < 0 || m < 0) rc = SHOAL_E_NO_MEM;
    }
    if (rc == 0) rc = make_of_ranks(c, n, ranks, m, remote_ranks, out);
    free(ours);
    free(ranks);
    return rc;
}

int shoal_intercomm_create_sub(shoal_comm *c, shoal_group *g, shoal_comm **out)
{
    size_t ours_room = (size_t)c->size + 1, theirs_room = (size_t)c->remote_size + 1;
    // A count and the chosen ranks.
    int *ours = calloc(ours_room + theirs_room, sizeof *ours);
    if (!ours) return shoal_fail(SHOAL_E_NO_MEM, "no memory for a group of %d ranks", g->size);
    int *theirs = ours + ours_room;
    int rc = shoal_comm_subset(c, g, ours + 1);
    if (rc == 0) {
        ours[0] = g->size;
        rc = tell_other_side(c, ours, ours_room * sizeof *ours, theirs,
                             theirs_room * sizeof *theirs);
    }
    if (rc == 0) rc = make_of_ranks(c, ours[0], ours + 1, theirs[0], theirs + 1, out);
    free(ours);
    return rc;
}

typedef struct merge_wish {
    uint64_t context;
    int64_t high;
} merge_wish;

int shoal_intercomm_merge(shoal_comm *c, bool high, shoal_comm **out)
{
    merge_wish both[2] = {{.high = high}}; // ours, theirs
    shoal_circle all = shoal_circle_all(c->local);
    shoal_bridge bridge = {.comm = c, .rank = 0, .tag = shoal_agree_tag(c)};
    int rc = 0;
    if (c->rank == 0) {
        both[0].context = shoal_comm_new_context();
        rc =
            shoal_agree_exchange(&bridge, &both[0], sizeof both[0], &both[1], sizeof both[1], NULL);
    }
    if (rc == 0) rc = shoal_agree_bcast(&all, both, sizeof both);
    if (rc) return rc;
    // Where both say the same of `high` the smaller context goes first: arbitrary, but alike on
    // both sides.
    bool ours_first =
        both[0].high != both[1].high ? !both[0].high : both[0].context < both[1].context;
    shoal_group *first = ours_first ? c->group : c->remote_group;
    shoal_group *second = ours_first ? c->remote_group : c->group;
    shoal_group *whole = NULL;
    rc = shoal_group_union(first, second, &whole);
    if (rc) return rc;
    // With a context of its own the new communicator can agree on the rest by itself.
    shoal_comm *way = shoal_comm_new(both[!ours_first].context, whole, NULL);
    if (!way) rc = SHOAL_E_NO_MEM;
    if (rc == 0) {
        way->vessel = true;
        shoal_circle everybody = shoal_circle_all(way);
        rc = shoal_comm_make(&everybody, NULL, c, whole, NULL, out);
        shoal_comm_drop(way);
    }
    shoal_group_drop(whole);
    return rc;
}
