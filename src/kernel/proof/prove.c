/* prove.c: the search for a derivation, from the goal down.

   The rule for the top of an expression is tried first, which gives the argument a person would give. Only when a part
   cannot be proved, as a term with a minus sign cannot, the whole is multiplied out and argued about as a sum. Nothing
   here needs to be right: check_proof.c verifies what comes out.

   Every claim is tried once: those proved are lines and are found again, those that failed (or are being tried further
   up) are kept in a list of their own. */
#include "kernel/proof/conditioned.h"
#include "kernel/proof/prove.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/proof/expand.h"
#include "kernel/proof/prover.h"
#include <math.h>

/* One premise per child; numbers that a product may carry are left out. */
static int prove_children(mc_prover *p, const mc_term *term, int64_t d, mc_judgement judgement, mc_rule rule,
                          bool numbers_apart) {
    int *premise = mc_alloc(p->ctx, term->children, sizeof *premise);
    int count = 0, line = 0;
    if (!premise) {
        p->status = MERCER_MEMORY;
        return MC_NO_LINE;
    }
    for (int i = 0; i < term->children && line != MC_NO_LINE; i++) {
        const mc_term *child = term->child[i];
        if (numbers_apart && child->kind == MC_T_NUMBER) {
            line = mc_amount_range(child->amount).lo >= 0 ? 0 : MC_NO_LINE;
            continue;
        }
        line = judgement == MC_IS_KERNEL ? mc_claim_kernel(p, child, d) : mc_claim_all_powers(p, child, d);
        premise[count++] = line;
    }
    if (line != MC_NO_LINE)
        line = mc_add_proof_line(p, (mc_proof_line){.judgement = judgement, .term = term, .d = d, .rule = rule}, count,
                                 premise);
    mc_free(premise);
    return line;
}

static int of_child(mc_prover *p, const mc_term *term, int64_t d, mc_rule rule) {
    return mc_claim_from(p, MC_IS_KERNEL, term, d, rule, mc_claim_kernel(p, term->child[0], d));
}

static int prove_power(mc_prover *p, const mc_term *term, int64_t d) {
    const double n = term->amount.factor;
    if (n >= 0 && n == floor(n))
        return of_child(p, term, d, MC_RULE_POWER);
    return n > 0
               ? mc_claim_from(p, MC_IS_KERNEL, term, d, MC_RULE_REAL_POWER, mc_claim_all_powers(p, term->child[0], d))
               : MC_NO_LINE;
}

static int prove_constant(mc_prover *p, const mc_term *term, int64_t d, mc_judgement judgement, mc_rule rule) {
    return mc_amount_range(term->amount).lo >= 0 ? mc_claim_outright(p, judgement, term, d, rule) : MC_NO_LINE;
}

static int by_its_top(mc_prover *p, const mc_term *term, int64_t d) {
    switch (term->kind) {
    case MC_T_NUMBER: return prove_constant(p, term, d, MC_IS_KERNEL, MC_RULE_CONSTANT);
    case MC_T_ATOM: return mc_prove_atom(p, term, d);
    case MC_T_DOT: return mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_DOT);
    case MC_T_SUM: return prove_children(p, term, d, MC_IS_KERNEL, MC_RULE_SUM, false);
    case MC_T_PRODUCT: return prove_children(p, term, d, MC_IS_KERNEL, MC_RULE_PRODUCT, true);
    case MC_T_POWER: return prove_power(p, term, d);
    case MC_T_EXP: return of_child(p, term, d, MC_RULE_EXP);
    case MC_T_SERIES: return of_child(p, term, d, MC_RULE_POWER_SERIES);
    case MC_T_NORMALIZE: return of_child(p, term, d, MC_RULE_NORMALIZE);
    case MC_T_WEIGH: return of_child(p, term, d, MC_RULE_WEIGH);
    case MC_T_REMAINDER: return mc_claim_remainder(p, term, d);
    case MC_T_COLUMNS:
        return mc_claim_from(p, MC_IS_KERNEL, term, d, MC_RULE_COLUMNS,
                             mc_claim_kernel(p, term->child[0], term->node->columns));
    case MC_T_SPECIAL:
        switch (term->special) {
        case MC_HARMONIC: return mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_HARMONIC);
        case MC_REST_DOT: return mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_REST);
        case MC_SIGN_MEAN: return mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_SIGN_MEAN);
        default: return MC_NO_LINE;
        }
    }
    return MC_NO_LINE;
}

/* ---- multiplied out ---- */

/* Prove the generators that are left and conclude the line. */
int mc_claim_from_generators(mc_prover *p, mc_judgement judgement, const mc_term *term, int64_t d, mc_rule rule,
                             const mc_expansion *e) {
    int premise[MC_GENERATORS_MAX], count = 0;
    for (int g = 0; g < e->generators; g++)
        if (mc_expansion_uses(e, g) && (premise[count++] = mc_claim_kernel(p, e->generator[g], d)) == MC_NO_LINE)
            return MC_NO_LINE;
    return mc_add_proof_line(p, (mc_proof_line){.judgement = judgement, .term = term, .d = d, .rule = rule}, count,
                             premise);
}

