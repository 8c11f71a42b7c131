/* libsvm_read.c: a model that LIBSVM wrote, as a model of ours that decides the same.

   After the head (libsvm_head.c) one vector per line: coefficients, then index:value pairs. Classes keep the order of
   the file, since ties go to the first. Kernels become expressions; a precomputed kernel becomes the linear one with
   the serial number's unit vector as support vector, because <x, e_s> is the s-th kernel value of the row. */
#include "certify/certificate.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/settings.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "data/table/strings.h"
#include "kernel/language/kernel.h"
#include "kernel/language/parse.h"
#include "model/file/check_shape.h"
#include "model/libsvm/libsvm_head.h"
#include <math.h>
#include <string.h>

/* ---- The vectors ---- */

/* Lines and pairs from here on, so that the arrays can be made. */
static mercer_status count_pairs(mercer_ctx *ctx, mc_libsvm_reader *r) {
    int64_t lines = 0;
    bool something = false;
    for (const char *p = r->p; p <= r->end; p++) {
        const bool end = p == r->end || *p == '\n';
        lines += end && something;
        something = !end && (something || !mc_libsvm_blank(*p));
        r->stored += p < r->end && *p == ':';
    }
    if (lines == r->head.vectors)
        return MERCER_OK;
    char text[128];
    mc_print(text, sizeof text, "total_sv is %lld and %lld vectors follow", (long long)r->head.vectors,
             (long long)lines);
    return mc_libsvm_damaged(ctx, r, text);
}

static mercer_status read_pair(mercer_ctx *ctx, mc_libsvm_reader *r, int64_t *index, double *value) {
    MC_TRY(mc_libsvm_whole(ctx, r, r->head.kernel == MC_LIBSVM_PRECOMPUTED ? 0 : r->first, INT32_MAX - 1, index));
    if (r->p >= r->end || *r->p != ':')
        return mc_libsvm_damaged(ctx, r, "index:value was expected here");
    r->p++;
    return mc_libsvm_real(ctx, r, value);
}

/* 0:serial stands for the unit vector of that column. */
static mercer_status read_serial(mercer_ctx *ctx, mc_libsvm_reader *r, mercer_data *x, int64_t i) {
    int64_t index = 0;
    double serial = 0;
    MC_TRY(read_pair(ctx, r, &index, &serial));
    if (index != 0 || serial != floor(serial) || !(serial >= 1 && serial <= INT32_MAX))
        return mc_libsvm_damaged(ctx, r, "a vector of a precomputed kernel is 0:serial");
    const int64_t at = x->row_start[i];
    x->column[at] = (int32_t)(serial - 1);
    ((double *)x->values)[at] = 1;
    x->row_start[i + 1] = at + 1;
    r->columns = serial > (double)r->columns ? (int64_t)serial : r->columns;
    return mc_libsvm_skip_line(r);
}

static mercer_status read_vector(mercer_ctx *ctx, mc_libsvm_reader *r, mercer_data *x, int64_t i) {
    int64_t at = x->row_start[i], last = r->first - 1;
    while (!mc_libsvm_line_end(r)) {
        int64_t index = 0;
        double value = 0;
        MC_TRY(read_pair(ctx, r, &index, &value));
        if (index <= last)
            return mc_libsvm_damaged(ctx, r, "the indices of a vector must rise");
        last = index;
        if (value == 0)
            continue;
        x->column[at] = (int32_t)(index - r->first);
        ((double *)x->values)[at++] = value;
    }
    x->row_start[i + 1] = at;
    r->columns = last - r->first + 1 > r->columns ? last - r->first + 1 : r->columns;
    return MERCER_OK;
}

static mercer_status read_vectors(mercer_ctx *ctx, mc_libsvm_reader *r, int64_t width, mc_fitted *f) {
    MC_TRY(count_pairs(ctx, r));
    MC_TRY(mc_data_new(ctx, r->head.vectors, 1, MERCER_F64, r->stored, &f->centres));
    MC_TRY(MC_ALLOC(ctx, f->alpha, r->head.vectors * width));
    for (int64_t i = 0; i < r->head.vectors; i++) {
        while (mc_libsvm_line_end(r))
            r->p++;
        for (int64_t k = 0; k < width; k++)
            MC_TRY(mc_libsvm_real(ctx, r, &f->alpha[i * width + k]));
        MC_TRY(r->head.kernel == MC_LIBSVM_PRECOMPUTED ? read_serial(ctx, r, f->centres, i)
                                                       : read_vector(ctx, r, f->centres, i));
    }
    f->centres->d = r->columns > 0 ? r->columns : 1;
    return r->head.kernel == MC_LIBSVM_PRECOMPUTED ? MERCER_OK : mc_data_compact(ctx, f->centres);
}

