/* Every tile body of every instruction set and precision against a scalar that is written out here. */
#include "support.h"
#include "backend/dispatch.h"
#include "base/rng.h"
#include "kernel/evaluate/eval_special.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANELS = 3, D = 7, MOST = PANELS * MC_TILE_ROWS_MAX * MC_TILE_COLUMNS_MAX };

typedef void check(const mc_tile_ops *ops, mercer_dtype precision);

static void on_all(check *run) {
    for (int isa = 0; isa < MC_ISA_COUNT; isa++)
        for (int precision = 0; precision < 2 && mc_isa_runs((mc_isa)isa); precision++)
            run(&mc_bodies_of((mc_isa)isa)->tile[(mercer_dtype)precision], (mercer_dtype)precision);
}

/* Arrays of reals, seen as doubles. */
static double get(mercer_dtype precision, const void *v, int64_t i) {
    return precision == MERCER_F32 ? (double)((const float *)v)[i] : ((const double *)v)[i];
}

static void put(mercer_dtype precision, void *v, int64_t i, double x) {
    if (precision == MERCER_F32)
        ((float *)v)[i] = (float)x;
    else
        ((double *)v)[i] = x;
}

static double unit(mercer_dtype precision) {
    return precision == MERCER_F32 ? 0x1p-23 : 0x1p-52;
}

static void fill(mercer_dtype precision, void *v, int64_t n, uint64_t item, double scale) {
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    for (int64_t i = 0; i < n; i++)
        put(precision, v, i, scale * mc_rng_normal(&rng));
}

static void exp2_is_right_to_two_units(const mc_tile_ops *ops, mercer_dtype precision) {
    enum { N = 1 << 14 };
    static double x[N], y[N];
    const double low = precision == MERCER_F32 ? -125 : -1020;
    for (int64_t i = 0; i < N; i++)
        put(precision, x, i, i < 64 ? -(double)i : i < 128 ? -(double)(i - 64) * unit(precision) : low * (double)i / N);
    ops->exp2(N, x, y);
    assert_true(get(precision, y, 0) == 1);
    for (int64_t i = 0; i < N; i++) {
        const double exact = exp2(get(precision, x, i));
        if (!(fabs(get(precision, y, i) - exact) <= 2 * unit(precision) * exact))
            fail_msg("2^%.17g is %.17g, not %.17g", get(precision, x, i), get(precision, y, i), exact);
    }
}

static void test_exp2_is_right_to_two_units(void **state) {
    (void)state;
    on_all(exp2_is_right_to_two_units);
}

static double term(mc_statistic kind, double x, double z) {
    switch (kind) {
    case MC_DOT: return x * z;
    case MC_SQUARE: return (x - z) * (x - z);
    case MC_ABSOLUTE: return fabs(x - z);
    case MC_CHI: return x + z > 0 ? (x - z) * (x - z) / (x + z) : 0;
    case MC_HARMONIC: return x + z > 0 ? x * z / (x + z) : 0;
    case MC_SINC_PRODUCT: return mc_sinc_value(x - z);
    case MC_SPLINE_PRODUCT: return 1 + x * z + fmin(x, z) * fmin(x, z) * (3 * fmax(x, z) - fmin(x, z)) / 6;
    default: return fmin(x, z);
    }
}

static void statistics_are_sums_over_coordinates(const mc_tile_ops *ops, mercer_dtype precision) {
    static double a[D * MC_TILE_ROWS_MAX], b[PANELS * D * MC_TILE_COLUMNS_MAX], out[MOST];
    const int64_t rows = ops->rows, width = ops->columns, stride = D * width, real = precision == MERCER_F32 ? 4 : 8;
    fill(precision, a, D * rows, 1, 1);
    fill(precision, b, PANELS * stride, 2, 1);
    for (int kind = 0; kind < MC_STATISTICS; kind++) {
        for (int64_t i = 0; kind == MC_CHI && i < D * rows; i++)
            put(precision, a, i, i % 5 ? fabs(get(precision, a, i)) : 0);
        for (int64_t i = 0; kind == MC_CHI && i < PANELS * stride; i++)
            put(precision, b, i, i % 3 ? fabs(get(precision, b, i)) : 0);
        const mc_operands first = {.d = 3, .panels = PANELS, .a = a, .b = b, .stride = stride};
        const mc_operands rest = {.d = D - 3,
                                  .panels = PANELS,
                                  .a = (char *)a + 3 * rows * real,
                                  .b = (char *)b + 3 * width * real,
                                  .stride = stride};
        ops->statistic((mc_statistic)kind, &first, false, out);
        ops->statistic((mc_statistic)kind, &rest, true, out);
        for (int64_t p = 0; p < PANELS; p++)
            for (int64_t r = 0; r < rows; r++)
                for (int64_t j = 0; j < width; j++) {
                    const bool product = mc_statistic_is_product((mc_statistic)kind);
                    double sum = product;
                    for (int64_t k = 0; k < D; k++) {
                        const double v = term((mc_statistic)kind, get(precision, a, k * rows + r),
                                              get(precision, b, p * stride + k * width + j));
                        sum = product ? sum * v : sum + v;
                    }
                    assert_close(get(precision, out, (p * rows + r) * width + j), sum, 20 * unit(precision));
                }
    }
}

