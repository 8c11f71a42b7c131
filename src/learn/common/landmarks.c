/* landmarks.c: landmarks by random pivots, uniformly, or as listed.

   Pivots need a factor of as many columns as there are landmarks on the rows they are chosen from; among more than
   OVERSAMPLE rows for each landmark, a uniform sample of that many stands for all. */
#include "learn/common/landmarks.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/operator/gram_matrix.h"
#include "gram/lowrank/lowrank.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OVERSAMPLE = 8, PAIRS = 512 };

static int64_t pool_of(int64_t n, int64_t m) {
    return n / OVERSAMPLE <= m ? n : OVERSAMPLE * m;
}

size_t mc_landmarks_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t m) {
    const int64_t pool = pool_of(p->n, m);
    mercer_data few = *p->x;
    few.n = pool;
    return mc_lowrank_bytes(ctx, pool, m) + mc_gram_bytes(ctx, p->kernel, &few, NULL, MERCER_F32, 0)
           + mc_gram_part_bytes(ctx, p->kernel, p->x, MERCER_F64, PAIRS) + (size_t)(pool * p->x->d) * 12
           + mc_work_need(p->n, 8) + 2 * mc_work_need(pool, 8) + 32 * MC_ALIGN;
}

void mc_landmarks_uniform(uint64_t seed, uint64_t item, int64_t n, int64_t count, int64_t *rows) {
    mc_rng rng = mc_rng_at(seed, MC_STREAM_SAMPLE, item);
    for (int64_t i = 0; i < n; i++)
        rows[i] = i;
    for (int64_t i = 0; i < count && count < n; i++) {
        const int64_t j = i + mc_rng_below(&rng, n - i), t = rows[i];
        rows[i] = rows[j];
        rows[j] = t;
    }
}

/* ---- Listed ---- */

static int64_t count_commas(const char *text) {
    int64_t count = 0;
    for (; *text; text++)
        count += *text == ',';
    return count;
}

/* A whole number alone says how many; 0: it is something else. */
static int64_t count_in(const char *how) {
    const char *end = how + strlen(how);
    double value;
    return mc_number_read(how, end, &value) == end && value == floor(value) && value >= 1 && value < 1e15
               ? (int64_t)value
               : 0;
}

int64_t mc_landmarks_count(const char *how, int64_t n, int64_t rank) {
    const int64_t alone = count_in(how), listed = count_commas(how) + 1, m = alone ? alone : listed > 1 ? listed : rank;
    return m < n ? m : n;
}

static mercer_status next_number(mercer_ctx *ctx, const char **at, int64_t n, int64_t *out) {
    const char *text = *at, *end = text + strlen(text);
    double value;
    const char *after = mc_number_read(text, end, &value);
    if (!after || value != floor(value) || value < 1 || value > (double)n)
        return mc_fail(ctx, MERCER_INVALID,
                       "ridge: landmarks must be 'pivots', 'uniform', how many, or row numbers from 1 to %lld "
                       "separated by commas, got '%.40s'",
                       (long long)n, text);
    *out = (int64_t)value - 1;
    *at = *after == ',' ? after + 1 : after;
    return MERCER_OK;
}

static mercer_status read_list(mercer_ctx *ctx, const mc_problem *p, const char *text, int64_t *rows, int64_t *count) {
    for (*count = 0; *text; ++*count)
        MC_TRY(next_number(ctx, &text, p->n, &rows[*count]));
    return MERCER_OK;
}

/* ---- Pivots ---- */

typedef struct pool {
    mercer_data *few; /* NULL: all rows */
    mc_gram *gram;
    double *root;
    mc_lowrank *f;
} pool;

static mercer_status grow_pivoted_factor(mercer_ctx *ctx, const mc_problem *p, pool *s, const int64_t *rows,
                                         int64_t size, int64_t m) {
    const mercer_data *x = p->x;
    if (size < p->n) {
        MC_TRY(mc_data_take(ctx, p->x, rows, size, &s->few));
        x = s->few;
    }
    if (p->root) {
        MC_TRY(MC_ALLOC(ctx, s->root, size));
        for (int64_t i = 0; i < size; i++)
            s->root[i] = p->root[rows[i]];
    }
    MC_TRY(mc_gram_open(ctx, p->kernel, x, NULL, MERCER_F32, &s->gram));
    const mc_matrix K = mc_gram_matrix(s->gram);
    MC_TRY(mc_lowrank_open(ctx, &K, s->root, ctx->options.seed, &s->f));
    const mercer_status status = mc_lowrank_grow(ctx, s->f, m, 0);
    mc_lowrank_settle(s->f);
    return status;
}

static int by_number(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The pivots first, then other rows of the pool in its random order until there are m: where floats can tell no further
   pivot from rounding, doubles can, and whoever factors the landmarks drops those that depend on others. taken: the
   places of the pivots in the pool, which are sorted. */
static void list_landmarks(int64_t *taken, int64_t pivots, int64_t rows_of_pool, int64_t m, int64_t *chosen,
                           int64_t *rows, int64_t *count) {
    for (int64_t k = 0; k < pivots; k++)
        chosen[k] = rows[taken[k]];
    qsort(taken, (size_t)pivots, sizeof *taken, by_number);
    *count = pivots;
    for (int64_t i = 0, k = 0; i < rows_of_pool && *count < m; i++)
        if (k < pivots && taken[k] == i)
            k++;
        else
            chosen[(*count)++] = rows[i];
    memcpy(rows, chosen, (size_t)*count * sizeof *rows);
}

/* rows: a random order of all rows, whose first ones are the pool; then the landmarks. */
static mercer_status by_pivots(mercer_ctx *ctx, const mc_problem *p, int64_t m, int64_t *rows, int64_t *count) {
    const int64_t size = pool_of(p->n, m);
    mc_landmarks_uniform(ctx->options.seed, 2, p->n, size, rows);
    pool s = {0};
    int64_t *chosen = NULL;
    mercer_status status = grow_pivoted_factor(ctx, p, &s, rows, size, m);
    MC_THEN(status, MC_ALLOC(ctx, chosen, m + 1));
    if (!status)
        list_landmarks(s.f->pivot, s.f->rank, size, m, chosen, rows, count);
    mc_free(chosen);
    mc_lowrank_close(s.f);
    mc_gram_close(s.gram);
    mc_free(s.root);
    mercer_data_free(s.few);
    return status;
}

mercer_status mc_landmarks_choose(mercer_ctx *ctx, const mc_problem *p, const char *how, int64_t m, int64_t **out,
                                  int64_t *count) {
    const int64_t listed = count_commas(how) + 1, alone = count_in(how);
    *out = NULL;
    if (alone > p->n)
        return mc_fail(ctx, MERCER_INVALID,
                       "ridge: %lld landmarks were asked for, and there are %lld rows; ask for fewer", (long long)alone,
                       (long long)p->n);
    MC_TRY(MC_ALLOC(ctx, *out, listed > p->n ? listed : p->n));
    *count = m;
    mercer_status status = MERCER_OK;
    if (alone || strcmp(how, "pivots") == 0)
        status = by_pivots(ctx, p, m, *out, count);
    else if (strcmp(how, "uniform") == 0)
        mc_landmarks_uniform(ctx->options.seed, 3, p->n, m, *out);
    else
        status = read_list(ctx, p, how, *out, count);
    if (!status && *count < 1)
        status = mc_fail(ctx, MERCER_INVALID, "ridge: no landmark could be found");
    if (status) {
        mc_free(*out);
        *out = NULL;
    }
    return status;
}
