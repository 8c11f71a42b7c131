/* Texts as points: values, diagonals and normalised values against the definition, of texts that are empty, short,
   repeated, longer than what the reference evaluator counts at a time, and alike at both ends; and what it takes. */
#include "support.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/rng.h"
#include "gram/operator/operator_state.h"
#include "kernel/evaluate/text_features.h"
#include "kernel/evaluate/text_rows.h"
#include "kernel/language/kernel.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 29, M = 13 };

typedef struct texts {
    int64_t n;
    char *text[N];
} texts;

/* Few letters, so that parts are shared; a tenth are long, a tenth the same in a loop, some are another text again. */
static char *draw_text(mc_rng *rng, int64_t i, const texts *before) {
    static const char *const letters[] = {"a", "b", "\xc3\xa9", "a", "ab"};
    const int64_t kind = mc_rng_below(rng, 10), length = kind == 0   ? 1500 + mc_rng_below(rng, 1500)
                                                         : kind == 1 ? mc_rng_below(rng, 4)
                                                                     : mc_rng_below(rng, 120);
    char *out = calloc((size_t)length + 8, 1);
    if (kind == 2 && i > 0) {
        free(out);
        const char *twin = before->text[mc_rng_below(rng, i)];
        return memcpy(malloc(strlen(twin) + 1), twin, strlen(twin) + 1);
    }
    for (int64_t at = 0; at < length;) {
        const char *letter = kind == 3 ? letters[at / 40 % 2] : letters[mc_rng_below(rng, 5)];
        strcpy(out + at, letter);
        at += (int64_t)strlen(letter);
    }
    return out;
}

static texts draw(int64_t n, uint64_t item) {
    texts t = {.n = n};
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    for (int64_t i = 0; i < n; i++)
        t.text[i] = draw_text(&rng, i, &t);
    free(t.text[n / 2]);
    t.text[n / 2] = memset(calloc(1401, 1), 'b', 1400); /* one is long in every draw */
    return t;
}

static void discard(texts *t) {
    for (int64_t i = 0; i < t->n; i++)
        free(t->text[i]);
}

static mercer_data *make(mercer_ctx *ctx, const texts *t) {
    const char *const name[] = {"word"};
    const mercer_table table = {
        .size = sizeof table, .n = t->n, .texts = 1, .text = (const char *const *)t->text, .text_names = name};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

/* By the definition: over the parts of x, how often each occurs in z. */
static double shared_parts(const char *x, const char *z, size_t p) {
    double sum = 0;
    const size_t nx = strlen(x), nz = strlen(z);
    for (size_t i = 0; i + p <= nx; i++)
        for (size_t j = 0; j + p <= nz; j++)
            sum += x[i] == z[j] && memcmp(x + i, z + j, p) == 0;
    return sum;
}

static mercer_kernel *bound_to(mercer_ctx *ctx, const char *form, int p, const mercer_data *data) {
    char text[128];
    mercer_kernel *k = NULL, *bound = NULL;
    snprintf(text, sizeof text, form, p);
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &k));
    assert_ok(ctx, mercer_kernel_bind(ctx, k, data, &bound));
    mercer_kernel_free(k);
    return bound;
}

static const int lengths[] = {1, 2, 3, 8, 9, 16, 40, 1200};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

