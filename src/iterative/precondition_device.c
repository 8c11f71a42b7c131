/* precondition_device.c: see precondition_device.h. F is copied once; an application reads it twice there, which takes
   its bytes over the speed of the device's memory, and sends V there and Y back.

   F'V is a sum over segments of the rows, cut by the sizes alone and added in order: the same bits every time. */
#include "iterative/precondition_device.h"
#include "backend/device_dense.h"
#include "base/ctx.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "linalg/dense.h"
#include <math.h>
#include <precondition_sources.h>

enum {
    ACROSS = 8, /* as in precondition.cu */
    RIGHT = 2,
    THREADS = 256,
    BLOCKS_WANTED = 2048,
    SEGMENT_LEAST = 256, /* rows of a segment */
    WIDE_ROWS = 4096     /* of F as doubles at a time */
};

/* The one argument of every kernel; the source declares the same struct. */
typedef struct woodbury_argument {
    mc_address f, v, y, wide, part;
    int64_t n, rank, t, from, to, segment, segments;
    double shift;
} woodbury_argument;

enum { HELD = 5 };

struct mc_device_woodbury {
    mc_device *device;
    void *program;
    woodbury_argument a; /* wide: rank x t */
    int64_t most;        /* t at most */
    mc_dense G;          /* its factor */
    double log_sum;      /* of the diagonal of that */
    mc_address held[HELD];
    size_t bytes[HELD];
    int count;
};

/* ---- Sizes ---- */

static int64_t segment_rows(int64_t n, int64_t rank) {
    const int64_t wanted = mc_chunk_count(BLOCKS_WANTED, mc_chunk_count(rank, ACROSS)),
                  rows = mc_chunk_count(n, wanted);
    return rows > SEGMENT_LEAST ? rows : SEGMENT_LEAST;
}

static double bytes_there(int64_t n, int64_t rank, int64_t t) {
    const double segments = (double)mc_chunk_count(n, segment_rows(n, rank));
    const double doubles = (double)rank * (double)(rank + mc_min_count(n, WIDE_ROWS) + 2 * t) + 2 * (double)(n * t)
                           + segments * (double)(rank * t);
    return doubles * sizeof(double) + (double)n * (double)rank * sizeof(float);
}

mercer_status mc_device_woodbury_place(mercer_ctx *ctx, const mc_lowrank *f, int64_t t, mc_device **out) {
    *out = NULL;
    if (f->rank == 0 || f->part.ranks > 1)
        return MERCER_OK;
    return mc_device_for_algebra(ctx, (double)f->n * (double)f->rank * (double)f->rank, bytes_there(f->n, f->rank, t),
                                 out);
}

/* ---- Opening ---- */

static mercer_status take_bytes(mercer_ctx *ctx, mc_device_woodbury *w, size_t bytes, mc_address *out) {
    MC_TRY(mc_device_allocate(ctx, w->device, bytes, out));
    w->held[w->count] = *out;
    w->bytes[w->count++] = bytes;
    return MERCER_OK;
}

static mercer_status launch_woodbury(mercer_ctx *ctx, const mc_device_woodbury *w, const char *kernel, int64_t across,
                                     int64_t down, const woodbury_argument *a) {
    const mc_launch shape = {.grid = {across, down}, .threads = THREADS};
    return mc_device_launch(ctx, w->device, w->program, kernel, &shape, a, sizeof *a);
}

static mercer_status copy_factor(mercer_ctx *ctx, mc_device_woodbury *w, const mc_lowrank *f) {
    const size_t column = (size_t)f->n * sizeof(float);
    MC_TRY(take_bytes(ctx, w, column * (size_t)f->rank, &w->a.f));
    for (int64_t k = 0; k < f->rank; k += MC_PANEL) {
        const int64_t width = mc_min_count(MC_PANEL, f->rank - k);
        MC_TRY(mc_device_upload(ctx, w->device, w->a.f + (mc_address)k * column, mc_lowrank_column(f, k),
                                (size_t)width * column));
        MC_TRY(mc_report_progress(ctx, -1));
    }
    return MERCER_OK;
}

/* G <- F'F, the lower half, some rows of F at a time as doubles. */
static mercer_status multiply_factor(mercer_ctx *ctx, mc_device_woodbury *w) {
    const int64_t n = w->a.n, rank = w->a.rank, rows = mc_min_count(n, WIDE_ROWS);
    const mc_device_matrix G = {MERCER_F64, (mc_address)(uintptr_t)w->G.a, w->G.ld};
    const size_t bytes = (size_t)(rows * rank) * sizeof(double);
    woodbury_argument a = w->a;
    MC_TRY(mc_device_allocate(ctx, w->device, bytes, &a.wide));
    mercer_status status = MERCER_OK;
    for (a.from = 0; a.from < n && !status; a.from += rows) {
        a.to = mc_min_count(a.from + rows, n);
        const int64_t m = a.to - a.from;
        status = launch_woodbury(ctx, w, "widen", mc_chunk_count(m, THREADS), rank, &a);
        MC_THEN(status, mc_device_syrk(ctx, w->device, false, true, rank, m, 1,
                                       (mc_device_matrix){MERCER_F64, a.wide, m}, a.from > 0, G));
        MC_THEN(status, mc_report_progress(ctx, (double)a.to / (double)n));
    }
    mc_device_release(w->device, a.wide, bytes);
    return status;
}

