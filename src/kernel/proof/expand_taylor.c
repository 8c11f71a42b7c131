/* expand_taylor.c: functions of a kernel by the first terms of their power series, and what is left of them.

     exp(u)       e^c sum_n (u - c)^n/n! + R                where u - c is a kernel
     b^-a         sum_n C(a + n - 1, n) c^(-a-n) (c - b)^n + R    where c - b is a kernel and b > 0
     b^a, 0 < a < 1   c^a - sum_{n > 0} |C(a, n)| c^(a-n) (c - b)^n - R   where c - b is a kernel and b >= 0
     f(u)         f_0 + f_1 u + f_2 u^2 + ... + R  of power_series.h, where u is a kernel
     arccos       |x|^order |z|^order (c_0 + c_1 cosine + c_2 cosine^2 + ...) + R
     spline       1 + <x,z> + R

   up to n = order. No coefficient of R is negative, so that it is a kernel: it is a generator, and what is subtracted
   can be compared with the terms before it. For |c - b| < c see docs/proofs.md, D3.

   MC_POLAR also writes <x,z> as |x| |z| cosine, so that weights by powers of the norm and Gegenbauer polynomials
   meet. */
#include "base/memory.h"
#include "base/status.h"
#include "kernel/proof/enclose.h"
#include "kernel/proof/expand_list.h"
#include <math.h>

enum { SPLIT_MAX = 4, NORM_POWER_MAX = 8 };

/* ---- remainders ---- */

const mc_term *mc_term_remainder(mc_pool *pool, const mc_term *function, double at, int order) {
    mc_term *term = (mc_term *)mc_term_unary(pool, MC_T_REMAINDER, mc_amount_number(at), NULL, function);
    if (term)
        term->order = order;
    return term;
}

bool mc_remainder_is_plain(const mc_term *remainder) {
    const mc_term *function = remainder->child[0];
    if (function->kind != MC_T_ATOM || remainder->order < 0)
        return false;
    const mc_value *order = &function->node->parameter[0];
    return function->node->atom == MC_SPLINE || (function->node->atom == MC_ARCCOS && order->kind == MC_VALUE_NUMBER);
}

static const mc_term *plus_number(mc_pool *pool, const mc_term *term, double c) {
    return c == 0 ? term : mc_term_binary(pool, MC_T_SUM, term, mc_term_number(pool, mc_amount_number(c)));
}

/* b^a, 0 < a < 1 */
static bool is_root(const mc_term *term) {
    return term->kind == MC_T_POWER && term->amount.factor > 0 && term->amount.factor < 1;
}

const mc_term *mc_remainder_kernel(mc_pool *pool, const mc_term *remainder) {
    const mc_term *function = remainder->child[0];
    const double at = remainder->amount.factor;
    if (remainder->order < 0)
        return NULL;
    if (function->kind == MC_T_EXP)
        return plus_number(pool, function->child[0], -at);
    if (function->kind == MC_T_SERIES)
        return at == 0 ? function->child[0] : NULL;
    if (function->kind != MC_T_POWER || !(at > 0))
        return NULL;
    const double least = mc_term_diagonal_range(function->child[0]).lo;
    const bool one_sign = function->amount.factor < 0 ? least > 0 : is_root(function) && least >= 0;
    return one_sign ? plus_number(pool, mc_term_negated(pool, function->child[0]), at) : NULL;
}

static bool add_remainder(mc_expander *x, const mc_term *function, double at, const mc_node *scope, mc_monomials *out) {
    return mc_expand_as_generator(x, mc_term_remainder(x->pool, function, at, x->order), scope, out);
}

/* ---- exp and negative powers ---- */

/* The constant of l, taken out of it; false where it is not one double. */
static bool take_constant(mc_monomials *l, double *c) {
    *c = 0;
    for (int i = 0; i < l->count; i++)
        if (mc_monomial_is_constant(&l->item[i])) {
            const mc_interval factor = l->item[i].factor;
            l->item[i] = l->item[--l->count];
            *c = factor.lo;
            return mc_iv_is_point(factor);
        }
    return true;
}

/* n-th coefficient of exp at c: e^c/n!; the next one from the last. */
static mc_interval next_of_exp(mc_interval last, double a, double c, int n) {
    (void)a;
    (void)c;
    return mc_iv_div(last, mc_iv(n));
}

/* (a + n - 1)/(n c) */
static mc_interval next_of_power(mc_interval last, double a, double c, int n) {
    const mc_interval top = mc_iv_add(mc_iv(a), mc_iv(n - 1));
    return mc_iv_div(mc_iv_mul(last, top), mc_iv_mul(mc_iv(n), mc_iv(c)));
}

typedef mc_interval next_coefficient(mc_interval last, double a, double c, int n);

