/* plot_search.c: pictures of a choice: the scores of a search over its candidates, and the error as more rows are
   learned from. */
#include "cli/verbs/plot.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The validation surface ---- */

typedef struct names {
    const char **text;
    int64_t count;
} names;

typedef struct surface {
    json_t *search;
    names kernel, setting;
    double *score; /* kernels x settings; NaN: not measured */
    int64_t best;  /* the cell chosen */
    bool larger;
    double low, high; /* of the colours */
} surface;

static int64_t place_of(names *n, const char *words) {
    for (int64_t k = 0; k < n->count; k++)
        if (strcmp(n->text[k], words) == 0)
            return k;
    n->text[n->count] = words;
    return n->count++;
}

static const char *text_in(const json_t *object, const char *name) {
    const char *found = json_string_value(json_object_get(object, name));
    return found ? found : "";
}

static int read_surface(session *s, const picture *p, surface *out) {
    out->search = json_loads(mercer_model_search(p->model), 0, NULL);
    const json_t *list = json_object_get(out->search, "candidates");
    const int64_t count = (int64_t)json_array_size(list);
    if (count < 2)
        return print_error("surface: the model remembers no search; 'mercer tune' saves one that does");
    out->kernel.text = session_take(s, count, 1, sizeof *out->kernel.text);
    out->setting.text = session_take(s, count, 1, sizeof *out->setting.text);
    if (!out->kernel.text || !out->setting.text)
        return EXIT_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        place_of(&out->kernel, text_in(json_array_get(list, (size_t)i), "kernel"));
        place_of(&out->setting, text_in(json_array_get(list, (size_t)i), "settings"));
    }
    out->larger = json_is_true(json_object_get(out->search, "larger_is_better"));
    return EXIT_DONE;
}

static int fill_surface(session *s, surface *f) {
    const json_t *list = json_object_get(f->search, "candidates");
    const int64_t cells = f->kernel.count * f->setting.count;
    f->score = session_take(s, f->kernel.count, f->setting.count, sizeof *f->score);
    if (!f->score)
        return EXIT_MEMORY;
    for (int64_t i = 0; i < cells; i++)
        f->score[i] = NAN;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        const int64_t cell = place_of(&f->kernel, text_in(one, "kernel")) * f->setting.count
                             + place_of(&f->setting, text_in(one, "settings"));
        f->score[cell] = json_number_in(one, "score");
        if ((json_int_t)i == json_integer_value(json_object_get(f->search, "best")))
            f->best = cell;
    }
    return EXIT_DONE;
}

static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Colours run from the best to the worst of the better three quarters: a hopeless corner would leave nothing to see
   elsewhere. */
static int range_of(session *s, surface *f) {
    const int64_t cells = f->kernel.count * f->setting.count;
    int64_t count = 0;
    double *sorted = session_take(s, cells, 1, sizeof *sorted);
    if (!sorted)
        return EXIT_MEMORY;
    for (int64_t i = 0; i < cells; i++)
        if (!isnan(f->score[i]))
            sorted[count++] = f->score[i];
    qsort(sorted, (size_t)count, sizeof *sorted, compare_numbers);
    f->low = count ? sorted[f->larger ? count / 4 : 0] : 0;
    f->high = count ? sorted[f->larger ? count - 1 : (count - 1) * 3 / 4] : 1;
    free(sorted);
    return EXIT_DONE;
}

static colour colour_of_score(const surface *f, double score) {
    if (isnan(score))
        return colour_paper;
    const double up = f->high > f->low ? fmin(1, fmax(0, (score - f->low) / (f->high - f->low))) : 1;
    return colour_heat(f->larger ? up : 1 - up);
}

/* "lambda=" where every name is that with a number: then the axis says it once, and the names are the numbers. */
static size_t shared_name(const names *n, char label[32]) {
    const char *equals = strchr(n->text[0], '=');
    const size_t length = equals ? (size_t)(equals - n->text[0]) + 1 : 0;
    bool shared = length > 1 && length < 32;
    for (int64_t k = 0; k < n->count && shared; k++)
        shared = strncmp(n->text[k], n->text[0], length) == 0 && !strpbrk(n->text[k], " (");
    snprintf(label, 32, "%.*s", shared ? (int)length - 1 : 0, n->text[0]);
    return shared ? length : 0;
}

