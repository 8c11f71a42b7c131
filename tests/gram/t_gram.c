/* The Gram operator against the reference evaluator: every atom, composite expressions, both precisions, every
   instruction set, ugly data. */
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

/* n x d numbers: whole-data offset, scale, and some rows repeated. */
typedef struct points {
    int64_t n, d;
    double *values;
} points;

static points draw(int64_t n, int64_t d, uint64_t item, double offset, double scale, bool positive) {
    points p = {n, d, malloc((size_t)(n * d + 1) * sizeof(double))};
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    for (int64_t i = 0; i < n * d; i++) {
        const double v = mc_rng_normal(&rng);
        p.values[i] = offset + scale * (positive ? fabs(v) : v);
    }
    for (int64_t i = 5; i < n; i += 7) /* 5, 12, 19, 26, 33, 40, ... */
        memcpy(p.values + i * d, p.values + (i / 2) * d, (size_t)d * sizeof(double));
    return p;
}

static mercer_data *make(mercer_ctx *ctx, points p) {
    const mercer_table table = {.size = sizeof table, .n = p.n, .d = p.d, .dtype = MERCER_F64, .values = p.values};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

static mercer_kernel *parse(mercer_ctx *ctx, const char *text) {
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
    return kernel;
}

/* All entries within the operator's own bound of the reference evaluator's, and that bound in keeping with the
   precision. */
static void compare(mercer_ctx *ctx, const char *text, points x, const points *z, mercer_dtype precision,
                    double largest_bound) {
    mercer_kernel *kernel = parse(ctx, text);
    mercer_data *dx = make(ctx, x), *dz = z ? make(ctx, *z) : NULL;
    mc_gram *gram = NULL;
    assert_ok(ctx, mc_gram_open(ctx, kernel, dx, dz, precision, &gram));
    const points right = z ? *z : x;
    const int64_t n = x.n, m = right.n;
    double *K = malloc((size_t)(n * m + 1) * sizeof(double)), worst = 0, size = 0, relative, rest, beyond = 0;
    mc_gram_entry_terms(gram, &relative, &rest);
    assert_ok(ctx, mc_gram_block(ctx, gram, 0, n, 0, m, MERCER_F64, K, m));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            const double k = mc_eval_kernel(kernel->root, x.values + i * x.d, right.values + j * x.d, x.d);
            worst = fmax(worst, fabs(K[i * m + j] - k));
            beyond = fmax(beyond, fabs(K[i * m + j] - k) - relative * fabs(k) - rest);
            size = fmax(size, fabs(k));
            if (isnan(k) != isnan(K[i * m + j]))
                worst = INFINITY;
        }
    const double bound = mc_gram_entry_error(gram);
    if (worst > bound || beyond > 0 || !(bound <= largest_bound * fmax(size, 1)))
        fail_msg("%s: %s, %s, n %lld, d %lld: error %g, bound %g, size %g", mercer_isa(ctx), text,
                 precision == MERCER_F32 ? "f32" : "f64", (long long)n, (long long)x.d, worst, bound, size);
    free(K);
    mc_gram_close(gram);
    mercer_data_free(dx);
    mercer_data_free(dz);
    mercer_kernel_free(kernel);
}

static const char *const atoms[] = {
    "linear",
    "poly(degree=3, c=1, gamma=0.5)",
    "poly(degree=7, c=0.1, gamma=0.2)",
    "poly(degree=1.5, c=20)",
    "poly(degree=2.25, c=30, gamma=0.7)",
    "poly(degree=2, c=1.7, gamma=0.02)^1.5",
    "poly(degree=1.5, c=9, gamma=0.1)",
    "rbf(gamma=0.3)",
    "laplacian(gamma=0.2)",
    "exponential(gamma=0.4)",
    "matern(nu=0.5, length_scale=2)",
    "matern(nu=0.8, length_scale=2)",
    "wendland(k=0, length_scale=5)",
    "wendland(k=1, length_scale=5)",
    "wendland(k=2, length_scale=5)*rbf(gamma=0.1)",
    "sinc(length_scale=2) + brownian",
    "power(p=1.5) + log(length_scale=2) - multiquadric + thin_plate",
    "matern(nu=1.5, length_scale=2)",
    "matern(nu=2.5, length_scale=2)",
    "rq(alpha=1, length_scale=1.5)",
    "rq(alpha=0.7, length_scale=1.5)",
    "rq(alpha=12.5, length_scale=1.5)",
    "periodic(period=1.7, length_scale=1.3)",
    "cosine",
    "arccos(order=0)",
    "arccos(order=1)",
    "arccos(order=2)",
    "tanh(a=0.2, c=0.1)",
    "3.5 + logarithmic(0.9*rbf(gamma=0.3)) + arcsin(0.99*cosine)*bessel_i0(0.1*linear)",
    "white",
};

