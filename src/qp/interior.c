/* interior.c: see interior.h. With s = beta - low, t = high - beta, z and y their multipliers, and lambda those of the
   sums,

       f + q - lambda - z + y = 0,   s z = mu,   t y = mu,   sums kept,        f = K beta + what others add

   is followed from a large mu to none by Newton steps. Eliminating z and y leaves

       (Q + D) d = r + E d_lambda,   D = z/s + y/t,   Q_tu = K(row of t, row of u)

   Where two variables share a row (regression), d_1 + d_2 = x and D_1 d_1 - D_2 d_2 = r_1 - r_2, so that

       (K + D_1 D_2 / (D_1 + D_2)) x = (D_2 r_1 + D_1 r_2) / (D_1 + D_2)

   has the order of K in any case. Where K = F F' has a low rank all products are made with F. A step is Mehrotra's: a
   predictor with mu = 0 tells how far down mu can go, and a corrector adds its second-order term. s and t are kept
   each by itself, and f is moved, not computed anew: near a bound, and at a C of 10^8, the differences would be
   rounding. At the end a variable whose bound has the larger multiplier, in units of f, is set to that bound, and what
   the sums then lack is spread over the others. Mehrotra (1992); Wright, Primal-dual interior-point methods (1997). */
#include "qp/interior.h"
#include "qp/interior_system.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "linalg/cholesky.h"
#include "qp/smo_select.h"
#include <math.h>
#include <string.h>

enum {
    STEPS = 80,
    STALLED_STEPS = 6,
    LOW = 8
};                                /* a rank is low up to the rows over LOW: its factors take less than half K */
static const double DONE = 1e-14; /* of the objective: what the multipliers of the bounds may still add up to */
static const double BACK = 0.995; /* of the way to the nearest bound */
static const double SHORT = 1e-5; /* a step that leads nowhere */
static const double STIFF = 1e100;

/* No room between its bounds: it stays there, with a D that lets nothing move. */
static bool is_fixed(const mc_interior *p, int64_t t) {
    return !(p->dual->high[t] > p->dual->low[t]);
}

static double primal_value(const mc_interior *p, int64_t t) {
    const double s = p->slack.low[t], r = p->slack.high[t];
    return is_fixed(p, t) ? p->dual->low[t] : s < r ? p->dual->low[t] + s : p->dual->high[t] - r;
}

/* ---- A step ---- */

static mercer_status prepare_system(mercer_ctx *ctx, mc_interior *p, bool *done) {
    for (int64_t t = 0; t < p->dual->m; t++)
        p->D[t] = is_fixed(p, t) ? STIFF : p->z.low[t] / p->slack.low[t] + p->z.high[t] / p->slack.high[t];
    MC_TRY(mc_interior_factor(ctx, p, done));
    for (int g = 0; g < p->groups && *done; g++) {
        for (int64_t t = 0; t < p->dual->m; t++)
            p->r[t] = mc_dual_group(p->dual, t) == g;
        MC_TRY(mc_interior_solve_system(ctx, p, p->r, p->Z[g]));
    }
    return MERCER_OK;
}

/* d_lambda, so that the step brings the sums to what they are to be. */
static void keep_sums(mc_interior *p) {
    double lack[2] = {p->sum[0], p->sum[1]}, S[2][2] = {{0}};
    for (int64_t t = 0; t < p->dual->m; t++) {
        const int h = mc_dual_group(p->dual, t);
        lack[h] -= primal_value(p, t) + p->d[t];
        for (int g = 0; g < p->groups; g++)
            S[h][g] += p->Z[g][t];
    }
    if (p->groups == 1) {
        p->d_lambda[0] = lack[0] / S[0][0];
        return;
    }
    const double det = S[0][0] * S[1][1] - S[0][1] * S[1][0];
    p->d_lambda[0] = (lack[0] * S[1][1] - S[0][1] * lack[1]) / det;
    p->d_lambda[1] = (S[0][0] * lack[1] - S[1][0] * lack[0]) / det;
}

