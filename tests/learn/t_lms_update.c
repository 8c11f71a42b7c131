/* Oracle: the rule written out over arrays, one row after the other. */
#include "base/ctx.h"
#include "data/table/data.h"
#include "machines_of_test.h"
#include "model/model.h"

static double rbf(const double *x, const double *z, int64_t d, double gamma) {
    double r = 0;
    for (int64_t c = 0; c < d; c++)
        r += pow(x[c] - z[c], 2);
    return exp(-gamma * r);
}

/* A model in plain arrays. */
typedef struct loop {
    int64_t count, d, t;
    double x[2 * ROWS * COLUMNS_], alpha[2 * ROWS * OUTPUTS], b[OUTPUTS];
    int64_t source[2 * ROWS]; /* the new row it is; -1: an old centre */
} loop;

static loop loop_of(const mercer_model *model, const sheet *s) {
    loop l = {.count = model->f.centres->n, .d = s->d, .t = s->outputs};
    memcpy(l.x, model->f.centres->values, (size_t)(l.count * l.d) * sizeof(double));
    memcpy(l.alpha, model->f.alpha, (size_t)(l.count * l.t) * sizeof(double));
    memcpy(l.b, model->f.intercept, (size_t)l.t * sizeof(double));
    for (int64_t j = 0; j < l.count; j++)
        l.source[j] = -1;
    return l;
}

static void drop(loop *l) {
    int64_t least = 0;
    double low = INFINITY;
    for (int64_t j = 0; j < l->count; j++) {
        double square = 0;
        for (int64_t k = 0; k < l->t; k++)
            square += pow(l->alpha[j * l->t + k], 2);
        if (sqrt(square) < low) {
            low = sqrt(square);
            least = j;
        }
    }
    l->count--;
    memmove(l->x + least * l->d, l->x + (least + 1) * l->d, (size_t)((l->count - least) * l->d) * sizeof(double));
    memmove(l->alpha + least * l->t, l->alpha + (least + 1) * l->t,
            (size_t)((l->count - least) * l->t) * sizeof(double));
    memmove(l->source + least, l->source + least + 1, (size_t)(l->count - least) * sizeof(int64_t));
}

/* Where new row i stands among the centres; a new one goes behind those of earlier rows. */
static int64_t place_of(loop *l, const sheet *s, int64_t i) {
    int64_t at = 0;
    while (at < l->count && l->source[at] < i)
        at++;
    if (at < l->count && l->source[at] == i)
        return at;
    memmove(l->x + (at + 1) * l->d, l->x + at * l->d, (size_t)((l->count - at) * l->d) * sizeof(double));
    memmove(l->alpha + (at + 1) * l->t, l->alpha + at * l->t, (size_t)((l->count - at) * l->t) * sizeof(double));
    memmove(l->source + at + 1, l->source + at, (size_t)(l->count - at) * sizeof(int64_t));
    memcpy(l->x + at * l->d, s->x + i * l->d, (size_t)l->d * sizeof(double));
    memset(l->alpha + at * l->t, 0, (size_t)l->t * sizeof(double));
    l->source[at] = i;
    l->count++;
    return at;
}

static void learn_row(loop *l, const sheet *s, int64_t i, double step, int64_t budget) {
    double f[OUTPUTS] = {0};
    for (int64_t j = 0; j < l->count; j++)
        for (int64_t k = 0; k < l->t; k++)
            f[k] += l->alpha[j * l->t + k] * rbf(l->x + j * l->d, s->x + i * l->d, l->d, 0.4);
    const int64_t at = place_of(l, s, i);
    for (int64_t k = 0; k < l->t; k++)
        l->alpha[at * l->t + k] += step * (s->weighted ? s->w[i] : 1) * (s->y[i * l->t + k] - l->b[k] - f[k]);
    while (budget && l->count > budget)
        drop(l);
}

