/* plot_points.c: rows as points: residuals against predictions, scores on principal components, and how often a stated
   probability came true. */
#include "cli/verbs/plot.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Residuals ---- */

static int residuals_of(session *s, const picture *p, double *value, double *x, double *y) {
    const int64_t outputs = mercer_model_outputs(p->model);
    TRY_CTX(s, mercer_predict(s->ctx, p->model, p->data, value));
    for (int64_t i = 0; i < p->n; i++) {
        x[i] = value[i * outputs];
        y[i] = mercer_data_target(p->data, i, 0) - x[i];
    }
    return session_alive(s);
}

static void draw_residual_chart(picture *p, const double *x, const double *y) {
    chart g;
    char title[240];
    double low[2], high[2], square = 0;
    range_take(&low[0], &high[0], x, p->n);
    range_take(&low[1], &high[1], y, p->n);
    const double most = 1.08 * fmax(fabs(low[1]), fabs(high[1]));
    range_widen(&low[0], &high[0], 0.05);
    for (int64_t i = 0; i < p->n; i++)
        square += y[i] * y[i];
    const double rmse = sqrt(square / (double)p->n);
    snprintf(title, sizeof title, "%s, %s: RMSE %.4g (dashed: twice that)", mercer_model_report(p->model)->machine,
             short_kernel(p->kernel).bytes, rmse);
    chart_open(&g, p->on, title, (axis){.label = "prediction", .low = low[0], .high = high[0]},
               (axis){.label = "residual: true value less prediction", .low = -most, .high = most}, false);
    chart_marks(&g, x, y, p->n, 0, p->n > 2000 ? 3 : 5, colour_of(0));
    for (int k = -1; k <= 1; k++)
        chart_line(&g, (pen){.ink = colour_ink, .width = k ? 0.9 : 1.2, .dash = k != 0}, (double[]){low[0], high[0]},
                   (double[]){2 * k * rmse, 2 * k * rmse}, 2);
    chart_close(&g);
}

int draw_residuals(session *s, picture *p) {
    if (mercer_model_classes(p->model) > 0 || !mercer_data_outputs(p->data))
        return print_error("residuals are of numbers, and %s", mercer_model_classes(p->model) > 0
                                                                   ? "the model predicts classes"
                                                                   : "the data have no numeric target");
    double *value = session_take(s, p->n, mercer_model_outputs(p->model), sizeof *value);
    double *x = value ? session_take(s, p->n, 2, sizeof *x) : NULL;
    const int code = x ? residuals_of(s, p, value, x, x + p->n) : EXIT_MEMORY;
    if (code == EXIT_DONE)
        draw_residual_chart(p, x, x + p->n);
    free(value);
    free(x);
    return code;
}

/* ---- Scores on principal components ---- */

/* --columns pc1,pc3 or 1,3: two components, from 0; the first two without. */
static int components_asked(const session *s, const picture *p, int64_t which[2]) {
    const char *wish = args_text(&s->args, "columns");
    const int64_t count = mercer_model_outputs(p->model);
    long long first = 1, second = count > 1 ? 2 : 1;
    char rest;
    if (wish && sscanf(wish, "pc%lld,pc%lld%c", &first, &second, &rest) != 2
        && sscanf(wish, "%lld,%lld%c", &first, &second, &rest) != 2)
        return print_error("--columns %s: scatter takes two components, as in pc1,pc3", wish);
    which[0] = first - 1;
    which[1] = second - 1;
    for (int k = 0; k < 2; k++)
        if (which[k] < 0 || which[k] >= count)
            return print_error("--columns %s: the model has components pc1 to pc%lld", wish, (long long)count);
    return EXIT_DONE;
}

static int scores_of(session *s, const picture *p, const int64_t which[2], double *value, double *x, double *y) {
    const int64_t outputs = mercer_model_outputs(p->model);
    TRY_CTX(s, mercer_predict(s->ctx, p->model, p->data, value));
    for (int64_t i = 0; i < p->n; i++) {
        x[i] = value[i * outputs + which[0]];
        y[i] = outputs > 1 ? value[i * outputs + which[1]] : 0;
    }
    return session_alive(s);
}

