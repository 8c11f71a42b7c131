/* svm_row_states.c: the primal view of a support vector machine: margins, slacks, multipliers and states of the rows it
   was fitted to.

   Order of work: the model must say what bounds its multipliers, the data must be those of the fit (every row kept must
   be the row of that place, to the bit), then one decision of every row and one look at its coefficient. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "model/widen.h"
#include <math.h>
#include <string.h>

typedef struct state_view {
    const mc_fitted *f;
    const mercer_data *data;
    int64_t decisions;
    int64_t *class_of; /* n: the model's number of each row's class; NULL: numbers, or a region */
    int64_t *centre;   /* n: -1: the row was not kept */
    double *value;     /* n x decisions */
    mercer_svm_view *out;
} state_view;

mercer_svm_box mercer_model_box(const mercer_model *model, int64_t decision) {
    if (!model)
        return (mercer_svm_box){0};
    const mc_fitted *f = &model->f;
    if (!f->box || decision < 0 || decision >= mc_form_decisions(f->form, f->outputs))
        return (mercer_svm_box){NAN, NAN};
    const double *box = f->box + 2 * decision;
    return (mercer_svm_box){.C = box[0] > 0 ? box[0] : INFINITY, .epsilon = box[1]};
}

/* ---- The rows of the fit ---- */

static mercer_status fail_not_fit_data(mercer_ctx *ctx, const char *why) {
    return mc_fail(ctx, MERCER_DATA,
                   "rows: the data are not those of the fit (%s); give the file the model was fitted to", why);
}

static mercer_status match_centres_to_rows(mercer_ctx *ctx, state_view *v, const mercer_data *rows) {
    const mc_fitted *f = v->f;
    bool same = true;
    for (int64_t c = 0; same && c < f->centres->n; c++) {
        same = f->row[c] >= 0 && f->row[c] < rows->n && mc_rows_equal(f->centres, c, rows, f->row[c]);
        if (same)
            v->centre[f->row[c]] = c;
    }
    return same ? MERCER_OK : fail_not_fit_data(ctx, "a row the model keeps is another one there");
}

/* The rows in the columns of the model, scaled as its centres are. */
static mercer_status compare_scaled(mercer_ctx *ctx, const mercer_model *model, state_view *v) {
    mc_matched m;
    mercer_data *scaled = NULL;
    MC_TRY(mc_match_columns(ctx, model, v->data, true, &m));
    mercer_status status = mc_scale_apply(ctx, &m.model->f.scale, m.rows, &scaled);
    if (!status)
        status = match_centres_to_rows(ctx, v, scaled);
    mercer_data_free(scaled);
    mc_matched_free(&m);
    return status;
}

static mercer_status find_centres(mercer_ctx *ctx, const mercer_model *model, state_view *v) {
    MC_TRY(MC_ALLOC(ctx, v->centre, v->data->n));
    for (int64_t i = 0; i < v->data->n; i++)
        v->centre[i] = -1;
    return v->f->scale.kind == MC_SCALE_NONE ? match_centres_to_rows(ctx, v, v->data) : compare_scaled(ctx, model, v);
}

/* Labels are looked up by name: data read on their own may number classes otherwise. */
static mercer_status find_classes(mercer_ctx *ctx, state_view *v) {
    const mercer_data *known = v->f->centres, *data = v->data;
    MC_TRY(MC_ALLOC(ctx, v->class_of, data->n));
    for (int64_t i = 0; i < data->n; i++) {
        const char *label = data->label[data->class_of[i]];
        int64_t k = 0;
        while (k < known->classes && strcmp(known->label[k], label) != 0)
            k++;
        if (k == known->classes)
            return fail_not_fit_data(ctx, "they have a class that the model does not know");
        v->class_of[i] = k;
    }
    return MERCER_OK;
}

