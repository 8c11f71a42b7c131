/* ridge_constrained.c: lambda when something else was asked for: a bound on the norm, or the degrees of freedom.

   min sum w (y - f - b)^2 subject to |f| <= B has the solution of ridge for the lambda at which |f| = B, and for lambda
   = 0 when the least-squares function of least norm obeys the bound by itself. Both wishes are equations in lambda
   alone once the eigenvalues are known (ridge_spectrum.c); they are solved in the middle of the way by eigen. */
#include "base/memory.h"
#include "base/status.h"
#include "learn/common/machines.h"
#include "learn/ridge/ridge_spectrum.h"
#include "learn/ridge/ridge_system.h"
#include "linalg/eigen.h"
#include <math.h>
#include <string.h>

bool mc_ridge_finds_lambda(const mercer_ridge *set) {
    return isfinite(set->norm_bound) || set->dof > 0;
}

mercer_status mc_ridge_check_settings(mercer_ctx *ctx, const mercer_ridge *set) {
    if (!mc_ridge_finds_lambda(set))
        return MERCER_OK;
    const char *wish = isfinite(set->norm_bound) ? "norm-bound" : "dof";
    if (isfinite(set->norm_bound) && set->dof > 0)
        return mc_fail(ctx, MERCER_INVALID,
                       "ridge: norm-bound = %g and dof = %g: each determines lambda; give one of them", set->norm_bound,
                       set->dof);
    if (set->lambda != mercer_ridge_defaults().lambda)
        return mc_fail(ctx, MERCER_INVALID,
                       "ridge: lambda = %g and %s are both given, and %s determines lambda; give one of them",
                       set->lambda, wish, wish);
    if (strcmp(set->solver, "auto") != 0 && strcmp(set->solver, "eigen") != 0 && strcmp(set->solver, "primal") != 0)
        return mc_fail(ctx, MERCER_INVALID,
                       "ridge: %s finds lambda from eigenvalues: solver must be auto, eigen or primal, got '%s'", wish,
                       set->solver);
    if (set->allow_indefinite)
        return mc_fail(
            ctx, MERCER_INVALID,
            "ridge: %s needs a kernel that is proved; fit with lambda instead of it or without allow-indefinite", wish);
    return MERCER_OK;
}

mercer_status mc_ridge_find_lambda(mercer_ctx *ctx, mc_ridge_system *r, const mc_ridge_spectrum *s, double *b) {
    MC_TRY(r->dof > 0 ? mc_ridge_for_dof(ctx, s, r->dof, b, &r->lambda)
                      : mc_ridge_for_norm(ctx, s, r->norm_bound, b, &r->lambda));
    mc_log_message(ctx, "ridge: lambda = %g", r->lambda);
    return MERCER_OK;
}

mercer_status mc_ridge_choose_lambda(mercer_ctx *ctx, mc_ridge_system *r, const double *U, double *m) {
    const int64_t n = r->p->n;
    mc_ridge_spectrum s = {.n = n, .outputs = r->p->outputs, .columns = r->columns, .intercept = r->intercept, .m = m};
    s.cutoff = mc_eigen_cutoff(n, m);
    for (int64_t j = 0; j < n && m[j] < 0; j++)
        m[j] = 0; /* the kernel is proved: what is below zero is rounding */
    double *G = NULL;
    MC_TRY(MC_ALLOC(ctx, G, n * s.columns + s.outputs));
    s.G = G;
    mercer_status status = mc_parallel_gemm(ctx, mc_row_major(U, n, n, n), mc_row_major(r->X, n, s.columns, s.columns),
                                            mc_row_major(G, n, s.columns, s.columns));
    MC_THEN(status, mc_ridge_find_lambda(ctx, r, &s, G + n * s.columns));
    mc_free(G);
    return status;
}
