// SPDX-License-Identifier: BSD-3-Clause
// The environment: starting and ending MPI, versions, clocks, the processor's name, memory.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/api.h"
#include "api/runtime.h"
#include "coll/signature.h"
#include "core/attr.h"
#include "job/job.h"
#include "net/shm/shm.h"
#include "progress/engine.h"

static bool initialized, finalized;
static pthread_t main_thread;

bool shoal_runtime_initialized(void)
{
    return initialized;
}

bool shoal_runtime_finalized(void)
{
    return finalized;
}

static int init(const char *call, int required, int *provided)
{
    int rc = 0, granted;
    shoal_enter_any_time(call);
    if (initialized || finalized)
        rc = shoal_fail(SHOAL_E_OTHER, "MPI can be initialised only once");
    if (rc == 0) rc = shoal_runtime_acquire(required, &granted);
    if (rc == 0) {
        initialized = true;
        main_thread = pthread_self();
        if (provided) *provided = granted;
    }
    return shoal_leave(rc);
}

int PMPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return init("MPI_Init", MPI_THREAD_SINGLE, NULL);
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc;
    (void)argv;
    // A level between two known ones is served by the next higher.
    int level = required <= MPI_THREAD_SINGLE       ? MPI_THREAD_SINGLE
                : required <= MPI_THREAD_FUNNELED   ? MPI_THREAD_FUNNELED
                : required <= MPI_THREAD_SERIALIZED ? MPI_THREAD_SERIALIZED
                                                    : MPI_THREAD_MULTIPLE;
    return init("MPI_Init_thread", level, provided);
}

int PMPI_Initialized(int *flag)
{
    *flag = initialized || finalized;
    return MPI_SUCCESS;
}

static bool forked(void)
{
    return atomic_load(&shoal_the_engine.state) == SHOAL_ENGINE_FORKED;
}

int PMPI_Finalized(int *flag)
{
    *flag = finalized || forked(); // for a forked child MPI is over
    return MPI_SUCCESS;
}

int PMPI_Finalize(void)
{
    int error = 0;
    if (forked())
        return MPI_SUCCESS; // an exit handler that the child has inherited: nothing of its own to
                            // end
    int rc = shoal_enter("MPI_Finalize");
    if (rc == 0 && !initialized) rc = shoal_fail(SHOAL_E_OTHER, "MPI_Init was not called");
    // The standard's hook for libraries: attributes of MPI_COMM_SELF go first, while MPI still
    // works.
    if (rc == 0)
        rc = shoal_attr_delete_all(&shoal_comm_self.attrs, MPI_COMM_SELF, SHOAL_ATTR_COMM, &error);
    if (rc == 0)
        rc =
            shoal_attr_delete_all(&shoal_comm_world.attrs, MPI_COMM_WORLD, SHOAL_ATTR_COMM, &error);
    if (rc == 0) {
        // Told through the communicator's own handler; what it returns does not keep MPI from
        // ending.
        error = shoal_raise(shoal_signature_review(&shoal_comm_world), &shoal_comm_world);
        shoal_runtime_release();
        initialized = false;
        finalized = true;
    }
    return shoal_leave(error ? error : rc);
}

int PMPI_Query_thread(int *provided)
{
    int rc = shoal_enter("MPI_Query_thread");
    if (rc == 0) *provided = shoal_the_engine.thread_level;
    return shoal_leave(rc);
}

int PMPI_Is_thread_main(int *flag)
{
    int rc = shoal_enter("MPI_Is_thread_main");
    if (rc == 0) *flag = pthread_equal(pthread_self(), main_thread) != 0;
    return shoal_leave(rc);
}

int PMPI_Abort(MPI_Comm comm, int errorcode)
{
    (void)comm; // every communicator's processes are the job's
    fflush(stdout);
    shoal_job_abort(errorcode, "MPI_Abort");
}

int PMPI_Get_version(int *version, int *subversion)
{
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

int PMPI_Get_library_version(char *version, int *resultlen)
{
    *resultlen =
        snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "Shoal %s (MPI %d.%d, ABI %d.%d)",
                 SHOAL_VERSION, MPI_VERSION, MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
    return MPI_SUCCESS;
}

int PMPI_Get_processor_name(char *name, int *resultlen)
{
    int rc = shoal_enter("MPI_Get_processor_name");
    if (rc == 0 && gethostname(name, MPI_MAX_PROCESSOR_NAME) != 0)
        snprintf(name, MPI_MAX_PROCESSOR_NAME, "localhost");
    if (rc == 0) {
        name[MPI_MAX_PROCESSOR_NAME - 1] = 0;
        *resultlen = (int)strlen(name);
    }
    return shoal_leave(rc);
}

double PMPI_Wtime(void)
{
    return (double)shoal_now_ns() * 1e-9;
}

double PMPI_Wtick(void)
{
    struct timespec ts;
    clock_getres(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

int PMPI_Pcontrol(const int level, ...)
{
    (void)level; // nothing here records unless a tool does
    return MPI_SUCCESS;
}

MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}

MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}

int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    shoal_info *i;
    size_t align = 64;
    int rc = shoal_enter("MPI_Alloc_mem");
    if (rc == 0) rc = shoal_arg_info_or_null(info, &i);
    if (rc == 0) rc = shoal_arg_pointer(baseptr, "baseptr");
    if (rc == 0 && size < 0) rc = shoal_fail(SHOAL_E_ARG, "size is %lld", (long long)size);
    const char *wish = rc == 0 && i ? shoal_info_find(i, "mpi_minimum_memory_alignment") : NULL;
    if (wish) {
        long v = strtol(wish, NULL, 10);
        if (v > 0 && v <= 1 << 21 && (v & (v - 1)) == 0) align = (size_t)v;
    }
    if (rc == 0) {
        void *memory = shoal_heap_alloc((size_t)size, align);
        if (memory)
            *(void **)baseptr = memory;
        else
            rc = SHOAL_E_NO_MEM;
    }
    return shoal_leave(rc);
}

int PMPI_Free_mem(void *base)
{
    int rc = shoal_enter("MPI_Free_mem");
    if (rc == 0 && base && !shoal_heap_free(base))
        rc = shoal_fail(-MPI_ERR_BASE, "%p does not come from MPI_Alloc_mem, or was freed already",
                        base);
    return shoal_leave(rc);
}

#include "weak_init.h"
