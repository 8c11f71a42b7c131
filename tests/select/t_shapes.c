/* Random shapes of data through every machine and every verb, on every instruction set, in both precisions, in full and
   compressed. What comes out is checked: Gram matrices by the reference evaluator of kernels, answers of one layout by
   those of another within their certificates, memory by its forecast. MERCER_TEST_SHAPES says how many shapes are
   drawn, MERCER_TEST_SHAPE draws one of them again. */
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "kernel/language/kernel.h"
#include "kernel/language/localise.h"
#include "random_shape.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SHAPES = 30,      /* twice as many as there are machines */
    AT_ONCE = 4,      /* machines that one shape meets */
    PLANNED = 10,     /* shapes for one forecast of a search, which takes a second */
    FIXED = 1 << 16,  /* bytes that do not grow with the rows: the context, the proof of the kernel */
    JUDGED = 1000000, /* pairs times columns that the reference evaluator sees of a matrix */
    LITTLE = 1 << 27  /* bytes for a table whose columns are numbered up to 2^31 */
};
static const char *const isas[] = {"portable", "avx2", "avx512"};
static const double NEAR = 1e-9;

/* One shape, its kernel, and where it goes. */
typedef struct scene {
    mercer_ctx *ctx;
    mc_rng *rng;
    int64_t number;
    shape s;
    char text[256];
    mercer_kernel *kernel;
    mercer_data *numbers[SHAPE_LAYOUTS], *classes[SHAPE_LAYOUTS]; /* NULL: not in this layout */
} scene;

static void fail_in(const scene *s, const char *what, const char *why) {
    fail_msg("shape %lld (%s, %s, %s): %s: %s", (long long)s->number, mercer_isa(s->ctx), s->text, s->s.words, what,
             why);
}

/* A call may refuse what it cannot do, with a sentence; it does not break down. A nu that leaves no margin is named
   when it is found. */
static bool went_well(const scene *s, mercer_status status, const char *what) {
    const char *message = mercer_message(s->ctx);
    const bool refused = status == MERCER_INVALID || status == MERCER_DATA || strstr(message, "raise nu")
                         || strstr(message, "be measured");
    if (status && (!refused || !*mercer_message(s->ctx)))
        fail_in(s, what, mercer_message(s->ctx));
    return !status;
}

