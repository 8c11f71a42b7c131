/* widen.c: a model seen on more columns than it was fitted on.

   LIBSVM text names only the columns of a row that are not zero, so that a new file may have columns of which the
   training rows say nothing: every one of them has 0 there. These columns count as any other that training found
   constant: in distances and norms they do, in the inner products of linear and poly they meet zeros. */
#include "model/widen.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/language/node.h"
#include <string.h>

/* ---- Rows without what a model does not see ---- */

static bool weight_counts_zeros(const mc_function *f) {
    return f
           && (f->kind == MC_F_NORM || f->kind == MC_F_NORM2 || weight_counts_zeros(f->child[0])
               || weight_counts_zeros(f->child[1]));
}

/* Whether k(x, z) may depend on a column of x in which z is 0. */
static bool counts_zeros(const mc_node *node) {
    if (node->kind == MC_ATOM)
        return node->atom != MC_LINEAR && node->atom != MC_POLY && node->atom != MC_TANH;
    if (node->kind == MC_COLUMNS)
        return false;
    if (node->kind == MC_NORMALIZE || weight_counts_zeros(node->function))
        return true;
    for (int i = 0; i < node->children; i++)
        if (counts_zeros(node->child[i]))
            return true;
    return false;
}

static void narrow_sparse(mercer_data *rows, int64_t d) {
    const size_t size = mc_dtype_size(rows->dtype);
    char *values = rows->values;
    int64_t kept = 0;
    for (int64_t i = 0, k = 0; i < rows->n; i++) {
        for (const int64_t end = rows->row_start[i + 1]; k < end; k++)
            if (rows->column[k] < d) {
                rows->column[kept] = rows->column[k];
                memmove(values + (size_t)kept++ * size, values + (size_t)k * size, size);
            }
        rows->row_start[i + 1] = kept;
    }
}

static void narrow_dense(mercer_data *rows, int64_t d) {
    const size_t size = mc_dtype_size(rows->dtype), from = (size_t)rows->d * size, to = (size_t)d * size;
    char *values = rows->values;
    for (int64_t i = 1; i < rows->n; i++)
        memmove(values + (size_t)i * to, values + (size_t)i * from, to);
}

static mercer_status narrow(mercer_ctx *ctx, int64_t d, const mercer_data *data, mc_matched *m) {
    MC_TRY(mc_data_take(ctx, data, NULL, data->n, &m->narrow));
    (data->row_start ? narrow_sparse : narrow_dense)(m->narrow, d);
    m->narrow->d = d;
    m->rows = m->narrow;
    return MERCER_OK;
}

/* ---- Centres with more columns ---- */

static int64_t count_nonzero(const mercer_data *data) {
    int64_t count = 0;
    for (int64_t i = 0; i < data->n; i++)
        for (int64_t j = 0; j < data->d; j++)
            count += mc_data_value(data, i, j) != 0;
    return count;
}

/* The values of dense rows as sparse ones of d columns, which *out owns and nothing else. */
static mercer_status sparse_values(mercer_ctx *ctx, const mercer_data *data, int64_t d, mercer_data **out) {
    MC_TRY(mc_data_new_unset(ctx, data->n, d, data->dtype, count_nonzero(data), out));
    const size_t size = mc_dtype_size(data->dtype);
    int64_t stored = 0;
    (*out)->row_start[0] = 0;
    for (int64_t i = 0; i < data->n; i++) {
        for (int64_t j = 0; j < data->d; j++)
            if (mc_data_value(data, i, j) != 0) {
                memcpy((char *)(*out)->values + (size_t)stored * size,
                       (const char *)data->values + (size_t)(i * data->d + j) * size, size);
                (*out)->column[stored++] = (int32_t)j;
            }
        (*out)->row_start[i + 1] = stored;
    }
    return MERCER_OK;
}

static mercer_status widen_centres(mercer_ctx *ctx, const mercer_data *centres, int64_t d, mc_matched *m) {
    m->centres = *centres; /* lent, apart from the values of dense rows */
    m->centres.d = d;
    m->centres.name = m->centres.numbered = NULL; /* there are fewer of them */
    if (centres->row_start)
        return MERCER_OK;
    MC_TRY(sparse_values(ctx, centres, d, &m->sparse));
    m->centres.values = m->sparse->values;
    m->centres.row_start = m->sparse->row_start;
    m->centres.column = m->sparse->column;
    return MERCER_OK;
}

