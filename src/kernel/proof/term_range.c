/* term_range.c: what can be said about the values of a term from its form alone. */
#include "kernel/proof/term.h"
#include "kernel/language/atoms.h"
#include <math.h>

/* Atoms with bounded values; the others may take any. */
static mc_interval atom_range(const mc_node *atom) {
    switch (atom->atom) {
    case MC_RBF:
    case MC_LAPLACIAN:
    case MC_EXPONENTIAL:
    case MC_MATERN:
    case MC_RQ:
    case MC_PERIODIC:
    case MC_CHI2:
    case MC_TANIMOTO:
    case MC_WENDLAND:
    case MC_GIBBS:
    case MC_WHITE: return mc_iv_of(0, 1);
    case MC_SINC:
    case MC_COSINE:
    case MC_TANH: return mc_iv_of(-1, 1);
    case MC_SPLINE: return mc_iv_of(1, INFINITY);
    case MC_RBF_FORM:
    case MC_ADDITIVE_CHI2:
    case MC_SPECTRUM:
    case MC_SUBSEQUENCE:
    case MC_WEIGHTED_DEGREE:
    case MC_WORDS:
    case MC_TFIDF:
    case MC_INTERSECTION: return mc_iv_of(0, INFINITY);
    case MC_ARCCOS: return atom->parameter[0].number == 0 ? mc_iv_of(0, 1) : mc_iv_of(0, INFINITY);
    case MC_MULTIQUADRIC:
        return mc_atom_is_conditional(atom) ? mc_iv_of(-INFINITY, -mc_value_range(&atom->parameter[0]).lo)
                                            : mc_iv_everything();
    case MC_POWER_DISTANCE:
    case MC_LOG: return mc_atom_is_conditional(atom) ? mc_iv_of(-INFINITY, 0) : mc_iv_everything();
    default: return mc_iv_everything();
    }
}

static mc_interval sum_or_product_range(const mc_term *term) {
    const bool sum = term->kind == MC_T_SUM;
    mc_interval r = mc_iv(sum ? 0 : 1);
    for (int i = 0; i < term->children; i++) {
        const mc_interval c = mc_term_range(term->child[i]);
        r = sum ? mc_iv_add(r, c) : mc_iv_mul(r, c);
    }
    return r;
}

mc_interval mc_term_range(const mc_term *term) {
    switch (term->kind) {
    case MC_T_NUMBER: return mc_amount_range(term->amount);
    case MC_T_ATOM: return atom_range(term->node);
    case MC_T_SUM:
    case MC_T_PRODUCT: return sum_or_product_range(term);
    case MC_T_POWER: return mc_iv_power(mc_term_range(term->child[0]), term->amount.factor);
    case MC_T_EXP: return mc_iv_exp(mc_term_range(term->child[0]));
    case MC_T_SERIES: return mc_iv_series(term->node->series, mc_term_range(term->child[0]));
    case MC_T_COLUMNS: return mc_term_range(term->child[0]);
    default: return mc_iv_everything();
    }
}

/* ---- the values of k(x, x) ---- */

static mc_interval from_zero_on(void) {
    return mc_iv_of(0, INFINITY);
}

/* gamma |x|^2 + c, or a |x|^2 + c */
static mc_interval affine_of_norm(const mc_value *a, const mc_value *c) {
    return mc_iv_add(mc_iv_mul(mc_value_range(a), from_zero_on()), mc_value_range(c));
}

static mc_interval atom_diagonal(const mc_node *atom) {
    const mc_value *v = atom->parameter;
    switch (atom->atom) {
    case MC_LINEAR: return from_zero_on();
    case MC_POLY:
        return v[0].kind == MC_VALUE_NUMBER ? mc_iv_power(affine_of_norm(&v[2], &v[1]), v[0].number)
                                            : mc_iv_everything();
    case MC_TANH: return mc_iv_tanh(affine_of_norm(&v[0], &v[1]));
    case MC_RBF:
    case MC_LAPLACIAN:
    case MC_EXPONENTIAL:
    case MC_MATERN:
    case MC_RQ:
    case MC_PERIODIC:
    case MC_CHI2:
    case MC_TANIMOTO:
    case MC_WENDLAND:
    case MC_SINC:
    case MC_GIBBS:
    case MC_RBF_FORM:
    case MC_WHITE: return mc_iv(1);
    case MC_COSINE: return mc_iv_of(0, 1);
    case MC_THIN_PLATE: return mc_iv(0);
    default: return atom_range(atom);
    }
}

