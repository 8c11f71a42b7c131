#include "hostile_kernel.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct writer {
    kernel_writer out;
    char atom[64]; /* the kernel that most of this expression is a multiple of */
    double close;  /* the last coefficient that was put next to a computed one */
} writer;

/* ---- numbers ---- */

/* Short decimals, mostly without an exact double, and doubles with all their digits. */
static double decimal(writer *w) {
    static const double nice[] = {0.1, 0.2, 0.3, 0.7, 1.1, 3, 7, 0.5, 2, 1, 0.9, 1e-3, 2.5, 0.6};
    return draw_below(&w->out, 3) ? nice[draw_below(&w->out, 14)] : exp(mc_rng_normal(w->out.rng));
}

static double extreme(writer *w) {
    static const double far[] = {1e-17, 1e17, 1e20, 1e-20, 1e150, 1e-150, 1e16, 1e-300, 1e300, 9007199254740993.0,
                                 1e-5};
    return draw_below(&w->out, 3) ? decimal(w) : far[draw_below(&w->out, 11)];
}

/* A double at most two away from v, remembered. */
static double close_to(writer *w, double v) {
    for (int64_t steps = draw_below(&w->out, 3); steps > 0; steps--)
        v = nextafter(v, draw_below(&w->out, 2) ? INFINITY : -INFINITY);
    return w->close = v;
}

static bool is_plain(double v) {
    return isfinite(v) && v != 0 && fabs(v) > 1e-300;
}

/* ---- differences of like kernels ---- */

static void pick_atom(writer *w) {
    static const char *const bare[] = {"linear", "linear", "cosine",       "white",
                                       "poly",   "arccos", "rbf(gamma=1)", "linear[1]"};
    if (draw_below(&w->out, 3))
        snprintf(w->atom, sizeof w->atom, "%s", bare[draw_below(&w->out, 8)]);
    else
        snprintf(w->atom, sizeof w->atom, "%s=%.17g)", draw_below(&w->out, 2) ? "rbf(gamma" : "matern(length_scale",
                 decimal(w));
}

static void product_of_two(writer *w) {
    const double a = extreme(w), b = extreme(w);
    put_text(&w->out, "%.17g*%.17g*%s - %.17g*%s", a, b, w->atom, close_to(w, a * b), w->atom);
}

static void product_of_extremes(writer *w) {
    static const double scale[][4] = {{1e-200, 1e-124, 1e124, 1e200},
                                      {1e200, 1e-200, 1, 1},
                                      {1e300, 1e-20, 1e-280, 1},
                                      {1e-160, 1e-160, 1e160, 1e160}};
    const double *s = scale[draw_below(&w->out, 4)];
    double product = 1;
    for (int i = 0; i < 4; i++) {
        const double a = nearbyint(1 + 8 * mc_rng_uniform(w->out.rng));
        product *= a;
        put_text(&w->out, "%.17g*", a * s[i]);
    }
    put_text(&w->out, "%s - %.17g*%s", w->atom, close_to(w, product), w->atom);
}

static void sum_of_two(writer *w) {
    const double a = extreme(w), b = extreme(w);
    put_text(&w->out, "%.17g*%s + %.17g*%s - %.17g*%s", a, w->atom, b, w->atom, close_to(w, a + b), w->atom);
}

static void sum_of_numbers(writer *w) {
    const double a = extreme(w), b = extreme(w);
    put_text(&w->out, "(%.17g - %.17g)*%s - %.17g*%s", a, b, w->atom, close_to(w, a - b), w->atom);
}

static void power_of_multiple(writer *w) {
    const double a = decimal(w);
    const int n = 2 + (int)draw_below(&w->out, 2);
    put_text(&w->out, "(%.17g*%s)^%d - %.17g*%s^%d", a, w->atom, n, close_to(w, pow(a, n)), w->atom, n);
}

static void weighed(writer *w) {
    const double a = decimal(w);
    put_text(&w->out, "weigh(%.17g, %s) - %.17g*%s", a, w->atom, close_to(w, a * a), w->atom);
}

