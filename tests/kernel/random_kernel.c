#include "random_kernel.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct writer {
    mc_rng *rng;
    char *text;
    size_t length;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(w->text + w->length, RANDOM_KERNEL_SIZE - w->length, format, args);
    va_end(args);
    w->length += (size_t)n;
}

static int64_t below(writer *w, int64_t n) {
    return mc_rng_below(w->rng, n);
}

static void number(writer *w) {
    static const char *const nice[] = {"1", "2", "0.5", "3", "0.1", "1e-3", ".25", "7."};
    if (below(w, 3))
        put(w, "%s", nice[below(w, 8)]);
    else
        put(w, "%.17g", 0.01 + 3 * mc_rng_uniform(w->rng));
}

static void numbers(writer *w, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        put(w, "%s", i ? " , " : "");
        number(w);
    }
}

/* "name=value", a vector now and then. */
static void width(writer *w, const char *name, int64_t d) {
    put(w, "%s=", name);
    if (below(w, 3))
        number(w);
    else {
        put(w, "[");
        numbers(w, d);
        put(w, "]");
    }
}

static void form(writer *w, int64_t d) {
    put(w, "form([");
    for (int64_t i = 0; i < d; i++) {
        put(w, "%s", i ? "], [" : "[");
        for (int64_t j = 0; j < d; j++)
            put(w, "%s%lld", j ? ", " : "", (long long)(i == j ? 3 : (i + j) % 3 - 1));
    }
    put(w, "]])");
}

static void atom(writer *w, int64_t d) {
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
                                       "spline",
                                       "gibbs(1 + norm2)",
                                       "matern(nu=0.8, length_scale=2)",
                                       "imq(length_scale=1.5)"};
    const int64_t kind = below(w, 34);
    if (kind < 9) {
        put(w, "%s( ", widths[kind][0]);
        width(w, widths[kind][1], d);
        put(w, " )");
    } else if (kind < 32)
        put(w, "%s", bare[kind - 9]);
    else if (kind == 32)
        form(w, d);
    else
        number(w);
}

static void function(writer *w, int64_t d, int depth) {
    static const char *const calls[] = {"exp", "sin", "cos", "tanh", "abs", "sqrt", "log"};
    static const char *const marks[] = {"+", "-", "*", "/", "^"};
    switch (depth ? below(w, 8) : below(w, 4)) {
    case 0: put(w, "norm2"); break;
    case 1: put(w, "norm"); break;
    case 2: put(w, "x[%lld]", (long long)(1 + below(w, d))); break;
    case 3: number(w); break;
    case 4:
        put(w, "-");
        function(w, d, depth - 1);
        break;
    case 5:
        put(w, "%s(", calls[below(w, 7)]);
        function(w, d, depth - 1);
        put(w, ")");
        break;
    case 6:
        put(w, "(");
        function(w, d, depth - 1);
        put(w, ")%s", marks[below(w, 5)]);
        function(w, d, 0);
        break;
    default:
        function(w, d, depth - 1);
        put(w, " %s ", marks[below(w, 5)]);
        function(w, d, depth - 1);
    }
}

static void expression(writer *w, int64_t d, int depth);

static void columns(writer *w, int64_t d, int depth) {
    const int64_t count = 1 + below(w, d), first = below(w, d - count + 1);
    put(w, "(");
    expression(w, count, depth);
    if (below(w, 2))
        put(w, ")[%lld:%lld]", (long long)first + 1, (long long)(first + count));
    else
        for (int64_t j = count - 1; j >= 0; j--)
            put(w, "%s%lld%s", j == count - 1 ? ")[" : ",", (long long)(first + j + 1), j ? "" : "]");
}

static void wrapped(writer *w, int64_t d, int depth) {
    static const char *const calls[] = {"(", "exp(-", "normalize(", "("};
    const int64_t kind = below(w, 6);
    if (kind == 5) {
        columns(w, d, depth);
        return;
    }
    if (kind == 4) {
        put(w, "weigh(");
        function(w, d, 2);
        put(w, ", ");
    } else
        put(w, "%s", calls[kind]);
    expression(w, d, depth);
    put(w, ")");
    if (kind == 3)
        put(w, "^%s", (const char *[]){"2", "1", "3", "0.5", "0"}[below(w, 5)]);
}

static void expression(writer *w, int64_t d, int depth) {
    static const char *const marks[] = {" + ", " - ", "*", "* -"};
    const int64_t parts = 1 + below(w, 3);
    for (int64_t i = 0; i < parts; i++) {
        put(w, "%s", i ? marks[below(w, 4)] : below(w, 8) ? "" : "-");
        if (depth == 0 || below(w, 2) || w->length > RANDOM_KERNEL_SIZE / 2)
            atom(w, d);
        else
            wrapped(w, d, depth - 1);
    }
}

void random_kernel(mc_rng *rng, int64_t d, char text[RANDOM_KERNEL_SIZE]) {
    writer w = {rng, text, 0};
    expression(&w, d, 3);
}
