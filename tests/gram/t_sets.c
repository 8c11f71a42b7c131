/* Sets of rows: the mean map against the mean over pairs, sets without rows and texts that are no sets among them; its
   derivatives against differences; what it takes. */
#include "support.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/rng.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "kernel/evaluate/row_sets.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 23, ROWS = 6, D = 3 };

typedef struct drawn_sets {
    int count[N];
    double row[N][ROWS][D];
    char text[N][ROWS * D * 30 + 8];
} drawn_sets;

/* A fifth have no rows; blanks and commas in every place they may be. */
static void draw(drawn_sets *s, uint64_t item) {
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    static const char *const between[] = {" ", ",", " , ", "\t"};
    for (int i = 0; i < N; i++) {
        char *p = s->text[i];
        s->count[i] = mc_rng_below(&rng, 5) == 0 ? 0 : 1 + (int)mc_rng_below(&rng, ROWS);
        strcpy(p, i % 2 ? " " : "");
        for (int r = 0; r < s->count[i]; r++)
            for (int j = 0; j < D; j++) {
                s->row[i][r][j] = mc_rng_normal(&rng);
                p += strlen(p);
                sprintf(p, "%s%.17g%s", j ? between[mc_rng_below(&rng, 4)] : "", s->row[i][r][j],
                        j < D - 1 || r == s->count[i] - 1 ? ""
                        : i % 3                           ? "; "
                                                          : ";");
            }
    }
    s->count[N - 1] = s->count[0]; /* twins */
    memcpy(s->row[N - 1], s->row[0], sizeof s->row[0]);
    strcpy(s->text[N - 1], s->text[0]);
}

static mercer_data *make(mercer_ctx *ctx, const char *const *text, int64_t n) {
    const char *const name[] = {"bag"};
    const mercer_table table = {.size = sizeof table, .n = n, .texts = 1, .text = text, .text_names = name};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

static mercer_data *table_of(mercer_ctx *ctx, const drawn_sets *s) {
    const char *text[N];
    for (int i = 0; i < N; i++)
        text[i] = s->text[i];
    return make(ctx, text, N);
}

static mercer_kernel *bound_to(mercer_ctx *ctx, const char *text, const mercer_data *data) {
    mercer_kernel *k = NULL, *bound = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &k));
    assert_ok(ctx, mercer_kernel_bind(ctx, k, data, &bound));
    mercer_kernel_free(k);
    return bound;
}

static double mean_over_pairs(mercer_ctx *ctx, const mercer_kernel *inner, const drawn_sets *s, int i, int j) {
    double sum = 0;
    for (int a = 0; a < s->count[i]; a++)
        for (int b = 0; b < s->count[j]; b++) {
            double v;
            assert_ok(ctx, mercer_kernel_value(ctx, inner, s->row[i][a], s->row[j][b], D, &v));
            sum += v;
        }
    return s->count[i] && s->count[j] ? sum / (s->count[i] * s->count[j]) : 0;
}

static const char *const inside[] = {"rbf(gamma=0.7)", "linear", "matern(nu=0.8, length_scale=2)[1:2]^2",
                                     "exp(0.3*linear) + laplacian(gamma=[1, 2, 0.5])", "gibbs(1 + x[2]^2)"};
enum { INSIDE = sizeof inside / sizeof inside[0] };

