/* Sparse tables whose columns are numbered up to 2^31: they cost by their values, and answer as the same tables do when
   their columns are numbered from 1. New rows have columns in which no row of the fit has a value. */
#include "base/rng.h"
#include "data/table/columns.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 40, FRESH = 12, COLUMNS = 60, EACH = 6, LITTLE = 32 << 20 };
static const int64_t WIDTH = INT32_MAX;

/* Column k of the near table in the far one. */
static int64_t far_column(int64_t k) {
    return k * (WIDTH / COLUMNS);
}

/* Rows with EACH values each. The rows of a fit have them in even columns, fresh ones in any. */
typedef struct rows {
    int64_t n, start[ROWS + 1];
    int32_t column[ROWS * EACH];
    double value[ROWS * EACH], target[ROWS];
    const char *label[ROWS];
} rows;

static rows draw_rows(mc_rng *rng, int64_t n, int64_t step) {
    rows r = {.n = n};
    for (int64_t i = 0; i < n; i++) {
        int64_t at = r.start[i];
        for (int k = 0; k < EACH; k++, at++) {
            const int64_t room = COLUMNS / EACH / step, drawn = (int64_t)(mc_rng_u64(rng) % (uint64_t)room),
                          place = i < 2 * room ? i % room : drawn; /* a kernel may see one column: two rows have it */
            r.column[at] = (int32_t)(k * (COLUMNS / EACH) + step * place);
            r.value[at] = fabs(mc_rng_normal(rng)) + (i % 2 ? 0.5 : 0.1);
        }
        r.start[i + 1] = at;
        r.target[i] = mc_rng_normal(rng) + (double)(i % 2);
        r.label[i] = i % 2 ? "1" : "-1";
    }
    return r;
}

static mercer_status make(mercer_ctx *ctx, const rows *r, bool far, bool classes, mercer_data **out) {
    int32_t column[ROWS * EACH];
    for (int64_t k = 0; k < r->start[r->n]; k++)
        column[k] = far ? (int32_t)far_column(r->column[k]) : r->column[k];
    const mercer_table table = {.size = sizeof table,
                                .n = r->n,
                                .d = far ? WIDTH : COLUMNS,
                                .dtype = MERCER_F64,
                                .values = r->value,
                                .row_start = r->start,
                                .column = column,
                                .target = classes ? NULL : r->target,
                                .outputs = classes ? 0 : 1,
                                .labels = classes ? r->label : NULL};
    return mercer_data_make(ctx, &table, out);
}

/* Near columns stand between braces in the text, from 0; they are written from 1, as near or far columns. */
static mercer_status parse(mercer_ctx *ctx, const char *text, bool far, mercer_kernel **out) {
    char kernel[400] = "";
    for (const char *p = text; *p;) {
        char *end = (char *)p + 1;
        const int64_t k = *p == '{' ? strtoll(p + 1, &end, 10) : -1;
        if (k < 0)
            snprintf(kernel + strlen(kernel), 2, "%c", *p);
        else
            snprintf(kernel + strlen(kernel), 24, "%lld", (long long)(far ? far_column(k) : k) + 1);
        p = k < 0 ? p + 1 : end + 1;
    }
    return mercer_kernel_parse(ctx, kernel, out);
}

static mercer_ctx *open_little(void) {
    mercer_options options = mercer_options_defaults();
    mercer_ctx *ctx = NULL;
    options.threads = 1;
    options.memory_limit = LITTLE;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    return ctx;
}

/* ---- Every machine, near and far ---- */

typedef struct side {
    mercer_data *data, *fresh;
    mercer_kernel *kernel;
    mercer_model *model;
    double out[(ROWS + FRESH) * 4];
    int64_t count;
} side;

