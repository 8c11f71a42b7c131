#include "cancelling_kernel.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static double draw_number(kernel_writer *w) {
    static const double nice[] = {1, 2, 0.5, 0.25, 3, 0.1, 4, 0.75};
    return draw_below(w, 4) ? nice[draw_below(w, 8)] : nearbyint(1000 * exp(mc_rng_normal(w->rng))) / 1000 + 0.001;
}

/* ---- polynomials in the columns ---- */

static void symmetric_form(kernel_writer *w) {
    const double a = (double)draw_below(w, 4), b = (double)draw_below(w, 5) - 2, c = (double)draw_below(w, 4);
    put_text(w, "form([[%g, %g], [%g, %g]])[1:2]", a, b, b, c);
}

static void polynomial_weight(kernel_writer *w) {
    static const char *const f[] = {"x[1]",        "1 + x[1]",     "x[1] - x[2]", "x[2]^2 - 1",
                                    "x[1]*x[2]/2", "norm2 - x[1]", "-x[1]",       "2 - x[1]*3"};
    put_text(w, "weigh(%s, %s)", f[draw_below(w, 8)],
             (const char *[]){"1", "linear", "linear[1]", "poly[1]"}[draw_below(w, 4)]);
}

static void polynomial_part(kernel_writer *w) {
    static const char *const parts[] = {"linear",
                                        "linear[1]",
                                        "linear[2]",
                                        "linear[1:2]",
                                        "poly[1:2]",
                                        "poly[1]",
                                        "linear[1]*linear[2]",
                                        "linear^2",
                                        "linear[1]^2",
                                        "linear*linear[2]",
                                        "1",
                                        "poly(degree=3)[1]",
                                        "(linear[2] + linear)[2, 1]",
                                        "rbf(gamma=1)*linear[1]",
                                        "rbf(gamma=1)*linear"};
    const int64_t kind = draw_below(w, 19);
    if (kind < 15)
        put_text(w, "%s", parts[kind]);
    else if (kind < 17)
        symmetric_form(w);
    else
        polynomial_weight(w);
}

/* ---- Gaussians unfolded ---- */

static void unfolded_part(kernel_writer *w) {
    static const char *const parts[] = {"rbf(gamma=1)",
                                        "weigh(exp(-norm2), 1)",
                                        "weigh(exp(-norm2), linear)",
                                        "weigh(exp(-norm2), exp(linear))",
                                        "weigh(exp(-norm2), linear^2)",
                                        "rbf(gamma=0.5)",
                                        "normalize(exp(linear))",
                                        "weigh(exp(-norm2/2), 1 + linear)",
                                        "weigh(exp(-norm2/2), rbf(gamma=0.5))",
                                        "rbf(gamma=1)*linear",
                                        "normalize(3*exp(2*linear))",
                                        "weigh(exp(1 - norm2), exp(2*linear - 2))",
                                        "rbf(gamma=1)[1]",
                                        "weigh(exp(-norm2), exp(linear) + 1)[1]"};
    put_text(w, "%s", parts[draw_below(w, 14)]);
}

/* ---- the angle, equal points, other series ---- */

static void angle_part(kernel_writer *w) {
    static const char *const parts[] = {"arccos(order=0)",
                                        "arccos",
                                        "arccos(order=2)",
                                        "linear",
                                        "linear^2",
                                        "weigh(norm2, 1)",
                                        "1",
                                        "cosine",
                                        "normalize(linear*rbf(gamma=1))",
                                        "cosine*rbf(gamma=1)",
                                        "normalize(linear^2)",
                                        "cosine^2"};
    put_text(w, "%s", parts[draw_below(w, 12)]);
}

static void equal_part(kernel_writer *w) {
    static const char *const parts[] = {"white",
                                        "white*rbf(gamma=1)",
                                        "white*laplacian(gamma=2)",
                                        "white*(1 - rbf(gamma=2))",
                                        "white*tanh(a=1, c=0)",
                                        "white*exp(rbf(gamma=1))",
                                        "white*linear",
                                        "white[1]",
                                        "rbf(gamma=1)",
                                        "white*(linear - 1)"};
    put_text(w, "%s", parts[draw_below(w, 10)]);
}

static void series_part(kernel_writer *w) {
    static const char *const g[] = {"linear", "cosine", "rbf(gamma=1)"};
    const char *name = g[w->d % 3];
    switch (draw_below(w, 4)) {
    case 0: put_text(w, "exp(%g*%s)", draw_number(w), name); break;
    case 1: put_text(w, "%s^%d*exp(%g*%s)", name, (int)draw_below(w, 4), draw_number(w), name); break;
    case 2: put_text(w, "exp(-%g*%s)", draw_number(w), name); break;
    default: put_text(w, "%s^%d", name, (int)draw_below(w, 6));
    }
}

