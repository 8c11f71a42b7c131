/* verbs.c: see verbs.h. Every array handed over is exactly as long as the call says it fills, so that a sanitizer sees
   one too many. */
#include "verbs.h"
#include "../must.h"
#include "base/rng.h"
#include "data/table/data.h"
#include "model/model.h"
#include <math.h>
#include <string.h>

enum { ROWS = 3, WIDEST = 4096 };

/* A failure says why; a context that has failed goes on. */
static bool went_well(const company *c, mercer_status status) {
    must(!status || strlen(mercer_message(c->ctx)) > 10, "a failure says why");
    return status == MERCER_OK;
}

static double *room(int64_t count) {
    double *block = malloc((size_t)count * sizeof *block + !count);
    must(block, "memory");
    return block;
}

/* ---- What a model says of itself ---- */

static size_t look_at_words(const mercer_model *m) {
    const mercer_report *r = mercer_model_report(m);
    size_t sum =
        strlen(r->machine) + strlen(r->solver) + strlen(r->scale) + strlen(r->stopped) + strlen(r->certificate.kind);
    sum += strlen(mercer_kernel_text(mercer_model_kernel(m))) + strlen(mercer_model_settings(m))
           + strlen(mercer_model_search(m));
    for (int64_t k = 0; k < mercer_model_classes(m); k++)
        sum += strlen(mercer_model_label(m, k));
    for (int64_t j = 0; j < mercer_model_columns(m) && j < WIDEST; j++)
        sum += mercer_model_column_name(m, j) ? strlen(mercer_model_column_name(m, j)) : 0;
    for (int64_t k = 0; k < mercer_model_outputs(m); k++)
        sum += mercer_model_target_name(m, k) ? strlen(mercer_model_target_name(m, k)) : 0;
    return sum;
}

static double look_at_decisions(const mercer_model *m) {
    double sum = 0;
    for (int64_t k = 0; k < mercer_model_decisions(m); k++) {
        int64_t first, second;
        mercer_model_decision(m, k, &first, &second);
        must(first < mercer_model_outputs(m) && second < mercer_model_outputs(m),
             "the classes of a decision are there");
        sum += mercer_model_intercept(m, k) + mercer_model_box(m, k).C + (double)(first + second);
        for (int64_t j = 0; j < mercer_model_features(m); j++)
            sum += mercer_model_weight(m, j, k);
    }
    for (int64_t k = 0; k < mercer_model_outputs(m); k++)
        sum += mercer_model_component(m, k).eigenvalue;
    return sum;
}

static double look_at_centres(const mercer_model *m) {
    const int64_t n = mercer_model_centres(m), decisions = mercer_model_decisions(m);
    int64_t *row = malloc((size_t)n * sizeof *row + !n);
    double *alpha = room(n * decisions), sum = 0;
    mercer_model_rows(m, row);
    mercer_model_coefficients(m, alpha);
    for (int64_t i = 0; i < n; i++)
        sum += (double)(row[i] == mercer_model_row(m, i));
    for (int64_t i = 0; i < n * decisions; i++)
        sum += alpha[i] + mercer_model_coefficient(m, i / decisions, i % decisions);
    free(row);
    free(alpha);
    return sum;
}

/* ---- Rows for it ---- */

enum { WIDE = 1000, FEW = 8 }; /* rows of a model that has more columns than the first have values in so many */

