/* Compressed rows against the reference evaluator: statistics over shared coordinates only must give what full rows
   give. */
#include "support.h"
#include "base/ctx.h"
#include "base/rng.h"
#include "gram/operator/gram.h"
#include "kernel/language/kernel.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const isas[] = {"portable", "avx2", "avx512"};

/* The same rows in full and compressed; some empty, some repeated, some with a stored zero. */
typedef struct rows {
    int64_t n, d;
    double *full, *value;
    int64_t *start;
    int32_t *column;
} rows;

static rows draw(int64_t n, int64_t d, double density, bool positive, uint64_t item) {
    rows r = {.n = n,
              .d = d,
              .full = calloc((size_t)(n * d), 8),
              .value = malloc((size_t)(n * d + 1) * 8),
              .start = malloc((size_t)(n + 1) * 8),
              .column = malloc((size_t)(n * d + 1) * 4)};
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        r.start[i] = count;
        for (int64_t j = 0; j < d; j++) {
            const bool repeat = i % 9 == 8;
            const double drawn = mc_rng_uniform(&rng) < density && i % 13 != 5 ? mc_rng_normal(&rng) : 0;
            const double v = repeat ? r.full[(i / 2) * d + j] : positive ? fabs(drawn) : drawn;
            r.full[i * d + j] = v;
            if (v != 0 || (j == 3 && i % 4 == 0)) {
                r.value[count] = v;
                r.column[count++] = (int32_t)j;
            }
        }
    }
    r.start[n] = count;
    return r;
}

static void discard(rows r) {
    free(r.full), free(r.value), free(r.start), free(r.column);
}

static mercer_data *make(mercer_ctx *ctx, const rows *r, mercer_dtype dtype) {
    float *single = malloc((size_t)(r->start[r->n] + 1) * sizeof(float));
    for (int64_t e = 0; e < r->start[r->n]; e++)
        single[e] = (float)r->value[e];
    const mercer_table table = {.size = sizeof table,
                                .n = r->n,
                                .d = r->d,
                                .dtype = dtype,
                                .values = dtype == MERCER_F32 ? (void *)single : (void *)r->value,
                                .row_start = r->start,
                                .column = r->column};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    free(single);
    return data;
}

static mercer_kernel *parse(mercer_ctx *ctx, const char *text) {
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
    return kernel;
}

static void compare_entries(mercer_ctx *ctx, const char *text, const rows *x, const rows *z, mercer_dtype precision) {
    mercer_kernel *kernel = parse(ctx, text);
    mercer_data *dx = make(ctx, x, MERCER_F64), *dz = z ? make(ctx, z, MERCER_F64) : NULL;
    mc_gram *gram = NULL;
    assert_ok(ctx, mc_gram_open(ctx, kernel, dx, dz, precision, &gram));
    const rows *right = z ? z : x;
    double *K = malloc((size_t)(x->n * right->n) * 8), worst = 0, size = 0;
    assert_ok(ctx, mc_gram_block(ctx, gram, 0, x->n, 0, right->n, MERCER_F64, K, right->n));
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t j = 0; j < right->n; j++) {
            const double k = mc_eval_kernel(kernel->root, x->full + i * x->d, right->full + j * x->d, x->d);
            worst = fmax(worst, fabs(K[i * right->n + j] - k));
            size = fmax(size, fabs(k));
        }
    if (worst > mc_gram_entry_error(gram)
        || mc_gram_entry_error(gram) > (precision == MERCER_F32 ? 2e-3 : 1e-6) * fmax(size, 1))
        fail_msg("%s: %s, %s, d %lld: error %g, bound %g, size %g", mercer_isa(ctx), text,
                 precision == MERCER_F32 ? "f32" : "f64", (long long)x->d, worst, mc_gram_entry_error(gram), size);
    free(K);
    mc_gram_close(gram);
    mercer_data_free(dx);
    mercer_data_free(dz);
    mercer_kernel_free(kernel);
}

