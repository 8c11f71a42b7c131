/* ridge_leave_one_out.c: residuals of rows left out one by one, a lambda at a time. With the notation of ridge_solve.c
   the residual of row i is

       beta_i / (s_i C_ii),   C_ii = B_ii - z_i^2 / s'z,   B = A^-1, z = B s,

   and the diagonal of B costs no more than the factorisation again. An eigendecomposition, which serves any number of
   lambdas, takes the time of some sixty factorisations (two thirds of its work is bound by memory): for few lambdas
   this is the shorter way. */
#include "base/memory.h"
#include "base/print.h"
#include "base/progress.h"
#include "base/settings.h"
#include "base/status.h"
#include "gram/operator/gram.h"
#include "learn/common/machines.h"
#include "learn/ridge/ridge_path.h"
#include "learn/ridge/ridge_system.h"
#include "linalg/cholesky.h"

typedef struct leaving {
    mc_ridge_system r;
    double *A;        /* packed */
    double *diagonal; /* n: B_ii */
    double *left;     /* n x outputs: the residuals */
} leaving;

double mc_ridge_take_intercept(const mc_ridge_system *r) {
    const int64_t n = r->p->n, columns = r->columns;
    double g = 0;
    for (int64_t i = 0; i < n && r->intercept; i++)
        g += mc_ridge_root(r, i) * mc_ridge_z(r, i);
    for (int64_t k = 0; k < r->p->outputs && r->intercept; k++) {
        double above = 0;
        for (int64_t i = 0; i < n; i++)
            above += mc_ridge_root(r, i) * r->X[i * columns + k];
        for (int64_t i = 0; i < n; i++)
            r->X[i * columns + k] -= above / g * mc_ridge_z(r, i);
    }
    return g;
}

/* False where a row cannot be left out. */
static bool write_residuals(const leaving *x) {
    const int64_t n = x->r.p->n, outputs = x->r.p->outputs;
    const double g = mc_ridge_take_intercept(&x->r);
    for (int64_t i = 0; i < n; i++) {
        const double B = x->diagonal[i], z = mc_ridge_z(&x->r, i), C = x->r.intercept ? B - z * z / g : B;
        if (!(C > (double)n * 0x1p-52 * B))
            return false;
        for (int64_t k = 0; k < outputs; k++)
            x->left[i * outputs + k] = x->r.X[i * x->r.columns + k] / C / mc_ridge_root(&x->r, i);
    }
    return true;
}

static mercer_status leave_out(mercer_ctx *ctx, leaving *x, double lambda, bool *defined) {
    int64_t bad = 0;
    x->r.lambda = lambda;
    MC_TRY(mc_ridge_factor(ctx, &x->r, x->A, &bad));
    *defined = false;
    if (bad)
        return MERCER_OK;
    mc_phase(ctx, "inverse");
    MC_TRY(mc_cholesky_inverse_diagonal(ctx, x->r.p->n, x->A, x->diagonal));
    *defined = write_residuals(x);
    return MERCER_OK;
}

static mercer_status allocate(mercer_ctx *ctx, leaving *x) {
    const int64_t n = x->r.p->n, outputs = x->r.p->outputs;
    char what[80];
    mc_print(what, sizeof what, "ridge: the rows left out of %lld", (long long)n);
    MC_TRY(mc_memory_check(ctx, (size_t)mc_packed_count(n) * sizeof(double), what));
    MC_TRY(MC_ALLOC(ctx, x->r.X, n * x->r.columns));
    MC_TRY(MC_ALLOC(ctx, x->r.mean, outputs));
    MC_TRY(MC_ALLOC(ctx, x->diagonal, n));
    MC_TRY(MC_ALLOC(ctx, x->left, n * outputs));
    x->A = mc_alloc_unset(ctx, mc_packed_count(n), sizeof *x->A);
    return x->A ? MERCER_OK : MERCER_MEMORY;
}

mercer_status mc_ridge_left_out(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                const mercer_ridge *set, const double *lambdas, int64_t count, mc_left_out *each,
                                void *arg) {
    MC_TRY(mc_settings_check(ctx, "ridge", mc_ridge_settings, MC_RIDGE_SETTINGS, set));
    mc_problem problem;
    MC_TRY(mc_problem_open(ctx, set->scale, mc_consent_of(set->allow_indefinite), kernel, data, &problem));
    leaving x = {.r = {.p = &problem, .intercept = set->intercept, .columns = problem.outputs + set->intercept}};
    mercer_status status = allocate(ctx, &x);
    for (int64_t l = 0; l < count && !status; l++) {
        bool defined = false;
        status = leave_out(ctx, &x, lambdas[l], &defined);
        if (!status)
            status = each(ctx, arg, l, defined ? x.left : NULL);
    }
    mc_free(x.r.X);
    mc_free(x.r.mean);
    mc_free(x.diagonal);
    mc_free(x.left);
    mc_free(x.A);
    mc_problem_close(&problem);
    return status;
}

size_t mc_ridge_left_out_bytes(mercer_ctx *ctx, const mc_problem *problem, bool intercept) {
    const int64_t vectors = problem->n * (2 * problem->outputs + intercept + 2) + problem->outputs;
    return (size_t)(mc_packed_count(problem->n) + vectors) * sizeof(double)
           + mc_gram_bytes(ctx, problem->kernel, problem->x, NULL, MERCER_F64, 0) + (1 << 16);
}

/* For each the triangle of K, its factor, and the diagonal of the inverse, which is as long. */
void mc_ridge_left_out_work(const mc_problem *problem, bool intercept, int64_t count, mc_option *out) {
    const double n = (double)problem->n, L = (double)count;
    *out = (mc_option){.pairs = L * n * n,
                       .factor = L * (2 * mc_factor_work(n) + 2 * n * n * (double)(problem->outputs + intercept))};
}