static void test_statistics_are_sums_over_coordinates(void **state) {
    (void)state;
    on_all(statistics_are_sums_over_coordinates);
}

static void bytes_multiply(const mc_tile_ops *ops, mercer_dtype precision) {
    static int32_t a[(1 + D) * MC_TILE_ROWS_MAX], b[PANELS * D * MC_TILE_COLUMNS_MAX];
    static double out[MOST];
    const int64_t rows = ops->rows, width = ops->columns;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 9);
    uint8_t *const x = (uint8_t *)(a + rows), *const z = (uint8_t *)b;
    memset(a, 0, sizeof a);
    for (int64_t i = 0; i < 4 * D * rows; i++) {
        x[i] = i % 3 ? (uint8_t)mc_rng_u64(&rng) : 255;
        a[i / 4 % rows] += 128 * x[i];
    }
    for (int64_t i = 0; i < 4 * PANELS * D * width; i++)
        z[i] = i % 4 ? (uint8_t)mc_rng_u64(&rng) : 127; /* 255 */
    ops->bytes(&(mc_operands){.d = D, .panels = PANELS, .a = a, .b = b, .stride = D * width}, out);
    for (int64_t e = 0; e < PANELS * rows * width; e++) {
        const int64_t p = e / (rows * width), r = e / width % rows, j = e % width;
        double sum = 0;
        for (int64_t k = 0; k < 4 * D; k++)
            sum += (double)x[(k / 4 * rows + r) * 4 + k % 4] * (z[((p * D + k / 4) * width + j) * 4 + k % 4] ^ 0x80);
        assert_true(get(precision, out, e) == sum);
    }
}

static void test_bytes_multiply_without_rounding(void **state) {
    (void)state;
    if (!mc_isa_bytes(MC_AVX512))
        skip_test("this processor has no AVX-512 VNNI");
    for (int precision = 0; precision < 2; precision++)
        bytes_multiply(&mc_bodies_of(MC_AVX512)->tile[(mercer_dtype)precision], (mercer_dtype)precision);
}

/* I0(s) is the mean of exp(s cos t) over the circle, and that of n points is off by 2 I_n(s). */
static double cyclic_mean_of_exp(double s) {
    double sum = 0;
    for (int i = 0; i < 128; i++)
        sum += exp(s * cos(acos(-1.0) * (i + 0.5) / 64));
    return sum / 128;
}

/* f(s) in double. */
static double step_value(const mc_tile_step *step, double s) {
    const double b = sqrt(fmax(0, s)) * log(2.0), pi = acos(-1.0), a = fabs(s), t = 2 * asin(sqrt(a) / 2),
                 angle = s < 0 ? pi - t : t;
    switch (step->function) {
    case MC_SAME: return s;
    case MC_WHOLE_POWER: return pow(s, (double)step->degree);
    case MC_REAL_POWER: return pow(s, step->p);
    case MC_EXP2: return exp2(s);
    case MC_ROOT: return exp(-b);
    case MC_MATERN3: return (1 + b) * exp(-b);
    case MC_MATERN5: return (1 + b + b * b / 3) * exp(-b);
    case MC_RATIONAL: return pow(1 + fmax(0, s), -step->p);
    case MC_COMPACT: return mc_wendland_value(step->p, 2 * ((double)step->degree - step->p - 1), sqrt(fmax(0, s)));
    case MC_DISTANCE_POWER: return pow(fmax(0, s), step->p);
    case MC_HYPERBOLIC: return tanh(s);
    case MC_ARC0: return (pi - angle) / pi;
    case MC_ARC1: return (sin(angle) + (pi - angle) * cos(angle)) / pi;
    case MC_ARC2: return (3 * sin(angle) * cos(angle) + (pi - angle) * (1 + 2 * cos(angle) * cos(angle))) / pi;
    case MC_LOG_SERIES: return -log1p(-s);
    case MC_ARC_SINE: return asin(s);
    case MC_BESSEL: return cyclic_mean_of_exp(s);
    default: return 1;
    }
}

