/* A search finds what fits one by one would find, the same on any number of threads, and goes on where it was stopped.
   */
#include "data/table/data.h"
#include "tune_of_test.h"

/* Fit on each fold what the search says it measured, and score it. */
static double refit(mercer_ctx *ctx, const char *machine, const void *settings, const char *text,
                    const mercer_data *data, int64_t folds, size_t score) {
    int64_t fold[MANY], rows[2][MANY];
    double sum = 0;
    mercer_kernel *kernel = kernel_of(ctx, text);
    assert_ok(ctx, mercer_data_folds(ctx, data, folds, NULL, 0, fold));
    for (int64_t k = 0; k < folds; k++) {
        int64_t count[2] = {0, 0};
        mercer_data *part[2] = {NULL, NULL};
        mercer_model *model = NULL;
        mercer_scores scores = {.size = sizeof scores};
        for (int64_t i = 0; i < MANY; i++)
            rows[fold[i] == k][count[fold[i] == k]++] = i;
        for (int p = 0; p < 2; p++)
            assert_ok(ctx, mercer_data_take(ctx, data, rows[p], count[p], &part[p]));
        assert_ok(ctx, mercer_fit(ctx, machine, settings, kernel, part[0], &model));
        assert_ok(ctx, mercer_score(ctx, model, part[1], &scores));
        sum += *(const double *)(const void *)((const char *)&scores + score);
        mercer_model_free(model);
        mercer_data_free(part[0]);
        mercer_data_free(part[1]);
    }
    mercer_kernel_free(kernel);
    return sum / (double)folds;
}

static void test_scores_are_those_of_refits(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *numbers = friedman(ctx), *classes = moons(ctx);
    mercer_search *search = NULL;
    wish w = wish_of("ridge", "rbf(gamma=0.5)", "lambda={0.01, 0.1, 1}");
    w.set.folds = 4;
    assert_ok(ctx, tune(ctx, &w, numbers, &search));
    mercer_ridge ridge = mercer_ridge_defaults();
    for (int64_t i = 0; i < 3; i++) {
        ridge.lambda = pow(10, (double)i - 2);
        assert_close(mercer_search_candidate(search, i).score,
                     refit(ctx, "ridge", &ridge, "rbf(gamma=0.5)", numbers, 4, offsetof(mercer_scores, rmse)), 1e-8);
    }
    mercer_search_free(search);
    w = wish_of("svc", "rbf(gamma=2)", "C={0.5, 5, 50}");
    w.set.score = "auc";
    assert_ok(ctx, tune(ctx, &w, classes, &search));
    mercer_svm svm = mercer_svm_defaults("svc");
    for (int64_t i = 0; i < 3; i++) {
        svm.C = 0.5 * pow(10, (double)i);
        assert_close(mercer_search_candidate(search, i).score,
                     refit(ctx, "svc", &svm, "rbf(gamma=2)", classes, 5, offsetof(mercer_scores, auc)), 5e-3);
    }
    mercer_search_free(search);
    mercer_data_free(numbers);
    mercer_data_free(classes);
    close_clean(ctx);
}

static void assert_shared(mercer_ctx *ctx, mercer_svm svm, const char *machine, const mercer_data *data,
                          const char *score, size_t field) {
    wish w = wish_of(machine, "rbf(gamma=0.4)", "C={0.1, 1, 20}");
    mercer_search *search = NULL;
    svm.tolerance = 1e-9;
    svm.scale = "none";
    w.settings = &svm;
    w.set.folds = 3;
    w.set.score = score;
    assert_ok(ctx, tune(ctx, &w, data, &search));
    static const double C[] = {0.1, 1, 20};
    for (int64_t i = 0; i < 3; i++) {
        svm.C = C[i];
        assert_close(mercer_search_candidate(search, i).score,
                     refit(ctx, machine, &svm, "rbf(gamma=0.4)", data, 3, field), 1e-7);
    }
    mercer_search_free(search);
}

