/* t_stored_smo.c: quadratic programs over runs of rows of a K that lies in memory, judged by the raw numbers. */
#include "base/cpu.h"
#include "base/ctx.h"
#include "base/workspace.h"
#include "qp/smo_select.h"
#include "qp/stored_newton.h"
#include "qp/stored_smo.h"
#include "smo_of_test.h"

enum { ALL = 150 };

/* K of all rows, padded, and a sample of the rows of two runs of it. */
typedef struct pair {
    sample all, s;
    double *K;
    mc_kernel_runs runs;
} pair;

static void pad_kernel(pair *p) {
    const int64_t ld = mc_kernel_runs_ld(ALL);
    p->K = calloc((size_t)(ALL * ld), sizeof(double));
    for (int64_t i = 0; i < ALL; i++)
        memcpy(p->K + i * ld, p->all.K + i * ALL, ALL * sizeof(double));
    p->runs.K = p->K;
    p->runs.ld = ld;
    p->runs.diagonal = p->all.diagonal;
}

static int64_t row_of(const mc_kernel_runs *K, int64_t i) {
    return i < K->count[0] ? K->first[0] + i : K->first[1] + i - K->count[0];
}

static pair pair_of(mercer_ctx *ctx, int64_t a, int64_t count_a, int64_t b, int64_t count_b) {
    pair p = {.all = random_sample(ALL, 11, 0.8), .s = sample_new(count_a + count_b)};
    p.runs = (mc_kernel_runs){.runs = 2, .first = {a, b}, .count = {count_a, count_b}, .isa = ctx->isa};
    pad_kernel(&p);
    for (int64_t i = 0; i < p.s.n; i++)
        for (int64_t j = 0; j < p.s.n; j++)
            p.s.K[i * p.s.n + j] = p.all.K[row_of(&p.runs, i) * ALL + row_of(&p.runs, j)];
    round_K(&p.s);
    return p;
}

static void pair_free(pair *p) {
    sample_free(&p->all);
    sample_free(&p->s);
    free(p->K);
}

static mc_smo_result solve(mercer_ctx *ctx, pair *p, const mc_dual *dual, double tolerance) {
    mc_smo_result r = {0};
    mc_work work;
    assert_ok(ctx, mc_work_open(ctx, &work, mc_stored_smo_bytes(dual->m)));
    mc_stored_smo_solve(dual, &p->runs, tolerance, 1000000, &work, p->s.beta, p->s.f, &r);
    mc_work_close(&work);
    return r;
}

/* The answer is optimal, and so is f by the raw numbers. */
static void check_solution(const pair *p, const mc_dual *dual, mc_smo_result r, double tolerance) {
    assert_true(r.converged && r.violation <= tolerance);
    assert_true(true_violation(&p->s, dual) <= tolerance + 1e-9);
    for (int64_t i = 0; i < p->s.n; i++)
        assert_close(p->s.f[i], (double)value_at(&p->s, dual, i), 1e-9);
}

static void test_a_pair_of_classes_is_solved_where_its_rows_lie(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (double C = 0.01; C < 1e4; C *= 10)
        for (int64_t count = 1; count < 40; count += 7) {
            pair p = pair_of(ctx, 3, count, 60, 29);
            for (int64_t i = 0; i < p.s.n; i++)
                p.s.y[i] = i < count ? 1 : -1;
            as_classifier(&p.s, C);
            const mc_dual dual = {.m = p.s.n, .q = p.s.q, .low = p.s.low, .high = p.s.high};
            check_solution(&p, &dual, solve(ctx, &p, &dual, 1e-4), 1e-4);
            assert_close(group_sum(&p.s, &dual, 0), 0, 1e-12 * C * ALL);
            pair_free(&p);
        }
    close_clean(ctx);
}

/* K of a pair in three pieces, each of its own ld: of either run alone, and of each row its columns of the other. */
typedef struct pieces {
    double *within[2], *between;
    int64_t ld;
    mc_kernel_runs runs;
} pieces;

static double *copy_run(const pair *p, int own, int64_t ld) {
    const mc_kernel_runs *K = &p->runs;
    double *out = calloc((size_t)(K->count[own] * ld), sizeof *out);
    for (int64_t i = 0; i < K->count[own]; i++)
        memcpy(out + i * ld, p->all.K + (K->first[own] + i) * ALL + K->first[own], (size_t)K->count[own] * sizeof *out);
    return out;
}

