/* kernel_kmeans.c: kernel k-means: groups of rows whose points in feature space are near their mean.

       |phi(x_i) - mu_c|^2 = K_ii - 2 (K V)_ic + (V'K V)_cc,    V_ic = 1/|c| for the rows of group c, 0 for the others

   so that one pass is one product of K with as many vectors as there are groups: K is never stored. It starts from rows
   drawn with probability proportional to the squared distance from those drawn before (k-means++), several times; the
   best end is kept. A group that loses its last row gets the row farthest from its mean. Groups are numbered in the
   order of their first rows. */
#include "learn/unsupervised/kernel_kmeans.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "kernel/language/localise.h"
#include <math.h>
#include <string.h>

typedef struct clusters {
    const mc_gram *gram;
    int64_t n, k;
    double *own, *near, *row; /* k(x,x); the least squared distance; a row of K */
    double *V, *KV, *self;    /* n x k, n x k, k */
    int64_t *group, *size, *best;
} clusters;

static double distance_to_mean(const clusters *s, int64_t i, int64_t c) {
    return fmax(0, s->own[i] - 2 * s->KV[i * s->k + c] + s->self[c]);
}

static void count_sizes(clusters *s) {
    memset(s->size, 0, (size_t)s->k * sizeof *s->size);
    for (int64_t i = 0; i < s->n; i++)
        s->size[s->group[i]]++;
}

/* Groups without a row take the farthest ones, each another, from groups that can spare them. */
static void fill_empty(clusters *s) {
    count_sizes(s);
    for (int64_t c = 0; c < s->k; c++) {
        int64_t far = -1;
        for (int64_t i = 0; s->size[c] == 0 && i < s->n; i++)
            if (s->size[s->group[i]] > 1 && (far < 0 || s->near[i] > s->near[far]))
                far = i;
        if (far < 0)
            continue;
        s->size[s->group[far]]--;
        s->group[far] = c;
        s->near[far] = 0;
        s->size[c] = 1;
    }
}

static mercer_status compute_cluster_means(mercer_ctx *ctx, clusters *s) {
    memset(s->V, 0, (size_t)(s->n * s->k) * sizeof *s->V);
    memset(s->self, 0, (size_t)s->k * sizeof *s->self);
    count_sizes(s);
    for (int64_t i = 0; i < s->n; i++)
        s->V[i * s->k + s->group[i]] = 1 / (double)s->size[s->group[i]];
    MC_TRY(mc_gram_apply(ctx, s->gram, s->k, s->V, s->KV));
    for (int64_t i = 0; i < s->n; i++)
        s->self[s->group[i]] += s->KV[i * s->k + s->group[i]] / (double)s->size[s->group[i]];
    return MERCER_OK;
}

/* Rows to their nearest mean, the first of equals; *moved: how many changed. The objective is that of the means as they
   were. */
static double assign_to_nearest_mean(clusters *s, int64_t *moved) {
    double objective = 0;
    *moved = 0;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t best = 0;
        for (int64_t c = 1; c < s->k; c++)
            if (distance_to_mean(s, i, c) < distance_to_mean(s, i, best))
                best = c;
        objective += distance_to_mean(s, i, s->group[i]);
        s->near[i] = distance_to_mean(s, i, best);
        *moved += s->near[i] < distance_to_mean(s, i, s->group[i]);
        s->group[i] = s->near[i] < distance_to_mean(s, i, s->group[i]) ? best : s->group[i];
    }
    return objective;
}

static int64_t draw_by_distance(const clusters *s, mc_rng *rng) {
    double total = 0;
    for (int64_t i = 0; i < s->n; i++)
        total += s->near[i];
    double at = mc_rng_uniform(rng) * total;
    for (int64_t i = 0; i < s->n && total > 0; i++)
        if ((at -= s->near[i]) < 0)
            return i;
    return mc_rng_below(rng, s->n);
}

static mercer_status start_kmeans_plus_plus(mercer_ctx *ctx, clusters *s, mc_rng *rng) {
    for (int64_t c = 0; c < s->k; c++) {
        const int64_t row = c ? draw_by_distance(s, rng) : mc_rng_below(rng, s->n);
        MC_TRY(mc_gram_take(ctx, s->gram, &row, 1, MERCER_F64, s->row, s->n));
        for (int64_t i = 0; i < s->n; i++) {
            const double far = fmax(0, s->own[i] + s->own[row] - 2 * s->row[i]);
            s->group[i] = c == 0 || far < s->near[i] ? c : s->group[i];
            s->near[i] = c == 0 || far < s->near[i] ? far : s->near[i];
        }
    }
    fill_empty(s);
    return MERCER_OK;
}

static mercer_status iterate_kmeans(mercer_ctx *ctx, clusters *s, int64_t most, int64_t *iterations,
                                    double *objective) {
    int64_t moved = 1;
    for (*iterations = 0; moved > 0 && *iterations < most; ++*iterations) {
        MC_TRY(compute_cluster_means(ctx, s));
        *objective = assign_to_nearest_mean(s, &moved);
        fill_empty(s);
    }
    return MERCER_OK;
}

