/* estimate_cg_steps.c: how many columns and steps conjugate gradients will take, from SAMPLE of the n rows.

   The eigenvalues of K are close to n/s times those of K on s rows drawn at random, so that what a column of a
   preconditioner gains there, times n/s, is what it will gain on all rows. The rule of iterative/preconditioner_rank.c
   is followed with gains seen on the sample up to a quarter of its rows, and carried on by the power that the last
   doubling shows. */
#include "learn/common/estimate_cg_steps.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/operator/gram_matrix.h"
#include "gram/operator/gram.h"
#include "learn/common/landmarks.h"
#include <math.h>

enum { SAMPLE = 1024, DOUBLINGS = 4, START = 32, DOUBLES = 2 }; /* ranks 32, 64, 128, 256 */

typedef struct gain_sample {
    int64_t rows, seen; /* seen: gains */
    double gain[DOUBLINGS];
    double hidden; /* 2^-24 times the trace of K on all rows: eigenvalues below it are not seen by floats */
    mercer_data *few;
    mc_gram *gram;
    double *root;
    mc_lowrank *f;
} gain_sample;

static mercer_status take_rows(mercer_ctx *ctx, const mc_problem *p, gain_sample *s) {
    int64_t *rows = NULL;
    MC_TRY(MC_ALLOC(ctx, rows, p->n));
    mc_landmarks_uniform(ctx->options.seed, 4, p->n, s->rows, rows);
    mercer_status status = mc_data_take(ctx, p->x, rows, s->rows, &s->few);
    if (!status && p->root)
        status = MC_ALLOC(ctx, s->root, s->rows);
    for (int64_t i = 0; !status && s->root && i < s->rows; i++)
        s->root[i] = p->root[rows[i]];
    mc_free(rows);
    return status;
}

static mercer_status sample_spectrum(mercer_ctx *ctx, const mc_problem *p, gain_sample *s) {
    MC_TRY(take_rows(ctx, p, s));
    MC_TRY(mc_gram_open(ctx, p->kernel, s->few, NULL, MERCER_F32, &s->gram));
    const mc_matrix K = mc_gram_matrix(s->gram);
    MC_TRY(mc_lowrank_open(ctx, &K, s->root, ctx->options.seed, &s->f));
    s->hidden = 0x1p-24 * s->f->trace * (double)p->n / (double)s->rows;
    for (int64_t rank = START; s->seen < DOUBLINGS && rank <= s->rows / 4 && !s->f->exhausted; rank *= 2) {
        MC_TRY(mc_lowrank_grow(ctx, s->f, rank, 0));
        s->gain[s->seen++] = s->f->gain * (double)p->n / (double)s->rows;
    }
    return MERCER_OK;
}

/* What a column gains after START 2^k of them; where nothing is left, what the rounding of floats hides. */
static double gain_at(const gain_sample *s, int64_t k) {
    if (k < s->seen)
        return s->gain[k];
    if (s->seen < 2 || (s->f && s->f->exhausted))
        return s->hidden;
    const double last = s->gain[s->seen - 1], before = s->gain[s->seen - 2];
    return last * pow(fmin(1, last / before), (double)(k - s->seen + 1));
}

static void follow_rank_rule(const gain_sample *s, const mc_rank_rule *rule, int64_t n, int64_t *rank, double *steps) {
    int64_t k = 1;
    *rank = 2 * START < rule->most ? 2 * START : rule->most;
    if (rule->asked)
        *rank = rule->asked < rule->most ? rule->asked : rule->most;
    for (int64_t next; !rule->asked && (next = mc_rank_next(rule, n, *rank, gain_at(s, k - 1), gain_at(s, k))) > *rank;
         k++)
        *rank = next;
    for (; rule->asked && START << k < *rank; k++)
        ;
    *steps = mc_rank_likely_steps(gain_at(s, k), rule->lambda, rule->tolerance);
    if (s->hidden > rule->lambda) /* then products in float are no help, and those in double cost twice as much */
        *steps = DOUBLES * mc_rank_likely_steps(fmax(gain_at(s, k), s->hidden), rule->lambda, rule->tolerance);
}

static size_t sample_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t rows) {
    mercer_data few = *p->x;
    few.n = rows;
    return mc_gram_bytes(ctx, p->kernel, &few, NULL, MERCER_F32, 0) + mc_lowrank_bytes(ctx, rows, rows / 4)
           + (size_t)(p->n + rows * (2 * p->x->d + 64)) * sizeof(double) + (1 << 16);
}

mercer_status mc_estimate_cg_steps(mercer_ctx *ctx, const mc_problem *p, const mc_rank_rule *rule, int64_t *rank,
                                   double *steps) {
    gain_sample s = {.rows = p->n < SAMPLE ? p->n : SAMPLE};
    if (mc_memory_left(ctx) < sample_bytes(ctx, p, s.rows))
        return MERCER_OK; /* no room to look: what was assumed stays */
    const mercer_status status = sample_spectrum(ctx, p, &s);
    if (!status)
        follow_rank_rule(&s, rule, p->n, rank, steps);
    mc_lowrank_close(s.f);
    mc_gram_close(s.gram);
    mc_free(s.root);
    mercer_data_free(s.few);
    return status;
}