/* The rows of the pair are numbered from 0 there. */
static pieces pieces_of(const pair *p) {
    const mc_kernel_runs *K = &p->runs;
    pieces s = {.ld = mc_kernel_runs_ld(ALL), .runs = {.runs = 2, .first = {0, K->count[0]}, .isa = K->isa}};
    s.between = calloc((size_t)(p->s.n * s.ld), sizeof *s.between);
    for (int64_t i = 0; i < p->s.n; i++) {
        const int other = i < K->count[0];
        memcpy(s.between + i * s.ld, p->all.K + row_of(K, i) * ALL + K->first[other],
               (size_t)K->count[other] * sizeof *s.between);
    }
    for (int r = 0; r < 2; r++) {
        s.runs.count[r] = K->count[r];
        s.runs.within_ld[r] = mc_kernel_runs_ld(K->count[r]);
        s.runs.within[r] = s.within[r] = copy_run(p, r, s.runs.within_ld[r]);
    }
    s.runs.K = s.between;
    s.runs.ld = s.ld;
    s.runs.diagonal = p->all.diagonal;
    return s;
}

static void pieces_free(pieces *s) {
    free(s->within[0]);
    free(s->within[1]);
    free(s->between);
}

static void copy_lines(const double *from, const int64_t *rows, int64_t count, int64_t ld, double *to) {
    for (int64_t k = 0; k < count; k++)
        memcpy(to + k * ld, from + (rows ? rows[k] : k) * ld, (size_t)ld * sizeof *to);
}

/* Rows of the part between that are there when they are asked for. */
typedef struct part_source {
    mc_rows_on_demand demand; /* first */
    const pieces *s;
    double *K;
    int64_t n;
} part_source;

static void copy_between(const mc_rows_on_demand *self, const int64_t *rows, int64_t count, int64_t to) {
    const part_source *p = (const part_source *)self;
    copy_lines(p->s->between, rows, rows ? count : p->n, p->s->ld, p->K + to * p->s->ld);
}

static part_source part_source_of(const pieces *s, int64_t n, int64_t most, int32_t *line) {
    part_source p = {.s = s, .K = calloc((size_t)(n * s->ld), sizeof(double)), .n = n};
    p.demand = (mc_rows_on_demand){.line = line, .most = most, .look = n, .many = n, .all = true, .together = 5};
    p.demand.make = copy_between;
    for (int64_t i = 0; i < n; i++)
        line[i] = -1;
    return p;
}

/* The same answer, bit for bit, as over the whole K, whether the part between is there or made on demand. */
static void test_a_pair_in_pieces_is_that_of_the_whole(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int k = 0; k < 3; k++) {
        pair p = pair_of(ctx, 3, 41, 60, 77);
        for (int64_t i = 0; i < p.s.n; i++)
            p.s.y[i] = i < 41 ? 1 : -1;
        as_classifier(&p.s, 10);
        const mc_dual dual = {.m = p.s.n, .q = p.s.q, .low = p.s.low, .high = p.s.high};
        double whole[ALL];
        solve(ctx, &p, &dual, 1e-4);
        memcpy(whole, p.s.beta, (size_t)p.s.n * sizeof *whole);
        memset(p.s.beta, 0, (size_t)p.s.n * sizeof *whole);
        memset(p.s.f, 0, (size_t)p.s.n * sizeof *whole);
        pieces s = pieces_of(&p);
        int32_t line[ALL];
        part_source source = part_source_of(&s, p.s.n, k == 1 ? p.s.n : 20, line);
        if (k) {
            s.runs.demand = &source.demand;
            s.runs.K = source.K;
        }
        p.runs = s.runs;
        check_solution(&p, &dual, solve(ctx, &p, &dual, 1e-4), 1e-4);
        assert_memory_equal(whole, p.s.beta, (size_t)p.s.n * sizeof *whole);
        free(source.K);
        pieces_free(&s);
        pair_free(&p);
    }
    close_clean(ctx);
}

/* Rows of K copied from the whole when they are asked for. */
typedef struct source {
    mc_rows_on_demand demand; /* first */
    const pair *p;
    double *K;
} source;

static void copy_rows(const mc_rows_on_demand *self, const int64_t *rows, int64_t count, int64_t to) {
    const source *s = (const source *)self;
    copy_lines(s->p->K, rows, rows ? count : ALL, s->p->runs.ld, s->K + to * s->p->runs.ld);
}

static source source_of(const pair *p, int64_t most, bool all, int32_t *line) {
    source s = {.p = p, .K = malloc((size_t)(ALL * p->runs.ld) * sizeof(double))};
    s.demand = (mc_rows_on_demand){.line = line, .most = most, .look = 20, .many = ALL, .all = all};
    s.demand.together = 5;
    s.demand.make = copy_rows;
    for (int64_t i = 0; i < ALL; i++)
        line[i] = -1;
    return s;
}

