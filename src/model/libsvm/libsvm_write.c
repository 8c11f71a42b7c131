/* libsvm_write.c: a model as LIBSVM writes one, with 17 digits so that every number reads back to the same double.

   The layout is the same on both sides: classes in the order of "label", coefficients of a vector of class c in classes
   - 1 columns (class j below c, class j + 1 from c on), decisions positive for the earlier class of a pair, rho =
   -intercept. */
#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "base/text.h"
#include "data/table/columns.h"
#include "kernel/language/kernel.h"
#include "model/libsvm/libsvm_model.h"
#include "base/file.h"
#include <math.h>
#include <string.h>

const char *const mc_libsvm_types[MC_LIBSVM_TYPES] = {"c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr"};
const char *const mc_libsvm_machines[MC_LIBSVM_TYPES] = {"svc", "nu-svc", "one-class", "svr", "nu-svr"};
const char *const mc_libsvm_kernels[MC_LIBSVM_KERNELS] = {"linear", "polynomial", "rbf", "sigmoid", "precomputed"};

enum { LINEAR, POLYNOMIAL, RBF, SIGMOID, PRECOMPUTED };

/* ---- What LIBSVM can hold ---- */

static int machine_of(const mercer_model *model) {
    for (int k = 0; k < MC_LIBSVM_TYPES; k++)
        if (strcmp(model->f.report.machine, mc_libsvm_machines[k]) == 0)
            return k;
    return -1;
}

bool mc_libsvm_is_machine(const mercer_model *model) {
    return machine_of(model) >= 0;
}

/* Any function of one output is written as a regression. */
static int type_of(const mercer_model *model) {
    return mc_libsvm_is_machine(model) ? machine_of(model) : 3;
}

int mc_libsvm_kernel_of(const mercer_model *model, double *degree, double *gamma, double *coef0) {
    const mc_node *node = mc_node_bare(model->f.kernel->root);
    const mc_value *p = node->parameter;
    if (node->kind != MC_ATOM)
        return -1;
    switch (node->atom) {
    case MC_LINEAR: return LINEAR;
    case MC_POLY:
        *degree = p[0].number;
        *coef0 = p[1].number;
        *gamma = p[2].number;
        return p[0].number == floor(p[0].number) && p[0].number <= INT32_MAX ? POLYNOMIAL : -1; /* an int there */
    case MC_RBF: *gamma = p[0].number; return p[0].kind == MC_VALUE_NUMBER ? RBF : -1;
    case MC_TANH:
        *gamma = p[0].number;
        *coef0 = p[1].number;
        return SIGMOID;
    case MC_PRECOMPUTED: return PRECOMPUTED;
    default: return -1;
    }
}

/* The number that a label is for LIBSVM; NaN: it is none. */
static double label_of(const char *text) {
    double value;
    const char *end = text + strlen(text);
    return mc_number_read(text, end, &value) == end && value == floor(value) && fabs(value) <= INT32_MAX ? value : NAN;
}

/* Whole numbers, each once: 1 and 1.0 are two labels here and one there. */
static mercer_status check_labels(mercer_ctx *ctx, const mc_fitted *f) {
    char *const *label = f->centres->label;
    for (int64_t k = 0; k < f->outputs; k++) {
        if (isnan(label_of(label[k])))
            return mc_fail(ctx, MERCER_INVALID,
                           "export: class '%s' is not a whole number, which a label of LIBSVM must be", label[k]);
        for (int64_t j = 0; j < k; j++)
            if (label_of(label[j]) == label_of(label[k]))
                return mc_fail(ctx, MERCER_INVALID, "export: classes '%s' and '%s' are one label of LIBSVM", label[j],
                               label[k]);
    }
    return MERCER_OK;
}

/* f(x) = <w, x>: one vector w with the coefficient 1. */
static bool weights_alone(const mc_fitted *f) {
    return f->primal && f->centres->n == 0;
}

static mercer_status check_libsvm_export(mercer_ctx *ctx, const mercer_model *model) {
    const mc_fitted *f = &model->f;
    double ignored;
    if (mc_libsvm_kernel_of(model, &ignored, &ignored, &ignored) < 0)
        return mc_fail(
            ctx, MERCER_INVALID,
            "export: LIBSVM knows linear, poly (a whole degree), rbf (one gamma), tanh and precomputed, not %s",
            f->kernel->text);
    if (f->scale.kind != MC_SCALE_NONE)
        return mc_fail(ctx, MERCER_INVALID,
                       "export: the model scales its columns (%s) and a LIBSVM model cannot; fit with --scale none",
                       f->report.scale);
    if (f->fourier)
        return mc_fail(
            ctx, MERCER_INVALID,
            "export: LIBSVM holds sums over rows, and solver fourier sums random features; fit with solver nystrom");
    if (weights_alone(f) && mc_libsvm_kernel_of(model, &ignored, &ignored, &ignored) != LINEAR)
        return mc_fail(
            ctx, MERCER_INVALID,
            "export: LIBSVM holds sums over rows, and this model is weights of the features of %s alone; fit "
            "with %s",
            f->kernel->text, mc_rows_solver(f));
    if (f->form == MC_NEIGHBOURS)
        return mc_fail(ctx, MERCER_INVALID, "export: LIBSVM holds sums over rows, and %s looks for the nearest",
                       f->report.machine);
    if (f->form == MC_VALUES && f->outputs != 1)
        return mc_fail(
            ctx, MERCER_INVALID,
            "export: LIBSVM decides between classes by pairs and predicts one number; this %s has %lld outputs",
            f->report.machine, (long long)f->outputs);
    return f->form == MC_PAIRS ? check_labels(ctx, f) : MERCER_OK;
}

