/* term_print.c: terms as people write them: expressions in the language itself, distances in the notation of the
   blackboard. */
#include "base/memory.h"
#include "kernel/proof/term_print.h"
#include "kernel/evaluate/power_series.h"
#include "kernel/language/function.h"
#include "kernel/language/node.h"
#include "kernel/language/canonical_text.h"
#include <math.h>

/* ---- numbers ---- */

static const char *index_of(const mc_value *value) {
    return value->kind == MC_VALUE_VECTOR ? "_j" : "";
}

void mc_amount_print(mc_amount a, mc_text *out) {
    if (!a.value || a.factor != 1)
        mc_text_number(out, a.factor);
    if (a.value)
        mc_text_add(out, "%s%s%s", a.factor != 1 ? "*" : "", a.name, index_of(a.value));
}

/* The parameter i of an atom: its number, or its name. */
static void print_parameter(const mc_node *atom, int i, mc_text *out) {
    mc_amount_print(mc_amount_of(1, atom, i), out);
}

/* "gamma*", nothing when it is 1. */
static void print_factor(const mc_node *atom, int i, mc_text *out) {
    const mc_amount a = mc_amount_of(1, atom, i);
    if (!a.value && a.factor == 1)
        return;
    mc_amount_print(a, out);
    mc_text_add(out, "*");
}

static void print_divisor(const mc_node *atom, int i, mc_text *out) {
    const mc_amount a = mc_amount_of(1, atom, i);
    if (!a.value && a.factor == 1)
        return;
    mc_text_add(out, "/");
    mc_amount_print(a, out);
}

static bool is_vector(const mc_node *atom, int i) {
    return atom->parameter[i].kind == MC_VALUE_VECTOR;
}

/* ---- distances ---- */

/* The distance that an atom squares, with its scale: gamma*|x - z| or |x - z|/length_scale. */
static void scaled_distance(const mc_node *owner, mc_text *out) {
    if (owner->atom == MC_EXPONENTIAL)
        print_factor(owner, 0, out);
    mc_text_add(out, is_vector(owner, owner->atom == MC_EXPONENTIAL ? 0 : 1) ? "(x_j - z_j)" : "|x - z|");
    if (owner->atom != MC_EXPONENTIAL)
        print_divisor(owner, 1, out);
}

static bool is_scaled(const mc_node *owner) {
    const mc_amount a = mc_amount_of(1, owner, owner->atom == MC_EXPONENTIAL ? 0 : 1);
    return a.value || a.factor != 1;
}

static void scaled_square(const mc_node *owner, mc_text *out) {
    if (owner->atom == MC_RBF) {
        mc_text_add(out, is_vector(owner, 0) ? "sum_j " : "");
        print_factor(owner, 0, out);
        mc_text_add(out, is_vector(owner, 0) ? "(x_j - z_j)^2" : "|x - z|^2");
        return;
    }
    const bool vector = is_vector(owner, owner->atom == MC_EXPONENTIAL ? 0 : 1), scaled = is_scaled(owner);
    mc_text_add(out, "%s%s", vector ? "sum_j " : "", scaled ? "(" : "");
    scaled_distance(owner, out);
    mc_text_add(out, "%s^2", scaled ? ")" : "");
}

static void scaled_root(const mc_node *owner, mc_text *out) {
    if (!is_vector(owner, owner->atom == MC_EXPONENTIAL ? 0 : 1)) {
        scaled_distance(owner, out);
        return;
    }
    mc_text_add(out, "sqrt(");
    scaled_square(owner, out);
    mc_text_add(out, ")");
}

static void sum_distance(const mc_node *owner, mc_text *out) {
    if (is_vector(owner, 0)) {
        mc_text_add(out, "sum_j gamma_j*|x_j - z_j|");
        return;
    }
    print_factor(owner, 0, out);
    mc_text_add(out, "sum_j |x_j - z_j|");
}

static void circle_square(const mc_node *owner, mc_text *out) {
    mc_text_add(out, "2*sum_j sin(pi*(x_j - z_j)");
    print_divisor(owner, 0, out);
    mc_text_add(out, ")^2");
    print_divisor(owner, 1, out);
    const mc_amount a = mc_amount_of(1, owner, 1);
    mc_text_add(out, !a.value && a.factor == 1 ? "" : "^2");
}

static void chi2_distance(const mc_node *owner, mc_text *out) {
    print_factor(owner, 0, out);
    mc_text_add(out, "sum_j (x_j - z_j)^2/(x_j + z_j)");
}

/* -log of (1 + q^2/(2 alpha))^-alpha */
static void rq_log(const mc_node *owner, mc_text *out) {
    print_factor(owner, 0, out);
    mc_text_add(out, "log(1 + ");
    scaled_square(owner, out);
    mc_text_add(out, "/(2*");
    print_parameter(owner, 0, out);
    mc_text_add(out, "))");
}