/* out + sum of first, next, ... times k^n */
static bool add_powers(mc_expander *x, const mc_monomials *k, mc_interval first, next_coefficient *next, double a,
                       double c, mc_monomials *out) {
    mc_monomials power = {0};
    mc_interval factor = first;
    bool ok = mc_add_constant(x, &power, mc_iv(1));
    for (int n = 0; ok && n <= x->order; n++) {
        if (n > 0) {
            factor = next(factor, a, c, n);
            ok = mc_multiply_monomials(x, &power, k);
        }
        for (int i = 0; ok && i < power.count; i++) {
            mc_monomial m = power.item[i];
            m.factor = mc_iv_mul(m.factor, factor);
            ok = mc_add_monomial(x, out, &m);
        }
    }
    mc_free(power.item);
    return ok;
}

/* exp(rate g) for one generator. */
static bool expand_exp_of_generator(mc_expander *x, int g, double rate, mc_monomials *out) {
    const mc_term *term = x->e->generator[g];
    if (rate != 1)
        term = mc_term_binary(x->pool, MC_T_PRODUCT, mc_term_number(x->pool, mc_amount_number(rate)), term);
    term = mc_term_unary(x->pool, MC_T_EXP, mc_amount_number(0), NULL, term);
    mc_monomials k = {0};
    mc_monomial m = mc_constant_monomial(mc_iv(rate));
    m.power[g] = 1;
    const bool ok = mc_add_monomial(x, &k, &m) && add_powers(x, &k, mc_iv(1), next_of_exp, 0, 0, out)
                    && add_remainder(x, term, 0, NULL, out);
    mc_free(k.item);
    return ok;
}

static bool is_single_rate(const mc_monomial *m, int g) {
    return m->rate[g].lo > 0 && mc_iv_is_point(m->rate[g]);
}

/* Rates that are one positive number become powers and a remainder. */
static bool expand_rates(mc_expander *x, const mc_monomial *rates, mc_monomials *out) {
    const int generators = x->e->generators;
    mc_monomial rest = *rates;
    for (int g = 0; g < generators; g++)
        if (is_single_rate(rates, g))
            rest.rate[g] = mc_iv(0);
    bool ok = mc_add_monomial(x, out, &rest);
    for (int g = 0; ok && g < generators; g++) {
        mc_monomials one = {0};
        if (is_single_rate(rates, g))
            ok = expand_exp_of_generator(x, g, rates->rate[g].lo, &one) && mc_multiply_monomials(x, out, &one);
        mc_free(one.item);
    }
    return ok;
}

static bool expand_exp(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out) {
    mc_monomials k = {0};
    mc_monomial rates;
    double c;
    bool apart = false;
    bool ok = mc_expand_exp_apart(x, term, scope, out, &apart);
    if (!ok || apart)
        return ok;
    ok = mc_expand_into(x, term->child[0], scope, &k);
    if (ok && mc_linear_exponent(&k, &rates))
        ok = expand_rates(x, &rates, out);
    else if (ok)
        ok = take_constant(&k, &c) ? add_powers(x, &k, mc_iv_exp(mc_iv(c)), next_of_exp, 0, c, out)
                                         && add_remainder(x, term, c, scope, out)
                                   : mc_expand_as_generator(x, term, scope, out);
    mc_free(k.item);
    return ok;
}

static bool expand_inverse(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out) {
    const double a = -term->amount.factor;
    mc_monomials k = {0};
    double c;
    bool ok = mc_expand_into(x, term->child[0], scope, &k);
    if (ok && k.count == 1 && mc_monomial_is_constant(&k.item[0]))
        ok = mc_add_constant(x, out, mc_iv_power(k.item[0].factor, -a));
    else if (ok && take_constant(&k, &c) && c > 0) {
        for (int i = 0; i < k.count; i++)
            k.item[i].factor = mc_iv_neg(k.item[i].factor);
        ok = add_powers(x, &k, mc_iv_power(mc_iv(c), -a), next_of_power, a, c, out)
             && add_remainder(x, term, c, scope, out);
    } else if (ok)
        ok = mc_expand_as_generator(x, term, scope, out);
    mc_free(k.item);
    return ok;
}

/* The series of logarithmic, arcsin and bessel_i0. */
static bool expand_series(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out) {
    mc_monomials k = {0}, power = {0};
    bool ok = mc_expand_into(x, term->child[0], scope, &k) && mc_add_constant(x, &power, mc_iv(1));
    for (int n = 0; ok && n <= x->order; n++) {
        const mc_interval c = mc_series_coefficient(term->node->series, n);
        if (n > 0)
            ok = mc_multiply_monomials(x, &power, &k);
        for (int i = 0; ok && !mc_iv_is_zero(&c) && i < power.count; i++) {
            mc_monomial m = power.item[i];
            m.factor = mc_iv_mul(m.factor, c);
            ok = mc_add_monomial(x, out, &m);
        }
    }
    mc_free(k.item);
    mc_free(power.item);
    return ok && add_remainder(x, term, 0, scope, out);
}

