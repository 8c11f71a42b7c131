/* active_set_newton.c: see active_set_newton.h. Every variable is taken to be at a bound or free; with F the free ones
   the optimum under that guess is where their slopes agree in each group and the sums are kept:

       [ K_FF  E ] [ d  ]   [ v_F ]
       [ E'    0 ] [ nu ] = [  r  ]      E: a column of ones per group, r: what the sums lack

   that is d = X - Z nu with X = K_FF^-1 v, Z = K_FF^-1 E, (E'Z) nu = E'X - r. Then the guess is put right: a free
   variable beyond its bound is set there, one at a bound whose slope has passed nu becomes free. This is the
   primal-dual active set method, Newton's for the kinks of the optimality conditions (Hintermueller, Ito and Kunisch,
   2002); from near the optimum it settles after a few factors. It need not: what it finds counts only where no guess is
   left to change and the objective is lower, and it is given up where the number of wrong guesses stops falling.

   K_FF is factored in double with a little added to its diagonal; steps with the same factor against the true K make
   that good, as long as each halves the error. */
#include "qp/active_set_newton.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/workspace.h"
#include "linalg/cholesky.h"
#include "qp/smo_select.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_FREE = 4096, FACTORS = 40, FEW_WRONG = 15, STEPS = 6, LULL = 5 };
enum { LOW, FREE, HIGH };

typedef struct active_newton {
    const mc_dual *dual;
    const mc_matrix *rows;
    double tolerance;
    double worth;           /* operations that may go into factors */
    double *x, *g;          /* beta and K beta as they become */
    uint8_t *state;         /* m */
    double sum[2], nu[2];   /* of the groups: what is kept, and the slope agreed on */
    int64_t count, most;    /* of F, and the most there is room for */
    int64_t *variable, *id; /* of F, and the row of K of each */
    int64_t left_over;      /* variables of the same rows that should move as well */
    uint8_t *taken;         /* n: a variable of the row is in F */
    const void **row;
    double *A;    /* the packed factor of K_FF */
    double *X;    /* count x 3: v and E, solved */
    double *step; /* on F */
} active_newton;

static void guess_states(active_newton *p, const double *beta) {
    for (int64_t t = 0; t < p->dual->m; t++) {
        p->state[t] = beta[t] <= p->dual->low[t] ? LOW : beta[t] >= p->dual->high[t] ? HIGH : FREE;
        p->sum[mc_dual_group(p->dual, t)] += beta[t];
    }
}

/* The free variables, one for a row of K: two would make K_FF singular, and the other is left over. Returns whether
   they can be worked with. */
static bool list_free(active_newton *p) {
    memset(p->taken, 0, (size_t)p->rows->n);
    p->count = p->left_over = 0;
    for (int64_t t = 0; t < p->dual->m; t++) {
        const int64_t i = mc_dual_row(p->dual, t);
        p->left_over += p->state[t] == FREE && p->taken[i];
        if (p->state[t] != FREE || p->taken[i])
            continue;
        if (p->count == p->most)
            return false;
        p->taken[i] = 1;
        p->variable[p->count] = t;
        p->id[p->count++] = i;
    }
    return p->count >= 2;
}

/* The factor of K_FF with its diagonal raised by as little as the precision of K allows. */
static mercer_status factor_free_block(mercer_ctx *ctx, active_newton *p, bool *done) {
    const int64_t n = p->count;
    double trace = 0;
    MC_TRY(mc_matrix_view(ctx, p->rows, p->id, n, p->row));
    for (int64_t a = 0; a < n; a++)
        trace += p->rows->diag[p->id[a]];
    double raise = (p->rows->dtype == MERCER_F64 ? 1e-12 : 1e-7) * trace / (double)n;
    *done = false;
    for (int attempt = 0; attempt < 4 && !*done; attempt++, raise *= 30) {
        int64_t bad = 0;
        MC_TRY(mc_packed_take(ctx, n, p->rows->dtype, p->row, p->id, raise, p->A));
        MC_TRY(mc_potrf(ctx, mc_packed(n, p->A), &bad));
        *done = bad == 0;
    }
    return MERCER_OK;
}

/* What the sum of a group lacks. */
static double missing_sum(const active_newton *p, int group) {
    double sum = p->sum[group];
    for (int64_t t = 0; t < p->dual->m; t++)
        sum -= mc_dual_group(p->dual, t) == group ? p->x[t] : 0;
    return sum;
}

