/* sampled_residual.c: the residual of the exact problem on some of its rows.

   A function f with intercept b implies coefficients alpha = W (y - b - f) / lambda: those it would have if it were
   optimal, for then f = K alpha. In the scaled system (S = sqrt W, M = S K S, A = M + lambda I, beta = S^-1 alpha)

       r = S (y - b) - A beta = S (f - K alpha),

   so that r is zero at the exact answer only. If b is optimal given f (sum alpha = 0), the fitted values and the exact
   ones differ by S (f + b - f* - b*) = lambda e with A e + c s = r and s'e = 0, hence |S (f + b - f* - b*)| <= |r|: the
   residual bounds, in the root mean square over the training rows, how far the predictions are from exact ones.

   |r|^2 is a sum over rows, each of which costs n entries of K. Half of those looked at are the rows where most is to
   be feared: with the largest sqrt(w) |alpha| k(x,x), which is what a row that is not represented at all adds to its
   own residual, and with the largest sqrt(w k(x,x)), which bounds what others add. The other half are drawn at random
   from the rest. What is told is the sum over the first and, for the rest, Student's upper limit with Johnson's (1978)
   correction for skewed numbers. It is an estimate and no bound: no sample knows what one row that it missed can hold.
   */
#include "certify/sampled_residual.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/workspace.h"
#include "certify/certificate.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "kernel/language/kernel.h"
#include <math.h>

enum { SAMPLE = 1024 };
static const double QUANTILE = 2.3263478740408408; /* 99% of a normal law */

typedef struct residual_sample {
    const mc_problem *p;
    int64_t q;
    int64_t heavy; /* the first of them, which were chosen; the others were drawn */
    int64_t *rows;
    double *alpha, *KA; /* n x outputs; q x outputs */
} residual_sample;

static int64_t sample_of(int64_t n) {
    return n < SAMPLE ? n : SAMPLE;
}

static void lay_out_workspace(mc_work *work, void *self) {
    residual_sample *s = self;
    s->rows = mc_work_take(work, s->p->n, 8);
    s->alpha = mc_work_take(work, s->p->n * s->p->outputs, 8);
    s->KA = mc_work_take(work, s->q * s->p->outputs, 8);
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

size_t mc_sampled_residual_bytes(mercer_ctx *ctx, const mc_problem *p) {
    const int64_t q = sample_of(p->n);
    mercer_data few = *p->x;
    few.n = q;
    return mc_slices_bytes(lay_out_workspace, &(residual_sample){.p = p, .q = q})
           + mc_slices_bytes(cut_scores, &(scores){.n = p->n}) + (size_t)(q * p->x->d) * 16
           + mc_gram_bytes(ctx, p->kernel, &few, p->x, MERCER_F64, p->outputs)
           + mc_work_need(ctx->threads * mc_data_row_width(p->x), 8) + 32 * MC_ALIGN;
}

double mc_sampled_residual_upper(int64_t population, int64_t sample, double mean, double deviation, double skewness) {
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

static void choose_sampled_rows(mercer_ctx *ctx, residual_sample *s, scores *c) {
    const int64_t n = s->p->n, outputs = s->p->outputs, quarter = s->q / 4;
    for (int64_t i = 0; i < n; i++) {
        double mass = 0;
        for (int64_t k = 0; k < outputs; k++)
            mass += fabs(s->alpha[i * outputs + k]);
        c->weight[i] = sqrt(mc_problem_weight(s->p, i)) * mass * fabs(c->self[i]);
    }
    rank_rows(s->rows, c->scratch, 0, n, c->weight);
    for (int64_t i = 0; i < n; i++)
        c->weight[i] = sqrt(mc_problem_weight(s->p, i) * fabs(c->self[i]));
    rank_rows(s->rows, c->scratch, quarter, n, c->weight);
    s->heavy = 2 * quarter;
    draw_rows(ctx->options.seed, n, s->heavy, s->q, s->rows);
}

static mercer_status choose_rows(mercer_ctx *ctx, residual_sample *s) {
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

static void implied_coefficients(const residual_sample *s, double lambda, const double *F, const double *b) {
    const int64_t outputs = s->p->outputs;
    for (int64_t i = 0; i < s->p->n * outputs; i++)
        s->alpha[i] = mc_problem_weight(s->p, i / outputs) * (s->p->Y[i] - b[i % outputs] - F[i]) / lambda;
}

static mercer_status sampled_products(mercer_ctx *ctx, const residual_sample *s) {
    const mc_problem *p = s->p;
    mercer_data *few = NULL;
    mc_gram *gram = NULL;
    MC_TRY(mc_data_take(ctx, p->x, s->rows, s->q, &few));
    mercer_status status = mc_gram_open(ctx, p->kernel, few, p->x, MERCER_F64, &gram);
    MC_THEN(status, mc_gram_apply(ctx, gram, p->outputs, s->alpha, s->KA));
    mc_gram_close(gram);
    mercer_data_free(few);
    return status;
}

/* |r_i|^2 over the outputs, for the a-th row of the sample. */
static double square_at(const residual_sample *s, const double *F, int64_t a) {
    const int64_t outputs = s->p->outputs, i = s->rows[a];
    double sum = 0;
    for (int64_t k = 0; k < outputs; k++) {
        const double r = F[i * outputs + k] - s->KA[a * outputs + k];
        sum += mc_problem_weight(s->p, i) * r * r;
    }
    return sum;
}

static void conclude_residual(const residual_sample *s, const double *F, mercer_certificate *out) {
    const int64_t n = s->p->n, outputs = s->p->outputs;
    const double drawn = (double)(s->q - s->heavy), rest = (double)(n - s->heavy);
    double mean = 0, second = 0, third = 0, target = 0, heavy = 0;
    for (int64_t a = 0; a < s->heavy; a++)
        heavy += square_at(s, F, a);
    for (int64_t a = s->heavy; a < s->q; a++)
        mean += square_at(s, F, a) / drawn;
    for (int64_t a = s->heavy; a < s->q; a++) {
        const double d = square_at(s, F, a) - mean;
        second += d * d / drawn;
        third += d * d * d / drawn;
    }
    for (int64_t i = 0; i < n * outputs; i++)
        target += mc_problem_weight(s->p, i / outputs) * s->p->Y[i] * s->p->Y[i];
    const double skewness = second > 0 ? third / (second * sqrt(second)) : 0;
    const double upper = mc_sampled_residual_upper(n - s->heavy, s->q - s->heavy, mean,
                                                   sqrt(second * drawn / fmax(1, drawn - 1)), skewness);
    *out = mc_certificate_blank("sampled residual");
    out->sampled_rows = s->q;
    out->residual = sqrt(heavy + rest * upper);
    out->residual_estimate = sqrt(heavy + rest * mean);
    out->residual_relative = target > 0 ? out->residual / sqrt(target) : out->residual;
}

mercer_status mc_sampled_residual_check(mercer_ctx *ctx, const mc_problem *p, double lambda, const double *F,
                                        const double *b, mercer_certificate *out) {
    residual_sample s = {.p = p, .q = sample_of(p->n)};
    mc_work work;
    MC_TRY(mc_work_lay(ctx, &work, lay_out_workspace, &s));
    implied_coefficients(&s, lambda, F, b);
    mercer_status status = choose_rows(ctx, &s);
    MC_THEN(status, sampled_products(ctx, &s));
    if (!status)
        conclude_residual(&s, F, out);
    mc_work_close(&work);
    return status;
}
