/* repair_diagonal.c: the nearest positive semidefinite matrix with a given diagonal.

   minimise |X - S|_F^2 / 2 over X >= 0 with diag(X) = diag(S). Its dual has a variable for each diagonal entry:

       maximise d(y) = (sum over w_a < 0 of w_a^2 - |y|^2) / 2,    w the eigenvalues of M = S + diag(y),

   and X = M_+ at its maximum. d is smooth, d'(y) = diag(S) - diag(M_+), and its slope has the generalised Jacobian
   h -> diag(U (O . (U' diag(h) U)) U') with O_ab = 1 for w_a, w_b >= 0, 0 for both below, w_a/(w_a - w_b) else:
   Newton's method with conjugate gradients, which converges quadratically (Qi and Sun 2006). */
#include "base/progress.h"
#include "linalg/block_vectors.h"
#include "base/status.h"
#include "linalg/dense.h"
#include "linalg/repair_gram.h"
#include <math.h>

enum { MOST_STEPS = 100, MOST_HALVINGS = 40, MOST_PRODUCTS = 200 };
static const double ENOUGH = 1e-13; /* of |diag(S)|: the rest is scaled away */

static double dual_value(const mc_repair *r) {
    double sum = 0;
    for (int64_t a = 0; a < r->n && r->w[a] < 0; a++)
        sum += r->w[a] * r->w[a];
    return (sum - mc_dot(r->n, r->y, r->y)) / 2;
}

/* d'(y) = diag(S) - diag(M) - diag(what is moved) = -y - diag(what is moved). */
static void find_slope(const mc_repair *r, double *slope) {
    mc_repair_moved_diagonal(r, 0, slope);
    for (int64_t i = 0; i < r->n; i++)
        slope[i] = -r->y[i] - slope[i];
}

static double share_of(double a, double b) {
    if (a >= 0 && b >= 0)
        return 1;
    return a < 0 && b < 0 ? 0 : fmax(a, b) / fabs(a - b);
}

/* out <- diag(U (O . (U' diag(h) U)) U'). */
static mercer_status multiply_jacobian(mercer_ctx *ctx, mc_repair *r, const double *h, double *out) {
    const int64_t n = r->n;
    const mc_dense U = mc_column_major(r->U, n, n, n), B = mc_column_major(r->B, n, n, n),
                   T = mc_column_major(r->T, n, n, n);
    for (int64_t k = 0; k < n * n; k++)
        r->B[k] = h[k % n] * r->U[k];
    MC_TRY(mc_parallel_gemm(ctx, mc_transposed(U), B, T));
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < n; b++)
            r->T[a * n + b] *= share_of(r->w[a], r->w[b]);
    MC_TRY(mc_parallel_gemm(ctx, U, T, B));
    for (int64_t i = 0; i < n; i++)
        out[i] = 0;
    for (int64_t k = 0; k < n * n; k++)
        out[k % n] += r->B[k] * r->U[k];
    return MERCER_OK;
}

/* x <- (J + ridge I)^-1 b up to share |b|, by conjugate gradients. */
static mercer_status solve_newton(mercer_ctx *ctx, mc_repair *r, const double *b, double ridge, double share,
                                  double *x) {
    const int64_t n = r->n;
    double *left = r->vectors + 4 * n, *p = r->vectors + 5 * n, *Jp = r->vectors + 6 * n;
    for (int64_t i = 0; i < n; i++)
        x[i] = 0, left[i] = p[i] = b[i];
    double now = mc_dot(n, left, left);
    const double enough = share * share * now;
    for (int k = 0; k < MOST_PRODUCTS && now > enough; k++) {
        MC_TRY(mc_report_progress(ctx, -1));
        MC_TRY(multiply_jacobian(ctx, r, p, Jp));
        const double step = now / (mc_dot(n, p, Jp) + ridge * mc_dot(n, p, p)), before = now;
        for (int64_t i = 0; i < n; i++) {
            x[i] += step * p[i];
            left[i] -= step * (Jp[i] + ridge * p[i]);
        }
        now = mc_dot(n, left, left);
        for (int64_t i = 0; i < n; i++)
            p[i] = left[i] + now / before * p[i];
    }
    return MERCER_OK;
}

/* y <- y + t step for the first of t = 1, 1/2, 1/4, ... where d rises as it should; *moved: whether one was found. */
static mercer_status search_line(mercer_ctx *ctx, mc_repair *r, const double *slope, const double *step, bool *moved) {
    const int64_t n = r->n;
    double *from = r->vectors + 3 * n;
    const double value = dual_value(r), rise = mc_dot(n, slope, step);
    for (int64_t i = 0; i < n; i++)
        from[i] = r->y[i];
    for (int k = 0; k < MOST_HALVINGS && !*moved; k++) {
        for (int64_t i = 0; i < n; i++)
            r->y[i] = from[i] + ldexp(step[i], -k);
        MC_TRY(mc_repair_spectrum(ctx, r));
        *moved = dual_value(r) >= value + 1e-4 * ldexp(rise, -k);
    }
    for (int64_t i = 0; i < n && !*moved; i++)
        r->y[i] = from[i];
    return *moved ? MERCER_OK : mc_repair_spectrum(ctx, r);
}

mercer_status mc_repair_find_diagonal(mercer_ctx *ctx, mc_repair *r) {
    const int64_t n = r->n;
    double *slope = r->vectors, *step = r->vectors + n;
    const double size = sqrt(mc_dot(n, r->diagonal, r->diagonal));
    bool moved = true;
    MC_TRY(mc_repair_spectrum(ctx, r));
    for (r->steps = 0; r->steps < MOST_STEPS && moved; r->steps++) {
        find_slope(r, slope);
        const double left = sqrt(mc_dot(n, slope, slope)) / size;
        if (!(left > ENOUGH))
            break;
        MC_TRY(solve_newton(ctx, r, slope, fmin(1e-3, left), fmin(0.05, left), step));
        moved = false;
        MC_TRY(search_line(ctx, r, slope, step, &moved));
    }
    return MERCER_OK;
}