/* Sums over the diagonal of G, of its entries and of their logarithms. */
static mercer_status sum_diagonal(mercer_ctx *ctx, const mc_device_woodbury *w, double *trace, double *logs) {
    double *diagonal = NULL;
    MC_TRY(MC_ALLOC(ctx, diagonal, w->a.rank));
    const mercer_status status = mc_dense_diagonal(ctx, w->G, diagonal);
    *trace = *logs = 0;
    for (int64_t k = 0; k < w->a.rank && !status; k++) {
        *trace += diagonal[k];
        *logs += log(diagonal[k]);
    }
    mc_free(diagonal);
    return status;
}

/* G <- chol(F'F + shift I). */
static mercer_status factor_there(mercer_ctx *ctx, mc_device_woodbury *w, double safe) {
    double trace, unused;
    int64_t bad = 0;
    MC_TRY(mc_dense_allocate(ctx, w->device, MC_COLUMN_MAJOR, MERCER_F64, w->a.rank, w->a.rank, &w->G));
    MC_TRY(multiply_factor(ctx, w));
    MC_TRY(sum_diagonal(ctx, w, &trace, &unused));
    w->a.shift = fmax(w->a.shift, safe * trace);
    woodbury_argument a = w->a;
    a.wide = (mc_address)(uintptr_t)w->G.a;
    MC_TRY(launch_woodbury(ctx, w, "lift", mc_chunk_count(a.rank, THREADS), 1, &a));
    MC_TRY(mc_potrf(ctx, w->G, &bad));
    if (bad)
        return mc_fail(ctx, MERCER_NUMERIC, "the preconditioner broke down at column %lld of %lld; raise lambda",
                       (long long)bad, (long long)w->a.rank);
    return sum_diagonal(ctx, w, &unused, &w->log_sum);
}

static mercer_status take_vectors(mercer_ctx *ctx, mc_device_woodbury *w) {
    woodbury_argument *a = &w->a;
    const size_t vectors = (size_t)(a->n * w->most) * sizeof(double),
                 few = (size_t)(a->rank * w->most) * sizeof(double);
    MC_TRY(take_bytes(ctx, w, vectors, &a->v));
    MC_TRY(take_bytes(ctx, w, vectors, &a->y));
    MC_TRY(take_bytes(ctx, w, few, &a->wide));
    return take_bytes(ctx, w, (size_t)a->segments * few, &a->part);
}

mercer_status mc_device_woodbury_open(mercer_ctx *ctx, mc_device *device, const mc_lowrank *f, double safe, int64_t t,
                                      double *shift, mc_device_woodbury **out) {
    mc_device_woodbury *w = NULL;
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, w, 1));
    *w = (mc_device_woodbury){.device = device, .most = t};
    w->a = (woodbury_argument){.n = f->n, .rank = f->rank, .segment = segment_rows(f->n, f->rank), .shift = *shift};
    w->a.segments = mc_chunk_count(f->n, w->a.segment);
    mercer_status status = mc_device_build(ctx, device, mc_source_precondition, &w->program);
    MC_THEN(status, copy_factor(ctx, w, f));
    MC_THEN(status, factor_there(ctx, w, safe));
    MC_THEN(status, take_vectors(ctx, w));
    if (status) {
        mc_device_woodbury_close(w);
        return status;
    }
    *shift = w->a.shift;
    *out = w;
    return MERCER_OK;
}

void mc_device_woodbury_close(mc_device_woodbury *w) {
    if (!w)
        return;
    mc_dense_free(&w->G);
    for (int i = 0; i < w->count; i++)
        mc_device_release(w->device, w->held[i], w->bytes[i]);
    mc_free(w);
}

/* ---- Applying ---- */

/* wide <- F'V. */
static mercer_status project_vectors(mercer_ctx *ctx, const mc_device_woodbury *w, woodbury_argument a) {
    for (a.from = 0; a.from < a.t; a.from += RIGHT) {
        a.to = mc_min_count(a.from + RIGHT, a.t);
        MC_TRY(launch_woodbury(ctx, w, "project", mc_chunk_count(a.rank, ACROSS), a.segments, &a));
    }
    a.y = a.wide;
    return launch_woodbury(ctx, w, "gather", mc_chunk_count(a.rank * a.t, THREADS), 1, &a);
}

static mercer_status subtract_projection(mercer_ctx *ctx, const mc_device_woodbury *w, woodbury_argument a) {
    for (a.from = 0; a.from < a.t; a.from += RIGHT) {
        a.to = mc_min_count(a.from + RIGHT, a.t);
        MC_TRY(launch_woodbury(ctx, w, "subtract", mc_chunk_count(a.n, THREADS), 1, &a));
    }
    return MERCER_OK;
}

mercer_status mc_device_woodbury_apply(mercer_ctx *ctx, const mc_device_woodbury *w, int64_t t, const double *V,
                                       double *Y) {
    const size_t bytes = (size_t)(w->a.n * t) * sizeof(double);
    woodbury_argument a = w->a;
    a.t = t;
    const mc_dense C = {.place = MC_DEVICE,
                        .layout = MC_ROW_MAJOR,
                        .dtype = MERCER_F64,
                        .rows = a.rank,
                        .columns = t,
                        .ld = t,
                        .a = (void *)(uintptr_t)a.wide,
                        .device = w->device};
    MC_TRY(mc_device_upload(ctx, w->device, a.v, V, bytes));
    MC_TRY(project_vectors(ctx, w, a));
    MC_TRY(mc_potrs(ctx, w->G, C));
    MC_TRY(subtract_projection(ctx, w, a));
    return mc_device_download(ctx, w->device, Y, a.y, bytes);
}

double mc_device_woodbury_log_sum(const mc_device_woodbury *w) {
    return w->log_sum;
}

bool mc_device_woodbury_leaves_it(mercer_ctx *ctx, const mc_device_woodbury *w, mercer_status status) {
    return mc_device_leaves_it(ctx, w->device, status);
}