static mc_interval combined_diagonal(const mc_term *term) {
    const bool sum = term->kind == MC_T_SUM;
    mc_interval r = mc_iv(sum ? 0 : 1);
    for (int i = 0; i < term->children; i++) {
        const mc_interval c = mc_term_diagonal_range(term->child[i]);
        r = sum ? mc_iv_add(r, c) : mc_iv_mul(r, c);
    }
    return r;
}

/* The sign of k(x, x), or 0. */
static mc_interval normalised_diagonal(const mc_term *term) {
    return mc_iv_of(mc_term_diagonal_range(term->child[0]).lo >= 0 ? 0 : -1, 1);
}

/* f(x)^2 k(x, x) */
static mc_interval weighed_diagonal(const mc_term *term) {
    const mc_interval k = mc_term_diagonal_range(term->child[0]);
    return k.lo >= 0 ? from_zero_on() : mc_iv_everything();
}

mc_interval mc_term_diagonal_range(const mc_term *term) {
    switch (term->kind) {
    case MC_T_NUMBER: return mc_amount_range(term->amount);
    case MC_T_ATOM: return atom_diagonal(term->node);
    case MC_T_SUM:
    case MC_T_PRODUCT: return combined_diagonal(term);
    case MC_T_POWER: return mc_iv_power(mc_term_diagonal_range(term->child[0]), term->amount.factor);
    case MC_T_EXP: return mc_iv_exp(mc_term_diagonal_range(term->child[0]));
    case MC_T_SERIES: return mc_iv_series(term->node->series, mc_term_diagonal_range(term->child[0]));
    case MC_T_WEIGH: return weighed_diagonal(term);
    case MC_T_NORMALIZE: return normalised_diagonal(term);
    case MC_T_COLUMNS: return mc_term_diagonal_range(term->child[0]);
    default: return mc_iv_everything();
    }
}

/* ---- the values of f(x) ---- */

static bool same_square(const mc_function *f) {
    return f->kind == MC_F_MULTIPLY && f->child[0]->kind == MC_F_COLUMN && f->child[1]->kind == MC_F_COLUMN
           && f->child[0]->column == f->child[1]->column;
}

static mc_interval where_nonnegative(mc_interval a) {
    return a.lo >= 0 ? a : mc_iv_max(a, mc_iv(0));
}

/* A power that is not whole is defined only where the base is not negative. */
static mc_interval function_power(const mc_function *f, mc_interval base) {
    const bool number = f->child[1]->kind == MC_F_NUMBER;
    const double p = f->child[1]->number;
    if (number && p == floor(p) && base.lo < 0)
        return mc_iv_power(base, p);
    if (!number && base.lo < 0)
        return mc_iv_everything();
    return number ? where_nonnegative(mc_iv_power(where_nonnegative(base), p)) : mc_iv_of(0, INFINITY);
}

static bool holds_zero(mc_interval a) {
    return a.lo <= 0 && a.hi >= 0;
}

static mc_interval quotient_range(mc_interval a, mc_interval b) {
    return holds_zero(b) && a.lo >= 0 && b.lo >= 0 ? mc_iv_of(0, INFINITY) : mc_iv_div(a, b);
}

mc_interval mc_function_range(const mc_function *f) {
    const mc_interval a = f->child[0] ? mc_function_range(f->child[0]) : mc_iv(0);
    const mc_interval b = f->child[1] ? mc_function_range(f->child[1]) : mc_iv(0), from_zero = where_nonnegative(a);
    switch (f->kind) {
    case MC_F_NUMBER: return mc_iv(f->number);
    case MC_F_NORM2:
    case MC_F_NORM: return mc_iv_of(0, INFINITY);
    case MC_F_COLUMN: return mc_iv_everything();
    case MC_F_NEGATE: return mc_iv_neg(a);
    case MC_F_ADD: return mc_iv_add(a, b);
    case MC_F_SUBTRACT: return mc_iv_sub(a, b);
    case MC_F_MULTIPLY: return same_square(f) ? mc_iv_of(0, INFINITY) : mc_iv_mul(a, b);
    case MC_F_DIVIDE: return quotient_range(a, b);
    case MC_F_POWER: return function_power(f, a);
    case MC_F_EXP: return mc_iv_exp(a);
    case MC_F_LOG: return mc_iv_log(from_zero);
    case MC_F_SQRT: return mc_iv_sqrt(from_zero);
    case MC_F_SIN: return mc_iv_sin(a);
    case MC_F_COS: return mc_iv_cos(a);
    case MC_F_TANH: return mc_iv_tanh(a);
    case MC_F_ABS: return mc_iv_abs(a);
    }
    return mc_iv_everything();
}

bool mc_function_nonnegative(const mc_function *f) {
    return mc_function_range(f).lo >= 0;
}
