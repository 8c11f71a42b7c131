/* plot_regions.c: what a classifier decides over a plane: two columns with the others at their means, or the two
   directions along which the rows vary most. The decision f = 0 is a line, f = 1 and f = -1 (the margin of a support
   vector machine) are dashed, support vectors wear a ring. */
#include "draw/contour.h"
#include "cli/verbs/plot.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ACROSS = 161, UP = 121, SMOOTH = 6 };

/* x = origin + a u + b v; a and b of every row. */
typedef struct plane {
    double *origin, *u, *v; /* d each */
    double *a, *b;          /* n each */
    char label[2][64];
    double low[2], high[2];
} plane;

static void plane_free(plane *q) {
    free(q->origin);
    free(q->a);
}

static int plane_take(session *s, const picture *p, plane *q) {
    q->origin = session_take(s, 3, p->d, sizeof *q->origin);
    q->a = q->origin ? session_take(s, 2, p->n, sizeof *q->a) : NULL;
    if (!q->a)
        return EXIT_MEMORY;
    q->u = q->origin + p->d;
    q->v = q->u + p->d;
    q->b = q->a + p->n;
    return EXIT_DONE;
}

/* Sums over the rows of weight_i x_i into out; weight NULL: 1/n. row: d numbers to read into. */
static void sum_rows(const picture *p, const double *weight, double *row, double *out) {
    memset(out, 0, (size_t)p->d * sizeof *out);
    for (int64_t i = 0; i < p->n; i++) {
        mercer_data_row(p->data, i, row);
        for (int64_t j = 0; j < p->d; j++)
            out[j] += (weight ? weight[i] : 1 / (double)p->n) * row[j];
    }
}

static void along_columns(const picture *p, plane *q, const int64_t *column) {
    q->u[column[0]] = 1;
    q->v[column[1]] = 1;
    for (int k = 0; k < 2; k++)
        snprintf(q->label[k], sizeof q->label[k], "%s", mercer_data_column_name(p->data, column[k]));
}

static int project_columns(session *s, const picture *p, plane *q, const int64_t *column) {
    double *row = session_take(s, p->d, 1, sizeof *row);
    if (!row)
        return EXIT_MEMORY;
    sum_rows(p, NULL, row, q->origin);
    for (int64_t i = 0; i < p->n; i++) {
        mercer_data_row(p->data, i, row);
        q->a[i] = row[column[0]];
        q->b[i] = row[column[1]];
    }
    free(row);
    along_columns(p, q, column);
    q->origin[column[0]] = q->origin[column[1]] = 0;
    return EXIT_DONE;
}

/* Scores of linear principal components are s = Xc w, so Xc's = |s|^2 w gives w back; of columns divided by D, s = Xc
   D^-1 w, it gives D w, which is the direction among the columns as they stand. scores: n x 2. */
static int set_component_directions(session *s, const picture *p, const double *scores, plane *q) {
    double *row = session_take(s, p->d, 1, sizeof *row);
    if (!row)
        return EXIT_MEMORY;
    for (int k = 0; k < 2; k++) {
        double *a = k ? q->b : q->a, size = 0, sum = 0, *out = k ? q->v : q->u;
        for (int64_t i = 0; i < p->n; i++) {
            a[i] = scores[2 * i + k];
            size += a[i] * a[i];
            sum += a[i];
        }
        sum_rows(p, a, row, out);
        for (int64_t j = 0; j < p->d; j++)
            out[j] = size > 0 ? (out[j] - sum * q->origin[j]) / size : 0;
        snprintf(q->label[k], sizeof q->label[k], "principal component %d", k + 1);
    }
    free(row);
    return EXIT_DONE;
}

static int fit_components(session *s, const picture *p, mercer_model **out) {
    mercer_pca set = mercer_pca_defaults();
    mercer_kernel *linear = NULL;
    set.components = 2;
    set.scale = mercer_model_report(p->model)->scale; /* the columns as the model sees them */
    TRY(input_kernel(s, "linear", &linear));
    const mercer_status status = mercer_fit(s->ctx, "pca", &set, linear, p->data, out);
    mercer_kernel_free(linear);
    return status ? session_fail(s, status) : session_alive(s);
}

