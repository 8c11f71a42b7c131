#include "support.h"
#include "base/number.h"
#include "base/number_fast.h"
#include "base/rng.h"
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Oracle: the C library's strtod and printf, both exact here; the test process stays in the "C" locale unless a test
   says otherwise. */

static uint64_t bits_of(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static double of_bits(uint64_t bits) {
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static double read_all(const char *text) {
    double v = NAN;
    const char *end = text + strlen(text);
    assert_ptr_equal(mc_number_read(text, end, &v), end);
    if (end - text < 1000) { /* the other way in, which may look past the end */
        char padded[1016] = {0};
        double w = NAN;
        memcpy(padded, text, (size_t)(end - text));
        const char *stop = mc_number_fast(padded, padded + (end - text), &w);
        if (stop) { /* it need not settle every number */
            assert_ptr_equal(stop, padded + (end - text));
            assert_memory_equal(&v, &w, sizeof v);
        }
    }
    return v;
}

static void check(const char *text) {
    const double mine = read_all(text), theirs = strtod(text, NULL);
    if (bits_of(mine) != bits_of(theirs))
        fail_msg("'%.80s' gives %a, strtod %a", text, mine, theirs);
}

/* Bits without preference, and the edges: subnormals, powers of two, the largest. */
static double any_double(mc_rng *rng) {
    const uint64_t bits = mc_rng_u64(rng) & 0x7fffffffffffffffu;
    switch (mc_rng_below(rng, 4)) {
    case 0: return of_bits(bits >> (12 + mc_rng_below(rng, 50)));
    case 1: return of_bits((bits >> 52 << 52) + (uint64_t)mc_rng_below(rng, 3));
    case 2: return of_bits(0x7fefffffffffffffu - (uint64_t)mc_rng_below(rng, 1 << 20));
    default: return of_bits(bits);
    }
}

static void test_random_doubles_read_exactly(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 0);
    for (int i = 0; i < 200000; i++) {
        const double v = any_double(&rng);
        char text[64];
        if (!isfinite(v))
            continue;
        snprintf(text, sizeof text, "%.*e", (int)mc_rng_below(&rng, 25), v);
        check(text);
    }
}

static void test_random_digits_and_exponents_read_exactly(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1);
    for (int i = 0; i < 200000; i++) {
        char text[128];
        int n = 0, digits = 1 + (int)mc_rng_below(&rng, 40);
        const int64_t point = mc_rng_below(&rng, 2 * digits);
        n += sprintf(text, "%s", mc_rng_below(&rng, 2) ? "-" : mc_rng_below(&rng, 2) ? "+" : "");
        for (int k = 0; k < digits; k++) {
            if (k == point)
                text[n++] = '.';
            text[n++] = (char)('0' + (mc_rng_below(&rng, 4) ? mc_rng_below(&rng, 10) : 0));
        }
        text[n] = '\0';
        if (mc_rng_below(&rng, 2))
            sprintf(text + n, "%c%s%d", mc_rng_below(&rng, 2) ? 'e' : 'E', mc_rng_below(&rng, 2) ? "+" : "",
                    (int)mc_rng_below(&rng, 400));
        else
            sprintf(text + n, "e-%d", (int)mc_rng_below(&rng, 400));
        check(text);
    }
}

/* The exact decimal of the midpoint of two neighbours, and the same a hair above and below. */
static void test_halfway_cases_round_to_even(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 2);
    for (int i = 0; i < 3000; i++) {
        const double v = any_double(&rng), next = nextafter(v, INFINITY);
        if (!isfinite(next))
            continue;
        char text[1200];
        const long double middle = ((long double)v + (long double)next) / 2; /* exact: 64 bits hold it */
        const int n = snprintf(text, sizeof text, "%.1100Le", middle);
        char *e = strchr(text, 'e');
        assert_true(n < (int)sizeof text && e);
        check(text);
        e[-1] = '1'; /* above, by the last of 1100 digits */
        check(text);
        char below[1200];
        snprintf(below, sizeof below, "%.1100Le", nextafterl(middle, 0));
        check(below);
    }
}