static void matern_log(const mc_node *owner, mc_text *out) {
    char *text = NULL;
    if (mc_node_print(out->ctx, owner, &text)) {
        out->status = MERCER_MEMORY;
        return;
    }
    mc_text_add(out, "-log(%s)", text);
    mc_free(text);
}

/* What power, log and multiquadric are the negative of. */
static void distance_psi(const mc_node *owner, mc_text *out) {
    if (owner->atom == MC_MULTIQUADRIC) {
        mc_text_add(out, "sqrt(");
        print_parameter(owner, 0, out);
        mc_text_add(out, "^2 + |x - z|^2)");
        return;
    }
    const mc_amount p = mc_amount_of(1, owner, 0);
    mc_text_add(out, owner->atom == MC_LOG ? "log(1 + (|x - z|" : "|x - z|");
    if (owner->atom == MC_LOG) {
        print_divisor(owner, 1, out);
        mc_text_add(out, ")");
    }
    if (p.value || p.factor != 1) {
        mc_text_add(out, "^");
        mc_amount_print(p, out);
    }
    mc_text_add(out, owner->atom == MC_LOG ? ")" : "");
}

static void sign_mean(const mc_node *owner, mc_text *out) {
    static const char *const s[] = {"sign<w,x>*sign<w,z>", "|<w,x>|*|<w,z>|", "<w,x>*|<w,x>|*<w,z>*|<w,z>|"};
    mc_text_add(out, "mean_w(%s)", s[(int)owner->parameter[0].number]);
}

static void print_plain(const char *text, mc_text *out) {
    mc_text_add(out, "%s", text);
}

static void print_special(const mc_term *term, mc_text *out) {
    switch (term->special) {
    case MC_SPECIAL_NONE: break;
    case MC_COLUMN_SQUARE: print_plain("(x_j - z_j)^2", out); break;
    case MC_COLUMN_DISTANCE: print_plain("|x_j - z_j|", out); break;
    case MC_SCALED_SQUARE: scaled_square(term->node, out); break;
    case MC_SCALED_DISTANCE: scaled_root(term->node, out); break;
    case MC_SUM_DISTANCE: sum_distance(term->node, out); break;
    case MC_CIRCLE_SQUARE: circle_square(term->node, out); break;
    case MC_HARMONIC: print_plain("sum_j x_j*z_j/(x_j + z_j)", out); break;
    case MC_CHI2_DISTANCE: chi2_distance(term->node, out); break;
    case MC_RQ_LOG: rq_log(term->node, out); break;
    case MC_MATERN_LOG: matern_log(term->node, out); break;
    case MC_REST_DOT: mc_text_add(out, "sum_(j > %.0f) x_j*z_j", term->amount.factor); break;
    case MC_MINUS_NORMS:
        print_plain(term->amount.value ? "(-sum_j gamma_j*(x_j^2 + z_j^2))" : "(-|x|^2 - |z|^2)", out);
        break;
    case MC_DISTANCE_SQUARE: print_plain("|x - z|^2", out); break;
    case MC_DISTANCE_PSI: distance_psi(term->node, out); break;
    case MC_SIGN_MEAN: sign_mean(term->node, out); break;
    }
}

/* ---- expressions ---- */

static bool is_negative(const mc_term *term) {
    return term->kind == MC_T_NUMBER && !term->amount.value && signbit(term->amount.factor);
}

static bool leads_with_minus(const mc_term *term) {
    return is_negative(term->kind == MC_T_PRODUCT && term->children > 0 ? term->child[0] : term);
}

/* 3^-1 */
static bool is_inverse(const mc_term *term) {
    return term->kind == MC_T_POWER && term->amount.factor == -1 && term->child[0]->kind == MC_T_NUMBER
           && !term->child[0]->amount.value && term->child[0]->amount.factor > 0;
}

static int count_inverses(const mc_term *term, int i) {
    while (i < term->children && is_inverse(term->child[i]))
        i++;
    return i;
}

static void print_factors(const mc_term *term, int from, int to, bool follows, mc_text *out) {
    for (int i = from; i < to; i++) {
        mc_text_add(out, "%s", i > from || follows ? "*" : "");
        mc_term_print_in(term->child[i], MC_LEVEL_SIGN, out);
    }
}

static void print_divisors(const mc_term *term, int from, int to, mc_text *out) {
    for (int i = from; i < to; i++) {
        mc_text_add(out, "/");
        mc_text_number(out, term->child[i]->child[0]->amount.factor);
    }
}

/* Inverses of numbers are divisors, behind the numbers that come before them: 2/3*linear, and linear/3. */
static void print_product(const mc_term *term, mc_text *out) {
    const bool minus = leads_with_minus(term),
               bare = minus && term->child[0]->amount.factor == -1 && term->children > 1;
    const int first = minus ? 1 : 0;
    int start = first;
    while (start < term->children && term->child[start]->kind == MC_T_NUMBER)
        start++;
    const int end = count_inverses(term, start);
    const bool numbers = start > first || (minus && !bare), others = end < term->children;
    if (minus && !bare)
        mc_text_number(out, -term->child[0]->amount.factor);
    print_factors(term, first, start, minus && !bare, out);
    mc_text_add(out, "%s", numbers || others ? "" : "1");
    if (numbers || !others)
        print_divisors(term, start, end, out);
    print_factors(term, end, term->children, numbers, out);
    if (!numbers && others)
        print_divisors(term, start, end, out);
}

