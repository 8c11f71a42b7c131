/* plot_lines.c: curves of a kernel: its profile, and the eigenvalues of its Gram matrix on the rows. */
#include "cli/verbs/plot.h"
#include <math.h>
#include <stdlib.h>

/* ---- Profile ---- */

enum { POINTS = 401, COMPONENTS = 200, ROWS = 1000 };

/* k(x, z) of one column, for z along the axis: x = 0 for a stationary kernel, where this is k(r); otherwise x = 1. */
static int evaluate_profile(session *s, const mercer_kernel *kernel, double x, double low, double *at, double *value) {
    for (int t = 0; t < POINTS; t++) {
        at[t] = low + (3 - low) * t / (POINTS - 1);
        TRY_CTX(s, mercer_kernel_value(s->ctx, kernel, &x, &at[t], 1, &value[t]));
    }
    return EXIT_DONE;
}

/* One column of variance 1 fixes bandwidths left open. */
static int bind_to_one_column(session *s, const mercer_kernel *kernel, mercer_kernel **out) {
    const double values[] = {-1, 1};
    const mercer_table table = {.size = sizeof table, .n = 2, .d = 1, .dtype = MERCER_F64, .values = values};
    mercer_data *data = NULL;
    TRY_CTX(s, mercer_data_make(s->ctx, &table, &data));
    const mercer_status status = mercer_kernel_bind(s->ctx, kernel, data, out);
    mercer_data_free(data);
    return status ? session_fail(s, status) : EXIT_DONE;
}

static void draw_profile_chart(picture *p, const mercer_kernel *kernel, bool stationary, const double *at,
                               const double *value) {
    chart g;
    char title[240];
    double low, high;
    range_take(&low, &high, value, POINTS);
    low = fmin(low, 0);
    range_widen(&low, &high, 0.06);
    snprintf(title, sizeof title, "%s", short_kernel(kernel).bytes);
    chart_open(&g, p->on, title, (axis){.label = stationary ? "distance r" : "z", .low = at[0], .high = at[POINTS - 1]},
               (axis){.label = stationary ? "k(r)" : "k(1, z)", .low = low, .high = high}, false);
    chart_line(&g, (pen){.ink = colour_grey, .width = 0.8}, (double[]){at[0], at[POINTS - 1]}, (double[]){0, 0}, 2);
    chart_line(&g, (pen){.ink = colour_of(0), .width = 2}, at, value, POINTS);
    chart_close(&g);
}

int draw_profile(session *s, picture *p) {
    double at[POINTS], value[POINTS];
    mercer_kernel *bound = NULL;
    int code = bind_to_one_column(s, p->kernel, &bound);
    mercer_shape shape = {.size = sizeof shape};
    const bool stationary = code == EXIT_DONE && mercer_kernel_shape(bound, 1, &shape) && shape.stationary;
    THEN(code, evaluate_profile(s, bound, stationary ? 0 : 1, stationary ? 0 : -3, at, value));
    if (code == EXIT_DONE)
        draw_profile_chart(p, bound, stationary, at, value);
    mercer_kernel_free(bound);
    return code;
}

/* ---- Spectrum ---- */

/* Rows spread evenly over the data, and how many directions they span: asking for more components than that is an
   error. */
static int estimate_gram_rank(session *s, const picture *p, mercer_data **rows, int64_t *rank) {
    const int64_t count = p->n < ROWS ? p->n : ROWS;
    int64_t which[ROWS];
    mercer_gram_facts facts = {.size = sizeof facts};
    for (int64_t t = 0; t < count; t++)
        which[t] = t * p->n / count;
    TRY_CTX(s, mercer_data_take(s->ctx, p->data, which, count, rows));
    double *K = session_take(s, count, count, sizeof *K);
    if (!K)
        return EXIT_MEMORY;
    mercer_status status = mercer_gram(s->ctx, p->kernel, *rows, NULL, K);
    if (!status)
        status = mercer_gram_check(s->ctx, K, count, &facts);
    free(K);
    *rank = status ? 0 : facts.rank;
    return status ? session_fail(s, status) : session_alive(s);
}

static int compute_eigenvalues(session *s, const picture *p, const mercer_data *rows, int64_t count, double *at,
                               double *value) {
    mercer_pca set = mercer_pca_defaults();
    mercer_model *pca = NULL;
    set.components = count;
    set.center = false;
    set.scale = "none";
    TRY_CTX(s, mercer_fit(s->ctx, "pca", &set, p->kernel, rows, &pca));
    for (int64_t k = 0; k < count; k++) {
        at[k] = (double)k + 1;
        value[k] = mercer_model_component(pca, k).eigenvalue;
    }
    mercer_model_free(pca);
    return session_alive(s);
}

static void draw_eigenvalues(picture *p, int64_t rows, int64_t rank, const double *at, const double *value,
                             int64_t count) {
    double low, high;
    chart g;
    char title[240];
    range_take(&low, &high, value, count);
    snprintf(title, sizeof title, "%s: K on %s has rank %lld", short_kernel(p->kernel).bytes,
             text_count(rows, "row").bytes, (long long)rank);
    chart_open(&g, p->on, title, (axis){.label = "place", .low = 0, .high = (double)count + 1},
               (axis){.label = "eigenvalue", .low = low / 1.5, .high = high * 1.5, .logarithmic = true}, false);
    chart_line(&g, (pen){.ink = colour_of(0), .width = 1.2}, at, value, count);
    chart_marks(&g, at, value, count, 0, 5, colour_of(0));
    chart_close(&g);
}

int draw_spectrum(session *s, picture *p) {
    double at[COMPONENTS], value[COMPONENTS];
    int64_t rank = 0;
    mercer_data *rows = NULL;
    int code = estimate_gram_rank(s, p, &rows, &rank);
    const int64_t count = rank < COMPONENTS ? rank : COMPONENTS;
    if (code == EXIT_DONE && count == 0)
        code = print_error("spectrum: all values of %s on these rows are zero", short_kernel(p->kernel).bytes);
    THEN(code, compute_eigenvalues(s, p, rows, count, at, value));
    if (code == EXIT_DONE)
        draw_eigenvalues(p, mercer_data_rows(rows), rank, at, value, count);
    mercer_data_free(rows);
    return code;
}
