/* expand_columns.c: inner products column by column.

   linear is x_1 z_1 + ... over the columns that the expression singles out, plus the inner product of all the others,
   which stays one generator: nothing in the expression tells these apart. form is sum_ij A_ij x_i z_j, and a weight
   that is a polynomial in the columns is the product of that polynomial in x and in z. */
#include "base/extremes.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/language/function.h"
#include "kernel/proof/expand_list.h"
#include <math.h>

/* columns that are all written apart where the row has no more */
enum { FEW_COLUMNS = 6, FORM_MAX = 12, FUNCTION_POWER_MAX = 20, LEAVES_MAX = 4 };

/* ---- which columns ---- */

static int64_t function_columns(const mc_function *f) {
    if (!f)
        return 0;
    const int64_t own = f->kind == MC_F_COLUMN ? f->column + 1 : 0;
    return mc_max_count(own, mc_max_count(function_columns(f->child[0]), function_columns(f->child[1])));
}

static int64_t own_columns(const mc_term *term) {
    int64_t most = 0;
    if (term->kind == MC_T_COLUMNS)
        for (int64_t i = 0; i < term->node->columns; i++)
            most = mc_max_count(most, term->node->column[i] + 1);
    if (term->kind == MC_T_WEIGH && term->node)
        most = function_columns(term->node->function);
    if (term->kind == MC_T_ATOM && term->node->atom == MC_FORM && term->node->parameter[0].kind == MC_VALUE_MATRIX)
        most = term->node->parameter[0].rows;
    return most;
}

/* Columns inside a view are those of the view, which it lists. */
int64_t mc_mentioned_columns(const mc_term *term) {
    int64_t most = own_columns(term);
    for (int i = 0; term->kind != MC_T_COLUMNS && i < term->children; i++)
        most = mc_max_count(most, mc_mentioned_columns(term->child[i]));
    return most;
}

int64_t mc_listed_columns(const mc_term *term, int64_t d) {
    return d > 0 && d <= FEW_COLUMNS ? d : mc_mentioned_columns(term);
}

/* The columns in view are all written apart. */
static bool all_apart(const mc_expander *x, const mc_node *scope) {
    return scope || (x->d > 0 && x->d == x->listed);
}

static int64_t columns_apart(const mc_expander *x, const mc_node *scope) {
    return scope ? scope->columns : x->listed;
}

static int64_t column_at(const mc_node *scope, int64_t j) {
    return scope ? scope->column[j] : j;
}

static bool scope_fits(const mc_node *scope) {
    for (int64_t j = 0; scope && j < scope->columns; j++)
        if (scope->column[j] < 0 || scope->column[j] >= MC_WIDTHS_MAX - LEAVES_MAX)
            return false;
    return true;
}

/* ---- inner products and forms ---- */

static bool add_column_product(mc_expander *x, int64_t i, int64_t j, double factor, mc_monomials *out) {
    mc_monomial m = mc_constant_monomial(mc_iv(factor));
    m.x[i] = m.z[j] = 1;
    return mc_add_monomial(x, out, &m);
}

const mc_term *mc_rest_of_linear(mc_pool *pool, int64_t listed) {
    mc_term *rest = (mc_term *)mc_term_special(pool, MC_REST_DOT, NULL);
    if (rest)
        rest->amount = mc_amount_number((double)listed);
    return rest;
}

static bool expand_linear(mc_expander *x, const mc_node *scope, mc_monomials *out) {
    for (int64_t j = 0; j < columns_apart(x, scope); j++)
        if (!add_column_product(x, column_at(scope, j), column_at(scope, j), 1, out))
            return false;
    return all_apart(x, scope) || mc_expand_as_generator(x, mc_rest_of_linear(x->pool, x->listed), NULL, out);
}

static bool expand_form(mc_expander *x, const mc_value *A, const mc_node *scope, mc_monomials *out) {
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t j = 0; j < A->columns; j++)
            if (A->numbers[i * A->columns + j] != 0
                && !add_column_product(x, column_at(scope, i), column_at(scope, j), A->numbers[i * A->columns + j],
                                       out))
                return false;
    return true;
}

static bool is_small_form(const mc_term *term, const mc_node *scope) {
    const mc_value *A = &term->node->parameter[0];
    return term->node->atom == MC_FORM && A->kind == MC_VALUE_MATRIX && A->rows == A->columns && A->rows <= FORM_MAX
           && (!scope || scope->columns == A->rows);
}