static axis axis_of(const names *n, const char **shown, char label[32]) {
    const size_t skipped = shared_name(n, label);
    for (int64_t k = 0; k < n->count; k++)
        shown[k] = n->text[k] + skipped;
    return (axis){.label = label, .low = -0.5, .high = (double)n->count - 0.5, .names = shown, .count = n->count};
}

static int draw_surface_cells(session *s, picture *p, const surface *f) {
    const int64_t rows = f->kernel.count, columns = f->setting.count;
    colour *cell = session_take(s, rows, columns, sizeof *cell);
    const char **shown = session_take(s, rows + columns, 1, sizeof *shown);
    if (cell && shown) {
        chart g;
        char title[240], labels[2][32];
        for (int64_t i = 0; i < rows * columns; i++)
            cell[i] = colour_of_score(f, f->score[i]);
        snprintf(title, sizeof title, "%s on %s", text_in(f->search, "score"), text_in(f->search, "splits"));
        axis down = axis_of(&f->kernel, shown + columns, labels[0]);
        down.down = true;
        chart_open(&g, p->on, title, axis_of(&f->setting, shown, labels[1]), down, true);
        canvas_cells(p->on, g.frame, cell, rows, columns);
        chart_marks(&g, (double[]){(double)(f->best % columns)}, (double[]){(double)(f->best / columns)}, 1, 0, 9,
                    colour_ink);
        chart_close(&g);
        draw_scale(&g, f->larger ? f->low : f->high, f->larger ? f->high : f->low);
    }
    free(cell);
    free(shown);
    return cell && shown ? EXIT_DONE : EXIT_MEMORY;
}

int draw_surface(session *s, picture *p) {
    surface f = {0};
    int code = read_surface(s, p, &f);
    THEN(code, fill_surface(s, &f));
    THEN(code, range_of(s, &f));
    THEN(code, draw_surface_cells(s, p, &f));
    json_decref(f.search);
    free(f.kernel.text);
    free(f.setting.text);
    free(f.score);
    return code;
}

/* ---- The learning curve ---- */

enum { SIZES = 6, TURNS = 3, LEAST = 60, PARTS = 80, FEW_PARTS = 20, FIFTH = 5 };

typedef struct learning {
    const mercer_machine *machine;
    void *settings;
    char words[2048];     /* that the settings point to */
    int64_t parts, *part; /* every row is in one of so many, stratified by class */
    int64_t *row;
    double at[SIZES], learned[SIZES], held[SIZES];
    int sizes;
} learning;

/* "lambda=0.1 intercept=no": those of the model, whose scaling is the one it came to. */
static int take_settings(session *s, const picture *p, learning *l) {
    const mercer_report *r = mercer_model_report(p->model);
    char *rest = NULL;
    snprintf(l->words, sizeof l->words, "%s", mercer_model_settings(p->model));
    TRY_CTX(s, mercer_settings_init(s->ctx, l->machine->name, l->settings, l->machine->size));
    for (char *one = strtok_r(l->words, " ", &rest); one; one = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(one, '=');
        if (!equals || !equals[1] || strncmp(one, "checkpoint=", 11) == 0)
            continue;
        *equals = '\0';
        const char *value = strcmp(one, "scale") == 0 && r->scale ? r->scale : equals + 1;
        TRY_CTX(s, mercer_settings_put(s->ctx, l->settings, one, value));
    }
    return EXIT_DONE;
}

static int open_learning(session *s, const picture *p, learning *l) {
    l->machine = mercer_machine_find(mercer_model_report(p->model)->machine);
    if (!l->machine || l->machine->target == MERCER_TARGET_NONE)
        return print_error("learning-curve: %s learns from the rows alone: there is no error to show",
                           mercer_model_report(p->model)->machine);
    if (p->n < LEAST)
        return print_error("learning-curve: %d rows at least are needed, the data have %lld", LEAST, (long long)p->n);
    l->parts = p->n < 10 * PARTS ? FEW_PARTS : PARTS;
    l->settings = session_take(s, 1, (int64_t)l->machine->size, 1);
    l->part = session_take(s, p->n, 1, sizeof *l->part);
    l->row = session_take(s, p->n, 1, sizeof *l->row);
    if (!l->settings || !l->part || !l->row)
        return EXIT_MEMORY;
    TRY(take_settings(s, p, l));
    TRY_CTX(s, mercer_data_folds(s->ctx, p->data, l->parts, NULL, 0, l->part));
    return EXIT_DONE;
}

