/* libsvm_read.c: a model that LIBSVM wrote, as a model of ours that decides the same.

   Lines of "key value ..." in any order after nr_class, then "SV" and one vector per line: coefficients, then
   index:value pairs. Classes keep the order of the file, since ties go to the first. Kernels become expressions; a
   precomputed kernel becomes the linear one with the serial number's unit vector as support vector, because <x, e_s> is
   the s-th kernel value of the row. Whatever the file says is checked against what it holds before memory is taken for
   it. Estimates of probabilities (probA, probB) are read for who asks for them; prob_density_marks are passed over. */
#include "certify/certificate.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/print.h"
#include "base/settings.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "data/table/strings.h"
#include "kernel/language/kernel.h"
#include "kernel/language/parse.h"
#include "model/file/check_shape.h"
#include "model/libsvm/libsvm_model.h"
#include <math.h>
#include <string.h>

enum { LINEAR, POLYNOMIAL, RBF, SIGMOID, PRECOMPUTED };
enum { C_SVC, NU_SVC, ONE_CLASS, EPSILON_SVR, NU_SVR };

typedef struct model_reader {
    const mc_input *input;
    const char *p, *end;
    mc_libsvm_head head;
    int64_t decisions;
    int64_t first;           /* the index of the first column */
    int64_t columns, stored; /* of the vectors */
    unsigned seen;           /* bits of the keys */
} model_reader;

/* ---- Words ---- */

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(model_reader *r) {
    while (r->p < r->end && is_blank(*r->p))
        r->p++;
}

static bool at_line_end(model_reader *r) {
    skip_blanks(r);
    return r->p >= r->end || *r->p == '\n';
}

static mercer_status fail_damaged_model(mercer_ctx *ctx, const model_reader *r, const char *what) {
    return mc_fail_line(ctx, r->input, r->p < r->end ? r->p : r->end, "the LIBSVM model is damaged: %s", what);
}

/* The next word on this line, its length 0 at the end of the line. */
static size_t read_word(model_reader *r, const char **out) {
    skip_blanks(r);
    *out = r->p;
    while (r->p < r->end && !is_blank(*r->p) && *r->p != '\n')
        r->p++;
    return (size_t)(r->p - *out);
}

static mercer_status read_real(mercer_ctx *ctx, model_reader *r, double *out) {
    skip_blanks(r);
    const char *after = mc_number_read(r->p, r->end, out);
    if (!after || !isfinite(*out) || !(after >= r->end || is_blank(*after) || *after == '\n' || *after == ':'))
        return fail_damaged_model(ctx, r, "a number was expected here");
    r->p = after;
    return MERCER_OK;
}

static mercer_status read_whole(mercer_ctx *ctx, model_reader *r, int64_t low, int64_t high, int64_t *out) {
    double value;
    const char *place = r->p;
    MC_TRY(read_real(ctx, r, &value));
    if (value != floor(value) || !(value >= (double)low && value <= (double)high)) {
        r->p = place;
        return fail_damaged_model(ctx, r, "a whole number in range was expected here");
    }
    *out = (int64_t)value;
    return MERCER_OK;
}

static mercer_status read_choice(mercer_ctx *ctx, model_reader *r, const char *const *names, int count, int *out) {
    const char *text;
    const size_t length = read_word(r, &text);
    for (int k = 0; k < count; k++)
        if (strlen(names[k]) == length && memcmp(names[k], text, length) == 0) {
            *out = k;
            return MERCER_OK;
        }
    return fail_damaged_model(ctx, r, "svm_type or kernel_type is none that LIBSVM has");
}

/* ---- The head ---- */

static mercer_status read_reals(mercer_ctx *ctx, model_reader *r, int64_t count, double **out) {
    mc_free(*out);
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, *out, count));
    for (int64_t k = 0; k < count; k++)
        MC_TRY(read_real(ctx, r, &(*out)[k]));
    return MERCER_OK;
}

static mercer_status read_wholes(mercer_ctx *ctx, model_reader *r, int64_t low, int64_t high, int64_t **out) {
    mc_free(*out);
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, *out, r->head.classes));
    for (int64_t k = 0; k < r->head.classes; k++)
        MC_TRY(read_whole(ctx, r, low, high, &(*out)[k]));
    return MERCER_OK;
}

/* Each of so many things takes two bytes of the file at least: a count beyond that is a lie. */
static int64_t largest_count(const model_reader *r) {
    return r->input->size;
}

