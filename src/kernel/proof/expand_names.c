/* expand_names.c: one function under two names.

     brownian(hurst=1)               linear: (|x|^2 + |z|^2 - |x-z|^2)/2
     power(p, centred=1)             2 brownian(hurst=p/2), by definition
     exp(c power(p=2)), p=1          rbf(gamma=c), exponential(gamma=c) for c > 0
     rbf(form=c I)                   rbf(gamma=c)
     laplacian(gamma=a)*laplacian(gamma=b)   laplacian(gamma=a+b), where that is a double; exponential, chi2 likewise
     a^n, a < 0, n whole             (-1)^n (-a)^n
     exponential(gamma=a)^p          exponential(gamma=a*p), a double, p not whole; laplacian, chi2 likewise
     white^p, p > 0                  white
     power(p)^n, n even              -power(p*n), where p*n <= 2
     exp(c log), p=2                 rq(alpha=c) of the length scale l/(2 c)^(1/2), where that is a double, c > 0
     gibbs(c)                        rbf(gamma=1/(2 c^2)), where that is a double */
#include "kernel/language/atoms.h"
#include "kernel/proof/enclose.h"
#include "kernel/proof/expand_list.h"
#include <math.h>

/* A term that is this atom with one number. */
static const mc_term *make_atom(mc_pool *pool, mc_atom atom, double number) {
    mc_node *node = mc_pool_take(pool, 1, sizeof *node);
    if (!node)
        return NULL;
    *node = (mc_node){.kind = MC_ATOM, .atom = atom};
    node->parameter[0] = (mc_value){.kind = MC_VALUE_NUMBER, .number = number};
    return mc_term_atom(pool, node);
}

static bool is_fixed_atom(const mc_term *term, mc_atom atom) {
    return term->kind == MC_T_ATOM && term->node->atom == atom && term->node->parameter[0].kind == MC_VALUE_NUMBER;
}

/* ---- exp(-gamma psi) ---- */

static const mc_term *without_view(const mc_term *term) {
    return term->kind == MC_T_COLUMNS ? term->child[0] : term;
}

static bool is_exponential(const mc_term *term) {
    return is_fixed_atom(term, MC_LAPLACIAN) || is_fixed_atom(term, MC_EXPONENTIAL) || is_fixed_atom(term, MC_CHI2);
}

static bool same_but_gamma(const mc_term *a, const mc_term *b) {
    const mc_term *p = without_view(a), *q = without_view(b);
    return is_exponential(p) && is_exponential(q) && p->node->atom == q->node->atom
           && (a->kind == MC_T_COLUMNS) == (b->kind == MC_T_COLUMNS) && (a == p || a->node == b->node);
}

/* All that generator g can be put together with, as one power of one of them; *ok: memory sufficed. */
static bool merge_with(mc_expander *x, mc_monomial *m, int g) {
    const mc_term *term = x->e->generator[g], *inner = without_view(term);
    mc_interval gamma = mc_iv(0);
    int parts = 0;
    for (int k = 0; k < x->e->generators; k++)
        if (m->power[k] > 0 && same_but_gamma(term, x->e->generator[k])) {
            const double one = without_view(x->e->generator[k])->node->parameter[0].number;
            gamma = mc_iv_add(gamma, mc_iv_mul(mc_iv(one), mc_iv(m->power[k])));
            parts += m->power[k];
        }
    if (parts < 2 || !mc_iv_is_point(gamma))
        return true;
    const int generators = x->e->generators;
    const int to = mc_generator_of(x, make_atom(x->pool, inner->node->atom, gamma.lo),
                                   term->kind == MC_T_COLUMNS ? term->node : NULL);
    for (int k = 0; to >= 0 && k < generators; k++)
        if (same_but_gamma(term, x->e->generator[k]))
            m->power[k] = 0;
    if (to >= 0)
        m->power[to] = 1;
    return to >= 0;
}

bool mc_merge_exponentials(mc_expander *x, mc_monomial *m) {
    for (int g = 0; g < x->e->generators; g++)
        if (m->power[g] > 0 && is_exponential(without_view(x->e->generator[g])) && !merge_with(x, m, g))
            return false;
    return true;
}

/* ---- names ---- */

/* rbf(form=A) with A a multiple of the identity. */
static const mc_term *rename_rbf_form(mc_pool *pool, const mc_value *A) {
    if (A->kind != MC_VALUE_MATRIX || A->rows != A->columns || !(A->numbers[0] > 0))
        return NULL;
    for (int64_t i = 0; i < A->rows * A->columns; i++)
        if (A->numbers[i] != (i % (A->columns + 1) == 0 ? A->numbers[0] : 0))
            return NULL;
    return make_atom(pool, MC_RBF, A->numbers[0]);
}

static const mc_term *rename_brownian(mc_pool *pool, double hurst) {
    return hurst == 1 ? mc_term_linear(pool) : make_atom(pool, MC_BROWNIAN, hurst);
}

/* What is in the exponent is c power(p): *c and *p. */
static bool read_power_exponent(const mc_term *inner, double *c, double *p) {
    const bool multiple = inner->kind == MC_T_PRODUCT && inner->children == 2 && inner->child[0]->kind == MC_T_NUMBER
                          && !inner->child[0]->amount.value;
    const mc_term *atom = multiple ? inner->child[1] : inner;
    if (!is_fixed_atom(atom, MC_POWER_DISTANCE) || !mc_atom_is_conditional(atom->node))
        return false;
    *c = multiple ? inner->child[0]->amount.factor : 1;
    *p = atom->node->parameter[0].number;
    return *c > 0;
}