static bool subtract_remainder(mc_expander *x, const mc_term *function, double at, const mc_node *scope,
                               mc_monomials *out) {
    mc_monomials rest = {0};
    bool ok = add_remainder(x, function, at, scope, &rest);
    for (int i = 0; ok && i < rest.count; i++) {
        rest.item[i].factor = mc_iv_neg(rest.item[i].factor);
        ok = mc_add_monomial(x, out, &rest.item[i]);
    }
    mc_free(rest.item);
    return ok;
}

/* Of (c - k)^a; a power of one monomial is left to be taken as such. */
static bool expand_root(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out, bool *taken) {
    const double a = term->amount.factor;
    mc_monomials k = {0};
    double c;
    bool ok = mc_expand_into(x, term->child[0], scope, &k);
    *taken = ok && k.count > 1 && take_constant(&k, &c) && c > 0;
    if (*taken) {
        for (int i = 0; i < k.count; i++)
            k.item[i].factor = mc_iv_neg(k.item[i].factor);
        ok = add_powers(x, &k, mc_iv_power(mc_iv(c), a), next_of_power, -a, c, out)
             && subtract_remainder(x, term, c, scope, out);
    }
    mc_free(k.item);
    return ok;
}

/* ---- columns apart ---- */

static const mc_term *linear_of_column(mc_pool *pool, int64_t j) {
    mc_node *view = mc_pool_take(pool, 1, sizeof *view);
    int64_t *column = mc_pool_take(pool, 1, sizeof *column);
    if (!view || !column)
        return NULL;
    *column = j;
    *view = (mc_node){.kind = MC_COLUMNS, .columns = 1, .column = column};
    return mc_term_unary(pool, MC_T_COLUMNS, mc_amount_number(0), view, mc_term_linear(pool));
}

static bool names_columns(const mc_node *scope) {
    for (int64_t j = 0; j < scope->columns; j++)
        if (scope->column[j] < 0)
            return false;
    return true;
}

/* <x,z> as the sum over the columns that the expression singles out, and of the others together. */
static bool split_linear(mc_expander *x, const mc_node *scope, mc_monomials *out, bool *taken) {
    const int64_t count = scope ? scope->columns : x->listed;
    *taken = count > 0 && count <= SPLIT_MAX && (!scope || names_columns(scope));
    for (int64_t j = 0; *taken && j < count; j++)
        if (!mc_expand_as_generator(x, linear_of_column(x->pool, scope ? scope->column[j] : j), NULL, out))
            return false;
    return !*taken || scope || x->d == count || mc_expand_as_generator(x, mc_rest_of_linear(x->pool, count), NULL, out);
}

/* ---- norms and cosines ---- */

static const mc_function norm_function = {.kind = MC_F_NORM};
static const mc_node norm_node = {.kind = MC_WEIGH, .function = (mc_function *)&norm_function};
static const mc_node cosine_node = {.kind = MC_ATOM, .atom = MC_COSINE};

static const mc_term *norm_weight(mc_pool *pool) {
    return mc_term_unary(pool, MC_T_WEIGH, mc_amount_number(0), &norm_node, mc_term_number(pool, mc_amount_number(1)));
}

bool mc_is_norm_weight(const mc_term *term) {
    return term->kind == MC_T_WEIGH && term->node && term->node->function && term->node->function->kind == MC_F_NORM
           && term->child[0]->kind == MC_T_NUMBER;
}

/* factor cosine^p (|x| |z|)^q */
static bool add_polar(mc_expander *x, const mc_node *scope, mc_interval factor, int p, int q, mc_monomials *out) {
    mc_monomial m = mc_constant_monomial(factor);
    const int c = p ? mc_generator_of(x, mc_term_atom(x->pool, &cosine_node), scope) : 0;
    const int w = c < 0 ? -1 : q ? mc_generator_of(x, norm_weight(x->pool), scope) : 0;
    if (w < 0)
        return false;
    m.power[c] += p;
    m.power[w] += q;
    return mc_add_monomial(x, out, &m);
}

static bool is_product_of_norms(const mc_function *f, mc_interval *a, int *p) {
    mc_interval b;
    int q;
    if (!mc_power_of_norm(f->child[0], a, p) || !mc_power_of_norm(f->child[1], &b, &q) || (f->kind == MC_F_DIVIDE && q))
        return false;
    *a = f->kind == MC_F_DIVIDE ? mc_iv_div(*a, b) : mc_iv_mul(*a, b);
    *p += q;
    return true;
}

