/* cgroup.h: what the control groups of Linux leave to this process: in a container, or a job of a scheduler, less than
   the machine has. */
#ifndef MC_BASE_CGROUP_H
#define MC_BASE_CGROUP_H

#include <stdatomic.h>
#include <stddef.h>

enum { MC_GROUP_PATH = 1024 };

/* The groups of a process, as /proc/self/cgroup has them, "/" and below: that of version 2, and of version 1, whose
   controllers each have a tree, those for processors and for memory. */
typedef struct mc_groups {
    char unified[MC_GROUP_PATH], cpu[MC_GROUP_PATH], memory[MC_GROUP_PATH];
} mc_groups;
/* From a file of that form; what it does not name is the root. */
void mc_groups_read(const char *file, mc_groups *out);

/* mount: where the trees are. The tightest quota of the groups and of those they are in, rounded up to whole
   processors; 0: none. */
int mc_cgroup_cpus(const char *mount, const mc_groups *groups);
/* Bytes that the groups and those they are in may still take; SIZE_MAX: no limit. */
size_t mc_cgroup_memory(const char *mount, const mc_groups *groups);

/* What the system says of this process. To ask takes fifty microseconds, a third of a small fit: it is asked at most
   once a second. */
typedef struct mc_fact {
    _Atomic double until; /* seconds of the clock */
    atomic_size_t value;
} mc_fact;
size_t mc_cached_fact(mc_fact *fact, size_t (*ask)(void));

/* How many, and which of the limits it was: the tightest, of equals the first. */
typedef struct mc_cpus {
    int count;
    const char *decided;
} mc_cpus;

/* The processors that its affinity allows. Of these, as many as OMP_NUM_THREADS, OMP_THREAD_LIMIT and the quota of its
   group leave to this process; and what the group leaves of memory. */
int mc_allowed_processors(void);
mc_cpus mc_own_cpus(int processors);
size_t mc_own_memory(void);

#endif
