/* svm_support_vectors.c: what stays of a solution. A row stays when it has a coefficient in any quadratic program;
   coefficients stand as predict/fitted.h says for the form. */
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "data/table/strings.h"
#include "kernel/language/kernel.h"
#include "learn/svm/svm.h"
#include "predict/feature_weights.h"
#include <math.h>

static mc_form form_of(const mc_svm *s) {
    return s->kind == MC_ONE_CLASS ? MC_REGION : s->variant->classes && s->task[0].b >= 0 ? MC_PAIRS : MC_VALUES;
}

/* Column of alpha in which a task writes the coefficient of its row i. */
static int64_t column_of(const mc_svm_program *t, int64_t i) {
    if (t->b >= 0)
        return i < t->split ? t->b - 1 : t->a;
    return t->a >= 0 ? t->a : t->output;
}

/* place[i] <- the number of row i among those kept, -1 when it is not. */
static int64_t number_vectors(const mc_svm *s, int64_t *place) {
    for (int64_t i = 0; i < s->p.n; i++)
        place[i] = -1;
    for (int64_t k = 0; k < s->tasks; k++)
        for (int64_t i = 0; i < s->task[k].n; i++)
            if (mc_svm_program_coefficient(&s->task[k], i) != 0)
                place[mc_svm_program_row(s, &s->task[k], i)] = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < s->p.n; i++)
        if (place[i] == 0)
            place[i] = count++;
    return count;
}

static mercer_status take_centres(mercer_ctx *ctx, const mc_svm *s, const int64_t *place, int64_t count, mc_fitted *f) {
    int64_t *rows = NULL;
    MC_TRY(MC_ALLOC(ctx, f->row, count));
    MC_TRY(MC_ALLOC(ctx, rows, count));
    for (int64_t i = 0; i < s->p.n; i++)
        if (place[i] >= 0) {
            rows[place[i]] = i;
            f->row[place[i]] = s->order[i];
        }
    const mercer_status status = mc_data_take(ctx, s->p.x, rows, count, &f->centres);
    mc_free(rows);
    return status;
}

/* One-class has no classes but those it predicts. */
static mercer_status label_region(mercer_ctx *ctx, mercer_data *centres) {
    const char *const labels[] = {"-1", "1"};
    centres->classes = 2;
    centres->outputs = 0;
    centres->label = mc_strings_copy(ctx, labels, 2);
    return centres->label ? MERCER_OK : MERCER_MEMORY;
}

static mercer_status start_classes(mercer_ctx *ctx, const mc_svm *s, const int64_t *place, int64_t count,
                                   mc_fitted *f) {
    MC_TRY(MC_ALLOC(ctx, f->class_start, s->classes + 1));
    for (int64_t c = s->classes; c >= 0; c--) {
        f->class_start[c] = c < s->classes ? f->class_start[c + 1] : count;
        for (int64_t i = s->start[c]; c < s->classes && i < s->start[c + 1]; i++)
            f->class_start[c] -= place[i] >= 0;
    }
    return MERCER_OK;
}

/* What bounds the multipliers: C of nu-svc is the unit of its coefficients; one-class has none. */
static mercer_status write_box(mercer_ctx *ctx, const mc_svm *s, const int64_t *place, int64_t count, mc_fitted *f) {
    MC_TRY(MC_ALLOC(ctx, f->cost, count));
    MC_TRY(MC_ALLOC(ctx, f->box, 2 * s->tasks));
    for (int64_t i = 0; i < s->p.n; i++)
        if (place[i] >= 0)
            f->cost[place[i]] = s->cost[i];
    for (int64_t k = 0; k < s->tasks; k++) {
        const double C = s->variant->has_C ? s->C : s->task[k].unit;
        f->box[2 * k] = isfinite(C) ? C : 0;
        f->box[2 * k + 1] = s->task[k].epsilon;
    }
    return MERCER_OK;
}

static mercer_status write_coefficients(mercer_ctx *ctx, const mc_svm *s, const int64_t *place, int64_t count,
                                        mc_fitted *f) {
    const int64_t width = mc_form_width(f->form, f->outputs);
    MC_TRY(MC_ALLOC(ctx, f->alpha, count * width));
    MC_TRY(MC_ALLOC(ctx, f->intercept, s->tasks));
    for (int64_t k = 0; k < s->tasks; k++) {
        const mc_svm_program *t = &s->task[k];
        f->intercept[k] = t->intercept;
        for (int64_t i = 0; i < t->n; i++) {
            const double c = mc_svm_program_coefficient(t, i);
            if (c != 0)
                f->alpha[place[mc_svm_program_row(s, t, i)] * width + column_of(t, i)] = c;
        }
    }
    return MERCER_OK;
}

static mercer_status keep_support_vectors(mercer_ctx *ctx, const mc_svm *s, int64_t *place, mc_fitted *f) {
    const int64_t count = number_vectors(s, place);
    f->form = form_of(s);
    f->outputs = f->form == MC_REGION ? 2 : s->variant->classes ? s->classes : s->p.outputs;
    MC_TRY(take_centres(ctx, s, place, count, f));
    if (f->form == MC_REGION)
        MC_TRY(label_region(ctx, f->centres));
    if (f->form == MC_PAIRS)
        MC_TRY(start_classes(ctx, s, place, count, f));
    MC_TRY(write_box(ctx, s, place, count, f));
    return write_coefficients(ctx, s, place, count, f);
}

mercer_status mc_svm_keep_vectors(mercer_ctx *ctx, const mc_svm *s, mc_fitted *out) {
    int64_t *place = NULL;
    MC_TRY(MC_ALLOC(ctx, place, s->p.n));
    const mercer_status status = keep_support_vectors(ctx, s, place, out);
    mc_free(place);
    return status;
}

/* ---- Linear kernels ---- */

/* w of each decision = sum of its coefficients times rows, where the kernel is the inner product of all columns and w
   is not longer than the vectors it replaces. */
mercer_status mc_svm_primal(mercer_ctx *ctx, mc_fitted *f) {
    const int64_t decisions = mc_form_decisions(f->form, f->outputs), d = f->centres->d;
    if (!mc_kernel_linear(f->kernel) || decisions * d > mercer_data_stored(f->centres))
        return MERCER_OK;
    double *weights = NULL;
    MC_TRY(MC_ALLOC(ctx, weights, decisions * d));
    const mercer_status status = mc_weights_sum(ctx, f, weights);
    f->primal = weights;
    f->features = d;
    return status;
}
