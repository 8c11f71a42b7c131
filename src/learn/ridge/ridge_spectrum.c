/* ridge_spectrum.c: norm, loss and degrees of freedom of ridge as functions of lambda, and lambda from a norm or from
   degrees of freedom.

   M = U diag(m) U', y and s in the coordinates of U, h_j = 1 / (m_j + lambda). One output:

       b = sum s_j h_j y_j / sum s_j^2 h_j,   beta_j = h_j (y_j - b s_j),   |f|^2 = sum m_j beta_j^2.

   beta = C y with C = B - B s s'B / s'Bs, B = (M + lambda)^-1, which is the inverse of M + lambda on the complement of
   s. So with P the projector off s, |f|^2 = y'P N (N + lambda)^-2 P y, N = P M P: the same function of lambda as
   without an intercept, with other eigenvalues. What follows from its form holds for both.

   Norm: p(lambda) = |f| falls, and 1/p is concave in lambda (the secular equation of trust regions; Reinsch 1971, More
   and Sorensen 1983), so Newton's method on 1/p - 1/bound climbs to the root from the left without passing it:
       lambda+ = lambda + p^2 / q (p - bound) / bound,   q = -(1/2) d|f|^2/dlambda = beta' M C beta.
   It is kept inside a bracket all the same. p <= sqrt(y'My) / lambda bounds the root from above.

   Degrees of freedom: tr(I - lambda C) = sum m_j h_j + lambda sum s_j^2 h_j^2 / sum s_j^2 h_j falls too; halving in log
   lambda finds it, at n operations a step.

   lambda = 0: eigenvalues up to the cutoff count as zero, as in ridge_solve.c, which says what b is then. */
#include "learn/ridge/ridge_spectrum.h"
#include "base/status.h"
#include <math.h>

enum { NEWTON_STEPS = 200, HALVINGS = 200 };

double mc_ridge_inverse(const mc_ridge_spectrum *s, double lambda, int64_t j) {
    return lambda > 0 || s->m[j] > s->cutoff ? 1 / (s->m[j] + lambda) : 0;
}

static double intercept_coordinate(const mc_ridge_spectrum *s, int64_t j) {
    return s->intercept ? s->G[j * s->columns + s->outputs] : 0;
}

/* Only with lambda = 0: whether s has a part where M is zero. */
static bool null_part(const mc_ridge_spectrum *s, double lambda, double *inside) {
    double all = 0;
    *inside = 0;
    for (int64_t j = 0; j < s->n; j++) {
        const double g = intercept_coordinate(s, j);
        *inside += mc_ridge_inverse(s, lambda, j) == 0 ? g * g : 0;
        all += g * g;
    }
    return *inside > (double)s->n * 0x1p-52 * all;
}

void mc_ridge_offsets(const mc_ridge_spectrum *s, double lambda, double *b) {
    double inside;
    const bool null = s->intercept && lambda == 0 && null_part(s, lambda, &inside);
    for (int64_t k = 0; k < s->outputs; k++) {
        double above = 0, below = 0;
        for (int64_t j = 0; j < s->n && s->intercept; j++) {
            const double h = mc_ridge_inverse(s, lambda, j), g = intercept_coordinate(s, j), weight = null ? h == 0 : h;
            above += weight * g * s->G[j * s->columns + k];
            below += weight * g * g;
        }
        b[k] = s->intercept ? above / below : 0;
    }
}

/* The sums of one output. */
static void add_output(const mc_ridge_spectrum *s, double lambda, int64_t k, double b, mc_ridge_point *out) {
    double turn = 0, g2 = 0;
    for (int64_t j = 0; j < s->n && s->intercept; j++) {
        const double h = mc_ridge_inverse(s, lambda, j), g = intercept_coordinate(s, j);
        turn += g * h * h * (s->G[j * s->columns + k] - b * g);
        g2 += g * g * h;
    }
    turn = g2 > 0 ? turn / g2 : 0;
    for (int64_t j = 0; j < s->n; j++) {
        const double h = mc_ridge_inverse(s, lambda, j), g = intercept_coordinate(s, j),
                     y = s->G[j * s->columns + k] - b * g;
        const double beta = h * y, left = h == 0 ? y : lambda * beta, m = fmax(s->m[j], 0);
        out->loss += left * left;
        out->square += m * beta * beta;
        out->slope += m * beta * h * (beta - turn * g);
        out->beta += beta * beta;
    }
}

