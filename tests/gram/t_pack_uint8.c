/* Rows of bytes: what is packed is what was there, and a unit is found exactly where every value is a whole number of
   it, up to 255 of them. t_bound.c has what kernels make of them. */
#include "base/cpu.h"
#include "base/ctx.h"
#include "base/rng.h"
#include "gram/compile/tile_program.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 40, COLUMNS_MOST = 70, WIDTH = 16 };

/* ---- Packing ---- */

static uint8_t byte_of(const uint32_t *words, int64_t rows, int64_t r, int64_t k) {
    return (uint8_t)(words[(1 + k / 4) * rows + r] >> 8 * (k % 4));
}

/* All rows packed, then some of them gathered, in any order and more than once. */
static void check_packing(int64_t d, mc_rng *rng) {
    mc_tile_part p = {.d = d, .uint8_unit = 1};
    const int64_t words = mc_part_elements(&p), panels = (ROWS + WIDTH - 1) / WIDTH;
    static double x[ROWS][COLUMNS_MOST];
    int64_t row[7];
    uint32_t *packed = calloc((size_t)(panels * WIDTH * words), 4), *out = calloc((size_t)(7 * (words + 1)), 4);
    p.left.values = packed;
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t k = 0; k < d; k++)
            x[i][k] = (double)mc_rng_below(rng, 256) + (mc_rng_uniform(rng) - 0.5) * 1e-9; /* up to rounding */
        x[i][0] = i % 3 ? fabs(x[i][0]) : 255;
        mc_pack_uint8_pack(&p, WIDTH, i, x[i], packed);
    }
    for (int r = 0; r < 7; r++)
        row[r] = mc_rng_below(rng, ROWS);
    mc_pack_uint8_gather(&p, WIDTH, 7, row, out);
    for (int64_t r = 0; r < 7; r++) {
        uint32_t sum = 0;
        for (int64_t k = 0; k < 4 * words; k++) {
            const unsigned whole = k < d ? (unsigned)nearbyint(x[row[r]][k]) : 0;
            assert_int_equal(byte_of(out, 7, r, k), whole);
            sum += whole;
        }
        assert_int_equal(out[r], 128 * sum);
    }
    free(packed);
    free(out);
}

static void test_bytes_are_packed_and_gathered_as_they_are(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1);
    for (int64_t d = 1; d <= COLUMNS_MOST; d++)
        check_packing(d, &rng);
}

/* ---- The unit ---- */

typedef struct table {
    int64_t d;
    double x[ROWS * COLUMNS_MOST];
} table;

static double grain_of(mercer_ctx *ctx, const table *t) {
    int64_t column[COLUMNS_MOST];
    double weight[COLUMNS_MOST];
    mc_tile_part p = {
        .kind = MC_DOT, .feature = MC_PLAIN, .columns = t->d, .d = t->d, .column = column, .weight = weight};
    mercer_data *data = NULL;
    for (int64_t k = 0; k < t->d; k++) {
        column[k] = k;
        weight[k] = 1;
    }
    assert_ok(ctx, mercer_data_make(
                       ctx,
                       &(mercer_table){
                           .size = sizeof(mercer_table), .n = ROWS, .d = t->d, .dtype = MERCER_F64, .values = t->x},
                       &data));
    assert_ok(ctx, mc_part_uint8_unit(ctx, &p, data));
    mercer_data_free(data);
    return p.uint8_unit;
}

/* k unit for whole numbers k up to most, 1 and most among them. */
static table whole_numbers(mc_rng *rng, double unit, bool divided, int64_t most) {
    table t = {.d = 32 + mc_rng_below(rng, COLUMNS_MOST - 31)};
    for (int64_t i = 0; i < ROWS * t.d; i++) {
        const double k = i < 2 ? (i ? (double)most : 1) : (double)mc_rng_below(rng, most + 1);
        t.x[i] = divided ? k / nearbyint(1 / unit) : k * unit;
    }
    return t;
}

static bool is_multiple(double x, double unit) {
    const long double k = roundl((long double)x / unit);
    return k >= 0 && k <= 255 && fabsl(x - k * unit) <= 2.5L * 0x1p-53L * x * (1 + 1e-6L);
}

static void test_the_unit_of_whole_numbers_is_found(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    if (!mc_isa_bytes(ctx->isa)) {
        close_clean(ctx);
        skip_test("this processor has no AVX-512 VNNI");
    }
    static const double units[] = {1, 1.0 / 255, 0.5, 1.0 / 3, 0.1, 7, 1.0 / 100, 0x1p-30, 1.0 / 17, 3};
    for (int trial = 0; trial < 200; trial++) {
        mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 100 + (uint64_t)trial);
        const double unit = units[trial % 10];
        const bool divided = unit < 1 && nearbyint(1 / unit) * unit == 1;
        const table t = whole_numbers(&rng, unit, divided, trial % 4 ? 255 : 1 + mc_rng_below(&rng, 254));
        const double grain = grain_of(ctx, &t);
        if (!(fabs(grain / unit - 1) <= 1e-15))
            fail_msg("the unit %.17g is taken for %.17g", unit, grain);
        for (int64_t i = 0; i < ROWS * t.d; i++)
            assert_true(is_multiple(t.x[i], grain));
    }
    close_clean(ctx);
}

/* One value that is none, anywhere in the table, and there is no unit. */
static void test_one_value_that_is_no_multiple_is_seen(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int trial = 0; trial < 200; trial++) {
        mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1000 + (uint64_t)trial);
        table t = whole_numbers(&rng, 1.0 / 255, true, 255);
        double *x = &t.x[mc_rng_below(&rng, ROWS * t.d)];
        switch (trial % 5) {
        case 0: *x = (1 + (double)mc_rng_below(&rng, 200)) / 255 * (1 + 0x1p-50); break;
        case 1: *x = 256.0 / 255; break;
        case 2: *x = -1.0 / 255; break;
        case 3: *x = mc_rng_uniform(&rng) + 1e-3; break;
        default: *x = 1e-200;
        }
        assert_true(grain_of(ctx, &t) == 0);
    }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_are_packed_and_gathered_as_they_are),
        cmocka_unit_test(test_the_unit_of_whole_numbers_is_found),
        cmocka_unit_test(test_one_value_that_is_no_multiple_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
