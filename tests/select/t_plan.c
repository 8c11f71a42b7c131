/* A forecast is a promise: with exactly the bytes it names a fit succeeds, and it uses nearly all of them. */
#include "../learn/machines_of_test.h"
#include "learn/ridge/ridge_cost.h"

enum { MANY = 900, WIDE = 4, WIDEST = 36, TARGETS = 7 };

/* Of WIDE columns, or of so many that K is worth keeping. */
static mercer_data *table_with(mercer_ctx *ctx, int64_t d, int64_t outputs, bool weighted) {
    static double x[MANY * WIDEST], y[MANY * TARGETS], w[MANY];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 60);
    for (int64_t i = 0; i < MANY * d; i++)
        x[i] = mc_rng_normal(&rng) * (i % d ? 1 : 100);
    for (int i = 0; i < MANY * TARGETS; i++)
        y[i] = mc_rng_normal(&rng);
    for (int i = 0; i < MANY; i++)
        w[i] = i % 9 ? 1 : 0;
    mercer_table table = {
        .size = sizeof table, .n = MANY, .d = d, .dtype = MERCER_F64, .values = x, .target = y, .outputs = outputs};
    table.weights = weighted ? w : NULL;
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

static mercer_data *table_of(mercer_ctx *ctx, int64_t outputs, bool weighted) {
    return table_with(ctx, WIDE, outputs, weighted);
}

