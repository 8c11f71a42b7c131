/* Products on a device, by the source that a card compiles, run on the processor: against the products of the tiles,
   within the bounds that the operator itself states. */
#include "support.h"
#include "checking_device.h"
#include "base/ctx.h"
#include "base/rng.h"
#include "base/status.h"
#include "gram/device/device_stream.h"
#include "kernel/language/kernel.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mercer_data *draw(mercer_ctx *ctx, int64_t n, int64_t d, uint64_t item, bool positive) {
    double *values = malloc((size_t)(n * d) * sizeof *values);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    for (int64_t i = 0; i < n * d; i++)
        values[i] = positive ? fabs(mc_rng_normal(&rng)) : mc_rng_normal(&rng);
    for (int64_t i = 5; i < n; i += 7) /* rows that are twice there */
        memcpy(values + i * d, values + (i / 2) * d, (size_t)d * sizeof *values);
    const mercer_table table = {.size = sizeof table, .n = n, .d = d, .dtype = MERCER_F64, .values = values};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    free(values);
    return data;
}

/* One value in eight, in compressed rows; some rows are empty. */
static mercer_data *draw_sparse(mercer_ctx *ctx, int64_t n, int64_t d, uint64_t item, bool positive) {
    double *values = calloc((size_t)(n * d), sizeof *values);
    int64_t *start = calloc((size_t)n + 1, sizeof *start), at = 0;
    int32_t *column = calloc((size_t)(n * d), sizeof *column);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < d; k++)
            if (mc_rng_uniform(&rng) < 0.125) {
                const double v = mc_rng_normal(&rng);
                column[at] = (int32_t)k;
                values[at++] = positive ? fabs(v) : v;
            }
        start[i + 1] = at;
    }
    const mercer_table table = {.size = sizeof table,
                                .n = n,
                                .d = d,
                                .dtype = MERCER_F64,
                                .values = values,
                                .row_start = start,
                                .column = column};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    free(values);
    free(start);
    free(column);
    return data;
}

typedef struct problem {
    const char *kernel;
    int64_t n, m, d, t; /* m 0: symmetric */
    mercer_dtype precision;
    bool sparse;
} problem;

static mercer_data *draw_rows(mercer_ctx *ctx, const problem *p, int64_t n, uint64_t item) {
    const bool positive =
        strstr(p->kernel, "chi2") || strstr(p->kernel, "intersection") || strstr(p->kernel, "tanimoto");
    return p->sparse ? draw_sparse(ctx, n, p->d, item, positive) : draw(ctx, n, p->d, item, positive);
}

static void draw_right(int64_t count, double *V) {
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 99);
    for (int64_t i = 0; i < count; i++)
        V[i] = mc_rng_normal(&rng);
}

/* How far the two products are apart over what both bounds allow; the products with |V| stand for S. */
static double apart(const mc_gram *here, const mc_gram *there, int64_t t, const double *Y, const double *Z,
                    const double *sizes, const double *masses) {
    double worst = 0, relative[2], rest[2];
    const double scale = mc_gram_entry_size(here);
    mc_gram_product_terms(here, t, &relative[0], &rest[0]);
    mc_gram_product_terms(there, t, &relative[1], &rest[1]);
    for (int64_t i = 0; i < mc_gram_rows(here) * t; i++) {
        const double mass = masses[i % t];
        const double allowed = (relative[0] + relative[1]) * sizes[i] + (rest[0] + rest[1]) * mass + 1e-300;
        worst = fmax(worst, isfinite(Z[i]) ? fabs(Y[i] - Z[i]) / allowed : INFINITY);
        if (fabs(Y[i] - Z[i]) > 1e-3 * scale * mass)
            worst = INFINITY;
    }
    return worst;
}

static mercer_kernel *parse_kernel(mercer_ctx *ctx, const char *text) {
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
    return kernel;
}