/* ---- The text ---- */

static void add_kernel(mc_text *text, const mercer_model *model) {
    double degree = 0, gamma = 0, coef0 = 0;
    const int kernel = mc_libsvm_kernel_of(model, &degree, &gamma, &coef0);
    /* never below 0: check has looked */
    mc_text_add(text, "kernel_type %s\n", mc_libsvm_kernels[kernel < 0 ? LINEAR : kernel]);
    if (kernel == POLYNOMIAL)
        mc_text_add(text, "degree %.0f\n", degree);
    if (kernel != LINEAR && kernel != PRECOMPUTED)
        mc_text_add(text, "gamma %.17g\n", gamma);
    if (kernel == POLYNOMIAL || kernel == SIGMOID)
        mc_text_add(text, "coef0 %.17g\n", coef0);
}

static void add_head(mc_text *text, const mercer_model *model) {
    const mc_fitted *f = &model->f;
    const bool pairs = f->form == MC_PAIRS;
    mc_text_add(text, "svm_type %s\n", mc_libsvm_types[type_of(model)]);
    add_kernel(text, model);
    mc_text_add(text, "nr_class %lld\ntotal_sv %lld\nrho", pairs ? (long long)f->outputs : 2LL,
                (long long)(weights_alone(f) ? 1 : f->centres->n));
    for (int64_t k = 0; k < mc_form_decisions(f->form, f->outputs); k++)
        mc_text_add(text, " %.17g", -f->intercept[k]);
    if (pairs) {
        mc_text_add(text, "\nlabel");
        for (int64_t k = 0; k < f->outputs; k++)
            mc_text_add(text, " %.0f", label_of(f->centres->label[k]) + 0.0); /* 1e3 is 1000, and -0 is 0 */
        mc_text_add(text, "\nnr_sv");
        for (int64_t k = 0; k < f->outputs; k++)
            mc_text_add(text, " %lld", (long long)(f->class_start[k + 1] - f->class_start[k]));
    }
    mc_text_add(text, "\nSV\n");
}

static void add_weights(mc_text *text, const mc_fitted *f) {
    mc_text_add(text, "1 ");
    for (int64_t j = 0; j < f->features; j++)
        if (f->primal[j] != 0)
            mc_text_add(text, "%lld:%.17g ", (long long)mc_data_column(f->centres, j) + 1, f->primal[j]);
    mc_text_bytes(text, "\n", 1);
}

/* Of a row of a Gram matrix its number is all that a prediction needs. */
static void add_vector(mc_text *text, const mercer_data *x, int64_t i, bool serial) {
    if (serial) {
        mc_text_add(text, "0:%.0f \n", mc_data_value(x, i, 0));
        return;
    }
    const int64_t begin = x->row_start ? x->row_start[i] : i * x->d,
                  end = x->row_start ? x->row_start[i + 1] : begin + x->d;
    for (int64_t k = begin; k < end; k++) {
        const double v = mc_stored_value(x, k);
        if (v != 0)
            mc_text_add(text, "%lld:%.17g ", (long long)mc_data_column(x, x->row_start ? x->column[k] : k - begin) + 1,
                        v);
    }
    mc_text_bytes(text, "\n", 1);
}

mercer_status mc_libsvm_model_write(mercer_ctx *ctx, const mercer_model *model, const char *path) {
    MC_TRY(check_libsvm_export(ctx, model));
    const mc_fitted *f = &model->f;
    const int64_t width = mc_form_width(f->form, f->outputs);
    mc_text text = mc_text_open(ctx);
    add_head(&text, model);
    if (weights_alone(f))
        add_weights(&text, f);
    for (int64_t i = 0; i < f->centres->n; i++) {
        for (int64_t k = 0; k < width; k++)
            mc_text_add(&text, "%.17g ", f->alpha[i * width + k]);
        add_vector(&text, f->centres, i, mc_kernel_precomputed(f->kernel));
    }
    return mc_text_write(&text, path);
}
