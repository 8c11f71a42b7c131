/* Fits under a time limit and in proportion to the rows: there is a model, each stage took the place of a worse one
   only, and without a limit the bits do not depend on the threads. Nothing here looks at a clock. */
#include "../learn/machines_of_test.h"
#include "base/ctx.h"
#include "base/progress.h"
#include "base/rng.h"
#include "learn/common/machines.h"
#include "model/stage_plan.h"
#include "model/staged_fit.h"
#include <jansson.h>

static mercer_ctx *open_limited(double seconds, int threads) {
    mercer_options options = mercer_options_defaults();
    options.threads = threads;
    options.time_limit = seconds;
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    return ctx;
}

static mercer_data *generated(const char *name, int64_t n) {
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_generate(ctx, name, n, strcmp(name, "moons") == 0 ? 0.3 : 1, test_seed(), &data));
    mercer_close(ctx);
    return data;
}

static double number_of(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Errors of the stages that were kept fall; the one chosen is the last of them. Returns its error. */
static double check_stages(const mercer_model *model) {
    json_t *stages = json_loads(mercer_model_stages(model), 0, NULL);
    const json_t *list = json_object_get(stages, "stages");
    double error = INFINITY;
    assert_non_null(stages);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *stage = json_array_get(list, i);
        const double found = number_of(stage, "error");
        if (!json_is_true(json_object_get(stage, "kept"))) {
            assert_false(i == (size_t)number_of(stages, "chosen"));
            continue;
        }
        if (!isnan(found)) {
            assert_true(found < error);
            error = found;
        }
        assert_true(i <= (size_t)number_of(stages, "chosen"));
    }
    json_decref(stages);
    return error;
}

static mercer_model *fit_within(double seconds, const char *machine, const void *settings, const char *kernel,
                                const mercer_data *data) {
    mercer_ctx *ctx = open_limited(seconds, 1);
    mercer_kernel *k = kernel_of(ctx, kernel);
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_fit(ctx, machine, settings, k, data, &model));
    assert_non_null(model);
    mercer_kernel_free(k);
    mercer_close(ctx); /* the model stays */
    return model;
}

static void test_every_machine_has_a_model_however_short_the_time(void **state) {
    (void)state;
    static const double limits[] = {1e-6, 0.1};
    mercer_data *numbers = generated("friedman1", 3000), *classes = generated("moons", 3000);
    for (int i = 0; mercer_machine_at(i); i++)
        for (int k = 0; k < 2; k++) {
            const mercer_machine *machine = mercer_machine_at(i);
            const mercer_data *data = machine->target == MERCER_TARGET_CLASS ? classes : numbers;
            mercer_model *model = fit_within(limits[k], machine->name, NULL, "rbf", data);
            if (*mercer_model_stages(model))
                check_stages(model);
            mercer_model_free(model);
        }
    mercer_data_free(numbers);
    mercer_data_free(classes);
}

