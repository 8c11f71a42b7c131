/* t_growing_smo.c: quadratic programs over a working set that grows, judged by the raw numbers. */
#include "base/cpu.h"
#include "base/ctx.h"
#include "base/workspace.h"
#include "qp/growing_smo.h"
#include "smo_of_test.h"

/* A pair of classes: the first half of the rows is the one, K lies in one piece. */
typedef struct pair_of_classes {
    sample s;
    mc_kernel_runs K;
    mc_dual dual;
} pair_of_classes;

static pair_of_classes pair_of(mercer_ctx *ctx, int64_t n, double gamma, double C, uint64_t item) {
    pair_of_classes p = {.s = random_sample(n, item, gamma)};
    const int64_t ld = mc_kernel_runs_ld(n), half = n / 2;
    double *K = calloc((size_t)(n * ld), sizeof *K);
    for (int64_t i = 0; i < n; i++) {
        memcpy(K + i * ld, p.s.K + i * n, (size_t)n * sizeof *K);
        p.s.y[i] = i < half ? 1 : -1;
    }
    as_classifier(&p.s, C);
    p.K = (mc_kernel_runs){.runs = 2, .first = {0, half}, .count = {half, n - half}, .K = K, .ld = ld, .isa = ctx->isa};
    p.K.diagonal = p.s.diagonal;
    p.dual = (mc_dual){.m = n, .q = p.s.q, .low = p.s.low, .high = p.s.high};
    return p;
}

static void pair_free(pair_of_classes *p) {
    free((void *)(uintptr_t)p->K.K);
    sample_free(&p->s);
}

static mc_smo_result solve(mercer_ctx *ctx, pair_of_classes *p, double tolerance) {
    mc_smo_result r = {0};
    mc_work work;
    assert_ok(ctx, mc_work_open(ctx, &work, mc_growing_smo_bytes(p->dual.m)));
    mc_growing_smo_solve(&p->dual, &p->K, tolerance, 1000000, work, p->s.beta, p->s.f, &r);
    mc_work_close(&work);
    return r;
}

/* f is that of beta, whose sum is what it was. */
static void check_state(const pair_of_classes *p, double C) {
    double mass = 1;
    for (int64_t i = 0; i < p->s.n; i++)
        mass += fabs(p->s.beta[i]);
    for (int64_t i = 0; i < p->s.n; i++)
        assert_close(p->s.f[i], (double)value_at(&p->s, &p->dual, i), 1e-12 * mass);
    assert_close(group_sum(&p->s, &p->dual, 0), 0, 1e-12 * C * (double)p->s.n);
}

static void test_a_pair_is_brought_to_its_tolerance(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const int64_t sizes[] = {2, 3, 150, 401, 500}; /* all of them fit into a set */
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (double C = 0.1; C < 200; C *= 10) {
            pair_of_classes p = pair_of(ctx, sizes[k], 20, C, k);
            assert_true(solve(ctx, &p, 1e-3).steps > 0);
            assert_true(true_violation(&p.s, &p.dual) <= 1e-3 + 1e-9);
            check_state(&p, C);
            pair_free(&p);
        }
    close_clean(ctx);
}

/* With a K near the identity every variable is off its bounds: more than a set holds. */
static void test_a_set_that_is_full_leaves_a_state_to_go_on_from(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    pair_of_classes p = pair_of(ctx, 1400, 1e5, 10, 7);
    const mc_smo_result r = solve(ctx, &p, 1e-3);
    assert_true(r.steps > 0 && true_violation(&p.s, &p.dual) > 1e-3);
    check_state(&p, 10);
    pair_free(&p);
    close_clean(ctx);
}

/* Where slopes in single precision know no better it ends, however small the tolerance. */
static void test_a_tiny_tolerance_ends_where_single_precision_does(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    pair_of_classes p = pair_of(ctx, 300, 2, 100, 8);
    solve(ctx, &p, 1e-12);
    assert_true(true_violation(&p.s, &p.dual) <= 1e-4 + 1e-9);
    check_state(&p, 100);
    pair_free(&p);
    close_clean(ctx);
}

