/* ridge_pcg_size.c: what conjugate gradients take in memory, and the columns that are worth their time there. */
#include "learn/ridge/ridge_pcg_state.h"
#include "base/workspace.h"
#include "gram/operator/gram_matrix.h"
#include "data/table/data.h"
#include <math.h>

enum {
    BATCH = 32, /* columns solved for at once */
    PAIRS = 512 /* rows of the largest block of proposals */
};
/* reading a stored entry counts for so many operations: dearer entries are worth storing */
static const double STORED_ENTRY = 90;

int64_t mc_ridge_pcg_batch(int64_t columns) {
    return columns < BATCH ? columns : BATCH;
}

void mc_ridge_pcg_lay_out(mc_work *work, void *self) {
    mc_ridge_pcg_solver *s = self;
    s->diagonal = mc_work_take(work, s->n, sizeof *s->diagonal);
    double **const vectors[] = {&s->B, &s->X, &s->V};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = mc_work_take(work, s->n * s->t, sizeof(double));
}

/* Everything but the operators, the stored matrix and the factor. */
static size_t vectors_bytes(int64_t n, int64_t t) {
    return mc_slices_bytes(mc_ridge_pcg_lay_out, &(mc_ridge_pcg_solver){.n = n, .t = t}) + mc_cached_product_bytes(n, t)
           + mc_cached_product_check_bytes(n) + mc_pcg_bytes(n, t) + 6 * MC_ALIGN;
}

static size_t factor_bytes(mercer_ctx *ctx, int64_t n, int64_t rank, int64_t t) {
    return mc_lowrank_bytes(ctx, n, rank) + mc_precondition_bytes(ctx, n, rank, t);
}

static size_t exact_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t t) {
    return mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F64, t) + 2 * MC_ALIGN;
}

/* What products in float, and the columns of F, come from. */
static size_t fast_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t t, bool stored) {
    if (stored)
        return mc_stored_bytes(p->n, t, true);
    return mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F32, t)
           + mc_gram_part_bytes(ctx, p->kernel, p->x, MERCER_F64, PAIRS) + 2 * MC_ALIGN;
}

static double values_of_row(const mercer_data *x) {
    return (double)mercer_data_stored(x) / (double)x->n;
}

/* Whether K is better read from memory than made: where entries are dear. */
static bool worth_storing(const mc_problem *p) {
    return mc_rank_entry(values_of_row(p->x)) > STORED_ENTRY;
}

typedef struct factor_size {
    mercer_ctx *ctx;
    int64_t n, t;
} factor_size;

static size_t factor_of_rank_bytes(const void *arg, int64_t rank) {
    const factor_size *s = arg;
    return factor_bytes(s->ctx, s->n, rank, s->t);
}

void mc_ridge_pcg_size(mercer_ctx *ctx, const mc_problem *p, int64_t columns, int64_t asked, size_t left,
                       mc_ridge_pcg_plan *out) {
    const int64_t t = mc_ridge_pcg_batch(columns), cap = asked && asked < p->n ? asked : mc_rank_cap(p->n);
    const size_t always = exact_bytes(ctx, p, t) + vectors_bytes(p->n, t), made = fast_bytes(ctx, p, t, false);
    *out = (mc_ridge_pcg_plan){.least = always + made + factor_bytes(ctx, p->n, 0, t)};
    out->stored = worth_storing(p) && always + fast_bytes(ctx, p, t, true) + factor_bytes(ctx, p->n, cap, t) <= left;
    const size_t fixed = always + (out->stored ? fast_bytes(ctx, p, t, true) : made);
    out->rank =
        mc_most_within(factor_of_rank_bytes, &(factor_size){ctx, p->n, t}, cap, left > fixed ? left - fixed : 0);
    out->bytes = fixed + factor_bytes(ctx, p->n, out->rank, t);
    out->trial = out->bytes + (out->stored ? made : 0);
}

mc_rank_rule mc_ridge_pcg_rule(const mc_problem *p, const mc_ridge_pcg_plan *plan, double lambda, double tolerance,
                               int64_t columns, int64_t asked) {
    const double entry = mc_rank_entry(values_of_row(p->x));
    return (mc_rank_rule){.lambda = lambda,
                          .tolerance = tolerance,
                          .entry = plan->stored ? 0 : entry, /* columns of a kept K are read */
                          .step = mc_rank_step(p->n, plan->stored ? STORED_ENTRY : entry, mc_ridge_pcg_batch(columns)),
                          .most = plan->rank,
                          .asked = asked,
                          .most_work = INFINITY};
}