static void compare(mercer_ctx *ctx, mc_device *device, problem p) {
    mercer_kernel *kernel = parse_kernel(ctx, p.kernel);
    mercer_data *x = draw_rows(ctx, &p, p.n, 1), *z = p.m ? draw_rows(ctx, &p, p.m, 2) : NULL;
    mc_gram *here = NULL, *there = NULL;
    assert_ok(ctx, mc_gram_open(ctx, kernel, x, z, p.precision, &here));
    assert_ok(ctx, mc_gram_open(ctx, kernel, x, z, p.precision, &there));
    if (!mc_device_can(there))
        fail_msg("%s is not for a device", p.kernel);
    assert_ok(ctx, mc_device_gram_open(ctx, there, device, NULL, &there->there));
    const int64_t m = p.m ? p.m : p.n, longer = (p.n > m ? p.n : m) * p.t;
    double *room = calloc((size_t)(5 * longer + p.t), sizeof *room), *V = room, *Y = V + longer, *Z = Y + longer,
           *A = Z + longer, *S = A + longer, *masses = S + longer;
    draw_right(m * p.t, V);
    for (int64_t i = 0; i < m * p.t; i++)
        masses[i % p.t] += A[i] = fabs(V[i]);
    assert_ok(ctx, mc_gram_apply(ctx, here, p.t, V, Y));
    assert_ok(ctx, mc_gram_apply(ctx, here, p.t, A, S));
    assert_ok(ctx, mc_gram_apply(ctx, there, p.t, V, Z));
    const double by = apart(here, there, p.t, Y, Z, S, masses);
    if (!(by <= 1))
        fail_msg("%s, %lld x %lld, d %lld, t %lld, %s: apart by %g of what is allowed", p.kernel, (long long)p.n,
                 (long long)m, (long long)p.d, (long long)p.t, p.precision == MERCER_F32 ? "f32" : "f64", by);
    free(room);
    mc_gram_close(here);
    mc_gram_close(there);
    mercer_data_free(x);
    mercer_data_free(z);
    mercer_kernel_free(kernel);
}

static const char *const kernels[] = {
    "linear",
    "poly(degree=3, c=1, gamma=0.5)",
    "poly(degree=1.5, c=300)",
    "rbf(gamma=0.3)",
    "rbf(gamma=0.0001)",
    "rbf(gamma=30)",
    "laplacian(gamma=0.2)",
    "exponential(gamma=0.4)",
    "matern(nu=1.5, length_scale=2)",
    "matern(nu=2.5, length_scale=2)",
    "rq(alpha=1, length_scale=1.5)",
    "rq(alpha=0.7, length_scale=1.5)",
    "periodic(period=1.7, length_scale=1.3)",
    "cosine",
    "arccos(order=0)",
    "arccos(order=1)",
    "arccos(order=2)",
    "tanh(a=0.2, c=0.1)",
    "chi2(gamma=0.2)",
    "intersection",
    "tanimoto",
    "additive_chi2",
    "wendland(k=0, length_scale=9)",
    "wendland(k=1, length_scale=9)",
    "wendland(k=2, length_scale=9)",
    "white + rbf(gamma=1)",
    "0.5*rbf(gamma=0.2) + linear^2",
    "rbf(gamma=0.1)*(linear + 1) + 0.3*laplacian(gamma=0.1)*matern(nu=2.5, length_scale=1)",
    "logarithmic(0.9*rbf(gamma=0.1)) + arcsin(0.9*cosine) + bessel_i0(0.3*linear)",
    "normalize(poly(degree=2, c=1))",
    "exp(0.1*linear)",
    "rbf(gamma=0.1)[1] + rbf(gamma=1)[2] + linear[1:2]*matern(nu=1.5, length_scale=2)[2]",
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static mc_device *open_failing_device(mercer_ctx *ctx) {
    mc_device *device = NULL;
    assert_ok(ctx, mc_device_open_calls(ctx, checking_device_calls(), 0, 0, &device));
    return device;
}

static void close_all(mercer_ctx *ctx, mc_device *device) {
    assert_int_equal(device->used, 0);
    assert_int_equal(checking_device_blocks(), 0);
    mc_device_close(device);
    close_clean(ctx);
}

static void run_kernels(int64_t d, int64_t t, bool symmetric, mercer_dtype precision) {
    mercer_ctx *ctx = open_ctx(1);
    mc_device *device = open_test_device(ctx);
    const int64_t n = on_a_card() ? 211 : 131; /* blocks of 64 rows and some more */
    for (int k = 0; k < KERNELS; k++)
        compare(ctx, device, (problem){kernels[k], n, symmetric ? 0 : 90, d, t, precision, false});
    close_all(ctx, device);
}

static void test_rows_in_registers(void **state) {
    (void)state;
    run_kernels(3, 1, true, MERCER_F32);
    run_kernels(5, 3, false, MERCER_F64);
}

static void test_wide_rows(void **state) {
    (void)state;
    run_kernels(150, 1, false, MERCER_F64);
    run_kernels(90, 9, true, MERCER_F32);
}

/* Full rows on the device; K of the linear kernel factors and stays here. */
static void test_compressed_rows(void **state) {
    (void)state;
    static const char *const some[] = {"rbf(gamma=0.05)", "poly(degree=3, c=1, gamma=0.1)",

                                       "matern(nu=2.5, length_scale=4)", "intersection",

                                       "0.5*rbf(gamma=0.02) + linear^2"};
    mercer_ctx *ctx = open_ctx(1);
    mc_device *device = open_test_device(ctx);
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        compare(ctx, device, (problem){some[k], 130, k % 2 ? 0 : 70, 50, 1, k % 3 ? MERCER_F32 : MERCER_F64, true});
        compare(ctx, device, (problem){some[k], 100, k % 2 ? 90 : 0, 123, 2, k % 3 ? MERCER_F64 : MERCER_F32, true});
    }
    close_all(ctx, device);
}

