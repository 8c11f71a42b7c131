#include "base/status.h"
#include "dense.h"
#include "iterative/pcg.h"
#include "iterative/precondition.h"
#include <string.h>

enum { N = 900, RANK = 200, T = 3 };

typedef struct setup {
    dense m;
    mc_lowrank *f;
    mc_precondition *p;
    double V[N * T], Y[N * T];
} setup;

static setup *prepare(mercer_ctx *ctx, int64_t rank, double lambda) {
    setup *s = calloc(1, sizeof *s);
    s->m = gaussian(N, 1, 0);
    const mc_matrix entries = matrix_of(&s->m);
    assert_ok(ctx, mc_lowrank_open(ctx, &entries, NULL, 1, &s->f));
    assert_ok(ctx, mc_lowrank_grow(ctx, s->f, rank, 0));
    assert_ok(ctx, mc_precondition_open(ctx, s->f, lambda, T, &s->p));
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 3);
    for (int i = 0; i < N * T; i++)
        s->V[i] = mc_rng_normal(&rng);
    return s;
}

static void put_away(setup *s) {
    mc_precondition_close(s->p);
    mc_lowrank_close(s->f);
    free(s->m.K);
    free(s);
}

/* out <- F F' Y + shift Y in long double, column k. */
static double worst_miss(const setup *s, double shift) {
    double worst = 0;
    long double *c = calloc((size_t)s->f->rank + 1, sizeof *c);
    for (int64_t k = 0; k < T; k++) {
        for (int64_t j = 0; j < s->f->rank; j++) {
            c[j] = 0;
            for (int64_t i = 0; i < N; i++)
                c[j] += (long double)mc_lowrank_column(s->f, j)[i] * s->Y[i * T + k];
        }
        for (int64_t i = 0; i < N; i++) {
            long double sum = shift * (long double)s->Y[i * T + k];
            for (int64_t j = 0; j < s->f->rank; j++)
                sum += (long double)mc_lowrank_column(s->f, j)[i] * c[j];
            worst = fmax(worst, fabs((double)(sum - s->V[i * T + k])));
        }
    }
    free(c);
    return worst;
}

static void test_it_inverts_what_it_says(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const double lambdas[] = {10, 1e-3, 1e-7};
    for (int l = 0; l < 3; l++) {
        setup *s = prepare(ctx, RANK, lambdas[l]);
        const mc_matrix inverse = mc_precondition_inverse(s->p);
        assert_ok(ctx, inverse.apply(ctx, inverse.self, T, s->V, s->Y));
        assert_true(worst_miss(s, lambdas[l]) < 1e-14 * N / lambdas[l] + 1e-12);
        put_away(s);
    }
    close_clean(ctx);
}

static void test_a_factor_without_columns_leaves_a_multiple_of_the_identity(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    setup *s = prepare(ctx, 0, 4);
    const mc_matrix inverse = mc_precondition_inverse(s->p);
    assert_ok(ctx, inverse.apply(ctx, inverse.self, T, s->V, s->Y));
    for (int i = 0; i < N * T; i++)
        assert_true(s->Y[i] == s->V[i] / 4);
    put_away(s);
    close_clean(ctx);
}

/* v'P^-1 v > 0 even where lambda is far below rounding, in the direction in which P^-1 is smallest. */
static void test_it_stays_positive_at_a_tiny_lambda(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    setup *s = prepare(ctx, RANK, 1e-30);
    const mc_matrix inverse = mc_precondition_inverse(s->p);
    for (int step = 0; step < 20; step++) { /* power iteration on F F' */
        for (int64_t i = 0; i < N * T; i++)
            s->Y[i] = 0;
        for (int64_t j = 0; j < s->f->rank; j++)
            for (int64_t k = 0; k < T; k++) {
                double c = 0;
                for (int64_t i = 0; i < N; i++)
                    c += (double)mc_lowrank_column(s->f, j)[i] * s->V[i * T + k];
                for (int64_t i = 0; i < N; i++)
                    s->Y[i * T + k] += c * (double)mc_lowrank_column(s->f, j)[i] / N;
            }
        memcpy(s->V, s->Y, sizeof s->V);
    }
    assert_ok(ctx, inverse.apply(ctx, inverse.self, T, s->V, s->Y));
    for (int64_t k = 0; k < T; k++) {
        double form = 0;
        for (int64_t i = 0; i < N; i++)
            form += s->V[i * T + k] * s->Y[i * T + k];
        assert_true(form > 0);
    }
    put_away(s);
    close_clean(ctx);
}

