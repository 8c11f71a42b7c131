/* cgroup.h: what the control groups of Linux leave to this process: in a container, or a job of a scheduler, less than
   the machine has. */
#ifndef MC_BASE_CGROUP_H
#define MC_BASE_CGROUP_H

#include <stdatomic.h>
#include <stddef.h>

/* group: the path of the process as /proc/self/cgroup has it, "/" and below; mount: where the tree is mounted. The
   tightest quota of the group and of those it is in, rounded up to whole processors; 0: none. */
int mc_cgroup_cpus(const char *mount, const char *group);
/* Bytes that the group and those it is in may still take; SIZE_MAX: no limit. */
size_t mc_cgroup_memory(const char *mount, const char *group);

/* What the system says of this process. To ask takes fifty microseconds, a third of a small fit: it is asked at most
   once a second. */
typedef struct mc_fact {
    _Atomic double until; /* seconds of the clock */
    atomic_size_t value;
} mc_fact;
size_t mc_recall(mc_fact *fact, size_t (*ask)(void));

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