/* d, d_lambda and dz for the right-hand sides c. */
static mercer_status newton_direction(mercer_ctx *ctx, mc_interior *p) {
    const int64_t m = p->dual->m;
    for (int64_t t = 0; t < m; t++) {
        const double rest = p->f[mc_dual_row(p->dual, t)] + p->dual->q[t] - p->lambda[mc_dual_group(p->dual, t)]
                            - p->z.low[t] + p->z.high[t];
        p->r[t] = p->c.low[t] / p->slack.low[t] - p->c.high[t] / p->slack.high[t] - rest;
    }
    MC_TRY(mc_interior_solve_system(ctx, p, p->r, p->d));
    keep_sums(p);
    for (int64_t t = 0; t < m; t++) {
        for (int g = 0; g < p->groups; g++)
            p->d[t] += p->d_lambda[g] * p->Z[g][t];
        p->dz.low[t] = (p->c.low[t] - p->z.low[t] * p->d[t]) / p->slack.low[t];
        p->dz.high[t] = (p->c.high[t] + p->z.high[t] * p->d[t]) / p->slack.high[t];
    }
    return MERCER_OK;
}

/* How far the step can go before something that must stay positive is zero. A bound at infinity has z = 0 for ever. */
static double largest_step(const mc_interior *p) {
    double most = 0;
    for (int64_t t = 0; t < p->dual->m; t++) {
        most = fmax(most, fmax(-p->d[t] / p->slack.low[t], p->d[t] / p->slack.high[t]));
        most = fmax(most, p->z.low[t] > 0 ? -p->dz.low[t] / p->z.low[t] : 0);
        most = fmax(most, p->z.high[t] > 0 ? -p->dz.high[t] / p->z.high[t] : 0);
    }
    return most > 1 ? 1 / most : 1;
}

static double open_after(const mc_interior *p, double a) {
    double sum = 0;
    for (int64_t t = 0; t < p->dual->m; t++) {
        sum += p->z.low[t] > 0 ? (p->z.low[t] + a * p->dz.low[t]) * (p->slack.low[t] + a * p->d[t]) : 0;
        sum += p->z.high[t] > 0 ? (p->z.high[t] + a * p->dz.high[t]) * (p->slack.high[t] - a * p->d[t]) : 0;
    }
    return sum;
}

static void set_complementarity_target(mc_interior *p, double mu, bool corrected) {
    for (int64_t t = 0; t < p->dual->m; t++) {
        const double d = corrected ? p->d[t] : 0;
        p->c.low[t] = p->z.low[t] > 0 ? mu - p->z.low[t] * p->slack.low[t] - d * p->dz.low[t] : 0;
        p->c.high[t] = p->z.high[t] > 0 ? mu - p->z.high[t] * p->slack.high[t] + d * p->dz.high[t] : 0;
    }
}

static mercer_status advance_iterate(mercer_ctx *ctx, mc_interior *p, double a) {
    for (int64_t t = 0; t < p->dual->m; t++) {
        p->slack.low[t] += a * p->d[t];
        p->slack.high[t] -= a * p->d[t];
        p->z.low[t] += a * p->dz.low[t];
        p->z.high[t] += a * p->dz.high[t];
    }
    for (int g = 0; g < p->groups; g++)
        p->lambda[g] += a * p->d_lambda[g];
    MC_TRY(mc_interior_product(ctx, p, p->d));
    for (int64_t i = 0; i < p->rows->n; i++)
        p->f[i] += a * p->product[i];
    return MERCER_OK;
}

static int64_t count_bounds(const mc_interior *p) {
    int64_t count = 0;
    for (int64_t t = 0; t < p->dual->m; t++)
        count += is_fixed(p, t) ? 0 : isfinite(p->dual->low[t]) + isfinite(p->dual->high[t]);
    return count;
}

