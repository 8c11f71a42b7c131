/* problem.c: take the rows that count, scale them, bind the kernel, write out the targets. */
#include "problem/problem.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/settings.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "data/table/means.h"
#include "kernel/evaluate/feature_map.h"
#include "kernel/evaluate/text_rows.h"
#include "kernel/language/centre.h"
#include "kernel/language/localise.h"
#include "problem/check_precomputed.h"
#include <math.h>
#include <string.h>

enum { FEW = 1 << 16 }; /* numbers in the rows: half a megabyte of them packed */

static mercer_status check_target(mercer_ctx *ctx, const mercer_data *data) {
    if (!data->target && !data->class_of)
        return mc_fail(ctx, MERCER_DATA,
                       "fit: the data have no target; name its column (--target, mercer_read.target)");
    if (data->classes == 1)
        return mc_fail(ctx, MERCER_DATA,
                       "fit: every row is of class '%s'; two classes at least are needed: give rows of another, or "
                       "take the machine one-class, which learns from one",
                       data->label[0]);
    return MERCER_OK;
}

static int64_t count_weighty(const mercer_data *data) {
    int64_t count = 0;
    for (int64_t i = 0; data->weight && i < data->n; i++)
        count += data->weight[i] > 0;
    return data->weight ? count : data->n;
}

int64_t mc_problem_places(const mercer_data *data, int64_t *place) {
    int64_t count = 0;
    for (int64_t i = 0; i < data->n; i++)
        if (!data->weight || data->weight[i] > 0)
            place[count++] = i;
    return count;
}

/* The rows of positive weight as new data that know where they stood. */
static mercer_status take_weighty(mercer_ctx *ctx, const mercer_data *data, int64_t count, mercer_data **out) {
    int64_t *rows = NULL;
    MC_TRY(MC_ALLOC(ctx, rows, count));
    mc_problem_places(data, rows);
    const mercer_status status = mc_data_take(ctx, data, rows, count, out);
    if (status)
        mc_free(rows);
    else
        (*out)->place = rows;
    return status;
}

/* A matrix in place of a kernel is taken as it is. */
static mercer_status scaling_of(mercer_ctx *ctx, const char *scale, const mercer_kernel *kernel, mc_scaling *out) {
    *out = (mc_scaling)mc_choice_index("auto|none|standard|minmax", scale);
    if (!mc_kernel_precomputed(kernel))
        return MERCER_OK;
    if (*out != MC_SCALE_AUTO && *out != MC_SCALE_NONE)
        return mc_fail(ctx, MERCER_INVALID,
                       "fit: scale=%s would change the values of a precomputed kernel; use scale=none", scale);
    *out = MC_SCALE_NONE;
    return MERCER_OK;
}

static mercer_status scale_rows(mercer_ctx *ctx, const char *scale, const mercer_kernel *kernel,
                                const mercer_data *data, mc_problem *p) {
    mc_scaling kind;
    MC_TRY(scaling_of(ctx, scale, kernel, &kind));
    const int64_t count = count_weighty(data);
    mercer_data *taken = NULL;
    if (count < data->n)
        MC_TRY(take_weighty(ctx, data, count, &taken));
    mercer_status status = mc_scale_fit(ctx, kind, taken ? taken : data, &p->scale);
    if (!status && taken && p->scale.kind == MC_SCALE_NONE) {
        p->x = taken;
        return MERCER_OK;
    }
    if (!status)
        status = mc_scale_apply(ctx, &p->scale, taken ? taken : data, &p->x);
    if (!status && taken) {
        p->x->place = taken->place;
        taken->place = NULL;
    }
    mercer_data_free(taken);
    return status;
}

/* The verdict on the centred kernel, which takes the place of the other where it is proved. */
static mercer_status require_centred_kernel(mercer_ctx *ctx, mc_problem *p, bool *proved) {
    mercer_kernel *centred = NULL, *bound = NULL;
    *proved = false;
    MC_TRY(mc_kernel_centre(ctx, p->kernel, &centred));
    if (!centred)
        return MERCER_OK;
    mercer_status status = mc_kernel_bind(ctx, centred, p->x, &bound);
    mercer_kernel_free(centred);
    MC_TRY(status);
    status = mc_kernel_require(ctx, bound, mc_data_width(p->x), false);
    *proved = !status;
    mercer_kernel_free(status ? bound : p->kernel);
    p->kernel = status ? p->kernel : bound;
    return status == MERCER_NOT_A_KERNEL ? MERCER_OK : status;
}

