/* Two parts of a solution of one quadratic program, each against K written out with the reference evaluator: the rows
   that a certificate leaves out (svm_screen.c), and the start of the next C of a path (svm_predictor.c). */
#include "svm_of_test.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include "learn/common/kernel_matrix.h"
#include "certify/svm_certificate.h"
#include "learn/svm/svm.h"

/* A machine opened on a table and solved for its C, with K of its rows in their order. */
typedef struct solved {
    mc_svm s;
    mercer_svm set;
    mercer_kernel *kernel;
    mercer_data *data;
    mc_quadratic_program program;
    int64_t n;
    double *K;
} solved;

static void write_K(solved *a) {
    const double *x = a->s.p.x->values;
    a->n = a->s.p.n;
    a->K = calloc((size_t)(a->n * a->n), sizeof *a->K);
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t j = 0; j < a->n; j++)
            a->K[i * a->n + j] = mc_eval_kernel(a->s.p.kernel->root, x + i * D, x + j * D, D);
}

static void open_solved(mercer_ctx *ctx, solved *a, mc_svm_kind kind, int64_t n, double C, uint64_t item) {
    const table t = random_table(n, 2, item);
    *a = (solved){.set = plain(mc_svm_variants[kind].name, 1e-5)};
    a->set.C = C;
    a->data = data_of(ctx, &t, kind == MC_SVC);
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.5)", &a->kernel));
    assert_ok(ctx, mc_svm_open(ctx, kind, &a->set, a->kernel, a->data, &a->s));
    write_K(a);
    assert_ok(ctx, mc_svm_start_programs(ctx, &a->s));
    a->s.task[0].tolerance = 1e-5;
    assert_ok(ctx, mc_svm_program_improve(ctx, &a->s, &a->s.task[0]));
    assert_ok(ctx, mc_quadratic_program_open(ctx, &a->s, &a->s.task[0], &a->program));
}

static void close_solved(solved *a) {
    mc_quadratic_program_close(&a->program);
    mc_svm_close(&a->s);
    mercer_kernel_free(a->kernel);
    mercer_data_free(a->data);
    free(a->K);
}

/* (K beta)_i by the raw numbers. */
static double raw_value(const solved *a, int64_t i) {
    const mc_svm_program *t = &a->s.task[0];
    long double sum = 0;
    for (int64_t v = 0; v < t->m; v++)
        sum += (long double)a->K[i * a->n + v % t->n] * t->beta[v];
    return (double)sum;
}

/* max over variables below their upper bound of v less min over those above their lower one. */
static double raw_violation(const solved *a, const mc_dual *d) {
    const mc_svm_program *t = &a->s.task[0];
    double top = -INFINITY, bottom = INFINITY;
    for (int64_t v = 0; v < d->m; v++) {
        const double slope = -(raw_value(a, v % t->n) + d->q[v]);
        assert_true(t->beta[v] >= d->low[v] && t->beta[v] <= d->high[v]);
        top = t->beta[v] < d->high[v] ? fmax(top, slope) : top;
        bottom = t->beta[v] > d->low[v] ? fmin(bottom, slope) : bottom;
    }
    return top - bottom;
}

static long double raw_objective(const solved *a, const mc_dual *d) {
    const mc_svm_program *t = &a->s.task[0];
    long double sum = 0;
    for (int64_t v = 0; v < d->m; v++)
        sum += t->beta[v] * ((long double)raw_value(a, v % t->n) / 2 + d->q[v]);
    return sum;
}

/* ---- Screening ---- */

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

/* ---- The predictor ---- */

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
        cmocka_unit_test(test_rows_left_out_of_a_certificate_add_nothing_to_it),
        cmocka_unit_test(test_a_value_beyond_its_error_is_noticed),
        cmocka_unit_test(test_what_was_computed_serves_the_next_certificate),
        cmocka_unit_test(test_a_start_among_the_rows_next_to_the_margin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