static mercer_status check_fit_data(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data) {
    const mc_fitted *f = &model->f;
    if (!f->box || !f->row)
        return mc_fail(ctx, MERCER_INVALID, "rows: %s",
                       f->report.certificate.kkt_violation >= 0
                           ? "this support vector machine was fitted by an older version and does not keep its bounds; "
                             "fit it again"
                           : "only a support vector machine that Mercer fitted has margins and slacks to show");
    MC_TRY(mc_model_check_columns(ctx, model, data));
    if (data->n < f->report.n)
        return fail_not_fit_data(ctx, "they have fewer rows");
    if (f->form != MC_REGION && f->centres->classes && !data->class_of)
        return fail_not_fit_data(ctx, "they have no classes");
    if (f->form != MC_REGION && !f->centres->classes && (!data->target || data->outputs != f->outputs))
        return fail_not_fit_data(ctx, "they have no such targets");
    return MERCER_OK;
}

/* ---- One row ---- */

/* 1 or -1: on which side the row should be; 0: it has no part in the decision. */
static int side_of(const state_view *v, int64_t i, int64_t k) {
    int64_t first = k, second = -1;
    if (v->data->weight && !(v->data->weight[i] > 0))
        return 0;
    if (!v->class_of)
        return 1;
    if (v->f->form == MC_PAIRS)
        mc_pair_classes(v->f->outputs, k, &first, &second);
    return v->class_of[i] == first ? 1 : second < 0 || v->class_of[i] == second ? -1 : 0;
}

static mercer_vector state_of(const state_view *v, int64_t centre, int64_t k, double alpha) {
    if (alpha == 0)
        return MERCER_VECTOR_UNUSED;
    const double C = v->f->box[2 * k];
    return C > 0 && fabs(alpha) >= C * v->f->cost[centre] ? MERCER_VECTOR_BOUNDED : MERCER_VECTOR_FREE;
}

static mercer_svm_view view_of(const state_view *v, int64_t i, int64_t k) {
    const int side = side_of(v, i, k);
    const double value = v->value[i * v->decisions + k];
    if (!side)
        return (mercer_svm_view){.margin = NAN, .slack = NAN, .state = MERCER_VECTOR_ABSENT};
    const double c = v->centre[i] < 0 ? 0 : mc_fitted_coefficient(v->f, v->centre[i], k);
    mercer_svm_view one = {
        .margin = side * value, .alpha = c == 0 ? 0 : side * c, .state = state_of(v, v->centre[i], k, c)};
    if (v->class_of)
        one.slack = fmax(0, 1 - one.margin);
    else if (v->f->form == MC_REGION)
        one.slack = fmax(0, -one.margin);
    else {
        one.margin = v->data->target[i * v->decisions + k] - value;
        one.slack = fmax(0, fabs(one.margin) - v->f->box[2 * k + 1]);
    }
    return one;
}

static mercer_status compute_row_states(mercer_ctx *ctx, const mercer_model *model, state_view *v) {
    MC_TRY(check_fit_data(ctx, model, v->data));
    MC_TRY(find_centres(ctx, model, v));
    if (v->f->form != MC_REGION && v->f->centres->classes)
        MC_TRY(find_classes(ctx, v));
    MC_TRY(MC_ALLOC(ctx, v->value, v->data->n * v->decisions));
    MC_TRY(mc_model_decide(ctx, model, v->data, v->value));
    for (int64_t i = 0; i < v->data->n; i++)
        for (int64_t k = 0; k < v->decisions; k++)
            v->out[i * v->decisions + k] = view_of(v, i, k);
    return MERCER_OK;
}

mercer_status mercer_svm_rows(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                              mercer_svm_view *out) {
    MC_NEED(ctx, model, data, out);
    mc_begin_call(ctx);
    const mc_fitted *f = &model->f;
    state_view v = {.f = f, .data = data, .decisions = mc_form_decisions(f->form, f->outputs), .out = out};
    const mercer_status status = compute_row_states(ctx, model, &v);
    mc_free(v.class_of);
    mc_free(v.centre);
    mc_free(v.value);
    return status;
}
