/* feature_curvature.c: a certain lower bound of the smallest eigenvalue of G = sum_i w_i phi_i phi_i', phi taken less
   its mean m or not.

   G is summed up in double. With T its trace, W the sum of weights, kappa the largest |phi| and m~ the computed mean,

       sum w (phi - m~)(phi - m~)' = G + W (m - m~)(m - m~)',  |m - m~| <= gamma_n kappa,
       |computed - that| <= gamma_rows T + 2 sqrt(T W) delta + W delta^2,  delta = (d + 264) u 2 kappa

   (the second line in the Frobenius norm; delta is what a computed feature less the mean can be wrong by). Where the
   Cholesky factorisation of the computed G - t I runs to its end, its smallest eigenvalue is above -2 gamma_(D+2) T
   (Rump, Verification of positive definiteness, 2006), so that G has none below t less all of these. t is searched for
   from the mean of the eigenvalues downwards. */
#include "certify/feature_curvature.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "problem/feature_panels.h"
#include "certify/ridge_certificate.h"
#include "linalg/dense.h"
#include <string.h>

enum { TILE = 64, DOWN = 14, UP = 2 };
static const double WORK = 4e9, STEP = 16; /* products; from one t to the next */

bool mc_curvature_pays(int64_t n, int64_t D) {
    return D <= MC_CURVATURE_FEATURES && (double)n * (double)D * (double)D <= WORK;
}

/* What depends on x is not a number where x is none. */
mercer_status mc_constant_features(mercer_ctx *ctx, const mc_panels *panels, bool *constant) {
    const int64_t d = panels->p->x->d, scratch = mc_features_scratch(panels->map);
    double *row = NULL;
    MC_TRY(MC_ALLOC(ctx, row, d + scratch + panels->D));
    for (int64_t j = 0; j < d; j++)
        row[j] = NAN;
    mc_features_row(panels->map, row, row + d, row + d + scratch);
    for (int64_t j = 0; j < panels->D; j++)
        constant[j] = isfinite(row[d + scratch + j]);
    mc_free(row);
    return MERCER_OK;
}

typedef struct curvature {
    const mc_problem *p;
    const bool *skip;
    mc_panels *panels;
    double *mean, *G, *A; /* D; D x D, lower halves by columns */
    double weight, kappa, trace;
} curvature;

static double root_at(const curvature *c, int64_t i) {
    return c->p->root ? c->p->root[c->panels->begin + i] : 1;
}

static void add_mean(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const curvature *c = arg;
    for (int64_t i = 0; i < c->panels->rows; i++)
        for (int64_t j = begin; j < end; j++)
            c->mean[j] += root_at(c, i) * c->panels->Z[i * c->panels->D + j];
}

static void add_sizes(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)begin, (void)end, (void)thread;
    curvature *c = arg;
    for (int64_t i = 0; i < c->panels->rows; i++) {
        double square = 0;
        for (int64_t j = 0; j < c->panels->D; j++)
            square += c->panels->Z[i * c->panels->D + j] * c->panels->Z[i * c->panels->D + j];
        c->weight += root_at(c, i) * root_at(c, i);
        c->kappa = fmax(c->kappa, sqrt(square) / root_at(c, i));
    }
}

static mercer_status find_mean(mercer_ctx *ctx, curvature *c) {
    const mc_pass passes[] = {{add_mean, c->panels->D, TILE}, {add_sizes, 1, 1}};
    MC_TRY(mc_panels_run(ctx, c->panels, passes, 2, c));
    for (int64_t j = 0; j < c->panels->D; j++)
        c->mean[j] /= c->weight;
    return MERCER_OK;
}

/* Features left out keep to themselves, above all that is searched. */
static void leave_out(curvature *c) {
    const int64_t D = c->panels->D;
    for (int64_t j = 0; j < D; j++)
        c->trace += c->skip && c->skip[j] ? 0 : c->G[j * (D + 1)];
    for (int64_t j = 0; j < D; j++)
        for (int64_t i = j; i < D; i++)
            if (c->skip && (c->skip[i] || c->skip[j]))
                c->G[j * D + i] = i == j ? 2 * c->trace + 1 : 0;
}

