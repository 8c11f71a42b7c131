#include "base/hash.h"
#include "base/rng.h"
#include "support.h"
#include <string.h>

static void test_every_bit_of_the_input_counts(void **state) {
    (void)state;
    unsigned char bytes[61];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)mc_rng_u32(&rng);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        const uint64_t whole = mc_hash(5, bytes, size);
        assert_true(whole == mc_hash(5, bytes, size) && whole != mc_hash(6, bytes, size));
        for (size_t bit = 0; bit < 8 * size; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            const int changed = __builtin_popcountll(whole ^ mc_hash(5, bytes, size));
            assert_in_range(changed, 10, 54); /* about half of the 64 */
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
    }
}

static void test_lengths_and_absent_texts_differ(void **state) {
    (void)state;
    const char zeros[24] = {0};
    for (size_t a = 0; a <= sizeof zeros; a++)
        for (size_t b = 0; b < a; b++)
            assert_true(mc_hash(0, zeros, a) != mc_hash(0, zeros, b));
    assert_true(mc_hash_text(1, NULL) != mc_hash_text(1, ""));
    assert_true(mc_hash_text(1, "rbf") != mc_hash_text(1, "rbg"));
}

/* The first outputs: a checkpoint written by one build must be known to the next. */
static void test_the_values_are_fixed(void **state) {
    (void)state;
    assert_true(mc_hash(0, "", 0) == 0xB109B8D3767359AAu);
    assert_true(mc_hash(0, "Mercer 1909", 11) == 0x079741D8A0D56313u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_bit_of_the_input_counts),
        cmocka_unit_test(test_lengths_and_absent_texts_differ),
        cmocka_unit_test(test_the_values_are_fixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
