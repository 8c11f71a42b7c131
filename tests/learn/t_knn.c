/* Nearest neighbours in feature space: against a plain sort of k(x,x) + k(z,z) - 2 k(x,z), and by what must hold. */
#include "machines_of_test.h"
#include <unistd.h>

enum { NEW = 23 };

static mercer_model *fit_knn(mercer_ctx *ctx, const char *kernel_text, const mercer_data *data, int64_t k,
                             const char *weighting) {
    mercer_kernel *kernel = kernel_of(ctx, kernel_text);
    mercer_knn set = mercer_knn_defaults();
    set.neighbors = k;
    set.weighting = weighting;
    set.scale = "none";
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_fit(ctx, "knn", &set, kernel, data, &model));
    mercer_kernel_free(kernel);
    return model;
}

static double value_of(mercer_ctx *ctx, const mercer_kernel *kernel, const double *x, const double *z) {
    double value = 0;
    assert_ok(ctx, mercer_kernel_value(ctx, kernel, x, z, COLUMNS_, &value));
    return value;
}

/* The mean of the targets of the k nearest rows to x, by a plain search. */
static double nearest_mean(mercer_ctx *ctx, const mercer_kernel *kernel, const sheet *s, const double *x, int64_t k,
                           bool by_distance) {
    double square[ROWS], sum = 0, weight = 0;
    bool used[ROWS] = {false};
    for (int64_t i = 0; i < s->n; i++) {
        const double *z = s->x + i * s->d;
        square[i] = value_of(ctx, kernel, x, x) + value_of(ctx, kernel, z, z) - 2 * value_of(ctx, kernel, x, z);
    }
    for (int64_t step = 0; step < k; step++) {
        int64_t best = -1;
        for (int64_t i = 0; i < s->n; i++)
            if (!used[i] && (best < 0 || square[i] < square[best]))
                best = i;
        used[best] = true;
        const double w = by_distance ? 1 / sqrt(square[best]) : 1;
        sum += w * s->y[best];
        weight += w;
    }
    return sum / weight;
}

static void compare(mercer_ctx *ctx, const char *text, int64_t k, const char *weighting) {
    const sheet s = random_sheet(ROWS, 1, 1), t = random_sheet(NEW, 1, 2);
    mercer_data *data = data_of(ctx, &s);
    mercer_model *model = fit_knn(ctx, text, data, k, weighting);
    double out[NEW];
    predict_sheet(ctx, model, &t, out);
    for (int64_t i = 0; i < NEW; i++)
        assert_close(
            out[i],
            nearest_mean(ctx, mercer_model_kernel(model), &s, t.x + i * t.d, k, strcmp(weighting, "distance") == 0),
            1e-9);
    mercer_model_free(model);
    mercer_data_free(data);
}

static void test_numbers_are_the_mean_over_the_nearest_rows(void **state) {
    (void)state;
    static const char *const kernels[] = {"linear", "rbf(gamma=0.3)", "poly(degree=3)",
                                          "laplacian(gamma=1) + 0.2*linear"};
    mercer_ctx *ctx = open_ctx(2);
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        for (int64_t k = 1; k <= ROWS; k += 19) {
            compare(ctx, kernels[i], k, "uniform");
            compare(ctx, kernels[i], k, "distance");
        }
    close_clean(ctx);
}

