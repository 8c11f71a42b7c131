/* What certificates count for rounding grows with the additions that follow one another, not with the rows. */
#include "support.h"
#include <stdlib.h>

static double rounding_of(mercer_ctx *ctx, const char *machine, const mercer_data *data) {
    const mercer_machine *row = mercer_machine_find(machine);
    void *set = calloc(1, row->size);
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_settings_init(ctx, machine, set, row->size));
    assert_ok(ctx, mercer_settings_put(ctx, set, "scale", "none"));
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=1)", &kernel));
    assert_ok(ctx, mercer_fit(ctx, machine, set, kernel, data, &model));
    const mercer_certificate *c = &mercer_model_report(model)->certificate;
    const double share = c->rounding / c->primal;
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    free(set);
    return share;
}

static void test_it_does_not_grow_with_the_rows(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_generate(ctx, "moons", 6000, 0.2, 0, &data));
    assert_true(rounding_of(ctx, "svc", data) < 1e-10);
    assert_true(rounding_of(ctx, "logistic", data) < 1e-10);
    mercer_data_free(data);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_it_does_not_grow_with_the_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