/* Folds, values of C and pairs of classes over one K say what fits say that know nothing of each other. */
static void test_one_matrix_serves_folds_costs_and_pairs(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *numbers = friedman(ctx), *classes = NULL;
    assert_ok(ctx, mercer_data_generate(ctx, "blobs", MANY, 2.5, 3, &classes));
    assert_true(mercer_data_classes(classes) > 2);
    mercer_svm svm = mercer_svm_defaults("svc");
    assert_shared(ctx, svm, "svc", classes, "accuracy", offsetof(mercer_scores, accuracy));
    svm.class_weight = "balanced";
    svm.multiclass = "ovr";
    assert_shared(ctx, svm, "svc", classes, "balanced-accuracy", offsetof(mercer_scores, balanced_accuracy));
    assert_shared(ctx, mercer_svm_defaults("svr"), "svr", numbers, "rmse", offsetof(mercer_scores, rmse));
    mercer_data_free(numbers);
    mercer_data_free(classes);
    close_clean(ctx);
}

/* Few different rows, each many times, in every class, weighted. */
static mercer_data *lattice(mercer_ctx *ctx, int classes) {
    static const char *const name[] = {"a", "b", "c"};
    double values[2 * MANY], weights[MANY];
    const char *labels[MANY];
    mc_rng rng = mc_rng_at(7, MC_STREAM_TUNE, 0);
    for (int64_t i = 0; i < MANY; i++) {
        const double x = values[2 * i] = (double)(mc_rng_below(&rng, 5)),
                     y = values[2 * i + 1] = (double)(mc_rng_below(&rng, 4));
        weights[i] = 8 + (double)mc_rng_below(&rng, 20);
        labels[i] = name[mc_rng_below(&rng, 4) ? (int)(x + 2 * y) % classes : (int)(mc_rng_below(&rng, classes))];
    }
    const mercer_table table = {
        .size = sizeof table, .n = MANY, .d = 2, .values = values, .labels = labels, .weights = weights};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

static void test_equal_rows_count_as_often_as_they_are_there(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *two = lattice(ctx, 2), *three = lattice(ctx, 3);
    assert_shared(ctx, mercer_svm_defaults("svc"), "svc", two, "balanced-accuracy",
                  offsetof(mercer_scores, balanced_accuracy));
    assert_shared(ctx, mercer_svm_defaults("svc"), "svc", three, "accuracy", offsetof(mercer_scores, accuracy));
    mercer_data_free(two);
    mercer_data_free(three);
    close_clean(ctx);
}

/* Every row left out in turn is the leave-one-out error of the path. */
static void test_rows_left_out_are_those_of_the_path(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = friedman(ctx);
    mercer_search *search = NULL;
    const wish w = wish_of("ridge", "rbf(gamma=0.1..1)", NULL);
    assert_ok(ctx, tune(ctx, &w, data, &search));
    assert_int_equal(mercer_search_count(search), 8 * 50);
    const mercer_tune_report *r = mercer_search_report(search);
    const mercer_candidate best = mercer_search_candidate(search, r->best);
    const double lambda = strtod(strchr(best.settings, '=') + 1, NULL);
    mercer_path_row row;
    mercer_kernel *kernel = kernel_of(ctx, best.kernel);
    assert_ok(ctx, fit_path(ctx, "ridge", kernel, data, NULL, &lambda, 1, NULL, NULL, &row));
    assert_close(row.loo_rmse, best.score, 1e-10);
    for (int64_t i = 0; i < mercer_search_count(search); i++)
        assert_true(mercer_search_candidate(search, i).score >= best.score);
    assert_true(best.error > 0 && r->within > 1 && r->measured == 400 && r->share > 0 && r->share <= 1);
    mercer_kernel_free(kernel);
    mercer_search_free(search);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_threads_change_nothing(void **state) {
    (void)state;
    wish w[] = {wish_of("svc", "rbf(gamma=0.1..10)", "C=1..100"),
                wish_of("squared-hinge", "rbf(gamma=0.1..10)", "lambda=0.1..1"), wish_of("knn", "rbf(gamma=0.5)", NULL),
                wish_of("ridge", "rbf(gamma=0.1..10)", NULL)};
    for (int i = 0; i < 4; i++) {
        w[i].set.points = 2;
        w[i].set.folds = 2;
        w[i].set.repeats = 2;
        if (i == 1) {
            w[i].set.search = "random";
            w[i].set.candidates = 3;
        }
        if (i == 3) {
            w[i].set.search = "gradient";
            w[i].set.candidates = 2;
            w[i].set.repeats = 1;
        }
        char *one = json_of(&w[i], 1, i == 3 ? friedman : moons), *two = json_of(&w[i], 2, i == 3 ? friedman : moons);
        assert_string_equal(one, two);
        free(one);
        free(two);
    }
}

/* ---- Splits ---- */

static void test_time_goes_forward(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = friedman(ctx);
    mercer_tune set = mercer_tune_defaults();
    set.ordered = true;
    mc_splits s;
    assert_ok(ctx, mc_splits_open(ctx, &set, 4, data, NULL, &s));
    for (int64_t k = 0; k < 4; k++) {
        const int64_t *b = s.begin + 2 * k;
        assert_int_equal(b[2] - b[1], MANY / 5);
        assert_int_equal(s.rows[b[1]], b[1] - b[0]); /* measured right after what was learned */
        for (int64_t i = b[0]; i < b[1]; i++)
            assert_true(s.rows[i] < s.rows[b[1]]);
    }
    mc_splits_close(&s);
    wish w = wish_of("ridge", "rbf(gamma=0.1..1)", "lambda={0.1, 1}");
    w.set.ordered = true;
    w.set.points = 2;
    mercer_search *search = NULL;
    assert_ok(ctx, tune(ctx, &w, data, &search));
    assert_non_null(strstr(mercer_search_report(search)->splits, "in order of time"));
    mercer_search_free(search);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_groups_stay_together_or_are_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = friedman(ctx);
    const char *group[MANY];
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < MANY; i++)
        group[i] = names[i % 3];
    wish w = wish_of("ridge", "rbf(gamma=0.1..1)", "lambda={0.1, 1}");
    w.set.points = 2;
    w.set.folds = 3;
    w.set.groups = group;
    mercer_search *search = NULL;
    assert_ok(ctx, tune(ctx, &w, data, &search));
    assert_non_null(strstr(mercer_search_report(search)->splits, "groups"));
    mercer_search_free(search);
    w.set.folds = 4;
    assert_fails(ctx, refused(ctx, w, data), MERCER_INVALID, "3 groups cannot fill 4 folds");
    mercer_data_free(data);
    close_clean(ctx);
}

/* ---- Choosing ---- */

static void test_one_standard_error_takes_the_stronger_penalty(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = friedman(ctx);
    wish w = wish_of("ridge", "rbf(gamma=0.3)", NULL);
    mercer_search *plain_search = NULL, *careful = NULL;
    assert_ok(ctx, tune(ctx, &w, data, &plain_search));
    w.set.one_error = true;
    assert_ok(ctx, tune(ctx, &w, data, &careful));
    const mercer_tune_report *a = mercer_search_report(plain_search), *b = mercer_search_report(careful);
    assert_true(a->best == a->first && b->first == a->first
                && b->best > a->best); /* lambda rises along the candidates */
    const mercer_candidate best = mercer_search_candidate(careful, b->first);
    assert_true(mercer_search_candidate(careful, b->best).score <= best.score + best.error);
    assert_true(mercer_search_candidate(careful, b->best + 1).score > best.score + best.error);
    mercer_search_free(plain_search);
    mercer_search_free(careful);
    mercer_data_free(data);
    close_clean(ctx);
}

/* Two kernels, six values of C, five folds; in pairs of classes too, and where a fine tolerance sends the folds one
   after the other. */
static void test_the_progress_of_shared_folds_moves_within_a_kernel(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        watched seen = {0};
        mercer_ctx *ctx = open_watched(&seen);
        mercer_data *data = NULL;
        assert_ok(ctx, mercer_data_generate(ctx, i % 2 ? "blobs" : "moons", 120, i % 2 ? 2 : 0.3, 3, &data));
        mercer_svm svm = mercer_svm_defaults("svc");
        wish w = wish_of("svc", "rbf(gamma={0.5, 5})", "C={0.1, 0.5, 2, 10, 30, 100}");
        svm.tolerance = i < 2 ? svm.tolerance : 1e-6;
        w.settings = &svm;
        mercer_search *search = NULL;
        assert_ok(ctx, tune(ctx, &w, data, &search));
        assert_true(seen.back == 0 && seen.moves >= 24 && seen.leap < 0.15);
        mercer_search_free(search);
        mercer_data_free(data);
        close_clean(ctx);
    }
}