static void print_sum(const mc_term *term, mc_text *out) {
    for (int i = 0; i < term->children; i++) {
        const mc_term *child = term->child[i];
        const bool minus = leads_with_minus(child);
        mc_text_add(out, "%s", i == 0 ? (minus ? "-" : "") : (minus ? " - " : " + "));
        if (child->kind == MC_T_NUMBER && minus)
            mc_text_number(out, -child->amount.factor);
        else if (child->kind == MC_T_PRODUCT)
            print_product(child, out);
        else
            mc_term_print_in(child, MC_LEVEL_PRODUCT, out);
    }
}

/* exp(-gamma*norm2), or with one gamma for every column exp(-sum_j gamma_j*x_j^2). */
static void gaussian_weight(mc_amount a, mc_text *out) {
    const bool vector = a.value && a.value->kind == MC_VALUE_VECTOR;
    mc_text_add(out, vector ? "exp(-sum_j " : "exp(-");
    if (a.value || a.factor != 1) {
        mc_amount_print(a, out);
        mc_text_add(out, "*");
    }
    mc_text_add(out, vector ? "x_j^2)" : "norm2)");
}

static void print_weigh(const mc_term *term, mc_text *out) {
    mc_text_add(out, "weigh(");
    if (term->node)
        mc_function_print(out, term->node->function);
    else
        gaussian_weight(term->amount, out);
    mc_text_add(out, ", ");
    mc_term_print_in(term->child[0], MC_LEVEL_SUM, out);
    mc_text_add(out, ")");
}

static void print_call(const char *name, const mc_term *term, mc_text *out) {
    mc_text_add(out, "%s(", name);
    mc_term_print_in(term->child[0], MC_LEVEL_SUM, out);
    mc_text_add(out, ")");
}

static mc_term_level level_of(const mc_term *term) {
    switch (term->kind) {
    case MC_T_NUMBER: return is_negative(term) ? MC_LEVEL_SIGN : MC_LEVEL_PRIMARY; /* 2*gamma stands in products only */
    case MC_T_SUM: return MC_LEVEL_SUM;
    case MC_T_DOT:
    case MC_T_SPECIAL:
    case MC_T_PRODUCT: return MC_LEVEL_PRODUCT;
    case MC_T_POWER: return is_inverse(term) ? MC_LEVEL_PRODUCT : MC_LEVEL_POWER;
    case MC_T_COLUMNS: return MC_LEVEL_VIEW;
    default: return MC_LEVEL_PRIMARY;
    }
}

static void print_bare(const mc_term *term, mc_text *out) {
    switch (term->kind) {
    case MC_T_NUMBER: mc_amount_print(term->amount, out); break;
    case MC_T_ATOM: mc_atom_print(out, term->node); break;
    case MC_T_DOT:
        mc_text_add(out, "sum_j ");
        mc_amount_print(term->amount, out);
        mc_text_add(out, "*x_j*z_j");
        break;
    case MC_T_SUM: print_sum(term, out); break;
    case MC_T_PRODUCT:
        mc_text_add(out, "%s", leads_with_minus(term) ? "-" : "");
        print_product(term, out);
        break;
    case MC_T_POWER:
        if (is_inverse(term)) {
            mc_text_add(out, "1/");
            mc_text_number(out, term->child[0]->amount.factor);
            break;
        }
        mc_term_print_in(term->child[0], MC_LEVEL_VIEW, out);
        mc_text_add(out, "^");
        mc_text_number(out, term->amount.factor);
        break;
    case MC_T_EXP: print_call("exp", term, out); break;
    case MC_T_SERIES: print_call(mc_series_rows[term->node->series].name, term, out); break;
    case MC_T_NORMALIZE: print_call("normalize", term, out); break;
    case MC_T_WEIGH: print_weigh(term, out); break;
    case MC_T_COLUMNS:
        mc_term_print_in(term->child[0], MC_LEVEL_PRIMARY, out);
        mc_columns_print(out, term->node);
        break;
    case MC_T_SPECIAL: print_special(term, out); break;
    case MC_T_REMAINDER:
        mc_text_add(out, "rest_%d(", term->order);
        mc_term_print_in(term->child[0], MC_LEVEL_SUM, out);
        mc_text_add(out, ")");
        break;
    }
}

void mc_term_print_in(const mc_term *term, mc_term_level place, mc_text *out) {
    const bool inside = level_of(term) < place;
    mc_text_add(out, "%s", inside ? "(" : "");
    print_bare(term, out);
    mc_text_add(out, "%s", inside ? ")" : "");
}

void mc_term_print(const mc_term *term, mc_text *out) {
    mc_term_print_in(term, MC_LEVEL_SUM, out);
}
