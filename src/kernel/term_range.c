/* term_range.c: what can be said about the values of a term from its form alone. */
#include "kernel/term.h"
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
    case MC_WHITE: return mc_iv_of(0, 1);
    case MC_COSINE:
    case MC_TANH: return mc_iv_of(-1, 1);
    case MC_SPECTRUM:
    case MC_INTERSECTION: return mc_iv_of(0, INFINITY);
    case MC_ARCCOS: return atom->parameter[0].number == 0 ? mc_iv_of(0, 1) : mc_iv_of(0, INFINITY);
    default: return mc_iv_everything();
    }
}

static mc_interval combined(const mc_term *term) {
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
    case MC_T_PRODUCT: return combined(term);
    case MC_T_POWER: return mc_iv_power(mc_term_range(term->child[0]), term->amount.factor);
    case MC_T_EXP: return mc_iv_exp(mc_term_range(term->child[0]));
    case MC_T_COLUMNS: return mc_term_range(term->child[0]);
    default: return mc_iv_everything();
    }
}

/* ---- the sign of f(x) ------------------------------------------------------------------------------------------------------ */

static mc_interval function_range(const mc_function *f);

static bool same_square(const mc_function *f) {
    return f->kind == MC_F_MULTIPLY && f->child[0]->kind == MC_F_COLUMN && f->child[1]->kind == MC_F_COLUMN
           && f->child[0]->column == f->child[1]->column;
}

static mc_interval function_power(const mc_function *f) {
    const bool number = f->child[1]->kind == MC_F_NUMBER;
    const mc_interval base = function_range(f->child[0]);
    if (base.lo >= 0 || (number && f->child[1]->number != floor(f->child[1]->number)))
        return mc_iv_of(0, INFINITY); /* a power that is not whole is defined only where the base is not negative */
    return number ? mc_iv_power(base, f->child[1]->number) : mc_iv_everything();
}

static mc_interval function_pair(const mc_function *f) {
    const mc_interval a = function_range(f->child[0]), b = function_range(f->child[1]);
    switch (f->kind) {
    case MC_F_ADD: return mc_iv_add(a, b);
    case MC_F_SUBTRACT: return mc_iv_sub(a, b);
    case MC_F_MULTIPLY: return same_square(f) ? mc_iv_of(0, INFINITY) : mc_iv_mul(a, b);
    default: return a.lo >= 0 && b.lo >= 0 ? mc_iv_of(0, INFINITY) : mc_iv_div(a, b); /* where the quotient is defined */
    }
}

/* Where f is defined: a root or a logarithm of what may be negative is taken only where it is not. */
static mc_interval function_range(const mc_function *f) {
    switch (f->kind) {
    case MC_F_NUMBER: return mc_iv(f->number);
    case MC_F_NORM2:
    case MC_F_NORM: return mc_iv_of(0, INFINITY);
    case MC_F_COLUMN: return mc_iv_everything();
    case MC_F_NEGATE: return mc_iv_neg(function_range(f->child[0]));
    case MC_F_ADD:
    case MC_F_SUBTRACT:
    case MC_F_MULTIPLY:
    case MC_F_DIVIDE: return function_pair(f);
    case MC_F_POWER: return function_power(f);
    case MC_F_EXP: return mc_iv_exp(function_range(f->child[0]));
    case MC_F_LOG: return mc_iv_log(mc_iv_max(function_range(f->child[0]), mc_iv(0)));
    case MC_F_SQRT: return mc_iv_of(0, INFINITY);
    case MC_F_SIN:
    case MC_F_COS: return mc_iv_of(-1, 1);
    case MC_F_TANH: return mc_iv_tanh(function_range(f->child[0]));
    case MC_F_ABS: return mc_iv_of(0, INFINITY);
    }
    return mc_iv_everything();
}

bool mc_function_nonnegative(const mc_function *f) {
    return function_range(f).lo >= 0;
}

/* ---- domains ---------------------------------------------------------------------------------------------------------------- */

bool mc_term_needs_nonnegative(const mc_term *term) {
    if (term->kind == MC_T_ATOM && mc_atoms[term->node->atom].nonnegative)
        return true;
    if (term->kind == MC_T_SPECIAL)
        return term->special == MC_HARMONIC || term->special == MC_CHI2_DISTANCE;
    for (int i = 0; i < term->children; i++)
        if (mc_term_needs_nonnegative(term->child[i]))
            return true;
    return false;
}
