/* The operator's bound on the error of an entry against the formulas in long double: entries as blocks give them and as
   the fused bodies of products see them, every statistic and function, both precisions, every instruction set, scales
   chosen to hurt. */
#include "../kernel/eval_long.h"
#include "base/ctx.h"
#include "base/rng.h"
#include "gram/operator/gram.h"
#include "support.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 21, MOST = 500 };

static const char *const isas[] = {"portable", "avx2", "avx512"};

typedef struct cloud {
    int64_t d;
    double offset, scale, spread; /* x = offset + scale 10^(spread normal) normal */
    bool positive;
    double levels; /* x = whole numbers 0 .. 255 over this; 0: reals as above */
} cloud;

/* Every seventh row repeats another, every eleventh lies a hair beside one. */
static void draw(const cloud *c, uint64_t item, double *x) {
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    for (int64_t i = 0; i < N * c->d && c->levels > 0; i++)
        x[i] = (double)(mc_rng_u64(&rng) % 256) / c->levels;
    for (int64_t i = 0; i < N * c->d && !(c->levels > 0); i++) {
        const double size = c->scale * pow(10, c->spread * mc_rng_normal(&rng)),
                     v = c->offset + size * mc_rng_normal(&rng);
        x[i] = c->positive ? fabs(v) : v;
    }
    for (int64_t i = 5; i < N; i++) {
        double *row = x + i * c->d;
        const double *other = x + (i / 2) * c->d;
        for (int64_t k = 0; k < c->d && (i % 7 == 5 || i % 11 == 9); k++)
            row[k] = i % 7 == 5 || c->levels > 0 ? other[k] : other[k] * (1 + 1e-7 * mc_rng_normal(&rng));
    }
}

/* The largest error of the entries in out, column j of K where j >= 0. */
static double worst_of(const long double *K, const double *out, int64_t j) {
    long double worst = 0;
    for (int64_t i = 0; i < (j < 0 ? N * N : N); i++) {
        const long double e = fabsl(out[i] - K[j < 0 ? i : i * N + j]);
        worst = e <= worst ? worst : e; /* NaN is kept */
    }
    return (double)worst;
}

/* One expression on one cloud, with the true K. */
typedef struct trial {
    const char *text;
    const cloud *c;
    double ratio; /* the bound may be so many times the error seen, or so many units of roundoff if none was */
    double x[N * MOST];
    long double K[N * N];
} trial;

static mc_gram *open_trial(mercer_ctx *ctx, const trial *t, mercer_dtype precision, mercer_kernel **kernel,
                           mercer_data **data) {
    mc_gram *gram = NULL;
    const mercer_table table = {.size = sizeof table, .n = N, .d = t->c->d, .dtype = MERCER_F64, .values = t->x};
    assert_ok(ctx, mercer_kernel_parse(ctx, t->text, kernel));
    assert_ok(ctx, mercer_data_make(ctx, &table, data));
    assert_ok(ctx, mc_gram_open(ctx, *kernel, *data, NULL, precision, &gram));
    return gram;
}

/* K e_j for some j: what a product multiplies. */
static double worst_in_products(mercer_ctx *ctx, const trial *t, const mc_gram *gram) {
    double unit[N], column[N], worst = 0;
    for (int64_t j = 0; j < N; j += 3) {
        memset(unit, 0, sizeof unit);
        unit[j] = 1;
        assert_ok(ctx, mc_gram_apply(ctx, gram, 1, unit, column));
        worst = fmax(worst, worst_of(t->K, column, j));
    }
    return worst;
}

/* Some true entry is beyond a double. */
static bool overflows(const trial *t) {
    for (int64_t i = 0; i < N * N; i++)
        if (fabsl(t->K[i]) > DBL_MAX)
            return true;
    return false;
}