/* *length: how far it went; 0: it could not be made. */
static mercer_status predictor_corrector_step(mercer_ctx *ctx, mc_interior *p, double *length) {
    bool done;
    *length = 0;
    MC_TRY(prepare_system(ctx, p, &done));
    if (!done)
        return MERCER_OK;
    set_complementarity_target(p, 0, false);
    MC_TRY(newton_direction(ctx, p));
    const double share = open_after(p, largest_step(p)) / p->complementarity;
    set_complementarity_target(p, pow(share, 3) * p->complementarity / (double)count_bounds(p), true);
    MC_TRY(newton_direction(ctx, p));
    const double a = fmin(1, BACK * largest_step(p));
    if (!isfinite(p->d_lambda[0] + p->d_lambda[1] + open_after(p, a)))
        return MERCER_OK;
    *length = a;
    return advance_iterate(ctx, p, a);
}

/* ---- From start to end ---- */

static void measure_complementarity(mc_interior *p) {
    memset(&p->dz.low[0], 0, (size_t)p->dual->m * sizeof(double));
    memset(&p->dz.high[0], 0, (size_t)p->dual->m * sizeof(double));
    double squares = 0, rest = 0;
    for (int64_t t = 0; t < p->dual->m; t++) {
        squares += primal_value(p, t) * p->f[mc_dual_row(p->dual, t)];
        rest += fabs(primal_value(p, t) * p->dual->q[t]);
    }
    p->complementarity = open_after(p, 0);
    p->scale = fabs(squares) + rest;
}

static mercer_status iterate_interior(mercer_ctx *ctx, mc_interior *p) {
    double least = INFINITY, length = 1;
    for (int k = 0, lull = 0; k < STEPS && lull < STALLED_STEPS && length > SHORT; k++) {
        measure_complementarity(p);
        if (p->complementarity <= DONE * p->scale)
            return MERCER_OK;
        lull = p->complementarity < 0.9 * least ? 0 : lull + 1;
        least = fmin(least, p->complementarity);
        mc_progress_dual(ctx, NAN, 0);
        MC_TRY(mc_progress_step(ctx, -1, (mc_watch){"complementarity", p->complementarity, DONE * p->scale}));
        MC_TRY(predictor_corrector_step(ctx, p, &length));
    }
    return MERCER_OK;
}

/* The middle between finite bounds; otherwise about as far from the finite one as a slope of 1 can lead. */
static void stand_inside(mc_interior *p, const double *beta) {
    for (int64_t t = 0; t < p->dual->m; t++) {
        const double low = p->dual->low[t], high = p->dual->high[t];
        const double far = 1 / fmax(p->rows->diag[mc_dual_row(p->dual, t)], 1e-300);
        const bool both = isfinite(low) && isfinite(high) && !is_fixed(p, t);
        p->slack.low[t] = both ? (high - low) / 2 : isfinite(low) ? far : INFINITY;
        p->slack.high[t] = both ? (high - low) / 2 : isfinite(high) ? far : INFINITY;
        p->d[t] = primal_value(p, t) - beta[t];
        p->sum[mc_dual_group(p->dual, t)] += beta[t];
    }
}

/* Multipliers as large as the largest slope: all products of the same order. */
static mercer_status set_starting_point(mercer_ctx *ctx, mc_interior *p, const double *beta, const double *f) {
    double top = 0;
    stand_inside(p, beta);
    MC_TRY(mc_interior_product(ctx, p, p->d));
    for (int64_t i = 0; i < p->rows->n; i++)
        p->f[i] = f[i] + p->product[i];
    for (int64_t t = 0; t < p->dual->m; t++)
        top = fmax(top, fmax(fabs(mc_dual_slope(p->dual, p->f, t)), fabs(p->dual->q[t])));
    for (int64_t t = 0; t < p->dual->m; t++) {
        const double v = mc_dual_slope(p->dual, p->f, t);
        p->z.low[t] = isfinite(p->dual->low[t]) && !is_fixed(p, t) ? fmax(-v, 0) + top : 0;
        p->z.high[t] = isfinite(p->dual->high[t]) && !is_fixed(p, t) ? fmax(v, 0) + top : 0;
    }
    return MERCER_OK;
}

