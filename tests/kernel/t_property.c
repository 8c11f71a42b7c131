/* Random expressions: what is proved gives positive semidefinite matrices on random points and resists the refuter;
   what is refuted has a witness that the referee confirms; values lie where the referee says. The referee (eval_long.h)
   looks at the expression as it was parsed, in extended precision and with a bound on its own error, so that neither
   simplification nor rounding is shared with what it judges.

   MERCER_TEST_ROUNDS=1000000 draws that many expressions; every one that fails is printed, with what was found. */
#include "support.h"
#include "base/rng.h"
#include "cancelling_kernel.h"
#include "eval_long.h"
#include "hostile_kernel.h"
#include "likely_kernel.h"
#include "kernel/evaluate/eval_extended.h"
#include "kernel/proof/derivation.h"
#include "kernel/proof/enclose.h"
#include "kernel/language/parse.h"
#include "kernel/proof/prove.h"
#include "kernel/proof/refute.h"
#include "random_kernel.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the referee says ---- */

enum { POINTS = 5, D_MAX = 4 };

typedef struct trial {
    const char *text;
    mc_node *parsed;       /* as written */
    mercer_kernel *kernel; /* simplified */
    int64_t d;
    bool nonnegative; /* chi2 and intersection take no negative entries */
} trial;

typedef struct tally {
    int seen[3], undecided, extended, by_frequency, findings;
} tally;

__attribute__((format(printf, 3, 4))) static void report(tally *t, const trial *a, const char *format, ...) {
    char words[400];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    print_error("%s (d = %lld) %s\n", a->text, (long long)a->d, words);
    t->findings++;
}

static bool is_known(wide a) {
    return a.v - a.v == 0 && a.e - a.e == 0;
}

/* ---- points ---- */

/* In all directions, on a line, or with zeros and equal points among them; near or far. */
static void random_points(mc_rng *rng, const trial *a, double *points) {
    const double scale = exp(2 * mc_rng_normal(rng) - 0.5), step = exp(-3 * mc_rng_uniform(rng));
    const int64_t kind = mc_rng_below(rng, 4);
    for (int64_t i = 0; i < POINTS; i++)
        for (int64_t j = 0; j < a->d; j++) {
            double *x = &points[i * a->d + j];
            *x = kind == 0 ? scale * step * (double)i * (j == 0) : scale * mc_rng_normal(rng);
            if (kind == 1 && mc_rng_below(rng, 3) == 0)
                *x = 0;
            if (kind == 2 && i > 0 && mc_rng_below(rng, 3) == 0)
                *x = points[(i - 1) * a->d + j];
            *x = a->nonnegative ? fabs(*x) : *x;
        }
}

/* ---- proved ---- */

typedef struct gram {
    wide k[POINTS][POINTS];
} gram;

static bool gram_of(const trial *a, const double *points, gram *K) {
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j <= i; j++) {
            K->k[i][j] = K->k[j][i] = eval_wide(a->parsed, points + i * a->d, points + j * a->d, a->d);
            if (!is_known(K->k[i][j]))
                return false;
        }
    return true;
}

static real size_of(real a) {
    return a < 0 ? -a : a;
}

/* One Jacobi rotation of A that clears (p, q), its tangent found in double and so clearing it but roughly; V collects
   them. */
static void rotate(real A[POINTS][POINTS], real V[POINTS][POINTS], int p, int q) {
    const double theta = (double)((A[q][q] - A[p][p]) / (2 * A[p][q]));
    const double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
    for (int i = 0; i < POINTS; i++) {
        const real a = A[i][p], b = A[i][q], u = V[i][p], v = V[i][q];
        A[i][p] = c * a - s * b;
        A[i][q] = s * a + c * b;
        V[i][p] = c * u - s * v;
        V[i][q] = s * u + c * v;
    }
    for (int i = 0; i < POINTS; i++) {
        const real a = A[p][i], b = A[q][i];
        A[p][i] = c * a - s * b;
        A[q][i] = s * a + c * b;
    }
}

/* The columns of V become directions in which the form is about as large as the eigenvalues. */
static void find_directions(const gram *K, real V[POINTS][POINTS]) {
    real A[POINTS][POINTS];
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < POINTS; j++) {
            A[i][j] = K->k[i][j].v;
            V[i][j] = i == j;
        }
    for (int sweep = 0; sweep < 6; sweep++)
        for (int p = 0; p < POINTS; p++)
            for (int q = p + 1; q < POINTS; q++)
                if (size_of(A[p][q]) > 1e-40 * (size_of(A[p][p]) + size_of(A[q][q])) && A[p][q] != 0)
                    rotate(A, V, p, q);
}

/* The form in direction w, with all that the values and this sum may be off by. */
static wide form_of(const gram *K, const real *w) {
    real sum = 0, error = 0;
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < POINTS; j++) {
            const real ww = w[i] * w[j];
            sum += ww * K->k[i][j].v;
            error += size_of(ww) * (K->k[i][j].e + 0x1p-100 * size_of(K->k[i][j].v));
        }
    return (wide){sum, error, 0};
}

