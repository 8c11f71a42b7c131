/* expand_unfolded.c: kernels written through simpler ones, so that what they have in common cancels.

     rbf            exp(2 gamma <x,z>) exp(-gamma |x|^2) exp(-gamma |z|^2)
     weigh(f, k)    with f = exp(a + b |x|^2): k exp(2 a) exp(b |x|^2) exp(b |z|^2)
     normalize(k)   of one product of powers and exponentials of inner products and of kernels that are 1 on equal
                    points: <x,z>^p becomes cosine^p, and exp(r <x,z>) is divided by exp(r |x|^2/2) exp(r |z|^2/2)
     arccos         order 0 is 1/2 + S/2, order 1 is <x,z>/2 + S/2, order 2 is |x|^2 |z|^2/2 + <x,z>^2 + S/2, with S the
                    mean over Gaussian w of s(x) s(z), s(x) the sign of <w,x>, its size, or the product of it with its
                    size; since max(u, 0)^n = (u^n + |u|^n sign(u)^(n+1))/2 and the mean of u v is <x,z>, that of
                    u^2 v^2 is |x|^2 |z|^2 + 2 <x,z>^2
     white          white times what is 1 on equal points is white

   The exponent -|x|^2 - |z|^2 is a generator whose exponential is f(x) f(z) at any rate: a weight. */
#include "base/memory.h"
#include "base/status.h"
#include "kernel/proof/enclose.h"
#include "kernel/proof/expand_list.h"
#include <math.h>

/* ---- the weight exp(-rate (|x|^2 + |z|^2)) ---- */

static int weight_generator(mc_expander *x, mc_amount amount, const mc_node *scope) {
    mc_term *norms = (mc_term *)mc_term_special(x->pool, MC_MINUS_NORMS, NULL);
    if (norms)
        norms->amount = amount;
    const int g = mc_generator_of(x, norms, scope);
    if (g >= 0)
        x->e->weight[g] = true;
    return g;
}

/* exp(rate_dot dot) exp(-rate (|x|^2 + |z|^2)) */
static bool add_gaussian(mc_expander *x, const mc_term *dot, mc_interval rate_dot, mc_amount norms, mc_interval rate,
                         const mc_node *scope, mc_monomials *out) {
    const int g = mc_generator_of(x, dot, scope), w = g < 0 ? -1 : weight_generator(x, norms, scope);
    if (w < 0)
        return false;
    mc_monomial m = mc_constant_monomial(mc_iv(1));
    m.rate[g] = rate_dot;
    m.rate[w] = rate;
    return mc_add_monomial(x, out, &m);
}

static const mc_term *dot_of(mc_pool *pool, mc_amount amount) {
    mc_term *dot = (mc_term *)mc_term_number(pool, amount);
    if (dot)
        dot->kind = MC_T_DOT;
    return dot;
}

static bool unfold_gaussian(mc_expander *x, const mc_node *atom, const mc_node *scope, mc_monomials *out, bool *taken) {
    const mc_value *gamma = &atom->parameter[0];
    const mc_amount one = mc_amount_number(1), vector = mc_amount_of(1, atom, 0);
    *taken = gamma->kind == MC_VALUE_NUMBER || gamma->kind == MC_VALUE_VECTOR;
    if (gamma->kind == MC_VALUE_VECTOR)
        return add_gaussian(x, dot_of(x->pool, vector), mc_iv(2), vector, mc_iv(1), scope, out);
    if (gamma->kind != MC_VALUE_NUMBER)
        return true;
    return add_gaussian(x, mc_term_linear(x->pool), mc_iv_mul(mc_iv(2), mc_iv(gamma->number)), one,
                        mc_iv(gamma->number), scope, out);
}

/* ---- weights exp(a + b norm2) ---- */

/* f = a + b norm2 */
static bool linear_in_norm2(const mc_function *f, mc_interval *a, mc_interval *b);

static bool linear_product(const mc_function *f, mc_interval *a, mc_interval *b) {
    mc_interval c, rest;
    const bool first = mc_enclose_constant(f->child[0], &c);
    const mc_function *other = f->child[first ? 1 : 0];
    if (!first && !mc_enclose_constant(f->child[1], &c))
        return false;
    if (!linear_in_norm2(other, a, b))
        return false;
    rest = f->kind == MC_F_DIVIDE ? mc_iv_div(mc_iv(1), c) : c;
    *a = mc_iv_mul(*a, rest);
    *b = mc_iv_mul(*b, rest);
    return f->kind != MC_F_DIVIDE || !first;
}

static bool linear_sum(const mc_function *f, mc_interval *a, mc_interval *b) {
    mc_interval c, e;
    if (!linear_in_norm2(f->child[0], a, b) || !linear_in_norm2(f->child[1], &c, &e))
        return false;
    *a = f->kind == MC_F_ADD ? mc_iv_add(*a, c) : mc_iv_sub(*a, c);
    *b = f->kind == MC_F_ADD ? mc_iv_add(*b, e) : mc_iv_sub(*b, e);
    return true;
}