/* Arguments where the function is at home: the coded angle is within [-2, 2], powers take positive numbers. */
static double argument(mc_function_of_tile f, double normal) {
    if (f == MC_ARC0 || f == MC_ARC1 || f == MC_ARC2)
        return 2 * tanh(normal);
    if (f == MC_LOG_SERIES)
        return 1 - exp(normal);
    if (f == MC_ARC_SINE)
        return 0.99 * tanh(normal);
    return f == MC_REAL_POWER ? exp(normal) : 3 * normal;
}

static void steps_are_functions(const mc_tile_ops *ops, mercer_dtype precision) {
    static double source[MOST], target[MOST], old[MOST], row[MC_TILE_ROWS_MAX], column[PANELS * MC_TILE_COLUMNS_MAX];
    const int64_t rows = ops->rows, width = ops->columns, count = PANELS * rows * width;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 5);
    fill(precision, row, rows, 6, 0.1);
    fill(precision, column, PANELS * width, 7, 0.1);
    for (int f = MC_SAME; f <= MC_BESSEL; f++)
        for (int way = 0; way < 6; way++) {
            const bool adds = way >= 3 && f < MC_ARC0 && f != MC_REAL_POWER;
            const mc_tile_step step = {.function = (mc_function_of_tile)f,
                                       .combine = (mc_combine)(way % 3),
                                       .alpha = adds ? 0.5 : 1,
                                       .coefficient = 1.5,
                                       .p = f == MC_COMPACT ? way % 3
                                            : way == 1      ? 3
                                                            : 0.7,
                                       .degree = f == MC_RATIONAL  ? (way == 1 ? -3 : 0)
                                                 : f == MC_COMPACT ? 5
                                                 : way == 2        ? -2
                                                                   : 5};
            for (int64_t i = 0; i < count; i++) {
                put(precision, source, i, argument(step.function, mc_rng_normal(&rng)));
                put(precision, target, i, mc_rng_normal(&rng));
            }
            memcpy(old, target, sizeof old);
            ops->step(&step, PANELS, adds ? row : NULL, adds ? column : NULL, source, target);
            for (int64_t i = 0; i < count; i++) {
                const int64_t j = i / (rows * width) * width + i % width;
                const double s = step.alpha * get(precision, source, i)
                                 + (adds ? get(precision, row, i / width % rows) + get(precision, column, j) : 0);
                const double v = step.coefficient * step_value(&step, s), before = get(precision, old, i);
                const double wanted = step.combine == MC_SET ? v : step.combine == MC_ADD ? before + v : before * v;
                /* powers and exponentials pass on the rounding of s */
                const double slack =
                    1 + fabs(before)
                    + fabs(wanted) * (1 + fabs(s) * (f == MC_EXP2 || f == MC_BESSEL ? 1 : 6 / (fabs(s) + 1e-3)));
                const double near_zero = f == MC_WHOLE_POWER ? 1 + 1 / fabs(s) : 1;
                if (!(fabs(get(precision, target, i) - wanted) <= 40 * unit(precision) * slack * near_zero))
                    fail_msg("function %d of %g, combined %d: %.17g, not %.17g", f, s, way, get(precision, target, i),
                             wanted);
            }
        }
}

static void test_steps_are_functions(void **state) {
    (void)state;
    on_all(steps_are_functions);
}

static void powers_of_zero_and_below_are_those_of_c(const mc_tile_ops *ops, mercer_dtype precision) {
    static double source[MOST], target[MOST];
    put(precision, source, 0, 0);
    put(precision, source, 1, -2);
    for (int sign = -1; sign <= 1; sign += 2) {
        const mc_tile_step step = {.function = MC_REAL_POWER, .alpha = 1, .coefficient = 1, .p = 0.5 * sign};
        ops->step(&step, 1, NULL, NULL, source, target);
        assert_true(get(precision, target, 0) == pow(0, 0.5 * sign));
        assert_true(isnan(get(precision, target, 1)));
    }
}

