/* lms_update.c: an old model learns new rows, one after the other, under a budget of centres.

       row i of the new ones becomes a centre (if it is none yet):  alpha_i <- alpha_i + step w_i (y_i - f(x_i) - b)
       while there are more centres than the budget, the one with the least |alpha_j| sqrt(k(x_j, x_j)) goes, the oldest
       of equals first

   |alpha_j| is the norm over the outputs, so what goes is the term of f with the least norm in H. f(x_i) is summed over
   the centres of the moment in one order, rows of K coming block by block from the operator over old centres and new
   rows together: the bits do not depend on threads or blocks.

   A model that is weights of explicit features stays one: w <- w + step w_i (y_i - f(x_i) - b) phi(x_i); a budget has
   nothing to drop.

   A step of 1 / k(x, x) brings the error on its row to zero, noise and all, and whatever neighbours had learned goes
   with it. The step taken where none is given is 1 / sigma, sigma the largest eigenvalue of W^1/2 K W^1/2 over the new
   rows: a pass is then about a step of steepest descent, which lowers their squared error. That it did is looked at in
   the end: where the model was so good already that the order of the rows tells, a quarter of the step is tried, and so
   on. An update that meets its own rows worse gives no new model. Under a budget the old model is cut down to it before
   the two are compared, and of steps from 1 / sigma up to 1 / k(x, x) the one that meets the new rows best is taken:
   what the dropped centres knew must be learned again from few rows. */
#include "certify/certificate.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/table/data.h"
#include "learn/lms/lms_update.h"
#include "linalg/lanczos.h"
#include <math.h>
#include <string.h>

#define ROW(field) .offset = offsetof(mercer_update, field)

const mercer_setting mc_update_settings[MC_UPDATE_SETTINGS] = {
    {.name = "step",
     .type = MERCER_REAL,
     ROW(step),
     .high = 1e300,
     .help = "step size (learning rate); 0: 1 over the largest eigenvalue of K over the new rows"},
    {.name = "budget",
     .type = MERCER_INTEGER,
     ROW(budget),
     .high = 1e15,
     .help = "maximum number of centres of the model; 0: no limit"},
    {.name = "passes",
     .type = MERCER_INTEGER,
     ROW(passes),
     .initial = 1,
     .low = 1,
     .high = 1e12,
     .help = "passes over the new rows"},
};

/* ---- What is given ---- */

static mercer_status check_model(mercer_ctx *ctx, const mc_fitted *f) {
    const char *machine = f->report.machine;
    if (f->fourier)
        return mc_fail(
            ctx, MERCER_INVALID,
            "update: the model is a sum of random Fourier features (solver fourier) and new rows cannot join it; fit "
            "with solver nystrom");
    if (strcmp(machine, "lms") == 0 || strcmp(machine, "ridge") == 0)
        return MERCER_OK;
    return mc_fail(ctx, MERCER_INVALID,
                   "update: the model is of the machine %s; only lms and ridge models can be updated", machine);
}

static mercer_status check_target(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *data) {
    if (!data->target && !data->class_of)
        return mc_fail(ctx, MERCER_DATA, "update: the new rows have no target to learn from");
    if (f->centres->classes && !data->class_of)
        return mc_fail(ctx, MERCER_DATA,
                       "update: the model predicts classes and the target of the new rows is numbers");
    if (!f->centres->classes && data->outputs != f->outputs)
        return mc_fail(ctx, MERCER_DATA, "update: the model has %lld outputs and the new rows have %lld",
                       (long long)f->outputs, (long long)data->outputs);
    return MERCER_OK;
}

/* The place of each class of the data among the model's. */
static mercer_status match_classes(mercer_ctx *ctx, const mercer_data *x, const mercer_data *data, int64_t *place) {
    for (int64_t k = 0; k < data->classes; k++) {
        while (place[k] < x->classes && strcmp(x->label[place[k]], data->label[k]) != 0)
            place[k]++;
        if (place[k] == x->classes)
            return mc_fail(ctx, MERCER_DATA,
                           "update: class '%s' of the new rows is unknown to the model, which cannot learn new classes",
                           data->label[k]);
    }
    return MERCER_OK;
}

