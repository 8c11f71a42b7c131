/* widen.c: a model seen on more columns than it was fitted on.

   LIBSVM text names only the columns of a row that are not zero, so that a new file may have columns of which the
   training rows say nothing: every one of them has 0 there. These columns count as any other that training found
   constant: in distances and norms they do, in the inner products of linear and poly they meet zeros. */
#include "model/widen.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "kernel/language/node.h"
#include "kernel/proof/proof.h"
#include <string.h>

/* ---- Rows without what a model does not see ---- */

static bool weight_counts_zeros(const mc_function *f, bool named) {
    return f
           && (f->kind == MC_F_NORM || f->kind == MC_F_NORM2 || (named && f->kind == MC_F_COLUMN)
               || weight_counts_zeros(f->child[0], named) || weight_counts_zeros(f->child[1], named));
}

/* Whether k(x, z) may depend on a column of x in which z is 0; named: the kernel may name that column. */
static bool counts_zeros(const mc_node *node, bool named) {
    if (node->kind == MC_ATOM)
        return node->atom != MC_LINEAR && node->atom != MC_POLY && node->atom != MC_TANH;
    if (node->kind == MC_COLUMNS && !named)
        return false;
    if (node->kind == MC_NORMALIZE || weight_counts_zeros(node->function, named))
        return true;
    for (int i = 0; i < node->children; i++)
        if (counts_zeros(node->child[i], named))
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

static mercer_status narrow_rows(mercer_ctx *ctx, int64_t d, const mercer_data *data, mc_matched *m) {
    MC_TRY(mc_data_take(ctx, data, NULL, data->n, &m->narrowed));
    (data->row_start ? narrow_sparse : narrow_dense)(m->narrowed, d);
    m->narrowed->d = d;
    m->rows = m->narrowed;
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
    m->centres = *centres; /* borrowed, apart from the values of dense rows */
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

static mercer_status fail_widen(mercer_ctx *ctx, const mc_fitted *f, int64_t d, const char *why) {
    return mc_fail(ctx, MERCER_DATA,
                   "the rows have values up to column %lld and the model was fitted on %lld columns, which cannot be "
                   "added to: %s; leave out the values beyond column %lld, or fit again on rows that have such columns",
                   (long long)d, (long long)mc_data_width(f->centres), why, (long long)mc_data_width(f->centres));
}

/* gibbs has the number of columns in its exponent; a view of named columns keeps its own. */
static bool counts_columns(const mc_node *node) {
    if (node->kind == MC_ATOM)
        return node->atom == MC_GIBBS;
    for (int i = 0; i < node->children && node->kind != MC_COLUMNS; i++)
        if (counts_columns(node->child[i]))
            return true;
    return false;
}

/* Whether the kernel is one on the columns of the fit and none on d (wendland). */
static bool ends_below(const mc_fitted *f, int64_t d) {
    const int64_t most = mc_domain_columns(f->kernel->root);
    return most > 0 && d > most && mc_data_width(f->centres) <= most;
}

/* Whether the model can have d columns instead of fewer. */
static mercer_status may_widen(mercer_ctx *ctx, const mc_fitted *f, int64_t d) {
    if (f->fourier)
        return fail_widen(ctx, f, d, "its random Fourier features were drawn for them");
    if (mc_node_any(f->kernel->root, is_user))
        return fail_widen(ctx, f, d, "its kernel is a function of your program, which was shown rows of so many");
    if (f->primal && !mc_kernel_linear(f->kernel))
        return fail_widen(ctx, f, d, "it is weights of features of these columns");
    if (counts_columns(f->kernel->root))
        return fail_widen(ctx, f, d, "the values of gibbs depend on how many there are");
    if (ends_below(f, d))
        return fail_widen(ctx, f, d, "its kernel is positive definite on so many columns at most");
    return MERCER_OK;
}

static mercer_status widen_fitted(mercer_ctx *ctx, const mc_fitted *f, int64_t d, mc_matched *m) {
    MC_TRY(may_widen(ctx, f, d));
    MC_TRY(widen_centres(ctx, f->centres, d, m));
    MC_TRY(widen_scale(ctx, &f->scale, d, &m->wide.f.scale));
    if (f->primal)
        MC_TRY(widen_weights(ctx, f, d, m));
    const mercer_status status = mc_kernel_bind(ctx, f->kernel, &m->centres, &m->kernel);
    return status == MERCER_DATA ? fail_widen(ctx, f, d, "its kernel has numbers for each of them") : status;
}

/* ---- Columns that are not all kept ---- */

/* What the model has for each of its columns, for those of m->kept. */
static mercer_status move_scale(mercer_ctx *ctx, const mc_scale *scale, const int32_t *at, mc_matched *m) {
    mc_scale *out = &m->wide.f.scale;
    *out = (mc_scale){.kind = scale->kind, .d = m->kept.d};
    if (scale->kind == MC_SCALE_NONE)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, out->shift, out->d));
    MC_TRY(MC_ALLOC(ctx, out->factor, out->d));
    for (int64_t j = 0; j < out->d; j++)
        out->factor[j] = 1;
    for (int64_t j = 0; j < scale->d; j++)
        if (at[j] >= 0) {
            out->shift[at[j]] = scale->shift[j];
            out->factor[at[j]] = scale->factor[j];
        }
    return MERCER_OK;
}

