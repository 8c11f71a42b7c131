/* address.c: see address.h. */
#include "base/address.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* A line of /proc/self/status, "VmSize:", in bytes; 0 where there is none. */
static size_t status_of(const char *name) {
    FILE *file = fopen("/proc/self/status", "r");
    const size_t length = strlen(name);
    char line[256];
    unsigned long long kib = 0;
    while (file && fgets(line, sizeof line, file)
           && (strncmp(line, name, length) != 0 || sscanf(line + length, ": %llu kB", &kib) != 1))
        ;
    if (file)
        fclose(file);
    return (size_t)kib * 1024;
}

/* asked: what getrlimit answered. */
static size_t left_of(int asked, const struct rlimit *r, const char *used) {
    if (asked != 0 || r->rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    const size_t taken = status_of(used), all = (size_t)r->rlim_cur;
    return taken < all ? all - taken : 0;
}

size_t mc_address_left(void) {
    struct rlimit as, own;
    const size_t space = left_of(getrlimit(RLIMIT_AS, &as), &as, "VmSize"),
                 data = left_of(getrlimit(RLIMIT_DATA, &own), &own, "VmData");
    return space < data ? space : data;
}
