/* interior_system.c: the linear system of a step of the interior point, see interior.c: its factor, and solutions
   refined against the system itself. */
#include "qp/interior_system.h"
#include "base/status.h"
#include "linalg/cholesky.h"
#include "qp/smo_select.h"
#include <math.h>
#include <string.h>

mercer_status mc_interior_multiply(mercer_ctx *ctx, const mc_interior *p, const double *x, double *out) {
    if (p->low_rank)
        return mc_pivoted_cholesky_multiply(ctx, p->low_rank, x, p->inner, out);
    memset(out, 0, (size_t)p->rows->n * sizeof *out);
    return mc_matrix_add_rows(ctx, p->rows, p->id, x, p->rows->n, p->row, out);
}

/* What stands on the diagonal beside K. */
static double weight_of(const mc_interior *p, int64_t i) {
    const int64_t a = p->pair[2 * i], b = p->pair[2 * i + 1];
    return b < 0 ? p->D[a] : p->D[a] * p->D[b] / (p->D[a] + p->D[b]);
}

static double top_of_diagonal(const mc_interior *p) {
    double top = 0;
    for (int64_t i = 0; i < p->rows->n; i++)
        top = fmax(top, p->rows->diag[i]);
    return top;
}

/* A sum of squares and positive numbers: this factor exists. */
static mercer_status factor_low_rank(mercer_ctx *ctx, mc_interior *p, bool *done) {
    const double raise = 1e-15 * top_of_diagonal(p);
    for (int64_t i = 0; i < p->rows->n; i++)
        p->form.d[i] = weight_of(p, i) + raise;
    *done = true;
    return mc_product_form_factor(ctx, &p->form);
}

/* The diagonal is raised by as little as lets the factor exist; the solutions are refined against the system itself. */
mercer_status mc_interior_factor(mercer_ctx *ctx, mc_interior *p, bool *done) {
    const int64_t n = p->rows->n;
    if (p->low_rank)
        return factor_low_rank(ctx, p, done);
    p->diagonal_shift = (p->rows->dtype == MERCER_F64 ? 1e-15 : 1e-8) * top_of_diagonal(p);
    *done = false;
    for (int attempt = 0; attempt < 6 && !*done; attempt++, p->diagonal_shift *= 30) {
        int64_t bad = 0;
        MC_TRY(mc_matrix_view(ctx, p->rows, p->id, n, p->row));
        MC_TRY(mc_packed_take(ctx, n, p->rows->dtype, p->row, NULL, 0, p->A));
        for (int64_t i = 0; i < n; i++)
            p->A[mc_packed_place(n, i, i)] += weight_of(p, i) + p->diagonal_shift;
        MC_TRY(mc_potrf(ctx, mc_packed(n, p->A), &bad));
        *done = bad == 0;
    }
    return MERCER_OK;
}

static mercer_status solve_rows(mercer_ctx *ctx, const mc_interior *p, double *x) {
    if (!p->low_rank)
        return mc_potrs(ctx, mc_packed(p->rows->n, p->A), mc_row_major(x, p->rows->n, 1, 1));
    mc_product_form_solve(&p->form, x);
    return MERCER_OK;
}

/* x (m) <- the solution with the right-hand side r (m), by the factor. */
static mercer_status solve_once(mercer_ctx *ctx, mc_interior *p, const double *r, double *x) {
    for (int64_t i = 0; i < p->rows->n; i++) {
        const int64_t a = p->pair[2 * i], b = p->pair[2 * i + 1];
        p->sum_of[i] = b < 0 ? r[a] : (p->D[b] * r[a] + p->D[a] * r[b]) / (p->D[a] + p->D[b]);
    }
    MC_TRY(solve_rows(ctx, p, p->sum_of));
    for (int64_t i = 0; i < p->rows->n; i++) {
        const int64_t a = p->pair[2 * i], b = p->pair[2 * i + 1];
        x[a] = b < 0 ? p->sum_of[i] : (r[a] - r[b] + p->D[b] * p->sum_of[i]) / (p->D[a] + p->D[b]);
        if (b >= 0)
            x[b] = p->sum_of[i] - x[a];
    }
    return MERCER_OK;
}

/* product <- K times the sums of x over each row. */
mercer_status mc_interior_product(mercer_ctx *ctx, mc_interior *p, const double *x) {
    memset(p->sum_of, 0, (size_t)p->rows->n * sizeof *p->sum_of);
    for (int64_t t = 0; t < p->dual->m; t++)
        p->sum_of[mc_dual_row(p->dual, t)] += x[t];
    return mc_interior_multiply(ctx, p, p->sum_of, p->product);
}

mercer_status mc_interior_solve_system(mercer_ctx *ctx, mc_interior *p, const double *r, double *x) {
    const int64_t m = p->dual->m;
    MC_TRY(solve_once(ctx, p, r, x));
    MC_TRY(mc_interior_product(ctx, p, x));
    for (int64_t t = 0; t < m; t++)
        p->rest[t] = r[t] - p->D[t] * x[t] - p->product[mc_dual_row(p->dual, t)];
    MC_TRY(solve_once(ctx, p, p->rest, p->more));
    for (int64_t t = 0; t < m; t++)
        x[t] += p->more[t];
    return MERCER_OK;
}