/* step <- d, and nu. A group without free variables has a column of zeros, and no say. */
static mercer_status free_set_direction(mercer_ctx *ctx, active_newton *p) {
    const int64_t n = p->count;
    double S[3][2] = {{0}}; /* sums over the groups of the columns of X */
    for (int64_t a = 0; a < n; a++) {
        const int g = mc_dual_group(p->dual, p->variable[a]);
        p->X[3 * a] = mc_dual_slope(p->dual, p->g, p->variable[a]);
        p->X[3 * a + 1] = g == 0;
        p->X[3 * a + 2] = g == 1;
    }
    MC_TRY(mc_potrs(ctx, mc_packed(n, p->A), mc_row_major(p->X, n, 3, 3)));
    for (int64_t a = 0; a < n; a++)
        for (int c = 0; c < 3; c++)
            S[c][mc_dual_group(p->dual, p->variable[a])] += p->X[3 * a + c];
    const double z00 = S[1][0] > 0 ? S[1][0] : 1, z11 = S[2][1] > 0 ? S[2][1] : 1, z01 = S[2][0], z10 = S[1][1];
    const double r0 = S[0][0] - (S[1][0] > 0 ? missing_sum(p, 0) : 0),
                 r1 = S[0][1] - (S[2][1] > 0 ? missing_sum(p, 1) : 0);
    const double det = z00 * z11 - z01 * z10;
    p->nu[0] = (r0 * z11 - z01 * r1) / det;
    p->nu[1] = (z00 * r1 - z10 * r0) / det;
    for (int64_t a = 0; a < n; a++)
        p->step[a] = p->X[3 * a] - p->nu[0] * p->X[3 * a + 1] - p->nu[1] * p->X[3 * a + 2];
    return MERCER_OK;
}

/* How far the slopes of F are from nu. */
static double slope_spread(const active_newton *p) {
    double most = 0;
    for (int64_t a = 0; a < p->count; a++)
        most = fmax(most,
                    fabs(mc_dual_slope(p->dual, p->g, p->variable[a]) - p->nu[mc_dual_group(p->dual, p->variable[a])]));
    return most;
}

static mercer_status update_gradient(mercer_ctx *ctx, active_newton *p, int64_t count) {
    return count ? mc_matrix_add_rows(ctx, p->rows, p->id, p->step, count, p->row, p->g) : MERCER_OK;
}

/* To the optimum of this guess. */
static mercer_status solve_for_guess(mercer_ctx *ctx, active_newton *p) {
    double last = INFINITY;
    for (int k = 0; k < STEPS; k++) {
        MC_TRY(free_set_direction(ctx, p));
        for (int64_t a = 0; a < p->count; a++)
            p->x[p->variable[a]] += p->step[a];
        MC_TRY(update_gradient(ctx, p, p->count));
        const double now = slope_spread(p);
        if (!(now < last / 2) || now == 0)
            break;
        last = now;
    }
    return MERCER_OK;
}

/* Variables at a bound that want to leave it; before those beyond one are set back, which moves all slopes. */
static int64_t release_from_bounds(active_newton *p) {
    int64_t changed = 0;
    for (int64_t t = 0; t < p->dual->m; t++) {
        const double v = mc_dual_slope(p->dual, p->g, t) - p->nu[mc_dual_group(p->dual, t)];
        const bool wants = p->state[t] == LOW ? v > p->tolerance : p->state[t] == HIGH && v < -p->tolerance;
        if (wants && p->taken[mc_dual_row(p->dual, t)]) {
            p->left_over++;
        } else if (wants) {
            p->state[t] = FREE;
            changed++;
        }
    }
    return changed;
}

/* Free variables beyond a bound are set to it. */
static mercer_status set_back(mercer_ctx *ctx, active_newton *p, int64_t *changed) {
    int64_t count = 0;
    for (int64_t a = 0; a < p->count; a++) {
        const int64_t t = p->variable[a];
        const double to = fmin(fmax(p->x[t], p->dual->low[t]), p->dual->high[t]), change = to - p->x[t];
        if (to > p->dual->low[t] && to < p->dual->high[t])
            continue;
        p->state[t] = to <= p->dual->low[t] ? LOW : HIGH;
        p->x[t] = to;
        p->id[count] = p->id[a];
        p->step[count++] = change;
    }
    *changed += count;
    return update_gradient(ctx, p, count);
}

/* The free variable of a group that is farthest from its bounds; -1: there is none. */
static int64_t farthest_from_bounds(const active_newton *p, int group) {
    double most = 0;
    int64_t best = -1;
    for (int64_t a = 0; a < p->count; a++) {
        const int64_t t = p->variable[a];
        const double gap = fmin(p->x[t] - p->dual->low[t], p->dual->high[t] - p->x[t]);
        if (mc_dual_group(p->dual, t) == group && gap > most) {
            most = gap;
            best = a;
        }
    }
    return best;
}

/* Where K_FF is nearly singular the steps are long and what they lose in rounding is missing from the sums: one
   variable takes it. False where it would pass its bound, or where a group has no free variable to take it. */
static mercer_status restore_sums(mercer_ctx *ctx, active_newton *p, bool *restored) {
    *restored = true;
    for (int group = 0; group < 2; group++) {
        const double lost = missing_sum(p, group);
        const int64_t a = farthest_from_bounds(p, group), t = a < 0 ? 0 : p->variable[a];
        if (lost == 0)
            continue;
        if (a < 0) {
            *restored &= fabs(lost) <= 16 * DBL_EPSILON * fabs(p->sum[group]);
            continue;
        }
        *restored &= p->x[t] + lost > p->dual->low[t] && p->x[t] + lost < p->dual->high[t];
        p->x[t] += lost;
        MC_TRY(mc_matrix_add_rows(ctx, p->rows, &p->id[a], &lost, 1, p->row, p->g));
    }
    return MERCER_OK;
}