static void test_hard_cases(void **state) {
    (void)state;
    static const char *const cases[] = {
        "0",
        "-0",
        "0.0",
        "-0.0e5",
        "000",
        "1",
        "1.",
        ".5",
        "-.5e-3",
        "9007199254740992",
        "9007199254740993",
        "9007199254740993.0000000000000000000000001",
        "9007199254740995",
        "18446744073709551615",
        "18446744073709551616",
        "1e22",
        "1e23",
        "8.5e22",
        "1e-22",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.47032822920623272e-324",
        "1e-323",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e308",
        "1e309",
        "1e999999999999999999999",
        "1e-999999999999999999999",
        "0e999999999999",
        "123456789012345678901234567890e-340",
        "6.631236846766476e-316",
        "3.237883913302901e-319",
        "0.000000000000000000000000000000000000000000000000000000000000000000001e69",
        /* the midpoint past the largest double, and one less */
        "7.3177701707893310e15",
        "0.1",
        "0.3",
        "123.456",
        "5e-324",
        "1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070"
        "9633028641669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447"
        "5730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880177904"
        "174497792",
        "1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070"
        "9633028641669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447"
        "5730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880177904"
        "174497791",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(cases[i]);
}

static void test_very_long_digit_strings(void **state) {
    (void)state;
    enum { N = 200000 };
    char *text = test_malloc(N + 32);
    memset(text, '0', N);
    strcpy(text + N, "1.5"); /* leading zeros */
    check(text);
    text[1] = '.';
    strcpy(text + N, "123e199999"); /* 0.000...123 */
    check(text);
    memset(text, '9', N);
    text[1] = '.';
    text[N] = '\0';
    check(text);                      /* rounds to 10 */
    strcpy(text, "9007199254740993"); /* a tie, then broken by a digit far behind */
    memset(text + 16, '0', N - 16);
    text[16] = '.';
    text[N] = '\0';
    check(text);
    text[N - 1] = '1';
    check(text);
    test_free(text);
}

static void test_reading_stops_where_the_number_ends(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int length;
    } cases[] = {{"1,2", 1},   {"1e", 1},   {"1e+", 1},  {"1.e3x", 4}, {"12:5", 2}, {"-7 ", 2},
                 {"1.2.3", 3}, {"0x10", 1}, {"3-2", 1},  {"", -1},     {"-", -1},   {".", -1},
                 {"-.", -1},   {"e5", -1},  {"nan", -1}, {"inf", -1},  {" 1", -1},  {"+-1", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double v;
        const char *text = cases[i].text, *stop = mc_number_read(text, text + strlen(text), &v);
        if (cases[i].length < 0)
            assert_null(stop);
        else
            assert_int_equal(stop - text, cases[i].length);
    }
    double v;
    const char *digits = "123456789";
    assert_ptr_equal(mc_number_read(digits, digits + 4, &v), digits + 4); /* the end is respected */
    assert_true(v == 1234);
}

static void test_text_reads_back_to_the_same_double(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 3);
    for (int i = 0; i < 200000; i++) {
        const double v = any_double(&rng) * (i % 2 ? 1 : -1);
        if (!isfinite(v))
            continue;
        char text[32];
        mc_number_text(v, text);
        assert_true(strlen(text) < 32);
        const double mine = read_all(text), theirs = strtod(text, NULL);
        assert_true(bits_of(mine) == bits_of(v) && bits_of(theirs) == bits_of(v));
    }
}

static int significant_digits(const char *text) {
    int count = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (count == 0 && *text == '0'))
            continue;
        zeros = *text == '0' ? zeros + 1 : 0;
        count++;
    }
    return count - zeros;
}

static void test_text_is_the_shortest_and_nearest(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 4);
    for (int i = 0; i < 100000; i++) {
        const double v = i % 3 ? any_double(&rng) : (double)mc_rng_below(&rng, 100000) / 1000;
        char text[32], shorter[40];
        if (!isfinite(v) || v == 0)
            continue;
        const int digits = significant_digits(mc_number_text(v, text));
        if (digits > 1) {
            snprintf(shorter, sizeof shorter, "%.*e", digits - 2, v);
            if (strtod(shorter, NULL) == v)
                fail_msg("%s, but %s is enough", text, shorter);
        }
        snprintf(shorter, sizeof shorter, "%.*e", digits - 1, v); /* the nearest of that length, when it reads back */
        if (strtod(shorter, NULL) == v
            && fabsl(strtold(shorter, NULL) - (long double)v) < fabsl(strtold(text, NULL) - (long double)v))
            fail_msg("%s, but %s is nearer", text, shorter);
    }
}

static void test_text_of_known_values(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } known[] = {{0, "0"},
                 {-0.0, "-0"},
                 {1, "1"},
                 {-1.5, "-1.5"},
                 {0.1, "0.1"},
                 {1e-4, "0.0001"},
                 {1e-5, "1e-5"},
                 {123456, "123456"},
                 {1e15, "1000000000000000"},
                 {1e16, "1e16"},
                 {1.25e20, "1.25e20"},
                 {1e23, "1e23"},
                 {5e-324, "5e-324"},
                 {2.2250738585072014e-308, "2.2250738585072014e-308"},
                 {1.7976931348623157e308, "1.7976931348623157e308"},
                 {-1.7976931348623157e308, "-1.7976931348623157e308"},
                 {INFINITY, "inf"},
                 {-INFINITY, "-inf"},
                 {NAN, "nan"},
                 {9007199254740993.0, "9007199254740992"},
                 {0.3, "0.3"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char text[32];
        assert_string_equal(mc_number_text(known[i].value, text), known[i].text);
    }
}

static void test_the_locale_does_not_matter(void **state) {
    (void)state;
    if (!set_decimal_comma())
        return;
    char text[32];
    const double v = read_all("2.4703282292062328e-324"), w = read_all("1234.5");
    mc_number_text(0.5, text);
    setlocale(LC_ALL, "C");
    assert_true(v == 5e-324 && w == 1234.5);
    assert_string_equal(text, "0.5");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_doubles_read_exactly),
        cmocka_unit_test(test_random_digits_and_exponents_read_exactly),
        cmocka_unit_test(test_halfway_cases_round_to_even),
        cmocka_unit_test(test_hard_cases),
        cmocka_unit_test(test_very_long_digit_strings),
        cmocka_unit_test(test_reading_stops_where_the_number_ends),
        cmocka_unit_test(test_text_reads_back_to_the_same_double),
        cmocka_unit_test(test_text_is_the_shortest_and_nearest),
        cmocka_unit_test(test_text_of_known_values),
        cmocka_unit_test(test_the_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