static void test_values_are_those_of_the_definition(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    texts x = draw(N, 1), z = draw(M, 2);
    mercer_data *dx = make(ctx, &x), *dz = make(ctx, &z);
    static double K[N * N], S[N * N];
    for (int l = 0; l < LENGTHS; l++) {
        const size_t p = (size_t)lengths[l];
        mercer_kernel *k = bound_to(ctx, "spectrum(p=%d)[word]", lengths[l], dx),
                      *norm = bound_to(ctx, "normalize(spectrum(p=%d)[word])", lengths[l], dx);
        assert_ok(ctx, mercer_gram(ctx, k, dx, NULL, K));
        assert_ok(ctx, mercer_gram(ctx, norm, dx, NULL, S));
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                const double self = K[i * N + i] * K[j * N + j];
                assert_true(K[i * N + j] == K[j * N + i]);
                assert_true(j > i || !test_takes(i * N + j) || K[i * N + j] == shared_parts(x.text[i], x.text[j], p));
                assert_true(self > 0 ? fabs(S[i * N + j] - K[i * N + j] / sqrt(self)) <= 1e-14 : S[i * N + j] == 0);
            }
        assert_ok(ctx, mercer_gram(ctx, k, dz, dx, K));
        for (int i = 0; i < M * N; i++)
            assert_true(!test_takes(i) || K[i] == shared_parts(z.text[i / N], x.text[i % N], p));
        mercer_kernel_free(k);
        mercer_kernel_free(norm);
    }
    mercer_data_free(dx);
    mercer_data_free(dz);
    discard(&x);
    discard(&z);
    close_clean(ctx);
}

/* By pairs of places, which share no code with the features. */
static void test_features_give_the_values_of_the_definition(void **state) {
    (void)state;
    static const char *const forms[] = {"spectrum(p=4, mismatches=2)[word]",
                                        "spectrum(p=9, mismatches=1)[word]",
                                        "subsequence(p=3, decay=0.6, span=7)[word]",
                                        "subsequence(p=1, span=1)[word]",
                                        "weighted_degree(p=5)[word]",
                                        "weighted_degree(p=8)[word]",
                                        "weighted_degree(p=1)[word]",
                                        "words[word]",
                                        "tfidf[word]"};
    mercer_ctx *ctx = open_ctx(2);
    texts x = draw(N, 8);
    x.text[N / 2][300] = '\0'; /* the definition takes its time over long texts */
    mercer_data *data = make(ctx, &x);
    static double K[N * N];
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        mercer_kernel *k = bound_to(ctx, forms[f], 0, data);
        assert_ok(ctx, mercer_gram(ctx, k, data, NULL, K));
        for (int i = 0; i < N; i++)
            for (int j = 0; j <= i; j++) {
                if (strlen(x.text[i]) + strlen(x.text[j]) > 400 && k->root->atom != MC_WEIGHTED_DEGREE)
                    continue;
                const double exact = mc_text_value(k->root, x.text[i], x.text[j]);
                /* of one letter 300 times some 4,500 values fall on one feature */
                assert_true(fabs(K[i * N + j] - exact) <= 1e-12 * sqrt(K[i * N + i] * K[j * N + j]));
                assert_true(K[i * N + j] == K[j * N + i]);
            }
        mercer_kernel_free(k);
    }
    mercer_data_free(data);
    discard(&x);
    close_clean(ctx);
}

/* Columns lent by the operator of all rows are those of a new one, bit for bit. */
static void test_columns_are_lent(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    texts x = draw(N, 3);
    mercer_data *data = make(ctx, &x);
    mercer_kernel *k = bound_to(ctx, "normalize(spectrum(p=%d)[word]) + 0.5", 3, data);
    const int64_t ids[] = {0, 3, 4, 11, 12, 13, 14, 20, N - 2, N - 1};
    enum { COUNT = sizeof ids / sizeof ids[0] };
    static double K[N * N], C[N * COUNT];
    mc_gram *whole = NULL, *some = NULL;
    for (int precision = 0; precision < 2; precision++) {
        const mercer_dtype dtype = precision ? MERCER_F64 : MERCER_F32;
        assert_ok(ctx, mc_gram_open(ctx, k, data, NULL, dtype, &whole));
        assert_ok(ctx, mc_gram_open_columns(ctx, whole, ids, COUNT, &some));
        assert_ok(ctx, mc_gram_block(ctx, whole, 0, N, 0, N, MERCER_F64, K, N));
        assert_ok(ctx, mc_gram_block(ctx, some, 0, N, 0, COUNT, MERCER_F64, C, COUNT));
        for (int i = 0; i < N; i++)
            for (int j = 0; j < COUNT; j++)
                assert_true(C[i * COUNT + j] == K[i * N + ids[j]] || i == ids[j]);
        mc_gram_close(some);
        mc_gram_close(whole);
    }
    mercer_kernel_free(k);
    mercer_data_free(data);
    discard(&x);
    close_clean(ctx);
}

