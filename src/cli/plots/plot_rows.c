/* plot_rows.c: rows, classes and predictions as the pictures need them. */
#include "cli/verbs/plot.h"
#include "data/helpers.h"
#include <stdlib.h>
#include <string.h>

static int64_t class_named(const mercer_model *model, const char *label) {
    for (int64_t k = 0; k < mercer_model_classes(model); k++)
        if (strcmp(mercer_model_label(model, k), label) == 0)
            return k;
    return -1;
}

static const mercer_data *labels_of(const picture *p) {
    return p->labelled && mercer_data_rows(p->labelled) == p->n ? p->labelled : p->data;
}

/* Without a model, or with one that has no classes, the data's own numbers. */
int64_t *classes_of_rows(session *s, const picture *p) {
    int64_t *out = session_take(s, p->n, 1, sizeof *out);
    const bool by_model = p->model && mercer_model_classes(p->model) > 0, has = mercer_data_classes(labels_of(p)) > 0;
    for (int64_t i = 0; out && i < p->n; i++) {
        const int64_t k = has ? mercer_data_class(labels_of(p), i) : -1;
        out[i] = by_model && k >= 0 ? class_named(p->model, mercer_data_label(labels_of(p), k)) : k;
    }
    return out;
}

static int predict_table(session *s, const picture *p, const double *rows, int64_t n, double *out) {
    const mercer_table table = {.size = sizeof table, .n = n, .d = p->d, .dtype = MERCER_F64, .values = rows};
    mercer_data *data = NULL;
    TRY_CTX(s, mercer_data_make(s->ctx, &table, &data));
    const mercer_status status = mercer_predict(s->ctx, p->model, data, out);
    mercer_data_free(data);
    return status ? session_fail(s, status) : session_alive(s);
}

double *predict_rows(session *s, const picture *p, const double *rows, int64_t n) {
    double *out = session_take(s, n, mercer_model_outputs(p->model), sizeof *out);
    if (out && predict_table(s, p, rows, n, out) == EXIT_DONE)
        return out;
    free(out);
    return NULL;
}

/* A column by its name, or its place from 1; -1: there is none. */
static int64_t column_named(const picture *p, const char *name) {
    for (int64_t j = 0; j < p->d; j++)
        if (strcmp(mercer_data_column_name(p->data, j), name) == 0)
            return j;
    char *end = NULL;
    const long long place = strtoll(name, &end, 10);
    return end != name && !*end && place >= 1 && place <= p->d ? place - 1 : -1;
}

static int no_column(const picture *p, const char *name) {
    mc_suggestion best = {.text = name};
    for (int64_t j = 0; j < p->d; j++)
        mc_suggestion_try(&best, mercer_data_column_name(p->data, j));
    if (best.name)
        print_error("--columns: there is no column '%s'; did you mean '%s'?", name, best.name);
    else
        print_error("--columns: there is no column '%s' among the %lld of '%s'", name, (long long)p->d, p->data_path);
    return -1;
}

int columns_asked(const session *s, const picture *p, int wanted, int64_t *out) {
    char list[512];
    int count = 0;
    const char *wish = args_text(&s->args, "columns");
    snprintf(list, sizeof list, "%s", wish ? wish : "");
    for (char *rest = list, *name; (name = strtok_r(rest, ",", &rest)); count++) {
        if (count == wanted) {
            print_error("--columns %s: this picture takes %s", wish, wanted == 1 ? "one column" : "two columns");
            return -1;
        }
        out[count] = column_named(p, name);
        if (out[count] < 0)
            return no_column(p, name);
    }
    return count;
}

static void draw_one_class(chart *g, const double *x, const double *y, const int64_t *which, int64_t n, int64_t k,
                           double size) {
    for (int64_t i = 0; i < n; i++)
        if (which[i] == k)
            canvas_mark(g->on, chart_at(g, x[i], y[i]), k < 0 ? 0 : k, size, k < 0 ? colour_grey : colour_of(k));
}

void draw_classes(chart *g, const picture *p, const double *x, const double *y, const int64_t *which, double size) {
    enum { KEYS = 12 };
    const bool by_model = p->model && mercer_model_classes(p->model) > 0;
    const int64_t classes = by_model ? mercer_model_classes(p->model) : mercer_data_classes(labels_of(p));
    key keys[KEYS];
    draw_one_class(g, x, y, which, p->n, -1, size);
    for (int64_t k = 0; k < classes; k++) {
        draw_one_class(g, x, y, which, p->n, k, size);
        if (k < KEYS)
            keys[k] = (key){by_model ? mercer_model_label(p->model, k) : mercer_data_label(labels_of(p), k),
                            colour_of(k), k, 0};
    }
    if (classes > 1)
        chart_keys(g, keys, classes < KEYS ? classes : KEYS, x, y, p->n);
}

/* Numbers with four digits: the file has them all, a title needs none of it. */
title_text short_kernel(const mercer_kernel *kernel) {
    title_text t = {0};
    size_t used = 0;
    for (const char *p = mercer_kernel_text(kernel); *p && used + 16 < sizeof t.bytes;) {
        const bool number = (*p >= '0' && *p <= '9') && (p == mercer_kernel_text(kernel) || !strchr("^_[:", p[-1]));
        char *end = NULL;
        if (number)
            used += (size_t)snprintf(t.bytes + used, sizeof t.bytes - used, "%.4g", strtod(p, &end));
        else
            t.bytes[used++] = *p;
        p = number ? end : p + 1;
        if (*p && used + 16 >= sizeof t.bytes)
            snprintf(t.bytes + used, sizeof t.bytes - used, "...");
    }
    return t;
}