static void check(mercer_ctx *ctx, const trial *t, mercer_dtype precision) {
    mercer_kernel *kernel = NULL;
    mercer_data *data = NULL;
    mc_gram *gram = open_trial(ctx, t, precision, &kernel, &data);
    double out[N * N];
    const bool beyond = overflows(t);
    if (beyond)
        assert_fails(ctx, mc_gram_block(ctx, gram, 0, N, 0, N, MERCER_F64, out, N), MERCER_NUMERIC,
                     "beyond the numbers");
    else
        assert_ok(ctx, mc_gram_block(ctx, gram, 0, N, 0, N, MERCER_F64, out, N));
    const double entries = beyond ? 0 : worst_of(t->K, out, -1),
                 products = beyond ? 0 : worst_in_products(ctx, t, gram);
    const double seen = fmax(entries, products), bound = mc_gram_entry_error(gram),
                 least = precision == MERCER_F32 ? 0x1p-24 : 0x1p-53;
    if (!beyond && (!(seen <= bound) || !(bound <= t->ratio * fmax(seen, least))))
        fail_msg("%s, %s, %s, d %lld, offset %g, scale %g: entries wrong by %g, in products by %g, bound %g",
                 mercer_isa(ctx), t->text, precision == MERCER_F32 ? "f32" : "f64", (long long)t->c->d, t->c->offset,
                 t->c->scale, entries, products, bound);
    mc_gram_close(gram);
    mercer_data_free(data);
    mercer_kernel_free(kernel);
}

static void fill_truth(mercer_ctx *ctx, trial *t) {
    mercer_kernel *kernel = NULL;
    const int64_t d = t->c->d;
    assert_ok(ctx, mercer_kernel_parse(ctx, t->text, &kernel));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j <= i; j++)
            t->K[i * N + j] = t->K[j * N + i] = eval_long(kernel->root, t->x + i * d, t->x + j * d, d);
    mercer_kernel_free(kernel);
}

/* Expressions of the size of the data: G is 1 over squares of it, H a thousand times that, L a length. */
static void write_text(const char *format, const cloud *c, char *text, size_t capacity) {
    const double square = c->scale * c->scale * (double)c->d;
    *text = '\0';
    for (const char *at = format; *at; at++) {
        const double v = *at == 'L' ? 1.5 * sqrt(square) : (*at == 'H' ? 300 : 0.3) / square;
        if (*at == 'G' || *at == 'H' || *at == 'L')
            snprintf(text + strlen(text), capacity - strlen(text), "%.17g", v);
        else
            strncat(text, at, 1);
    }
}

/* An angle is steepest where the guard sets in, at 16 times the error of the cosine; a small power of a distance is
   steeper than any slope where two points meet. */
static double ceiling_of(const char *text) {
    if (strncmp(text, "brownian(hurst=0.3)", 19) == 0 || strncmp(text, "matern(nu=0.", 12) == 0)
        return INFINITY;
    return strncmp(text, "arccos", 6) == 0 ? 4000 : 500;
}

static void check_text(const char *text, const cloud *c, uint64_t item, double ratio) {
    static trial t;
    static int64_t cases;
    if (!test_takes(cases++))
        return;
    t.text = text;
    t.c = c;
    t.ratio = ratio;
    draw(c, item, t.x);
    for (size_t isa = 0; isa < 3; isa++) {
        mercer_ctx *ctx = open_isa(isas[isa], 1);
        if (!ctx)
            continue;
        if (isa == 0)
            fill_truth(ctx, &t);
        for (int precision = 0; precision < 2; precision++)
            check(ctx, &t, (mercer_dtype)precision);
        close_clean(ctx);
    }
}

static void check_everywhere(const char *format, const cloud *c, uint64_t item, bool close) {
    char text[512];
    write_text(format, c, text, sizeof text);
    check_text(text, c, item, close ? ceiling_of(format) : INFINITY);
}

static const char *const expressions[] = {
    "linear",
    "poly(degree=3, c=1, gamma=G)",
    "rbf(gamma=G)",
    "rbf(gamma=H)",
    "exponential(gamma=G)",
    "matern(nu=0.5, length_scale=L)",
    "matern(nu=1.5, length_scale=L)",
    "matern(nu=2.5, length_scale=L)",
    "rq(alpha=1, length_scale=L)",
    "rq(alpha=0.7, length_scale=L)",
    "rq(alpha=12.5, length_scale=L)",
    "laplacian(gamma=G)",
    "cosine",
    "arccos(order=0)",
    "arccos(order=1)",
    "arccos(order=2)",
    "tanh(a=G, c=0.1)",
    "periodic(period=L, length_scale=1.3)",
    "exp(G*linear)",
    "3*rbf(gamma=G) - 2*matern(nu=2.5, length_scale=L)",
    "rbf(gamma=G)*(1 + G*linear)^2 + 0.1*rq(alpha=0.3, length_scale=L)*laplacian(gamma=G)",
    "(rbf(gamma=G) + 0.2)^0.5",
    "(1 + rbf(gamma=G))^-3",
    "logarithmic(0.9*rbf(gamma=G))",
    "arcsin(0.8*cosine)",
    "bessel_i0(3*matern(nu=1.5, length_scale=L))",
    "sinc(length_scale=L)",
    "matern(nu=0.3, length_scale=L)",
    "matern(nu=0.8, length_scale=L)",
    "matern(nu=4, length_scale=L)",
    "matern(nu=37.5, length_scale=L)",
    "brownian",
    "brownian(hurst=0.3) + power(p=1.4)",
    "gibbs(L + 0.1*norm2^0.5)",
};
static const char *const positive[] = {
    "chi2(gamma=G)", "intersection", "chi2(gamma=G)*intersection + G*linear", "tanimoto", "additive_chi2 + tanimoto",
    "spline"};

