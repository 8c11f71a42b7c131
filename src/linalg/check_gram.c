/* check_gram.c: what a Gram matrix must satisfy, measured: symmetry, eigenvalues, the Cauchy-Schwarz inequality, rank.
   */
#include "linalg/check_gram.h"
#include "base/ctx.h"
#include "base/progress.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/workspace.h"
#include "linalg/eigen.h"
#include "linalg/gram_rounding.h"
#include <math.h>

mercer_status mc_gram_finite(mercer_ctx *ctx, const double *K, int64_t n) {
    for (int64_t i = 0; i < n * n; i++)
        if (!isfinite(K[i]))
            return mc_fail(ctx, MERCER_DATA, "K(%lld, %lld) is %g: a Gram matrix holds finite numbers only",
                           (long long)(i / n + 1), (long long)(i % n + 1), K[i]);
    return MERCER_OK;
}

mercer_status mc_gram_asymmetry(mercer_ctx *ctx, const double *K, int64_t n, double *most, int64_t pair[2]) {
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            const double gap = fabs(K[i * n + j] - K[j * n + i]);
            if (gap > *most) {
                *most = gap;
                pair[0] = j;
                pair[1] = i;
            }
        }
        MC_TRY(mc_report_progress(ctx, -1));
    }
    return MERCER_OK;
}

/* max over i > j of (K_ij^2 - K_ii K_jj) / max K_ii^2: at most 0 up to rounding for a valid kernel. */
static mercer_status cauchy_schwarz(mercer_ctx *ctx, const double *K, int64_t n, mercer_gram_facts *out) {
    double largest = 0, worst = -INFINITY;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(K[i * n + i]));
    const double scale = largest > 0 ? largest : 1;
    for (int64_t i = 0; i < n; i++) {
        MC_TRY(mc_report_progress(ctx, -1));
        for (int64_t j = 0; j < i; j++) {
            const double excess =
                (K[i * n + j] / scale) * (K[i * n + j] / scale) - (K[i * n + i] / scale) * (K[j * n + j] / scale);
            if (excess > worst) {
                worst = excess;
                out->row = j;
                out->column = i;
            }
        }
    }
    out->cauchy_schwarz = n > 1 ? worst : 0;
    return MERCER_OK;
}

/* w: of K by 2^-exponent. */
static void report_spectrum(const double *w, int64_t n, int exponent, mercer_gram_facts *out) {
    out->eigenvalue_min = ldexp(w[0], exponent);
    out->eigenvalue_max = ldexp(w[n - 1], exponent);
    const double largest = fmax(fabs(w[0]), fabs(w[n - 1])), floor = (double)n * 0x1p-52 * largest;
    for (int64_t i = 0; i < n; i++)
        out->rank += w[i] > floor;
    out->symmetric = ldexp(out->asymmetry, -exponent) <= 1e-12 * largest;
    out->positive = out->symmetric && w[0] >= -floor;
}

static mercer_status measure_spectrum(mercer_ctx *ctx, const double *K, int64_t n, mercer_gram_facts *out) {
    mc_work work;
    double *a = NULL, *w = NULL;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(a, n * n), MC_SLICE(w, n)));
    const int exponent = mc_gram_exponent(K, n);
    mc_gram_symmetric(K, n, exponent, a);
    const mercer_status status = mc_symmetric_eigenvalues(ctx, mc_column_major(a, n, n, n), w);
    if (!status)
        report_spectrum(w, n, exponent, out);
    mc_work_close(&work);
    return status;
}

mercer_status mc_gram_facts(mercer_ctx *ctx, const double *K, int64_t n, mercer_gram_facts *out) {
    *out = (mercer_gram_facts){.row = -1, .column = -1, .asymmetric = {-1, -1}, .symmetric = true, .positive = true};
    if (n < 0 || n > 40000)
        return mc_fail(ctx, MERCER_INVALID, "n must be in [0, 40000] for a check by eigenvalues, got %lld",
                       (long long)n);
    if (n == 0)
        return MERCER_OK;
    MC_TRY(mc_gram_finite(ctx, K, n));
    mc_begin_phase(ctx, "check");
    MC_TRY(mc_gram_asymmetry(ctx, K, n, &out->asymmetry, out->asymmetric));
    MC_TRY(cauchy_schwarz(ctx, K, n, out));
    return measure_spectrum(ctx, K, n, out);
}

mercer_status mercer_gram_check(mercer_ctx *ctx, const double *K, int64_t n, mercer_gram_facts *out) {
    MC_NEED(ctx, K, out);
    mc_begin_call(ctx);
    MC_TRY(mc_sized_check(ctx, "mercer_gram_facts", out));
    mercer_gram_facts facts = {0};
    const mercer_status status = mc_gram_facts(ctx, K, n, &facts);
    mc_sized_write(&facts, sizeof facts, out);
    return status;
}
