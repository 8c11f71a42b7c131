/* right_sides.c: see right_sides.h. */
#include "gram/device/right_sides.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include <math.h>

enum { GRAIN = 1 << 14 }; /* rows of a piece of work */

typedef struct right_task {
    const mc_right_sides *r;
    int64_t j0, m;   /* rows that are loaded, or sums of each column */
    double *largest; /* per chunk and column */
    void *room;
    const double *sums;
    double *Y;
} right_task;

/* ---- Scales ---- */

static void find_largest(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)thread;
    const right_task *task = arg;
    const mc_right_sides *r = task->r;
    double *largest = task->largest + chunk * r->given;
    for (int64_t j = begin; j < end; j++)
        for (int64_t c = 0; c < r->given; c++)
            largest[c] = fmax(largest[c], fabs(r->V[j * r->ld + c]));
}

/* A power of two that brings the column near 1; 1 for zeros and for what is not finite. */
static double scale_of(const right_task *task, int64_t chunks, int64_t c) {
    double largest = 0;
    for (int64_t k = 0; k < chunks; k++)
        largest = fmax(largest, task->largest[k * task->r->given + c]);
    return largest > 0 && isfinite(largest) ? exp2(-fmin(fmax(ilogb(largest), -1000), 1000)) : 1;
}

mercer_status mc_right_sides_measure(mercer_ctx *ctx, int64_t m, mc_right_sides *r) {
    right_task task = {.r = r};
    const int64_t chunks = mc_chunk_count(m, GRAIN);
    MC_TRY(MC_ALLOC(ctx, task.largest, chunks * r->given));
    const mercer_status status = mc_for(ctx, m, GRAIN, find_largest, &task);
    for (int64_t c = 0; c < r->t; c++)
        r->scale[c] = c < r->given ? scale_of(&task, chunks, c) : 1;
    mc_free(task.largest);
    return status;
}

/* ---- There and back ---- */

static void load_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const right_task *task = arg;
    const mc_right_sides *r = task->r;
    for (int64_t c = 0; c < r->t; c++)
        for (int64_t j = begin; j < end; j++) {
            const double v = c < r->given ? r->V[(task->j0 + j) * r->ld + c] * r->scale[c] : 0;
            if (r->precision == MERCER_F32)
                ((float *)task->room)[c * task->m + j] = (float)v;
            else
                ((double *)task->room)[c * task->m + j] = v;
        }
}

mercer_status mc_right_sides_load(mercer_ctx *ctx, const mc_right_sides *r, int64_t j0, int64_t m, void *room) {
    right_task task = {.r = r, .j0 = j0, .m = m, .room = room};
    return mc_for(ctx, m, GRAIN, load_rows, &task);
}

static void unload_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const right_task *task = arg;
    const mc_right_sides *r = task->r;
    for (int64_t i = begin; i < end; i++)
        for (int64_t c = 0; c < r->given; c++)
            task->Y[i * r->ld + c] = task->sums[c * task->m + i] / r->scale[c];
}

mercer_status mc_right_sides_unload(mercer_ctx *ctx, const mc_right_sides *r, int64_t n, const double *sums,
                                    double *Y) {
    right_task task = {.r = r, .m = n, .sums = sums, .Y = Y};
    return mc_for(ctx, n, GRAIN, unload_rows, &task);
}
