/* ridge_primal.c: ridge regression solved in the D features of an explicit map, for kernels that have one of less
   dimension than rows.

   With phi centred by its weighted mean m (only with an intercept), Z the rows sqrt(w_i) (phi(x_i) - m), y centred
   alike:

       (Z'Z + lambda I) v = Z' S y,   b = mean(y) - m'v,   f(x) = <phi(x), v>.

   (Z'Z + lambda)^-1 Z' = Z' (ZZ' + lambda)^-1: the same function as from the n x n system, in n D^2 + D^3/3 operations
   in place of n^3/3. The weights v are the model; no row is kept.

   lambda > 0 is solved by the factor L L' = Z'Z + lambda. When lambda is 0 or to be found, Z'Z = U diag(m) U' serves
   every lambda: v = U diag(h) U' Z'S y with h = 1/(m + lambda), 0 where m and lambda are. Eigenvalues up to n 2^-52 max
   m count as zero, as those of K do, which are the same.

   Leaving a row out divides its residual by 1 - h_i, h_i = z_i' (Z'Z + lambda)^-1 z_i + w_i / sum w (the second term
   with an intercept); the sum of all h_i is the effective degrees of freedom.

   The rows go through in panels: the mean, the products, and again for the rows left out. A panel is cut into lanes of
   rows with sums of their own (when D is small) and the products into tiles, so that every thread has work and no sum
   depends on how many there are. */
#include "learn/common/leave_out.h"
#include "learn/ridge/ridge_primal.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "problem/feature_panels.h"
#include "learn/ridge/ridge_spectrum.h"
#include "learn/ridge/ridge_system.h"
#include "linalg/eigen.h"
#include "linalg/lanczos.h"
#include "linalg/dense.h"
#include <math.h>

enum { LANE = MC_LANE, LANES = 8, TILE = 256, SMALL = 512, ROWS = 64, COLUMNS = 64, LANCZOS_STEPS = 120 };

typedef struct primal {
    mc_ridge_system *r;
    mc_panels panels;
    int64_t D, lanes, tiles;
    bool spectral;     /* by eigenvalues */
    double weight;     /* sum of the weights */
    double *mean;      /* D */
    double *C, *R;     /* lanes x (D x D, column-major), lanes x (D x outputs) */
    double *diagonal;  /* D: of Z'Z + lambda, then eigenvalues, then h */
    double *G, *V;     /* spectral: D x outputs; a panel in the coordinates of U */
    double *targets;   /* spectral: D x outputs in the coordinates of the eigenvectors of K, and outputs more */
    double *loo_terms; /* n: what each row adds to the leave-one-out error; NaN: it broke down */
} primal;

static int64_t lanes_for(int64_t D) {
    return D <= SMALL ? LANES : 1;
}

static void lay_out_primal_workspace(mc_work *work, int64_t n, int64_t outputs, bool loo, primal *p) {
    const int64_t D = p->D;
    p->mean = mc_work_take(work, D, 8);
    p->diagonal = mc_work_take(work, D, 8);
    p->C = mc_work_take(work, p->lanes * D * D, 8);
    p->R = mc_work_take(work, p->lanes * D * outputs, 8);
    p->loo_terms = loo ? mc_work_take(work, n, 8) : NULL;
    p->G = p->spectral ? mc_work_take(work, D * outputs, 8) : NULL;
    p->targets = p->spectral ? mc_work_take(work, D * outputs + outputs, 8) : NULL;
    p->V = loo && p->spectral ? mc_work_take(work, p->lanes * LANE * D, 8) : NULL;
}

static size_t own_bytes(int64_t n, int64_t D, int64_t outputs, bool loo, bool spectral) {
    mc_work counted = {0};
    lay_out_primal_workspace(&counted, n, outputs, loo, &(primal){.D = D, .lanes = lanes_for(D), .spectral = spectral});
    return counted.used;
}

size_t mc_ridge_primal_bytes(const mc_ridge_primal_size *s) {
    if (s->D > INT32_MAX / 8)
        return SIZE_MAX / 4;
    return own_bytes(s->n, s->D, s->outputs, s->loo, s->spectral) + (s->spectral ? mc_eigen_bytes(s->D) : 0)
           + mc_panels_bytes(s->d, s->D, lanes_for(s->D), s->threads, s->scratch);
}