/* ---- weights that are polynomials ---- */

/* f as a polynomial in the columns of x. *is: it is one. */
static bool expand_function(mc_expander *x, const mc_function *f, const mc_node *scope, mc_monomials *out, bool *is);

static bool expand_norm2(mc_expander *x, const mc_node *scope, mc_monomials *out) {
    for (int64_t j = 0; j < columns_apart(x, scope); j++) {
        mc_monomial m = mc_constant_monomial(mc_iv(1));
        m.x[column_at(scope, j)] = 2;
        if (!mc_add_monomial(x, out, &m))
            return false;
    }
    return true;
}

static bool expand_column(mc_expander *x, const mc_function *f, const mc_node *scope, mc_monomials *out, bool *is) {
    mc_monomial m = mc_constant_monomial(mc_iv(1));
    *is = f->column < columns_apart(x, scope);
    if (!*is)
        return true;
    m.x[column_at(scope, f->column)] = 1;
    return mc_add_monomial(x, out, &m);
}

/* a + b, a - b, a b; of a quotient b is a number. */
static bool expand_two(mc_expander *x, const mc_function *f, const mc_node *scope, mc_monomials *out, bool *is) {
    mc_monomials b = {0};
    bool ok = expand_function(x, f->child[0], scope, out, is);
    if (ok && *is)
        ok = expand_function(x, f->child[1], scope, &b, is);
    const bool sum = f->kind == MC_F_ADD || f->kind == MC_F_SUBTRACT;
    for (int i = 0; ok && *is && sum && i < b.count; i++) {
        if (f->kind == MC_F_SUBTRACT)
            b.item[i].factor = mc_iv_neg(b.item[i].factor);
        ok = mc_add_monomial(x, out, &b.item[i]);
    }
    if (ok && *is && f->kind == MC_F_DIVIDE) {
        *is = b.count == 1 && !mc_has_column_powers(&b.item[0]);
        if (*is)
            b.item[0].factor = mc_iv_div(mc_iv(1), b.item[0].factor);
    }
    if (ok && *is && !sum)
        ok = mc_multiply_monomials(x, out, &b);
    mc_free(b.item);
    return ok;
}

static bool expand_function_power(mc_expander *x, const mc_function *f, const mc_node *scope, mc_monomials *out,
                                  bool *is) {
    const mc_function *p = f->child[1];
    mc_monomials base = {0};
    *is = p->kind == MC_F_NUMBER && p->number == floor(p->number) && p->number >= 0 && p->number <= FUNCTION_POWER_MAX;
    bool ok = !*is || expand_function(x, f->child[0], scope, &base, is);
    if (ok && *is)
        ok = mc_raise_monomials(x, &base, (int)p->number, out);
    mc_free(base.item);
    return ok;
}

static bool expand_negation(mc_expander *x, const mc_function *f, const mc_node *scope, mc_monomials *out, bool *is) {
    const bool ok = expand_function(x, f->child[0], scope, out, is);
    for (int i = 0; ok && i < out->count; i++)
        out->item[i].factor = mc_iv_neg(out->item[i].factor);
    return ok;
}

/* The column that a function stands for; MC_WIDTHS_MAX - 1 the first. -1: there are too many. */
static int64_t leaf_column(mc_expander *x, const mc_function *f, const mc_node *scope) {
    mc_expansion *e = x->e;
    for (int i = 0; i < e->functions; i++)
        if (e->function_view[i] == scope && mc_function_equal(e->function[i], f))
            return MC_WIDTHS_MAX - 1 - i;
    if (e->functions == LEAVES_MAX)
        return -1;
    e->function[e->functions] = f;
    e->function_view[e->functions] = scope;
    return MC_WIDTHS_MAX - 1 - e->functions++;
}

/* A function of the row that is no polynomial. */
static bool expand_leaf(mc_expander *x, const mc_function *f, const mc_node *scope, mc_monomials *out, bool *is) {
    const int64_t column = leaf_column(x, f, scope);
    mc_monomial m = mc_constant_monomial(mc_iv(1));
    *is = column >= 0;
    if (!*is)
        return true;
    m.x[column] = 1;
    return mc_add_monomial(x, out, &m);
}