static mercer_status read_classes(mercer_ctx *ctx, model_reader *r) {
    MC_TRY(read_whole(ctx, r, 1, largest_count(r), &r->head.classes));
    r->decisions = r->head.classes * (r->head.classes - 1) / 2;
    return r->decisions <= largest_count(r) ? MERCER_OK : fail_damaged_model(ctx, r, "it has more classes than bytes");
}

static mercer_status skip_line(model_reader *r) {
    while (r->p < r->end && *r->p != '\n')
        r->p++;
    return MERCER_OK;
}

typedef enum header_key {
    TYPE,
    KERNEL,
    DEGREE,
    GAMMA,
    COEF0,
    CLASSES,
    VECTORS,
    RHO,
    LABEL,
    COUNT,
    PROB_A,
    PROB_B,
    MARKS,
    VECTORS_FOLLOW,
    KEYS
} header_key;
static const char *const keys[KEYS] = {"svm_type",           "kernel_type", "degree", "gamma", "coef0", "nr_class",
                                       "total_sv",           "rho",         "label",  "nr_sv", "probA", "probB",
                                       "prob_density_marks", "SV"};

static mercer_status read_value(mercer_ctx *ctx, model_reader *r, header_key k) {
    switch (k) {
    case TYPE: return read_choice(ctx, r, mc_libsvm_types, MC_LIBSVM_TYPES, &r->head.type);
    case KERNEL: return read_choice(ctx, r, mc_libsvm_kernels, MC_LIBSVM_KERNELS, &r->head.kernel);
    case DEGREE: return read_whole(ctx, r, 0, INT32_MAX, &r->head.degree);
    case GAMMA: return read_real(ctx, r, &r->head.gamma);
    case COEF0: return read_real(ctx, r, &r->head.coef0);
    case CLASSES: return read_classes(ctx, r);
    case VECTORS: return read_whole(ctx, r, 0, largest_count(r), &r->head.vectors);
    case RHO: return read_reals(ctx, r, r->decisions, &r->head.rho);
    case LABEL: return read_wholes(ctx, r, INT32_MIN, INT32_MAX, &r->head.label);
    case COUNT: return read_wholes(ctx, r, 0, largest_count(r), &r->head.count);
    case PROB_A: return read_reals(ctx, r, r->decisions, &r->head.probA);
    case PROB_B: return read_reals(ctx, r, r->decisions, &r->head.probB);
    default: return skip_line(r);
    }
}

static mercer_status read_line(mercer_ctx *ctx, model_reader *r, bool *vectors) {
    const char *text;
    const size_t length = read_word(r, &text);
    int k = 0;
    while (k < KEYS && (strlen(keys[k]) != length || memcmp(keys[k], text, length) != 0))
        k++;
    if (k == KEYS && length > 0) {
        r->p = text;
        return fail_damaged_model(ctx, r, "this word is none that a model has");
    }
    *vectors = k == VECTORS_FOLLOW;
    if (length > 0 && r->seen & 1u << k)
        return fail_damaged_model(ctx, r, "this word stood before: what it said then has been counted by");
    r->seen |= length > 0 ? 1u << k : 0;
    if ((k == RHO || k == LABEL || k == COUNT || k == PROB_A || k == PROB_B) && r->head.classes < 1)
        return fail_damaged_model(ctx, r, "nr_class must stand before what is counted by it");
    if (length > 0)
        MC_TRY(read_value(ctx, r, (header_key)k));
    if (!at_line_end(r))
        return fail_damaged_model(ctx, r, "the line goes on after its value");
    r->p += r->p < r->end;
    return MERCER_OK;
}

static bool counts_agree(const model_reader *r) {
    int64_t sum = 0;
    for (int64_t k = 0; k < r->head.classes; k++)
        sum += r->head.count[k];
    return sum == r->head.vectors;
}

/* What the kernel is made of is written by every program that writes models: a file without it has lost a line. */
static const char *missing_parameter(const model_reader *r) {
    static const struct {
        int kernel;
        header_key key;
    } needs[] = {{POLYNOMIAL, DEGREE}, {POLYNOMIAL, GAMMA}, {POLYNOMIAL, COEF0},
                 {RBF, GAMMA},         {SIGMOID, GAMMA},    {SIGMOID, COEF0}};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i].kernel == r->head.kernel && !(r->seen & 1u << needs[i].key))
            return keys[needs[i].key];
    return NULL;
}

