/* threads.h: the threads of the process, which help whoever has a loop to share. Mercer has its own rather than
   OpenMP's, whose loops end only when every thread of the team has come, woken or not: at a hundred rows that wait was
   half of a fit. Here a thread that wakes too late finds nothing left to do and delays nobody; a thread that cannot be
   made is not missed; and a child of fork gets threads of its own. */
#ifndef MC_BASE_THREADS_H
#define MC_BASE_THREADS_H

#include <stdatomic.h>
#include <stdbool.h>

/* Work that several threads take part in: take() is called once by each, with its number from 1 on, and returns when
   nothing is left to be begun. */
typedef struct mc_shared {
    void (*take)(struct mc_shared *shared, int thread);
    bool (*has_more)(struct mc_shared *shared); /* whether somebody else would find something to do */
    int helpers;                                /* at most so many */
    /* the pool's own */
    int joined;
    atomic_int active;
    struct mc_shared *next;
} mc_shared;

/* Ask for helpers; those that sleep are woken. The caller then does its own part and calls mc_share_end, which returns
   when all who have come are done. */
void mc_share_begin(mc_shared *shared);
void mc_share_end(mc_shared *shared);
/* Whether some thread waits without sleeping: sharing costs next to nothing then. */
bool mc_threads_are_awake(void);

#endif
