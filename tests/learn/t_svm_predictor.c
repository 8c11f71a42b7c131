/* The start of the next C of a path, against K written out with the reference evaluator. */
#include "solved_of_test.h"
#include "base/status.h"
#include "data/table/data.h"
#include "learn/common/kernel_matrix.h"

static mc_active_problem whole_problem(const solved *a, const mc_kernel_matrix *rows, const mc_quadratic_program *p) {
    return (mc_active_problem){.dual = p->dual,
                               .matrix = mc_kernel_matrix_view(rows, MERCER_F64, a->s.diagonal),
                               .tolerance = 1e-5,
                               .steps_max = 10000000,
                               .most = a->n / 3};
}

/* One rise of C: what the predictor leaves is feasible and most of the way to the optimum, which the whole finds from
   there. */
static void check_rise(mercer_ctx *ctx, solved *a, double C) {
    mc_kernel_matrix rows = {0};
    mc_quadratic_program p;
    mc_smo_result first = {0};
    mc_svm_program *t = &a->s.task[0];
    double *last = calloc((size_t)t->n, sizeof *last);
    for (int64_t i = 0; i < t->n; i++)
        last[i] = t->intercept + raw_value(a, i);
    mc_svm_raise_C(&a->s, C);
    assert_ok(ctx, mc_quadratic_program_open(ctx, &a->s, t, &p));
    assert_ok(ctx, mc_kernel_matrix_open(ctx, a->s.p.kernel, a->s.p.x, NULL, true, &rows));
    mc_active_problem whole = whole_problem(a, &rows, &p);
    const long double before = raw_objective(a, &p.dual);
    assert_ok(ctx, mc_svm_program_predict(ctx, &a->s, t, &rows, &whole, &first));
    const long double narrow = raw_objective(a, &p.dual);
    raw_violation(a, &p.dual); /* that is, it is feasible */
    for (int64_t i = 0; i < t->n; i++) {
        assert_close(t->f[i], raw_value(a, i), 8 * sqrt(whole.noise2) + 1e-9 * C * (double)t->n);
        assert_close(t->previous_decision[i], last[i], 1e-4);
    }
    t->rise = 0;
    whole.close_start = true;
    assert_ok(ctx, mc_active_solve(ctx, &whole, t->beta, t->f, &t->result));
    mc_svm_program_finish(&a->s, t, t->result.intercept);
    assert_true(raw_violation(a, &p.dual) <= 1.1e-5);
    assert_true(before - narrow >= 0.8L * (before - raw_objective(a, &p.dual)));
    mc_kernel_matrix_close(&rows);
    mc_quadratic_program_close(&p);
    free(last);
}

static void test_a_start_among_the_rows_next_to_the_margin(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int regression = 0; regression < 2; regression++) {
        solved a;
        open_solved(ctx, &a, regression ? MC_SVR : MC_SVC, 300, 0.5, 860 + (uint64_t)regression);
        for (double C = 1; C <= 16; C *= 2) /* from the third on the way so far says where values go */
            check_rise(ctx, &a, C);
        close_solved(&a);
    }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_start_among_the_rows_next_to_the_margin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
