/* format.c: the tables of the model file. */
#include "model/file/format.h"
#include "base/status.h"
#include "data/table/columns.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays go to the file as they lie in memory: little-endian");

const mc_field mc_report_fields[MC_FIELDS] = {
    {"machine", MC_FIELD_WORD, offsetof(mercer_report, machine), NULL},
    {"solver", MC_FIELD_WORD, offsetof(mercer_report, solver), NULL},
    {"scale", MC_FIELD_WORD, offsetof(mercer_report, scale), NULL},
    {"rows", MC_FIELD_COUNT, offsetof(mercer_report, n), NULL},
    {"columns", MC_FIELD_COUNT, offsetof(mercer_report, d), NULL},
    {"outputs", MC_FIELD_COUNT, offsetof(mercer_report, outputs), NULL},
    {"lambda", MC_FIELD_REAL, offsetof(mercer_report, lambda), NULL},
    {"norm", MC_FIELD_REAL, offsetof(mercer_report, norm), NULL},
    {"objective", MC_FIELD_REAL, offsetof(mercer_report, objective), NULL},
    {"loo_rmse", MC_FIELD_REAL, offsetof(mercer_report, loo_rmse), NULL},
    {"iterations", MC_FIELD_COUNT, offsetof(mercer_report, iterations), NULL},
    {"rank", MC_FIELD_COUNT, offsetof(mercer_report, rank), NULL},
    {"iteration_bound", MC_FIELD_COUNT, offsetof(mercer_report, iteration_bound), "0"},
    {"stopped", MC_FIELD_WORD, offsetof(mercer_report, stopped), "no"},
    {"log_evidence", MC_FIELD_REAL, offsetof(mercer_report, log_evidence), "nan"},
    {"log_evidence_error", MC_FIELD_REAL, offsetof(mercer_report, log_evidence_error), "0"},
    {"loo_log_density", MC_FIELD_REAL, offsetof(mercer_report, loo_log_density), "nan"},
    {"dof", MC_FIELD_REAL, offsetof(mercer_report, dof), "nan"},
    {"gcv", MC_FIELD_REAL, offsetof(mercer_report, gcv), "nan"},
    {"support_vectors", MC_FIELD_COUNT, offsetof(mercer_report, support_vectors), "0"},
    {"free_vectors", MC_FIELD_COUNT, offsetof(mercer_report, free_vectors), "0"},
    {"bounded_vectors", MC_FIELD_COUNT, offsetof(mercer_report, bounded_vectors), "0"},
    {"step", MC_FIELD_REAL, offsetof(mercer_report, step), "0"},
    {"held_out", MC_FIELD_COUNT, offsetof(mercer_report, held_out), "0"},
    {"held_out_rmse", MC_FIELD_REAL, offsetof(mercer_report, held_out_rmse), "0"},
    {"variance", MC_FIELD_REAL, offsetof(mercer_report, variance), "0"},
    {"neighbors", MC_FIELD_COUNT, offsetof(mercer_report, neighbors), "0"},
    {"certificate.kind", MC_FIELD_WORD, offsetof(mercer_report, certificate.kind), NULL},
    {"certificate.residual_relative", MC_FIELD_REAL, offsetof(mercer_report, certificate.residual_relative), NULL},
    {"certificate.residual", MC_FIELD_REAL, offsetof(mercer_report, certificate.residual), NULL},
    {"certificate.rounding", MC_FIELD_REAL, offsetof(mercer_report, certificate.rounding), NULL},
    {"certificate.prediction_error_bound", MC_FIELD_REAL, offsetof(mercer_report, certificate.prediction_error_bound),
     NULL},
    {"certificate.prediction_error_constant", MC_FIELD_REAL,
     offsetof(mercer_report, certificate.prediction_error_constant), "nan"},
    {"certificate.prediction_error_slope", MC_FIELD_REAL, offsetof(mercer_report, certificate.prediction_error_slope),
     "nan"},
    {"certificate.objective_gap", MC_FIELD_REAL, offsetof(mercer_report, certificate.objective_gap), NULL},
    {"certificate.sampled_rows", MC_FIELD_COUNT, offsetof(mercer_report, certificate.sampled_rows), "0"},
    {"certificate.residual_estimate", MC_FIELD_REAL, offsetof(mercer_report, certificate.residual_estimate), "0"},
    {"certificate.primal", MC_FIELD_REAL, offsetof(mercer_report, certificate.primal), "nan"},
    {"certificate.dual", MC_FIELD_REAL, offsetof(mercer_report, certificate.dual), "nan"},
    {"certificate.gap", MC_FIELD_REAL, offsetof(mercer_report, certificate.gap), "nan"},
    {"certificate.gap_relative", MC_FIELD_REAL, offsetof(mercer_report, certificate.gap_relative), "nan"},
    {"certificate.kkt_violation", MC_FIELD_REAL, offsetof(mercer_report, certificate.kkt_violation), "nan"},
    {"certificate.distance", MC_FIELD_REAL, offsetof(mercer_report, certificate.distance), "nan"},
};

