/* score.c: how good predictions are on rows whose target is known. Row weights count where the data have them.

   accuracy          share of rows whose largest value is that of their class
   balanced          mean over the classes present of the share of their rows that are right
   log loss          mean of -log p of the row's own class, where the machine gives probabilities (values d and -d of
   two classes, or
                     logarithms of weights)
   ece               expected calibration error, see calibration.c
   auc (2 classes)   chance that a row of the second class gets a larger f_2 - f_1 than one of the first; ties count
   half
   f1                2 tp / (2 tp + fp + fn) of the second of two classes, the mean over the classes of more; 0 for one
   never met
   rmse, mae         over all rows and outputs
   r2                1 - sum (y - f)^2 / sum (y - mean)^2, the mean over outputs; NaN when an output does not vary
   pinball           mean of tau r above and (tau - 1) r below, r = y - f, where the machine has a tau */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/sized.h"
#include "base/status.h"
#include "data/table/data.h"
#include "model/model.h"
#include <math.h>
#include <string.h>

typedef mc_scored_values scoring;

static double weight_of(const mercer_data *data, int64_t i) {
    return data->weight ? data->weight[i] : 1;
}

static double total_weight(const mercer_data *data) {
    double sum = 0;
    for (int64_t i = 0; i < data->n; i++)
        sum += weight_of(data, i);
    return sum;
}

/* ---- Numbers ---- */

/* The mean over the rows of one output, of terms that are no more than 1 in size: targets and errors are taken relative
   to the largest, so that no square leaves the range of a double. */
typedef struct scored_output {
    const scoring *s;
    int64_t k;
    double mean, spread, error; /* of the targets; the largest |y - mean| and |y - f| */
} scored_output;

static double target_of(const scored_output *c, int64_t i) {
    return c->s->data->target[i * c->s->outputs + c->k];
}

static double error_of(const scored_output *c, int64_t i) {
    return target_of(c, i) - c->s->values[i * c->s->outputs + c->k];
}

static double unit_square(const scored_output *c, int64_t i) {
    const double e = c->error > 0 ? error_of(c, i) / c->error : 0;
    return e * e;
}

static double unit_variance(const scored_output *c, int64_t i) {
    const double e = c->spread > 0 ? (target_of(c, i) - c->mean) / c->spread : 0;
    return e * e;
}

static double unit_error(const scored_output *c, int64_t i) {
    return c->error > 0 ? fabs(error_of(c, i)) / c->error : 0;
}

static double unit_pinball(const scored_output *c, int64_t i) {
    const double e = c->error > 0 ? error_of(c, i) / c->error : 0;
    return (e > 0 ? c->s->tau : c->s->tau - 1) * e;
}

static double mean_of(const scored_output *c, double term(const scored_output *c, int64_t i)) {
    const mercer_data *data = c->s->data;
    const double all = total_weight(data);
    double sum = 0;
    for (int64_t i = 0; i < data->n; i++)
        sum += weight_of(data, i) * term(c, i);
    return sum / all;
}

static scored_output measure_column(const scoring *s, int64_t k) {
    scored_output c = {.s = s, .k = k};
    const double all = total_weight(s->data);
    for (int64_t i = 0; i < s->data->n; i++)
        c.mean += target_of(&c, i) * (weight_of(s->data, i) / all);
    for (int64_t i = 0; i < s->data->n; i++)
        if (weight_of(s->data, i) > 0) {
            c.spread = fmax(c.spread, fabs(target_of(&c, i) - c.mean));
            c.error = isnan(error_of(&c, i)) ? INFINITY : fmax(c.error, fabs(error_of(&c, i)));
        }
    return c;
}

/* NaN: the target does not vary; minus infinity: worse than the mean by more than a double can say. */
static double r2_of(const scored_output *c) {
    const double total = mean_of(c, unit_variance), left = mean_of(c, unit_square), ratio = c->error / c->spread;
    return total > 0 ? 1 - ratio * (ratio * (left / total)) : NAN;
}

static mercer_status fail_error(mercer_ctx *ctx, const scored_output *c) {
    int64_t i = 0;
    while (isfinite(error_of(c, i)) || !(weight_of(c->s->data, i) > 0))
        i++;
    return mc_fail(ctx, MERCER_NUMERIC, "score: row %lld has target %g and prediction %g, too far apart for a double",
                   (long long)mc_data_row_number(c->s->data, i), target_of(c, i),
                   c->s->values[i * c->s->outputs + c->k]);
}

