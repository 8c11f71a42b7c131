/* expand.c: multiplying an expression out. See expand.h for the normal form.

   Lists of monomials are built bottom up; a mc_monomials that would pass MC_MONOMIALS_MAX, an expression with more than
   MC_GENERATORS_MAX generators, or one that takes more work than is left, is given up (whole = false) and nothing
   follows from it. */
#include "kernel/proof/expand_list.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/language/node.h"
#include "kernel/proof/enclose.h"
#include <math.h>

/* ---- leaves ---- */

static int generator_index(mc_expansion *e, const mc_term *term) {
    for (int g = 0; g < e->generators; g++)
        if (mc_term_equal(e->generator[g], term))
            return g;
    if (e->generators == MC_GENERATORS_MAX)
        return -1;
    e->generator[e->generators] = term;
    return e->generators++;
}

int mc_generator_of(mc_expander *x, const mc_term *term, const mc_node *scope) {
    if (scope && term)
        term = mc_term_unary(x->pool, MC_T_COLUMNS, mc_amount_number(0), scope, term);
    if (!term) {
        x->status = MERCER_MEMORY;
        return -1;
    }
    const int g = generator_index(x->e, term);
    if (g < 0)
        mc_give_up_expansion(x);
    return g;
}

bool mc_expand_as_generator(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out) {
    const int g = mc_generator_of(x, term, scope);
    if (g < 0)
        return false;
    mc_monomial m = mc_constant_monomial(mc_iv(1));
    m.power[g] = 1;
    return mc_add_monomial(x, out, &m);
}

static bool column_range_fits(int64_t columns, const int64_t *column) {
    for (int64_t j = 0; j < columns; j++)
        if ((column ? column[j] : j) < 0 || (column ? column[j] : j) >= MC_WIDTHS_MAX)
            return false;
    return true;
}

static bool expand_gaussian(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out) {
    const mc_value *gamma = &term->node->parameter[0];
    const bool vector = gamma->kind == MC_VALUE_VECTOR;
    const int64_t columns = scope ? scope->columns : vector ? gamma->columns : 0;
    if ((!vector && gamma->kind != MC_VALUE_NUMBER) || !column_range_fits(columns, scope ? scope->column : NULL)
        || (vector && gamma->columns != columns))
        return mc_expand_as_generator(x, term, scope, out);
    mc_monomial m = mc_constant_monomial(mc_iv(1));
    for (int64_t j = 0; j < columns; j++) {
        mc_interval *w = &m.widths[scope ? scope->column[j] : j];
        *w = mc_iv_add(*w, mc_iv(mc_value_at(gamma, j)));
    }
    if (columns == 0)
        m.width = mc_iv(gamma->number);
    return mc_add_monomial(x, out, &m);
}

bool mc_raise_monomials(mc_expander *x, const mc_monomials *base, int n, mc_monomials *out) {
    if (!mc_add_constant(x, out, mc_iv(1)))
        return false;
    for (int i = 0; i < n; i++)
        if (!mc_multiply_monomials(x, out, base))
            return false;
    return true;
}

/* (gamma*linear + c)^degree of fixed numbers. */
static bool expand_poly(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out) {
    const mc_value *v = term->node->parameter;
    for (int i = 0; i < 3; i++)
        if (v[i].kind != MC_VALUE_NUMBER)
            return mc_expand_as_generator(x, term, scope, out);
    if (v[0].number != floor(v[0].number) || v[0].number > 64)
        return mc_expand_as_generator(x, term, scope, out);
    mc_monomials base = {0};
    const mc_term *linear = mc_term_linear(x->pool);
    bool ok = linear ? mc_expand_into(x, linear, scope, &base) : mc_expand_as_generator(x, linear, scope, &base);
    for (int i = 0; i < base.count; i++)
        base.item[i].factor = mc_iv_mul(base.item[i].factor, mc_iv(v[2].number));
    ok = ok && mc_add_constant(x, &base, mc_iv(v[1].number)) && mc_raise_monomials(x, &base, (int)v[0].number, out);
    mc_free(base.item);
    return ok;
}

static bool expand_atom(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out) {
    const mc_node *node = term->node;
    if (node->atom == MC_RBF && (x->mode == MC_GAUSSIANS || x->mode == MC_TAYLOR_GAUSSIANS))
        return expand_gaussian(x, term, scope, out);
    if (node->atom == MC_POLY)
        return expand_poly(x, term, scope, out);
    if (node->atom == MC_TANH && mc_value_is_zero(&node->parameter[0]))
        return mc_add_constant(x, out, mc_iv_tanh(mc_value_range(&node->parameter[1])));
    return mc_expand_as_generator(x, term, scope, out);
}