/* As many columns and texts as the model has, and targets of its kind. */
static mercer_data *rows_for(const company *c, const mercer_model *m, mercer_dtype dtype, bool sparse) {
    const int64_t width = mercer_model_columns(m), d = width > WIDE ? FEW : width, outputs = mercer_model_outputs(m),
                  texts = m->f.centres->texts;
    const bool region = mercer_model_classes(m) == 0;
    double *x = room(ROWS * d), *y = room(ROWS * outputs);
    float *single = malloc((size_t)(ROWS * d) * sizeof *single + !d);
    const char *label[ROWS], **text = malloc((size_t)(ROWS * texts) * sizeof *text + !texts);
    int64_t start[ROWS + 1] = {0, d, d, 2 * d};
    int32_t *column = malloc((size_t)(2 * d) * sizeof *column + !d);
    for (int64_t i = 0; i < ROWS * d; i++)
        single[i] = (float)(x[i] = i % d == 0 ? 1 : 0.25 * (double)(i % 7));
    for (int64_t i = 0; i < ROWS * outputs; i++)
        y[i] = (double)(i % 3) - 1;
    for (int64_t i = 0; i < ROWS; i++)
        label[i] = mercer_model_classes(m) ? mercer_model_label(m, i % mercer_model_classes(m)) : "";
    for (int64_t i = 0; i < ROWS * texts; i++)
        text[i] = i % 2 ? "abba" : "cab";
    for (int64_t k = 0; k < 2 * d; k++)
        column[k] = (int32_t)(width > WIDE ? k % d * ((width - 1) / (FEW - 1)) : k % d);
    sparse = sparse || width > WIDE;
    const mercer_table table = {.size = sizeof table,
                                .n = ROWS,
                                .d = width,
                                .dtype = dtype,
                                .values = dtype == MERCER_F32 ? (void *)single : (void *)x,
                                .row_start = sparse ? start : NULL,
                                .column = sparse ? column : NULL,
                                .target = region ? y : NULL,
                                .outputs = region ? outputs : 0,
                                .labels = region ? NULL : label,
                                .text = texts ? text : NULL,
                                .texts = texts};
    mercer_data *data = NULL;
    went_well(c, mercer_data_make(c->ctx, &table, &data));
    free(x);
    free(y);
    free(single);
    free(text);
    free(column);
    return data;
}

/* ---- What it answers ---- */

static void predict(const company *c, const mercer_model *m, const mercer_data *data) {
    const int64_t n = mercer_data_rows(data), outputs = mercer_model_outputs(m), decisions = mercer_model_decisions(m);
    double *out = room(n * outputs), *decided = room(n * decisions), *proba = room(n * mercer_model_classes(m));
    int64_t *class = malloc((size_t)n * sizeof *class + !n);
    mercer_scores scores = {.size = sizeof scores};
    mercer_calibration_bin bins[4];
    went_well(c, mercer_predict(c->ctx, m, data, out));
    went_well(c, mercer_decide(c->ctx, m, data, decided));
    if (went_well(c, mercer_classify(c->ctx, m, data, class)))
        for (int64_t i = 0; i < n; i++)
            must(class[i] >= 0 && class[i] < mercer_model_classes(m), "a class there is");
    went_well(c, mercer_predict_proba(c->ctx, m, data, proba));
    went_well(c, mercer_score(c->ctx, m, data, &scores));
    went_well(c, mercer_calibration(c->ctx, m, data, 4, bins));
    free(out);
    free(decided);
    free(proba);
    free(class);
}

static void ask_posterior(const company *c, const mercer_model *m, const mercer_data *data) {
    const int64_t n = mercer_data_rows(data);
    mercer_posterior *p = NULL;
    double *out = room(2 * n);
    if (went_well(c, mercer_posterior_open(c->ctx, m, &p))) {
        went_well(c, mercer_posterior_std(c->ctx, p, data, out));
        went_well(c, mercer_posterior_sample(c->ctx, p, data, mercer_model_outputs(m) - 1, 2, 7, out));
    }
    mercer_posterior_free(p);
    free(out);
}

static void view_rows(const company *c, const mercer_model *m, const mercer_data *data) {
    const int64_t count = mercer_data_rows(data) * mercer_model_decisions(m);
    mercer_svm_view *view = malloc((size_t)count * sizeof *view + !count);
    went_well(c, mercer_svm_rows(c->ctx, m, data, view));
    free(view);
}