static void exponential(writer *w) {
    const double a = decimal(w) * (draw_below(&w->out, 2) ? 1 : -1);
    put_text(&w->out, "exp(%.17g)*%s - %.17g*%s", a, w->atom, close_to(w, exp(a)), w->atom);
}

static void power_of_number(writer *w) {
    static const double p[] = {0.5, -1, 1.5, 3, -2, 0.1};
    const double a = decimal(w), q = p[draw_below(&w->out, 6)];
    put_text(&w->out, "%.17g^%.17g*%s - %.17g*%s", a, q, w->atom, close_to(w, pow(a, q)), w->atom);
}

static void hyperbolic(writer *w) {
    const double a = decimal(w);
    put_text(&w->out, "tanh(a=0, c=%.17g)*%s - %.17g*%s", a, w->atom, close_to(w, tanh(a)), w->atom);
}

/* Quotients and roots, whose differences may be exactly 0 without ever being computed so. */
static void quotient(writer *w) {
    const double a = decimal(w), b = decimal(w);
    put_text(&w->out, "%.17g^-1*%.17g*%s - %.17g*%s", a, b, w->atom, close_to(w, b / a), w->atom);
}

static void product_of_roots(writer *w) {
    const double a = decimal(w), b = draw_below(&w->out, 2) ? a : decimal(w), p = draw_below(&w->out, 2) ? 0.5 : 1.5;
    put_text(&w->out, "%.17g^%.17g*%.17g^0.5*%s - %.17g*%s", a, p, b, w->atom, close_to(w, pow(a, p) * sqrt(b)),
             w->atom);
}

static void weighed_by_function(writer *w) {
    static const char *const names[] = {"cos", "sin", "tanh", "exp", "sqrt"};
    static double (*const functions[])(double) = {cos, sin, tanh, exp, sqrt};
    const double a = decimal(w);
    const int64_t k = draw_below(&w->out, 5);
    put_text(&w->out, "weigh(%s(%.17g), %s) - %.17g*%s", names[k], a, w->atom, close_to(w, pow(functions[k](a), 2)),
             w->atom);
}

/* ---- other places where a number decides ---- */

static void normalised(writer *w) {
    static const double slivers[] = {1e-17, 1e-16, 3e-16, 1e-10, 0.1, 1e-20};
    const double s = slivers[draw_below(&w->out, 6)];
    put_text(&w->out, "normalize(rbf(gamma=1) + %.17g) - %.17g*rbf(gamma=1) - %.17g", s,
             draw_below(&w->out, 2) ? 1 : close_to(w, 1 / (1 + s)),
             draw_below(&w->out, 2) ? s : close_to(w, s / (1 + s)));
}

static void first_coefficient(writer *w) {
    const double a = decimal(w);
    put_text(&w->out, "exp(%.17g*%s) - 1 - %.17g*%s", a, w->atom, close_to(w, a), w->atom);
}

static void second_coefficient(writer *w) {
    const double a = decimal(w);
    put_text(&w->out, "exp(%.17g*%s) - %.17g*%s^2", a, w->atom, close_to(w, a * a / 2), w->atom);
}

static void shifted_exponent(writer *w) {
    const double a = decimal(w);
    put_text(&w->out, "exp(%s - %.17g) - %.17g*exp(%s)", w->atom, a, close_to(w, exp(-a)), w->atom);
}

static void real_power(writer *w) {
    const double a = decimal(w), b = decimal(w);
    put_text(&w->out, "(%.17g*exp(%.17g*%s))^0.5 - %.17g*exp(%.17g*%s)", a, b, w->atom, close_to(w, sqrt(a)), b / 2,
             w->atom);
}

static void binomial(writer *w) {
    const double a = decimal(w);
    put_text(&w->out, "(%s + %.17g)^2 - %.17g*%s - %.17g", w->atom, a, 2 * a, w->atom, close_to(w, a * a));
}

