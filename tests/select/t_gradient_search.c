/* A search down the slopes of the error comes to where a fine grid is lowest, or below; and says where there is no
   slope. */
#include "tune_of_test.h"

/* A fine grid is the reference evaluator, and of the numbers found the fit that leaves rows out by itself. */
static void test_slopes_lead_below_the_best_of_a_fine_grid(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = friedman(ctx);
    wish w = wish_of("ridge", "rbf(gamma=0.01..10)", "lambda=1e-5..100");
    mercer_search *grid = NULL, *found = NULL;
    for (int64_t folds = 0; folds <= 3; folds += 3) {
        w.set.folds = folds;
        w.set.search = "grid";
        w.set.points = 16;
        assert_ok(ctx, tune(ctx, &w, data, &grid));
        w.set.search = "gradient";
        assert_ok(ctx, tune(ctx, &w, data, &found));
        const mercer_tune_report *all = mercer_search_report(grid), *r = mercer_search_report(found);
        const mercer_candidate table = mercer_search_candidate(grid, all->best),
                               best = mercer_search_candidate(found, r->best);
        assert_true(best.score <= table.score * (1 + 1e-9) && best.score > table.score - table.error);
        assert_true(best.error > 0 && r->measured == mercer_search_count(found) && r->measured < 150 && r->share > 0);
        mercer_ridge set = mercer_ridge_defaults();
        mercer_kernel *kernel = kernel_of(ctx, best.kernel);
        mercer_path_row row;
        set.lambda = strtod(strchr(best.settings, '=') + 1, NULL);
        assert_ok(ctx, fit_path(ctx, "ridge", kernel, data, &set, &set.lambda, 1, NULL, NULL, &row));
        assert_true(folds || fabs(row.loo_rmse - best.score) < 1e-8 * best.score);
        mercer_kernel_free(kernel);
        mercer_search_free(grid);
        mercer_search_free(found);
    }
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_gcv_is_that_of_the_path_and_goes_down_too(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = friedman(ctx);
    wish w = wish_of("ridge", "rbf(gamma=0.01..10)", "lambda=0.001..100");
    double best[2];
    w.set.score = "gcv";
    w.set.points = 12;
    for (int way = 0; way < 2; way++) {
        mercer_search *search = NULL;
        w.set.search = way ? "gradient" : "grid";
        assert_ok(ctx, tune(ctx, &w, data, &search));
        const mercer_tune_report *r = mercer_search_report(search);
        const mercer_candidate c = mercer_search_candidate(search, r->best);
        const double lambda = strtod(strchr(c.settings, '=') + 1, NULL);
        mercer_kernel *kernel = kernel_of(ctx, c.kernel);
        mercer_path_row row;
        assert_ok(ctx, fit_path(ctx, "ridge", kernel, data, NULL, &lambda, 1, NULL, NULL, &row));
        assert_close(c.score, sqrt(row.gcv), 1e-8);
        assert_string_equal(r->splits, "all rows, by generalised cross-validation");
        best[way] = c.score;
        mercer_kernel_free(kernel);
        mercer_search_free(search);
    }
    assert_true(best[1] <= best[0] * (1 + 1e-9));
    w.set.folds = 3;
    assert_fails(ctx, refused(ctx, w, data), MERCER_INVALID, "gcv is of all rows at once");
    w.machine = "gp";
    assert_fails(ctx, refused(ctx, w, data), MERCER_INVALID, "gcv is a score of ridge, not of gp");
    mercer_data_free(data);
    close_clean(ctx);
}

/* Sets and whole numbers have no slope: every combination has its own starts. Parts that are alike do not stay so. */
static void test_every_combination_of_a_set_has_its_starts(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = friedman(ctx);
    wish w =
        wish_of("ridge", "matern(nu={0.5, 2.5}, length_scale=1..10) + poly(degree=1..2, c=0..2)", "lambda=0.001..10");
    w.set.search = "gradient";
    w.set.candidates = 1;
    mercer_search *search = NULL;
    assert_ok(ctx, tune(ctx, &w, data, &search));
    int64_t of[2][2] = {{0}};
    for (int64_t i = 0; i < mercer_search_count(search); i++) {
        const char *kernel = mercer_search_candidate(search, i).kernel;
        of[strstr(kernel, "nu=2.5") != NULL][strstr(kernel, "degree=2") != NULL]++;
    }
    assert_true(of[0][0] > 2 && of[0][1] > 2 && of[1][0] > 2 && of[1][1] > 2);
    mercer_search_free(search);
    w.kernel = "rbf(gamma=0.01..10) + rbf(gamma=0.01..10)";
    w.set.one_error = true;
    assert_ok(ctx, tune(ctx, &w, data, &search));
    const mercer_tune_report *r = mercer_search_report(search);
    assert_non_null(strstr(mercer_search_candidate(search, r->first).kernel, " + "));
    assert_true(strtod(mercer_search_candidate(search, r->best).settings + 7, NULL)
                >= strtod(mercer_search_candidate(search, r->first).settings + 7, NULL));
    mercer_search_free(search);
    w = wish_of("gp", "rbf(sigma=0.5..2)", NULL);
    w.set.search = "gradient";
    w.set.candidates = 2;
    assert_ok(ctx, tune(ctx, &w, data, &search));
    assert_int_equal(mercer_search_count(search), 2);
    mercer_search_free(search);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_what_has_no_slope_is_refused_with_the_cure(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *classes = moons(ctx), *data = friedman(ctx);
    wish w = wish_of("svc", "rbf(gamma=0.1..1)", NULL);
    w.set.search = "gradient";
    assert_fails(ctx, refused(ctx, w, classes), MERCER_INVALID, "not of svc; use search=grid");
    w.machine = "ridge";
    assert_fails(ctx, refused(ctx, w, classes), MERCER_INVALID, "accuracy has no slopes");
    w.set.halving = true;
    assert_fails(ctx, refused(ctx, w, data), MERCER_INVALID, "leave one of them out");
    w.set.halving = false;
    w.set.ordered = true;
    assert_fails(ctx, refused(ctx, w, data), MERCER_INVALID, "order of time");
    w.set.ordered = false;
    w.kernel = "rbf(gamma={1, 2})";
    w.range = "lambda={1, 2}";
    assert_fails(ctx, refused(ctx, w, data), MERCER_INVALID, "nothing of rbf(gamma={1, 2})");
    w.range = "tolerance=1e-8..1e-6";
    assert_fails(ctx, refused(ctx, w, data), MERCER_INVALID, "no slope along tolerance; give a set");
    w.set.search = "uphill";
    assert_fails(ctx, refused(ctx, w, data), MERCER_INVALID, "grid, random or gradient, got 'uphill'");
    mercer_data_free(classes);
    mercer_data_free(data);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slopes_lead_below_the_best_of_a_fine_grid),
        cmocka_unit_test(test_gcv_is_that_of_the_path_and_goes_down_too),
        cmocka_unit_test(test_every_combination_of_a_set_has_its_starts),
        cmocka_unit_test(test_what_has_no_slope_is_refused_with_the_cure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
