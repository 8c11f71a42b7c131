/* pcg.c: preconditioned conjugate gradients for A X = B, A = K + D, inside iterative refinement.

       mc_pcg_open, mc_pcg_step until done, mc_pcg_close; or mc_pcg_solve, which does just that.

   Outer loop:  R <- B - A X with the exact operator; stop when every column is small enough.
   Inner loop:  conjugate gradients on A dX = R with the fast operator, until the recursive residual has fallen by
   `drop`; X <- X + dX. The fast operator works in float32, so a drop below the floor would chase its rounding; the
   next refinement takes over from there. With a loose tolerance one inner run and one exact product are all there is.

   Curvature p'Ap <= 0 in the fast operator is either its rounding or the truth, so the same product is done again by
   the exact operator ("careful"). Below minus the bound on that one's error it is the truth: A is not positive
   definite, an error. Otherwise the rounding of the fast operator is as large as D: where the run had gained something,
   refinement takes over; where not, it starts again and the steps stay careful to the end. So do they after a
   refinement that gained less than half; one that made things worse is taken back. Not converged, in the end, means
   that the precision of the exact operator is exhausted.

   The columns are independent recurrences that share every product with K. Beta is the Polak-Ribiere form z+'(r+ - r) /
   z'r, which tolerates a preconditioner that is itself rounded to float32; r+ - r = -a A p, so it costs no extra
   vector. A finished column is given a step of zero: it rides along unchanged. Hestenes and Stiefel (1952); refinement
   as in Higham, Accuracy and Stability (2002), chapter 12. */
#include "iterative/pcg.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "linalg/block_vectors.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

static const double FLOOR = 1e-5; /* what one run of float32 products can be trusted to gain */
/* a run of float32 products that came to this share of its residual was worth its steps */
static const double WORTH = 0.1;
static const double AIM = 0.5;      /* of the tolerance: the residual by the exact operator must pass too */
static const double LATE = 0.2;     /* of the residual at the start of a run: from there on products may be rough */
static const int64_t PATIENCE = 40; /* where the problem names none */

/* Everything that changes, in one block: this is what a checkpoint holds. Numbers per column first, then five n x t
 * blocks. */
typedef struct pcg_head {
    mc_pcg_result result;
    bool inner;   /* inside an inner run */
    bool careful; /* its products are those of the exact operator */
    bool doubted; /* the product now due repeats one that showed no positive curvature */
    int64_t stalled;
    double before; /* the exact residual that the next one is held against */
    /* smallest inner residual, and the exact residual before this inner run, both worst over columns and relative */
    double best, outer;
} pcg_head;

struct mc_pcg {
    mc_pcg_problem p;
    double *X;
    void *block;
    size_t bytes;
    pcg_head *h;
    double *rz, *norm_b, *start, *step, *beta, *part; /* t each: z'r, |b|, |r| at the start of the inner run, ... */
    double *R, *Z, *P, *AP, *dX;
};

int64_t mc_pcg_iteration_bound(double kappa, double tolerance) {
    const double bound = ceil(0.5 * sqrt(kappa) * log(2 / tolerance));
    return bound < 1e15 ? (int64_t)fmax(1, bound) : (int64_t)1e15;
}

/* t numbers of a column's own, and what sums of products of columns take. */
static int64_t small_numbers(int64_t n, int64_t t) {
    return t + mc_dot_columns_scratch(n, t);
}

/* As they stand in a checkpoint, one after the other; s->block NULL: their bytes alone. */
static size_t lay_out_pcg_state(mc_pcg *s) {
    const int64_t t = s->p.t, size = s->p.n * t;
    double **const part[] = {&s->rz, &s->norm_b, &s->start, &s->step, &s->beta, &s->R, &s->Z, &s->P, &s->AP, &s->dX};
    size_t bytes = (sizeof(pcg_head) + 7) / 8 * 8;
    s->h = s->block;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        *part[i] = s->block ? (double *)(void *)((char *)s->block + bytes) : NULL;
        bytes += (size_t)(i < 5 ? t : size) * sizeof(double);
    }
    s->part = s->block ? (double *)(void *)((char *)s->block + bytes) : NULL;
    return bytes + (size_t)small_numbers(s->p.n, t) * sizeof(double);
}

