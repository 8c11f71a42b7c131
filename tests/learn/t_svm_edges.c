#include "svm_of_test.h"

/* ---- Hard margins ---- */

static void test_a_hard_margin_has_no_row_inside(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const table t = random_table(100, 2, 7);
    mercer_svm set = plain("svc", 1e-6);
    set.C = INFINITY;
    mercer_model *model = fit(ctx, "svc", &set, "rbf(gamma=3)", &t);
    double *f = decide(ctx, model, &t);
    for (int64_t i = 0; i < t.n; i++)
        assert_true((t.class_of[i] ? -1 : 1) * f[i] > 1 - 1e-5);
    assert_int_equal(mercer_model_report(model)->bounded_vectors, 0);
    assert_true(mercer_model_report(model)->certificate.gap_relative < 1e-4);
    free(f);
    mercer_model_free(model);
    close_clean(ctx);
}

/* SMO alone would move some million pairs: at a large C the free variables of a kernel of low rank move one another. */
static void test_a_large_C_and_few_columns_take_few_steps(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const table t = random_table(600, 2, 17);
    for (double C = 1; C < 1e7; C *= 1e3) {
        mercer_svm set = plain("svc", 1e-3);
        set.C = C;
        mercer_model *model = fit(ctx, "svc", &set, "linear", &t);
        const mercer_report *r = mercer_model_report(model);
        assert_true(r->certificate.kkt_violation <= 1e-3 && r->iterations < 50 * t.n);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

/* Each sign keeps its sum, also where a Newton step would leave it no variable off its bounds: three rows of two
   columns, of which the multipliers above the tube have to give more than one row can. */
static void test_the_multipliers_of_nu_svr_are_balanced(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    double x[] = {-0.0099, -0.5905, 0.7631, 0.0827, 0.2301, 0.0927}, y[] = {0.0377, 0.0369, -0.0115};
    const mercer_table rows = {
        .size = sizeof rows, .n = 3, .d = 2, .dtype = MERCER_F64, .values = x, .target = y, .outputs = 1};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &rows, &data));
    for (double nu = 0.02; nu < 1; nu += 0.02) {
        mercer_svm set = plain("nu-svr", 1e-9);
        set.C = 285;
        set.nu = nu;
        mercer_model *model = fit_model(ctx, "nu-svr", &set, "linear", data);
        double sum = 0;
        for (int64_t i = 0; i < mercer_model_centres(model); i++)
            sum += mercer_model_coefficient(model, i, 0);
        assert_close(sum, 0, 1e-9);
        assert_true(mercer_model_report(model)->certificate.gap < 1e-6);
        mercer_model_free(model);
    }
    mercer_data_free(data);
    close_clean(ctx);
}

static void expect_margin_or_refusal(mercer_ctx *ctx, const char *kernel, const table *t, bool nearest) {
    mercer_svm set = plain("nu-svc", 1e-3);
    mercer_model *model = NULL;
    set.nu = 0.01;
    set.nearest_nu = nearest;
    const mercer_status status = try_fit(ctx, "nu-svc", &set, kernel, t, &model);
    if (status != MERCER_OK && status != MERCER_NUMERIC)
        fail_msg("%s: %s", kernel, mercer_message(ctx));
    mercer_model_free(model);
}

/* The margin of nu-svc shrinks with the kernel; looking for it below a tolerance of its own must end. Of the smallest
   kernels every product is flushed to 0: that is within what the certificate allows for. */
static void test_a_kernel_of_any_size_has_a_margin_or_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const char *kernels[] = {"1e-300*rbf(gamma=1)", "1e-310*rbf(gamma=1)", "1e-20*rbf(gamma=1)", "1e20*rbf(gamma=1)"};
    for (uint64_t item = 100; item < 108; item++) {
        const table t = random_table(60, 2, item);
        for (size_t k = 0; k < 2 * sizeof kernels / sizeof *kernels; k++)
            expect_margin_or_refusal(ctx, kernels[k / 2], &t, k % 2);
    }
    close_clean(ctx);
}

