/* product_form.c: see product_form.h. With t_0 = 1 and t_{j+1} = t_j + p_j^2 / d_j, D + p p' = L D~ L' where

       d~_j = d_j t_{j+1} / t_j,   b_j = p_j / (d_j t_{j+1}),   L_ij = p_i b_j below the diagonal,

   so that L x = y is x_i = y_i - p_i s_i with the running sum s_{i+1} = s_i + b_i x_i. */
#include "qp/product_form.h"
#include "base/parallel.h"
#include "base/status.h"
#include <string.h>

enum { AT_ONCE = 4 }; /* panels: their sums hide the wait of one for the next row's */

void mc_product_form_lay_out(mc_work *work, int64_t n, int64_t panels, mc_product_form *out) {
    const int64_t count = panels * MC_PIVOTED_PANEL * n;
    out->P = mc_work_take(work, count, sizeof(double));
    out->B = mc_work_take(work, count, sizeof(double));
    out->d = mc_work_take(work, n, sizeof(double));
    out->p = mc_work_take(work, n, sizeof(double));
    out->b = mc_work_take(work, n, sizeof(double));
}

/* d <- D~, and the b of column k. */
static void update_diagonal(mc_product_form *f, int64_t k) {
    const int64_t n = f->low_rank->n, panel = k / MC_PIVOTED_PANEL * n;
    double t = 1;
    for (int64_t i = 0; i < n; i++) {
        const double p = f->P[(panel + i) * MC_PIVOTED_PANEL + k % MC_PIVOTED_PANEL], next = t + p * p / f->d[i];
        f->p[i] = p;
        f->b[i] = f->B[(panel + i) * MC_PIVOTED_PANEL + k % MC_PIVOTED_PANEL] = p / (f->d[i] * next);
        f->d[i] *= next / t;
        t = next;
    }
}

/* The columns of some panels from `first` on, of all of them the same code, through L^-1. */
static void reduce_panel(const mc_product_form *f, int64_t panel, int first) {
    const int64_t n = f->low_rank->n;
    double s[MC_PIVOTED_PANEL] = {0}, *P = f->P + panel * n * MC_PIVOTED_PANEL;
    for (int64_t i = 0; i < n; i++)
        for (int c = first; c < MC_PIVOTED_PANEL; c++) {
            P[i * MC_PIVOTED_PANEL + c] -= f->p[i] * s[c];
            s[c] += f->b[i] * P[i * MC_PIVOTED_PANEL + c];
        }
}

static void reduce_four(const mc_product_form *f, int64_t panel) {
    const int64_t n = f->low_rank->n;
    double s[AT_ONCE][MC_PIVOTED_PANEL] = {{0}}, *P = f->P + panel * n * MC_PIVOTED_PANEL;
    for (int64_t i = 0; i < n; i++)
        for (int q = 0; q < AT_ONCE; q++) {
            double *x = P + (q * n + i) * MC_PIVOTED_PANEL;
            for (int c = 0; c < MC_PIVOTED_PANEL; c++) {
                x[c] -= f->p[i] * s[q][c];
                s[q][c] += f->b[i] * x[c];
            }
        }
}

typedef struct panel_reduction {
    const mc_product_form *form;
    int64_t panel; /* the first of those to reduce */
} panel_reduction;

static void reduce_panels(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const panel_reduction *r = arg;
    if (end - begin == AT_ONCE)
        reduce_four(r->form, r->panel + begin);
    else
        for (int64_t q = begin; q < end; q++)
            reduce_panel(r->form, r->panel + q, 0);
}

mercer_status mc_product_form_factor(mercer_ctx *ctx, mc_product_form *f) {
    const mc_pivoted_cholesky *t = f->low_rank;
    memcpy(f->P, t->F, (size_t)(t->panels * MC_PIVOTED_PANEL * t->n) * sizeof *f->P);
    memset(f->B, 0, (size_t)(t->panels * MC_PIVOTED_PANEL * t->n) * sizeof *f->B);
    for (int64_t k = 0; k < t->rank; k++) {
        panel_reduction r = {f, k / MC_PIVOTED_PANEL + 1};
        update_diagonal(f, k);
        reduce_panel(f, k / MC_PIVOTED_PANEL, (int)(k % MC_PIVOTED_PANEL) + 1);
        MC_TRY(mc_for(ctx, t->panels - r.panel, AT_ONCE, reduce_panels, &r));
    }
    return MERCER_OK;
}

static void solve_down(const mc_product_form *f, int64_t panel, double *x) {
    const int64_t n = f->low_rank->n;
    const double *P = f->P + panel * n * MC_PIVOTED_PANEL, *B = f->B + panel * n * MC_PIVOTED_PANEL;
    double s[MC_PIVOTED_PANEL] = {0};
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < MC_PIVOTED_PANEL; c++) {
            x[i] -= P[i * MC_PIVOTED_PANEL + c] * s[c];
            s[c] += B[i * MC_PIVOTED_PANEL + c] * x[i];
        }
}

static void solve_up(const mc_product_form *f, int64_t panel, double *x) {
    const int64_t n = f->low_rank->n;
    const double *P = f->P + panel * n * MC_PIVOTED_PANEL, *B = f->B + panel * n * MC_PIVOTED_PANEL;
    double s[MC_PIVOTED_PANEL] = {0};
    for (int64_t i = n - 1; i >= 0; i--)
        for (int c = MC_PIVOTED_PANEL - 1; c >= 0; c--) {
            x[i] -= B[i * MC_PIVOTED_PANEL + c] * s[c];
            s[c] += P[i * MC_PIVOTED_PANEL + c] * x[i];
        }
}

/* Columns beyond the rank have p = b = 0 and change nothing. */
void mc_product_form_solve(const mc_product_form *f, double *x) {
    for (int64_t q = 0; q < f->low_rank->panels; q++)
        solve_down(f, q, x);
    for (int64_t i = 0; i < f->low_rank->n; i++)
        x[i] /= f->d[i];
    for (int64_t q = f->low_rank->panels - 1; q >= 0; q--)
        solve_up(f, q, x);
}