static void test_sizes_of_every_kind(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_device *device = open_test_device(ctx);
    static const int64_t sizes[] = {1, 2, 47, 63, 64, 65, 129, 1100};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int64_t d = 1; d <= 100; d += 33)
            compare(ctx, device,
                    (problem){"rbf(gamma=0.2)", sizes[i], sizes[(3 * i + 1) % 8], d, 1 + (int64_t)i % 3, MERCER_F32,
                              false});
    close_all(ctx, device);
}

/* Distances on the matrix units: in halves as near to the tiles in double as floats are, in doubles as doubles. */
static void compare_fragments(mercer_ctx *ctx, mc_device *device, const char *text, int64_t m, int64_t d, int64_t t,
                              mercer_dtype precision) {
    enum { N = 150, MOST = 150 * 9 };
    double V[MOST], Y[MOST], Z[MOST], mass = 0, worst = 0;
    mercer_kernel *kernel = parse_kernel(ctx, text);
    mercer_data *x = draw(ctx, N, d, 1, false), *z = m ? draw(ctx, m, d, 2, false) : NULL;
    mc_gram *exact = NULL, *gram = NULL;
    draw_right((m ? m : N) * t, V);
    for (int64_t i = 0; i < (m ? m : N) * t; i++)
        mass += fabs(V[i]) / (double)t;
    assert_ok(ctx, mc_gram_open(ctx, kernel, x, z, MERCER_F64, &exact));
    assert_ok(ctx, mc_gram_open(ctx, kernel, x, z, precision, &gram));
    if (!(d > 53 ? mc_device_multiplies_halves(gram) : mc_device_has_fragments(gram)))
        fail_msg("%s, d %lld: not on the matrix units", text, (long long)d);
    assert_ok(ctx, mc_device_gram_open(ctx, gram, device, NULL, &gram->there));
    assert_ok(ctx, mc_gram_apply(ctx, exact, t, V, Y));
    assert_ok(ctx, mc_gram_apply(ctx, gram, t, V, Z));
    for (int64_t i = 0; i < N * t; i++)
        worst = fmax(worst, isfinite(Z[i]) ? fabs(Y[i] - Z[i]) / mass : INFINITY);
    if (!(worst < (precision == MERCER_F32 ? 2e-7 : 1e-15)))
        fail_msg("%s, d %lld, t %lld: %g of the sum of |v|", text, (long long)d, (long long)t, worst);
    mc_gram_close(exact);
    mc_gram_close(gram);
    mercer_data_free(x);
    mercer_data_free(z);
    mercer_kernel_free(kernel);
}