static void test_halving_measures_the_best_with_all_rows(void **state) {
    (void)state;
    watched seen = {0};
    mercer_ctx *ctx = open_watched(&seen);
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_generate(ctx, "moons", 1000, 0.3, 3, &data));
    wish w = wish_of("svc", "rbf(gamma=0.01..10)", "C=0.1..100");
    w.set.points = 3;
    w.set.halving = true;
    mercer_search *search = NULL;
    assert_ok(ctx, tune(ctx, &w, data, &search));
    const mercer_tune_report *r = mercer_search_report(search);
    assert_true(r->halved && r->measured == 3);
    assert_true(seen.calls > 9 && seen.back == 0); /* what is left never grows from one round to the next */
    assert_int_equal(mercer_search_candidate(search, r->best).rows, 1000);
    int64_t few = 0;
    for (int64_t i = 0; i < 9; i++)
        few += mercer_search_candidate(search, i).rows == 250;
    assert_int_equal(few, 6);
    mercer_search_free(search);
    mercer_data_free(data);
    close_clean(ctx);
}

/* The table of all candidates is the reference evaluator: what the descent finds is of the same score, bit for bit, and
   no more than a fifth of a standard error from the best of it. */
static void compare_descent(mercer_ctx *ctx, const mercer_data *data, wish *w) {
    mercer_search *table = NULL, *descent = NULL;
    assert_ok(ctx, tune(ctx, w, data, &table));
    w->set.halving = true;
    assert_ok(ctx, tune(ctx, w, data, &descent));
    const mercer_tune_report *all = mercer_search_report(table), *r = mercer_search_report(descent);
    const mercer_candidate best = mercer_search_candidate(table, all->best),
                           found = mercer_search_candidate(descent, r->best);
    assert_true(r->halved && r->measured >= 3 && r->measured <= 8);
    assert_int_equal(found.rows, 800);
    assert_true(found.score == mercer_search_candidate(table, r->best).score);
    assert_true(found.score <= best.score + 0.2 * best.error);
    mercer_search_free(table);
    mercer_search_free(descent);
}

