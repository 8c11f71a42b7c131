/* term.c: the pool, and making and comparing terms. */
#include "kernel/proof/term.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/proof/derivation.h"
#include "kernel/language/function.h"
#include "kernel/language/node.h"
#include <float.h>
#include <math.h>

struct mc_pool_block {
    struct mc_pool_block *next;
    size_t used, size;
    _Alignas(16) char bytes[];
};

enum { BLOCK_BYTES = 16 << 10 };

mc_pool mc_pool_open(mercer_ctx *ctx) {
    return (mc_pool){.ctx = ctx};
}

static bool add_block(mc_pool *pool, size_t bytes) {
    const size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    struct mc_pool_block *block = mc_alloc(pool->ctx, (int64_t)(sizeof *block + size), 1);
    if (!block) {
        pool->status = MERCER_MEMORY;
        return false;
    }
    *block = (struct mc_pool_block){.next = pool->blocks, .size = size};
    pool->blocks = block;
    return true;
}

void *mc_pool_take(mc_pool *pool, int64_t count, size_t size) {
    const size_t bytes = ((size_t)count * size + 15) / 16 * 16;
    if (!pool->blocks || pool->blocks->size - pool->blocks->used < bytes)
        if (!add_block(pool, bytes))
            return NULL;
    void *taken = pool->blocks->bytes + pool->blocks->used;
    pool->blocks->used += bytes;
    return taken;
}

void mc_pool_close(mc_pool *pool) {
    while (pool->blocks) {
        struct mc_pool_block *next = pool->blocks->next;
        mc_free(pool->blocks);
        pool->blocks = next;
    }
}

/* ---- numbers ---- */

mc_amount mc_amount_number(double number) {
    return (mc_amount){.factor = number};
}

mc_amount mc_amount_of(double factor, const mc_node *atom, int parameter) {
    if (atom->parameter[parameter].kind == MC_VALUE_NUMBER)
        return mc_amount_number(factor * atom->parameter[parameter].number);
    return (mc_amount){factor, &atom->parameter[parameter], mc_atoms[atom->atom].parameter[parameter].name};
}

static bool is_for_tune(const mc_value *value) {
    return value->kind == MC_VALUE_RANGE || value->kind == MC_VALUE_SET;
}

static bool same_value(const mc_value *a, const mc_value *b) {
    return a == b || (a && b && !is_for_tune(a) && mc_value_equal(a, b));
}

bool mc_amount_equal(mc_amount a, mc_amount b) {
    return a.factor == b.factor && same_value(a.value, b.value);
}

static mc_interval range_of_numbers(const mc_value *value) {
    mc_interval r = mc_iv(value->numbers[0]);
    for (int64_t i = 1; i < value->rows * value->columns; i++)
        r = mc_iv_hull(r, mc_iv(value->numbers[i]));
    return r;
}

mc_interval mc_value_range(const mc_value *value) {
    switch (value->kind) {
    case MC_VALUE_NUMBER: return mc_iv(value->number);
    case MC_VALUE_RANGE: return mc_iv_of(value->low, value->high);
    case MC_VALUE_VECTOR:
    case MC_VALUE_SET: return range_of_numbers(value);
    case MC_VALUE_AUTO: return mc_iv_of(DBL_TRUE_MIN, DBL_MAX);
    default: return mc_iv_everything();
    }
}

bool mc_value_is_zero(const mc_value *value) {
    const mc_interval range = mc_value_range(value);
    return mc_iv_is_zero(&range);
}

mc_interval mc_amount_range(mc_amount a) {
    return a.value ? mc_iv_mul(mc_iv(a.factor), mc_value_range(a.value)) : mc_iv(a.factor);
}

/* ---- making ---- */

static mc_term *make_term(mc_pool *pool, mc_term_kind kind, int children) {
    mc_term *term = mc_pool_take(pool, 1, sizeof *term);
    if (!term)
        return NULL;
    term->kind = kind;
    term->children = children;
    return term;
}

const mc_term *mc_term_number(mc_pool *pool, mc_amount amount) {
    mc_term *term = make_term(pool, MC_T_NUMBER, 0);
    if (term)
        term->amount = amount;
    return term;
}

const mc_term *mc_term_atom(mc_pool *pool, const mc_node *node) {
    mc_term *term = make_term(pool, MC_T_ATOM, 0);
    if (term)
        term->node = node;
    return term;
}

static const mc_node linear_node = {.kind = MC_ATOM, .atom = MC_LINEAR};

const mc_term *mc_term_linear(mc_pool *pool) {
    return mc_term_atom(pool, &linear_node);
}

const mc_term *mc_term_special(mc_pool *pool, mc_special special, const mc_node *owner) {
    mc_term *term = make_term(pool, MC_T_SPECIAL, 0);
    if (!term)
        return NULL;
    term->special = special;
    term->node = owner;
    return term;
}

static const mc_term *with_children(mc_pool *pool, mc_term_kind kind, int count, const mc_term *const *child) {
    mc_term *term = make_term(pool, kind, count);
    const mc_term **copy = mc_pool_take(pool, count, sizeof *copy);
    if (!term || !copy)
        return NULL;
    for (int i = 0; i < count; i++)
        if (!(copy[i] = child[i]))
            return NULL;
    term->child = copy;
    return term;
}