static const char *const texts[] = {
    "linear",
    "poly(degree=3, gamma=0.2)",
    "rbf(gamma=0.3)",
    "exponential(gamma=0.3)",
    "matern(nu=2.5, length_scale=2)",
    "rq(alpha=1, length_scale=2)",
    "laplacian(gamma=0.3)",
    "periodic(period=3)",
    "cosine",
    "arccos(order=0)",
    "arccos(order=1)",
    "white",
    "normalize(1 + linear)",
    "rbf(gamma=0.3)[2:5] + linear*cosine",
    "weigh(1 + norm2, rbf(gamma=0.1)) + 0.1*linear^2",
    "0.5*laplacian(gamma=0.1) + laplacian(gamma=0.3)*rbf(gamma=0.1)",
};

static void test_every_kernel_equals_the_reference(void **state) {
    (void)state;
    int64_t item = 0;
    for (size_t isa = 0; isa < 3; isa++) {
        mercer_ctx *ctx = open_isa(isas[isa], 1);
        for (size_t e = 0; ctx && e < sizeof texts / sizeof texts[0]; e++)
            for (int precision = 0; precision < 2; precision++) {
                if (!test_takes(item++))
                    continue;
                rows x = draw(59, 40, 0.1, false, e), z = draw(50, 40, 0.08, false, e + 40),
                     wide = draw(49, 300, 0.03, false, e);
                compare_entries(ctx, texts[e], &x, NULL, (mercer_dtype)precision);
                compare_entries(ctx, texts[e], &x, &z, (mercer_dtype)precision);
                compare_entries(ctx, texts[e], &wide, NULL, (mercer_dtype)precision);
                discard(x), discard(z), discard(wide);
            }
        if (ctx)
            close_clean(ctx);
    }
}

static void test_kernels_of_nonnegative_data_too(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int precision = 0; precision < 2; precision++) {
        rows x = draw(59, 40, 0.1, true, 1), z = draw(50, 40, 0.2, true, 2);
        compare_entries(ctx, "chi2(gamma=0.4)", &x, &z, (mercer_dtype)precision);
        compare_entries(ctx, "chi2(gamma=0.4)", &x, NULL, (mercer_dtype)precision);
        compare_entries(ctx, "intersection + 0.1*chi2", &x, &z, (mercer_dtype)precision);
        compare_entries(ctx, "tanimoto", &x, &z, (mercer_dtype)precision);
        compare_entries(ctx, "additive_chi2 + tanimoto*intersection", &x, &z, (mercer_dtype)precision);
        discard(x), discard(z);
    }
    close_clean(ctx);
}

/* Rows of so many columns that a panel holds the coordinates that occur in it only, each side with more of them than
   the other. */
static void test_wide_rows_on_either_side(void **state) {
    (void)state;
    for (size_t isa = 0; isa < 3; isa++) {
        mercer_ctx *ctx = open_isa(isas[isa], 1);
        for (int precision = 0; ctx && precision < 2; precision++) {
            rows full = draw(30, 3000, 0.02, false, 11), thin = draw(20, 3000, 0.001, false, 12),
                 one = draw(1, 3000, 0.01, false, 13);
            compare_entries(ctx, "linear", &full, NULL, (mercer_dtype)precision);
            compare_entries(ctx, "rbf(gamma=0.3) + 0.1*periodic(period=3)", &full, &thin, (mercer_dtype)precision);
            compare_entries(ctx, "linear + laplacian(gamma=0.1)", &thin, &full, (mercer_dtype)precision);
            compare_entries(ctx, "cosine + rbf(gamma=0.1)", &full, &one, (mercer_dtype)precision);
            discard(full), discard(thin), discard(one);
        }
        if (ctx)
            close_clean(ctx);
    }
}