static const struct {
    double lambda;
    const char *solver, *scale;
    bool loo, intercept, weighted;
    int64_t outputs;
} cases[] = {
    {1, "auto", "auto", false, false, false, 1},
    {1, "cholesky", "none", true, true, false, 3},
    {1, "eigen", "standard", true, true, true, 1},
    {0, "auto", "none", false, false, false, 2},
    {1, "cholesky", "minmax", true, true, true, 2},
    {1, "cholesky", "none", false, true, false, TARGETS},
    {1, "eigen", "none", false, false, false, 6},
    {1, "pcg", "none", false, false, false, 1},
    {1, "pcg", "standard", false, true, true, TARGETS},
    {1, "primal", "none", true, true, false, 2},
    {1, "primal", "minmax", false, false, true, TARGETS},
    {1, "nystrom", "none", false, false, false, 1},
    {1, "nystrom", "standard", false, true, true, TARGETS},
    {1, "fourier", "none", false, false, false, 1},
    {1, "fourier", "standard", false, true, true, TARGETS},
    {1, "mixed", "none", false, false, false, 1},
    {1, "mixed", "standard", false, true, true, TARGETS},
    {1, "pcg", "minmax", false, true, true, 2},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static mercer_ridge settings_of(int k) {
    mercer_ridge set = mercer_ridge_defaults();
    set.lambda = cases[k].lambda;
    set.solver = cases[k].solver;
    set.scale = cases[k].scale;
    set.loo = cases[k].loo;
    set.intercept = cases[k].intercept;
    return set;
}

static int64_t columns_of(int k) {
    return strcmp(cases[k].solver, "pcg") == 0 && strcmp(cases[k].scale, "minmax") == 0 ? WIDEST : WIDE;
}

static const char *kernel_for(int k) {
    return strcmp(cases[k].solver, "primal") ? "rbf" : "poly(degree=3, c=1, gamma=0.1)";
}

/* Which ways take what is forecast to the last bytes; the others stop growing when it pays no more. */
static bool is_direct(int k) {
    return (strcmp(cases[k].solver, "auto") == 0 && cases[k].loo) || strcmp(cases[k].solver, "cholesky") == 0
           || strcmp(cases[k].solver, "eigen") == 0;
}

/* Asked for once. */
static size_t forecast_of(int k) {
    static size_t known[CASES];
    if (known[k])
        return known[k];
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = table_with(ctx, columns_of(k), cases[k].outputs, cases[k].weighted);
    mercer_kernel *kernel = kernel_of(ctx, kernel_for(k));
    const mercer_ridge set = settings_of(k);
    mercer_plan plan = {.size = sizeof plan};
    assert_ok(ctx, mercer_plan_fit(ctx, "ridge", &set, kernel, data, &plan));
    assert_true(plan.chosen.possible);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
    return known[k] = plan.chosen.memory_bytes;
}

/* Data in a context of its own, so that the limit is for the fit alone. */
static mercer_status fit_within(int k, size_t limit, size_t *peak, char *message) {
    mercer_ctx *owner = open_ctx(1), *ctx = NULL;
    mercer_data *data = table_with(owner, columns_of(k), cases[k].outputs, cases[k].weighted);
    mercer_kernel *kernel = kernel_of(owner, kernel_for(k));
    mercer_options options = mercer_options_defaults();
    options.memory_limit = limit;
    options.threads = 2;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    const mercer_ridge set = settings_of(k);
    mercer_model *model = NULL;
    const mercer_status status = mercer_fit(ctx, "ridge", &set, kernel, data, &model);
    snprintf(message, 1024, "%s", mercer_message(ctx));
    *peak = mercer_memory_peak(ctx);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
    close_clean(owner);
    return status;
}

static void test_a_fit_keeps_to_its_forecast(void **state) {
    (void)state;
    const size_t context = 4096; /* the context itself */
    for (int k = 0; k < CASES; k++) {
        const size_t forecast = forecast_of(k);
        size_t peak;
        char message[1024];
        if (fit_within(k, forecast + context, &peak, message) != MERCER_OK)
            fail_msg("case %d with %zu bytes: %s", k, forecast, message);
        if (!((double)peak >= (is_direct(k) ? 0.9 : 0.2) * (double)forecast))
            fail_msg("case %d: %zu bytes were forecast and %zu used", k, forecast, peak);
    }
}

/* Of machines that learn their kernel, or hold more the more there is. */
static void test_other_machines_keep_to_their_forecasts(void **state) {
    (void)state;
    static const struct {
        const char *machine, *data;
        int64_t rows;
    } some[] = {{"gp", "friedman1", 100},    {"gp", "friedman1", 400},   {"logistic", "moons", 900},
                {"logistic", "moons", 1600}, {"svr", "friedman1", 1600}, {"one-class", "friedman1", 1600}};
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        mercer_ctx *owner = open_ctx(1), *ctx = open_ctx(2);
        mercer_data *data = NULL;
        mercer_kernel *kernel = kernel_of(owner, "rbf(gamma=0.5)");
        mercer_plan plan = {.size = sizeof plan};
        mercer_model *model = NULL;
        const mercer_machine *machine = mercer_machine_find(some[k].machine);
        mercer_gp short_search = mercer_gp_defaults();
        short_search.restarts = 0;
        short_search.iterations = 3;
        const void *set = k < 2 ? &short_search : NULL;
        assert_ok(owner, mercer_data_generate(owner, some[k].data, some[k].rows, 0.3, 1, &data));
        assert_ok(ctx, mercer_plan_fit(ctx, machine->name, set, kernel, data, &plan));
        assert_ok(ctx, mercer_fit(ctx, machine->name, set, kernel, data, &model));
        if (mercer_memory_peak(ctx) > plan.chosen.memory_bytes + 4096) /* the context itself */
            fail_msg("%s of %lld rows: %zu bytes were forecast and %zu taken", some[k].machine, (long long)some[k].rows,
                     plan.chosen.memory_bytes, mercer_memory_peak(ctx));
        mercer_model_free(model);
        mercer_kernel_free(kernel);
        mercer_data_free(data);
        close_clean(ctx);
        close_clean(owner);
    }
}