static const char *const kernels[] = {"linear",
                                      "rbf(gamma=0.2)",
                                      "poly(degree=2, c=1, gamma=0.5)",
                                      "laplacian(gamma=0.1) + 0.3*linear",
                                      "cosine",
                                      "chi2(gamma=0.3)*rbf(gamma=0.1)",
                                      "rbf(gamma=0.2)[{0}, {1}, {14}] + linear",
                                      "rbf(gamma=[0.1, 0.2])[{3}, {2}] + rbf(gamma=0.1)",
                                      "weigh(1 + x[{7}]^2 + norm, rbf(gamma=0.1))",
                                      "(1 + linear[{5}, {6}])^2 + rbf(gamma=0.3)[{6}]"};
static const char *const machines[] = {"svc", "ridge", "knn", "gp", "logistic", "lms", "pca"};

static void fit(mercer_ctx *ctx, const char *machine, const char *text, const rows *r, const rows *fresh, bool far,
                side *s) {
    const mercer_machine *row = mercer_machine_find(machine);
    const bool classes = row->target == MERCER_TARGET_CLASS;
    _Alignas(max_align_t) char settings[512];
    assert_ok(ctx, mercer_settings_init(ctx, machine, settings, row->size));
    assert_ok(ctx, mercer_settings_put(ctx, settings, "scale", "minmax"));
    if (strcmp(machine, "gp") == 0)
        assert_ok(ctx, mercer_settings_put(ctx, settings, "learn", "no"));
    if (strcmp(machine, "logistic") == 0) /* columns that no row fills may lead to another solver */
        assert_ok(ctx, mercer_settings_put(ctx, settings, "tolerance", "1e-10"));
    *s = (side){0};
    assert_ok(ctx, make(ctx, r, far, classes, &s->data));
    assert_ok(ctx, make(ctx, fresh, far, classes, &s->fresh));
    assert_ok(ctx, parse(ctx, text, far, &s->kernel));
    assert_ok(ctx, mercer_fit(ctx, machine, settings, s->kernel, s->data, &s->model));
    const int64_t outputs = mercer_model_outputs(s->model);
    assert_ok(ctx, mercer_predict(ctx, s->model, s->data, s->out));
    assert_ok(ctx, mercer_predict(ctx, s->model, s->fresh, s->out + ROWS * outputs));
    s->count = (ROWS + FRESH) * outputs;
}

/* The model from its file says the same, to the bit. */
static void check_file(mercer_ctx *ctx, const side *s) {
    size_t size = 0;
    double out[(ROWS + FRESH) * 4];
    mercer_model *again = NULL;
    assert_ok(ctx, mercer_model_to_memory(ctx, s->model, NULL, 0, &size));
    void *bytes = malloc(size);
    assert_ok(ctx, mercer_model_to_memory(ctx, s->model, bytes, size, &size));
    assert_ok(ctx, mercer_model_from_memory(ctx, bytes, size, &again));
    assert_int_equal(mercer_model_columns(again), mercer_model_columns(s->model));
    assert_string_equal(mercer_kernel_text(mercer_model_kernel(again)),
                        mercer_kernel_text(mercer_model_kernel(s->model)));
    const int64_t outputs = mercer_model_outputs(again);
    assert_ok(ctx, mercer_predict(ctx, again, s->fresh, out));
    assert_memory_equal(out, s->out + ROWS * outputs, (size_t)(FRESH * outputs) * sizeof *out);
    free(bytes);
    mercer_model_free(again);
}

static void release(side *s) {
    mercer_model_free(s->model);
    mercer_kernel_free(s->kernel);
    mercer_data_free(s->data);
    mercer_data_free(s->fresh);
}