/* The rule by which a sum is a kernel, MC_RULE_COUNT when none is seen. */
static mc_rule rule_for(const mc_expansion *e, mc_expand_mode mode, int64_t d) {
    int generator;
    if (!e->whole)
        return MC_RULE_COUNT;
    if (mc_expansion_nonnegative(e, 1, false))
        return mode == MC_UNFOLDED ? MC_RULE_UNFOLD : MC_RULE_COLLECT;
    if (mode == MC_GAUSSIANS)
        return mc_expansion_gaussians(e, d) ? MC_RULE_GAUSSIANS
               : mc_expansion_spectra(e, d) ? MC_RULE_SPECTRA
                                            : MC_RULE_COUNT;
    if (!mc_expansion_series(e, &generator))
        return mode == MC_UNFOLDED && mc_expansion_sphere(e, d) ? MC_RULE_SPHERE : MC_RULE_COUNT;
    return mode == MC_UNFOLDED ? MC_RULE_UNFOLD_SERIES : MC_RULE_SERIES;
}

static int as_a_sum(mc_prover *p, const mc_term *term, mc_expand_mode mode, int64_t d) {
    mc_expansion e;
    int line = MC_NO_LINE;
    const mercer_status status = mc_expand_term(p->pool, term, mode, d, &p->work, &e);
    if (status)
        p->status = status;
    const mc_rule rule = status ? MC_RULE_COUNT : rule_for(&e, mode, d);
    if (rule != MC_RULE_COUNT)
        line = mc_claim_from_generators(p, MC_IS_KERNEL, term, d, rule, &e);
    mc_expansion_close(&e);
    return line;
}

/* Column by column, with a matrix over powers of columns. */
static int as_column_forms(mc_prover *p, const mc_term *term, int64_t d) {
    mc_expansion e;
    bool holds = false;
    int line = MC_NO_LINE;
    mercer_status status = mc_expand_term(p->pool, term, MC_COLUMN_POWERS, d, &p->work, &e);
    if (!status)
        status = mc_expansion_forms(p->ctx, &e, &holds);
    if (status)
        p->status = status;
    else if (holds)
        line = mc_claim_from_generators(p, MC_IS_KERNEL, term, d, MC_RULE_COLUMN_FORMS, &e);
    mc_expansion_close(&e);
    return line;
}

static int in_a_common_view(mc_prover *p, const mc_term *term, int64_t d) {
    const mc_node *view = NULL;
    const mc_term *inner = term->kind == MC_T_COLUMNS ? NULL : mc_term_without_view(p->pool, term, &view);
    return inner && view
               ? mc_claim_from(p, MC_IS_KERNEL, term, d, MC_RULE_COMMON_VIEW, mc_claim_kernel(p, inner, view->columns))
               : MC_NO_LINE;
}

static int as_conditioned(mc_prover *p, const mc_term *term, int64_t d) {
    const mc_term *k = NULL, *others = NULL;
    if (!mc_conditioned_parts(p->pool, term, d, &k, &others))
        return MC_NO_LINE;
    const int premise[] = {mc_claim_kernel(p, k, d), others ? mc_claim_kernel(p, others, d) : 0};
    if (premise[0] == MC_NO_LINE || premise[1] == MC_NO_LINE)
        return MC_NO_LINE;
    return mc_add_proof_line(
        p, (mc_proof_line){.judgement = MC_IS_KERNEL, .term = term, .d = d, .rule = MC_RULE_CONDITIONED},
        others ? 2 : 1, premise);
}

static bool has_white(const mc_term *term) {
    for (int i = 0; i < term->children; i++)
        if (term->child[i]->kind == MC_T_ATOM && term->child[i]->node->atom == MC_WHITE)
            return true;
    return false;
}

static int white_diagonal(mc_prover *p, const mc_term *term, int64_t d) {
    return has_white(term) && mc_term_diagonal_range(term).lo >= 0
               ? mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_WHITE_DIAGONAL)
               : MC_NO_LINE;
}

/* exp of, or a negative power of, a constant and a kernel. */
static int around_a_constant(mc_prover *p, mc_judgement judgement, const mc_term *term, int64_t d, mc_rule rule,
                             int sign) {
    mc_expansion e;
    int line = MC_NO_LINE;
    const mercer_status status = mc_expand_term(p->pool, term->child[0], MC_GENERATORS, d, &p->work, &e);
    if (status)
        p->status = status;
    else if (mc_expansion_nonnegative(&e, sign, true))
        line = mc_claim_from_generators(p, judgement, term, d, rule, &e);
    mc_expansion_close(&e);
    return line;
}