static bool expand_function(mc_expander *x, const mc_function *f, const mc_node *scope, mc_monomials *out, bool *is) {
    *is = true;
    switch (f->kind) {
    case MC_F_NUMBER: return mc_add_constant(x, out, mc_iv(f->number));
    case MC_F_COLUMN: return expand_column(x, f, scope, out, is);
    case MC_F_NEGATE: return expand_negation(x, f, scope, out, is);
    case MC_F_ADD:
    case MC_F_SUBTRACT:
    case MC_F_MULTIPLY:
    case MC_F_DIVIDE: return expand_two(x, f, scope, out, is);
    case MC_F_POWER: return expand_function_power(x, f, scope, out, is);
    case MC_F_NORM2: return all_apart(x, scope) ? expand_norm2(x, scope, out) : expand_leaf(x, f, scope, out, is);
    default: return expand_leaf(x, f, scope, out, is);
    }
}

static void exchange_x_and_z(mc_monomials *l) {
    for (int i = 0; i < l->count; i++)
        for (int j = 0; j < MC_WIDTHS_MAX; j++) {
            const uint8_t power = l->item[i].x[j];
            l->item[i].x[j] = l->item[i].z[j];
            l->item[i].z[j] = power;
        }
}

/* f(x) k(x, z) f(z) */
static bool expand_polynomial_weight(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out,
                                     bool *taken) {
    mc_monomials f = {0}, k = {0};
    bool ok = expand_function(x, term->node->function, scope, &f, taken);
    if (ok && *taken)
        ok = mc_add_constant(x, out, mc_iv(1)) && mc_multiply_monomials(x, out, &f);
    exchange_x_and_z(&f);
    if (ok && *taken)
        ok = mc_multiply_monomials(x, out, &f) && mc_expand_into(x, term->child[0], scope, &k)
             && mc_multiply_monomials(x, out, &k);
    mc_free(f.item);
    mc_free(k.item);
    return ok;
}

/* ---- sin^2 = 1 - cos^2 ---- */

/* The cosine of what function i is the sine of; -1: none occurs. */
static int partner_of_sine(const mc_expansion *e, int i) {
    for (int k = 0; e->function[i]->kind == MC_F_SIN && k < e->functions; k++)
        if (e->function[k]->kind == MC_F_COS && e->function_view[k] == e->function_view[i]
            && mc_function_equal(e->function[k]->child[0], e->function[i]->child[0]))
            return k;
    return -1;
}

static uint8_t *powers_of_side(mc_monomial *m, bool of_z) {
    return of_z ? m->z : m->x;
}

/* Some square of a sine in l is replaced; *found: there was one. */
static bool replace_sine(mc_expander *x, mc_monomials *l, int sine, int cosine, bool of_z, bool *found) {
    mc_monomials out = {0};
    bool ok = true;
    for (int i = 0; ok && i < l->count; i++) {
        mc_monomial m = l->item[i];
        if (powers_of_side(&m, of_z)[sine] >= 2) {
            *found = true;
            powers_of_side(&m, of_z)[sine] = (uint8_t)(powers_of_side(&m, of_z)[sine] - 2);
            ok = mc_add_monomial(x, &out, &m);
            powers_of_side(&m, of_z)[cosine] = (uint8_t)(powers_of_side(&m, of_z)[cosine] + 2);
            m.factor = mc_iv_neg(m.factor);
        }
        ok = ok && mc_add_monomial(x, &out, &m);
    }
    mc_free(l->item);
    *l = out;
    return ok;
}

bool mc_replace_sines(mc_expander *x, mc_monomials *l) {
    for (int i = 0; i < x->e->functions; i++) {
        const int k = partner_of_sine(x->e, i);
        for (int side = 0; k >= 0 && side < 2; side++)
            for (bool found = true; found;) {
                found = false;
                if (!replace_sine(x, l, MC_WIDTHS_MAX - 1 - i, MC_WIDTHS_MAX - 1 - k, side == 1, &found))
                    return false;
            }
    }
    return true;
}

/* ---- all ---- */

bool mc_expand_in_columns(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out, bool *taken) {
    *taken = false;
    if (!scope_fits(scope) || x->listed > MC_WIDTHS_MAX - LEAVES_MAX)
        return true;
    if (term->kind == MC_T_WEIGH && term->node)
        return expand_polynomial_weight(x, term, scope, out, taken);
    *taken = term->kind == MC_T_ATOM && (term->node->atom == MC_LINEAR || is_small_form(term, scope));
    if (!*taken)
        return true;
    return term->node->atom == MC_LINEAR ? expand_linear(x, scope, out)
                                         : expand_form(x, &term->node->parameter[0], scope, out);
}
