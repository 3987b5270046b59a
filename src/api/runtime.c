// SPDX-License-Identifier: BSD-3-Clause
// See runtime.h. Layers come up from the lowest and go down from the highest.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "api/runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "coll/arena.h"
#include "core/comm.h"
#include "core/datatype.h"
#include "core/op.h"
#include "core/request.h"
#include "job/job.h"
#include "net/shm/shm.h"
#include "p2p/p2p.h"
#include "plat/error.h"
#include "progress/engine.h"

static int users;
static bool been_here;              // the engine has run before
static _Atomic uint64_t probe_word; // holds its own address; see net/shm/cma.c

// A child of fork() is not part of the world: the segment is not even mapped there.
static void in_forked_child(void)
{
    shoal_errcode_unlock();
    // The thread that had the engine at the fork does not exist here.
    shoal_engine_reset();
    int running = SHOAL_ENGINE_RUNNING;
    if (!atomic_compare_exchange_strong(&shoal_the_engine.state, &running, SHOAL_ENGINE_FORKED))
        return;
    // What the child does, and how it ends, is not the job's affair.
    shoal_the_job.pmi_fd = -1;
    shoal_the_job.size = 1;
}

static void take_place(int level)
{
    shoal_berth *b = shoal_the_shm.berth;
    atomic_store_explicit(&probe_word, (uint64_t)(uintptr_t)&probe_word, memory_order_relaxed);
    atomic_store_explicit(&b->probe, (uint64_t)(uintptr_t)&probe_word, memory_order_release);
    atomic_store_explicit(&b->thread_level, level, memory_order_relaxed);
    atomic_store_explicit(&b->life, SHOAL_LIFE_INIT, memory_order_release);
}

// What a process has once: its place in the job, and the rings, whose positions outlive a session.
static int join(void)
{
    static bool joined;
    if (joined) return 0;
    int rc = shoal_job_join();
    if (rc == 0) rc = shoal_shm_init(&shoal_the_job.world);
    if (rc) return rc;
    shoal_vm_allow();
    shoal_self_peer = (uint32_t)shoal_the_job.rank;
    shoal_req_init();
    pthread_atfork(shoal_errcode_lock, shoal_errcode_unlock, in_forked_child);
    joined = true;
    return 0;
}

// What the engine itself needs has its place by now, but for requests: the first of them is made
// here, so that they do not take what is left to small blocks.
static void set_memory_apart(void)
{
    shoal_req *first = shoal_req_new(SHOAL_REQ_SEND, NULL);
    if (first) shoal_req_drop(first);
    shoal_malloc_keep();
}

static int start(int level)
{
    int rc = join();
    if (rc == 0) rc = shoal_errhandler_init();
    if (rc == 0) rc = shoal_group_init();
    if (rc == 0) rc = shoal_datatype_init();
    if (rc == 0) rc = shoal_op_init();
    if (rc == 0) rc = shoal_comm_init();
    if (rc == 0) rc = shoal_p2p_init();
    if (rc == 0) rc = shoal_arena_attach_world();
    if (rc) return rc;
    // The world counts every rank as awake from the start; one that has left counts again.
    if (been_here) atomic_fetch_add(&shoal_the_shm.world->header->awake, 1);
    if (!been_here) set_memory_apart();
    been_here = true;
    take_place(level);
    return 0;
}

int shoal_runtime_acquire(int level, int *granted_out)
{
    shoal_engine *e = &shoal_the_engine;
    if (atomic_load(&e->state) == SHOAL_ENGINE_FORKED)
        return shoal_fail(SHOAL_E_OTHER,
                          "a child process that a rank has forked cannot start MPI again");
    if (users == 0) {
        int rc = start(level);
        if (rc) return rc;
        e->thread_level = level;
        shoal_engine_use_lock(level == MPI_THREAD_MULTIPLE);
        shoal_engine_favour_me();
        atomic_store(&e->state, SHOAL_ENGINE_RUNNING);
    } else if (level > e->thread_level) {
        // Somebody wants more than the first one did.
        e->thread_level = level;
        atomic_store(&shoal_the_shm.berth->thread_level, level);
        shoal_engine_use_lock(level == MPI_THREAD_MULTIPLE);
    }
    users++;
    *granted_out = level;
    return 0;
}

void shoal_runtime_release(void)
{
    shoal_engine *e = &shoal_the_engine;
    if (--users > 0) return;
    shoal_p2p_drain();
    atomic_store(&e->state, SHOAL_ENGINE_FINALIZED);
    shoal_arena_detach(&shoal_comm_world);
    shoal_comm_fini();
    shoal_p2p_fini();
    shoal_datatype_fini();
    atomic_store_explicit(&shoal_the_shm.berth->life, SHOAL_LIFE_FINALIZED, memory_order_release);
    // Those who still wait may now wait in vain: the watch must look.
    if (atomic_fetch_sub(&shoal_the_shm.world->header->awake, 1) <= 1)
        shoal_world_notify(shoal_the_shm.world);
    // A foreign launcher takes a process that ends without this for one that failed.
    if (!shoal_the_job.launched && shoal_the_job.pmi_fd >= 0) shoal_pmi_close();
    if (!shoal_the_job.launched) shoal_the_job.pmi_fd = -1;
    shoal_engine_use_lock(true);
}
