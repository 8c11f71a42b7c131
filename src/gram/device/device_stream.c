/* device_stream.c: see device_stream.h. */
#include "gram/device/device_stream.h"
#include "base/ctx.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/print.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/text.h"
#include "gram/tile/multiply.h"
#include <string.h>

/* ---- A window of the packed points ---- */

/* The points of some rows and columns as an operator of its own, which only a device reads. */
typedef struct window_points {
    mercer_data x, z;
    mc_gram gram;
} window_points;

typedef struct region {
    int64_t i0, rows, j0, columns;
} region;

static void *address_past(void *at, int64_t count, int64_t size) {
    return at ? (char *)at + count * size : NULL;
}

/* Points from `first` on, which begin a panel. */
static mc_packed_points points_from(const mc_tile_part *p, const mc_packed_points *all, int64_t real, int64_t first,
                                    int64_t count) {
    mc_packed_points some = *all;
    some.n = count;
    some.values = p->sparse ? all->values : address_past(all->values, first * p->d, real);
    some.start = address_past(all->start, first, (int64_t)sizeof *all->start);
    some.half = address_past(all->half, first, real);
    return some;
}

static void move_window(const mc_gram *whole, const region *at, window_points *w) {
    const int64_t real = mc_real_size(whole);
    w->x.n = at->rows;
    w->z.n = at->columns;
    for (int i = 0; i < whole->plan.parts; i++) {
        const mc_tile_part *p = &whole->plan.part[i];
        mc_tile_part *own = &w->gram.plan.part[i];
        own->left = points_from(p, &p->left, real, at->i0, at->rows);
        own->right = points_from(p, p->shared ? &p->left : &p->right, real, at->j0, at->columns);
        own->shared = false;
    }
    for (int i = 0; i < whole->plan.lines; i++) {
        w->gram.plan.line[i].row = address_past(whole->plan.line[i].row, at->i0, real);
        w->gram.plan.line[i].col = address_past(whole->plan.line[i].col, at->j0, real);
    }
    w->gram.diagonal = address_past(whole->diagonal, at->i0, (int64_t)sizeof *whole->diagonal);
}

static void close_points(window_points *w) {
    mc_free(w->gram.plan.part);
    mc_free(w->gram.plan.line);
}

static mercer_status open_points(mercer_ctx *ctx, const mc_gram *whole, window_points *w) {
    *w = (window_points){.gram = *whole};
    w->gram.x = &w->x;
    w->gram.z = &w->z;
    w->gram.plan.part = NULL;
    w->gram.plan.line = NULL;
    mercer_status status = MC_ALLOC(ctx, w->gram.plan.part, whole->plan.parts + 1);
    MC_THEN(status, MC_ALLOC(ctx, w->gram.plan.line, whole->plan.lines + 1));
    if (status) {
        close_points(w);
        return status;
    }
    memcpy(w->gram.plan.part, whole->plan.part, (size_t)whole->plan.parts * sizeof *whole->plan.part);
    memcpy(w->gram.plan.line, whole->plan.line, (size_t)whole->plan.lines * sizeof *whole->plan.line);
    return MERCER_OK;
}

/* ---- How large windows are ---- */

typedef struct cutting {
    mercer_ctx *ctx;
    const mc_device_gram *op;
    window_points *points;
    int64_t t, rows_unit, columns_unit;
} cutting;

static size_t bytes_of(const cutting *c, const region *at) {
    const mc_gram *g = mc_device_gram_of(c->op);
    const mc_device_window w = {.part = &c->points->gram, .n = g->x->n, .m = g->z->n, .t = c->t};
    move_window(g, at, c->points);
    return mc_device_window_bytes(c->ctx, mc_device_gram_device(c->op), &w, at->columns < g->z->n);
}

static int64_t share_in_units(int64_t all, int64_t parts, int64_t unit) {
    return mc_min_count(all, mc_chunk_count(mc_chunk_count(all, parts), unit) * unit);
}

/* As few windows as fit: rows and columns in as many pieces. */
static bool cut_windows(const cutting *c, size_t room, region *out) {
    const mc_gram *g = mc_device_gram_of(c->op);
    const int64_t n = g->x->n, m = g->z->n;
    for (int64_t parts = 1;; parts += 1 + parts / 16) {
        *out = (region){.rows = share_in_units(n, parts, c->rows_unit),
                        .columns = share_in_units(m, parts, c->columns_unit)};
        if (bytes_of(c, out) <= room)
            return true;
        if (out->rows <= c->rows_unit && out->columns <= c->columns_unit)
            return false;
    }
}

static cutting cutting_of(mercer_ctx *ctx, const mc_device_gram *op, int64_t t, window_points *points) {
    return (cutting){ctx, op, points, t, mc_device_window_rows(op), mc_device_window_columns(op, t)};
}

static mercer_status refuse_device_limit(mercer_ctx *ctx, const mc_device *device, size_t least) {
    char wanted[32], limit[32];
    return mc_fail(ctx, mc_device_is_automatic(ctx) || least <= device->limit ? MERCER_MEMORY : MERCER_INVALID,
                   "device %s: products by blocks of the rows need at least %s there, and its limit is %s; raise the "
                   "device memory or use device cpu",
                   device->name, mc_bytes_text((double)least, wanted), mc_bytes_text((double)device->limit, limit));
}