/* Rows that a problem numbered give the values of an operator that numbers its own, for all of them and for any that
   are taken out, one twice, in any order; and again when they are gone. */
static void check_taken(mercer_ctx *ctx, const mercer_kernel *k, const mercer_data *with, const mercer_data *without) {
    static const int64_t ids[] = {20, 3, 3, N - 1, 0, 7, 11, 25};
    enum { COUNT = sizeof ids / sizeof ids[0] };
    static double K[2][N * N];
    mercer_data *some[2] = {NULL, NULL};
    const mercer_data *whole[2] = {without, with};
    for (int s = 0; s < 2; s++) {
        assert_ok(ctx, mc_data_take(ctx, whole[s], ids, COUNT, &some[s]));
        assert_ok(ctx, mercer_gram(ctx, k, some[s], NULL, K[s]));
    }
    for (int i = 0; i < COUNT * COUNT; i++)
        assert_true(fabs(K[0][i] - K[1][i])
                    <= 1e-12 * sqrt(K[0][i / COUNT * (COUNT + 1)] * K[0][i % COUNT * (COUNT + 1)]));
    for (int i = 0; i < COUNT * COUNT; i++)
        assert_true(K[1][i] == K[1][i % COUNT * COUNT + i / COUNT]);
    double *self = calloc(N, sizeof *self);
    assert_ok(ctx, mc_kernel_diagonal(ctx, k, with, self));
    for (int s = 0; s < 2; s++)
        assert_ok(ctx, mercer_gram(ctx, k, some[s], whole[1], K[s]));
    for (int i = 0; i < COUNT * N; i++)
        assert_true(fabs(K[0][i] - K[1][i]) <= 1e-12 * sqrt(self[ids[i / N]] * self[i % N]));
    free(self);
    mercer_data_free(some[0]);
    mercer_data_free(some[1]);
}

static void test_rows_of_a_problem_are_shared(void **state) {
    (void)state;
    static const char *const forms[] = {
        "spectrum(p=%d)[word]", "normalize(spectrum(p=12)[word]) + spectrum(p=%d)[word]",
        "normalize(subsequence(p=%d, decay=0.7)[word]) + words[word]", "normalize(tfidf[word]) + spectrum(p=%d)[word]",
        "spectrum(p=%d, mismatches=1)[word] + normalize(weighted_degree(p=4)[word])"};
    texts x = draw(N, 11);
    for (int f = 0; f < (int)(sizeof forms / sizeof forms[0]); f++) {
        mercer_ctx *ctx = open_ctx(3);
        mercer_data *with = make(ctx, &x), *without = make(ctx, &x), *later = NULL;
        mercer_kernel *k = bound_to(ctx, forms[f], 3, with);
        assert_ok(ctx, mc_text_rows_attach(ctx, k->root, with));
        assert_non_null(with->attached);
        check_taken(ctx, k, with, without);
        assert_ok(ctx, mc_data_range(ctx, with, 5, N, &later));
        mc_text_rows_detach(with);
        check_taken(ctx, k, with, without);
        mercer_data_free(with);
        static double K[N * N];
        assert_ok(ctx, mercer_gram(ctx, k, later, NULL, K)); /* taken from a table that is gone */
        mercer_data_free(later);
        mercer_data_free(without);
        mercer_kernel_free(k);
        close_clean(ctx);
    }
    discard(&x);
}

/* Products through the coordinates are within what the operator says of them, and the same bits on any number of
   threads. */
