// SPDX-License-Identifier: BSD-3-Clause
// Making, mapping and checking the world's segment.
#include "job/world.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plat/error.h"

#define PAGE           4096u
#define RING_FEW       (128u << 10) // one ring when ranks are few
#define RING_MANY      (64u << 10)  // ... and when there are more than RANKS_FEW
#define RANKS_FEW      128u
#define ARENA_PER_RANK (8u << 20)
#define DEPOT_MAX      (3u << 20) // well above a core's own cache: see net/shm/depot.h
#define DEPOT_MIN      (512u << 10)
#define DEPOT_ALL      (64u << 20) // ... of all ranks together, if that leaves them DEPOT_MIN
#define FERRY          ((192u << 10) + PAGE) // see net/shm/ferry.h
#define RANKS_FERRIES  32u                   // ... with more ranks than cores
#define HEAP_TOTAL_MAX (16ull << 40)
#define HEAP_MIN       (64ull << 20)

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

// A rank may want the whole memory of the machine in its shared heap; the file is sparse, so
// address space is all that this costs, unless the user has limited that.
static uint64_t heap_bytes_for(uint32_t nranks)
{
    uint64_t ram = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t each = round_up(ram, 1u << 30);
    if (each > HEAP_TOTAL_MAX / nranks) each = HEAP_TOTAL_MAX / nranks;
    struct rlimit as;
    if (getrlimit(RLIMIT_AS, &as) == 0 && as.rlim_cur != RLIM_INFINITY) {
        uint64_t share = as.rlim_cur / 4 / nranks;
        if (each > share) each = share;
    }
    if (getrlimit(RLIMIT_FSIZE, &as) == 0 && as.rlim_cur != RLIM_INFINITY) {
        uint64_t share = as.rlim_cur / 2 / nranks;
        if (each > share) each = share;
    }
    if (each < HEAP_MIN) each = HEAP_MIN;
    return each / PAGE * PAGE;
}

static uint64_t ring_bytes_for(uint32_t nranks)
{
    return nranks <= RANKS_FEW ? RING_FEW : RING_MANY;
}

static uint64_t depot_bytes_for(uint32_t nranks)
{
    uint64_t each = DEPOT_ALL / nranks / PAGE * PAGE;
    if (each < DEPOT_MIN) each = DEPOT_MIN;
    return each < DEPOT_MAX ? each : DEPOT_MAX;
}

// May the kernel best copy what is not large, too? As the user says, or else as it is measured.
static bool quick_kernel(void)
{
    const char *said = getenv("SHOAL_CMA");
    if (said && strcmp(said, "0") == 0) return false;
    return (said && strcmp(said, "always") == 0) || shoal_vm_is_quick();
}

static void lay_out(uint32_t nranks, shoal_world_header *h)
{
    *h = (shoal_world_header){.magic = SHOAL_WORLD_MAGIC,
                              .layout = SHOAL_WORLD_LAYOUT,
                              .nranks = nranks,
                              .cores = (uint32_t)shoal_usable_cores()};
    h->berth_off = PAGE;
    h->hint_off = round_up(h->berth_off + (uint64_t)nranks * SHOAL_BERTH_BYTES, PAGE);
    h->hint_row_bytes = round_up((uint64_t)nranks * 4, SHOAL_APART);
    h->ring_off = round_up(h->hint_off + nranks * h->hint_row_bytes, PAGE);
    h->ring_bytes = ring_bytes_for(nranks);
    h->arena_off = h->ring_off + (uint64_t)nranks * nranks * h->ring_bytes;
    h->arena_bytes = (uint64_t)nranks * ARENA_PER_RANK;
    h->depot_off = h->arena_off + h->arena_bytes;
    h->depot_bytes = depot_bytes_for(nranks);
    h->ferry_off = h->depot_off + nranks * h->depot_bytes;
    bool roomy = nranks <= h->cores && nranks <= RANKS_FEW;
    h->ferry_bytes = roomy || nranks <= RANKS_FERRIES ? FERRY : 0;
    h->heap_off = h->ferry_off + (uint64_t)nranks * nranks * h->ferry_bytes;
    h->heap_bytes = heap_bytes_for(nranks);
    h->total_bytes = h->heap_off + nranks * h->heap_bytes;
    // With a core for each rank senders are the hot side and sleeping is rare; otherwise sleeping
    // is the hot side, and the cost of a fence disappears in that of a context switch.
    h->fenced = nranks > h->cores || !shoal_membarrier_register();
    h->quick_kernel = nranks > 1 && quick_kernel();
    atomic_init(&h->awake, (int32_t)nranks);
}