static mercer_status require_kernel(mercer_ctx *ctx, bool balanced, bool offered, mc_problem *p) {
    bool proved = false;
    const mercer_status status = mc_kernel_require(ctx, p->kernel, mc_data_width(p->x), offered);
    if (status != MERCER_NOT_A_KERNEL || !balanced)
        return status;
    MC_TRY(require_centred_kernel(ctx, p, &proved));
    if (!proved) /* its own reason again */
        return mc_kernel_require(ctx, p->kernel, mc_data_width(p->x), offered);
    mc_clear_failure(ctx);
    return MERCER_OK;
}

/* The verdict on the kernel; consent turns a refusal into a fact to remember. */
static mercer_status require_proved_kernel(mercer_ctx *ctx, mc_admission admission, mc_problem *p) {
    const mc_consent consent = admission.consent;
    mercer_status status = require_kernel(ctx, admission.balanced, consent != MC_CONSENT_NEVER, p);
    if (!status)
        status = mc_precomputed_check(ctx, p->kernel, p->x, consent != MC_CONSENT_NEVER);
    p->proved = status == MERCER_OK;
    if (status != MERCER_NOT_A_KERNEL || consent != MC_CONSENT_GIVEN)
        return status;
    mc_clear_failure(ctx);
    return MERCER_OK;
}

/* Losses, norms and residuals are sums of squares: a target must leave them room. */
mercer_status mc_check_target_size(mercer_ctx *ctx, const char *who, const double *Y, int64_t count) {
    static const double least = 1e-140, most = 1e140;
    double largest = 0;
    for (int64_t i = 0; i < count; i++)
        largest = fabs(Y[i]) > largest ? fabs(Y[i]) : largest;
    if (largest == 0 || (largest >= least && largest <= most))
        return MERCER_OK;
    return mc_fail(ctx, MERCER_DATA,
                   "%s: the largest target is %.3g; sums of squares need it to lie between %g and %g: multiply the "
                   "target by %.0e",
                   who, largest, least, most, pow(10, -floor(log10(largest))));
}

/* What is written into Y: nothing, numbers, numbers and classes as columns of them. */
typedef enum wanted_targets { NO_TARGETS, NUMBERS, COLUMNS_TOO } wanted_targets;

static mercer_status write_values(mercer_ctx *ctx, mc_problem *p) {
    const mercer_data *x = p->x;
    MC_TRY(MC_ALLOC(ctx, p->Y, p->n * p->outputs));
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t k = 0; k < p->outputs; k++)
            p->Y[i * p->outputs + k] = x->class_of ? (x->class_of[i] == k ? 1 : -1) : x->target[i * x->outputs + k];
    return MERCER_OK;
}

static mercer_status write_targets(mercer_ctx *ctx, wanted_targets wanted, mc_problem *p) {
    const mercer_data *x = p->x;
    p->n = x->n;
    p->outputs = x->class_of ? x->classes : x->outputs;
    if (!x->class_of || wanted == COLUMNS_TOO)
        MC_TRY(write_values(ctx, p));
    p->class_of = p->x->class_of;
    p->x->class_of = NULL;
    return p->class_of ? MERCER_OK : mc_check_target_size(ctx, "fit", p->Y, p->n * p->outputs);
}

static bool are_numbers(char *const *list, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        double value;
        const char *end = list[i] + strlen(list[i]);
        if (mc_number_read(list[i], end, &value) != end)
            return false;
    }
    return true;
}

/* What the file called a target is none here. A new file may still have the column: as numbers, or as text that is
   passed over. */