/* As many as there is room for, all once that is used up, or an end short of the solution, which goes on with the
   whole. */
static void test_rows_are_made_when_they_are_needed(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int k = 0; k < 3; k++) {
        pair p = pair_of(ctx, 3, 70, 80, 65);
        int32_t line[ALL];
        source s = source_of(&p, k ? 30 : ALL, k < 2, line);
        for (int64_t i = 0; i < p.s.n; i++)
            p.s.y[i] = i < 70 ? 1 : -1;
        as_classifier(&p.s, 10);
        const mc_dual dual = {.m = p.s.n, .q = p.s.q, .low = p.s.low, .high = p.s.high};
        p.runs.demand = &s.demand;
        p.runs.K = s.K;
        mc_smo_result r = solve(ctx, &p, &dual, 1e-4);
        assert_true(s.demand.over == (k == 2) && r.converged == (k < 2));
        for (int64_t i = 0; k == 2 && i < p.s.n; i++)
            assert_close(p.s.f[i], (double)value_at(&p.s, &dual, i), 1e-9);
        p.runs.demand = NULL;
        p.runs.K = p.K;
        check_solution(&p, &dual, k < 2 ? r : solve(ctx, &p, &dual, 1e-4), 1e-4);
        free(s.K);
        pair_free(&p);
    }
    close_clean(ctx);
}

/* Each run keeps its own sum. */
static void test_groups_keep_their_sums(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    pair p = pair_of(ctx, 90, 33, 5, 41);
    for (int64_t i = 0; i < p.s.n; i++) {
        p.s.group[i] = i >= 33;
        p.s.low[i] = i < 33 ? 0 : -1;
        p.s.high[i] = i < 33 ? 1 : 0;
        p.s.beta[i] = i < 5 ? 1 : i >= p.s.n - 5 ? -1 : 0;
    }
    const mc_dual dual = {.m = p.s.n, .q = p.s.q, .low = p.s.low, .high = p.s.high, .group = p.s.group};
    write_f(&p.s, &dual);
    check_solution(&p, &dual, solve(ctx, &p, &dual, 1e-5), 1e-5);
    assert_close(group_sum(&p.s, &dual, 0), 5, 1e-12);
    assert_close(group_sum(&p.s, &dual, 1), -5, 1e-12);
    pair_free(&p);
    close_clean(ctx);
}

/* Two variables to a row: both runs have the same rows, with one sum or two. */
static void test_a_tube_has_its_rows_twice(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int groups = 0; groups < 2; groups++) {
        pair p = {.all = random_sample(ALL, 12, 0.8), .s = random_sample(ALL, 12, 0.8)};
        p.runs = (mc_kernel_runs){.runs = 2, .first = {0, 0}, .count = {ALL, ALL}, .isa = ctx->isa};
        pad_kernel(&p);
        as_regression(&p.s, 3, 0.1);
        for (int64_t t = 0; groups && t < 8; t++) {
            p.s.beta[t] = 3;
            p.s.beta[2 * ALL - 1 - t] = -3;
        }
        const mc_dual dual = {.m = 2 * ALL,
                              .row = p.s.row,
                              .q = p.s.q,
                              .low = p.s.low,
                              .high = p.s.high,
                              .group = groups ? p.s.group : NULL};
        write_f(&p.s, &dual);
        check_solution(&p, &dual, solve(ctx, &p, &dual, 1e-4), 1e-4);
        pair_free(&p);
    }
    close_clean(ctx);
}

/* Few free variables: the tolerance is met by all digits. Duplicates, whose rows are not independent, are no matter. */
static void test_few_free_variables_have_all_digits(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    pair p = pair_of(ctx, 0, 10, 40, 12);
    for (int64_t i = 0; i < p.s.n; i++)
        p.s.y[i] = i < 10 ? 1 : -1;
    as_classifier(&p.s, 1e6);
    const mc_dual dual = {.m = p.s.n, .q = p.s.q, .low = p.s.low, .high = p.s.high};
    const mc_smo_result r = solve(ctx, &p, &dual, 1e-3);
    check_solution(&p, &dual, r, 1e-3);
    assert_true(r.violation < 1e-9);
    pair_free(&p);
    close_clean(ctx);
}

/* A flat kernel, whose K is nearly singular, with noise and a C that leave dozens free: tens of thousands of steps on
   pairs alone. */
