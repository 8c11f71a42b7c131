/* loss_primal_cg.c: a large system of loss_primal.c by preconditioned conjugate gradients, each step a pass over Z. */
#include "learn/loss/loss_primal_state.h"
#include "linalg/block_vectors.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "linalg/dense.h"
#include "linalg/narrow_product.h"
#include <math.h>
#include <string.h>

enum { STEPS_MOST = 2000 };
enum { CLASS = 1 << 14 }; /* entries of factors worth a thread */
enum { TOGETHER = 16 };   /* classes that share one */

/* ---- The preconditioner ---- */

typedef struct classes {
    const mc_loss_primal *s;
    double *y;
} classes;

static void solve_class(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const classes *c = arg;
    const int64_t P = c->s->P;
    for (int64_t a = begin; a < end; a++) {
        const mc_dense L = mc_column_major(c->s->factors + a * P * P, P, P, P),
                       y = mc_column_major(c->y + a * P, P, 1, P);
        mc_trsv(L, false, y);
        mc_trsv(L, true, y);
    }
}

static void solve_classes_together(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const classes *c = arg;
    const int64_t P = c->s->P;
    const mc_dense L = mc_column_major(c->s->factors, P, P, P),
                   Y = mc_column_major(c->y + begin * P, P, end - begin, P);
    mc_trsm(1, L, false, Y);
    mc_trsm(1, L, true, Y);
}

static mercer_status apply_preconditioner(mercer_ctx *ctx, const mc_loss_primal *s, const double *r, double *y) {
    const int64_t P = s->P;
    memcpy(y, r, (size_t)s->M * sizeof *y);
    if (s->dense)
        return mc_potrs(ctx, mc_column_major(s->H, s->M, s->M, s->M), mc_column_major(y, s->M, 1, s->M));
    if (s->shared)
        MC_TRY(mc_for(ctx, s->k, TOGETHER, solve_classes_together, &(classes){s, y}));
    else
        MC_TRY(mc_for(ctx, s->k, mc_chunk_count(CLASS, P * P), solve_class, &(classes){s, y}));
    for (int64_t j = 0; j < P; j++) {
        double mean = 0;
        for (int64_t a = 0; a < s->k; a++)
            mean += y[a * P + j] / (double)s->k;
        for (int64_t a = 0; a < s->k; a++)
            y[a * P + j] -= mean;
    }
    return MERCER_OK;
}

/* ---- Conjugate gradients ---- */

typedef struct panel_pass {
    const mc_loss_primal *s;
    mc_isa isa;
    const double *x;
    int64_t rows_each;
} panel_pass;

/* part <- (Z, 1)' W (Z, 1) x over the rows of a segment. */
static void curve_segment(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    const panel_pass *p = arg;
    const mc_loss_primal *s = p->s;
    const int64_t D = s->D, P = s->P, k = s->k;
    double *out = s->part + chunk * s->M, *E = s->scratch + thread * s->scratch_each;
    memset(out, 0, (size_t)s->M * sizeof *out);
    for (int64_t i = begin; i < end; i += MC_LOSS_PRIMAL_ROWS) {
        const int64_t m = end - i < MC_LOSS_PRIMAL_ROWS ? end - i : MC_LOSS_PRIMAL_ROWS;
        const mc_few_columns z = {.A = s->z.Z + i * D,
                                  .ld = D,
                                  .m = m,
                                  .n = D,
                                  .t = k,
                                  .V = p->x,
                                  .vs = P,
                                  .Y = E,
                                  .ys = k,
                                  .U = E,
                                  .us = k,
                                  .Z = out,
                                  .zs = P};
        mc_narrow_product(p->isa, &z);
        for (int64_t r = 0; r < m; r++) {
            for (int64_t a = 0; a < k && P > D; a++)
                E[r * k + a] += p->x[a * P + D];
            mc_loss_primal_curve(k, s->root + (i + r) * k, E + r * k);
            for (int64_t a = 0; a < k && P > D; a++)
                out[a * P + D] += E[r * k + a];
        }
        mc_narrow_transposed_product(p->isa, &z);
    }
}

static mercer_status apply_hessian(mercer_ctx *ctx, const mc_loss_primal *s, const double *x, double *y) {
    const int64_t segments = mc_loss_primal_segments(s->n, 2.0 * (double)s->M, s->M);
    panel_pass p = {s, ctx->isa, x, mc_chunk_count(s->n, segments)};
    MC_TRY(mc_for(ctx, s->n, p.rows_each, curve_segment, &p));
    for (int64_t j = 0; j < s->M; j++)
        y[j] = s->P > s->D && j % s->P == s->D ? 0 : s->lambda * x[j];
    for (int64_t g = 0; g < mc_chunk_count(s->n, p.rows_each); g++)
        for (int64_t j = 0; j < s->M; j++)
            y[j] += s->part[g * s->M + j];
    return MERCER_OK;
}

/* x <- H^-1 r, r the right-hand side and then what is left of it. */
mercer_status mc_loss_primal_solve_cg(mercer_ctx *ctx, mc_loss_primal *s, double accuracy, double least) {
    const int64_t M = s->M;
    double before = 1, first = 0, top = 0;
    int64_t steps = 0;
    memset(s->x, 0, (size_t)M * sizeof *s->x);
    memset(s->p, 0, (size_t)M * sizeof *s->p);
    for (; steps < STEPS_MOST; steps++) {
        MC_TRY(apply_preconditioner(ctx, s, s->r, s->y));
        const double now = mc_dot(M, s->r, s->y);
        first = steps ? first : now;
        if (!(now > accuracy * accuracy * first) && (least == 0 || mc_dot(M, s->r, s->r) * top <= least))
            break;
        for (int64_t j = 0; j < M; j++)
            s->p[j] = s->y[j] + (steps ? now / before * s->p[j] : 0);
        MC_TRY(apply_hessian(ctx, s, s->p, s->q));
        const double curvature = mc_dot(M, s->p, s->q);
        if (!(curvature > 0))
            break;
        top = fmax(top, curvature / mc_dot(M, s->p, s->p));
        for (int64_t j = 0; j < M; j++) {
            s->x[j] += now / curvature * s->p[j];
            s->r[j] -= now / curvature * s->q[j];
        }
        before = now;
        MC_TRY(mc_report_progress(ctx, -1));
    }
    s->first = s->kept || s->dense ? s->first : steps;
    s->extra = steps - s->first;
    s->apart =
        s->apart || (s->shared && (double)steps > MC_LOSS_PRIMAL_PATIENCE + mc_loss_primal_factors_in_products(s));
    mc_log_message(ctx, "primal: %lld products of %lld features to %.2g", (long long)steps, (long long)s->D, accuracy);
    return MERCER_OK;
}
