/* monomials.c: lists of monomials: sums and products of them. See expand.h for what a monomial is. */
#include "kernel/proof/expand_list.h"
#include "base/memory.h"
#include <string.h>

mc_monomial mc_constant_monomial(mc_interval c) {
    return (mc_monomial){.factor = c};
}

bool mc_same_column_powers(const mc_monomial *a, const mc_monomial *b) {
    return memcmp(a->x, b->x, sizeof a->x) == 0 && memcmp(a->z, b->z, sizeof a->z) == 0;
}

static bool same_exponents(const mc_monomial *a, const mc_monomial *b) {
    for (int g = 0; g < MC_GENERATORS_MAX; g++)
        if (a->power[g] != b->power[g] || !mc_iv_equal(&a->rate[g], &b->rate[g]))
            return false;
    for (int j = 0; j < MC_WIDTHS_MAX; j++)
        if (!mc_iv_equal(&a->widths[j], &b->widths[j]))
            return false;
    return mc_iv_equal(&a->width, &b->width) && mc_same_column_powers(a, b);
}

bool mc_give_up_expansion(mc_expander *x) {
    x->e->whole = false;
    return false;
}

static bool grow_monomials(mc_expander *x, mc_monomials *l) {
    if (l->count == MC_MONOMIALS_MAX)
        return mc_give_up_expansion(x);
    const int capacity = l->capacity ? 2 * l->capacity : 4;
    mc_monomial *item = mc_grow_block(x->pool->ctx, l->item, capacity, sizeof *item);
    if (!item) {
        x->status = MERCER_MEMORY;
        return false;
    }
    l->item = item;
    l->capacity = capacity;
    return true;
}

/* Merge with a like monomial, dropping what cancels to exactly nothing. */
bool mc_add_monomial(mc_expander *x, mc_monomials *l, const mc_monomial *m) {
    if ((*x->work -= l->count + 1) < 0)
        return mc_give_up_expansion(x);
    for (int i = 0; i < l->count; i++)
        if (same_exponents(&l->item[i], m)) {
            l->item[i].factor = mc_iv_add(l->item[i].factor, m->factor);
            if (mc_iv_is_zero(&l->item[i].factor))
                l->item[i] = l->item[--l->count];
            return true;
        }
    if (mc_iv_is_zero(&m->factor))
        return true;
    if (l->count == l->capacity && !grow_monomials(x, l))
        return false;
    l->item[l->count++] = *m;
    return true;
}

static mc_monomial multiply_two(const mc_monomial *a, const mc_monomial *b) {
    mc_monomial m = {.factor = mc_iv_mul(a->factor, b->factor), .width = mc_iv_add(a->width, b->width)};
    for (int g = 0; g < MC_GENERATORS_MAX; g++) {
        m.power[g] = a->power[g] + b->power[g];
        m.rate[g] = mc_iv_add(a->rate[g], b->rate[g]);
    }
    for (int j = 0; j < MC_WIDTHS_MAX; j++)
        m.widths[j] = mc_iv_add(a->widths[j], b->widths[j]);
    for (int j = 0; j < MC_WIDTHS_MAX; j++) {
        m.x[j] = (uint8_t)(a->x[j] + b->x[j]);
        m.z[j] = (uint8_t)(a->z[j] + b->z[j]);
    }
    return m;
}

/* Powers of columns are kept in a byte. */
static bool powers_fit(const mc_monomial *m) {
    int x = 0, z = 0;
    for (int j = 0; j < MC_WIDTHS_MAX; j++) {
        x += m->x[j];
        z += m->z[j];
    }
    return x <= MC_COLUMN_POWER_MAX && z <= MC_COLUMN_POWER_MAX;
}

/* l <- l * r */
bool mc_multiply_monomials(mc_expander *x, mc_monomials *l, const mc_monomials *r) {
    mc_monomials product = {0};
    for (int i = 0; i < l->count; i++)
        for (int k = 0; k < r->count; k++) {
            mc_monomial m = multiply_two(&l->item[i], &r->item[k]);
            if (x->mode == MC_UNFOLDED)
                mc_absorb_into_white(x->e, &m);
            if (!(powers_fit(&m) || mc_give_up_expansion(x))
                || (x->mode == MC_GENERATORS && !mc_merge_exponentials(x, &m)) || !mc_add_monomial(x, &product, &m)) {
                mc_free(product.item);
                return false;
            }
        }
    mc_free(l->item);
    *l = product;
    return true;
}

bool mc_add_constant(mc_expander *x, mc_monomials *l, mc_interval c) {
    const mc_monomial m = mc_constant_monomial(c);
    return mc_add_monomial(x, l, &m);
}