static void expect(const scene *s, bool holds, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void expect(const scene *s, bool holds, const char *what, const char *format, ...) {
    char why[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    if (!holds)
        fail_in(s, what, why);
}

static double *doubles(int64_t count) {
    return calloc((size_t)count + 1, sizeof(double));
}

/* ---- Gram matrices ---- */

/* Some entries of K(x, z), all of a small one, against the reference evaluator. */
static void check_entries(const scene *s, const mc_gram *gram, const double *K, const mercer_data *x,
                          const mercer_data *z, mercer_dtype precision) {
    const int64_t n = x->n, m = z->n, d = mercer_data_columns(x), most = 30 + JUDGED / (d + 50),
                  step = 1 + n * m / most;
    const double bound = mc_gram_entry_error(gram);
    double *u = doubles(d), *v = doubles(d), size = 1;
    for (int64_t at = (int64_t)(mc_rng_u64(s->rng) % (uint64_t)step); at < n * m; at += step) {
        mercer_data_row(x, at / m, u);
        mercer_data_row(z, at % m, v);
        const double k = mc_eval_kernel(s->kernel->root, u, v, d);
        size = fmax(size, fabs(k));
        expect(s, fabs(K[at] - k) <= bound + 1e-14 * fabs(k), precision == MERCER_F32 ? "f32" : "f64",
               "K(%lld, %lld) is %.17g, not %.17g, bound %g", (long long)(at / m), (long long)(at % m), K[at], k,
               bound);
    }
    expect(s,
           strstr(s->text, "arccos")
               || !(bound > (precision == MERCER_F32 ? 0.2 : 1e-6) * fmax(size, mc_gram_entry_size(gram))),
           "bound", "%g of %g", bound, size);
    free(u), free(v);
}

static void check_product(const scene *s, const mc_gram *gram, const double *K, mercer_dtype precision) {
    const int64_t n = mc_gram_rows(gram), m = mc_gram_columns(gram), t = 1 + (int64_t)(mc_rng_u64(s->rng) % 3);
    double *V = doubles(m * t), *Y = doubles(n * t);
    for (int64_t i = 0; i < m * t; i++)
        V[i] = mc_rng_normal(s->rng);
    assert_ok(s->ctx, mc_gram_apply(s->ctx, gram, t, V, Y));
    for (int64_t i = 0; i < n * t; i++) {
        double sum = 0, size = 0, mass = 0;
        for (int64_t j = 0; j < m; j++) {
            const double k = K[i / t * m + j], v = V[j * t + i % t];
            sum += k * v, size += fabs(k * v), mass += fabs(v);
        }
        const double allowed = (precision == MERCER_F32 ? 1e-5 : 1e-13) * size + 2 * mc_gram_entry_error(gram) * mass;
        expect(s, fabs(Y[i] - sum) <= allowed, "product", "%.17g, not %.17g", Y[i], sum);
    }
    free(V), free(Y);
}

static void check_gram(const scene *s, const mercer_data *x, const mercer_data *z, mercer_dtype precision) {
    mc_gram *gram = NULL;
    mercer_kernel *bound = NULL;
    mc_aligned both;
    assert_ok(s->ctx, mc_align_tables(s->ctx, s->kernel, x, z, &both));
    assert_ok(s->ctx, mc_kernel_bind(s->ctx, s->kernel, both.x, &bound));
    assert_ok(s->ctx, mc_gram_open(s->ctx, bound, both.x, both.z, precision, &gram));
    const int64_t n = x->n, m = z ? z->n : n;
    double *K = doubles(n * m), *row = doubles(m);
    assert_ok(s->ctx, mc_gram_block(s->ctx, gram, 0, n, 0, m, MERCER_F64, K, m));
    check_entries(s, gram, K, both.x, both.z ? both.z : both.x, precision);
    check_product(s, gram, K, precision);
    const int64_t last = n - 1;
    assert_ok(s->ctx, mc_gram_take(s->ctx, gram, &last, 1, MERCER_F64, row, m));
    for (int64_t j = 0; j < m; j++)
        expect(s, fabs(row[j] - K[last * m + j]) <= 2 * mc_gram_entry_error(gram), "take",
               "K(%lld, %lld) is %.17g, not %.17g", (long long)last, (long long)j, row[j], K[last * m + j]);
    free(K), free(row);
    mc_gram_close(gram);
    mercer_kernel_free(bound);
    mc_aligned_free(&both);
}

/* All rows against all, against some, and some against all, in two layouts. */
static void check_grams(const scene *s) {
    int64_t ids[SHAPE_ROWS], count = 0;
    for (int64_t i = 0; i < s->s.n; i++)
        if (i == 0 || mc_rng_uniform(s->rng) < 0.3)
            ids[count++] = i;
    for (int layout = 0; layout < SHAPE_LAYOUTS; layout++) {
        const mercer_data *x = s->numbers[layout];
        mercer_data *some = NULL;
        if (!x)
            continue;
        const mercer_dtype precision = (mercer_dtype)(mc_rng_u64(s->rng) % 2);
        assert_ok(s->ctx, mercer_data_take(s->ctx, s->numbers[s->numbers[2] ? layout ^ 2 : layout], ids, count, &some));
        check_gram(s, x, NULL, precision);
        check_gram(s, x, some, precision);
        check_gram(s, some, x, !precision);
        mercer_data_free(some);
    }
}

/* ---- Models ---- */

/* Settings that make a fit short, and let layouts be compared: scaling reads other columns of compressed rows. */
static void *settings_of(mercer_ctx *ctx, const mercer_machine *machine) {
    static const char *const wishes[][2] = {{"scale", "none"},   {"restarts", "0"},  {"learn", "no"},
                                            {"noise", "0.1"},    {"epochs", "30"},   {"lambda", "0.1"},
                                            {"components", "1"}, {"neighbors", "3"}, {0}};
    return settings_with(ctx, machine, wishes);
}

static const mercer_data *data_for(const scene *s, const mercer_machine *machine, int layout) {
    return machine->target == MERCER_TARGET_CLASS ? s->classes[layout] : s->numbers[layout];
}

static double *predicted(const scene *s, const mercer_model *model, const mercer_data *data) {
    const int64_t count = data->n * mercer_model_outputs(model);
    double *out = doubles(count);
    assert_ok(s->ctx, mercer_predict(s->ctx, model, data, out));
    for (int64_t i = 0; i < count; i++)
        expect(s, isfinite(out[i]), "predict", "row %lld: %g", (long long)i, out[i]);
    return out;
}

static void expect_near(const scene *s, const char *what, const double *a, const double *b, int64_t count,
                        double tolerance) {
    double size = 1;
    for (int64_t i = 0; i < count; i++)
        size = fmax(size, fabs(a[i]));
    for (int64_t i = 0; i < count; i++)
        expect(s, fabs(a[i] - b[i]) <= tolerance + NEAR * size, what, "value %lld: %.17g and %.17g, within %g",
               (long long)i, a[i], b[i], tolerance);
}

/* Two fits of one problem in two layouts are as near as both certificates say. */
static void compare_models(const scene *s, const mercer_machine *machine, const mercer_model *a, const mercer_model *b,
                           const double *of_a, const double *of_b, int64_t count) {
    const mercer_certificate *ca = &mercer_model_report(a)->certificate, *cb = &mercer_model_report(b)->certificate;
    const double slack = NEAR * (1 + fabs(ca->primal));
    expect(s, strcmp(ca->kind, cb->kind) == 0, machine->name, "certificates '%s' and '%s'", ca->kind, cb->kind);
    expect(s, !(cb->gap < -cb->rounding - slack), machine->name, "a gap of %g", cb->gap);
    if (strncmp(machine->name, "nu-", 3) == 0)
        return; /* the epsilon or the C that they find, and are certified for, need not be the only one */
    if (strstr(ca->kind, "gap"))
        expect(s, ca->dual <= cb->primal + slack && cb->dual <= ca->primal + slack, machine->name,
               "optima in [%.17g, %.17g], [%.17g, %.17g]", ca->dual, ca->primal, cb->dual, cb->primal);
    else if (strcmp(ca->kind, "eigenvalues") == 0)
        expect(s,
               fabs(mercer_model_component(a, 0).eigenvalue - mercer_model_component(b, 0).eigenvalue)
                   <= mercer_model_component(a, 0).bound + mercer_model_component(b, 0).bound,
               machine->name, "eigenvalues %.17g and %.17g", mercer_model_component(a, 0).eigenvalue,
               mercer_model_component(b, 0).eigenvalue);
    else if (strcmp(ca->kind, "exact") != 0 && isfinite(ca->prediction_error_bound + cb->prediction_error_bound))
        expect_near(s, machine->name, of_a, of_b, count, ca->prediction_error_bound + cb->prediction_error_bound);
}

static const char *path_of(const scene *s, const char *name) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/mercer-shape-%d-%s", (int)getpid(), name);
    (void)s;
    return path;
}

/* Files that hold every row in full are written for few. */
static void check_exports(const scene *s, const mercer_model *model) {
    static const char *const formats[] = {"libsvm", "c", "c-float", "onnx", "onnx-double"};
    for (size_t k = 0; k < sizeof formats / sizeof *formats && s->s.n * mercer_model_columns(model) < 5000; k++)
        went_well(s, mercer_model_export(s->ctx, model, formats[k], path_of(s, "out.c")), formats[k]);
    unlink(path_of(s, "out.c"));
}

/* What was written is read as the same model. */
static void check_bytes(const scene *s, const mercer_model *model, const mercer_data *data, const double *out) {
    size_t size = 0;
    assert_ok(s->ctx, mercer_model_to_memory(s->ctx, model, NULL, 0, &size));
    void *bytes = malloc(size);
    mercer_model *again = NULL;
    assert_ok(s->ctx, mercer_model_to_memory(s->ctx, model, bytes, size, &size));
    assert_ok(s->ctx, mercer_model_from_memory(s->ctx, bytes, size, &again));
    double *same = predicted(s, again, data);
    expect(s, memcmp(out, same, (size_t)(data->n * mercer_model_outputs(model)) * sizeof *out) == 0, "save",
           "another prediction");
    free(same), free(bytes);
    mercer_model_free(again);
}

static void check_classes(const scene *s, const mercer_model *model, const mercer_data *data, const double *out) {
    const int64_t k = mercer_model_outputs(model);
    int64_t *found = calloc((size_t)data->n, sizeof *found);
    double *proba = doubles(data->n * k);
    assert_ok(s->ctx, mercer_classify(s->ctx, model, data, found));
    for (int64_t i = 0; i < data->n; i++)
        for (int64_t c = 0; c < k; c++)
            expect(s, out[i * k + c] <= out[i * k + found[i]] + NEAR, "classify", "row %lld: %lld", (long long)i,
                   (long long)found[i]);
    if (mercer_model_has_proba(model))
        assert_ok(s->ctx, mercer_predict_proba(s->ctx, model, data, proba));
    free(found), free(proba);
}

static void check_posterior(const scene *s, const mercer_model *model, const mercer_data *data) {
    mercer_posterior *posterior = NULL;
    double *std = doubles(2 * data->n);
    if (went_well(s, mercer_posterior_open(s->ctx, model, &posterior), "posterior")) {
        assert_ok(s->ctx, mercer_posterior_std(s->ctx, posterior, data, std));
        for (int64_t i = 0; i < data->n; i++)
            expect(s, std[i] >= 0 && isfinite(std[i]), "posterior", "row %lld: %g", (long long)i, std[i]);
        went_well(s, mercer_posterior_sample(s->ctx, posterior, data, 0, 2, 1, std), "sample");
    }
    mercer_posterior_free(posterior);
    free(std);
}

static void check_update(const scene *s, const mercer_model *model, const mercer_data *data) {
    mercer_model *updated = NULL;
    if (went_well(s, mercer_model_update(s->ctx, model, data, NULL, &updated), "update"))
        free(predicted(s, updated, data));
    mercer_model_free(updated);
}

static void check_verbs(const scene *s, const mercer_machine *machine, const mercer_model *model,
                        const mercer_data *data, const double *out) {
    mercer_scores scores = {.size = sizeof scores};
    double *decisions = doubles(data->n * mercer_model_decisions(model));
    assert_ok(s->ctx, mercer_decide(s->ctx, model, data, decisions));
    went_well(s, mercer_score(s->ctx, model, data, &scores), "score");
    check_bytes(s, model, data, out);
    check_exports(s, model);
    if (mercer_model_classes(model) > 0)
        check_classes(s, model, data, out);
    if (strcmp(machine->name, "gp") == 0)
        check_posterior(s, model, data);
    if (strcmp(machine->name, "lms") == 0 || strcmp(machine->name, "ridge") == 0)
        check_update(s, model, data);
    mercer_svm_view *views = calloc((size_t)(data->n * mercer_model_decisions(model)) + 1, sizeof *views);
    went_well(s, mercer_svm_rows(s->ctx, model, data, views), "rows");
    double norm;
    went_well(s, mercer_model_inner(s->ctx, model, 0, model, 0, &norm), "inner");
    free(views), free(decisions);
}

/* A fit in a context of its own, which says what memory it took. Forecasts measure the machine first: they are asked
   for one layout. */
static void check_forecast(const scene *s, const mercer_machine *machine, const mercer_data *data) {
    const void *settings = settings_of(s->ctx, machine);
    mercer_ctx *fresh = open_isa(mercer_isa(s->ctx), 2);
    mercer_plan plan = {.size = sizeof plan};
    mercer_model *model = NULL;
    const mercer_status planned = mercer_plan_fit(s->ctx, machine->name, settings, s->kernel, data, &plan);
    const mercer_status fitted = mercer_fit(fresh, machine->name, settings, s->kernel, data, &model);
    if (!planned && !fitted)
        expect(s, mercer_memory_peak(fresh) <= plan.chosen.memory_bytes + FIXED, machine->name,
               "%zu bytes forecast, %zu taken", plan.chosen.memory_bytes, mercer_memory_peak(fresh));
    mercer_model_free(model);
    mercer_close(fresh);
}

static void check_machine(const scene *s, const mercer_machine *machine) {
    mercer_model *model[SHAPE_LAYOUTS] = {NULL};
    double *out[SHAPE_LAYOUTS] = {NULL};
    mercer_status status[SHAPE_LAYOUTS] = {0};
    for (int layout = 0; layout < SHAPE_LAYOUTS; layout++) {
        const mercer_data *data = data_for(s, machine, layout);
        if (!data)
            continue;
        status[layout] =
            mercer_fit(s->ctx, machine->name, settings_of(s->ctx, machine), s->kernel, data, &model[layout]);
        expect(s, status[layout] == status[0], machine->name, "%s compressed, %s in layout %d: %s",
               mercer_status_name(status[0]), mercer_status_name(status[layout]), layout, mercer_message(s->ctx));
        if (!went_well(s, status[layout], machine->name))
            continue;
        out[layout] = predicted(s, model[layout], data);
        if (layout > 0)
            compare_models(s, machine, model[0], model[layout], out[0], out[layout],
                           data->n * mercer_model_outputs(model[0]));
        double *other = predicted(s, model[0], data); /* rows of one layout, a model of another */
        if (strcmp(machine->name, "knn") != 0)        /* of rows equally far rounding chooses */
            expect_near(s, "rows of another layout", out[0], other, data->n * mercer_model_outputs(model[0]), 0);
        free(other);
    }
    const int some = (int)(mc_rng_u64(s->rng) % SHAPE_LAYOUTS);
    const int layout = model[some] ? some : 0;
    if (model[layout])
        check_verbs(s, machine, model[layout], data_for(s, machine, layout), out[layout]);
    for (int k = 0; k < SHAPE_LAYOUTS; k++) {
        mercer_model_free(model[k]);
        free(out[k]);
    }
}

/* ---- Verbs that need no model ---- */

static void check_tune(const scene *s, const mercer_machine *machine, const mercer_data *data) {
    mercer_tune set = mercer_tune_defaults();
    mercer_search *search = NULL;
    mercer_model *model = NULL;
    mercer_tune_plan plan = {.size = sizeof plan};
    const mercer_kernel *kernel = s->kernel;
    set.kernels = &kernel;
    set.kernel_count = 1;
    set.points = set.folds = 2;
    void *settings = settings_of(s->ctx, machine);
    if (s->number % PLANNED == 0)
        went_well(s, mercer_plan_tune(s->ctx, machine->name, settings, &set, data, &plan), "plan of a search");
    if (went_well(s, mercer_tune_run(s->ctx, machine->name, settings, &set, data, &search), "tune")
        && went_well(s, mercer_search_fit(s->ctx, search, data, &model), "fit of the winner"))
        free(predicted(s, model, data));
    mercer_model_free(model);
    mercer_search_free(search);
}

static void check_paths(const scene *s, int layout) {
    static const double values[] = {0.1, 1};
    mercer_path_row ridge[2];
    mercer_path_row svm[2];
    mercer_path_row loss[2];
    int64_t fold[SHAPE_ROWS];
    double *residuals = doubles(2 * s->s.n);
    for (int64_t i = 0; i < s->s.n; i++)
        fold[i] = i % 2;
    const mercer_data *x = s->numbers[layout];
    went_well(s, fit_path(s->ctx, "ridge", s->kernel, x, NULL, values, 2, NULL, fold, ridge), "path of ridge");
    went_well(s, mercer_fit_folds(s->ctx, "ridge", NULL, s->kernel, x, fold, residuals, residuals + s->s.n, NULL),
              "folds of ridge");
    went_well(s, fit_path(s->ctx, "svc", s->kernel, s->classes[layout], NULL, values, 2, s->classes[layout], NULL, svm),
              "path of svc");
    went_well(s, fit_path(s->ctx, "huber", s->kernel, x, NULL, values, 2, x, s->s.n > 3 ? fold : NULL, loss),
              "path of huber");
    free(residuals);
}

static void check_samples(const scene *s, const mercer_data *x) {
    mercer_test test = {.size = sizeof test};
    mercer_clusters clusters = {.size = sizeof clusters};
    double eigenvalues[2];
    int64_t group[SHAPE_ROWS];
    const mercer_clustering set = {.size = sizeof set, .clusters = 2, .restarts = 1, .iterations = 5};
    went_well(s, mercer_test_mmd(s->ctx, s->kernel, x, x, 5, 1, &test), "mmd");
    went_well(s, mercer_test_hsic(s->ctx, s->kernel, s->kernel, x, 5, 1, &test), "hsic");
    went_well(s, mercer_cluster(s->ctx, s->kernel, x, &set, group, &clusters), "cluster");
    went_well(s, mercer_cluster_spectral(s->ctx, s->kernel, x, &set, group, eigenvalues, &clusters), "spectral");
}

/* <phi(x), phi(x)> is k(x, x). */
static void check_features(const scene *s, const mercer_data *x) {
    const int64_t D = shape_of(s->ctx, s->kernel, mercer_data_columns(x)).dimension;
    if (D < 0 || D > 1000000 / x->n)
        return;
    double *phi = doubles(D * x->n), *K = doubles(x->n * x->n);
    if (went_well(s, mercer_features(s->ctx, s->kernel, x, phi), "features")) {
        assert_ok(s->ctx, mercer_gram(s->ctx, s->kernel, x, NULL, K));
        for (int64_t i = 0; i < x->n; i++) {
            double square = 0;
            for (int64_t j = 0; j < D; j++)
                square += phi[i * D + j] * phi[i * D + j];
            expect(s, fabs(square - K[i * x->n + i]) <= NEAR * (1 + square), "features", "row %lld: %.17g, not %.17g",
                   (long long)i, square, K[i * x->n + i]);
        }
    }
    free(phi), free(K);
}

static void check_file(const scene *s, const mercer_data *x) {
    mercer_data *read = NULL;
    mercer_read set = mercer_read_defaults();
    set.kind = MERCER_TARGET_NUMBER;
    if (x->n * mercer_data_columns(x) > 20000)
        return;
    assert_ok(s->ctx, mercer_data_write(s->ctx, x, path_of(s, "rows.csv")));
    assert_ok(s->ctx, mercer_data_read(s->ctx, path_of(s, "rows.csv"), &set, &read));
    unlink(path_of(s, "rows.csv"));
    expect(s, read->n == x->n && read->d == x->d, "file", "%lld rows of %lld columns", (long long)read->n,
           (long long)read->d);
    for (int64_t i = 0; i < x->n * x->d; i++)
        expect(s, mc_data_value(read, i / x->d, i % x->d) == mc_data_value(x, i / x->d, i % x->d), "file", "value %lld",
               (long long)i);
    mercer_data_free(read);
}

/* ---- Columns far apart ---- */

/* A context of little memory: what is laid out for every column up to the last does not fit. */
static mercer_ctx *open_little(const scene *s) {
    mercer_options options = mercer_options_defaults();
    mercer_ctx *ctx = NULL;
    options.isa = mercer_isa(s->ctx);
    options.threads = 2;
    options.memory_limit = LITTLE;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    return ctx;
}

/* The columns of a sparse table far apart are the same columns: answers are the same, and cost no more. */
static void check_spread(const scene *s, const mercer_machine *machine) {
    scene wide = *s;
    const bool classes = machine->target == MERCER_TARGET_CLASS;
    const int64_t width = shape_width(s->rng);
    mercer_model *model = NULL, *other = NULL;
    wide.ctx = open_little(s);
    mercer_data *data = wide.numbers[0] = shape_spread(wide.ctx, &s->s, width, false);
    wide.classes[0] = shape_spread(wide.ctx, &s->s, width, true);
    data = classes ? wide.classes[0] : data;
    expect(s, mercer_data_columns(data) == width, "spread", "%lld columns", (long long)mercer_data_columns(data));
    const mercer_status status =
        mercer_fit(wide.ctx, machine->name, settings_of(s->ctx, machine), s->kernel, data, &model);
    const mercer_data *near = data_for(s, machine, 0);
    const mercer_status plain =
        mercer_fit(s->ctx, machine->name, settings_of(s->ctx, machine), s->kernel, near, &other);
    expect(s, status == plain, machine->name, "%s far apart, %s near: %s", mercer_status_name(status),
           mercer_status_name(plain), mercer_message(wide.ctx));
    if (went_well(&wide, status, machine->name)) {
        double *a = predicted(&wide, model, data), *b = predicted(s, other, near);
        compare_models(s, machine, other, model, b, a, near->n * mercer_model_outputs(other));
        check_verbs(&wide, machine, model, data, a);
        free(a), free(b);
    }
    check_samples(&wide, wide.numbers[0]);
    check_tune(&wide, machine, data);
    mercer_model_free(model), mercer_model_free(other);
    mercer_data_free(wide.numbers[0]), mercer_data_free(wide.classes[0]);
    close_clean(wide.ctx);
}

/* ---- Shapes ---- */

static void open_scene(scene *s) {
    for (int layout = 0; layout < SHAPE_LAYOUTS; layout++) {
        s->numbers[layout] = shape_data(s->ctx, &s->s, layout, false);
        s->classes[layout] = shape_data(s->ctx, &s->s, layout, true);
    }
    shape_kernel(s->rng, &s->s, s->text);
    assert_ok(s->ctx, mercer_kernel_parse(s->ctx, s->text, &s->kernel));
}

static void close_scene(scene *s) {
    for (int layout = 0; layout < SHAPE_LAYOUTS; layout++) {
        mercer_data_free(s->numbers[layout]);
        mercer_data_free(s->classes[layout]);
    }
    mercer_kernel_free(s->kernel);
    shape_free(&s->s);
    close_clean(s->ctx);
}

static void check_scene(const scene *s) {
    const int layout = s->numbers[2] ? (int)(mc_rng_u64(s->rng) % SHAPE_LAYOUTS) : 0;
    check_grams(s);
    check_features(s, s->numbers[layout]);
    check_file(s, s->numbers[layout]);
    check_samples(s, s->numbers[layout]);
    check_paths(s, layout);
    int count = 0;
    while (mercer_machine_at(count))
        count++;
    for (int k = 0; k < AT_ONCE; k++)
        check_machine(s, mercer_machine_at((int)((AT_ONCE * s->number + k) % count)));
    const mercer_machine *next = mercer_machine_at((int)(s->number % count));
    check_forecast(s, next, data_for(s, next, layout));
    check_tune(s, next, data_for(s, next, layout));
    if (s->number % 4 == 1)
        check_spread(s, next);
}

static int64_t setting(const char *name, int64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoll(text, NULL, 10) : otherwise;
}

static void test_every_shape_goes_through_every_verb(void **state) {
    (void)state;
    const int64_t only = setting("MERCER_TEST_SHAPE", -1), count = setting("MERCER_TEST_SHAPES", SHAPES);
    for (int64_t k = only < 0 ? 0 : only; k < (only < 0 ? count : only + 1); k++) {
        mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, (uint64_t)k);
        scene s = {.ctx = open_isa(isas[k % 3], 2), .rng = &rng, .number = k};
        if (!s.ctx)
            s.ctx = open_ctx(2);
        s.s = random_shape(&rng);
        open_scene(&s);
        if (count > SHAPES || only >= 0)
            print_message("# shape %lld: %s, %s, %s\n", (long long)k, mercer_isa(s.ctx), s.text, s.s.words);
        check_scene(&s);
        close_scene(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_shape_goes_through_every_verb)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
