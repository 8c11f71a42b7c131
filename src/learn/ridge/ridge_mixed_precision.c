/* ridge_mixed_precision.c: ridge regression with the factor in float and the answer in double.

   A = S K S + lambda I is packed and factored in float, L L' = A + E: half the memory and half the time of doubles.
   Conjugate gradients with (L L')^-1 as preconditioner then need a few steps, products with K by float tiles, and
   residuals measured in double until they are as small as those of a factorisation in double. E is about 2^-24 times
   the largest eigenvalue, so lambda must be above that; where it is not, or the factor fails, or the residual stays
   above ENOUGH, the factorisation in double is taken instead and the report names it.

   Entries below FLUSH are set to zero: their products would be subnormal floats, which slow every multiplication down a
   hundredfold. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/operator/gram_matrix.h"
#include "gram/operator/gram.h"
#include "learn/ridge/ridge_mixed_precision.h"
#include "learn/ridge/ridge_system.h"
#include "linalg/cholesky.h"
#include "iterative/pcg.h"
#include "linalg/dense.h"
#include <math.h>
#include <string.h>

enum { BATCH = 32, STEPS_MOST = 100, PANEL = 64, PATIENCE = 4 };
static const double TOLERANCE = 1e-13, ENOUGH = 1e-10, SAFE = 0x1p-24 / 50;
static const float FLUSH = 0x1p-60F;

typedef struct mixed {
    mc_ridge_system *r;
    int64_t n, t;
    mc_gram *fast, *exact;
    float *A, *panel, *F; /* packed; PANEL x n; n x t */
    double *diagonal, *B, *X, *V;
    mc_work work;
} mixed;

static int64_t batch_of(int64_t columns) {
    return columns < BATCH ? columns : BATCH;
}

static void lay_out_mixed(mc_work *work, void *self) {
    mixed *s = self;
    s->A = mc_work_take(work, mc_packed_count(s->n), sizeof *s->A);
    s->panel = mc_work_take(work, PANEL * s->n, sizeof *s->panel);
    s->F = mc_work_take(work, s->n * s->t, sizeof *s->F);
    s->diagonal = mc_work_take(work, s->n, sizeof *s->diagonal);
    double **const vectors[] = {&s->B, &s->X, &s->V};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = mc_work_take(work, s->n * s->t, sizeof(double));
}

size_t mc_ridge_mixed_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t columns) {
    const int64_t n = p->n, t = batch_of(columns);
    const size_t own = mc_slices_bytes(lay_out_mixed, &(mixed){.n = n, .t = t});
    return own + mc_cached_product_bytes(n, t) + mc_pcg_bytes(n, t)
           + mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F32, t)
           + mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F64, t) + 32 * MC_ALIGN;
}

/* ---- The factor ---- */

/* A run of entries (i, j), (i, j + 1), ... as they lie in a row of the panel and of the packed triangle. */
static void put_run(const mixed *s, const float *from, int64_t i, int64_t j, int64_t count, float *to) {
    for (int64_t k = 0; k < count; k++) {
        const float v = (float)(mc_problem_root(s->r->p, i) * mc_problem_root(s->r->p, j + k)) * from[k];
        to[k] = fabsf(v) < FLUSH ? 0 : v;
    }
}

/* Columns of the first half lie along the column, rows of the second along the row (linalg/cholesky.h): both are rows
   of K. */
static mercer_status write_packed_float32(mercer_ctx *ctx, const mixed *s) {
    const int64_t n = s->n, half = n - n / 2;
    for (int64_t begin = 0; begin < n;) {
        const bool first = begin < half;
        const int64_t stop = first ? half : n, end = begin + PANEL < stop ? begin + PANEL : stop,
                      from = first ? begin : half;
        mc_set_phase_span(ctx, (double)begin / (double)n, (double)end / (double)n);
        MC_TRY(mc_gram_block(ctx, s->fast, begin, end, from, first ? n : end, MERCER_F32, s->panel, n));
        for (int64_t i = begin; i < end; i++) {
            const int64_t j = first ? i : half, count = first ? n - i : i - half + 1;
            float *to = s->A + (first ? mc_packed_place(n, i, i) : mc_packed_place(n, i, half));
            put_run(s, s->panel + (i - begin) * n + j - from, i, j, count, to);
        }
        begin = end;
    }
    for (int64_t i = 0; i < n; i++)
        s->A[mc_packed_place(n, i, i)] += (float)s->r->lambda;
    return MERCER_OK;
}

/* Whether lambda is above what the rounding of floats does to A. */
static mercer_status fits_floats(mercer_ctx *ctx, const mixed *s, bool *fits) {
    double most = 0;
    MC_TRY(mc_gram_diagonal(ctx, s->exact, s->diagonal));
    for (int64_t i = 0; i < s->n; i++)
        most = fmax(most, mc_problem_root(s->r->p, i) * mc_problem_root(s->r->p, i) * s->diagonal[i]);
    *fits = s->r->lambda > SAFE * (double)s->n * most && most < 1e30 && most > 1e-15;
    for (int64_t i = 0; i < s->n; i++)
        s->diagonal[i] = s->r->lambda;
    return MERCER_OK;
}

/* ---- The steps ---- */

