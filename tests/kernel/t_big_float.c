/* Numbers of many digits against exact arithmetic: what fits is exact, what does not lies on the side asked for, next
   to the exact result. */
#include "support.h"
#include "base/rng.h"
#include "kernel/proof/big_float.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* So many random digits, with runs of zeros and ones in them, at a random place. */
static mc_big random_number(mc_rng *rng, int digits, int64_t spread) {
    mc_big a = {.sign = mc_rng_below(rng, 2) ? 1 : -1, .digits = digits};
    a.exponent = mc_rng_below(rng, 2 * spread + 1) - spread;
    for (int i = 0; i < digits; i++) {
        const int64_t kind = mc_rng_below(rng, 4);
        a.digit[i] = kind == 0 ? 0 : kind == 1 ? 0xffffffffu : (uint32_t)mc_rng_below(rng, (int64_t)1 << 32);
    }
    a.digit[0] |= 1;
    a.digit[digits - 1] |= mc_rng_below(rng, 2) ? 0x80000000u : 1;
    return a;
}

static bool equal(mc_big a, mc_big b) {
    return mc_big_compare(&a, &b) == 0;
}

static bool at_most(mc_big a, mc_big b) {
    return mc_big_compare(&a, &b) <= 0;
}

/* Up and down differ, where they do, by a unit of the sixteenth digit. */
static bool are_neighbours(mc_big down, mc_big up) {
    const mc_big minus = mc_big_negate(&down), gap = mc_big_add(&up, &minus, MC_UP);
    if (gap.sign == 0)
        return true;
    const int64_t top =
        down.sign && up.sign ? mc_big_top(&down) < mc_big_top(&up) ? mc_big_top(&up) : mc_big_top(&down) : 0;
    return gap.sign > 0 && mc_big_top(&gap) <= top - 32 * (MC_BIG_DIGITS - 1) + 1;
}

static void test_doubles_go_there_and_back(void **state) {
    (void)state;
    static const double some[] = {0,
                                  1,
                                  -1,
                                  0.1,
                                  DBL_MAX,
                                  -DBL_MAX,
                                  DBL_MIN,
                                  DBL_TRUE_MIN,
                                  -3 * DBL_TRUE_MIN,
                                  0x1p31,
                                  0x1p32,
                                  0x1p-32,
                                  0x1.fffffffffffffp-1030,
                                  INFINITY,
                                  -INFINITY};
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1);
    for (int i = 0; i < 20000; i++) {
        double v = i < (int)(sizeof some / sizeof some[0])
                       ? some[i]
                       : ldexp(mc_rng_normal(&rng), (int)mc_rng_below(&rng, 2100) - 1060);
        v = isinf(v) && i > 20 ? 1 : v;
        const mc_big a = mc_big_of(v);
        assert_true(mc_big_to_double(&a, MC_DOWN) == v && mc_big_to_double(&a, MC_UP) == v);
    }
}

/* Of a number with more bits than a double the two neighbours; also where doubles end and where they thin out. */
static void test_doubles_on_both_sides(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 2);
    for (int i = 0; i < 20000; i++) {
        const mc_big a = random_number(&rng, 1 + (int)mc_rng_below(&rng, 6), 36);
        const double down = mc_big_to_double(&a, MC_DOWN), up = mc_big_to_double(&a, MC_UP);
        assert_true(at_most(mc_big_of(down), a) && at_most(a, mc_big_of(up)));
        assert_true(down == up || nextafter(down, INFINITY) == up);
    }
}

/* (a + b) - b = a where nothing is cut; a b = b a, (a + b) c = a c + b c. */
static void test_short_numbers_are_exact(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 3);
    for (int i = 0; i < 20000; i++) {
        const mc_big a = random_number(&rng, 1 + (int)mc_rng_below(&rng, 4), 2),
                     b = random_number(&rng, 1 + (int)mc_rng_below(&rng, 4), 2),
                     c = random_number(&rng, 1 + (int)mc_rng_below(&rng, 4), 2), minus_b = mc_big_negate(&b);
        const mc_big sum = mc_big_add(&a, &b, MC_UP), ac = mc_big_multiply(&a, &c, MC_DOWN),
                     bc = mc_big_multiply(&b, &c, MC_UP);
        assert_true(equal(sum, mc_big_add(&b, &a, MC_DOWN)) && equal(mc_big_add(&sum, &minus_b, MC_DOWN), a));
        assert_true(equal(mc_big_multiply(&sum, &c, MC_UP), mc_big_add(&ac, &bc, MC_DOWN)));
        assert_true(equal(mc_big_divide(&ac, &c, MC_DOWN), a) && equal(mc_big_divide(&ac, &c, MC_UP), a));
    }
}

