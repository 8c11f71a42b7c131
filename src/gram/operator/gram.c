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
    const mercer_kernel *kernel;
    const mercer_data *x;
    double *scratch; /* d per thread */
    double *out;
} judged;

static void judge_diagonal(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const judged *j = arg;
    double *row = j->scratch + thread * mc_data_row_width(j->x);
    for (int64_t i = begin; i < end; i++) {
        mc_data_row(j->x, i, row);
        j->out[i] = mc_eval(j->kernel->root, row, row, j->x->d);
    }
}

mercer_status mc_kernel_diagonal(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, double *out) {
    judged j = {.kernel = kernel, .x = x, .out = out};
    MC_TRY(MC_ALLOC(ctx, j.scratch, ctx->threads * mc_data_row_width(x)));
    const mercer_status status = mc_for(ctx, x->n, 64, judge_diagonal, &j);
    mc_free(j.scratch);
    return status;
}

static mercer_status fill_diagonal(mercer_ctx *ctx, mc_gram *g) {
    MC_TRY(MC_ALLOC(ctx, g->diagonal, g->x->n));
    return mc_kernel_diagonal(ctx, g->kernel, g->x, g->diagonal);
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

/* gamma of the additions, and of products, right-hand sides and coefficients, which are rounded once each. */
double mc_gram_sum_error(const mc_gram *gram, int64_t t) {
    const double u = gram->ops->unit;
    const mc_depth depth = mc_product_depth(gram, t);
    const double sum = (double)(depth.tile + 8) * u + (double)(depth.wide + 8) * DBL_EPSILON / 2;
    return sum < 0.5 ? sum / (1 - sum) : INFINITY;
}

/* What floats lose near 0 is far below a rounding of the largest. */
void mc_gram_product_terms(const mc_gram *gram, int64_t t, double *relative, double *rest) {
    const double sum = mc_gram_sum_error(gram, t);
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