static void test_distances_in_halves(void **state) {
    (void)state;
    static const int64_t widths[] = {1, 5, 8, 10, 11, 28, 53, 61, 200}, sides[] = {1, 2, 3, 9};
    mercer_ctx *ctx = open_ctx(1);
    mc_device *device = open_test_device(ctx);
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        char text[2][96];
        const double gamma = 0.2 / (double)widths[w];
        snprintf(text[0], sizeof text[0], "rbf(gamma=%g)", gamma);
        snprintf(text[1], sizeof text[1], "rbf(gamma=%g) + rq(alpha=1, length_scale=%g)", gamma, 3 / sqrt(gamma));
        for (int k = 0; k < 2; k++)
            compare_fragments(ctx, device, text[k], (w + (size_t)k) % 2 ? 77 : 0, widths[w], sides[(w + (size_t)k) % 4],
                              MERCER_F32);
    }
    close_all(ctx, device);
}

static void test_distances_in_doubles(void **state) {
    (void)state;
    static const int64_t widths[] = {1, 3, 4, 5, 8, 28, 32, 36}, sides[] = {1, 2, 3, 9};
    mercer_ctx *ctx = open_ctx(1);
    mc_device *device = open_test_device(ctx);
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        char text[96];
        snprintf(text, sizeof text, w % 3 == 2 ? "rbf(sigma=%g) + rq(alpha=1, length_scale=9)" : "rbf(sigma=%g)",
                 2 * sqrt((double)widths[w]));
        compare_fragments(ctx, device, text, w % 2 ? 77 : 0, widths[w], sides[w % 4], MERCER_F64);
    }
    close_all(ctx, device);
}

/* Run after run: no sum depends on who came first. */
static void test_the_same_bits_every_time(void **state) {
    (void)state;
    enum { N = 3000 };
    mercer_ctx *ctx = open_ctx(1);
    mc_device *device = open_test_device(ctx);
    static const int64_t widths[] = {3, 60};
    for (size_t w = 0; w < 2; w++) {
        mercer_kernel *kernel = parse_kernel(ctx, "rbf(gamma=0.1) + 0.1*linear");
        mercer_data *x = draw(ctx, on_a_card() ? N : 300, widths[w], 1, false);
        mc_gram *gram = NULL;
        double V[N], Y[N], Z[N];
        draw_right(N, V);
        assert_ok(ctx, mc_gram_open(ctx, kernel, x, NULL, MERCER_F32, &gram));
        assert_ok(ctx, mc_device_gram_open(ctx, gram, device, NULL, &gram->there));
        assert_ok(ctx, mc_gram_apply(ctx, gram, 1, V, Y));
        for (int i = 0; i < 3; i++) {
            assert_ok(ctx, mc_gram_apply(ctx, gram, 1, V, Z));
            assert_memory_equal(Y, Z, (size_t)mc_gram_rows(gram) * sizeof *Y);
        }
        mc_gram_close(gram);
        mercer_data_free(x);
        mercer_kernel_free(kernel);
    }
    close_all(ctx, device);
}

/* Whatever fails, at whatever moment: an error with a sentence, and nothing is left on the device. */
static void test_every_call_may_fail(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_device *device = open_failing_device(ctx);
    mercer_kernel *kernel = parse_kernel(ctx, "rbf(gamma=0.2) + linear");
    mercer_data *x = draw(ctx, 40, 3, 1, false);
    double V[40] = {1}, Y[40];
    mercer_status status = MERCER_INTERNAL;
    for (int calls = 0; status; calls++) {
        mc_gram *gram = NULL;
        assert_ok(ctx, mc_gram_open(ctx, kernel, x, NULL, MERCER_F32, &gram));
        checking_device_fail_after(calls);
        status = mc_device_gram_open(ctx, gram, device, NULL, &gram->there);
        status = status ? status : mc_gram_apply(ctx, gram, 1, V, Y);
        checking_device_fail_after(-1);
        assert_true(!status || strstr(mercer_message(ctx), "device checking:0") != NULL);
        mc_gram_close(gram);
        assert_int_equal(checking_device_blocks(), 0);
        assert_true(calls < 100);
    }
    mercer_data_free(x);
    mercer_kernel_free(kernel);
    close_all(ctx, device);
}

/* ---- Streamed ---- */

typedef struct streamed_case {
    problem p;
    int64_t rows, columns; /* windows that are wanted, at least */
} streamed_case;