static mercer_status read_head(mercer_ctx *ctx, model_reader *r) {
    for (bool vectors = false; !vectors;) {
        if (r->p >= r->end)
            return fail_damaged_model(ctx, r, "it ends before its support vectors (SV)");
        MC_TRY(read_line(ctx, r, &vectors));
    }
    const bool classes = r->head.type == C_SVC || r->head.type == NU_SVC;
    if (r->head.classes < 1 || (!r->head.rho && r->decisions > 0) || (!classes && r->head.classes != 2))
        return fail_damaged_model(ctx, r, "nr_class or rho is missing or wrong");
    if (classes && (!r->head.label || (r->head.classes > 1 && (!r->head.count || !counts_agree(r)))))
        return fail_damaged_model(ctx, r, "label or nr_sv is missing, or nr_sv does not add up to total_sv");
    if (missing_parameter(r)) {
        char text[64];
        mc_print(text, sizeof text, "%s, which its kernel needs, is missing", missing_parameter(r));
        return fail_damaged_model(ctx, r, text);
    }
    return MERCER_OK;
}

/* ---- The vectors ---- */

/* Lines and pairs from here on, so that the arrays can be made. */
static mercer_status count_pairs(mercer_ctx *ctx, model_reader *r) {
    int64_t lines = 0;
    bool something = false;
    for (const char *p = r->p; p <= r->end; p++) {
        const bool end = p == r->end || *p == '\n';
        lines += end && something;
        something = !end && (something || !is_blank(*p));
        r->stored += p < r->end && *p == ':';
    }
    if (lines == r->head.vectors)
        return MERCER_OK;
    char text[128];
    mc_print(text, sizeof text, "total_sv is %lld and %lld vectors follow", (long long)r->head.vectors,
             (long long)lines);
    return fail_damaged_model(ctx, r, text);
}

static mercer_status read_pair(mercer_ctx *ctx, model_reader *r, int64_t *index, double *value) {
    MC_TRY(read_whole(ctx, r, r->head.kernel == PRECOMPUTED ? 0 : r->first, INT32_MAX - 1, index));
    if (r->p >= r->end || *r->p != ':')
        return fail_damaged_model(ctx, r, "index:value was expected here");
    r->p++;
    return read_real(ctx, r, value);
}

/* 0:serial stands for the unit vector of that column. */
static mercer_status read_serial(mercer_ctx *ctx, model_reader *r, mercer_data *x, int64_t i) {
    int64_t index = 0;
    double serial = 0;
    MC_TRY(read_pair(ctx, r, &index, &serial));
    if (index != 0 || serial != floor(serial) || !(serial >= 1 && serial <= INT32_MAX))
        return fail_damaged_model(ctx, r, "a vector of a precomputed kernel is 0:serial");
    const int64_t at = x->row_start[i];
    x->column[at] = (int32_t)(serial - 1);
    ((double *)x->values)[at] = 1;
    x->row_start[i + 1] = at + 1;
    r->columns = serial > (double)r->columns ? (int64_t)serial : r->columns;
    return skip_line(r);
}