static bool is_norm2(const mc_function *f) {
    return f->kind == MC_F_NORM2
           || (f->kind == MC_F_POWER && f->child[0]->kind == MC_F_NORM && f->child[1]->kind == MC_F_NUMBER
               && f->child[1]->number == 2);
}

static bool linear_in_norm2(const mc_function *f, mc_interval *a, mc_interval *b) {
    *a = *b = mc_iv(0);
    if (mc_enclose_constant(f, a))
        return true;
    *a = mc_iv(0);
    if (is_norm2(f)) {
        *b = mc_iv(1);
        return true;
    }
    switch (f->kind) {
    case MC_F_NEGATE:
        if (!linear_in_norm2(f->child[0], a, b))
            return false;
        *a = mc_iv_neg(*a);
        *b = mc_iv_neg(*b);
        return true;
    case MC_F_ADD:
    case MC_F_SUBTRACT: return linear_sum(f, a, b);
    case MC_F_MULTIPLY:
    case MC_F_DIVIDE: return linear_product(f, a, b);
    default: return false;
    }
}

/* f(x) f(z) times out */
static bool times_weight(mc_expander *x, mc_interval a, mc_interval b, const mc_node *scope, mc_monomials *out) {
    const int w = weight_generator(x, mc_amount_number(1), scope);
    for (int i = 0; w >= 0 && i < out->count; i++) {
        out->item[i].factor = mc_iv_mul(out->item[i].factor, mc_iv_exp(mc_iv_mul(mc_iv(2), a)));
        out->item[i].rate[w] = mc_iv_sub(out->item[i].rate[w], b);
    }
    return w >= 0;
}

static bool unfold_weigh(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out, bool *taken) {
    mc_interval a = mc_iv(0), b = mc_iv_neg(mc_amount_range(term->amount));
    const mc_function *f = term->node ? term->node->function : NULL;
    *taken = f ? f->kind == MC_F_EXP && linear_in_norm2(f->child[0], &a, &b) : !term->amount.value;
    return !*taken || (mc_expand_into(x, term->child[0], scope, out) && times_weight(x, a, b, scope, out));
}

/* ---- normalize ---- */

static const mc_term *inside_view(const mc_term *term, const mc_node **scope) {
    *scope = term->kind == MC_T_COLUMNS ? term->node : NULL;
    return term->kind == MC_T_COLUMNS ? term->child[0] : term;
}

static bool is_linear_generator(const mc_term *term) {
    const mc_node *scope;
    const mc_term *inner = inside_view(term, &scope);
    return inner->kind == MC_T_ATOM && inner->node->atom == MC_LINEAR;
}

/* 1 on equal points. */
static bool is_unit_generator(const mc_term *term) {
    const mc_node *scope;
    const mc_term *inner = inside_view(term, &scope);
    if (inner->kind != MC_T_ATOM)
        return false;
    switch (inner->node->atom) {
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
    case MC_WHITE: return true;
    default: return false;
    }
}

static const mc_node cosine_node = {.kind = MC_ATOM, .atom = MC_COSINE};

/* exp(r <x,z>) / (exp(r |x|^2/2) exp(r |z|^2/2)), and cosine^p for <x,z>^p. */
static bool normalise_linear(mc_expander *x, int g, mc_monomial *m) {
    const mc_node *scope;
    inside_view(x->e->generator[g], &scope);
    const int power = m->power[g];
    const mc_interval rate = m->rate[g];
    if (power) {
        const int c = mc_generator_of(x, mc_term_atom(x->pool, &cosine_node), scope);
        if (c < 0)
            return false;
        m->power[g] = 0;
        m->power[c] += power;
    }
    const int w = mc_iv_is_zero(&rate) ? -2 : weight_generator(x, mc_amount_number(1), scope);
    if (w >= 0)
        m->rate[w] = mc_iv_add(m->rate[w], mc_iv_div(rate, mc_iv(2)));
    return w != -1;
}

static bool can_normalise(const mc_expansion *e, const mc_monomial *m) {
    for (int g = 0; g < e->generators; g++) {
        const bool in = m->power[g] || !mc_iv_is_zero(&m->rate[g]);
        if (in && !e->weight[g] && !is_linear_generator(e->generator[g]) && !is_unit_generator(e->generator[g]))
            return false;
    }
    return m->factor.lo > 0 && isfinite(m->factor.hi);
}

/* The monomial as a function of x and z divided by the root of its values at (x, x) and (z, z). */
static bool normalise_monomial(mc_expander *x, mc_monomial *m) {
    const int generators = x->e->generators;
    m->factor = mc_iv(1);
    for (int g = 0; g < generators; g++)
        if (x->e->weight[g])
            m->rate[g] = mc_iv(0);
    for (int g = 0; g < generators; g++) {
        if (x->e->weight[g] || (!m->power[g] && mc_iv_is_zero(&m->rate[g])))
            continue;
        if (is_unit_generator(x->e->generator[g]))
            m->factor = mc_iv_mul(m->factor, mc_iv_exp(mc_iv_neg(m->rate[g])));
        else if (!normalise_linear(x, g, m))
            return false;
    }
    return true;
}

