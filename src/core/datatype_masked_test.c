// SPDX-License-Identifier: BSD-3-Clause
// Blocks of every length up to some lines, packed and unpacked: all of them arrive, nothing beside
// them is touched, not even by one that ends where the memory ends.
#include "core/datatype_masked.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plat/test.h"

#define MOST   300
#define EMPTY  0x5a
#define BLOCKS 64

// Memory behind which there is none.
static char *at_the_edge(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), all = (bytes + page - 1) / page * page;
    char *p = mmap(NULL, all + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED && mprotect(p + all, page, PROT_NONE) == 0);
    return p + all - bytes;
}

static void fill(char *p, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++) p[i] = (char)(i * 31 + i / 251 + seed);
}

// One block that ends where its memory does, on both sides.
static void test_edges(void)
{
    for (int64_t n = 0; n <= MOST; n++) {
        char *typed = at_the_edge(2 * MOST), *packed = at_the_edge((size_t)n), copy[MOST];
        int64_t list[] = {2 * MOST - n, n};
        fill(typed, 2 * MOST, (unsigned)n);
        char *end = shoal_masked_move(typed, packed, list, 1, true);
        if (!end) {
            printf("skipped: no such instructions here\n");
            return;
        }
        CHECK(end == packed + n && memcmp(packed, typed + list[0], (size_t)n) == 0);
        memcpy(copy, packed, (size_t)n);
        memset(typed, EMPTY, 2 * MOST);
        CHECK(shoal_masked_move(typed, packed, list, 1, false) == packed + n);
        CHECK(memcmp(typed + list[0], copy, (size_t)n) == 0);
        for (int64_t i = 0; i < list[0]; i++) CHECK(typed[i] == EMPTY);
    }
}

// Many of random lengths at random distances.
static void test_lists(void)
{
    static char typed[BLOCKS * 2 * MOST], packed[BLOCKS * MOST + 1];
    int64_t list[2 * BLOCKS], at = 0, sum = 0;
    srand(7);
    for (int i = 0; i < BLOCKS; i++) {
        list[2 * i] = at += rand() % MOST;
        list[2 * i + 1] = i % 9 ? 1 + rand() % 40 : 1 + rand() % MOST;
        at += list[2 * i + 1];
        sum += list[2 * i + 1];
    }
    fill(typed, sizeof typed, 1);
    packed[sum] = EMPTY;
    if (!shoal_masked_move(typed, packed, list, BLOCKS, true)) return;
    CHECK(packed[sum] == EMPTY);
    memset(typed, EMPTY, sizeof typed);
    CHECK(shoal_masked_move(typed, packed, list, BLOCKS, false) == packed + sum);
    static char want[sizeof typed], data[sizeof typed];
    fill(data, sizeof data, 1);
    memset(want, EMPTY, sizeof want);
    for (int i = 0; i < BLOCKS; i++)
        memcpy(want + list[2 * i], data + list[2 * i], (size_t)list[2 * i + 1]);
    CHECK(memcmp(typed, want, sizeof want) == 0);
}

int main(void)
{
    test_edges();
    test_lists();
    return SHOAL_TEST_RESULT();
}
