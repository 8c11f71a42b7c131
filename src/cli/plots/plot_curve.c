/* plot_curve.c: a regression function along one column, the others at their means, with the rows it was asked to show.
   A Gaussian process has a band of two standard deviations of f. */
#include "cli/verbs/plot.h"
#include <math.h>
#include <stdlib.h>

enum { POINTS = 801 }; /* enough for fifty waves */

typedef struct plotted_curve {
    int64_t column, outputs;
    double *x, *y;      /* of the rows: n; n x outputs, empty without a target */
    double *rows;       /* POINTS x d */
    double *at, *value; /* POINTS; POINTS x outputs */
    double *low, *high; /* POINTS each, for one output at a time */
    double *std;        /* POINTS; NULL: no band */
} plotted_curve;

static void curve_free(plotted_curve *c) {
    free(c->x);
    free(c->rows);
    free(c->at);
    free(c->value);
    free(c->std);
}

static int curve_take(session *s, const picture *p, plotted_curve *c) {
    c->outputs = mercer_model_outputs(p->model);
    c->x = session_take(s, p->n, 1 + c->outputs, sizeof *c->x);
    c->rows = c->x ? session_take(s, POINTS, p->d, sizeof *c->rows) : NULL;
    c->at = c->rows ? session_take(s, POINTS, 3, sizeof *c->at) : NULL;
    if (!c->at)
        return EXIT_MEMORY;
    c->y = c->x + p->n;
    c->low = c->at + POINTS;
    c->high = c->low + POINTS;
    return EXIT_DONE;
}

/* Every row of rows becomes the mean of the data but for the column that moves. The first row collects the means. */
static void lay_rows(const picture *p, plotted_curve *c, double *row) {
    double low, high;
    for (int64_t i = 0; i < p->n; i++) {
        mercer_data_row(p->data, i, row);
        c->x[i] = row[c->column];
        for (int64_t j = 0; j < p->d; j++)
            c->rows[j] += row[j] / (double)p->n;
        for (int64_t k = 0; k < c->outputs && mercer_data_outputs(p->data) == c->outputs; k++)
            c->y[k * p->n + i] = mercer_data_target(p->data, i, k);
    }
    range_take(&low, &high, c->x, p->n);
    range_widen(&low, &high, 0.08);
    for (int64_t t = POINTS - 1; t >= 0; t--) {
        for (int64_t j = 0; j < p->d; j++)
            c->rows[t * p->d + j] = c->rows[j];
        c->at[t] = low + (high - low) * (double)t / (POINTS - 1);
        c->rows[t * p->d + c->column] = c->at[t];
    }
}

static int compute_posterior_std(session *s, const picture *p, plotted_curve *c) {
    const mercer_table table = {.size = sizeof table, .n = POINTS, .d = p->d, .dtype = MERCER_F64, .values = c->rows};
    mercer_posterior *posterior = NULL;
    mercer_data *data = NULL;
    c->std = session_take(s, POINTS, 1, sizeof *c->std);
    if (!c->std)
        return EXIT_MEMORY;
    mercer_status status = mercer_data_make(s->ctx, &table, &data);
    if (!status)
        status = mercer_posterior_open(s->ctx, p->model, &posterior);
    if (!status)
        status = mercer_posterior_std(s->ctx, posterior, data, c->std);
    mercer_posterior_free(posterior);
    mercer_data_free(data);
    return status ? session_fail(s, status) : session_alive(s);
}

static int compute_curve(session *s, const picture *p, plotted_curve *c) {
    double *row = session_take(s, p->d, 1, sizeof *row);
    if (!row)
        return EXIT_MEMORY;
    lay_rows(p, c, row);
    free(row);
    c->value = predict_rows(s, p, c->rows, POINTS);
    if (!c->value)
        return EXIT_MEMORY;
    return isnan(mercer_model_report(p->model)->log_evidence) ? EXIT_DONE : compute_posterior_std(s, p, c);
}

/* low and high: the curve of an output, and the band around it. */
static void take_output(plotted_curve *c, int64_t k) {
    for (int64_t t = 0; t < POINTS; t++) {
        const double f = c->value[t * c->outputs + k], more = c->std ? 2 * c->std[t] : 0;
        c->low[t] = f - more;
        c->high[t] = f + more;
    }
}

static void range_of(const picture *p, plotted_curve *c, double *low, double *high) {
    double l, h;
    range_take(low, high, c->y, mercer_data_outputs(p->data) == c->outputs ? p->n * c->outputs : 0);
    if (mercer_data_outputs(p->data) != c->outputs)
        range_take(low, high, c->value, POINTS * c->outputs);
    for (int64_t k = 0; k < c->outputs; k++) {
        take_output(c, k);
        range_take(&l, &h, c->low, 2 * POINTS);
        *low = fmin(*low, l);
        *high = fmax(*high, h);
    }
    range_widen(low, high, 0.06);
}

static void draw_output(chart *g, const picture *p, plotted_curve *c, int64_t k) {
    const colour ink = colour_of(k);
    take_output(c, k);
    if (c->std)
        chart_band(g, ink, c->at, c->low, c->high, POINTS);
    if (mercer_data_outputs(p->data) == c->outputs)
        chart_marks(g, c->x, c->y + k * p->n, p->n, k, p->n > 2000 ? 3 : 5, c->outputs > 1 ? ink : colour_grey);
    for (int64_t t = 0; t < POINTS; t++)
        c->low[t] = c->value[t * c->outputs + k];
    chart_line(g, (pen){.ink = ink, .width = 2, .dash = (int)(k % 4)}, c->at, c->low, POINTS);
}

static int draw_curve_chart(picture *p, plotted_curve *c) {
    enum { KEYS = 8 };
    chart g;
    char title[240];
    double low, high;
    key keys[KEYS];
    snprintf(title, sizeof title, "%s, %s%s%s", mercer_model_report(p->model)->machine, short_kernel(p->kernel).bytes,
             p->d > 1 ? ": other columns at their means" : "", c->std ? ": band of two standard deviations" : "");
    range_of(p, c, &low, &high);
    const char *up = c->outputs == 1 ? mercer_model_target_name(p->model, 0) : "prediction";
    chart_open(&g, p->on, title,
               (axis){.label = mercer_data_column_name(p->data, c->column), .low = c->at[0], .high = c->at[POINTS - 1]},
               (axis){.label = up ? up : "prediction", .low = low, .high = high}, false);
    for (int64_t k = 0; k < c->outputs; k++) {
        draw_output(&g, p, c, k);
        if (k < KEYS)
            keys[k] = (key){mercer_model_target_name(p->model, k), colour_of(k), -1, (int)(k % 4)};
    }
    if (c->outputs > 1)
        chart_keys(&g, keys, c->outputs < KEYS ? c->outputs : KEYS, c->x, c->y, p->n);
    chart_close(&g);
    return EXIT_DONE;
}

int draw_curve(session *s, picture *p) {
    plotted_curve c = {0};
    if (mercer_model_classes(p->model) > 0)
        return print_error("a curve is for numbers, and '%s' predicts classes; try --kind regions", p->model_path);
    if (columns_asked(s, p, 1, &c.column) < 0)
        return EXIT_BAD;
    int code = curve_take(s, p, &c);
    THEN(code, compute_curve(s, p, &c));
    THEN(code, draw_curve_chart(p, &c));
    curve_free(&c);
    return code;
}
