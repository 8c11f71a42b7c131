/* precondition.c: the inverse of P = F F' + lambda I by the identity of Woodbury,

       P^-1 V = (V - F (G + lambda I)^-1 F' V) / lambda,   G = F'F,

   with F stored as floats and every product of it computed in double. That is what makes the identity safe: F is then
   an exact matrix, P an exactly positive definite one, and the subtraction loses no more than the last digits of double
   precision, as long as lambda is not below SAFE |F|^2; a smaller lambda is replaced by that. (In float arithmetic the
   subtraction would leave noise of 2^-24 |V| / lambda in the directions where P^-1 is smallest.)

   G costs n r^2 operations, its factor r^3/3, an application 4 n r t and one reading of F for each of its two products.
   */
#include "iterative/precondition.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "backend/dispatch.h"
#include "linalg/dense.h"
#include <math.h>
#include <string.h>

enum {
    ROWS = 256,     /* rows of a panel turned into doubles, or multiplied, at a time */
    SEGMENT = 8192, /* rows that one partial sum of F'V runs over */
    GRAIN = 2048    /* rows of V laid out at a time */
};
static const double SAFE = 0x1p-44;

struct mc_precondition {
    const mc_lowrank *f;
    double shift;
    int64_t t;
    mc_work work;
    const mc_symv_f32_body *body;
    double *G;       /* r x r */
    double *scratch; /* per thread: two blocks of a panel while G is made, then ROWS x t */
    double *V;       /* t planes of n */
    double *part;    /* per segment, t planes of r */
    double *C;       /* r x t, then t planes of r */
};

static int64_t scratch_numbers(int64_t rank, int64_t t) {
    const int64_t blocks = 2 * (rank < MC_PANEL ? rank : MC_PANEL);
    return ROWS * (t > blocks ? t : blocks);
}

static int64_t count_segments(int64_t n) {
    return mc_chunk_count(n, SEGMENT);
}

static void lay_out_woodbury_workspace(mercer_ctx *ctx, mc_work *work, int64_t n, int64_t r, int64_t t,
                                       mc_precondition *s) {
    s->G = mc_work_take(work, r * r, sizeof(double));
    s->scratch = mc_work_take(work, mercer_threads(ctx) * scratch_numbers(r, t), sizeof(double));
    s->V = mc_work_take(work, n * t, sizeof(double));
    s->part = mc_work_take(work, count_segments(n) * r * t, sizeof(double));
    s->C = mc_work_take(work, 2 * r * t, sizeof(double));
}

static size_t work_bytes(mercer_ctx *ctx, int64_t n, int64_t rank, int64_t t) {
    mc_work counted = {0};
    lay_out_woodbury_workspace(ctx, &counted, n, rank, t, &(mc_precondition){0});
    return counted.used;
}

size_t mc_precondition_bytes(mercer_ctx *ctx, int64_t n, int64_t rank, int64_t t) {
    rank = rank < n ? rank : n;
    return sizeof(mc_precondition) + work_bytes(ctx, n, rank, t) + 4 * MC_ALIGN;
}

static int width_of(const mc_lowrank *f, int64_t panel) {
    const int64_t rest = f->rank - panel * MC_PANEL;
    return (int)(rest < MC_PANEL ? rest : MC_PANEL);
}

/* out (m x width, by columns) <- rows begin .. begin + m of a panel, as doubles. */
static void widen_panel(const mc_lowrank *f, int64_t panel, int64_t begin, int m, double *out) {
    const int width = width_of(f, panel);
    for (int k = 0; k < width; k++) {
        const float *column = f->panel[panel] + k * f->n + begin;
        for (int i = 0; i < m; i++)
            out[i + k * m] = (double)column[i];
    }
}

/* One block of the lower half of G: panel p against panel q <= p, over all rows. */
static void gram_block(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const mc_precondition *s = arg;
    const mc_lowrank *f = s->f;
    int64_t p = 0, q = chunk;
    for (; q > p; p++)
        q -= p + 1;
    const int wp = width_of(f, p), wq = width_of(f, q);
    double *left = s->scratch + thread * scratch_numbers(s->f->rank, s->t),
           *right = p == q ? left : left + ROWS * MC_PANEL;
    const mc_dense out = mc_column_major(s->G + p * MC_PANEL + q * MC_PANEL * f->rank, wp, wq, f->rank);
    for (int64_t i = 0; i < f->n; i += ROWS) {
        const int m = (int)(f->n - i < ROWS ? f->n - i : ROWS);
        widen_panel(f, p, i, m, left);
        if (p != q)
            widen_panel(f, q, i, m, right);
        mc_gemm(1, mc_row_major(left, wp, m, m), mc_column_major(right, m, wq, m), 1, out);
    }
}

/* G <- chol(F'F + shift I). */
static mercer_status factor_woodbury(mercer_ctx *ctx, mc_precondition *s, double lambda) {
    const int64_t r = s->f->rank, panels = mc_chunk_count(r, MC_PANEL);
    MC_TRY(mc_for(ctx, panels * (panels + 1) / 2, 1, gram_block, s));
    double trace = 0;
    for (int64_t k = 0; k < r; k++)
        trace += s->G[k * (r + 1)];
    s->shift = fmax(lambda, SAFE * trace);
    for (int64_t k = 0; k < r; k++)
        s->G[k * (r + 1)] += s->shift;
    int64_t bad = 0;
    MC_TRY(mc_potrf(ctx, mc_column_major(s->G, r, r, r), &bad));
    if (bad)
        return mc_fail(ctx, MERCER_NUMERIC, "the preconditioner broke down at column %lld of %lld; raise lambda",
                       (long long)bad, (long long)r);
    return MERCER_OK;
}