static mercer_model *start(mercer_ctx *ctx, const char *machine, int64_t n, int64_t outputs) {
    const sheet s = random_sheet(n, outputs, 1);
    mercer_data *data = data_of(ctx, &s);
    mercer_kernel *kernel = kernel_of(ctx, "rbf(gamma=0.4)");
    mercer_model *model = NULL;
    mercer_ridge ridge = plain(0.1);
    mercer_lms lms = mercer_lms_defaults();
    lms.scale = "none";
    lms.epochs = 20;
    const bool is_lms = strcmp(machine, "lms") == 0;
    assert_ok(ctx, is_lms ? mercer_fit(ctx, "lms", &lms, kernel, data, &model)
                          : mercer_fit(ctx, "ridge", &ridge, kernel, data, &model));
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return model;
}

static mercer_model *update_sheet(mercer_ctx *ctx, const mercer_model *model, const sheet *s,
                                  const mercer_update *set) {
    mercer_data *data = data_of(ctx, s);
    mercer_model *out = NULL;
    assert_ok(ctx, mercer_model_update(ctx, model, data, set, &out));
    mercer_data_free(data);
    return out;
}

static void test_new_rows_are_learned_by_the_plain_rule(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int variant = 0; variant < 16; variant++) {
        mercer_model *model = start(ctx, variant & 1 ? "ridge" : "lms", 30, OUTPUTS);
        sheet s = random_sheet(ROWS, OUTPUTS, 2);
        s.weighted = variant & 2;
        mercer_update set = mercer_update_defaults();
        set.budget = variant & 4 ? 55 : 0;
        set.passes = variant & 8 ? 3 : 1;
        set.step = 0.35;
        mercer_model *updated = update_sheet(ctx, model, &s, &set);
        loop l = loop_of(model, &s);
        for (int64_t visit = 0; visit < set.passes * ROWS; visit++)
            learn_row(&l, &s, visit % ROWS, set.step, set.budget);
        assert_int_equal(mercer_model_centres(updated), l.count);
        assert_int_equal(l.count, set.budget ? set.budget : 30 + ROWS);
        assert_memory_equal(updated->f.centres->values, l.x, (size_t)(l.count * l.d) * sizeof(double));
        for (int64_t i = 0; i < l.count * OUTPUTS; i++)
            assert_close(updated->f.alpha[i], l.alpha[i], 1e-11);
        const mercer_report *r = mercer_model_report(updated);
        assert_string_equal(r->machine, "lms");
        assert_string_equal(r->certificate.kind, "none");
        assert_true(isinf(r->certificate.prediction_error_bound));
        assert_int_equal(r->n, 30 + ROWS);
        mercer_model_free(updated);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static double error_on(mercer_ctx *ctx, const mercer_model *model, const sheet *s) {
    mercer_scores scores = {.size = sizeof scores};
    mercer_data *data = data_of(ctx, s);
    assert_ok(ctx, mercer_score(ctx, model, data, &scores));
    mercer_data_free(data);
    return scores.rmse;
}

static void test_an_update_improves_on_what_it_saw_and_keeps_the_old_model(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_model *model = start(ctx, "lms", 10, 1);
    const sheet more = random_sheet(ROWS, 1, 3);
    const double before = error_on(ctx, model, &more);
    mercer_update set = mercer_update_defaults();
    set.passes = 20;
    mercer_model *updated = update_sheet(ctx, model, &more, &set);
    assert_true(error_on(ctx, updated, &more) < 0.7 * before);
    assert_close(error_on(ctx, model, &more), before, 0);
    assert_close(mercer_model_report(updated)->certificate.residual, sqrt((double)ROWS) * error_on(ctx, updated, &more),
                 1e-10);
    mercer_model_free(updated);
    mercer_model_free(model);
    close_clean(ctx);
}

/* Rows around a curve, with so much noise; classes: the sign of it. */
static mercer_data *noisy_rows(mercer_ctx *ctx, mc_rng *rng, int64_t n, double noise, bool classes) {
    double x[3 * ROWS], y[ROWS];
    const char *label[ROWS];
    for (int64_t i = 0; i < n; i++) {
        for (int c = 0; c < 3; c++)
            x[3 * i + c] = mc_rng_normal(rng);
        y[i] = sin(x[3 * i]) + x[3 * i + 1] + noise * mc_rng_normal(rng);
        label[i] = y[i] > 0 ? "above" : "below";
    }
    const mercer_table table = {.size = sizeof table,
                                .n = n,
                                .d = 3,
                                .dtype = MERCER_F64,
                                .values = x,
                                .target = classes ? NULL : y,
                                .outputs = !classes,
                                .labels = classes ? label : NULL};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

/* What the k-th output should be: of the model's classes, of which the data may have some only, 1 or -1. */
static double target_of(const mercer_model *model, const mercer_data *data, int64_t i, int64_t k) {
    if (mercer_model_classes(model) == 0)
        return mercer_data_target(data, i, k);
    return strcmp(mercer_data_label(data, mercer_data_class(data, i)), mercer_model_label(model, k)) == 0 ? 1 : -1;
}

/* Squares on the data. */
static double squares_on(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data) {
    double f[2 * ROWS], sum = 0;
    const int64_t t = mercer_model_outputs(model);
    assert_ok(ctx, mercer_predict(ctx, model, data, f));
    for (int64_t i = 0; i < mercer_data_rows(data) * t; i++)
        sum += pow(target_of(model, data, i / t, i % t) - f[i], 2);
    return sum;
}

static void test_an_update_never_meets_its_own_rows_worse(void **state) {
    (void)state;
    static const char *const kernels[] = {"rbf(gamma=0.3)", "rbf(gamma=5)", "linear", "poly(degree=3)",
                                          "laplacian(gamma=0.5)"};
    mercer_ctx *ctx = open_ctx(2);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 40);
    int done = 0;
    for (int k = 0; k < 60; k++) {
        const bool classes = k % 2;
        const double noise = 3 * mc_rng_uniform(&rng), big = mc_rng_uniform(&rng);
        mercer_data *old = noisy_rows(ctx, &rng, ROWS, noise, classes),
                    *new = noisy_rows(ctx, &rng, 5 + k % 50, noise, classes);
        mercer_kernel *kernel = kernel_of(ctx, kernels[k % 5]);
        mercer_model *model = NULL, *updated = NULL;
        assert_ok(ctx, mercer_fit(ctx, k % 3 ? "lms" : "ridge", NULL, kernel, old, &model));
        mercer_update set = mercer_update_defaults();
        set.step = k % 4 == 3 ? big : 0;
        set.budget = k % 7 == 6 ? 40 : 0;
        const double before = squares_on(ctx, model, new);
        const mercer_status status = mercer_model_update(ctx, model, new, &set, &updated);
        if (!status)
            assert_true(squares_on(ctx, updated, new) <= (1 + 1e-3 + 1e-6) * before || set.budget);
        else
            assert_true(set.step > 0 || set.budget > 0);
        done += !status;
        mercer_model_free(updated);
        mercer_model_free(model);
        mercer_kernel_free(kernel);
        mercer_data_free(old);
        mercer_data_free(new);
    }
    assert_true(done >= 40);
    close_clean(ctx);
}

/* A step of 1 / k(x, x) learns the noise of each row and forgets the rows before it. */
static void test_a_step_that_ruins_the_model_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 41);
    sheet twice =
        random_sheet(ROWS, 1, 42); /* two targets for one row: the second is learned, the first is twice as wrong */
    for (int64_t i = 0; i < ROWS; i++) {
        memcpy(twice.x + i * twice.d, twice.x, (size_t)twice.d * sizeof *twice.x);
        twice.y[i] = i % 2 ? 100 : -100;
    }
    mercer_data *old = noisy_rows(ctx, &rng, ROWS, 1, false), *new = data_of(ctx, &twice);
    mercer_kernel *kernel = kernel_of(ctx, "rbf(gamma=0.05)");
    mercer_model *model = NULL, *updated = NULL;
    assert_ok(ctx, mercer_fit(ctx, "ridge", NULL, kernel, old, &model));
    mercer_update set = mercer_update_defaults();
    set.step = 1;
    assert_fails(ctx, mercer_model_update(ctx, model, new, &set, &updated), MERCER_NUMERIC,
                 "the model stays as it was");
    assert_null(updated);
    set.step = 0;
    assert_ok(ctx, mercer_model_update(ctx, model, new, &set, &updated));
    mercer_model_free(updated);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(old);
    mercer_data_free(new);
    close_clean(ctx);
}

