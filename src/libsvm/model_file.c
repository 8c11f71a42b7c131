/* model_file.c: svm_save_model and svm_load_model. The reader is that of Mercer's own models (model/libsvm);
   numbers are written in as few digits as read back to the same double. */
#include "libsvm/model_file.h"
#include "libsvm/model_memory.h"
#include "libsvm/solve_problem.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "base/text.h"
#include "model/libsvm/libsvm_model.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- Writing ---- */

static void add_number(mc_text *text, double value) {
    char digits[32];
    mc_number_text(value, digits);
    mc_text_bytes(text, digits, (int64_t)strlen(digits));
}

static void add_numbers(mc_text *text, const char *key, const double *values, int64_t count) {
    if (!values)
        return;
    mc_text_add(text, "%s", key);
    for (int64_t k = 0; k < count; k++) {
        mc_text_bytes(text, " ", 1);
        add_number(text, values[k]);
    }
    mc_text_bytes(text, "\n", 1);
}

static void add_wholes(mc_text *text, const char *key, const int *values, int count) {
    if (!values)
        return;
    mc_text_add(text, "%s", key);
    for (int k = 0; k < count; k++)
        mc_text_add(text, " %d", values[k]);
    mc_text_bytes(text, "\n", 1);
}

static void add_head(mc_text *text, const struct svm_model *m) {
    const struct svm_parameter *p = &m->param;
    const int kernel = p->kernel_type;
    const bool gamma = kernel == SVM_POLY || kernel == SVM_RBF || kernel == SVM_SIGMOID;
    const int64_t pairs = (int64_t)m->nr_class * (m->nr_class - 1) / 2;
    mc_text_add(text, "svm_type %s\nkernel_type %s\n", mc_libsvm_types[p->svm_type], mc_libsvm_kernels[kernel]);
    if (kernel == SVM_POLY)
        mc_text_add(text, "degree %d\n", p->degree);
    if (gamma)
        add_numbers(text, "gamma", &p->gamma, 1);
    if (gamma && kernel != SVM_RBF)
        add_numbers(text, "coef0", &p->coef0, 1);
    mc_text_add(text, "nr_class %d\ntotal_sv %d\n", m->nr_class, m->l);
    add_numbers(text, "rho", m->rho, pairs);
    add_wholes(text, "label", m->label, m->nr_class);
    add_numbers(text, "probA", m->probA, pairs);
    add_numbers(text, "probB", m->probB, pairs);
    add_wholes(text, "nr_sv", m->nSV, m->nr_class);
    mc_text_add(text, "SV\n");
}

static mercer_status add_row(mercer_ctx *ctx, mc_text *text, const struct svm_node *row, struct svm_node **own) {
    const struct svm_node *x;
    int64_t count;
    MC_TRY(mc_node_rising(ctx, row, own, &x, &count));
    for (int64_t k = 0; k < count; k++) {
        mc_text_add(text, "%d:", x[k].index);
        add_number(text, x[k].value);
        mc_text_bytes(text, " ", 1);
    }
    return MERCER_OK;
}

static mercer_status add_vector(mercer_ctx *ctx, mc_text *text, const struct svm_model *m, int i,
                                struct svm_node **own) {
    mercer_status status = MERCER_OK;
    for (int k = 0; k < m->nr_class - 1; k++) {
        add_number(text, m->sv_coef[k][i]);
        mc_text_bytes(text, " ", 1);
    }
    if (m->param.kernel_type == SVM_PRECOMPUTED)
        mc_text_add(text, "0:%d ", (int)m->SV[i][0].value);
    else
        status = add_row(ctx, text, m->SV[i], own);
    mc_text_bytes(text, "\n", 1);
    return status;
}

/* In place, as LIBSVM does: a name may be that of a device, and a program that trains thousands of models does not wait
   for the disk. */
static mercer_status write_bytes(mercer_ctx *ctx, const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "w");
    if (!file)
        return mc_fail(ctx, MERCER_IO, "%s cannot be written: %s", path, strerror(errno));
    const bool whole = fwrite(bytes, 1, size, file) == size;
    return fclose(file) == 0 && whole ? MERCER_OK : mc_fail(ctx, MERCER_IO, "%s could not be written whole", path);
}

static mercer_status write_model(mercer_ctx *ctx, const char *path, const struct svm_model *m) {
    mc_text text = mc_text_open(ctx);
    struct svm_node *own = NULL;
    char *bytes = NULL;
    mercer_status status = MERCER_OK;
    add_head(&text, m);
    for (int i = 0; i < m->l && !status; i++)
        status = add_vector(ctx, &text, m, i, &own);
    mc_free(own);
    const size_t size = (size_t)text.length;
    if (status)
        mc_text_close(&text);
    else
        status = mc_text_take(&text, &bytes);
    MC_THEN(status, write_bytes(ctx, path, bytes, size));
    mc_free(bytes);
    return status;
}