/* ---- The model ---- */

static mercer_status make_labels(mercer_ctx *ctx, const mc_libsvm_reader *r, mercer_data *x) {
    const char **list = NULL;
    char(*text)[32] = NULL;
    const bool region = r->head.type == MC_LIBSVM_ONE_CLASS;
    mercer_status status = MC_ALLOC(ctx, list, r->head.classes);
    if (!status)
        status = MC_ALLOC(ctx, text, r->head.classes);
    for (int64_t k = 0; k < r->head.classes && !status; k++) {
        mc_print(text[k], sizeof text[k], "%lld", region ? (k ? 1LL : -1LL) : (long long)r->head.label[k]);
        list[k] = text[k];
    }
    x->classes = r->head.classes;
    if (!status && !(x->label = mc_strings_copy(ctx, list, r->head.classes)))
        status = MERCER_MEMORY;
    mc_free(list);
    mc_free(text);
    return status;
}

/* The same value for all rows: powers of zero, or of a constant. */
static void print_constant(char *text, size_t size, double value) {
    if (value >= 0)
        mc_print(text, size, "%.17g", value);
    else
        mc_print(text, size, "0*linear - %.17g", -value);
}

void mc_libsvm_kernel_text(int kernel, int64_t degree, double gamma, double coef0, char *text, size_t size) {
    const bool constant = gamma == 0 || (kernel == MC_LIBSVM_POLYNOMIAL && degree == 0);
    if (constant && (kernel == MC_LIBSVM_POLYNOMIAL || kernel == MC_LIBSVM_RBF))
        print_constant(text, size, kernel == MC_LIBSVM_RBF ? 1 : pow(coef0, (double)degree));
    else if (kernel == MC_LIBSVM_POLYNOMIAL)
        mc_print(text, size, "poly(degree=%lld, c=%.17g, gamma=%.17g)", (long long)degree, coef0, gamma);
    else if (kernel == MC_LIBSVM_RBF)
        mc_print(text, size, "rbf(gamma=%.17g)", gamma);
    else if (kernel == MC_LIBSVM_SIGMOID)
        mc_print(text, size, "tanh(a=%.17g, c=%.17g)", gamma, coef0);
    else
        mc_print(text, size, "%s", kernel == MC_LIBSVM_PRECOMPUTED ? "precomputed" : "linear");
}

/* Of a precomputed kernel the linear one: see the top. */
static mercer_status make_kernel(mercer_ctx *ctx, const mc_libsvm_reader *r, mc_fitted *f) {
    char text[160];
    const int kind = r->head.kernel == MC_LIBSVM_PRECOMPUTED ? MC_LIBSVM_LINEAR : r->head.kernel;
    mc_libsvm_kernel_text(kind, r->head.degree, r->head.gamma, r->head.coef0, text, sizeof text);
    mercer_kernel *kernel = NULL;
    mercer_status status = mc_kernel_parse(ctx, text, (mc_users){0}, &kernel);
    if (!status)
        status = mc_kernel_bind(ctx, kernel, f->centres, &f->kernel);
    mercer_kernel_free(kernel);
    return status && status != MERCER_MEMORY ? mc_libsvm_damaged(ctx, r, "its degree, gamma and coef0 make no kernel")
                                             : status;
}

/* One class only: a model without vectors that always answers it. */
static mc_form form_of(const mc_libsvm_reader *r) {
    const bool classes = r->head.type == MC_LIBSVM_C_SVC || r->head.type == MC_LIBSVM_NU_SVC;
    return r->head.type == MC_LIBSVM_ONE_CLASS ? MC_REGION : classes && r->head.classes > 1 ? MC_PAIRS : MC_VALUES;
}

static mercer_status write_intercepts(mercer_ctx *ctx, const mc_libsvm_reader *r, mc_fitted *f) {
    MC_TRY(MC_ALLOC(ctx, f->intercept, r->decisions + 1));
    for (int64_t k = 0; k < r->decisions; k++)
        f->intercept[k] = -r->head.rho[k];
    if (f->form != MC_PAIRS)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, f->class_start, r->head.classes + 1));
    for (int64_t k = 0; k < r->head.classes; k++)
        f->class_start[k + 1] = f->class_start[k] + r->head.count[k];
    return MERCER_OK;
}