static int exp_conditional(mc_prover *p, mc_judgement judgement, const mc_term *term, int64_t d, mc_rule rule) {
    return mc_claim_from(p, judgement, term, d, rule, mc_claim_conditional(p, MC_IS_CONDITIONAL, term->child[0], d));
}

static int by_algebra(mc_prover *p, const mc_term *term, int64_t d) {
    if (term->kind != MC_T_SUM && term->kind != MC_T_PRODUCT && term->kind != MC_T_POWER && term->kind != MC_T_EXP
        && term->kind != MC_T_SERIES && term->kind != MC_T_WEIGH && term->kind != MC_T_COLUMNS
        && term->kind != MC_T_NORMALIZE)
        return MC_NO_LINE;
    int line = as_a_sum(p, term, MC_GENERATORS, d);
    if (line == MC_NO_LINE)
        line = as_a_sum(p, term, MC_GAUSSIANS, d);
    if (line == MC_NO_LINE)
        line = as_a_sum(p, term, MC_UNFOLDED, d);
    if (line == MC_NO_LINE)
        line = as_column_forms(p, term, d);
    if (line == MC_NO_LINE && term->kind == MC_T_SUM)
        line = as_conditioned(p, term, d);
    if (line == MC_NO_LINE && term->kind == MC_T_PRODUCT)
        line = white_diagonal(p, term, d);
    if (line == MC_NO_LINE)
        line = in_a_common_view(p, term, d);
    if (line == MC_NO_LINE && term->kind == MC_T_EXP)
        line = around_a_constant(p, MC_IS_KERNEL, term, d, MC_RULE_EXP_SHIFT, 1);
    if (line == MC_NO_LINE && term->kind == MC_T_EXP)
        line = exp_conditional(p, MC_IS_KERNEL, term, d, MC_RULE_EXP_CONDITIONAL);
    if (line == MC_NO_LINE && term->kind == MC_T_POWER && term->amount.factor < 0
        && mc_term_diagonal_range(term->child[0]).lo > 0)
        line = around_a_constant(p, MC_IS_KERNEL, term, d, MC_RULE_INVERSE, -1);
    if (line == MC_NO_LINE)
        line = mc_claim_by_taylor(p, term, d);
    if (line == MC_NO_LINE && term->kind == MC_T_SUM)
        line = mc_claim_outweighed(p, term, d);
    if (line == MC_NO_LINE && term->kind == MC_T_POWER)
        line = mc_inverse_conditional(p, MC_IS_KERNEL, term, d, MC_RULE_INVERSE_CONDITIONAL);
    return line;
}

/* ---- infinitely divisible kernels ---- */

static int powers_of_child(mc_prover *p, const mc_term *term, int64_t d, mc_rule rule) {
    const int64_t inner = term->kind == MC_T_COLUMNS ? term->node->columns : d;
    return mc_claim_from(p, MC_ALL_POWERS, term, d, rule, mc_claim_all_powers(p, term->child[0], inner));
}

static int powers_atom(mc_prover *p, const mc_term *term, int64_t d) {
    if (term->node->atom == MC_WHITE)
        return mc_claim_outright(p, MC_ALL_POWERS, term, d, MC_RULE_POWERS_WHITE);
    if (term->node->atom == MC_INTERSECTION || term->node->atom == MC_TANIMOTO)
        return d == 1 ? mc_claim_outright(p, MC_ALL_POWERS, term, d, MC_RULE_POWERS_MINIMUM) : MC_NO_LINE;
    return mc_claim_from(p, MC_ALL_POWERS, term, d, MC_RULE_POWERS_ATOM,
                         mc_claim_cnd(p, mc_minus_log(p->pool, term->node), d));
}

static int powers_exp(mc_prover *p, const mc_term *term, int64_t d) {
    const int line = around_a_constant(p, MC_ALL_POWERS, term, d, MC_RULE_POWERS_EXP, 1);
    return line != MC_NO_LINE ? line : exp_conditional(p, MC_ALL_POWERS, term, d, MC_RULE_POWERS_EXP_CONDITIONAL);
}

