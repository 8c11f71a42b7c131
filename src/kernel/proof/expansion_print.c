/* expansion_print.c: sums that were multiplied out, as people write them. */
#include "kernel/language/canonical_text.h"
#include "kernel/language/function.h"
#include "kernel/proof/expand.h"
#include "kernel/proof/term_print.h"
#include <math.h>

/* "*" between factors, none before the first. */
static void print_star(bool *first, mc_text *out) {
    mc_text_add(out, "%s", *first ? "" : "*");
    *first = false;
}

static double interval_midpoint(mc_interval a) {
    return a.lo + (a.hi - a.lo) / 2;
}

static void print_powers(const mc_expansion *e, const mc_monomial *m, bool *first, mc_text *out) {
    for (int g = 0; g < e->generators; g++) {
        if (m->power[g] == 0)
            continue;
        print_star(first, out);
        mc_term_print_in(e->generator[g], m->power[g] > 1 ? MC_LEVEL_VIEW : MC_LEVEL_SIGN, out);
        if (m->power[g] > 1)
            mc_text_add(out, "^%d", m->power[g]);
    }
}

static void print_rates(const mc_expansion *e, const mc_monomial *m, bool *first, mc_text *out) {
    bool opened = false;
    for (int g = 0; g < e->generators; g++) {
        const double rate = interval_midpoint(m->rate[g]);
        if (rate == 0)
            continue;
        if (!opened)
            print_star(first, out);
        mc_text_add(out, "%s", !opened ? (rate < 0 ? "exp(-" : "exp(") : rate < 0 ? " - " : " + ");
        if (fabs(rate) != 1)
            mc_text_add(out, "%.6g*", fabs(rate));
        mc_term_print_in(e->generator[g], MC_LEVEL_SIGN, out);
        opened = true;
    }
    mc_text_add(out, "%s", opened ? ")" : "");
}

static void print_widths(const mc_monomial *m, bool *first, mc_text *out) {
    if (interval_midpoint(m->width) != 0) {
        print_star(first, out);
        mc_text_add(out, "rbf(gamma=%.6g)", interval_midpoint(m->width));
    }
    for (int j = 0; j < MC_WIDTHS_MAX; j++)
        if (interval_midpoint(m->widths[j]) != 0) {
            print_star(first, out);
            mc_text_add(out, "rbf(gamma=%.6g)[%d]", interval_midpoint(m->widths[j]), j + 1);
        }
}

static void print_column_power(char name, int column, int power, bool *first, mc_text *out) {
    if (!power)
        return;
    print_star(first, out);
    mc_text_add(out, power > 1 ? "%c%d^%d" : "%c%d", name, column + 1, power);
}

static void print_function_power(const mc_expansion *e, char name, int i, int power, bool *first, mc_text *out) {
    if (!power)
        return;
    print_star(first, out);
    mc_text_add(out, "[");
    mc_function_print(out, e->function[i]);
    mc_text_add(out, power > 1 ? "](%c)^%d" : "](%c)", name, power);
}

/* Those of functions stand at the end. */
static void print_function_powers(const mc_expansion *e, const mc_monomial *m, bool *first, mc_text *out) {
    for (int i = 0; i < e->functions; i++)
        print_function_power(e, 'x', i, m->x[MC_WIDTHS_MAX - 1 - i], first, out);
    for (int i = 0; i < e->functions; i++)
        print_function_power(e, 'z', i, m->z[MC_WIDTHS_MAX - 1 - i], first, out);
}

static void print_column_powers(const mc_expansion *e, const mc_monomial *m, bool *first, mc_text *out) {
    const int columns = MC_WIDTHS_MAX - e->functions;
    for (int j = 0; j < columns; j++)
        print_column_power('x', j, m->x[j], first, out);
    for (int j = 0; j < columns; j++)
        print_column_power('z', j, m->z[j], first, out);
    print_function_powers(e, m, first, out);
}

static void print_monomial(const mc_expansion *e, const mc_monomial *m, mc_text *out) {
    const double size = fabs(interval_midpoint(m->factor));
    bool first = size == 1 && !mc_monomial_is_constant(m);
    if (!first)
        mc_text_add(out, "%.6g", size);
    print_powers(e, m, &first, out);
    print_column_powers(e, m, &first, out);
    print_rates(e, m, &first, out);
    print_widths(m, &first, out);
}

void mc_expansion_print(const mc_expansion *e, mc_text *out) {
    for (int i = 0; i < e->count; i++) {
        const bool minus = e->monomial[i].factor.hi < 0;
        mc_text_add(out, "%s", i == 0 ? (minus ? "-" : "") : minus ? " - " : " + ");
        print_monomial(e, &e->monomial[i], out);
    }
    mc_text_add(out, "%s", e->count ? "" : "0");
}