/* A column that is 0 in every training row is constant: it is left as it is. */
static mercer_status widen_scale(mercer_ctx *ctx, const mc_scale *scale, int64_t d, mc_scale *out) {
    *out = (mc_scale){.kind = scale->kind, .d = d};
    if (scale->kind == MC_SCALE_NONE)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, out->shift, d));
    MC_TRY(MC_ALLOC(ctx, out->factor, d));
    for (int64_t j = 0; j < d; j++) {
        out->shift[j] = j < scale->d ? scale->shift[j] : 0;
        out->factor[j] = j < scale->d ? scale->factor[j] : 1;
    }
    return MERCER_OK;
}

/* Weights of the linear kernel, one for each column; 0 for those that no training row has. */
static mercer_status widen_weights(mercer_ctx *ctx, const mc_fitted *f, int64_t d, mc_matched *m) {
    const int64_t decisions = mc_form_decisions(f->form, f->outputs);
    MC_TRY(MC_ALLOC(ctx, m->weights, decisions * d));
    for (int64_t k = 0; k < decisions; k++)
        memcpy(m->weights + k * d, f->primal + k * f->features, (size_t)f->features * sizeof *f->primal);
    m->wide.f.primal = m->weights;
    m->wide.f.features = d;
    return MERCER_OK;
}

static bool is_user(const mc_node *node) {
    return node->kind == MC_ATOM && node->atom == MC_USER;
}

static mercer_status refuse(mercer_ctx *ctx, const mc_fitted *f, int64_t d, const char *why) {
    return mc_fail(ctx, MERCER_DATA,
                   "the rows have values up to column %lld and the model was fitted on %lld columns, which cannot be "
                   "added to: %s; leave out the values beyond column %lld, or fit again on rows that have such columns",
                   (long long)d, (long long)f->centres->d, why, (long long)f->centres->d);
}

static mercer_status widen(mercer_ctx *ctx, const mc_fitted *f, int64_t d, mc_matched *m) {
    if (f->waves)
        return refuse(ctx, f, d, "its random Fourier features were drawn for them");
    if (mc_node_any(f->kernel->root, is_user))
        return refuse(ctx, f, d, "its kernel is a function of your program, which was shown rows of so many");
    if (f->primal && !mc_kernel_linear(f->kernel))
        return refuse(ctx, f, d, "it is weights of features of these columns");
    MC_TRY(widen_centres(ctx, f->centres, d, m));
    MC_TRY(widen_scale(ctx, &f->scale, d, &m->wide.f.scale));
    if (f->primal)
        MC_TRY(widen_weights(ctx, f, d, m));
    const mercer_status status = mc_kernel_bind(ctx, f->kernel, &m->centres, &m->kernel);
    return status == MERCER_DATA ? refuse(ctx, f, d, "its kernel has numbers for each of them") : status;
}

/* ---- Both ---- */

static mercer_status widen_model(mercer_ctx *ctx, const mercer_model *model, int64_t d, mc_matched *m) {
    m->wide = *model;
    m->wide.f.scale = (mc_scale){0};
    m->wide.f.kept = NULL;
    m->wide.f.report.d = d;
    MC_TRY(widen(ctx, &model->f, d, m));
    m->wide.f.centres = &m->centres;
    m->wide.f.kernel = m->kernel;
    m->model = &m->wide;
    return MERCER_OK;
}

static mercer_status match(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, bool keeps,
                           mc_matched *m) {
    const int64_t d = model->f.centres->d;
    const bool open = model->f.open || data->open;
    if (open && data->d > d)
        return keeps || counts_zeros(model->f.kernel->root) ? widen_model(ctx, model, data->d, m)
                                                            : narrow(ctx, d, data, m);
    if (!(open && data->d < d && data->row_start))
        return mc_model_check_columns(ctx, model, data);
    m->view = *data;
    m->view.d = d;
    m->view.name = m->view.numbered = NULL; /* there are fewer of them */
    m->rows = &m->view;
    return MERCER_OK;
}

mercer_status mc_match_columns(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, bool keeps,
                               mc_matched *out) {
    *out = (mc_matched){.model = model, .rows = data};
    const mercer_status status = match(ctx, model, data, keeps, out);
    if (status)
        mc_matched_free(out);
    return status;
}

void mc_matched_free(mc_matched *m) {
    mercer_data_free(m->sparse);
    mercer_data_free(m->narrow);
    mercer_kernel_free(m->kernel);
    mc_scale_free(&m->wide.f.scale);
    mc_free(m->weights);
    *m = (mc_matched){0};
}
