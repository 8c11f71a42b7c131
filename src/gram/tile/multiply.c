/* multiply.c: the work of one task: strips or fused bodies, their products, and sums that pass from the tile's
   precision to double after at most 480 rows and 1920 columns. */
#include "gram/tile/multiply.h"
#include "base/parallel.h"
#include <string.h>

static int64_t real_size(const mc_product *p) {
    return mc_real_size(p->g);
}

static char *weights_at(const mc_product_task *t, int64_t c, int64_t point) {
    const mc_product *p = t->p;
    return p->w + (p->many ? point * p->stride : c * p->length + point) * real_size(p);
}

static mc_rhs right_of(const mc_product_task *t, int64_t c, int64_t group, int64_t panel, bool symmetric) {
    const int64_t rows = t->p->g->ops->rows, width = t->p->g->ops->columns, block = t->p->rows_each;
    char *columns = t->s.columns_real + (c * block + (panel - t->p0) * width) * real_size(t->p);
    return (mc_rhs){.w_columns = weights_at(t, c, panel * width),
                    .w_rows = symmetric ? weights_at(t, c, t->i0 + group * rows) : NULL,
                    .y_rows = t->s.rows_real + (c * block + group * rows) * t->p->g->ops->lanes * real_size(t->p),
                    .y_columns = symmetric ? columns : NULL};
}

typedef struct multiplied {
    const mc_product_task *task;
    bool symmetric;
} multiplied;

static void multiply_strip(void *arg, const mc_strip *strip) {
    const multiplied *m = arg;
    const mc_product_task *t = m->task;
    const mc_product *p = t->p;
    const int64_t rows = p->g->ops->rows, width = p->g->ops->columns;
    if (!p->many) {
        for (int64_t c = 0; c < p->t; c++) {
            const mc_rhs right = right_of(t, c, strip->group, strip->panel, m->symmetric);
            p->g->ops->product(strip->panels, strip->values, &right);
        }
        return;
    }
    const int64_t line = p->stride * real_size(p);
    const mc_rhs_block rhs = {.t = p->stride,
                              .v_columns = weights_at(t, 0, strip->panel * width),
                              .v_rows = m->symmetric ? weights_at(t, 0, t->i0 + strip->group * rows) : NULL,
                              .y_rows = t->s.rows_real + strip->group * rows * line,
                              .y_columns = t->s.columns_real + (strip->panel - t->p0) * width * line};
    p->g->ops->products(strip->panels, strip->values, &rhs);
}

static void walk_strips(const mc_product_task *t, int64_t g0, int64_t g1, int64_t p0, int64_t p1, bool symmetric) {
    multiplied m = {.task = t, .symmetric = symmetric};
    if (g0 < g1 && p0 < p1)
        mc_tile_workspace_walk(t->p->g, t->space, g0, g1, p0, p1, multiply_strip, &m);
}

static bool is_fused(const mc_product *p) {
    return p->t == 1 && mc_gram_fuses(p->g);
}

/* Panels whose points fit the second cache beside the rows. */
static int64_t panels_cached(const mc_gram *g) {
    const int64_t bytes = g->plan.parts ? g->plan.part[0].d * g->ops->columns * mc_real_size(g) : 1;
    const int64_t fit = MC_BLOCK_CACHE / 2 / (bytes ? bytes : 1);
    return fit < 1 ? 1 : fit < MC_BLOCK_PANELS ? fit : MC_BLOCK_PANELS;
}

static void add_floats(int64_t n, double factor, const float *v, int64_t stride, double *out) {
    for (int64_t i = 0; i < n; i++)
        out[i] += factor * (double)v[i * stride];
}

static void add_doubles(int64_t n, double factor, const double *v, int64_t stride, double *out) {
    for (int64_t i = 0; i < n; i++)
        out[i] += factor * v[i * stride];
}

/* Sums first .. first + count - 1 in the tile's precision to double, times factor; then they start again from 0. */
static void flush_sums(const mc_product *p, double factor, char *real, double *out, int64_t first, int64_t count) {
    for (int64_t c = 0; c < p->t; c++) {
        const int64_t stride = p->many ? p->stride : 1, to = c * p->rows_each + first,
                      from = p->many ? first * stride + c : to;
        char *at = real + from * real_size(p);
        if (p->g->precision == MERCER_F32)
            add_floats(count, factor, (const float *)(const void *)at, stride, out + to);
        else
            add_doubles(count, factor, (const double *)(const void *)at, stride, out + to);
        if (!p->many)
            memset(at, 0, (size_t)(count * real_size(p)));
    }
    if (p->many)
        memset(real + first * p->stride * real_size(p), 0, (size_t)(count * p->stride * real_size(p)));
}

/* The rows of groups g0 .. g1 - 1. */
static void flush_rows(const mc_product_task *t, double factor, int64_t g0, int64_t g1) {
    const mc_product *p = t->p;
    const int64_t rows = p->g->ops->rows, lanes = p->g->ops->lanes;
    if (p->many) {
        flush_sums(p, factor, t->s.rows_real, t->s.rows, g0 * rows, (g1 - g0) * rows);
        return;
    }
    for (int64_t c = 0; c < p->t; c++) {
        const int64_t at = c * p->rows_each + g0 * rows;
        p->g->ops->sum((g1 - g0) * rows, factor, t->s.rows_real + at * lanes * real_size(p), t->s.rows + at);
    }
}