static void test_far_columns_answer_as_near_ones(void **state) {
    (void)state;
    mercer_ctx *ctx = open_little();
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 0);
    const rows r = draw_rows(&rng, ROWS, 2), fresh = draw_rows(&rng, FRESH, 1);
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++)
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
            side near, far;
            fit(ctx, machines[m], kernels[k], &r, &fresh, false, &near);
            fit(ctx, machines[m], kernels[k], &r, &fresh, true, &far);
            assert_int_equal(mercer_model_columns(far.model), WIDTH);
            assert_int_equal(mercer_model_report(far.model)->d, WIDTH);
            for (int64_t i = 0; i < near.count; i++)
                if (!(fabs(near.out[i] - far.out[i]) <= 2e-4 * (1 + fabs(near.out[i]))))
                    fail_msg("%s, %s, value %lld: %.17g near, %.17g far", machines[m], kernels[k], (long long)i,
                             near.out[i], far.out[i]);
            check_file(ctx, &far);
            release(&near);
            release(&far);
        }
    close_clean(ctx);
}

/* The slopes that learn the parameters of a kernel see the columns that it names. */
static void test_parameters_are_learned_from_the_columns_named(void **state) {
    (void)state;
    mercer_ctx *ctx = open_little();
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 2);
    const rows r = draw_rows(&rng, ROWS, 2);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        double evidence[2];
        for (int far = 0; far < 2; far++) {
            mercer_gp set = mercer_gp_defaults();
            mercer_data *data = NULL;
            mercer_kernel *kernel = NULL;
            mercer_model *model = NULL;
            set.scale = "minmax";
            set.restarts = 0;
            assert_ok(ctx, make(ctx, &r, far, false, &data));
            assert_ok(ctx, parse(ctx, kernels[k], far, &kernel));
            assert_ok(ctx, mercer_fit(ctx, "gp", &set, kernel, data, &model));
            evidence[far] = mercer_model_report(model)->log_evidence;
            mercer_model_free(model);
            mercer_kernel_free(kernel);
            mercer_data_free(data);
        }
        if (!(fabs(evidence[1] - evidence[0]) <= 1e-2))
            fail_msg("%s: evidence %.17g near, %.17g far", kernels[k], evidence[0], evidence[1]);
    }
    close_clean(ctx);
}

/* ---- Kernel values ---- */

static void test_gram_matrices_of_two_tables_agree(void **state) {
    (void)state;
    mercer_ctx *ctx = open_little();
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1);
    const rows a = draw_rows(&rng, ROWS, 2), b = draw_rows(&rng, FRESH, 1);
    double K[2][ROWS * FRESH];
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        for (int far = 0; far < 2; far++) {
            mercer_data *x = NULL, *z = NULL;
            mercer_kernel *kernel = NULL;
            assert_ok(ctx, make(ctx, &a, far, false, &x));
            assert_ok(ctx, make(ctx, &b, far, false, &z));
            assert_ok(ctx, parse(ctx, kernels[k], far, &kernel));
            assert_ok(ctx, mercer_gram(ctx, kernel, x, z, K[far]));
            mercer_kernel_free(kernel);
            mercer_data_free(x);
            mercer_data_free(z);
        }
        for (int i = 0; i < ROWS * FRESH; i++)
            assert_close(K[1][i], K[0][i], 1e-12 * (1 + fabs(K[0][i])));
    }
    close_clean(ctx);
}

/* The default bandwidth counts the columns that are 0 everywhere. */
static void test_bandwidths_count_all_columns(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const int64_t start[] = {0, 1, 2};
    const int32_t column[] = {0, 99999};
    const double value[] = {1, 3}, n = 2, d = 100000;
    mercer_table table = {.size = sizeof table,
                          .n = 2,
                          .d = 100000,
                          .dtype = MERCER_F64,
                          .values = value,
                          .row_start = start,
                          .column = column};
    mercer_data *data = NULL;
    mercer_kernel *rbf = NULL, *bound = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    assert_non_null(data->used);
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf", &rbf));
    assert_ok(ctx, mercer_kernel_bind(ctx, rbf, data, &bound));
    const double mean = 4 / (n * d), variance = 10 / (n * d) - mean * mean;
    assert_close(mercer_kernel_parameter(bound, 0) * d * variance, 1, 1e-12);
    mercer_kernel_free(rbf);
    mercer_kernel_free(bound);
    mercer_data_free(data);
    close_clean(ctx);
}