/* d <- the point, variables that belong to a bound set there; slack.low <- how far the others may be moved. */
static void snap_to_bounds(mc_interior *p) {
    for (int64_t t = 0; t < p->dual->m; t++) {
        const double k = p->rows->diag[mc_dual_row(p->dual, t)];
        const bool low = k * p->slack.low[t] < p->z.low[t], high = k * p->slack.high[t] < p->z.high[t];
        p->d[t] = low ? p->dual->low[t] : high ? p->dual->high[t] : primal_value(p, t);
        p->slack.low[t] = low || high || is_fixed(p, t) ? 0 : fmin(p->slack.low[t], p->slack.high[t]);
    }
}

static bool restore_sums(mc_interior *p) {
    double excess[2] = {-p->sum[0], -p->sum[1]}, total_slack[2] = {0}, mass[2] = {0};
    for (int64_t t = 0; t < p->dual->m; t++) {
        const int g = mc_dual_group(p->dual, t);
        excess[g] += p->d[t];
        total_slack[g] += p->slack.low[t];
        mass[g] += fabs(p->d[t]);
    }
    for (int g = 0; g < p->groups; g++) {
        const bool rounding = fabs(excess[g]) <= 1e-13 * mass[g];
        if (!rounding && !(fabs(excess[g]) < 0.5 * total_slack[g]))
            return false;
        excess[g] = rounding ? 0 : excess[g];
    }
    for (int64_t t = 0; t < p->dual->m; t++) {
        const int g = mc_dual_group(p->dual, t);
        p->d[t] -= excess[g] != 0 && p->slack.low[t] > 0 ? excess[g] * (p->slack.low[t] / total_slack[g]) : 0;
    }
    return true;
}

/* What the objective gains by a step from beta to p->d: f moves from f to p->f, and what others add to f, which is no
   part of the objective's squares, stays. */
static long double objective_gain(const mc_interior *p, const double *beta, const double *f) {
    long double sum = 0;
    for (int64_t t = 0; t < p->dual->m; t++) {
        const int64_t i = mc_dual_row(p->dual, t);
        sum += (beta[t] - p->d[t]) * (0.5 * ((long double)f[i] + p->f[i]) + p->dual->q[t]);
    }
    return sum;
}

/* The point reached is taken where it is better. */
static mercer_status accept_if_better(mercer_ctx *ctx, mc_interior *p, double *beta, double *f, bool *moved) {
    const int64_t m = p->dual->m, n = p->rows->n;
    snap_to_bounds(p);
    if (!restore_sums(p))
        return MERCER_OK;
    for (int64_t t = 0; t < m; t++)
        p->r[t] = p->d[t] - beta[t];
    MC_TRY(mc_interior_product(ctx, p, p->r));
    for (int64_t i = 0; i < n; i++)
        p->f[i] = f[i] + p->product[i];
    *moved = objective_gain(p, beta, f) > 0;
    if (*moved) {
        memcpy(beta, p->d, (size_t)m * sizeof *beta);
        memcpy(f, p->f, (size_t)n * sizeof *f);
    }
    return MERCER_OK;
}

/* ---- The call ---- */

/* panels: of F; -1: the rank is not low. */
static void lay_out_interior_workspace(mc_work *work, int64_t n, int64_t m, int64_t panels, mc_interior *p) {
    double **of_m[] = {&p->slack.low, &p->slack.high, &p->z.low,  &p->z.high, &p->dz.low,
                       &p->dz.high,   &p->c.low,      &p->c.high, &p->D,      &p->r,
                       &p->rest,      &p->more,       &p->d,      &p->Z[0],   &p->Z[1]};
    double **of_n[] = {&p->f, &p->sum_of, &p->product};
    p->A = mc_work_take(work, panels < 0 ? mc_packed_count(n) : 0, sizeof(double));
    if (panels >= 0) {
        mc_product_form_lay_out(work, n, panels, &p->form);
        p->inner = mc_work_take(work, panels * MC_PIVOTED_PANEL, sizeof(double));
    }
    for (size_t i = 0; i < sizeof of_m / sizeof *of_m; i++)
        *of_m[i] = mc_work_take(work, m, sizeof(double));
    for (size_t i = 0; i < sizeof of_n / sizeof *of_n; i++)
        *of_n[i] = mc_work_take(work, n, sizeof(double));
    p->pair = mc_work_take(work, 2 * n, sizeof(int64_t));
    p->id = mc_work_take(work, n, sizeof(int64_t));
    p->row = mc_work_take(work, n, sizeof(void *));
}