static void write_report(const mc_libsvm_reader *r, mc_fitted *f) {
    mercer_report *report = &f->report;
    *report = (mercer_report){
        .machine = mc_libsvm_machines[r->head.type], .solver = "libsvm", .scale = "none", .stopped = "no"};
    report->n = report->support_vectors = r->head.vectors;
    report->d = mc_data_width(f->centres);
    report->outputs = f->outputs;
    report->lambda = report->norm = report->objective = report->loo_rmse = NAN;
    report->log_evidence = report->loo_log_density = report->dof = report->gcv = NAN;
    report->certificate = mc_certificate_blank("none");
}

/* Against what models of ours keep: labels apart, a form that goes with the type, counts that add up. */
static mercer_status check_model_agreement(mercer_ctx *ctx, const mc_libsvm_reader *r, const mercer_model *model) {
    const mc_model_shape shape = mc_model_shape_of(model);
    mc_flaw why;
    bool good = mc_shape_agrees(&shape, &why);
    if (good)
        MC_TRY(mc_arrays_agree(ctx, model, &shape, &good, &why));
    if (good)
        MC_TRY(mc_texts_agree(ctx, model, &shape, &good, &why));
    return good ? MERCER_OK : mc_libsvm_damaged(ctx, r, why.text);
}

static mercer_status assemble_model(mercer_ctx *ctx, mc_libsvm_reader *r, mercer_model *model) {
    mc_fitted *f = &model->f;
    MC_TRY(mc_libsvm_read_head(ctx, r));
    const bool classes = r->head.type == MC_LIBSVM_C_SVC || r->head.type == MC_LIBSVM_NU_SVC;
    f->form = form_of(r);
    f->outputs = classes ? r->head.classes : f->form == MC_REGION ? 2 : 1;
    f->scale.kind = MC_SCALE_NONE;
    MC_TRY(read_vectors(ctx, r, f->form == MC_VALUES && classes ? 0 : mc_form_width(f->form, f->outputs), f));
    f->open = true;
    f->centres->outputs = classes || f->form == MC_REGION ? 0 : 1;
    if (classes || f->form == MC_REGION)
        MC_TRY(make_labels(ctx, r, f->centres));
    MC_TRY(mc_data_finish(ctx, f->centres));
    MC_TRY(write_intercepts(ctx, r, f));
    MC_TRY(make_kernel(ctx, r, f));
    write_report(r, f);
    model->settings = mc_copy_text(ctx, "", 0);
    return model->settings ? check_model_agreement(ctx, r, model) : MERCER_MEMORY;
}

/* head NULL: nobody asks for it. */
static mercer_status read_model(mercer_ctx *ctx, mc_libsvm_reader *r, mc_libsvm_head *head, mercer_model **out) {
    mercer_model *model = NULL;
    *out = NULL;
    mercer_status status = MC_ALLOC(ctx, model, 1);
    MC_THEN(status, assemble_model(ctx, r, model));
    MC_THEN(status, mc_fitted_open_cache(ctx, &model->f));
    if (head && !status) {
        *head = r->head;
        r->head = (mc_libsvm_head){0};
    }
    mc_libsvm_head_free(&r->head);
    if (status)
        mercer_model_free(model);
    else
        *out = model;
    return status == MERCER_DATA ? MERCER_FORMAT : status;
}

static mc_libsvm_reader open_reader(const mc_input *input, int64_t first) {
    return (mc_libsvm_reader){.input = input,
                              .p = input->bytes,
                              .end = input->bytes + input->size,
                              .head = {.kernel = MC_LIBSVM_RBF},
                              .first = first};
}

mercer_status mc_libsvm_model_read(mercer_ctx *ctx, const mc_input *input, mercer_model **out) {
    mc_libsvm_reader r = open_reader(input, 1);
    return read_model(ctx, &r, NULL, out);
}

mercer_status mc_libsvm_model_read_all(mercer_ctx *ctx, const mc_input *input, mc_libsvm_head *head,
                                       mercer_model **out) {
    mc_libsvm_reader r = open_reader(input, 0);
    *head = (mc_libsvm_head){0};
    return read_model(ctx, &r, head, out);
}
