/* A loss of the caller's own whose functions do not fit each other is refused with a message; one whose functions do is
   taken, however large its values. */
#include "../learn/loss_of_test.h"

/* One wrong thing at a time; scale: of the loss, targets and all. */
typedef struct fault {
    double slope, conjugate, scale;
    bool shifted, concave, kinked;
    double bad; /* a target for which one of the functions gives no number, */
    char which; /* this one */
} fault;

static bool fails(const fault *f, char which, double y) {
    return f->which == which && y == f->bad;
}

static double cosh_value(void *user, double y, double F) {
    const fault *f = user;
    const double r = fails(f, 'v', y) ? NAN : (F - y) / f->scale;
    return f->concave ? (fabs(r) < 1 ? r * r / 2 : sqrt(fabs(r)) - 0.5)
                      : sqrt(1 + r * r) - 1 + (f->kinked && r > 1 ? r - 1 : 0);
}

static double cosh_slope(void *user, double y, double F) {
    const fault *f = user;
    const double r = fails(f, 's', y) ? NAN : (F - y) / f->scale + (f->shifted ? 1e-3 : 0);
    if (f->concave)
        return (fabs(r) < 1 ? r : copysign(0.5 / sqrt(fabs(r)), r)) / f->scale;
    return (f->slope * r / sqrt(1 + r * r) + (f->kinked && r > 1)) / f->scale;
}

static double cosh_curvature(void *user, double y, double F) {
    const fault *f = user;
    const double r = fails(f, 'c', y) ? NAN : (F - y) / f->scale;
    return pow(1 + r * r, -1.5) / (f->scale * f->scale);
}

/* Of sqrt(1 + r^2) - 1: 1 - sqrt(1 - v^2) and y v. */
static double cosh_conjugate(void *user, double y, double v) {
    const fault *f = user;
    const double s = v * f->scale;
    return f->conjugate * (1 - sqrt(fmax(0, 1 - s * s))) + y * v;
}

static void cosh_range(void *user, double y, double *low, double *high) {
    const fault *f = user;
    (void)y;
    *low = -1 / f->scale, *high = (f->kinked ? 2 : 1) / f->scale;
}

static mercer_status fit_with(mercer_ctx *ctx, fault *f, bool conjugate, mercer_model **out) {
    table t = random_table(60, 2, 77);
    for (int64_t i = 0; i < t.n; i++)
        t.y[i] *= f->scale;
    mercer_own_loss loss = {
        .size = sizeof loss, "pseudo-huber", false, cosh_value, cosh_slope, cosh_curvature, NULL, cosh_range, f};
    loss.conjugate = conjugate ? cosh_conjugate : NULL;
    mercer_loss set = settings("own-loss", 0.1 / (f->scale * f->scale), 1e-7);
    mercer_data *data = data_of(ctx, &t, false);
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.5)", &kernel));
    const mercer_status status = fit_own_loss(ctx, kernel, data, &loss, &set, out);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

static void test_a_loss_that_fits_itself_is_taken(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int scale = -6; scale <= 6; scale += 3)
        for (int conjugate = 0; conjugate < 2; conjugate++) {
            fault none = {.slope = 1, .conjugate = 1, .scale = pow(10, scale)};
            mercer_model *model = NULL;
            assert_ok(ctx, fit_with(ctx, &none, conjugate, &model));
            const mercer_certificate *c = &mercer_model_report(model)->certificate;
            assert_true(c->gap_relative < 1e-5);
            mercer_model_free(model);
        }
    close_clean(ctx);
}

static void test_a_loss_that_does_not_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const fault faults[] = {{.slope = 1.01, .conjugate = 1, .scale = 1},
                            {.slope = -1, .conjugate = 1, .scale = 1},
                            {.slope = 0.5, .conjugate = 1, .scale = 1000},
                            {.slope = 1, .conjugate = 1, .scale = 1, .shifted = true},
                            {.slope = 1, .conjugate = 1, .scale = 1, .concave = true},
                            {.slope = 1, .conjugate = 0.9, .scale = 1},
                            {.slope = 1, .conjugate = 1.1, .scale = 1},
                            {.slope = 1, .conjugate = 1, .scale = 1, .kinked = true}};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        fault f = faults[i];
        mercer_model *model = NULL;
        const char *which = i < 5 ? "its slope is" : "its conjugate is";
        /* the value that is not convex is r^2/2 near the target, whose conjugate is another: it would be met first */
        assert_fails(ctx, fit_with(ctx, &f, !f.concave, &model), MERCER_INVALID, which);
        assert_null(model);
    }
    close_clean(ctx);
}

static void test_an_answer_that_is_no_number_names_the_row(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    static const char *const names[] = {"its value is nan in row 17,", "its slope is nan in row 17,",
                                        "its curvature is nan in row 17,"};
    const table t = random_table(60, 2, 77);
    for (int way = 0; way < 3; way++) {
        fault f = {.slope = 1, .conjugate = 1, .scale = 1, .bad = t.y[16], .which = "vsc"[way]};
        mercer_model *model = NULL;
        assert_fails(ctx, fit_with(ctx, &f, false, &model), MERCER_INVALID, names[way]);
        assert_null(model);
    }
    close_clean(ctx);
}

static void test_a_loss_lacks_nothing(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    fault f = {.slope = 1, .scale = 1};
    const mercer_own_loss loss = {
        .size = sizeof loss, .name = "half", .value = cosh_value, .curvature = cosh_curvature, .user = &f};
    const table t = random_table(6, 2, 77);
    mercer_data *data = data_of(ctx, &t, false);
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf", &kernel));
    assert_fails(ctx, fit_own_loss(ctx, kernel, data, &loss, NULL, &model), MERCER_INVALID, "lacks a slope");
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_loss_that_fits_itself_is_taken), cmocka_unit_test(test_a_loss_that_does_not_is_refused),
        cmocka_unit_test(test_an_answer_that_is_no_number_names_the_row), cmocka_unit_test(test_a_loss_lacks_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
