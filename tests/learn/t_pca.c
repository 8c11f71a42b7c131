/* Kernel principal components: closed forms, what must hold of eigenvectors, and bad input. scikit-learn is asked in
   oracle/pca.py. */
#include "machines_of_test.h"
#include "base/ctx.h"
#include "linalg/krylov.h"
#include <unistd.h>

static mercer_pca set_of(int64_t components, const char *solver) {
    mercer_pca set = mercer_pca_defaults();
    set.components = components;
    set.solver = solver;
    set.scale = "none";
    return set;
}

static mercer_model *fit_pca(mercer_ctx *ctx, const char *text, const mercer_data *data, const mercer_pca *set) {
    mercer_kernel *kernel = kernel_of(ctx, text);
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_fit(ctx, "pca", set, kernel, data, &model));
    mercer_kernel_free(kernel);
    return model;
}

static mercer_data *rows_of(mercer_ctx *ctx, const double *x, int64_t n, int64_t d) {
    const mercer_table table = {.size = sizeof table, .n = n, .d = d, .dtype = MERCER_F64, .values = x};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

/* Four points of a rectangle about (5, 7): variance 4 * 9 along x, 4 * 1 along y. */
static void test_the_axes_of_a_rectangle_are_found(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double x[] = {8, 8, 8, 6, 2, 8, 2, 6}, at[] = {5 + 3, 7};
    mercer_data *data = rows_of(ctx, x, 4, 2), *one = rows_of(ctx, at, 1, 2);
    const mercer_pca set = set_of(2, "auto");
    mercer_model *model = fit_pca(ctx, "linear", data, &set);
    const mercer_component first = mercer_model_component(model, 0), second = mercer_model_component(model, 1);
    double out[2];
    assert_close(first.eigenvalue, 36, 1e-12);
    assert_close(second.eigenvalue, 4, 1e-11);
    assert_close(first.share, 0.9, 1e-12);
    assert_true(first.bound < 1e-9 && second.bound < 1e-9);
    assert_true(isnan(mercer_model_component(model, 2).eigenvalue) && isnan(mercer_model_component(model, -1).share));
    assert_ok(ctx, mercer_predict(ctx, model, one, out));
    assert_close(out[0], 3, 1e-12); /* the first row has the first of the largest entries, and is to the right */
    assert_close(out[1], 0, 1e-12);
    mercer_model_free(model);
    mercer_data_free(one);
    mercer_data_free(data);
    close_clean(ctx);
}

/* K = I for rows far apart: uncentred, every eigenvalue is 1. */
static void test_rows_far_apart_have_equal_eigenvalues(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    double x[20];
    for (int i = 0; i < 20; i++)
        x[i] = 100 * i;
    mercer_data *data = rows_of(ctx, x, 20, 1);
    for (int center = 0; center < 2; center++) {
        mercer_pca set = set_of(19, "dense");
        set.center = center;
        mercer_model *model = fit_pca(ctx, "rbf(gamma=1)", data, &set);
        for (int64_t k = 0; k < 19; k++)
            assert_close(mercer_model_component(model, k).eigenvalue, 1, 1e-12);
        assert_close(mercer_model_report(model)->variance, center ? 19 : 20, 1e-12);
        mercer_model_free(model);
    }
    mercer_data_free(data);
    close_clean(ctx);
}

static mercer_status try_fit(mercer_ctx *ctx, const char *text, const mercer_data *data, const mercer_pca *set) {
    mercer_kernel *kernel = kernel_of(ctx, text);
    mercer_model *model = NULL;
    const mercer_status status = mercer_fit(ctx, "pca", set, kernel, data, &model);
    assert_true(!status == (model != NULL));
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    return status;
}

static void test_more_components_than_there_are_directions_are_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const sheet s = random_sheet(ROWS, 1, 1);
    static const double same[6] = {1, 1, 1, 1, 1, 1};
    mercer_data *data = data_of(ctx, &s), *flat = rows_of(ctx, same, 6, 1);
    mercer_pca set = set_of(ROWS, "auto");
    assert_fails(ctx, try_fit(ctx, "rbf", data, &set), MERCER_INVALID,
                 "components = 60 and 60 rows that count vary in at most 59");
    set.components = ROWS + 1;
    set.center = false;
    assert_fails(ctx, try_fit(ctx, "rbf", data, &set), MERCER_INVALID, "at most 60 directions");
    set = set_of(4, "auto");
    assert_fails(ctx, try_fit(ctx, "linear", data, &set), MERCER_INVALID, "the data vary in 3 directions");
    set.solver = "krylov";
    assert_fails(ctx, try_fit(ctx, "linear", data, &set), MERCER_INVALID, "the data vary in 3 directions");
    set = set_of(2, "auto");
    assert_fails(ctx, try_fit(ctx, "linear", flat, &set), MERCER_DATA, "no variance");
    set = set_of(50, "krylov");
    assert_fails(ctx, try_fit(ctx, "rbf", data, &set), MERCER_INVALID, "use solver dense");
    set.components = 0;
    assert_fails(ctx, try_fit(ctx, "rbf", data, &set), MERCER_INVALID, "components");
    mercer_data_free(flat);
    mercer_data_free(data);
    close_clean(ctx);
}