static mercer_status read_vector(mercer_ctx *ctx, model_reader *r, mercer_data *x, int64_t i) {
    int64_t at = x->row_start[i], last = r->first - 1;
    while (!at_line_end(r)) {
        int64_t index = 0;
        double value = 0;
        MC_TRY(read_pair(ctx, r, &index, &value));
        if (index <= last)
            return fail_damaged_model(ctx, r, "the indices of a vector must rise");
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

static mercer_status read_vectors(mercer_ctx *ctx, model_reader *r, int64_t width, mc_fitted *f) {
    MC_TRY(count_pairs(ctx, r));
    MC_TRY(mc_data_new(ctx, r->head.vectors, 1, MERCER_F64, r->stored, &f->centres));
    MC_TRY(MC_ALLOC(ctx, f->alpha, r->head.vectors * width));
    for (int64_t i = 0; i < r->head.vectors; i++) {
        while (at_line_end(r))
            r->p++;
        for (int64_t k = 0; k < width; k++)
            MC_TRY(read_real(ctx, r, &f->alpha[i * width + k]));
        MC_TRY(r->head.kernel == PRECOMPUTED ? read_serial(ctx, r, f->centres, i) : read_vector(ctx, r, f->centres, i));
    }
    f->centres->d = r->columns > 0 ? r->columns : 1;
    return r->head.kernel == PRECOMPUTED ? MERCER_OK : mc_data_compact(ctx, f->centres);
}

/* ---- The model ---- */

static mercer_status make_labels(mercer_ctx *ctx, const model_reader *r, mercer_data *x) {
    const char **list = NULL;
    char(*text)[32] = NULL;
    const bool region = r->head.type == ONE_CLASS;
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
    const bool constant = gamma == 0 || (kernel == POLYNOMIAL && degree == 0);
    if (constant && (kernel == POLYNOMIAL || kernel == RBF))
        print_constant(text, size, kernel == RBF ? 1 : pow(coef0, (double)degree));
    else if (kernel == POLYNOMIAL)
        mc_print(text, size, "poly(degree=%lld, c=%.17g, gamma=%.17g)", (long long)degree, coef0, gamma);
    else if (kernel == RBF)
        mc_print(text, size, "rbf(gamma=%.17g)", gamma);
    else if (kernel == SIGMOID)
        mc_print(text, size, "tanh(a=%.17g, c=%.17g)", gamma, coef0);
    else
        mc_print(text, size, "%s", kernel == PRECOMPUTED ? "precomputed" : "linear");
}

/* Of a precomputed kernel the linear one: see the top. */
static mercer_status make_kernel(mercer_ctx *ctx, const model_reader *r, mc_fitted *f) {
    char text[160];
    const int kind = r->head.kernel == PRECOMPUTED ? LINEAR : r->head.kernel;
    mc_libsvm_kernel_text(kind, r->head.degree, r->head.gamma, r->head.coef0, text, sizeof text);
    mercer_kernel *kernel = NULL;
    mercer_status status = mc_kernel_parse(ctx, text, (mc_users){0}, &kernel);
    if (!status)
        status = mc_kernel_bind(ctx, kernel, f->centres, &f->kernel);
    mercer_kernel_free(kernel);
    return status && status != MERCER_MEMORY ? fail_damaged_model(ctx, r, "its degree, gamma and coef0 make no kernel")
                                             : status;
}

/* One class only: a model without vectors that always answers it. */
static mc_form form_of(const model_reader *r) {
    const bool classes = r->head.type == C_SVC || r->head.type == NU_SVC;
    return r->head.type == ONE_CLASS ? MC_REGION : classes && r->head.classes > 1 ? MC_PAIRS : MC_VALUES;
}

static mercer_status write_intercepts(mercer_ctx *ctx, const model_reader *r, mc_fitted *f) {
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

static void write_report(const model_reader *r, mc_fitted *f) {
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
static mercer_status check_model_agreement(mercer_ctx *ctx, const model_reader *r, const mercer_model *model) {
    const mc_model_shape shape = mc_model_shape_of(model);
    mc_flaw why;
    bool good = mc_shape_agrees(&shape, &why);
    if (good)
        MC_TRY(mc_arrays_agree(ctx, model, &shape, &good, &why));
    if (good)
        MC_TRY(mc_texts_agree(ctx, model, &shape, &good, &why));
    return good ? MERCER_OK : fail_damaged_model(ctx, r, why.text);
}

static mercer_status assemble_model(mercer_ctx *ctx, model_reader *r, mercer_model *model) {
    mc_fitted *f = &model->f;
    MC_TRY(read_head(ctx, r));
    const bool classes = r->head.type == C_SVC || r->head.type == NU_SVC;
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

bool mc_libsvm_is_model(const char *bytes, size_t size) {
    for (int k = 0; k < VECTORS_FOLLOW; k++) {
        const size_t length = strlen(keys[k]);
        if (size > length && memcmp(bytes, keys[k], length) == 0 && is_blank(bytes[length]))
            return true;
    }
    return false;
}

void mc_libsvm_head_free(mc_libsvm_head *head) {
    void *const arrays[] = {head->rho, head->probA, head->probB, head->label, head->count};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        mc_free(arrays[k]);
    *head = (mc_libsvm_head){0};
}

/* head NULL: nobody asks for it. */
static mercer_status read_model(mercer_ctx *ctx, model_reader *r, mc_libsvm_head *head, mercer_model **out) {
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

static model_reader open_reader(const mc_input *input, int64_t first) {
    return (model_reader){
        .input = input, .p = input->bytes, .end = input->bytes + input->size, .head = {.kernel = RBF}, .first = first};
}

mercer_status mc_libsvm_model_read(mercer_ctx *ctx, const mc_input *input, mercer_model **out) {
    model_reader r = open_reader(input, 1);
    return read_model(ctx, &r, NULL, out);
}

mercer_status mc_libsvm_model_read_all(mercer_ctx *ctx, const mc_input *input, mc_libsvm_head *head,
                                       mercer_model **out) {
    model_reader r = open_reader(input, 0);
    *head = (mc_libsvm_head){0};
    return read_model(ctx, &r, head, out);
}
