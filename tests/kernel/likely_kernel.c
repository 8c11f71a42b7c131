#include "likely_kernel.h"
#include <math.h>
#include <string.h>

static double size(kernel_writer *w) {
    static const double nice[] = {1, 2, 0.5, 0.25, 3, 0.1};
    return draw_below(w, 4) ? nice[draw_below(w, 6)] : nearbyint(1000 * exp(mc_rng_normal(w->rng))) / 1000 + 0.001;
}

static void atom(kernel_writer *w) {
    static const char *const bare[] = {"linear",
                                       "cosine",
                                       "chi2",
                                       "intersection",
                                       "arccos",
                                       "arccos(order=0)",
                                       "white",
                                       "linear",
                                       "tanimoto",
                                       "additive_chi2",
                                       "wendland(k=1, dimension=4, length_scale=2)",
                                       "sinc(length_scale=2)",
                                       "brownian",
                                       "spline",
                                       "gibbs(0.5 + x[1]^2)",
                                       "wendland(k=0, dimension=2, length_scale=3)"};
    static const char *const scaled[] = {"rbf(gamma=%g)",
                                         "laplacian(gamma=%g)",
                                         "exponential(gamma=%g)",
                                         "matern(nu=1.5, length_scale=%g)",
                                         "matern(nu=2.5, length_scale=%g)",
                                         "rq(alpha=0.7, length_scale=%g)",
                                         "periodic(period=%g)",
                                         "rbf(gamma=%g)",
                                         "rbf(gamma=%g)[1]",
                                         "poly(degree=2, c=%g)",
                                         "poly(degree=3, gamma=%g)"};
    if (draw_below(w, 2))
        put_text(w, "%s", bare[draw_below(w, 16)]);
    else {
        char format[64];
        strcpy(format, scaled[draw_below(w, 11)]);
        char *place = strstr(format, "%g");
        *place = '\0';
        put_text(w, "%s%g%s", format, size(w), place + 2);
    }
}

static void expression(kernel_writer *w, int depth);

static void call(kernel_writer *w, const char *before, int depth, const char *after) {
    put_text(w, "%s", before);
    expression(w, depth);
    put_text(w, "%s", after);
}

static void part(kernel_writer *w, int depth) {
    switch (depth ? draw_below(w, 15) : 0) {
    case 1: call(w, "exp(0.1*(", depth - 1, "))"); break;
    case 2: call(w, "normalize(", depth - 1, ")"); break;
    case 3: call(w, "weigh(cos(x[2]), ", depth - 1, ")"); break;
    case 4: call(w, "(", depth - 1, ")^2"); break;
    case 5: call(w, "(", depth - 1, ")[1, 2]"); break;
    case 6: call(w, "(", depth - 1, draw_below(w, 4) ? ")" : ")^0.5"); break;
    case 7: call(w, "exp(", depth - 1, " - 1)"); break;
    case 8:
        call(w, draw_below(w, 2) ? "(2 - (1 - 0.5*normalize(" : "(1 - (1 - normalize(", depth - 1, "))^0.5)");
        break;
    case 9: call(w, "(1.5 - normalize(", depth - 1, draw_below(w, 2) ? "))^-0.7" : "))^-2"); break;
    case 10: call(w, "(-0.5 - exp(-1*(", depth - 1, ")))^-3"); break;
    case 11:
        call(w, draw_below(w, 2) ? "(-1*multiquadric - exp(" : "(power(p=1) - 0.3*exp(", depth - 1, "))^-2");
        break;
    case 12: call(w, draw_below(w, 2) ? "arcsin(normalize(" : "logarithmic(0.9*normalize(", depth - 1, "))"); break;
    case 13: call(w, "bessel_i0(", depth - 1, ")"); break;
    default: atom(w);
    }
}

static void expression(kernel_writer *w, int depth) {
    const int64_t parts = 1 + draw_below(w, 3);
    for (int64_t i = 0; i < parts; i++) {
        put_text(w, "%s", i == 0 ? "" : draw_below(w, 6) == 0 ? " - " : draw_below(w, 2) ? " + " : "*");
        if (draw_below(w, 3) == 0)
            put_text(w, "%g*", size(w));
        part(w, depth);
    }
}

void likely_kernel(mc_rng *rng, int64_t d, char text[RANDOM_KERNEL_SIZE]) {
    kernel_writer w = {.rng = rng, .text = text, .d = d};
    expression(&w, 2);
}
