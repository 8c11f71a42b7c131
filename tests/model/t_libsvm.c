#include "model/libsvm/libsvm_model.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static mercer_status read_text(mercer_ctx *ctx, const char *text, mercer_model **out) {
    mc_input input;
    *out = NULL;
    const mercer_status status = mc_input_copy(ctx, "a.model", text, (int64_t)strlen(text), &input);
    if (status)
        return status;
    const mercer_status read = mc_libsvm_model_read(ctx, &input, out);
    mc_input_close(&input);
    return read;
}

static const char THREE[] =
    "svm_type c_svc\nkernel_type polynomial\ndegree 3\ngamma 0.5\ncoef0 1\nnr_class 3\ntotal_sv 4\n"
    "rho 0.25 -0.5 0.125\nlabel 2 -1 7\nnr_sv 1 2 1\nSV\n1 -0.5 1:1 3:-2 \n-0.75 0.25 2:0.5 \n"
    "-0.25 0 1:0.125 2:1 3:1 \n0.5 -0.25 3:3 \n";

static double poly(const double *x, const double *z) {
    return pow(0.5 * (x[0] * z[0] + x[1] * z[1] + x[2] * z[2]) + 1, 3);
}

static void decide_one(mercer_ctx *ctx, const mercer_model *model, const double *x, int64_t d, double *out) {
    const mercer_table table = {.size = sizeof table, .n = 1, .d = d, .dtype = MERCER_F64, .values = x};
    mercer_data *row = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &row));
    assert_ok(ctx, mercer_decide(ctx, model, row, out));
    mercer_data_free(row);
}

static void test_a_model_of_three_classes_decides_by_its_definition(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_model *model = NULL;
    assert_ok(ctx, read_text(ctx, THREE, &model));
    const double x[3] = {0.3, -1.5, 0.7}, v[4][3] = {{1, 0, -2}, {0, 0.5, 0}, {0.125, 1, 1}, {0, 0, 3}};
    const double k0 = poly(x, v[0]), k1 = poly(x, v[1]), k2 = poly(x, v[2]), k3 = poly(x, v[3]);
    double out[3];
    decide_one(ctx, model, x, 3, out);
    assert_close(out[0], k0 - 0.75 * k1 - 0.25 * k2 - 0.25, 1e-14); /* class 2 against -1 */
    assert_close(out[1], -0.5 * k0 + 0.5 * k3 + 0.5, 1e-14);        /* class 2 against 7 */
    assert_close(out[2], 0.25 * k1 - 0.25 * k3 - 0.125, 1e-14);     /* class -1 against 7 */
    assert_string_equal(mercer_model_label(model, 0), "2");
    assert_string_equal(mercer_model_label(model, 1), "-1");
    assert_string_equal(mercer_model_report(model)->machine, "svc");
    assert_true(mercer_model_coefficient(model, 3, 2) == -0.25 && mercer_model_coefficient(model, 0, 2) == 0);
    double all[4][3];
    int64_t rows[4];
    mercer_model_coefficients(model, &all[0][0]);
    mercer_model_rows(model, rows);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            assert_true(all[i][k] == mercer_model_coefficient(model, i, k) && rows[i] == mercer_model_row(model, i));
    mercer_model_free(model);
    close_clean(ctx);
}

static void test_what_is_written_reads_back_to_the_same_text(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_model *model = NULL;
    assert_ok(ctx, read_text(ctx, THREE, &model));
    assert_ok(ctx, mercer_model_export(ctx, model, "libsvm", "t_libsvm.model"));
    FILE *file = fopen("t_libsvm.model", "rb");
    char text[1024] = "";
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    remove("t_libsvm.model");
    assert_string_equal(text, THREE);
    assert_fails(ctx, mercer_model_export(ctx, model, "punchcards", "x"), MERCER_INVALID, "libsvm");
    mercer_model_free(model);
    close_clean(ctx);
}

/* LIBSVM reads a whole degree; one that is not would come back as another kernel. */
static void test_a_degree_that_is_not_whole_is_not_written(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double x[] = {1, 2, 3, 4}, y[] = {1, 2, 2, 3};
    const mercer_table table = {
        .size = sizeof table, .n = 4, .d = 1, .dtype = MERCER_F64, .values = x, .target = y, .outputs = 1};
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    mercer_ridge set = mercer_ridge_defaults();
    set.allow_indefinite = true;
    set.scale = "none";
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    assert_ok(ctx, mercer_kernel_parse(ctx, "poly(degree=1.5)", &kernel));
    assert_ok(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model));
    assert_fails(ctx, mercer_model_export(ctx, model, "libsvm", "x.model"), MERCER_INVALID, "a whole degree");
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_a_precomputed_kernel_reads_the_row_itself(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_model *model = NULL;
    const char *text =
        "svm_type epsilon_svr\nkernel_type precomputed\nnr_class 2\ntotal_sv 2\nrho -1.5\nSV\n2 0:3 \n-0.5 0:1 \n";
    assert_ok(ctx, read_text(ctx, text, &model));
    const double x[3] = {0.25, 9, 0.5};
    double out;
    decide_one(ctx, model, x, 3, &out);
    assert_close(out, 2 * 0.5 - 0.5 * 0.25 + 1.5, 1e-15);
    mercer_model_free(model);
    close_clean(ctx);
}