static void test_threads_do_not_change_a_bit_and_files_keep_them(void **state) {
    (void)state;
    double first[2 * ROWS];
    const sheet s = random_sheet(ROWS, 1, 5);
    for (int threads = 1; threads <= 3; threads++) {
        mercer_ctx *ctx = open_ctx(threads);
        mercer_model *model = start(ctx, "lms", 30, 1), *loaded = NULL;
        mercer_update set = mercer_update_defaults();
        set.budget = 40;
        mercer_model *updated = update_sheet(ctx, model, &s, &set);
        if (threads == 1)
            memcpy(first, updated->f.alpha, 40 * sizeof *first);
        assert_memory_equal(first, updated->f.alpha, 40 * sizeof *first);
        assert_ok(ctx, mercer_model_save(ctx, updated, "updated.mercer"));
        assert_ok(ctx, mercer_model_load(ctx, "updated.mercer", &loaded));
        assert_memory_equal(first, loaded->f.alpha, 40 * sizeof *first);
        assert_close(mercer_model_report(loaded)->step, mercer_model_report(updated)->step, 0);
        mercer_model *again = update_sheet(ctx, loaded, &s, &set); /* what was updated can be updated */
        assert_int_equal(mercer_model_centres(again), 40);
        mercer_model_free(again);
        mercer_model_free(loaded);
        mercer_model_free(updated);
        mercer_model_free(model);
        remove("updated.mercer");
        close_clean(ctx);
    }
}