/* Y <- (L L')^-1 V. V is brought to the range of floats and back. */
static mercer_status apply_inverse(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    const mixed *s = self;
    double scale = 0;
    for (int64_t i = 0; i < s->n * t; i++)
        scale = fmax(scale, fabs(V[i]));
    for (int64_t i = 0; i < s->n * t; i++)
        s->F[i] = scale > 0 ? (float)(V[i] / scale) : 0;
    MC_TRY(mc_potrs(ctx, mc_packed_f32(s->n, s->A), mc_row_major_f32(s->F, s->n, t, t)));
    for (int64_t i = 0; i < s->n * t; i++)
        Y[i] = scale * (double)s->F[i];
    return MERCER_OK;
}

static mercer_status apply_scaled(mercer_ctx *ctx, const mixed *s, const mc_matrix K, int64_t t, const double *V,
                                  double *Y) {
    for (int64_t i = 0; i < s->n * t; i++)
        s->V[i] = mc_problem_root(s->r->p, i / t) * V[i];
    MC_TRY(K.apply(ctx, K.self, t, s->V, Y));
    for (int64_t i = 0; i < s->n * t; i++)
        Y[i] *= mc_problem_root(s->r->p, i / t);
    return MERCER_OK;
}

static mercer_status apply_fast(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    return apply_scaled(ctx, self, mc_gram_matrix(((const mixed *)self)->fast), t, V, Y);
}

static mercer_status apply_exact(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    const mixed *s = self;
    const mc_matrix K =
        s->r->cached_product.V ? mc_cached_product_matrix(&s->r->cached_product) : mc_gram_matrix(s->exact);
    return apply_scaled(ctx, s, K, t, V, Y);
}

/* Columns first .. first + t of the right-hand sides, in place of them. */
static mercer_status solve_batch(mercer_ctx *ctx, const mixed *s, int64_t first, int64_t t, bool *good) {
    mc_ridge_system *r = s->r;
    for (int64_t i = 0; i < s->n * t; i++)
        s->B[i] = r->X[i / t * r->columns + first + i % t];
    memset(s->X, 0, (size_t)(s->n * t) * sizeof *s->X);
    const mc_pcg_problem problem = {.n = s->n,
                                    .t = t,
                                    .fast = {.n = s->n, .self = s, .apply = apply_fast},
                                    .exact = {.n = s->n, .self = s, .apply = apply_exact},
                                    .preconditioner = {.n = s->n, .self = s, .apply = apply_inverse},
                                    .diagonal = s->diagonal,
                                    .B = s->B,
                                    .tolerance = TOLERANCE,
                                    .iterations_max = STEPS_MOST,
                                    .patience = PATIENCE};
    mc_pcg_result result;
    MC_TRY(mc_pcg_solve(ctx, &problem, s->X, &result));
    mc_log_message(ctx, "mixed: residual %.2g after %lld steps", result.residual_relative,
                   (long long)result.iterations);
    *good = result.residual_relative <= ENOUGH;
    r->iterations += result.iterations;
    for (int64_t i = 0; i < s->n * t; i++)
        r->X[i / t * r->columns + first + i % t] = s->X[i];
    return MERCER_OK;
}

static mercer_status open_mixed_precision(mercer_ctx *ctx, mixed *s) {
    const mc_problem *p = s->r->p;
    MC_TRY(mc_gram_open(ctx, p->kernel, p->x, NULL, MERCER_F32, &s->fast));
    MC_TRY(mc_gram_open(ctx, p->kernel, p->x, NULL, MERCER_F64, &s->exact));
    if (!s->r->intercept && s->t == p->outputs)
        MC_TRY(mc_cached_product_open(ctx, s->exact, p->outputs, &s->r->cached_product));
    return mc_work_lay(ctx, &s->work, lay_out_mixed, s);
}

static void put_away(mixed *s) {
    mc_work_close(&s->work);
    mc_gram_close(s->fast);
    mc_gram_close(s->exact);
}

static mercer_status solve_mixed_precision(mercer_ctx *ctx, mixed *s, bool *good) {
    int64_t bad = 0;
    MC_TRY(open_mixed_precision(ctx, s));
    MC_TRY(fits_floats(ctx, s, good));
    if (!*good)
        return MERCER_OK;
    mc_begin_phase(ctx, "gram");
    MC_TRY(write_packed_float32(ctx, s));
    mc_begin_phase(ctx, "factor");
    MC_TRY(mc_potrf(ctx, mc_packed_f32(s->n, s->A), &bad));
    *good = bad == 0;
    mc_begin_phase(ctx, "solve");
    for (int64_t first = 0; *good && first < s->r->columns; first += s->t) {
        const int64_t rest = s->r->columns - first;
        MC_TRY(solve_batch(ctx, s, first, rest < s->t ? rest : s->t, good));
    }
    return MERCER_OK;
}

mercer_status mc_ridge_mixed(mercer_ctx *ctx, mc_ridge_system *r) {
    mixed s = {.r = r, .n = r->p->n, .t = batch_of(r->columns)};
    bool good = false;
    const mercer_status status = solve_mixed_precision(ctx, &s, &good);
    put_away(&s);
    MC_TRY(status);
    r->rank = r->p->n;
    if (good) {
        mc_ridge_finish(r);
        return MERCER_OK;
    }
    mc_log_message(ctx, "mixed: lambda = %g is too small for a factor in float; factoring in double", r->lambda);
    r->solver = "cholesky";
    r->iterations = 0;
    mc_cached_product_close(&r->cached_product);
    mc_ridge_right_hand_sides(r);
    return mc_ridge_cholesky(ctx, r);
}