size_t mc_pcg_bytes(int64_t n, int64_t t) {
    return sizeof(mc_pcg) + lay_out_pcg_state(&(mc_pcg){.p = {.n = n, .t = t}}) + 8 * MC_ALIGN;
}

mercer_status mc_pcg_open(mercer_ctx *ctx, const mc_pcg_problem *problem, double *X, mc_pcg **out) {
    *out = NULL;
    mc_pcg *s = NULL;
    MC_TRY(MC_ALLOC(ctx, s, 1));
    s->p = *problem;
    s->p.patience = problem->patience ? problem->patience : PATIENCE;
    s->p.floor = problem->floor > 0 ? problem->floor : FLOOR;
    s->X = X;
    mc_progress_start(ctx);
    s->bytes = lay_out_pcg_state(s);
    s->block = mc_alloc(ctx, (int64_t)s->bytes, 1);
    if (!s->block) {
        mc_pcg_close(s);
        return MERCER_MEMORY;
    }
    lay_out_pcg_state(s);
    s->h->result.residual_relative = s->h->before = INFINITY;
    s->h->careful = problem->fast.self == problem->exact.self && problem->fast.apply == problem->exact.apply;
    *out = s;
    return MERCER_OK;
}

void mc_pcg_close(mc_pcg *s) {
    if (s)
        mc_free(s->block);
    mc_free(s);
}

const mc_pcg_result *mc_pcg_progress(const mc_pcg *s) {
    return &s->h->result;
}

void mc_pcg_direction(const mc_pcg *s, double *out) {
    for (int64_t i = 0; i < s->p.n; i++)
        out[i] = s->P[i * s->p.t + s->h->result.column];
}

void *mc_pcg_state(mc_pcg *s, size_t *bytes) {
    *bytes = s->bytes;
    return s->block;
}

/* A flag is looked at as the byte it is: any other would be no bool. */
static bool flags_hold(const mc_pcg *s) {
    static const size_t flags[] = {offsetof(pcg_head, result.converged), offsetof(pcg_head, inner),
                                   offsetof(pcg_head, careful), offsetof(pcg_head, doubted)};
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
        if (((const unsigned char *)s->block)[flags[k]] > 1)
            return false;
    return true;
}

bool mc_pcg_state_holds(const mc_pcg *s) {
    const pcg_head *h = s->h;
    const mc_pcg_result *r = &h->result;
    if (!flags_hold(s) || r->column < 0 || r->column >= s->p.t || r->iterations < 0
        || r->iterations > s->p.iterations_max)
        return false;
    if (r->refinements < 0 || r->refinements > 2 * s->p.iterations_max + 2 || h->stalled < 0
        || h->stalled > s->p.patience)
        return false;
    if (!(r->residual_relative >= 0 && h->before >= 0 && h->best >= 0 && h->outer >= 0 && isfinite(r->curvature)))
        return false;
    for (const double *at = s->rz; at < s->part; at++)
        if (!isfinite(*at))
            return false;
    return true;
}

static mercer_status column_dots(mercer_ctx *ctx, mc_pcg *s, const double *A, const double *B, double *out) {
    return mc_dot_columns(ctx, s->p.n, s->p.t, A, B, s->part, out);
}

/* Y <- K V + D V. */
static mercer_status apply_A(mercer_ctx *ctx, const mc_pcg *s, const mc_matrix *K, const double *V, double *Y) {
    MC_TRY(K->apply(ctx, K->self, s->p.t, V, Y));
    for (int64_t i = 0; i < s->p.n; i++)
        for (int64_t k = 0; k < s->p.t; k++)
            Y[i * s->p.t + k] += s->p.diagonal[i] * V[i * s->p.t + k];
    return MERCER_OK;
}

