/* model.c: what a model can be asked, and its end. */
#include "model/model.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "kernel/language/kernel.h"
#include <math.h>

void mercer_model_free(mercer_model *model) {
    if (!model)
        return;
    mc_fitted_free(&model->f);
    mc_free(model->settings);
    mc_free(model->search);
    mc_free(model->stages);
    mc_free(model->report_texts);
    mc_free(model);
}

const mercer_report *mercer_model_report(const mercer_model *model) {
    if (!model)
        return NULL;
    return &model->f.report;
}

const mercer_kernel *mercer_model_kernel(const mercer_model *model) {
    if (!model)
        return NULL;
    return model->f.kernel;
}

const char *mercer_model_settings(const mercer_model *model) {
    if (!model)
        return NULL;
    return model->settings;
}

const char *mercer_model_search(const mercer_model *model) {
    if (!model)
        return NULL;
    return model->search ? model->search : "";
}

const char *mercer_model_stages(const mercer_model *model) {
    if (!model)
        return NULL;
    return model->stages ? model->stages : "";
}

int64_t mercer_model_outputs(const mercer_model *model) {
    if (!model)
        return 0;
    return model->f.outputs;
}

int64_t mercer_model_decisions(const mercer_model *model) {
    if (!model)
        return 0;
    return mc_form_decisions(model->f.form, model->f.outputs);
}

void mercer_model_decision(const mercer_model *model, int64_t decision, int64_t *first, int64_t *second) {
    if (!model || !first || !second)
        return;
    *first = model->f.centres->classes ? decision : -1;
    *second = -1;
    if (model->f.form == MC_PAIRS)
        mc_pair_classes(model->f.outputs, decision, first, second);
    else if (model->f.form == MC_REGION)
        *first = 1;
}

/* Of a model's own, from 0 on. */
static bool is_index(int64_t i, int64_t count) {
    return i >= 0 && i < count;
}

int64_t mercer_model_row(const mercer_model *model, int64_t centre) {
    if (!model)
        return 0;
    if (!is_index(centre, model->f.centres->n))
        return -1;
    return model->f.row ? model->f.row[centre] : centre;
}

double mercer_model_coefficient(const mercer_model *model, int64_t centre, int64_t decision) {
    if (!model || !is_index(centre, model->f.centres->n) || !is_index(decision, mercer_model_decisions(model)))
        return NAN;
    return mc_fitted_coefficient(&model->f, centre, decision);
}

void mercer_model_rows(const mercer_model *model, int64_t *out) {
    if (!model || !out)
        return;
    for (int64_t i = 0; i < mercer_model_centres(model); i++)
        out[i] = mercer_model_row(model, i);
}

void mercer_model_coefficients(const mercer_model *model, double *out) {
    if (!model || !out)
        return;
    const int64_t decisions = mercer_model_decisions(model);
    for (int64_t i = 0; i < mercer_model_centres(model); i++)
        for (int64_t k = 0; k < decisions; k++)
            out[i * decisions + k] = mercer_model_coefficient(model, i, k);
}

double mercer_model_intercept(const mercer_model *model, int64_t decision) {
    if (!model || !is_index(decision, mercer_model_decisions(model)))
        return NAN;
    return model->f.intercept[decision];
}

mercer_component mercer_model_component(const mercer_model *model, int64_t k) {
    const mc_fitted *f = model ? &model->f : NULL;
    if (!f || !f->spectrum || k < 0 || k >= f->outputs)
        return (mercer_component){NAN, NAN, NAN};
    const double *pair = f->spectrum + 2 * k;
    return (mercer_component){.eigenvalue = pair[0], .share = pair[0] / f->report.variance, .bound = pair[1]};
}

int64_t mercer_model_classes(const mercer_model *model) {
    if (!model)
        return 0;
    return model->f.centres->classes;
}

const char *mercer_model_label(const mercer_model *model, int64_t k) {
    if (!model)
        return NULL;
    return mercer_data_label(model->f.centres, k);
}

int64_t mercer_model_columns(const mercer_model *model) {
    if (!model)
        return 0;
    return mc_data_width(model->f.centres);
}

int64_t mercer_model_centres(const mercer_model *model) {
    if (!model)
        return 0;
    return model->f.centres->n;
}

/* The features of a linear kernel are the columns, which users count as they stand in the file. */
static bool weighs_columns(const mc_fitted *f) {
    return f->centres->used && mc_kernel_linear(f->kernel);
}

int64_t mercer_model_features(const mercer_model *model) {
    if (!model)
        return 0;
    const mc_fitted *f = &model->f;
    return !f->primal ? 0 : weighs_columns(f) ? mc_data_width(f->centres) : f->features;
}

double mercer_model_weight(const mercer_model *model, int64_t feature, int64_t decision) {
    if (!is_index(feature, mercer_model_features(model)) || !is_index(decision, mercer_model_decisions(model)))
        return NAN;
    const mc_fitted *f = &model->f;
    const int64_t place = weighs_columns(f) ? mc_data_place(f->centres, feature) : feature;
    return f->primal[decision * f->features + place];
}

const char *mercer_model_column_name(const mercer_model *model, int64_t column) {
    if (!model)
        return NULL;
    return mercer_data_column_name(model->f.centres, column);
}

const char *mercer_model_target_name(const mercer_model *model, int64_t output) {
    if (!model)
        return NULL;
    return mercer_data_target_name(model->f.centres, output);
}

mercer_status mercer_model_read(mercer_ctx *ctx, const mercer_model *model, const char *path, const mercer_read *set,
                                mercer_data **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, model, path, out);
    mc_begin_call(ctx);
    const mercer_data *x = model->f.centres;
    /* a region learned from no target: numbers, if any */
    const int64_t classes = model->f.form == MC_REGION ? 0 : x->classes;
    mercer_read chosen = mercer_read_defaults();
    MC_TRY(mc_sized_read(ctx, "mercer_read", set, &chosen, sizeof chosen));
    const bool scored = model->f.form == MC_REGION && chosen.kind == MERCER_TARGET_NUMBER;
    if (model->f.spectrum || (model->f.form == MC_REGION && !scored))
        chosen.kind = MERCER_TARGET_NONE; /* what the file called a target is passed over, whatever it holds */
    return mc_data_read_like(ctx, path, &chosen, &x->schema, model->f.open ? -mc_data_width(x) : mc_data_width(x),
                             classes, x->label, out);
}