static void test_a_model_of_one_class_and_crlf_are_read(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_model *model = NULL;
    assert_ok(
        ctx,
        read_text(
            ctx,
            "svm_type c_svc\r\nkernel_type linear\r\nnr_class 1\r\ntotal_sv 0\r\nrho\r\nlabel 4\r\nnr_sv 0\r\nSV\r\n",
            &model));
    assert_int_equal(mercer_model_classes(model), 1);
    const double x = 2;
    double out;
    decide_one(ctx, model, &x, 1, &out);
    mercer_model_free(model);
    close_clean(ctx);
}

/* Coefficients of a class that is told from no other would have no column. */
static void test_a_model_of_one_class_has_no_vectors(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_model *model = NULL;
    assert_fails(
        ctx,
        read_text(ctx, "svm_type c_svc\nkernel_type linear\nnr_class 1\ntotal_sv 2\nlabel 4\nSV\n1:1\n2:1\n", &model),
        MERCER_FORMAT, "form");
    assert_null(model);
    close_clean(ctx);
}

static void test_damage_is_named_with_its_line(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *says;
    } lies[] = {
        {"c_svc", "d_svc", "line 1"},
        {"polynomial", "quadratic", "line 2"},
        {"gamma 0.5", "gamma nan", "line 4"},
        {"gamma 0.5", "gamma 0.5 7", "goes on"},
        {"coef0 1", "coeff0 1", "none that a model has"},
        {"nr_class 3\n", "", "nr_class must stand before"},
        {"nr_class 3", "nr_class 200", "more classes than bytes"},
        {"nr_class 3", "nr_class -3", "whole number"},
        {"total_sv 4", "total_sv 5", "add up"},
        {"total_sv 4", "total_sv 99999999999", "whole number"},
        {"nr_sv 1 2 1", "nr_sv 1 2 2", "add up"},
        {"nr_sv 1 2 1\n", "", "nr_sv is missing"},
        {"label 2 -1 7", "label 2 -1", "number was expected"},
        {"rho 0.25 -0.5 0.125\n", "", "rho is missing"},
        {"SV\n1 -0.5", "SW\n1 -0.5", "none that a model has"},
        {"SV\n1 -0.5 1:1 3:-2 \n", "SV\n", "3 vectors follow"},
        {"1:1 3:-2", "3:1 1:-2", "must rise"},
        {"1:1 3:-2", "0:1 3:-2", "whole number"},
        {"1:1 3:-2", "1:1 x", "number was expected"},
        {"1:1 3:-2", "1 3:-2", "index:value"},
        {"degree 3", "degree 2.5", "line 3"},
        {"SV\n", "nr_class 30\nSV\n", "stood before"}, /* there are numbers for three */
        {"label 2 -1 7", "label 2 2 7", "two of its classes"},
        {"degree 3\n", "", "degree, which its kernel needs"},
        {"gamma 0.5\n", "", "gamma, which its kernel needs"},
        {"coef0 1\n", "", "coef0, which its kernel needs"},
        {"gamma 0.5", "gamma -0.5", "no kernel"},
    };
    mercer_ctx *ctx = open_ctx(1);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        const char *place = strstr(THREE, lies[i].from);
        char text[1024];
        assert_non_null(place);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(place - THREE), THREE, lies[i].to, place + strlen(lies[i].from));
        mercer_model *model = NULL;
        const mercer_status status = read_text(ctx, text, &model);
        if (status == MERCER_OK || !strstr(mercer_message(ctx), lies[i].says))
            fail_msg("'%s' -> '%s': wanted '%s', got %s: %s", lies[i].from, lies[i].to, lies[i].says,
                     mercer_status_name(status), mercer_message(ctx));
        assert_null(model);
    }
    /* every beginning of it; the last vector may be shorter */
    for (size_t length = 0; length + 1 < sizeof THREE - 1; length++) {
        char text[1024];
        mercer_model *model = NULL;
        snprintf(text, sizeof text, "%.*s", (int)length, THREE);
        assert_true(read_text(ctx, text, &model) != MERCER_OK || length > sizeof THREE - 13);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static mercer_status read_again(mercer_ctx *ctx, void *arg) {
    mercer_model *model = NULL;
    const mercer_status status = read_text(ctx, arg, &model);
    mercer_model_free(model);
    return status;
}

static void test_survives_failing_memory(void **state) {
    (void)state;
    assert_survives_failing_memory(read_again, (void *)(uintptr_t)THREE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_model_of_three_classes_decides_by_its_definition),
        cmocka_unit_test(test_what_is_written_reads_back_to_the_same_text),
        cmocka_unit_test(test_a_degree_that_is_not_whole_is_not_written),
        cmocka_unit_test(test_a_precomputed_kernel_reads_the_row_itself),
        cmocka_unit_test(test_a_model_of_one_class_and_crlf_are_read),
        cmocka_unit_test(test_a_model_of_one_class_has_no_vectors),
        cmocka_unit_test(test_damage_is_named_with_its_line),
        cmocka_unit_test(test_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
