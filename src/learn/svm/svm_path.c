/* svm_path.c: solutions for rising C, each from the last. Multipliers times C'/C are feasible for C', and f = K beta
   grows by the same factor: the next start costs no kernel value, rows at their bound stay there, and f is exact
   because the last certificate made it so. Where all of K is stored it is kept from one C to the next; otherwise the
   rows next to the margin come first (svm_predictor.c), and a certificate goes on from the last one
   (certify/svm_screen.c). */
#include "base/status.h"
#include "base/workspace.h"
#include "learn/svm/svm.h"
#include "qp/smo_select.h"
#include <math.h>
#include <string.h>

static mercer_status check_rising_costs(mercer_ctx *ctx, const double *C, int64_t count) {
    if (count < 1)
        return mc_fail(ctx, MERCER_INVALID, "path: no value of C was given");
    for (int64_t k = 0; k < count; k++)
        if (!(C[k] > (k ? C[k - 1] : 0)) || isinf(C[k]))
            return mc_fail(ctx, MERCER_INVALID,
                           "path: values of C must be positive, finite and rise; number %lld is %g", (long long)k + 1,
                           C[k]);
    return MERCER_OK;
}

void mc_svm_raise_C(mc_svm *s, double C) {
    const double factor = C / s->C;
    s->C = C;
    s->solver->warm = true;
    for (int64_t k = 0; k < s->tasks; k++) {
        mc_svm_program_scale(s, &s->task[k], factor);
        s->task[k].result = (mc_smo_result){0};
    }
}

mercer_status mc_svm_path(mercer_ctx *ctx, mc_svm_kind kind, const mercer_svm *set, const mercer_kernel *kernel,
                          const mercer_data *data, const double *C, int64_t count, mc_fitted_each *each, void *arg) {
    MC_TRY(check_rising_costs(ctx, C, count));
    mc_svm s = {.kind = kind, .set = set, .path = true};
    mc_driver driver = mc_svm_driver(&s);
    return mc_drive_path(ctx, &driver, kernel, data, C, NULL, count, each, arg);
}

/* ---- The start of the next ---- */

/* From the solution for one C to a start for a larger one. Two are made, and the better is taken:

       ray     all multipliers times the same factor, where the objective is least along it: right while every
       multiplier is bounded
       press   bounded multipliers to their new bounds, the others as they are: right where C no longer matters. Of two
       rows that are the
               same but for their class one is bounded and its duplicate follows it, so that f stays as it is */

typedef struct ray {
    double linear, square; /* q'beta and beta'K beta */
} ray;

static ray ray_of(const mc_dual *dual, const double *beta, const double *f) {
    ray r = {0};
    for (int64_t v = 0; v < dual->m; v++) {
        r.linear += dual->q[v] * beta[v];
        r.square += beta[v] * f[mc_dual_row(dual, v)];
    }
    return r;
}

/* What duplicates have in common: it adds to q'beta and nothing to f. */
static double common_to_duplicates(const double *beta, const int64_t *duplicate, int64_t m) {
    double sum = 0;
    for (int64_t v = 0; duplicate && v < m; v++)
        sum += duplicate[v] < 0 ? 0 : fmin(fabs(beta[v]), fabs(beta[duplicate[v]]));
    return sum;
}

static double objective_along_ray(ray r, double factor) {
    return factor * (factor * r.square / 2 + r.linear);
}

static bool reaches_bound(const mc_dual *dual, const double *beta, double rise, int64_t v) {
    return beta[v] != 0 && fabs(beta[v]) * rise >= (beta[v] > 0 ? dual->high[v] : -dual->low[v]) * (1 - 1e-12);
}

/* Those at their last bounds, 1/rise of the new ones, times rise; a duplicate that was free by as much the other way,
   as far as it can; the others as they are. */