const char *const mc_column_kind_names[MC_COLUMN_KINDS] = {
    [MC_COLUMN_NUMBER] = "number", [MC_COLUMN_LEVELS] = "levels", [MC_COLUMN_TEXT] = "text",
    [MC_COLUMN_TARGET] = "target", [MC_COLUMN_WEIGHT] = "weight",
};

/* ---- Arrays ---- */

enum {
    ALPHA,
    INTERCEPT,
    NOISE,
    SHIFT,
    FACTOR,
    CLASS_START,
    ROW,
    COST,
    BOX,
    PRIMAL,
    SPECTRUM,
    ROW_START,
    VALUES,
    COLUMN,
    USED
};

mc_model_shape mc_model_shape_of(const mercer_model *model) {
    const mercer_data *x = model->f.centres;
    const mercer_report *report = &model->f.report;
    return (mc_model_shape){.machine = report->machine,
                            .solver = report->solver,
                            .rows = report->n,
                            .neighbors = report->neighbors,
                            .labelled = x->label != NULL,
                            .worded = x->texts > 0,
                            .by_distance = model->f.by_distance,
                            .n = x->n,
                            .d = x->d,
                            .width = mc_data_width(x),
                            .listed = x->used != NULL,
                            .outputs = model->f.outputs,
                            .form = model->f.form,
                            .row = model->f.row != NULL,
                            .boxed = model->f.box != NULL,
                            .primal = model->f.primal != NULL,
                            .features = model->f.features,
                            .stored = x->row_start ? x->row_start[x->n] : -1,
                            .dtype = x->dtype,
                            .scaled = model->f.scale.kind != MC_SCALE_NONE,
                            .noisy = model->f.noise != NULL,
                            .spectral = model->f.spectrum != NULL};
}

bool mc_model_arrays(const mc_model_shape *shape, mc_array out[MC_ARRAYS], size_t *bytes) {
    const int64_t n = shape->n, d = shape->d, stored = shape->stored;
    const bool sparse = stored >= 0;
    const char *scale = shape->scaled ? "F64" : NULL, *real = shape->dtype == MERCER_F64 ? "F64" : "F32";
    const int64_t width = mc_form_width(shape->form, shape->outputs),
                  decisions = mc_form_decisions(shape->form, shape->outputs);
    out[ALPHA] = (mc_array){"alpha", "F64", 2, {n, width}, 8};
    out[INTERCEPT] = (mc_array){"intercept", "F64", 1, {decisions, 1}, 8};
    out[NOISE] = (mc_array){"noise", shape->noisy ? "F64" : NULL, 1, {n, 1}, 8};
    out[SHIFT] = (mc_array){"scale.shift", scale, 1, {d, 1}, 8};
    out[FACTOR] = (mc_array){"scale.factor", scale, 1, {d, 1}, 8};
    out[CLASS_START] = (mc_array){"class_start", shape->form == MC_PAIRS ? "I64" : NULL, 1, {shape->outputs + 1, 1}, 8};
    out[ROW] = (mc_array){"row", shape->row ? "I64" : NULL, 1, {n, 1}, 8};
    out[COST] = (mc_array){"cost", shape->boxed ? "F64" : NULL, 1, {n, 1}, 8};
    out[BOX] = (mc_array){"box", shape->boxed ? "F64" : NULL, 2, {decisions, 2}, 8};
    out[PRIMAL] = (mc_array){"primal", shape->primal ? "F64" : NULL, 2, {decisions, shape->features}, 8};
    out[SPECTRUM] = (mc_array){"spectrum", shape->spectral ? "F64" : NULL, 2, {shape->outputs, 2}, 8};
    out[ROW_START] = (mc_array){"centres.row_start", sparse ? "I64" : NULL, 1, {n + 1, 1}, 8};
    out[VALUES] =
        (mc_array){"centres", real, sparse ? 1 : 2, {sparse ? stored : n, sparse ? 1 : d}, mc_dtype_size(shape->dtype)};
    out[COLUMN] = (mc_array){"centres.column", sparse ? "I32" : NULL, 1, {stored, 1}, 4};
    out[USED] = (mc_array){"columns", shape->listed ? "I32" : NULL, 1, {d, 1}, 4};
    *bytes = 0;
    for (int k = 0; k < MC_ARRAYS; k++) {
        size_t one;
        if (!out[k].dtype)
            continue;
        if (__builtin_mul_overflow((size_t)out[k].shape[0], (size_t)out[k].shape[1], &one)
            || __builtin_mul_overflow(one, out[k].size, &one) || __builtin_add_overflow(*bytes, one, bytes))
            return false;
    }
    return true;
}

