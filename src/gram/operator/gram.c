/* gram.c: opening and closing the operator: compile the expression, pack the points, have the reference evaluator give
   the diagonal. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "gram/operator/precomputed.h"
#include "gram/tile/multiply.h"
#include <float.h>
#include <math.h>

typedef struct judged {
    const mc_gram *gram;
    double *scratch; /* d per thread */
} judged;

static void judge_diagonal(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const judged *j = arg;
    const mercer_data *x = j->gram->x;
    double *row = j->scratch + thread * mc_data_row_width(x);
    for (int64_t i = begin; i < end; i++) {
        mc_data_row(x, i, row);
        j->gram->diagonal[i] = mc_eval(j->gram->kernel->root, row, row, x->d);
    }
}

static mercer_status fill_diagonal(mercer_ctx *ctx, mc_gram *g) {
    judged j = {.gram = g};
    MC_TRY(MC_ALLOC(ctx, g->diagonal, g->x->n));
    MC_TRY(MC_ALLOC(ctx, j.scratch, ctx->threads * mc_data_row_width(g->x)));
    const mercer_status status = mc_for(ctx, g->x->n, 64, judge_diagonal, &j);
    mc_free(j.scratch);
    return status;
}

static mercer_status check_pair(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x,
                                const mercer_data *z) {
    MC_TRY(mc_kernel_check_data(ctx, kernel, x));
    return z ? mc_kernel_check_data(ctx, kernel, z) : MERCER_OK;
}

static mercer_status fill(mercer_ctx *ctx, mc_gram *g, mercer_dtype precision) {
    MC_TRY(mc_gram_choose(ctx, g, precision));
    MC_TRY(mc_gram_pack(ctx, g));
    if (!g->symmetric)
        return MERCER_OK;
    MC_TRY(g->as_given ? MERCER_OK : mc_precomputed_symmetry(ctx, g));
    return fill_diagonal(ctx, g);
}

static mercer_status open_operator(mercer_ctx *ctx, mc_gram from, mercer_dtype precision, mc_gram **out) {
    *out = NULL;
    MC_TRY(check_pair(ctx, from.kernel, from.x, from.symmetric ? NULL : from.z));
    mc_gram *g = NULL;
    MC_TRY(MC_ALLOC(ctx, g, 1));
    *g = from;
    const mercer_status status = fill(ctx, g, precision);
    if (status) {
        mc_gram_close(g);
        return status;
    }
    *out = g;
    return MERCER_OK;
}

mercer_status mc_gram_open(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, const mercer_data *z,
                           mercer_dtype precision, mc_gram **out) {
    return open_operator(ctx, (mc_gram){.kernel = kernel, .x = x, .z = z ? z : x, .symmetric = !z}, precision, out);
}

mercer_status mc_gram_open_as_given(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, mc_gram **out) {
    return open_operator(ctx, (mc_gram){.kernel = kernel, .x = x, .z = x, .symmetric = true, .as_given = true},
                         MERCER_F64, out);
}

void mc_gram_close(mc_gram *gram) {
    if (!gram)
        return;
    if (gram->kept)
        mc_gram_give_back(gram);
    if (gram->lent)
        mc_gram_close_lent(gram);
    else
        mc_plan_free(&gram->plan);
    mercer_data_free(gram->taken);
    mc_free(gram->diagonal);
    mc_free(gram->fault);
    mc_free(gram);
}

int64_t mc_gram_rows(const mc_gram *gram) {
    return gram->x->n;
}

int64_t mc_gram_columns(const mc_gram *gram) {
    return gram->z->n;
}

mercer_dtype mc_gram_precision(const mc_gram *gram) {
    return gram->precision;
}

double mc_gram_entry_error(const mc_gram *gram) {
    return gram->bound.error;
}

void mc_gram_entry_terms(const mc_gram *gram, double *relative, double *rest) {
    mc_plan_terms(&gram->plan, gram->ops, gram->bound.error, relative, rest);
}

/* A row's sum runs in the tile's precision, then in double; products, right-hand sides and coefficients are rounded
   once each. What floats lose near 0 is far below a rounding of the largest. */
void mc_gram_product_terms(const mc_gram *gram, int64_t t, double *relative, double *rest) {
    const double u = gram->ops->unit, adds = (double)mc_row_additions(gram->ops, t);
    const double sum = adds * u / (1 - adds * u) + (double)(gram->z->n + 8) * DBL_EPSILON;
    double entry;
    mc_plan_terms(&gram->plan, gram->ops, gram->bound.error, &entry, rest);
    const bool positive = entry > 0 || gram->bound.low >= 0;
    const double all = entry + sum + entry * sum;
    *relative = all >= 0.5 ? INFINITY : positive ? 1.01 * all / (1 - all) : 0;
    *rest = 1.01 * (*rest * (2 + sum) + FLT_MIN + (positive ? 0 : sum * gram->bound.size));
}

double mc_gram_entry_size(const mc_gram *gram) {
    return gram->bound.size;
}