static void check_product(mercer_ctx *ctx, const mc_gram *gram, const double *K, int64_t m, int64_t t, double *Y) {
    static double V[N * 9];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 77 + (uint64_t)t);
    const double entry = mc_gram_entry_error(gram), sum = mc_gram_sum_error(gram, t);
    for (int64_t j = 0; j < m * t; j++)
        V[j] = mc_rng_normal(&rng) * exp(3 * mc_rng_normal(&rng));
    assert_ok(ctx, mc_gram_apply(ctx, gram, t, V, Y));
    for (int64_t i = 0; i < N; i++)
        for (int64_t c = 0; c < t; c++) {
            long double exact = 0, all = 0, mass = 0;
            for (int64_t j = 0; j < m; j++) {
                exact += (long double)K[i * m + j] * V[j * t + c];
                all += fabsl((long double)K[i * m + j] * V[j * t + c]);
                mass += fabs(V[j * t + c]);
            }
            assert_true(fabsl(Y[i * t + c] - exact) <= 2 * (1 + sum) * entry * mass + 1.01 * sum * all);
        }
}

static void test_products_go_through_the_coordinates(void **state) {
    (void)state;
    static const char *const forms[] = {"spectrum(p=%d)[word]",
                                        "3*normalize(2*spectrum(p=%d)[word]) + spectrum(p=2)[word]",
                                        "normalize(spectrum(p=%d)[word]) + 0.25",
                                        "subsequence(p=%d, decay=0.7)[word] + normalize(tfidf[word])",
                                        "spectrum(p=%d, mismatches=1)[word] + 2*weighted_degree(p=4)[word]",
                                        "spectrum(p=%d)[word]^2"};
    enum { FORMS = sizeof forms / sizeof forms[0] };
    static double K[N * N], Y[2][N * 9];
    static const int threads[] = {1, 2, 3, 7};
    texts x = draw(N, 6), z = draw(M, 7);
    for (int f = 0; f < FORMS; f++)
        for (int variant = 0; variant < 4; variant++)
            for (int k = 0; k < 4; k++) {
                mercer_ctx *ctx = open_ctx(threads[k]);
                mercer_data *dx = make(ctx, &x), *dz = variant & 1 ? make(ctx, &z) : NULL;
                mercer_kernel *kernel = bound_to(ctx, forms[f], 3, dx);
                const int64_t m = dz ? M : N;
                mc_gram *gram = NULL;
                assert_ok(ctx, mc_gram_open(ctx, kernel, dx, dz, variant & 2 ? MERCER_F32 : MERCER_F64, &gram));
                assert_ok(ctx, mc_gram_block(ctx, gram, 0, N, 0, m, MERCER_F64, K, m));
                assert_int_equal(gram->factored.terms > 0, f < FORMS - 1);
                for (int64_t t = 1; t <= 9; t += 4) {
                    check_product(ctx, gram, K, m, t, Y[k > 0]);
                    if (t == 9 && k > 0)
                        assert_memory_equal(Y[0], Y[1], sizeof Y[0]);
                }
                mc_gram_close(gram);
                mercer_kernel_free(kernel);
                mercer_data_free(dx);
                mercer_data_free(dz);
                close_clean(ctx);
            }
    discard(&x);
    discard(&z);
}

