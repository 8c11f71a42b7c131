/* plot_matrix.c: matrices as cells: the Gram matrix with its rows ordered by class, and the confusion of classes. */
#include "draw/ticks.h"
#include "cli/verbs/plot.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The Gram matrix ---- */

enum { SHOWN = 400 }; /* rows at most, spread evenly: more cells than that cannot be told apart */

typedef struct row_place {
    int64_t row;
    double by; /* class, or target */
} row_place;

static int compare_places(const void *a, const void *b) {
    const row_place *p = a, *q = b;
    return p->by != q->by ? (p->by > q->by) - (p->by < q->by) : (p->row > q->row) - (p->row < q->row);
}

/* Rows in the order they are shown; the count. */
static int64_t order_rows(const picture *p, row_place *out) {
    const int64_t count = p->n < SHOWN ? p->n : SHOWN;
    for (int64_t t = 0; t < count; t++) {
        const int64_t i = t * p->n / count;
        out[t] = (row_place){i, mercer_data_classes(p->data)   ? (double)mercer_data_class(p->data, i)
                                : mercer_data_outputs(p->data) ? mercer_data_target(p->data, i, 0)
                                                               : 0};
    }
    qsort(out, (size_t)count, sizeof *out, compare_places);
    return count;
}

static int gram_of(session *s, const picture *p, const row_place *order, int64_t count, double *K) {
    mercer_data *rows = NULL;
    int64_t which[SHOWN];
    for (int64_t t = 0; t < count; t++)
        which[t] = order[t].row;
    TRY_CTX(s, mercer_data_take(s->ctx, p->data, which, count, &rows));
    const mercer_status status = mercer_gram(s->ctx, p->kernel, rows, NULL, K);
    mercer_data_free(rows);
    return status ? session_fail(s, status) : session_alive(s);
}

/* Lines where the class changes. */
static void draw_borders(chart *g, const row_place *order, int64_t count) {
    for (int64_t t = 1; t < count; t++)
        if (order[t].by != order[t - 1].by) {
            const double at = (double)t;
            chart_line(g, (pen){.ink = colour_paper, .width = 1}, (double[]){at, at}, (double[]){0, (double)count}, 2);
            chart_line(g, (pen){.ink = colour_paper, .width = 1}, (double[]){0, (double)count}, (double[]){at, at}, 2);
        }
}

/* The names of the classes, and the middle of each one's rows; how many there are. */
static int64_t name_blocks(const picture *p, const row_place *order, int64_t count, const char **name, double *middle) {
    int64_t blocks = 0;
    for (int64_t t = 0, from = 0; t < count; t++)
        if (t + 1 == count || order[t + 1].by != order[t].by) {
            name[blocks] = mercer_data_label(p->data, (int64_t)order[t].by);
            middle[blocks++] = (double)(from + t + 1) / 2;
            from = t + 1;
        }
    return blocks;
}

/* From the value of the coldest colour, below, to that of the hottest, with round numbers beside; low may be the
   larger. */
void draw_scale(chart *g, double low, double high) {
    enum { STEPS = 64 };
    colour cell[STEPS];
    ticks t;
    const box f = g->frame, b = {f.right + 18, f.top, f.right + 32, f.bottom};
    for (int k = 0; k < STEPS; k++)
        cell[k] = colour_heat(1 - (double)k / (STEPS - 1));
    canvas_cells(g->on, b, cell, STEPS, 1);
    const double least = fmin(low, high), most = fmax(low, high),
                 span = most > least ? most - least : fmax(fabs(most), 1);
    ticks_make(&t, least - 1e-6 * span, most + 1e-6 * span, false);
    for (int k = 0; k < t.count; k++) {
        const double up = most > least ? (t.at[k] - low) / (high - low) : 0.5;
        canvas_label(g->on, (canvas_point){b.right + 5, b.bottom + (b.top - b.bottom) * up + 3}, t.text[k], 9,
                     SIDE_START, false, colour_ink);
    }
}