/* The rectangle again, its second column counted against the first: eigenvalues 36, 0, 0, -4. */
static void test_by_consent_the_directions_of_positive_eigenvalues_are_found(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double x[] = {8, 8, 8, 6, 2, 8, 2, 6};
    const char *text = "linear[1] - linear[2]";
    mercer_data *data = rows_of(ctx, x, 4, 2);
    mercer_pca set = set_of(1, "auto");
    assert_fails(ctx, try_fit(ctx, text, data, &set), MERCER_NOT_A_KERNEL, "allow-indefinite");
    set.allow_indefinite = true;
    mercer_model *model = fit_pca(ctx, text, data, &set);
    const mercer_component first = mercer_model_component(model, 0);
    assert_close(first.eigenvalue, 36, 1e-12);
    assert_close(first.share, 1, 1e-12); /* of what is above zero */
    assert_true(first.bound > 1e-15 && first.bound < 1e-9);
    set.components = 3;
    assert_fails(ctx, try_fit(ctx, text, data, &set), MERCER_INVALID, "the data vary in 1 directions");
    set.components = 4;
    assert_fails(ctx, try_fit(ctx, text, data, &set), MERCER_NOT_A_KERNEL, "eigenvalue 4 of the matrix");
    set.solver = "krylov";
    assert_fails(ctx, try_fit(ctx, text, data, &set), MERCER_INVALID, "a kernel that is proved");
    mercer_model_free(model);
    mercer_data_free(data);
    close_clean(ctx);
}

enum { MANY = 700, FEW = 5 };

static void scores_of(int threads, const char *solver, double tolerance, double *out) {
    mercer_ctx *ctx = open_ctx(threads);
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_generate(ctx, "friedman1", MANY, 0.1, 3, &data));
    mercer_pca set = set_of(FEW, solver);
    set.tolerance = tolerance;
    mercer_model *model = fit_pca(ctx, "rbf(gamma=0.5)", data, &set);
    assert_string_equal(mercer_model_report(model)->solver, solver);
    assert_string_equal(mercer_model_report(model)->stopped, "no");
    assert_true(mercer_model_report(model)->certificate.residual_relative <= tolerance);
    assert_ok(ctx, mercer_predict(ctx, model, data, out));
    mercer_model_free(model);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_krylov_spaces_find_what_the_whole_decomposition_finds(void **state) {
    (void)state;
    static double a[MANY * FEW], b[MANY * FEW];
    scores_of(2, "dense", 1e-10, a);
    scores_of(2, "krylov", 1e-10, b);
    for (int64_t i = 0; i < MANY * FEW; i++)
        assert_close(a[i], b[i], 1e-6);
}

static void test_the_bits_do_not_depend_on_the_number_of_threads(void **state) {
    (void)state;
    static double a[MANY * FEW], b[MANY * FEW];
    scores_of(1, "krylov", 1e-6, a);
    for (int threads = 2; threads <= 16; threads *= 2) {
        scores_of(threads, "krylov", 1e-6, b);
        assert_memory_equal(a, b, sizeof a);
    }
}