/* The weights go through the text of the kernel, bit by bit; what tfidf would not print is refused. */
static void test_weights_of_words(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "tfidf(texts=3, words=\"b:1 a:1\")", "tfidf(texts=3, words=\"a:1 a:1\")", "tfidf(texts=3, words=\"a:4\")",
        "tfidf(texts=3, words=\"a:0\")",     "tfidf(texts=3, words=\"a:1 \")",    "tfidf(texts=3, words=\"a\")",
        "tfidf(texts=3, words=\"a:1,b:1\")", "tfidf(texts=2.5, words=\"a:1\")",   "tfidf(texts=3)",
        "tfidf(words=\"a:1\", texts=3)",     "tfidf(texts=3, words=a)",           "tfidf(3)"};
    mercer_ctx *ctx = open_ctx(1);
    mercer_kernel *k = NULL, *again = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(mercer_kernel_parse(ctx, wrong[i], &k), MERCER_SYNTAX);
    char *list[] = {"the cat, the dog", "", "a dog \xc3\xa9 do", "the_end"};
    texts x = {.n = 4};
    memcpy(x.text, list, sizeof list);
    mercer_data *data = make(ctx, &x);
    k = bound_to(ctx, "tfidf", 0, data);
    assert_string_equal(mercer_kernel_text(k),
                        "tfidf(texts=4, words=\"a:1 cat:1 do:1 dog:2 the:1 the_end:1 \xc3\xa9:1\")[word]");
    assert_ok(ctx, mercer_kernel_parse(ctx, mercer_kernel_text(k), &again));
    assert_string_equal(mercer_kernel_text(k), mercer_kernel_text(again));
    mc_node *node = again->root;
    const double rare = 1 + log(5. / 2), dog = 1 + log(5. / 3);
    assert_true(mc_text_value(node, list[0], list[0]) == 4 * rare * rare + rare * rare + dog * dog);
    assert_true(mc_text_value(node, "dog cow", "cow dog") == dog * dog);
    assert_true(mc_text_value(k->root, list[0], list[2]) == dog * dog);
    mercer_kernel_free(k);
    mercer_kernel_free(again);
    mercer_data_free(data);
    close_clean(ctx);
}

/* What the planner counts on is never less than what is taken. */
static void test_the_plan_holds(void **state) {
    (void)state;
    static const char *const forms[] = {
        "spectrum(p=%d)[word]", "normalize(spectrum(p=%d)[word]) + 2*spectrum(p=5)[word]",
        "normalize(subsequence(p=3, span=9)[word]) + spectrum(p=%d)[word]",
        "normalize(words[word] + tfidf[word] + spectrum(p=5, mismatches=2)[word])*spectrum(p=%d)[word]",
        "weighted_degree(p=8)[word] + spectrum(p=%d)[word]"};
    texts x = draw(N, 4), z = draw(M, 5);
    for (int f = 0; f < (int)(sizeof forms / sizeof forms[0]); f++)
        for (int l = 0; l < LENGTHS; l++)
            for (int precision = 0; precision < 2; precision++) {
                mercer_ctx *ctx = open_ctx(3);
                const mercer_dtype dtype = precision ? MERCER_F64 : MERCER_F32;
                mercer_data *dx = make(ctx, &x), *dz = make(ctx, &z);
                mercer_kernel *k = bound_to(ctx, forms[f], lengths[l], dx);
                static double V[2 * N], Y[2 * N], K[N * N];
                mc_gram *gram = NULL;
                const size_t before = mc_memory_left(ctx);
                const size_t planned = mc_gram_bytes(ctx, k, dx, f ? dz : NULL, dtype, 2);
                mc_heap_lower(ctx->heap, mc_heap_limit(ctx->heap) - before + planned);
                for (int i = 0; i < 2 * N; i++)
                    V[i] = i % 7 - 3;
                assert_ok(ctx, mc_gram_open(ctx, k, dx, f ? dz : NULL, dtype, &gram));
                assert_ok(ctx, mc_gram_apply(ctx, gram, 2, V, Y));
                assert_ok(ctx, mc_gram_block(ctx, gram, 0, N, 0, f ? M : N, MERCER_F64, K, N));
                mc_gram_close(gram);
                mercer_kernel_free(k);
                mercer_data_free(dx);
                mercer_data_free(dz);
                close_clean(ctx);
            }
    discard(&x);
    discard(&z);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_those_of_the_definition),
        cmocka_unit_test(test_features_give_the_values_of_the_definition),
        cmocka_unit_test(test_columns_are_lent),
        cmocka_unit_test(test_rows_of_a_problem_are_shared),
        cmocka_unit_test(test_products_go_through_the_coordinates),
        cmocka_unit_test(test_weights_of_words),
        cmocka_unit_test(test_the_plan_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