static int project_components(session *s, const picture *p, plane *q) {
    mercer_model *pca = NULL;
    double *scores = session_take(s, p->n, 2, sizeof *scores),
           *row = scores ? session_take(s, p->d, 1, sizeof *row) : NULL;
    int code = row ? fit_components(s, p, &pca) : EXIT_MEMORY;
    if (code == EXIT_DONE) {
        const mercer_status status = mercer_predict(s->ctx, pca, p->data, scores);
        sum_rows(p, NULL, row, q->origin);
        code = status ? session_fail(s, status) : set_component_directions(s, p, scores, q);
    }
    free(row);
    free(scores);
    mercer_model_free(pca);
    return code;
}

static int project_to_plane(session *s, const picture *p, plane *q) {
    int64_t column[2] = {0, 1};
    const int named = columns_asked(s, p, 2, column);
    if (named < 0)
        return EXIT_BAD;
    if (named == 1 || p->d < 2)
        return print_error("regions need two columns; %s", p->d < 2 ? "the data have one" : "--columns names one");
    TRY(named || p->d == 2 ? project_columns(s, p, q, column) : project_components(s, p, q));
    const double *of[2] = {q->a, q->b};
    for (int k = 0; k < 2; k++) {
        range_take(&q->low[k], &q->high[k], of[k], p->n);
        range_widen(&q->low[k], &q->high[k], 0.08);
        if (!(q->high[k] > q->low[k])) { /* a constant column stands in the middle */
            q->low[k] -= 1;
            q->high[k] += 1;
        }
    }
    return EXIT_DONE;
}

/* ---- What is decided on the grid ---- */

/* Grid points in row order, the top row first. */
static double *grid_rows(session *s, const picture *p, const plane *q) {
    double *rows = session_take(s, (int64_t)ACROSS * UP, p->d, sizeof *rows);
    for (int64_t i = 0; rows && i < UP; i++)
        for (int64_t j = 0; j < ACROSS; j++) {
            const double a = q->low[0] + (q->high[0] - q->low[0]) * (double)j / (ACROSS - 1);
            const double b = q->high[1] - (q->high[1] - q->low[1]) * (double)i / (UP - 1);
            double *row = rows + (i * ACROSS + j) * p->d;
            for (int64_t c = 0; c < p->d; c++)
                row[c] = q->origin[c] + a * q->u[c] + b * q->v[c];
        }
    return rows;
}

static void draw_tints(chart *g, const double *value, int64_t classes, colour *cell) {
    for (int64_t i = 0; i < (int64_t)ACROSS * UP; i++)
        cell[i] = colour_tint(colour_of(index_of_largest(value + i * classes, classes)), 0.22);
    canvas_cells(g->on, g->frame, cell, UP, ACROSS);
}

/* How far class k leads the best of the others: it wins where this is positive. */
static void compute_class_margins(const double *value, int64_t classes, int64_t k, double *out) {
    for (int64_t i = 0; i < (int64_t)ACROSS * UP; i++) {
        const double *v = value + i * classes;
        double other = -INFINITY;
        for (int64_t c = 0; c < classes; c++)
            other = c != k && v[c] > other ? v[c] : other;
        out[i] = v[k] - other;
    }
}

static void draw_level(chart *g, const double *value, double level, pen line, canvas_point *at) {
    const int64_t pieces = contour_trace(value, UP, ACROSS, level, g->frame, at);
    canvas_point *run = at + (int64_t)4 * ACROSS * UP;
    canvas_line(g->on, line, run, contour_join(at, pieces, run));
}

static bool has_vectors(const picture *p) {
    return mercer_model_report(p->model)->support_vectors > 0 && strstr(mercer_model_report(p->model)->machine, "sv");
}

static bool has_margin(const picture *p) {
    return has_vectors(p) && mercer_model_classes(p->model) == 2;
}

/* Votes are whole numbers, and a line between them would be a staircase: it is drawn around the cells won, their
   corners rounded. */