static void draw_score_chart(picture *p, const int64_t part[2], const double *x, const double *y,
                             const int64_t *which) {
    chart g;
    char title[240], label[2][64];
    double low[2], high[2];
    const double *of[2] = {x, y};
    for (int k = 0; k < 2; k++) {
        range_take(&low[k], &high[k], of[k], p->n);
        range_widen(&low[k], &high[k], 0.06);
        snprintf(label[k], sizeof label[k], "component %lld (%.1f%% of the variance)", (long long)part[k] + 1,
                 100 * mercer_model_component(p->model, part[k]).share);
    }
    snprintf(title, sizeof title, "pca, %s", short_kernel(p->kernel).bytes);
    chart_open(&g, p->on, title, (axis){.label = label[0], .low = low[0], .high = high[0]},
               (axis){.label = label[1], .low = low[1], .high = high[1]}, false);
    draw_classes(&g, p, x, y, which, p->n > 2000 ? 4 : 6);
    chart_close(&g);
}

int draw_scatter(session *s, picture *p) {
    if (!(mercer_model_report(p->model)->variance > 0))
        return print_error("scatter shows the scores of pca, and '%s' is of %s", p->model_path,
                           mercer_model_report(p->model)->machine);
    int64_t part[2];
    TRY(components_asked(s, p, part));
    double *value = session_take(s, p->n, mercer_model_outputs(p->model), sizeof *value);
    double *x = value ? session_take(s, p->n, 2, sizeof *x) : NULL;
    int64_t *which = x ? classes_of_rows(s, p) : NULL;
    const int code = which ? scores_of(s, p, part, value, x, x + p->n) : EXIT_MEMORY;
    if (code == EXIT_DONE)
        draw_score_chart(p, part, x, x + p->n, which);
    free(value);
    free(x);
    free(which);
    return code;
}

/* ---- Calibration ---- */

enum { BINS = 10 };

static void draw_bins(picture *p, const mercer_calibration_bin *bin, double error) {
    chart g;
    char title[240];
    double x[BINS], y[BINS];
    int64_t count = 0;
    snprintf(title, sizeof title, "%s: calibration error %.3f", mercer_model_report(p->model)->machine, error);
    chart_open(&g, p->on, title,
               (axis){.label = "predicted probability (grey: number of rows)", .low = -0.03, .high = 1.03},
               (axis){.label = "fraction of rows predicted correctly", .low = -0.09, .high = 1.03}, true);
    chart_line(&g, (pen){.ink = colour_grey, .dash = 1}, (double[]){0, 1}, (double[]){0, 1}, 2);
    for (int b = 0; b < BINS; b++)
        if (bin[b].weight > 0) {
            x[count] = bin[b].confidence;
            y[count++] = bin[b].accuracy;
            canvas_label(p->on, chart_at(&g, bin[b].confidence, -0.075), text_value(bin[b].weight).bytes, 8,
                         SIDE_MIDDLE, false, colour_grey);
        }
    chart_line(&g, (pen){.ink = colour_of(0), .width = 1.6}, x, y, count);
    chart_marks(&g, x, y, count, 0, 8, colour_of(0));
    chart_close(&g);
}

int draw_calibration(session *s, picture *p) {
    mercer_calibration_bin bin[BINS];
    mercer_scores scores = {.size = sizeof scores};
    if (!mercer_model_has_proba(p->model) || !mercer_data_classes(p->data))
        return print_error("calibration is of probabilities, which %s; -m logistic gives them",
                           mercer_data_classes(p->data) ? "this model does not give"
                                                        : "data without classes cannot show");
    TRY_CTX(s, mercer_calibration(s->ctx, p->model, p->data, BINS, bin));
    TRY_CTX(s, mercer_score(s->ctx, p->model, p->data, &scores));
    draw_bins(p, bin, scores.ece); /* the error as mercer score says it */
    return session_alive(s);
}
