/* spectral_clustering.c: spectral clustering (Ng, Jordan and Weiss). With A_ij = k(x_i, x_j) off the diagonal and 0 on
   it, d_i the sums of its rows,

       M = D^-1/2 A D^-1/2,    L = I - M the normalised Laplacian, its eigenvalues between 0 and 2,

   as many eigenvalues of L are 0 as A has parts without a value between them, and near 0 as it has parts with little.
   The eigenvectors of the least c give every row c coordinates; rows of length one made of these are grouped by
   k-means. A needs no proof that it is positive semidefinite, but values that are not negative.

       degrees    one pass over K, which finds a negative value too
       vectors    of I + M: dense for few rows, by Krylov spaces for many, K then never stored
       groups     kernel_kmeans.c with a linear kernel on the coordinates */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "kernel/language/localise.h"
#include "kernel/language/parse.h"
#include "learn/unsupervised/kernel_kmeans.h"
#include "linalg/eigen.h"
#include "linalg/krylov.h"
#include <math.h>
#include <string.h>

enum { DENSE = 1500, STRIP = 64, EXTRA = 10, STEPS = 12, ROUNDS = 100 };
static const double TOLERANCE = 1e-8; /* of an eigenvector's residual */

typedef struct spectral {
    mc_gram *gram;
    int64_t n, c;
    double *own, *root; /* k(x,x); 1 / sqrt(d), 0 for a row alone */
    double *V;          /* n x block: room for products */
    double *X, *theta;  /* n x block, block: vectors, eigenvalues of I + M */
    int64_t block;
} spectral;

/* ---- Degrees ---- */

static mercer_status refuse_negative_kernel(mercer_ctx *ctx, int64_t i, int64_t j, double value) {
    return mc_fail(ctx, MERCER_DATA,
                   "cluster: spectral wants values that are not negative, and k of rows %lld and %lld is %g; take "
                   "another kernel, such as "
                   "rbf, or k-means",
                   (long long)i + 1, (long long)j + 1, value);
}

static mercer_status sum_strip(mercer_ctx *ctx, spectral *s, int64_t begin, int64_t end, const double *K) {
    for (int64_t i = begin; i < end; i++) {
        double sum = 0;
        for (int64_t j = 0; j < s->n; j++) {
            const double value = K[(i - begin) * s->n + j];
            if (value < 0 && i != j)
                return refuse_negative_kernel(ctx, i, j, value);
            sum += i == j ? 0 : value;
        }
        s->root[i] = sum > 0 ? 1 / sqrt(sum) : 0;
    }
    return MERCER_OK;
}

static mercer_status compute_degrees(mercer_ctx *ctx, spectral *s) {
    double *K = NULL;
    MC_TRY(MC_ALLOC(ctx, K, STRIP * s->n));
    mercer_status status = mc_gram_diagonal(ctx, s->gram, s->own);
    for (int64_t i = 0; i < s->n && !status; i += STRIP) {
        const int64_t end = i + STRIP < s->n ? i + STRIP : s->n;
        status = mc_gram_block(ctx, s->gram, i, end, 0, s->n, MERCER_F64, K, s->n);
        if (!status)
            status = sum_strip(ctx, s, i, end, K);
        if (!status)
            status = mc_report_progress(ctx, (double)end / (double)s->n);
    }
    mc_free(K);
    return status;
}

/* ---- Vectors ---- */

static mercer_status solve_dense_laplacian(mercer_ctx *ctx, spectral *s) {
    const int64_t n = s->n;
    double *M = NULL, *w = NULL;
    MC_TRY(MC_ALLOC(ctx, M, n * n));
    mercer_status status = MC_ALLOC(ctx, w, n);
    if (!status)
        status = mc_gram_block(ctx, s->gram, 0, n, 0, n, MERCER_F64, M, n);
    for (int64_t i = 0; i < n * n && !status; i++)
        M[i] = i / n == i % n ? 1 : s->root[i / n] * M[i] * s->root[i % n];
    if (!status)
        status = mc_syevd(ctx, mc_column_major(M, n, n, n), w);
    for (int64_t i = 0; i < n * s->c && !status; i++)
        s->X[i / s->c * s->block + i % s->c] = M[(n - 1 - i % s->c) * n + i / s->c];
    for (int64_t k = 0; k < s->c && !status; k++)
        s->theta[k] = w[n - 1 - k];
    mc_free(w);
    mc_free(M);
    return status;
}

/* Y <- (I + M) V. */
static mercer_status apply_shifted_laplacian(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    const spectral *s = self;
    for (int64_t i = 0; i < s->n * t; i++)
        s->V[i] = s->root[i / t] * V[i];
    MC_TRY(mc_gram_apply(ctx, s->gram, t, s->V, Y));
    for (int64_t i = 0; i < s->n * t; i++)
        Y[i] = V[i] + s->root[i / t] * (Y[i] - s->own[i / t] * s->V[i]);
    return MERCER_OK;
}