static void check_all(const cloud *clouds, size_t count, bool close) {
    for (size_t c = 0; c < count; c++) {
        const size_t many =
            clouds[c].positive ? sizeof positive / sizeof *positive : sizeof expressions / sizeof *expressions;
        for (size_t e = 0; e < many; e++)
            check_everywhere(clouds[c].positive ? positive[e] : expressions[e], &clouds[c], c, close);
    }
}

static void test_no_error_passes_the_bound_on_ugly_points(void **state) {
    (void)state;
    const cloud clouds[] = {{1, 0, 1, 0, false, 0},    {2, 1e3, 1, 0, false, 0},     {17, 0, 1e-6, 1, false, 0},
                            {40, 1e6, 1, 0, false, 0}, {130, 0.3, 1e4, 2, false, 0}, {260, -2, 0.1, 0.3, false, 0},
                            {9, 0, 1, 0, true, 0},     {150, 0, 1e5, 1, true, 0}};
    check_all(clouds, sizeof clouds / sizeof *clouds, false);
}

static void test_the_bound_of_short_sums_is_not_far_from_the_errors(void **state) {
    (void)state;
    const cloud clouds[] = {{2, 0, 1, 0, false, 0}, {5, 0.2, 1, 0, false, 0}, {4, 0, 1, 0, true, 0}};
    check_all(clouds, sizeof clouds / sizeof *clouds, true);
}

/* Their slope at 0 is steep, and few pairs meet it: the bound holds, and is far above most errors. */
static void test_the_bound_of_compact_functions_holds(void **state) {
    (void)state;
    const cloud clouds[] = {{2, 0, 1, 0, false, 0}, {5, 0.2, 1, 0, false, 0}, {40, 3, 1, 0, false, 0}};
    static const char *const texts[] = {"wendland(k=0, length_scale=L)", "wendland(k=1, length_scale=L)",
                                        "wendland(k=2, dimension=40, length_scale=L)"};
    for (size_t c = 0; c < 3; c++)
        for (size_t e = 0; e < 3; e++)
            check_everywhere(texts[e], &clouds[c], 40 + c, false);
}

/* Matrices of full rank, of rank one and of nearly that. */
static void test_the_bound_holds_for_forms(void **state) {
    (void)state;
    static const char *const texts[] = {
        "rbf(form=[[2, 1, 0], [1, 3, -1], [0, -1, 1]])", "rbf(form=[[1, 2, 3], [2, 4, 6], [3, 6, 9]])",
        "rbf(form=[[1, 1, 0], [1, 1.000001, 0], [0, 0, 1e-9]])",
        "rbf(form=[[2, 1, 0], [1, 3, -1], [0, -1, 1]])*rbf(form=[[1, 0], [0, 0]])[1:2] + linear"};
    const cloud clouds[] = {{3, 0, 0.5, 0, false, 0}, {3, 1e3, 0.3, 0, false, 0}, {3, 0, 1e4, 1, false, 0}};
    for (size_t c = 0; c < 3; c++)
        for (size_t e = 0; e < (c ? 3 : 4); e++)
            check_text(texts[e], &clouds[c], 60 + c, c ? INFINITY : 2000);
}

/* ---- Whole numbers ---- */

static void test_the_bound_holds_for_whole_numbers_of_any_unit(void **state) {
    (void)state;
    const cloud clouds[] = {{.d = 33, .scale = 255, .levels = 1},
                            {.d = 40, .scale = 1, .levels = 255},
                            {.d = 500, .scale = 1e3, .levels = 0.3}};
    static const char *const texts[] = {"rbf(gamma=G)",
                                        "rbf(gamma=H)",
                                        "exponential(gamma=G)",
                                        "poly(degree=3, c=1, gamma=G)",
                                        "matern(nu=2.5, length_scale=L) + G*linear",
                                        "rbf(gamma=G)*cosine"};
    for (size_t c = 0; c < 3; c++)
        for (size_t e = 0; e < 6; e++)
            check_everywhere(texts[e], &clouds[c], 20 + c, false);
}

