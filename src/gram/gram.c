/* gram.c: opening the operator, and blocks of K entry by entry through the judge. */
#include "gram/operator_state.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"

static mercer_status copy_rows(mercer_ctx *ctx, const mercer_data *data, double **out) {
    MC_TRY(MC_ALLOC(ctx, *out, data->n * data->d));
    for (int64_t i = 0; i < data->n; i++)
        mercer_data_row(data, i, *out + i * data->d);
    return MERCER_OK;
}

static mercer_status check_pair(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, const mercer_data *z) {
    MC_TRY(mc_kernel_check_data(ctx, kernel, x));
    return z ? mc_kernel_check_data(ctx, kernel, z) : MERCER_OK;
}

mercer_status mc_gram_open(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, const mercer_data *z,
                           mercer_dtype precision, mc_gram **out) {
    *out = NULL;
    (void)precision;
    MC_TRY(check_pair(ctx, kernel, x, z));
    mc_gram *g = NULL;
    MC_TRY(MC_ALLOC(ctx, g, 1));
    *g = (mc_gram){.kernel = kernel, .x = x, .z = z ? z : x, .symmetric = !z};
    mercer_status status = copy_rows(ctx, x, &g->left);
    if (!status && z)
        status = copy_rows(ctx, z, &g->right);
    if (status) {
        mc_gram_close(g);
        return status;
    }
    *out = g;
    return MERCER_OK;
}

void mc_gram_close(mc_gram *gram) {
    if (!gram)
        return;
    mc_free(gram->left);
    mc_free(gram->right);
    mc_free(gram);
}

size_t mc_gram_bytes(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, const mercer_data *z,
                     mercer_dtype precision) {
    (void)ctx, (void)kernel, (void)precision;
    return sizeof(double) * (size_t)((x->n + (z ? z->n : 0)) * x->d);
}

int64_t mc_gram_rows(const mc_gram *gram) {
    return gram->x->n;
}

int64_t mc_gram_columns(const mc_gram *gram) {
    return gram->z->n;
}

bool mc_gram_symmetric(const mc_gram *gram) {
    return gram->symmetric;
}

double mc_gram_value(const mc_gram *g, int64_t i, int64_t j) {
    const double *right = g->right ? g->right : g->left;
    return mc_eval(g->kernel->root, g->left + i * g->x->d, right + j * g->x->d, g->x->d);
}

double mc_gram_entry_error(const mc_gram *gram) {
    (void)gram;
    return 0;
}