/* Where it goes into a tenth of the time, it is the fit that there is without a limit, and says nothing of stages. */
static void test_time_enough_changes_nothing(void **state) {
    (void)state;
    mercer_data *data = generated("friedman1", 700);
    mercer_ctx *ctx = open_ctx(2);
    mercer_kernel *kernel = kernel_of(ctx, "rbf");
    mercer_model *free = NULL, *limited = fit_within(1e6, "ridge", NULL, "rbf", data);
    assert_ok(ctx, mercer_fit(ctx, "ridge", NULL, kernel, data, &free));
    assert_string_equal(mercer_model_stages(limited), "");
    assert_string_equal(mercer_model_report(limited)->stopped, "no");
    assert_memory_equal(limited->f.alpha, free->f.alpha, 700 * sizeof(double));
    mercer_model_free(free);
    mercer_model_free(limited);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

/* A lambda for which conjugate gradients would not converge: what is handed over is no worse than few rows are. */
static void test_a_lambda_that_cannot_be_solved_for_is_none_for_the_model(void **state) {
    (void)state;
    mercer_data *data = generated("friedman1", 12000);
    mercer_ridge set = mercer_ridge_defaults();
    set.lambda = 1e-9;
    set.intercept = true;
    mercer_model *model = fit_within(0.7, "ridge", &set, "matern(nu=2.5, length_scale=8)", data);
    json_t *stages = json_loads(mercer_model_stages(model), 0, NULL);
    assert_true(check_stages(model) < 0.7 * number_of(stages, "constant"));
    assert_string_equal(mercer_model_report(model)->stopped,
                        json_is_true(json_object_get(stages, "exact")) ? "no" : "time");
    json_decref(stages);
    mercer_model_free(model);
    mercer_data_free(data);
}

/* Parameters that nobody gave are found in the time there is, and the model beats the mean and the commonest class. */
static void test_the_search_is_part_of_the_time(void **state) {
    (void)state;
    static const char *const machines[] = {"ridge", "svc"};
    for (int i = 0; i < 2; i++) {
        mercer_data *data = generated(i < 1 ? "friedman1" : "moons", 6000);
        mercer_ctx *ctx = open_limited(0.2, 1);
        mercer_search *search = NULL;
        mercer_model *model = NULL;
        mercer_scores scores = {.size = sizeof scores};
        assert_ok(ctx, mercer_tune_default(ctx, machines[i], NULL, data, &search));
        assert_ok(ctx, mercer_search_fit(ctx, search, data, &model));
        assert_ok(ctx, mercer_set_time_limit(ctx, 0));
        assert_ok(ctx, mercer_score(ctx, model, data, &scores));
        assert_true(i < 1 ? scores.r2 > 0.5 : scores.accuracy > 0.8);
        mercer_model_free(model);
        mercer_search_free(search);
        mercer_data_free(data);
        close_clean(ctx);
    }
}

typedef struct stopper {
    int calls, after;
} stopper;

static int stop_after(void *user, const mercer_progress *p) {
    (void)p;
    stopper *s = user;
    return ++s->calls > s->after;
}

/* The caller's stop ends the stages: what there is is handed over, and is whole. */
/* Where closed forms choose the kernel a short time is enough for any number of classes; with ample time it is the
   search that there is without a limit. */
static void test_a_search_in_a_hurry_is_of_one_kernel(void **state) {
    (void)state;
    static const double limits[] = {1e-6, 1e6, 0};
    static const char *const machines[] = {"logistic", "svc"};
    mercer_data *data = generated("moons", 150);
    for (int m = 0; m < 2; m++) {
        char chosen[3][200];
        int64_t count[3];
        for (int k = 0; k < 3; k++) {
            mercer_ctx *ctx = open_limited(limits[k], 1);
            mercer_search *search = NULL;
            assert_ok(ctx, mercer_tune_default(ctx, machines[m], NULL, data, &search));
            const mercer_candidate best = mercer_search_candidate(search, mercer_search_report(search)->best);
            count[k] = mercer_search_count(search);
            snprintf(chosen[k], sizeof chosen[k], "%s %s", best.kernel, best.settings);
            mercer_search_free(search);
            mercer_close(ctx);
        }
        assert_true(7 * count[0] == count[1]);
        assert_true(count[1] == count[2]);
        assert_string_equal(chosen[1], chosen[2]);
    }
    mercer_data_free(data);
}

/* Where there is no memory for the first stage, a smaller one is the first. */
static void test_little_memory_is_no_reason_for_no_model(void **state) {
    (void)state;
    mercer_data *data = generated("friedman1", 12000);
    mercer_options options = mercer_options_defaults();
    mercer_ctx *ctx = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    options.memory_limit = 16u << 20;
    assert_ok(ctx, mercer_open(&options, &ctx));
    mercer_gp set = mercer_gp_defaults();
    set.iterations = 2;
    set.restarts = 0;
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.3)", &kernel));
    assert_ok(ctx, mercer_fit(ctx, "gp", &set, kernel, data, &model));
    assert_true(mercer_model_report(model)->n < 2048);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    mercer_close(ctx);
}

static void test_stages_grow_and_shrink(void **state) {
    (void)state;
    const mc_stage_plan first = {256, 0}, next = mc_stage_after(first, 100000, 0);
    assert_int_equal(next.rows, 1024);
    const mc_stage_plan less = mc_stage_shrunk(first, next, 0.5);
    assert_in_range(less.rows, 600, 750);
    assert_int_equal(mc_stage_shrunk(first, next, 0.1).rows, 0);
    assert_int_equal(mc_stage_after((mc_stage_plan){60000, 0}, 100000, 0).rows, 100000);
    assert_int_equal(mc_stage_after((mc_stage_plan){100000, 0}, 100000, 0).rows, 0);
    const mc_stage_plan marks = mc_stage_after((mc_stage_plan){4096, 0}, 1000000, INT32_MAX);
    assert_int_equal(marks.rows, 16384);
    assert_int_equal(marks.landmarks, 128);
    const mc_stage_plan all = {100000, 300}, more = mc_stage_after(all, 100000, INT32_MAX);
    assert_int_equal(more.rows, 100000);
    assert_in_range(more.landmarks, 301, 1200);
    assert_in_range(mc_stage_shrunk(all, (mc_stage_plan){100000, 1200}, 0.5).landmarks, 700, 850);
}