static void test_rows_without_weight_are_passed_over(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_model *model = start(ctx, "lms", 10, 1);
    sheet s = random_sheet(ROWS, 1, 9);
    s.weighted = true;
    for (int64_t i = 0; i < ROWS; i++)
        s.w[i] = i % 3 ? 0 : 1;
    mercer_model *updated = update_sheet(ctx, model, &s, NULL);
    assert_int_equal(mercer_model_centres(updated), 10 + ROWS / 3);
    assert_int_equal(mercer_model_report(updated)->n, 10 + ROWS / 3);
    mercer_model_free(updated);
    mercer_model_free(model);
    close_clean(ctx);
}

static void test_a_stopped_update_says_what_it_learned(void **state) {
    (void)state;
    mercer_options options = mercer_options_defaults();
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    mercer_model *model = start(ctx, "ridge", 10, 1);
    ctx->options.time_limit = 0.4; /* of each call from here on; without rows learned an update is none, but no error */
    const sheet s = random_sheet(ROWS, 1, 10);
    mercer_update set = mercer_update_defaults();
    set.passes = (int64_t)1e12;
    mercer_model *updated = update_sheet(ctx, model, &s, &set);
    const mercer_report *r = mercer_model_report(updated);
    assert_string_equal(r->stopped, "time");
    assert_true(r->iterations < set.passes);
    assert_true(r->n <= 10 + ROWS);
    assert_int_equal(mercer_model_centres(updated), r->n);
    mercer_model_free(updated);
    mercer_model_free(model);
    close_clean(ctx);
}