/* ---- stationary kernels ---- */

static void stationary_part(kernel_writer *w) {
    static const char *const names[] = {"rbf(gamma=%g)",
                                        "exponential(gamma=%g)",
                                        "laplacian(gamma=%g)",
                                        "matern(nu=0.5, length_scale=%g)",
                                        "matern(nu=1.5, length_scale=%g)",
                                        "matern(nu=2.5, length_scale=%g)",
                                        "rq(alpha=1, length_scale=%g)",
                                        "rq(alpha=0.5, length_scale=%g)",
                                        "periodic(length_scale=%g)",
                                        "exponential(gamma=%g)^2",
                                        "matern(nu=0.7, length_scale=%g)",
                                        "matern(nu=3, length_scale=%g)",
                                        "rq(alpha=2, length_scale=%g)",
                                        "sinc(length_scale=%g)",
                                        "sinc(length_scale=%g)^2"};
    const int64_t kind = draw_below(w, 18);
    if (kind > 14)
        put_text(w, "%g", 0.1);
    else {
        const char *name = names[kind], *place = strchr(name, '%');
        put_text(w, "%.*s%g%s", (int)(place - name), name, draw_number(w), place + 2);
    }
}

/* ---- the sphere, and what has two names ---- */

static void sphere_part(kernel_writer *w) {
    if (draw_below(w, 4))
        put_text(w, "cosine^%d", (int)draw_below(w, 6));
    else
        put_text(w, "exp(%g*cosine)", draw_number(w));
}

static void named_part(kernel_writer *w) {
    static const char *const parts[] = {"linear",
                                        "brownian(hurst=1)",
                                        "brownian(hurst=0.5)",
                                        "power(p=1, centred=1)",
                                        "power(p=2, centred=1)",
                                        "exp(power(p=2))",
                                        "exp(0.5*power(p=2))",
                                        "rbf(gamma=0.5)",
                                        "rbf(gamma=1)",
                                        "gibbs(1)",
                                        "gibbs(0.5)",
                                        "exp(2*power(p=1))",
                                        "exponential(gamma=2)"};
    put_text(w, "%s", parts[draw_below(w, 13)]);
}

/* Functions by power series of one argument, and powers of it. */
static void function_part(kernel_writer *w) {
    static const char *const parts[] = {
        "arcsin(cosine)", "bessel_i0(cosine)", "logarithmic(0.5*cosine)", "arcsin(cosine)^2", "cosine", "exp(cosine)"};
    if (draw_below(w, 3))
        put_text(w, "cosine^%d", (int)draw_below(w, 8));
    else
        put_text(w, "%s", parts[draw_below(w, 6)]);
}

/* What is left of a kernel when a multiple of k(x, 0) k(0, z) is taken away. */
static void conditioned_part(kernel_writer *w) {
    static const char *const parts[] = {
        "exponential(gamma=1)",     "exponential(gamma=1)",        "rbf(gamma=0.5)*exponential(gamma=1)",
        "weigh(exp(-norm), 1)",     "weigh(exp(-norm), 1)",        "weigh(exp(-norm - norm2/2), 1)",
        "weigh(2*exp(-norm), 0.5)", "rq(alpha=1, length_scale=1)", "weigh(1/(1 + norm2/2), 1)"};
    put_text(w, "%s", parts[draw_below(w, 9)]);
}

typedef void part(kernel_writer *);

void cancelling_kernel(mc_rng *rng, int64_t d, char text[RANDOM_KERNEL_SIZE]) {
    static part *const parts[] = {polynomial_part, polynomial_part, unfolded_part,   angle_part,
                                  equal_part,      series_part,     stationary_part, stationary_part,
                                  sphere_part,     named_part,      function_part,   conditioned_part};
    kernel_writer w = {.rng = rng, .text = text, .d = d};
    part *const one = parts[draw_below(&w, 12)];
    const int64_t count = 2 + draw_below(&w, 3);
    const bool one_column = one == stationary_part && draw_below(&w, 2);
    put_text(&w, "%s", one_column ? "(" : "");
    for (int64_t i = 0; i < count; i++) {
        put_text(&w, "%s", i == 0 ? "" : draw_below(&w, 2) ? " - " : " + ");
        if (draw_below(&w, 3))
            put_text(&w, "%g*", draw_number(&w));
        one(&w);
    }
    put_text(&w, "%s", one_column ? ")[1]" : "");
}
