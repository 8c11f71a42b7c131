/* Random expressions: what is proved gives positive semidefinite matrices on random points and resists the refuter; what is refuted has a
   witness that the referee confirms. */
#include "support.h"
#include "base/rng.h"
#include "eval_long.h"
#include "kernel/refute.h"
#include "random_kernel.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- expressions that are kernels more often than not ------------------------------------------------------------------------ */

typedef struct writer {
    mc_rng *rng;
    char *text;
    size_t length;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    w->length += (size_t)vsnprintf(w->text + w->length, RANDOM_KERNEL_SIZE - w->length, format, args);
    va_end(args);
}

static int64_t below(writer *w, int64_t n) {
    return mc_rng_below(w->rng, n);
}

static double size(writer *w) {
    static const double nice[] = {1, 2, 0.5, 0.25, 3, 0.1};
    return below(w, 4) ? nice[below(w, 6)] : nearbyint(1000 * exp(mc_rng_normal(w->rng))) / 1000 + 0.001;
}

static void atom(writer *w) {
    static const char *const bare[] = {"linear", "cosine", "chi2", "intersection", "arccos", "arccos(order=0)", "white", "linear"};
    static const char *const wide[] = {"rbf(gamma=%g)", "laplacian(gamma=%g)", "exponential(gamma=%g)", "matern(nu=1.5, length_scale=%g)",
                                       "matern(nu=2.5, length_scale=%g)", "rq(alpha=0.7, length_scale=%g)", "periodic(period=%g)",
                                       "rbf(gamma=%g)", "rbf(gamma=%g)[1]", "poly(degree=2, c=%g)", "poly(degree=3, gamma=%g)"};
    if (below(w, 2))
        put(w, "%s", bare[below(w, 8)]);
    else {
        char format[64];
        strcpy(format, wide[below(w, 11)]);
        char *place = strstr(format, "%g");
        *place = '\0';
        put(w, "%s%g%s", format, size(w), place + 2);
    }
}

static void expression(writer *w, int depth);

static void call(writer *w, const char *before, int depth, const char *after) {
    put(w, "%s", before);
    expression(w, depth);
    put(w, "%s", after);
}

static void part(writer *w, int depth) {
    switch (depth ? below(w, 9) : 0) {
    case 1: call(w, "exp(0.1*(", depth - 1, "))"); break;
    case 2: call(w, "normalize(", depth - 1, ")"); break;
    case 3: call(w, "weigh(cos(x[2]), ", depth - 1, ")"); break;
    case 4: call(w, "(", depth - 1, ")^2"); break;
    case 5: call(w, "(", depth - 1, ")[1, 2]"); break;
    case 6: call(w, "(", depth - 1, below(w, 4) ? ")" : ")^0.5"); break;
    case 7: call(w, "exp(", depth - 1, " - 1)"); break;
    default: atom(w);
    }
}

static void expression(writer *w, int depth) {
    const int64_t parts = 1 + below(w, 3);
    for (int64_t i = 0; i < parts; i++) {
        put(w, "%s", i == 0 ? "" : below(w, 6) == 0 ? " - " : below(w, 2) ? " + " : "*");
        if (below(w, 3) == 0)
            put(w, "%g*", size(w));
        part(w, depth);
    }
}

/* ---- the two verdicts --------------------------------------------------------------------------------------------------------- */

enum { POINTS = 12 };

static void random_points(mc_rng *rng, int64_t d, double *points) {
    const double scale = exp(0.7 * mc_rng_normal(rng) - 0.5);
    for (int64_t i = 0; i < POINTS * d; i++)
        points[i] = fabs(scale * mc_rng_normal(rng)); /* chi2 and intersection take no negative entries */
}

static void check_proved(const char *text, const mc_node *root, int64_t d, mc_rng *rng) {
    double points[POINTS * 4], K[POINTS * POINTS], vector[POINTS];
    for (int trial = 0; trial < 3; trial++) {
        random_points(rng, d, points);
        if (!mc_witness_gram(root, POINTS, d, points, K))
            return; /* overflow, or outside the domain of a function */
        const double least = mc_smallest_eigenvalue(K, POINTS, vector);
        if (least < -1e-9)
            fail_msg("%s is proved but has an eigenvalue of %g times the largest", text, least);
    }
}

/* Never both: the refuter's first part is let loose on what is proved. */
static void check_not_refuted(mercer_ctx *ctx, const char *text, const mc_node *root, int64_t d) {
    mc_refutation r = {0};
    assert_ok(ctx, mc_search(ctx, root, d, MC_SEARCH_FIRST, 0.01, &r));
    assert_ok(ctx, r.found ? MERCER_OK : mc_search(ctx, root, d, MC_SEARCH_THEN, 0.01, &r));
    if (r.found)
        fail_msg("%s is proved and refuted", text);
    mc_refutation_close(&r);
}

static void check_refuted(const char *text, const mc_node *root, const mercer_witness *w) {
    const long double form = form_long(root, w);
    if (!isnan(form) && !(form < 0)) /* NaN: the referee met infinity - infinity on the way */
        fail_msg("%s is refuted but the referee finds %.20Lg instead of %.17g", text, form, w->value);
}

static int check(mercer_ctx *ctx, mc_rng *rng, const char *text, int64_t d) {
    mercer_kernel *kernel = NULL;
    mercer_proof *proof = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
    assert_ok(ctx, mercer_prove(ctx, kernel, d, &proof));
    const mercer_verdict verdict = mercer_proof_verdict(proof);
    if (verdict == MERCER_PROVED) {
        check_proved(text, kernel->root, d, rng);
        check_not_refuted(ctx, text, kernel->root, d);
    } else if (verdict == MERCER_REFUTED)
        check_refuted(text, kernel->root, mercer_proof_witness(proof));
    mercer_proof_free(proof);
    mercer_kernel_free(kernel);
    return (int)verdict;
}

static int rounds(int usual) {
    const char *text = getenv("MERCER_TEST_ROUNDS");
    return text ? atoi(text) : usual;
}

static void test_likely_kernels(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    int seen[3] = {0};
    const int n = rounds(150);
    for (int i = 0; i < n; i++) {
        mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 70000 + (uint64_t)i);
        char text[RANDOM_KERNEL_SIZE] = "";
        writer w = {&rng, text, 0};
        expression(&w, 2);
        seen[check(ctx, &rng, text, 2 + i % 3)]++;
    }
    print_message("# %d proved, %d refuted, %d unknown\n", seen[0], seen[1], seen[2]);
    assert_true(seen[MERCER_PROVED] > n / 3 && seen[MERCER_REFUTED] > n / 10);
    close_clean(ctx);
}

static void test_any_expressions(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    int seen[3] = {0};
    const int n = rounds(100);
    for (int i = 0; i < n; i++) {
        mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 90000 + (uint64_t)i);
        char text[RANDOM_KERNEL_SIZE] = "";
        random_kernel(&rng, 2 + i % 3, text);
        seen[check(ctx, &rng, text, 2 + i % 3)]++;
    }
    print_message("# %d proved, %d refuted, %d unknown\n", seen[0], seen[1], seen[2]);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_likely_kernels),
        cmocka_unit_test(test_any_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
