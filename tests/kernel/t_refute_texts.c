/* Refutations by texts: they stand against the sums of the reference evaluator, and the enclosures of kernels of texts
   hold what it says of random texts. */
#include "support.h"
#include "base/rng.h"
#include "kernel/evaluate/text_features.h"
#include "kernel/proof/enclose.h"
#include <math.h>
#include <string.h>

enum { LENGTH = 12, ROUNDS = 300 };

static void draw_text(mc_rng *rng, char *text) {
    static const char letters[] = "ab c_9";
    const int64_t length = mc_rng_below(rng, LENGTH);
    for (int64_t i = 0; i < length; i++)
        text[i] = letters[mc_rng_below(rng, (int64_t)sizeof letters - 1)];
    text[length] = '\0';
}

static const mc_node *text_atom(const mercer_kernel *kernel) {
    assert_int_equal(kernel->root->kind, MC_ATOM);
    return kernel->root;
}

static void test_enclosures_hold_the_values(void **state) {
    (void)state;
    static const char *const kernels[] = {
        "words[t]",
        "spectrum(p=1)[t]",
        "spectrum(p=3)[t]",
        "spectrum(p=4, mismatches=2)[t]",
        "subsequence(p=1, decay=1, span=1)[t]",
        "subsequence(p=3, decay=0.3, span=5)[t]",
        "weighted_degree(p=1)[t]",
        "weighted_degree(p=4)[t]",
    };
    mercer_ctx *ctx = open_ctx(1);
    const uint64_t seed = test_seed();
    int equal = 0;
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        mercer_kernel *kernel = NULL;
        assert_ok(ctx, mercer_kernel_parse(ctx, kernels[k], &kernel));
        for (uint64_t round = 0; round < ROUNDS; round++) {
            mc_rng rng = mc_rng_at(seed, MC_STREAM_TEST, round);
            char x[LENGTH + 1], z[LENGTH + 1];
            draw_text(&rng, x);
            draw_text(&rng, z);
            const double value = mc_text_value(text_atom(kernel), x, z);
            const mc_interval found = mc_enclose_texts(text_atom(kernel), x, z);
            if (!(found.lo <= value * (1 + 1e-13) && value * (1 - 1e-13) <= found.hi
                  && found.hi - found.lo <= 1e-12 * value))
                fail_msg("%s of '%s' and '%s': %.17g not in [%.17g, %.17g]", kernels[k], x, z, value, found.lo,
                         found.hi);
            equal += value > 0;
        }
        mercer_kernel_free(kernel);
    }
    assert_true(equal > 300);
    close_clean(ctx);
}

/* sum w_i w_j k(x_i, x_j) from the definition, for an expression of one text column and no numbers. */
static double form_of(const mercer_witness *w, double value(const char *, const char *)) {
    double sum = 0;
    for (int64_t i = 0; i < w->count; i++)
        for (int64_t j = 0; j < w->count; j++)
            sum += w->weights[i] * w->weights[j] * value(w->text[i], w->text[j]);
    return sum;
}

static double count_equal(const char *x, const char *z, int64_t p) {
    double sum = 0;
    for (; strlen(x) >= (size_t)p; x++)
        for (const char *c = z; strlen(c) >= (size_t)p; c++)
            sum += strncmp(x, c, (size_t)p) == 0;
    return sum;
}

static double pairs_without_triples(const char *x, const char *z) {
    return count_equal(x, z, 2) - count_equal(x, z, 3);
}

static double minus_square(const char *x, const char *z) {
    return 2 * count_equal(x, z, 1) - pow(count_equal(x, z, 1), 2);
}

static void test_witnesses_of_texts_add_up(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        double (*value)(const char *, const char *);
    } cases[] = {{"spectrum(p=2)[t] - spectrum(p=3)[t]", pairs_without_triples},
                 {"2*spectrum(p=1)[t] - spectrum(p=1)[t]^2", minus_square}};
    mercer_ctx *ctx = open_ctx(1);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        mercer_kernel *kernel = NULL;
        mercer_proof *proof = NULL;
        assert_ok(ctx, mercer_kernel_parse(ctx, cases[k].kernel, &kernel));
        assert_ok(ctx, mercer_prove(ctx, kernel, 0, &proof));
        const mercer_witness *w = mercer_proof_witness(proof);
        if (!w)
            fail_msg("%s was not refuted", cases[k].kernel);
        assert_int_equal(w->texts, 1);
        assert_string_equal(w->text_column[0], "t");
        assert_true(fabs(form_of(w, cases[k].value) - w->value) <= w->bound + 1e-12);
        assert_non_null(strstr(mercer_proof_text(proof), "\""));
        mercer_proof_free(proof);
        mercer_kernel_free(kernel);
    }
    close_clean(ctx);
}

/* What is one, or has more columns of texts than are tried, is not refuted. */
static void test_kernels_of_texts_are_not_refuted(void **state) {
    (void)state;
    static const char *const kernels[] = {"normalize(spectrum(p=2)[t])*rbf(gamma=1)[age]",
                                          "words[a] + words[b] + words[c] + words[d] - 0.5*words[e]"};
    mercer_ctx *ctx = open_ctx(1);
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        mercer_kernel *kernel = NULL;
        mercer_proof *proof = NULL;
        assert_ok(ctx, mercer_kernel_parse(ctx, kernels[k], &kernel));
        assert_ok(ctx, mercer_prove(ctx, kernel, 0, &proof));
        assert_int_equal(mercer_proof_verdict(proof), k == 0 ? MERCER_PROVED : MERCER_UNKNOWN);
        assert_null(mercer_proof_witness(proof));
        mercer_proof_free(proof);
        mercer_kernel_free(kernel);
    }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enclosures_hold_the_values),
        cmocka_unit_test(test_witnesses_of_texts_add_up),
        cmocka_unit_test(test_kernels_of_texts_are_not_refuted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