static void test_every_atom_equals_the_reference(void **state) {
    (void)state;
    for (size_t isa = 0; isa < 3; isa++) {
        mercer_ctx *ctx = open_isa(isas[isa], 1);
        for (size_t a = 0; ctx && a < sizeof atoms / sizeof atoms[0]; a++)
            for (int precision = 0; precision < 2; precision++) {
                points x = draw(61, 5, a, 0, 1, false), z = draw(53, 5, a + 100, 0.1, 1, false),
                       w = draw(50, 33, a, 0.3, 0.4, false);
                memset(x.values + 7 * 5, 0, 5 * sizeof *x.values); /* a row without a direction */
                compare(ctx, atoms[a], x, NULL, (mercer_dtype)precision, precision == MERCER_F32 ? 2e-3 : 1e-11);
                compare(ctx, atoms[a], x, &z, (mercer_dtype)precision, precision == MERCER_F32 ? 2e-3 : 1e-11);
                compare(ctx, atoms[a], w, NULL, (mercer_dtype)precision, precision == MERCER_F32 ? 2e-3 : 1e-11);
                free(x.values), free(z.values), free(w.values);
            }
        if (ctx)
            close_clean(ctx);
    }
}

static const char *const positive_atoms[] = {"chi2(gamma=0.3)",
                                             "intersection",
                                             "chi2(gamma=0.1)*intersection + linear",
                                             "tanimoto",
                                             "additive_chi2 + 0.5*tanimoto*intersection",
                                             "spline"};

static void test_atoms_of_nonnegative_data_too(void **state) {
    (void)state;
    for (size_t isa = 0; isa < 3; isa++) {
        mercer_ctx *ctx = open_isa(isas[isa], 1);
        for (size_t a = 0; ctx && a < 3; a++)
            for (int precision = 0; precision < 2; precision++) {
                points x = draw(40, 19, a, 0, 1, true);
                x.values[3] = x.values[22] = 0;
                compare(ctx, positive_atoms[a], x, NULL, (mercer_dtype)precision,
                        precision == MERCER_F32 ? 1e-3 : 1e-11);
                free(x.values);
            }
        if (ctx)
            close_clean(ctx);
    }
}

static const char *const composites[] = {
    "0.5*rbf(gamma=0.1) + linear*poly(degree=2, c=1)^2",
    "exp(0.3*linear)",
    "normalize(poly(degree=3))",
    "1 + 2*linear + linear^2",
    "rbf(gamma=1)[1:3] + periodic(period=12)[4]",
    "weigh(exp(-norm2/2), exp(linear))",
    "form([[2, 1, 0, 0, 1], [1, 2, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0.5], [1, 0, 0, 0.5, 3]])",
    "rbf(gamma=[0.1, 0.2, 0.3, 0.4, 0.5])*matern(nu=1.5, length_scale=[1, 2, 3, 4, 5])",
    "rbf(gamma=0.2) - 0.5*rbf(gamma=0.7)",
    "(rbf(gamma=0.1) + 0.2)^0.5",
    "(1 + rbf(gamma=0.1))^-3",
    "linear*rbf(gamma=0.3) + 0.1*cosine*exponential(gamma=0.2) + 0.01*arccos(order=2)",
    "weigh(1 + x[2]^2, rbf(gamma=0.5)[2, 4]) + 2*white + white[3]",
    "normalize(linear + rbf(gamma=0.4)*(1 + 0.5*poly(degree=2)))",
    "exp(rbf(gamma=0.5) + 0.2*cosine) * (rq(alpha=2, length_scale=3) + laplacian(gamma=[1, 2, 3, 4, 5]))",
    "rbf(gamma=0.1)*rbf(gamma=0.2)*rbf(gamma=0.3) + rbf(gamma=0.4) + linear + tanh(a=0.1, c=0)",
    "normalize(linear - 3)",
    "exp(exp(0.1*linear) - 0.5)",
};

static void test_composite_expressions_equal_the_reference(void **state) {
    (void)state;
    for (size_t isa = 0; isa < 3; isa++) {
        mercer_ctx *ctx = open_isa(isas[isa], 1);
        for (size_t e = 0; ctx && e < sizeof composites / sizeof composites[0]; e++)
            for (int precision = 0; precision < 2; precision++) {
                points x = draw(55, 5, e, 0.2, 0.6, false), z = draw(29, 5, e + 50, 0, 0.6, false);
                compare(ctx, composites[e], x, NULL, (mercer_dtype)precision, INFINITY);
                compare(ctx, composites[e], x, &z, (mercer_dtype)precision, INFINITY);
                free(x.values), free(z.values);
            }
        if (ctx)
            close_clean(ctx);
    }
}