/* Labels that say nothing, and settings that learn each of them by heart. */
static void test_few_rows_are_no_worse_than_the_commonest_class(void **state) {
    (void)state;
    enum { N = 20000, D = 12 };
    static const char *const machines[] = {"logistic", "svc", "ridge"};
    mercer_ctx *ctx = open_limited(0, 1);
    double *x = calloc(N * D, sizeof *x);
    const char **label = calloc(N, sizeof *label);
    mercer_data *data = NULL;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 0);
    for (int64_t i = 0; i < N * D; i++)
        x[i] = mc_rng_uniform(&rng);
    for (int64_t i = 0; i < N; i++)
        label[i] = mc_rng_uniform(&rng) < 0.7 ? "often" : "seldom";
    const mercer_table table = {
        .size = sizeof table, .n = N, .d = D, .dtype = MERCER_F64, .values = x, .labels = label};
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    for (int m = 0; m < 3; m++) {
        mercer_model *model = fit_within(1e-6, machines[m], NULL, "rbf(gamma=30)", data);
        json_t *stages = json_loads(mercer_model_stages(model), 0, NULL);
        const double error = check_stages(model);
        if (!(error <= number_of(stages, "constant")))
            fail_msg("%s: %s", machines[m], mercer_model_stages(model));
        json_decref(stages);
        mercer_model_free(model);
    }
    mercer_data_free(data);
    free(label);
    free(x);
    mercer_close(ctx);
}

/* Classes of which the first stages, and the rows of the short search, would have none. */
static void test_rare_classes_are_in_every_stage(void **state) {
    (void)state;
    enum { N = 6000, RARE = 20 };
    static const char *const machines[] = {"logistic", "svc", "ridge"};
    static const char *const names[RARE] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
                                            "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"};
    mercer_ctx *ctx = open_limited(1e-3, 1);
    double *x = calloc(N, sizeof *x);
    const char **label = calloc(N, sizeof *label);
    mercer_data *data = NULL;
    for (int64_t i = 0; i < N; i++) {
        label[i] = i < 2 * RARE ? names[i / 2] : i % 2 ? "often" : "as often";
        x[i] = (double)(i % 2) + 1e-3 * (double)(i % 100);
    }
    const mercer_table table = {
        .size = sizeof table, .n = N, .d = 1, .dtype = MERCER_F64, .values = x, .labels = label};
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    for (int m = 0; m < 3; m++) {
        mercer_search *search = NULL;
        mercer_model *model = NULL;
        assert_ok(ctx, mercer_tune_default(ctx, machines[m], NULL, data, &search));
        assert_ok(ctx, mercer_search_fit(ctx, search, data, &model));
        assert_int_equal(mercer_model_classes(model), RARE + 2);
        check_stages(model);
        mercer_model_free(model);
        mercer_search_free(search);
    }
    mercer_data_free(data);
    free(label);
    free(x);
    mercer_close(ctx);
}

static void test_the_caller_can_stop_it(void **state) {
    (void)state;
    mercer_data *data = generated("friedman1", 20000);
    for (int after = 1; after < 9; after += 2) {
        stopper s = {.after = after};
        mercer_options options = mercer_options_defaults();
        options.time_limit = 30;
        options.threads = 1;
        options.progress = stop_after;
        options.progress_user = &s;
        mercer_ctx *ctx = NULL;
        mercer_model *model = NULL;
        assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
        mercer_kernel *kernel = kernel_of(ctx, "rbf");
        const mercer_status status = mercer_fit(ctx, "gp", NULL, kernel, data, &model);
        assert_true(status == MERCER_CANCELLED ? !model : !status && model);
        if (model) {
            assert_string_equal(mercer_model_report(model)->stopped, "caller");
            check_stages(model);
        }
        mercer_model_free(model);
        mercer_kernel_free(kernel);
        close_clean(ctx);
    }
    mercer_data_free(data);
}

/* ---- In proportion to the rows ---- */

static mercer_model *fit_in_proportion(int threads, const mercer_data *data) {
    mercer_ctx *ctx = open_ctx(threads);
    mercer_kernel *kernel = kernel_of(ctx, "matern(nu=2.5, length_scale=8)");
    mc_settings set;
    mercer_model *model = NULL;
    mc_begin_call(ctx);
    assert_ok(ctx, mc_settings_read(ctx, "ridge", NULL, &set));
    ((mercer_ridge *)(void *)set.values)->lambda = 1e-4;
    ((mercer_ridge *)(void *)set.values)->intercept = true;
    assert_ok(ctx, mc_fit_in_proportion(ctx, set.machine, set.values, kernel, data, &model));
    mercer_kernel_free(kernel);
    mercer_close(ctx);
    return model;
}

