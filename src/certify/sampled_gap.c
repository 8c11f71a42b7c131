/* sampled_gap.c: the duality gap of the exact problem, for a function that was sought among those of some landmarks.

   The function f = sum_j beta_j k(z_j, .) is one of all functions, and its objective, computed here from the rows, is
   an upper bound on the optimum. Coefficients alpha of all rows that are feasible for the dual problem give a lower
   one,

       -sum c l*(y, v) - lambda/2 alpha'K alpha,     v = -lambda alpha / c,

   of which alpha'K alpha alone costs n^2 entries. It is alpha'f and the sum over the rows of alpha_i ((K alpha)_i -
   f_i), what the landmarks do not see, and that sum is known from some of the rows (certify/sampled_rows.c): an
   estimate, and no bound, unless these are all there are. */
#include "certify/sampled_gap.h"
#include "base/memory.h"
#include "base/status.h"
#include "certify/certificate.h"
#include "certify/sampled_rows.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include <float.h>
#include <math.h>

typedef struct sampled_gap {
    const mc_problem *p;
    mc_loss_task *tasks;
    int64_t count, width;
    double *F, *on_marks; /* n x width; m x width */
    double square_norm;
} sampled_gap;

size_t mc_sampled_gap_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t m, int64_t width) {
    mercer_data z = *p->x;
    z.n = m;
    const size_t products = mc_gram_bytes(ctx, p->kernel, p->x, &z, MERCER_F64, width)
                            + mc_gram_bytes(ctx, p->kernel, &z, NULL, MERCER_F64, width),
                 sample = mc_row_sample_bytes(ctx, p, width);
    return mc_work_need((p->n + m) * width, 8) + MC_ALIGN + (products > sample ? products : sample);
}

/* y <- K(x, z) beta. */
static mercer_status multiply_block(mercer_ctx *ctx, const sampled_gap *s, const mercer_data *x, const mercer_data *z,
                              const double *beta, double *y) {
    mc_gram *gram = NULL;
    MC_TRY(mc_gram_open(ctx, s->p->kernel, x, z, MERCER_F64, &gram));
    const mercer_status status = mc_gram_apply(ctx, gram, s->width, beta, y);
    mc_gram_close(gram);
    return status;
}

static mercer_status evaluate_function(mercer_ctx *ctx, sampled_gap *s, const mercer_data *z, const double *beta) {
    MC_TRY(multiply_block(ctx, s, s->p->x, z, beta, s->F));
    MC_TRY(multiply_block(ctx, s, z, NULL, beta, s->on_marks));
    long double sum = 0;
    for (int64_t j = 0; j < z->n * s->width; j++)
        sum += (long double)beta[j] * s->on_marks[j];
    s->square_norm = fmax(0, (double)sum);
    for (int64_t j = 0, column = 0; j < s->count; column += s->tasks[j++].k)
        for (int64_t i = 0; i < s->p->n; i++)
            for (int64_t l = 0; l < s->tasks[j].k; l++)
                s->tasks[j].f[i * s->tasks[j].k + l] = s->F[i * s->width + column + l];
    return MERCER_OK;
}

static void gather_coefficients(const sampled_gap *s, double *alpha) {
    for (int64_t j = 0, column = 0; j < s->count; column += s->tasks[j++].k)
        for (int64_t i = 0; i < s->p->n; i++)
            for (int64_t l = 0; l < s->tasks[j].k; l++)
                alpha[i * s->width + column + l] = s->tasks[j].alpha[i * s->tasks[j].k + l];
}

/* What the landmarks do not see of alpha'K alpha. */
static mercer_status measure_excess(mercer_ctx *ctx, const sampled_gap *s, double *excess, int64_t *looked_at) {
    mc_row_sample rows;
    MC_TRY(mc_row_sample_open(ctx, s->p, s->width, &rows));
    gather_coefficients(s, rows.alpha);
    mercer_status status = mc_row_sample_choose(ctx, &rows);
    MC_THEN(status, mc_row_sample_multiply(ctx, &rows));
    for (int64_t a = 0; a < rows.q && !status; a++) {
        const double *alpha = rows.alpha + rows.rows[a] * s->width, *F = s->F + rows.rows[a] * s->width;
        rows.number[a] = 0;
        for (int64_t l = 0; l < s->width; l++)
            rows.number[a] += alpha[l] * (rows.KA[a * s->width + l] - F[l]);
    }
    *excess = status ? 0 : fmax(0, mc_row_sample_total(&rows).upper);
    *looked_at = rows.q;
    mc_row_sample_close(&rows);
    return status;
}

static void conclude_gap(const sampled_gap *s, double excess, int64_t looked_at, mercer_report *out) {
    const double lambda = s->tasks[0].lambda;
    double loss = 0, dual = 0;
    for (const mc_loss_task *t = s->tasks; t < s->tasks + s->count; t++) {
        long double energy = 0;
        for (int64_t i = 0; i < t->n * t->k; i++)
            energy += (long double)t->alpha[i] * t->f[i];
        loss += mc_loss_sum(t, t->f, t->b);
        dual -=
            mc_loss_is_feasible(t, t->alpha) ? mc_loss_conjugate(t, t->alpha) + lambda / 2 * (double)energy : INFINITY;
    }
    mercer_certificate *c = &out->certificate;
    *c = mc_certificate_blank("sampled gap");
    c->primal = out->objective = loss + lambda / 2 * s->square_norm;
    c->dual = fmin(c->primal, dual - lambda / 2 * excess);
    c->gap = c->primal - c->dual;
    c->gap_relative = c->gap > 0 ? c->gap / fmax(fabs(c->primal), DBL_MIN) : 0;
    c->sampled_rows = looked_at;
    out->norm = sqrt(s->square_norm);
}

mercer_status mc_sampled_gap_check(mercer_ctx *ctx, const mc_problem *p, const mercer_data *z, const double *beta,
                                   mc_loss_task *tasks, int64_t count, mercer_report *out) {
    sampled_gap s = {.p = p, .tasks = tasks, .count = count, .width = tasks[0].k * count};
    double excess = 0;
    int64_t looked_at = 0;
    mc_work work;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(s.F, p->n * s.width), MC_SLICE(s.on_marks, z->n * s.width)));
    mercer_status status = evaluate_function(ctx, &s, z, beta);
    MC_THEN(status, measure_excess(ctx, &s, &excess, &looked_at));
    if (!status)
        conclude_gap(&s, excess, looked_at, out);
    mc_work_close(&work);
    return status;
}
