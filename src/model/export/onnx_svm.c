/* onnx_svm.c: support vector machines as the operators of ai.onnx.ml made for them, SVMClassifier and SVMRegressor.
   They know LIBSVM's four kernels, hold their numbers as attributes in float, and lay out coefficients as LIBSVM does:
   classes - 1 rows, one column per vector; what they call rho is added. Two classes are decided by SVMRegressor's one
   number: runtimes differ in the order of SVMClassifier's two scores. */
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "model/libsvm/libsvm_model.h"
#include "model/export/onnx.h"

/* Of the kernels of LIBSVM all but the given matrix. */
static const char *const kernel_names[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};
enum { KERNELS = 4 };

bool mc_onnx_is_svm(const mercer_model *model) {
    const mc_fitted *f = &model->f;
    double degree, gamma, coef0;
    const int kernel = mc_libsvm_kernel_of(model, &degree, &gamma, &coef0);
    const bool form = f->form == MC_PAIRS || f->form == MC_REGION || (f->form == MC_VALUES && f->outputs == 1);
    return mc_libsvm_is_machine(model) && form && kernel >= 0 && kernel < KERNELS && f->centres->n > 0;
}

static void put_kernel(mc_text *attributes, const mercer_model *model) {
    double degree = 0, gamma = 0, coef0 = 0;
    const int kernel = mc_libsvm_kernel_of(model, &degree, &gamma, &coef0);
    mc_onnx_put_string(attributes, "kernel_type", kernel_names[kernel]);
    mc_onnx_put_floats(attributes, "kernel_params", (const double[]){gamma, coef0, degree}, 3);
}

/* rows numbers, one block of width per centre, as width blocks of one per centre. */
static void transpose_coefficients(int64_t rows, int64_t width, const double *from, double *to) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < width; k++)
            to[k * rows + i] = from[i * width + k];
}

static mercer_status put_vectors(mercer_ctx *ctx, mc_text *attributes, const mc_fitted *f) {
    const int64_t n = f->centres->n, d = f->centres->d, width = mc_form_width(f->form, f->outputs);
    double *values = NULL;
    MC_TRY(MC_ALLOC(ctx, values, n * (d > width ? d : width)));
    transpose_coefficients(n, width, f->alpha, values);
    mc_onnx_put_floats(attributes, "coefficients", values, n * width);
    for (int64_t i = 0; i < n; i++)
        mc_data_values(f->centres, i, values + i * d);
    mc_onnx_put_floats(attributes, "support_vectors", values, n * d);
    mc_free(values);
    return MERCER_OK;
}

static mercer_status put_classes(mercer_ctx *ctx, mc_text *attributes, const mc_fitted *f) {
    int64_t *count = NULL;
    MC_TRY(MC_ALLOC(ctx, count, f->outputs));
    for (int64_t k = 0; k < f->outputs; k++)
        count[k] = f->class_start[k + 1] - f->class_start[k];
    mc_onnx_put_integers(attributes, "vectors_per_class", count, f->outputs);
    mc_onnx_put_strings(attributes, "classlabels_strings", f->centres->label, f->outputs);
    mc_free(count);
    return MERCER_OK;
}

mercer_status mc_onnx_svm(mc_onnx *g, const mercer_model *model, int x) {
    const mc_fitted *f = &model->f;
    const bool pairs = f->form == MC_PAIRS && f->outputs > 2;
    mc_text attributes = mc_text_open(g->ctx);
    put_kernel(&attributes, model);
    mc_onnx_put_floats(&attributes, "rho", f->intercept, mc_form_decisions(f->form, f->outputs));
    mercer_status status = put_vectors(g->ctx, &attributes, f);
    if (!status && pairs)
        status = put_classes(g->ctx, &attributes, f);
    if (!pairs)
        mc_onnx_put_integer(&attributes, "n_supports", f->centres->n);
    if (status) {
        mc_text_close(&attributes);
        return status;
    }
    const int rows = mc_onnx_cast(g, x, MC_ONNX_FLOAT);
    const int value =
        mc_onnx_node(g, "ai.onnx.ml", pairs ? "SVMClassifier" : "SVMRegressor", 1, &rows, pairs ? 2 : 1, &attributes);
    if (!pairs) {
        mc_onnx_conclude(g, model, mc_onnx_cast(g, value, MC_ONNX_DOUBLE));
        return MERCER_OK;
    }
    mc_onnx_output(g, "label", value, MC_ONNX_STRING, 0);
    mc_onnx_output(g, "scores", mc_onnx_cast(g, value + 1, MC_ONNX_DOUBLE), MC_ONNX_DOUBLE, mc_onnx_scores(f));
    return MERCER_OK;
}
