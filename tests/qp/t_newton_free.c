/* t_newton_free.c: a Newton step on the free variables against the conditions it is made from, by the raw numbers, and
   against LAPACK's solution of its linear system; and when there is none. */
#include "qp/newton_free.h"
#include "smo_of_test.h"

void dgesv_(const int *n, const int *columns, double *A, const int *lda, int *pivot, double *b, const int *ldb,
            int *info);

static mercer_status step_from(mercer_ctx *ctx, const sample *s, const mc_dual *dual, double *step, bool *found) {
    mc_buffer buffer = {0};
    const mc_matrix K = mc_matrix_square(s->n, MERCER_F64, s->K, s->n, NULL);
    const mc_newton_free newton = {dual, &K, s->beta, s->f, &buffer};
    const mercer_status status = mc_newton_free_step(ctx, &newton, step, found);
    mc_buffer_close(&buffer);
    return status;
}

/* Every fifth variable is at a bound, and no other is near one. */
static sample sample_with_room(int64_t n, uint64_t item) {
    sample s = random_sample(n, item, 200);
    as_classifier(&s, 1);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    for (int64_t i = 0; i < n; i++) {
        s.beta[i] = mc_rng_normal(&rng);
        s.low[i] = s.beta[i] - (i % 5 ? 1e6 : 0);
        s.high[i] = s.beta[i] + 1e6;
    }
    write_f(&s, &(mc_dual){.m = n});
    return s;
}

/* ---- Against other formulas ---- */

/* [K_FF 1; 1' 0] [d; nu] = [v_F; 0], by LU. */
static void test_a_step_without_bounds_solves_its_system(void **state) {
    (void)state;
    for (uint64_t item = 400; item < 404; item++) {
        sample s = sample_with_room(60 + 7 * (int64_t)(item - 400), item);
        const mc_dual dual = {.m = s.n, .q = s.q, .low = s.low, .high = s.high};
        mercer_ctx *ctx = open_ctx(2);
        const int free_ones = (int)(s.n - (s.n + 4) / 5), order = free_ones + 1, one = 1;
        double *step = calloc((size_t)s.n, sizeof *step), *A = calloc((size_t)(order * order), sizeof *A),
               *x = calloc((size_t)order, sizeof *x);
        int *pivot = calloc((size_t)order, sizeof *pivot), info, a = 0;
        bool found = false;
        for (int64_t i = 0; i < s.n; i++) {
            int b = 0;
            if (i % 5 == 0)
                continue;
            x[a] = (double)-(value_at(&s, &dual, i) + s.q[i]);
            for (int64_t j = 0; j < s.n; j++)
                if (j % 5)
                    A[a * order + b++] = s.K[i * s.n + j];
            A[a * order + free_ones] = A[free_ones * order + a] = 1;
            a++;
        }
        assert_int_equal(a, free_ones);
        dgesv_(&order, &one, A, &order, pivot, x, &order, &info);
        assert_int_equal(info, 0);
        assert_ok(ctx, step_from(ctx, &s, &dual, step, &found));
        assert_true(found);
        for (int64_t i = 0, k = 0; i < s.n; i++)
            assert_close(step[i], i % 5 ? x[k++] : 0, 1e-9);
        close_clean(ctx);
        free(step);
        free(A);
        free(x);
        free(pivot);
        sample_free(&s);
    }
}

/* Free variables that stay so have one slope, those held are at a bound, the sum is kept. width: of the bounds around
   beta. */
static void step_on_free_variables(mercer_dtype dtype, double width, double tolerance) {
    sample s = random_sample(200, 19, 200);
    as_classifier(&s, 1);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 20);
    const mc_dual dual = {.m = s.n, .q = s.q, .low = s.low, .high = s.high};
    for (int64_t i = 0; i < s.n; i++) {
        s.beta[i] = i % 2 ? -s.beta[i - 1] : mc_rng_normal(&rng);
        s.low[i] = s.beta[i] - (i % 5 ? width * mc_rng_uniform(&rng) : 0);
        s.high[i] = s.beta[i] + width * mc_rng_uniform(&rng);
    }
    write_f(&s, &dual);
    mercer_ctx *ctx = open_ctx(2);
    mc_buffer buffer = {0};
    double *step = calloc((size_t)s.n, sizeof *step), low = INFINITY, high = -INFINITY;
    bool found = false;
    int64_t held = 0;
    const void *entries = dtype == MERCER_F64 ? (const void *)s.K : (const void *)s.single;
    const mc_matrix K = mc_matrix_square(s.n, dtype, entries, s.n, NULL);
    const mc_newton_free newton = {&dual, &K, s.beta, s.f, &buffer};
    assert_ok(ctx, mc_newton_free_step(ctx, &newton, step, &found));
    assert_true(found);
    for (int64_t i = 0; i < s.n; i++) {
        assert_true(i % 5 || step[i] == 0);
        s.beta[i] += step[i];
        assert_true(s.beta[i] >= s.low[i] - 1e-12 && s.beta[i] <= s.high[i] + 1e-12);
    }
    assert_close(group_sum(&s, &dual, 0), 0, 1e-8);
    for (int64_t i = 0; i < s.n; i++) {
        const bool inside = s.beta[i] > s.low[i] + 1e-12 && s.beta[i] < s.high[i] - 1e-12;
        const double v = inside ? (double)-(value_at(&s, &dual, i) + s.q[i]) : NAN;
        low = fmin(low, v);
        high = fmax(high, v);
        held += !inside && i % 5;
    }
    assert_true(high - low <= tolerance);
    assert_true(width > 1e6 ? held == 0 : held > 0);
    mc_buffer_close(&buffer);
    close_clean(ctx);
    free(step);
    sample_free(&s);
}