static void test_values_are_means_over_pairs(void **state) {
    (void)state;
    static drawn_sets s;
    static double K[N * N], S[N * N];
    draw(&s, 1);
    for (int f = 0; f < INSIDE; f++) {
        char text[128];
        mercer_ctx *ctx = open_ctx(2);
        mercer_data *data = table_of(ctx, &s);
        mercer_kernel *k, *norm, *inner = NULL;
        assert_ok(ctx, mercer_kernel_parse(ctx, inside[f], &inner));
        snprintf(text, sizeof text, "mean_map(%s)[bag]", inside[f]);
        k = bound_to(ctx, text, data);
        snprintf(text, sizeof text, "2*normalize(mean_map(%s))[bag] + 1", inside[f]);
        norm = bound_to(ctx, text, data);
        assert_ok(ctx, mercer_gram(ctx, k, data, NULL, K));
        assert_ok(ctx, mercer_gram(ctx, norm, data, NULL, S));
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                const double v = mean_over_pairs(ctx, inner, &s, i, j), root = sqrt(K[i * N + i] * K[j * N + j]);
                assert_true(fabs(K[i * N + j] - v) <= 1e-14 * (1 + root) && K[i * N + j] == K[j * N + i]);
                assert_true(root > 0 ? fabs(S[i * N + j] - 2 * v / root - 1) <= 1e-13 : S[i * N + j] == 1);
                assert_true(fabs(mc_mean_map_of_texts(k->root, s.text[i], s.text[j]) - v) <= 1e-14 * (1 + root));
            }
        assert_true(K[N - 1] == K[0] && K[N * N - 1] == K[0]);
        mercer_kernel_free(k);
        mercer_kernel_free(norm);
        mercer_kernel_free(inner);
        mercer_data_free(data);
        close_clean(ctx);
    }
}

/* Bandwidths are those of the rows of all sets. */
static void test_text_of_the_kernel(void **state) {
    (void)state;
    static const char *const text[] = {"0 0; 2 2", "", "4 4"};
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = make(ctx, text, 3);
    mercer_kernel *k = bound_to(ctx, "mean_map(rbf)", data), *again = NULL;
    assert_string_equal(mercer_kernel_text(k), "mean_map(rbf(gamma=0.1875), columns=2)[bag]"); /* variance 8/3 */
    assert_ok(ctx, mercer_kernel_parse(ctx, mercer_kernel_text(k), &again));
    assert_string_equal(mercer_kernel_text(k), mercer_kernel_text(again));
    assert_int_equal(mercer_kernel_parameters(k), 1);
    assert_string_equal(mercer_kernel_parameter_name(k, 0), "rbf.gamma");
    mercer_kernel_free(k);
    mercer_kernel_free(again);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_what_is_no_set_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {"1 2; 3",   "1 2;",  ";1 2",    "1 2;;3 4", "a b",     "1,,2",  "1 2,",
                                        "1 2 3; 4", "1 nan", "1 1e999", "1 2x",     "1e 2; 3", "1;2 3", "1 2 | 3 4"};
    static const char *const kernel[] = {"mean_map(words)[bag]",         "mean_map(rbf[a])[bag]",
                                         "mean_map(precomputed)[bag]",   "mean_map(rbf, columns=0)[bag]",
                                         "mean_map(rbf, 2)[bag]",        "mean_map()[bag]",
                                         "mean_map(mean_map(rbf))[bag]", "mean_map(rbf, columns=257)[bag]"};
    mercer_ctx *ctx = open_ctx(1);
    mercer_kernel *k = NULL, *bound = NULL;
    for (size_t i = 0; i < sizeof kernel / sizeof kernel[0]; i++)
        assert_int_equal(mercer_kernel_parse(ctx, kernel[i], &k), MERCER_SYNTAX);
    assert_ok(ctx, mercer_kernel_parse(ctx, "mean_map(tanimoto[1])[bag]", &k));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *text[] = {"5 6", wrong[i]};
        mercer_data *data = make(ctx, text, 2);
        assert_int_equal(mercer_kernel_bind(ctx, k, data, &bound), MERCER_DATA);
        assert_non_null(strstr(mercer_message(ctx), "row 2 of 'bag' is no set of rows of 2 numbers"));
        mercer_data_free(data);
    }
    const char *text[] = {"1 -1", "", "1 -3; -0.5 2"};
    static double K[9];
    mercer_data *data = make(ctx, text, 3), *empty = make(ctx, text + 1, 1);
    assert_ok(ctx, mercer_kernel_bind(ctx, k, data, &bound));
    assert_int_equal(mercer_gram(ctx, bound, data, NULL, K), MERCER_DATA);
    assert_non_null(strstr(mercer_message(ctx), "the set of row 3 has one in column 1 of its row 2"));
    assert_ok(ctx, mercer_gram(ctx, bound, empty, NULL, K)); /* to predict for, sets may be empty */
    assert_true(K[0] == 0);
    mercer_kernel_free(bound);
    assert_int_equal(mercer_kernel_bind(ctx, k, empty, &bound), MERCER_DATA);
    mercer_kernel_free(k);
    mercer_data_free(data);
    mercer_data_free(empty);
    close_clean(ctx);
}