static void assert_refused(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                           const mercer_update *set, mercer_status status, const char *message) {
    mercer_model *out = NULL;
    assert_fails(ctx, mercer_model_update(ctx, model, data, set, &out), status, message);
    assert_null(out);
}

static void test_what_cannot_be_learned_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_model *model = start(ctx, "lms", 10, 1), *gp = NULL;
    const sheet s = random_sheet(10, 1, 6), two = random_sheet(10, 2, 7);
    mercer_data *data = data_of(ctx, &s), *pairs = data_of(ctx, &two), *bare = NULL, *moons = NULL, *named = NULL;
    const mercer_table untold = {.size = sizeof untold, .n = 10, .d = s.d, .values = s.x, .dtype = MERCER_F64};
    assert_ok(ctx, mercer_data_make(ctx, &untold, &bare));
    mercer_update set = mercer_update_defaults(), bad = set;
    bad.step = 2;
    assert_refused(ctx, model, data, &bad, MERCER_INVALID, "must be below 2");
    bad = set;
    bad.budget = -1;
    assert_refused(ctx, model, data, &bad, MERCER_INVALID, "budget");
    bad = set;
    bad.passes = 0;
    assert_refused(ctx, model, data, &bad, MERCER_INVALID, "passes");
    assert_refused(ctx, model, bare, &set, MERCER_DATA, "no target");
    assert_refused(ctx, model, pairs, &set, MERCER_DATA, "outputs");
    mercer_kernel *kernel = kernel_of(ctx, "rbf(gamma=1)");
    mercer_gp gp_set = mercer_gp_defaults();
    gp_set.learn = false;
    gp_set.noise = 0.1;
    assert_ok(ctx, mercer_fit(ctx, "gp", &gp_set, kernel, data, &gp));
    assert_refused(ctx, gp, data, &set, MERCER_INVALID, "only lms and ridge");
    assert_ok(ctx, mercer_data_generate(ctx, "moons", 40, 0.1, 1, &moons));
    mercer_model *classes = NULL;
    assert_ok(ctx, mercer_fit(ctx, "lms", NULL, kernel, moons, &classes));
    const char *const labels[] = {"owl", "owl", "1", "0"};
    const mercer_table strange = {
        .size = sizeof strange, .n = 4, .d = 2, .dtype = MERCER_F64, .values = s.x, .labels = labels};
    assert_ok(ctx, mercer_data_make(ctx, &strange, &named));
    assert_refused(ctx, classes, named, &set, MERCER_DATA, "'owl'");
    mercer_model *more = NULL;
    assert_ok(ctx, mercer_model_update(ctx, classes, moons, NULL, &more));
    assert_int_equal(mercer_model_centres(more), 80);
    mercer_model *const models[] = {model, gp, classes, more};
    for (int i = 0; i < 4; i++)
        mercer_model_free(models[i]);
    mercer_data *const all[] = {data, pairs, bare, moons, named};
    for (int i = 0; i < 5; i++)
        mercer_data_free(all[i]);
    mercer_kernel_free(kernel);
    close_clean(ctx);
}

