/* Ticks are round and inside; contours lie on the level; colours of heat grow lighter; a canvas makes whole files. */
#include "draw/canvas.h"
#include "draw/contour.h"
#include "draw/ticks.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void ticks_are_few_round_and_inside(void **state) {
    (void)state;
    static const double ranges[][2] = {{0, 1}, {-3.7, 12.2}, {1e-9, 3e-9}, {-1e12, 4e12}, {0.99, 1.01}, {5, 5.0001}};
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        ticks t;
        ticks_make(&t, ranges[r][0], ranges[r][1], false);
        assert_in_range(t.count, 2, 12);
        for (int i = 0; i < t.count; i++) {
            assert_true(t.at[i] >= ranges[r][0] - 1e-9 * fabs(ranges[r][0]) && t.at[i] <= ranges[r][1] * (1 + 1e-9));
            assert_true(fabs(strtod(t.text[i], NULL) - t.at[i]) <= 1e-3 * (ranges[r][1] - ranges[r][0]));
        }
    }
}

static void ticks_of_a_logarithmic_axis_are_powers_of_ten(void **state) {
    (void)state;
    ticks t;
    ticks_make(&t, 3e-7, 2e4, true);
    for (int i = 0; i < t.count; i++)
        assert_true(fabs(log10(t.at[i]) - round(log10(t.at[i]))) < 1e-12);
    ticks_make(&t, 3, 45, true); /* few powers inside: 1, 2 and 5 times them */
    assert_int_equal(t.count, 3);
    assert_true(t.at[0] == 5 && t.at[1] == 10 && t.at[2] == 20);
    ticks_make(&t, 2.5, 4.5, true); /* none of those: linear ones */
    assert_true(t.count >= 2);
}

/* x^2 + y^2 = 1 over [-2, 2]^2, and the saddle x y = 0.1. */
static void contours_lie_on_the_level(void **state) {
    (void)state;
    enum { N = 81 };
    static double circle[N * N], saddle[N * N];
    static canvas_point at[4 * N * N], run[6 * N * N];
    const box b = {-2, -2, 2, 2};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const double x = -2 + 4.0 * j / (N - 1), y = -2 + 4.0 * i / (N - 1);
            circle[i * N + j] = x * x + y * y;
            saddle[i * N + j] = x * y;
        }
    int64_t points = contour_trace(circle, N, N, 1, b, at);
    assert_true(points > 100);
    for (int64_t i = 0; i < points; i++)
        assert_true(fabs(hypot(at[i].x, at[i].y) - 1) < 2e-3);
    int64_t joined = contour_join(at, points, run);
    assert_int_equal(joined, points / 2 + 2); /* one closed line: its first point again at the end, and the closing one
                                                 */
    points = contour_trace(saddle, N, N, 0.1, b, at);
    joined = contour_join(at, points, run);
    int lines = 0;
    for (int64_t i = 0; i < joined; i++)
        lines += isnan(run[i].x);
    assert_int_equal(lines, 2);
}

static void heat_grows_lighter(void **state) {
    (void)state;
    double before = -1;
    for (int k = 0; k <= 100; k++) {
        const colour c = colour_heat(k / 100.0);
        const double light = 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b;
        assert_true(light > before);
        before = light;
    }
    assert_true(colour_heat(-1).r == colour_heat(0).r && colour_heat(NAN).r == colour_heat(0).r
                && colour_heat(7).r == colour_heat(1).r);
}

static void a_canvas_makes_whole_files(void **state) {
    (void)state;
    static const char *const format[] = {"svg", "png", "pdf"}, *const head[] = {"<?xml", "\x89PNG", "%PDF"},
                             *const tail[] = {"</svg>\n", "IEND", "%%EOF\n"};
    for (int k = 0; k < 3; k++) {
        size_t size = 0;
        canvas *c = canvas_open(format[k], 200, 100);
        assert_non_null(c);
        canvas_line(c, (pen){.ink = colour_ink, .dash = 1}, (canvas_point[]){{0, 0}, {NAN, 1}, {50, 50}, {70, 20}}, 4);
        canvas_mark(c, (canvas_point){100, 50}, 3, 8, colour_of(1));
        canvas_mark(c, (canvas_point){NAN, 50}, 3, 8, colour_of(1));
        canvas_label(c, (canvas_point){10, 90}, "\xce\xb3 = 0.5", 9, SIDE_START, false, colour_ink);
        const char *bytes = canvas_finish(c, &size);
        assert_non_null(bytes);
        assert_memory_equal(bytes, head[k], strlen(head[k]));
        assert_non_null(memmem(bytes + size - 16, 16, tail[k], strlen(tail[k])));
        assert_int_equal(canvas_marks(c), 1);
        assert_string_equal(canvas_text(c, 0), "\xce\xb3 = 0.5");
        canvas_close(c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_are_few_round_and_inside),
        cmocka_unit_test(ticks_of_a_logarithmic_axis_are_powers_of_ten),
        cmocka_unit_test(contours_lie_on_the_level),
        cmocka_unit_test(heat_grows_lighter),
        cmocka_unit_test(a_canvas_makes_whole_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