/* ---- What users see ---- */

static void test_rows_and_weights_have_the_numbers_of_the_file(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 2);
    const rows r = draw_rows(&rng, ROWS, 2);
    mercer_data *data = NULL;
    mercer_kernel *linear = NULL;
    mercer_model *model = NULL;
    int64_t column[EACH];
    double value[EACH];
    assert_ok(ctx, make(ctx, &r, true, true, &data));
    assert_int_equal(mercer_data_columns(data), WIDTH);
    assert_int_equal(mercer_data_row_stored(data, 3, column, value), EACH);
    for (int k = 0; k < EACH; k++) {
        assert_int_equal(column[k], far_column(r.column[3 * EACH + k]));
        assert_true(value[k] == r.value[3 * EACH + k]);
    }
    assert_ok(ctx, mercer_kernel_parse(ctx, "linear", &linear));
    assert_ok(ctx, mercer_fit(ctx, "svc", NULL, linear, data, &model));
    assert_int_equal(mercer_model_features(model), WIDTH);
    double decision[ROWS], sum = mercer_model_intercept(model, 0);
    assert_ok(ctx, mercer_decide(ctx, model, data, decision));
    for (int k = 0; k < EACH; k++)
        sum += value[k] * mercer_model_weight(model, column[k], 0);
    assert_close(sum, decision[3], 1e-9);
    assert_true(mercer_model_weight(model, far_column(1), 0) == 0);
    mercer_model_free(model);
    mercer_kernel_free(linear);
    mercer_data_free(data);
    close_clean(ctx);
}

/* LIBSVM text, a model of it, and its text again. */
static void test_libsvm_text_keeps_its_numbers(void **state) {
    (void)state;
    char path[] = "/tmp/mercer-wide-XXXXXX", line[200] = "";
    mercer_ctx *ctx = open_little();
    mercer_data *data = NULL;
    mercer_kernel *linear = NULL;
    mercer_model *model = NULL;
    const int file = mkstemp(path);
    static const char text[] = "1 3:1 2147483646:2\n-1 5:1\n1 3:2 7:1\n-1 7:1\n";
    assert_true(file >= 0 && write(file, text, sizeof text - 1) == sizeof text - 1);
    close(file);
    mercer_read set = mercer_read_defaults();
    set.kind = MERCER_TARGET_CLASS;
    assert_ok(ctx, mercer_data_read(ctx, path, &set, &data));
    assert_int_equal(mercer_data_columns(data), 2147483646);
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=1)", &linear));
    assert_ok(ctx, mercer_fit(ctx, "svc", NULL, linear, data, &model));
    assert_ok(ctx, mercer_model_export(ctx, model, "libsvm", path));
    FILE *written = fopen(path, "r");
    bool found = false;
    while (fgets(line, sizeof line, written))
        found = found || strstr(line, " 3:1 2147483646:2");
    fclose(written);
    assert_true(found);
    mercer_model_free(model);
    assert_ok(ctx, mercer_model_load(ctx, path, &model));
    assert_int_equal(mercer_model_columns(model), 2147483646);
    unlink(path);
    mercer_model_free(model);
    mercer_kernel_free(linear);
    mercer_data_free(data);
    close_clean(ctx);
}

/* ---- What is refused, and what fails ---- */