static mercer_status score_numbers(mercer_ctx *ctx, const scoring *s, mercer_scores *out) {
    double largest = 0, square = 0;
    out->mae = out->r2 = out->pinball = 0;
    for (int64_t k = 0; k < s->outputs; k++) {
        const scored_output c = measure_column(s, k);
        if (!isfinite(c.error))
            return fail_error(ctx, &c);
        const double size = c.error / (double)s->outputs, above = fmax(largest, c.error);
        square = above > 0 ? square * (largest / above) * (largest / above)
                                 + mean_of(&c, unit_square) * (c.error / above) * (c.error / above)
                           : 0;
        largest = above;
        out->mae += size * mean_of(&c, unit_error);
        out->pinball += size * mean_of(&c, unit_pinball); /* NaN where there is no tau */
        out->r2 += r2_of(&c) / (double)s->outputs;
    }
    out->rmse = largest * sqrt(square / (double)s->outputs);
    return MERCER_OK;
}

/* ---- Classes ---- */

void mc_match_classes(const mercer_data *x, const mercer_data *data, int64_t *number) {
    for (int64_t k = 0; k < data->classes; k++) {
        number[k] = 0;
        while (number[k] < x->classes && strcmp(x->label[number[k]], data->label[k]) != 0)
            number[k]++;
    }
}

/* Weights of rows by class: those of the class, those given it, those that are both. Place `classes` is of classes that
   the model does not know, which nothing is given. */
typedef struct class_weights {
    int64_t classes;
    double *all, *given, *right;
} class_weights;

static void add_row(const scoring *s, const class_weights *w, int64_t k, int64_t given, double weight) {
    w->all[k] += weight;
    w->given[given] += weight;
    w->right[k] += k == given ? weight : 0;
    if (s->confusion)
        s->confusion[k * w->classes + given] += weight;
}

static void weigh_classes(const scoring *s, const int64_t *number, const class_weights *w) {
    if (s->confusion)
        memset(s->confusion, 0, (size_t)(w->classes * (w->classes + 1)) * sizeof *s->confusion);
    for (int64_t i = 0; i < s->data->n; i++)
        add_row(s, w, number[s->data->class_of[i]], mc_largest_index(s->values + i * s->outputs, s->outputs),
                weight_of(s->data, i));
}

static void score_accuracy(const scoring *s, const class_weights *w, mercer_scores *out) {
    double sum = 0, shares = 0, present = 0;
    for (int64_t k = 0; k <= w->classes; k++) {
        sum += w->right[k];
        shares += w->all[k] > 0 ? w->right[k] / w->all[k] : 0;
        present += w->all[k] > 0;
    }
    out->accuracy = sum / total_weight(s->data);
    out->balanced_accuracy = shares / present;
}

static double f1_of(const class_weights *w, int64_t k) {
    const double met = w->all[k] + w->given[k];
    return met > 0 ? 2 * w->right[k] / met : 0;
}

static void score_f1(const class_weights *w, mercer_scores *out) {
    double sum = 0;
    for (int64_t k = 0; k < w->classes; k++)
        sum += f1_of(w, k);
    out->f1 = w->classes == 2 ? f1_of(w, 1) : sum / (double)w->classes;
}

static double margin_of_row(const scoring *s, int64_t i) {
    return s->values[2 * i + 1] - s->values[2 * i];
}

static int by_margin(const void *arg, int64_t a, int64_t b) {
    const double x = margin_of_row(arg, a), y = margin_of_row(arg, b);
    return (x > y) - (x < y);
}

/* Up the sorted rows, group of ties by group: each second-class row is above all earlier first-class rows. A margin
   that is no number has no place among the others, and then there is no area. */
static double area_under_roc(const scoring *s, const int64_t *number, const int64_t *order) {
    double below = 0, above = 0, pairs = 0;
    for (int64_t i = 0; i < s->data->n;) {
        double group[3] = {0, 0, 0};
        const double level = margin_of_row(s, order[i]);
        if (isnan(level))
            return NAN;
        for (; i < s->data->n && margin_of_row(s, order[i]) == level; i++)
            group[number[s->data->class_of[order[i]]]] += weight_of(s->data, order[i]);
        pairs += group[1] * (below + group[0] / 2);
        below += group[0];
        above += group[1];
    }
    return below > 0 && above > 0 ? pairs / (below * above) : NAN;
}