static size_t interior_workspace_bytes(int64_t n, int64_t m, int64_t panels) {
    mc_work counted = {0};
    lay_out_interior_workspace(&counted, n, m, panels, &(mc_interior){0});
    return counted.used;
}

/* Whether every row has one variable or two, and every variable a bound. */
static bool pair_up(mc_interior *p) {
    for (int64_t i = 0; i < p->rows->n; i++) {
        p->pair[2 * i] = p->pair[2 * i + 1] = -1;
        p->id[i] = i;
    }
    for (int64_t t = 0; t < p->dual->m; t++) {
        int64_t *pair = p->pair + 2 * mc_dual_row(p->dual, t);
        if (pair[1] >= 0 || !(isfinite(p->dual->low[t]) || isfinite(p->dual->high[t])))
            return false;
        pair[pair[0] < 0 ? 0 : 1] = t;
    }
    for (int64_t i = 0; i < p->rows->n; i++)
        if (p->pair[2 * i] < 0)
            return false;
    return true;
}

mercer_status mc_interior_solve(mercer_ctx *ctx, const mc_dual *dual, const mc_matrix *rows,
                                const mc_pivoted_cholesky *low_rank, double *beta, double *f, bool *moved) {
    mc_interior p = {
        .dual = dual, .rows = rows, .low_rank = low_rank, .form.low_rank = low_rank, .groups = dual->group ? 2 : 1};
    const int64_t panels = low_rank ? low_rank->panels : -1;
    mc_work work;
    *moved = false;
    MC_TRY(mc_work_open(ctx, &work, interior_workspace_bytes(rows->n, dual->m, panels)));
    lay_out_interior_workspace(&work, rows->n, dual->m, panels, &p);
    mercer_status status = MERCER_OK;
    if (pair_up(&p)) {
        status = set_starting_point(ctx, &p, beta, f);
        MC_THEN(status, iterate_interior(ctx, &p));
        MC_THEN(status, accept_if_better(ctx, &p, beta, f, moved));
    }
    mc_work_close(&work);
    return status;
}

/* With F of this rank, which is taken beside. */
static size_t low_rank_bytes(int64_t n, int64_t m, int64_t rank) {
    return mc_pivoted_cholesky_bytes(n, rank)
           + interior_workspace_bytes(n, m, (rank + MC_PIVOTED_PANEL - 1) / MC_PIVOTED_PANEL);
}

size_t mc_interior_bytes(int64_t n, int64_t m, mercer_dtype dtype) {
    const size_t low_rank = low_rank_bytes(n, m, n / LOW),
                 square = interior_workspace_bytes(n, m, -1)
                          + (dtype == MERCER_F64 ? 0 : mc_work_need(n * n, sizeof(double)));
    return low_rank > square ? low_rank : square;
}

/* A factor costs n^3/3 operations at some thirty to the nanosecond. */
int64_t mc_interior_equal_updates(mercer_ctx *ctx, int64_t n, int64_t m, mercer_dtype dtype) {
    return mc_interior_bytes(n, m, dtype) > mc_memory_left(ctx) / 2 ? INT64_MAX : n * n * n / 10;
}

/* Forty steps of n (r^2/3 + 36 r) nanoseconds: a factor, and a dozen solutions, which go from row to row. */
int64_t mc_interior_rank(mercer_ctx *ctx, int64_t n, int64_t m, int64_t updates) {
    const double paid = sqrt(54 * 54 + 3 * (double)updates / (40 * (double)n)) - 54;
    const int64_t rank = paid < (double)(n / LOW) ? (int64_t)paid : n / LOW;
    return rank < 1 || low_rank_bytes(n, m, rank) > mc_memory_left(ctx) / 2 ? 0 : rank;
}