const mc_term *mc_term_unary(mc_pool *pool, mc_term_kind kind, mc_amount amount, const mc_node *node,
                             const mc_term *child) {
    mc_term *term = (mc_term *)with_children(pool, kind, 1, &child);
    if (!term)
        return NULL;
    term->amount = amount;
    term->node = node;
    return term;
}

const mc_term *mc_term_binary(mc_pool *pool, mc_term_kind kind, const mc_term *a, const mc_term *b) {
    return with_children(pool, kind, 2, (const mc_term *[]){a, b});
}

const mc_term *mc_term_without(mc_pool *pool, const mc_term *sum, int i) {
    const mc_term **child = mc_pool_take(pool, sum->children, sizeof *child);
    int count = 0;
    for (int k = 0; child && k < sum->children; k++)
        if (k != i)
            child[count++] = sum->child[k];
    return !child ? NULL : count == 1 ? child[0] : with_children(pool, MC_T_SUM, count, child);
}

static const mc_term_kind kind_of[] = {
    [MC_NUMBER] = MC_T_NUMBER,       [MC_ATOM] = MC_T_ATOM,   [MC_SUM] = MC_T_SUM,
    [MC_PRODUCT] = MC_T_PRODUCT,     [MC_POWER] = MC_T_POWER, [MC_EXP] = MC_T_EXP,
    [MC_NORMALIZE] = MC_T_NORMALIZE, [MC_WEIGH] = MC_T_WEIGH, [MC_COLUMNS] = MC_T_COLUMNS,
    [MC_SERIES] = MC_T_SERIES,
};

const mc_term *mc_term_from(mc_pool *pool, const mc_node *node) {
    mc_term *term = make_term(pool, kind_of[node->kind], node->children);
    const mc_term **child = mc_pool_take(pool, node->children, sizeof *child);
    if (!term || !child)
        return NULL;
    for (int i = 0; i < node->children; i++)
        if (!(child[i] = mc_term_from(pool, node->child[i])))
            return NULL;
    term->node = node;
    term->amount = mc_amount_number(node->number);
    term->child = child;
    return term;
}

/* ---- comparing ---- */

static bool is_closed(const mc_node *node) {
    for (int i = 0; node->kind == MC_ATOM && i < mc_atoms[node->atom].parameters; i++)
        if (is_for_tune(&node->parameter[i]))
            return false;
    for (int i = 0; i < node->children; i++)
        if (!is_closed(node->child[i]))
            return false;
    return true;
}

static bool same_atom(const mc_node *a, const mc_node *b) {
    return a == b || (a && b && is_closed(a) && mc_node_equal(a, b));
}

static bool same_list(const mc_node *a, const mc_node *b) {
    if (a == b)
        return true;
    mc_node p = *a, q = *b; /* the lists alone: the children are compared as terms */
    p.children = q.children = 0;
    return mc_node_equal(&p, &q);
}

static bool same_weight(const mc_term *a, const mc_term *b) {
    if (!a->node || !b->node)
        return a->node == b->node && mc_amount_equal(a->amount, b->amount);
    return mc_function_equal(a->node->function, b->node->function);
}

static bool same_head(const mc_term *a, const mc_term *b) {
    switch (a->kind) {
    case MC_T_NUMBER:
    case MC_T_DOT:
    case MC_T_POWER: return mc_amount_equal(a->amount, b->amount);
    case MC_T_ATOM: return same_atom(a->node, b->node);
    case MC_T_REMAINDER: return a->order == b->order && mc_amount_equal(a->amount, b->amount);
    case MC_T_WEIGH: return same_weight(a, b);
    case MC_T_SERIES: return a->node->series == b->node->series;
    case MC_T_COLUMNS: return same_list(a->node, b->node);
    case MC_T_SPECIAL:
        return a->special == b->special && same_atom(a->node, b->node) && mc_amount_equal(a->amount, b->amount);
    default: return true;
    }
}

bool mc_term_equal(const mc_term *a, const mc_term *b) {
    if (a == b)
        return true;
    if (!a || !b || a->kind != b->kind || a->children != b->children || !same_head(a, b))
        return false;
    for (int i = 0; i < a->children; i++)
        if (!mc_term_equal(a->child[i], b->child[i]))
            return false;
    return true;
}

/* ---- minus a term ---- */

static const mc_term *negated_number(mc_pool *pool, mc_amount amount) {
    amount.factor = -amount.factor;
    return mc_term_number(pool, amount);
}

static bool leads_with_number(const mc_term *term) {
    return term->kind == MC_T_PRODUCT && term->children > 0 && term->child[0]->kind == MC_T_NUMBER;
}

/* Every child negated, or the first one. */
static const mc_term *with_negated_children(mc_pool *pool, const mc_term *term, int count) {
    const mc_term **child = mc_pool_take(pool, term->children, sizeof *child);
    for (int i = 0; child && i < term->children; i++)
        child[i] = i < count ? mc_term_negated(pool, term->child[i]) : term->child[i];
    return child ? with_children(pool, term->kind, term->children, child) : NULL;
}