/* Mean of -log of the probability of a row's own class, from the values: logarithms of small probabilities keep their
   digits. */
static double log_loss_of(const scoring *s, const int64_t *number) {
    double sum = 0;
    for (int64_t i = 0; i < s->data->n; i++) {
        const double *row = s->values + i * s->outputs;
        const int64_t class = number[s->data->class_of[i]];
        if (class >= s->outputs)
            return INFINITY; /* a class that has no probability */
        const int64_t top = mc_largest_index(row, s->outputs);
        const double most = row[top], own = row[class];
        double rest = 0;
        for (int64_t k = 0; k < s->outputs; k++)
            rest += k == top ? 0 : exp(row[k] - most);
        const double loss = s->outputs > 2 ? log1p(rest) + (most - own)
                            : own > 0      ? log1p(exp(-own))
                                           : log1p(exp(own)) - own;
        sum += weight_of(s->data, i) * loss;
    }
    return sum / total_weight(s->data);
}

static mercer_status score_auc(mercer_ctx *ctx, const scoring *s, const int64_t *number, mercer_scores *out) {
    if (s->outputs != 2 || s->plain)
        return MERCER_OK;
    int64_t *order = NULL;
    const int64_t n = s->data->n;
    MC_TRY(MC_ALLOC(ctx, order, 2 * n));
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    mc_sort(order, order + n, n, by_margin, s);
    out->auc = area_under_roc(s, number, order);
    mc_free(order);
    return MERCER_OK;
}

static mercer_status score_classes(mercer_ctx *ctx, const scoring *s, mercer_scores *out) {
    const int64_t width = s->outputs + 1;
    int64_t *number = NULL;
    double *sums = NULL;
    mercer_status status = MC_ALLOC(ctx, number, s->data->classes);
    MC_THEN(status, MC_ALLOC(ctx, sums, 3 * width));
    if (!status) {
        const class_weights w = {s->outputs, sums, sums + width, sums + 2 * width};
        mc_match_classes(s->known, s->data, number);
        weigh_classes(s, number, &w);
        score_accuracy(s, &w, out);
        score_f1(&w, out);
    }
    if (!status && s->proba) {
        mercer_calibration_bin bin[MERCER_CALIBRATION_BINS];
        out->log_loss = log_loss_of(s, number);
        mc_fill_calibration_bins(s->data, number, s->outputs, s->values, MERCER_CALIBRATION_BINS, bin);
        out->ece = mc_calibration_error(MERCER_CALIBRATION_BINS, bin);
    }
    MC_THEN(status, score_auc(ctx, s, number, out));
    mc_free(number);
    mc_free(sums);
    return status;
}

/* The rows of a region with numbers as their target: positive means inside. */
static mercer_status score_region(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                  const scoring *scored, mercer_scores *out) {
    mercer_data sides = *data; /* borrows everything but the classes */
    int32_t *side = NULL;
    MC_TRY(MC_ALLOC(ctx, side, data->n));
    for (int64_t i = 0; i < data->n; i++)
        side[i] = data->target[i * data->outputs] > 0;
    sides.classes = 2;
    sides.label = model->f.centres->label;
    sides.class_of = side;
    *out =
        (mercer_scores){.n = data->n, .log_loss = NAN, .ece = NAN, .rmse = NAN, .mae = NAN, .r2 = NAN, .pinball = NAN};
    scoring s = *scored;
    s.data = &sides;
    const mercer_status status = score_classes(ctx, &s, out);
    mc_free(side);
    return status;
}

static mercer_status fail_no_target(mercer_ctx *ctx, const mercer_data *known) {
    const char *name = known->target_name ? known->target_name[0] : NULL;
    return mc_fail(ctx, MERCER_DATA, "score: the data have no target to compare with; %s%s%s",
                   name ? "the model's is column '" : "add it", name ? name : "", name ? "'" : " as a column");
}