static int powers_by_top(mc_prover *p, const mc_term *term, int64_t d) {
    switch (term->kind) {
    case MC_T_NUMBER: return prove_constant(p, term, d, MC_ALL_POWERS, MC_RULE_POWERS_CONSTANT);
    case MC_T_ATOM: return powers_atom(p, term, d);
    case MC_T_PRODUCT: return prove_children(p, term, d, MC_ALL_POWERS, MC_RULE_POWERS_PRODUCT, false);
    case MC_T_POWER:
        return term->amount.factor > 0 ? powers_of_child(p, term, d, MC_RULE_POWERS_POWER)
                                       : mc_inverse_conditional(p, MC_ALL_POWERS, term, d, MC_RULE_POWERS_INVERSE);
    case MC_T_EXP: return powers_exp(p, term, d);
    case MC_T_WEIGH:
        return term->node && !mc_function_nonnegative(term->node->function)
                   ? MC_NO_LINE
                   : powers_of_child(p, term, d, MC_RULE_POWERS_WEIGH);
    case MC_T_COLUMNS: return powers_of_child(p, term, d, MC_RULE_POWERS_COLUMNS);
    case MC_T_NORMALIZE: return powers_of_child(p, term, d, MC_RULE_POWERS_NORMALIZE);
    default: return MC_NO_LINE;
    }
}

/* A term that is subtracted fails alone, but the sum it stands in may not: blame falls on the sum. */
static bool is_negative_multiple(const mc_term *term) {
    const mc_term *lead = term->kind == MC_T_PRODUCT && term->children ? term->child[0] : term;
    return lead->kind == MC_T_NUMBER && mc_amount_range(lead->amount).hi < 0;
}

/* ---- the search ---- */

static int prove_claim(mc_prover *p, mc_judgement judgement, const mc_term *term, int64_t d) {
    if (!term || p->status || p->pool->status)
        return MC_NO_LINE;
    int line = mc_find_proof_line(p, judgement, term, d);
    if (line != MC_NO_LINE || mc_claim_has_failed(p, judgement, term, d))
        return line;
    if (!mc_grow_prover_array(p, (void **)&p->failed, p->failures, &p->capacity, sizeof *p->failed))
        return MC_NO_LINE;
    const int place = p->failures++; /* until it succeeds, so that no claim is tried inside itself */
    p->failed[place] = (mc_proof_failure){judgement, term, d};
    if (judgement == MC_ALL_POWERS)
        line = powers_by_top(p, term, d);
    else if (judgement != MC_IS_KERNEL)
        line = mc_conditional_by_top(p, judgement, term, d);
    else if ((line = by_its_top(p, term, d)) == MC_NO_LINE)
        line = by_algebra(p, term, d);
    if (line != MC_NO_LINE)
        p->failed[place].term = NULL;
    else if (!p->stuck && !is_negative_multiple(term))
        p->stuck = term;
    return line;
}

/* For every d if possible: the same line then serves views of different widths. */
static int for_any_or_this_d(mc_prover *p, mc_judgement judgement, const mc_term *term, int64_t d) {
    const int line = prove_claim(p, judgement, term, 0);
    return line == MC_NO_LINE && d > 0 ? prove_claim(p, judgement, term, d) : line;
}

int mc_claim_kernel(mc_prover *p, const mc_term *term, int64_t d) {
    return for_any_or_this_d(p, MC_IS_KERNEL, term, d);
}

int mc_claim_all_powers(mc_prover *p, const mc_term *term, int64_t d) {
    return for_any_or_this_d(p, MC_ALL_POWERS, term, d);
}

int mc_claim_conditional(mc_prover *p, mc_judgement order, const mc_term *term, int64_t d) {
    return for_any_or_this_d(p, order, term, d);
}

/* Keep the lines that the last one needs, in order. */
static mercer_status prune_derivation(mercer_ctx *ctx, mc_derivation *out, int last) {
    int *place = NULL;
    MC_TRY(MC_ALLOC(ctx, place, last + 1));
    place[last] = 1;
    for (int i = last; i >= 0; i--)
        for (int k = 0; place[i] && k < out->line[i].premises; k++)
            place[out->line[i].premise[k]] = 1;
    out->count = 0;
    for (int i = 0; i <= last; i++) {
        if (!place[i])
            continue;
        mc_proof_line line = out->line[i];
        for (int k = 0; k < line.premises; k++)
            line.premise[k] = place[line.premise[k]];
        place[i] = out->count;
        out->line[out->count++] = line;
    }
    mc_free(place);
    return MERCER_OK;
}

mercer_status mc_find_derivation(mercer_ctx *ctx, mc_judgement goal, const mc_node *root, int64_t d, mc_derivation *out,
                                 bool *found, const mc_term **stuck) {
    *out = (mc_derivation){.pool = mc_pool_open(ctx)};
    mc_prover p = {.ctx = ctx, .out = out, .pool = &out->pool, .work = MC_EXPAND_WORK};
    const int line = for_any_or_this_d(&p, goal, mc_term_from(p.pool, root), d);
    mc_free(p.failed);
    *found = line != MC_NO_LINE;
    *stuck = p.stuck;
    MC_TRY(p.status);
    MC_TRY(p.pool->status);
    return *found ? prune_derivation(ctx, out, line) : MERCER_OK;
}

void mc_derivation_close(mc_derivation *derivation) {
    mc_free(derivation->line);
    derivation->line = NULL;
    mc_pool_close(&derivation->pool);
}