/* Y less the intercept. */
static mercer_status write_targets(mercer_ctx *ctx, mc_updating *u) {
    const mercer_data *data = u->data;
    int64_t *place = NULL;
    MC_TRY(MC_ALLOC(ctx, u->Y, u->fresh * u->t));
    MC_TRY(MC_ALLOC(ctx, place, data->classes));
    const mercer_status status = match_classes(ctx, u->from->centres, data, place);
    for (int64_t i = 0; i < u->fresh * u->t && !status; i++) {
        const int64_t k = i % u->t;
        const double y = data->class_of ? (place[data->class_of[i / u->t]] == k ? 1 : -1) : data->target[i];
        u->Y[i] = y - u->from->intercept[k];
    }
    mc_free(place);
    return status ? status : mc_check_target_size(ctx, "update", u->Y, u->fresh * u->t);
}

static mercer_status join_rows(mercer_ctx *ctx, mc_updating *u) {
    mercer_data *scaled = NULL;
    MC_TRY(mc_scale_apply(ctx, &u->from->scale, u->data, &scaled));
    mercer_status status = mc_kernel_check_data(ctx, u->from->kernel, scaled);
    if (!status)
        status = mc_data_join(ctx, u->from->centres, scaled, &u->all);
    mercer_data_free(scaled);
    return status;
}

/* W^1/2 K W^1/2 over the new rows, as an operator. */
typedef struct rooted {
    const mc_updating *u;
    mc_gram *gram;
    double *scratch;
} rooted;

static mercer_status apply_rooted(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    const rooted *r = self;
    for (int64_t i = 0; i < r->u->fresh; i++)
        r->scratch[i] = sqrt(mc_update_weight(r->u, i)) * V[i];
    MC_TRY(mc_gram_apply(ctx, r->gram, t, r->scratch, Y));
    for (int64_t i = 0; i < r->u->fresh; i++)
        Y[i] *= sqrt(mc_update_weight(r->u, i));
    return MERCER_OK;
}

/* Of W^1/2 K W^1/2 over the new rows; what Lanczos is unsure of is added. */
static mercer_status largest_eigenvalue(mercer_ctx *ctx, const mc_updating *u, double *out) {
    enum { STEPS = 10 };
    mercer_data *fresh = NULL;
    rooted self = {.u = u};
    mc_spectrum ends = {0};
    MC_TRY(mc_data_range(ctx, u->all, u->old, u->old + u->fresh, &fresh));
    mercer_status status = MC_ALLOC(ctx, self.scratch, u->fresh);
    if (!status)
        status = mc_gram_open(ctx, u->from->kernel, fresh, NULL, MERCER_F64, &self.gram);
    if (!status)
        status =
            mc_lanczos_spectrum(ctx, &(mc_matrix){.n = u->fresh, .apply = apply_rooted, .self = &self}, STEPS, &ends);
    mc_gram_close(self.gram);
    mc_free(self.scratch);
    mercer_data_free(fresh);
    *out = ends.high + ends.error;
    return status;
}

static mercer_status choose_step(mercer_ctx *ctx, mc_updating *u) {
    double largest = 0, sigma = 0;
    for (int64_t i = 0; i < u->fresh; i++)
        largest = fmax(largest, mc_update_weight(u, i) * u->root[u->old + i] * u->root[u->old + i]);
    const double bound = largest > 0 ? 2 / largest : INFINITY;
    if (u->set->step >= bound)
        return mc_fail(
            ctx, MERCER_INVALID,
            "update: step = %g diverges: it must be below %.6g, 2 over the largest %s of the new rows (%.6g)",
            u->set->step, bound, u->data->weight ? "w k(x, x)" : "k(x, x)", largest);
    u->longest = largest > 0 ? 1 / largest : 1;
    u->step = u->set->step;
    if (u->step > 0 || u->fresh == 0)
        return MERCER_OK;
    MC_TRY(largest_eigenvalue(ctx, u, &sigma));
    u->step = fmin(u->longest, 1 / sigma);
    return MERCER_OK;
}

static mercer_status allocate_update(mercer_ctx *ctx, mc_updating *u) {
    const int64_t n = u->old + u->fresh, D = u->from->features, d = u->all->d;
    if (!u->from->primal) {
        MC_TRY(MC_ALLOC(ctx, u->alpha, n * u->t));
        MC_TRY(MC_ALLOC(ctx, u->rows, MC_LMS_BLOCK * n));
        return MC_ALLOC(ctx, u->alive, n);
    }
    MC_TRY(mc_features_open(ctx, u->from->kernel->root, d, &u->map));
    MC_TRY(MC_ALLOC(ctx, u->weights, u->t * D));
    MC_TRY(MC_ALLOC(ctx, u->phi, D));
    return MC_ALLOC(ctx, u->scratch, d + mc_features_scratch(u->map));
}