static void test_a_descent_finds_the_best_of_the_table(void **state) {
    (void)state;
    static const char *const wards[] = {"a", "b", "c", "d", "e", "f", "g"};
    const char *groups[800];
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_generate(ctx, "friedman1", 800, 1, 5, &data));
    wish w = wish_of("ridge", "rbf(gamma=0.003..3)", "lambda=1e-5..100");
    w.set.points = 10;
    compare_descent(ctx, data, &w);
    for (int i = 0; i < 800; i++)
        groups[i] = wards[i % 7];
    w = wish_of("ridge", "rbf(gamma=0.003..3)", "lambda=1e-4..10");
    w.set.points = 5;
    w.set.folds = 3;
    w.set.groups = groups;
    compare_descent(ctx, data, &w);
    mercer_data_free(data);
    close_clean(ctx);
}

static const char *chosen_by_default(mercer_ctx *ctx, const mercer_data *data, int64_t *count) {
    static char text[300];
    mercer_ridge ridge = mercer_ridge_defaults();
    mercer_search *search = NULL;
    ridge.intercept = true;
    assert_ok(ctx, mercer_tune_default(ctx, "ridge", &ridge, data, &search));
    snprintf(text, sizeof text, "%s", mercer_search_candidate(search, mercer_search_report(search)->best).kernel);
    *count = mercer_search_count(search);
    mercer_search_free(search);
    return text;
}