static void test_sparse_and_single_precision_rows_are_joined(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const double values[] = {1, 2, 3, 4}, dense[] = {1, 0, 2, 0, 3, 4}, y[] = {1, -1};
    const float single[] = {1, 0, 2, 0, 3, 4};
    const int64_t row_start[] = {0, 2, 4};
    const int32_t column[] = {0, 2, 1, 2};
    const mercer_table tables[] = {
        {.size = sizeof(mercer_table),
         .n = 2,
         .d = 3,
         .dtype = MERCER_F64,
         .values = values,
         .row_start = row_start,
         .column = column,
         .target = y,
         .outputs = 1},
        {.size = sizeof(mercer_table), .n = 2, .d = 3, .dtype = MERCER_F64, .values = dense, .target = y, .outputs = 1},
        {.size = sizeof(mercer_table),
         .n = 2,
         .d = 3,
         .dtype = MERCER_F32,
         .values = single,
         .target = y,
         .outputs = 1}};
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            mercer_data *first = NULL, *second = NULL, *joined = NULL;
            assert_ok(ctx, mercer_data_make(ctx, &tables[a], &first));
            assert_ok(ctx, mercer_data_make(ctx, &tables[b], &second));
            assert_ok(ctx, mc_data_join(ctx, first, second, &joined));
            assert_int_equal(mercer_data_rows(joined), 4);
            assert_int_equal(mercer_data_is_sparse(joined), a == 0 && b == 0);
            for (int64_t i = 0; i < 12; i++)
                assert_close(mc_data_value(joined, i / 3, i % 3), dense[i % 6], 0);
            mercer_data_free(first);
            mercer_data_free(second);
            mercer_data_free(joined);
        }
    close_clean(ctx);
}

static mercer_status update_once(mercer_ctx *ctx, void *arg) {
    const mercer_model *model = arg;
    const sheet s = random_sheet(8, 1, 8);
    const mercer_table table = {
        .size = sizeof table, .n = s.n, .d = s.d, .dtype = MERCER_F64, .values = s.x, .target = s.y, .outputs = 1};
    mercer_data *data = NULL;
    mercer_model *out = NULL;
    mercer_update set = mercer_update_defaults();
    set.budget = 12;
    mercer_status status = mercer_data_make(ctx, &table, &data);
    if (!status)
        status = mercer_model_update(ctx, model, data, &set, &out);
    mercer_model_free(out);
    mercer_data_free(data);
    return status;
}

static void test_an_update_tells_what_it_does_to_the_old_centres(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const sheet s = random_sheet(20, 2, 1), news = random_sheet(8, 2, 7);
    mercer_model *model = start(ctx, "lms", 20, 2), *new = NULL;
    mercer_data *old = data_of(ctx, &s), *rows = data_of(ctx, &news);
    mercer_update set = mercer_update_defaults();
    set.passes = 30;
    set.budget = 15;
    double f[20 * 2], g[20 * 2], square = 0;
    assert_ok(ctx, mercer_model_update(ctx, model, rows, &set, &new));
    assert_ok(ctx, mercer_predict(ctx, model, old, f));
    assert_ok(ctx, mercer_predict(ctx, new, old, g));
    for (int i = 0; i < 40; i++)
        square += (f[i] - g[i]) * (f[i] - g[i]);
    assert_true(square > 0 && isnan(mercer_model_report(new)->changed));
    assert_close(mercer_model_report(new)->moved, sqrt(square / 40), 1e-12);
    mercer_model_free(model);
    mercer_model_free(new);
    mercer_data_free(old);
    mercer_data_free(rows);
    close_clean(ctx);
}

static void test_failing_memory_is_survived(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_model *model = start(ctx, "lms", 10, 1);
    assert_survives_failing_memory(update_once, model);
    mercer_model_free(model);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_rows_are_learned_by_the_plain_rule),
        cmocka_unit_test(test_an_update_improves_on_what_it_saw_and_keeps_the_old_model),
        cmocka_unit_test(test_an_update_never_meets_its_own_rows_worse),
        cmocka_unit_test(test_a_step_that_ruins_the_model_is_refused),
        cmocka_unit_test(test_threads_do_not_change_a_bit_and_files_keep_them),
        cmocka_unit_test(test_rows_without_weight_are_passed_over),
        cmocka_unit_test(test_a_stopped_update_says_what_it_learned),
        cmocka_unit_test(test_what_cannot_be_learned_is_refused),
        cmocka_unit_test(test_sparse_and_single_precision_rows_are_joined),
        cmocka_unit_test(test_an_update_tells_what_it_does_to_the_old_centres),
        cmocka_unit_test(test_failing_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