static mercer_status solve_krylov_laplacian(mercer_ctx *ctx, spectral *s, uint64_t seed) {
    const mc_krylov_problem problem = {.A = {.n = s->n, .apply = apply_shifted_laplacian, .self = s},
                                       .wanted = s->c,
                                       .block = s->block,
                                       .steps = STEPS,
                                       .tolerance = TOLERANCE};
    mc_krylov_result result = {0};
    for (int64_t i = 0; i < s->n; i++) {
        mc_rng rng = mc_rng_at(seed, MC_STREAM_LANCZOS, (uint64_t)i);
        for (int64_t k = 0; k < s->block; k++)
            s->X[i * s->block + k] = mc_rng_normal(&rng);
    }
    for (int round = 0; round < ROUNDS && !result.settled; round++)
        MC_TRY(mc_krylov_solve(ctx, &problem, s->X, s->theta, &result));
    if (!result.settled)
        return mc_fail(ctx, MERCER_NUMERIC,
                       "cluster: the eigenvectors of the Laplacian did not settle, their residual is %.2g; take fewer "
                       "clusters or another kernel",
                       result.residual);
    return MERCER_OK;
}

/* ---- Groups ---- */

/* Rows of length one from the first c columns of X; a row without any stays at zero. */
static void unit_rows(const spectral *s, double *out) {
    for (int64_t i = 0; i < s->n; i++) {
        double square = 0;
        for (int64_t k = 0; k < s->c; k++)
            square += s->X[i * s->block + k] * s->X[i * s->block + k];
        for (int64_t k = 0; k < s->c; k++)
            out[i * s->c + k] = square > 0 ? s->X[i * s->block + k] / sqrt(square) : 0;
    }
}

static mercer_status group_rows(mercer_ctx *ctx, const spectral *s, const mercer_clustering *set, int64_t *group,
                                mercer_clusters *out) {
    double *rows = NULL;
    mercer_data *data = NULL;
    mercer_kernel *linear = NULL;
    MC_TRY(MC_ALLOC(ctx, rows, s->n * s->c));
    unit_rows(s, rows);
    const mercer_table table = {.n = s->n, .d = s->c, .dtype = MERCER_F64, .values = rows};
    mercer_status status = mc_data_make(ctx, &table, &data);
    if (!status)
        status = mc_kernel_parse(ctx, "linear", (mc_users){0}, &linear);
    if (!status)
        status = mc_kernel_kmeans(ctx, linear, data, set, group, out);
    mercer_kernel_free(linear);
    mercer_data_free(data);
    mc_free(rows);
    return status;
}

static mercer_status embed_and_group_rows(mercer_ctx *ctx, spectral *s, const mercer_clustering *set, int64_t *group,
                                          double *eigenvalues, mercer_clusters *out) {
    const bool few = s->n <= DENSE || s->n < (STEPS + 1) * s->block;
    mc_begin_phase(ctx, "gram");
    MC_TRY(compute_degrees(ctx, s));
    mc_begin_phase(ctx, "eigen");
    MC_TRY(few ? solve_dense_laplacian(ctx, s) : solve_krylov_laplacian(ctx, s, set->seed));
    for (int64_t k = 0; k < s->c; k++)
        eigenvalues[k] = fmax(0, 2 - s->theta[k]);
    return group_rows(ctx, s, set, group, out);
}

static mercer_status allocate_and_cluster(mercer_ctx *ctx, spectral *s, const mercer_clustering *set, int64_t *group,
                                          double *eigenvalues, mercer_clusters *out) {
    mc_work work;
    const int64_t wide = s->n * s->block;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(s->own, s->n), MC_SLICE(s->root, s->n), MC_SLICE(s->V, wide),
                          MC_SLICE(s->X, wide), MC_SLICE(s->theta, s->block)));
    const mercer_status status = embed_and_group_rows(ctx, s, set, group, eigenvalues, out);
    mc_work_close(&work);
    return status;
}

static mercer_status cluster_by_spectrum(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                         const mercer_clustering *set, int64_t *group, double *eigenvalues,
                                         mercer_clusters *out) {
    mercer_kernel *bound = NULL;
    spectral s = {.n = data->n, .c = set->clusters, .block = set->clusters + EXTRA};
    mc_aligned rows;
    MC_TRY(mc_align_tables(ctx, kernel, data, NULL, &rows));
    mercer_status status = mc_kernel_bind(ctx, kernel, rows.x, &bound);
    if (!status)
        status = mc_gram_open(ctx, bound, rows.x, NULL, MERCER_F64, &s.gram);
    if (!status)
        status = allocate_and_cluster(ctx, &s, set, group, eigenvalues, out);
    mc_gram_close(s.gram);
    mercer_kernel_free(bound);
    mc_aligned_free(&rows);
    return status;
}

mercer_status mercer_cluster_spectral(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                      const mercer_clustering *set, int64_t *group, double *eigenvalues,
                                      mercer_clusters *out) {
    MC_NEED(ctx, kernel, data, group, eigenvalues, out);
    mc_begin_call(ctx);
    MC_TRY(mc_sized_check(ctx, "mercer_clusters", out));
    mercer_clustering chosen = mercer_clustering_defaults();
    mercer_clusters made = {0};
    MC_TRY(mc_sized_read(ctx, "mercer_clustering", set, &chosen, sizeof chosen));
    MC_TRY(mc_clusters_check(ctx, &chosen, data->n));
    const mercer_status status = cluster_by_spectrum(ctx, kernel, data, &chosen, group, eigenvalues, &made);
    mc_sized_write(&made, sizeof made, out);
    return status;
}