/* The old model, before any new row. */
static void start_over(mc_updating *u) {
    u->learned = u->passes = 0;
    if (u->weights) {
        memcpy(u->weights, u->from->primal, (size_t)(u->t * u->from->features) * sizeof *u->weights);
        return;
    }
    memset(u->alpha, 0, (size_t)((u->old + u->fresh) * u->t) * sizeof *u->alpha);
    memcpy(u->alpha, u->from->alpha, (size_t)(u->old * u->t) * sizeof *u->alpha);
    for (int64_t i = 0; i < u->old + u->fresh; i++)
        u->alive[i] = i < u->old;
    u->centres = u->old;
}

static mercer_status get_ready(mercer_ctx *ctx, mc_updating *u) {
    MC_TRY(check_model(ctx, u->from));
    MC_TRY(check_target(ctx, u->from, u->data));
    MC_TRY(write_targets(ctx, u));
    MC_TRY(join_rows(ctx, u));
    const int64_t n = u->old + u->fresh;
    MC_TRY(MC_ALLOC(ctx, u->root, n));
    MC_TRY(MC_ALLOC(ctx, u->f, u->t));
    MC_TRY(allocate_update(ctx, u));
    start_over(u); /* as long as nothing is learned it is what stands there */
    MC_TRY(mc_gram_open(ctx, u->from->kernel, u->all, NULL, MERCER_F64, &u->gram));
    MC_TRY(mc_gram_diagonal(ctx, u->gram, u->root));
    for (int64_t i = 0; i < n; i++)
        u->root[i] = sqrt(fmax(u->root[i], 0));
    return choose_step(ctx, u);
}

/* ---- The new model ---- */

/* The centres that are left, with their coefficients; where they stood in their files is not known any more. */
static mercer_status gather_centres(mercer_ctx *ctx, const mc_updating *u, mc_fitted *out) {
    int64_t *centres_left = NULL, k = 0;
    MC_TRY(MC_ALLOC(ctx, centres_left, u->centres));
    for (int64_t j = 0; u->alive && j < u->old + u->fresh; j++)
        if (u->alive[j])
            centres_left[k++] = j;
    mercer_status status = mc_data_take(ctx, u->all, centres_left, u->centres, &out->centres);
    if (!status)
        status = MC_ALLOC(ctx, out->alpha, u->centres * u->t);
    for (int64_t i = 0; i < u->centres && !status; i++)
        memcpy(out->alpha + i * u->t, u->alpha + centres_left[i] * u->t, (size_t)u->t * sizeof *u->alpha);
    for (int64_t i = 0; i < u->centres; i++)
        centres_left[i] = -1;
    out->row = centres_left;
    return status;
}

static mercer_status copy_rest(mercer_ctx *ctx, mc_updating *u, mc_fitted *out) {
    const mc_scale *scale = &u->from->scale;
    out->outputs = u->t;
    out->primal = u->weights;
    out->features = u->from->features;
    u->weights = NULL;
    MC_TRY(mc_kernel_bind(ctx, u->from->kernel, u->all, &out->kernel));
    MC_TRY(MC_ALLOC(ctx, out->intercept, u->t));
    memcpy(out->intercept, u->from->intercept, (size_t)u->t * sizeof *out->intercept);
    out->scale.kind = scale->kind;
    out->scale.d = scale->d;
    if (!scale->factor)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, out->scale.factor, scale->d));
    MC_TRY(MC_ALLOC(ctx, out->scale.shift, scale->d));
    memcpy(out->scale.factor, scale->factor, (size_t)scale->d * sizeof *scale->factor);
    if (scale->shift)
        memcpy(out->scale.shift, scale->shift, (size_t)scale->d * sizeof *scale->shift);
    return MERCER_OK;
}

/* Learns, and looks at what came of it whatever the clock says. */
static mercer_status try_step(mercer_ctx *ctx, mc_updating *u, mc_update_error *after) {
    start_over(u);
    MC_TRY(mc_update_learn_once(ctx, u));
    if (u->stopped)
        mc_shield_from_stop(ctx, true);
    const mercer_status status = mc_update_measure_error(ctx, u, after);
    if (u->stopped)
        mc_shield_from_stop(ctx, false);
    return status;
}