const mc_term *mc_term_negated(mc_pool *pool, const mc_term *term) {
    if (term->kind == MC_T_NUMBER)
        return negated_number(pool, term->amount);
    if (term->kind == MC_T_SUM)
        return with_negated_children(pool, term, term->children);
    if (!leads_with_number(term))
        return mc_term_binary(pool, MC_T_PRODUCT, mc_term_number(pool, mc_amount_number(-1)), term);
    const mc_amount lead = term->child[0]->amount;
    return term->children == 2 && lead.factor == -1 && !lead.value ? term->child[1]
                                                                   : with_negated_children(pool, term, 1);
}

/* ---- the view that all parts have in common ---- */

static const mc_term *children_without_view(mc_pool *pool, const mc_term *term, const mc_node **view) {
    mc_term *copy = make_term(pool, term->kind, term->children);
    const mc_term **child = mc_pool_take(pool, term->children, sizeof *child);
    if (!copy || !child)
        return NULL;
    for (int i = 0; i < term->children; i++)
        if (!(child[i] = mc_term_without_view(pool, term->child[i], view)))
            return NULL;
    copy->amount = term->amount;
    copy->node = term->node;
    copy->child = child;
    return copy;
}

const mc_term *mc_term_without_view(mc_pool *pool, const mc_term *term, const mc_node **view) {
    switch (term->kind) {
    case MC_T_NUMBER: return term;
    case MC_T_COLUMNS: *view = *view ? *view : term->node; return same_list(*view, term->node) ? term->child[0] : NULL;
    case MC_T_SUM:
    case MC_T_PRODUCT:
    case MC_T_POWER:
    case MC_T_EXP:
    case MC_T_SERIES:
    case MC_T_NORMALIZE: return children_without_view(pool, term, view);
    default: return NULL;
    }
}

/* ---- definitions ---- */

/* amount * linear, without the factor when it is the number 1. */
static const mc_term *times_linear(mc_pool *pool, mc_amount amount) {
    const mc_interval range = mc_amount_range(amount);
    if (range.lo == 1 && range.hi == 1)
        return mc_term_linear(pool);
    return mc_term_binary(pool, MC_T_PRODUCT, mc_term_number(pool, amount), mc_term_linear(pool));
}

static const mc_term *weighted_dot_term(mc_pool *pool, mc_amount amount) {
    if (!amount.value || amount.value->kind != MC_VALUE_VECTOR)
        return times_linear(pool, amount);
    mc_term *term = make_term(pool, MC_T_DOT, 0);
    if (term)
        term->amount = amount;
    return term;
}

/* |x - z|^2 = |x|^2 - 2<x, z> + |z|^2, column by column. Not where 2 gamma is beyond the doubles. */
static const mc_term *unfold_rbf(mc_pool *pool, const mc_node *atom) {
    if (isinf(mc_amount_of(2, atom, 0).factor))
        return NULL;
    const mc_term *inner =
        mc_term_unary(pool, MC_T_EXP, mc_amount_number(0), NULL, weighted_dot_term(pool, mc_amount_of(2, atom, 0)));
    return mc_term_unary(pool, MC_T_WEIGH, mc_amount_of(1, atom, 0), NULL, inner);
}

static const mc_term *unfold_poly(mc_pool *pool, const mc_node *atom) {
    const mc_term *inner = times_linear(pool, mc_amount_of(1, atom, 2));
    const mc_interval c = mc_value_range(&atom->parameter[1]);
    if (c.lo == 0 && c.hi == 0)
        return inner;
    return mc_term_binary(pool, MC_T_SUM, inner, mc_term_number(pool, mc_amount_of(1, atom, 1)));
}

const mc_term *mc_term_unfold(mc_pool *pool, const mc_node *atom) {
    return atom->atom == MC_RBF ? unfold_rbf(pool, atom) : atom->atom == MC_POLY ? unfold_poly(pool, atom) : NULL;
}

/* exp(-this) is the atom. */
const mc_term *mc_minus_log(mc_pool *pool, const mc_node *atom) {
    static const mc_special inside[MC_ATOM_COUNT] = {
        [MC_RBF] = MC_SCALED_SQUARE,      [MC_LAPLACIAN] = MC_SUM_DISTANCE, [MC_EXPONENTIAL] = MC_SCALED_DISTANCE,
        [MC_PERIODIC] = MC_CIRCLE_SQUARE, [MC_CHI2] = MC_CHI2_DISTANCE,     [MC_RQ] = MC_RQ_LOG,
        [MC_MATERN] = MC_MATERN_LOG,
    };
    const mc_interval nu = mc_value_range(&atom->parameter[0]);
    if (atom->atom == MC_MATERN && nu.lo == 0.5 && nu.hi == 0.5)
        return mc_term_special(pool, MC_SCALED_DISTANCE, atom);
    return inside[atom->atom] ? mc_term_special(pool, inside[atom->atom], atom) : NULL;
}