/* The lower half of G, some columns of it. */
static void add_columns(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const curvature *c = arg;
    const int64_t D = c->panels->D, rows = c->panels->rows;
    const mc_dense Z = mc_row_major(c->panels->Z, rows, D, D);
    mc_gemm(1, mc_transposed(mc_submatrix(Z, 0, begin, rows, D - begin)), mc_submatrix(Z, 0, begin, rows, end - begin),
            1, mc_submatrix(mc_column_major(c->G, D, D, D), begin, begin, D - begin, end - begin));
}

static mercer_status sum_up(mercer_ctx *ctx, curvature *c) {
    const mc_pass pass = {add_columns, c->panels->D, TILE};
    c->panels->mean = c->skip ? c->mean : NULL;
    MC_TRY(mc_panels_run(ctx, c->panels, &pass, 1, c));
    leave_out(c);
    return MERCER_OK;
}

/* What the computed G and its factorisation can be wrong by. */
static double doubt_of(const curvature *c) {
    const int64_t depth = c->panels->height + c->p->n / c->panels->height + 4;
    const double delta = (double)(c->p->x->d + 264) * DBL_EPSILON * c->kappa;
    const double drift = c->skip ? mc_rounding_gamma(c->p->n + 4) * c->kappa : 0;
    return MC_CERTIFY_SLACK
           * ((mc_rounding_gamma(depth) + 2 * mc_rounding_gamma(c->panels->D + 2)) * c->trace
              + 2 * sqrt(c->trace * c->weight) * delta + c->weight * (delta * delta + drift * drift));
}

static mercer_status is_above(mercer_ctx *ctx, const curvature *c, double t, bool *above) {
    const int64_t D = c->panels->D;
    int64_t bad = 0;
    memcpy(c->A, c->G, (size_t)(D * D) * sizeof *c->A);
    for (int64_t j = 0; j < D; j++)
        c->A[j * (D + 1)] -= t;
    MC_TRY(mc_potrf(ctx, mc_column_major(c->A, D, D, D), &bad));
    *above = bad == 0;
    return MERCER_OK;
}

static mercer_status search_smallest_curvature(mercer_ctx *ctx, const curvature *c, double *least) {
    const double doubt = doubt_of(c);
    double t = c->trace / (double)c->panels->D;
    bool above = false;
    for (int k = 0; k < DOWN && !above && t > 2 * doubt; k++, t /= above ? 1 : STEP)
        MC_TRY(is_above(ctx, c, t, &above));
    for (int k = 0; k < UP && above; k++, t *= above ? STEP / 4 : 1)
        MC_TRY(is_above(ctx, c, t * STEP / 4, &above));
    *least = t > 2 * doubt ? t - doubt : 0;
    return MERCER_OK;
}

static mercer_status find_least(mercer_ctx *ctx, curvature *c, double *least) {
    MC_TRY(find_mean(ctx, c));
    MC_TRY(sum_up(ctx, c));
    return search_smallest_curvature(ctx, c, least);
}

static void lay_out_curvature(mc_work *work, void *self) {
    curvature *c = self;
    const int64_t D = c->panels->D;
    c->mean = mc_work_take(work, D, sizeof *c->mean);
    c->G = mc_work_take(work, D * D, sizeof *c->G);
    c->A = mc_work_take(work, D * D, sizeof *c->A);
}

size_t mc_curvature_bytes(int64_t D) {
    mc_panels panels = {.D = D};
    return D <= MC_CURVATURE_FEATURES ? mc_slices_bytes(lay_out_curvature, &(curvature){.panels = &panels}) : 0;
}

mercer_status mc_feature_curvature(mercer_ctx *ctx, mc_panels *panels, const bool *skip, double *least) {
    curvature c = {.p = panels->p, .skip = skip, .panels = panels};
    mc_work work;
    MC_TRY(mc_work_lay(ctx, &work, lay_out_curvature, &c));
    const mercer_status status = find_least(ctx, &c, least);
    panels->mean = NULL;
    mc_work_close(&work);
    return status;
}