/* ---- operations ---- */

static bool expand_sum(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out) {
    for (int i = 0; i < term->children; i++) {
        mc_monomials part = {0};
        bool ok = mc_expand_into(x, term->child[i], scope, &part);
        for (int k = 0; ok && k < part.count; k++)
            ok = mc_add_monomial(x, out, &part.item[k]);
        mc_free(part.item);
        if (!ok)
            return false;
    }
    return true;
}

static bool expand_product(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out) {
    if (!mc_add_constant(x, out, mc_iv(1)))
        return false;
    for (int i = 0; i < term->children; i++) {
        mc_monomials part = {0};
        const bool ok = mc_expand_into(x, term->child[i], scope, &part) && mc_multiply_monomials(x, out, &part);
        mc_free(part.item);
        if (!ok)
            return false;
    }
    return true;
}

bool mc_has_column_powers(const mc_monomial *m) {
    for (int j = 0; j < MC_WIDTHS_MAX; j++)
        if (m->x[j] || m->z[j])
            return true;
    return false;
}

static bool has_powers(const mc_monomial *m) {
    for (int g = 0; g < MC_GENERATORS_MAX; g++)
        if (m->power[g])
            return true;
    return mc_has_column_powers(m);
}

/* (c exp(...))^p = c^p exp(p ...) for c > 0 and any real p. */
static bool raise_real(mc_expander *x, const mc_monomial *base, double p, mc_monomials *out) {
    mc_monomial m = {.factor = mc_iv_power(base->factor, p), .width = mc_iv_mul(base->width, mc_iv(p))};
    for (int g = 0; g < MC_GENERATORS_MAX; g++)
        m.rate[g] = mc_iv_mul(base->rate[g], mc_iv(p));
    for (int j = 0; j < MC_WIDTHS_MAX; j++)
        m.widths[j] = mc_iv_mul(base->widths[j], mc_iv(p));
    return mc_add_monomial(x, out, &m);
}

static bool expand_power(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out) {
    const double p = term->amount.factor;
    mc_monomials base = {0};
    bool ok = mc_expand_into(x, term->child[0], scope, &base);
    if (ok && base.count == 1 && base.item[0].factor.lo > 0 && !has_powers(&base.item[0]))
        ok = raise_real(x, &base.item[0], p, out);
    else if (ok && p >= 0 && p <= 64 && p == floor(p))
        ok = mc_raise_monomials(x, &base, (int)p, out);
    else if (ok)
        ok = mc_expand_as_generator(x, term, scope, out);
    mc_free(base.item);
    return ok;
}

/* The generator of a monomial that is a bare multiple of one, -1 for a constant, -2 for anything else. */
static int only_generator(const mc_monomial *m) {
    int found = -1;
    for (int g = 0; g < MC_GENERATORS_MAX; g++) {
        if (!mc_iv_is_zero(&m->rate[g]) || m->power[g] > 1 || (m->power[g] == 1 && found >= 0))
            return -2;
        if (m->power[g] == 1)
            found = g;
    }
    for (int j = 0; j < MC_WIDTHS_MAX; j++)
        if (!mc_iv_is_zero(&m->widths[j]))
            return -2;
    return mc_iv_is_zero(&m->width) && !mc_has_column_powers(m) ? found : -2;
}

/* exp(c + r_1 g_1 + ...): the exponent must be linear in the generators. */
bool mc_linear_exponent(const mc_monomials *l, mc_monomial *out) {
    mc_interval c = mc_iv(0);
    *out = mc_constant_monomial(mc_iv(1));
    for (int i = 0; i < l->count; i++) {
        const int g = only_generator(&l->item[i]);
        if (g == -2)
            return false;
        mc_interval *to = g < 0 ? &c : &out->rate[g];
        *to = mc_iv_add(*to, l->item[i].factor);
    }
    out->factor = mc_iv_exp(c);
    return true;
}

static bool expand_exp(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out) {
    mc_monomials inner = {0};
    mc_monomial m;
    bool ok = mc_expand_into(x, term->child[0], scope, &inner);
    if (ok)
        ok = mc_linear_exponent(&inner, &m) ? mc_add_monomial(x, out, &m) : mc_expand_as_generator(x, term, scope, out);
    mc_free(inner.item);
    return ok;
}

/* f(x) f(z), a number where f is one. */
static bool expand_weight_factor(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out) {
    mc_interval f;
    if (term->node && mc_enclose_constant(term->node->function, &f))
        return mc_add_constant(x, out, mc_iv_square(f));
    const mc_term *one = mc_term_number(x->pool, mc_amount_number(1));
    return mc_expand_as_generator(x, mc_term_unary(x->pool, MC_T_WEIGH, term->amount, term->node, one), scope, out);
}