/* Dense data, sparse data of any density, floats: one answer. */
static void test_the_layout_of_the_data_does_not_matter(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_kernel *kernel = parse(ctx, "rbf(gamma=0.1) + 0.1*linear");
    for (double density = 0.02; density < 1; density *= 3) {
        rows r = draw(200, 30, density, false, 7);
        for (int64_t e = 0; e < r.start[200]; e++)
            r.value[e] = (float)r.value[e];
        for (int64_t i = 0; i < 200 * 30; i++)
            r.full[i] = (float)r.full[i];
        const mercer_table table = {.size = sizeof table, .n = 200, .d = 30, .dtype = MERCER_F64, .values = r.full};
        mercer_data *data[3] = {make(ctx, &r, MERCER_F64), make(ctx, &r, MERCER_F32), NULL};
        assert_ok(ctx, mercer_data_make(ctx, &table, &data[2]));
        double V[200], Y[3][200];
        for (int i = 0; i < 200; i++)
            V[i] = sin(i);
        for (int k = 0; k < 3; k++) {
            mc_gram *gram = NULL;
            assert_ok(ctx, mc_gram_open(ctx, kernel, data[k], NULL, MERCER_F64, &gram));
            assert_ok(ctx, mc_gram_apply(ctx, gram, 1, V, Y[k]));
            mc_gram_close(gram);
            mercer_data_free(data[k]);
        }
        for (int i = 0; i < 200; i++) {
            assert_true(Y[0][i] == Y[1][i]);
            assert_close(Y[0][i], Y[2][i], 1e-12);
        }
        discard(r);
    }
    mercer_kernel_free(kernel);
    close_clean(ctx);
}

static void compare_product(mercer_ctx *ctx, const char *text, const rows *x, const rows *z, int64_t t) {
    mercer_kernel *kernel = parse(ctx, text);
    mercer_data *dx = make(ctx, x, MERCER_F64), *dz = z ? make(ctx, z, MERCER_F64) : NULL;
    mc_gram *gram = NULL;
    assert_ok(ctx, mc_gram_open(ctx, kernel, dx, dz, MERCER_F64, &gram));
    const int64_t n = x->n, m = z ? z->n : n;
    double *K = malloc((size_t)(n * m) * 8), *V = malloc((size_t)(m * t) * 8), *Y = malloc((size_t)(n * t) * 8);
    for (int64_t i = 0; i < m * t; i++)
        V[i] = sin((double)i);
    assert_ok(ctx, mc_gram_block(ctx, gram, 0, n, 0, m, MERCER_F64, K, m));
    assert_ok(ctx, mc_gram_apply(ctx, gram, t, V, Y));
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < t; c++) {
            double sum = 0, size = 0;
            for (int64_t j = 0; j < m; j++)
                sum += K[i * m + j] * V[j * t + c], size += fabs(K[i * m + j] * V[j * t + c]);
            if (!(fabs(Y[i * t + c] - sum) <= 1e-14 * size))
                fail_msg("%s, t %lld: y(%lld, %lld) is %g, not %g", text, (long long)t, (long long)i, (long long)c,
                         Y[i * t + c], sum);
        }
    free(K), free(V), free(Y);
    mc_gram_close(gram);
    mercer_data_free(dx);
    mercer_data_free(dz);
    mercer_kernel_free(kernel);
}

static void test_products_are_those_of_the_entries(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    static const int64_t columns[] = {1, 2, 7, 60};
    rows x = draw(700, 50, 0.1, false, 1), z = draw(333, 50, 0.1, false, 2);
    for (int k = 0; k < 4; k++) {
        compare_product(ctx, "rbf(gamma=0.2)", &x, NULL, columns[k]);
        compare_product(ctx, "laplacian(gamma=0.2) + cosine", &x, &z, columns[k]);
    }
    discard(x), discard(z);
    close_clean(ctx);
}

static mercer_status open_and_multiply(mercer_ctx *ctx, void *arg) {
    mercer_data *data = arg;
    mercer_kernel *kernel = NULL;
    mc_gram *gram = NULL;
    double V[100] = {1}, Y[100];
    mercer_status status = mercer_kernel_parse(ctx, "rbf(gamma=0.2) + laplacian(gamma=0.1)", &kernel);
    if (!status)
        status = mc_gram_open(ctx, kernel, data, NULL, MERCER_F32, &gram);
    if (!status)
        status = mc_gram_apply(ctx, gram, 1, V, Y);
    mc_gram_close(gram);
    mercer_kernel_free(kernel);
    return status;
}

