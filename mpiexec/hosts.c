// SPDX-License-Identifier: BSD-3-Clause
// Is it this machine? By name, or by an address of one of its interfaces.
#include "hosts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "job/world.h"
#include "options.h"

static bool is_own_address(const char *text)
{
    unsigned char want[16];
    int family = inet_pton(AF_INET, text, want) == 1    ? AF_INET
                 : inet_pton(AF_INET6, text, want) == 1 ? AF_INET6
                                                        : AF_UNSPEC;
    if (family == AF_UNSPEC) return false;
    if (family == AF_INET && want[0] == 127) return true;
    struct ifaddrs *list;
    bool found = false;
    if (getifaddrs(&list) != 0) return false;
    for (struct ifaddrs *i = list; i && !found; i = i->ifa_next) {
        if (!i->ifa_addr || i->ifa_addr->sa_family != family) continue;
        if (family == AF_INET)
            found = memcmp(want, &((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr, 4) == 0;
        else
            found = memcmp(want, &((struct sockaddr_in6 *)(void *)i->ifa_addr)->sin6_addr, 16) == 0;
    }
    freeifaddrs(list);
    return found;
}

bool shoal_hosts_is_here(const char *name)
{
    char own[256] = "";
    if (strcasecmp(name, "localhost") == 0 || strcasecmp(name, "localhost.localdomain") == 0)
        return true;
    (void)gethostname(own, sizeof own - 1);
    if (own[0] && strcasecmp(name, own) == 0) return true;
    // "node1" and "node1.example.org" are the same to people who type them.
    size_t n = strcspn(name, "."), m = strcspn(own, ".");
    if (n == m && n > 0 && strncasecmp(name, own, n) == 0 && (!name[n] || !own[m])) return true;
    return is_own_address(name);
}

// Takes one host apart and returns its slots, 0 if it does not say.
static uint32_t one_host(const char *where, const char *text, size_t length)
{
    char name[300];
    if (length >= sizeof name) shoal_options_reject("%s: a host name is too long", where);
    memcpy(name, text, length);
    name[length] = 0;
    char *colon = strrchr(name, ':');
    uint32_t slots = 0;
    // An IPv6 address has more than one colon and no slots.
    if (colon && strchr(name, ':') == colon) {
        *colon = 0;
        if (strcmp(colon + 1, "*") != 0)
            slots = shoal_options_count(where, colon + 1, 1, SHOAL_MAX_RANKS);
    }
    if (!shoal_hosts_is_here(name))
        shoal_options_reject(
            "%s: '%s' is not this machine, and several hosts are not supported yet", where, name);
    return slots;
}

uint32_t shoal_hosts_from_list(const char *option, const char *list)
{
    uint32_t slots = 0, hosts = 0;
    while (*list) {
        size_t n = strcspn(list, ",");
        if (n) slots += one_host(option, list, n);
        hosts += n > 0;
        list += n + (list[n] == ',');
    }
    if (!hosts) shoal_options_reject("%s names no host", option);
    return slots;
}

uint32_t shoal_hosts_from_file(const char *option, const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f) shoal_options_reject("%s: cannot read '%s': %s", option, path, strerror(errno));
    char line[1024];
    uint32_t slots = 0;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "#\n")] = 0;
        const char *name = line + strspn(line, " \t");
        size_t n = strcspn(name, " \t");
        if (!n) continue;
        uint32_t own = one_host(path, name, n);
        const char *said = strstr(name + n, "slots=");
        // max_slots= and max-slots= limit what may be put there; they offer nothing.
        if (said && (said == name + n || said[-1] == ' ' || said[-1] == '\t'))
            own = (uint32_t)strtoul(said + 6, NULL, 10);
        slots += own ? own : 1;
    }
    fclose(f);
    return slots;
}