static mercer_status apply_preconditioner(mercer_ctx *ctx, mc_pcg *s) {
    if (s->p.preconditioner.apply)
        return s->p.preconditioner.apply(ctx, s->p.preconditioner.self, s->p.t, s->R, s->Z);
    memcpy(s->Z, s->R, (size_t)(s->p.n * s->p.t) * sizeof(double));
    return MERCER_OK;
}

static double worst_relative(const mc_pcg *s, const double *squares) {
    double worst = 0;
    for (int64_t k = 0; k < s->p.t; k++)
        worst = fmax(worst, s->norm_b[k] > 0 ? sqrt(squares[k]) / s->norm_b[k] : sqrt(squares[k]));
    return worst;
}

static bool all_zero(const double *X, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (X[i] != 0)
            return false;
    return true;
}

/* R <- A X by the exact operator; a start of zeros needs no product. */
static mercer_status exact_product(mercer_ctx *ctx, mc_pcg *s) {
    const int64_t size = s->p.n * s->p.t;
    if (all_zero(s->X, size)) {
        memset(s->R, 0, (size_t)size * sizeof *s->R);
        return MERCER_OK;
    }
    MC_TRY(apply_A(ctx, s, &s->p.exact, s->X, s->R));
    s->h->result.refinements++;
    return MERCER_OK;
}

/* R <- B - R, R being A X; the worst relative residual. */
static mercer_status measure_residual(mercer_ctx *ctx, mc_pcg *s, double *residual) {
    MC_TRY(column_dots(ctx, s, s->p.B, s->p.B, s->norm_b));
    for (int64_t k = 0; k < s->p.t; k++)
        s->norm_b[k] = sqrt(s->norm_b[k]);
    for (int64_t i = 0; i < s->p.n * s->p.t; i++)
        s->R[i] = s->p.B[i] - s->R[i];
    MC_TRY(column_dots(ctx, s, s->R, s->R, s->start));
    *residual = worst_relative(s, s->start);
    return MERCER_OK;
}

static mercer_status begin_inner(mercer_ctx *ctx, mc_pcg *s) {
    memset(s->dX, 0, (size_t)(s->p.n * s->p.t) * sizeof(double));
    MC_TRY(apply_preconditioner(ctx, s));
    memcpy(s->P, s->Z, (size_t)(s->p.n * s->p.t) * sizeof(double));
    MC_TRY(column_dots(ctx, s, s->Z, s->R, s->rz));
    s->h->inner = true;
    s->h->stalled = 0;
    s->h->best = s->h->outer = s->h->before = s->h->result.residual_relative;
    return MERCER_OK;
}

static void take_back(mc_pcg *s) {
    for (int64_t i = 0; i < s->p.n * s->p.t; i++)
        s->X[i] -= s->dX[i];
}

/* A X being in R: the verdict, or the start of an inner run. A refinement that helped too little is followed by careful
   ones, from a residual measured anew; once they are careful there is no more to gain. */
static mercer_status check_outer_residual(mercer_ctx *ctx, mc_pcg *s, bool *done) {
    pcg_head *h = s->h;
    double residual = 0;
    MC_TRY(measure_residual(ctx, s, &residual));
    if (residual > h->before)
        take_back(s);
    h->result.residual_relative = fmin(residual, h->before);
    h->result.converged = h->result.residual_relative <= s->p.tolerance;
    *done = h->result.converged || h->result.iterations >= s->p.iterations_max;
    if (!*done && residual < 0.5 * h->before)
        return begin_inner(ctx, s);
    *done = *done || h->careful;
    h->careful = true;
    h->before = INFINITY;
    return MERCER_OK;
}

/* p'Ap and p'p of column k, in long double: the sums add no error worth a name. */
static void rayleigh_terms(const mc_pcg *s, int64_t k, long double *pAp, long double *pp) {
    *pAp = *pp = 0;
    for (int64_t i = k; i < s->p.n * s->p.t; i += s->p.t) {
        *pAp += (long double)s->P[i] * s->AP[i];
        *pp += (long double)s->P[i] * s->P[i];
    }
}