static void test_powers_of_zero_and_below_are_those_of_c(void **state) {
    (void)state;
    on_all(powers_of_zero_and_below_are_those_of_c);
}

/* Powers too large to be counted with: whole ones take either sign, and nothing is cut off. */
static void large_powers_are_those_of_c(const mc_tile_ops *ops, mercer_dtype precision) {
    static double source[MOST], target[MOST];
    static const double base[] = {0, 1, -1, 2, -2, 0.5, -0.5, 1 + 0x1p-20, -1 - 0x1p-20, 1 - 0x1p-20};
    static const struct {
        double p;
        int64_t parity;
    } powers[] = {{1e19, 2}, {-1e19, 2}, {0x1p30 + 0x1p10, 2}, {1e300, 2}, {3.5, 0}, {0x1p23 + 1, 1}, {1e-3, 0}};
    for (size_t i = 0; i < sizeof base / sizeof *base; i++)
        put(precision, source, (int64_t)i, base[i]);
    for (size_t k = 0; k < sizeof powers / sizeof *powers; k++) {
        const double p = precision == MERCER_F32 ? fmin(powers[k].p, 1e30) : powers[k].p;
        const mc_tile_step step = {
            .function = MC_REAL_POWER, .alpha = 1, .coefficient = 1, .p = p, .degree = powers[k].parity};
        ops->step(&step, 1, NULL, NULL, source, target);
        for (size_t i = 0; i < sizeof base / sizeof *base; i++) {
            const double wanted = precision == MERCER_F32 ? (double)powf((float)base[i], (float)p) : pow(base[i], p);
            const double got = get(precision, target, (int64_t)i), size = fabs(log(fabs(wanted)));
            const bool same = isfinite(wanted) && wanted != 0
                                  ? fabs(got - wanted) <= (8 + 8 * size) * unit(precision) * fabs(wanted)
                                  : got == wanted || (isnan(got) && isnan(wanted));
            if (!same)
                fail_msg("%.17g ^ %g: %.17g, not %.17g", base[i], p, got, wanted);
        }
    }
}

static void test_large_powers_are_those_of_c(void **state) {
    (void)state;
    on_all(large_powers_are_those_of_c);
}

/* (1 + s)^-p, p so large that 1 + s has lost s. */
static void large_exponents_lose_no_digits(const mc_tile_ops *ops, mercer_dtype precision) {
    static double source[MOST], target[MOST];
    for (double p = 1e2; p < 1e18; p *= 13) {
        const mc_tile_step step = {.function = MC_RATIONAL, .alpha = 1, .coefficient = 1, .p = p};
        for (int64_t i = 0; i < ops->columns; i++)
            put(precision, source, i, (double)i * 0.7 / p);
        ops->step(&step, 1, NULL, NULL, source, target);
        for (int64_t i = 0; i < ops->columns; i++) {
            const double wanted = exp(-p * log1p(get(precision, source, i)));
            if (!(fabs(get(precision, target, i) - wanted) <= 16 * unit(precision)))
                fail_msg("p %g, s %g: %.17g, not %.17g", p, get(precision, source, i), get(precision, target, i),
                         wanted);
        }
    }
}

static void test_large_exponents_lose_no_digits(void **state) {
    (void)state;
    on_all(large_exponents_lose_no_digits);
}

/* What is not a number stays so through every function: a value that cannot be is never taken for one that is. */
static void what_is_no_number_stays_so(const mc_tile_ops *ops, mercer_dtype precision) {
    static double source[MOST], target[MOST], row[MC_TILE_ROWS_MAX], column[MC_TILE_COLUMNS_MAX];
    fill(precision, row, ops->rows, 2, 1);
    fill(precision, column, ops->columns, 3, 1);
    for (int64_t i = 0; i < (int64_t)ops->rows * ops->columns; i++)
        put(precision, source, i, NAN);
    for (int f = MC_SAME; f <= MC_SCALE; f++)
        for (int whole = 0; whole < 2; whole++) {
            const mc_tile_step step = {.function = (mc_function_of_tile)f,
                                       .alpha = 1,
                                       .coefficient = 1,
                                       .p = 0.5,
                                       .degree = f == MC_RATIONAL      ? -2 * whole
                                                 : f == MC_WHOLE_POWER ? 3
                                                                       : whole};
            ops->step(&step, 1, f == MC_SCALE ? row : NULL, f == MC_SCALE ? column : NULL, source, target);
            for (int64_t i = 0; i < (int64_t)ops->rows * ops->columns; i++)
                if (!isnan(get(precision, target, i)))
                    fail_msg("function %d of NaN: %g", f, get(precision, target, i));
        }
    ops->radial(NULL, 1, row, column, source, target);
    assert_true(isnan(get(precision, target, 0)));
    ops->angle(NULL, 1, source, target);
    assert_true(isnan(get(precision, target, 0)));
}

