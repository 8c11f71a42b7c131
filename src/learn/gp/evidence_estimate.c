/* evidence_estimate.c: the evidence by conjugate gradients and stochastic Lanczos quadrature.

   M = S K S + noise I, P = F F' + noise I from pivoted columns (gram/lowrank). log det M = log det P + tr log(P^-1/2 M
   P^-1/2). The trace is the mean of n q' log(.) q over unit vectors q of uniform direction: q along P^-1/2 z, z = F u +
   sqrt(noise) v, u and v normal, so that z has the covariance P and P^-1/2 is never needed (Gardner, Pleiss, Bindel,
   Weinberger and Wilson 2018). The better P is, the less there is to estimate. One run of conjugate gradients on
   [S Y, Z] gives the quadratic term, the quadrature of every probe and, since E (M^-1 z) (P^-1 z)' = M^-1, the
   gradient:

       dL/dtheta = sum_ij G_ij dM_ij/dtheta,  G = (sum_k a_k a_k' - t mean_p sym(M^-1 z_p (P^-1 z_p)')) / 2.

   The probes are drawn by their number and the seed, the same at every point of a search. */
#include "learn/gp/evidence_estimate.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/gradient/contract.h"
#include "gram/operator/gram_matrix.h"
#include "iterative/precondition.h"
#include "iterative/quadrature.h"
#include "iterative/sample_mean.h"
#include "kernel/language/kernel.h"
#include "learn/ridge/ridge_pcg.h"
#include "linalg/dense.h"
#include <math.h>

enum { PROBES = 12, STEPS = 400, ROWS = 256, PAIRS = 512 };
static const double TOLERANCE = 1e-4;
/* floats serve where what they round off, beside the noise, is no more */
static const double FLOATS = 0.01;

typedef struct estimate {
    const mc_problem *p;
    const mercer_kernel *kernel;
    double noise;
    int64_t n, t, columns; /* t outputs, then the probes */
    mc_gram *gram;
    mc_matrix K;
    mc_lowrank *f;
    mc_precondition *P;
    double *B, *X, *V; /* n x columns: right-hand sides, solutions, room for S V */
    double *u;         /* rank x PROBES */
    double *W;         /* n x PROBES: P^-1 Z */
    double *left, *right;
    double logs[MC_ESTIMATED_OUTPUTS + PROBES], squares[MC_ESTIMATED_OUTPUTS + PROBES];
    uint64_t seed;
    mc_work solving, differentiating;
} estimate;

int64_t mc_estimate_evidence_columns(const mc_problem *p) {
    return p->outputs + PROBES;
}

static int64_t count_terms(const estimate *e) {
    return e->t + 2 * PROBES;
}

static void lay_out_columns(mc_work *work, void *self) {
    estimate *e = self;
    e->B = mc_work_take(work, e->n * e->columns, sizeof *e->B);
    e->X = mc_work_take(work, e->n * e->columns, sizeof *e->X);
    if (e->p->root)
        e->V = mc_work_take(work, e->n * e->columns, sizeof *e->V);
}

static void lay_out_terms(mc_work *work, void *self) {
    estimate *e = self;
    e->W = mc_work_take(work, e->n * PROBES, sizeof *e->W);
    e->left = mc_work_take(work, e->n * count_terms(e), sizeof *e->left);
    e->right = mc_work_take(work, e->n * count_terms(e), sizeof *e->right);
}

/* ---- S K S ---- */

static mercer_status apply_scaled(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    const estimate *e = self;
    if (!e->p->root)
        return e->K.apply(ctx, e->K.self, t, V, Y);
    for (int64_t i = 0; i < e->n * t; i++)
        e->V[i] = e->p->root[i / t] * V[i];
    MC_TRY(e->K.apply(ctx, e->K.self, t, e->V, Y));
    for (int64_t i = 0; i < e->n * t; i++)
        Y[i] *= e->p->root[i / t];
    return MERCER_OK;
}

/* In floats where their rounding is small beside the noise. */
static mercer_status open_kernel_matrix(mercer_ctx *ctx, estimate *e) {
    double heaviest = 1;
    for (int64_t i = 0; i < e->n && e->p->root; i++)
        heaviest = fmax(heaviest, mc_problem_weight(e->p, i));
    MC_TRY(mc_gram_open(ctx, e->kernel, e->p->x, NULL, MERCER_F32, &e->gram));
    e->K = mc_gram_matrix(e->gram);
    const double rounded = heaviest * e->K.errors(e->K.self, e->columns).size * sqrt((double)e->n) * 0x1p-24;
    if (rounded <= FLOATS * e->noise)
        return MERCER_OK;
    mc_gram_close(e->gram);
    e->gram = NULL;
    MC_TRY(mc_gram_open(ctx, e->kernel, e->p->x, NULL, MERCER_F64, &e->gram));
    e->K = mc_gram_matrix(e->gram);
    return MERCER_OK;
}