static void check_proved(tally *t, const trial *a, mc_rng *rng) {
    double points[POINTS * D_MAX];
    real V[POINTS][POINTS], w[POINTS];
    gram K;
    for (int round = 0; round < 3; round++) {
        random_points(rng, a, points);
        if (!gram_of(a, points, &K))
            continue; /* overflow, or outside the domain of a function */
        find_directions(&K, V);
        for (int c = 0; c < 2 * POINTS; c++) {
            for (int i = 0; i < POINTS; i++)
                w[i] = c < POINTS ? V[i][c] : i == c - POINTS;
            const wide form = form_of(&K, w);
            if (form.v + form.e < 0) {
                report(t, a, "is proved, but a form is %.17g", (double)form.v);
                return;
            }
        }
    }
}

/* Never both: the refuter is let loose on what is proved. */
static void check_not_refuted(mercer_ctx *ctx, tally *t, const trial *a) {
    mc_refutation r = {0};
    assert_ok(ctx, mc_search_witness(ctx, a->kernel->root, a->d, MC_SEARCH_FIRST, 0.002, &r));
    if (r.found)
        report(t, a, "is proved and refuted");
    mc_refutation_close(&r);
}

static bool check_frequencies(mercer_ctx *ctx, tally *t, const trial *a, mercer_verdict verdict) {
    mc_negative_frequency f;
    assert_ok(ctx, mc_find_negative_frequency(ctx, a->kernel->root, a->d, a->d, &f));
    if (f.found && verdict == MERCER_PROVED)
        report(t, a, "is proved, but its transform at %g is %.17g", f.size, f.value);
    return f.found;
}

/* ---- refuted ---- */

static void check_refuted(tally *t, const trial *a, const mc_witness *w) {
    const wide form = form_wide(a->parsed, w->count, w->d, w->points, w->weights);
    if (!is_known(form)) {
        t->undecided++;
        return;
    }
    if (form.v - form.e >= 0)
        report(t, a, "is refuted, but the form is %.17g instead of %.17g", (double)form.v, w->value);
    else if (size_of(form.v - w->value) > (real)w->bound + form.e)
        report(t, a, "is refuted with %.17g, give or take %g, but the form is %.17g", w->value, w->bound,
               (double)form.v);
    t->undecided += form.v + form.e >= 0;
}

/* ---- values ---- */

static void check_extended(tally *t, const trial *a, const double *x, const double *z, wide k) {
    const mc_view all = {.d = a->d};
    const mc_extended v = mc_eval_extended(a->kernel->root, &all, x, z);
    if (v.error < INFINITY && size_of((real)v.value - k.v) > (real)v.error + k.e)
        report(t, a, "is %.17g, but in long double %.17g give or take %g", (double)k.v, (double)v.value,
               (double)v.error);
    t->extended += v.error < 1e-16L * (1 + fabsl(v.value));
}

static void check_values(tally *t, const trial *a, mc_rng *rng) {
    double points[POINTS * D_MAX];
    random_points(rng, a, points);
    for (int i = 1; i < 3; i++) {
        const double *x = points, *z = points + (i - 1) * a->d;
        const wide k = eval_wide(a->parsed, x, z, a->d);
        const mc_interval range = mc_enclose_kernel(a->kernel->root, x, z, a->d);
        const double value = mc_eval_kernel(a->kernel->root, x, z, a->d);
        if (!is_known(k))
            continue;
        check_extended(t, a, x, z, k);
        if (range.lo > k.v + k.e || range.hi < k.v - k.e)
            report(t, a, "is %.17g, outside of [%.17g, %.17g]", (double)k.v, range.lo, range.hi);
        if (k.f - k.f == 0 && size_of(k.f) < 1e290 && !(size_of(value - k.v) <= 4 * k.f + k.e))
            report(t, a, "is %.17g, but the evaluator says %.17g and may be off by %g", (double)k.v, value,
                   (double)k.f);
    }
}

/* ---- one expression ---- */

/* What mercer_prove does, with a search that gives up sooner: what is unknown cannot be wrong. */
static mercer_verdict prove_or_refute(mercer_ctx *ctx, const trial *a, mc_refutation *r) {
    mc_derivation derivation = {0};
    const mc_term *stuck = NULL;
    bool found = false, valid = false;
    int bad;
    assert_ok(ctx, mc_find_derivation(ctx, MC_IS_KERNEL, a->kernel->root, a->d, &derivation, &found, &stuck));
    if (found)
        assert_ok(ctx, mc_check_derivation(ctx, &derivation, MC_IS_KERNEL, a->kernel->root, a->d, &valid, &bad));
    mc_derivation_close(&derivation);
    if (valid)
        return MERCER_PROVED;
    assert_ok(ctx, mc_search_witness(ctx, a->kernel->root, a->d, MC_SEARCH_FIRST, 0.01, r));
    if (!r->found)
        assert_ok(ctx, mc_search_witness(ctx, a->kernel->root, a->d, MC_SEARCH_THEN, 0.002, r));
    return r->found ? MERCER_REFUTED : MERCER_UNKNOWN;
}

