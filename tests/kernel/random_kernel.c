#include "random_kernel.h"
#include <stdio.h>
#include <string.h>

static void number(kernel_writer *w) {
    static const char *const nice[] = {"1", "2", "0.5", "3", "0.1", "1e-3", ".25", "7."};
    if (draw_below(w, 3))
        put_text(w, "%s", nice[draw_below(w, 8)]);
    else
        put_text(w, "%.17g", 0.01 + 3 * mc_rng_uniform(w->rng));
}

static void numbers(kernel_writer *w, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        put_text(w, "%s", i ? " , " : "");
        number(w);
    }
}

/* "name=value", a vector now and then. */
static void width(kernel_writer *w, const char *name, int64_t d) {
    put_text(w, "%s=", name);
    if (draw_below(w, 3))
        number(w);
    else {
        put_text(w, "[");
        numbers(w, d);
        put_text(w, "]");
    }
}

static void form(kernel_writer *w, int64_t d) {
    put_text(w, "form([");
    for (int64_t i = 0; i < d; i++) {
        put_text(w, "%s", i ? "], [" : "[");
        for (int64_t j = 0; j < d; j++)
            put_text(w, "%s%lld", j ? ", " : "", (long long)(i == j ? 3 : (i + j) % 3 - 1));
    }
    put_text(w, "]])");
}

static void atom(kernel_writer *w, int64_t d) {
    static const char *const widths[][2] = {
        {"rbf", "gamma"},
        {"rbf", "sigma"},
        {"laplacian", "gamma"},
        {"laplacian", "length_scale"},
        {"exponential", "gamma"},
        {"matern", "length_scale"},
        {"rq", "length_scale"},
        {"periodic", "period"},
        {"periodic", "length_scale"},
    };
    static const char *const bare[] = {"linear",
                                       "poly",
                                       "cosine",
                                       "chi2",
                                       "intersection",
                                       "arccos(0)",
                                       "white",
                                       "arccos",
                                       "arccos(order=2)",
                                       "tanh(a=.1, c=-.2)",
                                       "sigmoid(0.3)",
                                       "poly(3, coef0=0)",
                                       "poly(gamma=.3,c=2,degree=2)",
                                       "tanimoto",
                                       "additive_chi2",
                                       "wendland(k=2, dimension=4, length_scale=3)",
                                       "wendland(0, radius=2)",
                                       "sinc(length_scale=2)",
                                       "brownian(0.7)",
                                       "power(1.5, centred=1)",
                                       "log(1, length_scale=2, centred=1)",
                                       "multiquadric(0.5)",
                                       "thin_plate",
                                       "spline",
                                       "gibbs(1 + norm2)",
                                       "matern(nu=0.8, length_scale=2)",
                                       "imq(length_scale=1.5)"};
    const int64_t kind = draw_below(w, 34);
    if (kind < 9) {
        put_text(w, "%s( ", widths[kind][0]);
        width(w, widths[kind][1], d);
        put_text(w, " )");
    } else if (kind < 32)
        put_text(w, "%s", bare[kind - 9]);
    else if (kind == 32)
        form(w, d);
    else
        number(w);
}

static void function(kernel_writer *w, int64_t d, int depth) {
    static const char *const calls[] = {"exp", "sin", "cos", "tanh", "abs", "sqrt", "log"};
    static const char *const marks[] = {"+", "-", "*", "/", "^"};
    switch (depth ? draw_below(w, 8) : draw_below(w, 4)) {
    case 0: put_text(w, "norm2"); break;
    case 1: put_text(w, "norm"); break;
    case 2: put_text(w, "x[%lld]", (long long)(1 + draw_below(w, d))); break;
    case 3: number(w); break;
    case 4:
        put_text(w, "-");
        function(w, d, depth - 1);
        break;
    case 5:
        put_text(w, "%s(", calls[draw_below(w, 7)]);
        function(w, d, depth - 1);
        put_text(w, ")");
        break;
    case 6:
        put_text(w, "(");
        function(w, d, depth - 1);
        put_text(w, ")%s", marks[draw_below(w, 5)]);
        function(w, d, 0);
        break;
    default:
        function(w, d, depth - 1);
        put_text(w, " %s ", marks[draw_below(w, 5)]);
        function(w, d, depth - 1);
    }
}

