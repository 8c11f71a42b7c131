/* leave_out.c: rows alone, and folds from a block of the inverse. See leave_out.h for the formulas. */
#include "learn/common/leave_out.h"
#include "base/status.h"
#include "linalg/cholesky.h"
#include <math.h>

void mc_leave_out_begin(mc_leave_out *x) {
    x->g = 0;
    for (int64_t i = 0; i < x->n && x->intercept; i++)
        x->g += mc_leave_out_root(x, i) * mc_leave_out_beta(x, i)[x->outputs];
}

/* ---- Rows ---- */

double mc_leave_out_pivot(const mc_leave_out *x, int64_t i, double B, double A) {
    const double C = mc_leave_out_entry(x, B, i, i);
    return B * A >= 1 - 1e-8 && C > (double)x->n * 0x1p-52 * B && isfinite(C) ? C : NAN;
}

double mc_leave_out_share(int64_t n, double leverage) {
    const double share = 1 - leverage;
    return share > (double)n * 0x1p-52 ? share : NAN;
}

/* e of one row into e, and its part of the sums. */
static void leave_row_out(const mc_leave_out *x, int64_t i, double C, double *e, mc_loo_result *out) {
    const double *beta = mc_leave_out_beta(x, i), s = mc_leave_out_root(x, i);
    for (int64_t k = 0; k < x->outputs; k++) {
        const double own = beta[k], left = own / C;
        out->squares += left * left;
        out->beta += own * own;
        if (e)
            e[k] = left;
    }
    out->weight += s * s;
    out->trace += C;
}

mc_loo_result mc_leave_rows_out(const mc_leave_out *x, const double *B, int64_t step, const double *A, double shift,
                                double *E, int64_t stride) {
    mc_loo_result out = {.broken = -1};
    for (int64_t i = 0; i < x->n && out.broken < 0; i++) {
        const double C = mc_leave_out_pivot(x, i, B[i * step], A ? A[i] + shift : INFINITY);
        if (!isnan(C))
            leave_row_out(x, i, C, E ? E + i * stride : NULL, &out);
        else
            out = (mc_loo_result){.broken = i, .broken_pivot = mc_leave_out_entry(x, B[i * step], i, i)};
    }
    return out;
}

/* ---- Folds ---- */

static double *lower_at(mc_dense C, int64_t i, int64_t j) {
    return (double *)C.a + (C.layout == MC_PACKED ? mc_packed_place(C.rows, i, j) : i + j * C.ld);
}

static double packed_at(int64_t n, const double *B, int64_t i, int64_t j) {
    return B[i > j ? mc_packed_place(n, i, j) : mc_packed_place(n, j, i)];
}

mercer_status mc_leave_fold_out(mercer_ctx *ctx, const mc_leave_out *x, const double *B, const int64_t *rows, int64_t m,
                                mc_dense C, double *E, bool *defined) {
    const int64_t t = x->outputs;
    int64_t bad = 0;
    for (int64_t b = 0; b < m; b++)
        for (int64_t a = b; a < m; a++) {
            double *at = lower_at(C, a, b);
            *at = mc_leave_out_entry(x, B ? packed_at(x->n, B, rows[a], rows[b]) : *at, rows[a], rows[b]);
        }
    for (int64_t a = 0; a < m * t; a++)
        E[a] = mc_leave_out_beta(x, rows[a / t])[a % t];
    MC_TRY(mc_potrf(ctx, C, &bad));
    *defined = !bad;
    return bad ? MERCER_OK : mc_potrs(ctx, C, mc_row_major(E, m, t, t));
}
