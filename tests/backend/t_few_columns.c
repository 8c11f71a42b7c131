/* Products of rows with a few columns, of every instruction set of this machine, against sums in long double; and that
   an entry along a row is the same whatever stands beside it. */
#include "backend/dispatch.h"
#include "base/rng.h"
#include "support.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { ROWS = 40, WIDE = 150, COLUMNS = 30 };

typedef struct shape {
    int64_t m, n, t, ld, vs, ys;
    double A[ROWS * WIDE], V[COLUMNS * WIDE], U[ROWS * COLUMNS], Y[ROWS * COLUMNS], Z[COLUMNS * WIDE];
} shape;

static void fill(mc_rng *rng, int64_t count, double *out) {
    for (int64_t i = 0; i < count; i++)
        out[i] = mc_rng_normal(rng);
}

static void draw(uint64_t item, shape *s) {
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    s->m = 1 + mc_rng_below(&rng, ROWS);
    s->n = 1 + mc_rng_below(&rng, WIDE - 8);
    s->t = 1 + mc_rng_below(&rng, COLUMNS - 3);
    s->ld = s->n + mc_rng_below(&rng, 8);
    s->vs = s->n + mc_rng_below(&rng, 8);
    s->ys = s->t + mc_rng_below(&rng, 3);
    fill(&rng, ROWS * WIDE, s->A);
    fill(&rng, COLUMNS * WIDE, s->V);
    fill(&rng, ROWS * COLUMNS, s->U);
    fill(&rng, COLUMNS * WIDE, s->Z);
}

static mc_few_columns product_of(shape *s) {
    return (mc_few_columns){.A = s->A,
                            .ld = s->ld,
                            .m = s->m,
                            .n = s->n,
                            .t = s->t,
                            .V = s->V,
                            .vs = s->vs,
                            .Y = s->Y,
                            .ys = s->ys,
                            .U = s->U,
                            .us = s->ys,
                            .Z = s->Z,
                            .zs = s->vs};
}

static void assert_near(int isa, double is, long double wanted, long double size) {
    if (!(fabsl(is - wanted) <= 200 * DBL_EPSILON * size))
        fail_msg("instruction set %d: %.17g is not %.17Lg", isa, is, wanted);
}

static void assert_rows(int isa, const shape *s) {
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t k = 0; k < s->t; k++) {
            long double sum = 0, size = 0;
            for (int64_t j = 0; j < s->n; j++) {
                const long double term = (long double)s->A[i * s->ld + j] * s->V[k * s->vs + j];
                sum += term;
                size += fabsl(term);
            }
            assert_near(isa, s->Y[i * s->ys + k], sum, size);
        }
}

static void assert_columns(int isa, const shape *s, const double *before) {
    for (int64_t k = 0; k < COLUMNS; k++)
        for (int64_t j = 0; k * s->vs + j < COLUMNS * WIDE && j < s->vs; j++) {
            const int64_t at = k * s->vs + j;
            long double sum = before[at], size = fabsl(sum);
            for (int64_t i = 0; i < s->m && j < s->n && k < s->t; i++) {
                const long double term = (long double)s->A[i * s->ld + j] * s->U[i * s->ys + k];
                sum += term;
                size += fabsl(term);
            }
            assert_near(isa, s->Z[at], sum, size);
        }
}

/* One row and one column of it alone. */
static void assert_alone(const mc_few_columns_body *body, shape *s, uint64_t item) {
    const int64_t i = (int64_t)item % s->m, k = (int64_t)item % s->t;
    double y;
    const mc_few_columns one = {.A = s->A + i * s->ld,
                                .ld = s->ld,
                                .m = 1,
                                .n = s->n,
                                .t = 1,
                                .V = s->V + k * s->vs,
                                .vs = s->vs,
                                .Y = &y,
                                .ys = 1};
    body->rows(&one);
    assert_memory_equal(&y, &s->Y[i * s->ys + k], sizeof y);
}

static void test_products(void **state) {
    (void)state;
    static shape s;
    static double before[COLUMNS * WIDE];
    for (uint64_t item = 0; item < 300; item++)
        for (int isa = 0; isa < MC_ISA_COUNT && mc_isa_runs((mc_isa)isa); isa++) {
            draw(item, &s);
            memcpy(before, s.Z, sizeof before);
            const mc_few_columns_body *body = mc_bodies_of((mc_isa)isa)->few_columns;
            const mc_few_columns p = product_of(&s);
            body->rows(&p);
            body->columns(&p);
            assert_rows(isa, &s);
            assert_columns(isa, &s, before);
            assert_alone(body, &s, item);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