static void renumber_groups(const clusters *s, int64_t *group, int64_t *name) {
    int64_t next = 0;
    for (int64_t c = 0; c < s->k; c++)
        name[c] = -1;
    for (int64_t i = 0; i < s->n; i++) {
        if (name[s->best[i]] < 0)
            name[s->best[i]] = next++;
        group[i] = name[s->best[i]];
    }
}

static mercer_status search_restarts(mercer_ctx *ctx, clusters *s, const mercer_clustering *set, int64_t *group,
                                     mercer_clusters *out) {
    out->objective = INFINITY;
    for (int64_t r = 0; r < set->restarts; r++) {
        mc_rng rng = mc_rng_at(set->seed, MC_STREAM_CLUSTERS, (uint64_t)r);
        int64_t iterations = 0;
        double objective = 0;
        MC_TRY(start_kmeans_plus_plus(ctx, s, &rng));
        MC_TRY(iterate_kmeans(ctx, s, set->iterations, &iterations, &objective));
        MC_TRY(mc_report_progress(ctx, (double)(r + 1) / (double)set->restarts));
        if (objective >= out->objective)
            continue;
        *out = (mercer_clusters){.objective = objective, .iterations = iterations, .total = out->total};
        memcpy(s->best, s->group, (size_t)s->n * sizeof *s->best);
    }
    renumber_groups(s, group, s->size);
    return MERCER_OK;
}

/* What all rows are from their common mean: the trace of the centred K. */
static mercer_status total_spread(mercer_ctx *ctx, clusters *s, double *out) {
    double mean = 0, trace = 0;
    for (int64_t i = 0; i < s->n; i++)
        s->near[i] = 1 / (double)s->n;
    MC_TRY(mc_gram_apply(ctx, s->gram, 1, s->near, s->row));
    for (int64_t i = 0; i < s->n; i++) {
        mean += s->row[i];
        trace += s->own[i];
    }
    *out = trace - mean;
    return MERCER_OK;
}

static mercer_status allocate_and_cluster(mercer_ctx *ctx, clusters *s, const mercer_clustering *set, int64_t *group,
                                          mercer_clusters *out) {
    mc_work work;
    const int64_t n = s->n, k = s->k;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(s->own, n), MC_SLICE(s->near, n), MC_SLICE(s->row, n),
                          MC_SLICE(s->V, n * k), MC_SLICE(s->KV, n * k), MC_SLICE(s->self, k), MC_SLICE(s->size, k),
                          MC_SLICE(s->group, n), MC_SLICE(s->best, n)));
    mercer_status status = mc_gram_diagonal(ctx, s->gram, s->own);
    if (!status)
        status = total_spread(ctx, s, &out->total);
    if (!status)
        status = search_restarts(ctx, s, set, group, out);
    mc_work_close(&work);
    return status;
}

void mercer_clustering_init(mercer_clustering *set, size_t size) {
    const mercer_clustering defaults = {.clusters = 2, .restarts = 10, .iterations = 300};
    mc_sized_init(&defaults, sizeof defaults, set, size);
}

mercer_status mc_clusters_check(mercer_ctx *ctx, const mercer_clustering *set, int64_t n) {
    if (set->clusters < 1 || set->clusters > n || set->restarts < 1 || set->iterations < 1)
        return mc_fail(ctx, MERCER_INVALID,
                       "cluster: clusters must be in [1, %lld], the number of rows, and restarts and iterations at "
                       "least 1; got %lld, "
                       "%lld and %lld",
                       (long long)n, (long long)set->clusters, (long long)set->restarts, (long long)set->iterations);
    return MERCER_OK;
}

mercer_status mc_kernel_kmeans(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                               const mercer_clustering *set, int64_t *group, mercer_clusters *out) {
    mercer_kernel *bound = NULL;
    mc_gram *gram = NULL;
    mc_aligned rows;
    clusters s = {.n = data->n, .k = set->clusters};
    mc_begin_phase(ctx, "cluster");
    MC_TRY(mc_align_tables(ctx, kernel, data, NULL, &rows));
    mercer_status status = mc_kernel_bind(ctx, kernel, rows.x, &bound);
    if (!status)
        status = mc_kernel_require(ctx, bound, bound->d, false);
    if (!status)
        status = mc_gram_open(ctx, bound, rows.x, NULL, MERCER_F64, &gram);
    s.gram = gram;
    if (!status)
        status = allocate_and_cluster(ctx, &s, set, group, out);
    mc_gram_close(gram);
    mercer_kernel_free(bound);
    mc_aligned_free(&rows);
    return status;
}

mercer_status mercer_cluster(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                             const mercer_clustering *set, int64_t *group, mercer_clusters *out) {
    MC_NEED(ctx, kernel, data, group, out);
    mc_begin_call(ctx);
    MC_TRY(mc_sized_check(ctx, "mercer_clusters", out));
    mercer_clustering chosen = mercer_clustering_defaults();
    mercer_clusters made = {0};
    MC_TRY(mc_sized_read(ctx, "mercer_clustering", set, &chosen, sizeof chosen));
    MC_TRY(mc_clusters_check(ctx, &chosen, data->n));
    const mercer_status status = mc_kernel_kmeans(ctx, kernel, data, &chosen, group, &made);
    mc_sized_write(&made, sizeof made, out);
    return status;
}