static void test_no_more_steps_are_taken_than_allowed(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int64_t most = 0; most < 400; most += 57) {
        pair_of_classes p = pair_of(ctx, 300, 2, 100, 8);
        mc_smo_result r = {.steps = 5};
        mc_work work;
        assert_ok(ctx, mc_work_open(ctx, &work, mc_growing_smo_bytes(300)));
        mc_growing_smo_solve(&p.dual, &p.K, 1e-3, 5 + most, work, p.s.beta, p.s.f, &r);
        assert_true(r.steps == 5 + most);
        check_state(&p, 100);
        mc_work_close(&work);
        pair_free(&p);
    }
    close_clean(ctx);
}

/* Rows that are there when they are asked for. */
typedef struct row_source {
    mc_rows_on_demand demand; /* first */
    const pair_of_classes *p;
    double *K;
} row_source;

static void copy_rows(const mc_rows_on_demand *self, const int64_t *rows, int64_t count, int64_t to) {
    const row_source *source = (const row_source *)self;
    const mc_kernel_runs *K = &source->p->K;
    for (int64_t k = 0; k < (rows ? count : source->p->s.n); k++)
        memcpy(source->K + (to + k) * K->ld, K->K + (rows ? rows[k] : k) * K->ld, (size_t)K->ld * sizeof(double));
}

/* Solve with at most so many rows made; and if all is false no others. Returns how many there were. */
static int64_t solve_on_demand(mercer_ctx *ctx, pair_of_classes *p, int64_t most, bool all, bool *over) {
    const double *K = p->K.K;
    int32_t *line = malloc((size_t)p->s.n * sizeof *line);
    row_source source = {.p = p, .K = calloc((size_t)(p->s.n * p->K.ld), sizeof(double))};
    source.demand = (mc_rows_on_demand){.line = line, .most = most, .all = all, .together = 7, .make = copy_rows};
    for (int64_t i = 0; i < p->s.n; i++)
        line[i] = -1;
    pair_of_classes on_demand = *p;
    on_demand.K.K = source.K;
    on_demand.K.demand = &source.demand;
    solve(ctx, &on_demand, 1e-3);
    *over = source.demand.over;
    assert_ptr_equal(p->K.K, K);
    free(source.K);
    free(line);
    return source.demand.count;
}

static void test_rows_are_made_for_those_that_violate(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int64_t most = 20; most <= 600; most += 580)
        for (int all = 0; all < 2; all++) {
            pair_of_classes p = pair_of(ctx, 600, 1, 1000, 9);
            for (int64_t i = 0; i < 300; i++) /* well apart: few are wanted */
                for (int64_t j = 300; j < 600; j++)
                    ((double *)(uintptr_t)p.K.K)[i * p.K.ld + j] = ((double *)(uintptr_t)p.K.K)[j * p.K.ld + i] =
                        p.s.K[i * 600 + j] = p.s.K[j * 600 + i] = 0;
            bool over = false;
            const int64_t made = solve_on_demand(ctx, &p, most, all, &over);
            assert_true(made <= most && over == (most == 20 && !all));
            assert_true(over || true_violation(&p.s, &p.dual) <= 1e-3 + 1e-9);
            assert_true(most == 20 || made < 600);
            check_state(&p, 1000);
            pair_free(&p);
        }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pair_is_brought_to_its_tolerance),
        cmocka_unit_test(test_a_set_that_is_full_leaves_a_state_to_go_on_from),
        cmocka_unit_test(test_a_tiny_tolerance_ends_where_single_precision_does),
        cmocka_unit_test(test_no_more_steps_are_taken_than_allowed),
        cmocka_unit_test(test_rows_are_made_for_those_that_violate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
