#include "../gram/checking_device.h"
#include "base/ctx.h"
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

/* ---- On a device ---- */

/* A factor of random floats: rows beyond one panel of doubles, segments beyond one. */
enum { LONG = 4500, NARROW = 9 };

typedef struct long_factor {
    mc_lowrank f;
    float *panel[1];
    double V[LONG * T], here[LONG * T], there[LONG * T];
} long_factor;

static long_factor *draw_factor(void) {
    long_factor *l = calloc(1, sizeof *l);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 4);
    l->panel[0] = malloc(sizeof(float) * LONG * NARROW);
    l->f = (mc_lowrank){.n = LONG, .rank = NARROW, .part = mc_segments_whole(LONG), .panel = l->panel};
    for (int i = 0; i < LONG * NARROW; i++)
        l->panel[0][i] = (float)mc_rng_normal(&rng);
    for (int i = 0; i < LONG * T; i++)
        l->V[i] = mc_rng_normal(&rng);
    return l;
}

static void free_factor(long_factor *l) {
    free(l->panel[0]);
    free(l);
}

static mercer_status invert(mercer_ctx *ctx, const long_factor *l, double lambda, int64_t t, double *Y,
                            double *log_det) {
    mc_precondition *p = NULL;
    mercer_status status = mc_precondition_open(ctx, &l->f, lambda, T, &p);
    const mc_matrix inverse = status ? (mc_matrix){0} : mc_precondition_inverse(p);
    status = status ? status : inverse.apply(ctx, inverse.self, t, l->V, Y);
    *log_det = status ? 0 : mc_precondition_log_det(p);
    mc_precondition_close(p);
    return status;
}

static void test_a_device_inverts_the_same(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2), *there = open_ctx(1);
    mc_device *device = attach_test_device(there);
    long_factor *l = draw_factor();
    double log_det[2];
    for (int64_t t = 1; t <= T; t++)
        for (double lambda = 1e-30; lambda < 10; lambda = lambda < 1e-6 ? 1e-6 : 1e6 * lambda) {
            device->peak = 0;
            assert_ok(ctx, invert(ctx, l, lambda, t, l->here, &log_det[0]));
            assert_ok(there, invert(there, l, lambda, t, l->there, &log_det[1]));
            assert_true(device->peak >= sizeof(float) * LONG * NARROW);
            assert_int_equal(device->used, 0);
            assert_close(log_det[0], log_det[1], 1e-9);
            const double scale = fmax(lambda, 0x1p-44 * LONG * NARROW);
            for (int64_t i = 0; i < LONG * t; i++)
                assert_true(fabs(l->here[i] - l->there[i]) <= 1e-13 / scale);
            assert_ok(there, invert(there, l, lambda, t, l->here, &log_det[0]));
            assert_memory_equal(l->here, l->there, (size_t)(LONG * t) * sizeof(double));
        }
    free_factor(l);
    close_clean(ctx);
    close_clean(there);
}

/* Under auto, whatever call of the device fails, the processor has the answer that it would have had alone; a device
   that was named is an error. Nothing stays on it. */
static void test_a_device_that_fails(void **state) {
    (void)state;
    mercer_ctx *here = open_ctx(1);
    long_factor *l = draw_factor();
    double log_det;
    bool failed = true;
    int faults = 0;
    if (on_a_card())
        skip();
    assert_ok(here, invert(here, l, 0.1, 1, l->here, &log_det));
    for (int calls = 0; failed; calls++) {
        for (int named = 0; named < 2; named++) {
            mercer_ctx *ctx = open_ctx(1);
            attach_test_device(ctx);
            if (!named)
                strcpy(ctx->device.wanted, "auto");
            ctx->device.spent = 1e9;
            checking_device_fail_after(calls);
            const mercer_status status = invert(ctx, l, 0.1, 1, l->there, &log_det);
            failed = checking_device_failed();
            checking_device_fail_after(-1);
            assert_true(named && failed ? status == MERCER_OK || strstr(mercer_message(ctx), "device checking:0")
                                        : !status);
            if (failed && !named)
                assert_memory_equal(l->here, l->there, LONG * sizeof(double));
            faults += failed && status;
            assert_int_equal(checking_device_blocks(), 0);
            close_clean(ctx);
        }
    }
    assert_true(faults > 8);
    free_factor(l);
    close_clean(here);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_inverts_what_it_says),
        cmocka_unit_test(test_a_device_inverts_the_same),
        cmocka_unit_test(test_a_device_that_fails),
        cmocka_unit_test(test_a_factor_without_columns_leaves_a_multiple_of_the_identity),
        cmocka_unit_test(test_it_stays_positive_at_a_tiny_lambda),
        cmocka_unit_test(test_conjugate_gradients_stay_below_the_bound),
        cmocka_unit_test(test_the_bits_do_not_depend_on_the_threads),
        cmocka_unit_test(test_survives_failing_memory_and_keeps_to_its_forecast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