static void polynomial(writer *w) {
    const double a = decimal(w), g = decimal(w);
    put_text(&w->out, "poly(degree=2, c=%.17g, gamma=%.17g) - %.17g*linear - %.17g", a, g, close_to(w, 2 * a * g),
             close_to(w, a * a));
}

static void two_gaussians(writer *w) {
    const double g = decimal(w), h = g * exp(-mc_rng_uniform(w->out.rng));
    put_text(&w->out, "rbf(gamma=%.17g) - %.17g*rbf(gamma=%.17g)", g, close_to(w, pow(h / g, (double)w->out.d / 2)), h);
}

static void product_of_gaussians(writer *w) {
    const double a = decimal(w), b = decimal(w);
    put_text(&w->out, "rbf(gamma=%.17g)*rbf(gamma=%.17g) - rbf(gamma=%.17g)", a, b, close_to(w, a + b));
}

static void matrix(writer *w) {
    const double a = decimal(w), b = decimal(w);
    put_text(&w->out, "form([[%.17g, %.17g], [%.17g, %.17g]])[1:2]", a, b, b, close_to(w, b * b / a));
}

static void inverse(writer *w) {
    static const double slivers[] = {1e-17, 2e-16, -1e-17, 1e-3, -1e-16, 0};
    put_text(&w->out, "(1 + %.17g - %s)^-1", slivers[draw_below(&w->out, 6)],
             draw_below(&w->out, 2) ? "cosine" : "rbf(gamma=1)");
}

typedef void template(writer *);

static template *const templates[] = {
    product_of_two,    product_of_two, product_of_extremes, sum_of_two,          sum_of_numbers,
    power_of_multiple, weighed,        exponential,         power_of_number,     hyperbolic,
    normalised,        matrix,         first_coefficient,   second_coefficient,  shifted_exponent,
    real_power,        binomial,       polynomial,          two_gaussians,       product_of_gaussians,
    inverse,           quotient,       product_of_roots,    weighed_by_function,
};
enum { TEMPLATES = sizeof templates / sizeof templates[0] };

static void difference(writer *w) {
    w->close = 1;
    templates[draw_below(&w->out, TEMPLATES)](w);
    if (draw_below(&w->out, 2))
        put_text(&w->out, " %c %.17g*%s", draw_below(&w->out, 2) ? '+' : '-',
                 fabs(w->close) * 0x1p-53 * 3 * mc_rng_uniform(w->out.rng) + 1e-300, w->atom);
}

static const struct {
    const char *before, *after;
} covers[] = {{"1e20*(", ")"},
              {"0.1*(", ")"},
              {"exp(0.1*(", "))"},
              {"normalize(", ")"},
              {"weigh(cos(x[1]), ", ")"},
              {"1e-200*(", ")*1e200"},
              {"1*(", ")"},
              {"(", ")^2"},
              {"(", ")*linear"},
              {"(", ") + 0.1*linear"},
              {"(", ")[1, 2]"},
              {"3*(", ")*0.1"},
              {"-(-(", "))"},
              {"linear + 1e-20*(", ")"}};
enum { COVERS = sizeof covers / sizeof covers[0] };

void hostile_kernel(mc_rng *rng, int64_t d, char text[RANDOM_KERNEL_SIZE]) {
    char inner[RANDOM_KERNEL_SIZE];
    writer w = {.out = {.rng = rng, .text = text, .d = d}};
    do { /* a coefficient beyond the doubles, or near 0, is not a number that parses */
        w.out.length = 0;
        pick_atom(&w);
        difference(&w);
    } while (!is_plain(w.close));
    for (int64_t layers = draw_below(&w.out, 3); layers > 0; layers--) {
        const int64_t cover = draw_below(&w.out, COVERS);
        snprintf(inner, sizeof inner, "%s", text);
        w.out.length = 0;
        put_text(&w.out, "%s%s%s", covers[cover].before, inner, covers[cover].after);
    }
}