/* The products under the least limit that streams in so many windows: the bits of those in one piece. */
static void compare_streamed(mercer_ctx *ctx, mc_gram *gram, size_t limit, int64_t t, const double *V,
                             const double *whole) {
    mc_device *device = NULL;
    double *Y = calloc((size_t)(mc_gram_rows(gram) * t), sizeof *Y);
    assert_ok(ctx, mc_device_open_calls(ctx, checking_device_calls(), 0, limit, &device));
    assert_ok(ctx, mc_device_gram_open(ctx, gram, device, NULL, &gram->there));
    assert_true(mc_device_gram_is_streamed(gram->there));
    assert_int_equal(device->used, 0);
    assert_ok(ctx, mc_device_gram_apply(ctx, gram->there, t, V, Y));
    for (int64_t i = 0; i < mc_gram_rows(gram) * t; i++)
        if (memcmp(&Y[i], &whole[i], sizeof *Y) != 0)
            fail_msg("limit %zu: sum %lld is %.17g in one piece, %.17g streamed", limit, (long long)i, whole[i], Y[i]);
    assert_int_equal(device->used, 0);
    assert_true(device->peak > 0 && device->peak <= limit);
    mc_device_gram_close(gram->there);
    gram->there = NULL;
    mc_device_close(device);
    assert_int_equal(checking_device_blocks(), 0);
    free(Y);
}

/* Bytes that the products take in one piece, and these products. */
static size_t multiply_whole(mercer_ctx *ctx, mc_gram *gram, int64_t t, const double *V, double *Y) {
    mc_device *device = NULL;
    assert_ok(ctx, mc_device_open_calls(ctx, checking_device_calls(), 0, 0, &device));
    assert_ok(ctx, mc_device_gram_open(ctx, gram, device, NULL, &gram->there));
    assert_false(mc_device_gram_is_streamed(gram->there));
    assert_ok(ctx, mc_device_gram_apply(ctx, gram->there, t, V, Y));
    const size_t peak = device->peak;
    mc_device_gram_close(gram->there);
    gram->there = NULL;
    mc_device_close(device);
    return peak;
}

/* The error of a limit that is too small for the least window says what that takes. */
static size_t least_limit(mercer_ctx *ctx, mc_gram *gram) {
    mc_device *device = NULL;
    snprintf(ctx->device.wanted, sizeof ctx->device.wanted, "checking");
    assert_ok(ctx, mc_device_open_calls(ctx, checking_device_calls(), 0, 1, &device));
    assert_int_equal(mc_device_gram_open(ctx, gram, device, NULL, &gram->there), MERCER_INVALID);
    assert_non_null(strstr(mercer_message(ctx), "and its limit is 1 byte"));
    size_t low = 1, high = (size_t)1 << 30;
    while (low + 1 < high) { /* what just fits, by bisection */
        device->limit = low + (high - low) / 2;
        const mercer_status status = mc_device_gram_open(ctx, gram, device, NULL, &gram->there);
        if (status)
            low = device->limit;
        else
            high = device->limit;
        mc_device_gram_close(gram->there);
        gram->there = NULL;
        mc_clear_failure(ctx);
    }
    ctx->device.wanted[0] = '\0';
    mc_device_close(device);
    return high;
}

/* From few rows: what all take, or a little more. */
static void check_forecast(mercer_ctx *ctx, const mc_gram *gram, size_t all) {
    mercer_data *few = NULL;
    mc_gram *probe = NULL;
    mc_device *device = NULL;
    size_t bytes = 0;
    bool fits = false;
    assert_ok(ctx, mc_data_take(ctx, gram->x, NULL, 16, &few));
    assert_ok(ctx, mc_gram_open(ctx, gram->kernel, few, NULL, gram->precision, &probe));
    assert_ok(ctx, mc_device_open_calls(ctx, checking_device_calls(), 0, all - 1, &device));
    assert_ok(ctx, mc_device_stream_forecast(ctx, device, probe, gram->x->n, &bytes, &fits));
    assert_false(fits);
    if (bytes < all || (double)bytes > 1.2 * (double)all)
        fail_msg("%zu bytes were foreseen, %zu taken", bytes, all);
    mc_device_close(device);
    mc_gram_close(probe);
    mercer_data_free(few);
}