/* What the new model is compared with: the old one, with no more centres than the budget. */
static mercer_status look_before(mercer_ctx *ctx, mc_updating *u) {
    MC_TRY(mc_update_measure_first(ctx, u));
    if (!u->alive || u->set->budget == 0 || u->centres <= u->set->budget)
        return MERCER_OK;
    while (u->centres > u->set->budget)
        mc_update_drop_least(u);
    return mc_update_measure_error(ctx, u, &u->before);
}

/* The step from 1 / sigma up to 1 / k(x, x), in fours, that meets the new rows best. */
static mercer_status choose_longer(mercer_ctx *ctx, mc_updating *u) {
    double best = u->step, least = INFINITY;
    for (;; u->step = fmin(4 * u->step, u->longest)) {
        mc_update_error after;
        MC_TRY(try_step(ctx, u, &after));
        best = after.left < least ? u->step : best;
        least = fmin(least, after.left);
        if (!(u->step < u->longest))
            break;
        if (u->stopped)
            return mc_fail(ctx, u->stopped, "update: stopped before a step was chosen; the model stays as it was");
    }
    u->step = best;
    return MERCER_OK;
}

/* A step that was given is taken as it is. */
static mercer_status learn_with_backtracking(mercer_ctx *ctx, mc_updating *u) {
    enum { TRIES = 8 };
    mc_update_error after;
    MC_TRY(look_before(ctx, u));
    if (u->set->budget > 0 && !(u->set->step > 0))
        MC_TRY(choose_longer(ctx, u));
    for (int k = 0; k < TRIES; k++, u->step /= 4) {
        MC_TRY(try_step(ctx, u, &after));
        if (!mc_update_is_worse(u, &after))
            return MERCER_OK;
        if (u->stopped || u->set->step > 0)
            break;
    }
    return mc_update_refuse(ctx, u, &after);
}

static void write_report(const mc_updating *u, mercer_report *out) {
    const mercer_report *from = &u->from->report;
    *out = (mercer_report){.machine = "lms", .solver = "update", .scale = mc_scaling_names[u->from->scale.kind]};
    out->n = from->n + u->learned;
    out->d = from->d;
    out->outputs = u->t;
    out->iterations = u->passes;
    out->step = u->step;
    out->stopped = u->stopped == MERCER_TIME ? "time" : u->stopped ? "caller" : "no";
    out->objective = out->loo_rmse = out->log_evidence = out->loo_log_density = out->dof = out->gcv = NAN;
    out->certificate = mc_certificate_blank("none");
}

static mercer_status conclude_update(mercer_ctx *ctx, mc_updating *u, mc_fitted *out) {
    if (u->stopped)
        mc_shield_from_stop(ctx, true);
    write_report(u, &out->report);
    mercer_status status = mc_update_measure(ctx, u, &out->report);
    if (!status)
        status = gather_centres(ctx, u, out);
    if (!status)
        status = copy_rest(ctx, u, out);
    if (u->stopped)
        mc_shield_from_stop(ctx, false);
    return status;
}

static void free_updating(mc_updating *u) {
    mc_gram_close(u->gram);
    mercer_data_free(u->all);
    mc_features_close(u->map);
    void *const blocks[] = {u->Y,     u->alpha,   u->root, u->rows,    u->f,
                            u->alive, u->weights, u->phi,  u->scratch, u->values};
    for (int i = 0; i < 10; i++)
        mc_free(blocks[i]);
}

mercer_status mc_lms_update(mercer_ctx *ctx, const mc_fitted *from, const mercer_data *data, const mercer_update *set,
                            mc_fitted *out) {
    const double began = mc_clock_seconds();
    mc_updating u = {
        .from = from, .data = data, .set = set, .old = from->centres->n, .fresh = data->n, .t = from->outputs};
    *out = (mc_fitted){0};
    mercer_status status = get_ready(ctx, &u);
    if (!status)
        status = learn_with_backtracking(ctx, &u);
    if (!status)
        status = conclude_update(ctx, &u, out);
    out->report.seconds = mc_clock_seconds() - began;
    free_updating(&u);
    if (status)
        mc_fitted_free(out);
    return status;
}
