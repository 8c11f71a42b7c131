/* The logistic loss in vectors, of every instruction set of this machine, against its definition in long double. */
#include "backend/dispatch_qp.h"
#include "base/rng.h"
#include "support.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST = 70, CLASSES = 21 };

typedef struct rows {
    int64_t n, k;
    double f[MOST * CLASSES], b[CLASSES], shift[MOST * CLASSES], y[MOST], cost[MOST], alpha[MOST * CLASSES], lambda;
} rows;

/* Arguments of all sizes, among them equal ones. Coefficients are those of shares, some of them 0 or 1. */
static void draw(uint64_t item, rows *r) {
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    const double size = pow(10, -3 + 5.5 * mc_rng_uniform(&rng));
    r->n = 1 + mc_rng_below(&rng, MOST);
    r->k = item % 2 ? 1 : 3 + mc_rng_below(&rng, CLASSES - 2);
    r->lambda = pow(10, 4 * mc_rng_uniform(&rng) - 2);
    for (int64_t j = 0; j < r->k; j++)
        r->b[j] = mc_rng_normal(&rng);
    for (int64_t i = 0; i < r->n; i++) {
        r->cost[i] = 0.1 + mc_rng_uniform(&rng);
        r->y[i] = r->k > 1 ? (double)mc_rng_below(&rng, r->k) : mc_rng_below(&rng, 2) ? 1 : -1;
        double left = item % 3 ? mc_rng_uniform(&rng) : 1;
        for (int64_t j = 0; j < r->k; j++) {
            const int64_t at = i * r->k + j;
            r->f[at] = mc_rng_below(&rng, 4) ? size * mc_rng_normal(&rng) : -r->b[j];
            r->shift[at] = mc_rng_below(&rng, 4) ? mc_rng_normal(&rng) : 0;
            const double share = r->k == 1 || j == r->k - 1 ? left : left * mc_rng_uniform(&rng);
            left -= share;
            r->alpha[at] = (r->k == 1 ? r->y[i] : -1) * share * r->cost[i] / r->lambda;
        }
        if (r->k > 1) {
            double *own = &r->alpha[i * r->k + (int64_t)r->y[i]];
            *own = 0;
            for (int64_t j = 0; j < r->k; j++)
                *own -= &r->alpha[i * r->k + j] == own ? 0 : r->alpha[i * r->k + j];
        }
    }
}

static long double argument(const rows *r, bool shifted, int64_t i, int64_t j) {
    return (long double)r->f[i * r->k + j] + r->b[j] + (shifted ? r->shift[i * r->k + j] : 0);
}

/* Of two classes the functions F and 0, the first of y = 1. */
static int64_t width(const rows *r) {
    return r->k > 1 ? r->k : 2;
}

static long double column(const rows *r, bool shifted, int64_t i, int64_t j) {
    return r->k > 1 ? argument(r, shifted, i, j) : j == 0 ? argument(r, shifted, i, 0) : 0;
}

static int64_t own_of(const rows *r, int64_t i) {
    return r->k > 1 ? (int64_t)r->y[i] : r->y[i] > 0 ? 0 : 1;
}

/* Loss of a row, and the shares of the classes. */
static long double loss_of(const rows *r, bool shifted, int64_t i, long double *share) {
    const int64_t own = own_of(r, i);
    long double others = 0;
    for (int64_t j = 0; j < width(r); j++) {
        long double sum = 0;
        for (int64_t l = 0; l < width(r); l++)
            sum += expl(column(r, shifted, i, l) - column(r, shifted, i, j));
        share[j] = 1 / sum;
        others += j == own ? 0 : expl(column(r, shifted, i, j) - column(r, shifted, i, own));
    }
    return log1pl(others);
}

static void assert_near(const char *what, int isa, double is, long double wanted, long double size) {
    if (!(fabsl(is - wanted) <= 64 * DBL_EPSILON * size + 1e-290)) /* roots of less have fewer digits */
        fail_msg("%s, instruction set %d: %.17g is not %.17Lg", what, isa, is, wanted);
}