mc_ridge_point mc_ridge_point_at(const mc_ridge_spectrum *s, double lambda, double *b) {
    mc_ridge_point point = {0};
    double first = 0, second = 0, inside = 0;
    mc_ridge_offsets(s, lambda, b);
    for (int64_t k = 0; k < s->outputs; k++)
        add_output(s, lambda, k, b[k], &point);
    for (int64_t j = 0; j < s->n; j++) {
        const double h = mc_ridge_inverse(s, lambda, j), g = intercept_coordinate(s, j);
        point.dof += s->m[j] * h;
        point.trace += h;
        first += g * g * h;
        second += g * g * h * h;
    }
    point.dof += s->constants;
    if (s->intercept && lambda == 0)
        point.dof += null_part(s, lambda, &inside);
    if (s->intercept && first > 0) {
        point.dof += lambda * second / first;
        point.trace -= second / first;
    }
    return point;
}

/* ---- A norm ---- */

static double start_above(const mc_ridge_spectrum *s, double bound) {
    double energy = 0;
    for (int64_t j = 0; j < s->n; j++)
        for (int64_t k = 0; k < s->outputs; k++)
            energy += fmax(s->m[j], 0) * s->G[j * s->columns + k] * s->G[j * s->columns + k];
    return sqrt(energy) / bound;
}

mercer_status mc_ridge_for_norm(mercer_ctx *ctx, const mc_ridge_spectrum *s, double bound, double *b, double *lambda) {
    *lambda = 0;
    if (sqrt(mc_ridge_point_at(s, 0, b).square) <= bound)
        return MERCER_OK;
    double low = 0, high = start_above(s, bound), at = high / 10;
    for (int step = 0; step < NEWTON_STEPS; step++) {
        const mc_ridge_point point = mc_ridge_point_at(s, at, b);
        const double norm = sqrt(point.square);
        *lambda = at;
        if (fabs(norm - bound) <= 1e-12 * bound || !(high - low > 0x1p-52 * high))
            return MERCER_OK;
        if (norm > bound)
            low = at;
        else
            high = at;
        at += point.square / point.slope * (norm - bound) / bound;
        if (!(at > low && at < high))
            at = low > 0 ? sqrt(low) * sqrt(high) : high / 10;
    }
    return mc_fail(ctx, MERCER_NUMERIC, "ridge: no lambda was found for norm-bound %g in %d steps; the last was %g",
                   bound, (int)NEWTON_STEPS, *lambda);
}

/* ---- Degrees of freedom ---- */

mercer_status mc_ridge_for_dof(mercer_ctx *ctx, const mc_ridge_spectrum *s, double dof, double *b, double *lambda) {
    const double most = mc_ridge_point_at(s, 0, b).dof, least = s->intercept + s->constants, top = s->m[s->n - 1];
    if (!(dof > least && dof < most))
        return mc_fail(ctx, MERCER_INVALID, "ridge: dof must be above %g and below %g on these rows, got %g", least,
                       most, dof);
    double low = log(s->cutoff) - 80, high = log((double)s->n * top) + 80;
    for (int step = 0; step < HALVINGS && high - low > 0x1p-50; step++) {
        const double middle = low + (high - low) / 2;
        if (mc_ridge_point_at(s, exp(middle), b).dof > dof)
            low = middle;
        else
            high = middle;
    }
    *lambda = exp(low + (high - low) / 2);
    return MERCER_OK;
}
