/* cgroup.c: quotas of control groups; what binds is the tightest on the way up to the root. Version 2: one tree, a
   group has cpu.max, "quota period" in microseconds or "max", and memory.max with memory.current in bytes. Version 1: a
   tree for every controller. A container may not see its group under the path that the list of groups has: then the way
   up ends at what it sees as the root, which is its group. */
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

enum { PATH_MOST = 3 * MC_GROUP_PATH };

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

/* A group and those it is in, up to the root of a tree of the mount: "/cpu/a/b" to "/cpu/a" to "/cpu". */
typedef struct group_path {
    char at[2 * MC_GROUP_PATH];
    size_t root; /* bytes of the name of the tree */
} group_path;

static group_path path_from(const char *tree, const char *group) {
    group_path w = {.root = strlen(tree)};
    mc_print(w.at, sizeof w.at, "%s%s", tree, strcmp(group, "/") == 0 ? "" : group);
    return w;
}

static bool go_up(group_path *w) {
    if (strlen(w->at) <= w->root)
        return false;
    *strrchr(w->at, '/') = '\0';
    return true;
}

static int cpus_of(long long quota, long long period) {
    const long long cpus = quota > 0 && period > 0 ? (quota + period - 1) / period : 0;
    return cpus > INT_MAX ? INT_MAX : (int)cpus;
}

static int tighter_limit(int a, int b) {
    return a == 0 ? b : b == 0 || a < b ? a : b;
}

int mc_cgroup_cpus(const char *mount, const mc_groups *groups) {
    long long two[2], period[2];
    int cpus = 0;
    group_path w = path_from("", groups->unified);
    do
        if (read_numbers(mount, w.at, "cpu.max", two) == 2)
            cpus = tighter_limit(cpus, cpus_of(two[0], two[1]));
    while (go_up(&w));
    w = path_from("/cpu", groups->cpu);
    do
        if (read_numbers(mount, w.at, "cpu.cfs_quota_us", two)
            && read_numbers(mount, w.at, "cpu.cfs_period_us", period))
            cpus = tighter_limit(cpus, cpus_of(two[0], period[0]));
    while (go_up(&w));
    return cpus;
}

static size_t left_of(const char *mount, const char *group, const char *limit, const char *taken) {
    long long most[2], now[2] = {0};
    if (read_numbers(mount, group, limit, most) < 1 || most[0] < 0)
        return SIZE_MAX;
    read_numbers(mount, group, taken, now);
    return most[0] > now[0] ? (size_t)(most[0] - now[0]) : 0;
}

static size_t least_left(const char *mount, group_path w, const char *limit, const char *taken) {
    size_t least = SIZE_MAX;
    do {
        const size_t left = left_of(mount, w.at, limit, taken);
        least = left < least ? left : least;
    } while (go_up(&w));
    return least;
}

size_t mc_cgroup_memory(const char *mount, const mc_groups *groups) {
    const size_t unified = least_left(mount, path_from("", groups->unified), "memory.max", "memory.current"),
                 own = least_left(mount, path_from("/memory", groups->memory), "memory.limit_in_bytes",
                                  "memory.usage_in_bytes");
    return own < unified ? own : unified;
}

/* ---- This process ---- */

/* Whether a list like "cpu,cpuacct" has the word. */
static bool has_word(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
        if (strcspn(p, ",") == length && strncmp(p, word, length) == 0)
            return true;
    return false;
}

/* "0::/group" of version 2, "4:cpu,cpuacct:/group" of version 1. */
static void take_line(char *line, mc_groups *out) {
    line[strcspn(line, "\n")] = '\0';
    char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
    if (!group || group[1] != '/')
        return;
    *list = *group = '\0';
    if (strcmp(line, "0") == 0)
        mc_print(out->unified, MC_GROUP_PATH, "%s", group + 1);
    if (has_word(list + 1, "cpu"))
        mc_print(out->cpu, MC_GROUP_PATH, "%s", group + 1);
    if (has_word(list + 1, "memory"))
        mc_print(out->memory, MC_GROUP_PATH, "%s", group + 1);
}

void mc_groups_read(const char *file, mc_groups *out) {
    FILE *in = fopen(file, "r");
    char line[MC_GROUP_PATH];
    *out = (mc_groups){"/", "/", "/"};
    while (in && fgets(line, sizeof line, in))
        take_line(line, out);
    if (in)
        fclose(in);
}

/* A positive number at the start of a variable of the environment; 0: there is none. */
static int number_of(const char *name) {
    const char *text = getenv(name);
    const long number = text ? strtol(text, NULL, 10) : 0;
    return number > 0 && number < INT_MAX ? (int)number : 0;
}

size_t mc_cached_fact(mc_fact *fact, size_t (*ask)(void)) {
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
    mc_groups groups;
    mc_groups_read("/proc/self/cgroup", &groups);
    return (size_t)mc_cgroup_cpus("/sys/fs/cgroup", &groups);
}

static mc_cpus limit_cpus(mc_cpus cpus, int limit, const char *what) {
    return limit > 0 && limit < cpus.count ? (mc_cpus){limit, what} : cpus;
}

/* The command, started again for the sake of a library with OMP_NUM_THREADS=1, keeps what was there before. */
mc_cpus mc_own_cpus(int processors) {
    const char *before = "MERCER_OMP_NUM_THREADS";
    mc_cpus cpus = {processors, "processors it may run on"};
    cpus = limit_cpus(cpus, (int)mc_cached_fact(&cpu_quota, ask_quota), "quota of its control group");
    cpus = limit_cpus(cpus, number_of(getenv(before) ? before : "OMP_NUM_THREADS"), "OMP_NUM_THREADS");
    return limit_cpus(cpus, number_of("OMP_THREAD_LIMIT"), "OMP_THREAD_LIMIT");
}

size_t mc_own_memory(void) {
    mc_groups groups;
    mc_groups_read("/proc/self/cgroup", &groups);
    return mc_cgroup_memory("/sys/fs/cgroup", &groups);
}