static mercer_status check_target(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data) {
    const mercer_data *x = model->f.centres;
    const int64_t outputs = model->f.outputs;
    if (model->f.spectrum)
        return mc_fail(ctx, MERCER_INVALID, "score: %s gives scores of rows, which no target is compared with",
                       model->f.report.machine);
    if (!data->target && !data->class_of)
        return fail_no_target(ctx, x);
    if (model->f.form == MC_REGION)
        return MERCER_OK;
    if (x->classes && !data->class_of)
        return mc_fail(ctx, MERCER_DATA, "score: the model predicts classes and the target of the data is numbers");
    if (!x->classes && !data->target)
        return mc_fail(ctx, MERCER_DATA, "score: the model predicts numbers and the target of the data is classes");
    if (!x->classes && data->outputs != outputs)
        return mc_fail(ctx, MERCER_DATA, "score: the model has %lld outputs and the data %lld targets",
                       (long long)outputs, (long long)data->outputs);
    return MERCER_OK;
}

mc_scored_values mc_model_scored_values(const mercer_model *model, const mercer_data *data, const double *values) {
    mc_scored_values s = {
        .known = model->f.centres, .data = data, .outputs = model->f.outputs, .values = values, .tau = NAN};
    const char *tau = model->settings ? strstr(model->settings, "tau=") : NULL;
    s.proba = mercer_model_has_proba(model);
    if (tau && strcmp(model->f.report.machine, "quantile") == 0)
        mc_number_read(tau + 4, tau + strlen(tau), &s.tau);
    return s;
}

mercer_status mc_score_values(mercer_ctx *ctx, const mc_scored_values *s, mercer_scores *out) {
    *out = (mercer_scores){
        .n = s->data->n, .accuracy = NAN, .balanced_accuracy = NAN, .auc = NAN, .log_loss = NAN, .ece = NAN, .f1 = NAN};
    out->rmse = out->mae = out->r2 = out->pinball = NAN;
    if (s->known->classes)
        return score_classes(ctx, s, out);
    return score_numbers(ctx, s, out);
}

/* Of several classes without probabilities nothing is asked but which is chosen, and that takes less. */
static bool wants_classes_alone(const mercer_model *model) {
    return model->f.centres->classes > 2 && model->f.form != MC_REGION && !mercer_model_has_proba(model);
}

/* values: 1 of the class chosen, 0 of the others. */
static mercer_status choose_classes(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                    double *values) {
    int64_t *class_of = NULL;
    MC_TRY(MC_ALLOC(ctx, class_of, data->n));
    const mercer_status status = mc_model_classify(ctx, model, data, class_of);
    for (int64_t i = 0; i < data->n && !status; i++)
        values[i * model->f.outputs + class_of[i]] = 1;
    mc_free(class_of);
    return status;
}

static mercer_status score_model(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                 mercer_scores *out, double *confusion) {
    const mercer_data *x = model->f.centres;
    MC_TRY(check_target(ctx, model, data));
    double *values = NULL;
    MC_TRY(MC_ALLOC(ctx, values, data->n * model->f.outputs));
    mercer_status status = wants_classes_alone(model) ? choose_classes(ctx, model, data, values)
                                                      : mc_model_predict(ctx, model, data, values);
    scoring s = mc_model_scored_values(model, data, values);
    s.confusion = confusion;
    if (!status && x->classes && !data->class_of)
        status = score_region(ctx, model, data, &s, out);
    else if (!status)
        status = mc_score_values(ctx, &s, out);
    mc_free(values);
    return status;
}

mercer_status mc_model_score(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, mercer_scores *out) {
    return score_model(ctx, model, data, out, NULL);
}

static mercer_status score_and_count(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                     mercer_scores *out, double *confusion) {
    mc_begin_call(ctx);
    MC_TRY(mc_sized_check(ctx, "mercer_scores", out));
    if (confusion && !model->f.centres->classes)
        return mc_fail(ctx, MERCER_INVALID, "score: %s predicts numbers here, which have no confusion of classes",
                       model->f.report.machine);
    mercer_scores scores = {0};
    const mercer_status status = score_model(ctx, model, data, &scores, confusion);
    mc_sized_write(&scores, sizeof scores, out);
    return status;
}

mercer_status mercer_score_classes(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                   mercer_scores *out, double *confusion) {
    MC_NEED(ctx, model, data, out);
    return score_and_count(ctx, model, data, out, confusion);
}

mercer_status mercer_score(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, mercer_scores *out) {
    MC_NEED(ctx, model, data, out);
    return score_and_count(ctx, model, data, out, NULL);
}