/* The scores of the training rows have mean 0 and variance eigenvalue / n, and do not correlate. */
static void test_scores_are_uncorrelated_with_the_eigenvalues_as_squares(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    sheet s = random_sheet(ROWS, 1, 2);
    s.weighted = true;
    mercer_data *data = data_of(ctx, &s);
    const mercer_pca set = set_of(4, "auto");
    mercer_model *model = fit_pca(ctx, "rbf(gamma=0.4) + 0.1*linear", data, &set);
    double z[ROWS * 4];
    assert_ok(ctx, mercer_predict(ctx, model, data, z));
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            double sum = 0, mean = 0;
            for (int64_t i = 0; i < ROWS; i++) {
                sum += s.w[i] * z[i * 4 + a] * z[i * 4 + b];
                mean += s.w[i] * z[i * 4 + a];
            }
            assert_close(sum, a == b ? mercer_model_component(model, a).eigenvalue : 0, 1e-10);
            assert_close(mean, 0, 1e-10);
        }
    mercer_model_free(model);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_a_saved_model_gives_the_same_scores(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const sheet s = random_sheet(ROWS, 1, 4);
    mercer_data *data = data_of(ctx, &s);
    const mercer_pca set = set_of(3, "auto");
    mercer_model *model = fit_pca(ctx, "rbf(gamma=0.5)", data, &set), *loaded = NULL;
    double a[3 * ROWS], b[3 * ROWS];
    char path[] = "/tmp/mercer-pca-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_ok(ctx, mercer_model_save(ctx, model, path));
    assert_ok(ctx, mercer_model_load(ctx, path, &loaded));
    unlink(path);
    assert_null(mercer_model_target_name(loaded, 0));
    const mercer_component was = mercer_model_component(model, 2), is = mercer_model_component(loaded, 2);
    assert_memory_equal(&was, &is, sizeof is);
    assert_ok(ctx, mercer_predict(ctx, model, data, a));
    assert_ok(ctx, mercer_predict(ctx, loaded, data, b));
    assert_memory_equal(a, b, sizeof a);
    mercer_scores scores = {.size = sizeof scores};
    assert_fails(ctx, mercer_score(ctx, loaded, data, &scores), MERCER_INVALID, "no target is compared with");
    mercer_model_free(loaded);
    mercer_model_free(model);
    mercer_data_free(data);
    close_clean(ctx);
}

/* A forecast is what is needed at most; below it the fit does not start. */
static void test_the_forecast_of_memory_is_kept(void **state) {
    (void)state;
    static const char *const solvers[] = {"dense", "krylov"};
    for (int i = 0; i < 2; i++) {
        mercer_options options = mercer_options_defaults();
        options.memory_limit = (size_t)1 << 30;
        mercer_ctx *ctx = NULL;
        assert_ok(ctx, mercer_open(&options, &ctx));
        mercer_data *data = NULL;
        assert_ok(ctx, mercer_data_generate(ctx, "friedman1", 900, 0.1, 3, &data));
        mercer_kernel *kernel = kernel_of(ctx, "rbf");
        const size_t before = mercer_memory_used(ctx);
        const mercer_pca set = set_of(6, solvers[i]);
        mercer_plan plan = {.size = sizeof plan};
        mercer_model *model = NULL;
        assert_ok(ctx, mercer_plan_fit(ctx, "pca", &set, kernel, data, &plan));
        assert_string_equal(plan.chosen.solver, solvers[i]);
        mercer_close(ctx);
        options.memory_limit = before + plan.chosen.memory_bytes;
        assert_ok(ctx, mercer_open(&options, &ctx));
        mercer_data *again = NULL;
        assert_ok(ctx, mercer_data_generate(ctx, "friedman1", 900, 0.1, 3, &again));
        assert_ok(ctx, mercer_fit(ctx, "pca", &set, kernel, again, &model));
        mercer_close(ctx);
        if (i == 1) { /* krylov keeps K where it fits, and makes it anew for every product where it does not */
            mercer_model *without = NULL;
            options.memory_limit = before + plan.chosen.memory_bytes - 3000000;
            assert_ok(ctx, mercer_open(&options, &ctx));
            assert_ok(ctx, mercer_fit(ctx, "pca", &set, kernel, again, &without));
            for (int64_t k = 0; k < 6; k++)
                assert_close(mercer_model_component(model, k).eigenvalue, mercer_model_component(without, k).eigenvalue,
                             1e-6);
            mercer_model_free(without);
            mercer_close(ctx);
        }
        options.memory_limit = before + plan.chosen.memory_bytes / 3;
        assert_ok(ctx, mercer_open(&options, &ctx));
        mercer_model *none = NULL;
        assert_fails(ctx, mercer_fit(ctx, "pca", &set, kernel, again, &none), MERCER_MEMORY, "pca");
        mercer_close(ctx);
        mercer_model_free(model);
        mercer_kernel_free(kernel);
        mercer_data_free(data);
        mercer_data_free(again);
    }
}