/* Five of the ten columns of friedman1 say nothing, and the fourth says the most. Ten rows for each are the least; and
   where all columns are alike a length scale for each is not clearly better. */
static void test_a_fit_without_parameters_tells_columns_apart(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = NULL, *few = friedman(ctx), *alike = NULL;
    double scale[10];
    int64_t count = 0;
    assert_ok(ctx, mercer_data_generate(ctx, "friedman1", 200, 0.5, 3, &data));
    const char *text = chosen_by_default(ctx, data, &count);
    assert_int_equal(count, 14 * 17);
    assert_int_equal(sscanf(text, "%*f*matern(nu=2.5, length_scale=[%lf, %lf, %lf, %lf, %lf, %lf, %lf, %lf, %lf, %lf])",
                            &scale[0], &scale[1], &scale[2], &scale[3], &scale[4], &scale[5], &scale[6], &scale[7],
                            &scale[8], &scale[9]),
                     10);
    for (int k = 5; k < 10; k++)
        assert_true(scale[k] > scale[0] && scale[k] > scale[1] && scale[k] > scale[2]);
    assert_memory_equal(chosen_by_default(ctx, few, &count), "rbf", 3);
    assert_int_equal(count, 13 * 17);
    sheet s = random_sheet(ROWS, 1, 90);
    mc_rng rng = mc_rng_at(1, MC_STREAM_TEST, 91);
    for (int64_t i = 0; i < s.n; i++) {
        for (int64_t k = 0; k < s.d; k++)
            s.x[i * s.d + k] = mc_rng_normal(&rng);
        s.y[i] = exp(-s.x[i * s.d] * s.x[i * s.d] - s.x[i * s.d + 1] * s.x[i * s.d + 1]
                     - s.x[i * s.d + 2] * s.x[i * s.d + 2]);
        s.y[i] += 0.2 * mc_rng_normal(&rng);
    }
    alike = data_of(ctx, &s);
    assert_memory_equal(chosen_by_default(ctx, alike, &count), "rbf", 3);
    assert_int_equal(count, 14 * 17);
    mercer_data_free(data);
    mercer_data_free(few);
    mercer_data_free(alike);
    close_clean(ctx);
}

/* The noise of the rows is found, in whatever unit the target is written, and the last digits of the rows decide
   nothing. */
