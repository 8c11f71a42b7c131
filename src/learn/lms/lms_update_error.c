/* lms_update_error.c: how an update meets its rows, and what it does to what the model knew.

   The targets of the old rows are not in a model, but what it said of its centres is: how far that moves, and how many
   of them change their class, is what new rows cost the old ones. */
#include "base/memory.h"
#include "base/print.h"
#include "base/status.h"
#include "data/table/data.h"
#include "learn/lms/lms_update.h"
#include "predict/feature_weights.h"
#include <math.h>

double mc_update_weight(const mc_updating *u, int64_t i) {
    return u->data->weight ? u->data->weight[i] : 1;
}

static mercer_status fitted_values(mercer_ctx *ctx, const mc_updating *u, double *F) {
    return u->weights ? mc_weights_apply(ctx, u->from->kernel, u->t, u->weights, u->all, F)
                      : mc_gram_apply(ctx, u->gram, u->t, u->alpha, F);
}

/* The place of the largest of the values of a row. */
static int64_t class_of(const mc_updating *u, const double *f) {
    int64_t best = 0;
    for (int64_t k = 1; k < u->t; k++)
        best = f[k] + u->from->intercept[k] > f[best] + u->from->intercept[best] ? k : best;
    return best;
}

/* Whether the largest of the values is that of the row's class; y is 1 there. */
static bool is_right(const mc_updating *u, int64_t i, const double *f) {
    int64_t own = 0;
    for (int64_t k = 0; k < u->t; k++)
        own = u->Y[i * u->t + k] + u->from->intercept[k] > 0 ? k : own;
    return class_of(u, f) == own;
}

/* F: of all rows. */
static mc_update_error tally_of(const mc_updating *u, const double *F) {
    mc_update_error sum = {0};
    const double *f = F + u->old * u->t;
    for (int64_t i = 0; i < u->fresh; i++) {
        const double w = mc_update_weight(u, i);
        for (int64_t k = 0; k < u->t; k++) {
            const double y = u->Y[i * u->t + k] + u->from->intercept[k], r = u->Y[i * u->t + k] - f[i * u->t + k];
            sum.left += w * r * r;
            sum.whole += w * y * y;
        }
        sum.right += u->data->class_of && is_right(u, i, f + i * u->t) ? w : 0;
        sum.weight += w;
    }
    return sum;
}

mercer_status mc_update_measure_error(mercer_ctx *ctx, const mc_updating *u, mc_update_error *out) {
    double *F = NULL;
    MC_TRY(MC_ALLOC(ctx, F, (u->old + u->fresh) * u->t));
    const mercer_status status = fitted_values(ctx, u, F);
    if (!status)
        *out = tally_of(u, F);
    mc_free(F);
    return status;
}

mercer_status mc_update_measure_first(mercer_ctx *ctx, mc_updating *u) {
    MC_TRY(MC_ALLOC(ctx, u->values, (u->old + u->fresh) * u->t));
    MC_TRY(fitted_values(ctx, u, u->values));
    u->before = tally_of(u, u->values);
    return MERCER_OK;
}

/* Larger squares, to three digits, or clearly fewer rows right: by more than one standard error of their share. */
bool mc_update_is_worse(const mc_updating *u, const mc_update_error *after) {
    const mc_update_error *before = &u->before;
    const double share = before->right / before->weight, doubt = sqrt(share * (1 - share) * before->weight);
    return !(after->left <= 1.001 * before->left + 1e-24 * before->whole) || after->right < before->right - doubt;
}

mercer_status mc_update_refuse(mercer_ctx *ctx, const mc_updating *u, const mc_update_error *after) {
    const mc_update_error *before = &u->before;
    const double cells = before->weight * (double)u->t;
    char classes[96] = "";
    if (u->stopped)
        return mc_fail(ctx, u->stopped,
                       "update: stopped where the new rows were met worse than before; the model stays as it was");
    if (u->data->class_of)
        mc_print(classes, sizeof classes, ", %.4g%% of their classes right instead of %.4g%%",
                 100 * after->right / after->weight, 100 * before->right / before->weight);
    return mc_fail(ctx, MERCER_NUMERIC,
                   "update: the new rows would be met worse than before (RMSE %.4g instead of %.4g%s); the model stays "
                   "as it was: give %s%s%.3g",
                   sqrt(after->left / cells), sqrt(before->left / cells), classes,
                   u->set->budget > 0 ? "a larger budget, or " : "",
                   u->set->step > 0 ? "no step, so that it is chosen, or one below " : "a step below ", u->step);
}

/* |y - f - b| over the new rows, |y|, and |f|, from the coefficients as they are at the end. */
static void compare_old(const mc_updating *u, const double *F, mercer_report *out) {
    double sum = 0, changed = 0;
    for (int64_t i = 0; i < u->old * u->t; i++)
        sum += (F[i] - u->values[i]) * (F[i] - u->values[i]);
    for (int64_t i = 0; i < u->old; i++)
        changed += class_of(u, F + i * u->t) != class_of(u, u->values + i * u->t);
    out->moved = u->old ? sqrt(sum / (double)(u->old * u->t)) : NAN;
    out->changed = u->old && u->from->centres->classes ? changed / (double)u->old : NAN;
}

mercer_status mc_update_measure(mercer_ctx *ctx, const mc_updating *u, mercer_report *out) {
    double *F = NULL, norm = 0;
    const int64_t n = u->old + u->fresh;
    MC_TRY(MC_ALLOC(ctx, F, n * u->t));
    const mercer_status status = fitted_values(ctx, u, F);
    for (int64_t i = 0; i < (u->weights ? u->from->features : n) * u->t && !status; i++)
        norm += u->weights ? u->weights[i] * u->weights[i] : u->alpha[i] * F[i];
    const mc_update_error sum = status ? (mc_update_error){0} : tally_of(u, F);
    if (!status)
        compare_old(u, F, out);
    mc_free(F);
    out->norm = sqrt(fmax(norm, 0));
    out->certificate.residual = sqrt(sum.left);
    out->certificate.residual_relative = sum.left > 0 ? sqrt(sum.left / sum.whole) : 0;
    return status;
}