static int stop_the_search(void *user, const mercer_progress *progress) {
    return progress->phase && strcmp(progress->phase, user) == 0;
}

/* Memory as usual; and the callback is due at once, where a fast machine would be done within the tenth of a second it
   waits. */
static void *due_at_once(void *user, void *block, size_t old_size, size_t new_size) {
    mercer_ctx **ctx = user;
    (void)old_size;
    if (*ctx && new_size) /* the last thing freed is the context itself */
        (*ctx)->next_progress = 0;
    if (new_size)
        return realloc(block, new_size);
    free(block);
    return NULL;
}

static void test_a_stopped_search_is_the_best_so_far_with_its_residuals(void **state) {
    (void)state;
    mercer_options options = mercer_options_defaults();
    mercer_ctx *ctx = NULL;
    options.progress = stop_the_search;
    options.progress_user = (void *)(uintptr_t) "eigen";
    options.memory = due_at_once;
    options.memory_user = &ctx;
    mercer_data *data = NULL;
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_open(&options, &ctx));
    assert_ok(ctx, mercer_data_generate(ctx, "friedman1", 2000, 0.1, 3, &data));
    mercer_kernel *kernel = kernel_of(ctx, "rbf(gamma=0.5)");
    mercer_pca set = set_of(FEW, "krylov");
    set.tolerance = 1e-13;
    assert_ok(ctx, mercer_fit(ctx, "pca", &set, kernel, data, &model));
    const mercer_report *r = mercer_model_report(model);
    assert_string_equal(r->stopped, "caller");
    assert_true(r->certificate.residual_relative > 1e-13 && r->certificate.residual_relative < 1);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

/* ---- The solver alone ---- */

static mercer_status scale_rows(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    (void)ctx;
    const double *d = self;
    for (int64_t i = 0; i < MANY; i++)
        for (int64_t k = 0; k < t; k++)
            Y[i * t + k] = d[i] * V[i * t + k];
    return MERCER_OK;
}

static void test_krylov_finds_the_largest_entries_of_a_diagonal(void **state) {
    (void)state;
    enum { B = 8 };
    mercer_ctx *ctx = open_ctx(2);
    static double d[MANY], X[MANY * B];
    double theta[B];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 9);
    for (int64_t i = 0; i < MANY; i++)
        d[i] = pow(0.9, (double)((i * 37) % MANY)); /* MANY is no multiple of 37 */
    for (int64_t i = 0; i < MANY * B; i++)
        X[i] = i % B == 3 ? 0 : mc_rng_normal(&rng); /* one column of the start is empty */
    const mc_krylov_problem problem = {
        .A = {.n = MANY, .apply = scale_rows, .self = d}, .wanted = 5, .block = B, .steps = 30, .tolerance = 1e-12};
    mc_krylov_result result;
    assert_ok(ctx, mc_krylov_solve(ctx, &problem, X, theta, &result));
    assert_true(result.settled);
    for (int k = 0; k < 5; k++) {
        assert_close(theta[k], pow(0.9, k), 1e-12);
        double square = 0;
        for (int64_t i = 0; i < MANY; i++)
            square += X[i * B + k] * X[i * B + k];
        assert_close(square, 1, 1e-12);
    }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_axes_of_a_rectangle_are_found),
        cmocka_unit_test(test_rows_far_apart_have_equal_eigenvalues),
        cmocka_unit_test(test_more_components_than_there_are_directions_are_refused),
        cmocka_unit_test(test_by_consent_the_directions_of_positive_eigenvalues_are_found),
        cmocka_unit_test(test_krylov_spaces_find_what_the_whole_decomposition_finds),
        cmocka_unit_test(test_the_bits_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(test_scores_are_uncorrelated_with_the_eigenvalues_as_squares),
        cmocka_unit_test(test_a_saved_model_gives_the_same_scores),
        cmocka_unit_test(test_the_forecast_of_memory_is_kept),
        cmocka_unit_test(test_a_stopped_search_is_the_best_so_far_with_its_residuals),
        cmocka_unit_test(test_krylov_finds_the_largest_entries_of_a_diagonal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