mercer_status mc_device_stream_check(mercer_ctx *ctx, const mc_device_gram *op) {
    const mc_device *device = mc_device_gram_device(op);
    const mc_gram *g = mc_device_gram_of(op);
    window_points points;
    mc_clear_failure(ctx);
    MC_TRY(open_points(ctx, g, &points));
    const cutting c = cutting_of(ctx, op, MC_DEVICE_RIGHT_MOST, &points);
    const region least = {.rows = mc_min_count(g->x->n, c.rows_unit), .columns = mc_min_count(g->z->n, c.columns_unit)};
    const size_t bytes = bytes_of(&c, &least);
    close_points(&points);
    return bytes <= device->limit - device->used ? MERCER_OK : refuse_device_limit(ctx, device, bytes);
}

mercer_status mc_device_stream_forecast(mercer_ctx *ctx, mc_device *device, const mc_gram *gram, int64_t n,
                                        size_t *bytes, bool *fits) {
    window_points points;
    MC_TRY(open_points(ctx, gram, &points));
    points.x.n = points.z.n = n;
    const mc_device_window w = {.part = &points.gram, .n = n, .m = n, .t = MC_DEVICE_RIGHT_MOST};
    *bytes = mc_device_window_bytes(ctx, device, &w, false);
    *fits = *bytes <= device->limit;
    close_points(&points);
    return MERCER_OK;
}

/* ---- Products ---- */

/* The windows of some rows, from the first column to the last. */
typedef struct sweep {
    const mc_device_gram *op;
    const mc_right_sides *r;
    window_points points[2]; /* of the lead and of the window at hand */
    mc_device_window window[2];
    mc_device_gram *lead;
    void *room;
} sweep;

static mercer_status multiply_window(mercer_ctx *ctx, sweep *s, const region *at) {
    const mc_gram *g = mc_device_gram_of(s->op);
    const int own = s->lead != NULL;
    mc_device_gram *there = NULL;
    move_window(g, at, &s->points[own]);
    s->window[own] = (mc_device_window){.part = &s->points[own].gram,
                                        .i0 = at->i0,
                                        .j0 = at->j0,
                                        .n = g->x->n,
                                        .m = g->z->n,
                                        .t = s->r->t,
                                        .lead = s->lead};
    MC_TRY(mc_device_window_open(ctx, mc_device_gram_device(s->op), &s->window[own], &there));
    if (!s->lead)
        s->lead = there;
    const mercer_status status = mc_device_window_multiply(ctx, there, s->r, s->room);
    if (there != s->lead)
        mc_device_gram_close(there);
    return status;
}

static double share_done(const mc_device_gram *op, const region *at) {
    const mc_gram *g = mc_device_gram_of(op);
    const double part = (double)(at->j0 + at->columns) / (double)g->z->n;
    return ((double)at->i0 + part * (double)at->rows) / (double)g->x->n;
}

static mercer_status multiply_rows(mercer_ctx *ctx, sweep *s, region at, double *Y) {
    const int64_t m = mc_device_gram_of(s->op)->z->n, each = at.columns;
    mercer_status status = MERCER_OK;
    for (at.j0 = 0; at.j0 < m && !status; at.j0 += each) {
        at.columns = mc_min_count(each, m - at.j0);
        status = multiply_window(ctx, s, &at);
        MC_THEN(status, mc_report_progress(ctx, share_done(s->op, &at)));
    }
    MC_THEN(status, mc_device_window_take(ctx, s->lead, s->r, s->room, Y + at.i0 * s->r->ld));
    mc_device_gram_close(s->lead);
    s->lead = NULL;
    return status;
}

static mercer_status multiply_all(mercer_ctx *ctx, sweep *s, double *Y) {
    const mc_device *device = mc_device_gram_device(s->op);
    const cutting c = cutting_of(ctx, s->op, s->r->t, &s->points[0]);
    const int64_t n = mc_device_gram_of(s->op)->x->n;
    region at;
    if (!cut_windows(&c, device->limit - device->used, &at))
        return refuse_device_limit(ctx, device, bytes_of(&c, &at));
    const int64_t each = at.rows;
    for (; at.i0 < n; at.i0 += each) {
        at.rows = mc_min_count(each, n - at.i0);
        MC_TRY(multiply_rows(ctx, s, at, Y));
    }
    return MERCER_OK;
}

mercer_status mc_device_stream_apply(mercer_ctx *ctx, const mc_device_gram *op, const mc_right_sides *r, void *room,
                                     double *Y) {
    sweep s = {.op = op, .r = r, .room = room};
    mercer_status status = open_points(ctx, mc_device_gram_of(op), &s.points[0]);
    if (status)
        return status;
    status = open_points(ctx, mc_device_gram_of(op), &s.points[1]);
    MC_THEN(status, multiply_all(ctx, &s, Y));
    close_points(&s.points[0]);
    close_points(&s.points[1]);
    return status;
}