/* The public way, with more sets of points to look at, never says the opposite. */
static void check_public(mercer_ctx *ctx, tally *t, const trial *a, mercer_verdict verdict) {
    mercer_proof *proof = NULL;
    const mercer_status status = mercer_prove(ctx, a->kernel, a->d, &proof);
    if (status == MERCER_INVALID && strstr(mercer_message(ctx), "has a value at no point"))
        return;
    assert_ok(ctx, status);
    const mercer_verdict other = mercer_proof_verdict(proof);
    if (verdict != MERCER_UNKNOWN && other != MERCER_UNKNOWN && other != verdict)
        report(t, a, "is judged in two ways");
    mercer_proof_free(proof);
}

static void check(mercer_ctx *ctx, tally *t, mc_rng *rng, const char *text, int64_t d, bool public) {
    trial a = {.text = text,
               .d = d,
               .nonnegative = strstr(text, "chi2") || strstr(text, "intersection") || strstr(text, "tanimoto")
                              || strstr(text, "spline")};
    mc_refutation r = {0};
    assert_ok(ctx, mc_parse_expression(ctx, text, (mc_users){0}, &a.parsed));
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &a.kernel));
    const mercer_verdict verdict = prove_or_refute(ctx, &a, &r);
    t->seen[verdict]++;
    t->by_frequency += check_frequencies(ctx, t, &a, verdict) && verdict == MERCER_UNKNOWN;
    if (verdict == MERCER_PROVED) {
        check_proved(t, &a, rng);
        check_not_refuted(ctx, t, &a);
    } else if (verdict == MERCER_REFUTED)
        check_refuted(t, &a, &r.witness);
    check_values(t, &a, rng);
    if (public)
        check_public(ctx, t, &a, verdict);
    mc_refutation_close(&r);
    mc_node_free(a.parsed);
    mercer_kernel_free(a.kernel);
}

typedef void generator(mc_rng *rng, int64_t d, char text[RANDOM_KERNEL_SIZE]);

/* A quarter of MERCER_TEST_ROUNDS, where that is set. */
static int64_t rounds(int64_t usual) {
    const char *text = getenv("MERCER_TEST_ROUNDS");
    return text ? (atoll(text) + 3) / 4 : usual;
}

static tally run(generator *generate, uint64_t stream, int64_t usual) {
    mercer_ctx *ctx = open_ctx(1);
    const int64_t n = rounds(usual);
    tally t = {0};
    for (int64_t i = 0; i < n; i++) {
        mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, stream + (uint64_t)i);
        char text[RANDOM_KERNEL_SIZE] = "";
        const int64_t d = 2 + i % 3;
        generate(&rng, d, text);
        check(ctx, &t, &rng, text, d, i % 32 == 0);
    }
    print_message("# %lld expressions: %d proved, %d refuted (%d beyond the referee), %d unknown, %d of these refuted "
                  "by a frequency; %d values in extended precision; %d findings\n",
                  (long long)n, t.seen[0], t.seen[1], t.undecided, t.seen[2], t.by_frequency, t.extended, t.findings);
    assert_int_equal(t.findings, 0);
    close_clean(ctx);
    return t;
}

static void test_likely_kernels(void **state) {
    (void)state;
    const tally t = run(likely_kernel, 70000, 150);
    const int all = t.seen[0] + t.seen[1] + t.seen[2];
    assert_true(t.seen[MERCER_PROVED] > all / 6 && t.seen[MERCER_REFUTED] > all / 10 && t.extended > all / 10);
}

static void test_any_expressions(void **state) {
    (void)state;
    run(random_kernel, (uint64_t)1 << 40, 150);
}

static void test_hostile_numbers(void **state) {
    (void)state;
    const tally t = run(hostile_kernel, (uint64_t)2 << 40, 300);
    const int all = t.seen[0] + t.seen[1] + t.seen[2];
    assert_true(t.seen[MERCER_PROVED] > all / 10 && t.seen[MERCER_REFUTED] > all / 10 && t.undecided < all / 10);
}

static void test_cancelling_parts(void **state) {
    (void)state;
    const tally t = run(cancelling_kernel, (uint64_t)3 << 40, 200);
    const int all = t.seen[0] + t.seen[1] + t.seen[2];
    assert_true(t.seen[MERCER_PROVED] > all / 10 && t.seen[MERCER_REFUTED] > all / 10 && t.undecided < all / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_likely_kernels),
        cmocka_unit_test(test_any_expressions),
        cmocka_unit_test(test_hostile_numbers),
        cmocka_unit_test(test_cancelling_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