static mercer_status forget_targets(mc_problem *p) {
    for (int64_t j = 0; j < p->x->schema.count; j++) {
        mc_column *column = &p->x->schema.column[j];
        if (column->kind != MC_COLUMN_TARGET)
            continue;
        column->kind = are_numbers(column->level, column->levels) ? MC_COLUMN_TARGET : MC_COLUMN_TEXT;
        mc_free(column->level);
        column->level = NULL;
        column->levels = 0;
    }
    p->n = p->x->n;
    p->outputs = 1;
    p->x->outputs = p->x->classes = 0;
    mc_free(p->x->label);
    mc_free(p->x->target_name);
    p->x->label = p->x->target_name = NULL;
    return MERCER_OK;
}

static mercer_status write_weights(mercer_ctx *ctx, mc_problem *p) {
    const mercer_data *x = p->x;
    if (!x->weight)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, p->root, p->n));
    for (int64_t i = 0; i < p->n; i++)
        p->root[i] = sqrt(x->weight[i]);
    return MERCER_OK;
}

static mercer_status make_ready(mercer_ctx *ctx, const char *scale, mc_admission admission, const mercer_kernel *kernel,
                                const mercer_data *data, wanted_targets targets, mc_problem *p) {
    MC_TRY(scale_rows(ctx, scale, kernel, data, p));
    MC_TRY(mc_schema_means(ctx, data, &p->x->schema));
    MC_TRY(mc_kernel_bind(ctx, kernel, p->x, &p->kernel));
    MC_TRY(mc_kernel_check_data(ctx, p->kernel, p->x));
    MC_TRY(require_proved_kernel(ctx, admission, p));
    MC_TRY(targets ? write_targets(ctx, targets, p) : forget_targets(p));
    MC_TRY(write_weights(ctx, p));
    MC_TRY(MC_ALLOC(ctx, p->gram, 1));
    mc_data_strip(p->x);
    if (p->kernel->texts)
        return mc_text_rows_attach(ctx, p->kernel->root, p->x);
    mc_data_drop_texts(p->x);
    return MERCER_OK;
}

static mercer_status open_problem(mercer_ctx *ctx, const char *scale, mc_admission admission,
                                  const mercer_kernel *kernel, const mercer_data *data, wanted_targets targets,
                                  mc_problem *out) {
    mc_aligned rows;
    *out = (mc_problem){0};
    if (targets)
        MC_TRY(check_target(ctx, data));
    MC_TRY(mc_align_tables(ctx, kernel, data, NULL, &rows));
    const mercer_status status = make_ready(ctx, scale, admission, kernel, rows.x, targets, out);
    mc_aligned_free(&rows);
    if (status)
        mc_problem_close(out);
    return status;
}

mercer_status mc_problem_open(mercer_ctx *ctx, const char *scale, mc_admission admission, const mercer_kernel *kernel,
                              const mercer_data *data, mc_problem *out) {
    return open_problem(ctx, scale, admission, kernel, data, COLUMNS_TOO, out);
}

mercer_status mc_problem_open_classes(mercer_ctx *ctx, const char *scale, mc_admission admission,
                                      const mercer_kernel *kernel, const mercer_data *data, mc_problem *out) {
    return open_problem(ctx, scale, admission, kernel, data, NUMBERS, out);
}

mercer_status mc_problem_open_rows(mercer_ctx *ctx, const char *scale, mc_admission admission,
                                   const mercer_kernel *kernel, const mercer_data *data, mc_problem *out) {
    return open_problem(ctx, scale, admission, kernel, data, NO_TARGETS, out);
}

mercer_status mc_problem_drop_rows(mercer_ctx *ctx, mc_problem *p) {
    mercer_data *none = NULL;
    MC_TRY(mc_data_take(ctx, p->x, NULL, 0, &none));
    mercer_data_free(p->x);
    p->x = none;
    return MERCER_OK;
}

mercer_status mc_problem_gram_open(mercer_ctx *ctx, const mc_problem *p, mc_gram **out) {
    *out = *p->gram;
    if (*out)
        return MERCER_OK;
    MC_TRY(mc_gram_open(ctx, p->kernel, p->x, NULL, MERCER_F64, out));
    if (p->n * p->x->d <= FEW)
        *p->gram = *out;
    return MERCER_OK;
}

void mc_problem_gram_close(const mc_problem *p, mc_gram *gram) {
    if (gram != *p->gram)
        mc_gram_close(gram);
}