/* Rows on a line with classes; text labels. */
static mercer_data *line(mercer_ctx *ctx, const double *x, const char *const *labels, const double *weights,
                         int64_t n) {
    const mercer_table table = {
        .size = sizeof table, .n = n, .d = 1, .dtype = MERCER_F64, .values = x, .labels = labels, .weights = weights};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

static void shares_at(mercer_ctx *ctx, const mercer_model *model, double at, double *out) {
    const mercer_table table = {.size = sizeof table, .n = 1, .d = 1, .dtype = MERCER_F64, .values = &at};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    assert_ok(ctx, mercer_predict(ctx, model, data, out));
    mercer_data_free(data);
}

static void test_equal_distances_go_to_the_earlier_row(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double x[] = {1, -1, 1, -1};
    const char *const labels[] = {"b", "a", "a", "a"};
    mercer_data *data = line(ctx, x, labels, NULL, 4);
    mercer_model *model = fit_knn(ctx, "linear", data, 1, "uniform");
    double out[2];
    shares_at(ctx, model, 0, out); /* all four are at distance 1 */
    assert_true(out[0] == 0 && out[1] == 1);
    mercer_model_free(model);
    model = fit_knn(ctx, "linear", data, 2, "uniform");
    shares_at(ctx, model, 0, out); /* rows 1 and 2: a tie of votes; the first class wins by standing first */
    assert_true(out[0] == 0.5 && out[1] == 0.5);
    mercer_model_free(model);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_rows_at_distance_zero_alone_count_when_weighted_by_distance(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double x[] = {0.1, 0.3, 0.1, 0.2};
    const char *const labels[] = {"a", "b", "b", "b"};
    mercer_data *data = line(ctx, x, labels, NULL, 4);
    static const char *const kernels[] = {"linear", "rbf(gamma=2)", "exponential(gamma=1)"};
    for (int i = 0; i < 3; i++) {
        mercer_model *model = fit_knn(ctx, kernels[i], data, 4, "distance");
        double out[2];
        shares_at(ctx, model, 0.1, out);
        assert_true(out[0] == 0.5 && out[1] == 0.5);
        mercer_model_free(model);
    }
    mercer_data_free(data);
    close_clean(ctx);
}

/* k counts rows, so a row of weight 3 among 2 neighbours outvotes its companion. */
static void test_a_weight_multiplies_a_vote(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double x[] = {0, 1, 5, 0.5}, weights[] = {1, 3, 1, 0};
    const char *const labels[] = {"a", "b", "a", "a"};
    mercer_data *data = line(ctx, x, labels, weights, 4);
    mercer_model *model = fit_knn(ctx, "linear", data, 2, "uniform");
    double out[2];
    shares_at(ctx, model, 0.2, out);
    assert_true(out[0] == 0.25 && out[1] == 0.75);
    mercer_model_free(model);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_more_neighbours_than_rows_are_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const sheet s = random_sheet(4, 1, 3);
    mercer_data *data = data_of(ctx, &s);
    mercer_kernel *kernel = kernel_of(ctx, "linear");
    mercer_model *model = NULL;
    assert_fails(ctx, mercer_fit(ctx, "knn", NULL, kernel, data, &model), MERCER_INVALID,
                 "neighbors = 5 and there are 4 rows");
    assert_null(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

/* More rows than a strip and more centres than a block. */
static void test_the_bits_do_not_depend_on_the_number_of_threads(void **state) {
    (void)state;
    enum { MANY = 2300 };
    static double one[2 * MANY], four[2 * MANY];
    for (int threads = 1; threads <= 4; threads += 3) {
        mercer_ctx *ctx = open_ctx(threads);
        mercer_data *data = NULL;
        assert_ok(ctx, mercer_data_generate(ctx, "moons", MANY, 0.2, 1, &data));
        mercer_model *model = fit_knn(ctx, "rbf(gamma=1)", data, 17, "distance");
        assert_ok(ctx, mercer_predict(ctx, model, data, threads == 1 ? one : four));
        mercer_model_free(model);
        mercer_data_free(data);
        close_clean(ctx);
    }
    assert_memory_equal(one, four, sizeof one);
}

static void test_a_saved_model_predicts_the_same_bits(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    sheet s = random_sheet(ROWS, 2, 4);
    s.weighted = true;
    mercer_data *data = data_of(ctx, &s);
    mercer_model *model = fit_knn(ctx, "rbf(gamma=0.5)", data, 7, "distance"), *loaded = NULL;
    double a[2 * ROWS], b[2 * ROWS];
    char path[] = "/tmp/mercer-knn-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_ok(ctx, mercer_model_save(ctx, model, path));
    assert_ok(ctx, mercer_model_load(ctx, path, &loaded));
    unlink(path);
    assert_int_equal(mercer_model_report(loaded)->neighbors, 7);
    assert_ok(ctx, mercer_predict(ctx, model, data, a));
    assert_ok(ctx, mercer_predict(ctx, loaded, data, b));
    assert_memory_equal(a, b, sizeof a);
    mercer_scores scores = {.size = sizeof scores};
    assert_ok(ctx, mercer_score(ctx, loaded, data, &scores));
    assert_close(scores.rmse, 0, 1e-12); /* each row is its own nearest, at distance zero */
    mercer_model_free(loaded);
    mercer_model_free(model);
    mercer_data_free(data);
    close_clean(ctx);
}

static struct {
    mercer_model *model;
    mercer_data *data;
} world;

static mercer_status predict_again(mercer_ctx *ctx, void *out) {
    return mercer_predict(ctx, world.model, world.data, out);
}

static void test_a_prediction_survives_failing_memory(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const sheet s = random_sheet(ROWS, 1, 5);
    double out[ROWS];
    world.data = data_of(ctx, &s);
    world.model = fit_knn(ctx, "rbf(gamma=0.5)", world.data, 3, "uniform");
    assert_survives_failing_memory(predict_again, out);
    mercer_model_free(world.model);
    mercer_data_free(world.data);
    close_clean(ctx);
}

/* ---- Many rows of many columns: floats look first ---- */

enum { MANY = 8300, WIDE = 64, ASKED = 40 };

/* A third of the rows are copies, a third nearly so, and some hundred stand together closer than floats can tell. */
static double *crowd(void) {
    double *x = calloc(MANY * WIDE, sizeof *x);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 41);
    for (int64_t i = 0; i < MANY; i++) {
        const int64_t from = i % 3 == 0 || i < 300 ? i : i % 7 == 1 ? 150 : i / 2;
        for (int64_t j = 0; j < WIDE; j++)
            x[i * WIDE + j] =
                from == i ? mc_rng_normal(&rng) : x[from * WIDE + j] + (i % 3 == 1 ? 1e-4 * mc_rng_normal(&rng) : 0);
    }
    return x;
}

static mercer_data *wide_data(mercer_ctx *ctx, const double *x, int64_t n, const double *y) {
    const mercer_table table = {
        .size = sizeof table, .n = n, .d = WIDE, .dtype = MERCER_F64, .values = x, .target = y, .outputs = y ? 1 : 0};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

/* The mean number of the k nearest, by doubles alone. */
static double mean_number(const double *K, const double *diagonal, double own, int64_t k) {
    double *square = calloc(MANY, sizeof *square), sum = 0;
    for (int64_t j = 0; j < MANY; j++) {
        square[j] = own + diagonal[j] - 2 * K[j];
        square[j] = square[j] < 1e-10 ? 0 : square[j];
    }
    for (int64_t step = 0; step < k; step++) {
        int64_t best = 0;
        for (int64_t j = 1; j < MANY; j++)
            best = square[j] < square[best] ? j : best;
        square[best] = INFINITY;
        sum += (double)best;
    }
    free(square);
    return sum / (double)k;
}

static void test_a_look_in_floats_changes_nothing(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    double *x = crowd(), *y = calloc(MANY, sizeof *y), *diagonal = calloc(MANY, sizeof *diagonal),
           *K = calloc(ASKED * MANY, sizeof *K);
    static const char *const kernels[] = {"0.5*linear + rbf(gamma=0.01)", "laplacian(gamma=0.01)"};
    for (int64_t i = 0; i < MANY; i++)
        y[i] = (double)i;
    for (int c = 0; c < 2; c++) {
        mercer_data *data = wide_data(ctx, x, MANY, y), *asked = wide_data(ctx, x + 130 * WIDE, ASKED, NULL);
        mercer_model *model = fit_knn(ctx, kernels[c], data, 5, "uniform");
        mercer_kernel *kernel = kernel_of(ctx, kernels[c]);
        double out[ASKED];
        assert_ok(ctx, mercer_predict(ctx, model, asked, out));
        assert_ok(ctx, mercer_gram(ctx, kernel, asked, data, K));
        for (int64_t i = 0; i < MANY; i++)
            assert_ok(ctx, mercer_kernel_value(ctx, mercer_model_kernel(model), x + i * WIDE, x + i * WIDE, WIDE,
                                               &diagonal[i]));
        for (int64_t i = 0; i < ASKED; i++)
            assert_close(out[i], mean_number(K + i * MANY, diagonal, diagonal[130 + i], 5), 1e-14);
        mercer_kernel_free(kernel);
        mercer_model_free(model);
        mercer_data_free(asked);
        mercer_data_free(data);
    }
    free(K);
    free(diagonal);
    free(y);
    free(x);
    close_clean(ctx);
}

/* ---- By distance ---- */

/* Many rows, copies and columns far from 0 among them, against a plain search by long doubles. */
typedef struct cloud {
    int64_t n, fresh, d, k;
    double *x, *y, *z; /* n x d, n, fresh x d */
} cloud;

static cloud draw_cloud(mc_rng *rng) {
    cloud c = {
        .n = 2 + (int64_t)(500 * mc_rng_uniform(rng)), .fresh = 70, .d = 1 + (int64_t)(40 * mc_rng_uniform(rng))};
    const double far = mc_rng_uniform(rng) < 0.3 ? 1e6 : 0, size = pow(10, 40 * mc_rng_uniform(rng) - 20);
    c.k = 1 + (int64_t)(fmin(64, (double)c.n - 1) * mc_rng_uniform(rng));
    c.x = malloc((size_t)(c.n * c.d) * sizeof *c.x);
    c.y = malloc((size_t)c.n * sizeof *c.y);
    c.z = malloc((size_t)(c.fresh * c.d) * sizeof *c.z);
    for (int64_t i = 0; i < c.n; i++) {
        const int64_t copied = (int64_t)(mc_rng_uniform(rng) * (double)(i + 1));
        const bool copy = i > 0 && mc_rng_uniform(rng) < 0.3;
        c.y[i] = mc_rng_normal(rng);
        for (int64_t j = 0; j < c.d; j++)
            c.x[i * c.d + j] = copy ? c.x[(copied < i ? copied : i - 1) * c.d + j] : size * (far + mc_rng_normal(rng));
    }
    for (int64_t i = 0; i < c.fresh; i++)
        for (int64_t j = 0; j < c.d; j++)
            c.z[i * c.d + j] = i % 3 == 0 && i < c.n ? c.x[i * c.d + j] : size * (far + mc_rng_normal(rng));
    return c;
}

static double plain_mean(const cloud *c, const double *z) {
    long double *square = malloc((size_t)c->n * sizeof *square);
    double sum = 0;
    for (int64_t i = 0; i < c->n; i++) {
        square[i] = 0;
        for (int64_t j = 0; j < c->d; j++)
            square[i] += ((long double)z[j] - c->x[i * c->d + j]) * ((long double)z[j] - c->x[i * c->d + j]);
    }
    for (int64_t step = 0; step < c->k; step++) {
        int64_t best = 0;
        for (int64_t i = 1; i < c->n; i++)
            best = square[i] < square[best] ? i : best;
        sum += c->y[best];
        square[best] = INFINITY;
    }
    free(square);
    return sum / (double)c->k;
}

static void check_cloud(mercer_ctx *ctx, const cloud *c, const char *kernel) {
    const mercer_table rows = {
        .size = sizeof rows, .n = c->n, .d = c->d, .dtype = MERCER_F64, .values = c->x, .target = c->y, .outputs = 1};
    const mercer_table fresh = {.size = sizeof fresh, .n = c->fresh, .d = c->d, .dtype = MERCER_F64, .values = c->z};
    mercer_data *data = NULL, *others = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &rows, &data));
    assert_ok(ctx, mercer_data_make(ctx, &fresh, &others));
    mercer_model *model = fit_knn(ctx, kernel, data, c->k, "uniform");
    double out[70];
    assert_ok(ctx, mercer_predict(ctx, model, others, out));
    for (int64_t i = 0; i < c->fresh; i++)
        assert_close(out[i], plain_mean(c, c->z + i * c->d), 1e-12);
    mercer_model_free(model);
    mercer_data_free(others);
    mercer_data_free(data);
}

static void test_kernels_of_the_distance_find_the_nearest(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    static const char *const kernels[] = {"linear",
                                          "rbf(gamma=1e3)",
                                          "rbf(gamma=1e-9)",
                                          "matern(length_scale=0.01)",
                                          "exponential(gamma=2)",
                                          "rq(length_scale=3)"};
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 991);
    for (int round = 0; round < 36; round++) {
        const cloud c = draw_cloud(&rng);
        check_cloud(ctx, &c, kernels[round % 6]);
        free(c.x), free(c.y), free(c.z);
    }
    close_clean(ctx);
}

/* ---- With a tree, and without ---- */

enum { TREE_NEW = 200, PART = 50 };

/* Few columns, many rows: numbers, or counts, of which many are the same and as many as far as each other; a column may
   be constant. */
static cloud draw_for_tree(mc_rng *rng) {
    cloud c = {.n = 1 + (int64_t)exp(8.5 * mc_rng_uniform(rng)),
               .fresh = TREE_NEW,
               .d = 1 + (int64_t)(18 * mc_rng_uniform(rng))};
    const double size = ldexp(1, (int)(200 * mc_rng_uniform(rng)) - 100), levels = 1 + 8 * mc_rng_uniform(rng);
    const bool counts = mc_rng_uniform(rng) < 0.5, constant = mc_rng_uniform(rng) < 0.2,
               many = mc_rng_uniform(rng) < 0.3;
    c.k = 1 + (int64_t)(fmin(many ? 64 : 8, (double)c.n - 1) * mc_rng_uniform(rng));
    c.x = malloc((size_t)(c.n * c.d) * sizeof *c.x);
    c.y = malloc((size_t)c.n * sizeof *c.y);
    c.z = malloc((size_t)(c.fresh * c.d) * sizeof *c.z);
    for (int64_t i = 0; i < c.n; i++)
        c.y[i] = mc_rng_normal(rng);
    for (int64_t i = 0; i < (c.n + c.fresh) * c.d; i++) {
        const double value = counts ? floor(levels * mc_rng_uniform(rng)) : mc_rng_normal(rng);
        *(i < c.n * c.d ? &c.x[i] : &c.z[i - c.n * c.d]) = constant && i % c.d == 0 ? size : size * value;
    }
    return c;
}

static mercer_data *table_of(mercer_ctx *ctx, const double *x, int64_t n, int64_t d, const double *y) {
    const mercer_table table = {
        .size = sizeof table, .n = n, .d = d, .dtype = MERCER_F64, .values = x, .target = y, .outputs = y ? 1 : 0};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

/* All new rows in one call, or in parts, the first of which are too few for an index to be made. */
static void predict_parts(mercer_ctx *ctx, const cloud *c, const char *kernel, int64_t part, double *out) {
    mercer_data *data = table_of(ctx, c->x, c->n, c->d, c->y);
    for (int64_t i = 0; i < c->fresh; i += part) {
        mercer_model *model = fit_knn(ctx, kernel, data, c->k, "uniform");
        mercer_data *rows = table_of(ctx, c->z + i * c->d, part, c->d, NULL);
        assert_ok(ctx, mercer_predict(ctx, model, rows, out + i));
        mercer_data_free(rows);
        mercer_model_free(model);
    }
    mercer_data_free(data);
}

static void test_a_tree_finds_what_a_plain_search_finds(void **state) {
    (void)state;
    static const char *const kernels[] = {"linear", "rbf(gamma=1)", "rq(length_scale=3)"};
    mercer_ctx *ctx = open_ctx(2);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 992);
    for (int round = 0; round < 60; round++) {
        const cloud c = draw_for_tree(&rng);
        double all[TREE_NEW], parts[TREE_NEW];
        predict_parts(ctx, &c, kernels[round % 3], TREE_NEW, all);
        predict_parts(ctx, &c, kernels[round % 3], PART, parts);
        assert_memory_equal(all, parts, sizeof all);
        for (int64_t i = 0; i < c.fresh; i += 40)
            assert_close(all[i], plain_mean(&c, c.z + i * c.d), 1e-12);
        free(c.x), free(c.y), free(c.z);
    }
    close_clean(ctx);
}

/* The model has the index, and takes it along. */
static mercer_status fit_and_predict(mercer_ctx *ctx, void *out) {
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    mercer_status status = mercer_kernel_parse(ctx, "rbf(gamma=1)", &kernel);
    if (!status)
        status = mercer_fit(ctx, "knn", NULL, kernel, world.data, &model);
    if (!status)
        status = mercer_predict(ctx, model, world.data, out);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    return status;
}

static void test_a_tree_survives_failing_memory(void **state) {
    (void)state;
    enum { MOONS = 700 };
    static double out[2 * MOONS];
    mercer_ctx *ctx = open_ctx(1);
    assert_ok(ctx, mercer_data_generate(ctx, "moons", MOONS, 0.2, 1, &world.data));
    assert_survives_failing_memory(fit_and_predict, out);
    mercer_data_free(world.data);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_the_mean_over_the_nearest_rows),
        cmocka_unit_test(test_equal_distances_go_to_the_earlier_row),
        cmocka_unit_test(test_rows_at_distance_zero_alone_count_when_weighted_by_distance),
        cmocka_unit_test(test_a_weight_multiplies_a_vote),
        cmocka_unit_test(test_more_neighbours_than_rows_are_refused),
        cmocka_unit_test(test_the_bits_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(test_a_saved_model_predicts_the_same_bits),
        cmocka_unit_test(test_a_prediction_survives_failing_memory),
        cmocka_unit_test(test_a_look_in_floats_changes_nothing),
        cmocka_unit_test(test_kernels_of_the_distance_find_the_nearest),
        cmocka_unit_test(test_a_tree_finds_what_a_plain_search_finds),
        cmocka_unit_test(test_a_tree_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