/* exp(-c log(1 + (r/l)^2)) */
static const mc_term *rename_exp_of_log(mc_pool *pool, const mc_term *inner) {
    const bool multiple = inner->kind == MC_T_PRODUCT && inner->children == 2 && inner->child[0]->kind == MC_T_NUMBER
                          && !inner->child[0]->amount.value;
    const mc_term *atom = multiple ? inner->child[1] : inner;
    const double c = multiple ? inner->child[0]->amount.factor : 1;
    if (!is_fixed_atom(atom, MC_LOG) || !mc_atom_is_conditional(atom->node) || atom->node->parameter[0].number != 2
        || atom->node->parameter[1].kind != MC_VALUE_NUMBER || !(c > 0))
        return NULL;
    const double l = atom->node->parameter[1].number, scale = l / sqrt(2 * c);
    const mc_interval of_log = mc_iv_square(mc_iv(l)),
                      of_rq = mc_iv_mul(mc_iv_square(mc_iv(scale)), mc_iv_mul(mc_iv(2), mc_iv(c)));
    mc_node *node = mc_pool_take(pool, 1, sizeof *node);
    if (!node || !mc_iv_equal(&of_log, &of_rq))
        return NULL;
    *node = (mc_node){.kind = MC_ATOM, .atom = MC_RQ};
    node->parameter[0] = (mc_value){.kind = MC_VALUE_NUMBER, .number = c};
    node->parameter[1] = (mc_value){.kind = MC_VALUE_NUMBER, .number = scale};
    return mc_term_atom(pool, node);
}

/* The atom with another first parameter, times p, where that is a double. */
static const mc_term *with_parameter_times(mc_pool *pool, const mc_term *atom, double p) {
    const mc_interval product = mc_iv_mul(mc_iv(atom->node->parameter[0].number), mc_iv(p));
    mc_node *node = mc_pool_take(pool, 1, sizeof *node);
    if (!node || !mc_iv_is_point(product))
        return NULL;
    *node = *atom->node;
    node->parameter[0].number = product.lo;
    return mc_term_atom(pool, node);
}

/* NULL: the atom has no power that is an atom. */
static const mc_term *rename_power_of_atom(mc_pool *pool, const mc_term *atom, double p) {
    if (!(p > 0) || atom->kind != MC_T_ATOM)
        return NULL;
    if (atom->node->atom == MC_WHITE)
        return atom;
    if (p != floor(p))
        return is_exponential(atom) ? with_parameter_times(pool, atom, p) : NULL;
    const bool even = fmod(p, 2) == 0 && is_fixed_atom(atom, MC_POWER_DISTANCE) && mc_atom_is_conditional(atom->node)
                      && atom->node->parameter[0].number * p <= 2;
    const mc_term *power = even ? with_parameter_times(pool, atom, p) : NULL;
    return power ? mc_term_negated(pool, power) : NULL;
}

static const mc_term *rename_power_of_negative(mc_pool *pool, const mc_term *term) {
    const double n = term->amount.factor;
    if (n != floor(n) || !(mc_term_range(term->child[0]).hi < 0))
        return NULL;
    const mc_term *power = mc_term_unary(pool, MC_T_POWER, term->amount, NULL, mc_term_negated(pool, term->child[0]));
    return fmod(n, 2) == 0 ? power : mc_term_negated(pool, power);
}

const mc_term *mc_term_renamed(mc_pool *pool, const mc_term *term) {
    double c = 0, p = 0;
    mc_interval f;
    if (term->kind == MC_T_POWER) {
        const mc_term *atom = rename_power_of_atom(pool, term->child[0], term->amount.factor);
        return atom ? atom : rename_power_of_negative(pool, term);
    }
    if (is_fixed_atom(term, MC_BROWNIAN) && term->node->parameter[0].number == 1)
        return mc_term_linear(pool);
    if (term->kind == MC_T_ATOM && term->node->atom == MC_RBF_FORM)
        return rename_rbf_form(pool, &term->node->parameter[0]);
    if (is_fixed_atom(term, MC_POWER_DISTANCE) && mc_atom_is_centred(term->node))
        return mc_term_binary(pool, MC_T_PRODUCT, mc_term_number(pool, mc_amount_number(2)),
                              rename_brownian(pool, term->node->parameter[0].number / 2));
    if (term->kind == MC_T_EXP && read_power_exponent(term->child[0], &c, &p) && (p == 1 || p == 2))
        return make_atom(pool, p == 2 ? MC_RBF : MC_EXPONENTIAL, c);
    if (term->kind == MC_T_EXP)
        return rename_exp_of_log(pool, term->child[0]);
    if (term->kind == MC_T_ATOM && term->node->atom == MC_GIBBS && mc_enclose_constant(term->node->function, &f)) {
        const mc_interval gamma = mc_iv_div(mc_iv(0.5), mc_iv_square(f));
        return f.lo > 0 && mc_iv_is_point(gamma) ? make_atom(pool, MC_RBF, gamma.lo) : NULL;
    }
    return NULL;
}