/* Every engine; what a search takes depends on its stages, its splits and the fit of the winner. */
static void test_searches_keep_to_their_forecasts(void **state) {
    (void)state;
    static const struct {
        const char *machine, *data;
        bool folds, halving, held;
        int64_t rows;
        double noise; /* with much of it the folds of svc take all that there is for them */
    } some[] = {
        {"ridge", "friedman1", false, false, false, 300, 0.3}, {"ridge", "friedman1", true, false, false, 300, 0.3},
        {"ridge", "friedman1", false, true, false, 800, 0.3},  {"svc", "moons", true, false, false, 2400, 2},
        {"svc", "moons", false, false, true, 600, 0.3},        {"svr", "friedman1", true, false, false, 300, 0.3},
        {"logistic", "moons", true, false, false, 300, 0.3},   {"knn", "moons", true, false, false, 600, 0.3}};
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        mercer_ctx *owner = open_ctx(1), *ctx = open_ctx(2);
        mercer_data *data = NULL, *test = NULL;
        mercer_tune set = mercer_tune_defaults();
        mercer_tune_plan plan = {.size = sizeof plan};
        mercer_search *search = NULL;
        mercer_model *model = NULL;
        const mercer_machine *machine = mercer_machine_find(some[k].machine);
        set.folds = some[k].folds ? 3 : 0;
        set.halving = some[k].halving;
        set.points = 3;
        assert_ok(owner, mercer_data_generate(owner, some[k].data, some[k].rows, some[k].noise, 1, &data));
        assert_ok(owner, mercer_data_generate(owner, some[k].data, some[k].rows, some[k].noise, 2, &test));
        set.hold_out = some[k].held ? test : NULL;
        assert_ok(ctx, mercer_plan_tune(ctx, machine->name, NULL, &set, data, &plan));
        assert_ok(ctx, mercer_tune_run(ctx, machine->name, NULL, &set, data, &search));
        assert_ok(ctx, mercer_search_fit(ctx, search, data, &model));
        assert_int_equal(plan.rows, mercer_data_rows(data));
        assert_true(plan.candidates > 1 && plan.fits > 0 && plan.seconds > 0 && plan.possible);
        if (mercer_memory_peak(ctx) > plan.memory_bytes + 4096) /* the context itself */
            fail_msg("%s: %zu bytes were forecast and %zu taken", some[k].machine, plan.memory_bytes,
                     mercer_memory_peak(ctx));
        mercer_model_free(model);
        mercer_search_free(search);
        mercer_data_free(data);
        mercer_data_free(test);
        close_clean(ctx);
        close_clean(owner);
    }
}

/* The one before a fit for which nothing is given; a process learns length scales for ridge. */
static void test_the_short_search_keeps_to_its_forecast(void **state) {
    (void)state;
    static const struct {
        const char *machine, *data;
        int64_t rows, candidates;
    } some[] = {
        {"ridge", "friedman1", 200, (13 + 1) * 17}, {"svc", "moons", 300, 7 * 6}, {"logistic", "moons", 100, 7 * 5}};
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        mercer_ctx *owner = open_ctx(1), *ctx = open_ctx(2);
        const mercer_machine *machine = mercer_machine_find(some[k].machine);
        mercer_data *data = NULL;
        mercer_tune_plan plan = {.size = sizeof plan};
        mercer_search *search = NULL;
        assert_ok(owner, mercer_data_generate(owner, some[k].data, some[k].rows, 0.3, 1, &data));
        assert_ok(ctx, mercer_plan_default(ctx, machine->name, NULL, data, &plan));
        assert_ok(ctx, mercer_tune_default(ctx, machine->name, NULL, data, &search));
        assert_int_equal(plan.candidates, some[k].candidates);
        assert_int_equal(plan.candidates, mercer_search_count(search));
        assert_int_equal(plan.rows, some[k].rows);
        assert_true(plan.seconds > 0 && plan.possible);
        if (mercer_memory_peak(ctx) > plan.memory_bytes + 4096) /* the context itself */
            fail_msg("%s: %zu bytes were forecast and %zu taken", some[k].machine, plan.memory_bytes,
                     mercer_memory_peak(ctx));
        mercer_search_free(search);
        assert_fails(ctx, mercer_plan_default(ctx, "gp", NULL, data, &plan), MERCER_INVALID, "no rule");
        mercer_data_free(data);
        close_clean(ctx);
        close_clean(owner);
    }
}

static void test_too_little_memory_is_said_first(void **state) {
    (void)state;
    for (int k = 0; k < CASES; k++) {
        const size_t forecast = forecast_of(k);
        size_t peak;
        char message[1024];
        if (!is_direct(k) || (strcmp(cases[k].solver, "auto") == 0 && cases[k].lambda > 0))
            continue; /* another way is taken, or a smaller rank */
        assert_int_equal(fit_within(k, forecast / 2, &peak, message), MERCER_MEMORY);
        assert_non_null(strstr(message, "rows would fit"));
        assert_true(peak < forecast / 8); /* the matrix was never begun */
    }
}

