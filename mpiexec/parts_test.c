// SPDX-License-Identifier: BSD-3-Clause
// The parts of mpiexec that can be tested without starting anything: the option table, lists of
// processors, host names, the table of values.
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hosts.h"
#include "kvs.h"
#include "optable.h"
#include "plat/test.h"
#include "topology.h"

static bool near(const char *typed, const char *meant)
{
    const char *found = shoal_optable_nearest(typed);
    return meant ? found && strcmp(found, meant) == 0 : !found;
}

static void options(void)
{
    CHECK(shoal_optable_find("np", 2)->id == OPT_N);
    CHECK(shoal_optable_find("bind-to", 7)->id == OPT_BIND);
    CHECK(!shoal_optable_find("bind", 4));
    CHECK(!shoal_optable_find("", 0));
    CHECK(near("bindto", "bind-to"));
    CHECK(near("oversubscirbe", "oversubscribe"));
    CHECK(near("timeot=3", "timeout"));
    CHECK(near("qqqqqqqqqq", NULL));
    CHECK(near("a-very-long-name-that-no-option-would-ever-have", NULL));
}

static bool round_trip(const char *list, const char *want)
{
    cpu_set_t set;
    char text[128];
    CPU_ZERO(&set);
    if (!shoal_topology_parse(list, &set)) return want == NULL;
    shoal_topology_print(&set, text, sizeof text);
    return want && strcmp(text, want) == 0;
}

static void processors(void)
{
    CHECK(round_trip("0", "0"));
    CHECK(round_trip("3,1,2", "1-3"));
    CHECK(round_trip("0-2,8,10-11", "0-2,8,10-11"));
    CHECK(round_trip("0+2", "0,2"));
    CHECK(round_trip("", NULL));
    CHECK(round_trip("a", NULL));
    CHECK(round_trip("2-1", NULL));
    CHECK(round_trip("99999", NULL));
    CHECK(round_trip("1,,2", NULL));
    static shoal_topology t;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    shoal_topology_read(&set, &t);
    CHECK(t.count == 1 && t.cpus[0].of[SHOAL_UNIT_HWTHREAD] == 0);
}

static void hosts(void)
{
    char own[256] = "";
    (void)gethostname(own, sizeof own - 1);
    CHECK(shoal_hosts_is_here("localhost"));
    CHECK(shoal_hosts_is_here("127.0.0.1"));
    CHECK(shoal_hosts_is_here("127.1.2.3"));
    CHECK(shoal_hosts_is_here(own));
    CHECK(!shoal_hosts_is_here("192.0.2.1"));
    CHECK(!shoal_hosts_is_here("no-such-host.example.org"));
    CHECK(!shoal_hosts_is_here(""));
}

static void values(void)
{
    static shoal_kvs t; // it lives as long as mpiexec: there is no end to test
    char key[16], value[16];
    CHECK(shoal_kvs_open(&t, 1000) == 0);
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "k%d", i);
        snprintf(value, sizeof value, "v%d", i);
        CHECK(shoal_kvs_put(&t, key, value) == 0);
    }
    CHECK(shoal_kvs_put(&t, "one too many", "x") != 0);
    CHECK(shoal_kvs_put(&t, "k5", "changed") == 0);
    CHECK(strcmp(shoal_kvs_get(&t, "k5"), "changed") == 0);
    CHECK(strcmp(shoal_kvs_get(&t, "k999"), "v999") == 0);
    CHECK(!shoal_kvs_get(&t, "absent"));
    CHECK(shoal_kvs_remove(&t, "k5") && !shoal_kvs_remove(&t, "k5") && !shoal_kvs_get(&t, "k5"));
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "k%d", i);
        (void)shoal_kvs_remove(&t, key);
    }
    CHECK(t.count == 0);
}

int main(void)
{
    options();
    processors();
    hosts();
    values();
    return SHOAL_TEST_RESULT();
}