static void expression(kernel_writer *w, int64_t d, int depth);

static void columns(kernel_writer *w, int64_t d, int depth) {
    const int64_t count = 1 + draw_below(w, d), first = draw_below(w, d - count + 1);
    put_text(w, "(");
    expression(w, count, depth);
    if (draw_below(w, 2))
        put_text(w, ")[%lld:%lld]", (long long)first + 1, (long long)(first + count));
    else
        for (int64_t j = count - 1; j >= 0; j--)
            put_text(w, "%s%lld%s", j == count - 1 ? ")[" : ",", (long long)(first + j + 1), j ? "" : "]");
}

/* A kernel of one column, summed over sets of columns. */
static void sets_of_columns(kernel_writer *w, int64_t d) {
    const int64_t count = 1 + draw_below(w, d), first = draw_below(w, d - count + 1);
    put_text(w, "%s(", draw_below(w, 2) ? "additive" : "anova");
    atom(w, 1);
    put_text(w, ", order=%lld)[%lld:%lld]", (long long)(1 + draw_below(w, count < 3 ? count : 3)), (long long)first + 1,
             (long long)(first + count));
}

static void series(kernel_writer *w, int64_t d, int depth) {
    put_text(w, "series(");
    if (draw_below(w, 2)) {
        put_text(w, "(");
        expression(w, d, depth > 0 ? 1 : 0);
        put_text(w, "), ");
    }
    for (int64_t i = draw_below(w, 4); i >= 0; i--) {
        put_text(w, "%s", draw_below(w, 5) ? "" : "-");
        number(w);
        put_text(w, "%s%s", (const char *[]){"", "/3", "/-2"}[draw_below(w, 3)], i ? ", " : ")");
    }
}

static void wrapped(kernel_writer *w, int64_t d, int depth) {
    static const char *const calls[] = {"(", "exp(-", "normalize(", "("};
    static const char *const functions[] = {"arcsin(", "logarithmic(0.5*", "bessel_i0("};
    const int64_t kind = draw_below(w, 8);
    if (kind == 7) {
        series(w, d, depth);
        return;
    }
    if (kind == 6) {
        sets_of_columns(w, d);
        return;
    }
    if (kind == 5) {
        columns(w, d, depth);
        return;
    }
    if (kind == 4) {
        put_text(w, "weigh(");
        function(w, d, 2);
        put_text(w, ", ");
    } else
        put_text(w, "%s", draw_below(w, 6) ? calls[kind] : functions[draw_below(w, 3)]);
    expression(w, d, depth);
    put_text(w, ")");
    if (kind == 3)
        put_text(w, "^%s", (const char *[]){"2", "1", "3", "0.5", "0"}[draw_below(w, 5)]);
}

static void expression(kernel_writer *w, int64_t d, int depth) {
    static const char *const marks[] = {" + ", " - ", "*", "* -"};
    const int64_t parts = 1 + draw_below(w, 3);
    for (int64_t i = 0; i < parts; i++) {
        put_text(w, "%s", i ? marks[draw_below(w, 4)] : draw_below(w, 8) ? "" : "-");
        if (depth == 0 || draw_below(w, 2) || w->length > RANDOM_KERNEL_SIZE / 2)
            atom(w, d);
        else
            wrapped(w, d, depth - 1);
        if (!draw_below(w, 8))
            put_text(w, "/ %s", (const char *[]){"3", "-5", ".7", "2"}[draw_below(w, 4)]);
    }
}

void random_kernel(mc_rng *rng, int64_t d, char text[RANDOM_KERNEL_SIZE]) {
    kernel_writer w = {.rng = rng, .text = text, .d = d};
    expression(&w, d, 3);
}
