/* leave_out.h: residuals of rows that are predicted without themselves, from the inverse of one linear system.

   S = diag(s), the roots of the weights, A = S K S + lambda I, B = A^-1, z = B s, and for every output beta = C S y
   with

       C = B - z z'/s'z   (C = B without an intercept), the inverse of A on what is orthogonal to s.

   Without the rows F the scaled residuals S (y - f - b) on F are e_F = (C_FF)^-1 beta_F, since the equations of the
   rows that stay say that the full solution, with beta_F moved to zero along C, is theirs; a row alone has beta_i /
   C_ii.

   B may come from a factor, as its diagonal (mc_cholesky_inverse_diagonal) or whole (mc_potri), or from a spectrum,
   B = U diag(h) U', which serves many lambdas (mc_spectrum_...). Machines differ in no more than that. */
#ifndef MC_LEARN_COMMON_LEAVE_OUT_H
#define MC_LEARN_COMMON_LEAVE_OUT_H

#include "learn/common/fold_order.h"
#include "linalg/dense.h"

typedef struct mc_leave_out {
    int64_t n, outputs;
    bool intercept;
    const double *root; /* n: s; NULL: all 1 */
    const double *X;    /* a row: beta of every output, then z where there is an intercept */
    int64_t step;       /* of X, from row to row */
    double g;           /* s'z */
} mc_leave_out;

/* Everything but g is given. */
void mc_leave_out_begin(mc_leave_out *x);

static inline double mc_leave_out_root(const mc_leave_out *x, int64_t i) {
    return x->root ? x->root[i] : 1;
}
static inline const double *mc_leave_out_beta(const mc_leave_out *x, int64_t i) {
    return x->X + i * x->step;
}
/* C_ij from B_ij. */
static inline double mc_leave_out_entry(const mc_leave_out *x, double B, int64_t i, int64_t j) {
    const int64_t z = x->outputs;
    return x->intercept ? B - mc_leave_out_beta(x, i)[z] * mc_leave_out_beta(x, j)[z] / x->g : B;
}

/* C_ii from B_ii; NaN where the row cannot be left out: it stands alone, or B_ii A_ii >= 1, which always holds, does
   not up to rounding. A: A_ii; infinite: it is not known. */
double mc_leave_out_pivot(const mc_leave_out *x, int64_t i, double B, double A);

/* The same from the leverage of a row, that of the intercept included: lambda C_ii, by which its residual is divided;
   NaN where it cannot be left out. */
double mc_leave_out_share(int64_t n, double leverage);

typedef struct mc_loo_result {
    int64_t broken;      /* the first row that cannot be left out; -1: every row can, and then */
    double broken_pivot; /* its C_ii */
    double squares;      /* |e|^2, all outputs together */
    double beta, weight; /* |beta|^2, |s|^2 */
    double trace;        /* of C */
} mc_loo_result;

/* Every row alone. B_ii lies at B[i step]; A_ii is A[i] + shift, A NULL: it is not known. E: n rows of e, stride
   numbers apart, which may lie where beta does; NULL: not wanted. */
mc_loo_result mc_leave_rows_out(const mc_leave_out *x, const double *B, int64_t step, const double *A, double shift,
                                double *E, int64_t stride);

/* The m given rows together. C: scratch of m x m, of which the lower half becomes the factor of C_FF. B: the whole
   inverse, packed; NULL: C holds B_FF. E (m x outputs) <- e_F. *defined false: C_FF is not positive definite. */
mercer_status mc_leave_fold_out(mercer_ctx *ctx, const mc_leave_out *x, const double *B, const int64_t *rows, int64_t m,
                                mc_dense C, double *E, bool *defined);

/* ---- From a spectrum: leave_out_spectrum.c ---- */

/* U: n x n, column-major; H: n x count, h_j of every lambda; B (n x count) <- B_ii of every lambda. */
mercer_status mc_spectrum_inverse_diagonals(mercer_ctx *ctx, int64_t n, const double *U, const double *H, int64_t count,
                                            double *B);
/* What that takes on the way. */
size_t mc_spectrum_diagonals_bytes(const mercer_ctx *ctx, int64_t count);

/* x: count of them, one for each lambda. All h are positive. squares[l] <- the sum of the squared residuals times
   weights under lambda l; NaN where a fold breaks down. left (lambdas x n x outputs; NULL: not wanted) <- y - f - b. */
mercer_status mc_spectrum_leave_folds_out(mercer_ctx *ctx, const mc_fold_order *by, const mc_leave_out *x,
                                          const double *U, const double *H, int64_t count, double *left,
                                          double *squares);
/* What that takes on the way, with folds of up to largest rows. */
size_t mc_spectrum_folds_bytes(const mercer_ctx *ctx, int64_t n, int64_t largest, int64_t outputs, int64_t count);

#endif