/* Offsets a million times the spread, tiny and huge scales, repeated rows: the bound must hold and stay useful. */
static void test_ugly_data_keep_to_the_bound(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double offset, scale;
    } cases[] = {
        {"rbf(gamma=0.3)", 1e6, 1},
        {"rbf(gamma=3e10)", 1e-3, 1e-6},
        {"rbf(gamma=1e-12)", 0, 1e6},
        {"rbf(gamma=1e4)", 0, 1},
        {"exponential(gamma=1)", 1e6, 1},
        {"matern(nu=0.5, length_scale=0.01)", 10, 1},
        {"matern(nu=2.5, length_scale=1e-3)", 0, 1},
        {"rq(alpha=0.5, length_scale=1e-4)", 5, 1},
        {"laplacian(gamma=0.5)", 1e5, 1},
        {"periodic(period=0.1)", 1e4, 1},
        {"arccos(order=0)", 1e3, 1},
        {"cosine", 1e3, 1e-3},
        {"linear", 1e6, 1},
        {"poly(degree=3)", 1e3, 1},
        {"linear + rbf(gamma=1)", 1e5, 1},
        {"linear", 0, 1e-20},
        {"poly(degree=12)", 30, 1},
    };
    static const int64_t sizes[] = {1, 3, 16, 17, 40, 120};
    mercer_ctx *ctx = open_ctx(1);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (size_t s = 0; s < 6; s++)
            for (int precision = 0; precision < 2; precision++) {
                points x = draw(64, sizes[s], c, cases[c].offset, cases[c].scale, false);
                compare(ctx, cases[c].text, x, NULL, (mercer_dtype)precision, precision == MERCER_F32 ? 4e-3 : 1e-7);
                free(x.values);
            }
    close_clean(ctx);
}

/* ---- Products ---- */

static void multiply(int64_t n, int64_t m, int64_t t, const double *K, const double *V, double *Y, double *absolute) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < t; c++) {
            double sum = 0, size = 0;
            for (int64_t j = 0; j < m; j++) {
                sum += K[i * m + j] * V[j * t + c];
                size += fabs(K[i * m + j] * V[j * t + c]);
            }
            Y[i * t + c] = sum;
            absolute[i * t + c] = size;
        }
}

/* K V by the operator and by its own entries, relative to |K| |V|. */
static void compare_products(mercer_ctx *ctx, const char *text, points x, const points *z, int64_t t,
                             mercer_dtype precision) {
    mercer_kernel *kernel = parse(ctx, text);
    mercer_data *dx = make(ctx, x), *dz = z ? make(ctx, *z) : NULL;
    mc_gram *gram = NULL;
    assert_ok(ctx, mc_gram_open(ctx, kernel, dx, dz, precision, &gram));
    const int64_t n = x.n, m = z ? z->n : n;
    double *K = malloc((size_t)(n * m) * 8), *V = malloc((size_t)(m * t) * 8), *Y = malloc((size_t)(n * t) * 8);
    double *expected = malloc((size_t)(n * t) * 8), *size = malloc((size_t)(n * t) * 8);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, (uint64_t)(n + t));
    for (int64_t i = 0; i < m * t; i++)
        V[i] = mc_rng_normal(&rng) * (i % t == 1 ? 1e200 : i % t == 2 ? 1e-200 : 1);
    assert_ok(ctx, mc_gram_block(ctx, gram, 0, n, 0, m, MERCER_F64, K, m));
    assert_ok(ctx, mc_gram_apply(ctx, gram, t, V, Y));
    multiply(n, m, t, K, V, expected, size);
    for (int64_t i = 0; i < n * t; i++)
        if (!(fabs(Y[i] - expected[i]) <= (precision == MERCER_F32 ? 2e-6 : 1e-14) * size[i]))
            fail_msg("%s: %s, n %lld, m %lld, t %lld: y(%lld, %lld) is %g, not %g", mercer_isa(ctx), text, (long long)n,
                     (long long)m, (long long)t, (long long)(i / t), (long long)(i % t), Y[i], expected[i]);
    free(K), free(V), free(Y), free(expected), free(size);
    mc_gram_close(gram);
    mercer_data_free(dx);
    mercer_data_free(dz);
    mercer_kernel_free(kernel);
}