static void compare(const company *c, const mercer_model *m) {
    double value;
    const int64_t last = mercer_model_decisions(m) - 1;
    went_well(c, mercer_model_inner(c->ctx, m, 0, m, last, &value));
    went_well(c, mercer_model_distance(c->ctx, m, last, m, 0, &value));
    went_well(c, mercer_model_inner(c->ctx, m, last, c->other, 0, &value));
    went_well(c, mercer_model_distance(c->ctx, c->other, 0, m, last, &value));
}

static void update(const company *c, const mercer_model *m, const mercer_data *data) {
    mercer_update how = mercer_update_defaults();
    mercer_model *next = NULL;
    how.budget = mercer_model_centres(m) > 1 ? mercer_model_centres(m) : 0;
    if (went_well(c, mercer_model_update(c->ctx, m, data, &how, &next)))
        predict(c, next, data);
    mercer_model_free(next);
}

/* As the start of another fit, on rows of its own and on others. */
static void begin_from(const company *c, const mercer_model *m, const mercer_data *data) {
    const mercer_machine *machine = mercer_machine_find(mercer_model_report(m)->machine);
    if (!machine || machine->size != sizeof(mercer_svm))
        return;
    mercer_svm set = mercer_svm_defaults(machine->name);
    mercer_model *next = NULL;
    set.start = m;
    set.iterations = 100;
    went_well(c, mercer_fit(c->ctx, machine->name, &set, mercer_model_kernel(m), data, &next));
    mercer_model_free(next);
}

static void read_file(const company *c, const mercer_model *m) {
    char path[64];
    mercer_data *data = NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", c->file);
    if (went_well(c, mercer_model_read(c->ctx, m, path, NULL, &data)))
        predict(c, m, data);
    mercer_data_free(data);
}

/* ---- What it becomes ---- */

static void export(const company *c, const mercer_model *m) {
    static const char *const formats[] = {"libsvm", "c", "c-float", "onnx", "onnx-double"};
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
        went_well(c, mercer_model_export(c->ctx, m, formats[k], "/dev/null"));
}

/* Whatever has been loaded can be saved, and that file loads. */
static void save(const company *c, const mercer_model *m) {
    size_t size = 0, again = 0;
    mercer_model *next = NULL;
    if (!went_well(c, mercer_model_to_memory(c->ctx, m, NULL, 0, &size)))
        return;
    char *bytes = malloc(size), *twice = malloc(size);
    must(bytes && twice, "memory");
    must(!mercer_model_to_memory(c->ctx, m, bytes, size, &size), mercer_message(c->ctx));
    const mercer_status status = mercer_model_from_memory(c->ctx, bytes, size, &next);
    must(!status || status == MERCER_MEMORY, mercer_message(c->ctx));
    if (next) {
        must(!mercer_model_to_memory(c->ctx, next, twice, size, &again) && size == again && !memcmp(bytes, twice, size),
             "a model saved, loaded and saved again is the same file");
    }
    mercer_model_free(next);
    free(bytes);
    free(twice);
}

void use_model(const company *c, const mercer_model *m) {
    volatile double sum = (double)look_at_words(m) + look_at_decisions(m) + look_at_centres(m);
    (void)sum;
    if (mercer_model_columns(m) > WIDEST || mercer_model_outputs(m) > WIDEST)
        return;
    for (int kind = 0; kind < 3; kind++) {
        mercer_data *data = rows_for(c, m, kind == 1 ? MERCER_F32 : MERCER_F64, kind == 2);
        if (!data)
            continue;
        predict(c, m, data);
        update(c, m, data);
        if (kind == 0) {
            ask_posterior(c, m, data);
            view_rows(c, m, data);
            begin_from(c, m, data);
        }
        mercer_data_free(data);
    }
    view_rows(c, m, c->rows);
    begin_from(c, m, c->rows);
    predict(c, m, c->rows);
    compare(c, m);
    read_file(c, m);
    export(c, m);
    save(c, m);
}