int shoal_world_create(uint32_t nranks, shoal_world *out)
{
    if (nranks < 1 || nranks > SHOAL_MAX_RANKS)
        return shoal_fail(SHOAL_E_ARG, "%u ranks asked for; one job can have 1 to %d", nranks,
                          SHOAL_MAX_RANKS);
    shoal_world_header plan;
    lay_out(nranks, &plan);
    int fd = shoal_memfd("shoal-world", plan.total_bytes);
    if (fd < 0) return fd;
    char *base = shoal_map_shared(fd, plan.total_bytes);
    if (!base) {
        close(fd);
        return SHOAL_E_SYS;
    }
    memcpy(base, &plan, sizeof plan);
    *out = (shoal_world){.header = (shoal_world_header *)(void *)base,
                         .base = base,
                         .bytes = plan.total_bytes,
                         .nranks = nranks,
                         .rank = -1,
                         .notify_fd = -1};
    return fd;
}

// The geometry must be the one this library would lay out for that many ranks, but for the sizes
// that depend on limits of the maker; so check the sums rather than repeat the plan.
static bool geometry_ok(const shoal_world_header *h, uint64_t file_bytes)
{
    if (h->nranks < 1 || h->nranks > SHOAL_MAX_RANKS || h->total_bytes != file_bytes) return false;
    uint64_t n = h->nranks;
    return h->berth_off >= sizeof *h && h->hint_off >= h->berth_off + n * SHOAL_BERTH_BYTES &&
           h->hint_row_bytes >= n * 4 && h->ring_off >= h->hint_off + n * h->hint_row_bytes &&
           h->ring_bytes == ring_bytes_for(h->nranks) &&
           h->arena_off == h->ring_off + n * n * h->ring_bytes &&
           h->depot_off == h->arena_off + h->arena_bytes && h->depot_bytes >= DEPOT_MIN &&
           h->depot_bytes <= DEPOT_MAX && h->depot_bytes % PAGE == 0 &&
           h->ferry_off == h->depot_off + n * h->depot_bytes &&
           (h->ferry_bytes == 0 || h->ferry_bytes == FERRY) &&
           h->heap_off == h->ferry_off + n * n * h->ferry_bytes && h->heap_bytes % PAGE == 0 &&
           h->heap_bytes < HEAP_TOTAL_MAX && h->total_bytes == h->heap_off + n * h->heap_bytes;
}

// Has some process taken the berth, as far as can be seen without mapping it?
static bool is_taken(int fd, const shoal_world_header *h, int rank)
{
    int32_t pid = 0;
    uint64_t at = h->berth_off + (uint64_t)rank * SHOAL_BERTH_BYTES + offsetof(shoal_berth, pid);
    return pread(fd, &pid, sizeof pid, (off_t)at) == (ssize_t)sizeof pid && pid != 0;
}

int shoal_world_attach(int fd, int rank, shoal_world *out)
{
    struct stat st;
    shoal_world_header found;
    if (fstat(fd, &st) != 0 || pread(fd, &found, sizeof found, 0) != (ssize_t)sizeof found ||
        found.magic != SHOAL_WORLD_MAGIC)
        return shoal_fail(SHOAL_E_ARG, "descriptor %d is not a Shoal world", fd);
    uint64_t bytes = (uint64_t)st.st_size;
    if (found.layout != SHOAL_WORLD_LAYOUT || !geometry_ok(&found, bytes) ||
        rank >= (int)found.nranks)
        return shoal_fail(SHOAL_E_OTHER,
                          "the world's layout is %u, this library's is %u: mpiexec and libmpi_abi "
                          "come from different versions of Shoal",
                          found.layout, SHOAL_WORLD_LAYOUT);
    char *base = shoal_map_shared(fd, bytes);
    if (!base && is_taken(fd, &found, rank))
        return shoal_fail(SHOAL_E_ARG, "rank %d is another process", rank);
    if (!base)
        return shoal_fail(SHOAL_E_SYS,
                          "rank %d cannot map the %llu shared bytes of its job (%s): call mpiexec "
                          "itself under a limit of address space (ulimit -v), and it makes do with "
                          "less",
                          rank, (unsigned long long)bytes, strerror(errno));
    shoal_world_header *h = (shoal_world_header *)(void *)base;
    *out = (shoal_world){.header = h,
                         .base = base,
                         .bytes = bytes,
                         .nranks = h->nranks,
                         .rank = rank,
                         .notify_fd = -1};
    return 0;
}

void shoal_world_detach(shoal_world *w)
{
    if (w->base) munmap(w->base, w->bytes);
    w->base = NULL;
    w->header = NULL;
}

void shoal_world_notify(const shoal_world *w)
{
    if (w->notify_fd < 0) return;
    uint64_t one = 1;
    // A full counter wakes the watch as well, so a failed write loses nothing.
    ssize_t n = write(w->notify_fd, &one, sizeof one);
    (void)n;
}

void shoal_world_ring_bell(const shoal_world *w, uint32_t rank)
{
    shoal_berth *b = shoal_world_berth(w, rank);
    if (atomic_exchange_explicit(&b->asleep, 0, memory_order_seq_cst) == 1)
        atomic_fetch_add_explicit(&w->header->awake, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&b->bell, 1, memory_order_seq_cst);
    shoal_futex_wake(&b->bell, INT_MAX);
}