static void test_without_a_limit_the_bits_are_those_of_any_number_of_threads(void **state) {
    (void)state;
    if (test_sparse())
        skip_test("two fits of 20,000 rows, for their bits");
    mercer_data *data = generated("friedman1", 20000);
    mercer_model *one = fit_in_proportion(1, data), *three = fit_in_proportion(3, data);
    assert_true(mercer_model_report(one)->approximate);
    assert_string_equal(mercer_model_report(one)->stopped, "no");
    assert_string_equal(mercer_model_stages(one), mercer_model_stages(three));
    assert_int_equal(mercer_model_centres(one), mercer_model_centres(three));
    assert_memory_equal(one->f.alpha, three->f.alpha, (size_t)mercer_model_centres(one) * sizeof(double));
    json_t *stages = json_loads(mercer_model_stages(one), 0, NULL);
    assert_true(check_stages(one) < 1.1); /* the noise is 1 */
    assert_string_equal(json_string_value(json_object_get(stages, "by")), "work");
    json_decref(stages);
    mercer_model_free(one);
    mercer_model_free(three);
    mercer_data_free(data);
}

/* Few rows are fitted as ever. */
static void test_few_rows_are_no_matter_of_stages(void **state) {
    (void)state;
    mercer_data *data = generated("friedman1", 500);
    mercer_model *model = fit_in_proportion(2, data);
    assert_string_equal(mercer_model_stages(model), "");
    assert_false(mercer_model_report(model)->approximate);
    mercer_model_free(model);
    mercer_data_free(data);
}

static void test_a_file_keeps_the_stages(void **state) {
    (void)state;
    mercer_data *data = generated("friedman1", 3000);
    mercer_model *model = fit_within(1e-6, "ridge", NULL, "rbf", data), *loaded = NULL;
    mercer_ctx *ctx = open_ctx(1);
    size_t size = 0;
    assert_ok(ctx, mercer_model_to_memory(ctx, model, NULL, 0, &size));
    char *bytes = malloc(size);
    assert_ok(ctx, mercer_model_to_memory(ctx, model, bytes, size, &size));
    assert_ok(ctx, mercer_model_from_memory(ctx, bytes, size, &loaded));
    assert_string_equal(mercer_model_stages(loaded), mercer_model_stages(model));
    assert_string_not_equal(mercer_model_stages(loaded), "");
    free(bytes);
    mercer_model_free(loaded);
    mercer_model_free(model);
    mercer_data_free(data);
    close_clean(ctx);
}

/* ---- Limits within limits ---- */

static void test_a_shorter_limit_is_forgotten_and_the_callers_stop_is_not(void **state) {
    (void)state;
    mercer_ctx *ctx = open_limited(1e6, 1);
    mc_limit limit = mc_limit_open(ctx, -1);
    assert_int_equal(mc_report_progress(ctx, 0), MERCER_TIME);
    mc_limit_close(ctx, limit);
    assert_int_equal(mc_report_progress(ctx, 0), MERCER_OK);
    assert_true(mc_time_left(ctx) > 1e5);
    limit = mc_limit_open(ctx, 1e9); /* no later than the limit of the call */
    assert_true(mc_time_left(ctx) < 2e6);
    ctx->stop = ctx->told = MERCER_CANCELLED;
    mc_limit_close(ctx, limit);
    assert_int_equal(ctx->told, MERCER_CANCELLED);
    mc_begin_call(ctx);
    assert_int_equal(mercer_set_time_limit(ctx, -1), MERCER_INVALID);
    assert_ok(ctx, mercer_set_time_limit(ctx, 0));
    assert_true(isinf(mc_time_left(ctx)));
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_machine_has_a_model_however_short_the_time),
        cmocka_unit_test(test_time_enough_changes_nothing),
        cmocka_unit_test(test_a_lambda_that_cannot_be_solved_for_is_none_for_the_model),
        cmocka_unit_test(test_the_search_is_part_of_the_time),
        cmocka_unit_test(test_a_search_in_a_hurry_is_of_one_kernel),
        cmocka_unit_test(test_little_memory_is_no_reason_for_no_model),
        cmocka_unit_test(test_stages_grow_and_shrink),
        cmocka_unit_test(test_few_rows_are_no_worse_than_the_commonest_class),
        cmocka_unit_test(test_rare_classes_are_in_every_stage),
        cmocka_unit_test(test_the_caller_can_stop_it),
        cmocka_unit_test(test_without_a_limit_the_bits_are_those_of_any_number_of_threads),
        cmocka_unit_test(test_few_rows_are_no_matter_of_stages),
        cmocka_unit_test(test_a_file_keeps_the_stages),
        cmocka_unit_test(test_a_shorter_limit_is_forgotten_and_the_callers_stop_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