static mercer_status dense_apply(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    (void)ctx;
    const dense *m = self;
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t k = 0; k < t; k++) {
            double sum = 0;
            for (int64_t j = 0; j < m->n; j++)
                sum += m->K[i * m->n + j] * V[j * t + k];
            Y[i * t + k] = sum;
        }
    return MERCER_OK;
}

/* The promise of lowrank.h: condition number at most 1 + trace_left/lambda, so that the steps stay below the bound. */
static void test_conjugate_gradients_stay_below_the_bound(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double lambda = 1e-3;
    setup *s = prepare(ctx, RANK, lambda);
    double diagonal[N], X[N * T] = {0};
    for (int i = 0; i < N; i++)
        diagonal[i] = lambda;
    const mc_matrix K = {.n = N, .self = &s->m, .apply = dense_apply};
    mc_pcg_problem p = {.n = N,
                        .t = T,
                        .fast = K,
                        .exact = K,
                        .diagonal = diagonal,
                        .B = s->V,
                        .tolerance = 1e-8,
                        .iterations_max = 5000};
    mc_pcg_result with, without;
    const int64_t bound = mc_pcg_iteration_bound(1 + s->f->trace_left / lambda, p.tolerance);
    assert_ok(ctx, mc_pcg_solve(ctx, &p, X, &without));
    memset(X, 0, sizeof X);
    p.preconditioner = mc_precondition_inverse(s->p);
    assert_ok(ctx, mc_pcg_solve(ctx, &p, X, &with));
    assert_true(with.converged && with.iterations <= bound + 2 * with.refinements);
    assert_true(with.iterations < without.iterations);
    put_away(s);
    close_clean(ctx);
}

static void test_the_bits_do_not_depend_on_the_threads(void **state) {
    (void)state;
    mercer_ctx *one = open_ctx(1), *four = open_ctx(4);
    setup *a = prepare(one, RANK, 1e-2), *b = prepare(four, RANK, 1e-2);
    const mc_matrix ia = mc_precondition_inverse(a->p), ib = mc_precondition_inverse(b->p);
    assert_ok(one, ia.apply(one, ia.self, T, a->V, a->Y));
    assert_ok(four, ib.apply(four, ib.self, T, b->V, b->Y));
    assert_memory_equal(a->Y, b->Y, sizeof a->Y);
    put_away(a);
    put_away(b);
    close_clean(one);
    close_clean(four);
}

static mercer_status open_again(mercer_ctx *ctx, void *arg) {
    setup *s = arg;
    mc_precondition *p = NULL;
    MC_TRY(mc_precondition_open(ctx, s->f, 1, T, &p));
    const mc_matrix inverse = mc_precondition_inverse(p);
    const mercer_status status = inverse.apply(ctx, inverse.self, T, s->V, s->Y);
    mc_precondition_close(p);
    return status;
}

static void test_survives_failing_memory_and_keeps_to_its_forecast(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    setup *s = prepare(ctx, RANK, 1);
    assert_survives_failing_memory(open_again, s);
    mercer_options options = mercer_options_defaults();
    options.threads = 2;
    mercer_ctx *limited = NULL;
    assert_int_equal(mercer_open(&options, &limited), MERCER_OK);
    options.memory_limit = mercer_memory_used(limited) + mc_precondition_bytes(limited, N, RANK, T);
    mercer_close(limited);
    assert_int_equal(mercer_open(&options, &limited), MERCER_OK);
    assert_ok(limited, open_again(limited, s));
    close_clean(limited);
    put_away(s);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_inverts_what_it_says),
        cmocka_unit_test(test_a_factor_without_columns_leaves_a_multiple_of_the_identity),
        cmocka_unit_test(test_it_stays_positive_at_a_tiny_lambda),
        cmocka_unit_test(test_conjugate_gradients_stay_below_the_bound),
        cmocka_unit_test(test_the_bits_do_not_depend_on_the_threads),
        cmocka_unit_test(test_survives_failing_memory_and_keeps_to_its_forecast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
