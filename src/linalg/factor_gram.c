/* factor_gram.c: P with K = P'P, by Cholesky's factorisation with the largest remaining diagonal entry first.

   P has a row for each pivot. What is left, K - P'P, is formed again with its rounding errors bounded, so that nothing
   is believed about LAPACK: of a positive semidefinite K its norm is at most n times the first pivot left out, and more
   is refused. */
#include "base/ctx.h"
#include "base/progress.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/workspace.h"
#include "linalg/check_gram.h"
#include "linalg/dense.h"
#include "linalg/gram_rounding.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { LARGEST = 40000 };

typedef struct factoring {
    const double *K;
    int64_t n, rank;
    int exponent;
    double *S, *L;   /* n x n: K scaled; L by rows, row i for row pivots[i] of K */
    int64_t *pivots; /* n */
    mc_gram_difference d;
    double asymmetry; /* max |K_ij - K_ji| by the power of two */
} factoring;

static void lay_out(mc_work *work, void *self) {
    factoring *f = self;
    f->S = mc_work_take(work, f->n * f->n, sizeof *f->S);
    f->L = mc_work_take(work, f->n * f->n, sizeof *f->L);
    f->pivots = mc_work_take(work, f->n, sizeof *f->pivots);
    mc_gram_difference_lay_out(work, f->n, &f->d);
}

static double largest_diagonal(const factoring *f) {
    double largest = 0;
    for (int64_t i = 0; i < f->n; i++)
        largest = fmax(largest, f->S[i * f->n + i]);
    return largest;
}

/* P of K is that of the scaled K by half the power of two, which is even. */
static void write_factor(const factoring *f, double *P) {
    memset(P, 0, (size_t)(f->n * f->n) * sizeof *P);
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t k = 0; k <= i && k < f->rank; k++)
            P[k * f->n + f->pivots[i]] = ldexp(f->L[i * f->n + k], f->exponent / 2);
}

/* A bound stays one where its digits are lost below the least normal double. */
static double scale_upward(double norm, int exponent) {
    const double scaled = ldexp(norm, exponent);
    return norm > 0 && scaled < DBL_MIN ? nextafter(scaled, INFINITY) : scaled;
}

/* What a positive semidefinite K may leave: n times what was left out, and rounding. */
static mercer_status check_residual(mercer_ctx *ctx, const factoring *f, double norm, double left_out) {
    const double n = (double)f->n, most = n * left_out + 64 * n * mc_gram_unit_error(f->n) * largest_diagonal(f);
    if (norm <= most || f->n == 0)
        return MERCER_OK;
    return mc_fail(
        ctx, MERCER_NOT_A_KERNEL,
        "K is no P'P: with rank %lld no diagonal entry above %.3g is left, but |K - P'P| is %.3g, so K has an "
        "eigenvalue below 0; gram --repair and mercer_gram_repair find the nearest matrix that has none",
        (long long)f->rank, ldexp(left_out, f->exponent), ldexp(norm, f->exponent));
}

static mercer_status factor_to_tolerance(mercer_ctx *ctx, factoring *f, double tolerance, double *P,
                                         mercer_gram_factored *out) {
    const int64_t n = f->n;
    mc_gram_symmetric(f->K, n, f->exponent, f->S);
    memcpy(f->L, f->S, (size_t)(n * n) * sizeof *f->L);
    const double left_out = fmax(tolerance, (double)n * DBL_EPSILON) * largest_diagonal(f);
    if (left_out > 0)
        MC_TRY(mc_pstrf(ctx, mc_row_major(f->L, n, n, n), left_out, f->pivots, &f->rank));
    for (int64_t i = 0; i < n && !f->rank; i++)
        f->pivots[i] = i;
    f->d = (mc_gram_difference){n, f->rank, f->S, f->L, f->pivots, 0, f->d.left, f->d.given, f->d.length2};
    MC_TRY(mc_gram_difference_form(ctx, &f->d));
    const double size = sqrt(mc_gram_sum(f->d.given, n));
    const double norm = size > 0 ? mc_gram_difference_norm(&f->d) + (double)n * f->asymmetry : 0;
    out->rank = f->rank;
    out->tolerance = ldexp(left_out, f->exponent);
    out->residual = scale_upward(norm, f->exponent);
    out->relative = size > 0 ? norm / size : 0;
    write_factor(f, P);
    return check_residual(ctx, f, norm, left_out);
}

static mercer_status check_input(mercer_ctx *ctx, const double *K, int64_t n, double tolerance, double *asymmetry) {
    double most = 0;
    int64_t pair[2] = {-1, -1};
    if (n < 0 || n > LARGEST)
        return mc_fail(ctx, MERCER_INVALID, "n must be in [0, %d] to factor a matrix, got %lld", (int)LARGEST,
                       (long long)n);
    if (!(tolerance >= 0 && tolerance < 1))
        return mc_fail(ctx, MERCER_INVALID, "tolerance must be in [0, 1), got %g", tolerance);
    MC_TRY(mc_gram_finite(ctx, K, n));
    MC_TRY(mc_gram_asymmetry(ctx, K, n, &most, pair));
    *asymmetry = ldexp(most, -mc_gram_exponent(K, n));
    if (*asymmetry <= 1e-12)
        return MERCER_OK;
    return mc_fail(ctx, MERCER_DATA, "K(%lld, %lld) is %.6g but K(%lld, %lld) is %.6g: P'P is symmetric",
                   (long long)(pair[0] + 1), (long long)(pair[1] + 1), K[pair[0] * n + pair[1]],
                   (long long)(pair[1] + 1), (long long)(pair[0] + 1), K[pair[1] * n + pair[0]]);
}

static mercer_status start_factor(mercer_ctx *ctx, const double *K, int64_t n, double tolerance, double *P,
                                  mercer_gram_factored *out) {
    factoring f = {.K = K, .n = n};
    MC_TRY(check_input(ctx, K, n, tolerance, &f.asymmetry));
    mc_begin_phase(ctx, "factor");
    f.exponent = mc_gram_exponent(K, n);
    f.exponent += f.exponent % 2;
    mc_work work;
    MC_TRY(mc_work_lay(ctx, &work, lay_out, &f));
    const mercer_status status = n ? factor_to_tolerance(ctx, &f, tolerance, P, out) : MERCER_OK;
    mc_work_close(&work);
    return status;
}

mercer_status mercer_gram_factor(mercer_ctx *ctx, const double *K, int64_t n, double tolerance, double *P,
                                 mercer_gram_factored *facts) {
    MC_NEED(ctx, K, P, facts);
    mc_begin_call(ctx);
    MC_TRY(mc_sized_check(ctx, "mercer_gram_factored", facts));
    mercer_gram_factored found = {0};
    const mercer_status status = start_factor(ctx, K, n, tolerance, P, &found);
    mc_sized_write(&found, sizeof found, facts);
    return status;
}