static void check_primal(const rows *r, int isa, const mc_loss_body *body, bool shifted) {
    static double g[MOST * CLASSES], root[MOST * CLASSES];
    const mc_loss_rows all = {r->n, r->k, r->f, r->b, shifted ? r->shift : NULL, r->y, r->cost};
    long double sum = 0, size = 0, share[CLASSES];
    (r->k > 1 ? body->softmax_slopes : body->logistic_slopes)(&all, g, root);
    for (int64_t i = 0; i < r->n; i++) {
        const long double loss = loss_of(r, shifted, i, share), cost = r->cost[i];
        long double reach = 1;
        for (int64_t j = 0; j < width(r); j++)
            reach = fmaxl(reach, fabsl(column(r, shifted, i, j)));
        sum += cost * loss;
        size += cost * loss * reach;
        for (int64_t j = 0; j < r->k; j++) {
            const bool own = j == own_of(r, i);
            long double others = 0;
            for (int64_t l = 0; l < width(r); l++)
                others += l == own_of(r, i) ? 0 : share[l];
            const long double slope = r->k > 1 ? (own ? -others : share[j]) : -r->y[i] * others;
            const long double mass = r->k > 1 ? share[j] : share[0] * share[1];
            assert_near("slope", isa, g[i * r->k + j], cost * slope, fabsl(cost * slope) * reach);
            assert_near("root", isa, root[i * r->k + j] * root[i * r->k + j], cost * mass, cost * mass * reach);
        }
    }
    assert_near("sum", isa, (r->k > 1 ? body->softmax_sum : body->logistic_sum)(&all), sum, size);
}

static long double entropy(long double q) {
    return q > 0 ? q * logl(q) : 0;
}

static void check_dual(const rows *r, int isa, const mc_loss_body *body) {
    const mc_loss_dual all = {r->n, r->k, r->alpha, r->y, r->cost, r->lambda};
    long double sum = 0, size = 0;
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t j = 0; j < r->k; j++) {
            const long double q = (long double)r->lambda * r->alpha[i * r->k + j] / r->cost[i];
            const bool own = r->k > 1 && j == own_of(r, i);
            const long double term =
                r->k == 1 ? entropy(r->y[i] * q) + entropy(1 - r->y[i] * q) : entropy(own ? 1 - q : -q);
            sum += r->cost[i] * term;
            size += r->cost[i]; /* where a share is next to 0, its logarithm counts for little */
        }
    assert_near("conjugate", isa, (r->k > 1 ? body->softmax_conjugate : body->logistic_conjugate)(&all), sum, size);
}

static void test_every_instruction_set_computes_the_loss(void **state) {
    (void)state;
    static rows r;
    for (int isa = 0; isa < MC_ISA_COUNT; isa++)
        for (uint64_t item = 0; item < 200 && mc_isa_runs((mc_isa)isa); item++) {
            draw(item, &r);
            check_primal(&r, isa, mc_qp_bodies_of((mc_isa)isa)->loss, item % 5 == 0);
            check_dual(&r, isa, mc_qp_bodies_of((mc_isa)isa)->loss);
        }
}

/* A row has its value whatever stands beside it. */
static void test_rows_do_not_know_their_place(void **state) {
    (void)state;
    static rows r;
    static double g[MOST * CLASSES], root[MOST * CLASSES], one[CLASSES], other[CLASSES];
    for (uint64_t item = 0; item < 40; item++) {
        draw(item, &r);
        const mc_isa isa = mc_isa_runs(MC_AVX512) ? MC_AVX512 : MC_PORTABLE;
        const mc_loss_body *body = mc_qp_bodies_of(isa)->loss;
        const mc_loss_rows all = {r.n, r.k, r.f, r.b, NULL, r.y, r.cost};
        (r.k > 1 ? body->softmax_slopes : body->logistic_slopes)(&all, g, root);
        for (int64_t i = 0; i < r.n; i++) {
            const mc_loss_rows alone = {1, r.k, r.f + i * r.k, r.b, NULL, r.y + i, r.cost + i};
            (r.k > 1 ? body->softmax_slopes : body->logistic_slopes)(&alone, one, other);
            assert_memory_equal(one, g + i * r.k, (size_t)r.k * sizeof *one);
            assert_memory_equal(other, root + i * r.k, (size_t)r.k * sizeof *one);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_instruction_set_computes_the_loss),
                                       cmocka_unit_test(test_rows_do_not_know_their_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