mercer_status mc_precondition_open(mercer_ctx *ctx, const mc_lowrank *f, double lambda, int64_t t,
                                   mc_precondition **out) {
    *out = NULL;
    mc_precondition *s = NULL;
    MC_TRY(MC_ALLOC(ctx, s, 1));
    *s = (mc_precondition){.f = f, .shift = lambda, .t = t, .body = mc_bodies_of(ctx->isa)->symv_f32};
    const int64_t r = f->rank;
    mercer_status status = mc_work_open(ctx, &s->work, work_bytes(ctx, f->n, r, t));
    if (!status) {
        lay_out_woodbury_workspace(ctx, &s->work, f->n, r, t, s);
        status = r ? factor_woodbury(ctx, s, lambda) : MERCER_OK;
    }
    if (status) {
        mc_precondition_close(s);
        return status;
    }
    *out = s;
    return MERCER_OK;
}

void mc_precondition_close(mc_precondition *s) {
    if (s)
        mc_work_close(&s->work);
    mc_free(s);
}

double mc_precondition_shift(const mc_precondition *s) {
    return s->shift;
}

/* shift^(n - r) det(F'F + shift I). */
double mc_precondition_log_det(const mc_precondition *s) {
    const int64_t r = s->f->rank;
    double sum = (double)(s->f->n - r) * log(s->shift);
    for (int64_t k = 0; k < r; k++)
        sum += 2 * log(s->G[k * (r + 1)]);
    return sum;
}

typedef struct precondition_product {
    const mc_precondition *s;
    int64_t t;
    const double *V;
    double *Y;
} precondition_product;

/* V, row-major, to planes. */
static void copy_to_planes(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const precondition_product *p = arg;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < p->t; k++)
            p->s->V[k * p->s->f->n + i] = p->V[i * p->t + k];
}

/* part(segment, panel) <- F(segment, panel)' V(segment). A panel by columns is the block A of backend/symv_f32.h by
   rows. */
static void project_segment(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end, (void)thread;
    const precondition_product *p = arg;
    const mc_lowrank *f = p->s->f;
    const int64_t panels = mc_chunk_count(f->rank, MC_PANEL), segment = chunk / panels, panel = chunk % panels;
    const int64_t stop = (segment + 1) * SEGMENT < f->n ? (segment + 1) * SEGMENT : f->n;
    double *out = p->s->part + segment * f->rank * p->t + panel * MC_PANEL;
    mc_symv_f32 w = {.ld = f->n, .m = width_of(f, panel), .t = p->t, .vs = f->n, .Y = out, .ys = f->rank};
    for (int64_t k = 0; k < p->t; k++)
        memset(out + k * f->rank, 0, (size_t)w.m * sizeof *out);
    for (int64_t i = segment * SEGMENT; i < stop; i += ROWS) {
        w.A = f->panel[panel] + i;
        w.V = p->s->V + i;
        w.n = stop - i < ROWS ? stop - i : ROWS;
        p->s->body->rows(&w);
    }
}

/* C <- (G + shift I)^-1 (the parts added up), then its negative in planes. */
static mercer_status solve_small(mercer_ctx *ctx, const mc_precondition *s, int64_t t) {
    const int64_t r = s->f->rank;
    for (int64_t i = 0; i < r * t; i++)
        s->C[i] = 0;
    for (int64_t c = 0; c < count_segments(s->f->n); c++)
        for (int64_t i = 0; i < r * t; i++)
            s->C[i % r * t + i / r] += s->part[c * r * t + i];
    MC_TRY(mc_potrs(ctx, mc_column_major(s->G, r, r, r), mc_row_major(s->C, r, t, t)));
    for (int64_t i = 0; i < r * t; i++)
        s->C[r * t + i % t * r + i / t] = -s->C[i];
    return MERCER_OK;
}

/* Y <- (V - F C) / shift on a chunk of rows. */
static void subtract_projection(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const precondition_product *p = arg;
    const mc_lowrank *f = p->s->f;
    const int64_t t = p->t, m = end - begin;
    double *Z = p->s->scratch + thread * scratch_numbers(f->rank, p->s->t);
    for (int64_t k = 0; k < t; k++)
        memcpy(Z + k * ROWS, p->s->V + k * f->n + begin, (size_t)m * sizeof *Z);
    for (int64_t panel = 0; panel * MC_PANEL < f->rank; panel++) {
        const mc_symv_f32 w = {.A = f->panel[panel] + begin,
                               .ld = f->n,
                               .m = width_of(f, panel),
                               .n = m,
                               .t = t,
                               .U = p->s->C + f->rank * t + panel * MC_PANEL,
                               .us = f->rank,
                               .Z = Z,
                               .zs = ROWS};
        p->s->body->columns(&w);
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t k = 0; k < t; k++)
            p->Y[(begin + i) * t + k] = Z[k * ROWS + i] / p->s->shift;
}

static mercer_status apply_woodbury(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    const mc_precondition *s = self;
    const int64_t panels = mc_chunk_count(s->f->rank, MC_PANEL);
    precondition_product p = {.s = s, .t = t, .V = V, .Y = Y};
    MC_TRY(mc_for(ctx, s->f->n, GRAIN, copy_to_planes, &p));
    if (panels) {
        MC_TRY(mc_for(ctx, count_segments(s->f->n) * panels, 1, project_segment, &p));
        MC_TRY(solve_small(ctx, s, t));
    }
    return mc_for(ctx, s->f->n, ROWS, subtract_projection, &p);
}

mc_matrix mc_precondition_inverse(const mc_precondition *s) {
    return (mc_matrix){.n = s->f->n, .apply = apply_woodbury, .self = s};
}