/* Curvature that is not positive, by the exact operator: an error where its rounding cannot be the cause. */
static mercer_status check_curvature(mercer_ctx *ctx, mc_pcg *s, int64_t k) {
    long double pAp, pp;
    rayleigh_terms(s, k, &pAp, &pp);
    const double curvature = (double)(pAp / pp);
    if (isnan(curvature))
        return mc_fail(
            ctx, MERCER_NUMERIC,
            "conjugate gradients left the range of a double in column %lld; use a larger lambda or rescale the target",
            (long long)k + 1);
    if (curvature >= -s->p.exact_error)
        return MERCER_OK;
    s->h->result.curvature = curvature;
    s->h->result.column = k;
    return mc_fail(ctx, MERCER_NUMERIC,
                   "conjugate gradients met curvature %g in column %lld: K + lambda I is not positive definite; lambda "
                   "must grow by more than %.2g",
                   curvature, (long long)k + 1, -curvature);
}

/* Step lengths a_k = z'r / p'Ap; zero for a column that is done. *doubt: the fast operator shows curvature that is not
   positive. */
static mercer_status step_lengths(mercer_ctx *ctx, mc_pcg *s, bool *doubt) {
    MC_TRY(column_dots(ctx, s, s->P, s->AP, s->step));
    for (int64_t k = 0; k < s->p.t; k++) {
        const bool negative_curvature = s->rz[k] > 0 && !(s->step[k] > 0);
        if (negative_curvature && !s->h->careful) {
            *doubt = true;
            return MERCER_OK;
        }
        if (negative_curvature) {
            MC_TRY(check_curvature(ctx, s, k));
            s->h->stalled = s->p.patience;
        }
        s->step[k] = s->rz[k] > 0 && !negative_curvature ? s->rz[k] / s->step[k] : 0;
    }
    return MERCER_OK;
}

/* One conjugate gradient step on every column, A P being known; the worst relative residual afterwards. In doubt
   nothing is changed: the next product is the same one by the exact operator. */
static mercer_status take_cg_step(mercer_ctx *ctx, mc_pcg *s, double *residual) {
    const int64_t n = s->p.n, t = s->p.t;
    bool doubt = false;
    s->h->result.iterations++;
    MC_TRY(step_lengths(ctx, s, &doubt));
    *residual = s->h->best;
    s->h->careful = s->h->careful || doubt;
    s->h->doubted = doubt;
    if (doubt)
        return MERCER_OK;
    MC_TRY(mc_axpy_columns(ctx, n, t, s->step, s->P, s->dX)); /* dX <- dX + a P */
    for (int64_t k = 0; k < t; k++)
        s->step[k] = -s->step[k];
    MC_TRY(mc_axpy_columns(ctx, n, t, s->step, s->AP, s->R)); /* R <- R - a A P */
    MC_TRY(apply_preconditioner(ctx, s));
    MC_TRY(column_dots(ctx, s, s->Z, s->AP, s->beta));
    for (int64_t k = 0; k < t; k++)
        s->beta[k] = s->rz[k] > 0 ? fmax(0, s->step[k] * s->beta[k] / s->rz[k]) : 0;
    MC_TRY(mc_xpay_columns(ctx, n, t, s->beta, s->Z, s->P)); /* P <- Z + beta P */
    MC_TRY(column_dots(ctx, s, s->Z, s->R, s->rz));
    MC_TRY(column_dots(ctx, s, s->R, s->R, s->step));
    *residual = worst_relative(s, s->step);
    return MERCER_OK;
}

/* How far the residual has come on its way to the tolerance, on the scale of its logarithm: what progress reports. */
static double share_done(const mc_pcg *s, double residual) {
    return fmin(0.999, fmax(0, log(residual) / log(fmin(s->p.tolerance, 0.5))));
}

