/* sampled_rows.c: sums over all rows, from some of them, where a row costs n entries of K.

   Half of those looked at are the rows where most is to be feared: with the largest sqrt(w) |alpha| k(x,x), which is
   what a row that is not represented at all adds to its own residual, and with the largest sqrt(w k(x,x)), which
   bounds what others add. The other half are drawn at random from the rest. What is told is the sum over the first
   and, for the rest, Student's upper limit with Johnson's (1978) correction for skewed numbers. It is an estimate and
   no bound: no sample knows what one row that it missed can hold. */
#include "certify/sampled_rows.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "kernel/language/kernel.h"
#include <math.h>

enum { SAMPLE = 1024 };
static const double QUANTILE = 2.3263478740408408; /* 99% of a normal law */

static void lay_out_sample(mc_work *work, void *self) {
    mc_row_sample *s = self;
    s->q = s->p->n < SAMPLE ? s->p->n : SAMPLE;
    s->rows = mc_work_take(work, s->p->n, 8);
    s->alpha = mc_work_take(work, s->p->n * s->width, 8);
    s->KA = mc_work_take(work, s->q * s->width, 8);
    s->number = mc_work_take(work, s->q, 8);
}

mercer_status mc_row_sample_open(mercer_ctx *ctx, const mc_problem *p, int64_t width, mc_row_sample *out) {
    *out = (mc_row_sample){.p = p, .width = width};
    return mc_work_lay(ctx, &out->work, lay_out_sample, out);
}

void mc_row_sample_close(mc_row_sample *s) {
    mc_work_close(&s->work);
}

/* What the rows are chosen by. */
typedef struct scores {
    int64_t n;
    double *self, *weight; /* k(x, x), and what the rows are sorted by */
    int64_t *scratch;
} scores;

static void cut_scores(mc_work *work, void *self) {
    scores *c = self;
    c->self = mc_work_take(work, c->n, 8);
    c->weight = mc_work_take(work, c->n, 8);
    c->scratch = mc_work_take(work, c->n, 8);
}

size_t mc_row_sample_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t width) {
    mc_row_sample s = {.p = p, .width = width};
    const size_t own = mc_slices_bytes(lay_out_sample, &s);
    mercer_data few = *p->x;
    few.n = s.q;
    return own + mc_slices_bytes(cut_scores, &(scores){.n = p->n}) + (size_t)(s.q * p->x->d) * 16
           + mc_gram_bytes(ctx, p->kernel, &few, p->x, MERCER_F64, width)
           + mc_work_need(ctx->threads * mc_data_row_width(p->x), 8) + 32 * MC_ALIGN;
}

double mc_sample_upper(int64_t population, int64_t sample, double mean, double deviation, double skewness) {
    if (sample >= population)
        return mean;
    const double q = (double)sample, t = QUANTILE * (1 + (QUANTILE * QUANTILE + 1) / (4 * (q - 1)));
    const double left = 1 - q / (double)population; /* what a sample without replacement leaves open */
    return mean + (t + (1 + 2 * t * t) * fmax(0, skewness) / (6 * sqrt(q))) * deviation * sqrt(left / q);
}

/* ---- Which rows ---- */

static int heavier_first(const void *arg, int64_t a, int64_t b) {
    const double *weight = arg;
    return weight[a] > weight[b] ? -1 : weight[a] < weight[b] ? 1 : a < b ? -1 : a > b;
}

/* The heaviest of rows from .. n-1 of the list to its front. */
static void rank_rows(int64_t *rows, int64_t *scratch, int64_t from, int64_t n, const double *weight) {
    mc_sort(rows + from, scratch, n - from, heavier_first, weight);
}

/* The first q of a random permutation of the rest. */
static void draw_rows(uint64_t seed, int64_t n, int64_t from, int64_t q, int64_t *rows) {
    mc_rng rng = mc_rng_at(seed, MC_STREAM_SAMPLE, 0);
    for (int64_t i = from; i < q; i++) {
        const int64_t j = i + mc_rng_below(&rng, n - i), t = rows[i];
        rows[i] = rows[j];
        rows[j] = t;
    }
}

static void choose_sampled_rows(mercer_ctx *ctx, mc_row_sample *s, scores *c) {
    const int64_t n = s->p->n, width = s->width, quarter = s->q / 4;
    for (int64_t i = 0; i < n; i++) {
        double mass = 0;
        for (int64_t k = 0; k < width; k++)
            mass += fabs(s->alpha[i * width + k]);
        c->weight[i] = sqrt(mc_problem_weight(s->p, i)) * mass * fabs(c->self[i]);
    }
    rank_rows(s->rows, c->scratch, 0, n, c->weight);
    for (int64_t i = 0; i < n; i++)
        c->weight[i] = sqrt(mc_problem_weight(s->p, i) * fabs(c->self[i]));
    rank_rows(s->rows, c->scratch, quarter, n, c->weight);
    s->heavy = 2 * quarter;
    draw_rows(ctx->options.seed, n, s->heavy, s->q, s->rows);
}

mercer_status mc_row_sample_choose(mercer_ctx *ctx, mc_row_sample *s) {
    const int64_t n = s->p->n;
    scores c = {.n = n};
    mc_work work;
    for (int64_t i = 0; i < n; i++)
        s->rows[i] = i;
    if (s->q == n)
        return MERCER_OK;
    MC_TRY(mc_work_lay(ctx, &work, cut_scores, &c));
    const mercer_status status = mc_kernel_diagonal(ctx, s->p->kernel, s->p->x, c.self);
    if (!status)
        choose_sampled_rows(ctx, s, &c);
    mc_work_close(&work);
    return status;
}

/* ---- What they say ---- */

mercer_status mc_row_sample_multiply(mercer_ctx *ctx, const mc_row_sample *s) {
    const mc_problem *p = s->p;
    mercer_data *few = NULL;
    mc_gram *gram = NULL;
    MC_TRY(mc_data_take(ctx, p->x, s->rows, s->q, &few));
    mercer_status status = mc_gram_open(ctx, p->kernel, few, p->x, MERCER_F64, &gram);
    MC_THEN(status, mc_gram_apply(ctx, gram, s->width, s->alpha, s->KA));
    mc_gram_close(gram);
    mercer_data_free(few);
    return status;
}

mc_sample_total mc_row_sample_total(const mc_row_sample *s) {
    const double drawn = (double)(s->q - s->heavy), rest = (double)(s->p->n - s->heavy), *x = s->number;
    double mean = 0, second = 0, third = 0, heavy = 0;
    for (int64_t a = 0; a < s->heavy; a++)
        heavy += x[a];
    for (int64_t a = s->heavy; a < s->q; a++)
        mean += x[a] / drawn;
    for (int64_t a = s->heavy; a < s->q; a++) {
        const double d = x[a] - mean;
        second += d * d / drawn;
        third += d * d * d / drawn;
    }
    const double skewness = second > 0 ? third / (second * sqrt(second)) : 0;
    const double upper =
        mc_sample_upper(s->p->n - s->heavy, s->q - s->heavy, mean, sqrt(second * drawn / fmax(1, drawn - 1)), skewness);
    return (mc_sample_total){heavy + rest * mean, heavy + rest * upper};
}