static const char *const multiplied[] = {
    "rbf(gamma=0.1)",
    "2*rbf(gamma=1e5)", /* guarded */
    "linear",
    "poly(degree=2)",
    "exponential(gamma=0.5)",
    "matern(nu=1.5, length_scale=2)",
    "matern(nu=2.5, length_scale=2)",
    "rq(alpha=0.7, length_scale=1)",
    "laplacian(gamma=0.1)",
    "rbf(gamma=0.1)*linear + 0.5*matern(nu=2.5, length_scale=1)",
};

static void test_products_are_those_of_the_entries(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 2, 47, 48, 49, 250}, columns[] = {1, 3, 5, 17, 110};
    int64_t item = 0;
    for (size_t isa = 0; isa < 3; isa++) {
        mercer_ctx *ctx = open_isa(isas[isa], 1);
        for (size_t s = 0; ctx && s < 6; s++)
            for (size_t e = 0; e < sizeof multiplied / sizeof multiplied[0]; e++)
                for (int precision = 0; precision < 2; precision++) {
                    if (!test_takes(item++))
                        continue;
                    points x = draw(sizes[s], 2 + (int64_t)(7 * e), s, 0, 1, false), z = draw(131, x.d, 7, 0, 1, false);
                    compare_products(ctx, multiplied[e], x, NULL, columns[(s + e) % 5], (mercer_dtype)precision);
                    compare_products(ctx, multiplied[e], x, &z, columns[(s + e + 1) % 5], (mercer_dtype)precision);
                    free(x.values), free(z.values);
                }
        if (ctx)
            close_clean(ctx);
    }
}

/* Coordinates are summed up in blocks of 1024. */
static void test_long_rows_are_summed_in_blocks(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int precision = 0; precision < 2; precision++) {
        points x = draw(130, 2100, 1, 0.1, 0.1, false), z = draw(70, 2100, 2, 0, 0.1, false);
        compare(ctx, "rbf(gamma=0.01) + 0.1*linear", x, &z, (mercer_dtype)precision, 1e-3);
        /* a root of 3 gamma_2102 */
        compare(ctx, "matern(nu=0.5, length_scale=3)", x, NULL, (mercer_dtype)precision, 1e-2);
        compare_products(ctx, "rbf(gamma=0.01)", x, NULL, 1, (mercer_dtype)precision);
        compare_products(ctx, "laplacian(gamma=0.01)*poly(degree=2)", x, &z, 6, (mercer_dtype)precision);
        free(x.values), free(z.values);
    }
    close_clean(ctx);
}

static void test_the_bits_do_not_depend_on_the_threads(void **state) {
    (void)state;
    points x = draw(1000, 12, 3, 0, 1, false);
    enum { t = 3 };
    double *V = malloc(1000 * t * 8), *Y[4], *K[4];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 3);
    for (int i = 0; i < 1000 * t; i++)
        V[i] = mc_rng_normal(&rng);
    for (int threads = 1; threads <= 4; threads++) {
        mercer_ctx *ctx = open_ctx(threads);
        mercer_data *data = make(ctx, x);
        mercer_kernel *kernel = parse(ctx, "rbf(gamma=0.1) + 0.1*linear");
        mc_gram *gram = NULL;
        assert_ok(ctx, mc_gram_open(ctx, kernel, data, NULL, MERCER_F32, &gram));
        Y[threads - 1] = malloc(1000 * t * 8);
        K[threads - 1] = malloc(1000 * 1001 / 2 * 8);
        assert_ok(ctx, mc_gram_apply(ctx, gram, t, V, Y[threads - 1]));
        assert_ok(ctx, mc_gram_packed(ctx, gram, NULL, K[threads - 1]));
        assert_memory_equal(Y[threads - 1], Y[0], 1000 * t * 8);
        assert_memory_equal(K[threads - 1], K[0], 1000 * 1001 / 2 * 8);
        mc_gram_close(gram);
        mercer_data_free(data);
        mercer_kernel_free(kernel);
        close_clean(ctx);
    }
    for (int i = 0; i < 4; i++)
        free(Y[i]), free(K[i]);
    free(V), free(x.values);
}

/* ---- Pieces ---- */

typedef struct opened {
    mercer_ctx *ctx;
    points x;
    mercer_data *data;
    mercer_kernel *kernel;
    mc_gram *gram;
} opened;

static opened open_all(const char *text, int64_t n, int64_t d, mercer_dtype precision) {
    opened o = {.ctx = open_ctx(2), .x = draw(n, d, (uint64_t)n, 0, 1, false)};
    o.data = make(o.ctx, o.x);
    o.kernel = parse(o.ctx, text);
    assert_ok(o.ctx, mc_gram_open(o.ctx, o.kernel, o.data, NULL, precision, &o.gram));
    return o;
}