void mc_problem_close(mc_problem *problem) {
    if (problem->gram)
        mc_gram_close(*problem->gram);
    mc_free(problem->gram);
    mercer_kernel_free(problem->kernel);
    mc_text_rows_detach(problem->x);
    mercer_data_free(problem->x);
    mc_scale_free(&problem->scale);
    mc_free(problem->Y);
    mc_free(problem->given);
    mc_free(problem->root);
    mc_free(problem->class_of);
    *problem = (mc_problem){0};
}

int64_t mc_problem_features(const mc_problem *p, int64_t limit) {
    const int64_t kept = mc_features_count(p->kernel->root, p->x->d, limit);
    const bool same = !p->x->used || mc_kernel_linear(p->kernel)
                      || kept == mc_features_count(mc_kernel_shown(p->kernel), mc_data_width(p->x), limit);
    return same ? kept : -1;
}

void mc_problem_means(const mc_problem *p, double *mean) {
    for (int64_t k = 0; k < p->outputs; k++) {
        long double sum = 0, weight = 0;
        for (int64_t i = 0; i < p->n; i++) {
            sum += (long double)mc_problem_weight(p, i) * p->Y[i * p->outputs + k];
            weight += mc_problem_weight(p, i);
        }
        mean[k] = (double)(sum / weight);
    }
}

mercer_status mc_problem_centre(mercer_ctx *ctx, mc_problem *p, const double *mean) {
    const int64_t count = p->n * p->outputs;
    MC_TRY(MC_ALLOC(ctx, p->given, count));
    memcpy(p->given, p->Y, (size_t)count * sizeof *p->Y);
    for (int64_t i = 0; i < count; i++)
        p->Y[i] -= mean[i % p->outputs];
    return MERCER_OK;
}

void mc_problem_restore(mc_problem *p) {
    mc_free(p->Y);
    p->Y = p->given;
    p->given = NULL;
}

/* ---- Weights of classes ---- */

/* "balanced", or "label=weight,label=weight"; classes not named weigh 1. */

static void balance_class_weights(int64_t classes, const int32_t *class_of, int64_t n, double *out) {
    for (int64_t k = 0; k < classes; k++)
        out[k] = 0;
    for (int64_t i = 0; i < n; i++)
        out[class_of[i]]++;
    int64_t present = 0;
    for (int64_t k = 0; k < classes; k++)
        present += out[k] > 0;
    for (int64_t k = 0; k < classes; k++)
        out[k] = out[k] > 0 ? (double)n / ((double)present * out[k]) : 1;
}

/* The longest label that stands before a '=' at text; -1: none. A label may itself contain ',' and '='. */
static int64_t label_at(const mercer_data *labels, const char *text, size_t *length) {
    int64_t found = -1;
    *length = 0;
    for (int64_t k = 0; k < labels->classes; k++) {
        const size_t size = strlen(labels->label[k]);
        if (size >= *length && strncmp(text, labels->label[k], size) == 0 && text[size] == '=') {
            *length = size;
            found = k;
        }
    }
    return found;
}

mercer_status mc_class_weights(mercer_ctx *ctx, const char *machine, const char *text, const mercer_data *labels,
                               const int32_t *class_of, int64_t n, double *out) {
    for (int64_t k = 0; k < labels->classes; k++)
        out[k] = 1;
    if (strcmp(text, "balanced") == 0) {
        balance_class_weights(labels->classes, class_of, n, out);
        return MERCER_OK;
    }
    const char *end = text + strlen(text);
    for (const char *p = text; p < end; p += *p == ',') {
        size_t length;
        const int64_t k = label_at(labels, p, &length);
        if (k < 0)
            return mc_fail(ctx, MERCER_INVALID,
                           "%s: class-weight must be 'balanced' or label=weight,label=weight with labels of the data "
                           "('%s', ...), got '%s'",
                           machine, labels->label[0], p);
        const char *after = mc_number_read(p + length + 1, end, &out[k]);
        if (!after || (*after && *after != ',') || !(out[k] > 0 && out[k] <= 1e100))
            return mc_fail(ctx, MERCER_INVALID, "%s: the weight of class '%s' must be a positive number, got '%s'",
                           machine, labels->label[k], p + length + 1);
        p = after;
    }
    return MERCER_OK;
}