/* Narrow panels: windows are whole ones. */
static void stream(problem p) {
    setenv("MERCER_ISA", "portable", 1);
    mercer_ctx *ctx = open_ctx(2);
    unsetenv("MERCER_ISA");
    mercer_kernel *kernel = parse_kernel(ctx, p.kernel);
    mercer_data *x = draw_rows(ctx, &p, p.n, 1), *z = p.m ? draw_rows(ctx, &p, p.m, 2) : NULL;
    mc_gram *gram = NULL;
    const int64_t m = p.m ? p.m : p.n;
    double *V = calloc((size_t)(m * p.t), sizeof *V), *whole = calloc((size_t)(p.n * p.t), sizeof *whole);
    draw_right(m * p.t, V);
    assert_ok(ctx, mc_gram_open(ctx, kernel, x, z, p.precision, &gram));
    const size_t all = multiply_whole(ctx, gram, p.t, V, whole), least = least_limit(ctx, gram);
    if (!p.m)
        check_forecast(ctx, gram, all);
    if (!(least < all))
        fail_msg("%s: a window takes %zu bytes, all %zu", p.kernel, least, all);
    for (int k = 0; k < 3; k++)
        compare_streamed(ctx, gram, least + (all - 1 - least) * (size_t)k / 8, p.t, V, whole);
    free(V);
    free(whole);
    mc_gram_close(gram);
    mercer_data_free(x);
    mercer_data_free(z);
    mercer_kernel_free(kernel);
    close_clean(ctx);
}

/* By halves, in registers, through shared memory, by a library; symmetric and not; full and compressed rows; of every
   kind more windows than one, up to ten and more. */
static void test_streamed_products_have_the_same_bits(void **state) {
    (void)state;
    if (on_a_card())
        skip();
    stream((problem){"rbf(gamma=0.2)", 1100, 0, 3, 1, MERCER_F32, false});
    stream((problem){"rbf(gamma=0.2) + 0.3*laplacian(gamma=0.1)", 300, 2100, 5, 3, MERCER_F64, false});
    stream((problem){"0.5*rbf(gamma=0.02) + white", 1100, 0, 4, 9, MERCER_F64, false});
    stream((problem){"laplacian(gamma=0.02)", 700, 200, 90, 1, MERCER_F32, false});
    stream((problem){"poly(degree=3, c=1, gamma=0.1)", 1200, 1100, 12, 2, MERCER_F64, true});
}

/* Wide rows go by blocks of 4096. */
static void test_streamed_blocks_of_a_library(void **state) {
    (void)state;
    if (on_a_card())
        skip();
    stream((problem){"poly(degree=2, c=1)", 8, 8700, 49, 1, MERCER_F32, false});
}

/* Whatever call fails while rows are streamed: an error with a sentence, and nothing is left on the device. */
static void test_every_call_of_a_stream_may_fail(void **state) {
    (void)state;
    enum { N = 600, LIMIT = 40000, T = 8 };
    setenv("MERCER_ISA", "portable", 1);
    mercer_ctx *ctx = open_ctx(1);
    unsetenv("MERCER_ISA");
    mercer_kernel *kernel = parse_kernel(ctx, "laplacian(gamma=0.2)");
    mercer_data *x = draw(ctx, N, 1, 1, false), *z = draw(ctx, 40, 1, 2, false);
    mc_device *device = NULL;
    mc_gram *gram = NULL;
    double V[40 * T] = {1}, Y[N * T];
    int faults = 0;
    bool failed = true;
    assert_ok(ctx, mc_gram_open(ctx, kernel, x, z, MERCER_F32, &gram));
    assert_ok(ctx, mc_device_open_calls(ctx, checking_device_calls(), 0, LIMIT, &device));
    for (int calls = 0; failed; calls++) {
        assert_ok(ctx, mc_device_gram_open(ctx, gram, device, NULL, &gram->there));
        assert_true(mc_device_gram_is_streamed(gram->there));
        checking_device_fail_after(calls);
        const mercer_status status = mc_device_gram_apply(ctx, gram->there, T, V, Y);
        failed = checking_device_failed();
        checking_device_fail_after(-1);
        assert_true(failed ? status && strstr(mercer_message(ctx), "device checking:0") : !status);
        faults += failed;
        mc_device_gram_close(gram->there);
        gram->there = NULL;
        assert_int_equal(checking_device_blocks(), 0);
        assert_int_equal(device->used, 0);
    }
    assert_true(faults > 20);
    mc_gram_close(gram);
    mercer_data_free(x);
    mercer_data_free(z);
    mercer_kernel_free(kernel);
    close_all(ctx, device);
}

