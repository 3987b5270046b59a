// SPDX-License-Identifier: BSD-3-Clause
// The shared heap: blocks do not overlap, are aligned, come back, and merge when freed; foreign
// addresses are refused; offsets that another process may send are checked.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/net_nobody.h"
#include "net/shm/shm.h"
#include "plat/test.h"

enum { BLOCKS = 200, STEPS = 20000 };

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static struct {
    unsigned char *at;
    size_t bytes;
    unsigned char mark;
} blocks[BLOCKS];

static bool whole(int k)
{
    for (size_t i = 0; i < blocks[k].bytes; i++)
        if (blocks[k].at[i] != blocks[k].mark) return false;
    return true;
}

// Every block is filled with its mark; a block that overlaps another spoils one of them.
static void random_life(void)
{
    uint64_t seed = 4;
    for (int step = 0; step < STEPS; step++) {
        int k = (int)(next_random(&seed) % BLOCKS);
        if (blocks[k].at) {
            CHECK(whole(k));
            CHECK(shoal_heap_free(blocks[k].at));
            CHECK(!shoal_heap_free(blocks[k].at));
            blocks[k].at = NULL;
            continue;
        }
        size_t align = (size_t)1 << next_random(&seed) % 13;
        blocks[k].bytes = next_random(&seed) % (next_random(&seed) % 50 ? 3000 : 400000);
        blocks[k].mark = (unsigned char)(step | 1);
        blocks[k].at = shoal_heap_alloc(blocks[k].bytes, align);
        CHECK(blocks[k].at && (uintptr_t)blocks[k].at % align == 0);
        memset(blocks[k].at, blocks[k].mark, blocks[k].bytes);
    }
    for (int k = 0; k < BLOCKS; k++)
        if (blocks[k].at) CHECK(whole(k) && shoal_heap_free(blocks[k].at));
}

static void limits(uint64_t heap_bytes)
{
    // All pieces have merged again: the whole heap is one block.
    void *all = shoal_heap_alloc(heap_bytes - 64, 64);
    CHECK(all != NULL);
    CHECK(shoal_heap_alloc(65, 64) == NULL);
    CHECK(shoal_heap_free(all));
    CHECK(shoal_heap_alloc(heap_bytes + 1, 64) == NULL && shoal_heap_alloc(SIZE_MAX, 64) == NULL);
    int local;
    CHECK(!shoal_heap_free(&local) && !shoal_heap_free(malloc));
    char *p = shoal_heap_alloc(100, 64);
    CHECK(p && !shoal_heap_free(p + 64));
    void *empty = shoal_heap_alloc(0, 64);
    CHECK(empty && empty != p && shoal_heap_free(empty));
    CHECK(shoal_heap_free(p));
}

static void offsets(const shoal_world *w)
{
    char *p = shoal_heap_alloc(1000, 64);
    uint64_t at = shoal_heap_offset(p, 1000);
    CHECK(at != 0 && shoal_heap_at(at, 1000) == p);
    int local = 0;
    CHECK(shoal_heap_offset(&local, 4) == 0 && shoal_heap_offset(w->base, 4) == 0);
    // What a broken or hostile peer could send.
    CHECK(shoal_heap_at(0, 1) == NULL && shoal_heap_at(1, 1) == NULL);
    CHECK(shoal_heap_at(w->header->heap_off, 1) == NULL);
    CHECK(shoal_heap_at(w->bytes, 2) == NULL && shoal_heap_at(w->bytes + 5, 0) == NULL);
    CHECK(shoal_heap_at(at, w->bytes) == NULL && shoal_heap_at(UINT64_MAX, UINT64_MAX) == NULL);
    CHECK(shoal_heap_free(p));
}

int main(void)
{
    shoal_world w;
    int fd = shoal_world_create(2, &w);
    CHECK(fd >= 0);
    w.rank = 1;
    CHECK(shoal_shm_init(&w) == 0);
    random_life();
    limits(w.header->heap_bytes);
    offsets(&w);
    shoal_heap_fini();
    shoal_shm_fini();
    shoal_world_detach(&w);
    close(fd);
    return SHOAL_TEST_RESULT();
}