/* Fused bodies leave the coefficient to whoever takes the sums. */
static double fused_coefficient(const mc_product *p) {
    return is_fused(p) ? p->g->plan.line[0].step.coefficient : 1;
}

static void fused_part(const mc_product_task *t, int64_t g0, int64_t g1, int64_t p0, int64_t p1, bool symmetric) {
    const int64_t at_once = panels_cached(t->p->g);
    int64_t summed = 0;
    for (int64_t p = p0; p < p1; p += at_once) {
        const int64_t end = p + at_once < p1 ? p + at_once : p1;
        for (int64_t group = g0; group < g1; group++) {
            const mc_rhs right = right_of(t, 0, group, p, symmetric);
            mc_tile_workspace_fused(t->p->g, t->space, group, p, end, &right);
        }
        summed += end - p;
        if (summed + at_once > MC_BLOCK_PANELS || end == p1) {
            flush_rows(t, fused_coefficient(t->p), g0, g1);
            summed = 0;
        }
    }
}

static void multiply_rectangle(const mc_product_task *t, int64_t g0, int64_t g1) {
    if (is_fused(t->p)) {
        fused_part(t, g0, g1, t->p0, t->p1, t->symmetric);
        return;
    }
    for (int64_t q = t->p0; q < t->p1; q += MC_BLOCK_PANELS) {
        walk_strips(t, g0, g1, q, q + MC_BLOCK_PANELS < t->p1 ? q + MC_BLOCK_PANELS : t->p1, t->symmetric);
        flush_rows(t, 1, g0, g1);
    }
}

/* A block with itself: each group meets its own panel in full, with the exact diagonal, and the later panels once. */
static void multiply_triangle(const mc_product_task *t) {
    const mc_product *p = t->p;
    const int64_t each = p->g->ops->columns / p->g->ops->rows, groups = t->space->groups;
    for (int64_t q = t->p0; q < t->p1; q++) {
        const int64_t own = (q - t->p0) * each, end = own + each < groups ? own + each : groups;
        walk_strips(t, own, end, q, q + 1, false);
        if (!is_fused(p))
            walk_strips(t, 0, own, q, q + 1, true);
    }
    flush_rows(t, 1, 0, groups);
    for (int64_t q = t->p0; q < t->p1 && is_fused(p); q++) {
        const int64_t own = (q - t->p0) * each;
        fused_part(t, own, own + each < groups ? own + each : groups, q + 1, t->p1, true);
    }
    flush_sums(p, fused_coefficient(p), t->s.columns_real, t->s.columns, 0, p->rows_each);
}

/* Sums in the tile's precision are 0 whenever no task runs: flushing leaves them so. */
static void clear_sums(const mc_product *p, mc_product_sums *s) {
    memset(s->rows, 0, (size_t)(p->rows_each * p->t) * sizeof(double));
    memset(s->columns, 0, (size_t)(p->rows_each * p->t) * sizeof(double));
}

/* Groups of rows in pieces, over which column sums stay in the tile's precision. */
static int64_t groups_summed(const mc_product_task *t) {
    return mc_chunk_count(t->space->groups, mc_chunk_count(t->space->groups, MC_GROUPS_SUMMED));
}

/* Sparse panels are unpacked once for all rows of the block. */
static void sparse_rectangle(const mc_product_task *t) {
    const int64_t groups = t->space->groups, each = groups_summed(t), width = t->p->g->ops->columns;
    for (int64_t q = t->p0; q < t->p1; q++) {
        for (int64_t g0 = 0; g0 < groups; g0 += each) {
            walk_strips(t, g0, g0 + each < groups ? g0 + each : groups, q, q + 1, t->symmetric);
            if (t->symmetric)
                flush_sums(t->p, 1, t->s.columns_real, t->s.columns, (q - t->p0) * width, width);
        }
        if ((q + 1 - t->p0) % MC_BLOCK_PANELS == 0 || q + 1 == t->p1)
            flush_rows(t, 1, 0, groups);
    }
}

void mc_task_compute(mc_product_task *t, bool diagonal) {
    clear_sums(t->p, &t->s);
    mc_tile_workspace_rows(t->p->g, t->space, NULL, t->i0, t->count);
    if (diagonal) {
        multiply_triangle(t);
        return;
    }
    if (mc_gram_sparse(t->p->g)) {
        sparse_rectangle(t);
        return;
    }
    const int64_t groups = t->space->groups, each = groups_summed(t);
    for (int64_t g0 = 0; g0 < groups; g0 += each) {
        multiply_rectangle(t, g0, g0 + each < groups ? g0 + each : groups);
        if (t->symmetric)
            flush_sums(t->p, fused_coefficient(t->p), t->s.columns_real, t->s.columns, 0, t->p->rows_each);
    }
}