static void close_all(opened o) {
    mc_gram_close(o.gram);
    mercer_data_free(o.data);
    mercer_kernel_free(o.kernel);
    close_clean(o.ctx);
    free(o.x.values);
}

extern void dtfttr_(const char *transr, const char *uplo, const int *n, const double *arf, double *a, const int *lda,
                    int *info, size_t, size_t);

static void test_the_packed_triangle_is_lapacks(void **state) {
    (void)state;
    for (int n = 1; n < 130; n += 1 + n / 9) {
        opened o = open_all("rbf(gamma=0.2)", n, 4, MERCER_F64);
        double *K = calloc((size_t)(n * n + 1), 8), *A = calloc((size_t)(n * n + 1), 8),
               *packed = calloc((size_t)(n * (n + 1) / 2 + 1), 8);
        double *shift = malloc((size_t)(n + 1) * 8);
        for (int i = 0; i < n; i++)
            shift[i] = 0.5 + i;
        assert_ok(o.ctx, mc_gram_block(o.ctx, o.gram, 0, n, 0, n, MERCER_F64, K, n));
        assert_ok(o.ctx, mc_gram_packed(o.ctx, o.gram, shift, packed));
        int info = 0;
        const int lda = n > 0 ? n : 1;
        dtfttr_("N", "L", &n, packed, A, &lda, &info, 1, 1);
        assert_int_equal(info, 0);
        for (int j = 0; j < n; j++)
            for (int i = j; i < n; i++)
                assert_close(A[i + j * n], K[i * n + j] + (i == j ? shift[i] : 0), 1e-15);
        free(K), free(A), free(packed), free(shift);
        close_all(o);
    }
}

static void test_pieces_are_parts_of_the_whole(void **state) {
    (void)state;
    enum { n = 213 };
    opened o = open_all("rbf(gamma=0.2) + 0.1*linear", n, 6, MERCER_F32);
    double *K = malloc(n * n * 8), *piece = malloc(n * n * 8), diagonal[n];
    float *rows = malloc(n * n * 4);
    assert_ok(o.ctx, mc_gram_block(o.ctx, o.gram, 0, n, 0, n, MERCER_F64, K, n));
    assert_ok(o.ctx, mc_gram_diagonal(o.ctx, o.gram, diagonal));
    for (int i = 0; i < n; i++) {
        assert_close(K[i * n + i], diagonal[i], 1e-6);
        assert_true(diagonal[i] == mc_eval_kernel(o.kernel->root, o.x.values + i * 6, o.x.values + i * 6, 6));
        for (int j = 0; j < n; j++)
            assert_true(K[i * n + j] == K[j * n + i]);
    }
    const int64_t cuts[][4] = {{0, n, 0, n},       {13, 14, 5, 200}, {100, 213, 100, 213},
                               {50, 60, 212, 213}, {7, 7, 0, n},     {3, 170, 49, 97}};
    for (int c = 0; c < 6; c++) {
        const int64_t *q = cuts[c], ld = q[3] - q[2] + 2;
        if (ld > n)
            continue;
        assert_ok(o.ctx, mc_gram_block(o.ctx, o.gram, q[0], q[1], q[2], q[3], MERCER_F64, piece, ld));
        for (int64_t i = q[0]; i < q[1]; i++)
            for (int64_t j = q[2]; j < q[3]; j++)
                assert_true(piece[(i - q[0]) * ld + j - q[2]] == K[i * n + j]);
    }
    const int64_t listed[] = {200, 3, 3, 77, 12, 212, 0, 5, 6, 7, 8};
    assert_ok(o.ctx, mc_gram_take(o.ctx, o.gram, listed, 11, MERCER_F32, rows, n));
    for (int r = 0; r < 11; r++)
        for (int j = 0; j < n; j++)
            assert_true(rows[r * n + j] == (float)K[listed[r] * n + j]);
    int64_t row[300], column[300];
    for (int k = 0; k < 300; k++) {
        row[k] = 37 * k % n;
        column[k] = k * (n - 1) / 299;
    }
    assert_ok(o.ctx, mc_gram_pairs(o.ctx, o.gram, row, column, 300, piece));
    for (int k = 0; k < 300; k++)
        assert_true(piece[k] == K[row[k] * n + column[k]]);
    free(K), free(piece), free(rows);
    close_all(o);
}

/* Row 40 repeats row 20. */
/* Two runs of rows by one thread alone: rows of few columns and of more than are summed up at once, runs of any size
   and of none, in the order asked for. */
