#include "support.h"
#include "base/number.h"
#include "base/rng.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double read_all(const char *text) {
    double v = NAN;
    const char *end = text + strlen(text);
    assert_ptr_equal(mc_number_read(text, end, &v), end);
    return v;
}

static void test_text_reads_back_to_the_same_double(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 0);
    for (int i = 0; i < 100000; i++) {
        const uint64_t bits = mc_rng_u64(&rng);
        double v;
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v))
            continue;
        char text[32];
        const double back = read_all(mercer_number_text(v, text));
        assert_memory_equal(&v, &back, sizeof v);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_reads_back_to_the_same_double),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
