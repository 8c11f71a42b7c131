/* workspace.h: a workspace. A solver states its needs, takes one block, cuts it into aligned slices, and has one exit.

       mc_work w;
       MC_TRY(mc_work_open(ctx, &w, mc_work_need(n, 8) + mc_work_need(m, 4)));
       double *r = mc_work_take(&w, n, sizeof *r);
       float *s = mc_work_take(&w, m, sizeof *s);
       ...
       mc_work_close(&w);

   Where nobody else asks for the bytes, the slices are listed once, and one call counts and cuts them:

       double *c = NULL;
       int64_t *ids = NULL;
       MC_TRY(MC_WORK_SLICES(ctx, &w, MC_SLICE(c, n), MC_SLICE(ids, m)));

   Where the same bytes are asked for in a plan, one function lays the slices out, and is run twice: on a workspace that
   only counts, mc_work w = {0}, whose slices are NULL, and then on the block of w.used bytes. mc_work_lay does both,
   with a layout that finds its sizes where it puts its slices. */
#ifndef MC_BASE_WORKSPACE_H
#define MC_BASE_WORKSPACE_H

#include "base/memory.h"

typedef struct mc_work {
    char *block;
    size_t size, used;
} mc_work;

/* Bytes of one slice, rounded up to the alignment; SIZE_MAX / 4 when the product overflows, which no limit allows. */
size_t mc_work_need(int64_t count, size_t size);
mercer_status mc_work_open(mercer_ctx *ctx, mc_work *work, size_t bytes);
/* The next slice: never NULL when the needs were stated right (asserted), always NULL where it is only counted. */
void *mc_work_take(mc_work *work, int64_t count, size_t size);
void mc_work_close(mc_work *work);

/* Slices and the pointers to them. */
typedef struct mc_slice {
    void *pointer;
    int64_t count;
    size_t size;
} mc_slice;
#define MC_SLICE(pointer, count)                                                                                       \
    { (void *)&(pointer), (count), sizeof *(pointer) }
#define MC_WORK_SLICES(ctx, work, ...)                                                                                 \
    mc_work_slices((ctx), (work), (const mc_slice[]){__VA_ARGS__},                                                     \
                   (int)(sizeof((const mc_slice[]){__VA_ARGS__}) / sizeof(mc_slice)))
mercer_status mc_work_slices(mercer_ctx *ctx, mc_work *work, const mc_slice *slices, int count);

typedef void mc_slices(mc_work *work, void *self);
size_t mc_slices_bytes(mc_slices *cut, void *self);
mercer_status mc_work_lay(mercer_ctx *ctx, mc_work *work, mc_slices *cut, void *self);

/* The largest count from 1 to most that takes at most so many bytes, of which more never take fewer; 0: none does. */
typedef size_t mc_bytes_of_count(const void *arg, int64_t count);
int64_t mc_most_within(mc_bytes_of_count *bytes_of, const void *arg, int64_t most, size_t bytes);

#endif