/* The context computes on the processor posing as a device, as if auto had opened it. */
static mercer_ctx *open_on_device(const char *wanted, size_t limit) {
    mercer_ctx *ctx = open_ctx(1);
    snprintf(ctx->device.wanted, sizeof ctx->device.wanted, "%s", wanted);
    assert_ok(ctx, mc_device_open_calls(ctx, checking_device_calls(), 0, limit, &ctx->device.open));
    ctx->device.open->least_pairs = 1e6;
    ctx->device.tried = true;
    ctx->device.close = mc_device_close;
    return ctx;
}

/* What a fit foresees is so much that a card is worth it. */
static mercer_status multiply_foreseen(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, int calls,
                                       const double *V, double *Y, bool *there) {
    mc_gram *gram = NULL;
    mc_begin_call(ctx);
    ctx->device.pairs = 1e14;
    checking_device_fail_after(calls);
    mercer_status status = mc_gram_open(ctx, kernel, x, NULL, MERCER_F32, &gram);
    *there = !status && gram->there != NULL && !mc_device_gram_is_streamed(gram->there);
    status = status ? status : mc_gram_apply(ctx, gram, 1, V, Y);
    checking_device_fail_after(-1);
    mc_gram_close(gram);
    return status;
}

/* Under auto a device that fails at whatever moment leaves the answer of the processor, and a note; by name it is an
   error. */
static void test_the_processor_takes_over_under_auto(void **state) {
    (void)state;
    enum { N = 1010 };
    double V[N], Y[N], Z[N];
    draw_right(N, V);
    bool there = false;
    int faults = 0;
    for (int calls = 0; !there; calls++) {
        mercer_ctx *ctx = open_on_device("auto", 0), *named = open_on_device("checking", 0);
        mercer_kernel *kernel = parse_kernel(ctx, "rbf(gamma=0.2)");
        mercer_data *x = draw(ctx, N, 3, 1, false);
        assert_ok(ctx, multiply_foreseen(ctx, kernel, x, calls, V, Y, &there));
        const mercer_status status = multiply_foreseen(named, kernel, x, calls, V, Z, &there);
        if (status) {
            assert_non_null(strstr(mercer_device_note(ctx), "device checking:0 failed (made to fail)"));
            snprintf(named->device.wanted, sizeof named->device.wanted, "cpu");
            assert_ok(named, multiply_foreseen(named, kernel, x, -1, V, Z, &there));
            assert_false(there);
            assert_memory_equal(Y, Z, sizeof Y);
            assert_ok(ctx, multiply_foreseen(ctx, kernel, x, 0, V, Z, &there)); /* the device is not asked again */
            assert_memory_equal(Y, Z, sizeof Y);
            there = false;
            faults++;
        }
        mercer_kernel_free(kernel);
        mercer_data_free(x);
        close_clean(ctx);
        close_clean(named);
        assert_int_equal(checking_device_blocks(), 0);
        assert_true(calls < 100);
    }
    assert_true(faults >= 5); /* two uploads and more, a build, launches, a download */
}

/* By the price, not by chance: some rows stay here and their device is not opened, many go there. */
static void test_auto_goes_by_the_price(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_kernel *kernel = parse_kernel(ctx, "rbf(gamma=0.2)");
    mercer_data *x = draw(ctx, 1000, 8, 1, false);
    mc_gram *gram = NULL;
    assert_ok(ctx, mc_gram_open(ctx, kernel, x, NULL, MERCER_F32, &gram));
    assert_null(gram->there);
    assert_false(ctx->device.tried);
    mc_gram_close(gram);
    mercer_data_free(x);
    mercer_kernel_free(kernel);
    close_clean(ctx);
    const mc_pairs_work few = {1e6, 8, 8, 64e3, MERCER_F32}, many = {1e12, 28, 28, 224e6, MERCER_F32};
    assert_true(mc_price_host(16, &few) < mc_price_card(&few) + mc_price_card_start());
    assert_true(mc_price_host(16, &many) > mc_price_card(&many) + mc_price_card_start());
}