static void push_to_bounds(const mc_dual *dual, const double *beta, const int64_t *duplicate, double rise,
                           double *next) {
    for (int64_t v = 0; v < dual->m; v++)
        next[v] = !reaches_bound(dual, beta, rise, v) ? beta[v] : beta[v] > 0 ? dual->high[v] : dual->low[v];
    for (int64_t v = 0; duplicate && v < dual->m; v++) {
        const int64_t u = duplicate[v];
        if (u >= 0 && reaches_bound(dual, beta, rise, v) && !reaches_bound(dual, beta, rise, u))
            next[u] = fmin(fmax(beta[u] - (next[v] - beta[v]), dual->low[u]), dual->high[u]);
    }
}

static bool off_bounds(const mc_dual *dual, const double *next, int64_t v) {
    return next[v] > dual->low[v] && next[v] < dual->high[v];
}

/* Pushed, and those of the heavier sign that are free in proportion so much less that the sum is 0 again. False: they
   cannot be. */
static bool press_to_feasible(const mc_dual *dual, const double *beta, const int64_t *duplicate, double rise,
                              double *next) {
    double sum = 0, off[2] = {0, 0};
    push_to_bounds(dual, beta, duplicate, rise, next);
    for (int64_t v = 0; v < dual->m; v++) {
        sum += next[v];
        off[next[v] > 0] += off_bounds(dual, next, v) ? fabs(next[v]) : 0;
    }
    const int heavy = sum > 0;
    if (off[heavy] < fabs(sum))
        return false;
    const double factor = off[heavy] > 0 ? 1 - fabs(sum) / off[heavy] : 1;
    for (int64_t v = 0; v < dual->m; v++)
        if ((next[v] > 0) == heavy && off_bounds(dual, next, v))
            next[v] *= factor;
    return true;
}

/* f <- f + K (next - beta). */
static mercer_status move_fitted_values(mercer_ctx *ctx, const mc_dual *dual, const mc_matrix *matrix,
                                        const double *beta, const double *next, double *f) {
    mc_work work;
    int64_t count = 0;
    double *change = NULL, *c = NULL;
    int64_t *ids = NULL;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(change, matrix->n), MC_SLICE(c, matrix->n), MC_SLICE(ids, matrix->n)));
    for (int64_t v = 0; v < dual->m; v++)
        change[mc_dual_row(dual, v)] += next[v] - beta[v];
    for (int64_t i = 0; i < matrix->n; i++)
        if (change[i] != 0) {
            ids[count] = i;
            c[count++] = change[i];
        }
    const mercer_status status = count ? mc_matrix_add(ctx, matrix, matrix->dtype, ids, c, count, f, NULL) : MERCER_OK;
    mc_work_close(&work);
    return status;
}

/* Least along the ray at -q'beta / beta'K beta, what duplicates have in common left aside. Where every multiplier is
   bounded that is all there is to do. */
mercer_status mc_svm_program_warm_start(mercer_ctx *ctx, const mc_svm *s, mc_svm_program *t, const mc_dual *dual,
                                        const mc_matrix *matrix, const int64_t *duplicate, double rise) {
    const ray now = ray_of(dual, t->beta, t->f);
    const double slope = -now.linear - common_to_duplicates(t->beta, duplicate, t->m);
    const double factor = now.square > 0 ? fmin(rise, fmax(1, slope / now.square)) : rise;
    mc_work work;
    double *next = NULL, *f = NULL;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(next, t->m), MC_SLICE(f, t->n)));
    memcpy(f, t->f, (size_t)t->n * sizeof *f);
    mercer_status status = MERCER_OK;
    bool better = factor < rise && press_to_feasible(dual, t->beta, duplicate, rise, next);
    if (better)
        status = move_fitted_values(ctx, dual, matrix, t->beta, next, f);
    better = better && !status && objective_along_ray(ray_of(dual, next, f), 1) < objective_along_ray(now, factor);
    if (better) {
        memcpy(t->beta, next, (size_t)t->m * sizeof *next);
        memcpy(t->f, f, (size_t)t->n * sizeof *f);
    } else {
        mc_svm_program_scale(s, t, factor);
    }
    mc_work_close(&work);
    return status;
}