static double root_at(const primal *p, int64_t i) {
    return p->r->p->root ? p->r->p->root[i] : 1;
}

/* ---- A panel ---- */

static void add_means(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const primal *p = arg;
    for (int64_t i = 0; i < p->panels.rows; i++) {
        const double s = root_at(p, p->panels.begin + i) / p->weight;
        for (int64_t j = begin; j < end; j++)
            p->mean[j] += s * p->panels.Z[i * p->D + j];
    }
}

/* One tile of one lane's C, and with a tile of the diagonal its part of R. */
static void add_products(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin;
    (void)end;
    (void)thread;
    const primal *p = arg;
    const int64_t each = p->tiles * (p->tiles + 1) / 2, lane = chunk / each, outputs = p->r->p->outputs;
    const int64_t from = lane * LANE, left = p->lanes == 1 ? p->panels.rows : p->panels.rows - from;
    int64_t column = 0, row = chunk % each;
    for (int64_t height = p->tiles; row >= height; height--, column++)
        row -= height;
    row += column;
    const int64_t k = left < LANE ? left : LANE, D = p->D;
    if (k <= 0)
        return;
    const int64_t i = row * TILE, j = column * TILE, m = D - i < TILE ? D - i : TILE, n = D - j < TILE ? D - j : TILE;
    const double *Z = p->panels.Z + from * D, *X = p->r->X + (p->panels.begin + from) * p->r->columns;
    const mc_dense Zi = mc_column_major(Z + i, m, k, D), C = mc_column_major(p->C + lane * D * D, D, D, D);
    if (row != column) {
        mc_gemm(1, Zi, mc_row_major(Z + j, k, n, D), 1, mc_submatrix(C, i, j, m, n));
        return;
    }
    mc_syrk(1, Zi, 1, mc_submatrix(C, i, i, m, m));
    mc_gemm(1, Zi, mc_row_major(X, k, outputs, p->r->columns), 1,
            mc_row_major(p->R + (lane * D + i) * outputs, m, outputs, outputs));
}

/* z' (Z'Z + lambda)^-1 z of some rows, whose Z goes; out: as many numbers. */
static void leverage_scores(const primal *p, int64_t begin, int64_t end, double *out) {
    const int64_t D = p->D, rows = end - begin;
    double *Z = p->panels.Z + begin * D, *V = p->spectral ? p->V + begin * D : Z;
    const mc_dense C = mc_column_major(p->C, D, D, D), columns = mc_column_major(Z, D, rows, D);
    if (p->spectral)
        mc_gemm(1, mc_transposed(C), columns, 0, mc_column_major(V, D, rows, D));
    else
        mc_trmm(1, C, false, columns);
    for (int64_t i = 0; i < rows; i++) {
        out[i] = 0;
        for (int64_t j = 0; j < D; j++)
            out[i] += V[i * D + j] * V[i * D + j] * (p->spectral ? p->diagonal[j] : 1);
    }
}

/* What some rows add to the leave-one-out error. */
static void leave_out_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const primal *p = arg;
    const mc_ridge_system *r = p->r;
    const int64_t outputs = r->p->outputs, D = p->D;
    double square[ROWS], taken[ROWS];
    for (int64_t i = begin; i < end; i++) {
        square[i - begin] = 0;
        for (int64_t k = 0; k < outputs; k++) {
            double left = r->X[(p->panels.begin + i) * r->columns + k];
            for (int64_t j = 0; j < D; j++)
                left -= p->panels.Z[i * D + j] * r->weights[k * D + j];
            square[i - begin] += left * left;
        }
    }
    leverage_scores(p, begin, end, taken);
    for (int64_t i = begin; i < end; i++) {
        const double s = root_at(p, p->panels.begin + i),
                     leverage = taken[i - begin] + (r->intercept ? s * s / p->weight : 0);
        p->loo_terms[p->panels.begin + i] = square[i - begin] / pow(mc_leave_out_share(r->p->n, leverage), 2);
    }
}

/* ---- All panels ---- */

/* The lanes' sums into the first, and its lower half into the upper, where the factor leaves it. */
static void add_lanes(primal *p) {
    const int64_t square = p->D * p->D, right = p->D * p->r->p->outputs;
    for (int64_t lane = 1; lane < p->lanes; lane++) {
        for (int64_t i = 0; i < square; i++)
            p->C[i] += p->C[lane * square + i];
        for (int64_t i = 0; i < right; i++)
            p->R[i] += p->R[lane * right + i];
    }
    for (int64_t j = 0; j < p->D; j++)
        for (int64_t i = 0; i < j; i++)
            p->C[j * p->D + i] = p->C[i * p->D + j];
}