int svm_save_model(const char *path, const struct svm_model *model) {
    mercer_ctx *ctx = NULL;
    if (!model)
        return -1;
    mercer_status status = mc_svm_open_context(&ctx);
    if (!status && (status = write_model(ctx, path, model)) != MERCER_OK)
        mc_svm_report_failure(ctx, "svm_save_model");
    mercer_close(ctx);
    return status ? -1 : 0;
}

/* ---- Reading ---- */

static mercer_status fail_memory(mercer_ctx *ctx) {
    return mc_fail(ctx, MERCER_MEMORY, "memory: the system has none left");
}

/* Every row in one block, which free_sv says to free. */
static mercer_status take_rows(mercer_ctx *ctx, const mercer_data *centres, struct svm_model *m) {
    const bool serial = m->param.kernel_type == SVM_PRECOMPUTED;
    int64_t *column = NULL, most = 1, all = m->l;
    double *value = NULL;
    for (int i = 0; i < m->l; i++) {
        const int64_t count = mercer_data_row_stored(centres, i, NULL, NULL);
        most = count > most ? count : most;
        all += count;
    }
    struct svm_node *node = mc_svm_array(all, sizeof *node);
    mercer_status status = node ? MERCER_OK : fail_memory(ctx);
    MC_THEN(status, MC_ALLOC(ctx, column, most));
    MC_THEN(status, MC_ALLOC(ctx, value, most));
    m->free_sv = status == MERCER_OK;
    for (int i = 0; i < m->l && !status; i++) {
        const int64_t count = mercer_data_row_stored(centres, i, column, value);
        m->SV[i] = node;
        for (int64_t k = 0; k < count; k++)
            *node++ =
                serial ? (struct svm_node){0, (double)column[k] + 1} : (struct svm_node){(int)column[k], value[k]};
        *node++ = (struct svm_node){-1, 0};
    }
    if (status || m->l == 0)
        mc_svm_array_free(node);
    mc_free(column);
    mc_free(value);
    return status;
}

static void take_pairs(const mc_libsvm_head *h, struct svm_model *m) {
    const size_t size = (size_t)(h->classes * (h->classes - 1) / 2) * sizeof(double);
    if (h->rho)
        memcpy(m->rho, h->rho, size);
    if (m->probA)
        memcpy(m->probA, h->probA, size);
    if (m->probB)
        memcpy(m->probB, h->probB, size);
}

static mercer_status take_model(mercer_ctx *ctx, const mc_libsvm_head *h, const mercer_model *batch,
                                struct svm_model **out) {
    const struct svm_parameter param = {
        .svm_type = h->type, .kernel_type = h->kernel, .degree = (int)h->degree, .gamma = h->gamma, .coef0 = h->coef0};
    const bool classes = mc_svm_type_has_classes(h->type);
    if (h->classes > INT_MAX || h->vectors > INT_MAX)
        return mc_fail(ctx, MERCER_FORMAT, "the LIBSVM model has more classes or vectors than an int can count");
    struct svm_model *m = *out =
        mc_svm_model_new(&param, (int)h->classes, (int)h->vectors, classes, h->probA && (h->probB || !classes));
    if (!m)
        return fail_memory(ctx);
    take_pairs(h, m);
    for (int c = 0; c < m->nr_class && classes; c++) {
        m->label[c] = (int)h->label[c];
        m->nSV[c] = h->count ? (int)h->count[c] : 0;
    }
    for (int i = 0; i < m->l; i++)
        for (int k = 0; k < m->nr_class - 1; k++)
            m->sv_coef[k][i] = batch->f.alpha[(int64_t)i * (m->nr_class - 1) + k];
    return take_rows(ctx, batch->f.centres, m);
}

mercer_status mc_svm_model_load(mercer_ctx *ctx, const char *path, struct svm_model **out, mercer_model **batch) {
    mc_input input;
    mc_libsvm_head head = {0};
    *out = NULL;
    *batch = NULL;
    MC_TRY(mc_input_open(ctx, path, &input));
    mercer_status status = mc_input_load(ctx, &input);
    MC_THEN(status, mc_libsvm_model_read_all(ctx, &input, &head, batch));
    MC_THEN(status, take_model(ctx, &head, *batch, out));
    mc_libsvm_head_free(&head);
    mc_input_close(&input);
    return status;
}

struct svm_model *svm_load_model(const char *path) {
    mercer_ctx *ctx = NULL;
    struct svm_model *model = NULL;
    mercer_model *batch = NULL;
    mercer_status status = mc_svm_open_context(&ctx);
    if (!status && (status = mc_svm_model_load(ctx, path, &model, &batch)) != MERCER_OK)
        mc_svm_report_failure(ctx, "svm_load_model");
    if (status)
        svm_free_and_destroy_model(&model);
    mercer_model_free(batch);
    mercer_close(ctx);
    return model;
}
