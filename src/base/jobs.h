/* jobs.h: independent pieces of work side by side, each done on one thread by whatever code would do it on all of them.

   A piece has a context of its own: its loops are not shared, its messages are its own, and its memory is a share of
   what is left, the same whoever else is at work. So nothing that it decides depends on the number of threads, and its
   answer has the bits it would have alone. */
#ifndef MC_BASE_JOBS_H
#define MC_BASE_JOBS_H

#include <mercer.h>

typedef mercer_status mc_job(mercer_ctx *ctx, void *arg, int64_t k);

/* How many of count jobs of so many bytes each there can be at once: 0 where half of what is left has no room for
   one. */
int mc_jobs_at_once(const mercer_ctx *ctx, int64_t count, size_t bytes);
/* Jobs 0 .. count - 1, begun in this order. What a job takes and does not give back is its own to free, later too. The
   first of those that fail is what is said; after a stop, or a failure, no other is begun. */
mercer_status mc_run_jobs(mercer_ctx *ctx, int64_t count, size_t bytes, mc_job *job, void *arg);

#endif
