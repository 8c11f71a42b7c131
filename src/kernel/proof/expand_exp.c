/* expand_exp.c: exp(a + b) is exp(a) exp(b): a the parts of the exponent that are multiples of generators, b all
   others, and numbers. */
#include "base/memory.h"
#include "kernel/proof/expand_list.h"

typedef enum exponent_part { MULTIPLES, NUMBER, OTHERS } exponent_part;

/* *ok: it could be told. */
static exponent_part kind_of_part(mc_expander *x, const mc_term *part, const mc_node *scope, bool *ok) {
    mc_monomials k = {0};
    mc_monomial rates;
    *ok = mc_expand_into(x, part, scope, &k);
    exponent_part kind = *ok && mc_linear_exponent(&k, &rates) ? MULTIPLES : OTHERS;
    if (k.count == 0 || (k.count == 1 && mc_monomial_is_constant(&k.item[0])))
        kind = NUMBER;
    mc_free(k.item);
    return kind;
}

static const mc_term *add_term(mc_pool *pool, const mc_term *sum, const mc_term *part) {
    return sum ? mc_term_binary(pool, MC_T_SUM, sum, part) : part;
}

bool mc_expand_exp_apart(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out, bool *taken) {
    const mc_term *sum = term->child[0], *part[2] = {NULL, NULL};
    mc_monomials factor = {0};
    bool ok = true, others = false;
    for (int i = 0; ok && sum->kind == MC_T_SUM && i < sum->children; i++) {
        const exponent_part kind = kind_of_part(x, sum->child[i], scope, &ok);
        others = others || kind == OTHERS;
        part[kind != MULTIPLES] = add_term(x->pool, part[kind != MULTIPLES], sum->child[i]);
    }
    *taken = ok && part[0] && others;
    for (int i = 0; *taken && ok && i < 2; i++) {
        const mc_term *one = mc_term_unary(x->pool, MC_T_EXP, mc_amount_number(0), NULL, part[i]);
        ok = one && mc_expand_into(x, one, scope, i ? &factor : out);
    }
    ok = ok && (!*taken || mc_multiply_monomials(x, out, &factor));
    mc_free(factor.item);
    return ok;
}