static bool unfold_normalize(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out,
                             bool *taken) {
    mc_monomials k = {0};
    bool ok = mc_expand_into(x, term->child[0], scope, &k);
    *taken = ok && k.count == 1 && can_normalise(x->e, &k.item[0]);
    if (*taken)
        ok = normalise_monomial(x, &k.item[0]) && mc_add_monomial(x, out, &k.item[0]);
    mc_free(k.item);
    return ok;
}

/* ---- arccos ---- */

static bool add_half_mean(mc_expander *x, const mc_node *atom, const mc_node *scope, mc_monomials *out) {
    mc_monomials mean = {0};
    const bool ok = mc_expand_as_generator(x, mc_term_special(x->pool, MC_SIGN_MEAN, atom), scope, &mean)
                    && (mean.item[0].factor = mc_iv(0.5), mc_add_monomial(x, out, &mean.item[0]));
    mc_free(mean.item);
    return ok;
}

static const mc_function norm2_function = {.kind = MC_F_NORM2};
static const mc_node norm2_node = {.kind = MC_WEIGH, .function = (mc_function *)&norm2_function};

/* |x|^2 |z|^2/2 + <x,z>^2 */
static bool add_even_part(mc_expander *x, const mc_node *scope, mc_monomials *out) {
    const mc_term *norms = mc_term_unary(x->pool, MC_T_WEIGH, mc_amount_number(0), &norm2_node,
                                         mc_term_number(x->pool, mc_amount_number(1)));
    const int g = mc_generator_of(x, mc_term_linear(x->pool), scope), w = g < 0 ? -1 : mc_generator_of(x, norms, scope);
    if (w < 0)
        return false;
    mc_monomial square = mc_constant_monomial(mc_iv(1)), product = mc_constant_monomial(mc_iv(0.5));
    square.power[g] = 2;
    product.power[w] = 1;
    return mc_add_monomial(x, out, &square) && mc_add_monomial(x, out, &product);
}

static bool unfold_arccos(mc_expander *x, const mc_node *atom, const mc_node *scope, mc_monomials *out, bool *taken) {
    const mc_value *order = &atom->parameter[0];
    mc_monomial first = mc_constant_monomial(mc_iv(0.5));
    *taken = order->kind == MC_VALUE_NUMBER && (order->number == 0 || order->number == 1 || order->number == 2);
    if (!*taken)
        return true;
    if (order->number == 2)
        return add_even_part(x, scope, out) && add_half_mean(x, atom, scope, out);
    const int g = order->number == 0 ? 0 : mc_generator_of(x, mc_term_linear(x->pool), scope);
    if (g < 0)
        return false;
    first.power[g] = order->number != 0;
    return mc_add_monomial(x, out, &first) && add_half_mean(x, atom, scope, out);
}

/* ---- white ---- */

static bool is_white(const mc_term *term) {
    return term->kind == MC_T_ATOM && term->node->atom == MC_WHITE;
}

/* exp(2 r <x,z>) exp(-r (|x|^2 + |z|^2)) is 1 on equal points. */
static void absorb_gaussian(const mc_expansion *e, mc_monomial *m, int weight) {
    const mc_node *scope, *other;
    const mc_term *norms = inside_view(e->generator[weight], &scope);
    for (int g = 0; g < e->generators; g++) {
        const mc_term *dot = inside_view(e->generator[g], &other);
        const bool linear = is_linear_generator(e->generator[g]) && !norms->amount.value,
                   vector = dot->kind == MC_T_DOT && mc_amount_equal(dot->amount, norms->amount);
        const mc_interval twice = mc_iv_mul(mc_iv(2), m->rate[weight]);
        if (scope == other && (linear || vector) && mc_iv_equal(&m->rate[g], &twice))
            m->rate[g] = m->rate[weight] = mc_iv(0);
    }
}

void mc_absorb_into_white(const mc_expansion *e, mc_monomial *m) {
    int white = -1;
    for (int g = 0; g < e->generators; g++)
        if (m->power[g] && is_white(e->generator[g]))
            white = g;
    for (int g = 0; white >= 0 && g < e->generators; g++)
        if (e->weight[g] && !mc_iv_is_zero(&m->rate[g]))
            absorb_gaussian(e, m, g);
        else if (is_unit_generator(e->generator[g])) {
            m->power[g] = g == white;
            m->factor = mc_iv_mul(m->factor, mc_iv_exp(m->rate[g]));
            m->rate[g] = mc_iv(0);
        }
}

/* ---- all ---- */

bool mc_expand_unfolded(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out, bool *taken) {
    *taken = false;
    if (term->kind == MC_T_WEIGH)
        return unfold_weigh(x, term, scope, out, taken);
    if (term->kind == MC_T_NORMALIZE)
        return unfold_normalize(x, term, scope, out, taken);
    if (term->kind != MC_T_ATOM)
        return true;
    if (term->node->atom == MC_RBF)
        return unfold_gaussian(x, term->node, scope, out, taken);
    return term->node->atom == MC_ARCCOS ? unfold_arccos(x, term->node, scope, out, taken) : true;
}