static void smooth_win(const double *value, int64_t classes, int64_t k, double *out, double *work) {
    for (int64_t i = 0; i < (int64_t)ACROSS * UP; i++)
        out[i] = index_of_largest(value + i * classes, classes) == k ? 1 : -1;
    for (int pass = 0; pass < 2 * SMOOTH; pass++) {
        const int64_t step = pass % 2 ? ACROSS : 1, place = pass % 2 ? UP : ACROSS;
        memcpy(work, out, (size_t)ACROSS * UP * sizeof *work);
        for (int64_t i = 0; i < (int64_t)ACROSS * UP; i++) {
            const int64_t at = i / step % place;
            out[i] = 0.5 * work[i] + 0.25 * (work[at ? i - step : i] + work[at + 1 < place ? i + step : i]);
        }
    }
}

/* For two classes of a support vector machine the values are +f and -f: half of the lead is f. */
static void draw_lines(chart *g, const picture *p, const double *value, int64_t classes, double *work,
                       canvas_point *at) {
    for (int64_t k = 0; k < (classes == 2 ? 1 : classes); k++) {
        if (has_vectors(p) && classes > 2)
            smooth_win(value, classes, k, work, work + (int64_t)ACROSS * UP);
        else
            compute_class_margins(value, classes, k, work);
        draw_level(g, work, 0, (pen){.ink = colour_ink, .width = 1.4}, at);
        for (int sign = -1; has_margin(p) && sign <= 1; sign += 2)
            draw_level(g, work, 2 * sign, (pen){.ink = colour_ink, .dash = 1}, at);
    }
}

static void draw_rings(chart *g, const picture *p, const plane *q) {
    const mercer_report *r = mercer_model_report(p->model);
    for (int64_t c = 0; has_vectors(p) && r->n == p->n && c < mercer_model_centres(p->model); c++) {
        const int64_t i = mercer_model_row(p->model, c);
        if (i >= 0 && i < p->n)
            canvas_ring(g->on, chart_at(g, q->a[i], q->b[i]), 9.5, colour_ink);
    }
}

static int draw_decision_regions(session *s, picture *p, const plane *q, chart *g) {
    const int64_t classes = mercer_model_classes(p->model), cells = (int64_t)ACROSS * UP;
    double *rows = grid_rows(s, p, q), *value = rows ? predict_rows(s, p, rows, cells) : NULL;
    free(rows);
    double *work = value ? session_take(s, cells, 2, sizeof *work) : NULL;
    canvas_point *at = work ? session_take(s, cells, 4 + 6, sizeof *at) : NULL;
    colour *cell = at ? session_take(s, cells, 1, sizeof *cell) : NULL;
    if (cell) {
        draw_tints(g, value, classes, cell);
        draw_lines(g, p, value, classes, work, at);
        draw_rings(g, p, q);
    }
    const int code = cell ? EXIT_DONE : EXIT_MEMORY;
    free(value);
    free(work);
    free(at);
    free(cell);
    return code;
}

static int draw_on_plane(session *s, picture *p, const plane *q) {
    chart g;
    char title[240];
    int64_t *which = classes_of_rows(s, p);
    if (!which)
        return EXIT_MEMORY;
    snprintf(title, sizeof title, "%s, %s%s", mercer_model_report(p->model)->machine, short_kernel(p->kernel).bytes,
             has_margin(p)    ? ": margin dashed, support vectors ringed"
             : has_vectors(p) ? ": support vectors ringed"
                              : "");
    chart_open(&g, p->on, title, (axis){.label = q->label[0], .low = q->low[0], .high = q->high[0]},
               (axis){.label = q->label[1], .low = q->low[1], .high = q->high[1]}, false);
    const int code = draw_decision_regions(s, p, q, &g);
    draw_classes(&g, p, q->a, q->b, which, p->n > 2000 ? 4 : 6);
    chart_close(&g);
    free(which);
    return code;
}

int draw_regions(session *s, picture *p) {
    plane q = {0};
    if (mercer_model_classes(p->model) < 2)
        return print_error("regions are for classes, and '%s' predicts numbers; try --kind curve or --kind residuals",
                           p->model_path);
    int code = plane_take(s, p, &q);
    THEN(code, project_to_plane(s, p, &q));
    THEN(code, draw_on_plane(s, p, &q));
    plane_free(&q);
    return code;
}
