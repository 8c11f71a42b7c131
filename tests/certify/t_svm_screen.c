/* The rows that a certificate of a support vector machine leaves out, against K written out with the reference
   evaluator. */
#include "../learn/solved_of_test.h"
#include "base/memory.h"
#include "base/status.h"
#include "certify/svm_certificate.h"

/* f as a solver with such errors leaves it: off by as much as it says at most, to either side. */
static void blur(mercer_ctx *ctx, solved *a, double error, uint64_t item) {
    mc_svm_program *t = &a->s.task[0];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    if (!t->error)
        assert_ok(ctx, MC_ALLOC(ctx, t->error, t->n));
    for (int64_t i = 0; i < t->n; i++) {
        t->error[i] = error * (0.1 + mc_rng_uniform(&rng));
        t->f[i] = raw_value(a, i) + 0.99 * t->error[i] * (2 * mc_rng_uniform(&rng) - 1);
    }
    t->error_is_known = true;
}

/* Row i has no multiplier and lies on the right side of its margin with this b, by the raw numbers. */
static bool is_inactive(const solved *a, int64_t i, double b) {
    const mc_svm_program *t = &a->s.task[0];
    const mc_dual *d = &a->program.dual;
    const double f = raw_value(a, i);
    for (int64_t v = i; v < t->m; v += t->n) {
        const double slope = -(f + d->q[v]);
        if (t->beta[v] != 0 || (d->high[v] > 0 && slope > b) || (d->low[v] < 0 && slope < b))
            return false;
    }
    return true;
}

/* Returns how many rows were left out. */
static int64_t check_screen(const solved *a, const double b[2]) {
    const mc_svm_program *t = &a->s.task[0];
    int64_t left_out = 0;
    for (int64_t i = 0; i < t->n; i++)
        if (t->error[i] == 0)
            assert_close(t->f[i], raw_value(a, i), 1e-10);
        else {
            assert_true(is_inactive(a, i, b[0]));
            left_out++;
        }
    return left_out;
}

static void test_rows_left_out_of_a_certificate_add_nothing_to_it(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    static const double errors[] = {1e-6, 1e-3, 0.05};
    for (int trial = 0; trial < 12; trial++) {
        const double error = errors[trial % 3];
        mc_product_error made = {0};
        bool sure = false;
        solved a;
        open_solved(ctx, &a, trial % 2 ? MC_SVR : MC_SVC, 150 + 10 * trial, 2, 800 + (uint64_t)trial);
        blur(ctx, &a, error, 820 + (uint64_t)trial);
        mc_svm_program *t = &a.s.task[0];
        assert_true(mc_svm_screens(&a.s));
        assert_ok(ctx, mc_svm_program_screen(ctx, &a.s, t, &a.program.dual, &made, &sure));
        assert_true(sure && made.entry > 0 && made.entry < 1e-12);
        if (mc_svm_program_screened(&a.s, t, &a.program.dual, t->result.intercept)) {
            const int64_t left_out = check_screen(&a, t->result.intercept);
            assert_true(error > 1e-2 || left_out > 10); /* there was something to gain */
        } else
            assert_true(error > 1e-4);
        close_solved(&a);
    }
    close_clean(ctx);
}

/* A row that is off by more than it says, among those that are computed: both values cannot be right. */
static void test_a_value_beyond_its_error_is_noticed(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_product_error error = {0};
    bool sure = true;
    solved a;
    open_solved(ctx, &a, MC_SVC, 200, 2, 840);
    blur(ctx, &a, 1e-6, 841);
    mc_svm_program *t = &a.s.task[0];
    for (int64_t i = 0, done = 0; i < t->n && !done; i++)
        if (t->beta[i] != 0) {
            t->f[i] += 3 * t->error[i];
            done = 1;
        }
    assert_ok(ctx, mc_svm_program_screen(ctx, &a.s, t, &a.program.dual, &error, &sure));
    assert_false(sure);
    close_solved(&a);
    close_clean(ctx);
}

/* The next certificate of a path goes on from what the last one computed. */
static void test_what_was_computed_serves_the_next_certificate(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_product_error error = {0};
    bool sure = false;
    solved a;
    open_solved(ctx, &a, MC_SVC, 250, 2, 850);
    blur(ctx, &a, 1e-6, 851);
    mc_svm_program *t = &a.s.task[0];
    assert_ok(ctx, mc_svm_program_screen(ctx, &a.s, t, &a.program.dual, &error, &sure));
    assert_ok(ctx, mc_svm_program_remember(ctx, t));
    int64_t moved = 0; /* two multipliers of one class change places, so that the sum stays */
    for (int64_t i = 0, last = -1; i < t->split && moved < 3; i++)
        if (t->beta[i] > 1e-3 && t->beta[i] < 1.9) {
            if (last >= 0) {
                t->beta[last] += 5e-4;
                t->beta[i] -= 5e-4;
                moved++;
            }
            last = last >= 0 ? -1 : i;
        }
    assert_true(moved > 0);
    blur(ctx, &a, 1e-6, 852);
    t->tolerance = 1e-2; /* the multipliers are no longer a solution: what is inactive is so by more */
    assert_ok(ctx, mc_svm_program_screen(ctx, &a.s, t, &a.program.dual, &error, &sure));
    assert_true(sure && t->certified.error > 0); /* it went on */
    check_screen(&a, t->result.intercept);
    close_solved(&a);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_left_out_of_a_certificate_add_nothing_to_it),
        cmocka_unit_test(test_a_value_beyond_its_error_is_noticed),
        cmocka_unit_test(test_what_was_computed_serves_the_next_certificate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