/* A device too small for the operator leaves it to the processor without a word of failure. */
static void test_what_does_not_fit_stays_here(void **state) {
    (void)state;
    enum { N = 1010 };
    double V[N] = {1}, Y[N];
    bool there = true;
    mercer_ctx *ctx = open_on_device("auto", 1000);
    mercer_kernel *kernel = parse_kernel(ctx, "rbf(gamma=0.2)");
    mercer_data *x = draw(ctx, N, 3, 1, false);
    assert_ok(ctx, multiply_foreseen(ctx, kernel, x, -1, V, Y, &there));
    assert_false(there);
    assert_string_equal(mercer_device_note(ctx), "");
    mercer_data_free(x);
    mercer_kernel_free(kernel);
    close_clean(ctx);
}

static void test_the_limit_of_a_device_holds(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_device *device = NULL;
    mc_address at = 0;
    assert_ok(ctx, mc_device_open_calls(ctx, checking_device_calls(), 0, 1000, &device));
    assert_ok(ctx, mc_device_allocate(ctx, device, 600, &at));
    mc_address more = 0;
    assert_int_equal(mc_device_allocate(ctx, device, 500, &more), MERCER_MEMORY);
    mc_device_release(device, at, 600);
    close_all(ctx, device);
}

/* What has begun ends once: when the card is opened, or with the context that never asked for it. */
static void test_a_card_that_is_opened_beside_other_work(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_device_begin(ctx, 1e12); /* auto: it decides when it knows the work */
    assert_null(ctx->device.opening);
    mc_device_begin_calls(ctx, checking_device_calls(), 7, NULL); /* no such card */
    assert_null(ctx->device.opening);
    assert_string_equal(mercer_message(ctx), "");
    mc_device_begin_calls(ctx, checking_device_calls(), 0, NULL);
    assert_int_equal(checking_device_openings(), 1);
    close_clean(ctx);
    assert_int_equal(checking_device_openings(), 0);
    ctx = open_ctx(1);
    snprintf(ctx->device.wanted, sizeof ctx->device.wanted, "cuda:900");
    mc_device_begin_calls(ctx, checking_device_calls(), 0, NULL);
    mc_device *device = NULL;
    assert_int_equal(mc_device_of_context(ctx, &device), MERCER_INVALID);
    assert_int_equal(checking_device_openings(), 0);
    assert_null(ctx->device.opening);
    close_clean(ctx);
}

static void test_names_of_devices(void **state) {
    (void)state;
    static const char *const wrong[] = {"", "gpu", "cuda:", "cuda:-1", "cuda:x", "cuda:1x", "cudacudacudacudacuda"};
    mercer_ctx *ctx = open_ctx(1);
    mc_device *device = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(mc_device_open(ctx, wrong[i], 0, &device), MERCER_INVALID);
    assert_int_equal(mc_device_open_calls(ctx, checking_device_calls(), 1, 0, &device), MERCER_INVALID);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_in_registers),
        cmocka_unit_test(test_wide_rows),
        cmocka_unit_test(test_sizes_of_every_kind),
        cmocka_unit_test(test_compressed_rows),
        cmocka_unit_test(test_distances_in_halves),
        cmocka_unit_test(test_distances_in_doubles),
        cmocka_unit_test(test_the_same_bits_every_time),
        cmocka_unit_test(test_every_call_may_fail),
        cmocka_unit_test(test_streamed_products_have_the_same_bits),
        cmocka_unit_test(test_streamed_blocks_of_a_library),
        cmocka_unit_test(test_every_call_of_a_stream_may_fail),
        cmocka_unit_test(test_the_limit_of_a_device_holds),
        cmocka_unit_test(test_the_processor_takes_over_under_auto),
        cmocka_unit_test(test_auto_goes_by_the_price),
        cmocka_unit_test(test_what_does_not_fit_stays_here),
        cmocka_unit_test(test_a_card_that_is_opened_beside_other_work),
        cmocka_unit_test(test_names_of_devices),
    };
    cmocka_set_test_filter(getenv("MERCER_TEST_ONLY")); /* a pattern of names; none: all */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