/* What so many factors of K_FF take, in operations. */
static double factor_work(const active_newton *p, double factors) {
    return factors * pow((double)p->count, 3) / 3;
}

/* A factor halves the wrong guesses, or better: as many are still to come as that takes. */
static bool can_afford(active_newton *p, int64_t wrong) {
    const bool enough = factor_work(p, ceil(log2((double)wrong + 1))) <= p->worth;
    p->worth -= factor_work(p, 1);
    return enough;
}

static mercer_status iterate_primal_dual(mercer_ctx *ctx, active_newton *p, bool *settled) {
    int64_t fewest = INT64_MAX, changed = FEW_WRONG;
    for (int k = 0, lull = 0; k < FACTORS && lull < LULL; k++) {
        bool done = list_free(p) && can_afford(p, changed);
        if (done)
            MC_TRY(factor_free_block(ctx, p, &done));
        if (!done)
            return MERCER_OK;
        MC_TRY(solve_for_guess(ctx, p));
        if (!isfinite(p->nu[0] + p->nu[1]))
            return MERCER_OK;
        changed = release_from_bounds(p);
        MC_TRY(set_back(ctx, p, &changed));
        if (changed == 0) /* it is no optimum where a variable is left over */
            return p->left_over ? MERCER_OK : restore_sums(ctx, p, settled);
        lull = changed < fewest ? 0 : lull + 1;
        fewest = changed < fewest ? changed : fewest;
    }
    return MERCER_OK;
}

static void lay_out_newton_workspace(mc_work *work, int64_t n, int64_t m, int64_t count, active_newton *p) {
    p->X = mc_work_take(work, 3 * count, sizeof(double));
    p->step = mc_work_take(work, count, sizeof(double));
    p->x = mc_work_take(work, m, sizeof(double));
    p->g = mc_work_take(work, n, sizeof(double));
    p->variable = mc_work_take(work, count, sizeof(int64_t));
    p->id = mc_work_take(work, count, sizeof(int64_t));
    p->row = mc_work_take(work, count, sizeof(void *));
    p->state = mc_work_take(work, m, 1);
    p->taken = mc_work_take(work, n, 1);
}

static size_t newton_workspace_bytes(int64_t n, int64_t m, int64_t count) {
    mc_work counted = {0};
    lay_out_newton_workspace(&counted, n, m, count, &(active_newton){0});
    return counted.used;
}

size_t mc_active_set_newton_bytes(int64_t n, int64_t m) {
    return newton_workspace_bytes(n, m, m < MOST_FREE ? m : MOST_FREE);
}

/* Twice as many as are free now may become so. */
static int64_t largest_free_set(const mc_dual *dual, const double *beta) {
    int64_t count = 32;
    for (int64_t t = 0; t < dual->m; t++)
        count += beta[t] > dual->low[t] && beta[t] < dual->high[t];
    count = 2 * count < dual->m ? 2 * count : dual->m;
    return count < MOST_FREE ? count : MOST_FREE;
}

mercer_status mc_active_set_newton(mercer_ctx *ctx, const mc_dual *dual, const mc_matrix *rows, double tolerance,
                                   double worth, double *beta, double *f, bool *moved) {
    const int64_t most = largest_free_set(dual, beta);
    const size_t bytes = newton_workspace_bytes(rows->n, dual->m, most),
                 square = mc_work_need(mc_packed_count(most), sizeof(double));
    mc_work work;
    *moved = false;
    if (bytes + square > mc_memory_left(ctx) / 2)
        return MERCER_OK;
    MC_TRY(mc_work_open(ctx, &work, bytes));
    active_newton p = {.dual = dual, .rows = rows, .tolerance = tolerance, .worth = worth, .most = most};
    lay_out_newton_workspace(&work, rows->n, dual->m, most, &p);
    p.A = mc_alloc_unset(ctx, mc_packed_count(most), sizeof(double));
    memcpy(p.x, beta, (size_t)dual->m * sizeof *beta);
    memcpy(p.g, f, (size_t)rows->n * sizeof *f);
    guess_states(&p, beta);
    bool settled = false;
    const mercer_status status = p.A ? iterate_primal_dual(ctx, &p, &settled) : MERCER_MEMORY;
    *moved = !status && settled && mc_dual_objective_change(dual, beta, f, p.x, p.g) < 0;
    if (*moved) {
        memcpy(beta, p.x, (size_t)dual->m * sizeof *beta);
        memcpy(f, p.g, (size_t)rows->n * sizeof *f);
    }
    mc_free(p.A);
    mc_work_close(&work);
    return status;
}