size_t mc_array_bytes(const mc_array *array) {
    return (size_t)array->shape[0] * (size_t)array->shape[1] * array->size;
}

void *mc_array_place(const mercer_model *model, int k) {
    const mc_fitted *f = &model->f;
    void *const places[MC_ARRAYS] = {
        [ALPHA] = f->alpha,
        [INTERCEPT] = f->intercept,
        [NOISE] = f->noise,
        [SHIFT] = f->scale.shift,
        [FACTOR] = f->scale.factor,
        [CLASS_START] = f->class_start,
        [ROW] = f->row,
        [COST] = f->cost,
        [BOX] = f->box,
        [PRIMAL] = f->primal,
        [SPECTRUM] = f->spectrum,
        [ROW_START] = f->centres->row_start,
        [VALUES] = f->centres->values,
        [COLUMN] = f->centres->column,
        [USED] = f->centres->used,
    };
    return places[k];
}

/* ---- Texts ---- */

/* Bytes of the UTF-8 sequence that begins with lead; 0: none does. */
static int sequence_length(unsigned char lead) {
    return lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
}

/* Well formed: no overlong form, no surrogate, nothing above U+10FFFF. */
static bool is_utf8(const char *text) {
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        const int length = sequence_length(*p);
        for (int i = 1; i < length; i++)
            if ((p[i] & 0xC0) != 0x80)
                return false;
        if (length == 0 || (*p == 0xE0 && p[1] < 0xA0) || (*p == 0xED && p[1] > 0x9F) || (*p == 0xF0 && p[1] < 0x90)
            || (*p == 0xF4 && p[1] > 0x8F))
            return false;
        p += length;
    }
    return true;
}

static mercer_status check_list(mercer_ctx *ctx, const char *what, char *const *list, int64_t count) {
    for (int64_t i = 0; list && i < count; i++)
        if (list[i] && !is_utf8(list[i]))
            return mc_fail(ctx, MERCER_DATA,
                           "fit: %s %lld is not UTF-8 text, which a model file must be; convert the data file", what,
                           (long long)i + 1);
    return MERCER_OK;
}

mercer_status mc_model_can_hold(mercer_ctx *ctx, const mercer_data *data) {
    MC_TRY(check_list(ctx, "class label", data->label, data->classes));
    MC_TRY(check_list(ctx, "the name of column", data->name, data->d));
    MC_TRY(check_list(ctx, "text", data->text, data->n * data->texts));
    MC_TRY(check_list(ctx, "the name of target", data->target_name, data->classes ? 1 : data->outputs));
    for (int64_t i = 0; i < data->schema.count; i++) {
        const mc_column *column = &data->schema.column[i];
        MC_TRY(check_list(ctx, "a column name of the file,", &column->name, 1));
        MC_TRY(check_list(ctx, "a text value, level", column->level, column->levels));
    }
    return MERCER_OK;
}