/* Two rows of each class where the other has one: at a low nu no margin, and the nearest nu is svc with a C of 100 over
   the mean of k(x, x), which no double holds here. */
static void test_a_nearest_nu_beyond_doubles_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    table t = random_table(40, 2, 9);
    memcpy(t.x + 20 * D, t.x, 20 * D * sizeof(double));
    for (int64_t i = 0; i < 40; i++)
        t.class_of[i] = i >= 20;
    for (int fallback = 0; fallback < 2; fallback++) {
        mercer_svm set = plain("nu-svc", 1e-3);
        mercer_model *model = NULL;
        set.nu = 0.5;
        set.nearest_nu = !fallback;
        set.nu_fallback = fallback;
        assert_fails(ctx, try_fit(ctx, "nu-svc", &set, "1e-310*rbf(gamma=1)", &t, &model), MERCER_NUMERIC,
                     "give the kernel a larger factor");
        assert_ok(ctx, try_fit(ctx, "nu-svc", &set, "1e-300*rbf(gamma=1)", &t, &model));
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static void test_data_without_a_margin_are_refused_with_two_rows(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    table t = random_table(50, 2, 8);
    mercer_svm set = plain("svc", 1e-3);
    set.C = INFINITY;
    mercer_model *model = NULL;
    assert_fails(ctx, try_fit(ctx, "svc", &set, "linear", &t, &model), MERCER_NUMERIC,
                 "no margin that double precision can tell");
    memcpy(t.x + 11 * D, t.x + 31 * D, D * sizeof(double));
    t.class_of[11] = 1;
    t.class_of[31] = 0;
    assert_fails(ctx, try_fit(ctx, "svc", &set, "rbf(gamma=3)", &t, &model), MERCER_NUMERIC,
                 "rows 32 and 12 are of different classes");
    set = plain("svr", 1e-3);
    set.C = INFINITY;
    assert_fails(ctx, try_fit(ctx, "svr", &set, "rbf(gamma=3)", &t, &model), MERCER_INVALID, "C must be finite");
    close_clean(ctx);
}

/* Two classes a distance of 2 apart along the first column, moved and stretched: the widest margin is that distance
   wherever they lie. */
static double half_margin(mercer_ctx *ctx, int64_t n, double spread, double offset, double unit) {
    double x[3 * 40];
    const char *label[40];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 31);
    for (int64_t i = 0; i < n; i++) {
        x[3 * i] = unit * (offset + (i % 2 ? 1 : -1) * (i < 2 ? 1 : 1 + mc_rng_uniform(&rng)));
        x[3 * i + 1] = unit * (offset + (i < 2 ? 0 : spread * mc_rng_normal(&rng)));
        x[3 * i + 2] = unit * (i < 2 ? 0 : spread * mc_rng_normal(&rng));
        label[i] = i % 2 ? "b" : "a";
    }
    const mercer_table t = {.size = sizeof t, .n = n, .d = 3, .dtype = MERCER_F64, .values = x, .labels = label};
    mercer_svm set = plain("svc", 1e-6);
    set.C = INFINITY;
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    assert_ok(ctx, mercer_kernel_parse(ctx, "linear", &kernel));
    assert_ok(ctx, mercer_fit(ctx, "svc", &set, kernel, data, &model));
    const mercer_certificate *c = &mercer_model_report(model)->certificate;
    assert_true(c->dual <= c->primal + 2 * c->rounding + 1e-12 * c->primal);
    assert_true(c->objective_gap <= 0.05 * c->primal);
    const double half = 1 / (unit * sqrt(2 * c->primal));
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return half;
}