static mercer_status open_preconditioner(mercer_ctx *ctx, estimate *e) {
    mc_ridge_pcg_plan plan;
    mc_ridge_pcg_size(ctx, e->p, e->columns, 0, mc_memory_left(ctx), &plan);
    plan.stored = false;
    const mc_rank_rule rule = mc_ridge_pcg_rule(e->p, &plan, e->noise, TOLERANCE, e->columns, 0);
    MC_TRY(mc_lowrank_open(ctx, &e->K, e->p->root, ctx->options.seed, &e->f));
    MC_TRY(mc_rank_grow(ctx, &rule, e->f));
    return mc_precondition_open(ctx, e->f, e->noise, e->columns, &e->P);
}

/* ---- The probes ---- */

/* u and sqrt(noise) v of one probe. */
static void draw_probe(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end, (void)thread;
    const estimate *e = arg;
    mc_rng rng = mc_rng_at(e->seed, MC_STREAM_PROBES, (uint64_t)chunk);
    const double noise = sqrt(mc_precondition_shift(e->P));
    for (int64_t i = 0; i < e->n; i++)
        e->B[i * e->columns + e->t + chunk] = noise * mc_rng_normal(&rng);
    for (int64_t k = 0; k < e->f->rank; k++)
        e->u[k * PROBES + chunk] = mc_rng_normal(&rng);
}

static void add_low_rank(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const estimate *e = arg;
    for (int64_t k = 0; k < e->f->rank; k++) {
        const float *column = mc_lowrank_column(e->f, k);
        for (int64_t i = begin; i < end; i++)
            for (int64_t q = 0; q < PROBES; q++)
                e->B[i * e->columns + e->t + q] += (double)column[i] * e->u[k * PROBES + q];
    }
}

static mercer_status write_right_hand_sides(mercer_ctx *ctx, estimate *e) {
    for (int64_t i = 0; i < e->n; i++)
        for (int64_t k = 0; k < e->t; k++)
            e->B[i * e->columns + k] = mc_problem_root(e->p, i) * e->p->Y[i * e->t + k];
    MC_TRY(MC_ALLOC(ctx, e->u, e->f->rank * PROBES));
    MC_TRY(mc_for(ctx, PROBES, 1, draw_probe, e));
    return mc_for(ctx, e->n, ROWS, add_low_rank, e);
}

/* ---- The value ---- */

static void add_up_value(const estimate *e, mc_evidence_estimate *out) {
    const double n = (double)e->n, t = (double)e->t;
    double fit = 0, weights = 0;
    for (int64_t i = 0; i < e->n; i++) {
        weights += e->p->root ? 2 * log(e->p->root[i]) : 0;
        for (int64_t k = 0; k < e->t; k++)
            fit += e->B[i * e->columns + k] * e->X[i * e->columns + k];
    }
    const mc_sample_mean log_q = mc_find_sample_mean(PROBES, e->logs + e->t);
    const double log_det = mc_precondition_log_det(e->P) + n * log_q.mean - weights;
    out->value = -0.5 * fit - 0.5 * t * (log_det + n * log(6.28318530717958647692));
    out->error = 0.5 * t * n * log_q.error;
}

/* ---- The gradient ---- */

static mercer_status find_probe_products(mercer_ctx *ctx, estimate *e) {
    for (int64_t i = 0; i < e->n; i++)
        for (int64_t q = 0; q < PROBES; q++)
            e->left[i * PROBES + q] = e->B[i * e->columns + e->t + q];
    const mc_matrix inverse = mc_precondition_inverse(e->P);
    return inverse.apply(ctx, inverse.self, PROBES, e->left, e->W);
}

/* Row i of both factors of S G S, and its part of the trace of G. */
static double write_terms(const estimate *e, int64_t i) {
    const double s = mc_problem_root(e->p, i), *x = e->X + i * e->columns, *w = e->W + i * PROBES;
    double *left = e->left + i * count_terms(e), *right = e->right + i * count_terms(e), trace = 0;
    for (int64_t k = 0; k < e->t; k++) {
        left[k] = s * x[k];
        right[k] = 0.5 * left[k];
        trace += 0.5 * x[k] * x[k];
    }
    for (int64_t q = 0; q < PROBES; q++) {
        const double scale = (double)e->n / e->squares[e->t + q], each = -0.25 * (double)e->t * scale / PROBES;
        left[e->t + q] = s * x[e->t + q];
        left[e->t + PROBES + q] = s * w[q];
        right[e->t + q] = each * s * w[q];
        right[e->t + PROBES + q] = each * s * x[e->t + q];
        trace += 2 * each * x[e->t + q] * w[q];
    }
    return trace;
}