bool mc_power_of_norm(const mc_function *f, mc_interval *a, int *p) {
    *a = mc_iv(1);
    *p = f->kind == MC_F_NORM ? 1 : f->kind == MC_F_NORM2 ? 2 : 0;
    if (*p || mc_enclose_constant(f, a))
        return true;
    if (f->kind == MC_F_MULTIPLY || f->kind == MC_F_DIVIDE)
        return is_product_of_norms(f, a, p);
    const double n = f->kind == MC_F_POWER && f->child[1]->kind == MC_F_NUMBER ? f->child[1]->number : 0;
    if (!(n >= 1 && n <= NORM_POWER_MAX && n == floor(n)) || !mc_power_of_norm(f->child[0], a, p))
        return false;
    *a = mc_iv_power(*a, n);
    *p *= (int)n;
    return *p <= NORM_POWER_MAX;
}

static bool expand_norm_weight(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out,
                               bool *taken) {
    mc_monomials k = {0};
    mc_interval a;
    int p;
    *taken = term->node && mc_power_of_norm(term->node->function, &a, &p);
    const bool ok = !*taken
                    || (add_polar(x, scope, mc_iv_square(a), 0, p, out) && mc_expand_into(x, term->child[0], scope, &k)
                        && mc_multiply_monomials(x, out, &k));
    mc_free(k.item);
    return ok;
}

/* The coefficient of t^n in arccos of this order, on unit vectors; with a_k those of arcsin,
     order 0   1/2 + (1/pi) sum a_k t^(2k+1)
     order 1   1/pi + t/2 + (1/pi) sum a_k t^(2k+2)/(2k+2)
     order 2   1/2 + (4/pi) t + t^2 + (4/pi) sum a_k t^(2k+3)/((2k+2)(2k+3)) */
mc_interval mc_arccos_coefficient(int order, int n) {
    const int from = n - order; /* the power of arcsin that it comes from */
    const mc_interval per_pi = mc_iv_div(mc_iv(order == 2 ? 4 : 1), mc_iv_pi());
    mc_interval a = mc_iv(1);
    if (order == 0 && n == 0)
        return mc_iv(0.5);
    if (order > 0 && n < order)
        return order == 2 && n == 0 ? mc_iv(0.5) : per_pi;
    if (order > 0 && from == 0)
        return mc_iv(order == 1 ? 0.5 : 1);
    if (from % 2 == 0)
        return mc_iv(0);
    for (int k = 1; k <= (from - 1) / 2; k++)
        a = mc_iv_div(mc_iv_mul(a, mc_iv((2 * k - 1) * (2 * k - 1))), mc_iv(2 * k * (2 * k + 1)));
    for (int i = 1; i <= order; i++)
        a = mc_iv_div(a, mc_iv(from + i));
    return mc_iv_mul(a, per_pi);
}

static bool expand_arccos(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out, bool *taken) {
    const mc_value *order = &term->node->parameter[0];
    *taken = order->kind == MC_VALUE_NUMBER;
    const int q = *taken ? (int)order->number : 0;
    for (int n = 0; *taken && n <= x->order; n++)
        if (!add_polar(x, scope, mc_arccos_coefficient(q, n), n, q, out))
            return false;
    return !*taken || add_remainder(x, term, 0, scope, out);
}

static bool expand_polar(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out, bool *taken) {
    if (term->kind == MC_T_WEIGH)
        return expand_norm_weight(x, term, scope, out, taken);
    if (term->kind != MC_T_ATOM)
        return true;
    *taken = term->node->atom == MC_LINEAR;
    if (*taken)
        return add_polar(x, scope, mc_iv(1), 1, 1, out);
    return term->node->atom == MC_ARCCOS ? expand_arccos(x, term, scope, out, taken) : true;
}

/* ---- all ---- */

static bool expand_spline(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out) {
    return mc_add_constant(x, out, mc_iv(1)) && mc_expand_into(x, mc_term_linear(x->pool), scope, out)
           && add_remainder(x, term, 0, scope, out);
}

bool mc_expand_taylor(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out, bool *taken) {
    *taken = term->kind == MC_T_EXP || term->kind == MC_T_SERIES
             || (term->kind == MC_T_POWER && term->amount.factor < 0)
             || (term->kind == MC_T_ATOM && term->node->atom == MC_SPLINE);
    if (term->kind == MC_T_EXP)
        return expand_exp(x, term, scope, out);
    if (term->kind == MC_T_SERIES)
        return expand_series(x, term, scope, out);
    if (*taken)
        return term->kind == MC_T_POWER ? expand_inverse(x, term, scope, out) : expand_spline(x, term, scope, out);
    if (is_root(term))
        return expand_root(x, term, scope, out, taken);
    if (x->mode == MC_POLAR)
        return expand_polar(x, term, scope, out, taken);
    if (term->kind == MC_T_ATOM && term->node->atom == MC_LINEAR)
        return split_linear(x, scope, out, taken);
    return true;
}
