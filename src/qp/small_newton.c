/* small_newton.c: a solution that meets its tolerance brought to all digits where that costs nothing: Newton's step on
   a few free variables. With F those, v their slopes and E the columns of ones of the groups,

       K_FF d + E nu = v,   E'd = 0

   by one factor of K_FF. A step that would leave the bounds is cut there, and the next one has one variable less. */
#include "qp/smo_select.h"
#include "qp/stored_smo.h"
#include <math.h>
#include <string.h>

enum { FEW = 32, STEPS = 3 };
static const double SINGULAR = 1e-12; /* of the diagonal: what is left of it in the factor */

typedef struct few {
    int64_t count, variable[FEW], row[FEW];
    int run[FEW], group[FEW];
    double A[FEW][FEW]; /* K_FF, then its factor */
    double d[FEW], ones[MC_SMO_RUNS][FEW];
} few;

static bool list_free(const mc_dual *dual, const mc_kernel_runs *K, const double *beta, few *s) {
    int64_t t = 0;
    s->count = 0;
    for (int r = 0; r < K->runs; r++)
        for (int64_t k = 0; k < K->count[r]; k++, t++)
            if (beta[t] > dual->low[t] && beta[t] < dual->high[t]) {
                if (s->count == FEW)
                    return false;
                s->variable[s->count] = t;
                s->run[s->count] = r;
                s->group[s->count] = mc_dual_group(dual, t);
                s->row[s->count++] = K->first[r] + k;
            }
    return s->count > 1;
}

static void drop_variable(few *s, int64_t i) {
    s->count--;
    for (int64_t k = i; k < s->count; k++) {
        s->variable[k] = s->variable[k + 1];
        s->run[k] = s->run[k + 1];
        s->group[k] = s->group[k + 1];
        s->row[k] = s->row[k + 1];
    }
}

/* A variable whose row is a sum of earlier ones, such as a duplicate, stays as it is: they move f as well. */
static void factor_free(const mc_kernel_runs *K, few *s) {
    for (int64_t i = 0; i < s->count;) {
        double left = K->diagonal[s->row[i]];
        for (int64_t j = 0; j < i; j++) {
            double sum = mc_kernel_runs_row(K, s->row[i], s->run[j])[s->row[j] - K->first[s->run[j]]];
            for (int64_t k = 0; k < j; k++)
                sum -= s->A[i][k] * s->A[j][k];
            s->A[i][j] = sum / s->A[j][j];
            left -= s->A[i][j] * s->A[i][j];
        }
        s->A[i][i] = sqrt(fmax(left, 0));
        if (left > SINGULAR * K->diagonal[s->row[i]])
            i++;
        else
            drop_variable(s, i);
    }
}

static void solve_with_factor(const few *s, double *x) {
    for (int64_t i = 0; i < s->count; i++) {
        for (int64_t k = 0; k < i; k++)
            x[i] -= s->A[i][k] * x[k];
        x[i] /= s->A[i][i];
    }
    for (int64_t i = s->count - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < s->count; k++)
            x[i] -= s->A[k][i] * x[k];
        x[i] /= s->A[i][i];
    }
}

static double sum_of_group(const few *s, int g, const double *x) {
    double sum = 0;
    for (int64_t i = 0; i < s->count; i++)
        sum += s->group[i] == g ? x[i] : 0;
    return sum;
}

/* d <- d - sum over groups of nu_g K^-1 1_g, so that it keeps the sums. */
static bool keep_sums(int groups, few *s) {
    double M[MC_SMO_RUNS][MC_SMO_RUNS] = {{1, 0}, {0, 1}}, b[MC_SMO_RUNS] = {0};
    for (int g = 0; g < groups; g++) {
        b[g] = sum_of_group(s, g, s->d);
        for (int h = 0; h < groups; h++)
            M[g][h] = sum_of_group(s, g, s->ones[h]);
        if (!(M[g][g] > 0)) /* no free variable has this sum */
            M[g][g] = 1;
    }
    const double det = M[0][0] * M[1][1] - M[0][1] * M[1][0];
    const double nu[] = {(b[0] * M[1][1] - b[1] * M[0][1]) / det, (b[1] * M[0][0] - b[0] * M[1][0]) / det};
    for (int64_t i = 0; i < s->count; i++)
        for (int g = 0; g < groups; g++)
            s->d[i] -= nu[g] * s->ones[g][i];
    return isfinite(nu[0]) && isfinite(nu[1]);
}

static bool find_step(const mc_dual *dual, const mc_kernel_runs *K, const double *f, few *s) {
    const int groups = dual->group ? K->runs : 1;
    factor_free(K, s);
    if (s->count < 2)
        return false;
    for (int64_t i = 0; i < s->count; i++) {
        s->d[i] = mc_dual_slope(dual, f, s->variable[i]);
        for (int g = 0; g < groups; g++)
            s->ones[g][i] = s->group[i] == g;
    }
    solve_with_factor(s, s->d);
    for (int g = 0; g < groups; g++)
        solve_with_factor(s, s->ones[g]);
    return keep_sums(groups, s);
}

/* beta + the step, cut at the first bound it meets; d becomes what was done. Returns whether it was cut. */
static bool take_step(const mc_dual *dual, few *s, double *beta) {
    double share = 1;
    int64_t first = -1;
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t t = s->variable[i];
        const double way = s->d[i] > 0 ? dual->high[t] - beta[t] : dual->low[t] - beta[t];
        if (s->d[i] != 0 && way / s->d[i] < share) {
            share = way / s->d[i];
            first = i;
        }
    }
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t t = s->variable[i];
        const double to = beta[t] + share * s->d[i];
        const double now = i != first    ? fmin(fmax(to, dual->low[t]), dual->high[t])
                           : s->d[i] > 0 ? dual->high[t]
                                         : dual->low[t];
        s->d[i] = now - beta[t];
        beta[t] = now;
    }
    return first >= 0;
}

static void move_function(const mc_dual *dual, const mc_kernel_runs *K, const few *s, const double *f, double *next) {
    int64_t t = 0;
    for (int r = 0; r < K->runs; r++)
        for (int64_t k = 0; k < K->count[r]; k++, t++) {
            double sum = f[mc_dual_row(dual, t)];
            for (int64_t i = 0; i < s->count; i++)
                sum += s->d[i] * mc_kernel_runs_row(K, s->row[i], r)[k];
            next[mc_dual_row(dual, t)] = sum;
        }
}

static void undo_step(const few *s, const double *before, double *beta) {
    for (int64_t i = 0; i < s->count; i++)
        beta[s->variable[i]] = before[i];
}

void mc_small_newton(const mc_dual *dual, const mc_kernel_runs *K, double tolerance, mc_work *work, double *beta,
                     double *f) {
    mc_work scratch = *work; /* given back by being forgotten */
    double *next = mc_work_take(&scratch, dual->m, sizeof *next), before[FEW];
    few s;
    for (int step = 0; step < STEPS; step++) {
        if (!list_free(dual, K, beta, &s) || !find_step(dual, K, f, &s))
            return;
        for (int64_t i = 0; i < s.count; i++)
            before[i] = beta[s.variable[i]];
        const bool cut = take_step(dual, &s, beta);
        move_function(dual, K, &s, f, next);
        if (!(mc_extremes_of(dual, beta, next).violation <= tolerance)) {
            undo_step(&s, before, beta);
            return;
        }
        for (int64_t t = 0; t < dual->m; t++)
            f[mc_dual_row(dual, t)] = next[mc_dual_row(dual, t)];
        if (!cut)
            return;
    }
}