static mercer_status make_products(mercer_ctx *ctx, primal *p) {
    const mc_pass means = {add_means, p->D, COLUMNS},
                  products = {add_products, p->lanes * p->tiles * (p->tiles + 1) / 2, 1};
    mc_begin_phase(ctx, "features");
    if (p->r->intercept) {
        MC_TRY(mc_panels_run(ctx, &p->panels, &means, 1, p));
        p->panels.mean = p->mean;
    }
    mc_begin_phase(ctx, "products");
    MC_TRY(mc_panels_run(ctx, &p->panels, &products, 1, p));
    add_lanes(p);
    return MERCER_OK;
}

/* ---- By the factor ---- */

/* V -> (Z'Z + lambda) V from what the factor left: the upper half and the diagonal. */
static mercer_status apply_upper(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    const primal *p = self;
    (void)t;
    for (int64_t j = 0; j < p->D; j++)
        Y[j] = (p->diagonal[j] - p->r->lambda) * V[j];
    for (int64_t j = 0; j < p->D; j++)
        for (int64_t i = 0; i < j; i++) {
            Y[i] += p->C[j * p->D + i] * V[j];
            Y[j] += p->C[j * p->D + i] * V[i];
        }
    return mc_report_progress(ctx, -1);
}

static mercer_status refuse_singular_system(mercer_ctx *ctx, const primal *p) {
    const mc_matrix products = {.n = p->D, .apply = apply_upper, .self = p};
    mc_spectrum ends;
    MC_TRY(mc_lanczos_spectrum(ctx, &products, LANCZOS_STEPS, &ends));
    return mc_ridge_explain(ctx, p->r, &ends);
}

/* A pivot is never below lambda: one of the size of rounding says that lambda is lost in it. */
static bool is_lost(const primal *p) {
    double least = INFINITY, most = 0;
    for (int64_t j = 0; j < p->D; j++) {
        least = fmin(least, p->C[j * p->D + j] * p->C[j * p->D + j]);
        most = fmax(most, p->diagonal[j]);
    }
    return !(least > (double)p->D * 0x1p-52 * most);
}

static mercer_status solve_factor(mercer_ctx *ctx, primal *p) {
    const int64_t t = p->r->p->outputs;
    const mc_dense L = mc_column_major(p->C, p->D, p->D, p->D);
    int64_t bad = 0;
    for (int64_t j = 0; j < p->D; j++)
        p->diagonal[j] = p->C[j * p->D + j] += p->r->lambda;
    mc_begin_phase(ctx, "factor");
    MC_TRY(mc_potrf(ctx, L, &bad));
    if (bad || is_lost(p))
        return refuse_singular_system(ctx, p);
    MC_TRY(mc_potrs(ctx, L, mc_row_major(p->R, p->D, t, t)));
    MC_TRY(mc_trtri(ctx, L));
    double trace = 0;
    for (int64_t j = 0; j < p->D; j++)
        for (int64_t i = j; i < p->D; i++)
            trace += p->C[j * p->D + i] * p->C[j * p->D + i];
    p->r->dof_found = (double)p->D - p->r->lambda * trace + p->r->intercept;
    p->r->rank = p->D < p->r->p->n ? p->D : p->r->p->n;
    return MERCER_OK;
}

/* ---- By eigenvalues ---- */

/* lambda from a norm or degrees of freedom: the targets in the coordinates of the eigenvectors of K that are not of its
   null space. */
static mercer_status choose_lambda(mercer_ctx *ctx, primal *p, double cutoff) {
    const int64_t t = p->r->p->outputs;
    double *const Y = p->targets;
    for (int64_t j = 0; j < p->D * t; j++)
        Y[j] = p->diagonal[j / t] > cutoff ? p->G[j] / sqrt(p->diagonal[j / t]) : 0;
    const mc_ridge_spectrum s = {.n = p->D,
                                 .outputs = t,
                                 .columns = t,
                                 .constants = p->r->intercept,
                                 .m = p->diagonal,
                                 .cutoff = cutoff,
                                 .G = Y};
    return mc_ridge_find_lambda(ctx, p->r, &s, Y + p->D * t);
}