static void test_survives_failing_memory_and_keeps_to_its_forecast(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2), *fresh = open_ctx(2);
    rows x = draw(100, 60, 0.1, false, 3);
    mercer_data *data = make(ctx, &x, MERCER_F64);
    assert_survives_failing_memory(open_and_multiply, data);
    mercer_kernel *kernel = parse(ctx, "rbf(gamma=0.2) + laplacian(gamma=0.1)");
    const size_t forecast = mc_gram_bytes(ctx, kernel, data, NULL, MERCER_F32, 1), before = mercer_memory_used(fresh);
    assert_ok(fresh, open_and_multiply(fresh, data));
    assert_in_range(mercer_memory_peak(fresh) - before, 1, forecast);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    discard(x);
    close_clean(fresh);
    close_clean(ctx);
}

/* Columns out of the packed whole, dense and compressed; their product with positive numbers within its own bound of
   the reference evaluator's. */
static void test_columns_of_the_whole_serve_products(void **state) {
    (void)state;
    static const char *const own[] = {"rbf(gamma=0.2)", "matern(nu=1.5, length_scale=2)",
                                      "normalize(poly(degree=2)) + white", "form([[2, 1], [1, 2]])[1, 2] + 3",
                                      "laplacian(gamma=0.3)"};
    enum { n = 150, d = 10, m = 53, many = 6 };
    for (int k = 0; k < 5 * 2 * 2; k++) {
        const mercer_dtype precision = (mercer_dtype)(k / 5 % 2);
        mercer_ctx *ctx = open_ctx(2);
        const rows x = draw(n, d, 0.15, false, 70);
        const mercer_table table = {.size = sizeof table, .n = n, .d = d, .dtype = MERCER_F64, .values = x.full};
        mercer_data *data = k < 10 ? NULL : make(ctx, &x, MERCER_F64);
        if (!data)
            assert_ok(ctx, mercer_data_make(ctx, &table, &data));
        mercer_kernel *kernel = parse(ctx, own[k % 5]);
        mc_gram *whole = NULL, *gram = NULL;
        int64_t ids[m];
        const int64_t t = k % 3 ? 1 : many;
        double c[m * many], y[n * many], K[n * m], all[n * n], relative, rest, mass = 0;
        for (int64_t j = 0; j < m; j++) {
            ids[j] = 2 * j + j / 9;
            mass += c[j * t] = 0.1 + (double)(j % 5);
            for (int64_t r = 1; r < t; r++)
                c[j * t + r] = c[j * t];
        }
        assert_ok(ctx, mc_gram_open(ctx, kernel, data, NULL, precision, &whole));
        assert_ok(ctx, mc_gram_open_columns(ctx, whole, ids, m, &gram));
        assert_ok(ctx, mc_gram_block(ctx, whole, 0, n, 0, n, MERCER_F64, all, n));
        assert_ok(ctx, mc_gram_block(ctx, gram, 0, n, 0, m, MERCER_F64, K, m));
        assert_ok(ctx, mc_gram_apply(ctx, gram, t, c, y));
        mc_gram_product_terms(gram, t, &relative, &rest);
        for (int64_t i = 0; i < n; i++) {
            double sum = 0;
            for (int64_t j = 0; j < m; j++) {
                assert_true(fabs(K[i * m + j] - all[i * n + ids[j]]) <= 2 * mc_gram_entry_error(whole));
                sum += c[j * t] * mc_eval_kernel(kernel->root, x.full + i * d, x.full + ids[j] * d, d);
            }
            for (int64_t r = 0; r < t; r++)
                assert_true(fabs(y[i * t + r] - sum) <= relative * fabs(y[i * t + r]) + rest * mass);
        }
        /* one long chain, not many short */
        assert_true(relative + rest < (precision == MERCER_F32 ? 1e-2 : 1e-10) * (t > 1 ? 10 : 1));
        mc_gram_close(gram);
        mc_gram_close(whole);
        mercer_kernel_free(kernel);
        mercer_data_free(data);
        discard(x);
        close_clean(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kernel_equals_the_reference),
        cmocka_unit_test(test_kernels_of_nonnegative_data_too),
        cmocka_unit_test(test_wide_rows_on_either_side),
        cmocka_unit_test(test_the_layout_of_the_data_does_not_matter),
        cmocka_unit_test(test_products_are_those_of_the_entries),
        cmocka_unit_test(test_survives_failing_memory_and_keeps_to_its_forecast),
        cmocka_unit_test(test_columns_of_the_whole_serve_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
