#include "support.h"
#include "base/rng.h"
#include "base/portable_math.h"
#include <math.h>
#include <string.h>

/* The known answers published with the Random123 library. */
static void test_philox_known_answers(void **state) {
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint32_t out[4];
        mc_philox_block(known[i].counter, known[i].key, out);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

static void test_items_and_streams_do_not_share_numbers(void **state) {
    (void)state;
    mc_rng a = mc_rng_at(7, MC_STREAM_TEST, 0), b = mc_rng_at(7, MC_STREAM_TEST, 1),
           c = mc_rng_at(7, MC_STREAM_FOLDS, 0);
    const uint64_t x = mc_rng_u64(&a);
    assert_true(x != mc_rng_u64(&b) && x != mc_rng_u64(&c));
    mc_rng again = mc_rng_at(7, MC_STREAM_TEST, 0);
    assert_true(x == mc_rng_u64(&again));
}

static void test_moments(void **state) {
    (void)state;
    enum { N = 200000 };
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 3);
    double u = 0, z = 0, z2 = 0;
    for (int i = 0; i < N; i++) {
        const double v = mc_rng_uniform(&rng), n = mc_rng_normal(&rng);
        assert_true(v >= 0 && v < 1);
        u += v;
        z += n;
        z2 += n * n;
    }
    assert_true(fabs(u / N - 0.5) < 5 * sqrt(1.0 / 12 / N)); /* five standard errors */
    assert_true(fabs(z / N) < 5 / sqrt(N));
    assert_true(fabs(z2 / N - 1) < 5 * sqrt(2.0 / N));
}

static void test_below_is_uniform_and_shuffle_permutes(void **state) {
    (void)state;
    enum { N = 70000, K = 7 };
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 4);
    int64_t count[K] = {0}, items[K];
    for (int i = 0; i < N; i++)
        count[mc_rng_below(&rng, K)]++;
    for (int k = 0; k < K; k++)
        assert_true(fabs((double)count[k] - (double)N / K) < 5 * sqrt((double)N / K));
    mc_rng_shuffle(&rng, items, K);
    int64_t seen = 0;
    for (int k = 0; k < K; k++)
        seen |= (int64_t)1 << items[k];
    assert_int_equal(seen, (1 << K) - 1);
}

static void test_portable_functions_are_accurate(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 5);
    for (int i = 0; i < 100000; i++) {
        const double u = 1 - mc_rng_uniform(&rng), x = 40 * mc_rng_uniform(&rng) - 20;
        assert_close(mc_portable_math_log(u), log(u), 1e-15);
        assert_close(mc_portable_math_log(u * 1e-300), log(u * 1e-300), 1e-15);
        assert_close(mc_portable_math_sin_turns(u), (double)sinl(2 * 3.14159265358979323846264L * (long double)u),
                     1e-15);
        assert_close(mc_portable_math_cos_turns(u), (double)cosl(2 * 3.14159265358979323846264L * (long double)u),
                     1e-15);
        assert_close(mc_portable_math_sin(x), sin(x), 1e-14);
        assert_close(mc_portable_math_cos(x), cos(x), 1e-14);
        assert_close(mc_portable_math_atan(x * x * x), atan(x * x * x), 1e-15);
    }
}

/* Bits that every build on every machine must give: recorded once. */
static void test_normals_have_the_same_bits_everywhere(void **state) {
    (void)state;
    uint64_t mix = 0;
    mc_rng rng = mc_rng_at(42, MC_STREAM_TEST, 0);
    for (int i = 0; i < 100000; i++) {
        const double z = mc_rng_normal(&rng);
        uint64_t bits;
        memcpy(&bits, &z, sizeof bits);
        mix = (mix ^ bits) * 0x9E3779B97F4A7C15u;
    }
    assert_true(mix == 0xab46fda2dc1fcd7eu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_philox_known_answers),
        cmocka_unit_test(test_items_and_streams_do_not_share_numbers),
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_below_is_uniform_and_shuffle_permutes),
        cmocka_unit_test(test_portable_functions_are_accurate),
        cmocka_unit_test(test_normals_have_the_same_bits_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