static mercer_status move_weights(mercer_ctx *ctx, const mc_fitted *f, const int32_t *at, mc_matched *m) {
    const int64_t decisions = mc_form_decisions(f->form, f->outputs), d = m->kept.d;
    if (!f->primal || !mc_kernel_linear(f->kernel))
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, m->weights, decisions * d));
    for (int64_t k = 0; k < decisions; k++)
        for (int64_t j = 0; j < f->features; j++)
            if (at[j] >= 0)
                m->weights[k * d + at[j]] = f->primal[k * f->features + j];
    m->wide.f.primal = m->weights;
    m->wide.f.features = d;
    return MERCER_OK;
}

static mercer_status refuse_unseen_columns(mercer_ctx *ctx) {
    return mc_fail(
        ctx, MERCER_DATA,
        "the random Fourier features of the model were drawn for the columns in which a row of the fit has a "
        "value, and for no others: leave the others out, or fit again on rows that have such columns");
}

static mercer_status move_model(mercer_ctx *ctx, const mc_fitted *f, int64_t width, const int32_t *at, mc_matched *m) {
    if (f->fourier)
        return refuse_unseen_columns(ctx);
    if (width > mc_data_width(f->centres))
        MC_TRY(may_widen(ctx, f, width));
    MC_TRY(mc_data_onto(ctx, f->centres, &m->kept, &m->sparse));
    MC_TRY(move_scale(ctx, &f->scale, at, m));
    MC_TRY(move_weights(ctx, f, at, m));
    const mercer_status status = mc_kernel_bind(ctx, f->kernel, m->sparse, &m->kernel);
    return status == MERCER_DATA ? fail_widen(ctx, f, width, "its kernel has numbers for each of them") : status;
}

/* The model with the columns of m->kept, width of them. */
static mercer_status take_columns(mercer_ctx *ctx, const mercer_model *model, int64_t width, mc_matched *m) {
    const mc_fitted *f = &model->f;
    int32_t *at = NULL;
    MC_TRY(MC_ALLOC(ctx, at, f->centres->d));
    mc_kept_places(f->centres, &m->kept, true, at);
    m->wide = *model;
    m->wide.f.scale = (mc_scale){0};
    m->wide.f.packed_cache = NULL;
    m->wide.f.report.d = width;
    const mercer_status status = move_model(ctx, f, width, at, m);
    mc_free(at);
    m->wide.f.centres = m->sparse;
    m->wide.f.kernel = m->kernel;
    m->model = &m->wide;
    return status;
}

/* The model with the columns of the rows beside its own. */
static mercer_status unite_models(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, mc_matched *m) {
    MC_TRY(mc_kept_union(ctx, model->f.centres, data, &m->kept));
    return take_columns(ctx, model, m->kept.used[m->kept.d - 1], m);
}