static void test_a_step_ends_where_slopes_agree(void **state) {
    (void)state;
    step_on_free_variables(MERCER_F64, 1e9, 1e-9);
    step_on_free_variables(MERCER_F64, 20, 1e-9);
    step_on_free_variables(MERCER_F32, 20, 1e-3);
}

/* ---- No step ---- */

static void test_fewer_than_two_free_variables_make_no_step(void **state) {
    (void)state;
    for (int64_t free_ones = 0; free_ones < 3; free_ones++) {
        sample s = sample_with_room(20, 410);
        const mc_dual dual = {.m = s.n, .q = s.q, .low = s.low, .high = s.high};
        mercer_ctx *ctx = open_ctx(1);
        double step[20], moved = 0;
        bool found = true;
        for (int64_t i = 0; i < s.n; i++)
            s.low[i] = i < free_ones ? s.beta[i] - 1e6 : s.beta[i];
        assert_ok(ctx, step_from(ctx, &s, &dual, step, &found));
        assert_int_equal(found, free_ones >= 2);
        for (int64_t i = 0; i < s.n; i++)
            moved += fabs(step[i]);
        assert_true(found ? moved > 0 && fabs(step[0] + step[1]) <= 1e-12 * moved : moved == 0);
        close_clean(ctx);
        sample_free(&s);
    }
}

/* Bounds so near that more than a quarter of the variables would end there. */
static void test_too_many_at_their_bounds_make_no_step(void **state) {
    (void)state;
    sample s = sample_with_room(200, 411);
    const mc_dual dual = {.m = s.n, .q = s.q, .low = s.low, .high = s.high};
    mercer_ctx *ctx = open_ctx(1);
    double step[200];
    bool found = true;
    for (int64_t i = 0; i < s.n; i++) {
        s.low[i] = s.beta[i] - (i % 5 ? 1e-9 : 0);
        s.high[i] = s.beta[i] + 1e-9;
    }
    assert_ok(ctx, step_from(ctx, &s, &dual, step, &found));
    assert_false(found);
    for (int64_t i = 0; i < s.n; i++)
        assert_true(step[i] == 0);
    close_clean(ctx);
    sample_free(&s);
}

static void test_no_step_is_made_without_room(void **state) {
    (void)state;
    sample s = sample_with_room(400, 412);
    const mc_dual dual = {.m = s.n, .q = s.q, .low = s.low, .high = s.high};
    double step[400];
    for (int room = 0; room < 2; room++) {
        mercer_options options = mercer_options_defaults();
        mercer_ctx *ctx = NULL;
        bool found = false;
        options.memory_limit = mc_newton_free_bytes(320) * (room ? 3 : 1);
        assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
        assert_ok(ctx, step_from(ctx, &s, &dual, step, &found));
        assert_int_equal(found, room);
        close_clean(ctx);
    }
    sample_free(&s);
}

static mercer_status step_for_failing_memory(mercer_ctx *ctx, void *arg) {
    const sample *s = arg;
    const mc_dual dual = {.m = s->n, .q = s->q, .low = s->low, .high = s->high};
    double step[40];
    bool found;
    return step_from(ctx, s, &dual, step, &found);
}

static void test_a_step_survives_failing_memory(void **state) {
    (void)state;
    sample s = sample_with_room(40, 413);
    assert_survives_failing_memory(step_for_failing_memory, &s);
    sample_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step_without_bounds_solves_its_system),
        cmocka_unit_test(test_a_step_ends_where_slopes_agree),
        cmocka_unit_test(test_fewer_than_two_free_variables_make_no_step),
        cmocka_unit_test(test_too_many_at_their_bounds_make_no_step),
        cmocka_unit_test(test_no_step_is_made_without_room),
        cmocka_unit_test(test_a_step_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