static void test_a_square_of_two_runs_is_made_of_its_blocks(void **state) {
    (void)state;
    enum { n = 213 };
    const int64_t columns[] = {6, 1500},
                  runs[][4] = {{0, 100, 100, 113}, {7, 9, 150, 63}, {120, 90, 3, 65}, {5, 1, 9, 0}, {0, 0, 40, 173}};
    for (int c = 0; c < 2; c++) {
        opened o = open_all("rbf(gamma=0.02) + 0.1*linear", n, columns[c], MERCER_F64);
        double *K = malloc(n * n * 8), *square = malloc(n * (n + 9) * 8);
        assert_ok(o.ctx, mc_gram_block(o.ctx, o.gram, 0, n, 0, n, MERCER_F64, K, n));
        mc_work work;
        assert_ok(o.ctx, mc_work_open(o.ctx, &work, mc_gram_writer_bytes(o.gram)));
        const mc_gram_writer writer = mc_gram_writer_open(o.gram, &work);
        for (int k = 0; k < 5; k++) {
            const int64_t first[] = {runs[k][0], runs[k][2]}, count[] = {runs[k][1], runs[k][3]},
                          m = count[0] + count[1], ld = m + 9;
            mc_gram_write_square(&writer, 2, first, count, square, ld);
            for (int64_t i = 0; i < m; i++)
                for (int64_t j = 0; j < m; j++) {
                    const int64_t a = i < count[0] ? first[0] + i : first[1] + i - count[0],
                                  b = j < count[0] ? first[0] + j : first[1] + j - count[0];
                    assert_true(square[i * ld + j] == K[a * n + b]);
                }
            double *turned = square + count[0] * ld;
            mc_gram_write_between(&writer, first, count, square, ld, turned, ld);
            for (int64_t i = 0; i < count[0]; i++)
                for (int64_t j = 0; j < count[1]; j++) {
                    assert_true(square[i * ld + j] == K[(first[0] + i) * n + first[1] + j]);
                    assert_true(turned[j * ld + i] == square[i * ld + j]);
                }
            const int64_t rows[] = {200, 3, 77, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
            const int64_t listed = k < 3 ? 13 : k;
            double *to[13];
            for (int64_t i = 0; i < listed; i++)
                to[i] = square + (listed - 1 - i) * ld;
            mc_gram_write_rows(&writer, rows, listed, 2, first, count, to);
            for (int64_t i = 0; i < listed; i++)
                for (int64_t j = 0; j < m; j++) {
                    const int64_t b = j < count[0] ? first[0] + j : first[1] + j - count[0];
                    assert_close(to[i][j], K[rows[i] * n + b], 1e-14 * fabs(K[rows[i] * n + b]));
                }
        }
        assert_ok(o.ctx, mc_gram_writers_report(o.ctx, o.gram));
        mc_work_close(&work);
        free(K), free(square);
        close_all(o);
    }
}

static void test_equal_rows_have_equal_kernels_to_the_last_bit(void **state) {
    (void)state;
    static const char *const texts[] = {"rbf(gamma=0.7)",         "matern(nu=2.5, length_scale=3) + 0.5*rbf(gamma=0.3)",
                                        "exponential(gamma=0.1)", "rq(alpha=0.3, length_scale=2)",
                                        "laplacian(gamma=1)",     "periodic(period=3)"};
    for (size_t e = 0; e < 6; e++)
        for (int64_t d = 1; d < 1200; d = 4 * d + 1)
            for (int precision = 0; precision < 2; precision++) {
                opened o = open_all(texts[e], 41, d, (mercer_dtype)precision);
                double K[41 * 41];
                mc_gram *gram = NULL;
                assert_memory_equal(o.x.values + 20 * d, o.x.values + 40 * d, (size_t)d * 8);
                assert_ok(o.ctx, mc_gram_open(o.ctx, o.kernel, o.data, o.data, (mercer_dtype)precision, &gram));
                for (int pass = 0; pass < 2; pass++) {
                    assert_ok(o.ctx, mc_gram_block(o.ctx, pass ? gram : o.gram, 0, 41, 0, 41, MERCER_F64, K, 41));
                    assert_true(K[20 * 41 + 40] == (pass ? K[20 * 41 + 20] : 1 + 0.5 * (e == 1)));
                    for (int j = 0; j < 41 && pass; j++)
                        assert_true(K[20 * 41 + j] == K[40 * 41 + j]);
                }
                mc_gram_close(gram);
                close_all(o);
            }
}

/* An operator made again on the kept right side of another is the one that is opened, to the bit: rows near and far,
   short and long, with columns of zeros that the points have and others that they have not. Returns how often one was
   made. */
static int made_again(mercer_ctx *ctx, const char *text, const mercer_data *z, const mercer_data *first,
                      mercer_data *const *rows, int count) {
    mercer_kernel *kernel = parse(ctx, text);
    mc_gram *kept = NULL, *again = NULL, *anew = NULL;
    double alpha[40], a[2] = {0}, b[2] = {0};
    int made = 0;
    for (int j = 0; j < 40; j++)
        alpha[j] = cos(j);
    assert_ok(ctx, mc_gram_open(ctx, kernel, first, z, MERCER_F64, &kept));
    const bool keeps = mc_gram_keep_packed(kept);
    for (int i = 0; i < count && keeps; i++) {
        assert_ok(ctx, mc_gram_open_reusing(ctx, kept, rows[i], &again));
        if (!again)
            continue;
        made++;
        assert_ok(ctx, mc_gram_open(ctx, kernel, rows[i], z, MERCER_F64, &anew));
        const mercer_status status = mc_gram_apply(ctx, again, 1, alpha, a); /* far rows leave the range of a double */
        assert_true(status == MERCER_OK || status == MERCER_NUMERIC);
        assert_int_equal(mc_gram_apply(ctx, anew, 1, alpha, b), status);
        assert_true(status || memcmp(a, b, sizeof a) == 0);
        assert_true(mc_gram_entry_error(again) == mc_gram_entry_error(anew));
        mc_gram_close(again), mc_gram_close(anew);
    }
    mc_gram_close(kept);
    mercer_kernel_free(kernel);
    return made;
}

static void test_an_operator_made_again_is_the_one_opened(void **state) {
    (void)state;
    enum { ROWS = 4 };
    points z = draw(40, 5, 31, 0.3, 1, false);
    for (int64_t i = 0; i < z.n; i++)
        z.values[i * z.d + 2] = 0;
    for (size_t isa = 0; isa < 3; isa++) {
        mercer_ctx *ctx = open_isa(isas[isa], 2);
        if (!ctx)
            continue;
        mercer_data *dz = make(ctx, z), *rows[ROWS];
        for (int i = 0; i < ROWS; i++) {
            points x = draw(2, 5, 40 + (uint64_t)i, 0, i == 2 ? 1e5 : 1, false);
            for (int k = 0; k < 2 && i < 3; k++)
                x.values[k * 5 + 2] = 0;
            rows[i] = make(ctx, x);
            free(x.values);
        }
        for (size_t c = 0; c < sizeof composites / sizeof composites[0]; c++)
            made_again(ctx, composites[c], dz, rows[0], rows, ROWS);
        assert_int_equal(made_again(ctx, "rbf(gamma=0.3)", dz, rows[0], rows, 2), 2);
        assert_int_equal(made_again(ctx, "rbf(gamma=0.3)", dz, rows[0], rows + 3, 1), 0); /* a column more */
        assert_int_equal(made_again(ctx, "periodic(period=2)", dz, rows[0], rows, 2), 0); /* not kept */
        for (int i = 0; i < ROWS; i++)
            mercer_data_free(rows[i]);
        mercer_data_free(dz);
        close_clean(ctx);
    }
    free(z.values);
}

static void test_a_rectangular_operator_has_no_diagonal(void **state) {
    (void)state;
    opened o = open_all("linear", 4, 2, MERCER_F64);
    mc_gram *gram = NULL;
    double out[4];
    assert_ok(o.ctx, mc_gram_open(o.ctx, o.kernel, o.data, o.data, MERCER_F64, &gram));
    assert_fails(o.ctx, mc_gram_diagonal(o.ctx, gram, out), MERCER_INTERNAL, "not symmetric");
    mc_gram_close(gram);
    close_all(o);
}

static mercer_status open_and_multiply(mercer_ctx *ctx, void *arg) {
    const opened *o = arg;
    double V[100], Y[100], K[5050];
    for (int i = 0; i < 100; i++)
        V[i] = i;
    mc_gram *gram = NULL;
    mercer_status status = mc_gram_open(ctx, o->kernel, o->data, NULL, MERCER_F32, &gram);
    if (!status)
        status = mc_gram_apply(ctx, gram, 1, V, Y);
    if (!status)
        status = mc_gram_packed(ctx, gram, NULL, K);
    mc_gram *columns = NULL;
    const int64_t ids[] = {3, 50, 99};
    if (!status)
        status = mc_gram_open_columns(ctx, gram, ids, 3, &columns);
    mc_gram_close(columns);
    mc_gram_close(gram);
    gram = NULL;
    if (!status)
        status = mc_gram_open(ctx, o->kernel, o->data, o->data, MERCER_F64, &gram);
    if (!status)
        status = mc_gram_apply(ctx, gram, 1, V, Y);
    mc_gram_close(gram);
    return status;
}

static mercer_status keep_and_make_again(mercer_ctx *ctx, void *arg) {
    const opened *o = arg;
    double V[100] = {1}, Y[100];
    mc_gram *kept = NULL, *gram = NULL;
    mercer_status status = mc_gram_open(ctx, o->kernel, o->data, o->data, MERCER_F64, &kept);
    if (!status) {
        assert_true(mc_gram_keep_packed(kept));
        status = mc_gram_open_reusing(ctx, kept, o->data, &gram);
    }
    if (!status)
        status = mc_gram_apply(ctx, gram, 1, V, Y);
    mc_gram_close(gram);
    mc_gram_close(kept);
    return status;
}

static void test_everything_survives_failing_memory(void **state) {
    (void)state;
    opened plain = open_all("normalize(linear*rbf(gamma=0.1)) + form([[1, 0], [0, 1]])[1, 2] + arccos(order=1)", 20, 3,
                            MERCER_F64);
    assert_survives_failing_memory(keep_and_make_again, &plain);
    close_all(plain);
    opened o = open_all("normalize(linear*rbf(gamma=0.1) + white) + form([[1, 0], [0, 1]])[1, 2] + arccos(order=1)",
                        100, 3, MERCER_F64);
    assert_survives_failing_memory(open_and_multiply, &o);
    close_all(o);
}

/* Peak bytes of a fresh context that opens the operator, multiplies t columns and writes all of K. */
static size_t peak_of(const opened *o, mercer_dtype precision, int64_t t) {
    const int64_t n = mercer_data_rows(o->data);
    mercer_ctx *fresh = open_ctx(2);
    mc_gram *gram = NULL;
    double *V = calloc((size_t)(n * t), 8), *K = malloc((size_t)(n * (n > t ? n : t)) * 8);
    const size_t before = mercer_memory_used(fresh);
    assert_ok(fresh, mc_gram_open(fresh, o->kernel, o->data, NULL, precision, &gram));
    assert_ok(fresh, mc_gram_apply(fresh, gram, t, V, K));
    assert_ok(fresh, mc_gram_block(fresh, gram, 0, n, 0, n, MERCER_F64, K, n));
    const size_t peak = mercer_memory_peak(fresh) - before;
    mc_gram_close(gram);
    close_clean(fresh);
    free(V), free(K);
    return peak;
}

static void test_memory_keeps_to_the_forecast(void **state) {
    (void)state;
    static const char *const texts[] = {"rbf(gamma=0.1)", "linear*matern(nu=2.5, length_scale=1) + white",
                                        "normalize(poly(degree=2))"};
    static const int64_t columns[] = {1, 4, 5, 20, 120};
    for (int k = 0; k < 3 * 2 * 5; k++) {
        const mercer_dtype precision = (mercer_dtype)(k / 3 % 2);
        const int64_t t = columns[k / 6];
        opened o = open_all(texts[k % 3], 800, 40, precision);
        const size_t forecast = mc_gram_bytes(o.ctx, o.kernel, o.data, NULL, precision, t),
                     peak = peak_of(&o, precision, t);
        if (peak > forecast || forecast > 5 * peak)
            fail_msg("%s, %d columns: forecast %zu bytes, took %zu", texts[k % 3], (int)t, forecast, peak);
        close_all(o);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_atom_equals_the_reference),
        cmocka_unit_test(test_atoms_of_nonnegative_data_too),
        cmocka_unit_test(test_composite_expressions_equal_the_reference),
        cmocka_unit_test(test_ugly_data_keep_to_the_bound),
        cmocka_unit_test(test_products_are_those_of_the_entries),
        cmocka_unit_test(test_long_rows_are_summed_in_blocks),
        cmocka_unit_test(test_the_bits_do_not_depend_on_the_threads),
        cmocka_unit_test(test_the_packed_triangle_is_lapacks),
        cmocka_unit_test(test_pieces_are_parts_of_the_whole),
        cmocka_unit_test(test_a_square_of_two_runs_is_made_of_its_blocks),
        cmocka_unit_test(test_equal_rows_have_equal_kernels_to_the_last_bit),
        cmocka_unit_test(test_an_operator_made_again_is_the_one_opened),
        cmocka_unit_test(test_a_rectangular_operator_has_no_diagonal),
        cmocka_unit_test(test_everything_survives_failing_memory),
        cmocka_unit_test(test_memory_keeps_to_the_forecast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