static void test_what_is_no_number_stays_so(void **state) {
    (void)state;
    on_all(what_is_no_number_stays_so);
}

static void vectors_scale_and_compare(const mc_tile_ops *ops, mercer_dtype precision) {
    static double source[MOST], target[MOST], row[MC_TILE_ROWS_MAX], column[MC_TILE_COLUMNS_MAX];
    const int64_t rows = ops->rows, width = ops->columns;
    fill(precision, source, rows * width, 1, 1);
    fill(precision, row, rows, 2, 1);
    fill(precision, column, width, 3, 1);
    put(precision, column, 3, get(precision, row, 1));
    mc_tile_step step = {.function = MC_SCALE, .alpha = 1, .coefficient = 1};
    for (int f = MC_SCALE; f <= MC_EQUAL; f++) {
        step.function = (mc_function_of_tile)f;
        ops->step(&step, 1, row, column, source, target);
        for (int64_t i = 0; i < rows * width; i++) {
            const double product = get(precision, row, i / width) * get(precision, column, i % width);
            const double at = get(precision, source, i);
            const double rest = get(precision, row, i / width) + get(precision, column, i % width) - at;
            const double wanted = f == MC_RATIO ? (rest > 0 ? at / rest : 1)
                                  : f == MC_EQUAL
                                      ? i == width + 3
                                      : get(precision, source, i) * (f == MC_SCALE ? product : fmax(0, product));
            if (f != MC_RATIO || fabs(rest) > 0.5) /* where nothing cancels */
                assert_close(get(precision, target, i), wanted, (f == MC_RATIO ? 40 : 4) * unit(precision));
        }
    }
}

static void test_vectors_scale_and_compare(void **state) {
    (void)state;
    on_all(vectors_scale_and_compare);
}

static void mean_lengths_are_those_of_gibbs(const mc_tile_ops *ops, mercer_dtype precision) {
    static double source[MOST], target[MOST], row[MC_TILE_ROWS_MAX], column[MC_TILE_COLUMNS_MAX];
    const int64_t width = ops->columns, count = ops->rows * width;
    const mc_tile_step step = {.function = MC_MEAN_LENGTH, .alpha = 0.5, .coefficient = 1, .p = 1.25};
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 15);
    for (int64_t i = 0; i < count; i++)
        put(precision, source, i, -3 * mc_rng_uniform(&rng));
    for (int64_t i = 0; i < ops->rows; i++)
        put(precision, row, i, exp(mc_rng_normal(&rng)));
    for (int64_t j = 0; j < width; j++)
        put(precision, column, j, exp(mc_rng_normal(&rng)));
    ops->step(&step, 1, row, column, source, target);
    for (int64_t i = 0; i < count; i++) {
        const double f2 = get(precision, row, i / width), g2 = get(precision, column, i % width), t = f2 + g2;
        const double wanted = exp2(0.5 * get(precision, source, i) / t) * pow(4 * f2 * g2 / (t * t), 1.25);
        assert_close(get(precision, target, i), wanted, 30 * unit(precision));
    }
}

static void test_mean_lengths_are_those_of_gibbs(void **state) {
    (void)state;
    on_all(mean_lengths_are_those_of_gibbs);
}

