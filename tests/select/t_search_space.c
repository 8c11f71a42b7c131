/* What is searched: ranges and sets as they are written, grids, and points that fill a cube. */
#include "tune_of_test.h"

static void test_bad_ranges_are_named(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = moons(ctx);
    static const struct {
        const char *range, *says;
    } bad[] = {{"C=10..1", "reversed"},
               {"C=1..1", "empty"},
               {"C=1..", "no end"},
               {"C={}", "the set is empty"},
               {"C={1, 2", "closing"},
               {"C=-1..2", "must be in"},
               {"lambda=1..2", "no setting 'lambda'"},
               {"scale=1..2", "no setting"},
               {"iterations=1.5..3", "whole"},
               {"C=1..2x", "nothing was expected"},
               {"C=1", "'..' is missing"},
               {"1..2", "name=low..high"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_fails(ctx, refused(ctx, wish_of("svc", "rbf", bad[i].range), data), MERCER_INVALID, bad[i].says);
    wish w = wish_of("svc", "rbf", NULL);
    w.set.score = "acuracy";
    assert_fails(ctx, refused(ctx, w, data), MERCER_INVALID, "did you mean 'accuracy'");
    w.set.score = "rmse";
    assert_fails(ctx, refused(ctx, w, data), MERCER_INVALID, "score of numbers");
    w.set.score = "log-loss";
    assert_fails(ctx, refused(ctx, w, data), MERCER_INVALID, "probabilities");
    w.set.score = "auto";
    w.set.folds = 46;
    assert_fails(ctx, refused(ctx, w, data), MERCER_DATA, "class '0' has 45 rows, fewer than the 46 folds");
    assert_fails(ctx, refused(ctx, wish_of("pca", "rbf", NULL), data), MERCER_INVALID, "nothing to measure");
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_a_grid_takes_every_combination(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_kernel *kernels[] = {kernel_of(ctx, "rbf(gamma=0.01..1) + poly(degree=1..3)"),
                                kernel_of(ctx, "matern(nu=0.5..2.5)")};
    static const char *const ranges[] = {"C={1, 5, 25}", "tolerance=1e-4..1e-2", NULL};
    mercer_tune set = mercer_tune_defaults();
    set.kernels = (const mercer_kernel *const *)kernels;
    set.kernel_count = 2;
    set.ranges = ranges;
    set.points = 3;
    mc_search_space space;
    assert_ok(ctx, mc_search_space_open(ctx, mercer_machine_find("svc"), &set, "C", &space));
    assert_int_equal(space.count, 3 * 3 * 3 * 3 + 3 * 3 * 3);
    assert_string_equal(space.dimension[1].name, "C"); /* the path comes last */
    assert_string_equal(space.dimension[2].name, "rbf.gamma");
    assert_string_equal(space.dimension[3].name, "poly.degree");
    assert_int_equal(mc_search_space_run(&space, 0), 3);
    char *text = NULL;
    mercer_kernel *kernel = NULL;
    mc_text words = mc_text_open(ctx);
    mc_search_space_write(&space, 4, &words);
    assert_ok(ctx, mc_text_take(&words, &text));
    assert_string_equal(text, "tolerance=0.001 C=5");
    assert_ok(ctx, mc_search_space_kernel(ctx, &space, space.count - 1, &kernel));
    assert_string_equal(mercer_kernel_text(kernel), "matern(nu=2.5)");
    mc_free(text);
    mercer_kernel_free(kernel);
    mc_search_space_close(&space);
    mercer_kernel_free(kernels[0]);
    mercer_kernel_free(kernels[1]);
    close_clean(ctx);
}

/* Of 2^k points one lies in each of 2^k equal parts, in every coordinate; so it is for every seed. */
static void test_random_points_fill_the_cube_evenly(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++) {
        int seen[MC_SOBOL_MOST][64] = {{0}};
        double u[MC_SOBOL_MOST];
        for (int64_t i = 0; i < 64; i++) {
            mc_sobol_point(seed, i, MC_SOBOL_MOST, u);
            for (int j = 0; j < MC_SOBOL_MOST; j++)
                seen[j][(int)(64 * u[j])]++;
        }
        for (int j = 0; j < MC_SOBOL_MOST; j++)
            for (int k = 0; k < 64; k++)
                assert_int_equal(seen[j][k], 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_ranges_are_named),
        cmocka_unit_test(test_a_grid_takes_every_combination),
        cmocka_unit_test(test_random_points_fill_the_cube_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