/* f(x) k(x,z) f(z) is the product of k with the kernel f(x) f(z). */
static bool expand_weigh(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out) {
    mc_monomials part = {0};
    const bool ok = expand_weight_factor(x, term, scope, out) && mc_expand_into(x, term->child[0], scope, &part)
                    && mc_multiply_monomials(x, out, &part);
    mc_free(part.item);
    return ok;
}

/* Columns of columns: k[inner][outer]. NULL where a name is not yet a column, or memory ends. */
static const mc_node *compose_scopes(mc_expander *x, const mc_node *outer, const mc_node *inner) {
    for (int64_t i = 0; i < inner->columns; i++)
        if (inner->column[i] < 0 || inner->column[i] >= outer->columns || outer->column[inner->column[i]] < 0)
            return NULL;
    mc_node *node = mc_pool_take(x->pool, 1, sizeof *node);
    int64_t *column = mc_pool_take(x->pool, inner->columns, sizeof *column);
    if (!node || !column)
        return NULL;
    for (int64_t i = 0; i < inner->columns; i++)
        column[i] = outer->column[inner->column[i]];
    *node = (mc_node){.kind = MC_COLUMNS, .columns = inner->columns, .column = column};
    return node;
}

static bool expand_columns(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out) {
    const mc_node *view = scope ? compose_scopes(x, scope, term->node) : term->node;
    return view ? mc_expand_into(x, term->child[0], view, out) : mc_expand_as_generator(x, term, scope, out);
}

bool mc_expand_into(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out) {
    bool taken = false, ok = true;
    const mc_term *renamed = mc_term_renamed(x->pool, term);
    term = renamed ? renamed : term;
    if (x->mode == MC_COLUMN_POWERS)
        ok = mc_expand_in_columns(x, term, scope, out, &taken);
    else if (x->mode == MC_UNFOLDED)
        ok = mc_expand_unfolded(x, term, scope, out, &taken);
    else if (x->mode >= MC_TAYLOR)
        ok = mc_expand_taylor(x, term, scope, out, &taken);
    if (taken || !ok)
        return ok;
    switch (term->kind) {
    case MC_T_NUMBER: return mc_add_constant(x, out, mc_amount_range(term->amount));
    case MC_T_ATOM: return expand_atom(x, term, scope, out);
    case MC_T_SUM: return expand_sum(x, term, scope, out);
    case MC_T_PRODUCT: return expand_product(x, term, scope, out);
    case MC_T_POWER: return expand_power(x, term, scope, out);
    case MC_T_EXP: return expand_exp(x, term, scope, out);
    case MC_T_WEIGH: return expand_weigh(x, term, scope, out);
    case MC_T_COLUMNS: return expand_columns(x, term, scope, out);
    default: return mc_expand_as_generator(x, term, scope, out);
    }
}

/* Columns that are written apart. */
static int64_t columns_listed(const mc_term *term, mc_expand_mode mode, int64_t d) {
    return mode == MC_COLUMN_POWERS ? mc_listed_columns(term, d) : mode == MC_TAYLOR ? mc_mentioned_columns(term) : 0;
}

mercer_status mc_expand_taylor_term(mc_pool *pool, const mc_term *term, mc_expand_mode mode, int order, int64_t d,
                                    int64_t *work, mc_expansion *out) {
    *out = (mc_expansion){.whole = true};
    mc_expander x = {.pool = pool, .e = out, .mode = mode, .order = order, .d = d, .work = work};
    mc_monomials all = {0};
    x.listed = columns_listed(term, mode, d);
    const bool ok = x.listed <= MC_WIDTHS_MAX && mc_expand_into(&x, term, NULL, &all) && mc_replace_sines(&x, &all);
    out->monomial = all.item;
    out->count = all.count;
    out->listed = x.listed;
    out->whole = out->whole && ok;
    return x.status ? x.status : pool->status;
}

mercer_status mc_expand_term(mc_pool *pool, const mc_term *term, mc_expand_mode mode, int64_t d, int64_t *work,
                             mc_expansion *out) {
    return mc_expand_taylor_term(pool, term, mode, 0, d, work, out);
}

void mc_expansion_close(mc_expansion *e) {
    mc_free(e->monomial);
    e->monomial = NULL;
}

bool mc_expansion_uses(const mc_expansion *e, int generator) {
    if (e->weight[generator])
        return false;
    for (int i = 0; i < e->count; i++)
        if (e->monomial[i].power[generator] || !mc_iv_is_zero(&e->monomial[i].rate[generator]))
            return true;
    return false;
}

bool mc_monomial_is_constant(const mc_monomial *m) {
    return only_generator(m) == -1;
}