/* An operator of 100 rows of 45 whole numbers over 255, but for one of them where `odd` is not 0. */
typedef struct grey {
    double x[100 * 45], K[100 * 100];
    mercer_kernel *kernel;
    mercer_data *data;
    mc_gram *gram;
} grey;

static grey *open_grey(mercer_ctx *ctx, double odd) {
    grey *g = calloc(1, sizeof *g);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 30);
    for (int64_t i = 0; i < 100 * 45; i++)
        g->x[i] = i % 45 == 7 ? 0 : (double)(mc_rng_u64(&rng) % 256) / 255;
    g->x[70 * 45 + 3] += odd;
    const mercer_table table = {.size = sizeof table, .n = 100, .d = 45, .dtype = MERCER_F64, .values = g->x};
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.1)", &g->kernel));
    assert_ok(ctx, mercer_data_make(ctx, &table, &g->data));
    assert_ok(ctx, mc_gram_open(ctx, g->kernel, g->data, NULL, MERCER_F64, &g->gram));
    assert_ok(ctx, mc_gram_block(ctx, g->gram, 0, 100, 0, 100, MERCER_F64, g->K, 100));
    return g;
}

static void close_grey(grey *g) {
    mc_gram_close(g->gram);
    mercer_data_free(g->data);
    mercer_kernel_free(g->kernel);
    free(g);
}

/* Bits and pieces: rows, a block beside the diagonal, columns taken out, products; on one thread and on three. */
/* Parameters whose squares no double holds, and rows of their size, of that of 1 and of its inverse. The circle is the
   one place where rounding may take a value all the way from 0 to 1, and sinc goes around it as well. */
static void test_the_bound_is_a_number_where_squares_of_parameters_are_none(void **state) {
    (void)state;
    static const char *const texts[] = {"matern(nu=0.5, length_scale=P)",
                                        "matern(nu=1.5, length_scale=P)",
                                        "matern(nu=2.5, length_scale=[P, 1, P])",
                                        "rq(alpha=1, length_scale=P)",
                                        "rq(alpha=0.7, length_scale=[1, P, P])",
                                        "exponential(gamma=P)",
                                        "sinc(length_scale=[P, 1, 1])",
                                        "gibbs(P)",
                                        "matern(length_scale=P) + 2*matern(length_scale=1)",
                                        "periodic(period=1, length_scale=P)",
                                        "periodic(period=1, length_scale=[1, P, P])",
                                        "rbf(gamma=1)*periodic(period=0.7, length_scale=P)",
                                        "periodic(length_scale=P) + periodic(length_scale=1e-180)"};
    static const double scales[] = {1e-200, 1, 1e200};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        for (int way = 0; way < 6; way++) {
            char text[256] = "";
            for (const char *at = texts[k]; *at; at++)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s", *at == 'P' ? 6 : 1,
                         *at != 'P' ? at
                         : way % 2  ? "1e200"
                                    : "1e-200");
            const bool circle = strstr(text, "periodic") || strstr(text, "sinc");
            const cloud c = {.d = 3, .scale = scales[way / 2]};
            if (!(circle && c.scale > 1)) /* more turns than a long double counts */
                check_text(text, &c, 900 + k, circle ? DBL_MAX : 1000);
        }
}

static void test_pieces_of_an_operator_of_whole_numbers_agree(void **state) {
    (void)state;
    mercer_ctx *one = open_ctx(1), *three = open_ctx(3);
    grey *a = open_grey(one, 0), *b = open_grey(three, 0);
    double part[30 * 100], y[100];
    const int64_t rows[] = {99, 3, 3, 50}, ids[] = {1, 48, 77};
    mc_gram *columns = NULL;
    assert_memory_equal(a->K, b->K, sizeof a->K);
    assert_ok(three, mc_gram_take(three, b->gram, rows, 4, MERCER_F64, part, 100));
    for (int r = 0; r < 4; r++)
        assert_memory_equal(part + r * 100, a->K + rows[r] * 100, 100 * sizeof *part);
    assert_ok(three, mc_gram_block(three, b->gram, 11, 41, 60, 100, MERCER_F64, part, 40));
    for (int i = 0; i < 30; i++)
        assert_memory_equal(part + i * 40, a->K + (11 + i) * 100 + 60, 40 * sizeof *part);
    assert_ok(three, mc_gram_open_columns(three, b->gram, ids, 3, &columns));
    assert_ok(three, mc_gram_apply(three, columns, 1, (const double[]){1, 2, -1}, y));
    for (int i = 0; i < 100; i++)
        assert_close(y[i], a->K[i * 100 + 1] + 2 * a->K[i * 100 + 48] - a->K[i * 100 + 77], 1e-14);
    mc_gram_close(columns);
    close_grey(a), close_grey(b);
    close_clean(one), close_clean(three);
}

