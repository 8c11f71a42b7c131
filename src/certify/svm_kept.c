/* svm_kept.c: the decisions of training rows from a K that the operator made from them in double and that was kept
   (mc_kept_kernel): sums of its entries, made here from the multipliers. An entry is as right as the operator says, and
   adding up is counted on top. That K is still what the rows make it is looked at: some rows, drawn at random, are made
   anew and their values compared. Where every pair of classes had a K of its own its sums were made while that was
   there; of a pair that has moved since, or never had one, rows are multiplied with the vectors as they come. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/status.h"
#include "certify/ridge_certificate.h"
#include "certify/svm_certificate.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include <math.h>
#include <string.h>

enum { ROWS = 512, SAMPLED_ROWS = 4 }; /* of a program decided at once; made anew */

typedef struct products {
    mc_svm *s;
    mc_isa isa;
    int64_t *first; /* chunk of each task */
    double *c;      /* of each thread */
    int64_t most;   /* rows of a task */
} products;

static int64_t task_of_chunk(const products *p, int64_t chunk) {
    int64_t low = 0, high = p->s->tasks;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        *(p->first[middle] <= chunk ? &low : &high) = middle;
    }
    return low;
}

static void multiply_chunk(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const products *p = arg;
    const int64_t k = task_of_chunk(p, chunk), from = (chunk - p->first[k]) * ROWS;
    mc_svm_program *t = &p->s->task[k];
    const mc_kernel_runs K = mc_svm_program_runs(p->s, t, p->isa);
    double *c = p->c + thread * p->most;
    for (int64_t i = 0; i < t->n; i++)
        c[i] = mc_svm_program_multiplier(t, i);
    mc_kernel_runs_multiply(&K, c, from, from + ROWS < t->n ? from + ROWS : t->n, t->f);
}

static mercer_status multiply_all(mercer_ctx *ctx, mc_svm *s) {
    products p = {.s = s, .isa = ctx->isa};
    MC_TRY(MC_ALLOC(ctx, p.first, s->tasks + 1));
    for (int64_t k = 0; k < s->tasks; k++) {
        p.first[k + 1] = p.first[k] + mc_chunk_count(s->task[k].n, ROWS);
        p.most = s->task[k].n > p.most ? s->task[k].n : p.most;
    }
    const int64_t chunks = p.first[s->tasks];
    p.c = mc_alloc_unset(ctx, mc_for_threads(ctx, chunks) * p.most, sizeof *p.c);
    const mercer_status status = p.c ? mc_for(ctx, chunks, 1, multiply_chunk, &p) : MERCER_MEMORY;
    mc_free(p.c);
    mc_free(p.first);
    return status;
}

/* ---- Pairs that had a K of their own, and those that had none ---- */

void mc_svm_program_decide(mc_svm_program *t, const mc_kernel_runs *K, mc_work scratch) {
    double *c = mc_work_take(&scratch, t->n, sizeof *c);
    for (int64_t i = 0; i < t->n; i++)
        c[i] = mc_svm_program_multiplier(t, i);
    mc_kernel_runs_multiply(K, c, 0, t->n, t->f);
    t->decided = true;
}

/* Rows of the data that a program has, all of them or those with a multiplier, and the multipliers. */
static int64_t list_program_rows(const mc_svm *s, const mc_svm_program *t, bool all, int64_t *rows, double *c) {
    int64_t count = 0;
    for (int64_t i = 0; i < t->n; i++) {
        const double multiplier = mc_svm_program_multiplier(t, i);
        if (!all && multiplier == 0)
            continue;
        c[count] = multiplier;
        rows[count++] = mc_svm_program_row(s, t, i);
    }
    return count;
}

static mercer_status multiply_rows(mercer_ctx *ctx, const mc_svm *s, mc_svm_program *t, int64_t *rows, double *c,
                                   mc_product_error *error) {
    mercer_data *left = NULL, *right = NULL;
    mc_gram *gram = NULL;
    mercer_status status = mc_data_take(ctx, s->p.x, rows, list_program_rows(s, t, true, rows, c), &left);
    const int64_t count = list_program_rows(s, t, false, rows, c);
    memset(t->f, 0, (size_t)t->n * sizeof *t->f);
    if (!status && count) {
        status = mc_data_take(ctx, s->p.x, rows, count, &right);
        MC_THEN(status, mc_gram_open(ctx, s->p.kernel, left, right, MERCER_F64, &gram));
        MC_THEN(status, mc_gram_apply(ctx, gram, 1, c, t->f));
    }
    if (gram)
        mc_gram_raise_error(gram, 1, error);
    mc_gram_close(gram);
    mercer_data_free(left);
    mercer_data_free(right);
    return status;
}