mercer_status mc_pcg_settle(mercer_ctx *ctx, mc_pcg *s) {
    if (!s->h->inner)
        return MERCER_OK;
    for (int64_t i = 0; i < s->p.n * s->p.t; i++)
        s->X[i] += s->dX[i];
    s->h->inner = false;
    (void)ctx;
    return MERCER_OK;
}

/* Whether the inner run has come to its aim, or to its end for want of progress. */
static bool run_ends(mc_pcg *s, double residual) {
    pcg_head *h = s->h;
    h->stalled = residual < 0.9 * h->best ? 0 : h->stalled + 1;
    h->best = fmin(h->best, residual);
    const bool enough = residual <= AIM * s->p.tolerance || residual <= s->p.floor * h->outer;
    return enough || h->stalled >= s->p.patience || h->result.iterations >= s->p.iterations_max;
}

/* A doubt was dispelled: what the run gained is kept, and floats go on from there; or it gained nothing, and is done
   again in double. */
static mercer_status go_on(mercer_ctx *ctx, mc_pcg *s) {
    pcg_head *h = s->h;
    h->doubted = false;
    h->careful = !(h->best <= WORTH * h->outer);
    if (!h->careful)
        return mc_pcg_settle(ctx, s);
    h->inner = false;
    h->before = INFINITY;
    return MERCER_OK;
}

/* After the product of an inner run. */
static mercer_status inner_step(mercer_ctx *ctx, mc_pcg *s, double *residual) {
    const bool repeated = s->h->doubted;
    MC_TRY(take_cg_step(ctx, s, residual));
    if (repeated)
        return go_on(ctx, s);
    return !s->h->doubted && run_ends(s, *residual) ? mc_pcg_settle(ctx, s) : MERCER_OK;
}

/* The error of a product leaves its share of |p|, which falls with the residual, in the answer: late products may be
   rougher than the first (Simoncini and Szyld, 2003). */
static bool is_late(const mc_pcg *s) {
    return s->p.reduced.apply && s->h->best <= LATE * s->h->outer;
}

mercer_status mc_pcg_step(mercer_ctx *ctx, mc_pcg *s, bool *done) {
    *done = false;
    const bool inner = s->h->inner;
    const double share = inner ? share_done(s, s->h->best) : 0;
    mc_set_phase_span(ctx, share, share);
    /* Only the product may be stopped: it leaves nothing behind, and the state is whole before and after. */
    const mc_matrix *K = s->h->careful ? &s->p.exact : is_late(s) ? &s->p.reduced : &s->p.fast;
    MC_TRY(inner ? apply_A(ctx, s, K, s->P, s->AP) : exact_product(ctx, s));
    double residual = 0;
    mc_shield_from_stop(ctx, true);
    const mercer_status status = inner ? inner_step(ctx, s, &residual) : check_outer_residual(ctx, s, done);
    mc_shield_from_stop(ctx, false);
    if (status)
        return status;
    mc_set_phase_span(ctx, 0, 1);
    residual = inner ? residual : s->h->result.residual_relative;
    const mercer_status told =
        mc_progress_step(ctx, share_done(s, residual), (mc_watch){"residual", residual, s->p.tolerance});
    return *done ? MERCER_OK : told;
}

mercer_status mc_pcg_solve(mercer_ctx *ctx, const mc_pcg_problem *problem, double *X, mc_pcg_result *result) {
    mc_pcg *s = NULL;
    *result = (mc_pcg_result){.residual_relative = INFINITY};
    MC_TRY(mc_pcg_open(ctx, problem, X, &s));
    bool done = false;
    mercer_status status = MERCER_OK;
    while (!status && !done)
        status = mc_pcg_step(ctx, s, &done);
    if (status == MERCER_TIME || status == MERCER_CANCELLED)
        mc_pcg_settle(ctx, s);
    *result = s->h->result;
    mc_pcg_close(s);
    return status;
}
