/* prove_conditional.c: the search for a derivation that something is conditionally positive. */
#include "base/memory.h"
#include "kernel/language/atoms.h"
#include "kernel/proof/prover.h"

/* The rule of order 1, or the same of order 2. */
static mc_rule of_order(mc_judgement order, mc_rule first) {
    static const mc_rule second[MC_RULE_COUNT] = {[MC_RULE_CONDITIONAL_SUM] = MC_RULE_CONDITIONAL_2_SUM,
                                                  [MC_RULE_CONDITIONAL_MULTIPLE] = MC_RULE_CONDITIONAL_2_MULTIPLE,
                                                  [MC_RULE_CONDITIONAL_COLUMNS] = MC_RULE_CONDITIONAL_2_COLUMNS};
    return order == MC_IS_CONDITIONAL ? first : second[first];
}

/* A kernel, or conditionally positive of an order up to this one. */
static int prove_part(mc_prover *p, mc_judgement order, const mc_term *term, int64_t d) {
    int line = mc_claim_kernel(p, term, d);
    if (line == MC_NO_LINE)
        line = mc_claim_conditional(p, MC_IS_CONDITIONAL, term, d);
    return line == MC_NO_LINE && order != MC_IS_CONDITIONAL ? mc_claim_conditional(p, order, term, d) : line;
}

/* Of a sum every part but the numbers; of a product the one part that is no number, which must not be negative. */
static int prove_parts(mc_prover *p, mc_judgement order, const mc_term *term, int64_t d, mc_rule rule) {
    int *premise = mc_alloc(p->ctx, term->children, sizeof *premise);
    int count = 0;
    bool holds = premise != NULL;
    if (!premise)
        p->status = MERCER_MEMORY;
    for (int i = 0; i < term->children && holds; i++) {
        const mc_term *child = term->child[i];
        if (child->kind == MC_T_NUMBER)
            holds = term->kind == MC_T_SUM || mc_amount_range(child->amount).lo >= 0;
        else
            holds = (premise[count++] = prove_part(p, order, child, d)) != MC_NO_LINE;
    }
    const mc_proof_line line = {.judgement = order, .term = term, .d = d, .rule = of_order(order, rule)};
    const int made =
        holds && (term->kind == MC_T_SUM || count == 1) ? mc_add_proof_line(p, line, count, premise) : MC_NO_LINE;
    mc_free(premise);
    return made;
}

static int conditional_atom(mc_prover *p, mc_judgement order, const mc_term *term, int64_t d) {
    if (term->node->atom == MC_THIN_PLATE)
        return order == MC_IS_CONDITIONAL ? MC_NO_LINE : mc_claim_outright(p, order, term, d, MC_RULE_THIN_PLATE);
    return mc_atom_is_conditional(term->node) && order == MC_IS_CONDITIONAL
               ? mc_claim_by_psi(p, order, term, d, MC_RULE_CONDITIONAL_ATOM)
               : MC_NO_LINE;
}

/* -a b or -a b^p: minus b is conditionally positive. */
static int minus_bernstein(mc_prover *p, mc_judgement order, const mc_term *term, int64_t d) {
    const mc_term *base = term->children == 2 ? term->child[1] : NULL;
    if (order != MC_IS_CONDITIONAL || !base || term->child[0]->kind != MC_T_NUMBER
        || !(mc_amount_range(term->child[0]->amount).hi < 0))
        return MC_NO_LINE;
    const bool power = base->kind == MC_T_POWER && base->amount.factor < 1;
    if (power && !(base->amount.factor > 0 && mc_term_diagonal_range(base->child[0]).lo >= 0))
        return MC_NO_LINE;
    const mc_term *minus = mc_term_negated(p->pool, power ? base->child[0] : base);
    return mc_claim_from(p, order, term, d, MC_RULE_CONDITIONAL_BERNSTEIN, mc_claim_conditional(p, order, minus, d));
}

static int conditional_product(mc_prover *p, mc_judgement order, const mc_term *term, int64_t d) {
    const int line = prove_parts(p, order, term, d, MC_RULE_CONDITIONAL_MULTIPLE);
    return line == MC_NO_LINE ? minus_bernstein(p, order, term, d) : line;
}

int mc_inverse_conditional(mc_prover *p, mc_judgement judgement, const mc_term *term, int64_t d, mc_rule rule) {
    if (!(term->amount.factor < 0) || !(mc_term_diagonal_range(term->child[0]).lo > 0))
        return MC_NO_LINE;
    const mc_term *minus = mc_term_negated(p->pool, term->child[0]);
    return mc_claim_from(p, judgement, term, d, rule, mc_claim_conditional(p, MC_IS_CONDITIONAL, minus, d));
}

int mc_conditional_by_top(mc_prover *p, mc_judgement order, const mc_term *term, int64_t d) {
    switch (term->kind) {
    case MC_T_NUMBER: return mc_claim_outright(p, order, term, d, of_order(order, MC_RULE_CONDITIONAL_SUM));
    case MC_T_ATOM: return conditional_atom(p, order, term, d);
    case MC_T_SUM: return prove_parts(p, order, term, d, MC_RULE_CONDITIONAL_SUM);
    case MC_T_PRODUCT: return conditional_product(p, order, term, d);
    case MC_T_COLUMNS:
        return mc_claim_from(p, order, term, d, of_order(order, MC_RULE_CONDITIONAL_COLUMNS),
                             prove_part(p, order, term->child[0], term->node->columns));
    default: return MC_NO_LINE;
    }
}