static void test_derivatives_are_limits_of_differences(void **state) {
    (void)state;
    static drawn_sets s;
    draw(&s, 2);
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = table_of(ctx, &s);
    mercer_kernel *k = bound_to(ctx,
                                "3*normalize(mean_map(rbf(gamma=[0.4, 1, 0.7]) + 0.5*poly(degree=2, c=0.3)))[bag] + "
                                "mean_map(rq(alpha=2, length_scale=1.5))[bag]",
                                data);
    const int64_t slots = mercer_kernel_parameters(k), width = mc_data_row_width(data);
    double x[4], z[4], g[16], p[16];
    assert_true(slots >= 8 && slots <= 16 && width <= 4);
    for (int i = 0; i < N; i += 2)
        for (int j = 1; j < N; j += 3) {
            mc_data_row(data, i, x);
            mc_data_row(data, j, z);
            mc_eval_gradient(k->root, x, z, 0, g);
            for (int64_t at = 0; at < slots; at++) {
                double side[2];
                for (int way = 0; way < 2; way++) {
                    mercer_kernel *moved = NULL;
                    for (int64_t q = 0; q < slots; q++)
                        p[q] = mercer_kernel_parameter(k, q);
                    p[at] *= way ? 1 + 1e-5 : 1 - 1e-5;
                    assert_ok(ctx, mercer_kernel_with(ctx, k, p, &moved));
                    side[way] = mc_eval_kernel(moved->root, x, z, 0);
                    mercer_kernel_free(moved);
                }
                const double slope = (side[1] - side[0]) / (2e-5 * mercer_kernel_parameter(k, at));
                assert_true(fabs(g[at] - slope) <= 1e-7 * (1 + fabs(slope)));
            }
        }
    mercer_kernel_free(k);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_the_plan_holds(void **state) {
    (void)state;
    static drawn_sets s;
    static double V[2 * N], Y[2 * N], K[N * N];
    draw(&s, 3);
    for (int precision = 0; precision < 2; precision++) {
        mercer_ctx *ctx = open_ctx(2);
        mercer_data *data = table_of(ctx, &s);
        mercer_kernel *k = bound_to(ctx, "mean_map(rbf)[bag] + 0.1*words[bag]", data);
        const mercer_dtype dtype = precision ? MERCER_F64 : MERCER_F32;
        mc_gram *gram = NULL;
        const size_t before = mc_memory_left(ctx), planned = mc_gram_bytes(ctx, k, data, NULL, dtype, 2);
        mc_heap_lower(ctx->heap, mc_heap_limit(ctx->heap) - before + planned);
        for (int i = 0; i < 2 * N; i++)
            V[i] = i % 7 - 3;
        assert_ok(ctx, mc_gram_open(ctx, k, data, NULL, dtype, &gram));
        assert_ok(ctx, mc_gram_apply(ctx, gram, 2, V, Y));
        assert_ok(ctx, mc_gram_block(ctx, gram, 0, N, 0, N, MERCER_F64, K, N));
        mc_gram_close(gram);
        mercer_kernel_free(k);
        mercer_data_free(data);
        close_clean(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_means_over_pairs),
        cmocka_unit_test(test_text_of_the_kernel),
        cmocka_unit_test(test_what_is_no_set_is_refused),
        cmocka_unit_test(test_derivatives_are_limits_of_differences),
        cmocka_unit_test(test_the_plan_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