/* What the message says would fit does fit. */
static void test_the_rows_said_to_fit_do(void **state) {
    (void)state;
    mercer_ctx *owner = open_ctx(1), *ctx = NULL;
    mercer_data *data = table_of(owner, 1, false), *less = NULL;
    mercer_kernel *kernel = kernel_of(owner, "rbf");
    mercer_options options = mercer_options_defaults();
    options.memory_limit = 1 << 20;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    mercer_model *model = NULL;
    mercer_ridge set = mercer_ridge_defaults();
    set.solver = "cholesky";
    assert_fails(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model), MERCER_MEMORY, "cholesky on 900 rows");
    const int64_t rows = strtoll(strchr(mercer_message(ctx), '(') + 1, NULL, 10);
    assert_in_range(rows, 200, 600);
    assert_ok(owner, mercer_data_take(owner, data, NULL, rows, &less));
    assert_ok(ctx, mercer_fit(ctx, "ridge", &set, kernel, less, &model));
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    mercer_data_free(less);
    close_clean(ctx);
    close_clean(owner);
}

static void test_the_plan_names_what_the_fit_takes(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = table_of(ctx, 1, false);
    mercer_kernel *kernel = kernel_of(ctx, "rbf");
    const mercer_machine *ridge = mercer_machine_find("ridge");
    for (int k = 0; k < 4; k++) {
        mercer_ridge set = plain(k & 1);
        set.solver = k & 2 ? "eigen" : "auto";
        mercer_plan plan = {.size = sizeof plan};
        mercer_model *model = NULL;
        assert_ok(ctx, mercer_plan_fit(ctx, ridge->name, &set, kernel, data, &plan));
        assert_ok(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model));
        assert_string_equal(plan.chosen.solver, mercer_model_report(model)->solver);
        assert_int_equal(plan.alternative_count, 6);
        for (int i = 0; i < plan.alternative_count; i++)
            assert_string_not_equal(plan.alternatives[i].solver, plan.chosen.solver);
        assert_true(plan.chosen.seconds > 0 && plan.chosen.seconds < 100);
        assert_true(strlen(plan.chosen.reason) > 10);
        mercer_model_free(model);
    }
    mercer_plan plan = {.size = sizeof plan};
    assert_ok(ctx, mercer_plan_fit(ctx, ridge->name, NULL, kernel, data, &plan));
    assert_string_equal(plan.chosen.solver, "pcg");
    mercer_ridge wrong = plain(-1);
    assert_fails(ctx, mercer_plan_fit(ctx, ridge->name, &wrong, kernel, data, &plan), MERCER_INVALID, "lambda");
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_a_plan_that_does_not_fit_says_so(void **state) {
    (void)state;
    mercer_options options = mercer_options_defaults();
    options.memory_limit = 3 << 20;
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    mercer_data *data = table_of(ctx, 1, false);
    mercer_kernel *kernel = kernel_of(ctx, "rbf");
    mercer_plan plan = {.size = sizeof plan};
    mercer_ridge set = mercer_ridge_defaults();
    set.solver = "cholesky";
    assert_ok(ctx, mercer_plan_fit(ctx, "ridge", &set, kernel, data, &plan));
    assert_false(plan.chosen.possible);
    assert_non_null(strstr(plan.chosen.reason, "memory"));
    assert_ok(ctx, mercer_plan_fit(ctx, "ridge", NULL, kernel, data, &plan));
    assert_true(plan.chosen.possible);
    assert_string_equal(plan.chosen.solver, "pcg");
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

/* Fit by whatever way fits; the message on failure. */
static mercer_status fit_auto(size_t limit, size_t *peak, char *message) {
    mercer_ridge set = mercer_ridge_defaults();
    set.loo = true;
    mercer_ctx *owner = open_ctx(1), *ctx = NULL;
    mercer_data *data = table_of(owner, 2, true);
    mercer_kernel *kernel = kernel_of(owner, "rbf");
    mercer_options options = mercer_options_defaults();
    options.memory_limit = limit;
    options.threads = 2;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    mercer_model *model = NULL;
    const mercer_status status = mercer_fit(ctx, "ridge", &set, kernel, data, &model);
    snprintf(message, 1024, "%s", status ? mercer_message(ctx) : mercer_model_report(model)->solver);
    *peak = mercer_memory_peak(ctx);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
    close_clean(owner);
    return status;
}

static void test_less_memory_means_another_way_then_none(void **state) {
    (void)state;
    char message[1024];
    size_t peak;
    assert_int_equal(fit_auto(64 << 20, &peak, message), MERCER_OK);
    assert_string_equal(message, "cholesky");
    assert_int_equal(fit_auto(2 << 20, &peak, message), MERCER_OK);
    assert_string_equal(message, "pcg");
    assert_true(peak <= 2 << 20);
    assert_int_equal(fit_auto(200 << 10, &peak, message), MERCER_MEMORY);
    const char *limit = strstr(message, "with a limit of ");
    assert_non_null(limit);
    const double said = strtod(limit + 16, NULL) * (strstr(limit, "MiB") ? 1 << 20 : 1 << 10);
    assert_int_equal(fit_auto((size_t)said, &peak, message), MERCER_OK); /* the limit said to work does */
    assert_string_equal(message, "pcg");
    assert_int_equal(fit_auto((size_t)(0.95 * said), &peak, message), MERCER_MEMORY);
}

/* With seconds made up: the way that is preferred where it ends in time, else the exact one that ends soonest, else the
   one that can be stopped. What is approximate is never chosen. */
static void test_a_time_limit_decides(void **state) {
    (void)state;
    mercer_options options = mercer_options_defaults();
    options.time_limit = 1e6;
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    mercer_data *data = table_of(ctx, 1, false);
    mercer_kernel *kernel = kernel_of(ctx, "rbf");
    mercer_plan plan = {.size = sizeof plan}, unlimited = {.size = sizeof unlimited};
    mercer_ctx *free_ctx = open_ctx(0);
    assert_ok(ctx, mercer_plan_fit(ctx, "ridge", NULL, kernel, data, &plan));
    assert_ok(free_ctx, mercer_plan_fit(free_ctx, "ridge", NULL, kernel, data, &unlimited));
    assert_string_equal(plan.chosen.solver, unlimited.chosen.solver);
    close_clean(free_ctx);
    static const struct {
        double cholesky, eigen, pcg, nystrom;
        const char *chosen;
    } wanted[] = {{5e5, 9e5, 1, 1, "cholesky"},
                  {2e6, 9e5, 3e6, 1, "eigen"},
                  {2e6, 4e6, 5e5, 1, "pcg"},
                  {2e6, 4e6, 3e6, 1, "pcg"}};
    for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
        const mc_ridge_size size = {.n = 10, .outputs = 1, .lambda = 1, .features = -1};
        mc_solver_options ways;
        mc_ridge_rank_solvers(ctx, &size, "auto", &ways);
        assert_string_equal(ways.option[ways.chosen].solver, "cholesky");
        for (int i = 0; i < ways.count; i++) {
            const char c = ways.option[i].solver[0];
            const double near = c == 'p' ? wanted[k].pcg : c == 'm' ? 1e9 : wanted[k].nystrom;
            ways.option[i].seconds = c == 'c' ? wanted[k].cholesky : c == 'e' ? wanted[k].eigen : near;
        }
        mc_ridge_in_time(ctx, &ways);
        assert_string_equal(ways.option[ways.chosen].solver, wanted[k].chosen);
    }
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

static mercer_status make_a_plan(mercer_ctx *ctx, void *arg) {
    const sheet *s = arg;
    const mercer_table table = {
        .size = sizeof table, .n = s->n, .d = s->d, .dtype = MERCER_F64, .values = s->x, .target = s->y, .outputs = 1};
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_plan plan = {.size = sizeof plan};
    mercer_status status = mercer_data_make(ctx, &table, &data);
    if (!status)
        status = mercer_kernel_parse(ctx, "rbf", &kernel);
    if (!status)
        status = mercer_plan_fit(ctx, "ridge", NULL, kernel, data, &plan);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

static void test_plan_survives_failing_memory(void **state) {
    (void)state;
    sheet s = random_sheet(10, 1, 61);
    assert_survives_failing_memory(make_a_plan, &s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_fit_keeps_to_its_forecast),
        cmocka_unit_test(test_other_machines_keep_to_their_forecasts),
        cmocka_unit_test(test_searches_keep_to_their_forecasts),
        cmocka_unit_test(test_the_short_search_keeps_to_its_forecast),
        cmocka_unit_test(test_too_little_memory_is_said_first),
        cmocka_unit_test(test_the_rows_said_to_fit_do),
        cmocka_unit_test(test_the_plan_names_what_the_fit_takes),
        cmocka_unit_test(test_a_plan_that_does_not_fit_says_so),
        cmocka_unit_test(test_less_memory_means_another_way_then_none),
        cmocka_unit_test(test_a_time_limit_decides),
        cmocka_unit_test(test_plan_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
