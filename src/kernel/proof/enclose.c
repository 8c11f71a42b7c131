/* enclose.c: the reference evaluator's formulas (eval.c) once more, in interval arithmetic, so that a value can be
   trusted to its last digit.

   The points and the parameters are doubles and are taken exactly; every step after that rounds outwards. A part
   without a value, or one of which nothing is known, makes the whole so: exp of everything is not [0, infinity] here.
   Written apart from eval.c on purpose: a witness that both agree on does not rest on one of them. */
#include "kernel/proof/enclose.h"
#include "kernel/language/node.h"
#include "kernel/proof/enclose_atoms.h"
#include <math.h>

static mc_interval enclose_node(const mc_node *node, const mc_view *view, const double *x, const double *z);

/* ---- functions of weigh ---- */

static bool is_unknown(mc_interval a) {
    return a.lo == -INFINITY && a.hi == INFINITY;
}

static mc_interval function_power(mc_interval a, mc_interval b) {
    if (mc_iv_is_point(b))
        return mc_iv_power(a, b.lo);
    return a.lo > 0 ? mc_iv_exp(mc_iv_mul(b, mc_iv_log(a))) : mc_iv_everything();
}

mc_interval mc_enclose_function(const mc_function *f, const mc_view *view, const double *x) {
    const mc_interval a = f->child[0] ? mc_enclose_function(f->child[0], view, x) : mc_iv(0);
    const mc_interval b = f->child[1] ? mc_enclose_function(f->child[1], view, x) : mc_iv(0);
    if (is_unknown(a) || is_unknown(b))
        return mc_iv_everything();
    switch (f->kind) {
    case MC_F_NUMBER: return mc_iv(f->number);
    case MC_F_NORM2: return mc_enclose_squared_norm(view, x);
    case MC_F_NORM: return mc_iv_sqrt(mc_enclose_squared_norm(view, x));
    case MC_F_COLUMN: return mc_iv(mc_view_at(view, x, f->column));
    case MC_F_NEGATE: return mc_iv_neg(a);
    case MC_F_ADD: return mc_iv_add(a, b);
    case MC_F_SUBTRACT: return mc_iv_sub(a, b);
    case MC_F_MULTIPLY: return mc_iv_mul(a, b);
    case MC_F_DIVIDE: return mc_iv_div(a, b);
    case MC_F_POWER: return function_power(a, b);
    case MC_F_EXP: return mc_iv_exp(a);
    case MC_F_LOG: return mc_iv_log(a);
    case MC_F_SQRT: return a.lo < 0 ? mc_iv_everything() : mc_iv_sqrt(a);
    case MC_F_SIN: return mc_iv_sin(a);
    case MC_F_COS: return mc_iv_cos(a);
    case MC_F_TANH: return mc_iv_tanh(a);
    case MC_F_ABS: return mc_iv_abs(a);
    }
    return mc_iv_everything();
}

static bool depends_on_point(const mc_function *f) {
    return f
           && (f->kind == MC_F_NORM2 || f->kind == MC_F_NORM || f->kind == MC_F_COLUMN || depends_on_point(f->child[0])
               || depends_on_point(f->child[1]));
}

bool mc_enclose_constant(const mc_function *f, mc_interval *value) {
    if (depends_on_point(f))
        return false;
    *value = mc_enclose_function(f, NULL, NULL);
    return !is_unknown(*value);
}

/* ---- expressions ---- */

static mc_interval enclose_sum_or_product(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    mc_interval r = mc_iv(node->kind == MC_SUM ? 0 : 1);
    for (int i = 0; i < node->children; i++) {
        const mc_interval c = enclose_node(node->child[i], view, x, z);
        if (is_unknown(c))
            return c;
        r = node->kind == MC_SUM ? mc_iv_add(r, c) : mc_iv_mul(r, c);
    }
    return r;
}

/* On one point against itself the quotient is exactly the sign. */
static mc_interval enclose_normalize(const mc_node *child, const mc_view *view, const double *x, const double *z) {
    const mc_interval a = enclose_node(child, view, x, x);
    if (is_unknown(a))
        return a;
    if (x == z && (a.lo > 0 || a.hi < 0))
        return mc_iv(a.lo > 0 ? 1 : -1);
    if (x == z)
        return mc_iv_is_zero(&a) ? mc_iv(0) : mc_iv_everything();
    const mc_interval b = enclose_node(child, view, z, z), v = enclose_node(child, view, x, z);
    return is_unknown(b) || is_unknown(v) ? mc_iv_everything() : mc_enclose_quotient(v, a, b);
}

static mc_interval enclose_weigh(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    const mc_interval f = mc_enclose_function(node->function, view, x),
                      g = mc_enclose_function(node->function, view, z);
    const mc_interval k = enclose_node(node->child[0], view, x, z);
    return is_unknown(f) || is_unknown(g) || is_unknown(k) ? mc_iv_everything() : mc_iv_mul(mc_iv_mul(f, k), g);
}

static mc_interval of_child(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    const mc_interval k = enclose_node(node->child[0], view, x, z);
    if (is_unknown(k))
        return k;
    if (node->kind == MC_SERIES)
        return mc_iv_series(node->series, k);
    return node->kind == MC_EXP ? mc_iv_exp(k) : mc_iv_power(k, node->number);
}

static mc_interval enclose_node(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    switch (node->kind) {
    case MC_NUMBER: return mc_iv(node->number);
    case MC_ATOM: return mc_enclose_atom(node, &(mc_row_pair){view, x, z});
    case MC_SUM:
    case MC_PRODUCT: return enclose_sum_or_product(node, view, x, z);
    case MC_POWER:
    case MC_SERIES:
    case MC_EXP: return of_child(node, view, x, z);
    case MC_NORMALIZE: return enclose_normalize(node->child[0], view, x, z);
    case MC_WEIGH: return enclose_weigh(node, view, x, z);
    case MC_COLUMNS: {
        const mc_view inner = mc_view_columns(view, node);
        return enclose_node(node->child[0], &inner, x, z);
    }
    }
    return mc_iv_everything();
}

mc_interval mc_enclose_kernel(const mc_node *node, const double *x, const double *z, int64_t d) {
    const mc_view all = {.d = d};
    return enclose_node(node, &all, x, z);
}