static void block_of(const void *self, int64_t i0, int64_t i1, int64_t j0, int64_t j1, double *out, int64_t ld) {
    const estimate *e = self;
    const int64_t q = count_terms(e);
    mc_gemm(1, mc_row_major(e->left + i0 * q, i1 - i0, q, q), mc_column_major(e->right + j0 * q, q, j1 - j0, q), 0,
            mc_row_major(out, i1 - i0, j1 - j0, ld));
}

static mercer_status find_gradient(mercer_ctx *ctx, estimate *e, double *gradient) {
    MC_TRY(mc_work_lay(ctx, &e->differentiating, lay_out_terms, e));
    MC_TRY(find_probe_products(ctx, e));
    double trace = 0;
    for (int64_t i = 0; i < e->n; i++)
        trace += write_terms(e, i);
    MC_TRY(mc_gram_contract(ctx, e->kernel, e->p->x, block_of, e, gradient));
    gradient[e->kernel->slots] = trace;
    return MERCER_OK;
}

/* ---- All together ---- */

static mercer_status solve_columns(mercer_ctx *ctx, estimate *e, mc_quadrature_result *out) {
    MC_TRY(mc_work_lay(ctx, &e->solving, lay_out_columns, e));
    MC_TRY(open_kernel_matrix(ctx, e));
    MC_TRY(open_preconditioner(ctx, e));
    MC_TRY(write_right_hand_sides(ctx, e));
    const mc_quadrature problem = {.n = e->n,
                                   .t = e->columns,
                                   .K = {.n = e->n, .apply = apply_scaled, .self = e},
                                   .lambda = e->noise,
                                   .preconditioner = mc_precondition_inverse(e->P),
                                   .B = e->B,
                                   .tolerance = TOLERANCE,
                                   .steps_max = STEPS};
    return mc_quadrature_solve(ctx, &problem, e->X, out);
}

static mercer_status estimate_all(mercer_ctx *ctx, estimate *e, double *alpha, double *gradient,
                                  mc_evidence_estimate *out) {
    mc_quadrature_result result = {.logs = e->logs, .squares = e->squares};
    MC_TRY(solve_columns(ctx, e, &result));
    out->rank = e->f->rank;
    out->steps = result.steps;
    for (int64_t i = 0; i < e->n * e->t; i++)
        alpha[i] = mc_problem_root(e->p, i / e->t) * e->X[i / e->t * e->columns + i % e->t];
    if (!result.converged)
        return MERCER_OK;
    add_up_value(e, out);
    mc_log_message(ctx, "gp: evidence %.6g +- %.2g by %lld columns and %lld steps", out->value, out->error,
                   (long long)out->rank, (long long)out->steps);
    return gradient ? find_gradient(ctx, e, gradient) : MERCER_OK;
}

static void close_estimate(estimate *e) {
    mc_work_close(&e->solving);
    mc_work_close(&e->differentiating);
    mc_free(e->u);
    mc_precondition_close(e->P);
    mc_lowrank_close(e->f);
    mc_gram_close(e->gram);
}

size_t mc_estimate_evidence_bytes(mercer_ctx *ctx, const mc_problem *p) {
    const int64_t n = p->n, columns = mc_estimate_evidence_columns(p),
                  rank = mc_rank_cap(n) < 256 ? mc_rank_cap(n) : 256;
    estimate e = {.p = p, .n = n, .t = p->outputs, .columns = columns};
    return mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F64, columns)
           + mc_gram_part_bytes(ctx, p->kernel, p->x, MERCER_F64, PAIRS) + mc_lowrank_bytes(ctx, n, rank)
           + mc_precondition_bytes(ctx, n, rank, columns) + mc_quadrature_bytes(n, columns, STEPS)
           + mc_slices_bytes(lay_out_columns, &e) + mc_slices_bytes(lay_out_terms, &e)
           + mc_gram_contract_bytes(ctx, p->kernel, p->x) + 16 * MC_ALIGN;
}

mercer_status mc_estimate_evidence(mercer_ctx *ctx, const mc_problem *p, const mercer_kernel *kernel, double noise,
                                   uint64_t seed, double *alpha, double *gradient, mc_evidence_estimate *out) {
    estimate e = {.p = p, .kernel = kernel, .noise = noise, .n = p->n, .t = p->outputs, .seed = seed};
    e.columns = mc_estimate_evidence_columns(p);
    *out = (mc_evidence_estimate){.value = -INFINITY};
    if (e.t > MC_ESTIMATED_OUTPUTS)
        return mc_fail(ctx, MERCER_INVALID, "gp: at most %d outputs are estimated together, got %lld",
                       (int)MC_ESTIMATED_OUTPUTS, (long long)e.t);
    const mercer_status status = estimate_all(ctx, &e, alpha, gradient, out);
    close_estimate(&e);
    return status;
}