static mercer_status solve_spectrum(mercer_ctx *ctx, primal *p) {
    const int64_t D = p->D, t = p->r->p->outputs;
    mc_ridge_system *r = p->r;
    mc_begin_phase(ctx, "eigen");
    MC_TRY(mc_syevd(ctx, mc_column_major(p->C, D, D, D), p->diagonal));
    MC_TRY(
        mc_parallel_gemm(ctx, mc_row_major(p->C, D, D, D), mc_row_major(p->R, D, t, t), mc_row_major(p->G, D, t, t)));
    const double cutoff = (double)r->p->n * 0x1p-52 * p->diagonal[D - 1];
    for (int64_t j = 0; j < D && p->diagonal[j] < 0; j++)
        p->diagonal[j] = 0; /* rounding */
    if (isfinite(r->norm_bound) || r->dof > 0)
        MC_TRY(choose_lambda(ctx, p, cutoff));
    r->rank = 0;
    r->dof_found = r->intercept;
    for (int64_t j = 0; j < D; j++) {
        const double m = p->diagonal[j], h = r->lambda > 0 || m > cutoff ? 1 / (m + r->lambda) : 0;
        r->rank += m > cutoff;
        r->dof_found += m * h;
        p->diagonal[j] = h;
        for (int64_t k = 0; k < t; k++)
            p->G[j * t + k] *= h;
    }
    return mc_parallel_gemm(ctx, mc_column_major(p->C, D, D, D), mc_row_major(p->G, D, t, t),
                            mc_row_major(p->R, D, t, t));
}

/* ---- The whole ---- */

static void write_answer(primal *p) {
    const int64_t outputs = p->r->p->outputs;
    for (int64_t k = 0; k < outputs; k++) {
        p->r->b[k] = p->r->mean[k];
        for (int64_t j = 0; j < p->D; j++) {
            p->r->weights[k * p->D + j] = p->R[j * outputs + k];
            p->r->b[k] -= p->r->intercept ? p->mean[j] * p->R[j * outputs + k] : 0;
        }
    }
}

static mercer_status leave_one_out(mercer_ctx *ctx, primal *p) {
    const mc_pass pass = {leave_out_rows, 0, ROWS};
    double sum = 0;
    mc_begin_phase(ctx, "leave-one-out");
    MC_TRY(mc_panels_run(ctx, &p->panels, &pass, 1, p));
    for (int64_t i = 0; i < p->r->p->n; i++) {
        if (isnan(p->loo_terms[i]))
            return mc_fail(ctx, MERCER_NUMERIC,
                           "ridge: leave-one-out broke down at row %lld, which no other row replaces; use a larger "
                           "lambda or fit without it",
                           (long long)i + 1);
        sum += p->loo_terms[i];
    }
    p->r->loo_rmse = sqrt(sum / p->weight / (double)p->r->p->outputs);
    return MERCER_OK;
}

static mercer_status solve_primal(mercer_ctx *ctx, primal *p) {
    MC_TRY(make_products(ctx, p));
    MC_TRY(p->spectral ? solve_spectrum(ctx, p) : solve_factor(ctx, p));
    write_answer(p);
    return p->r->loo ? leave_one_out(ctx, p) : MERCER_OK;
}

mercer_status mc_ridge_primal(mercer_ctx *ctx, mc_ridge_system *r) {
    const mc_problem *q = r->p;
    const int64_t D = mc_problem_features(q, q->n);
    primal p = {.r = r, .D = D, .lanes = lanes_for(D), .tiles = mc_chunk_count(D, TILE)};
    p.spectral = r->lambda == 0 || isfinite(r->norm_bound) || r->dof > 0;
    for (int64_t i = 0; i < q->n; i++)
        p.weight += mc_problem_weight(q, i);
    MC_TRY(mc_panels_open(ctx, q, p.lanes, &p.panels));
    mc_work work;
    mercer_status status = mc_work_open(ctx, &work, own_bytes(q->n, D, q->outputs, r->loo, p.spectral));
    if (!status) {
        lay_out_primal_workspace(&work, q->n, q->outputs, r->loo, &p);
        status = solve_primal(ctx, &p);
        mc_work_close(&work);
    }
    mc_panels_close(&p.panels);
    return status;
}