/* Long ones: up and down are neighbours, and multiplied back they lie on the two sides. */
static void test_long_numbers_lie_on_the_side_asked_for(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 4);
    for (int i = 0; i < 20000; i++) {
        const mc_big a = random_number(&rng, 1 + (int)mc_rng_below(&rng, MC_BIG_DIGITS), 30),
                     b = random_number(&rng, 1 + (int)mc_rng_below(&rng, MC_BIG_DIGITS), 30);
        const mc_big down = mc_big_add(&a, &b, MC_DOWN), up = mc_big_add(&a, &b, MC_UP);
        assert_true(at_most(down, up) && are_neighbours(down, up));
        const mc_big p = mc_big_multiply(&a, &b, MC_DOWN), q = mc_big_multiply(&a, &b, MC_UP);
        assert_true(at_most(p, q) && are_neighbours(p, q));
        const mc_big r = mc_big_divide(&a, &b, MC_DOWN), s = mc_big_divide(&a, &b, MC_UP);
        assert_true(at_most(r, s) && are_neighbours(r, s));
        const mc_big rb = mc_big_multiply(&r, &b, b.sign > 0 ? MC_DOWN : MC_UP),
                     sb = mc_big_multiply(&s, &b, b.sign > 0 ? MC_UP : MC_DOWN);
        assert_true(b.sign > 0 ? at_most(rb, a) && at_most(a, sb) : at_most(sb, a) && at_most(a, rb));
    }
}

/* a b of sixteen digits each, from halves of eight whose products are exact. */
static void test_long_products_from_halves(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 5);
    for (int i = 0; i < 5000; i++) {
        const mc_big a = random_number(&rng, 8, 3), b = random_number(&rng, 16, 3);
        const mc_big high = mc_big_round(&b, 8, MC_DOWN), minus = mc_big_negate(&high),
                     low = mc_big_add(&b, &minus, MC_UP);
        const mc_big ah = mc_big_multiply(&a, &high, MC_DOWN), al = mc_big_multiply(&a, &low, MC_DOWN);
        assert_true(equal(ah, mc_big_multiply(&a, &high, MC_UP)) && equal(al, mc_big_multiply(&a, &low, MC_UP)));
        assert_true(equal(mc_big_multiply(&a, &b, MC_DOWN), mc_big_add(&ah, &al, MC_DOWN)));
        assert_true(equal(mc_big_multiply(&a, &b, MC_UP), mc_big_add(&ah, &al, MC_UP)));
    }
}

/* A summand far below the other still moves the result to its side. */
static void test_far_away_summands(void **state) {
    (void)state;
    const mc_big one = mc_big_of(1);
    mc_big tiny = one, minus;
    tiny.exponent = -1000;
    minus = mc_big_negate(&tiny);
    assert_true(equal(mc_big_add(&one, &tiny, MC_DOWN), one) && equal(mc_big_add(&one, &minus, MC_UP), one));
    const mc_big above = mc_big_add(&one, &tiny, MC_UP), below = mc_big_add(&minus, &one, MC_DOWN);
    assert_true(mc_big_compare(&above, &one) > 0 && mc_big_compare(&below, &one) < 0);
    assert_int_equal(mc_big_compare(&tiny, &minus), 1);
}

static void test_infinity_and_the_ends_of_exponents(void **state) {
    (void)state;
    const mc_big zero = {0}, plus = mc_big_of(INFINITY), minus = mc_big_of(-INFINITY), one = mc_big_of(1);
    assert_int_equal(mc_big_add(&plus, &minus, MC_DOWN).sign, -1);
    assert_int_equal(mc_big_add(&plus, &minus, MC_UP).sign, 1);
    assert_int_equal(mc_big_multiply(&plus, &zero, MC_UP).sign, 0);
    assert_int_equal(mc_big_divide(&one, &plus, MC_UP).sign, 0);
    mc_big big = one, small = one;
    big.exponent = (int64_t)1 << 39;
    small.exponent = -big.exponent;
    for (int i = 0; i < 3; i++) {
        const mc_big up = mc_big_multiply(&big, &big, MC_UP), down = mc_big_multiply(&small, &small, MC_DOWN);
        const mc_big inner = mc_big_multiply(&big, &big, MC_DOWN), outer = mc_big_multiply(&small, &small, MC_UP);
        assert_true(mc_big_is_finite(&inner) && inner.sign == 1 && outer.sign == 1 && at_most(inner, up));
        assert_true(at_most(down, outer));
        big = inner;
        small = outer;
    }
    assert_false(mc_big_is_finite(&(mc_big){.sign = 1}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubles_go_there_and_back),
        cmocka_unit_test(test_doubles_on_both_sides),
        cmocka_unit_test(test_short_numbers_are_exact),
        cmocka_unit_test(test_long_numbers_lie_on_the_side_asked_for),
        cmocka_unit_test(test_long_products_from_halves),
        cmocka_unit_test(test_far_away_summands),
        cmocka_unit_test(test_infinity_and_the_ends_of_exponents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