mercer_status mc_models_unite(mercer_ctx *ctx, const mercer_model *f, const mercer_model *g, mc_matched out[2]) {
    const mercer_data *x = f->f.centres, *z = g->f.centres;
    out[0] = (mc_matched){.model = f};
    out[1] = (mc_matched){.model = g};
    if (mc_kept_same(x, z) || mc_data_width(x) != mc_data_width(z))
        return MERCER_OK;
    mercer_status status = unite_models(ctx, f, z, &out[0]);
    if (!status)
        status = unite_models(ctx, g, x, &out[1]);
    for (int k = 0; k < 2 && status; k++)
        mc_matched_free(&out[k]);
    return status;
}

mercer_status mc_model_spread(mercer_ctx *ctx, const mercer_model *model, mc_matched *out) {
    const mercer_data *x = model->f.centres;
    *out = (mc_matched){.model = model, .kept = {.d = mc_data_width(x)}};
    const mercer_status status = x->used ? take_columns(ctx, model, out->kept.d, out) : MERCER_OK;
    if (status)
        mc_matched_free(out);
    return status;
}

/* Whether some row has a value in a column that the model does not keep. */
static mercer_status find_others(mercer_ctx *ctx, const mercer_data *data, const mc_kept *kept, bool *others) {
    int32_t *at = NULL;
    MC_TRY(MC_ALLOC(ctx, at, data->d));
    mc_kept_places(data, kept, false, at);
    *others = mc_data_any(data, at);
    mc_free(at);
    return MERCER_OK;
}

static mercer_status match_kept(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, bool keeps,
                                mc_matched *m) {
    const mercer_data *x = model->f.centres;
    const int64_t d = mc_data_width(x), own = mc_data_width(data);
    const bool open = model->f.open || data->open;
    if (own != d && !(open && (own > d || data->row_start)))
        return mc_model_check_columns(ctx, model, data);
    mc_kept kept = {.d = x->d, .used = x->used};
    bool others = keeps || counts_zeros(mc_kernel_shown(model->f.kernel), true);
    if (mc_kept_same(x, data))
        return MERCER_OK;
    if (others)
        MC_TRY(find_others(ctx, data, &kept, &others));
    if (others) {
        MC_TRY(unite_models(ctx, model, data, m));
        kept = m->kept;
    }
    MC_TRY(mc_data_onto(ctx, data, &kept, &m->narrowed));
    m->rows = m->narrowed;
    return MERCER_OK;
}

/* ---- Both ---- */

static mercer_status widen_model(mercer_ctx *ctx, const mercer_model *model, int64_t d, mc_matched *m) {
    m->wide = *model;
    m->wide.f.scale = (mc_scale){0};
    m->wide.f.packed_cache = NULL;
    m->wide.f.report.d = d;
    MC_TRY(widen_fitted(ctx, &model->f, d, m));
    m->wide.f.centres = &m->centres;
    m->wide.f.kernel = m->kernel;
    m->model = &m->wide;
    return MERCER_OK;
}

static mercer_status match_rows_to_model(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                         bool keeps, mc_matched *m) {
    const int64_t d = model->f.centres->d;
    const bool open = model->f.open || data->open;
    if (model->f.centres->used || data->used)
        return match_kept(ctx, model, data, keeps, m);
    if (open && data->d > d)
        return keeps || counts_zeros(model->f.kernel->root, false) ? widen_model(ctx, model, data->d, m)
                                                                   : narrow_rows(ctx, d, data, m);
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
    const mercer_status status = match_rows_to_model(ctx, model, data, keeps, out);
    if (status)
        mc_matched_free(out);
    return status;
}

void mc_matched_free(mc_matched *m) {
    mercer_data_free(m->sparse);
    mercer_data_free(m->narrowed);
    mc_free(m->kept.used);
    mercer_kernel_free(m->kernel);
    mc_scale_free(&m->wide.f.scale);
    mc_free(m->weights);
    *m = (mc_matched){0};
}