/* The rows of count parts from the first on, round the end. */
static int take_parts(session *s, const picture *p, learning *l, int64_t first, int64_t count, mercer_data **out) {
    int64_t n = 0;
    for (int64_t i = 0; i < p->n; i++)
        if ((l->part[i] - first + l->parts) % l->parts < count)
            l->row[n++] = i;
    TRY_CTX(s, mercer_data_take(s->ctx, p->data, l->row, n, out));
    return EXIT_DONE;
}

static int error_on(session *s, const mercer_model *model, const mercer_data *data, double *sum) {
    mercer_scores scores = {.size = sizeof scores};
    TRY_CTX(s, mercer_score(s->ctx, model, data, &scores));
    *sum += (mercer_model_classes(model) ? 100 * (1 - scores.accuracy) : scores.rmse) / TURNS;
    return EXIT_DONE;
}

/* One fit to count parts, measured on them and on a fifth of the rows that it did not see. */
static int score_training_size(session *s, const picture *p, learning *l, int64_t turn, int64_t count) {
    const int64_t held = l->parts / FIFTH;
    mercer_data *some = NULL, *rest = NULL;
    mercer_model *model = NULL;
    int code = take_parts(s, p, l, turn * held, held, &rest);
    THEN(code, take_parts(s, p, l, (turn + 1) * held, count, &some));
    const mercer_status status =
        code == EXIT_DONE ? mercer_fit(s->ctx, l->machine->name, l->settings, p->kernel, some, &model) : MERCER_OK;
    if (status)
        code = session_fail(s, status);
    THEN(code, error_on(s, model, some, &l->learned[l->sizes]));
    THEN(code, error_on(s, model, rest, &l->held[l->sizes]));
    l->at[l->sizes] += some ? (double)mercer_data_rows(some) / TURNS : 0;
    mercer_model_free(model);
    mercer_data_free(some);
    mercer_data_free(rest);
    return code;
}

static int learn_all(session *s, const picture *p, learning *l) {
    const int64_t most = l->parts - l->parts / FIFTH;
    for (int k = SIZES - 1; k >= 0; k--) {
        const int64_t count = most >> k;
        if (count < 1)
            continue;
        for (int64_t turn = 0; turn < TURNS; turn++)
            TRY(score_training_size(s, p, l, turn, count));
        l->sizes++;
    }
    return session_alive(s);
}

static void draw_learning(picture *p, const learning *l) {
    const bool classes = mercer_model_classes(p->model) > 0;
    const key keys[] = {{"rows not seen", colour_of(0), 0, 0}, {"rows learned from", colour_of(1), 1, 0}};
    double low, high, both[2 * SIZES];
    chart g;
    char title[240];
    memcpy(both, l->held, (size_t)l->sizes * sizeof *both);
    memcpy(both + l->sizes, l->learned, (size_t)l->sizes * sizeof *both);
    range_take(&low, &high, both, 2 * l->sizes);
    low = fmin(low, 0);
    range_widen(&low, &high, 0.06);
    snprintf(title, sizeof title, "%s, %s", l->machine->name, short_kernel(p->kernel).bytes);
    chart_open(&g, p->on, title,
               (axis){.label = "rows learned from",
                      .low = l->at[0] / 1.2,
                      .high = l->at[l->sizes - 1] * 1.2,
                      .logarithmic = true},
               (axis){.label = classes ? "% wrong" : "RMSE", .low = fmax(low, 0), .high = high}, false);
    chart_line(&g, (pen){.ink = colour_of(1), .width = 1.4}, l->at, l->learned, l->sizes);
    chart_marks(&g, l->at, l->learned, l->sizes, 1, 5, colour_of(1));
    chart_line(&g, (pen){.ink = colour_of(0), .width = 1.8}, l->at, l->held, l->sizes);
    chart_marks(&g, l->at, l->held, l->sizes, 0, 5, colour_of(0));
    chart_keys(&g, keys, 2, l->at, l->held, l->sizes);
    chart_close(&g);
}

int draw_learning_curve(session *s, picture *p) {
    learning l = {0};
    int code = open_learning(s, p, &l);
    THEN(code, learn_all(s, p, &l));
    if (code == EXIT_DONE)
        draw_learning(p, &l);
    free(l.settings);
    free(l.part);
    free(l.row);
    return code;
}