static void test_a_hard_margin_is_found_wherever_the_rows_lie(void **state) {
    (void)state;
    static const double offsets[] = {0, 1, 2000, 1e5, -1e6}, units[] = {1e-8, 1e-3, 1, 1e3, 1e8},
                        spreads[] = {1, 1e3, 1e5};
    mercer_ctx *ctx = open_ctx(2);
    for (size_t a = 0; a < sizeof offsets / sizeof *offsets; a++)
        for (size_t b = 0; b < sizeof units / sizeof *units; b++)
            assert_close(half_margin(ctx, 2, 0, offsets[a], units[b]), 1, 0.02);
    for (size_t a = 0; a < sizeof spreads / sizeof *spreads; a++)
        for (size_t b = 0; b < sizeof units / sizeof *units; b++) {
            const double half = half_margin(ctx, 40, spreads[a], a ? 0 : 2000, units[b]);
            assert_true(half > 0.97 && half < 1.6); /* the rows in the middle are 2 apart; tilting may gain a little */
        }
    close_clean(ctx);
}

/* ---- Degenerate problems ---- */

/* A kernel of few directions: what is solved for many free rows at once is nearly singular, and the sum of multipliers
   must not drift. */
static void test_multipliers_of_a_kernel_of_low_rank_add_up_to_nothing(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    static const char *const kernels[] = {"normalize(1 + linear)[1]", "linear[1]", "((1 + linear)^2)[1:2]",
                                          "cosine[1:2]"};
    for (uint64_t item = 0; item < 60; item++) {
        table t = random_table(100, 2, 200 + item);
        for (int64_t i = 0; i < t.n * D; i++)
            t.x[i] = fabs(t.x[i]);
        const char *machine = item % 3 ? "svr" : "svc";
        const mercer_svm set = plain(machine, 1e-3);
        mercer_model *model = fit(ctx, machine, &set, kernels[item % 4], &t);
        const mercer_certificate *c = &mercer_model_report(model)->certificate;
        double sum = 0, mass = 0;
        for (int64_t i = 0; i < mercer_model_centres(model); i++) {
            sum += mercer_model_coefficient(model, i, 0);
            mass += fabs(mercer_model_coefficient(model, i, 0));
        }
        if (!(fabs(sum) <= 1e-12 * mass && c->gap >= -c->rounding - 1e-13 * fabs(c->primal)))
            fail_msg("%s, %s: multipliers add up to %g of %g, gap %g, rounding %g", machine, kernels[item % 4], sum,
                     mass, c->gap, c->rounding);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static void check_sane(mercer_ctx *ctx, const char *machine, const mercer_svm *set, const char *kernel,
                       const table *t) {
    mercer_model *model = fit(ctx, machine, set, kernel, t);
    const mercer_certificate *c = &mercer_model_report(model)->certificate;
    double *f = decide(ctx, model, t);
    for (int64_t i = 0; i < t->n; i++)
        assert_true(isfinite(f[i]));
    const bool closed = c->gap_relative <= 1e-2 || c->gap <= set->tolerance * set->C * (double)t->n;
    if (!(closed && c->gap >= -c->rounding - 1e-9 * fabs(c->primal) && c->kkt_violation <= 1.001 * set->tolerance))
        fail_msg("%s, C %g, %s: gap %g of %g, violation %g, rounding %g", machine, set->C, kernel, c->gap, c->primal,
                 c->kkt_violation, c->rounding);
    free(f);
    mercer_model_free(model);
}

static void test_degenerate_data_have_an_answer(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    table two = random_table(2, 2, 9), same = random_table(20, 2, 10), opposite = random_table(20, 2, 11);
    two.class_of[0] = 0;
    two.class_of[1] = 1;
    for (int64_t i = 0; i < 20; i++) {
        memcpy(same.x + i * D, same.x, D * sizeof(double));
        same.class_of[i] = i % 3 == 0;
        memcpy(opposite.x + i * D, opposite.x + i / 2 * 2 * D, D * sizeof(double));
        opposite.class_of[i] = (int)(i % 2);
    }
    const table *const tables[] = {&two, &same, &opposite};
    for (int k = 0; k < 3; k++)
        for (int m = 0; m < 5; m++) {
            mercer_svm set = plain(MACHINES[m], 1e-3);
            set.nu = set.nu > 0 ? 0.4 : 0;
            set.C = m == 1 || m == 4 ? set.C : 1;
            if (m == 1 && k > 0) { /* no margin at all: said in words */
                mercer_model *none = NULL;
                assert_int_equal(try_fit(ctx, "nu-svc", &set, "rbf(gamma=1)", tables[k], &none), MERCER_NUMERIC);
                continue;
            }
            check_sane(ctx, MACHINES[m], &set, "rbf(gamma=1)", tables[k]);
        }
    const table t = random_table(80, 2, 12);
    const mercer_svm set = plain("svc", 1e-3);
    check_sane(ctx, "svc", &set, "3", &t); /* a constant kernel */
    close_clean(ctx);
}

/* Optimal to the tolerance, or a report that says it is not; never without end. Multipliers of size C over kernel
   values of size k cannot be told from each other below C k 2^-53 n. */
static void check_honest(mercer_ctx *ctx, const char *machine, const mercer_svm *set, const char *kernel,
                         const table *t, double size) {
    mercer_model *model = fit(ctx, machine, set, kernel, t);
    const mercer_report *r = mercer_model_report(model);
    const mercer_certificate *c = &r->certificate;
    const bool reached = c->kkt_violation <= 1.001 * set->tolerance, said = strcmp(r->stopped, "no") != 0;
    const double C = strcmp(machine, "one-class") ? set->C : 1, rounding = C * size * (double)t->n * 1e-16;
    const bool hopeless = rounding > 0.05 * set->tolerance;
    if (reached == said || !(reached || hopeless) || !(c->gap >= -c->rounding - 1e-9 * fabs(c->primal)))
        fail_msg("%s, C %g, %s: gap %g of %g, violation %g, rounding %g (%g), stopped: %s", machine, set->C, kernel,
                 c->gap, c->primal, c->kkt_violation, c->rounding, rounding, r->stopped);
    mercer_model_free(model);
}

/* Labels and targets are half noise: most multipliers are at C, and the others as large. */
static void test_every_C_from_tiny_to_huge_on_noise(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    table t = random_table(80, 2, 13);
    for (int64_t i = 0; i < t.n; i += 2) {
        t.class_of[i] = (int)(i / 2 % 2);
        t.y[i] = -t.y[i];
    }
    const char *const kernels[] = {"rbf(gamma=1)", "linear", "poly(degree=2,c=1)"}, *const machines[] = {"svc", "svr",
                                                                                                         "nu-svr"};
    for (int p = -10; p <= 10; p += 5)
        for (int k = 0; k < 3; k++)
            for (int m = 0; m < 3; m++) {
                mercer_svm set = plain(machines[m], 1e-3);
                set.C = pow(10, p);
                set.precision = p == 5 ? "single" : "auto"; /* which must not show */
                check_honest(ctx, machines[m], &set, kernels[k], &t, k == 2 ? 1e3 : k ? 20 : 1);
            }
    close_clean(ctx);
}

/* Data that a margin separates have one solution for every C that no multiplier reaches, however large. */
static void test_a_C_beyond_what_doubles_tell_is_the_hard_margin(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(100, 2, 7);
    const double C[] = {INFINITY, 1e12, 1e20, 1e300};
    double dual = 0;
    for (int k = 0; k < 4; k++) {
        mercer_svm set = plain("svc", 1e-6);
        set.C = C[k];
        mercer_model *model = fit(ctx, "svc", &set, "rbf(gamma=3)", &t);
        const mercer_report *r = mercer_model_report(model);
        assert_true(r->certificate.kkt_violation <= 1e-6 && r->bounded_vectors == 0);
        assert_string_equal(r->stopped, "no");
        dual = k ? dual : r->certificate.dual;
        assert_close(r->certificate.dual, dual, 1e-6);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static void test_columns_of_a_million_unscaled(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    table t = random_table(80, 2, 14);
    for (int64_t i = 0; i < t.n; i++)
        t.x[i * D] *= 1e6;
    const char *const machines[] = {"svc", "svr", "nu-svr", "one-class"};
    for (int p = -10; p <= 10; p += 5)
        for (int m = 0; m < 4; m++) {
            mercer_svm set = plain(machines[m], 1e-3);
            set.C = set.C > 0 ? pow(10, p) : 0;
            check_honest(ctx, machines[m], &set, "rbf(gamma=1)", &t, 1);
            check_honest(ctx, machines[m], &set, "linear", &t, 1e13);
        }
    close_clean(ctx);
}

/* Steps on pairs would go on without end, each with a little gain, and Newton steps between them move without settling:
   after some rounds of both it is for the interior point to end it. */
static void test_steps_that_crawl_come_to_an_end(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const uint64_t seeds[] = {292358504740, 168191085212, 851204825574};
    for (int k = 0; k < 3; k++) {
        table t = table_of_seed(seeds[k], 80, 2, 14);
        for (int64_t i = 0; i < t.n; i++)
            t.x[i * D] *= 1e6;
        const mercer_svm set = plain("svr", 1e-3);
        check_honest(ctx, "svr", &set, "linear", &t, 1e13);
    }
    close_clean(ctx);
}

static void test_an_infeasible_nu_is_named(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    table t = random_table(50, 2, 15);
    for (int64_t i = 0; i < t.n; i++)
        t.class_of[i] = i < 5;
    mercer_svm set = plain("nu-svc", 1e-3);
    mercer_model *model = NULL;
    assert_fails(ctx, try_fit(ctx, "nu-svc", &set, "rbf", &t, &model), MERCER_INVALID, "at most 0.2");
    close_clean(ctx);
}

/* The answer of the highest nu where it is infeasible, of a higher one where there is no margin. */
static void test_the_nearest_nu_has_an_answer(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    table t = random_table(50, 1, 15);
    for (int64_t i = 0; i < t.n; i++)
        t.class_of[i] = i % 5 == 0;
    mercer_svm set = plain("nu-svc", 1e-3), highest = set;
    highest.nu = 0.4;
    set.nearest_nu = true;
    mercer_model *near = fit(ctx, "nu-svc", &set, "rbf", &t), *asked = fit(ctx, "nu-svc", &highest, "rbf", &t),
                 *none = NULL;
    assert_true(mercer_model_report(near)->objective == mercer_model_report(asked)->objective);
    for (int64_t i = 0; i < t.n; i++)
        t.class_of[i] = (int)(i % 2);
    set.nu = 1e-3;
    set.nearest_nu = false;
    assert_fails(ctx, try_fit(ctx, "nu-svc", &set, "linear", &t, &none), MERCER_NUMERIC, "raise nu");
    set.nearest_nu = true;
    mercer_model_free(near);
    near = fit(ctx, "nu-svc", &set, "linear", &t);
    assert_true(isfinite(mercer_model_box(near, 0).C));
    mercer_model_free(near);
    mercer_model_free(asked);
    close_clean(ctx);
}

/* Classes that cannot be told apart have no margin at a small nu: the answer of the nearest is that of svc with 100
   over the mean of k(x,x). */
static void test_the_nearest_nu_of_noise_is_an_svc(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    table t = random_table(200, 2, 16);
    for (int64_t i = 0; i < t.n; i++)
        t.class_of[i] = (int)(i % 2);
    mercer_svm set = plain("nu-svc", 1e-3), svc = plain("svc", 1e-3);
    mercer_model *none = NULL;
    set.nu = 0.1;
    svc.C = 100;
    assert_fails(ctx, try_fit(ctx, "nu-svc", &set, "rbf(gamma=0.01)", &t, &none), MERCER_NUMERIC, "raise nu");
    set.nearest_nu = true;
    mercer_model *near = fit(ctx, "nu-svc", &set, "rbf(gamma=0.01)", &t),
                 *same = fit(ctx, "svc", &svc, "rbf(gamma=0.01)", &t);
    const mercer_report *a = mercer_model_report(near), *b = mercer_model_report(same);
    assert_close(a->norm, b->norm, 1e-3 * b->norm);
    assert_close(a->objective, b->objective, 1e-4 * b->objective);
    mercer_model_free(near);
    mercer_model_free(same);
    close_clean(ctx);
}

/* So many rows that they are asked for one by one, and too few steps for the nearest nu: it goes on over active
   sets. */
static void test_the_nearest_nu_of_many_rows_may_run_out_of_steps(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    table t = random_table(MOST, 2, 17);
    for (int64_t i = 0; i < t.n; i++)
        t.class_of[i] = (int)(i % 2);
    mercer_svm set = plain("nu-svc", 1e-3);
    set.nu = 0.1;
    set.nearest_nu = true;
    int64_t whole = 0;
    for (int tenths = 10; tenths > 4; tenths--) {
        set.iterations = tenths < 10 ? whole * tenths / 10 : set.iterations;
        mercer_model *model = fit(ctx, "nu-svc", &set, "rbf(gamma=0.3)", &t);
        const mercer_report *r = mercer_model_report(model);
        whole = tenths < 10 ? whole : r->iterations;
        assert_int_equal(r->nearest_nu, 1);
        assert_true(isfinite(r->objective));
        mercer_model_free(model);
    }
    close_clean(ctx);
}

/* As a last resort nu moves only where it leaves no margin at all: elsewhere the answer is that of nu as it is, to the
   bit, and where it moves it is that of nearest_nu. */
static void test_the_fallback_of_nu_moves_nothing_that_has_a_margin(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    table t = random_table(200, 2, 16);
    const struct { double nu, gamma; } problem[] = {{0.5, 1}, {0.9, 0.1}, {0.1, 0.01}, {0.05, 0.02}, {0.3, 0.01}};
    int moved = 0, kept = 0;
    for (int64_t i = 0; i < t.n; i++)
        t.class_of[i] = (int)(i % 2);
    for (size_t k = 0; k < sizeof problem / sizeof *problem; k++) {
        char kernel[64];
        snprintf(kernel, sizeof kernel, "rbf(gamma=%g)", problem[k].gamma);
        mercer_svm set = plain("nu-svc", 1e-3);
        mercer_model *plainly = NULL;
        set.nu = problem[k].nu;
        const mercer_status status = try_fit(ctx, "nu-svc", &set, kernel, &t, &plainly);
        assert_true(status == MERCER_OK || status == MERCER_NUMERIC);
        set.nu_fallback = true;
        mercer_model *fallback = fit(ctx, "nu-svc", &set, kernel, &t);
        set.nu_fallback = false;
        set.nearest_nu = true;
        mercer_model *nearest = fit(ctx, "nu-svc", &set, kernel, &t);
        const mercer_report *r = mercer_model_report(fallback), *same = mercer_model_report(status ? nearest : plainly);
        assert_int_equal(r->nearest_nu, status == MERCER_OK ? 0 : 1);
        assert_close(r->norm, same->norm, status ? 1e-3 * same->norm : 0);
        assert_close(r->objective, same->objective, status ? 1e-4 * same->objective : 0);
        status == MERCER_OK ? kept++ : moved++;
        mercer_model_free(plainly);
        mercer_model_free(fallback);
        mercer_model_free(nearest);
    }
    assert_true(moved >= 2 && kept >= 1);
    close_clean(ctx);
}

/* ---- The model ---- */

static void test_a_linear_machine_keeps_its_weight_vector(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const table t = random_table(150, 3, 16);
    const mercer_svm set = plain("svc", 1e-4);
    mercer_model *model = fit(ctx, "svc", &set, "linear", &t);
    double *f = decide(ctx, model, &t);
    for (int64_t i = 0; i < t.n; i++)
        for (int64_t k = 0; k < 3; k++)
            assert_close(f[i * 3 + k],
                         (double)expansion(ctx, model, &t, k, t.x + i * D) + mercer_model_intercept(model, k), 1e-12);
    free(f);
    mercer_model_free(model);
    close_clean(ctx);
}

static void test_a_saved_machine_decides_the_same_bits(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const char *path = "t_svm.mercer";
    const char *const kernels[] = {"rbf(gamma=0.7)", "linear"};
    for (int m = 0; m < 5; m++)
        for (int k = 0; k < 2; k++) {
            if (m == 1 && k == 1)
                continue; /* no linear margin at this nu */
            const table t = random_table(90, needs_classes(MACHINES[m]) ? 3 : 2, 17);
            mercer_svm set = plain(MACHINES[m], 1e-3);
            set.nu = set.nu > 0 ? 0.2 : 0;
            mercer_model *model = fit(ctx, MACHINES[m], &set, kernels[k], &t), *loaded = NULL;
            assert_ok(ctx, mercer_model_save(ctx, model, path));
            assert_ok(ctx, mercer_model_load(ctx, path, &loaded));
            double *x = decide(ctx, model, &t), *y = decide(ctx, loaded, &t);
            assert_memory_equal(x, y, (size_t)(t.n * mercer_model_decisions(model)) * sizeof *x);
            assert_true(mercer_model_report(loaded)->certificate.gap == mercer_model_report(model)->certificate.gap);
            assert_int_equal(mercer_model_report(loaded)->free_vectors, mercer_model_report(model)->free_vectors);
            assert_int_equal(mercer_model_row(loaded, 3), mercer_model_row(model, 3));
            free(x);
            free(y);
            mercer_model_free(model);
            mercer_model_free(loaded);
        }
    remove(path);
    close_clean(ctx);
}

static void test_the_tube_may_hold_every_row(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(40, 2, 18);
    mercer_svm set = plain("svr", 1e-3);
    set.epsilon = 100;
    mercer_model *model = fit(ctx, "svr", &set, "rbf(gamma=1)", &t), *loaded = NULL;
    assert_int_equal(mercer_model_centres(model), 0);
    assert_ok(ctx, mercer_model_save(ctx, model, "t_svm_empty.mercer"));
    assert_ok(ctx, mercer_model_load(ctx, "t_svm_empty.mercer", &loaded));
    remove("t_svm_empty.mercer");
    mercer_data *data = data_of(ctx, &t, false);
    double out[MOST];
    assert_ok(ctx, mercer_predict(ctx, loaded, data, out));
    assert_true(out[0] == out[39] && isfinite(out[0]));
    mercer_data_free(data);
    mercer_model_free(model);
    mercer_model_free(loaded);
    close_clean(ctx);
}

static void test_the_wrong_target_is_said(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(30, 2, 19);
    mercer_data *numbers = data_of(ctx, &t, false), *classes = data_of(ctx, &t, true);
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf", &kernel));
    assert_fails(ctx, mercer_fit(ctx, "svc", NULL, kernel, numbers, &model), MERCER_DATA, "needs classes");
    assert_fails(ctx, mercer_fit(ctx, "svr", NULL, kernel, classes, &model), MERCER_DATA, "needs numbers");
    mercer_kernel_free(kernel);
    mercer_data_free(numbers);
    mercer_data_free(classes);
    close_clean(ctx);
}

static void test_weights_may_leave_one_class_only(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    table t = random_table(30, 2, 24);
    t.weighted = true;
    for (int64_t i = 0; i < t.n; i++)
        t.w[i] = t.class_of[i];
    const mercer_svm set = plain("svc", 1e-3);
    mercer_model *model = NULL;
    assert_fails(ctx, try_fit(ctx, "svc", &set, "rbf", &t, &model), MERCER_DATA,
                 "every row that has a weight is of class 'bee'");
    close_clean(ctx);
}

/* ---- Life ---- */

typedef struct scenario_arg {
    const char *machine, *kernel;
    const table *t;
} scenario_arg;

static mercer_status fit_and_decide(mercer_ctx *ctx, void *arg) {
    const scenario_arg *s = arg;
    const char *labels[MOST];
    for (int64_t i = 0; i < s->t->n; i++)
        labels[i] = NAMES[s->t->class_of[i]];
    mercer_table given = {.size = sizeof given, .n = s->t->n, .d = D, .dtype = MERCER_F64, .values = s->t->x};
    given.labels = needs_classes(s->machine) ? labels : NULL;
    given.target = needs_classes(s->machine) ? NULL : s->t->y;
    given.outputs = needs_classes(s->machine) ? 0 : 1;
    mercer_svm set = plain(s->machine, 1e-3);
    set.nu = set.nu > 0 ? 0.2 : 0;
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    double out[3 * MOST];
    mercer_status status = mercer_data_make(ctx, &given, &data);
    if (!status)
        status = mercer_kernel_parse(ctx, s->kernel, &kernel);
    if (!status)
        status = mercer_fit(ctx, s->machine, &set, kernel, data, &model);
    if (!status)
        status = mercer_decide(ctx, model, data, out);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

static void test_survives_failing_memory(void **state) {
    (void)state;
    const table t = random_table(30, 3, 22);
    scenario_arg args[] = {{"svc", "linear", &t}, {"nu-svr", "rbf(gamma=1)", &t}, {"one-class", "rbf(gamma=1)", &t}};
    for (int k = 0; k < 3; k++)
        assert_survives_failing_memory(fit_and_decide, &args[k]);
}

/* In single precision, and over the K that programs share in double: every kind of machine that does. */
static void test_the_bits_do_not_depend_on_the_threads(void **state) {
    (void)state;
    const struct {
        const char *machine, *precision;
        int64_t classes;
    } each[] = {
        {"svc", "single", 4}, {"svc", "auto", 4}, {"nu-svc", "auto", 4}, {"svr", "auto", 2}, {"one-class", "auto", 2}};
    for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
        const table t = random_table(200, each[k].classes, 23);
        const int64_t decisions = each[k].classes > 2 ? 6 : 1;
        double *first = NULL;
        for (int threads = 1; threads <= 5; threads += 2) {
            mercer_ctx *ctx = open_ctx(threads);
            mercer_svm set = plain(each[k].machine, 1e-3);
            set.precision = each[k].precision;
            mercer_model *model = fit(ctx, each[k].machine, &set, "rbf(gamma=1)", &t);
            double *f = decide(ctx, model, &t);
            if (first)
                assert_memory_equal(first, f, (size_t)(t.n * decisions) * sizeof *f);
            if (first)
                free(f);
            else
                first = f;
            mercer_model_free(model);
            close_clean(ctx);
        }
        free(first);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_hard_margin_has_no_row_inside),
        cmocka_unit_test(test_a_hard_margin_is_found_wherever_the_rows_lie),
        cmocka_unit_test(test_a_large_C_and_few_columns_take_few_steps),
        cmocka_unit_test(test_a_kernel_of_any_size_has_a_margin_or_is_refused),
        cmocka_unit_test(test_a_nearest_nu_beyond_doubles_is_refused),
        cmocka_unit_test(test_data_without_a_margin_are_refused_with_two_rows),
        cmocka_unit_test(test_multipliers_of_a_kernel_of_low_rank_add_up_to_nothing),
        cmocka_unit_test(test_degenerate_data_have_an_answer),
        cmocka_unit_test(test_every_C_from_tiny_to_huge_on_noise),
        cmocka_unit_test(test_a_C_beyond_what_doubles_tell_is_the_hard_margin),
        cmocka_unit_test(test_columns_of_a_million_unscaled),
        cmocka_unit_test(test_steps_that_crawl_come_to_an_end),
        cmocka_unit_test(test_an_infeasible_nu_is_named),
        cmocka_unit_test(test_the_nearest_nu_has_an_answer),
        cmocka_unit_test(test_the_nearest_nu_of_noise_is_an_svc),
        cmocka_unit_test(test_the_nearest_nu_of_many_rows_may_run_out_of_steps),
        cmocka_unit_test(test_the_fallback_of_nu_moves_nothing_that_has_a_margin),
        cmocka_unit_test(test_a_linear_machine_keeps_its_weight_vector),
        cmocka_unit_test(test_a_saved_machine_decides_the_same_bits),
        cmocka_unit_test(test_the_multipliers_of_nu_svr_are_balanced),
        cmocka_unit_test(test_the_tube_may_hold_every_row),
        cmocka_unit_test(test_the_wrong_target_is_said),
        cmocka_unit_test(test_weights_may_leave_one_class_only),
        cmocka_unit_test(test_survives_failing_memory),
        cmocka_unit_test(test_the_bits_do_not_depend_on_the_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