static void test_refusals_say_why(void **state) {
    (void)state;
    mercer_ctx *ctx = open_little();
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 3);
    const rows r = draw_rows(&rng, ROWS, 2), fresh = draw_rows(&rng, FRESH, 1);
    mercer_data *data = NULL, *other = NULL;
    mercer_kernel *rbf = NULL;
    mercer_model *model = NULL;
    double out[ROWS];
    mercer_gp gp = mercer_gp_defaults();
    mercer_ridge ridge = mercer_ridge_defaults();
    assert_ok(ctx, make(ctx, &r, true, false, &data));
    assert_ok(ctx, make(ctx, &fresh, true, false, &other));
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.1)", &rbf));
    gp.ard = true;
    assert_fails(ctx, mercer_fit(ctx, "gp", &gp, rbf, data, &model), MERCER_DATA, "leave ard out");
    ridge.solver = "fourier";
    assert_ok(ctx, mercer_fit(ctx, "ridge", &ridge, rbf, data, &model));
    assert_ok(ctx, mercer_predict(ctx, model, data, out));
    assert_fails(ctx, mercer_predict(ctx, model, other, out), MERCER_DATA, "Fourier");
    mercer_model_free(model);
    mercer_kernel_free(rbf);
    mercer_data_free(data);
    mercer_data_free(other);
    close_clean(ctx);
}

static mercer_status far_scenario(mercer_ctx *ctx, void *arg) {
    const rows *r = arg;
    mercer_data *data = NULL, *other = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    double out[ROWS];
    mercer_status status = make(ctx, &r[0], true, true, &data);
    if (!status)
        status = make(ctx, &r[1], true, true, &other);
    if (!status)
        status = parse(ctx, "rbf(gamma=0.2) + linear[{1}, {2}]", true, &kernel);
    if (!status)
        status = mercer_fit(ctx, "svc", NULL, kernel, data, &model);
    if (!status)
        status = mercer_decide(ctx, model, other, out);
    if (!status)
        status = mercer_model_inner(ctx, model, 0, model, 0, out);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    mercer_data_free(other);
    return status;
}

static void test_memory_may_fail_anywhere(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 4);
    rows r[2] = {draw_rows(&rng, 10, 2), draw_rows(&rng, 4, 1)};
    assert_survives_some_failing_memory(far_scenario, r);
}

/* Functions of models fitted to rows that have other columns. */
static void test_functions_of_other_columns_compare(void **state) {
    (void)state;
    mercer_ctx *ctx = open_little();
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 5);
    const rows r[2] = {draw_rows(&rng, ROWS, 2), draw_rows(&rng, ROWS, 1)};
    static const char *const tried[] = {"rbf(gamma=0.2)", "linear"};
    for (int k = 0; k < 2; k++) {
        double inner[2], distance[2];
        for (int far = 0; far < 2; far++) {
            mercer_data *data[2] = {NULL};
            mercer_model *model[2] = {NULL};
            mercer_kernel *kernel = NULL;
            assert_ok(ctx, mercer_kernel_parse(ctx, tried[k], &kernel));
            for (int i = 0; i < 2; i++) {
                assert_ok(ctx, make(ctx, &r[i], far, false, &data[i]));
                assert_ok(ctx, mercer_fit(ctx, "ridge", NULL, kernel, data[i], &model[i]));
            }
            assert_ok(ctx, mercer_model_inner(ctx, model[0], 0, model[1], 0, &inner[far]));
            assert_ok(ctx, mercer_model_distance(ctx, model[0], 0, model[1], 0, &distance[far]));
            for (int i = 0; i < 2; i++) {
                mercer_model_free(model[i]);
                mercer_data_free(data[i]);
            }
            mercer_kernel_free(kernel);
        }
        assert_close(inner[1], inner[0], 1e-9);
        assert_close(distance[1], distance[0], 1e-9);
    }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_far_columns_answer_as_near_ones),
        cmocka_unit_test(test_parameters_are_learned_from_the_columns_named),
        cmocka_unit_test(test_gram_matrices_of_two_tables_agree),
        cmocka_unit_test(test_bandwidths_count_all_columns),
        cmocka_unit_test(test_rows_and_weights_have_the_numbers_of_the_file),
        cmocka_unit_test(test_libsvm_text_keeps_its_numbers),
        cmocka_unit_test(test_refusals_say_why),
        cmocka_unit_test(test_memory_may_fail_anywhere),
        cmocka_unit_test(test_functions_of_other_columns_compare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