static void test_nearly_singular_K_takes_few_steps(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int repeated = 0; repeated < 2; repeated++) {
        pair p = {.all = random_sample(ALL, 13, 0.05), .s = random_sample(ALL, 13, 0.05)};
        p.runs = (mc_kernel_runs){.runs = 1, .count = {ALL}, .isa = ctx->isa};
        for (int64_t i = 0; repeated && i < ALL / 2; i++) /* every row twice */
            for (int64_t j = 0; j < ALL; j++) {
                const int64_t a = i + ALL / 2, b = j % (ALL / 2);
                p.s.K[a * ALL + j] = p.s.K[i * ALL + j] = p.all.K[i * ALL + b];
            }
        memcpy(p.all.K, p.s.K, ALL * ALL * sizeof *p.s.K);
        round_K(&p.s);
        pad_kernel(&p);
        as_classifier(&p.s, 1e4);
        const mc_dual dual = {.m = ALL, .q = p.s.q, .low = p.s.low, .high = p.s.high};
        const mc_smo_result r = solve(ctx, &p, &dual, 1e-5);
        assert_true(r.converged && r.steps < 60 * ALL);
        assert_true(true_violation(&p.s, &dual) < 1e-4); /* multipliers of 1e4 leave f no more digits */
        assert_close(group_sum(&p.s, &dual, 0), 0, 1e-12 * 1e4 * ALL);
        pair_free(&p);
    }
    close_clean(ctx);
}

/* Slopes of free variables agree, nobody is beyond a bound, and the sums are kept. */
static void test_newton_makes_slopes_agree(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    pair p = pair_of(ctx, 90, 33, 5, 41);
    for (int64_t i = 0; i < p.s.n; i++) {
        p.s.group[i] = i >= 33;
        p.s.high[i] = 1;
        p.s.beta[i] = i % 2 ? 0 : 0.01;
    }
    const mc_dual dual = {.m = p.s.n, .q = p.s.q, .low = p.s.low, .high = p.s.high, .group = p.s.group};
    mc_work work;
    write_f(&p.s, &dual);
    assert_ok(ctx, mc_work_open(ctx, &work, mc_stored_newton_bytes(dual.m)));
    assert_int_equal(mc_count_free(&dual, p.s.beta), 37);
    for (int k = 0; k < 9; k++) /* so many may meet a bound in each */
        assert_true(mc_stored_newton_step(&dual, &p.runs, INFINITY, work, p.s.beta, p.s.f) || k);
    double least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY};
    for (int64_t t = 0; t < dual.m; t++) {
        const int g = p.s.group[t];
        assert_true(p.s.beta[t] >= 0 && p.s.beta[t] <= 1);
        if (p.s.beta[t] > 0 && p.s.beta[t] < 1) {
            least[g] = fmin(least[g], (double)value_at(&p.s, &dual, t));
            most[g] = fmax(most[g], (double)value_at(&p.s, &dual, t));
        }
    }
    assert_true(most[0] - least[0] < 1e-10 && most[1] - least[1] < 1e-10);
    assert_close(group_sum(&p.s, &dual, 0), 0.17, 1e-13);
    assert_close(group_sum(&p.s, &dual, 1), 0.2, 1e-13);
    assert_false(mc_stored_newton_step(&dual, &p.runs, -1, work, p.s.beta, p.s.f));
    mc_work_close(&work);
    pair_free(&p);
    close_clean(ctx);
}

static void test_products_are_those_of_the_raw_numbers(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    pair p = pair_of(ctx, 70, 80, 1, 60);
    double c[ALL], f[ALL], part[ALL];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 3);
    for (int64_t i = 0; i < p.s.n; i++)
        p.s.beta[i] = c[i] = i % 3 ? mc_rng_normal(&rng) : 0;
    const mc_dual dual = {.m = p.s.n};
    mc_kernel_runs_multiply(&p.runs, c, 0, p.s.n, f);
    for (int64_t begin = 0; begin < p.s.n; begin += 33)
        mc_kernel_runs_multiply(&p.runs, c, begin, begin + 33 < p.s.n ? begin + 33 : p.s.n, part);
    for (int64_t i = 0; i < p.s.n; i++)
        assert_close(f[i], (double)value_at(&p.s, &dual, i), 1e-12);
    assert_memory_equal(f, part, (size_t)p.s.n * sizeof *f);
    pair_free(&p);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pair_of_classes_is_solved_where_its_rows_lie),
        cmocka_unit_test(test_a_pair_in_pieces_is_that_of_the_whole),
        cmocka_unit_test(test_rows_are_made_when_they_are_needed),
        cmocka_unit_test(test_groups_keep_their_sums),
        cmocka_unit_test(test_a_tube_has_its_rows_twice),
        cmocka_unit_test(test_few_free_variables_have_all_digits),
        cmocka_unit_test(test_nearly_singular_K_takes_few_steps),
        cmocka_unit_test(test_newton_makes_slopes_agree),
        cmocka_unit_test(test_products_are_those_of_the_raw_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