static int draw_cells(session *s, picture *p, const row_place *order, int64_t count, const double *K) {
    chart g;
    char title[240];
    double low, high, middle[SHOWN];
    const char *name[SHOWN];
    colour *cell = session_take(s, count, count, sizeof *cell);
    if (!cell)
        return EXIT_MEMORY;
    range_take(&low, &high, K, count * count);
    for (int64_t i = 0; i < count * count; i++)
        cell[i] = colour_heat(high > low ? (K[i] - low) / (high - low) : 0.5);
    const bool classes = mercer_data_classes(p->data) > 0;
    snprintf(title, sizeof title, "Gram matrix of %s", short_kernel(p->kernel).bytes);
    const char *label = classes                        ? "rows, ordered by class"
                        : mercer_data_outputs(p->data) ? "rows, ordered by target"
                                                       : "rows";
    axis rows = {.label = label, .low = 0, .high = (double)count};
    if (classes)
        rows = (axis){.label = label,
                      .high = (double)count,
                      .names = name,
                      .places = middle,
                      .count = name_blocks(p, order, count, name, middle)};
    axis down = rows;
    down.down = true;
    chart_open(&g, p->on, title, rows, down, true);
    canvas_cells(p->on, g.frame, cell, count, count);
    if (classes)
        draw_borders(&g, order, count);
    chart_close(&g);
    draw_scale(&g, low, high);
    free(cell);
    return EXIT_DONE;
}

int draw_gram(session *s, picture *p) {
    row_place order[SHOWN];
    const int64_t count = order_rows(p, order);
    double *K = session_take(s, count, count, sizeof *K);
    int code = K ? gram_of(s, p, order, count, K) : EXIT_MEMORY;
    THEN(code, draw_cells(s, p, order, count, K));
    free(K);
    return code;
}

/* ---- Confusion ---- */

/* A cell is as dark as its share of the row's true class; the diagonal is what was right. */
static void draw_counts(chart *g, const double *table, int64_t classes) {
    for (int64_t i = 0; i < classes; i++) {
        double whole = 0;
        for (int64_t j = 0; j < classes; j++)
            whole += table[i * classes + j];
        for (int64_t j = 0; j < classes; j++) {
            const double share = whole > 0 ? table[i * classes + j] / whole : 0;
            const canvas_point a = chart_at(g, (double)j - 0.5, (double)i - 0.5),
                               b = chart_at(g, (double)j + 0.5, (double)i + 0.5);
            canvas_box(g->on, colour_tint(colour_of(i == j ? 0 : 1), share), (box){a.x, a.y, b.x, b.y});
            char number[24];
            snprintf(number, sizeof number, "%.6g", table[i * classes + j]);
            if (classes <= 20)
                canvas_label(g->on, (canvas_point){(a.x + b.x) / 2, (a.y + b.y) / 2 + 3}, number, 9, SIDE_MIDDLE, false,
                             share > 0.5 ? colour_paper : colour_ink);
        }
    }
}

static int draw_table(session *s, picture *p, const double *table) {
    const int64_t classes = mercer_model_classes(p->model);
    const char **names = session_take(s, classes, 1, sizeof *names);
    double right = 0, all = 0;
    chart g;
    char title[240];
    if (!names)
        return EXIT_MEMORY;
    for (int64_t k = 0; k < classes; k++)
        names[k] = mercer_model_label(p->model, k);
    for (int64_t k = 0; k < classes * classes; k++) {
        all += table[k];
        right += k % (classes + 1) == 0 ? table[k] : 0;
    }
    snprintf(title, sizeof title, "%.6g of %.6g correct (%.1f%%)", right, all, all > 0 ? 100 * right / all : 0);
    const axis across = {
        .label = "predicted", .low = -0.5, .high = (double)classes - 0.5, .names = names, .count = classes};
    axis down = across;
    down.label = "true";
    down.down = true;
    chart_open(&g, p->on, title, across, down, true);
    draw_counts(&g, table, classes);
    chart_close(&g);
    free(names);
    return EXIT_DONE;
}

int draw_confusion(session *s, picture *p) {
    const int64_t classes = mercer_model_classes(p->model);
    if (classes < 2 || !mercer_data_classes(p->data))
        return print_error("confusion is of classes, and %s",
                           classes < 2 ? "the model predicts numbers" : "the data have none");
    double *table = session_take(s, classes, classes + 1, sizeof *table); /* a row more: of classes not known */
    mercer_scores scores = {.size = sizeof scores};
    if (!table)
        return EXIT_MEMORY;
    const mercer_status status = mercer_score_classes(s->ctx, p->model, p->data, &scores, table);
    const int code = status ? session_fail(s, status) : draw_table(s, p, table);
    free(table);
    return code;
}