static mercer_status decide_program(mercer_ctx *ctx, const mc_svm *s, mc_svm_program *t, mc_product_error *error) {
    mc_work work;
    int64_t *rows = NULL;
    double *c = NULL;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(rows, t->n), MC_SLICE(c, t->n)));
    const mercer_status status = multiply_rows(ctx, s, t, rows, c, error);
    mc_work_close(&work);
    t->decided = !status;
    return status;
}

static mercer_status decide_others(mercer_ctx *ctx, mc_svm *s, mc_product_error *error) {
    for (int64_t k = 0; k < s->tasks; k++)
        if (!s->task[k].decided)
            MC_TRY(decide_program(ctx, s, &s->task[k], error));
    return MERCER_OK;
}

/* ---- Rows made anew ---- */

/* f of place i, from row r of K as the rows of the data make it. */
static mercer_status compare_value(mercer_ctx *ctx, const mc_svm *s, const mc_svm_program *t, int64_t i, int64_t r,
                                   const double *row, mc_product_error error) {
    long double value = 0, mass = 0, sizes = 0;
    for (int64_t k = 0; k < t->n; k++) {
        const double c = mc_svm_program_multiplier(t, k), entry = row[mc_svm_program_row(s, t, k)];
        value += (long double)entry * c;
        mass += fabs(c);
        sizes += fabsl((long double)entry * c);
    }
    if (fabsl(value - t->f[i]) <= 2.02L * (error.entry * mass + error.sum * sizes + mc_flushed_share(error.sum)))
        return MERCER_OK;
    return mc_fail(ctx, MERCER_INTERNAL,
                   "check: the function at row %lld is %.17g by the K that was kept and %.17g by the rows of the data; "
                   "fit again, and have the memory of this machine tested",
                   (long long)s->order[r] + 1, t->f[i], (double)value);
}

static mercer_status compare_rows(mercer_ctx *ctx, const mc_svm *s, const int64_t *sampled, const double *rows,
                                  mc_product_error error) {
    for (int64_t k = 0; k < SAMPLED_ROWS * s->tasks; k++) {
        const mc_svm_program *t = &s->task[k / SAMPLED_ROWS];
        const int64_t at = k % SAMPLED_ROWS, i = mc_svm_program_place(s, t, sampled[at]);
        if (i >= 0)
            MC_TRY(compare_value(ctx, s, t, i, sampled[at], rows + at * s->p.n, error));
    }
    return MERCER_OK;
}

static mercer_status decide_in_double(mercer_ctx *ctx, const mc_svm *s, mc_product_error error) {
    double *rows = NULL;
    int64_t sampled[SAMPLED_ROWS];
    mc_rng rng = mc_rng_at(ctx->options.seed, MC_STREAM_SAMPLE, 1);
    for (int i = 0; i < SAMPLED_ROWS; i++)
        sampled[i] = mc_rng_below(&rng, s->p.n);
    MC_TRY(MC_ALLOC(ctx, rows, SAMPLED_ROWS * s->p.n));
    mercer_status status = mc_gram_take(ctx, s->kept.gram, sampled, SAMPLED_ROWS, MERCER_F64, rows, s->p.n);
    MC_THEN(status, compare_rows(ctx, s, sampled, rows, error));
    mc_free(rows);
    return status;
}

mercer_status mc_svm_decide_kept(mercer_ctx *ctx, mc_svm *s, mc_product_error *error) {
    error->entry = mc_gram_entry_error(s->kept.gram);
    error->sum = mc_rounding_gamma(s->p.n + 2);
    MC_TRY(s->kept.K ? multiply_all(ctx, s) : decide_others(ctx, s, error));
    return decide_in_double(ctx, s, *error);
}