/* What it gains is seen in its bound, which holds no sums; one value beside the grid, and all are reals again. */
static void test_whole_numbers_are_recognised_and_nothing_else_is(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    if (!mc_isa_bytes(ctx->isa)) {
        close_clean(ctx);
        skip_test("this processor has no AVX-512 VNNI");
    }
    grey *whole = open_grey(ctx, 0), *odd = open_grey(ctx, 1e-14), *beyond = open_grey(ctx, 256 / 255.0),
         *below = open_grey(ctx, -2);
    const double bound = mc_gram_entry_error(whole->gram);
    assert_true(2 * bound < mc_gram_entry_error(odd->gram));
    assert_true(2 * bound < mc_gram_entry_error(beyond->gram));
    assert_true(2 * bound < mc_gram_entry_error(below->gram));
    close_grey(whole), close_grey(odd), close_grey(beyond), close_grey(below);
    close_clean(ctx);
}

/* K of ones: what is wrong with K v is the adding up, of terms that are all rounded the same way. */
static void check_sums(mercer_ctx *ctx, mercer_dtype precision, bool symmetric, int64_t t) {
    enum { ROWS = 3000, WIDEST = 6 };
    static double x[ROWS], v[ROWS * WIDEST], y[ROWS * WIDEST];
    mercer_kernel *kernel = NULL;
    mercer_data *data = NULL, *other = NULL;
    mc_gram *gram = NULL;
    for (int64_t i = 0; i < ROWS; i++)
        x[i] = 1;
    for (int64_t i = 0; i < ROWS * t; i++)
        v[i] = 1 / (double)(3 + i % t);
    const mercer_table table = {.size = sizeof table, .n = ROWS, .d = 1, .dtype = MERCER_F64, .values = x};
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    assert_ok(ctx, mercer_data_make(ctx, &table, &other));
    assert_ok(ctx, mercer_kernel_parse(ctx, "linear", &kernel));
    assert_ok(ctx, mc_gram_open(ctx, kernel, data, symmetric ? NULL : other, precision, &gram));
    assert_ok(ctx, mc_gram_apply(ctx, gram, t, v, y));
    const double u = precision == MERCER_F32 ? 0x1p-24 : 0x1p-53, share = mc_gram_sum_error(gram, t);
    for (int64_t i = 0; i < ROWS * t; i++)
        assert_true(fabsl(y[i] - (long double)ROWS * v[i % t]) <= share * (long double)ROWS * v[i % t]);
    assert_true(share < 0.7 * ROWS * u); /* what follows each other is counted, not all there is */
    mc_gram_close(gram);
    mercer_kernel_free(kernel);
    mercer_data_free(other);
    mercer_data_free(data);
}

static void test_sums_are_as_wrong_as_their_longest_chain_at_most(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof isas / sizeof *isas; k++) {
        mercer_options options = mercer_options_defaults();
        mercer_ctx *ctx = NULL;
        options.isa = isas[k];
        if (mercer_open(&options, &ctx) == MERCER_OK)
            for (int variant = 0; variant < 8; variant++)
                check_sums(ctx, variant & 1 ? MERCER_F32 : MERCER_F64, variant & 2, variant & 4 ? 6 : 1);
        mercer_close(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_error_passes_the_bound_on_ugly_points),
        cmocka_unit_test(test_the_bound_of_short_sums_is_not_far_from_the_errors),
        cmocka_unit_test(test_the_bound_of_compact_functions_holds),
        cmocka_unit_test(test_the_bound_holds_for_forms),
        cmocka_unit_test(test_the_bound_holds_for_whole_numbers_of_any_unit),
        cmocka_unit_test(test_the_bound_is_a_number_where_squares_of_parameters_are_none),
        cmocka_unit_test(test_pieces_of_an_operator_of_whole_numbers_agree),
        cmocka_unit_test(test_whole_numbers_are_recognised_and_nothing_else_is),
        cmocka_unit_test(test_sums_are_as_wrong_as_their_longest_chain_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