static void test_what_a_fit_without_parameters_finds_is_no_matter_of_units_or_rounding(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const double unit[] = {1, 1, 1, 1e6, 1e-6};
    for (int k = 0; k < 5; k++) {
        mercer_data *data = NULL;
        mercer_ridge ridge = mercer_ridge_defaults();
        mercer_search *search = NULL;
        ridge.intercept = true;
        assert_ok(ctx, mercer_data_generate(ctx, "friedman1", 120, 0.1, 0, &data));
        for (int64_t i = 0; i < data->n * data->d && k < 3; i++)
            ((double *)data->values)[i] *= 1 + 1e-13 * sin((double)(i * k));
        for (int64_t i = 0; i < data->n; i++)
            data->target[i] *= unit[k];
        assert_ok(ctx, mercer_tune_default(ctx, "ridge", &ridge, data, &search));
        const mercer_candidate best = mercer_search_candidate(search, mercer_search_report(search)->best);
        if (!(fabs(best.score / unit[k] - 0.1307) < 0.001) || strstr(best.settings, "lambda=1e-6"))
            fail_msg("%s, %s: %g", best.kernel, best.settings, best.score / unit[k]);
        mercer_search_free(search);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

/* A target without noise: in its units K would be beyond all digits, and the fit that follows the search be refused. */
static void test_a_fit_without_parameters_of_a_target_without_noise_ends(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int64_t n = 40; n <= 640; n *= 4) {
        mercer_data *data = NULL;
        mercer_ridge ridge = mercer_ridge_defaults();
        mercer_search *search = NULL;
        mercer_model *model = NULL;
        ridge.intercept = true;
        assert_ok(ctx, mercer_data_generate(ctx, "friedman1", n, 0, test_seed() % 1000, &data));
        for (int64_t i = 0; i < n; i++) {
            const double *x = (const double *)data->values + i * data->d;
            data->target[i] = sin(x[0]) + x[1] * x[1];
        }
        assert_ok(ctx, mercer_tune_default(ctx, "ridge", &ridge, data, &search));
        assert_ok(ctx, mercer_search_fit(ctx, search, data, &model));
        mercer_model_free(model);
        mercer_search_free(search);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

/* The target grows with the first column, so fast that a few rows make all of the error, and its error too: that the
   others say nothing is seen by the size of the gain. */
static void test_wild_rows_do_not_hide_which_column_matters(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    sheet s = random_sheet(ROWS, 1, 92);
    mc_rng rng = mc_rng_at(1, MC_STREAM_TEST, 114);
    int64_t count = 0;
    for (int64_t i = 0; i < s.n; i++) {
        for (int64_t k = 0; k < s.d; k++)
            s.x[i * s.d + k] = mc_rng_normal(&rng);
        s.y[i] = exp(2 * s.x[i * s.d]) + 0.05 * mc_rng_normal(&rng);
    }
    mercer_data *data = data_of(ctx, &s);
    double scale[3];
    const char *text = chosen_by_default(ctx, data, &count);
    assert_int_equal(sscanf(text, "%*f*matern(nu=2.5, length_scale=[%lf, %lf, %lf])", &scale[0], &scale[1], &scale[2]),
                     3);
    assert_true(scale[1] > 1000 * scale[0] && scale[2] > 1000 * scale[0]);
    mercer_data_free(data);
    close_clean(ctx);
}

static int stop_after(void *user, const mercer_progress *p) {
    (void)p;
    return --*(int *)user < 0;
}

static void test_what_was_measured_survives_a_stop(void **state) {
    (void)state;
    mercer_ctx *owner = open_ctx(1), *ctx = NULL;
    mercer_data *data = NULL;
    assert_ok(owner, mercer_data_generate(owner, "moons", 1500, 0.3, 3, &data));
    int left = 4;
    mercer_options options = mercer_options_defaults();
    options.progress = stop_after;
    options.progress_user = &left;
    options.threads = 1;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    wish w = wish_of("logistic", "rbf(gamma=0.1..10)", "lambda=0.01..1");
    w.set.points = 12;
    mercer_search *search = NULL;
    const mercer_status status = tune(ctx, &w, data, &search);
    if (status == MERCER_OK) {
        const mercer_tune_report *r = mercer_search_report(search);
        assert_string_equal(r->stopped, "caller");
        assert_true(r->measured > 0 && r->measured < 144);
    } else /* a slow machine had measured nothing yet */
        assert_int_equal(status, MERCER_CANCELLED);
    mercer_search_free(search);
    close_clean(ctx);
    mercer_data_free(data);
    close_clean(owner);
}

static void test_the_model_remembers_its_search(void **state) {
    (void)state;
    char path[] = "/tmp/mercer-tuned-XXXXXX";
    close(mkstemp(path));
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = moons(ctx);
    const wish w = wish_of("svc", "rbf(gamma={1, 2})", "C={1, 3}");
    mercer_search *search = NULL;
    mercer_model *model = NULL, *again = NULL;
    assert_ok(ctx, tune(ctx, &w, data, &search));
    assert_ok(ctx, mercer_search_fit(ctx, search, data, &model));
    assert_string_equal(mercer_model_search(model), mercer_search_json(search));
    assert_ok(ctx, mercer_model_save(ctx, model, path));
    assert_ok(ctx, mercer_model_load(ctx, path, &again));
    assert_string_equal(mercer_model_search(again), mercer_search_json(search));
    unlink(path);
    mercer_model_free(model);
    mercer_model_free(again);
    mercer_search_free(search);
    mercer_data_free(data);
    close_clean(ctx);
}

typedef struct job {
    const char *machine, *range;
    const mercer_data *data;
    const mercer_kernel *kernel; /* NULL: that of the search */
    int64_t folds;
    const char *search;
} job;

static mercer_status tune_with_a_journal(mercer_ctx *ctx, void *arg) {
    const job *j = arg;
    const char *const ranges[] = {j->range, NULL};
    char path[] = "/tmp/mercer-journal-XXXXXX";
    close(mkstemp(path));
    mercer_tune set = mercer_tune_defaults();
    mercer_search *search = NULL;
    set.ranges = ranges;
    set.points = 2;
    set.kernels = j->kernel ? &j->kernel : NULL;
    set.kernel_count = 1;
    set.folds = j->folds;
    set.journal = path;
    set.search = j->search ? j->search : "grid";
    set.candidates = 1;
    const mercer_status status = mercer_tune_run(ctx, j->machine, NULL, &set, j->data, &search);
    mercer_search_free(search);
    unlink(path);
    return status;
}

static mercer_status halve(mercer_ctx *ctx, void *arg) {
    const job *j = arg;
    mercer_tune set = mercer_tune_defaults();
    mercer_search *search = NULL;
    set.ranges = (const char *const[]){j->range, NULL};
    set.kernels = &j->kernel;
    set.kernel_count = 1;
    set.folds = j->folds;
    set.halving = true;
    const mercer_status status = mercer_tune_run(ctx, j->machine, NULL, &set, j->data, &search);
    mercer_search_free(search);
    return status;
}

static void test_tune_survives_failing_memory(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_generate(ctx, "sinc", 20, 0.1, 1, &data));
    assert_survives_failing_memory(tune_with_a_journal, &(job){"ridge", "lambda={0.1}", data, NULL, 0, NULL});
    mercer_data_free(data);
    assert_ok(ctx, mercer_data_generate(ctx, "sinc", 8, 0.1, 1, &data));
    assert_survives_failing_memory(tune_with_a_journal, &(job){"ridge", "lambda=0.3..0.4", data, NULL, 0, "gradient"});
    mercer_data_free(data);
    assert_ok(ctx, mercer_data_generate(ctx, "blobs", 12, 1, 1, &data));
    mercer_kernel *kernel = kernel_of(ctx, "rbf(gamma=1)");
    assert_survives_failing_memory(tune_with_a_journal, &(job){"svc", "C={1, 10}", data, kernel, 2, NULL});
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    assert_ok(ctx, mercer_data_generate(ctx, "sinc", 800, 0.1, 1, &data));
    kernel = kernel_of(ctx, "rbf(gamma={1, 2})");
    assert_survives_some_failing_memory(halve, &(job){"ridge", "lambda={0.01, 0.1}", data, kernel, 2, NULL});
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores_are_those_of_refits),
        cmocka_unit_test(test_one_matrix_serves_folds_costs_and_pairs),
        cmocka_unit_test(test_equal_rows_count_as_often_as_they_are_there),
        cmocka_unit_test(test_rows_left_out_are_those_of_the_path),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_time_goes_forward),
        cmocka_unit_test(test_groups_stay_together_or_are_refused),
        cmocka_unit_test(test_one_standard_error_takes_the_stronger_penalty),
        cmocka_unit_test(test_the_progress_of_shared_folds_moves_within_a_kernel),
        cmocka_unit_test(test_halving_measures_the_best_with_all_rows),
        cmocka_unit_test(test_a_descent_finds_the_best_of_the_table),
        cmocka_unit_test(test_a_fit_without_parameters_tells_columns_apart),
        cmocka_unit_test(test_what_a_fit_without_parameters_finds_is_no_matter_of_units_or_rounding),
        cmocka_unit_test(test_a_fit_without_parameters_of_a_target_without_noise_ends),
        cmocka_unit_test(test_wild_rows_do_not_hide_which_column_matters),
        cmocka_unit_test(test_what_was_measured_survives_a_stop),
        cmocka_unit_test(test_the_model_remembers_its_search),
        cmocka_unit_test(test_tune_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