/* Points far from the origin: the guard finds the distance of near pairs that the norms have lost. */
static void the_guard_sees_near_pairs(const mc_tile_ops *ops, mercer_dtype precision) {
    static double a[MC_TILE_ROWS_MAX], b[MC_TILE_COLUMNS_MAX], dot[MOST], out[MOST], row[MC_TILE_ROWS_MAX],
        column[MC_TILE_COLUMNS_MAX];
    const int64_t rows = ops->rows, width = ops->columns;
    for (int64_t r = 0; r < rows; r++)
        put(precision, a, r, 1000 + (double)r);
    for (int64_t j = 0; j < width; j++)
        put(precision, b, j, 1000 + (double)j + 0.125);
    for (int64_t r = 0; r < rows; r++)
        put(precision, row, r, -0.5 * get(precision, a, r) * get(precision, a, r));
    for (int64_t j = 0; j < width; j++)
        put(precision, column, j, -0.5 * get(precision, b, j) * get(precision, b, j));
    const mc_operands o = {.d = 1, .panels = 1, .a = a, .b = b, .stride = width};
    const mc_guard guard = {.share = 0.01, .direct = o};
    ops->statistic(MC_DOT, &o, false, dot);
    ops->radial(&guard, 1, row, column, dot, out);
    for (int64_t i = 0; i < rows * width; i++) {
        const double u = get(precision, a, i / width) - get(precision, b, i % width);
        assert_true(get(precision, out, i) == -0.5 * u * u);
    }
}

static void test_the_guard_sees_near_pairs(void **state) {
    (void)state;
    on_all(the_guard_sees_near_pairs);
}

static void products_multiply(const mc_tile_ops *ops, mercer_dtype precision) {
    enum { T = 5 * MC_TILE_LANES_MAX };
    static double K[MOST], w[PANELS * MC_TILE_COLUMNS_MAX * T], v[MC_TILE_ROWS_MAX * T],
        y[MC_TILE_ROWS_MAX * MC_TILE_LANES_MAX * T];
    static double z[PANELS * MC_TILE_COLUMNS_MAX * T];
    const int64_t rows = ops->rows, width = ops->columns, columns = PANELS * width;
    fill(precision, K, PANELS * rows * width, 1, 1);
    fill(precision, w, columns * T, 2, 1);
    fill(precision, v, rows * T, 3, 1);
    for (int64_t t = 0; t <= T; t += ops->lanes) { /* 0: the body for one right-hand side */
        const int64_t wide = t ? t : 1;
        double sums[MC_TILE_ROWS_MAX] = {0};
        memset(y, 0, sizeof y);
        memset(z, 0, sizeof z);
        if (t) {
            const mc_rhs_block rhs = {.t = t, .v_columns = w, .v_rows = v, .y_rows = y, .y_columns = z};
            ops->products(PANELS, K, &rhs);
        } else {
            const mc_rhs right = {.w_columns = w, .w_rows = v, .y_rows = y, .y_columns = z};
            ops->product(PANELS, K, &right);
            ops->sum(rows, 1, y, sums);
        }
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < wide; c++) {
                double sum = 0;
                for (int64_t j = 0; j < columns; j++)
                    sum +=
                        get(precision, K, (j / width * rows + r) * width + j % width) * get(precision, w, j * wide + c);
                assert_close(t ? get(precision, y, r * t + c) : sums[r], sum, 200 * unit(precision));
            }
        for (int64_t j = 0; j < columns; j++)
            for (int64_t c = 0; c < wide; c++) {
                double sum = 0;
                for (int64_t r = 0; r < rows; r++)
                    sum +=
                        get(precision, K, (j / width * rows + r) * width + j % width) * get(precision, v, r * wide + c);
                assert_close(get(precision, z, j * wide + c), sum, 50 * unit(precision));
            }
    }
}

static void test_products_multiply(void **state) {
    (void)state;
    on_all(products_multiply);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp2_is_right_to_two_units),
        cmocka_unit_test(test_statistics_are_sums_over_coordinates),
        cmocka_unit_test(test_bytes_multiply_without_rounding),
        cmocka_unit_test(test_steps_are_functions),
        cmocka_unit_test(test_powers_of_zero_and_below_are_those_of_c),
        cmocka_unit_test(test_large_powers_are_those_of_c),
        cmocka_unit_test(test_large_exponents_lose_no_digits),
        cmocka_unit_test(test_what_is_no_number_stays_so),
        cmocka_unit_test(test_vectors_scale_and_compare),
        cmocka_unit_test(test_mean_lengths_are_those_of_gibbs),
        cmocka_unit_test(test_the_guard_sees_near_pairs),
        cmocka_unit_test(test_products_multiply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
