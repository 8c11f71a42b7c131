/* cgroup.c: quotas of control groups, version 2: one tree, a group has cpu.max, "quota period" in microseconds or
   "max", and memory.max with memory.current in bytes; what binds is the tightest on the way up to the root. Of version
   1, whose controllers each have a tree, the group that a container sees as its root is looked at. */
#include "base/cgroup.h"
#include "base/clock.h"
#include "base/print.h"
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_MOST = 1024 };

/* The first numbers of a file; "max" is none. Returns how many there are. */
static int read_numbers(const char *mount, const char *group, const char *name, long long out[2]) {
    char path[PATH_MOST];
    mc_print(path, sizeof path, "%s%s/%s", mount, group, name);
    FILE *file = fopen(path, "r");
    const int count = file ? fscanf(file, "%lld %lld", &out[0], &out[1]) : 0;
    if (file)
        fclose(file);
    return count > 0 ? count : 0;
}

/* "/a/b" to "/a" to ""; false after the root. */
static bool go_up(char *group) {
    char *slash = strrchr(group, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

static int cpus_of(long long quota, long long period) {
    const long long cpus = quota > 0 && period > 0 ? (quota + period - 1) / period : 0;
    return cpus > INT_MAX ? INT_MAX : (int)cpus;
}

static int tighter_limit(int a, int b) {
    return a == 0 ? b : b == 0 || a < b ? a : b;
}

int mc_cgroup_cpus(const char *mount, const char *group) {
    char at[PATH_MOST];
    long long two[2], period[2];
    int cpus = 0;
    mc_print(at, sizeof at, "%s", strcmp(group, "/") == 0 ? "" : group);
    do
        if (read_numbers(mount, at, "cpu.max", two) == 2)
            cpus = tighter_limit(cpus, cpus_of(two[0], two[1]));
    while (go_up(at));
    if (read_numbers(mount, "/cpu", "cpu.cfs_quota_us", two)
        && read_numbers(mount, "/cpu", "cpu.cfs_period_us", period))
        cpus = tighter_limit(cpus, cpus_of(two[0], period[0]));
    return cpus;
}

static size_t left_of(const char *mount, const char *group, const char *limit, const char *taken) {
    long long most[2], now[2] = {0};
    if (read_numbers(mount, group, limit, most) < 1 || most[0] < 0)
        return SIZE_MAX;
    read_numbers(mount, group, taken, now);
    return most[0] > now[0] ? (size_t)(most[0] - now[0]) : 0;
}

size_t mc_cgroup_memory(const char *mount, const char *group) {
    char at[PATH_MOST];
    mc_print(at, sizeof at, "%s", strcmp(group, "/") == 0 ? "" : group);
    size_t least = left_of(mount, "/memory", "memory.limit_in_bytes", "memory.usage_in_bytes");
    do {
        const size_t left = left_of(mount, at, "memory.max", "memory.current");
        least = left < least ? left : least;
    } while (go_up(at));
    return least;
}

/* ---- This process ---- */

/* The path after "0::"; the root where there is none. */
static void find_group(char group[PATH_MOST]) {
    FILE *file = fopen("/proc/self/cgroup", "r");
    char line[PATH_MOST];
    mc_print(group, PATH_MOST, "/");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "0::/", 4) == 0) {
            line[strcspn(line, "\n")] = '\0';
            mc_print(group, PATH_MOST, "%s", line + 3);
        }
    if (file)
        fclose(file);
}

/* A positive number at the start of a variable of the environment; 0: there is none. */
static int number_of(const char *name) {
    const char *text = getenv(name);
    const long number = text ? strtol(text, NULL, 10) : 0;
    return number > 0 && number < INT_MAX ? (int)number : 0;
}

size_t mc_recall(mc_fact *fact, size_t (*ask)(void)) {
    const double now = mc_clock_seconds();
    if (now < atomic_load(&fact->until))
        return atomic_load(&fact->value);
    const size_t value = ask();
    atomic_store(&fact->value, value);
    atomic_store(&fact->until, now + 1);
    return value;
}

int mc_allowed_processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) /* fails where there are more than it has bits */
        return CPU_COUNT(&set);
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 0 && processors < INT_MAX ? (int)processors : 1;
}

static mc_fact cpu_quota;

static size_t ask_quota(void) {
    char group[PATH_MOST];
    find_group(group);
    return (size_t)mc_cgroup_cpus("/sys/fs/cgroup", group);
}

static mc_cpus limit_cpus(mc_cpus cpus, int limit, const char *what) {
    return limit > 0 && limit < cpus.count ? (mc_cpus){limit, what} : cpus;
}

/* The command, started again for the sake of a library with OMP_NUM_THREADS=1, keeps what was there before. */
mc_cpus mc_own_cpus(int processors) {
    const char *before = "MERCER_OMP_NUM_THREADS";
    mc_cpus cpus = {processors, "processors it may run on"};
    cpus = limit_cpus(cpus, (int)mc_recall(&cpu_quota, ask_quota), "quota of its control group");
    cpus = limit_cpus(cpus, number_of(getenv(before) ? before : "OMP_NUM_THREADS"), "OMP_NUM_THREADS");
    return limit_cpus(cpus, number_of("OMP_THREAD_LIMIT"), "OMP_THREAD_LIMIT");
}

size_t mc_own_memory(void) {
    char group[PATH_MOST];
    find_group(group);
    return mc_cgroup_memory("/sys/fs/cgroup", group);
}
